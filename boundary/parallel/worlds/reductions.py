"""Reductions over all ranks that kernels start and complete without calling Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssr.extension import LARGEST, SHARE, Array, Function

from ..compiled.reductions import Head, Word, functions

KINDS = "sum", "max", "min"
"""The reductions, in the order of their numbers."""


class Reduction:
    """The reductions of a step on one rank: integers combined by sums or maxima.

    Parameters
    ----------
    kinds
        The kinds of the reductions: ``sum``, ``max`` or ``min``.
    states
        Their states, written by the kernel and overwritten by the states of all terms.
    checked
        An identifier of the reduction, by which ranks check that all of them execute it; 0 without
        a check. It is the first of the integers.
    alone
        Whether the integers of this rank replace those of all ranks.

    Attributes
    ----------
    functions
        The functions by which kernels begin, and test for completion.
    given, found
        The integers of this rank, and the combined integers of all ranks, sums first.
    summed
        The number of integers that are summed.
    head
        The table of the compiled functions.
    """

    def __init__(
        self, kinds: Sequence[str], states: Array, checked: int = 0, *, alone: bool = False
    ) -> None:
        sizes = [SHARE if kind == "sum" else LARGEST for kind in kinds]
        self.summed = SHARE * list(kinds).count("sum")
        places = {True: 0, False: self.summed}
        if checked:
            self.summed += "sum" in kinds
            places = {True: 1, False: self.summed + ("sum" not in kinds)}
        self.given = np.zeros(sum(sizes) + bool(checked), np.int64)
        self.given[0] = checked
        self.found = self.given if alone else np.zeros_like(self.given)
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
        made = functions()
        self.functions = Function(made.begin, *things), Function(made.ask, *things, notes=0)

    def halves(self, row: Array) -> tuple[Array, Array]:
        """Return the integers that are summed, and those of which the maximum is taken."""
        return row[: self.summed], row[self.summed :]

    def carried(self, starting: Function, waiting: Function | None) -> None:
        """Set the transport functions: one that begins, and one that tests for completion."""
        head = self.head
        given = starting.address, starting.count, starting.things
        head[Head.BEGIN : Head.BEGIN_THINGS + 1] = given
        if waiting is not None:
            asked = waiting.address, waiting.count, waiting.things, waiting.notes or 0
            head[Head.ASK : Head.NOTES + 1] = asked


def is_pending(head: Array) -> bool:
    """Whether a reduction has begun, and has not finished, by its ``head``."""
    return bool(head[Head.PENDING])
