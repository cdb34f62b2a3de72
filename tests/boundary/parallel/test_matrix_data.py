"""Matrices whose data are fields of several ranks: the bits of arrays, and errors."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, ShapeError, UnboundError

ny, nx = ssr.sizes("ny nx")
PLANE = ssr.Space(ny, nx)
SIZES = {"ny": 9, "nx": 7}
NEAR = (0, 1), (0, -1), (1, 0), (-1, 0)


def diffusion(points: ssr.Space) -> ssr.Matrix:
    """Return minus a divergence of fluxes, with coefficients at the points."""

    @ssr.matrix(rows=points, cols=points, c=points)
    def fluxes(j: Any, i: Any, *, c: Any) -> Any:
        yield (j, i), 4.0 * c[j, i]
        for down, right in NEAR:
            if (j + down, i + right) in points:
                yield (j + down, i + right), -0.5 * (c[j, i] + c[j + down, i + right])

    return fluxes


A = diffusion(PLANE)


@ssr.matrix(rows=PLANE, cols=PLANE, k=PLANE.vector(3))
def B(j: Any, i: Any, *, k: Any) -> Any:
    """Entries from two of three components."""
    yield (j, i), 4.0 + k[0, j, i]
    if (j, i + 1) in PLANE:
        yield (j, i + 1), -k[2, j, i]
    if (j + 2, i) in PLANE:
        yield (j + 2, i), -k[0, j + 1, i]


def numbers(seed: int, *lead: int) -> Any:
    return 1.0 + np.random.default_rng(seed).random((*lead, SIZES["ny"], SIZES["nx"]))


def spread(ranks: int | None) -> Any:
    return bc.distribute(PLANE, None if ranks is None else bc.simulated_ranks(ranks), **SIZES)


def results(ranks: int | None, c: Any, k: Any) -> list[bytes]:
    """Return what products, programs and solutions are, with fields spread over ranks."""
    on = spread(ranks)
    c, k = on.scatter(PLANE, c), on.scatter(PLANE.vector(3), k)
    x, y, u = on.scatter(PLANE, numbers(3)), on.zeros(PLANE), on.zeros(PLANE)
    M, N = A.bind(c=c), B.bind(k=k)

    @ssr.program(u=PLANE, v=PLANE)
    def step(u: Any, v: Any) -> Any:
        u[:] = M @ v + 0.5 * (N.T @ (N @ v))
        v[:] = N @ u + 2.0 * v
        return ssr.sum(v)

    made = [M @ x, N @ x, N.T @ x]
    y.set(x)
    total = step(u, y)
    found = ssr.solvers.cg(M, x, M=ssr.solvers.Jacobi())
    c.set(1.5 * numbers(1))  # data are live
    made += [u, y, found.x, M @ x]
    return [field.gather().tobytes() for field in made] + [np.float64(total).tobytes()]


def test_the_bits_of_arrays() -> None:
    c, k = numbers(1), numbers(2, 3)
    whole = results(None, c, k)
    for ranks in 2, 7, 24:
        assert results(ranks, c, k) == whole
    assert whole[0] == (A.bind(c=c) @ numbers(3)).tobytes()
    assert whole[2] == (B.bind(k=k).T @ numbers(3)).tobytes()


def coefficients(step: int, j: Any, i: Any) -> Any:
    return 2.0 + (j + 1) * step % 7 / 7 + (i + 1) * step % 5 / 5


def test_multigrid_with_coefficients_on_all_grids() -> None:
    grids = [ssr.Space(4 * ny + 3, 4 * nx + 3), ssr.Space(2 * ny + 1, 2 * nx + 1), PLANE]
    P = [ssr.solvers.interpolation(*pair) for pair in pairwise(grids)]
    found = []
    for ranks in None, 2, 5:
        on = bc.distribute(
            grids[0], None if ranks is None else bc.simulated_ranks(ranks), ny=4, nx=5
        )
        matrices = []
        for level, points in enumerate(grids):
            c = on.zeros(points)
            c.fill(partial(coefficients, 2**level))
            matrices.append(diffusion(points).bind(c=c))
        cycles = ssr.solvers.Multigrid(
            matrices, P, [0.25 * p.T for p in P], smoother=ssr.solvers.Jacobi()
        )
        b = on.zeros(grids[0])
        b.fill(lambda j, i: 1.0 + j - i)
        solution = ssr.solvers.cg(matrices[0], b, M=cycles)
        assert solution.info == 0
        found.append(solution.x.gather().tobytes())
    assert found[0] == found[1] == found[2]


def test_a_vector_on_ranks_beside_an_array() -> None:
    """Of two matrices of one program, and of a sum of such."""
    k, c = numbers(2, 3), numbers(1)

    def results(ranks: int | None) -> list[bytes]:
        on = spread(ranks)
        N, M = B.bind(k=on.scatter(PLANE.vector(3), k)), A.bind(c=c)
        u, v = on.zeros(PLANE), on.scatter(PLANE, numbers(3))

        @ssr.program(u=PLANE, v=PLANE)
        def step(u: Any, v: Any) -> None:
            u[:] = N @ v
            u[:] = u + M @ v
            v[:] = (N + M).T @ u

        step(u, v)
        return [field.gather().tobytes() for field in (u, v)]

    assert results(3) == results(None)


def test_mistakes() -> None:
    on, other = spread(3), bc.distribute(PLANE, bc.simulated_ranks(3), cut=(1, 3), **SIZES)
    c, x = on.scatter(PLANE, numbers(1)), on.scatter(PLANE, numbers(3))
    M = A.bind(c=c)
    with pytest.raises(ArgumentError, match="data of several ranks"):
        _ = M @ numbers(3)
    with pytest.raises(ArgumentError, match="distributed differently"):
        _ = M @ other.scatter(PLANE, numbers(3))
    with pytest.raises(UnboundError, match="no rank has all numbers"):
        M.bind(**SIZES).to_scipy()
    with pytest.raises(ShapeError, match="3 axes"):
        A.bind(c=on.zeros(PLANE.vector(2)))
    with pytest.raises(ArgumentError, match=r"vector\(2\)|array"):
        B.bind(k=on.zeros(PLANE.vector(2)))

    @ssr.program(u=PLANE, v=PLANE)
    def change(u: Any, v: Any) -> None:
        u[:] = M @ v

    with pytest.raises(ArgumentError, match="same field"):
        change(c, x)
    narrow = on.zeros(PLANE, np.float32)
    with pytest.raises(ssr.errors.DtypeError, match="dtypes"):
        _ = M @ narrow


@ssr.matrix(rows=PLANE, cols=PLANE, w=ssr.Space(ny))
def weigh(j: Any, i: Any, *, w: Any) -> Any:
    yield (j, i), w[j]


def test_arrays_that_are_only_read() -> None:
    on, w = spread(2), np.arange(9.0)
    w.flags.writeable = False
    x, y = on.scatter(PLANE, numbers(3)), on.zeros(PLANE)

    def program(M: ssr.Matrix) -> ssr.Program:
        @ssr.program(x=PLANE, y=PLANE)
        def apply(x: Any, y: Any) -> None:
            y[:] = M @ x

        return apply

    program(weigh.bind(w=w))(x, y)
    np.testing.assert_array_equal(y.gather(), w[:, None] * numbers(3))
    apart = np.zeros(9 * 8 + 4, np.uint8)[4:].view(np.float64)
    with pytest.raises(ssr.errors.ContiguityError, match="not aligned"):
        program(weigh.bind(w=apart))(x, y)
