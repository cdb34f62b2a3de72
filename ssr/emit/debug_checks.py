"""What a kernel of the debug build looks at after each nest: the elements that it has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import ir
from ..points.affine import AXES, Affine
from ..runtime.metadata import Look
from .writer import Writer, factor, spelled

BAD = 3
"""The first of the numbers a kernel returns where a statement made an infinity or NaN."""


def verdict(look: int, looks: int, bad: str = "0") -> str:
    """Return the source of what a kernel returns where a look at a target found a bad element."""
    return f"{BAD + look} + {looks} * {bad}"


def partial(nest: ir.Nest | ir.LineNest, fields: Mapping[str, ir.Field]) -> bool:
    """Whether a nest makes a part of its target: the other points may hold anything."""
    return nest.target in fields and fields[nest.target].points != nest.rows.points


def after_nest(
    nest: ir.Nest | ir.LineNest,
    fields: Mapping[str, ir.Field],
    number: int,
    looks: Sequence[Look],
) -> list[str]:
    """Return the lines after a nest: return if it made an infinity or NaN."""
    lines = []
    for place, look in enumerate(looks):
        target = spelled(look.target)
        if look.nest != number or partial(nest, fields):
            continue
        if isinstance(nest, ir.Nest) and nest.folds:
            lines.append(f"    if {target} - {target} != 0:")
            lines.append(f"        return {verdict(place, len(looks))}")
        else:
            lines.append(f"    bad = unfit({target})")
            lines.append("    if bad >= 0:")
            lines.append(f"        return {verdict(place, len(looks), 'bad')}")
    return lines


def in_box(
    writer: Writer, nest: ir.Nest | ir.LineNest, number: int, looks: Sequence[Look]
) -> list[str]:
    """Return the lines at the end of a box where a nest makes a part of its target."""
    if not partial(nest, writer.arrays) or Look(number, nest.target) not in looks:
        return []
    field = writer.arrays[nest.target]
    row = tuple(map(Affine.name, nest.axes))
    lines, indent = [], " " * 8
    for axis in nest.axes:
        lines.append(f"{indent}for {axis} in range({axis}_lo, {axis}_hi):")
        indent += "    "
    made = f"ld({spelled(nest.target)}, {writer.place(nest.target, row)})"
    place = looks.index(Look(number, nest.target))
    found = verdict(place, len(looks), f"({_number(writer, field)})")
    lines.append(f"{indent}if {made} - {made} != 0:")
    lines.append(f"{indent}    return {found}")
    return lines


def _number(writer: Writer, field: ir.Field) -> str:
    """Return the source of a point's number in C order."""
    text = ""
    for axis, low, extent in zip(AXES[len(field.shape)], field.lower, field.shape, strict=True):
        here = writer.spell(str(Affine.name(axis) - low))
        text = f"{factor(text)} * {factor(writer.spell(str(extent)))} + {here}" if text else here
    return text
