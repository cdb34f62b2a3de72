"""The work of one rank in a call: kernels that run one after the other without calling Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ssr.extension import Array, At, Entry, KernelEntry, entry, entry_point

from ..compiled.sequences import Head, Word, chain


class KernelCall:
    """A kernel with its arguments on one rank, which runs for rows of scalars.

    Parameters
    ----------
    kernel
        The kernel, whose attribute ``run`` is available once it is compiled.
    arguments
        Its arguments; the rows of scalars and of results are set by `take`.
    scalars, results
        The positions of these rows among the arguments; None for results that it does not have.

    Attributes
    ----------
    at
        The position of the kernel in its steps, see `ssr.extension.At`; one of the arguments.
    rows
        The number of rows.
    """

    def __init__(
        self,
        kernel: Any,
        arguments: Sequence[Any],
        scalars: int,
        results: int | None,
        at: Array,
    ) -> None:
        self.at = at
        self.rows = 0
        self._kernel, self._arguments = kernel, tuple(arguments)
        self._entry: KernelEntry | None = None
        self._places = [place for place in (scalars, results) if place is not None]

    def take(self, scalars: Array, results: Array) -> None:
        """Set the rows of scalars, and the rows in which the kernel leaves its results."""
        self.rows = len(scalars)
        arguments = [*self._arguments]
        for place, array in zip(self._places, (scalars, results), strict=False):
            arguments[place] = array
            if self._entry is not None:
                self._entry.replace(place, array)
        self._arguments = tuple(arguments)

    def run(self) -> int:
        """Run until all steps end or a step needs the caller; return the reason for the stop."""
        return self._call(*self._arguments)

    @cached_property
    def _call(self) -> Callable[..., int]:
        return entry_point(self._kernel.run)

    @property
    def entry(self) -> KernelEntry:
        """The kernel as a C function."""
        if self._entry is None:
            self._entry = entry(self._kernel.run, self._arguments)
        return self._entry


class Work:
    """The kernels that one rank runs one after the other, without Python between them."""

    def __init__(self, calls: Sequence[KernelCall]) -> None:
        self._calls = calls
        self._chain = _Chain(calls) if len(calls) > 1 else None

    @property
    def place(self) -> int:
        """The number of the kernel that has stopped."""
        return 0 if self._chain is None else self._chain.place

    @property
    def entry(self) -> Entry:
        """The C function that runs the kernels; it returns what `go_on` returns."""
        return self._chain or self._calls[0].entry

    def begin(self) -> None:
        """Go to the first step of the first kernel."""
        if self._chain is not None:
            self._chain.begin()
            return
        (call,) = self._calls
        call.at.fill(0)
        call.at[At.ROWS] = call.rows

    def go_on(self) -> int:
        """Run until all kernels end or a step needs the caller; return the reason for the stop."""
        return self._calls[0].run() if self._chain is None else self._chain()

    def next_step(self) -> None:
        """Advance to the next step."""
        self._calls[self.place].at[At.STEP] += 1


class _Chain(Entry):
    """The entry to several kernels, each for one row of scalars."""

    def __init__(self, calls: Sequence[KernelCall]) -> None:
        self._table = table = np.zeros(len(Head) + len(calls) * len(Word), np.int64)
        table[Head.COUNT] = len(calls)
        rows = table[len(Head) :].reshape(-1, len(Word))
        for row, call in zip(rows, calls, strict=True):
            row[:] = call.entry.address, call.entry.given, call.at.ctypes.data
        super().__init__(chain(), table.ctypes.data)
        self._calls = calls

    @property
    def place(self) -> int:
        """The number of the kernel that has stopped."""
        return int(self._table[Head.PLACE])

    def begin(self) -> None:
        """Begin with the first kernel."""
        self._table[Head.PLACE : Head.BEGUN + 1] = 0

    def raise_problem(self) -> None:
        for call in self._calls:
            call.entry.raise_problem()
