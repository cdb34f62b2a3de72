"""The ghosts of the cubed sphere on two ranks as they are written by hand, to compare with.

The first three panels belong to the first rank. A ghost of a panel lies on a line of its
neighbour's cells, along which it is interpolated; the vector is turned into the panel's basis. Each
rank sends the lines that the other needs, of all layers and of all three fields, in one message,
and makes the ghosts that need nothing of the other while the messages are under way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from apps.swe import geometry
from benchmarks.boundary_fortran import links
from benchmarks.mpi_by_hand import Array, persistent

Integers = NDArray[np.int64]
PANELS = 3
"""The panels of a rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The tables for the ghosts of a panel's edges.

    Attributes
    ----------
    first, weights
        The first point of each ghost along its line, shape (layers, n); the weights, shape
        (layers, taps, n).
    turn
        The rotation of vectors, shape (panel, edge, to, from, layers, n).
    mine
        Edges that need no data of the other rank, shape (edges, 5): panel, edge, the neighbour
        among the panels of this rank, its edge, whether directions differ.
    there, sent
        The same for edges that need lines of the other rank, in the order of its message; and for
        lines that the other rank needs.
    """

    first: Integers
    weights: Array
    turn: Array
    mine: Integers
    there: Integers
    sent: Integers

    @classmethod
    def of(cls, n: int, width: int, rank: int) -> Tables:
        """Return the tables of a rank."""
        first, weights = geometry.interpolation(n, width)
        every = [
            (
                p,
                e,
                p // PANELS,
                (q - 1) // PANELS,
                (p % PANELS, e, (q - 1) % PANELS, f - 1, against),
            )
            for (p, e), (q, f, against) in zip(
                np.ndindex(6, 4), links().reshape(-1, 3).tolist(), strict=True
            )
        ]

        def edges(to: int, of: int) -> Integers:
            return np.array([each for *_, a, b, each in every if (a, b) == (to, of)], np.int64)

        turn = np.moveaxis(geometry.rotations(n, width), (0, 1), (2, 3))
        return cls(
            first,
            np.ascontiguousarray(np.moveaxis(weights, -1, 1)),
            np.ascontiguousarray(turn[PANELS * rank : PANELS * (rank + 1)]),
            edges(rank, rank),
            edges(rank, 1 - rank),
            edges(1 - rank, rank),
        )


@njit()
def line(a: Array, edge: int, against: int, depth: int, width: int, out: Array) -> None:
    """Copy the cells on a line along an edge: west, east, south or north."""
    n, inside = len(out), width + depth
    if edge == 1 or edge == 3:
        inside = width + n - 1 - depth
    for t in range(n):
        along = width + (n - 1 - t if against else t)
        out[t] = a[along, inside] if edge < 2 else a[inside, along]


@njit()
def store(line: Array, edge: int, layer: int, width: int, a: Array) -> None:
    """Copy a line to the ghosts of a layer beyond an edge."""
    n, place = len(line), width - 1 - layer
    if edge == 1 or edge == 3:
        place = width + n + layer
    for t in range(n):
        if edge < 2:
            a[width + t, place] = line[t]
        else:
            a[place, width + t] = line[t]


@njit(fastmath={"contract"})
def interpolate(
    lines: Array, first: Integers, w: Array, turn: Array, x: Array, y: Array, z: Array
) -> None:
    """Set lines of ghosts by six-point interpolation; the last two are turned."""
    a, b, c = lines[0], lines[1], lines[2]
    for t in range(len(x)):
        s = first[t]
        x[t] = (
            w[0, t] * a[s] + w[1, t] * a[s + 1] + w[2, t] * a[s + 2]
            + w[3, t] * a[s + 3] + w[4, t] * a[s + 4] + w[5, t] * a[s + 5]
        )  # fmt: skip
        p = (
            w[0, t] * b[s] + w[1, t] * b[s + 1] + w[2, t] * b[s + 2]
            + w[3, t] * b[s + 3] + w[4, t] * b[s + 4] + w[5, t] * b[s + 5]
        )  # fmt: skip
        q = (
            w[0, t] * c[s] + w[1, t] * c[s + 1] + w[2, t] * c[s + 2]
            + w[3, t] * c[s + 3] + w[4, t] * c[s + 4] + w[5, t] * c[s + 5]
        )  # fmt: skip
        y[t] = turn[0, 0, t] * p + turn[0, 1, t] * q
        z[t] = turn[1, 0, t] * p + turn[1, 1, t] * q


@njit()
def ghosts(
    panel: int, edge: int, layer: int, lines: Array, made: Array, h: Array, u: Array,
    first: Integers, weights: Array, turn: Array, width: int,
) -> None:  # fmt: skip
    """Set the ghosts of a layer beyond an edge of a panel."""
    turning = turn[panel, edge, :, :, layer]
    interpolate(lines, first[layer], weights[layer], turning, made[0], made[1], made[2])
    store(made[0], edge, layer, width, h[panel])
    store(made[1], edge, layer, width, u[0, panel])
    store(made[2], edge, layer, width, u[1, panel])


@njit()
def pack(edges: Integers, width: int, h: Array, u: Array, outgoing: Array) -> None:
    """Copy the lines that the other rank needs, shape (edges, layers, fields, n)."""
    for number in range(len(edges)):
        _, _, there, its, against = edges[number]
        for layer in range(width):
            lines = outgoing[number, layer]
            line(h[there], its, against, layer, width, lines[0])
            line(u[0, there], its, against, layer, width, lines[1])
            line(u[1, there], its, against, layer, width, lines[2])


@njit()
def inner(
    edges: Integers, h: Array, u: Array, lines: Array, made: Array,
    first: Integers, weights: Array, turn: Array, width: int,
) -> None:  # fmt: skip
    """Set the ghosts that need nothing of the other rank."""
    for number in range(len(edges)):
        panel, edge, there, its, against = edges[number]
        for layer in range(width):
            line(h[there], its, against, layer, width, lines[0])
            line(u[0, there], its, against, layer, width, lines[1])
            line(u[1, there], its, against, layer, width, lines[2])
            ghosts(panel, edge, layer, lines, made, h, u, first, weights, turn, width)


@njit()
def outer(
    edges: Integers, incoming: Array, h: Array, u: Array, made: Array,
    first: Integers, weights: Array, turn: Array, width: int,
) -> None:  # fmt: skip
    """Set the ghosts that need lines of the other rank."""
    for number in range(len(edges)):
        panel, edge = edges[number, :2]
        for layer in range(width):
            lines = incoming[number, layer]
            ghosts(panel, edge, layer, lines, made, h, u, first, weights, turn, width)


def compiled(
    comm: Any, h: Array, u: Array, width: int, *, tests: bool = False
) -> Callable[[int], object]:
    """Return a function that computes all ghosts a number of times, in one compiled loop.

    Parameters
    ----------
    h, u
        The scalar and the vector on the panels of this rank with ghosts, shapes (3, n + 2 width,
        n + 2 width) and (2, 3, n + 2 width, n + 2 width).
    tests
        Whether it waits by polling ``MPI_Testall`` instead of by ``MPI_Waitall``.
    """
    n = h.shape[-1] - 2 * width
    tables = Tables.of(n, width, comm.rank)
    incoming = np.empty((len(tables.there), width, 3, n))
    outgoing = np.empty((len(tables.sent), width, 3, n))
    lines, made = np.empty((3, n)), np.empty((3, n))
    (handles, statuses, done), start, finish = persistent(comm, incoming, outgoing, tests=tests)

    @njit()
    def run(
        count: int, handles: Any, statuses: Any, done: Any, outgoing: Array, incoming: Array,
        h: Array, u: Array, lines: Array, made: Array, mine: Integers, there: Integers,
        sent: Integers, first: Integers, weights: Array, turn: Array,
    ) -> None:  # fmt: skip
        for _ in range(count):
            pack(sent, width, h, u, outgoing)
            start(2, handles.ctypes)
            inner(mine, h, u, lines, made, first, weights, turn, width)
            finish(handles, statuses, done)
            outer(there, incoming, h, u, made, first, weights, turn, width)

    given = (
        handles, statuses, done, outgoing, incoming, h, u, lines, made,
        tables.mine, tables.there, tables.sent, tables.first, tables.weights, tables.turn,
    )  # fmt: skip

    def call(count: int) -> None:
        run(count, *given)

    return call


def pythonic(comm: Any, h: Array, u: Array, width: int) -> Callable[[int], object]:
    """Return a function that computes all ghosts a number of times, with a message for each edge.

    Parameters are those of `compiled`, which has the same loops for the ghosts themselves.
    """
    from mpi4py import MPI

    n, other = h.shape[-1] - 2 * width, 1 - comm.rank
    tables = Tables.of(n, width, comm.rank)
    incoming = np.empty((len(tables.there), width, 3, n))
    lines, made = np.empty((3, n)), np.empty((3, n))
    numbers = tables.first, tables.weights, tables.turn
    fields = h, u[0], u[1]

    def strip(panel: Array, edge: int, against: int) -> Array:
        """Return the lines along an edge, the outermost one first."""
        inside = panel[width:-width, width:-width]
        turned = inside.T if edge < 2 else inside
        near = turned[: -width - 1 : -1] if edge % 2 else turned[:width]
        return near[:, ::-1] if against else near

    def call(count: int) -> None:
        for _ in range(count):
            requests = [comm.Irecv(incoming[k], other, k) for k in range(len(incoming))]
            outgoing = [
                np.ascontiguousarray(
                    np.stack([strip(a[there], its, against) for a in fields], axis=1)
                )
                for _, _, there, its, against in tables.sent.tolist()
            ]
            requests += [comm.Isend(each, other, k) for k, each in enumerate(outgoing)]
            inner(tables.mine, h, u, lines, made, *numbers, width)
            MPI.Request.Waitall(requests)
            outer(tables.there, incoming, h, u, made, *numbers, width)

    return call
