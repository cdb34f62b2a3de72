"""Sums of what loops over vectors make have the bits of sums of the stored lines."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssr.build import vector_loops, vector_sums
from ssr.runtime import internals, intrinsics, lanes, sums, target
from tests.ssr import plain
from tests.ssr import strategies as some
from tests.ssr.generated import compiled, functions
from tests.ssr.test_reductions import FLOATS

pytestmark = pytest.mark.skipif(
    not (internals.are_known() and vector_loops.available()),
    reason="No loops over vectors are written for this target.",
)

KERNEL = """\
import numpy as np
from numba.types import Array, f8, i8

from ssr.runtime.intrinsics import ld, st
from ssr.runtime.lanes import accumulate, total

more = np.float64(0.375)


def kernel(x, state, t, u, out, lo, hi, few, rows):
    for j in range(rows):
        x_r = lo + j * hi
{body}
{end}


SIGNATURE = i8(Array(f8, 1, "A"), i8[:, ::1], f8[::1], f8[::1], f8[::1], i8, i8, i8, i8)
"""

EACH = "        st(out, j, total(state, 0))\n    return 0"
LAST = "    st(out, 0, total(state, 0))\n    st(out, 1, total(state, 1))\n    return 0"

LINES = {
    "one loop": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
    "rows that are not there would not be zero": (
        "for i in range(few, hi):\n    st(t, lo + i, ld(x, x_r + i) + more)\n"
        "accumulate(state, 0, t, lo + few, hi - few)\n"
    ),
    "the beginning of the line": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi - few)\n"
    ),
    "behind a condition": (
        "if j < few + 9:\n    for i in range(few, hi):\n        st(t, lo + i, ld(x, x_r + i))\n"
        "if j < few + 8:\n    accumulate(state, 0, t, lo + few, hi - few)\n"
    ),
    "part of the line": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo + few, hi - few)\n"
    ),
    "not made on each line": (
        "if j % 2 == 0:\n    for i in range(0, hi):\n        st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
    "behind a chain": (
        "for i in range(0, hi):\n    st(x, x_r + i, ld(x, x_r + i) + 0.0)\n"
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
}

SEVERAL = {
    "lines one after the other": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
    "some of them made otherwise": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi - few * (j % 2))\n"
    ),
    "some of them not added": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "if j % 3 < 2:\n    accumulate(state, 0, t, lo, hi)\n"
    ),
    "asked for in between": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
        "if total(state, 0) > 0.5:\n    st(x, x_r + hi, total(state, 0))\n"
    ),
    "others in between": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "st(x, x_r + hi, total(state, 1))\naccumulate(state, 0, t, lo, hi)\n"
    ),
    "asked for before it is added": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "st(x, x_r + hi, total(state, 0))\naccumulate(state, 0, t, lo, hi)\n"
    ),
    "left early": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
        "if j == few:\n    return 0\n"
    ),
}

TWO = {
    "two sums": (
        "for i in range(0, hi):\n"
        "    st(t, lo + i, ld(x, x_r + i))\n    st(u, lo + i, ld(x, x_r + i) + more)\n"
        "accumulate(state, 0, t, lo, hi)\naccumulate(state, 1, u, lo, hi)\n"
    ),
}

ALONE = {
    "changed before it is added": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, x, lo, 1)\naccumulate(state, 0, t, lo, hi)\n"
    ),
    "one sum of two buffers": (
        "for i in range(0, hi):\n"
        "    st(t, lo + i, ld(x, x_r + i))\n    st(u, lo + i, ld(x, x_r + i) + more)\n"
        "accumulate(state, 0, t, lo, hi)\naccumulate(state, 0, u, lo, hi)\n"
    ),
    "every second element": (
        "for i in range(0, hi):\n    st(t, lo + 2 * i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
    "two pieces": (
        "st(t, lo, ld(x, x_r))\n"
        "for i in range(1, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
    "read again": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
        "for i in range(0, hi):\n    st(x, x_r + i, ld(t, lo + i))\n"
    ),
    "added up twice": (
        "for i in range(0, hi):\n    st(t, lo + i, ld(x, x_r + i))\n"
        "accumulate(state, 0, t, lo, hi)\n"
        "accumulate(state, 0, t, lo, hi)\n"
    ),
}


EVERY = LINES | SEVERAL | TWO | ALONE


@pytest.fixture(scope="module")
def kernels() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], int]]:
    """Return kernels as machine code and as plain Python, and how many sums are in loops."""
    found = {}
    for name, text in EVERY.items():
        body = "".join(f"        {line}\n" for line in text.splitlines())
        source = KERNEL.format(body=body, end=LAST if name in SEVERAL | TWO else EACH)
        module = functions(source, {"__name__": name})
        begun: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            begin = vector_sums.Sum.begin

            def noted(made: Any, *given: Any, begun: Any = begun, begin: Any = begin) -> None:
                begun.append(made)
                begin(made, *given)

            patch.setattr(vector_sums.Sum, "begin", noted)
            kernel = FunctionType(module["kernel"].__code__, module)
            run = compiled(kernel, module["SIGNATURE"])
        found[name] = run, intrinsics.plain(module["kernel"]), len(begun)
    return found


def check(kernels: Any, name: str, rows: Any, few: int, filled: int = 0) -> None:
    """Check that a kernel finds the numbers that its source finds."""
    run, python, _ = kernels[name]
    count = rows.shape[1]
    results = []
    for function in run, python:
        x = np.concatenate([np.zeros(3), rows.ravel(), np.zeros(9)])
        state, out = np.zeros((2, sums.STATE), np.int64), np.zeros(max(2, len(rows)))
        t, u = np.zeros((2, 2 * count + 16))
        if filled:
            state[0, 0], state[0, 7] = 1, filled
        with np.errstate(all="ignore"):
            function(x, state, t, u, out, 3, count, few, len(rows))
            if name in SEVERAL | TWO:  # which may have left before
                function(x, state, t, u, out, 3, count, few, 0)
        results.append([*out, *x])
    plain.check_same(*map(np.array, results))


SUMS = [(n, count) for some, count in ((LINES | SEVERAL, 1), (TWO, 2), (ALONE, 0)) for n in some]


@pytest.mark.parametrize(("name", "found"), SUMS)
def test_which_sums_are_in_loops(kernels: Any, name: str, found: int) -> None:
    """Loops add up what they make if their vectors are as long as those of sums."""
    fits = target.current().lanes(64) == lanes.LANES
    assert kernels[name][2] == (found if fits else 0)


@pytest.mark.parametrize("name", EVERY)
def test_lines_of_any_length(kernels: Any, name: str) -> None:
    rng = np.random.default_rng(1)
    for count in (*range(1, 18), 23, 24, 25, 63, 64, 65, 104, 203):
        for few in (0, 1):
            check(kernels, name, rng.standard_normal((6, count)), few)


@some.examples(150)
@given(st.data(), st.sampled_from([*EVERY]))
def test_terms_of_any_size(kernels: Any, data: st.DataObject, name: str) -> None:
    """Levels rise from line to line, and terms may be infinite, NaN or subnormal."""
    count = data.draw(st.integers(1, 20))
    line = st.lists(FLOATS, min_size=count, max_size=count)
    factors = data.draw(st.lists(st.integers(-1070, 1000), min_size=1, max_size=5))
    with np.errstate(all="ignore"):
        rows = [np.ldexp(np.array(data.draw(line)), factor) for factor in factors]
    check(kernels, name, np.array(rows), data.draw(st.integers(0, 1)))


def test_states_that_are_full(kernels: Any) -> None:
    """Lanes are emptied into limbs before they could hold more than is exact."""
    rows = np.random.default_rng(2).standard_normal((5, 40))
    for filled in range(lanes.FULL - 220, lanes.FULL + 3, 17):
        for name in "one loop", *SEVERAL:
            check(kernels, name, rows, 0, filled)
