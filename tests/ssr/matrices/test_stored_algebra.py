"""Stored matrices in the whole algebra and in solves, against SciPy."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import spsolve_triangular

import ssr
from ssr.algebra import stored as storage
from ssr.errors import (
    ArgumentError,
    BoxError,
    DtypeError,
    NotTriangularError,
    ShapeError,
    SingularMatrixError,
    SpaceError,
    UnboundError,
    UnsupportedError,
)
from ssr.lower.step_nest import step_nest
from ssr.lower.steps.in_place import in_place, in_place_notes

from ...random_examples import examples
from .. import plain
from ..interpret import interpret_nest, interpret_program
from ..nest_passes import stages

Array = np.ndarray[Any, Any]
NAMES = {1: "n", 2: "m n", 3: "p m n"}
SPACES = {d: ssr.Space(*ssr.sizes(names)) for d, names in NAMES.items()}
SHAPES = st.integers(1, 3).flatmap(lambda d: st.tuples(*[st.integers(1, 4)] * d))
SEEDS = st.integers(0, 2**20)


def random(shape: tuple[int, int], seed: int, density: float = 0.4) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-9, 10, shape) * (rng.random(shape) < density)
    return sparse.csr_array(numbers.astype(float))


def square(shape: tuple[int, ...], seed: int, *, solvable: bool = False) -> sparse.csr_array:
    count = int(np.prod(shape))
    made = random((count, count), seed)
    return sparse.csr_array(made + 40 * sparse.eye_array(count)) if solvable else made


def on(matrix: Any, *shape: int) -> ssr.StoredMatrix:
    space = ssr.Space(*shape)
    return ssr.from_scipy(matrix, rows=space, cols=space)


def dense(matrix: Any) -> Array:
    return np.asarray(matrix.to_scipy().toarray())


def neighbours(space: ssr.Space) -> ssr.Matrix:
    axes = np.eye(space.ndim, dtype=int)
    taps = {tuple(map(int, o)): 2.0 + n for n, o in enumerate((*axes, *-axes, 0 * axes[0]))}
    return ssr.stencil(space, space, taps, outside="zero")


@given(SHAPES, SEEDS)
@examples(40)
def test_algebra(shape: tuple[int, ...], seed: int) -> None:
    a, b = square(shape, seed), square(shape, seed + 1)
    space = ssr.Space(*shape)
    S, T, A = on(a, *shape), on(b, *shape), neighbours(space)
    c = A.to_scipy()
    cases: dict[str, tuple[Any, Any]] = {
        "S + T": (S + T, a + b),
        "S - T": (S - T, a - b),
        "S + A": (S + A, a + c),
        "A - S": (A - S, c - a),
        "S - A": (S - A, a - c),
        "-S": (-S, -a),
        "3 S": (3 * S, 3 * a),
        "(S + A) / 2": ((S + A) / 2, (a + c) / 2),
        "S.T": (S.T, a.T),
        "(S + A).T": ((S + A).T, (a + c).T),
        "S @ T": (S @ T, a @ b),
        "S @ A": (S @ A, a @ c),
        "A @ S": (A @ S, c @ a),
        "(S + A) @ (T - A)": ((S + A) @ (T - A), (a + c) @ (b - c)),
        "S ** 0": (S**0, np.eye(a.shape[0])),
        "S ** 3": (S**3, a @ a @ a),
        "(S + A) ** 2": ((S + A) ** 2, (a + c) @ (a + c)),
        "parts": (S.tril(-1) + S.diagonal() + S.triu(1), a),
        "tril": (S.tril(), sparse.tril(a)),
        "tril(-1)": ((S + A).tril(-1), sparse.tril(a + c, -1)),
        "triu": ((S + A).triu(), sparse.triu(a + c)),
        "triu(1)": (S.triu(1), sparse.triu(a, 1)),
        "diagonal": ((S + A).diagonal(), sparse.diags_array((a + c).diagonal())),
        "part of part": (S.tril().triu(), sparse.diags_array(a.diagonal())),
        "no part": (S.tril(-1).triu(), 0 * a),
        "part.T": (S.triu(1).T, sparse.triu(a, 1).T),
        "2 part": (2 * S.tril(-1), 2 * sparse.tril(a, -1)),
        "part + T": (S.tril(-1) + T.triu(), sparse.tril(a, -1) + sparse.triu(b)),
        "part @ part": (S.tril() @ S.triu(1), sparse.tril(a) @ sparse.triu(a, 1)),
    }
    for name, (made, wanted) in cases.items():
        found = wanted if isinstance(wanted, np.ndarray) else wanted.toarray()
        np.testing.assert_allclose(dense(made), found, 1e-13, 1e-13, err_msg=name)
        assert made.shape == a.shape
    assert S.equals(S.tril(-1) + S.triu())
    assert S.equals(S.triu()) == ((a - sparse.triu(a)).count_nonzero() == 0)
    assert (S + A).equals(A + S)
    assert A.equals(on(c, *shape))
    assert (A - A + on(c, *shape)).equals(A)
    assert not S.equals(S + ssr.identity(space))
    assert not S.equals(ssr.identity(space.grow(1)))


@given(st.integers(1, 5), st.integers(2, 5), SEEDS)
@examples(20)
def test_submatrices(m: int, n: int, seed: int) -> None:
    a, wide = square((m + 2, n + 2), seed), ssr.Space(m, n).grow(1)
    S, cells = ssr.from_scipy(a, rows=wide, cols=wide), ssr.Space(m, n)
    inner = np.arange((m + 2) * (n + 2)).reshape(m + 2, n + 2)[1:-1, 1:-1].ravel()
    np.testing.assert_array_equal(dense(S[cells, :]), a.toarray()[inner])
    np.testing.assert_array_equal(dense(S[:, cells]), a.toarray()[:, inner])
    np.testing.assert_array_equal(dense(S[cells, cells]), a.toarray()[inner][:, inner])
    A = neighbours(wide)
    np.testing.assert_array_equal(
        dense((S + A)[cells, cells]), (a + A.to_scipy()).toarray()[inner][:, inner]
    )


@ssr.matrix(rows=ssr.Space(ssr.size("n")), cols=ssr.Space(2 * ssr.size("n")))
def R(i: Any) -> Any:
    yield 2 * i, 0.5
    yield 2 * i + 1, 0.5


def test_sizes_of_staged_factors() -> None:
    fine = ssr.Space(2 * ssr.size("n"))
    a = random((6, 6), 1)
    S = ssr.from_scipy(a, rows=fine, cols=fine)
    r = R.bind(n=3).to_scipy()
    np.testing.assert_allclose(dense(R @ S @ R.T), (r @ a @ r.T).toarray())
    plane = SPACES[2]
    T = ssr.from_scipy(random((6, 6), 2), rows=plane, cols=plane)
    A = neighbours(plane)
    with pytest.raises(UnboundError, match=r"No value is bound to size m, n") as found:
        T @ A
    assert "A.bind(m=..., n=...)" in str(found.value)
    np.testing.assert_allclose(
        dense(T @ A.bind(m=2, n=3)), dense(T) @ A.bind(m=2, n=3).to_scipy().toarray()
    )
    with pytest.raises(ShapeError, match="the first has 6 columns, the second 12 rows"):
        T @ A.bind(m=3, n=4)
    with pytest.raises(ShapeError, match="6 x 6 and 12 x 12"):
        (T + A.bind(m=3, n=4)).to_scipy()

    @ssr.matrix(rows=plane, cols=plane, u=plane)
    def D(j: Any, i: Any, *, u: Any) -> Any:
        yield (j, i), u[j, i]

    with pytest.raises(UnboundError, match="data u"):
        (T + D.bind(m=2, n=3)) ** 2
    u = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(dense(D.bind(u=u) @ T), np.diag(u.ravel()) @ dense(T))


def reference(a: Any, b: Array, *, lower: bool) -> Array:
    return np.asarray(spsolve_triangular(sparse.csr_array(a), b.ravel(), lower=lower))


@given(SHAPES, SEEDS)
@examples(25)
def test_solves(shape: tuple[int, ...], seed: int) -> None:
    a = square(shape, seed, solvable=True)
    space = SPACES[len(shape)]
    S = ssr.from_scipy(a, rows=space, cols=space)
    b = np.random.default_rng(seed).normal(size=shape)
    low, up = sparse.tril(a), sparse.triu(a)
    L = ssr.from_scipy(low, rows=space, cols=space)
    for matrix, wanted in (
        (S.tril(), reference(low, b, lower=True)),
        (L, reference(low, b, lower=True)),
        (S.triu(), reference(up, b, lower=False)),
        (S.triu().T, reference(up.T, b, lower=True)),
        (2 * S.tril(), reference(2 * low, b, lower=True)),
        (S.diagonal(), b.ravel() / a.diagonal()),
    ):
        x = np.full(shape, np.nan)
        plain.run(matrix.program("solve"), x, b)
        np.testing.assert_allclose(x.ravel(), wanted, 1e-11, 1e-13)


def symgs(S: Any, space: ssr.Space) -> ssr.Program:
    @ssr.program(x=space, b=space, r=space)
    def sweeps(x: Any, b: Any, r: Any) -> Any:
        x[:] = S.tril().solve(b - S.triu(1) @ x)
        x[:] = S.triu().solve(b - S.tril(-1) @ x)
        r[:] = b - S @ x
        return ssr.norm(r)

    return sweeps


@given(SHAPES, SEEDS)
@examples(25)
def test_gauss_seidel(shape: tuple[int, ...], seed: int) -> None:
    a = square(shape, seed, solvable=True)
    space = SPACES[len(shape)]
    S = ssr.from_scipy(a, rows=space, cols=space)
    program = symgs(S, space)
    direct, notes = in_place(program.ir), in_place_notes(program.ir)
    assert not direct.temporaries
    assert all("in place" in note for note in notes[:2])
    x, b = np.random.default_rng(seed).normal(size=(2, *shape))
    y = reference(sparse.tril(a), b - (sparse.triu(a, 1) @ x.ravel()).reshape(shape), lower=True)
    y = reference(sparse.triu(a), b.ravel() - sparse.tril(a, -1) @ y, lower=False)
    fields = {"x": x.copy(), "b": b, "r": np.zeros(shape)}
    sizes = dict(zip(NAMES[space.ndim].split(), shape, strict=True))
    stores = program._recorder.stored
    (norm,) = interpret_program(program.ir, fields, {}, sizes, stored=stores)
    r = np.zeros(shape)
    assert plain.run(program, x, b, r) == norm
    plain.check_same(x, fields["x"])
    plain.check_same(r, fields["r"])
    np.testing.assert_allclose(x.ravel(), y, 1e-11, 1e-12)
    np.testing.assert_allclose(r.ravel(), b.ravel() - a @ y, 1e-10, 1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_sweeps(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    space, a = SPACES[2], square((4, 5), 3, solvable=True)
    program = symgs(ssr.from_scipy(a, rows=space, cols=space), space)
    x, b = np.random.default_rng(4).normal(size=(2, 4, 9)).astype(dtype)[:, :, 2:7]
    again, r, s = x.copy(), np.zeros((4, 5), dtype), np.zeros((4, 5), dtype)
    x = x.copy() if dtype == "float32" else x  # with float64, rows apart in memory
    norm = program(x, b, r)
    assert plain.run(program, again, b, s) == norm
    plain.check_same(x, again)
    plain.check_same(r, s)
    with pytest.raises(BoxError, match="dependences are not the same for all rows"):
        program(x, b, r, boxes=ssr.Space(4, 5).split(2, 1))


def test_triangular_data_run_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_VERIFY", "1")
    space = SPACES[1]
    low = sparse.csr_array(np.tril(np.arange(1.0, 17).reshape(4, 4)))
    L = ssr.from_scipy(low, rows=space, cols=space)
    U, D = L.T, L.diagonal()

    def notes(body: Any) -> tuple[str, ...]:
        return in_place_notes(ssr.program(x=space, b=space)(body).ir)

    def lower(x: Any, b: Any) -> None:
        x[:] = b - L @ x

    def upper(x: Any, b: Any) -> None:
        x[:] = b - U @ x

    def diagonal(x: Any, b: Any) -> None:
        x[:] = b - D @ x

    def both(x: Any, b: Any) -> None:
        x[:] = b - (L + U) @ x

    def against(x: Any, b: Any) -> None:
        x[:] = L.solve(b - L.tril(-1) @ x)

    def empty(x: Any, b: Any) -> None:
        x[:] = L.triu(1) @ x + b

    assert notes(lower)[0].startswith("x[:] runs in place: in backward order")
    assert notes(upper)[0].startswith("x[:] runs in place: in forward order")
    assert notes(diagonal)[0].endswith("each row reads only its own old value.")
    assert "through csr1[i] @ x after they were overwritten" in notes(both)[0]
    assert "through csr1.tril(-1)[i] @ x after" in notes(against)[0]
    rng = np.random.default_rng(3)
    x0, b = rng.normal(size=(2, 4))
    solved = reference(low, b - np.tril(low.toarray(), -1) @ x0, lower=True)
    for body, wanted in (
        (lower, b - low @ x0),
        (upper, b - low.T @ x0),
        (diagonal, b - low.diagonal() * x0),
        (both, b - low @ x0 - low.T @ x0),
        (against, solved),
        (empty, b),
    ):
        x = x0.copy()
        plain.run(ssr.program(x=space, b=space)(body), x, b)
        np.testing.assert_allclose(x, wanted, 1e-13, 1e-13)


def test_staged_and_stored_in_one_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass keeps the meaning where a staged sweep reads a stored part, and the reverse."""
    monkeypatch.setenv("SSR_VERIFY", "1")
    space, shape = SPACES[2], (4, 5)
    A = ssr.stencil(space, space, {(0, 0): 9, (-1, 0): 1, (0, -1): 2, (0, 1): 3}, outside="zero")
    a, s = A.bind(m=4, n=5).to_scipy(), square(shape, 7, solvable=True)
    S = ssr.from_scipy(s, rows=space, cols=space)

    @ssr.program(x=space, b=space)
    def sweeps(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - S.triu(1) @ x)
        x[:] = S.tril().solve(b - A.triu(1) @ x)
        x[:] = (S + A.bind(m=4, n=5)).tril().solve(b - (S + A).triu(1) @ x)

    x, b = np.random.default_rng(8).normal(size=(2, *shape))
    y = reference(sparse.tril(a), b.ravel() - sparse.triu(s, 1) @ x.ravel(), lower=True)
    y = reference(sparse.tril(s), b.ravel() - sparse.triu(a, 1) @ y, lower=True)
    y = reference(sparse.tril(a + s), b.ravel() - sparse.triu(a + s, 1) @ y, lower=True)
    direct = in_place(sweeps.ir)
    assert not direct.temporaries
    fields = {f.name: f for f in direct.fields}
    stores, sizes = sweeps._recorder.stored, {"m": 4, "n": 5}
    started = x.copy()
    for step in direct.steps:
        made = step_nest(step, direct)
        results = []
        for _, passed in stages(made, direct, sweeps.options, "float64"):
            arrays = {"x": started.copy(), "b": b}
            interpret_nest(passed, fields, arrays, {}, sizes, stored=stores)
            results.append(arrays["x"])
            np.testing.assert_allclose(arrays["x"], results[0], 1e-13, 1e-13)
        started = results[-1]
    plain.run(sweeps, x, b)
    np.testing.assert_allclose(x, started, 1e-13, 1e-13)
    np.testing.assert_allclose(x.ravel(), y, 1e-12, 1e-12)


def test_multigrid_parts_and_vectors() -> None:
    fine, coarse = ssr.Space(4, 6), ssr.Space(2, 3)
    a = square((4, 6), 5)
    S = ssr.from_scipy(a, rows=fine, cols=fine)

    @ssr.matrix(rows=coarse, cols=fine)
    def inject(j: Any, i: Any) -> Any:
        yield (2 * j, 2 * i), 1.0

    @ssr.program(r=coarse, x=fine, b=fine, u=fine.vector(2))
    def restrict(r: Any, x: Any, b: Any, u: Any) -> None:
        r[:] = inject @ (b - S @ x)
        u[:] = S @ u

    x, b, *u = np.random.default_rng(2).normal(size=(4, 4, 6))
    r, v = np.zeros((2, 3)), np.array(u)
    plain.run(restrict, r, x, b, v)
    wanted = (b.ravel() - a @ x.ravel()).reshape(4, 6)[::2, ::2]
    np.testing.assert_allclose(r, wanted, 1e-13, 1e-13)
    np.testing.assert_allclose(v.reshape(2, -1), (a @ np.reshape(u, (2, -1)).T).T, 1e-13, 1e-13)


def test_what_need_not_be_computed() -> None:
    """A sweep from zero reads no old values; a residual is computed where it is restricted to."""
    fine, coarse = ssr.Space(4, 6), ssr.Space(2, 3)
    a = square((4, 6), 5, solvable=True)
    S = ssr.from_scipy(a, rows=fine, cols=fine)

    @ssr.matrix(rows=coarse, cols=fine)
    def inject(j: Any, i: Any) -> Any:
        yield (2 * j, 2 * i), 1.0

    @ssr.program(x=fine, b=fine, r=coarse)
    def smooth(x: Any, b: Any, r: Any) -> None:
        x[:] = S @ b
        x[:] = 0
        x[:] = S.tril().solve(b - S.triu(1) @ x)
        r[:] = inject @ (b - S @ x)

    text = smooth.explain("program")
    assert "triu" not in text
    assert "csr1[2*j, 2*i] @ x" in text
    assert "temporaries" not in text
    x, b = np.random.default_rng(2).normal(size=(2, 4, 6))
    r = np.zeros((2, 3))
    plain.run(smooth, x, b, r)
    y = reference(sparse.tril(a), b, lower=True)
    wanted = (b.ravel() - a @ y).reshape(4, 6)[::2, ::2]
    np.testing.assert_allclose(x.ravel(), y, 1e-12, 1e-12)
    np.testing.assert_allclose(r, wanted, 1e-12, 1e-12)


def test_operators_and_arrays() -> None:
    a = square((3, 4), 6, solvable=True)
    S = on(a, 3, 4)
    operator = S.aslinearoperator()
    x = np.random.default_rng(1).normal(size=12)
    np.testing.assert_allclose(operator @ x, a @ x)
    np.testing.assert_allclose(operator.rmatvec(x), a.T @ x)
    out = np.zeros((3, 4))
    assert S.triu().solve(x.reshape(3, 4), out=out) is out
    np.testing.assert_allclose(out.ravel(), reference(sparse.triu(a), x, lower=False))


CONTAINERS = ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")


@pytest.mark.parametrize("container", [f"{c}_{k}" for c in CONTAINERS for k in ("array", "matrix")])
def test_containers(container: str) -> None:
    a = random((4, 6), 9)
    given_ = getattr(sparse, container)(a)
    S = ssr.from_scipy(given_, rows=ssr.Space(4), cols=ssr.Space(2, 3))
    np.testing.assert_array_equal(dense(S), a.toarray())


def test_what_is_kept() -> None:
    """Entries at one place are summed, zeros left out; arrays are our own, of our types."""
    rows, cols = np.array([1, 0, 1, 0, 2, 2]), np.array([2, 1, 2, 0, 0, 2])
    data = np.array([100, 3, 100, 0, 1, -1], np.int8)
    S = on(sparse.coo_array((data, (rows, cols)), shape=(3, 3)), 3)
    assert dense(S).tolist() == [[0, 3, 0], [0, 0, 200], [1, 0, -1]]
    assert S.to_scipy().nnz == 4
    assert S.to_scipy().indices.dtype == np.int32
    assert repr(S) == "<StoredMatrix stored: Space(3) -> Space(3), 4 stored entries>"
    assert (S - S).to_scipy().nnz == 0
    kinds = {"?": "f8", "<i8": "f8", ">f8": "f8", "<f2": "f8", "g": "f8", "<f4": "f4", ">f4": "f4"}
    for kind, wanted in kinds.items():
        unit = sparse.csr_array(np.eye(3))
        unit.data = unit.data.astype(kind)
        made = on(unit, 3)
        assert made.to_scipy().dtype == np.dtype(wanted)
        np.testing.assert_array_equal(made @ np.arange(3.0), np.arange(3.0))
    unsorted = sparse.csr_array((np.array([1.0, 2.0]), np.array([2, 0]), np.array([0, 2, 2, 2])))
    for array in unsorted.data, unsorted.indices, unsorted.indptr:
        array.flags.writeable = False
    S = on(unsorted, 3)
    assert dense(S)[0].tolist() == [2, 0, 1]
    assert unsorted.indices.tolist() == [2, 0]
    given_ = sparse.csr_array(np.eye(3))
    S = on(given_, 3)
    given_.data[:] = 7
    S.to_scipy().data[:] = 7
    np.testing.assert_array_equal(dense(S), np.eye(3))


def test_numbers_that_are_none() -> None:
    a = np.diag([1.0, np.nan, np.inf])
    S = on(sparse.csr_array(a), 3)
    np.testing.assert_array_equal(S @ np.ones(3), [1, np.nan, np.inf])
    np.testing.assert_array_equal(S.solve(np.ones(3)), [1, np.nan, 0])
    assert not S.equals(S)


def test_wide_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    a = square((5,), 3, solvable=True)
    narrow = on(a, 5)
    monkeypatch.setattr(storage, "index_type", lambda *_: np.int64)
    S = on(a, 5)
    assert (narrow.stored.wide, S.stored.wide) == (False, True)
    x, b = np.random.default_rng(0).normal(size=(2, 5))
    for one, other in ((narrow @ x, S @ x), (narrow.tril().solve(b), S.tril().solve(b))):
        plain.check_same(one, other)


def test_far_operands() -> None:
    S = on(sparse.csr_array(np.eye(4)), 2, 2)
    far = np.lib.stride_tricks.as_strided(np.zeros(2), (2, 2), (2**35, 8))
    with pytest.raises(ssr.errors.ContiguityError, match="spread over too much memory"):
        S.stored.argument("places", {}, [s // 8 for s in far.strides], float)


def test_one_set_of_arrays() -> None:
    """Parts of a matrix, and programs with it, share its arrays."""
    space = ssr.Space(5)
    S = on(square((5,), 3, solvable=True), 5)
    program = symgs(S, space)
    assert list(program._recorder.stored.values()) == [S.stored]
    kinds = [entry.what for entry in program.kernel().meta.stored]
    assert sorted(kinds) == ["after", "diagonal", "first", "places", "values"]
    assert S.stored.argument("values", {}, None, np.float64) is S.stored.csr.data
    assert S.stored.argument("places", {}, None, np.float64) is S.stored.csr.indices


def test_mistakes() -> None:
    a = sparse.csr_array(np.array([[2.0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 3, 0], [0, 0, 0, 0]]))
    S = on(a, 2, 2)
    b = np.ones((2, 2))
    with pytest.raises(NotTriangularError) as found:
        S.solve(b)
    assert "before the diagonal" in str(found.value)
    assert "row (1, 0), column (0, 1)" in str(found.value)
    assert "row (0, 0), column (1, 0)" in str(found.value)
    with pytest.raises(SingularMatrixError, match=r"in row \(0, 1\), and 1 more"):
        S.tril().solve(b)
    with pytest.raises(SingularMatrixError, match=r"in row \(0, 0\), and 3 more"):
        S.tril(-1).solve(b)
    flat = ssr.from_scipy(a, rows=SPACES[2], cols=SPACES[2])
    with pytest.raises(SingularMatrixError, match="in row number 1"):

        @ssr.program(x=SPACES[2])
        def p(x: Any) -> None:
            x[:] = flat.tril().solve(x)

    P = ssr.from_scipy(a, rows=ssr.Space(4), cols=ssr.Space(2, 2))
    for broken in (
        lambda: P.tril(),
        lambda: P.solve(np.ones(4)),
        lambda: P**2,
        lambda: P @ P,
        lambda: S @ ssr.identity(ssr.Space(3)),
        lambda: S + P,
        lambda: S[ssr.Space(3, 3), :],
    ):
        with pytest.raises(SpaceError):
            broken()
    with pytest.raises(ArgumentError, match=r"tril\(1\) is not defined on a grid"):
        S.tril(1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="power -1"):
        S**-1
    with pytest.raises(ArgumentError, match="cannot be read one by one"):
        S[0, 0]
    with pytest.raises(UnboundError, match="size m"):
        flat[:, SPACES[2].grow(-1)]
    with pytest.raises(ArgumentError, match="divided by zero"):
        S / 0
    with pytest.raises(UnsupportedError, match="numbers only") as scaled:
        S * S
    assert "`@`" in str(scaled.value)
    with pytest.raises(ArgumentError, match='programs "apply" and "solve"'):
        S.program("multiply")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="The right side must be a NumPy array, not list"):
        S.solve([1.0])
    with pytest.raises(ShapeError, match="no rows"):
        ssr.from_scipy(sparse.csr_array((0, 4)), rows=SPACES[1], cols=SPACES[1])
    with pytest.raises(ShapeError, match="4 rows and 5 columns; both are on"):
        ssr.from_scipy(sparse.csr_array((4, 5)), rows=SPACES[1], cols=SPACES[1])
    with pytest.raises(ShapeError, match="1 axes, not 2"):
        ssr.from_scipy(sparse.coo_array(np.ones(3)), rows=SPACES[1], cols=SPACES[1])
    other = sparse.csr_array(np.eye(2))
    other.data = other.data.astype(object)
    with pytest.raises(DtypeError, match="object"):
        on(other, 2)
    broken_csr = sparse.csr_array(np.eye(2))
    broken_csr.indices[1] = 7
    with pytest.raises(ArgumentError, match="is not valid"):
        on(broken_csr, 2)
    with pytest.raises(SpaceError, match="the rows are"):

        @ssr.program(x=SPACES[1])
        def q(x: Any) -> None:
            x[:] = S.tril().solve(x)
