"""Fortran references for ghosts and shared points, and the tables that they use.

The geometry is that of the application; the Fortran is in ``benchmarks/fortran``, in the sources
`cubed`, `halo` and `shared`. A field of the cubed sphere has array axes (panel, beta, alpha).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from apps.swe import geometry
from benchmarks import fortran
from benchmarks.fortran import Array, Call, Version

Integers = NDArray[np.int64]
Kind = Literal["periodic", "mirror"]

CORNERS = ((0, 0), (0, -1), (-1, 0), (-1, -1))


def cubed(
    h: Array, u: Array, v: Array, width: int, *, version: Version = "tuned", build: str = "O3"
) -> Call:
    """Bind the fill of the ghosts of a scalar and of a vector on the cubed sphere.

    Parameters
    ----------
    h, u, v
        Shape (6, n + 2 width, n + 2 width).
    """
    n = h.shape[1] - 2 * width
    for name, field in ("h", h), ("u", u), ("v", v):
        fortran._check(name, field, (6, n + 2 * width, n + 2 * width), written=True)
    first, weights = geometry.interpolation(n, width)
    turn = geometry.rotations(n, width)  # [to, from, panel, edge, layer, place]
    if version == "natural":
        turn = np.moveaxis(turn, (0, 1), (-2, -1))
    else:
        turn = np.moveaxis(turn, (0, 1), (3, 4))
        weights = np.moveaxis(weights, -1, 1)
    tables = links(), first + 1, np.ascontiguousarray(weights), np.ascontiguousarray(turn)
    return fortran.bind("cubed", version, build, n, width, *tables, h, u, v)


def links() -> Integers:
    """Return for each panel and edge: the neighbour, its edge, and 1 where directions differ."""
    found = np.empty((6, 4, 3), np.int64)
    for panel in range(6):
        for edge, side in enumerate(geometry.SIDES):
            there = geometry.link(panel, side)
            its = geometry.SIDES.index(there.side)
            found[panel, edge] = there.panel + 1, its + 1, there.reversed
    return found


def halo(u: Array, width: int, kind: Kind, *, build: str = "O3") -> Call:
    """Bind the fill of all ghosts of a field in two or three dimensions, corners too."""
    fortran._check("u", u, written=True)
    extents = [n - 2 * width for n in reversed(u.shape)]
    return fortran.bind("halo", f"{kind}{u.ndim}", build, *extents, width, u)


def shared(u: Array, *, build: str = "O3") -> Call:
    """Bind the mean of all copies of the points that panels share, shape (fields, 6, m, m)."""
    fields, m = len(u), u.shape[-1]
    fortran._check("u", u, (fields, 6, m, m), written=True)
    places = np.arange(1, u[0].size + 1).reshape(u[0].shape)
    return fortran.bind("shared", "natural", build, m, fields, edges(places), corners(places), u)


def edges(places: Integers) -> Integers:
    """Return for each edge of the cube: start and step of its two copies, without their ends."""
    found = []
    for panel in range(6):
        for side in geometry.SIDES:
            there = geometry.link(panel, side)
            if panel < there.panel:
                mine, its = _line(places, panel, side), _line(places, there.panel, there.side)
                its = its[::-1] if there.reversed else its
                found.append([mine[1], mine[1] - mine[0], its[1], its[1] - its[0]])
    return np.array(found, np.int64)


def _line(places: Integers, panel: int, side: str) -> Integers:
    """Return the points on an edge of a panel, in its direction."""
    whole = places[panel]
    line: Integers = {"W": whole[:, 0], "E": whole[:, -1], "S": whole[0], "N": whole[-1]}[side]
    return line


def corners(places: Integers) -> Integers:
    """Return the three copies of each corner of the cube, which are one point in space."""
    found: dict[tuple[int, ...], list[int]] = {}
    for panel in range(6):
        for j, i in CORNERS:
            direction = geometry.MATRICES[panel] @ (1, 1 if i else -1, 1 if j else -1)
            found.setdefault(tuple(map(int, direction)), []).append(int(places[panel, j, i]))
    return np.array(list(found.values()), np.int64)
