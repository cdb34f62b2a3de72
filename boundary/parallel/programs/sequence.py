"""A sequence of programs of one rank, run without calling Python in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr.extension import FINISHED, RAISED, Array

from ..compiled.sequences import Head, Word, chain
from ..ranks.arguments import RankCall

_GO_ON = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)


class RankSequence:
    """The programs of one rank, each with the rows of its scalars and of its results."""

    def __init__(self, calls: Sequence[RankCall], given: Sequence[tuple[Array, Array]]) -> None:
        self._calls, self._given = calls, given
        self._table = table = np.zeros(len(Head) + len(calls) * len(Word), np.int64)
        table[Head.COUNT] = len(calls)
        made = [call.entry_with(*rows) for call, rows in zip(calls, given, strict=True)]
        self._entries = [entry for entry in made if entry is not None]
        self._go_on: Any = None
        if len(self._entries) < len(calls):  # kernels in plain Python
            return
        rows = table[len(Head) :].reshape(-1, len(Word))
        for row, call, entry in zip(rows, calls, self._entries, strict=True):
            row[:] = entry.address, entry.given, call.at.ctypes.data
        self._go_on = _GO_ON(chain())
        self._things = table.ctypes.data

    @property
    def place(self) -> int:
        """The number of the program that has stopped."""
        return int(self._table[Head.PLACE])

    def begin(self) -> None:
        """Begin with the first program."""
        self._table[Head.PLACE : Head.BEGUN + 1] = 0

    def go_on(self) -> int:
        """Run until all programs end or a step needs the caller; return the reason for the stop."""
        if self._go_on is not None:
            try:
                reason = int(self._go_on(self._things))
                if reason == RAISED:
                    for entry in self._entries:
                        entry.raise_problem()
                return reason
            except SystemError as error:  # a signal handler has raised the cause
                raise error.__cause__ or error from None
        table = self._table
        while table[Head.PLACE] < table[Head.COUNT]:
            place = self.place
            if not table[Head.BEGUN]:
                self._calls[place].begin(*self._given[place])
                table[Head.BEGUN] = 1
            reason = self._calls[place].go_on()
            if reason != FINISHED:
                return reason
            table[Head.PLACE] += 1
            table[Head.BEGUN] = 0
        return FINISHED

    def entry(self) -> tuple[int, int] | None:
        """Return the address of the C function that resumes, and that of its argument."""
        return None if self._go_on is None else (chain(), self._things)

    def next_step(self) -> None:
        """Advance to the next step."""
        self._calls[self.place].next_step()
