"""Exchanges between two ranks as they are written by hand, for comparison.

Both compute the products of `Halo`. `compiled` has the least overhead: persistent requests,
messages packed by compiled loops, and MPI called from there. `pythonic` is the form of many
programs: slices of arrays and two requests for each message.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Halo:
    """A product with a five-point matrix on two ranks, on a strip on both sides of the cut.

    Attributes
    ----------
    n
        The points along the cut.
    width
        The points of a rank across the cut.
    way
        Whether rows or columns of arrays are exchanged.
    """

    n: int
    width: int
    way: Literal["rows", "columns"]

    @property
    def shape(self) -> tuple[int, int]:
        """The points of one rank."""
        return (self.width, self.n) if self.way == "rows" else (self.n, self.width)

    def local(self, rank: int, whole: Array) -> Array:
        """Return the points of a rank with zeros around them."""
        found = np.zeros(tuple(n + 2 for n in self.shape))
        axis = 0 if self.way == "rows" else 1
        found[1:-1, 1:-1] = np.split(whole, 2, axis)[rank]
        return found

    def edges(self, rank: int) -> tuple[int, int]:
        """Return the index of the row or column that a rank sends, and that of the received one."""
        return (self.width, self.width + 1) if rank == 0 else (1, 0)


@njit(fastmath={"contract"})
def product(u: Array, w: Array) -> None:
    """Set the inner points of ``w`` to the product."""
    for j in range(1, u.shape[0] - 1):
        for i in range(1, u.shape[1] - 1):
            w[j, i] = 0.5 * u[j, i] + 0.125 * (
                u[j - 1, i] + u[j, i - 1] + u[j, i + 1] + u[j + 1, i]
            )


@njit()
def _products(count: int, u: Array, w: Array) -> None:
    for _ in range(count // 2):
        product(u, w)
        product(w, u)


def products(half: Array) -> Callable[[int], object]:
    """Return a function that computes an even number of products on one rank alone."""
    u = np.pad(half, 1)
    w = np.zeros_like(u)
    return lambda count: _products(count, u, w)


def persistent(
    comm: Any, incoming: Array, outgoing: Array, *, tests: bool
) -> tuple[Any, Any, Callable[..., None]]:
    """Return persistent requests for a message to the other rank and one from there.

    Returns
    -------
    tuple
        The memory of the requests' handles, of their statuses and of a flag; and two functions that
        compiled loops can call: MPI's that starts the requests, and one that takes this memory and
        waits by ``MPI_Waitall``, or ``tests`` again and again by ``MPI_Testall``.
    """
    from mpi4py import MPI

    other = 1 - comm.rank
    requests = [comm.Recv_init(incoming, other, 5), comm.Send_init(outgoing, other, 5)]
    atexit.register(lambda: [request.Free() for request in requests])
    size = MPI._sizeof(MPI.Request)
    text = b"".join(ctypes.string_at(MPI._addressof(request), size) for request in requests)
    memory = (
        np.frombuffer(text, np.uint8).copy(),
        np.zeros(2 * MPI._sizeof(MPI.Status), np.uint8),
        np.zeros(1, np.int32),
    )
    library = ctypes.CDLL(MPI.__file__)
    integer, pointer = ctypes.c_int, ctypes.c_void_p
    start = ctypes.CFUNCTYPE(integer, integer, pointer)(("MPI_Startall", library))
    wait = ctypes.CFUNCTYPE(integer, integer, pointer, pointer)(("MPI_Waitall", library))
    test = ctypes.CFUNCTYPE(integer, integer, pointer, pointer, pointer)(("MPI_Testall", library))

    @njit()
    def finish(handles: Any, statuses: Any, done: Any) -> None:
        if tests:
            done[0] = 0
            while done[0] == 0:
                test(2, handles.ctypes, done.ctypes, statuses.ctypes)
        else:
            wait(2, handles.ctypes, statuses.ctypes)

    return memory, start, finish


def compiled(
    halo: Halo, comm: Any, whole: Array, *, tests: bool = False
) -> tuple[Callable[[int], object], Array]:
    """Return a function that computes an even number of products, and the array that it changes.

    It waits by ``MPI_Waitall``, or with ``tests`` polls ``MPI_Testall``.
    """
    rank = comm.rank
    u = halo.local(rank, whole)
    w = np.zeros_like(u)
    sent, there = halo.edges(rank)
    outgoing, incoming = np.empty(halo.n), np.empty(halo.n)
    (handles, statuses, done), start, finish = persistent(comm, incoming, outgoing, tests=tests)
    rows = halo.way == "rows"

    @njit()
    def exchange(a: Array, h: Any, s: Any, done: Any, outgoing: Array, incoming: Array) -> None:
        if rows:
            for i in range(len(outgoing)):
                outgoing[i] = a[sent, 1 + i]
        else:
            for i in range(len(outgoing)):
                outgoing[i] = a[1 + i, sent]
        start(2, h.ctypes)
        finish(h, s, done)
        if rows:
            for i in range(len(incoming)):
                a[there, 1 + i] = incoming[i]
        else:
            for i in range(len(incoming)):
                a[1 + i, there] = incoming[i]

    @njit()
    def run(count: int, u: Array, w: Array, h: Any, s: Any, d: Any, o: Array, i: Array) -> None:
        for _ in range(count // 2):
            exchange(u, h, s, d, o, i)
            product(u, w)
            exchange(w, h, s, d, o, i)
            product(w, u)

    def call(count: int) -> None:
        run(count, u, w, handles, statuses, done, outgoing, incoming)

    return call, u


def pythonic(halo: Halo, comm: Any, whole: Array) -> tuple[Callable[[int], object], Array]:
    """Return a function that computes an even number of products, and the array that it changes."""
    from mpi4py import MPI

    rank = comm.rank
    u = halo.local(rank, whole)
    w = np.zeros_like(u)
    sent, there = halo.edges(rank)
    incoming = np.empty(halo.n)

    def line(array: Array, place: int) -> Array:
        return array[place, 1:-1] if halo.way == "rows" else array[1:-1, place]

    def call(count: int) -> None:
        a, b = u, w
        for _ in range(count):
            outgoing = np.ascontiguousarray(line(a, sent))
            requests = [comm.Irecv(incoming, 1 - rank, 6), comm.Isend(outgoing, 1 - rank, 6)]
            MPI.Request.Waitall(requests)
            line(a, there)[:] = incoming
            product(a, b)
            a, b = b, a

    return call, u
