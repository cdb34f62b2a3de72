"""Kernels for boxes with memory of their own: bits, what nests read and write, and moves."""

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import lower
from ssr.errors import BoxError, UnsupportedError
from ssr.extension import (
    FINISHED,
    PACK,
    RECORD,
    STATE,
    UNPACK,
    WITHIN,
    Reach,
    Run,
    combined,
    region,
    shares,
)
from ssr.points.affine import Affine
from ssr.points.sets import Domain
from ssr.runtime.metadata import KernelMeta
from ssr.runtime.sums import add, extreme, found, reduced, total

from .. import driven, memory, plain, test_random_programs
from .. import sample_programs as programs
from .. import strategies as some
from ..boxed import Boxed
from ..ghosts import filled

Array = np.ndarray[Any, Any]
cells = ssr.Space(*ssr.sizes("ny nx"))
line = ssr.Space(*ssr.sizes("nx"))


@pytest.fixture(scope="module", autouse=True)
def verified() -> Iterator[None]:
    """Let every nest be verified after every pass, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSR_VERIFY", "1")
        yield


def distributed(program: ssr.Program) -> ssr.Program:
    return program.with_options(replace(program.options, distributed=True))


def meta(program: ssr.Program) -> KernelMeta:
    return lower(program.ir, distributed(program).options, "float64", "title").meta


def check(
    program: ssr.Program,
    args: list[Any],
    cuts: Any,
    *,
    compiled: bool = False,
    wide_boxes: bool = False,
) -> None:
    """Fail unless boxes with memory of their own compute the bits of the program."""
    own = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    wanted = program(*args) if compiled else program.run_plain(*args)
    apart = replace(program.options, distributed=True, wide_boxes=wide_boxes)
    results = Boxed(program.with_options(apart), own, cuts, compiled=compiled).run()
    wanted = () if wanted is None else wanted if isinstance(wanted, tuple) else (wanted,)
    assert np.array(results).tobytes() == np.array(wanted, float).tobytes()
    for one, other in zip(own, args, strict=True):
        if isinstance(one, np.ndarray):
            plain.check_same(one, other)


# -- bits ----------------------------------------------------------------------------------------

CUTS = st.tuples(*[st.lists(st.integers(0, 7), max_size=3)] * 2)


@some.examples(15)
@given(test_random_programs.STEPS, memory.seeds, test_random_programs.SHAPES, CUTS, st.booleans())
def test_random_programs_on_boxes(
    steps: list[Any], seed: int, shape: tuple[int, int], cuts: Any, exact: bool
) -> None:
    program = test_random_programs.declared(steps, ssr.Options(exact=exact))
    arrays = test_random_programs.drawn(seed, shape)
    check(program, [*arrays.values(), 0.5], cuts)


@pytest.mark.parametrize("cuts", [(), (3,), (1, 2, 5)])
def test_three_dimensions(cuts: tuple[int, ...]) -> None:
    a = programs.twenty_seven

    @ssr.program(x=programs.space, y=programs.space)
    def p(x: Any, y: Any) -> Any:
        y[:] = a @ (a @ x) - y
        x[:] = x + 0.5 * (a @ y)
        return ssr.dot(x, y), ssr.max(y), ssr.min(a @ x)

    rng = np.random.default_rng(3)
    check(p, [memory.array(rng, (4, 5, 6), "float64") for _ in "xy"], (cuts, (2,), (4,)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_compiled_kernels_on_boxes(dtype: str) -> None:
    @ssr.program(x=cells, y=cells, s=ssr.scalar)
    def p(x: Any, y: Any, s: Any) -> Any:
        y[:] = s * x
        norm = ssr.sum(y)
        x[:] = test_random_programs.CROSS @ (y * y) + norm
        return norm, ssr.max(x)

    rng = np.random.default_rng(4)
    args = [memory.array(rng, (9, 17), dtype) for _ in "xy"]
    check(p, [*args, 0.25], ((4,), (3, 10)), compiled=True)


def test_stored_steps_are_computed_beyond_the_box() -> None:
    """Both fields are stored in one nest, although the second is made of the first's neighbours."""

    @ssr.program(x=cells, y=cells, z=cells)
    def p(x: Any, y: Any, z: Any) -> None:
        y[:] = test_random_programs.CROSS @ x
        z[:] = test_random_programs.SKEW @ y

    made = meta(p)
    assert [unit.kind for unit in made.units] == ["move", "nest", "move"]
    rng = np.random.default_rng(5)
    check(p, [memory.array(rng, (5, 6), "float64") for _ in "xyz"], ((2, 3), (1, 4)))


sided = ssr.Space(*(size + 3 for size in cells.shape))


@ssr.matrix(rows=sided, cols=sided)
def inwards(j: Any, i: Any) -> Any:
    """Second differences along both axes; at the sides they are made of points further in."""
    for axis, here in enumerate((j, i)):
        last = sided.shape[axis] - 1
        taps = {-1: 1.0, 0: -2.0, 1: 1.0}
        if here == 0:
            taps = {0: 2.0, 1: -5.0, 2: 4.0, 3: -1.0}
        elif here == last:
            taps = {0: 2.0, -1: -5.0, -2: 4.0, -3: -1.0}
        for by, weight in taps.items():
            yield ((j + by, i) if axis == 0 else (j, i + by)), weight


def smoothed(stored: bool) -> ssr.Program:
    """Return a program that takes differences of differences, and may keep the inner ones."""

    @ssr.program(x=sided, y=sided, z=sided)
    def p(x: Any, y: Any, z: Any) -> Any:
        if stored:
            y[:] = inwards @ x
        z[:] = inwards @ (y if stored else ssr.materialize(inwards @ x))
        return ssr.sum(z)

    return p


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("cuts", [((), ()), ((8,), (9, 17)), ((10,), ())])
def test_wide_boxes(stored: bool, cuts: Any) -> None:
    rng = np.random.default_rng(8)
    args = [memory.array(rng, (18, 25), "float64") for _ in "xyz"]
    check(smoothed(stored), args, cuts, wide_boxes=True)
    check(smoothed(stored), [a[:4, :5].copy() for a in args], ((), ()), wide_boxes=True)
    check(smoothed(stored), args, ((1, 5), (2, 3, 20)))


@pytest.mark.parametrize("wide_boxes", [True, False])
def test_what_rows_at_sides_read_is_not_computed_beyond_wide_boxes(wide_boxes: bool) -> None:
    options = ssr.Options(distributed=True, wide_boxes=wide_boxes)
    made = lower(smoothed(False).ir, options, "float64", "title").meta
    (unit,) = (u for u in made.units if u.kind == "nest")
    known = {"ny": 40, "nx": 40, "j_lo": 10, "j_hi": 20, "i_lo": 10, "i_hi": 20}
    regions = [region(reach, known) for reach in unit.reads]
    beyond = 2 if wide_boxes else 4
    for ends in zip(*(r for r in regions if all(low < high for low, high in r)), strict=True):
        assert min(low for low, _ in ends) == 10 - beyond
        assert max(high for _, high in ends) == 20 + beyond


def test_steps_that_read_far_away_share_no_nest() -> None:
    back = ssr.matrix(rows=line, cols=line)(_reversed)

    @ssr.program(x=line, y=line, z=line)
    def p(x: Any, y: Any, z: Any) -> None:
        y[:] = 2.0 * x
        z[:] = back @ y

    assert sum(unit.kind == "nest" for unit in meta(p).units) == 2
    check(p, [np.arange(7.0), np.zeros(7), np.zeros(7)], ((2, 3),))


def _reversed(i: Any) -> Any:
    yield line.shape[0] - 1 - i, 1.0


def test_a_step_of_another_package_on_boxes() -> None:
    wide = cells.grow(2)
    cross = ssr.stencil(cells, wide, {(0, -1): 0.25, (0, 1): 0.5, (-2, 0): 0.25, (1, 1): 1.0})

    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> Any:
        for _ in range(2):
            e = filled(wide, cells, x * x, factor=0.5)
            y[:] = cross @ e
            x[:] = y / (1.0 + x)
        return ssr.sum(y)

    rng = np.random.default_rng(6)
    args = [memory.array(rng, (5, 6), "float64", low=0.0) for _ in "xy"]
    check(p, args, ((2,), (1, 4)))


@pytest.mark.parametrize("compiled", [False, True])
def test_fields_take_the_place_of_their_copies(compiled: bool) -> None:
    """The first copy is the field itself; the second one, and one of values, are temporaries."""
    wide = cells.grow(2)
    cross = ssr.stencil(cells, wide, {(0, -1): 0.25, (0, 1): 0.5, (-2, 0): 0.25, (1, 1): 1.0})

    @ssr.program(x=cells, y=cells, z=cells)
    def p(x: Any, y: Any, z: Any) -> Any:
        y[:] = cross @ filled(wide, cells, x, factor=0.5) - x
        z[:] = cross @ filled(wide, cells, x, factor=2.0)
        x[:] = x + z + cross @ filled(wide, cells, y * y)
        return ssr.sum(x)

    made = meta(p)
    ((field, temporary),) = made.wide
    assert field == "x"
    assert temporary not in made.temporaries
    assert {tuple(c.fields) for c in made.calls if "ghosts" in c.name} >= {("x",)}
    assert pickle.loads(pickle.dumps(made)) == made
    rng = np.random.default_rng(7)
    args = [memory.array(rng, (5, 6), "float64") for _ in "xyz"]
    check(p, args, ((2,), (1, 4)), compiled=compiled)


def test_fields_that_are_written_keep_their_copies() -> None:
    wide = cells.grow(1)
    cross = ssr.stencil(cells, wide, {(0, -1): 0.25, (0, 1): 0.5})

    @ssr.program(x=cells)
    def p(x: Any) -> None:
        x[:] = x + cross @ filled(wide, cells, x)

    assert not meta(p).wide
    check(p, [np.arange(12.0).reshape(3, 4)], ((2,), (1, 3)))


def test_distributed_kernels_take_no_arrays() -> None:
    @ssr.program(x=cells)
    def p(x: Any) -> None:
        x[:] = 2.0 * x

    with pytest.raises(UnsupportedError, match="for boxes with memory of their own"):
        distributed(p)(np.ones((2, 3)))


# -- units ---------------------------------------------------------------------------------------


def test_units_say_what_is_read_and_written() -> None:
    @ssr.program(x=cells, y=cells)
    def p(x: Any, y: Any) -> Any:
        total = ssr.sum(x)
        y[:] = test_random_programs.CROSS @ x / total
        return total

    made = meta(p)
    assert [u.kind for u in made.units] == ["move", "nest", "move", "nest", "move"]
    assert [u.number for u in made.units] == [0, 0, 1, 1, 2]
    first, second = made.units[1], made.units[3]
    assert [(fold[1], fold[2]) for fold in first.folds] == [("sum", 0)]
    assert second.numbers == (first.folds[0][0],)
    known = {"ny": 20, "nx": 30, "j_lo": 5, "j_hi": 7, "i_lo": 0, "i_hi": 10}
    assert {region(reach, known) for reach in second.reads} == {
        ((4, 8), (0, 10)),
        ((5, 7), (0, 11)),
    }
    assert [(w.array, region(w, known)) for w in second.writes] == [("y", ((5, 7), (0, 10)))]
    assert pickle.loads(pickle.dumps(made)) == made


def test_rows_made_earlier_are_new() -> None:
    a = programs.tridiagonal

    @ssr.program(x=programs.line, b=programs.line)
    def p(x: Any, b: Any) -> None:
        x[:] = a.tril().solve(b - a.triu(1) @ x)

    (unit,) = (u for u in meta(p).units if u.kind == "nest")
    known = {"n": 9, "i_lo": 3, "i_hi": 6}
    x = {(r.new, region(r, known)) for r in unit.reads if r.array == "x"}
    assert x == {(True, ((2, 5),)), (False, ((4, 7),))}


def test_of_a_stored_matrix_the_rows_are_known() -> None:
    seven = ssr.Space(7)
    s = ssr.from_scipy(scipy.sparse.eye_array(7).tocsr(), rows=seven, cols=seven)

    @ssr.program(x=s.cols, y=s.rows)
    def p(x: Any, y: Any) -> None:
        y[:] = s @ x

    (unit,) = (u for u in meta(p).units if u.kind == "nest")
    (read,) = unit.reads
    assert (read.array, read.matrix) == ("x", "csr1")
    assert region(read, {"i_lo": 2, "i_hi": 5}) == ((2, 5),)
    assert pickle.loads(pickle.dumps(read)) == read


def _drawn_affine(draw: st.DrawFn, names: list[str]) -> Affine:
    total = Affine((), draw(st.integers(-3, 3)))
    for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
        total += Affine.name(name) * draw(st.sampled_from([-2, -1, 1, 2, 3]))
    return total


@some.examples(100)
@given(st.data())
def test_a_region_holds_all_elements(data: Any) -> None:
    """The hulls of sets with conditions of all kinds, and of expressions with floors."""
    axes, names = ("j", "i"), ["j", "i", "n", "i_lo"]
    cases = []
    for _ in range(data.draw(st.integers(1, 3))):
        test = data.draw(st.composite(_drawn_affine)(names))
        cases.append(f"{test.isl()} {data.draw(st.sampled_from(['>=', '=']))} 0")
    text = " and ".join(["0 <= j < n and i_lo <= i < i_lo + 4", *cases])
    domain = Domain.where(axes, text, ("n", "i_lo"))
    index = tuple(
        data.draw(st.composite(_drawn_affine)(names)) // data.draw(st.integers(1, 3))
        for _ in range(2)
    )
    reaches = [Reach("x", False, *hull, index) for hull in domain.hulls()]
    values = {"n": np.array([1, 2, 5, 5, 6]), "i_lo": np.array([0, 3, -2, 7, 1])}
    regions = [region(reach, values) for reach in reaches]
    for box in range(5):
        known = {name: int(each[box]) for name, each in values.items()}
        parts = [[tuple(int(np.atleast_1d(e)[box % np.size(e)]) for e in ends) for ends in r]
                 for r in regions]  # fmt: skip
        for part, reach in zip(parts, reaches, strict=True):
            assert tuple(part) == region(reach, known)
        for j, i in domain.fixed(known).points():
            element = [e.evaluate({**known, "j": j, "i": i}) for e in index]
            assert any(
                all(low <= e < high for e, (low, high) in zip(element, part, strict=True))
                for part in parts
            )


def test_a_region_without_rows_is_empty() -> None:
    j, i, lo = map(Affine.name, ("j", "i", "i_lo"))
    zero, one = Affine.of(0), Affine.of(1)
    reach = Reach("x", False, ((zero,), (lo, zero)), ((one,), (one,)), (), (j, i + 3))
    (first, second) = region(reach, {"i_lo": np.array([0, 2])})
    assert (first[0] < first[1]).tolist() == (second[0] < second[1]).tolist() == [True, False]
    when = replace(reach, when=(lo - 1,))
    assert all(low >= high for low, high in region(when, {"i_lo": 0}))


# -- moves ---------------------------------------------------------------------------------------


def moved(compiled: bool, records: list[tuple[int, ...]], messages: Array, x: Array) -> None:
    """Run a move of a kernel with two fields, the second of which is ``x``."""

    @ssr.program(y=line, x=cells)
    def p(y: Any, x: Any) -> None:
        y[:] = y + 1.0
        x[:] = x + 1.0

    own = distributed(p)
    launcher = own._launcher if compiled else own._plain
    y = np.zeros(3)
    kernel = launcher.kernel("float64")
    links = np.array(records, np.int64)
    steps = [Run(calls={1: (links, np.empty(0))})]
    given = driven.arguments(kernel.meta, [y, x], steps, driven.start(), messages=messages)
    assert kernel.run(*given) == FINISHED
    assert not y.any()


@pytest.mark.parametrize("compiled", [True, False])
def test_moves(compiled: bool) -> None:
    x, scratch = np.arange(60.0).reshape(6, 10), np.zeros(40)
    pack = (PACK, 1, 1, 2, 3, 4, 3, 0, 20, 10, 1, 5, 0, 12, 4, 1)
    columns = (PACK, 1, 1, 1, 2, 3, 1, 0, 0, 1, 10, 30, 0, 0, 3, 1)
    assert len(pack) == RECORD
    moved(compiled, [pack, columns], scratch, x)
    wanted = np.zeros(40)
    wanted[5:29] = [x[2 * b + c, 3 + d] for b in range(2) for c in range(3) for d in range(4)]
    wanted[30:36] = x[:3, 1:3].T.ravel()
    plain.check_same(scratch, wanted)
    unpack = (UNPACK, 1, 1, 1, 2, 3, 30, 0, 0, 3, 1, 7, 0, 0, 1, 10)
    within = (WITHIN, 1, 1, 1, 1, 10, 40, 0, 0, 0, 1, 50, 0, 0, 0, 1)
    after = x.copy()
    after[:3, 7:9] = x[:3, 1:3]
    after[5] = x[4]
    moved(compiled, [unpack, within], scratch, x)
    plain.check_same(x, after)


@some.examples(40)
@given(st.integers(0, 13), st.integers(1, 3), st.sampled_from([1, 2, 7, 8, 30]), st.booleans())
def test_columns_go_both_ways(rows: int, columns: int, apart: int, compiled: bool) -> None:
    """Numbers that are stored to cache lines of their own, and to neighbours; few and many."""
    step = max(apart, columns)
    x, scratch = np.arange(400.0).reshape(10, 40), np.zeros(120)
    there, here = (0, 0, step, 1), (0, 0, 1, rows)
    pack = (PACK, 1, 1, 1, rows, columns, 2, *there, 5, *here)
    unpack = (UNPACK, 1, 1, 1, rows, columns, 5, *here, 2, *there)
    places = [2 + step * row + column for column in range(columns) for row in range(rows)]
    moved(compiled, [pack], scratch, x)
    wanted = np.zeros(120)
    wanted[5 : 5 + rows * columns] = x.flat[places]
    plain.check_same(scratch, wanted)
    after, scratch = x.copy(), -scratch
    after.flat[places] = scratch[5 : 5 + rows * columns]
    moved(compiled, [unpack], scratch, x)
    plain.check_same(x, after)


# -- states --------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.floats(-1e300, 1e300),
    st.floats(-4.0, 4.0),
    st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, 1e16]),
)


@some.examples(100)
@given(st.lists(st.lists(NUMBERS, max_size=4), min_size=1, max_size=4), st.randoms())
def test_combined_states_are_those_of_all_terms(parts: list[list[float]], random: Any) -> None:
    every = [term for part in parts for term in part]
    for kind in ("sum", "max", "min"):
        states = np.zeros((len(parts), STATE), np.int64)
        for row, part in enumerate(parts):
            if kind == "sum":
                add(states[row], part)
            elif part:
                sign = 1 if kind == "max" else -1
                extreme(states, row, sign, np.array(part), 0, len(part))
        order = random.sample(range(len(parts)), len(parts))
        whole = combined([kind], *shares([kind], [states[row : row + 1] for row in order]))
        if kind == "sum":
            wanted, got = reduced(kind, every), total(whole, 0)
        elif every:
            wanted, got = reduced(kind, every), found(whole, 0)
        else:
            assert not whole.any()
            continue
        assert np.array_equal(wanted, got, equal_nan=True), kind
        assert np.signbit(wanted) == np.signbit(got) or np.isnan(wanted)


# -- arguments that run programs -----------------------------------------------------------------


class Distribution:
    """An argument that runs programs, and says how."""

    __array_ufunc__ = None

    def __ssr_program__(self, program: Any, args: Any, named: Any, bound: bool) -> Any:
        return program.ir.name, args, named, bound

    def __rmatmul__(self, matrix: Any) -> Any:
        return "product", matrix.name


def test_arguments_that_run_programs() -> None:
    @ssr.program(x=line, s=ssr.scalar)
    def p(x: Any, s: Any) -> None:
        x[:] = s * x

    x = Distribution()
    assert p(x, 2.0) == ("p", (x, 2.0), {}, False)
    assert p(s=2.0, x=x) == ("p", (), {"s": 2.0, "x": x}, False)
    assert p.bind(x) == ("p", (x,), {}, True)
    array = np.ones(3)
    p(array, 2.0)
    assert p(x, 2.0) == ("p", (x, 2.0), {}, False)
    with pytest.raises(BoxError, match="with distributed fields"):
        p(x, 2.0, boxes=[[(0, 3)]])


def test_products_with_arguments_that_run_programs() -> None:
    one = ssr.identity(line)
    three = ssr.Space(3)
    stored = ssr.from_scipy(scipy.sparse.eye_array(3).tocsr(), rows=three, cols=three)
    for matrix in (one, stored, ssr.block([[one, one], [one, one]])):
        assert matrix @ Distribution() == ("product", matrix.name)
