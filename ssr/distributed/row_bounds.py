"""Bounds of the points that rows may read: those of the field, or of the box of the rows."""

from __future__ import annotations

from dataclasses import dataclass

from .. import ir
from ..algebra.own_box import is_local, own_bounds
from ..points.affine import Affine
from ..points.sets import Domain


@dataclass(frozen=True, slots=True)
class Region:
    """The points of a box: ``lower <= index < upper``."""

    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]

    def within(self, index: tuple[Affine, ...], axes: tuple[str, ...]) -> Domain:
        """Return the rows at which a point lies here."""
        return Domain.box(axes, self.lower, self.upper).preimage(index, axes)

    def on_line(self, axes: tuple[str, ...]) -> Domain:
        """Return the rows whose last index is one here."""
        return Domain.box(axes[-1:], self.lower[-1:], self.upper[-1:]).preimage(
            (Affine.name(axes[-1]),), axes
        )


def regions(field: ir.Field, nest: ir.Nest) -> tuple[Region, ...]:
    """Return the possible bounds of the points of a field that rows read: all, or the own box."""
    lower, upper = zip(*field.edges, strict=True)
    whole = Region(lower, upper)
    if field.points != nest.rows.points or not is_local(nest.context):
        return (whole,)
    names = tuple(map(Affine.name, own_bounds(nest.axes)))
    return whole, Region(names[::2], names[1::2])
