"""Write systems along lines: bundles of lines, copied to a buffer, swept, copied back.

In the buffer of a nest a point of a line has the line variables one behind the other, each a
bundle: the numbers of as many lines as a vector register holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from .. import ir
from ..ir import LineLoops
from ..points.affine import Affine
from ..points.loop_tree import For, If, Loop, Run
from ..runtime.constants import BYTES
from .write_rows import value_text, write_instance
from .writer import Writer, factor, spelled

BUFFER = "%lines"
"""The line buffer of a nest."""


@dataclass
class LineWriter(Writer):
    """Lines of source of a nest of systems along lines.

    ``slots`` says where line variables stand at a point; ``here`` is the point along the line, and
    ``begin`` gives the source of where another one begins.
    """

    slots: Mapping[str, int] = field(default_factory=dict)
    here: Affine = field(default_factory=lambda: Affine.of(0))
    begin: Callable[[str], str] = str

    @property
    def width(self) -> int:
        """The lines of a bundle, which fill what is near."""
        return self.near

    @property
    def step(self) -> int:
        """The numbers of a point in the buffer."""
        return len(self.slots) * self.width

    @property
    def start(self) -> str:
        """The line that finds where the buffer begins: at a whole line of the cache."""
        name, bytes_ = self.buffer(BUFFER), BYTES // self.width
        return f"{name}_0 = -(address({name}) // {bytes_}) % {self.width}"

    def point(self, place: str, axis: str, beyond: int) -> str:
        """Return the source of where a point of a line begins in the buffer."""
        shift = f" + {beyond}" if beyond else ""
        return f"{self.buffer(BUFFER)}_0 + ({place} - {axis}_lo{shift}) * {self.step}"

    def fresh(self, stem: str) -> str:
        """Return a new variable name, one that no other nest has: it may hold a bundle."""
        return f"{super().fresh(stem)}{self.suffix}"

    def place(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of the flat offset of an element of an array, or of a bundle."""
        if array not in self.slots:
            return super().place(array, index)
        slot = self.slots[array] * self.width
        if not (index[0] - self.here).is_constant:  # a point that is the same for all rows
            return f"{self.begin(factor(str(index[0])))} + {slot}"
        shift = (index[0] - self.here).constant * self.step + slot
        return f"at {'-' if shift < 0 else '+'} {abs(shift)}" if shift else "at"

    def loaded(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of a bundle, or of an element."""
        if array not in self.slots:
            return super().loaded(array, index)
        return f"take({self.buffer(BUFFER)}, {self.place(array, index)})"

    def stored(self, array: str, index: Sequence[Affine], text: str) -> str:
        """Return the source that stores a bundle, or an element."""
        if array not in self.slots:
            return super().stored(array, index, text)
        return f"put({self.buffer(BUFFER)}, {self.place(array, index)}, {text})"


def slots_of(nest: ir.LineNest) -> dict[str, int]:
    """Return where line variables stand at a point of the buffer of a nest."""
    return {name: n for n, name in enumerate(nest.variables)}


def write_lines(writer: LineWriter, made: LineLoops, depth: int) -> None:
    """Write the loops over lines, and what is done with bundles of them."""
    for name, value in made.nest.numbers:
        writer.line(depth, f"{spelled(name)} = {value_text(writer, value, {}, depth)}")
    if not made.tree:
        _write_bundle(writer, made, made.kinds["lines_0"], "1", 1, depth)
    for node in made.tree:
        _write_tree(writer, node, depth, partial(_write_lines_of, writer, made))


Written: TypeAlias = Callable[[Loop, int], bool]
"""Writes a node of a tree of loops by itself, at a depth; false for one that it leaves."""


def _write_tree(writer: LineWriter, node: Loop, depth: int, alone: Written) -> None:
    """Write loops and branches, but for what is written in another way."""
    if alone(node, depth):
        return
    match node:
        case For(variable, start, stop, step, body):
            more = f", {step}" if step != 1 else ""
            start, stop = writer.spell(start), writer.spell(stop)
            writer.line(depth, f"for {variable} in range({start}, {stop}{more}):")
            for inner in body:
                _write_tree(writer, inner, depth + 1, alone)
        case If(condition, then, orelse):
            writer.line(depth, f"if {writer.spell(condition)}:")
            for inner in then:
                _write_tree(writer, inner, depth + 1, alone)
            if orelse:
                writer.line(depth, "else:")
                for inner in orelse:
                    _write_tree(writer, inner, depth + 1, alone)


def _write_lines_of(writer: LineWriter, made: LineLoops, node: Loop, depth: int) -> bool:
    """Write a loop over lines side by side in bundles, or a single line."""
    match node:
        case For(variable, start, stop, step, (Run(kind),)):
            start, stop = writer.spell(start), writer.spell(stop)
            count = f"{stop} - {variable}"
            count = count if step == 1 else f"({count} + {step - 1}) // {step}"
            writer.line(depth, f"for {variable} in range({start}, {stop}, {step * writer.width}):")
            writer.line(depth + 1, f"many = min({writer.width}, {count})")
            _write_bundle(writer, made, made.kinds[kind], "many", step, depth + 1)
        case Run(kind, (index,)):
            last = made.nest.outer[-1]
            if index != Affine.name(last):
                writer.line(depth, f"{last} = {writer.spell(str(index))}")
            _write_bundle(writer, made, made.kinds[kind], "1", 1, depth)
        case _:
            return False
    return True


def _write_bundle(
    writer: LineWriter, made: LineLoops, lines: ir.Lines, many: str, every: int, depth: int
) -> None:
    """Write what is done with a bundle of ``many`` lines, which are ``every`` so many apart."""
    nest = made.nest
    axis = nest.axes[nest.along]
    writer.line(depth, f"poll(watch, ({axis}_hi - {axis}_lo) * {writer.width})")
    loads, given = {t.variable: t.load for t in nest.taken}, dict(nest.given)
    for name, loops in lines.taken:
        for loop in loops:
            _write_copy(writer, nest, "gather", (name, loads[name]), loop, (many, every), depth)
    for loop in (*lines.forward, *lines.backward, *lines.closing):
        _write_tree(writer, loop, depth, partial(_write_rows, writer, made))
    row = tuple(map(Affine.name, nest.axes))
    for name, array in given.items():
        for loop in lines.given:
            element = name, ir.Load(array, row)
            _write_copy(writer, nest, "scatter", element, loop, (many, every), depth)


def _write_copy(
    writer: LineWriter,
    nest: ir.LineNest,
    function: str,
    element: tuple[str, ir.Load],
    loop: Loop,
    bundle: tuple[str, int],
    depth: int,
) -> None:
    """Write the copy of points of a bundle of lines between a line variable and an array."""
    variable, load = element
    axis, first = nest.axes[nest.along], writer.fresh("f")
    match loop:
        case For(_, start, stop, 1, (Run(),)):
            writer.line(depth, f"{first} = {writer.spell(start)}")
            count = f"{factor(writer.spell(stop))} - {first}"
        case Run(_, (point,)):
            writer.line(depth, f"{first} = {writer.spell(str(point))}")
            count = "1"
        case _:
            raise AssertionError("points of lines that are copied stand side by side")
    index = [*load.index]
    index[nest.along] = Affine.name(first)
    slot = writer.slots[variable] * writer.width
    begin = writer.point(first, axis, nest.beyond) + (f" + {slot}" if slot else "")
    place = writer.place(load.array, index)
    many, every = bundle
    across = "0" if nest.across is None else _stride(writer, load.array, nest.across, nest)
    across = across if every == 1 else f"{every} * {across}"
    along = _stride(writer, load.array, nest.along, nest)
    lines = f"{writer.buffer(BUFFER)}, {begin}, {writer.step}"
    points = f"{spelled(load.array)}, {place}, {along}, {across}"
    writer.line(depth, f"{function}({lines}, {points}, {count}, {many})")
    made = load.array, nest.origin
    if function == "scatter" and made in writer.looks:
        near, other = writer.fresh("f"), writer.fresh("f")
        writer.line(depth, f"for {near} in range({count}):")
        writer.line(depth + 1, f"for {other} in range({many}):")
        at = [*nest.axes]
        at[nest.along] = f"{first} + {near}"
        if nest.across is not None:
            at[nest.across] = f"{at[nest.across]} + {every} * {other}"
        here = f"{place} + {near} * {factor(along)} + {other} * {factor(across)}"
        writer.examine(depth + 2, made, at, f"ld({spelled(load.array)}, {here})")


def _stride(writer: LineWriter, array: str, axis: int, nest: ir.LineNest) -> str:
    """Return the source of the distance of neighbours along an axis of an array."""
    return "1" if axis == len(nest.axes) - 1 else writer.stride(array, axis)


def _write_rows(writer: LineWriter, made: LineLoops, node: Loop, depth: int) -> bool:
    """Write what a sweep computes at a point of the lines."""
    match node:
        case Run(_, (index,)):
            axis = made.nest.axes[made.nest.along]
            writer.begin = partial(writer.point, axis=axis, beyond=made.nest.beyond)
            writer.line(depth, f"at = {writer.begin(factor(writer.spell(str(index))))}")
            before, writer.lines = writer.lines, []
            writer.here = index.substitute(
                {name: Affine.name(text) for name, text in writer.sizes.items()}
            )
            write_instance(writer, made, node, depth)
            writer.lines = before + writer.functions.short(writer.lines)
            return True
    return False
