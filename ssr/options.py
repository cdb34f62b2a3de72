"""What the compiler may do; the same choices for all kernels of a program."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of the compiler. Only the first changes bits; the others change speed.

    Parameters
    ----------
    exact
        Keep the written arithmetic: no shared partial sums, no reciprocals, no doubling.
    split
        Separate interior rows from boundary rows, so that loops hold no conditions.
    partial_sums, recurrence, prefetch
        The passes of these names.
    cache
        Keep kernels on disk.
    """

    exact: bool = False
    split: bool = True
    partial_sums: bool = True
    recurrence: bool = True
    prefetch: bool = True
    cache: bool = True
