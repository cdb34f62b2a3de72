"""Chains of loops over vectors compute what the loops compute one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ssr.kernel import ir
from ssr.kernel.vector_target import AVX2, AVX512, NEON, Target
from ssr.kernel.vectorize import chain_plans, lines
from tests.ssr.vector_kernels import INTEGER, both, check_same, field, lengths, own, shifted

KERNEL = """\
def changed(x, lo):
    st(x, lo, third)
    return 1


def kernel(x, y, a, b, layout, lo, hi):
    a_m1 = lo - 1
    a_p1 = lo + 1
    a_m3 = lo - 3
    b_m9 = lo - 9
    b_p17 = lo + 17
{body}
    return 0
"""

RECURRENCE = """\
for i in range(0, hi - 1):
    s = ld(x, lo + i) + ld(y, lo + i + 1)
    st(a, lo + i, s * third)
t = ld(x, lo + hi - 1)
st(a, lo + hi - 1, t)
for i in range(0, hi):
    st(b, lo + i, fma(third, ld(a, a_m1 + i), ld(a, lo + i)) + ld(a, a_m3 + i))
for i in range(0, hi):
    st(y, lo + i, fma(third, ld(b, b_m9 + i), ld(b, lo + i)))
"""

AGAINST = """\
for i in range(1, hi):
    st(a, lo + i, ld(x, lo + i) - third * ld(y, lo + i - 1))
st(a, lo, ld(x, lo))
for i in range(0, hi - 2):
    st(b, lo + i, ld(a, a_p1 + i) + third * ld(a, lo + i))
for i in range(0, hi):
    st(y, lo + i, ld(b, b_p17 + i) - ld(a, lo + i))
"""

CHAINS = {
    "recurrence": (RECURRENCE, 3, 1),
    "against": (AGAINST, 3, -1),
    "own places": (
        "for i in range(2, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "for i in range(0, hi + 3):\n    st(y, i + lo, ld(a, lo + i) + ld(x, lo + i))\n",
        2,
        1,
    ),
    "old values and new ones": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(y, lo + i) * third + ld(b, lo + i + 9))\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(y, lo + i) + ld(a, a_m1 + i))\n",
        3,
        1,
    ),
    "old values beside, and new ones": (
        "for i in range(1, hi):\n    st(a, lo + i, ld(y, lo + i - 1) * third)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_p1 + i))\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(y, lo + i) + ld(a, lo + i + 2))\n",
        3,
        -1,
    ),
    "ends of boxes": (
        "if hi > 2:\n"
        "    for i in range(max(3, lo), min(hi - 1, hi + lo) + 1):\n"
        "        st(a, lo + i, ld(x, lo + i) * third)\n"
        "    t = ld(x, lo + 2)\n    st(a, lo + 2, t)\n"
        "else:\n    for i in range(3, hi + 1):\n        st(a, lo + i, ld(y, lo + i) + third)\n"
        "if hi > 4:\n    st(a, lo + hi + 1, ld(x, lo))\n"
        "for i in range(0, hi + 1):\n    st(b, lo + i, ld(a, a_p1 + i) + ld(a, lo + i))\n",
        2,
        -1,
    ),
    "an end that is another integer there": (
        "own = layout[0] * hi\n"
        "for i in range(0, min(own - 1, hi)):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "if hi > 3 and own == hi:\n    st(a, lo + hi - 1, ld(x, lo + 1))\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(a, lo + i) + ld(a, a_m1 + i))\n",
        2,
        1,
    ),
    "begun on sides of a branch, with a loop behind": (
        "if hi > 2:\n    for i in range(0, hi):\n        st(a, lo + i, ld(x, lo + i) * third)\n"
        "else:\n    for i in range(0, hi):\n        st(a, lo + i, ld(y, lo + i) + third)\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(a, lo + i) + ld(a, a_m1 + i))\n"
        "for i in range(0, hi):\n    st(x, lo + i, ld(y, lo + i))\n",
        2,
        1,
    ),
    "far apart": (
        "for i in range(0, 3):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "for i in range(hi, hi + 3):\n    st(b, lo + i, ld(a, a_m1 + i) + ld(x, lo + i))\n",
        2,
        1,
    ),
}

APART = {
    "both sides": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "for i in range(1, hi - 1):\n    st(y, lo + i, ld(a, a_m1 + i) + ld(a, a_p1 + i))\n"
    ),
    "a loop changes what one before reads further on": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(y, lo + i - 1) * third)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
    ),
    "an element between loops is one of them": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "st(a, lo + 2, third)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
    ),
    "an element between loops may be one of them": (
        "own = layout[0] * hi\n"
        "for i in range(0, min(own - 1, hi)):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "if own >= hi:\n    st(a, lo + hi - 1, ld(x, lo + 1))\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(a, lo + i) + ld(a, a_m1 + i))\n"
    ),
    "an element between loops is one of them where an end is another integer": (
        "own = layout[0] * hi + 1\n"
        "for i in range(0, min(own - 1, hi)):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "if own == hi + 1:\n    st(a, lo + hi - 1, ld(x, lo + 1))\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(a, lo + i) + ld(a, a_m1 + i))\n"
    ),
    "an element between loops is one that was read": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "st(x, lo + 2, third)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
    ),
    "a number between loops is one of theirs": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "t = ld(a, lo)\n"
        "st(b, lo, t)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i) + ld(b, lo + i))\n"
    ),
    "both store": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "for i in range(0, hi):\n    st(a, lo + i, ld(a, lo + i) + third)\n"
    ),
    "a number between loops is taken behind them": (
        "if hi > 2:\n    for i in range(0, hi):\n        st(a, lo + i, ld(x, lo + i) * third)\n"
        "t = ld(x, lo)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i) + t)\n"
        "st(b, lo, t)\n"
    ),
    "a function between loops might store": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "t = changed(x, lo)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
    ),
    "one stores twice": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "    st(a, lo + i, ld(x, lo + i) + third)\n"
        "for i in range(0, hi):\n    st(y, lo + i, ld(a, a_m1 + i))\n"
    ),
    "nothing in common": (
        "for i in range(0, hi):\n    st(a, lo + i, ld(x, lo + i) * third)\n"
        "for i in range(0, hi):\n    st(b, lo + i, ld(x, lo + i) + third)\n"
    ),
}

with_vectors = pytest.mark.parametrize("target", [AVX512, AVX2, NEON], ids=lambda t: t.name)


def made(text: str, target: Target, dtype: str = "float64") -> tuple[Any, Any, str]:
    """Return a kernel row by row, on vectors, and the text of the latter."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    arrays = field(dtype), field(dtype), own(dtype), own(dtype), ir.Array("i8")
    return both(KERNEL.format(body=body), (*arrays, INTEGER, INTEGER), target, dtype)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[chain_plans.Chain]:
    """Return the list of chains that are written."""
    chains: list[chain_plans.Chain] = []
    written = lines.written

    def noted(context: Any, chain: chain_plans.Chain) -> list[ir.Statement]:
        if len(chain.links) > 1:
            chains.append(chain)
        return written(context, chain)

    monkeypatch.setattr(lines, "written", noted)
    return chains


def check(rows: Any, vectors: Any, dtype: str, target: Target) -> None:
    """Check that both leave the same bits in lines of many lengths, wherever they begin."""
    rng = np.random.default_rng(1)
    lanes = target.lanes(8 * np.dtype(dtype).itemsize)
    layout = np.ones(1, np.int64)
    for count in lengths(lanes):
        for first in (0, 1, lanes - 1):
            given = [rng.standard_normal(count + 80).astype(dtype) for _ in range(4)]
            arrays = [shifted(array, first) for array in given]
            rows(*given, layout, 20 + first, count)
            vectors(*arrays, layout, 20 + first, count)
            check_same(given, arrays)


@with_vectors
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", list(CHAINS))
def test_bits_are_those_of_loops_in_turn(
    name: str, dtype: str, target: Target, found: list[chain_plans.Chain]
) -> None:
    text, links, way = CHAINS[name]
    rows, vectors, _ = made(text, target, dtype)
    assert {(len(chain.links), chain.way) for chain in found} == {(links, way)}
    assert len(found) == 1 + ("else" in text)
    check(rows, vectors, dtype, target)


@with_vectors
@pytest.mark.parametrize("name", list(APART))
def test_loops_that_cannot_take_turns_stay_apart(
    name: str, target: Target, found: list[chain_plans.Chain]
) -> None:
    rows, vectors, _ = made(APART[name], target)
    assert not found
    check(rows, vectors, "float64", target)


@pytest.mark.parametrize("seed", range(12))
def test_random_chains(seed: int, found: list[chain_plans.Chain]) -> None:
    """Each loop reads what earlier ones store on one side, of itself and of an own field."""
    rng = np.random.default_rng(seed)
    target = [AVX512, AVX2, NEON][seed % 3]
    way = int(rng.choice([-1, 1]))
    arrays = ["x", *rng.permutation(["a", "b", "y"])]
    text = []
    for number in range(1, len(arrays)):
        shifts = [-way * int(rng.integers(0, 20)) for _ in range(rng.integers(1, 4))]
        read = [str(rng.choice(arrays[max(0, number - 2) : number])) for _ in shifts[1:]]
        taps = [
            f"third * ld({array}, lo + i {'+-'[shift < 0]} {abs(shift)})"
            for array, shift in zip((arrays[number - 1], *read), shifts, strict=True)
        ]
        low, high = rng.integers(0, 12), rng.integers(-12, 12)
        text.append(f"for i in range({low}, hi + {high}):")
        text.append(f"    st({arrays[number]}, lo + i, {' + '.join(taps)})")
    rows, vectors, _ = made("\n".join(text).replace("+ -", "- "), target)
    assert sum(len(chain.links) for chain in found) >= 2
    check(rows, vectors, "float64", target)


@with_vectors
def test_nothing_outside_of_arrays_is_touched(
    target: Target, found: list[chain_plans.Chain]
) -> None:
    """Lines end where arrays do, and what is read of them begins where these begin."""
    rows, vectors, _ = made(
        "for i in range(0, hi - 4):\n    st(a, i, ld(x, i) + ld(x, i + 4))\n"
        "for i in range(3, hi - 4):\n    st(b, i, ld(a, i) + ld(a, i - 3))\n"
        "for i in range(13, hi - 4):\n    st(y, i + 4, ld(b, i) + ld(b, i - 10))\n",
        target,
    )
    assert [len(chain.links) for chain in found] == [3]
    layout = np.ones(1, np.int64)
    for count in (4, 5, 12, 13, 17, 18, 20, 37, 64):
        for shift in (0, 3):
            given = [np.random.default_rng(4).standard_normal(count) for _ in range(4)]
            arrays = [shifted(array, shift) for array in given]
            rows(*given, layout, 0, count)
            vectors(*arrays, layout, 0, count)
            check_same(given, arrays)
