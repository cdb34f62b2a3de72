"""Cache of interpolation operators, one for each space and memory layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError, Error, OutOfRangeError, SpaceError
from ssr.extension import Array

from .links import Links
from .operands import Bases, Operand, bases_of, operand
from .places import Places
from .stencils import Axis, Method, Stencils, stencils
from .transfers import Transfers


class Operators:
    """Caches of the stencils of points and of the transfers of fields, valid until points move.

    Parameters
    ----------
    places, method
        The points, and the method of interpolation.
    """

    def __init__(self, places: Places, method: Method) -> None:
        self._places, self.method = places, method
        self._changes = places.changes
        self._links: dict[object, Links] = {}
        self._transfers: dict[object, Transfers] = {}
        self._known: dict[object, tuple[Transfers, object]] = {}

    def on(self, u: Any, space: Any, *, written: bool) -> tuple[Transfers, Bases]:
        """Return the transfers for a field or an array, and the addresses of its values.

        Arrays of one shape and layout are checked once.
        """
        if self._changes != self._places.changes:
            self._changes, self._links = self._places.changes, {}
            self._transfers, self._known = {}, {}
        if type(u) is not np.ndarray:
            made = operand(self._places.distribution, u, space, written=written)
            return self._made(made), made.bases
        key = id(space), u.shape, u.strides, u.dtype, u.flags.aligned, written, u.flags.writeable
        known = self._known.get(key)
        if known is None:
            made = operand(self._places.distribution, u, space, written=written)
            known = self._known[key] = self._made(made), space
        return known[0], {0: bases_of(u, known[0].components)}

    def _made(self, u: Operand) -> Transfers:
        place = u.space, _blocks(u.space)
        key = *place, u.storages, u.dtype, u.components
        if key not in self._transfers:
            if place not in self._links:
                self._links[place] = self._linked(u.space)
            self._transfers[key] = Transfers(self._links[place], u)
        return self._transfers[key]

    def _linked(self, space: Space) -> Links:
        places, problem = self._places, None
        made: dict[int, Stencils] = {}
        try:
            made = {rank: self.stencils(space, rows) for rank, rows in places.rows.items()}
        except Error as error:
            problem = error
        places.refuse(problem)
        numbers = {rank: places.numbers[rows] for rank, rows in places.rows.items()}
        return Links(places.distribution.world, places.distribution.partition, space, made, numbers)

    def stencils(self, space: Space, rows: Array) -> Stencils:
        """Return the stencils of some points on a space."""
        places = self._places
        made = stencils(self.method, self._axes(space), places.positions[rows])
        missing = places.missing[rows]
        unfit = np.flatnonzero(~made.fits & ~missing)
        if len(unfit):
            row, width = rows[unfit[0]], self.method.width
            at = tuple(places.coordinates[row].tolist())
            raise OutOfRangeError(
                f"The stencil of point {places.numbers[row]} at {at} does not fit into {space!r}.",
                note=f"It has {width} points along each axis.",
                hint=f"Give a fill of {width // 2} layers of ghosts: interpolate(u, fill=...).",
            )
        if missing.any():
            made.factors[0][missing] = np.nan
        return made

    def _axes(self, space: Any) -> list[Axis]:
        """Return the axes of a space, which has the cells of the points."""
        if not isinstance(space, Space):
            raise ArgumentError(f"space is {space!r}, not a space.")
        spread, cells = self._places.distribution, self._places.cells
        if set(space.sizes) <= set(spread.sizes) and space.ndim == cells.ndim:
            box, staggered = space.box(spread.sizes), space.data.staggered
            inner, own = ((s.owned or s).box(spread.sizes) for s in (space, cells))
            ends = zip(own, staggered, strict=True)
            same = inner == tuple((low, high + s) for (low, high), s in ends)
            if (space.owned is None or same) and _blocks(space) == _blocks(cells):
                rulers = self._places.frame.rulers
                return [
                    Axis(low, high, 0.5 * s, ruler.axis.period, ruler.axis.is_block)
                    for (low, high), s, ruler in zip(box, staggered, rulers, strict=True)
                ]
        raise SpaceError(
            f"{space!r} has not the cells of the points, {cells!r}.",
            hint="Give their cells, faces or nodes, with ghosts or without.",
        )


def _blocks(space: Space) -> object:
    """Return the numbers of the blocks of a space of a grid; None for another space."""
    return getattr(space, "blocks", None)
