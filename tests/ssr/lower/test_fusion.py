"""Steps that share a nest make the same bits as steps one after the other."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import fused_nests
from ssr.errors import BoxError
from ssr.lower.steps.in_place import in_place

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_nest, interpret_program

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
below, left = cells.faces(0), cells.faces(1)
cube = ssr.Space(ssr.size("nz"), ny, nx)


def stencil(space: ssr.Space, *offsets: Any) -> ssr.Matrix:
    weights = {o: 0.25 + 0.125 * n for n, o in enumerate(offsets)}
    return ssr.stencil(space, space, weights, outside="zero")


CROSS = stencil(cells, (0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))
UPWIND = stencil(cells, (0, 0), (0, -1), (-2, 0))
CENTRED = stencil(cells, (0, 0), (2, 1))
MATRICES = (CROSS, UPWIND, CENTRED)


def to_faces(faces: ssr.Space, axis: int) -> ssr.Matrix:
    """Return the average of the two cells at a face, of one at the boundary."""

    def average(j: Any, i: Any) -> Any:
        for shift, weight in ((-1, 0.75), (0, 0.25)):
            point = (j + shift, i) if axis == 0 else (j, i + shift)
            if point in cells:
                yield point, weight

    return ssr.matrix(rows=faces, cols=cells)(average)


def from_faces(faces: ssr.Space, axis: int) -> ssr.Matrix:
    """Return the difference of the two faces of a cell."""

    def difference(j: Any, i: Any) -> Any:
        yield (j, i), -1.0
        yield ((j + 1, i) if axis == 0 else (j, i + 1)), 1.0

    return ssr.matrix(rows=cells, cols=faces)(difference)


UP = {0: to_faces(below, 0), 1: to_faces(left, 1)}
DOWN = {0: from_faces(below, 0), 1: from_faces(left, 1)}


def separate(program: ssr.Program) -> ssr.Program:
    return program.with_options(replace(program.options, fuse=False))


def nests(program: ssr.Program) -> tuple[Any, ...]:
    return fused_nests(in_place(program.ir), program.options, "float64").nests


def check(program: ssr.Program, *given: Any) -> None:
    """Compare a program with itself, step by step, and with its definition."""
    arrays = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    defined = [a.copy() if isinstance(a, np.ndarray) else a for a in given]
    found = plain.run(program, *given)
    assert found == plain.run(separate(program), *arrays)
    names = [n for n, _ in program.signature.kinds]
    shape = next(a.shape for a in given)
    sizes = dict(zip(("nz", "ny", "nx")[-len(shape) :], shape, strict=True))
    fields = {n: a for n, a in zip(names, defined, strict=True) if isinstance(a, np.ndarray)}
    scalars = {n: a for n, a in zip(names, defined, strict=True) if isinstance(a, float)}
    if program.options.exact:
        interpret_program(program.ir, fields, scalars, sizes)
    for a, b, c in zip(given, arrays, defined, strict=True):
        if isinstance(a, np.ndarray):
            plain.check_same(a, b)
            if program.options.exact:
                plain.check_same(a, c)


def sweep(u: Any, v: Any) -> Any:
    return CROSS.tril().solve(u - CROSS.triu(1) @ v)


def body(steps: list[Any], matrices: Any = MATRICES, sweep: Any = sweep) -> Any:
    """Return a program's body from drawn steps; kinds that a space does not know are stencils."""

    def run(x: Any, y: Any, z: Any, s: Any) -> Any:
        fields = [x, y, z]
        numbers = []
        for kind, a, b, which in steps:
            u, v = fields[a], fields[b]
            if kind == "twice":
                v[:] = matrices[which] @ (u * u) - matrices[2 - which] @ (u + s)
            elif kind == "quotient":
                t = matrices[which] @ u
                v[:] = matrices[1 - which // 2] @ (t / (1.0 + t * t)) + u
            elif kind == "flux" and matrices is MATRICES:
                face = UP[which % 2] @ (u + v)
                v[:] = v - s * (DOWN[which % 2] @ (face * face))
            elif kind == "pointwise":
                v[:] = ssr.where(u > s, u * v, v - 0.5 * u)
            elif kind == "sweep" and sweep is not None:
                v[:] = sweep(u, v)
            elif kind == "dot":
                numbers.append(ssr.dot(u, matrices[which] @ v))
            else:
                v[:] = matrices[which] @ u + s * v
        x[:] = x + 0.25
        return tuple(numbers)

    return run


KINDS = st.sampled_from(
    ("stencil", "twice", "quotient", "flux", "pointwise", "dot", "stencil", "sweep")
)
PLACE = st.integers(0, 2)
STEPS = st.lists(st.tuples(KINDS, PLACE, PLACE, PLACE), min_size=1, max_size=4)


@some.examples(25)
@given(STEPS, memory.seeds, st.data())
def test_random_programs(steps: list[Any], seed: int, data: st.DataObject) -> None:
    exact = data.draw(st.booleans())
    made = ssr.program(x=cells, y=cells, z=cells, s=ssr.scalar, options=ssr.Options(exact=exact))(
        body(steps)
    )
    rng = np.random.default_rng(seed)
    shape = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 8)))
    arrays = [memory.array(rng, shape, "float64") for _ in "xyz"]
    check(made, *arrays, 0.5)


@some.examples(8)
@given(STEPS, memory.seeds, st.data())
def test_random_programs_in_boxes(steps: list[Any], seed: int, data: st.DataObject) -> None:
    made = ssr.program(x=cells, y=cells, z=cells, s=ssr.scalar)(body(steps))
    rng = np.random.default_rng(seed)
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    arrays = [memory.array(rng, shape, "float64") for _ in "xyz"]
    whole = [a.copy() for a in arrays]
    found = plain.run(made, *whole, 0.5)
    try:
        cut = plain.run(
            made, *arrays, 0.5, boxes=data.draw(memory.cuts(((0, shape[0]), (0, shape[1]))))
        )
    except BoxError:
        return
    assert found == cut
    for a, b in zip(whole, arrays, strict=True):
        plain.check_same(a, b)


SOLID = (
    stencil(cube, (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, -1), (-1, 0, 0)),
    stencil(cube, (0, 0, 1), (1, -1, 0), (0, -2, 0)),
    stencil(cube, (-1, 1, 0), (0, 0, 0), (1, 1, -1)),
)


def check_whole_and_cut(
    space: ssr.Space, run: Any, seed: int, shape: tuple[int, ...], data: st.DataObject
) -> None:
    """Compare a program of a body with its definition, and with itself in boxes."""
    exact = data.draw(st.booleans())
    kinds = {"x": space, "y": space, "z": space, "s": ssr.scalar}
    made = ssr.program(**kinds, options=ssr.Options(exact=exact))(run)
    rng = np.random.default_rng(seed)
    arrays = [memory.array(rng, shape, "float64") for _ in "xyz"]
    cut = [a.copy() for a in arrays]
    check(made, *arrays, 0.5)
    try:
        plain.run(made, *cut, 0.5, boxes=data.draw(memory.cuts(tuple((0, n) for n in shape))))
    except BoxError:
        return
    for a, b in zip(arrays, cut, strict=True):
        plain.check_same(a, b)


@some.examples(12)
@given(STEPS, memory.seeds, st.data())
def test_random_programs_over_planes(steps: list[Any], seed: int, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 6)))
    check_whole_and_cut(cube, body(steps, SOLID, None), seed, shape, data)


string = ssr.Space(nx)


@ssr.matrix(rows=string, cols=string)
def flip(i: Any) -> Any:
    yield nx - 1 - i, 0.75


LINEAR = (
    stencil(string, (0,), (1,), (-1,)),
    stencil(string, (0,), (-2,)),
    flip,
)


def sweep_back(u: Any, v: Any) -> Any:
    return LINEAR[0].triu().solve(u - LINEAR[0].tril(-1) @ v)


@some.examples(20)
@given(STEPS, memory.seeds, st.data())
def test_random_programs_on_a_line(steps: list[Any], seed: int, data: st.DataObject) -> None:
    shape = (data.draw(st.integers(1, 9)),)
    check_whole_and_cut(string, body(steps, LINEAR, sweep_back), seed, shape, data)


@some.examples(6)
@given(STEPS, memory.seeds, st.data())
def test_nests_mean_what_they_say(steps: list[Any], seed: int, data: st.DataObject) -> None:
    """The schedule itself, run line by line without code generation."""
    made = ssr.program(x=cells, y=cells, z=cells, s=ssr.scalar)(body(steps))
    program = in_place(made.ir)
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    rng = np.random.default_rng(seed)
    arrays = {n: memory.array(rng, shape, "float64") for n in "xyz"}
    meant = {n: a.copy() for n, a in arrays.items()}
    plain.run(separate(made), *meant.values(), 0.5)
    state = fused_nests(program, made.options, "float64")
    short, found = state.program, state.nests
    fields = {f.name: f for f in (*short.fields, *short.temporaries)}
    for f in short.temporaries:
        arrays[f.name] = np.full(tuple(e.evaluate(sizes) for e in f.shape), np.nan)
    for nest in found:
        box = None
        if nest.target not in fields:  # nothing but reductions
            box = ((0, shape[0]), (0, shape[1]))
        interpret_nest(nest, fields, arrays, {"s": 0.5}, sizes, box)
    for name in "xyz":
        plain.check_same(arrays[name], meant[name])


def test_a_chain_of_stencils_is_one_nest() -> None:
    @ssr.program(u=cells, v=cells, w=cells)
    def chain(u: Any, v: Any, w: Any) -> None:
        v[:] = CROSS @ u
        v[:] = v / (1.0 + v * v)
        w[:] = CROSS @ v
        u[:] = CROSS @ (w * u)

    assert len(nests(chain)) == 1
    assert not fused_nests(in_place(chain.ir), chain.options, "float64").program.temporaries
    rng = np.random.default_rng(0)
    check(chain, *rng.standard_normal((3, 9, 11)))


def test_lines_with_all_terms_are_told_from_others_also_ahead() -> None:
    """A statement that runs ahead looks at its own line, not at that where the loops stand."""

    @ssr.program(u=cells)
    def chain(u: Any) -> None:
        for _ in range(2):
            s = CROSS @ u
            v = s / (1.0 + s * s)
            t = CROSS @ (v * (3.0 + abs(s - v)) / (2.0 + s))
            u[:] = u + CROSS @ (t / (1.0 + t * t))

    rng = np.random.default_rng(0)
    for shape in ((1, 1), (2, 3), (3, 2), (6, 7), (9, 5)):
        check(chain, rng.standard_normal(shape))


def test_lines_before_the_first_row_of_all_are_left_out() -> None:
    @ssr.program(y=cells, x=cells)
    def squares(y: Any, x: Any) -> None:
        made = CROSS @ x
        y[:] = CROSS @ (made * made)

    assert "for j in range(max(-1, j_lo - 2), j_hi):" in str(squares.explain("source"))
    rng = np.random.default_rng(11)
    for shape in product((1, 2, 3, 6), (1, 5)):
        check(squares, *(memory.array(rng, shape, "float64") for _ in range(2)))


def test_jacobi_needs_no_second_array() -> None:
    @ssr.program(x=cells, b=cells)
    def jacobi(x: Any, b: Any) -> None:
        x[:] = x + 0.25 * (b - CROSS @ x)

    assert len(nests(jacobi)) == 1
    assert not fused_nests(in_place(jacobi.ir), jacobi.options, "float64").program.temporaries
    check(jacobi, *np.random.default_rng(0).standard_normal((2, 7, 6)))
    with pytest.raises(BoxError, match=r"run together(.|\n)*fuse=False"):
        jacobi(np.ones((4, 4)), np.ones((4, 4)), boxes=ssr.Space(4, 4).split(2, 1))
    x, y = np.ones((4, 4)), np.ones((4, 4))
    separate(jacobi)(x, np.ones((4, 4)), boxes=ssr.Space(4, 4).split(2, 2))
    jacobi(y, np.ones((4, 4)))
    plain.check_same(x, y)


def test_three_dimensions() -> None:
    near = [o for o in product((-1, 0, 1), repeat=3) if sum(map(abs, o)) < 2]
    A = ssr.stencil(cube, cube, {o: -1.0 if any(o) else 6.0 for o in near}, outside="zero")

    @ssr.program(x=cube, r=cube, p=cube, rz=ssr.scalar)
    def iteration(x: Any, r: Any, p: Any, rz: Any) -> Any:
        Ap = A @ p
        alpha = rz / ssr.dot(p, Ap)
        x[:] = x + alpha * p
        r[:] = r - alpha * Ap
        new = ssr.dot(r, r)
        p[:] = r + (new / rz) * p
        return new

    assert len(nests(iteration)) == 3
    rng = np.random.default_rng(0)
    given = list(rng.standard_normal((3, 3, 4, 5)))
    other = [a.copy() for a in given]
    assert plain.run(iteration, *given, 2.0) == plain.run(separate(iteration), *other, 2.0)
    for a, b in zip(given, other, strict=True):
        plain.check_same(a, b)
    compiled = [a.copy() for a in other]
    assert iteration(*given, 3.0) == separate(iteration)(*compiled, 3.0)
    for a, b in zip(given, compiled, strict=True):
        plain.check_same(a, b)


def test_compiled_chains() -> None:
    steps = [("twice", 0, 1, 0), ("flux", 1, 2, 1), ("dot", 1, 2, 0), ("stencil", 2, 0, 1)]
    made = ssr.program(x=cells, y=cells, z=cells, s=ssr.scalar)(body(steps))
    rng = np.random.default_rng(4)
    for shape in ((1, 1), (3, 2), (17, 40)):
        arrays = list(rng.standard_normal((3, *shape)))
        other = [a.copy() for a in arrays]
        assert made(*arrays, 0.5) == plain.run(made, *other, 0.5)
        for a, b in zip(arrays, other, strict=True):
            plain.check_same(a, b)


def test_stored_matrices_read_anywhere() -> None:
    """A product with a stored matrix waits for all lines of its operand."""
    plane = ssr.Space(4, 5)
    shift = ssr.stencil(plane, plane, {(0, 0): 2.0, (1, 0): 1.0}, outside="zero")
    reverse = ssr.from_scipy(scipy.sparse.csr_array(np.eye(20)[::-1]), rows=plane, cols=plane)

    @ssr.program(x=plane, y=plane)
    def both(x: Any, y: Any) -> None:
        t = shift @ (x * x)
        y[:] = reverse @ t + t
        x[:] = reverse @ y

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 4, 5))
    t = shift.to_scipy() @ (x * x).ravel()
    made = t[::-1] + t
    plain.run(both, x, y)
    np.testing.assert_allclose(y.ravel(), made, 1e-14)
    np.testing.assert_allclose(x.ravel(), made[::-1], 1e-14)


def test_a_chain_across_planes_is_one_nest_with_rotating_planes() -> None:
    @ssr.program(u=cube, v=cube)
    def chain(u: Any, v: Any) -> None:
        t = SOLID[0] @ u
        v[:] = SOLID[0] @ (t * t) + u

    (nest,) = nests(chain)
    assert [(s.planes, s.ahead) for s in nest.statements] == [(1, 1), (0, 0)]
    (buffer,) = nest.buffers
    assert (buffer.rows, buffer.lines, buffer.pad) == (3, 1, 1)
    assert not fused_nests(in_place(chain.ir), chain.options, "float64").program.temporaries
    check(chain, *np.random.default_rng(0).standard_normal((2, 5, 6, 7)))


def test_statements_that_run_together_share_a_loop_and_what_they_compute() -> None:
    @ssr.program(u=cells, v=cells, w=cells)
    def both(u: Any, v: Any, w: Any) -> None:
        root = ssr.sqrt(u * u + 1.0)
        v[:] = v / root
        w[:] = v + root

    source = both.explain("source")
    assert source.count("for i in range") == 1
    assert source.count("np.sqrt") == 1
    check(both, *np.random.default_rng(0).standard_normal((3, 5, 6)))


def test_a_sweep_across_lines_keeps_its_array() -> None:
    """Its rows on a line are independent, but it reads lines that it made before."""
    across = ssr.stencil(cells, cells, {(0, 0): 2.0, (-1, 0): -1.0, (-3, 1): 0.5}, outside="zero")

    @ssr.program(x=cells, y=cells)
    def program(x: Any, y: Any) -> None:
        x[:] = across.solve(y - CROSS @ x) * x

    assert nests(program)[-1].fused
    check(program, *np.random.default_rng(0).standard_normal((2, 7, 5)))


def test_steps_that_compute_the_same_run_equally_early() -> None:
    """The second one is needed later, but its root is that of the first one."""
    far = stencil(cells, (0, 0), (-3, 0), (3, 0))

    @ssr.program(u=cells, v=cells)
    def program(u: Any, v: Any) -> None:
        root = ssr.sqrt(1.0 + u * u)
        v[:] = far @ (v / root) + CROSS @ (u / root)

    (nest,) = nests(program)
    assert [s.ahead for s in nest.statements] == [3, 3, 0]
    loops = program.explain("loops")
    assert "row_0_to_row_1_tested: %t0[j + 3, i] = v[j + 3, i] / sqrt(s1)" in loops
    assert program.explain("source").count("np.sqrt") == len(("interior", "ends", "ends", "sides"))
    check(program, *np.random.default_rng(0).standard_normal((2, 9, 6)))

    @ssr.program(u=cells, v=cells)
    def apart(u: Any, v: Any) -> None:
        v[:] = far @ (v * u) + CROSS @ (u + 1.0)

    (nest,) = nests(apart)
    assert [s.ahead for s in nest.statements] == [3, 1, 0]


def test_long_values_without_conditions_share_a_loop() -> None:
    wide = cells.grow(2)
    near = [(j, i) for j in range(-2, 3) for i in range(-2, 3)]
    sums = [ssr.stencil(cells, wide, dict.fromkeys(near[n : n + 18], 0.5 + n)) for n in range(8)]

    @ssr.program(u=wide, a=cells, b=cells, options=ssr.Options(exact=True))  # shares no sums
    def both(u: Any, a: Any, b: Any) -> None:
        long = sum((s @ u) ** 2 for s in sums)  # more terms than are written out in many pieces
        a[:] = ssr.sqrt(long)
        b[:] = long / (1.0 + long)

    (loop,) = both.explain("source").split("for i in ")[1:]
    assert loop.count(" st(a, ") == loop.count(" st(b, ") == 1
    assert loop.count("ld(u, ") < 200
    u = np.random.default_rng(0).random((8, 13))
    a, b = np.empty((4, 9)), np.empty((4, 9))
    both(u, a, b)
    long = sum((s @ u) ** 2 for s in sums)
    np.testing.assert_allclose(a, np.sqrt(long), rtol=1e-14)
    np.testing.assert_allclose(b, long / (1.0 + long), rtol=1e-14)


def test_let_computes_an_expression_once_with_the_same_bits() -> None:
    @ssr.program(y=cells, x=cells)
    def inline(y: Any, x: Any) -> None:
        y[:] = CROSS @ (x / (1.0 + x * x)) + x / (1.0 + x * x)

    @ssr.program(y=cells, x=cells)
    def named(y: Any, x: Any) -> None:
        z = ssr.materialize(x / (1.0 + x * x))
        small = ssr.materialize(z < 2.0)
        y[:] = ssr.where(small, CROSS @ z + z, 0.0)

    x, y, z = memory.array(np.random.default_rng(3), (6, 7), "float64"), *np.zeros((2, 6, 7))
    plain.run(inline, y, x)
    plain.run(named, z, x)
    plain.check_same(y, z)


def test_let_stores_each_component_and_refuses_numbers() -> None:
    V = cells.vector(2)

    @ssr.program(u=V, s=ssr.scalar)
    def swap(u: Any, s: Any) -> None:
        a, b = ssr.materialize(s * u)
        u[:] = ssr.vector(b, a)

    u = np.arange(24.0).reshape(2, 3, 4)
    expected = 2.0 * u[::-1]
    swap(u, 2.0)
    np.testing.assert_array_equal(u, expected)

    with pytest.raises(ssr.errors.ArgumentError, match="not Value"):

        @ssr.program(x=cells, s=ssr.scalar)
        def wrong(x: Any, s: Any) -> None:
            x[:] = ssr.materialize(s) * x
