"""Machine code of partial reductions and their combination.

`write_share` computes `sums.shares` for one state of one part, and `write_combined` computes
`sums.combined` for one state of the whole; results are bitwise identical.
"""

from __future__ import annotations

from llvmlite import ir as llvm

from ..runtime.sums import HIGHEST, LEVELS, LIMBS, SHARE, STATE
from .builder import WORD, Builder

SUM, MAXIMUM, MINIMUM = range(3)
"""Codes of the kinds of reductions in machine code."""

INFINITE, NEGATIVE, UNDEFINED = 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000
"""The bits of inf, -inf and NaN."""

LOWEST_KEY = -(2**63)


def write_share(b: Builder, kind: llvm.Value, state: llvm.Value, given: llvm.Value) -> None:
    """Write the contribution of a state to the whole, as `SHARE` or `LARGEST` integers."""
    seen, level, *limbs = (b.load(_at(b, state, n)) for n in range(5))
    is_seen = b.icmp_signed("!=", seen, WORD(0))
    with b.if_else(b.icmp_signed("==", kind, WORD(SUM))) as (of_sum, of_extreme):
        with of_sum:
            _clear(b, given, SHARE)
            with b.if_then(is_seen):
                high = b.sub(WORD(HIGHEST), level)
                for n, limb in enumerate(limbs):
                    b.store(limb, b.gep(given, [b.add(high, WORD(n))]))
                b.store(WORD(1), b.gep(given, [b.add(high, WORD(LIMBS))]))
            unusual, bits = (b.load(_at(b, state, n)) for n in (5, 6))
            with b.if_then(b.icmp_signed("!=", unusual, WORD(0))):
                is_negative, is_positive = (
                    b.icmp_signed("==", bits, WORD(wanted)) for wanted in (NEGATIVE, INFINITE)
                )
                place = b.select(is_negative, WORD(1), WORD(2))
                place = b.select(is_positive, WORD(0), place)
                b.store(WORD(1), b.gep(given, [b.add(place, WORD(LIMBS + LEVELS))]))
        with of_extreme:
            key = b.select(is_seen, _turned(b, kind, level), WORD(LOWEST_KEY))
            b.store(seen, _at(b, given, 0))
            b.store(key, _at(b, given, 1))


def write_combined(b: Builder, kind: llvm.Value, given: llvm.Value, state: llvm.Value) -> None:
    """Write the state of all terms from the combined contributions of the parts."""
    _clear(b, state, STATE)
    with b.if_else(b.icmp_signed("==", kind, WORD(SUM))) as (of_sum, of_extreme):
        with of_sum:
            found = b.variable(WORD(LEVELS))
            with b.count_to(WORD(LEVELS)) as number:
                level = b.sub(WORD(LEVELS - 1), number)  # the highest level comes last
                known = b.load(b.gep(given, [b.add(level, WORD(LIMBS))]))
                best = b.select(b.icmp_signed("!=", known, WORD(0)), level, b.load(found))
                b.store(best, found)
            high = b.load(found)
            with b.if_then(b.icmp_signed("<", high, WORD(LEVELS))):
                b.store(WORD(1), _at(b, state, 0))
                b.store(b.sub(WORD(HIGHEST), high), _at(b, state, 1))
                for place in range(3):
                    limb = b.load(b.gep(given, [b.add(high, WORD(place))]))
                    b.store(limb, _at(b, state, 2 + place))
            up, down, undefined = (
                b.icmp_signed("!=", b.load(_at(b, given, LIMBS + LEVELS + n)), WORD(0))
                for n in range(3)
            )
            undefined = b.or_(undefined, b.and_(up, down))
            with b.if_then(b.or_(undefined, b.or_(up, down))):
                infinite = b.select(up, WORD(INFINITE), WORD(NEGATIVE))
                bits = b.select(undefined, WORD(UNDEFINED), infinite)
                b.store(WORD(1), _at(b, state, 5))
                b.store(bits, _at(b, state, 6))
        with of_extreme:
            seen, key = (b.load(_at(b, given, n)) for n in range(2))
            with b.if_then(b.icmp_signed("!=", seen, WORD(0))):
                b.store(WORD(1), _at(b, state, 0))
                b.store(_turned(b, kind, key), _at(b, state, 1))


def _at(b: Builder, words: llvm.Value, place: int) -> llvm.Value:
    return b.at(words, place)


def _clear(b: Builder, words: llvm.Value, count: int) -> None:
    b.clear(words, WORD(count))


def _turned(b: Builder, kind: llvm.Value, key: llvm.Value) -> llvm.Value:
    """Return the key of a maximum, or of a minimum in reversed order, or the inverse."""
    return b.select(b.icmp_signed("==", kind, WORD(MAXIMUM)), key, b.not_(key))
