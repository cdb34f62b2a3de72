"""One small test for each defect that was found by other means than the tests beside it."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import ssr
from ssr.compiler.pipeline import lower
from ssr.errors import (
    ArgumentError,
    ContiguityError,
    Error,
    OverlapError,
    ShapeError,
    UnsupportedError,
)

from . import plain
from . import strategies as some

Array = np.ndarray[Any, Any]
n, m = ssr.sizes("n m")
line = ssr.Space(n)
A = ssr.stencil(line, line, {-1: -1, 0: 4, 1: -1}, outside="zero")


@ssr.matrix(rows=line, cols=line, u=line, a=ssr.scalar)
def V(i: Any, *, u: Any, a: Any) -> Any:
    yield i, 3.0 + a
    if i > 0:
        yield i - 1, u[i] * u[i - 1]


@pytest.mark.parametrize("exact", [False, True])
def test_right_side_without_terms_in_some_rows(exact: bool) -> None:
    """A line buffer was left unwritten where the sum of the right side has no terms."""

    @ssr.matrix(rows=line, cols=line)
    def first(i: Any) -> Any:
        if i == 0:
            yield i, 1.0

    @ssr.program(x=line, y=line, options=ssr.Options(exact=exact))
    def solve(x: Any, y: Any) -> None:
        x[:] = A.tril().solve(first @ y)

    x = np.zeros(5)
    plain.run(solve, x, np.ones(5))
    np.testing.assert_allclose(x, 0.25 ** np.arange(1, 6), 1e-15)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("split", [False, True])
def test_signs_of_zeros(exact: bool, split: bool) -> None:
    """-0.0 and 0.0 shared one constant of the kernel: an empty row's sum became -0.0."""
    plane = ssr.Space(4, 6)
    weights = {(2, 0): 1.0, (2, 1): 1.0}
    S = ssr.stencil(plane, plane, weights, outside="zero")
    y = plain.np.full((4, 6), np.nan)
    plain.run(plain.eager(S, "apply", exact=exact, split=split), y, -np.ones((4, 6)))
    assert not np.signbit(y[2:]).any()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("w0", "b"), ("t0", "b"), ("x", "x_0"), ("x", "x_s0"), ("i_lo", "b"), ("table_0", "b"),
        ("s1", "b"), ("x", "x_new_0"), ("box", "box_"), ("st_", "st"), ("max", "lambda_"),
        ("lengths", "far"), ("f8", "Array"), ("x", "x_r1"), ("np", "real"),
    ],
)  # fmt: skip
def test_any_name_for_a_field(first: str, second: str) -> None:
    """Names of fields met names of the kernel's own variables."""
    body = (
        f"def program({first}, {second}):\n"
        f"    {first}[:] = A.tril().solve({second} - A.triu(1) @ {first})\n"
        f"    {first}[:] = A @ {first}\n"
    )
    found: dict[str, Any] = {"A": A}
    exec(body, found)
    program = ssr.program(**{first: line, second: line})(found["program"])
    x, b = np.arange(5.0), np.ones(5)
    dense = A.bind(n=5).to_scipy().toarray()
    meant = dense @ np.linalg.solve(np.tril(dense), b - np.triu(dense, 1) @ x)
    plain.run(program, x, b)
    np.testing.assert_allclose(x, meant, 1e-13)


NAMES = [
    "w0", "t0", "x_0", "b_0", "s1", "i_lo", "x_s0", "table_0", "box", "lengths", "real", "np",
    "f8", "max", "min", "mod", "floor", "exists",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_any_name_for_a_size_or_an_error(name: str) -> None:
    """Names of sizes met names of the kernel's own variables, or words of isl."""
    try:
        (size,) = ssr.sizes(name)
    except Error:
        return
    space = ssr.Space(size)
    S = ssr.stencil(space, space, {-1: -1, 0: 4, 1: -1}, outside="zero")

    @ssr.program(x=space, b=space)
    def sweep(x: Any, b: Any) -> None:
        x[:] = S.tril().solve(b - S.triu(1) @ x)

    x = np.zeros(5)
    plain.run(sweep, x, np.ones(5))
    dense = S.bind(**{name: 5}).to_scipy().toarray()
    np.testing.assert_allclose(x, np.linalg.solve(np.tril(dense), np.ones(5)), 1e-13)


def test_scalars_on_the_left() -> None:
    """A scalar of a program did not leave ``scalar * field`` to the field."""

    @ssr.program(y=line, x=line, a=ssr.scalar)
    def combine(y: Any, x: Any, a: Any) -> None:
        y[:] = a * (A @ x) + (1.0 - a) / x - (a - x) + (a + x)

    x, y = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    plain.run(combine, y, x, 0.5)
    product = A.bind(n=3).to_scipy() @ x
    np.testing.assert_allclose(y, 0.5 * product + 0.5 / x + 2 * x, 1e-15)


def test_masks_in_the_definition() -> None:
    """``ssr.where`` on numbers gave an array, which is not an entry."""

    @ssr.matrix(rows=line, cols=line, mask=line)
    def masked(i: Any, *, mask: Any) -> Any:
        yield i, ssr.where(mask[i] > 0.0, 1.0, 2.0)
        if i > 0:
            yield i - 1, ssr.where(0.5 * n > i, 3.0, 4.0)

    made = masked.bind(mask=np.array([1.0, -1.0, 1.0]))
    dense = [[1.0, 0.0, 0.0], [3.0, 2.0, 0.0], [0.0, 4.0, 1.0]]
    np.testing.assert_array_equal(made.to_scipy().toarray(), dense)
    y = plain.apply(made, np.array([1.0, 10.0, 100.0]), (3,))
    np.testing.assert_array_equal(y, np.array(dense) @ [1.0, 10.0, 100.0])


def test_minimum_and_maximum_of_nan() -> None:
    """Kernels lost a NaN that was the second argument; NumPy and the definition keep it."""

    @ssr.matrix(rows=line, cols=line, u=line)
    def upwind(i: Any, *, u: Any) -> Any:
        yield i, ssr.maximum(0.0, u[i])
        if i > 0:
            yield i - 1, ssr.minimum(0.0, u[i])

    made = upwind.bind(u=np.array([1.0, np.nan, 2.0]))
    y = plain.apply(made, np.ones(3), (3,))
    assert np.isnan(y).tolist() == np.isnan(made.to_scipy() @ np.ones(3)).tolist()


def test_equals_looks_at_data() -> None:
    """Matrices with one definition and other data were said to be equal."""
    u, v = np.ones(3), np.full(3, 2.0)
    assert V.bind(u=u, a=1.0).equals(V.bind(u=u, a=1.0))
    assert V.equals(V)
    assert not V.bind(u=u, a=1.0).equals(V.bind(u=v, a=1.0))
    assert not V.bind(u=u, a=1.0).equals(V.bind(u=u, a=2.0))
    assert not V.bind(u=u, a=1.0).equals(V)


def test_sums_of_matrices_of_other_size() -> None:
    """The sum of a 3x3 and a 4x4 matrix was 4x4."""
    with pytest.raises(Error):
        A.bind(n=3) + A.bind(n=4)
    assert (A.bind(n=3) + A).shape == (3, 3)


def test_data_of_one_name_in_a_sum() -> None:
    """Data are renamed apart; right from the start."""
    arrays = [np.ones(3), np.full(3, 2.0), np.full(3, 5.0)]
    one, two, three = (V.bind(u=u, a=a) for u, a in zip(arrays, (1.0, 2.0, 1.0), strict=True))
    made = one + 2 * two - three
    meant = one.to_scipy() + 2 * two.to_scipy() - three.to_scipy()
    np.testing.assert_array_equal(made.to_scipy().toarray(), meant.toarray())
    x = np.array([1.0, 2.0, 4.0])
    plain.check_close(plain.apply(made, x, (3,)), meant @ x, 100.0, 1e-15)


def test_no_row_depends_on_points_it_does_not_read() -> None:
    """Sharing sums of lines that differ in one weight read a point and took it off again.

    A NaN or a large number there reached a row that has no entry in its column.
    """
    weights = {(0, 0): 9.0} | {(-1, o): 1.0 for o in (-2, -1, 0)}
    weights |= {(j, o): 1.0 for j in (-3, -2) for o in (-2, -1, 0, 1)}
    plane = ssr.Space(6, 9)
    S = ssr.stencil(plane, plane, weights, outside="zero")
    readers = set(S.to_scipy()[:, [2 * 9 + 4]].nonzero()[0].tolist())
    x = np.ones((6, 9))
    meant = plain.apply(S, x, (6, 9)).ravel()
    for bad in np.nan, 1e17:
        x[2, 4] = bad
        made = plain.apply(S, x, (6, 9)).ravel()
        changed = {r for r in range(54) if abs(made[r] - meant[r]) > 1e-12 or made[r] != made[r]}
        assert changed == readers


def test_numbers_that_are_not_finite() -> None:
    """Infinity was written into the source as ``inf``; NaN made a generator impure."""

    @ssr.matrix(rows=line, cols=line)
    def infinite(i: Any) -> Any:
        yield i, float("inf")

    @ssr.matrix(rows=line, cols=line)
    def unknown(i: Any) -> Any:
        yield i, float("nan")
        if i > 0:
            yield i - 1, 1.0

    assert plain.apply(infinite, np.ones(2), (2,)).tolist() == [np.inf, np.inf]
    assert np.isnan(plain.apply(unknown, np.ones(2), (2,))).all()


def test_division_by_a_tiny_number() -> None:
    """Its reciprocal is infinite."""

    @ssr.program(y=line, x=line)
    def divide(y: Any, x: Any) -> None:
        y[:] = x / 1e-310

    y = np.zeros(2)
    plain.run(divide, y, np.full(2, 1e-310))
    np.testing.assert_allclose(y, 1.0, 1e-12)


def test_division_by_zero() -> None:
    with pytest.raises(Error):
        A / 0


def test_boxes_may_be_lists() -> None:
    """They were used as keys of a dictionary."""

    @ssr.program(y=line, x=line)
    def product(y: Any, x: Any) -> None:
        y[:] = A @ x

    y, meant = np.zeros(4), np.zeros(4)
    product(meant, np.arange(4.0))
    product(y, np.arange(4.0), boxes=[[(0, 2)], [(2, 4)]])  # type: ignore[list-item]
    plain.check_same(y, meant)


@pytest.mark.parametrize("order", [(0, 1, 0), (0, 0, 1)])
def test_overlap_behind_arrays_that_only_interleave(order: tuple[int, ...]) -> None:
    """Only the first two arrays whose extents in memory meet were looked at."""
    plane = ssr.Space(4, 3)
    S = ssr.stencil(plane, plane, some.dense(2, 1.0, 2.0), outside="zero")

    @ssr.program(x=plane, y=plane, z=plane)
    def combine(x: Any, y: Any, z: Any) -> None:
        x[:] = S @ z + S @ y

    whole = np.arange(24.0).reshape(4, 6)
    halves = whole[:, :3], whole[:, 3:]
    with pytest.raises(OverlapError):
        combine(*(halves[place] for place in order))
    np.testing.assert_array_equal(whole.ravel(), np.arange(24.0))


def test_a_field_may_be_called_like_the_offset_of_another() -> None:
    cells = ssr.Space(ssr.size("n"))

    @ssr.program(box=cells, box_0=cells, box_s0=cells)
    def program(box: Any, box_0: Any, box_s0: Any) -> None:
        box[:] = box_0 + 2.0 * box_s0

    x, y, z = np.zeros(3), np.ones(3), np.full(3, 2.0)
    program(x, y, z)
    assert (x == 5.0).all()


def test_a_field_may_be_assigned_to_itself() -> None:
    cells = ssr.Space(*ssr.sizes("ny nx"))

    @ssr.program(x=cells, y=cells)
    def program(x: Any, y: Any) -> None:
        x[:] = ssr.identity(cells) @ x

    @ssr.program(x=cells, y=cells)
    def both(x: Any, y: Any) -> None:
        y[:] = x + 1.0
        x[:] = +x

    x, y = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    program(x, y)
    both(x, y)
    assert (x == np.arange(6.0).reshape(2, 3)).all()
    assert (y == x + 1.0).all()


@pytest.mark.parametrize("split", [False, True])
def test_sums_built_up_beyond_the_box(split: bool) -> None:
    """The line in which a sum is built up was too short on a space wider than that of the nest."""
    cells = ssr.Space(*ssr.sizes("ny nx"))
    wide = cells.grow(2)
    weights = {(j, i): 1.0 + j - 0.5 * i for j in range(-2, 3) for i in range(-2, 3)}
    S = ssr.stencil(wide, wide, weights, outside="zero")

    @ssr.program(u=cells, h=wide, g=wide, options=ssr.Options(split=split))
    def both(u: Any, h: Any, g: Any) -> None:
        h[:] = S @ g
        u[:] = 2.0 * u

    u, h, g = np.ones((3, 4)), np.zeros((7, 8)), np.random.default_rng(0).random((7, 8))
    plain.run(both, u, h, g)
    wanted = S.bind(ny=3, nx=4).to_scipy() @ g.ravel()
    np.testing.assert_allclose(h.ravel(), wanted, rtol=1e-13)
    np.testing.assert_array_equal(u, 2.0)


def test_a_stored_matrix_reads_a_temporary_that_took_over_an_array() -> None:
    """The kernel was given no places of the matrix's columns in that array."""
    sparse = pytest.importorskip("scipy.sparse")
    plane = ssr.Space(3, 4)
    dense = np.arange(144.0).reshape(12, 12) % 7
    S = ssr.from_scipy(sparse.csr_array(dense), rows=plane, cols=plane)
    D = ssr.stencil(plane, plane, {(0, 1): 1.0, (1, 0): 2.0}, outside="zero")

    @ssr.program(u=plane, v=plane, options=ssr.Options(fuse=False))
    def step(u: Any, v: Any) -> None:
        v[:] = D @ (u * u)
        u[:] = S @ (v * v)

    u, v = np.random.default_rng(0).random((2, 3, 4))
    first = D.to_scipy() @ (u * u).ravel()
    plain.run(step, u, v)
    np.testing.assert_allclose(v.ravel(), first, rtol=1e-13)
    np.testing.assert_allclose(u.ravel(), dense @ first**2, rtol=1e-13)


def test_lines_on_which_nothing_changes() -> None:
    """A branch for them had no body, and the kernel was no valid Python."""
    plane = ssr.Space(*ssr.sizes("ny nx"))
    weights = {(j, i): 1.0 + 0.1 * j + 0.01 * i for j in range(1, 9) for i in range(9)}

    @ssr.matrix(rows=plane, cols=plane)
    def first_line(j: Any, i: Any) -> Any:
        yield (j, i), 1.0
        if j == 0:
            for (dj, di), weight in weights.items():
                if (j + dj, i + di) in plane:
                    yield (j + dj, i + di), weight

    @ssr.program(x=plane)
    def step(x: Any) -> None:
        x[:] = first_line @ x

    x = np.random.default_rng(0).random((12, 13))
    wanted = first_line.bind(ny=12, nx=13).to_scipy() @ x.ravel()
    plain.run(step, x)
    np.testing.assert_allclose(x.ravel(), wanted, rtol=1e-13)


def test_one_row_of_a_line_in_a_statement_that_runs_ahead() -> None:
    """Where a guard left a single row of a line, its place had the lines of the lead twice."""
    cells = ssr.Space(n, m)

    @ssr.matrix(rows=cells, cols=cells)
    def sheared(j: Any, i: Any) -> Any:
        if i == j + 1:
            return
        if (j, i - 1) in cells and j + 2 * i <= m - 1:
            yield (j, i - 1), -0.25
        if (j + 2, i - 1) in cells:
            yield (j + 2, i - 1), 0.1

    @ssr.matrix(rows=cells, cols=cells)
    def second(j: Any, i: Any) -> Any:
        if j == 1:
            yield (j, i), 1.0

    @ssr.program(x=cells, y=cells, v=cells, h=cells)
    def both(x: Any, y: Any, v: Any, h: Any) -> None:
        x[:] = y - sheared @ v
        y[:] = sheared @ (second @ h)

    for shape in (2, 4), (5, 9), (9, 5), (1, 3):
        x, y, v, h = np.random.default_rng(0).standard_normal((4, *shape))
        S, T = (a.bind(n=shape[0], m=shape[1]).to_scipy() for a in (sheared, second))
        expected = y - (S @ v.ravel()).reshape(shape), (S @ T @ h.ravel()).reshape(shape)
        plain.run(both, x, y, v, h)
        np.testing.assert_allclose((x, y), expected, rtol=0, atol=1e-15)


def test_factors_of_a_recurrence_beside_shared_values() -> None:
    """The buffer of a recurrence's factors and a value that is used twice had one name."""
    cells = ssr.Space(3)

    @ssr.matrix(rows=cells, cols=cells)
    def B(i: Any) -> Any:
        yield i, 1.0 + 0.5 * i
        if i > 0:
            yield 0, 0.25 * i
            yield i - 1, 0.5

    @ssr.program(x=cells, y=cells, b=cells)
    def p(x: Any, y: Any, b: Any) -> None:
        y[:] = (B - ssr.identity(cells)) @ x
        b[:] = B.solve(b)

    x, y, b = np.array([1.0, 2.0, 4.0]), np.zeros(3), np.ones(3)
    plain.run(plain.uncached(p), x, y, b)
    dense = B.to_scipy().toarray()
    np.testing.assert_allclose(y, dense @ x - x, 1e-14)
    np.testing.assert_allclose(b, np.linalg.solve(dense, np.ones(3)), 1e-14)


def transposed(width: int, height: int) -> ssr.Matrix:
    """Return the transpose of a matrix whose rows near the end all read one column."""
    rows, cols = ssr.Space(n, width, height), ssr.Space(n, width)

    @ssr.matrix(rows=rows, cols=cols)
    def ends(k: Any, j: Any, i: Any) -> Any:
        if (k + j + i) % 2 != 0 and k + 3 >= n - j:
            yield (0, 0), 2.0

    return ends.T


def test_transpose_of_a_constant_column() -> None:
    """Isl stopped with an error of its own, after a minute for some matrices."""
    made = transposed(2, 3).bind(n=5)
    dense = np.zeros((10, 30))
    for row, (k, j, i) in enumerate(np.ndindex(5, 2, 3)):
        dense[0, row] = 2.0 * ((k + j + i) % 2 != 0 and k + 3 >= 5 - j)
    np.testing.assert_array_equal(made.to_scipy().toarray(), dense)
    x = np.arange(30.0).reshape(5, 2, 3)
    np.testing.assert_array_equal(plain.apply(made, x, (5, 2)).ravel(), dense @ x.ravel())


def test_transpose_that_takes_too_long() -> None:
    with pytest.raises(UnsupportedError, match="rows with too many entries"):
        transposed(5, 5)


def test_arrays_that_are_not_aligned() -> None:
    """Only the first call of a layout looked at the alignment of its arrays."""
    program = ssr.program(x=line, y=line)(_double)
    memory = np.zeros(100, np.uint8)
    astray = memory[4:44].view(np.float64)
    program(np.ones(5), np.zeros(5))
    for given in (astray, np.zeros(5)), (np.ones(5), astray):
        for call in program, program.run_plain, program.bind:
            with pytest.raises(ContiguityError, match="not aligned"):
                call(*given)
    assert not memory.any()


def _double(x: Any, y: Any) -> None:
    y[:] = 2.0 * x


def test_shapes_of_more_than_64_bits() -> None:
    plane = ssr.Space(n, m)
    bound = ssr.identity(plane).bind(n=10**12, m=10**12)
    assert bound.shape == (10**24, 10**24)
    assert ssr.kron(np.eye(2), bound).shape == (2 * 10**24, 2 * 10**24)


@pytest.mark.parametrize("tolerance", [{"rtol": -1.0}, {"atol": -1e-9}, {"rtol": np.nan}])
def test_tolerances_below_zero(tolerance: dict[str, float]) -> None:
    with pytest.raises(ArgumentError, match="tolerance"):
        ssr.solvers.cg(A.bind(n=3), np.ones(3), **tolerance)


@pytest.mark.parametrize(
    ("space", "fits"),
    [
        (ssr.Space(n), True), (ssr.Space(2 * n), False), (ssr.Space(n + 6), False),
        (ssr.Space(n, 3), False), (ssr.Space(n, 5), True), (ssr.Space(n, n), False),
        (ssr.Space(n - 1), True), (ssr.Space(n, m), True), (ssr.Space(2 * n, 2 * m, 2), False),
    ],
)  # fmt: skip
def test_stored_matrices_fit_their_spaces(space: ssr.Space, fits: bool) -> None:
    """A matrix that no size fits was accepted, and refused when it was used."""
    five = scipy.sparse.csr_array(np.eye(5))
    if fits:
        assert ssr.from_scipy(five, rows=space, cols=space).rows == space
    else:
        with pytest.raises(ShapeError, match="has other points"):
            ssr.from_scipy(five, rows=space, cols=space)


def test_pieces_without_rows_in_boxes() -> None:
    """A condition that never holds was written with nothing under it."""
    plane = ssr.Space(n, m)

    @ssr.matrix(rows=plane.faces(0), cols=plane)
    def upper(j: Any, i: Any) -> Any:
        if (j, i) in plane:
            yield (j, i), 0.5

    @ssr.program(x=plane, y=plane)
    def p(x: Any, y: Any) -> None:
        y[:] = upper.T @ (upper @ x)

    options = ssr.Options(cache=False, split=False, distributed=True)
    compile(lower(p.ir, options, "float64", "p").source, "p", "exec")
