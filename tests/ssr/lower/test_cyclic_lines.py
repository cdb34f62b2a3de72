"""Solves along lines that close in a circle: how they are written, small sizes, and programs."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import errors, ir

from .. import plain
from .test_line_solves import Recipe, compare, compiled, dense

ni, nj = ssr.sizes("ni nj")
plane = ssr.Space(nj, ni)


def periodic(width: int) -> ssr.Matrix:
    """Return a matrix with periodic ghosts along lines, folded in."""
    weights = {(0, n): 4.0 if n == 0 else -1.0 / (5 + n) for n in range(-width, width + 1)}
    wide = plane.grow((0, 0), (width, width))
    ghosts = bc.fill(wide, bc.periodic(axis=1))
    return (ssr.stencil(plane, wide, weights) @ ghosts).linear


def right(*extent: int) -> Any:
    return np.random.default_rng(3).random(extent)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_periodic_ghosts(width: int) -> None:
    A = periodic(width)
    for extent in (1, 1), (3, 2), (9, 3), (2, 4), (3, 5), (2, 12):
        b = right(*extent)
        np.testing.assert_allclose(plain.solve(A, b), dense(A, b), rtol=1e-12)


def circle(extent: int) -> ssr.Matrix:
    """Return a matrix whose columns are remainders."""
    line = ssr.Space(extent)

    @ssr.matrix(rows=line, cols=line)
    def A(i: Any) -> Any:
        for step in -2, -1, 0, 1, 2:
            yield (i + step) % extent, 6.0 if step == 0 else -1.0 / step

    return A


def test_remainders_of_numbers() -> None:
    for extent in 1, 2, 3, 8:
        A, b = circle(extent), right(extent)
        expected = np.linalg.solve(A.to_scipy().toarray(), b)
        np.testing.assert_allclose(plain.solve(A, b), expected, rtol=1e-12)


def test_columns_before_rows_but_for_the_first() -> None:
    """Upwind differences: a triangle, if lines were open."""

    @ssr.matrix(rows=plane, cols=plane, c=plane)
    def A(j: Any, i: Any, *, c: Any) -> Any:
        yield (j, i), 1.0 + c[j, i]
        yield (j, i - 1) if i > 0 else (j, ni - 1), -c[j, i]

    for extent in (2, 1), (3, 2), (9, 7):
        b, c = right(*extent), 3.0 * right(*extent)
        found = plain.solve(A.bind(c=c), b)
        np.testing.assert_allclose(found, dense(A, b, c=c), rtol=1e-12)
    assert plain.solve(A.tril().bind(c=c), b).shape == b.shape


def test_a_column_of_all_rows() -> None:
    @ssr.matrix(rows=plane, cols=plane)
    def A(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        yield (j, 0), 0.5
        for c in (j, i - 1), (j, i + 1):
            if c in plane:
                yield c, -1.0

    for extent in (2, 1), (3, 2), (9, 7):
        np.testing.assert_allclose(plain.solve(A, right(*extent)), dense(A, right(*extent)), 1e-12)


@pytest.mark.parametrize(("ndim", "axis"), [(1, 0), (2, 0), (3, 1), (3, 2)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_of_all_axes(ndim: int, axis: int, dtype: Any) -> None:
    recipe = Recipe(ndim, axis, (-1, 0, 1), 1, fixed_ends=False, at_column=True, cyclic=True)
    compare(recipe, compiled, dtype, *{1: ((40,),), 2: ((5, 20),), 3: ((3, 9, 17),)}[ndim])


@pytest.mark.parametrize(("size", "offsets"), [(3, (-1, 0, 1)), (2, (-2, -1, 0, 1, 2))])
def test_kernels_of_blocks(size: int, offsets: tuple[int, ...]) -> None:
    recipe = Recipe(2, 1, offsets, size, fixed_ends=False, at_column=False, cyclic=True)
    compare(recipe, compiled, np.float64, (9, 6))


def test_in_programs() -> None:
    """The matrix of a field, several right sides, and an explicit part with the same ghosts."""
    ghosts = bc.fill(plane.grow((0, 0), (1, 1)), bc.periodic(axis=1))
    around = ssr.stencil(plane, plane.grow((0, 0), (1, 1)), {(0, -1): 1.0, (0, 0): -2, (0, 1): 1})
    second = (around @ ghosts).linear

    @ssr.program(u=plane.vector(2), k=plane, dt=ssr.scalar)
    def step(u: Any, k: Any, dt: Any) -> None:
        A = ssr.identity(plane) - dt * second @ ssr.diagonal(plane, 1.0 + k * k)
        u[:] = A.solve(u + dt * (second @ u))

    for extent in (2, 1), (2, 2), (3, 10):
        u, k = right(2, *extent), right(*extent)
        S = second.bind(nj=extent[0], ni=extent[1]).to_scipy().toarray()
        A = np.eye(k.size) - 0.3 * S * (1.0 + k.ravel() ** 2)
        sides = [part.ravel() + 0.3 * S @ part.ravel() for part in u]
        expected = np.stack([np.linalg.solve(A, side).reshape(extent) for side in sides])
        plain.run(step, u, k, 0.3)
        np.testing.assert_allclose(u, expected, rtol=1e-11)
    (solve,) = (s for s in step.ir.steps if isinstance(s, ir.Solve))
    assert sorted(map(str, solve.points)) == ["0", "ni - 1"]


def test_boxes_have_whole_lines() -> None:
    A = periodic(1)
    b = right(6, 11)
    whole, cut = np.empty_like(b), np.empty_like(b)
    plain.run(A.program("solve"), whole, b)
    plain.run(A.program("solve"), cut, b, boxes=ssr.Space(6, 11).split(3, 1))
    assert plain.same(whole, cut)
    with pytest.raises(errors.BoxError, match="cannot be cut along axis 1"):
        A.program("solve")(cut, b, boxes=ssr.Space(6, 11).split(1, 2))


def test_debug_build() -> None:
    program = plain.variant(periodic(2).program("solve"), debug=True)
    b = right(3, 9)
    found = np.empty_like(b)
    program(found, b)
    assert plain.same(found, periodic(2).solve(b))


def test_on_ranks() -> None:
    A = periodic(1)

    @ssr.program(u=plane)
    def solve(u: Any) -> None:
        u[:] = A.solve(u)

    on = bc.distribute(plane, bc.simulated_ranks(3), nj=6, ni=7).undivided(1)
    u, b = on.zeros(plane), right(6, 7)
    u.set(b)
    solve(u)
    assert plain.same(np.array(u.gather()), A.solve(b))


def test_explain() -> None:
    text = periodic(1).program("solve").explain()
    assert "A at (j, ni - 1) = -0.25  where i = 0" in text
    assert "closing, for i = 0" in text
    assert "lines_0, closing:" in text


line = ssr.Space(ni)


def ring(stencil: dict[int, float]) -> ssr.Matrix:
    """Return a stencil on a line that closes in a circle."""
    wide = line.grow(max(stencil))
    return (ssr.stencil(line, wide, dict(stencil)) @ bc.fill(wide, bc.periodic())).linear


SINGULAR = {
    "second derivative": lambda: 3.3 * ring({-1: -1.0, 0: 2.0, 1: -1.0}),
    "fourth derivative": lambda: ring({-2: 1.0, -1: -4.0, 0: 6.0, 1: -4.0, 2: 1.0}),
    "no flow through the ends": lambda: (
        (
            ssr.stencil(line, line.grow(1), {-1: -0.7, 0: 1.4, 1: -0.7})
            @ bc.fill(line.grow(1), bc.neumann())
        ).linear
    ),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SINGULAR)
def test_pivots_that_are_rounding_errors_are_zero(name: str, dtype: Any) -> None:
    A = SINGULAR[name]()
    debug = A.program("solve").with_options(ssr.Options(debug=True))
    for count in 5, 8, 33, 1000:
        b = np.eye(count, dtype=dtype)[0]
        assert np.isnan(A.solve(b)).all()
    with pytest.raises(errors.SingularMatrixError, match=r"zero, on the line \(:\) at i = "):
        debug(np.zeros(33, dtype), np.eye(33, dtype=dtype)[0])


def test_small_pivots_that_are_none_are_kept() -> None:
    A = ring({-1: -1.0, 0: 2.0, 1: -1.0}) + 1e-10 * ssr.identity(line)
    for count in 3, 8, 33, 1000:
        x = A.solve(np.ones(count))
        np.testing.assert_allclose(x, 1e10, rtol=1e-3)
