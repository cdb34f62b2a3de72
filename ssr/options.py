"""What the compiler may do; the same choices for all kernels of a program."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace

from .errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of the compiler.

    Parameters
    ----------
    exact
        Keep the arithmetic of a row: its terms in canonical order (terms of the row's own line
        last), one fused multiply-add each, divisions as divisions. Without it, sums are shared,
        divisions become reciprocals and recurrences are doubled: other bits, the same for all
        rows, boxes and runs, within rounding. Products with a field known to be zero are dropped.
    split
        Separate interior rows from boundary rows, so that loops hold no conditions. Keeps bits.
    partial_sums, recurrence
        The passes of these names. With ``exact`` they keep bits.
    fuse
        Run assignments and reductions line by line in one nest where dependences allow; temporaries
        then need a few lines or planes instead of an array. Keeps bits. A nest that updates a field
        in place from its neighbours cannot be cut into boxes.
    fold
        Read points that a step of another package makes, such as ghosts, as what they are, where a
        field was copied only to have them. Keeps bits.
    prefetch
        Request memory ahead in software. Keeps bits. Measure before switching it on: it helps
        where memory latency is high, and costs up to a fifth where it is not.
    cache
        Keep kernels on disk.
    debug
        Build kernels that check each access to memory, and report the first infinity or NaN that a
        statement makes as a NonFiniteError. Keeps bits; much slower. ``SSR_DEBUG=1`` in the
        environment does this for all programs.

    Raises
    ------
    ArgumentError
        If a choice is neither True nor False.
    """

    exact: bool = False
    split: bool = True
    partial_sums: bool = True
    recurrence: bool = True
    fuse: bool = True
    fold: bool = True
    prefetch: bool = False
    cache: bool = True
    debug: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise ArgumentError(f"Option {option.name} is True or False, not {value!r}.")

    def settled(self) -> Options:
        """Return the options with what the environment asks for."""
        return replace(self, debug=True) if os.environ.get("SSR_DEBUG") == "1" else self
