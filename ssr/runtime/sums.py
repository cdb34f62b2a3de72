"""Reproducible summation: the sum does not depend on the order or the partition of the terms.

A number is split on a fixed grid of limbs of 26 bits: limb l holds the remainder of the number
rounded to a multiple of 2^(26 l). A number below 2^(26 l - 1) rounds to zero there, so limb l is
the highest limb of larger numbers only. Ties round away from zero, which makes the part in each
limb independent of the higher limb at which the splitting begins. The parts of all terms can thus
be added exactly, as integers, and limbs below the three highest limbs of the largest term can be
dropped at any time. The error of the sum is about 2^-53 of the largest term for each term, as in
ordinary summation.

The state of a sum is a row of `STATE` integers: whether a term was added, the index of the highest
limb, three sums of limbs, whether a term was not finite, and the sum of the non-finite terms as
bits. In kernels the state also holds a number of terms and their parts in vectors of doubles, which
are added to the limbs later. The state of a maximum or minimum is whether a term was added, and its
value as an ordered integer.

A norm is the root of a sum of squares, with a state of three rows. Squares that would overflow are
summed in the second row, scaled down. If all squares of a line are so small that a sum of such
squares alone would lose bits, they are also summed in the third row, scaled up; the third row is
the result if the first sum is equally small. The range of the squares and the order of the terms
therefore do not matter, and in the usual range only the squares and their sum are computed.

`accumulate`, `accumulate_squares`, `total`, `root`, `extreme` and `found` also run in kernels
(`lanes`), with bitwise identical results. The method is that of binned sums (Demmel and Nguyen,
IEEE Trans. Comput. 64, 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import compress, islice

import numpy as np

from ..points.numbers import Array
from .intrinsics import Memory

STATE = 32
"""Integers of the state of one reduction."""

ROWS = {"sum": 1, "max": 1, "min": 1, "norm": 3}
"""Rows of the state of each kind of reduction."""

LARGE, SMALL = 2.0**900, 2.0**-700
"""Upper limit of squares and lower limit of sums of squares that need no scaling."""

SCALE = 2.0**600
"""The factor by which terms of a norm are scaled down or up."""

WIDTH = 26
"""Bits of a limb."""

FAR = 30
"""Index of a highest limb from which on terms are scaled by `SHIFT` limbs, to avoid overflow."""

SHIFT = 6

LOWEST, HIGHEST = -42, 39
"""Indices of the highest limbs of the smallest and the largest number."""

LEVELS = HIGHEST - LOWEST + 1
LIMBS = LEVELS + 2
"""Number of limbs of all floating-point numbers."""

SHARE = LIMBS + LEVELS + 3
"""Integers that a part contributes to a sum: limbs; a flag for each limb that can be the highest,
whether it is the highest of the part; whether its non-finite terms sum to inf, -inf or NaN."""

LARGEST = 2
"""Integers that a part contributes to a maximum or minimum; they are combined by maximum."""


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def _value(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def accumulate(state: Array, row: int, buffer: Memory, start: int, count: int) -> None:
    """Add the elements of a buffer to a sum."""
    add(state[row], buffer.flat[start : start + count])


def accumulate_squares(state: Array, row: int, buffer: Memory, start: int, count: int) -> None:
    """Add the squares of the elements of a buffer to a norm."""
    terms = [float(v) for v in buffer.flat[start : start + count]]
    add_squares(state[row : row + ROWS["norm"]], terms)


def add_squares(state: Array, terms: list[float]) -> None:
    """Add the squares of terms to the state of a norm, as `accumulate_squares` does with a line."""
    large = [term * term > LARGE and math.isfinite(term) for term in terms]
    squares = [
        0.0 if is_large else term * term for term, is_large in zip(terms, large, strict=True)
    ]
    add(state[0], squares)
    if any(large):
        add(state[1], [(t / SCALE) * (t / SCALE) for t in compress(terms, large)])
    elif max(squares, default=0.0) < SMALL:
        add(state[2], [(term * SCALE) * (term * SCALE) for term in terms])


def add(state: Array, terms: Array | Sequence[float]) -> None:
    """Add terms to the state of a sum, as `accumulate` does with the terms of one line."""
    values = np.array(terms, np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        with np.errstate(invalid="ignore"):
            for value in values[~finite]:
                state[6] = _bits(_value(state[6]) + value)
        state[5] = 1
        return
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return
    level = math.frexp(largest)[1] // WIDTH
    if not state[0]:
        state[0], state[1] = 1, level
    while state[1] < level:
        state[1:5] = [state[1] + 1, 0, state[2], state[3]]
    shift = _shift(int(state[1]))
    rest = values * math.ldexp(1.0, -WIDTH * shift)
    for place in range(3):
        unit = math.ldexp(1.0, WIDTH * (int(state[1]) - shift - place))
        part = (_odd(rest) + 1.5 * 2.0**52 * unit) - 1.5 * 2.0**52 * unit
        rest -= part
        state[2 + place] += int((part / unit).sum())


def _odd(values: Array) -> Array:
    """Return numbers with the last bit set, which lie halfway between no two parts."""
    return (values.view(np.int64) | 1).view(np.float64)


def shares(kinds: Sequence[str], states: Sequence[Array]) -> tuple[Array, Array]:
    """Return the contribution of a part of the terms of reductions, as two rows of integers.

    The first rows of all parts are summed, and of the second ones the maxima are taken; `combined`
    then returns the reductions of all terms. The order of the parts has no effect, and the lengths
    of the rows depend on the reductions only; sums use no integers of the second row.
    """
    added = np.zeros(SHARE * list(kinds).count("sum"), np.int64)
    keys = [_share(kinds, state, added) for state in states]
    return added, np.array([max(each) for each in zip(*keys, strict=True)], np.int64)


def _share(kinds: Sequence[str], state: Array, added: Array) -> list[int]:
    """Add the contribution of one part to sums, and return its integers for the maxima.

    The three limbs of a sum are stored at their positions among all possible limbs.
    """
    keys: list[int] = []
    start = 0
    for kind, row in zip(kinds, state, strict=True):
        seen, level, _, _, _, unusual, bits = row[:7].tolist()
        if kind != "sum":
            keys += [seen, -(2**63) if not seen else level if kind == "max" else ~level]
            continue
        if seen:
            high = start + HIGHEST - level
            added[high : high + 3] += row[2:5]
            added[high + LIMBS] += 1
        if unusual:
            value = _value(bits)
            place = 0 if value == math.inf else 1 if value == -math.inf else 2
            added[start + LIMBS + LEVELS + place] += 1
        start += SHARE
    return keys


def combined(kinds: Sequence[str], added: Array, largest: Array) -> Array:
    """Return the states of reductions of all terms from the `shares` of parts of them."""
    states = np.zeros((len(kinds), STATE), np.int64)
    keys, start = iter(largest.tolist()), 0
    for kind, state in zip(kinds, states, strict=True):
        if kind != "sum":
            seen, key = islice(keys, 2)
            state[:2] = (1, key if kind == "max" else ~key) if seen else 0
            continue
        levels = start + LIMBS
        unusual = levels + LEVELS
        (seen,) = added[levels:unusual].nonzero()
        if seen.size:
            place = int(seen[0])
            high = start + place
            state[:5] = 1, HIGHEST - place, *added[high : high + 3].tolist()
        up, down, undefined = added[unusual : unusual + 3].tolist()
        if up or down or undefined:
            value = math.nan if undefined or (up and down) else math.inf if up else -math.inf
            state[5:7] = 1, _bits(value)
        start += SHARE
    return states


def _shift(level: int) -> int:
    return SHIFT if level > FAR else -SHIFT if level < -FAR else 0


def reduced(kind: str, terms: list[float]) -> float:
    """Return the reduction of terms, bitwise identical to the result of kernels."""
    if kind == "norm":
        state = np.zeros((ROWS[kind], STATE), np.int64)
        add_squares(state, terms)
        return root(state, 0)
    if kind == "sum":
        state = np.zeros((1, STATE), np.int64)
        add(state[0], terms)
        return total(state, 0)
    sign = 1 if kind == "max" else -1
    keys = [_key(term, sign) for term in terms]
    return _unkey(max(keys) if sign > 0 else min(keys))


def total(state: Array, row: int) -> float:
    """Return the value of a sum."""
    seen, level, high, middle, low, special, bits = (int(n) for n in state[row][:7])
    if special:
        return _value(bits)
    if not seen:
        return 0.0
    middle, low = middle + (low >> WIDTH), low & (2**WIDTH - 1)
    high, middle = high + (middle >> WIDTH), middle & (2**WIDTH - 1)
    shift = _shift(level)
    unit = math.ldexp(1.0, WIDTH * (level - 2 - shift))
    value = float(high) * (unit * 2.0 ** (2 * WIDTH)) + float(middle * 2**WIDTH + low) * unit
    with np.errstate(over="ignore"):
        return float(np.float64(value) * math.ldexp(1.0, WIDTH * shift))


def root(state: Array, row: int) -> float:
    """Return the value of a norm."""
    usual, large, small = (total(state, row + n) for n in range(ROWS["norm"]))
    if large > 0.0:
        return float(np.sqrt(large + usual / SCALE / SCALE) * SCALE)
    if usual < SMALL:
        return float(np.sqrt(small) / SCALE)
    return float(np.sqrt(usual))


def _key(value: float, sign: int) -> int:
    """Return an integer ordered like the numbers, -0 before 0, NaN beyond all in a direction."""
    if value != value:
        return 2**63 - 1 if sign > 0 else -(2**63)
    bits = _bits(value)
    return bits ^ (2**63 - 1) if bits < 0 else bits


def extreme(state: Array, row: int, sign: int, buffer: Memory, start: int, count: int) -> None:
    """Take the elements of a buffer into a maximum (sign 1) or minimum (sign -1)."""
    keys = [_key(float(v), sign) for v in buffer.flat[start : start + count]]
    if state[row, 0]:
        keys.append(int(state[row, 1]))
    state[row, 0], state[row, 1] = 1, max(keys) if sign > 0 else min(keys)


def found(state: Array, row: int) -> float:
    """Return the value of a maximum or minimum."""
    return _unkey(int(state[row, 1]))


def number_found(kind: str, state: Array, row: int) -> float:
    """Return the sum, maximum or minimum that a state represents."""
    return total(state, row) if kind == "sum" else found(state, row)


def _unkey(key: int) -> float:
    return _value(key ^ (2**63 - 1) if key < 0 else key)
