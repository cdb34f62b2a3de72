"""A matrix on a periodic box whose rows are shared by several ranks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import ssr
from ssr.errors import ArgumentError, DtypeError, ShapeError
from ssr.extension import Array

from .exchange import Exchange
from .layout import Layout
from .plan import HaloPlan, halo_plan, halo_plans, sizes_of
from .product import LocalProduct, check


class Distributed:
    """A matrix whose rows are cut along axis 0, one range for each rank.

    ``D @ x`` takes and gives the owned points of this rank. It has the bits of the product on one
    rank: the kernel is the same, and only its tables differ. Rows that read nothing from other
    ranks are computed while messages are under way.

    Parameters
    ----------
    matrix
        From a space with ghosts to its cells; symbolic sizes are bound.
    comm
        A communicator of mpi4py, as `boundary.world` returns it; None for one rank alone.
    layout
        Which rank owns which rows; ranges of nearly equal length by default.
    periodic
        The axes along which ghosts equal the cells at the other end; all with ghosts by default.

    Raises
    ------
    SpaceError
        If nothing defines the ghosts along an axis, or rows and columns are not cells of a box.
    UnboundError
        If a size is not bound.
    ArgumentError
        If the layout does not fit the matrix or the communicator.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(4)
    >>> A = ssr.stencil(cells, cells.grow(1), {-1: -1.0, 1: 1.0})
    >>> D = bc.Distributed(A, bc.world())
    >>> x = D.local(np.array([1.0, 2.0, 4.0, 8.0]))
    >>> D.gather(D @ x)
    array([-6.,  3.,  6., -3.])
    """

    __array_ufunc__ = None

    def __init__(
        self,
        matrix: ssr.Matrix,
        comm: Any = None,
        *,
        layout: Layout | None = None,
        periodic: Iterable[int] | None = None,
    ) -> None:
        check(matrix, periodic)
        if comm is not None and not hasattr(comm, "Get_rank"):
            raise ArgumentError(
                f"comm is {comm!r}, not a communicator.",
                hint="Write bc.Distributed(A, bc.world()).",
            )
        rank, ranks = (0, 1) if comm is None else (comm.Get_rank(), comm.Get_size())
        extent = matrix.rows.extent(sizes_of(matrix))
        layout = Layout.even(extent[0], ranks) if layout is None else layout
        if layout.ranks != ranks:
            raise ArgumentError(
                f"The layout is for {layout.ranks} ranks; the communicator has {ranks}."
            )
        self.matrix = matrix
        self.comm = comm
        self.plan: HaloPlan = halo_plan(matrix, layout, rank)
        self.shape = len(self.plan.rows), *extent[1:]
        self._whole = extent
        self._ready: dict[Any, tuple[LocalProduct, Exchange | None]] = {}

    @property
    def layout(self) -> Layout:
        """Which rank owns which rows."""
        return self.plan.layout

    def __repr__(self) -> str:
        rows = self.plan.rows
        return (
            f"<Distributed {self.matrix.name}: rank {self.plan.rank} of {self.layout.ranks}, "
            f"rows {rows.start}:{rows.stop} of {self.layout.count}>"
        )

    def explain(self) -> str:
        """Return what this rank exchanges, as text."""
        return str(self.plan)

    def local(self, whole: Array) -> Array:
        """Return this rank's part of an array of the whole space, as a copy."""
        if np.shape(whole) != self._whole:
            raise ShapeError(f"The whole array has shape {self._whole}, not {np.shape(whole)}.")
        rows = self.plan.rows
        return np.array(whole[rows.start : rows.stop], order="C")

    def __matmul__(self, x: Array) -> Array:
        """Return the owned points of the product with a vector, given by its owned points."""
        local, exchange = self._prepared(x)
        y = np.empty(self.shape, x.dtype)
        local.vector.load(x)
        if exchange is None:
            local.inner(y)
            return y
        exchange.begin()
        local.inner(y)
        exchange.finish()
        local.outer(y)
        return y

    def gather(self, x: Array) -> Array:
        """Return the whole array of which each rank has its own part; all ranks get it."""
        self._check(x)
        whole = np.empty(self._whole, x.dtype)
        if self.comm is None:
            whole[:] = x
            return whole
        width = whole[0].size
        counts = [len(self.layout.rows(rank)) * width for rank in range(self.layout.ranks)]
        self.comm.Allgatherv(np.ascontiguousarray(x), [whole, counts])
        return whole

    def _check(self, x: Any) -> None:
        if not isinstance(x, np.ndarray) or x.shape != self.shape:
            raise ShapeError(
                f"Rank {self.plan.rank} owns an array of shape {self.shape}, not {np.shape(x)}.",
                hint="D.local(x) is this rank's part of a whole array.",
            )
        if x.dtype not in (np.float64, np.float32):
            raise DtypeError(f"The array has dtype {x.dtype}, not float64 or float32.")

    def _prepared(self, x: Array) -> tuple[LocalProduct, Exchange | None]:
        self._check(x)
        found = self._ready.get(x.dtype)
        if found is None:
            local = LocalProduct(self.matrix, self.plan, x.dtype)
            exchange = None if self.comm is None else Exchange(self.comm, local.vector)
            found = self._ready[x.dtype] = local, exchange
        return found


def simulate(matrix: ssr.Matrix, x: Array, layout: Layout) -> Array:
    """Return the product of the whole, computed as many ranks would, one after the other.

    Parameters
    ----------
    matrix
        As for `Distributed`.
    x
        The whole vector.
    layout
        Which rank owns which rows.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(4)
    >>> A = ssr.stencil(cells, cells.grow(1), {-1: -1.0, 1: 1.0})
    >>> simulate(A, np.array([1.0, 2.0, 4.0, 8.0]), Layout.even(4, 3))
    array([-6.,  3.,  6., -3.])
    """
    check(matrix, None)
    plans, x = halo_plans(matrix, layout), np.asarray(x)
    whole = matrix.rows.extent(sizes_of(matrix))
    if x.shape != whole:
        raise ShapeError(f"The whole array has shape {whole}, not {x.shape}.")
    if x.dtype not in (np.float64, np.float32):
        raise DtypeError(f"The array has dtype {x.dtype}, not float64 or float32.")
    parts = [LocalProduct(matrix, plan, x.dtype) for plan in plans]
    results = [np.empty(part.vector.shape, x.dtype) for part in parts]
    mail: dict[tuple[int, int], Array] = {}
    for part, y in zip(parts, results, strict=True):
        vector, plan = part.vector, part.vector.plan
        vector.load(x[plan.rows.start : plan.rows.stop])
        for message in plan.sends:
            data = mail[plan.rank, message.peer] = vector.message(message.rows)
            vector.pack(message.rows, data)
        part.inner(y)
    for part, y in zip(parts, results, strict=True):
        plan = part.vector.plan
        for message in plan.receives:
            part.vector.unpack(message.rows, mail.pop((message.peer, plan.rank)))
        part.outer(y)
    assert not mail, f"messages that nobody received: {sorted(mail)}"
    return np.concatenate(results)
