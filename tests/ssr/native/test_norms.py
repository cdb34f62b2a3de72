"""Norms of values of any size, with the same bits in any order and on any parts of the points."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr.kernel import ir
from ssr.runtime import sums
from ssr.runtime.intrinsics import Memory
from ssr.runtime.sums import accumulate_squares, root

from .. import generated, memory, plain
from .. import strategies as some
from ..programs.test_reductions import FLOATS

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
ROWS = sums.ROWS["norm"]

SIZES = st.builds(
    math.ldexp,
    st.sampled_from([1.0, -1.0, 3.0, 1.1, math.nextafter(2.0, 0.0)]),
    st.one_of(
        st.integers(-1076, 1023),
        st.sampled_from([-351, -350, -349, -300, 0, 449, 450, 451]),
        st.integers(-5, 5),
    ),
)


def kernel(state, buffer, start, count, out):  # type: ignore[no-untyped-def]
    accumulate_squares(state, 0, buffer, start, count)
    out[0] = root(state, 0)
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


def norm_of(function: Any, terms: Any, cuts: list[tuple[int, int]]) -> float:
    state, out = np.zeros((ROWS, sums.STATE), np.int64), np.zeros(1)
    for start, stop in cuts:
        function(state, terms, start, stop - start, out)
    return float(out[0])


def check_exact(found: float, terms: list[float]) -> None:
    """Compare a norm with the exact one."""
    exact = sum(Fraction(term) ** 2 for term in terms)
    if found == math.inf:
        assert exact >= Fraction(2) ** 2047
    elif exact < Fraction(2) ** -2100:  # the norm is rounded to multiples of 2^-1074
        assert (found == 0.0) == (exact == 0)
    else:
        ratio = Fraction(found) ** 2 / exact - 1
        assert abs(ratio) < Fraction(len(terms) + 4, 2**51) + Fraction(2) ** -1070 / Fraction(found)


@some.examples(150)
@given(st.lists(st.one_of(SIZES, FLOATS), min_size=1, max_size=40), st.data(), memory.dtypes)
def test_norms_in_any_order(
    compiled: dict[str, Any], terms: list[float], data: st.DataObject, dtype: str
) -> None:
    with np.errstate(over="ignore", under="ignore"):
        line = np.array(terms).astype(dtype)
    count = len(line)
    edges = sorted({0, count, *data.draw(st.lists(st.integers(0, count), max_size=3))})
    cuts = data.draw(st.permutations(list(pairwise(edges))))
    whole = norm_of(compiled[dtype], line, [(0, count)])
    shuffled = np.array(data.draw(st.permutations(line.tolist())), dtype)
    again = [
        norm_of(compiled[dtype], line, list(cuts)),
        norm_of(kernel, Memory(line), list(cuts)),
        norm_of(compiled[dtype], shuffled, [(0, count)]),
        sums.reduced("norm", line.tolist()),
    ]
    plain.check_same(np.array(again), np.full(4, whole))
    if np.isfinite(line).all():
        check_exact(whole, line.tolist())
    else:
        assert math.isnan(whole) if np.isnan(line).any() else whole == math.inf


@ssr.program(x=plane, y=plane)
def step(x: Any, y: Any) -> Any:
    y[:] = x + y
    return ssr.norm(y), ssr.norm(x), ssr.sum(y)


CASES = {
    "usual": [1.0],
    "large": [1e200],
    "largest": [1e290],
    "small": [1e-200],
    "smallest": [5e-324],
    "zero": [0.0],
    "mixed": [1e200, 1.0, 1e-200, 1e153, 1e-153, 0.0],
}


def fields(case: str, dtype: str, shape: tuple[int, int]) -> list[Array]:
    rng = np.random.default_rng(3)
    scales = np.array(CASES[case])
    scales = scales if dtype == "float64" else np.sign(scales) * np.maximum(scales**0.125, 1e-45)
    return [
        (rng.choice(scales, shape) * rng.choice([1.0, -1.0, 0.5], shape)).astype(dtype)
        for _ in "xy"
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES)
def test_norms_in_programs(case: str, dtype: str) -> None:
    """Kernels of all kinds, boxes, ranks and threads have the same bits."""
    shape = 7, 37
    x, y = fields(case, dtype, shape)
    found = step(x, y.copy())
    if dtype == "float64":
        check_exact(found[1], x.ravel().tolist())
    else:
        meant = np.linalg.norm(x.astype(float))
        assert found[1] == np.float32(meant)
    assert plain.run(step, x, y.copy()) == found
    assert step(x, y.copy(), boxes=ssr.Space(*shape).split(3, 2)) == found
    assert step.with_options(ssr.Options(fuse=False))(x, y.copy()) == found
    assert step.with_options(ssr.Options(debug=True))(x, y.copy()) == found
    for world in None, bc.simulated_ranks(3), bc.threads(2):
        on = bc.distribute(plane, world, ny=shape[0], nx=shape[1])
        assert step(on.scatter(plane, x), on.scatter(plane, y)) == found


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scale", [1.0, 1e18, 1e-18, 0.0, math.inf, math.nan])
def test_norms_of_vectors(scale: float, dtype: str) -> None:
    @ssr.program(v=plane.vector(3))
    def size(v: Any) -> Any:
        return ssr.norm(v), ssr.norm(v[1])

    v = np.array([2.0, 0.0, -3.0], dtype).reshape(3, 1, 1) * np.ones((3, 3, 4), dtype)
    v[0, 1, 1] *= scale
    v[2] *= scale
    whole, middle = plain.run(size, v)
    with np.errstate(all="ignore"):
        meant = np.linalg.norm(v.astype(float))
    np.testing.assert_allclose(whole, meant, 1e-6 if dtype == "float32" else 1e-14)
    assert middle == 0.0


def test_norms_scale_with_fields() -> None:
    """A power of two as a factor of the field is one of the norm, to the last bit."""

    @ssr.program(x=plane, s=ssr.scalar)
    def scaled(x: Any, s: Any) -> Any:
        return ssr.norm(s * x)

    x = np.random.default_rng(1).standard_normal((5, 6))
    usual = scaled(x, 1.0)
    for power in -1000, -600, -400, -340, 400, 460, 600, 1000:
        assert scaled(x, 2.0**power) == usual * 2.0**power
