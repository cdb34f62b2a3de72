"""Boxes of integers that are narrowed to the points at which affine expressions are >= 0.

This is interval arithmetic: it needs no isl, which is slow for a set that is evaluated often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from .affine import Affine

Range: TypeAlias = tuple[int, int]
"""A half-open range of integers."""

Box: TypeAlias = tuple[Range, ...]
"""A half-open range for each axis."""

Test: TypeAlias = tuple[int, Mapping[str, int]]
"""An affine expression: a constant, and the coefficients of names."""


PASSES = 8
"""Number of passes over the conditions that narrow a box."""


def valued(test: Affine, values: Mapping[str, int]) -> Test:
    """Return an expression with values for parameters: its constant, and the other factors."""
    known = sum(f * values[n] for n, f in test.terms if isinstance(n, str) and n in values)
    rest = {n: f for n, f in test.terms if isinstance(n, str) and n not in values}
    return test.constant + known, rest


def narrowed(box: dict[str, Range], tests: Sequence[Test]) -> bool | None:
    """Narrow a box, in place, to its points at which all expressions are >= 0.

    Returns whether the result has points; None if these may not form a box.
    """
    for _ in range(PASSES):
        before = dict(box)
        for constant, factors in tests:
            if any(name not in box for name in factors):
                return None
            most = constant + sum(max(_ends(f, box[n])) for n, f in factors.items())
            if most < 0:
                return False
            for name, factor in factors.items():
                low, high = box[name]
                rest = most - max(_ends(factor, (low, high)))  # factor * x + rest >= 0
                if factor > 0:
                    low = max(low, -(rest // factor))
                else:
                    high = min(high, rest // -factor + 1)
                if low >= high:
                    return False
                box[name] = low, high
        if box == before:
            break
    least = (c + sum(min(_ends(f, box[n])) for n, f in factors.items()) for c, factors in tests)
    return True if all(value >= 0 for value in least) else None


def _ends(factor: int, values: Range) -> tuple[int, int]:
    """Return a factor times the first and the last number of a range."""
    return factor * values[0], factor * (values[1] - 1)
