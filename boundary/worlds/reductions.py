"""Reductions over all ranks that kernels do by themselves."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ssr.extension import LARGEST, SHARE, Array, Function

from .mailboxes import ASKING, BEGINNING
from .reduction_code import Head, Word, functions
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

    Attributes
    ----------
    given, found
        For sums and for all others the integers that this rank gives, and those of all together.
        Those of sums come first, one behind the other.
    summed
        How many integers are summed.
    head
        What the compiled functions work through.
    """

    def __init__(self, kinds: Sequence[str], states: Array) -> None:
        sizes = [SHARE if kind == "sum" else LARGEST for kind in kinds]
        self.summed = SHARE * list(kinds).count("sum")
        self.given = self._halves(np.zeros(sum(sizes), np.int64))
        self.found = self._room()
        self._states = states
        self.head = table = np.zeros(len(Head) + len(kinds) * len(Word), np.int64)
        rows = table[len(Head) :].reshape(-1, len(Word))
        places = [0, 0]
        for row, kind, size, state in zip(rows, kinds, sizes, states, strict=True):
            which = int(kind != "sum")
            start = 8 * places[which]
            row[Word.KIND], row[Word.STATE] = KINDS.index(kind), state.ctypes.data
            row[Word.GIVEN] = self.given[which].ctypes.data + start
            row[Word.FOUND] = self.found[which].ctypes.data + start
            places[which] += size
        things = len(kinds), table.ctypes.data
        self._begin = Function(functions().begin, *things)
        self._ask = Function(functions().ask, *things, notes=0)

    def _halves(self, whole: Array) -> list[Array]:
        """Return the integers that are summed, and the others."""
        return [whole[: self.summed], whole[self.summed :]]

    def _room(self) -> list[Array]:
        """Return the memory for what all ranks give together."""
        return self._halves(np.zeros(sum(row.size for row in self.given), np.int64))

    def carried(self, begin: Function | None, ask: Function | None) -> None:
        """Let functions carry integers: one that begins, and one that tells whether all is done."""
        head = self.head
        if begin is not None:
            head[Head.BEGIN : Head.BEGIN_THINGS + 1] = begin.address, begin.count, begin.things
        if ask is not None:
            given = ask.address, ask.count, ask.things, ask.notes or 0
            head[Head.ASK : Head.NOTES + 1] = given

    def starting(self, rank: int) -> Function:
        """Return the function by which the kernel begins."""
        return self._begin

    def waiting(self, rank: int) -> Function:
        """Return the function by which the kernel waits."""
        return self._ask

    def start(self) -> None:
        """Give what this rank has."""
        begin = self._begin
        self._check(int(BEGINNING(begin.address)(begin.count, begin.things)))

    def is_done(self) -> bool:
        """Return whether the states are those of all terms."""
        done, ask = ctypes.c_int(0), self._ask
        code = ASKING(ask.address)(ask.count, ask.things, ctypes.byref(done), 0)
        self._check(int(code))
        return bool(done.value)

    def _check(self, code: int) -> None:
        if code:
            raise self.failure(code)


def is_pending(head: Array) -> bool:
    """Whether a reduction has begun, and has not finished, by its ``head``."""
    return bool(head[Head.PENDING])
