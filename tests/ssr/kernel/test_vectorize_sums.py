"""Sums of terms that loops over vectors make have the bits of sums of the stored lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssr.kernel import ir
from ssr.runtime import sums
from ssr.runtime.target import AVX2, AVX512, Target
from tests.ssr import plain
from tests.ssr import strategies as some
from tests.ssr.programs.test_reductions import FLOATS
from tests.ssr.vector_kernels import INTEGER, both, field

KERNEL = """\
def kernel(x, state, t, u, out, lo, hi, few, rows):
    for j in range(rows):
        x_r = lo + j * hi
{body}
{end}
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

Kernel = tuple[Callable[..., Any], Callable[..., Any], str]


def made(name: str, target: Target) -> Kernel:
    """Return a kernel row by row, on vectors, and the text of the latter."""
    body = "".join(f"        {line}\n" for line in EVERY[name].splitlines())
    line = ir.Array("f8", written=True)
    types = field("float64"), ir.Array("i8", 2, written=True), *3 * (line,), *4 * (INTEGER,)
    text = KERNEL.format(body=body, end=LAST if name in SEVERAL | TWO else EACH)
    return both(text.replace("more", "third"), types, target)


@pytest.fixture(scope="module")
def kernels() -> dict[str, Kernel]:
    """Return kernels on vectors as long as those that sums take apart."""
    return {name: made(name, AVX512) for name in EVERY}


def check(kernel: Kernel, name: str, rows: Any, few: int) -> None:
    """Check that both find the same numbers."""
    count = rows.shape[1]
    results = []
    for function in kernel[:2]:
        x = np.concatenate([np.zeros(3), rows.ravel(), np.zeros(9)])
        state, out = np.zeros((2, sums.STATE), np.int64), np.zeros(max(2, len(rows)))
        t, u = np.zeros((2, 2 * count + 16))
        function(x, state, t, u, out, 3, count, few, len(rows))
        if name in SEVERAL | TWO:  # which may have left before
            function(x, state, t, u, out, 3, count, few, 0)
        results.append([*out, *x])
    plain.check_same(*map(np.array, results))


SUMS = [(n, count) for some, count in ((LINES | SEVERAL, 1), (TWO, 2), (ALONE, 0)) for n in some]


@pytest.mark.parametrize(("name", "found"), SUMS)
def test_which_sums_are_in_loops(kernels: dict[str, Kernel], name: str, found: int) -> None:
    """Loops add up what they make if their vectors are as long as those of sums."""
    assert kernels[name][2].count("begin_line(") == found
    assert kernels[name][2].count(" = open_sum()") == found
    assert "begin_line" not in made(name, AVX2)[2]


@pytest.mark.parametrize("name", EVERY)
def test_lines_of_any_length(kernels: dict[str, Kernel], name: str) -> None:
    rng = np.random.default_rng(1)
    for count in (1, 2, 7, 8, 9, 17, 64):
        for few in (0, 1):
            check(kernels[name], name, rng.standard_normal((6, count)), few)


@some.examples(60)
@given(st.data(), st.sampled_from([*EVERY]))
def test_terms_of_any_size(kernels: dict[str, Kernel], data: st.DataObject, name: str) -> None:
    """Levels rise from line to line, and terms may be infinite, NaN or subnormal."""
    count = data.draw(st.integers(1, 20))
    line = st.lists(FLOATS, min_size=count, max_size=count)
    factors = data.draw(st.lists(st.integers(-1070, 1000), min_size=1, max_size=5))
    with np.errstate(all="ignore"):
        rows = [np.ldexp(np.array(data.draw(line)), factor) for factor in factors]
    check(kernels[name], name, np.array(rows), data.draw(st.integers(0, 1)))


def test_squares() -> None:
    """Norms add up squares."""
    text = (
        "def kernel(x, t, state, out, n):\n"
        "    for i in range(n):\n        st(t, i, ld(x, i))\n"
        "    accumulate_squares(state, 0, t, 0, n)\n"
        "    st(out, 0, root(state, 0))\n"
    )
    line = ir.Array("f8", written=True)
    types = field("float64"), line, ir.Array("i8", 2, written=True), line, INTEGER
    *functions, found = both(text, types, AVX512)
    assert "open_squares()" in found
    for factor in (1.0, 2.0**600, 2.0**-600):
        x = factor * np.random.default_rng(1).standard_normal(21)
        out = np.zeros((2, 1))
        for function, number in zip(functions, out, strict=True):
            function(x, np.zeros(21), np.zeros((3, sums.STATE), np.int64), number, 21)
        plain.check_same(*out)
