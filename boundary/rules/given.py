"""Boundary quantities: a number, an array, a function of coordinates, or a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Affine, Array, checked_name, ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import check_function, finite
from .rows.strips import Strip

Quantity: TypeAlias = "float | np.ndarray[Any, Any] | Callable[..., Any] | Parameter"
"""A quantity on a side: a number, an array, a function of coordinates, or a parameter."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A quantity that is given when a fill is used; see `bc.parameter`."""

    name: str

    def __repr__(self) -> str:
        return f'parameter("{self.name}")'


def parameter(name: str) -> Parameter:
    """Return a quantity with a name, for values and coefficients that change in time.

    It is given by ``fill.bind(name=...)``: a number; an array along the side; inside a program a
    scalar, or a field on a space that holds the points next to the side, such as
    ``cells.side(axis, end)``; with ranks such a field.

    Parameters
    ----------
    name
        The name, an identifier of Python.

    Raises
    ------
    ArgumentError
        If the name is not an identifier.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> fill = bc.fill(cells.grow(1), bc.ghost_value(bc.parameter("inflow")))
    >>> fill.bind(inflow=7.0) @ np.ones(3)
    array([7., 1., 1., 1., 7.])
    """
    return Parameter(checked_name("parameter", name))


@dataclass(frozen=True, slots=True, eq=False)
class OnSpace:
    """A field for a parameter: its space, and its values if they are known.

    Attributes
    ----------
    name
        The name of the parameter.
    space
        The points of the field; None for an array on the side of the rule, whatever side it is.
    array
        The values; None if they are known at run time only.
    """

    name: str
    space: Space | None
    array: Array | None = None

    def at(self, place: Sequence[Any], sizes: Mapping[str, int]) -> Array:
        """Return the values at points of the space."""
        assert self.array is not None
        first = (0,) * len(place) if self.space is None else self.space.first(sizes)
        found: Array = self.array[tuple(p - low for p, low in zip(place, first, strict=True))]
        return found


def resolved(given: Any, values: Mapping[str, Any]) -> Any:
    """Return a quantity, or a sequence of them, with parameters replaced by values."""
    if isinstance(given, (tuple, list)):
        return [resolved(one, values) for one in given]
    return values.get(given.name, given) if isinstance(given, Parameter) else given


def parameters_of(*given: Any) -> frozenset[str]:
    """Return the names of the parameters among given quantities."""
    each = [one for g in given for one in (g if isinstance(g, (tuple, list)) else [g])]
    return frozenset(one.name for one in each if isinstance(one, Parameter))


@dataclass(frozen=True, slots=True)
class SideValues:
    """The values of a quantity at a ghost, one for each component; the rest is as in `Strip`."""

    each: tuple[ir.Value, ...] = (ir.ZERO,)
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()

    @property
    def value(self) -> ir.Value:
        """The value of a quantity without components."""
        (found,) = self.each
        return found

    def added(self, strip: Strip, factor: ir.Value) -> Strip:
        """Return a strip whose constants are the values times a factor."""
        constant = tuple(ir.ZERO if v == ir.ZERO else multiply(factor, v) for v in self.each)
        row = replace(strip.row, constant=constant)
        return replace(strip, row=row, extends=self.extends, fits=self.fits)

    def along(self, *others: SideValues) -> SideValues:
        """Return the same values, restricted to sides to which other quantities apply."""
        fits = (*self.fits, *(fit for other in others for fit in other.fits))
        extends = self.extends and all(other.extends for other in others)
        return SideValues(self.each, extends, tuple(dict.fromkeys(fits)))


class GivenQuantity:
    """A checked quantity of a rule.

    Parameters
    ----------
    text, name
        The rule, and the name of the quantity in messages and data.
    """

    def __init__(self, text: str, name: str, given: Any) -> None:
        self.text, self.name = text, name
        self.given = self._checked(given)

    def _checked(self, given: Any) -> Any:
        if isinstance(given, (Parameter, OnSpace)) or callable(given):
            return given
        if isinstance(given, np.ndarray) and given.ndim:
            if given.dtype.kind not in "iuf":
                raise ArgumentError(f"{self.text}: the values have dtype {given.dtype}.")
            if not np.isfinite(given).all():
                raise ArgumentError(f"{self.text}: a value is NaN or infinite.")
            return np.array(given, np.float64)
        return finite(self.text, self.name.rstrip("0123456789"), given)

    @property
    def number(self) -> float | None:
        """The quantity if it is a number."""
        return self.given if isinstance(self.given, float) else None

    @property
    def data(self) -> dict[str, Any]:
        """The quantity as data of a rule."""
        plain = isinstance(self.given, (float, Parameter))
        return {} if plain else {self.name: self.given}

    def at(self, frame: Frame, side: Side, name: Callable[[str], str]) -> SideValues:
        """Return the quantity beyond a side."""
        given = self.given
        if isinstance(given, float):
            return SideValues((ir.Const(given),))
        if isinstance(given, Parameter):
            return SideValues((ir.Scalar(given.name),))
        if isinstance(given, OnSpace):
            return self._field(frame, side, name(self.name), given)
        if isinstance(given, np.ndarray):
            value = self._array(frame, side, name(self.name), given)
            fits = tuple(zip(_along(frame, side), given.shape, strict=True))
            return SideValues((value,), False, fits)
        check_function(self.text, given, frame.ndim)
        return SideValues((ir.Load(name(self.name), _coordinates(frame, side)),))

    def _array(self, frame: Frame, side: Side, name: str, given: Any) -> ir.Value:
        along, block = _along(frame, side), frame.blocks[side.block]
        extents = [block.shape[a] for a in along]
        wanted = tuple(e.constant if e.is_constant else None for e in extents)
        if len(wanted) != given.ndim or any(
            w not in (None, n) for w, n in zip(wanted, given.shape, strict=True)
        ):
            raise ShapeError(
                f"{self.text}: an array of shape {given.shape} is given for {frame.named(side)}.",
                note=f"the side has the shape ({', '.join(map(str, extents))})",
            )
        return ir.Load(name, tuple(frame.index[a] - block.first[a] for a in along))

    def _field(self, frame: Frame, side: Side, name: str, given: OnSpace) -> SideValues:
        """Return the element of a field next to the side; an array has one layer of them."""
        block, index = frame.blocks[side.block], list(frame.index)
        lead = (Affine.of(frame.places[side.block][1]),) if frame.gridded else ()
        if given.space is None:
            assert given.array is not None
            self._check_layer(frame, side, given.array)
            index = [x - first for x, first in zip(index, block.first, strict=True)]
            index[side.axis] = Affine.of(0)
            skip, shape = len(lead), given.array.shape
            fits = tuple((a, shape[a + skip]) for a in _along(frame, side))
            return SideValues((ir.Load(name, (*lead, *index)),), False, fits)
        if given.space.ndim != len(lead) + len(index):
            raise ShapeError(
                f"{self.text}: the field for {given.name!r} has {given.space.ndim} axes, the "
                f"fields that are filled have {len(lead) + len(index)}."
            )
        on_faces = given.space.data.staggered[side.axis + len(lead)]
        last = block.cells[side.axis] - int(not on_faces) + block.first[side.axis]
        low = Affine.of(block.first[side.axis])
        index[side.axis] = low if side.end == "low" else last
        return SideValues((ir.Load(name, (*lead, *index)),), False)

    def _check_layer(self, frame: Frame, side: Side, array: Array) -> None:
        kind, _ = frame.places[side.block]
        skip = int(frame.gridded)
        lead = (len(frame.kinds[kind]),) * skip
        if array.shape[:skip] == lead and array.shape[skip + side.axis] == 1:
            return
        raise ShapeError(
            f"{self.text}: an array of shape {array.shape} is given for {frame.named(side)}.",
            hint="It has one layer of points, as a field on cells.side(axis, end) has.",
        )


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
