"""Multigrid: hierarchies, convergence that does not depend on the grid, preconditioning."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as scipy_solvers

import ssr
from ssr import solvers
from ssr.errors import ArgumentError, ShapeError, SpaceError

from .test_krylov import CROSS, right_side

Array = np.ndarray[Any, Any]
n, ny, nx = ssr.sizes("n ny nx")
fine, coarse = ssr.Space(2 * ny + 1, 2 * nx + 1), ssr.Space(ny, nx)
A = ssr.stencil(fine, fine, CROSS, outside="zero")
P = solvers.interpolation(fine, coarse)
SECOND = {-1: -1.0, 0: 2.0, 1: -1.0}


def second(space: ssr.Space) -> ssr.Matrix:
    return ssr.stencil(space, space, SECOND, outside="zero")


@pytest.fixture(scope="module")
def multigrid() -> solvers.Multigrid:
    return solvers.Multigrid(A, P, P.T, sweeps=(2, 2))


def counted(solve: Callable[..., Any], *args: Any, **named: Any) -> list[float]:
    found = solve(*args, **named)
    assert found.info == 0
    return list(found.history)


def test_convergence_does_not_depend_on_the_grid(multigrid: solvers.Multigrid) -> None:
    factors = []
    for shape in (31, 31), (63, 31), (127, 127), (511, 511):
        norms = counted(multigrid.solve, right_side(shape), rtol=1e-10)
        factors.append((norms[-1] / norms[1]) ** (1 / (len(norms) - 2)))
    assert max(factors) < 0.15
    assert max(factors) < 1.2 * min(factors)


def test_solution(multigrid: solvers.Multigrid) -> None:
    b = right_side((15, 31))
    x, info = multigrid.solve(b, rtol=1e-12)
    definition = A.bind(ny=7, nx=15).to_scipy().tocsc()
    expected = scipy_solvers.spsolve(definition, b.ravel()).reshape(b.shape)
    assert info == 0
    np.testing.assert_allclose(x, expected, 0, 1e-10 * np.abs(expected).max())
    np.testing.assert_array_equal(x, multigrid.solve(b, rtol=1e-12)[0])


def test_preconditioner(multigrid: solvers.Multigrid) -> None:
    b = right_side((63, 63))
    assert len(counted(solvers.cg, A, b, M=multigrid, rtol=1e-8)) <= 8
    alone: list[Array] = []
    matrix = A.bind(ny=31, nx=31).to_scipy()
    scipy_solvers.cg(matrix, b.ravel(), rtol=1e-8, callback=alone.append)
    assert len(alone) > 100


def test_cycle_is_symmetric(multigrid: solvers.Multigrid) -> None:
    x, y = (right_side((2, 15, 15))[k] for k in range(2))
    u, v = np.empty_like(x), np.empty_like(y)
    multigrid(u, x)
    multigrid(v, y)
    assert abs(np.vdot(u, y) - np.vdot(x, v)) < 1e-13 * np.linalg.norm(u) * np.linalg.norm(y)
    assert np.vdot(u, x) > 0


def test_galerkin() -> None:
    space = ssr.Space(4 * n + 3)
    made = solvers.Multigrid.galerkin(second(space), 3, smoother=solvers.Jacobi(2 / 3))
    for k, extent in enumerate((4 * n + 3, 2 * n + 1, n)):
        assert (2.0**k * made.matrices[k]).equals(second(ssr.Space(extent)))
    for size in 7, 63, 255:
        norms = counted(made.solve, right_side(size), rtol=1e-9)
        assert (norms[-1] / norms[1]) ** (1 / (len(norms) - 2)) < 0.25


def test_matrices_of_their_own_spaces() -> None:
    """Matrices meet at arrays: those of a hierarchy may be written with other sizes."""
    m = ssr.size("m")
    wide = second(ssr.Space(n))
    Q = solvers.interpolation(ssr.Space(2 * m + 1), ssr.Space(m))
    made = solvers.Multigrid([wide, wide, wide], [Q, Q], [2.0 * Q.T] * 2)
    assert len(counted(made.solve, right_side(63), rtol=1e-8)) < 14
    with pytest.raises(ShapeError, match="length 10"):
        made.solve(np.ones(10))


def test_one_point() -> None:
    made = solvers.Multigrid(
        second(ssr.Space(n)), solvers.interpolation(ssr.Space(3), ssr.Space(1))
    )
    x, info = made.solve(np.ones(1))
    assert info == 0
    np.testing.assert_allclose(x, [0.5], 1e-15)


def test_singular_coarsest_matrix_and_new_data() -> None:
    line = ssr.Space(n)

    @ssr.matrix(rows=line, cols=line, k=ssr.Space(n + 1))
    def flux(i: Any, *, k: Any) -> Any:
        yield i, k[i] + k[i + 1]
        if i > 0:
            yield i - 1, -k[i]
        if i + 1 < n:
            yield i + 1, -k[i + 1]

    k = np.ones(6)
    k[[0, -1]] = 0.0
    made = solvers.Multigrid(flux.bind(k=k), solvers.interpolation(ssr.Space(2 * n + 1), line))
    b = np.array([1.0, -2.0, 0.0, 3.0, -2.0])
    z, matrix = np.empty(5), flux.bind(k=k).to_scipy()
    made(z, b)
    np.testing.assert_allclose(matrix @ z, b, 0, 1e-13)
    k *= 2.0
    made.update()
    made(z, b)
    np.testing.assert_allclose(2.0 * (matrix @ z), b, 0, 1e-13)


@pytest.mark.parametrize(
    ("extents", "expected"),
    [
        ((3, 1), [[0.5], [1.0], [0.5]]),
        ((3, 2), [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
        ((2, 2), [[1.0, 0.0], [0.0, 1.0]]),
        ((1, 1), [[1.0]]),
    ],
)
def test_interpolation(extents: tuple[int, int], expected: Any) -> None:
    made = solvers.interpolation(*map(ssr.Space, extents)).to_scipy().toarray()
    np.testing.assert_array_equal(made, expected)
    both = solvers.interpolation(*(ssr.Space(e, e) for e in extents)).to_scipy().toarray()
    np.testing.assert_array_equal(both, np.kron(made, made))


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (SpaceError, "does not coarsen", lambda: solvers.interpolation(ssr.Space(4), ssr.Space(2))),
        (SpaceError, "no interpolation from", lambda: solvers.interpolation(fine, ssr.Space(2))),
        (SpaceError, "no interpolation", lambda: solvers.interpolation(fine.grow(1), fine.grow(1))),
        (
            SpaceError,
            "does not have 2 levels",
            lambda: solvers.Multigrid.galerkin(second(ssr.Space(n)), 2),
        ),
        (SpaceError, "not square", lambda: solvers.Multigrid(P, P)),
        (ArgumentError, "do not make a hierarchy", lambda: solvers.Multigrid([A, A], [P, P])),
        (ArgumentError, "not matrices of ssr", lambda: solvers.Multigrid([A, 3], [P])),
        (ArgumentError, "sweeps is", lambda: solvers.Multigrid(A, P, sweeps=(0, 1))),
        (ArgumentError, "smoother is str", lambda: solvers.Multigrid(A, P, smoother="sor")),
        (
            ArgumentError,
            "Use more levels",
            lambda: solvers.Multigrid([A], []).solve(np.ones((51, 51))),
        ),
    ],
)
def test_mistakes(error: type[Exception], match: str, call: Callable[[], object]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, ssr.Error)
    told = caught.value.message, caught.value.note, caught.value.hint
    assert re.search(match, "\n".join(filter(None, told)))  # without the line of this file


# -- coefficients that vary ----------------------------------------------------------------------

plane = ssr.Space(ny, nx)


@ssr.matrix(rows=plane, cols=plane, kx=ssr.Space(ny, nx + 1), ky=ssr.Space(ny + 1, nx))
def diffusion(j: Any, i: Any, *, kx: Any, ky: Any) -> Any:
    yield (j, i), kx[j, i] + kx[j, i + 1] + ky[j, i] + ky[j + 1, i]
    for c, k in (
        ((j - 1, i), ky[j, i]),
        ((j, i - 1), kx[j, i]),
        ((j, i + 1), kx[j, i + 1]),
        ((j + 1, i), ky[j + 1, i]),
    ):
        if c in plane:
            yield c, -k


def test_stored_galerkin_products_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    kx, ky = rng.uniform(1.0, 2.0, (15, 32)), rng.uniform(1.0, 2.0, (16, 31))
    made = solvers.Multigrid.galerkin(diffusion.bind(kx=kx, ky=ky), 3)
    for _ in range(2):
        expected = made.matrices[0].to_scipy()
        for below, Q, (c0, c1) in zip(
            made.matrices[1:], made.prolongations, ((7, 15), (3, 7)), strict=True
        ):
            Q = Q.bind(c0=c0, c1=c1).to_scipy()
            expected = Q.T @ expected @ Q
            np.testing.assert_allclose(below.to_scipy().toarray(), expected.toarray(), 1e-12, 1e-12)
        assert len(counted(made.solve, right_side((15, 31)), rtol=1e-8)) < 25
        kx *= 3.0
        made.update()


def test_stored_products_in_three_dimensions() -> None:
    """With rows of data anywhere in a box of offsets, along axes of different lengths."""
    space = ssr.Space(*ssr.sizes("nz ny nx"))

    @ssr.matrix(rows=space, cols=space, a=space)
    def A(k: Any, j: Any, i: Any, *, a: Any) -> Any:
        yield (k, j, i), 8.0 + a[k, j, i]
        for sign in -1, 1:
            for dk, dj, di in (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1):
                c = (k + sign * dk, j + sign * dj, i + sign * di)
                if c in space:
                    yield c, a[k, j, i] * a[c] - sign

    a = np.random.default_rng(1).uniform(0.5, 1.0, (7, 3, 7))
    made = solvers.Multigrid.galerkin(A.bind(a=a), 2)
    Q = made.prolongations[0].bind(c0=3, c1=1, c2=3).to_scipy()
    expected = (Q.T @ made.matrices[0].to_scipy() @ Q).toarray()
    np.testing.assert_allclose(made.matrices[1].to_scipy().toarray(), expected, 1e-12, 1e-12)


def test_galerkin_with_sizes_that_are_bound() -> None:
    line = second(ssr.Space(n))
    made = solvers.Multigrid.galerkin(line.bind(n=31), 3)
    assert len(counted(made.solve, right_side(31), rtol=1e-8)) < 14
    with pytest.raises(SpaceError, match="A grid of 30 points does not have 2 levels"):
        solvers.Multigrid.galerkin(line.bind(n=30), 2)


def test_columns_at_no_fixed_distance_are_not_stored() -> None:
    @ssr.matrix(rows=ssr.Space(n), cols=ssr.Space(n))
    def mirror(i: Any) -> Any:
        yield i, 2.0
        yield n - 1 - i, 1.0

    with pytest.raises(SpaceError, match="no fixed distance"):
        solvers.Multigrid.galerkin(mirror.bind(n=7), 2)


def test_cells_are_halved() -> None:
    """In a closed box the matrix, without divisor, is four times the operator on larger cells."""
    m = ssr.size("m", at_least=2)
    fine, coarse = ssr.Space(2 * m, 2 * m), ssr.Space(m, m)
    along_y = ssr.difference(fine.faces(0).grow(-1, 0), fine, 0)
    along_x = ssr.difference(fine.faces(1).grow(0, -1), fine, 1)
    closed = along_y.T @ along_y + along_x.T @ along_x
    P = solvers.interpolation(fine, coarse, centering="cell")
    np.testing.assert_allclose(P.bind(m=4).to_scipy().sum(axis=1), 1.0)
    grids = solvers.Multigrid(closed, P, P.T)
    b = right_side((64, 64))
    assert len(counted(solvers.cg, closed, b - b.mean(), rtol=1e-8, M=grids)) < 16


@pytest.mark.parametrize(
    ("fine", "coarse", "centering"), [(7, 3, "cell"), (8, 4, "vertex"), (8, 4, "nodes")]
)
def test_grids_that_do_not_fit(fine: int, coarse: int, centering: Any) -> None:
    error, match = (
        (ArgumentError, "centering must be") if centering == "nodes" else (SpaceError, "coarsen")
    )
    with pytest.raises(error, match=match):
        solvers.interpolation(ssr.Space(fine), ssr.Space(coarse), centering=centering)


def test_grids_that_cannot_be_coarsened_far_enough() -> None:
    fine, coarse = ssr.Space(2 * n), ssr.Space(n)
    A, P = second(fine), solvers.interpolation(fine, coarse, centering="cell")
    b = np.ones(100)
    with pytest.raises(ShapeError, match="A grid of 100 points cannot be coarsened") as caught:
        solvers.Multigrid(A, P, P.T, coarsest=10).solve(b)
    assert str(caught.value.note).startswith("50 points have no coarser grid")
    assert caught.value.hint == "Choose 96 or 128 points, or give coarsest=50."
    for points, coarsest in (96, 10), (128, 10), (100, 50):
        grids = solvers.Multigrid(A, P, P.T, coarsest=coarsest)
        assert np.isfinite(grids.solution(np.ones(points))).all()


@pytest.mark.parametrize(
    ("shape", "coarsest", "hint"),
    [
        ((65,), 4, "Choose 63 or 79 points, or give coarsest=32."),
        ((100, 100), 50, "Choose 95 x 95 or 111 x 111 points."),
        ((127, 100), 50, "Choose 127 x 95 or 127 x 111 points."),
        ((4, 4), 1, "Choose 3 x 3 or 7 x 7 points, or give coarsest=16."),
        ((2, 2), 1, "Choose 3 x 3 points, or give coarsest=4."),
    ],
)
def test_extents_that_can_be_coarsened(shape: tuple[int, ...], coarsest: int, hint: str) -> None:
    counts = ssr.sizes("c0 c1")[: len(shape)]
    fine = ssr.Space(*(2 * c + 1 for c in counts))
    P = solvers.interpolation(fine, ssr.Space(*counts))
    A = ssr.identity(ssr.Space(*ssr.sizes("n0 n1")[: len(shape)]))
    grids = solvers.Multigrid(A, P, P.T, coarsest=coarsest)
    z, r = np.full(shape, 3.0), np.ones(shape)
    for act in lambda: grids.solve(r), lambda: grids(z, r):
        with pytest.raises(ShapeError) as caught:
            act()
        assert caught.value.hint == hint
    assert (z == 3.0).all()


def test_levels_of_galerkin_products() -> None:
    found = []
    for space in ssr.Space(61), ssr.Space(61, 40), ssr.Space(2 * n + 1):
        with pytest.raises(SpaceError, match="does not have 3 levels") as caught:
            solvers.Multigrid.galerkin(ssr.identity(space), 3)
        found.append(caught.value.hint)
    assert found == [
        "Choose 59 or 63 points, or fewer levels.",
        "Choose 59 x 39 or 63 x 43 points, or fewer levels.",
        "Write extents as 4*c + 3, with a size c, or use fewer levels.",
    ]


def test_prolongation_and_restriction_exchanged() -> None:
    P = solvers.interpolation(ssr.Space(2 * n + 1), ssr.Space(n))
    grids = solvers.Multigrid(second(ssr.Space(n)), P.T, P, coarsest=4)
    with pytest.raises(ShapeError, match="31 points cannot be coarsened"):
        grids.solve(np.ones(31))


def upwind(space: ssr.Space, wind: float) -> ssr.Matrix:
    """Return diffusion and convection by upwind differences, times the squared distance."""
    weights = {(0, 0): 4 + 2 * wind, (0, -1): -1 - wind, (-1, 0): -1 - wind, (0, 1): -1, (1, 0): -1}
    return ssr.stencil(space, space, weights, outside="zero")


def test_convection_needs_matrices_of_each_grid() -> None:
    spaces = [ssr.Space(extent, extent) for extent in (63, 31, 15, 7)]
    b = np.random.default_rng(3).standard_normal((63, 63))
    products = solvers.Multigrid.galerkin(upwind(spaces[0], 4.0), 4, smoother=solvers.Jacobi())
    lost = products.solve(b, rtol=1e-8, maxiter=100)
    assert lost.info == -2
    assert lost.history[-1] < 1e12 * lost.history[0]
    matrices = [upwind(space, 4.0 * 2.0**level) for level, space in enumerate(spaces)]
    P = [solvers.interpolation(*pair) for pair in pairwise(spaces)]
    found = solvers.Multigrid(matrices, P).solve(b, rtol=1e-8)
    assert found.info == 0
    assert found.iterations < 30
