"""Bounds-checked operations of checked kernels: accesses to memory, and rows of statements.

Like the functions of `intrinsics` they can be called from Python and from kernels. Checked source
that runs as plain Python uses `require` only, since there every access is checked in any case.
"""

from __future__ import annotations

from . import intrinsics
from .intrinsics import Memory, Real


def ld(a: Memory, offset: int) -> Real:
    """Return the element at a flat offset, which must lie in the array."""
    return intrinsics.ld(a, offset)


def st(a: Memory, offset: int, value: Real) -> None:
    """Store an element at a flat offset, which must lie in the array."""
    intrinsics.st(a, offset, value)


def require(holds: bool, piece: str, row: tuple[int, ...]) -> None:
    """Fail unless a row that a piece of a statement runs is one of its rows.

    >>> require(False, "row_0 of x", (2, 3))
    Traceback (most recent call last):
      ...
    AssertionError: row_0 of x runs at (2, 3), which is not one of its rows
    """
    if not holds:
        raise AssertionError(
            f"{piece} runs at ({', '.join(map(str, row))}), which is not one of its rows"
        )
