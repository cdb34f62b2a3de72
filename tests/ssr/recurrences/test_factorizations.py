"""Recurrent matrices: incomplete factorizations against the definition and against a textbook."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as splinalg
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.lower.step_nest import step_nest

from .. import plain
from ..factorizations import Array, dense_dilu, dense_ic0, dense_ilu0, dilu, ic0, ilu0
from ..interpret import interpret_nest, interpret_program
from ..strategies import dominant, examples, stencils

n, nz, ny, nx = ssr.sizes("n nz ny nx")
line, plane, block = ssr.Space(n), ssr.Space(ny, nx), ssr.Space(nz, ny, nx)
SIZES = {1: ({"n": 1}, {"n": 2}, {"n": 7}), 2: ({"ny": 1, "nx": 1}, {"ny": 5, "nx": 3})}
SIZES[3] = ({"nz": 1, "ny": 1, "nx": 1}, {"nz": 3, "ny": 1, "nx": 5}, {"nz": 3, "ny": 2, "nx": 3})
METHODS = {"ilu0": (ilu0, dense_ilu0), "ic0": (ic0, dense_ic0), "dilu": (dilu, dense_dilu)}


def constant(points: int) -> ssr.Matrix:
    """Return a symmetric matrix with this number of points in its stencil."""
    space = {3: line, 5: plane, 9: plane, 7: block, 27: block}[points]
    near = {3: 1, 5: 1, 9: 2, 7: 1, 27: 3}[points]
    reach = [o for o in product((-1, 0, 1), repeat=space.ndim) if sum(map(abs, o)) <= near]
    weights = {o: -1.0 / sum(map(abs, o)) if any(o) else points - 0.5 for o in reach}
    return ssr.stencil(space, space, weights, outside="zero")


def variable(ndim: int) -> ssr.Matrix:
    """Return the matrix of -div(a grad u) + c u, a on the cells; symmetric."""
    space = {1: line, 2: plane, 3: block}[ndim]

    @ssr.matrix(rows=space, cols=space, a=space, c=ssr.scalar)
    def diffusion(*here: Any, a: Any, c: Any) -> Any:
        total = c
        for axis, side in product(range(ndim), (-1, 1)):
            there = tuple(h + side * (d == axis) for d, h in enumerate(here))
            if there in space:
                face = 0.5 * (a[here] + a[there])
                total = total + face
                yield there, -face
        yield here, total

    return diffusion


def computed(recurrence: ssr.Recurrence) -> Array:
    """Return the numbers of a recurrence, by plain Python; memory nobody wrote stays NaN."""
    extent = recurrence.rows.extent(recurrence.definition.all_sizes())
    made = np.full((len(recurrence.made), *extent), np.nan)
    plain.run(recurrence.program("compute"), made)
    return made


def compare(recurrence: ssr.Recurrence, expected: Array, **data: Any) -> None:
    """Compare what the kernel's source computes with the definition and with the textbook."""
    F = recurrence.bind(**data)
    meant = F.to_scipy().toarray()
    np.testing.assert_allclose(meant, expected, rtol=1e-11, atol=1e-12)
    F = F.bind(**{F.name: computed(F)})
    extent = F.rows.extent(F.definition.all_sizes())
    for x in np.eye(len(expected)) if len(expected) < 5 else ints((3, len(expected))):
        found = plain.apply(F, x.reshape(extent), extent)
        np.testing.assert_allclose(found.ravel(), meant @ x, rtol=1e-12, atol=1e-13)


def ints(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(0).integers(-9, 10, shape).astype(float)


# -- against the textbook ------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("points", [3, 5, 9, 7])
def test_constant_coefficients(method: str, points: int) -> None:
    A = constant(points)
    made = METHODS[method][0](A)
    for sizes in SIZES[A.rows.ndim]:
        compare(made, METHODS[method][1](A.bind(**sizes).to_scipy().toarray()), **sizes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_variable_coefficients(method: str, ndim: int) -> None:
    A = variable(ndim)
    made = METHODS[method][0](A)
    for sizes in SIZES[ndim]:
        a = np.random.default_rng(1).uniform(0.5, 2.0, A.rows.extent(sizes))
        expected = METHODS[method][1](A.bind(a=a, c=0.5).to_scipy().toarray())
        compare(made, expected, a=a, c=0.5)


@pytest.mark.parametrize("method", METHODS)
def test_all_neighbours_in_space(method: str) -> None:
    cube = ssr.Space(3, 2, 3)
    weights = {o: 26.5 if not any(o) else -1.0 for o in product((-1, 0, 1), repeat=3)}
    A = ssr.stencil(cube, cube, weights, outside="zero")
    expected = METHODS[method][1](A.to_scipy().toarray())
    compare(METHODS[method][0](A), expected)


@pytest.mark.parametrize("method", METHODS)
def test_guards_and_periodic_columns(method: str) -> None:
    @ssr.matrix(rows=line, cols=line, a=line)
    def ring(i: Any, *, a: Any) -> Any:
        yield i, 5.0 + a[i]
        yield (i - 1 if i > 0 else n - 1), -1.0
        yield (i + 1 if i < n - 1 else 0), -1.0
        if i % 2 == 0:
            yield i, 1.0

    made, dense = METHODS[method]
    for size in 4, 5, 7:
        a = np.random.default_rng(size).uniform(0.0, 1.0, size)
        compare(made(ring), dense(ring.bind(a=a).to_scipy().toarray()), a=a)


@given(st.data())
@examples(12)
def test_drawn_stencils(data: st.DataObject) -> None:
    ndim = data.draw(st.integers(1, 3))
    extent = data.draw(st.tuples(*(st.integers(1, (9, 5, 3)[ndim - 1]) for _ in range(ndim))))
    weights = dominant(data.draw(stencils(ndim, reach=1)))
    parity = data.draw(st.integers(1, 3))
    space = ssr.Space(*extent)

    @ssr.matrix(rows=space, cols=space, a=space)
    def A(*here: Any, a: Any) -> Any:
        for offset, weight in weights.items():
            there = tuple(h + o for h, o in zip(here, offset, strict=True))
            if there in space and (not any(offset) or sum(here) % parity == 0):
                yield there, weight if any(offset) else weight + a[here]

    a = np.random.default_rng(0).uniform(0.0, 1.0, extent)
    dense = A.bind(a=a).to_scipy().toarray()
    for made, reference in (ilu0, dense_ilu0), (dilu, dense_dilu):
        compare(made(A), reference(dense), a=a)


@pytest.mark.parametrize("method", METHODS)
def test_compiled(method: str) -> None:
    A, a = variable(2), np.random.default_rng(8).uniform(0.5, 2.0, (4, 5))
    F = METHODS[method][0](A).bind(a=a, c=0.5).compute()
    x = np.random.default_rng(9).standard_normal((4, 5))
    expected = METHODS[method][1](A.bind(a=a, c=0.5).to_scipy().toarray()) @ x.ravel()
    np.testing.assert_allclose((F @ x).ravel(), expected, rtol=1e-12)


# -- what is stored, and how it is computed ------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("points", [3, 5, 7])
def test_the_diagonal_alone_is_stored_for_constant_coefficients(method: str, points: int) -> None:
    made = METHODS[method][0](constant(points))
    assert made.entries.components == 1


def test_entries_of_varying_coefficients_are_all_stored() -> None:
    assert ilu0(variable(2)).entries.components == 5
    assert dilu(variable(2)).entries.components == 1


def test_a_recurrence_without_reads_stores_nothing() -> None:
    A = constant(3)

    @ssr.recurrence(rows=line, cols=line)
    def twice(i: Any, done: Any) -> Any:
        yield from ((c, 2.0 * value) for c, value in A.row(i).items())

    assert twice.compute().equals(2.0 * A)


@pytest.mark.parametrize("size", [1, 4])
def test_the_interpreter_gives_the_same_bits(size: int) -> None:
    A, sizes = constant(9), {"ny": size, "nx": 3}
    F = ilu0(A)
    made = computed(F.bind(**sizes))
    slow = np.full_like(made, np.nan)
    arrays = dict(zip(F.entries.names(F.name), slow, strict=True))
    program = F.program("compute").ir
    interpret_program(program, arrays, {}, sizes)
    np.testing.assert_array_equal(slow, made)
    slow[:] = np.nan
    (scheduled,) = (step_nest(step, program) for step in program.steps)
    interpret_nest(scheduled, {f.name: f for f in program.fields}, arrays, {}, sizes)
    np.testing.assert_array_equal(slow, made)


def test_boxes_do_not_change_bits() -> None:
    F = ilu0(constant(9))
    cut = np.empty((F.entries.components, 7, 6))
    plain.run(F.program("compute"), cut, boxes=ssr.Space(7, 6).split(3, 1))
    np.testing.assert_array_equal(computed(F.bind(ny=7, nx=6)), cut)


def test_single_precision() -> None:
    F = ilu0(constant(5)).bind(ny=4, nx=5).compute(dtype=np.float32)
    x = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)
    assert (F @ x).dtype == np.float32
    np.testing.assert_allclose((F @ x).ravel(), F.to_scipy() @ x.ravel(), rtol=1e-5)


# -- factors are matrices ------------------------------------------------------------------------


def test_factors_solve_and_multiply() -> None:
    F = ilu0(constant(9)).bind(ny=4, nx=5)
    F = F.bind(LU=computed(F))
    L, U = F.tril(-1) + ssr.identity(plane), F.triu()
    x = np.random.default_rng(3).standard_normal((4, 5))
    lower, upper = (M.bind(ny=4, nx=5).to_scipy().toarray() for M in (L, U))
    for matrix, dense in (L, lower), (U, upper), (L @ U, lower @ upper), (L.T, lower.T):
        np.testing.assert_allclose(
            plain.apply(matrix, x, x.shape).ravel(), dense @ x.ravel(), rtol=1e-12
        )
    for matrix, dense in (L, lower), (U, upper), (U.T, upper.T), (F.diagonal(), np.diag(upper)):
        dense = np.diag(dense) if dense.ndim == 1 else dense
        expected = np.linalg.solve(dense, x.ravel())
        np.testing.assert_allclose(plain.solve(matrix, x).ravel(), expected, rtol=1e-11)


def test_cholesky_factor_times_its_transpose() -> None:
    A = constant(5)
    L = ic0(A)
    product = (L @ L.T).bind(ny=3, nx=4).to_scipy().toarray()
    dense = A.bind(ny=3, nx=4).to_scipy().toarray()
    np.testing.assert_allclose(product[dense != 0], dense[dense != 0], rtol=1e-13)


def test_recomputed_in_a_program() -> None:
    A = variable(2)
    LU = ilu0(A)

    @ssr.program(x=plane, b=plane, a=plane)
    def step(x: Any, b: Any, a: Any) -> None:
        F = LU.bind(a=a, c=0.5).compute()
        a[:] = 2.0 * a
        x[:] = F.triu().solve((F.tril(-1) + ssr.identity(plane)).solve(b))

    rng = np.random.default_rng(4)
    a, b, x = rng.uniform(0.5, 2.0, (4, 5)), rng.standard_normal((4, 5)), np.empty((4, 5))
    for _ in range(2):
        f = dense_ilu0(A.bind(a=a, c=0.5).to_scipy().toarray())
        y = np.linalg.solve(np.tril(f, -1) + np.eye(20), b.ravel())
        plain.run(step, x, b, a)
        np.testing.assert_allclose(x.ravel(), np.linalg.solve(np.triu(f), y), rtol=1e-11)


def test_entries_kept_in_a_field_of_programs() -> None:
    A = variable(2)
    LU = ilu0(A)

    @ssr.program(v=LU.entries, a=plane)
    def factorize(v: Any, a: Any) -> None:
        LU.bind(a=a, c=0.5).compute(out=v)

    a = np.random.default_rng(5).uniform(0.5, 2.0, (4, 5))
    v = np.empty((5, 4, 5))
    plain.run(factorize, v, a)
    np.testing.assert_array_equal(v, computed(LU.bind(a=a, c=0.5)))


def test_the_arrays_given_are_computed_again() -> None:
    LU, a = ilu0(variable(1)), np.ones(5)
    v = np.empty((LU.entries.components, 5))
    F = LU.bind(a=a, c=1.0).compute(out=v)
    before = F @ np.ones(5)
    a[:] = 2.0
    F.compute(out=v)
    np.testing.assert_allclose((F @ np.ones(5)), F.to_scipy() @ np.ones(5), rtol=1e-14)
    assert not np.allclose(before, F @ np.ones(5))


# -- as preconditioners --------------------------------------------------------------------------


def iterations(solve: Callable[..., Any]) -> int:
    count = 0

    def step(_: Any) -> None:
        nonlocal count
        count += 1

    assert solve(step)[1] == 0
    return count


def test_conjugate_gradients_as_many_as_with_dense_factors() -> None:
    shape = (17, 13)
    weights = {(-1, 0): -1, (0, -1): -1, (0, 0): 4, (0, 1): -1, (1, 0): -1}
    A = ssr.stencil(plane, plane, weights, outside="zero").bind(ny=17, nx=13)
    L = ic0(A).compute()

    @ssr.program(z=plane, r=plane)
    def M(z: Any, r: Any) -> None:
        z[:] = L.T.solve(L.solve(r))

    b = np.random.default_rng(6).standard_normal(shape)
    found = ssr.solvers.cg(A, b, rtol=1e-8, M=M)
    norms = found.history
    assert found.info == 0
    sparse = A.to_scipy()
    dense = dense_ic0(sparse.toarray())
    inverse = splinalg.LinearOperator(
        sparse.shape, matvec=lambda r: np.linalg.solve(dense.T, np.linalg.solve(dense, r))
    )
    expected = iterations(
        lambda f: splinalg.cg(sparse, b.ravel(), rtol=1e-8, M=inverse, callback=f)
    )
    assert len(norms) - 1 == expected
    assert expected < 0.6 * iterations(lambda f: ssr.solvers.cg(A, b, rtol=1e-8, callback=f))
    np.testing.assert_allclose(A @ found.x, b, atol=1e-6)


@pytest.mark.parametrize("method", ["ilu0", "dilu"])
def test_minimal_residuals_as_many_as_with_dense_factors(method: str) -> None:
    weights = {(-1, 0): -1, (0, -1): -2, (0, 0): 4, (0, 1): -0.5, (1, 0): -0.4}
    A = ssr.stencil(plane, plane, weights, outside="zero").bind(ny=9, nx=11)
    sparse = A.to_scipy()
    f, F = METHODS[method][1](sparse.toarray()), METHODS[method][0](A).compute()
    if method == "ilu0":
        lower, upper = np.tril(f, -1) + np.eye(99), np.triu(f)
        L, U = F.tril(-1) + ssr.identity(plane), F.triu()
    else:
        lower, upper = f + np.tril(sparse.toarray(), -1), f + np.triu(sparse.toarray(), 1)
        lower = lower @ np.linalg.inv(f)
        L, U = F + A.tril(-1), F + A.triu(1)

    @ssr.program(z=plane, r=plane)
    def M(z: Any, r: Any) -> None:
        y = L.solve(r)
        z[:] = U.solve(y if method == "ilu0" else F @ y)

    b = np.random.default_rng(7).standard_normal((9, 11))
    found = ssr.solvers.gmres(A, b, rtol=1e-8, restart=99, M=M)
    norms = found.history
    assert found.info == 0
    inner = splinalg.LinearOperator(
        sparse.shape, lambda y: sparse @ np.linalg.solve(upper, np.linalg.solve(lower, y))
    )
    seen: list[float] = []
    splinalg.gmres(
        inner, b.ravel(), rtol=1e-8, restart=99, callback=seen.append, callback_type="pr_norm"
    )
    assert len(norms) - 1 == len(seen)


# -- zero pivots at run time ---------------------------------------------------------------------


def test_a_zero_pivot_at_run_time_gives_infinities_as_numpy_does() -> None:
    F = ilu0(variable(1)).bind(a=np.array([0.0, 0.0, 1.0, 1.0]), c=0.0)
    meant = F.to_scipy().toarray()
    assert not np.isfinite(meant).all()
    np.testing.assert_array_equal(computed(F)[1], meant.diagonal())


def test_a_zero_pivot_at_run_time_is_told_by_the_debug_build() -> None:
    F = ilu0(variable(1)).bind(a=np.array([0.0, 0.0, 1.0, 1.0]), c=0.0)
    debug = F.program("compute").with_options(ssr.Options(debug=True))
    with pytest.raises(ssr.errors.NonFiniteError, match="makes nan in LU\\[0\\] at \\(1\\)"):
        plain.run(debug, np.empty((3, 4)))


def test_equal_sets_that_isl_writes_differently() -> None:
    """A pure generator was called impure: the sets of rows were compared as text."""

    @ssr.matrix(rows=plane, cols=plane)
    def A(j: Any, i: Any) -> Any:
        for o in (1, 2), (-2, -1), (2, 1), (0, 0), (-1, -2):
            column = j + o[0], i + o[1]
            if column in plane and ((j + i) % 2 == 0 or not any(o)):
                yield column, -1.0 if any(o) else 8.0

    D = dilu(A)  # a constant: rows of even points read rows that hold the diagonal only
    for sizes in SIZES[2]:
        expected = dense_dilu(A.bind(**sizes).to_scipy().toarray())
        np.testing.assert_array_equal(D.bind(**sizes).to_scipy().toarray(), expected)
        x = ints(plane.extent(sizes))
        found = plain.apply(D, x, x.shape)
        np.testing.assert_array_equal(found.ravel(), expected @ x.ravel())
