"""The interpreter agrees with SciPy, with NumPy and with emitted source; passes keep values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.lower.step_nest import step_nest
from ssr.lower.steps.in_place import in_place
from ssr.points.affine import Affine
from tests.ssr import memory, strategies
from tests.ssr import sample_programs as programs

from ..random_examples import examples
from .interpret import interpret_nest, interpret_program
from .nest_passes import stages

Arrays = dict[str, np.ndarray[Any, Any]]
CHANGES = {"order terms"}
"""Passes that change the order of a sum, always."""

REASSOCIATES = {"reciprocal", "partial sums", "recurrence"}
"""Passes that change the arithmetic unless ``exact=True``."""


def fresh(arrays: Mapping[str, Any], program: ir.Program, sizes: Mapping[str, int]) -> Arrays:
    """Return copies of arrays, and NaN for temporaries."""
    kind = next(iter(arrays.values())).dtype
    empty = {
        f.name: np.full([s.evaluate(sizes) for s in f.shape], np.nan, kind)
        for f in program.temporaries
    }
    return {name: a.copy() for name, a in arrays.items()} | empty


def after_passes(
    program: ssr.Program,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
) -> Iterator[tuple[str, str, Arrays]]:
    """Yield nest, pass and arrays: each assignment scheduled as it is after each pass."""
    made = in_place(program.ir)
    fields = {f.name: f for f in (*made.fields, *made.temporaries)}
    before = fresh(arrays, made, sizes)
    kind = before[made.steps[0].target].dtype.name
    for a in made.steps:
        start = step_nest(a, made)
        for name, changed in stages(start, made, program.options, kind):
            result = {n: values.copy() for n, values in before.items()}
            interpret_nest(changed, fields, result, scalars, sizes)
            yield a.target, name, result
        before = result


def check_passes(
    program: ssr.Program,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
    tolerance: float,
) -> Arrays:
    """Check each pass against the one before; return the arrays the last ones make."""
    known: Arrays = {}
    for target, name, made in after_passes(program, arrays, scalars, sizes):
        if name == "step nest":
            known = made
        elif name in CHANGES or (name in REASSOCIATES and not program.options.exact):
            programs.check_close(made[target], known[target], tolerance)
        else:
            programs.check_same(made[target], known[target])
        known = made
    return {name: known[name] for name in arrays}


@pytest.fixture(scope="module", autouse=True)
def verified() -> Iterator[None]:
    """Let every nest be verified after every pass, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSR_VERIFY", "1")
        yield


# -- programs ------------------------------------------------------------------------------------


def test_apply_is_the_product_with_the_scipy_matrix() -> None:
    sizes = {"ny": 4, "nx": 5}
    program = programs.five.program("apply").ir
    x, y = np.arange(20.0).reshape(4, 5) ** 2, np.full((4, 5), np.nan)
    interpret_program(program, {"y": y, "x": x}, {}, sizes)
    assert np.array_equal(y.ravel(), programs.five.bind(**sizes).to_scipy() @ x.ravel())


def test_old_values_are_read_from_a_snapshot() -> None:
    program = programs.jacobi()
    arrays, scalars = programs.case(program)
    x, b = arrays["x"].ravel(), arrays["b"].ravel()
    matrix = programs.five.bind(ny=5, nx=6).to_scipy()
    expected = x + (b - matrix @ x) * scalars["omega"]
    interpret_program(program.ir, arrays, scalars, programs.SIZES)
    np.testing.assert_allclose(arrays["x"].ravel(), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["five_point_gauss_seidel", "five_point_backward"])
def test_new_values_are_read_as_they_are_made(name: str) -> None:
    from scipy.linalg import solve

    program = programs.PROGRAMS[name]()
    arrays, _ = programs.case(program)
    x, b = arrays["x"].ravel(), arrays["b"].ravel()
    whole = programs.five.bind(ny=5, nx=6).to_scipy().toarray()
    left = np.triu(whole) if name.endswith("backward") else np.tril(whole)
    expected = solve(left, b - (whole - left) @ x)
    interpret_program(program.ir, arrays, {}, programs.SIZES)
    np.testing.assert_allclose(arrays["x"].ravel(), expected, rtol=1e-13)


def test_a_new_value_that_is_not_made_yet_is_a_defect() -> None:
    program = programs.PROGRAMS["five_point_gauss_seidel"]().ir
    backward = replace(program.steps[0], order="backward")
    broken = replace(program, steps=(backward,))
    arrays = programs.case(programs.PROGRAMS["five_point_gauss_seidel"]())[0]
    with pytest.raises(AssertionError, match=r"x\[3, 5\] is read before it is made"):
        interpret_program(broken, arrays, {}, programs.SIZES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_is_that_of_the_type(dtype: Any) -> None:
    s = ssr.Space(1)
    everywhere = programs.tridiagonal.families[1].domain.fixed({"n": 1})
    i = (Affine.name("i"),)
    terms = tuple(ir.Term(everywhere, ir.Const(0.1), ir.Load(name, i)) for name in "uv")
    value = ir.Op("div", (ir.Sum(terms), ir.Const(3.0)))
    fields = tuple(ir.Field(name, s.data.lower, s.data.shape) for name in "yuv")
    program = ir.Program("p", fields, (), (), (), (ir.Assignment("y", ("i",), everywhere, value),))
    y, u, v = np.zeros(1, dtype), np.array([0.3], dtype), np.array([0.7], dtype)
    interpret_program(program, {"y": y, "u": u, "v": v}, {}, {}, dtype)
    exact = float(dtype(0.1)) * float(v[0]) + float(dtype(dtype(0.1) * u[0]))
    if dtype is np.float32:
        assert y[0] == dtype(exact) / dtype(3)
    assert abs(y[0] - 0.1 / 3) < np.finfo(dtype).eps


def test_all_operations() -> None:
    s = ssr.Space(4)

    @ssr.matrix(rows=s, cols=s, u=s, v=s, a=ssr.scalar)
    def operations(i: Any, *, u: Any, v: Any, a: Any) -> Any:
        yield i, ssr.where(u[i] < v[i], ssr.sqrt(u[i]), ssr.exp(-v[i])) - abs(u[i] - v[i]) / 3
        yield i, ssr.minimum(u[i], v[i]) * ssr.maximum(u[i], a) + (2 * i + 1) * a
        yield i, ssr.where(u[i] == v[i], 1.0, ssr.where(u[i] != a, 2.0, 3.0))
        yield i, ssr.where(u[i] >= v[i], 1.0, ssr.where(u[i] > a, 2.0, ssr.where(a <= 0, 1, 0)))

    u, v = np.array([1.0, 2.0, 0.5, 1.5]), np.array([2.0, 2.0, 0.25, 3.0])
    bound = operations.bind(u=u, v=v, a=1.25)
    program = bound.program("apply").ir
    y, x = np.zeros(4), np.ones(4)
    scalars = dict.fromkeys(program.scalars, 1.25)
    interpret_program(program, {"y": y, "x": x, "u": u, "v": v}, scalars, {})
    i = np.arange(4)
    first = np.where(u < v, np.sqrt(u), np.exp(-v)) - abs(u - v) / 3
    second = np.minimum(u, v) * np.maximum(u, 1.25) + (2 * i + 1) * 1.25
    third = np.where(u == v, 1.0, np.where(u != 1.25, 2.0, 3.0))
    fourth = np.where(u >= v, 1.0, np.where(u > 1.25, 2.0, 0))
    np.testing.assert_allclose(y, first + second + third + fourth, rtol=1e-14)


# -- nests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", programs.PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_passes_keep_values_and_the_source_says_the_same(name: str, dtype: Any) -> None:
    program = programs.PROGRAMS[name]()
    sizes = {n: programs.SIZES[n] for n in program.ir.sizes}
    arrays, scalars = programs.case(program, sizes, dtype)
    tolerance = 200 * np.finfo(dtype).eps
    made = check_passes(program, arrays, scalars, sizes, tolerance)
    for array, expected in programs.run_source(program, arrays, scalars).items():
        programs.check_same(made[array], expected)
    direct = fresh(arrays, program.ir, sizes)
    interpret_program(program.ir, direct, scalars, sizes, dtype)
    for array in arrays:
        programs.check_close(made[array], direct[array], tolerance)


@pytest.mark.parametrize("name", ["five_point_exact", "twenty_seven_exact"])
def test_exact_nests_have_the_bits_of_the_program(name: str) -> None:
    program = programs.PROGRAMS[name]()
    sizes = {n: programs.SIZES[n] for n in program.ir.sizes}
    arrays, scalars = programs.case(program, sizes)
    expected = fresh(arrays, program.ir, sizes)
    interpret_program(program.ir, expected, scalars, sizes)
    for _, _, made in after_passes(program, arrays, scalars, sizes):
        programs.check_close(made["x"], expected["x"], 4e-16 * 27)
    programs.check_same(made["x"], programs.run_source(program, arrays, scalars)["x"])


@pytest.mark.parametrize("name", ["five_point_gauss_seidel", "twenty_seven_backward"])
def test_boxes_one_after_the_other_make_the_whole(name: str) -> None:
    program = programs.PROGRAMS[name]()
    sizes = {n: programs.SIZES[n] for n in program.ir.sizes}
    arrays, scalars = programs.case(program, sizes)
    made = in_place(program.ir)
    fields = {f.name: f for f in made.fields}
    start = step_nest(made.steps[0], made)
    *_, (_, last) = stages(start, made, program.options, "float64")
    whole, cut = fresh(arrays, made, sizes), fresh(arrays, made, sizes)
    interpret_nest(last, fields, whole, scalars, sizes)
    space = dict(program.signature.kinds)["x"]
    assert isinstance(space, ssr.Space)
    boxes = space.split(3, *(1,) * (space.ndim - 1), sizes=sizes)
    for box in reversed(boxes) if last.order == "backward" else boxes:
        interpret_nest(last, fields, cut, scalars, sizes, box)
    programs.check_same(cut["x"], whole["x"])


def test_a_false_promise_of_independence_shows() -> None:
    program = programs.PROGRAMS["five_point_gauss_seidel"]()
    made, sizes = program.ir, {"ny": 5, "nx": 6}
    arrays, _ = programs.case(program, sizes)
    right = step_nest(replace(made.steps[0], order="forward"), made)
    wrong = replace(right, statements=(replace(right.statements[0], parallel=True),))
    results = []
    for schedule in (right, wrong):
        results.append(fresh(arrays, made, sizes))
        interpret_nest(schedule, {f.name: f for f in made.fields}, results[-1], {}, sizes)
    assert not np.allclose(results[0]["x"], results[1]["x"])


# -- random programs -----------------------------------------------------------------------------


FAST = examples(20)
"""Without shrinking, which takes many minutes where each example compiles and interprets."""


@FAST
@given(strategies.square(), st.sampled_from(["forward", "backward"]), memory.dtypes, st.data())
def test_random_sweeps(recipe: Any, direction: str, dtype: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(memory.seeds))
    matrix = recipe.matrix().bind(**recipe.data(rng, dtype))
    program = programs.sweep(matrix, direction, exact=data.draw(st.booleans()))
    check_random(program, recipe, rng, dtype)


@FAST
@given(strategies.recipes(), memory.dtypes, st.data())
def test_random_products(recipe: Any, dtype: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(memory.seeds))
    matrix = recipe.matrix().bind(**recipe.data(rng, dtype))
    options = ssr.Options(exact=data.draw(st.booleans()))
    program = matrix.program("apply").with_options(options)
    check_random(program, recipe, rng, dtype)


def check_random(program: ssr.Program, recipe: Any, rng: Any, dtype: str) -> None:
    """Check passes and source on random arrays; data are as the matrix holds them."""
    captured = program._recorder.captured
    arrays = {
        f.name: captured[f.name]
        if f.name in captured
        else memory.array(rng, tuple(s.evaluate(recipe.sizes) for s in f.shape), dtype)
        for f in program.ir.fields
    }
    scalars = {n: v for n, v in program._recorder.scalars.items() if v is not None}
    made = check_passes(program, arrays, scalars, recipe.sizes, 2000 * np.finfo(dtype).eps)
    result = programs.run_source(program, arrays, scalars)
    for target in {a.target for a in program.ir.steps}:
        programs.check_same(made[target], result[target])
