"""Values that are given on a side: numbers, arrays, functions of coordinates, parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Affine, checked_name, ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import check_function, finite
from .rows import Row
from .strips import Clause

Given: TypeAlias = "float | np.ndarray[Any, Any] | Callable[..., Any] | Parameter | Sequence[Any]"
"""A value on a side: a number, an array, a function of coordinates, a parameter; a sequence has
one for each component."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that is given when a fill is used; see `bc.parameter`."""

    name: str

    def __repr__(self) -> str:
        return f'parameter("{self.name}")'


def parameter(name: str) -> Parameter:
    """Return a number with a name, for values that change in time.

    Its value is given by ``fill.bind(name=...)``: a number, or a scalar inside a program.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> fill = bc.fill(cells.grow(1), bc.constant(bc.parameter("inflow")))
    >>> fill.bind(inflow=7.0) @ np.ones(3)
    array([7., 1., 1., 1., 7.])
    """
    return Parameter(checked_name("parameter", name))


@dataclass(frozen=True, slots=True)
class SideValues:
    """The values of the components behind a side; the rest is as in `Clause`."""

    each: tuple[ir.Value, ...] = (ir.ZERO,)
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()

    def added(self, clause: Clause, factor: ir.Value) -> Clause:
        """Return a clause whose constants are the values times a factor."""
        constant = tuple(ir.ZERO if v == ir.ZERO else multiply(factor, v) for v in self.each)
        row = Row(clause.row.entries, constant)
        return replace(clause, row=row, extends=self.extends, fits=self.fits)


class GivenValues:
    """The values that a user gives on a side, one for each component."""

    def __init__(self, text: str, value: Given) -> None:
        self.text = text
        each = list(value) if isinstance(value, (tuple, list)) else [value]
        if not each:
            raise ArgumentError(f"{text}: no value is given.")
        self.each = [self._checked(v) for v in each]
        self.data = {
            f"value{n}": v for n, v in enumerate(self.each) if not isinstance(v, (float, Parameter))
        }
        shapes = {v.shape: None for v in self.each if isinstance(v, np.ndarray)}
        if len(shapes) > 1:
            raise ShapeError(
                f"{text}: the values of components have the shapes {', '.join(map(str, shapes))}."
            )
        self.lengths: tuple[int, ...] | None = next(iter(shapes), None)

    def _checked(self, value: Any) -> Any:
        if isinstance(value, Parameter) or callable(value):
            return value
        if isinstance(value, np.ndarray) and value.ndim:
            if value.dtype.kind not in "iuf":
                raise ArgumentError(f"{self.text}: the values have dtype {value.dtype}.")
            if not np.isfinite(value).all():
                raise ArgumentError(f"{self.text}: a value is NaN or infinite.")
            return np.array(value, np.float64)
        return finite(self.text, "value", value)

    def at(self, frame: Frame, side: Side, name: Callable[[str], str]) -> SideValues:
        """Return the values behind a side."""
        made: list[ir.Value] = []
        fits: tuple[tuple[int, int], ...] = ()
        extends = True
        for n, value in enumerate(self.each):
            if isinstance(value, float):
                made.append(ir.Const(value))
            elif isinstance(value, Parameter):
                made.append(ir.Scalar(value.name))
            elif isinstance(value, np.ndarray):
                made.append(self._array(frame, side, name(f"value{n}"), value))
                fits += tuple(zip(_along(frame, side), value.shape, strict=True))
                extends = False
            else:
                check_function(self.text, value, frame.ndim)
                made.append(ir.Load(name(f"value{n}"), _coordinates(frame, side)))
        return SideValues(tuple(made), extends, tuple(dict.fromkeys(fits)))

    def _array(self, frame: Frame, side: Side, name: str, value: Any) -> ir.Value:
        along, block = _along(frame, side), frame.blocks[side.block]
        extents = [block.shape[a] for a in along]
        wanted = tuple(e.constant if e.is_constant else None for e in extents)
        if len(wanted) != value.ndim or any(
            w not in (None, n) for w, n in zip(wanted, value.shape, strict=True)
        ):
            raise ShapeError(
                f"{self.text}: an array of shape {value.shape} is given for {frame.named(side)}.",
                note=f"the side has the shape ({', '.join(map(str, extents))})",
            )
        return ir.Load(name, tuple(frame.index[a] - block.first[a] for a in along))


def _along(frame: Frame, side: Side) -> list[int]:
    """Return the axes along a side."""
    return [a for a in range(frame.ndim) if a != side.axis]


def _coordinates(frame: Frame, side: Side) -> tuple[Affine, ...]:
    """Return the coordinates of the point on a side next to a ghost, in halves of cells."""
    block = frame.blocks[side.block]
    found = [
        2 * (x - first) + int(not staggered)
        for x, first, staggered in zip(frame.index, block.first, block.staggered, strict=True)
    ]
    found[side.axis] = Affine.of(0) if side.end == "low" else 2 * block.cells[side.axis]
    return tuple(found)
