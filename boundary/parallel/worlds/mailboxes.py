"""Mailboxes: messages between ranks through shared memory, without a message library."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssr.extension import CACHE_LINE, Array, Function, aligned

from ..compiled.mailboxes import CALL, IN, OUT, Word, functions

APART = 2 * CACHE_LINE
"""The distance between counters in bytes: two cache lines, since processors prefetch adjacent
lines."""


class Mailbox:
    """Memory for the messages from one rank to another: two counters, and room for two messages.

    Parameters
    ----------
    size
        The bytes of a message.
    memory
        At least `room` bytes of zeros at which the mailbox begins, accessible to both ranks; by
        default newly allocated memory.
    """

    def __init__(self, size: int, memory: Array | None = None) -> None:
        if memory is None:
            memory = aligned((self.room(size),), np.uint8)
            memory.fill(0)
        self._memory = memory
        self._size = size

    @staticmethod
    def room(size: int) -> int:
        """Return the number of bytes of a mailbox for messages of a given size."""
        return 2 * APART + 2 * _pitch(size)

    def sends(self, values: Array) -> list[int]:
        """Return the row of the rank that sends, whose values are copied into the mailbox."""
        return self._row(OUT, values)

    def receives(self, values: Array) -> list[int]:
        """Return the row of the rank that receives."""
        return self._row(IN, values)

    def _row(self, what: int, values: Array) -> list[int]:
        assert values.nbytes == self._size
        assert values.flags.c_contiguous
        row = [0] * len(Word)
        row[Word.WHAT], row[Word.VALUES], row[Word.DONE] = what, values.ctypes.data, 1
        row[Word.BYTES], row[Word.PITCH] = self._size, _pitch(self._size)
        start = self._memory.ctypes.data
        row[Word.SENT], row[Word.TAKEN], row[Word.BOX] = start, start + APART, start + 2 * APART
        return row


def _pitch(size: int) -> int:
    """Return the distance of the two slots of a mailbox in bytes."""
    return -(-size // APART) * APART


def calling(start: Function, test: Function) -> list[int]:
    """Return the row of MPI requests, with the functions that start and test them."""
    assert test.notes is not None
    row = [0] * len(Word)
    row[Word.WHAT], row[Word.DONE] = CALL, 1
    row[Word.VALUES], row[Word.BOX] = start.address, test.address
    row[Word.BYTES], row[Word.PITCH], row[Word.SENT] = start.count, start.things, test.notes
    return row


class Rows:
    """The work of one rank in an exchange.

    Parameters
    ----------
    rows
        A row for each message, and one for requests of MPI.
    kept
        Objects that must live as long.

    Attributes
    ----------
    functions
        The functions that begin an exchange, and that test whether it has finished.
    """

    def __init__(self, rows: Sequence[Sequence[int]], kept: Sequence[object]) -> None:
        self._rows = np.array(rows, np.int64).reshape(-1, len(Word))
        self._kept = kept
        given = len(rows), self._rows.ctypes.data
        made = functions()
        self.functions = Function(made.begin, *given), Function(made.ask, *given, notes=0)

    def pending(self) -> list[int]:
        """Return the numbers of the rows that have not finished."""
        found: list[int] = np.flatnonzero(self._rows[:, Word.DONE] == 0).tolist()
        return found
