"""Solvers on fields of several ranks: the bits, norms and errors of solvers on arrays."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import boundary as bc
import ssr
from ssr import errors
from ssr.solvers import (
    IC,
    ILU,
    GaussSeidel,
    Jacobi,
    Multigrid,
    bicgstab,
    cg,
    chebyshev,
    gmres,
    interpolation,
    richardson,
)

from ...ssr.factorizations import dense_ic0, dense_ilu0
from . import ranks
from .ranks import Parts

n, m = ssr.sizes("n m")
fine, coarse = ssr.Space(2 * n + 1, 2 * m + 1), ssr.Space(n, m)
NEAR = {(0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
TILTED = {(0, 0): 4.0, (0, 1): -1.5, (0, -1): -0.5, (1, 0): -1.0, (-1, 0): -1.0}
SIZES = {"n": 5, "m": 3}
BOXES = (2, 0, ((0, 2), (0, 7))), (0, 0, ((2, 11), (0, 1))), (2, 0, ((2, 11), (1, 7)))
PARTS = [Parts(1), Parts(3), Parts(4, cut=(2, 2)), Parts(7, cut=(4, 3)), Parts(3, boxes=BOXES)]


@pytest.fixture(autouse=True)
def plain_programs() -> Iterator[None]:
    """Let programs run as plain Python, with arrays too."""
    with ranks.plain_programs():
        yield


class Equations:
    """Matrices, and solvers for them, whose programs are made within a test."""

    def __init__(self) -> None:
        self.A = ssr.stencil(fine, fine, {(0, 0): 4.0, **NEAR}, outside="zero")
        self.B = ssr.stencil(fine, fine, TILTED, outside="zero")
        P = interpolation(fine, coarse)
        self.grids = Multigrid(self.A, P, P.T, smoother=Jacobi(), coarsest=20)

        @ssr.program(z=fine, r=fine)
        def quarter(z: Any, r: Any) -> None:
            z[:] = 0.25 * r

        self.quarter = quarter

    def by_python(self, z: Any, r: Any) -> None:
        """Call programs from Python."""
        self.quarter(z, r)


SOLVERS: dict[str, Callable[..., Any]] = {
    "cg": lambda e, b, **more: cg(e.A, b, **more),
    "cg, Gauss-Seidel": lambda e, b, **more: cg(e.A, b, M=GaussSeidel(), **more),
    "bicgstab, ILU": lambda e, b, **more: bicgstab(e.B, b, M=ILU(), **more),
    "cg, IC": lambda e, b, **more: cg(e.A, b, M=IC(), **more),
    "cg, Jacobi": lambda e, b, **more: cg(e.A, b, M=Jacobi(), **more),
    "cg, multigrid": lambda e, b, **more: cg(e.A, b, M=e.grids, **more),
    "multigrid": lambda e, b, **more: e.grids.solve(b, **more),
    "bicgstab": lambda e, b, **more: bicgstab(e.B, b, M=e.quarter, **more),
    "gmres": lambda e, b, **more: gmres(e.B, b, M=e.by_python, restart=4, **more),
    "richardson": lambda e, b, **more: richardson(e.A, b, M=Jacobi(), **more),
    "chebyshev": lambda e, b, **more: chebyshev(e.A, b, bounds=(0.5, 8.0), **more),
}


@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, np.float64) for name in SOLVERS), ("cg, multigrid", np.float32)]
)
def test_bits_of_arrays(name: str, dtype: Any) -> None:
    equations, solve = Equations(), SOLVERS[name]
    b, x0 = np.random.default_rng(0).uniform(-1, 1, (2, *fine.extent(SIZES))).astype(dtype)
    before = x0.copy()
    seen: list[Any] = []
    alone = solve(
        equations, b, x0=x0, rtol=0.05, maxiter=4, callback=lambda x: seen.append(x.copy())
    )
    for parts in PARTS:
        on = parts.spread(fine, SIZES)
        start = on.scatter(fine, x0)
        passed: list[Any] = []
        many = solve(
            equations, on.scatter(fine, b), x0=start, rtol=0.05, maxiter=4,
            callback=lambda x, passed=passed: passed.append(x.gather()),
        )  # fmt: skip
        assert (many.info, many.history) == (alone.info, alone.history)
        ranks.check_equal([many.x, start], [alone.x, before], repr(parts))
        assert len(passed) == len(seen)
        assert all(map(np.array_equal, passed, seen))


def test_a_hierarchy_of_matrices() -> None:
    """Extents of three grids are known by the sizes of the coarsest one."""
    s = ssr.Space(4 * n + 3)
    A = ssr.stencil(s, s, {-1: -1.0, 0: 2.5, 1: -1.0}, outside="zero")
    grids = Multigrid.galerkin(A, 3, smoother=Jacobi(2 / 3))
    for size in 1, 4:
        b = np.random.default_rng(0).uniform(-1, 1, s.extent({"n": size}))
        x, info = grids.solve(b, rtol=1e-3)
        assert info == 0
        for parts in Parts(1), Parts(2), Parts(5), Parts(7, cut=(7,)):
            y, found = grids.solve(parts.spread(s, {"n": size}).scatter(s, b), rtol=1e-3)
            assert found == 0
            ranks.check_equal([y], [x], repr(parts))


def test_a_right_side_of_zeros() -> None:
    e, on = Equations(), bc.distribute(fine, bc.simulated_ranks(2), **SIZES)
    x, info = cg(e.A, on.zeros(fine))
    assert info == 0
    assert np.array_equal(x.gather(), np.zeros(x.shape))


def test_what_does_not_fit() -> None:
    e, on = Equations(), bc.distribute(fine, bc.simulated_ranks(2), **SIZES)
    b, array = on.zeros(fine), np.ones(fine.extent(SIZES))
    b.set(1.0)
    with pytest.raises(errors.ArgumentError, match="of SciPy takes arrays"):
        cg(e.A, b, M=aslinearoperator(np.eye(array.size)))
    with pytest.raises(errors.ArgumentError, match="'x' is ndarray"):
        cg(e.A, b, array)
    with pytest.raises(errors.ArgumentError, match="is ndarray"):
        cg(e.A, array, b)
    with pytest.raises(errors.DtypeError):
        cg(e.A, b, on.zeros(fine, np.float32))
    with pytest.raises(errors.SpaceError, match="is on Space"):
        cg(e.A, on.zeros(fine.nodes()))
    with pytest.raises(errors.NonFiniteError):
        cg(e.A, on.empty(fine))
    with pytest.raises(errors.ArgumentError, match="distributed differently"):
        cg(e.A, b, bc.distribute(fine, bc.simulated_ranks(3), **SIZES).zeros(fine))


def test_vectors_of_a_solver_are_not_kept() -> None:
    """Programs stay bound for the next call, but not to fields that are gone."""
    e, on = Equations(), bc.distribute(fine, bc.simulated_ranks(2), **SIZES)
    b, seen = on.zeros(fine), list[Any]()
    b.set(1.0)
    cg(e.A, b, maxiter=2, callback=lambda x: seen.append(weakref.ref(x)))
    gc.collect()
    assert [found() for found in seen] == [None, None]
    assert len(on._bound) == 1  # the norm of b


# -- levels --------------------------------------------------------------------------------------


def test_levels_known_by_one_space() -> None:
    """A field of the coarser level stands for points of this one, as arrays do."""
    P = interpolation(fine, coarse)

    @ssr.program(f=fine, c=coarse)
    def down(f: Any, c: Any) -> None:
        c[:] = P.T @ f

    @ssr.program(c=coarse, f=fine)
    def up(c: Any, f: Any) -> Any:
        f[:] = f - P @ c
        return ssr.sum(f)

    sizes = {"n": 7, "m": 7}
    arrays = [np.random.default_rng(0).uniform(-1, 1, fine.extent(sizes))]
    arrays += [np.zeros((7, 7)), np.zeros((3, 3))]
    for k in 0, 1:
        down(arrays[k], arrays[k + 1])
    sums = [up(arrays[k + 1], arrays[k]) for k in (1, 0)]
    for parts in Parts(1), Parts(4), Parts(6, cut=(2, 3)), Parts(9, cut=(15, 1)):
        levels = [parts.spread(fine, sizes)]
        for _ in range(2):
            levels.append(levels[-1].coarsen(coarse, fine))
        fields = [on.zeros(fine) for on in levels]
        fields[0].set(np.random.default_rng(0).uniform(-1, 1, fine.extent(sizes)))
        for k in 0, 1:
            down(fields[k], fields[k + 1])
        assert [up(fields[k + 1], fields[k]) for k in (1, 0)] == sums
        ranks.check_equal(fields, arrays, repr(parts))


def test_levels_that_are_none() -> None:
    on = bc.distribute(fine, bc.simulated_ranks(2), **SIZES)
    with pytest.raises(errors.ShapeError, match="'points' has length 3"):
        on.coarsen(coarse, ssr.Space(n, 2 * m))
    with pytest.raises(errors.UnboundError, match="more than one"):
        on.coarsen(coarse, ssr.Space(n + ssr.size("q"), m))
    grid = bc.Grid([(4, 2), (4, 3)], links=bc.topologies.bricks(1, 2))
    with pytest.raises(errors.ArgumentError, match="blocks of 2 shapes"):
        bc.distribute(grid, bc.simulated_ranks(2)).coarsen(grid.kinds[0])


line, plane, room = (ssr.Space(*ssr.sizes(names)) for names in ("nx", "ny nx", "nz ny nx"))
WITHIN: list[tuple[ssr.Space, tuple[int, ...], dict[Any, float]]] = [
    (line, (9,), {-1: -1.0, 0: 3.0, 1: -1.0, 2: -0.5, -2: -0.5}),
    (plane, (5, 6), {(0, 0): 5.0, **NEAR}),
    (plane, (4, 5), {(j, i): 9.0 if j == i == 0 else -1.0 for j in (-1, 0, 1) for i in (-1, 0, 1)}),
    (room, (3, 4, 3), {(0, 0, 0): 7.0, (0, 0, 1): -1.0, (0, 0, -1): -1.0, (0, 1, 0): -1.5,
                       (0, -1, 0): -1.5, (1, 0, 0): -0.5, (-1, 0, 0): -0.5}),
]  # fmt: skip


def by_blocks(on: Any, A: Any, r: Any, how: Any) -> Any:
    """Return the solution with the factors of each box by itself, from dense matrices."""
    made = np.empty(r.shape)
    for box in on.partition.boxes:
        at = tuple(slice(*edge) for edge in box[-r.ndim :])
        count = r[at].size
        own = A.reshape(r.shape * 2)[at * 2].reshape(count, count)
        if isinstance(how, IC):
            L = dense_ic0(own)
            factors = L, L.T
        else:
            LU = dense_ilu0(own)
            factors = np.tril(LU, -1) + np.eye(count), np.triu(LU)
        found = np.linalg.solve(factors[1], np.linalg.solve(factors[0], r[at].ravel()))
        made[at] = found.reshape(r[at].shape)
    return made


@pytest.mark.parametrize("how", [ILU, IC])
@pytest.mark.parametrize(("space", "shape", "weights"), WITHIN)
def test_factors_within_boxes(how: Any, space: ssr.Space, shape: Any, weights: Any) -> None:
    """Block Jacobi: on one box they are those of the whole."""
    A = ssr.stencil(space, space, weights, outside="zero")
    sizes = dict(zip(("nz", "ny", "nx")[-len(shape) :], shape, strict=True))
    dense = A.bind(**sizes).to_scipy().toarray()
    b = np.random.default_rng(2).uniform(-1, 1, shape)
    alone = richardson(A, b, M=how(), maxiter=1)
    cut = (2,) * len(shape)
    for parts in Parts(1), Parts(3), Parts(2, cut=cut), Parts(30, cut=tuple(shape)):
        on = parts.spread(space, sizes)
        found = richardson(A, on.scatter(space, b), M=how(rank_local=True), maxiter=1)
        wanted = by_blocks(on, dense, b, how())
        np.testing.assert_allclose(found.x.gather(), wanted, rtol=1e-13, atol=1e-13)
        if parts.ranks == 1:
            ranks.check_equal([found.x], [alone.x], "one box")
    near = richardson(A, b, M=how(rank_local=True), maxiter=1)
    assert near.history == alone.history
    np.testing.assert_array_equal(near.x, alone.x)


def test_factors_of_data_change_with_these() -> None:
    @ssr.matrix(rows=plane, cols=plane, k=plane)
    def diffusion(j: Any, i: Any, *, k: Any) -> Any:
        yield (j, i), 4.0 + k[j, i]
        for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
            if c in plane:
                yield c, -0.5 * (k[j, i] + k[c])

    k, b = np.random.default_rng(3).uniform(0.5, 1.5, (2, 5, 6))
    A = diffusion.bind(k=k)
    on = Parts(4, cut=(2, 2)).spread(plane, {"ny": 5, "nx": 6})
    right = on.scatter(plane, b)
    for _ in range(2):
        found = richardson(A, right, M=ILU(rank_local=True), maxiter=1)
        dense = diffusion.bind(k=k, ny=5, nx=6).to_scipy().toarray()
        wanted = by_blocks(on, dense, b, ILU())
        np.testing.assert_allclose(found.x.gather(), wanted, rtol=1e-13, atol=1e-13)
        k[...] = 1.5 - 0.5 * k


def test_factors_of_rows_of_several_kinds() -> None:
    """What is asked of a row does not depend on the path on which it is asked."""

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        yield i, 12.0
        for near in i - 1, i + 1:
            if near in line and i != 2:
                yield near, -0.5
        if i == ssr.size("nx") - 1 and i >= 2:
            yield i - 2, -1.0

    b = np.random.default_rng(2).uniform(-1, 1, 7)
    on = Parts(3).spread(line, {"nx": 7})
    found = richardson(A, on.scatter(line, b), M=ILU(rank_local=True), maxiter=1)
    wanted = by_blocks(on, A.bind(nx=7).to_scipy().toarray(), b, ILU())
    np.testing.assert_allclose(found.x.gather(), wanted, rtol=1e-13)
