"""Sums that do not depend on the order of their terms, nor on how the rows are cut.

A number is taken apart on a fixed grid of limbs of 26 bits: limb l holds what is left of it,
rounded to a multiple of 2^(26 l). A number of at most 2^(26 l - 1) rounds to zero there, so limb l
is the highest of larger ones only, and rounding to nearest makes the part in each limb the same
whichever higher limb one starts from. So the parts of all terms can be added as integers, which is
exact, and limbs below the three highest of the largest term can be forgotten at any time. The sum
is right to about 2^-53 of the largest term for each term, like an ordinary one.

The state of a sum is a row of `STATE` integers: whether a term was seen, the number of the highest
limb, three sums of limbs, whether a term was not finite, the sum of these terms as bits; in kernels
also a number of terms and their parts in vectors of doubles, which are added to the limbs later.
The state of a maximum or minimum is: whether a term was seen, and its value as an ordered integer.

`accumulate`, `total`, `extreme` and `found` also run in kernels (`lanes`) and do the same to the
last bit there. The idea is that of binned sums (Demmel and Nguyen, IEEE Trans. Comput. 64, 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

STATE = 32
"""Integers of the state of one reduction."""

WIDTH = 26
"""Bits of a limb."""

FAR = 30
"""Number of a highest limb from which terms are scaled by `SHIFT` limbs, out of range otherwise."""

SHIFT = 6


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def _value(bits: Any) -> float:
    return float(np.int64(bits).view(np.float64))


def accumulate(state: Any, row: int, buffer: Any, start: int, count: int) -> None:
    """Add the elements of a buffer to a sum."""
    terms = [float(v) for v in buffer.flat[start : start + count]]
    add(state[row], terms)


def add(state: Any, terms: list[float]) -> None:
    """Add terms to the state of a sum, as `accumulate` does with those of one line."""
    largest = max((abs(t) for t in terms if t == t), default=0.0)
    if not all(map(math.isfinite, terms)):
        with np.errstate(invalid="ignore"):
            for term in terms:
                if not math.isfinite(term):
                    state[6] = _bits(float(np.float64(_value(state[6])) + term))
        state[5] = 1
        return
    if largest == 0.0:
        return
    level = math.frexp(largest)[1] // WIDTH
    if not state[0]:
        state[0], state[1] = 1, level
    while state[1] < level:
        state[1:5] = [state[1] + 1, 0, state[2], state[3]]
    shift = _shift(int(state[1]))
    for term in terms:
        rest = term * math.ldexp(1.0, -WIDTH * shift)
        for place in range(3):
            unit = math.ldexp(1.0, WIDTH * (int(state[1]) - shift - place))
            part = (rest + 1.5 * 2.0**52 * unit) - 1.5 * 2.0**52 * unit
            rest -= part
            state[2 + place] += int(part / unit)


def merged(kind: str, states: Sequence[Any]) -> Any:
    """Return the state of all terms of a reduction from the states of parts of them.

    The order of the parts makes no difference.

    Parameters
    ----------
    kind
        The reduction: ``sum``, ``max`` or ``min``.
    states
        The state of each part, as kernels leave it.
    """
    whole = np.zeros(STATE, np.int64)
    seen = [[int(n) for n in state[:7]] for state in states if state[0]]
    if seen and kind == "sum":
        whole[:2] = 1, max(level for _, level, *_ in seen)
        for _, level, *limbs in seen:
            down = min(int(whole[1]) - level, 3)
            whole[2 + down : 5] += np.array(limbs[: 3 - down], np.int64)
    elif seen:
        whole[:2] = 1, (max if kind == "max" else min)(key for _, key, *_ in seen)
    special = [_value(state[6]) for state in states if kind == "sum" and state[5]]
    if special:
        with np.errstate(invalid="ignore"):
            whole[5:7] = 1, _bits(float(np.sum(special)))
    return whole


def _shift(level: int) -> int:
    return SHIFT if level > FAR else -SHIFT if level < -FAR else 0


def reduced(kind: str, terms: list[float]) -> float:
    """Return the sum, maximum or minimum of terms, to the last bit what kernels make of them."""
    if kind == "sum":
        state = np.zeros((1, STATE), np.int64)
        add(state[0], terms)
        return total(state, 0)
    sign = 1 if kind == "max" else -1
    keys = [_key(term, sign) for term in terms]
    return _unkey(max(keys) if sign > 0 else min(keys))


def total(state: Any, row: int) -> float:
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


def _key(value: float, sign: int) -> int:
    """Return an integer ordered like the numbers, -0 before 0, NaN beyond all in a direction."""
    if value != value:
        return 2**63 - 1 if sign > 0 else -(2**63)
    bits = _bits(value)
    return bits ^ (2**63 - 1) if bits < 0 else bits


def extreme(state: Any, row: int, sign: int, buffer: Any, start: int, count: int) -> None:
    """Take the elements of a buffer into a maximum (sign 1) or minimum (sign -1)."""
    keys = [_key(float(v), sign) for v in buffer.flat[start : start + count]]
    if state[row, 0]:
        keys.append(int(state[row, 1]))
    state[row, 0], state[row, 1] = 1, max(keys) if sign > 0 else min(keys)


def found(state: Any, row: int) -> float:
    """Return the value of a maximum or minimum."""
    return _unkey(int(state[row, 1]))


def _unkey(key: int) -> float:
    return _value(key ^ (2**63 - 1) if key < 0 else key)
