"""Reductions: sums that do not depend on order, extremes, and programs made of them."""

import math
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.errors import Error
from ssr.kernel import ir
from ssr.runtime import sums
from ssr.runtime.intrinsics import Memory
from ssr.runtime.sums import accumulate, extreme, found, total

from .. import generated, memory, plain
from .. import strategies as some
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
CROSS: dict[Any, float] = {(0, 0): 4.0, (0, 1): -1, (0, -1): -1, (1, 0): -1, (-1, 0): -1}
A = ssr.stencil(plane, plane, CROSS, outside="zero")


# -- the algorithm -------------------------------------------------------------------------------


def kernel(state, buffer, start, count, out):  # type: ignore[no-untyped-def]
    accumulate(state, 0, buffer, start, count)
    extreme(state, 1, 1, buffer, start, count)
    extreme(state, 2, -1, buffer, start, count)
    out[0] = total(state, 0)
    out[1] = found(state, 1)
    out[2] = found(state, 2)
    return 0


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    return {
        name: generated.compiled(
            kernel,
            [ir.Array("i8", 2), line, generated.INTEGER, generated.INTEGER, generated.DOUBLES],
        )
        for name, line in (("float64", generated.DOUBLES), ("float32", generated.SINGLES))
    }


def reduced(function: Any, terms: Any, cuts: list[tuple[int, int]]) -> Array:
    state, out = np.zeros((3, sums.STATE), np.int64), np.zeros(3)
    for start, stop in cuts:
        function(state, terms, start, stop - start, out)
    return out


FLOATS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-1.0, 1.0),
    st.integers(-3, 3).map(float),
    st.builds(math.ldexp, st.sampled_from([-1.0, 1.0, 3.0]), st.integers(-120, 120)),
    st.just(5e-324),
    st.just(-0.0),
)


@some.examples(150)
@given(st.lists(FLOATS, min_size=1, max_size=40), st.data(), memory.dtypes)
def test_sums_in_any_order(
    compiled: dict[str, Any], terms: list[float], data: st.DataObject, dtype: str
) -> None:
    with np.errstate(over="ignore"):
        line = np.array(terms).astype(dtype)
    count = len(line)
    places = data.draw(st.lists(st.integers(0, count), max_size=3))
    edges = sorted({0, count, *places})
    cuts = data.draw(st.permutations(list(pairwise(edges))))
    whole = reduced(compiled[dtype], line, [(0, count)])
    plain.check_same(reduced(compiled[dtype], line, list(cuts)), whole)
    plain.check_same(reduced(kernel, Memory(line), list(cuts)), whole)
    shuffled = np.array(data.draw(st.permutations(line.tolist())), dtype)
    plain.check_same(reduced(compiled[dtype], shuffled, [(0, count)]), whole)
    wide = line.astype(float)
    with np.errstate(all="ignore"):
        assert math.isnan(whole[1]) == np.isnan(wide).any()
        if not np.isnan(wide).any():
            assert (whole[1], whole[2]) == (wide.max(), wide.min())
        if np.isfinite(wide).all() and np.abs(wide).max() < 1e300:
            exact = math.fsum(wide)
            assert abs(whole[0] - exact) <= count * 2.0**-52 * np.abs(wide).max()
        elif not np.isfinite(wide).all():
            assert np.array_equal(whole[0], np.sum(wide[~np.isfinite(wide)]), equal_nan=True)


KINDS = "sum", "max", "min"


@some.examples(150)
@given(st.lists(FLOATS, min_size=1, max_size=40), st.data(), memory.dtypes)
def test_parts_give_their_shares_in_any_order(
    compiled: dict[str, Any], terms: list[float], data: st.DataObject, dtype: str
) -> None:
    """Parts of the terms, some of them empty, are reduced apart and have the bits of the whole."""
    with np.errstate(over="ignore"):
        line = np.array(terms).astype(dtype)
    count = len(line)
    edges = sorted([0, count, *data.draw(st.lists(st.integers(0, count), max_size=4))])
    parts, out = [], np.zeros(3)
    for start, stop in data.draw(st.permutations([*pairwise(edges), (0, 0)])):
        state = np.zeros((3, sums.STATE), np.int64)
        if stop > start:
            compiled[dtype](state, line, start, stop - start, out)
        parts.append(state)
    some_of_them = data.draw(st.integers(1, len(parts)))
    groups = [parts[:some_of_them], parts[some_of_them:]]
    rows = [sums.shares(KINDS, group) for group in groups if group]
    added, largest = sum(row for row, _ in rows), np.max([row for _, row in rows], axis=0)
    whole = sums.combined(KINDS, added, largest)
    result = [sums.total(whole, 0), sums.found(whole, 1), sums.found(whole, 2)]
    plain.check_same(np.array(result), reduced(compiled[dtype], line, [(0, count)]))


def test_nothing_gives_nothing() -> None:
    empty = np.zeros((3, sums.STATE), np.int64)
    assert np.array_equal(sums.combined(KINDS, *sums.shares(KINDS, [empty, empty])), empty)


@pytest.mark.parametrize("value", [5e-324, 1.7976931348623157e308, 2.0**-1023, 2.0**1023])
def test_the_smallest_and_the_largest_numbers_have_limbs(value: float) -> None:
    state = np.zeros((1, sums.STATE), np.int64)
    sums.add(state[0], [value, -value / 2])
    whole = sums.combined(["sum"], *sums.shares(["sum"], [state]))
    assert np.array_equal(whole, state)


def test_a_term_just_below_a_limb_is_rounded_into_it(compiled: dict[str, Any]) -> None:
    """0.93 alone is kept in parts of 2^-26 and finer; beside 2^53 it must count as 1."""
    line = np.array([-1.4150428510106662e16, 0.9256550566616157])
    both = reduced(compiled["float64"], line, [(0, 2)])
    for cuts in ([(0, 1), (1, 2)], [(1, 2), (0, 1)]):
        plain.check_same(reduced(compiled["float64"], line, cuts), both)
        plain.check_same(reduced(kernel, Memory(line), cuts), both)


@pytest.mark.parametrize("tie", [2.0**25, 2.0**-1, 2.0**-27, -(2.0**-53)])
@pytest.mark.parametrize("others", [[1.0], [1.0, 1.0], [3.0, -2.0, 2.0**30]])
def test_halves_of_a_part_do_not_depend_on_the_sum(
    compiled: dict[str, Any], tie: float, others: list[float]
) -> None:
    """Even and odd sums round a term halfway between two parts alike; limbs are lost later."""
    terms = [tie, *others, 3.0 * tie, 2.0**60, 2.0**100]
    whole = reduced(compiled["float64"], np.array(terms), [(0, len(terms))])
    for order in permutations(range(len(terms))):
        line = np.array(terms)[list(order)]
        cuts = [(n, n + 1) for n in range(len(line))]
        plain.check_same(reduced(compiled["float64"], line, cuts), whole)


# -- in programs ---------------------------------------------------------------------------------


@ssr.program(x=plane, y=plane)
def numbers(x: Any, y: Any) -> Any:
    return ssr.dot(x, A @ y), ssr.sum(x), ssr.max(x - y), ssr.min(x * y), ssr.norm(y)


@some.examples(20)
@given(memory.seeds, memory.dtypes, memory.layouts, st.data())
def test_numbers_of_fields(seed: int, dtype: str, layout: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 9)))
    x, y = (memory.array(rng, shape, dtype, layout) for _ in "xy")
    made = plain.run(numbers, x, y)
    cut = plain.run(numbers, x, y, boxes=data.draw(memory.cuts(tuple((0, n) for n in shape))))
    assert made == cut
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    assert made == interpret_program(numbers.ir, {"x": x, "y": y}, {}, sizes, np.dtype(dtype))
    definition = A.bind(**sizes).to_scipy()
    u, v = x.ravel().astype(float), y.ravel().astype(float)
    meant = (u @ (definition @ v), u.sum(), (u - v).max(), (u * v).min(), np.linalg.norm(v))
    tolerance = 1e-13 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(made, meant, tolerance, tolerance * 10)


def test_compiled_numbers() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 13, 37))
    assert numbers(x, y) == plain.run(numbers, x, y)
    assert numbers(x, y) == numbers(x, y, boxes=ssr.Space(13, 37).split(3, 2))
    assert numbers(x[::2], y[1::2][:6].repeat(2, 0)[:7]) is not None


def test_an_iteration_of_conjugate_gradients() -> None:
    @ssr.program(x=plane, r=plane, p=plane, rz=ssr.scalar)
    def iteration(x: Any, r: Any, p: Any, rz: Any) -> Any:
        Ap = A @ p
        alpha = rz / ssr.dot(p, Ap)
        x[:] = x + alpha * p
        r[:] = r - alpha * Ap
        new = ssr.dot(r, r)
        p[:] = r + (new / rz) * p
        return new

    rng = np.random.default_rng(0)
    b = rng.standard_normal((8, 9))
    x, r, p = np.zeros_like(b), b.copy(), b.copy()
    rz = float((r * r).sum())
    for _ in range(72):
        rz = iteration(x, r, p, rz)
    residual = A.bind(ny=8, nx=9).to_scipy() @ x.ravel() - b.ravel()
    assert np.abs(residual).max() < 1e-12


# -- what names mean -----------------------------------------------------------------------------


def test_expressions_keep_the_values_they_had() -> None:
    """NumPy computes at once: what was computed before an assignment does not change with it."""

    @ssr.program(x=plane, y=plane, z=plane)
    def body(x: Any, y: Any, z: Any) -> None:
        e = A @ x
        positive = x > 0.0
        x[:] = 2.0 * x
        y[:] = e
        f = y + 1.0
        x[:] = f
        y[:] = -f
        z[:] = ssr.where(positive, x + e, f)

    rng = np.random.default_rng(1)
    x, y, z = rng.standard_normal((3, 4, 5))
    definition = A.bind(ny=4, nx=5).to_scipy()
    e = (definition @ x.ravel()).reshape(4, 5)
    meant = e + 1, -e - 1, np.where(x > 0, e + 1 + e, e + 1)
    plain.run(body, x, y, z)
    for made, expected in zip((x, y, z), meant, strict=True):
        np.testing.assert_allclose(made, expected, 1e-14, 1e-14)


def test_equal_reductions_are_computed_once() -> None:
    @ssr.program(x=plane, y=plane)
    def body(x: Any, y: Any) -> Any:
        first = ssr.norm(x), ssr.dot(x, x), ssr.max(x), ssr.sum(x * x), ssr.norm(x)
        x[:] = 2.0 * x
        y[:] = x
        return (*first, ssr.dot(x, x))

    assert sum(not hasattr(step, "target") for step in body.ir.steps) == 4
    x = np.array([[3.0, -4.0]])
    assert plain.run(body, x, np.zeros((1, 2))) == (5.0, 25.0, 3.0, 25.0, 5.0, 100.0)


def test_what_nobody_reads_is_not_computed() -> None:
    @ssr.program(x=plane)
    def body(x: Any) -> None:
        e = A @ x
        ssr.dot(e, x)
        x[:] = 2.0 * x
        del e

    assert len(body.ir.steps) == 1
    assert not body.ir.temporaries


def test_programs_call_programs() -> None:
    @ssr.program(x=plane, b=plane, damping=ssr.scalar)
    def smooth(x: Any, b: Any, damping: Any) -> Any:
        r = b - A @ x
        x[:] = x + damping * r
        return ssr.norm(r)

    @ssr.program(x=plane, b=plane)
    def twice(x: Any, b: Any) -> Any:
        first = smooth(x, 2.0 * b, 0.25)
        return first, smooth(x, b, damping=first / 8.0)

    b = np.random.default_rng(2).standard_normal((3, 7))
    x, y = np.zeros_like(b), np.zeros_like(b)
    found = plain.run(twice, x, b)
    first = plain.run(smooth, y, 2 * b, 0.25)
    assert found == (first, plain.run(smooth, y, b, first / 8.0))
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x,
        lambda x: (1.0, x + 1.0),
        lambda x: ssr.sum(3.0),
        lambda x: ssr.dot(x, np.ones((2, 2))),
        lambda x: "text",
        lambda x: None,
    ],
)
def test_wrong_results(body: Any) -> None:
    with pytest.raises(Error):
        ssr.program(x=plane)(body)


def test_a_program_that_assigns_needs_fields() -> None:
    @ssr.program(x=plane)
    def double(x: Any) -> None:
        x[:] = 2.0 * x

    def outer(x: Any) -> None:
        double(x + 1.0)
        x[:] = x

    with pytest.raises(Error, match="is given an expression"):
        ssr.program(x=plane)(outer)
