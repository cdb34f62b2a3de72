"""Parts of fields: read and assigned at the points of a space within their own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import fused_nests
from ssr.errors import ArgumentError, BoxError, NonFiniteError, SpaceError
from ssr.lower.steps.in_place import in_place

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_nest, interpret_program

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
wide = cells.grow(2)
PARTS = (cells, cells.grow(1), cells.grow((0, 2), 1), wide, cells.grow((-1, 0)))


@pytest.fixture(scope="module", autouse=True)
def verified() -> Iterator[None]:
    """Let every nest be verified after every pass, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSR_VERIFY", "1")
        yield


WEIGHTS = {(0, 0): 4.0, (0, 1): -0.5, (0, -1): 0.25, (1, 0): 0.5, (-1, 0): -0.75}
PRODUCTS = {
    (rows, cols): ssr.stencil(rows, cols, WEIGHTS, outside="zero")
    for rows in PARTS
    for cols in PARTS
}


# -- random programs -----------------------------------------------------------------------------


class Points:
    """An array whose parts are named by spaces, as in a program."""

    def __init__(self, array: Array, shape: tuple[int, int]) -> None:
        self.array, self.sizes = array, {"ny": shape[0], "nx": shape[1]}

    def __getitem__(self, where: Any) -> Any:
        return self.array[self._slices(where)].copy()

    def __setitem__(self, where: Any, value: Any) -> None:
        self.array[self._slices(where)] = value

    def _slices(self, where: Any) -> Any:
        if where == slice(None):
            return where
        return tuple(slice(low + 2, high + 2) for low, high in where.box(self.sizes))


class Symbols:
    """What bodies compute with in a program."""

    where, total = staticmethod(ssr.where), staticmethod(ssr.sum)

    def product(self, rows: Any, cols: Any, x: Any) -> Any:
        return PRODUCTS[rows, cols] @ x

    def sweep(self, rows: Any, x: Any, b: Any) -> Any:
        A = PRODUCTS[rows, rows]
        return A.tril().solve(b - A.triu(1) @ x)


class Arrays:
    """The same for NumPy arrays."""

    where, total = staticmethod(np.where), staticmethod(np.sum)

    def __init__(self, shape: tuple[int, int]) -> None:
        self.sizes = {"ny": shape[0], "nx": shape[1]}

    def dense(self, rows: Any, cols: Any) -> Array:
        made: Array = PRODUCTS[rows, cols].bind(**self.sizes).to_scipy().toarray()
        return made

    def product(self, rows: Any, cols: Any, x: Array) -> Array:
        return (self.dense(rows, cols) @ x.ravel()).reshape(rows.extent(self.sizes))

    def sweep(self, rows: Any, x: Array, b: Array) -> Array:
        A = self.dense(rows, rows)
        right = b.ravel() - np.triu(A, 1) @ x.ravel()
        return np.linalg.solve(np.tril(A), right).reshape(x.shape)


def body(f: Any, steps: list[Any]) -> Any:
    def run(x: Any, y: Any, s: Any) -> Any:
        numbers = []
        for kind, swap, r, c in steps:
            u, v = (y, x) if swap else (x, y)
            rows, cols = PARTS[r], PARTS[c]
            if kind == "product":
                v[rows] = f.product(rows, cols, u[cols]) + s * v[rows]
            elif kind == "itself":
                u[rows] = 0.25 * f.product(rows, cols, u[cols])
            elif kind == "pointwise":
                v[rows] = f.where(u[rows] > s, u[rows] * v[rows], v[rows] - 0.5 * u[rows])
            elif kind == "sweep":
                v[rows] = f.sweep(rows, v[rows], u[rows])
            elif kind == "zero":
                u[rows] = 0.0
            elif kind == "sum":
                numbers.append(f.total(u[rows]))
                v[cols] = v[cols] / (1.0 + numbers[-1] * numbers[-1])
            else:
                twice = f.product(cols, wide, u[wide] * v[wide])
                v[rows] = f.product(rows, cols, twice) + u[rows]
        x[:] = x[wide] + y[wide]
        return tuple(numbers)

    return run


KINDS = st.sampled_from(("product", "itself", "pointwise", "sweep", "zero", "sum", "twice"))
PLACE = st.integers(0, len(PARTS) - 1)
STEPS = st.lists(st.tuples(KINDS, st.booleans(), PLACE, PLACE), min_size=1, max_size=4)
SHAPES = st.tuples(st.integers(2, 5), st.integers(2, 6))


def declared(steps: list[Any], options: ssr.Options) -> ssr.Program:
    return ssr.program(x=wide, y=wide, s=ssr.scalar, options=options)(body(Symbols(), steps))


def drawn(seed: int, shape: tuple[int, int], layout: str = "C") -> list[Array]:
    rng = np.random.default_rng(seed)
    grown = (shape[0] + 4, shape[1] + 4)
    return [memory.array(rng, grown, "float64", layout) for _ in "xy"]


@some.examples(25)
@given(STEPS, memory.seeds, SHAPES, memory.layouts)
def test_against_numpy(steps: list[Any], seed: int, shape: tuple[int, int], layout: str) -> None:
    given, meant = drawn(seed, shape, layout), drawn(seed, shape)
    found = plain.run(declared(steps, ssr.Options()), *given, 0.5)
    wanted = body(Arrays(shape), steps)(*(Points(a, shape) for a in meant), 0.5)
    scale = 1.0 + max(abs(a).max() for a in meant) + max(map(abs, wanted), default=0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11 * scale)
    for a, b in zip(given, meant, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * scale)
        assert memory.untouched(a)


@some.examples(25)
@given(STEPS, memory.seeds, SHAPES, st.booleans())
def test_against_the_interpreter(
    steps: list[Any], seed: int, shape: tuple[int, int], fuse: bool
) -> None:
    program = declared(steps, ssr.Options(exact=True, fuse=fuse))
    given, meant = drawn(seed, shape), drawn(seed, shape)
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    wanted = interpret_program(program.ir, dict(zip("xy", meant, strict=True)), {"s": 0.5}, sizes)
    assert plain.run(program, *given, 0.5) == wanted
    for a, b in zip(given, meant, strict=True):
        plain.check_same(a, b)


@some.examples(10)
@given(STEPS, memory.seeds, SHAPES)
def test_nests_as_they_are_scheduled(steps: list[Any], seed: int, shape: tuple[int, int]) -> None:
    steps = [step for step in steps if step[0] != "sum"]
    program = declared(steps, ssr.Options(exact=True))
    given, meant = drawn(seed, shape), drawn(seed, shape)
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    interpret_program(program.ir, dict(zip("xy", meant, strict=True)), {"s": 0.5}, sizes)
    state = fused_nests(in_place(program.ir), program.options, "float64")
    arrays = dict(zip("xy", given, strict=True))
    for f in state.program.temporaries:
        arrays[f.name] = np.full([n.evaluate(sizes) for n in f.shape], np.nan)
    for made in state.nests:
        interpret_nest(made, state.fields, arrays, {"s": 0.5}, sizes)  # type: ignore[arg-type]
    for a, b in zip(given, meant, strict=True):
        plain.check_same(a, b)


# -- what a part is ------------------------------------------------------------------------------


def test_other_points_keep_their_values() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[cells] = 2.0 * h[cells] + 1.0

    h = np.arange(6.0 * 7.0).reshape(6, 7)
    meant = h.copy()
    meant[2:-2, 2:-2] = 2 * meant[2:-2, 2:-2] + 1
    p(h)
    plain.check_same(h, meant)
    assert "_new" not in p.explain("program")


def test_a_part_is_read_without_a_copy() -> None:
    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> None:
        y[:] = PRODUCTS[cells, cells] @ h[cells]

    assert not p.ir.temporaries


def test_only_values_of_the_part_need_a_temporary() -> None:
    """What lies beyond the part is not overwritten, so reading it is no hindrance."""
    above = ssr.Space(ssr.size("n"))
    shift = ssr.stencil(above, above.grow(1), {-1: 1.0})

    @ssr.program(h=above.grow(1))
    def one(h: Any) -> None:
        h[above] = shift @ h

    @ssr.matrix(rows=above, cols=above.grow(1))
    def ghost(i: Any) -> Any:
        yield -1, 1.0
        yield ssr.size("n"), 2.0

    @ssr.program(h=above.grow(1))
    def two(h: Any) -> None:
        h[above] = ghost @ h

    assert "backward order" in one.explain("program")
    assert "in place: the target is not read before" in two.explain("program")
    h = np.array([1.0, 2.0, 3.0, 4.0])
    plain.run(one, h)
    assert h.tolist() == [1.0, 1.0, 2.0, 4.0]
    plain.run(two, h)
    assert h.tolist() == [1.0, 9.0, 9.0, 4.0]


def test_parts_of_vectors() -> None:
    @ssr.program(U=wide.vector(3), V=cells.vector(2))
    def p(U: Any, V: Any) -> None:
        V[:] = U[1:][cells] - V
        U[cells] = ssr.vector(U[2][cells], 2.0 * U[0][cells], V[0])
        U[0][cells] = V[1] + U[0][cells]

    rng = np.random.default_rng(0)
    U, V = rng.uniform(size=(3, 6, 7)), rng.uniform(size=(2, 2, 3))
    meant, part = U.copy(), (slice(2, -2), slice(2, -2))
    W = meant[1:, 2:-2, 2:-2] - V
    old = meant[(slice(None), *part)].copy()
    meant[(slice(None), *part)] = np.stack([old[2] + W[1], 2 * old[0], W[0]])
    p(U, V)
    np.testing.assert_allclose(U, meant, rtol=1e-15)
    np.testing.assert_allclose(V, W, rtol=1e-15)


def test_components_change_places() -> None:
    @ssr.program(U=wide.vector(2))
    def p(U: Any) -> None:
        U[cells] = ssr.vector(U[1][cells], U[0][cells])

    U = np.random.default_rng(0).uniform(size=(2, 6, 7))
    meant = U.copy()
    meant[:, 2:-2, 2:-2] = U[::-1, 2:-2, 2:-2]
    p(U)
    plain.check_same(U, meant)


def test_parts_of_expressions() -> None:
    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> None:
        twice = 2.0 * h
        h[:] = 0.0
        y[:] = twice[cells] + h[cells]

    h = np.random.default_rng(0).uniform(size=(6, 7))
    y, meant = np.zeros((2, 3)), 2.0 * h[2:-2, 2:-2]
    p(h, y)
    plain.check_same(y, meant)


def test_stored_matrices_act_on_parts() -> None:
    """They number the points of the part, not those of the whole."""
    rng = np.random.default_rng(1)
    S = scipy.sparse.random_array((6, 6), density=0.5, rng=rng) + 4.0 * scipy.sparse.eye_array(6)
    stored = ssr.from_scipy(S, rows=cells, cols=cells)

    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[cells] = stored.tril().solve(stored @ h[cells])
        h[cells] = stored @ h[cells]

    h = rng.uniform(size=(6, 7))
    meant, dense = h.copy(), S.toarray()
    old = meant[2:-2, 2:-2].ravel()
    made = dense @ np.linalg.solve(np.tril(dense), dense @ old)
    meant[2:-2, 2:-2] = made.reshape(2, 3)
    plain.run(p, h)
    np.testing.assert_allclose(h, meant, rtol=1e-13)


def test_programs_are_called_with_parts() -> None:
    @ssr.program(y=cells, x=cells)
    def inner(y: Any, x: Any) -> Any:
        y[:] = PRODUCTS[cells, cells] @ x
        return ssr.sum(x)

    @ssr.program(h=wide, y=cells)
    def p(h: Any, y: Any) -> Any:
        return inner(y, h[cells])

    h = np.random.default_rng(0).uniform(size=(6, 7))
    y, z = np.zeros((2, 3)), np.zeros((2, 3))
    assert p(h, y) == inner(z, np.ascontiguousarray(h[2:-2, 2:-2]))
    plain.check_same(y, z)


def test_boxes_cut_the_part() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[cells] = PRODUCTS[cells, cells].tril().solve(h[cells])

    h = np.random.default_rng(0).uniform(size=(8, 9))
    meant = h.copy()
    p(meant)
    p(h, boxes=cells.split(2, 1, sizes={"ny": 4, "nx": 5}))
    plain.check_same(h, meant)
    with pytest.raises(BoxError, match="not within the rows"):
        p(h, boxes=wide.split(2, 1, sizes={"ny": 4, "nx": 5}))


def test_a_part_does_not_replace_what_was_there() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[:] = 3.0
        h[cells] = 2.0

    h = np.zeros((5, 5))
    p(h)
    assert h.sum() == 3.0 * 24 + 2.0


def test_debug_build_looks_at_the_part_only() -> None:
    @ssr.program(h=wide, options=ssr.Options(debug=True))
    def p(h: Any) -> None:
        h[cells] = ssr.sqrt(PRODUCTS[cells, cells] @ h[cells])

    h = np.full((6, 7), np.nan)
    h[2:-2, 2:-2] = 1.0
    for run in p, p.run_plain:
        run(h.copy())
    h[3, 3] = -9.0
    for run in p, p.run_plain:
        with pytest.raises(NonFiniteError, match=r"makes nan in h at \(0, 1\)"):
            run(h.copy())


# -- errors --------------------------------------------------------------------------------------


def declare(function: Any) -> None:
    ssr.program(h=cells, f=cells.faces(0), U=cells.vector(2))(function)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda h, f, U: h[wide], r"Space\(-2:ny \+ 2, -2:nx \+ 2\) is not a part of"),
        (lambda h, f, U: h[ssr.Space(ny)], "1 indices in the one, 2 in the other"),
        (lambda h, f, U: f[cells], "the other at faces of axis 0"),
        (lambda h, f, U: (h * h)[wide], "a part of the run-time value"),
        (lambda h, f, U: h.__setitem__(wide, 1.0), "outside lie"),
        (lambda h, f, U: U[wide], "is not a part"),
        (lambda h, f, U: h.__setitem__(cells.grow(-1), h), r"assigned to the part of 'h' on Space"),
    ],
)  # fmt: skip
def test_spaces_that_are_no_part(function: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        declare(lambda h, f, U: function(h, f, U))


def test_what_is_no_space() -> None:
    with pytest.raises(ArgumentError, match="A part of the points is a Space"):
        declare(lambda h, f, U: (h + h)[0])
    with pytest.raises(ArgumentError, match="reads a part of a field"):
        declare(lambda h, f, U: h[0])


def test_fields_named_like_the_kernel_s_own_tables() -> None:
    @ssr.program(table=cells, part=cells, options=ssr.Options(fuse=False))
    def p(table: Any, part: Any) -> None:
        part[:] = 2.0 * table
        table[:] = part + ssr.sum(part)

    table, part = np.ones((2, 3)), np.ones((2, 3))
    p(table, part)
    assert table[0, 0] == 14.0
