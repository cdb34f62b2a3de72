"""The work of one rank in a call: a kernel, or several that run one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

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
        self._rows = 0
        self._kernel, self._arguments = kernel, tuple(arguments)
        self._entry: KernelEntry | None = None
        self._scalars, self._results = scalars, results

    def take(self, scalars: Array, results: Array) -> None:
        """Set the rows of scalars, and the rows in which the kernel leaves its results."""
        self._rows = len(scalars)
        arguments = [*self._arguments]
        for place, array in ((self._scalars, scalars), (self._results, results)):
            if place is not None:
                arguments[place] = array
                if self._entry is not None:
                    self._entry.replace(place, array)
        self._arguments = tuple(arguments)

    @cached_property
    def _call(self) -> Callable[..., int]:
        return entry_point(self._kernel.run)

    @property
    def entry(self) -> KernelEntry:
        """The C function that runs the kernel; it returns what `go_on` returns."""
        if self._entry is None:
            self._entry = entry(self._kernel.run, self._arguments)
        return self._entry

    def begin(self) -> None:
        """Go to the first step, for the first row of scalars."""
        self.at.fill(0)
        self.at[At.ROWS] = self._rows

    def go_on(self) -> int:
        """Run until all steps end or a step needs the caller; return the reason for the stop."""
        return self._call(*self._arguments)

    def next_step(self) -> None:
        """Advance to the next step."""
        self.at[At.STEP] += 1


class KernelCalls(Entry):
    """Kernels that one rank runs one after the other without Python, each for one row of scalars.

    It is itself the C function that runs them.
    """

    def __init__(self, calls: Sequence[KernelCall]) -> None:
        self._table = table = np.zeros(len(Head) + len(calls) * len(Word), np.int64)
        table[Head.COUNT] = len(calls)
        rows = table[len(Head) :].reshape(-1, len(Word))
        for row, call in zip(rows, calls, strict=True):
            row[:] = call.entry.address, call.entry.given, call.at.ctypes.data
        super().__init__(chain(), table.ctypes.data)
        self._calls = calls

    @property
    def entry(self) -> Entry:
        """The C function that runs the kernels; it returns the value of `go_on`."""
        return self

    @property
    def place(self) -> int:
        """The number of the kernel that has stopped."""
        return int(self._table[Head.PLACE])

    def begin(self) -> None:
        """Begin with the first kernel."""
        self._table[Head.PLACE : Head.BEGUN + 1] = 0

    def go_on(self) -> int:
        """Run until all kernels end or a step needs the caller; return the reason for the stop."""
        return self()

    def next_step(self) -> None:
        """Advance to the next step."""
        self._calls[self.place].next_step()

    def raise_problem(self) -> None:
        """Raise the exception of a kernel, reported by `ssr.extension.RAISED`."""
        for call in self._calls:
            call.entry.raise_problem()


Work: TypeAlias = KernelCall | KernelCalls
"""The work of one rank in a call of one program, or of a sequence of programs."""
