"""Reductions over all ranks that kernels start and complete without calling Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssr.extension import LARGEST, SHARE, Array, Function

from ..compiled.reductions import Head, Word, functions
from .mailboxes import ask, begin
from .world import Channel

KINDS = "sum", "max", "min"
"""The reductions, in the order of their numbers."""


class Reduction(Channel):
    """The reductions of a step, of one rank: integers that are summed, or the largest ones found.

    Parameters
    ----------
    kinds
        What they are: ``sum``, ``max`` or ``min``.
    states
        Their states, as the kernel leaves them, which get those of all terms.
    checked
        A number for the name of the reduction, by which ranks see that all of them are at it; 0 if
        there is no need. It is the first of the integers.

    Attributes
    ----------
    given, found
        The integers that this rank gives, and those of all together. Those of sums come first.
    summed
        How many integers are summed.
    head
        What the compiled functions work through.
    """

    def __init__(self, kinds: Sequence[str], states: Array, checked: int = 0) -> None:
        sizes = [SHARE if kind == "sum" else LARGEST for kind in kinds]
        self.summed = SHARE * list(kinds).count("sum")
        places = {True: 0, False: self.summed}
        if checked:
            self.summed += "sum" in kinds
            places = {True: 1, False: self.summed + ("sum" not in kinds)}
        self.given = np.zeros(sum(sizes) + bool(checked), np.int64)
        self.given[0] = checked
        self.found = self._room()
        self._states = states
        self.head = table = np.zeros(len(Head) + len(kinds) * len(Word), np.int64)
        rows = table[len(Head) :].reshape(-1, len(Word))
        if checked:
            table[Head.CHECKED] = self.found.ctypes.data
        for row, kind, size, state in zip(rows, kinds, sizes, states, strict=True):
            start = 8 * places[kind == "sum"]
            row[Word.KIND], row[Word.STATE] = KINDS.index(kind), state.ctypes.data
            row[Word.GIVEN] = self.given.ctypes.data + start
            row[Word.FOUND] = self.found.ctypes.data + start
            places[kind == "sum"] += size
        things = len(kinds), table.ctypes.data
        self._begin = Function(functions().begin, *things)
        self._ask = Function(functions().ask, *things, notes=0)

    def halves(self, row: Array) -> tuple[Array, Array]:
        """Return the integers that are summed, and those of which the largest ones count."""
        return row[: self.summed], row[self.summed :]

    def _room(self) -> Array:
        """Return the memory for what all ranks give together."""
        return np.zeros_like(self.given)

    def carried(self, starting: Function, waiting: Function | None) -> None:
        """Let functions carry integers: one that begins, and one that tells whether all is done."""
        head = self.head
        given = starting.address, starting.count, starting.things
        head[Head.BEGIN : Head.BEGIN_THINGS + 1] = given
        if waiting is not None:
            asked = waiting.address, waiting.count, waiting.things, waiting.notes or 0
            head[Head.ASK : Head.NOTES + 1] = asked

    def starting(self, rank: int) -> Function:
        """Return the function by which the kernel begins."""
        return self._begin

    def waiting(self, rank: int) -> Function:
        """Return the function by which the kernel waits."""
        return self._ask

    def start(self) -> None:
        """Give what this rank has."""
        self._check(begin(self._begin))

    def is_done(self) -> bool:
        """Return whether the states are those of all terms."""
        done, code = ask(self._ask)
        self._check(code)
        return done

    def _check(self, code: int) -> None:
        if code:
            raise self.failure(code)


def is_pending(head: Array) -> bool:
    """Whether a reduction has begun, and has not finished, by its ``head``."""
    return bool(head[Head.PENDING])
