"""Fields that are constant in time for finite volumes, for any box: wind, metric, rotation, bottom.

Points are given by their indices, as arrays that broadcast: panel, j and i of cells, where ghosts
have indices below 0 and from n on; faces lie before the cell of their index. The values of a box
are bitwise identical to those of the whole.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import geometry
from .cases import Case, Points, Scalar, mean
from .geometry import Array

Indices = NDArray[np.integer[Any]]

UPWIND = {-3: 3 / 128, -2: -20 / 128, -1: 90 / 128, 0: 60 / 128, 1: -5 / 128}
"""The weights of the cells about a face for the value on its low side."""


def second(v: Array, axis: int) -> Array:
    """Return second differences along an axis, at each end from the four values next to it.

    Examples
    --------
    >>> second(np.arange(5.0) ** 2, axis=0)
    array([2., 2., 2., 2., 2.])
    """
    v = np.moveaxis(v, axis, 0)
    d = np.empty_like(v)
    d[1:-1] = v[:-2] - 2 * v[1:-1] + v[2:]
    for end, w in (0, v), (-1, v[::-1]):
        d[end] = 2 * w[0] - 5 * w[1] + 4 * w[2] - w[3]
    return np.moveaxis(d, 0, axis)


def to_points(averages: Array) -> Array:
    """Return values at centres, to fourth order, of averages over cells ``[..., beta, alpha]``."""
    return averages - (second(averages, -1) + second(averages, -2)) / 24


@dataclass(frozen=True)
class Constants:
    """The constants of a case on panels of n x n cells."""

    n: int
    case: Case

    @property
    def at(self) -> Array:
        """The coordinates of centres along a panel."""
        return geometry.centres(self.n)

    @property
    def edges(self) -> Array:
        """The coordinates of faces along a panel."""
        return geometry.faces(self.n)

    def state(self, p: Indices, j: Indices, i: Indices) -> Array:
        """Return the averages of J h, J h u1, J h u2 over cells, at the start."""
        return self.case.state(self.n, self.centres(p, j, i))

    def wind(self, p: Indices, j: Indices, i: Indices) -> Array:
        """Return u1 and u2 at centres, at the start."""
        return self.case.velocity(self.n, self.centres(p, j, i))

    def rotation(self, p: Indices, j: Indices, i: Indices) -> Array:
        """Return the Coriolis parameter times J at centres."""
        points = self.centres(p, j, i)
        turn = self.case.coriolis(*geometry.lonlat(geometry.position(*points)))
        return turn * geometry.metric(*points[1:]).J

    def metric(self, j: Indices, i: Indices) -> Array:
        """Return 1/J, J, the contravariant metric and Christoffel symbols at centres."""
        _, *at = self.centres(np.zeros((1, 1, 1), int), j[None], i[None])
        G, (g1_11, g1_12, g2_12, g2_22) = geometry.metric(*at), geometry.christoffel(*at)
        J = self.area(j[None], i[None])
        cell = (1 / J, G.J, *G.upper, g1_11, 2 * g1_12, 2 * g2_12, g2_22)
        return np.stack([x + 0 * J for x in cell])

    def bottom(self, p: Indices, j: Indices, i: Indices) -> Array:
        """Return the bottom at centres of cells, as the scheme has it, and of ghosts."""
        panel, alpha, beta = self.centres(p, j, i)
        there = geometry.lonlat(geometry.position(panel, alpha, beta))
        found = self.case.bottom(*there) + np.zeros(np.broadcast_shapes(p.shape, j.shape, i.shape))
        inside = [k[(k >= 0) & (k < self.n)] for k in (j.ravel(), i.ravel())]
        if all(k.size for k in inside):
            rows, columns = inside[0][None, :, None], inside[1][None, None, :]
            averages = self._points(
                lambda *at: mean(self.case.bottom, self.n, at), p, rows, columns
            )
            places = [k - every.ravel()[0] for k, every in zip(inside, (j, i), strict=True)]
            found[:, places[0][0] : places[0][-1] + 1, places[1][0] : places[1][-1] + 1] = (
                averages / self.area(rows, columns)
            )
        return found

    def faces(self, d: int, j: Indices, i: Indices) -> Array:
        """Return J s and 1 / (2 s) at the faces of a direction, with s the length of its normal."""
        along = (geometry.faces(self.n), geometry.centres(self.n))
        alpha, beta = along if d == 0 else along[::-1]
        there = geometry.metric(alpha[i.ravel()][None, :], beta[j.ravel()][:, None])
        s = np.sqrt(there.upper[2 * d])
        return np.stack([there.J * s, 0.5 / s])

    def sides(self, d: int, p: Indices, j: Indices, i: Indices) -> Array:
        """Return the bottom on both sides of the faces of a direction, by the linear weights."""
        axis = 2 - d
        index = i if d == 0 else j
        first, count = int(index.ravel()[0]), index.size
        cells = np.arange(first - 3, first + count + 2).reshape(
            (1, 1, -1) if d == 0 else (1, -1, 1)
        )
        b = self.bottom(p, j, cells) if d == 0 else self.bottom(p, cells, i)
        lines = np.moveaxis(b, axis, -1)
        taps = [lines[..., k : k + count] for k in range(6)]
        both = [
            sum(w * tap for w, tap in zip(UPWIND.values(), side, strict=False))
            for side in (taps, taps[::-1])
        ]
        return np.asarray(np.moveaxis(np.stack(both), -1, 3 - d))

    def area(self, j: Indices, i: Indices) -> Array:
        """Return J at centres as the scheme has it: from averages over cells."""

        def ones(lon: Array, lat: Array) -> Array:
            return np.ones_like(lon)

        panel = np.zeros((1, 1, 1), int)
        (J,) = self._points(lambda *at: mean(ones, self.n, at), panel, j, i)
        return np.asarray(J)

    def depth(self, of: Scalar, p: Indices, j: Indices, i: Indices) -> Array:
        """Return the means of a depth over the areas of cells."""
        at = self.centres(p, j, i)
        cell = (np.pi / 2 / self.n) ** 2
        return np.asarray(mean(of, self.n, at) * cell / self.sphere(j, i))

    def sphere(self, j: Indices, i: Indices) -> Array:
        """Return the areas of cells in square metres."""
        _, *at = self.centres(np.zeros((1, 1, 1), int), j, i)
        return geometry.areas(self.n, *at)

    def centres(self, p: Indices, j: Indices, i: Indices) -> Points:
        """Return panels, alpha and beta of centres."""
        step = 2 * geometry.EDGE / self.n
        alpha, beta = ((k.ravel() + 0.5) * step - geometry.EDGE for k in (i, j))
        return p, alpha[None, :], beta[:, None]

    def _points(self, averages: Callable[..., Array], p: Any, j: Indices, i: Indices) -> Array:
        """Return values at centres of a box of cells, to fourth order, from averages over cells.

        They are computed from some more cells: differences are one-sided at the edges of panels.
        """
        wider = [
            np.arange(max(0, k.min() - 3), min(self.n, k.max() + 4)) for k in (j.ravel(), i.ravel())
        ]
        box = wider[0][None, :, None], wider[1][None, None, :]
        values = to_points(averages(*self.centres(p, *box)))
        rows, columns = (
            slice(int(k.min()) - w[0], int(k.max()) + 1 - w[0])
            for k, w in zip((j, i), wider, strict=True)
        )
        return values[..., rows, columns]

    def functions(self) -> dict[str, Callable[..., Array]]:
        """Return the constants of a stage by the names of its parameters."""
        return {
            "wind": self.wind,
            "m": self.metric,
            "f": self.rotation,
            "b": self.bottom,
            "west_east": lambda j, i: self.faces(0, j, i),
            "bottom_west_east": lambda p, j, i: self.sides(0, p, j, i),
            "south_north": lambda j, i: self.faces(1, j, i),
            "bottom_south_north": lambda p, j, i: self.sides(1, p, j, i),
        }
