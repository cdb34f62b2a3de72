"""Scratch memory of native programs: one slot for each concurrent call."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from ..points.numbers import Array
from .check_arrays import addresses
from .entry import argument_table
from .launch import Launch, Memory

if TYPE_CHECKING:
    from ..native.python_entry import Compiled

_APPEND = ctypes.CFUNCTYPE(ctypes.c_longlong)


class Slots:
    """The slots of a native program, as `ssr.native.program_call` describes them.

    Parameters
    ----------
    run
        The kernel.
    fields
        Arrays of the layout of the fields, which are not kept.
    scalars
        The number of scalars of a call.

    Attributes
    ----------
    kernel
        The address of the kernel.
    first
        The address of the first slot.
    append
        The address of the function that appends a slot.
    places
        For each field and each scalar its index in the table of arguments.
    """

    def __init__(
        self, run: Compiled, launch: Launch, fields: Sequence[Array], scalars: int
    ) -> None:
        self._lock = RLock()  # a signal handler may call the program
        self._slots: list[tuple[Array, Memory]] = []
        memory = launch.memory()
        middle, end = memory.middle, memory.end
        arguments = [*fields, *middle, *[0.0] * scalars, *end]
        self.kernel, self._table, places = argument_table(run, arguments)
        after = len(fields) + len(middle)
        self.places = [*places[: len(fields)], *places[after : after + scalars]]
        self._scratch = [*places[len(fields) : after], *places[after + scalars :]]
        self.first = self._add(memory, taken=False)
        found = weakref.ref(self)

        def append() -> int:
            """Return the address of a new slot; 0 if its memory cannot be allocated."""
            owner = found()
            try:
                return owner._add(launch.memory(), taken=True) if owner else 0
            except MemoryError:
                return 0

        self._append = _APPEND(append)
        self.append = ctypes.cast(self._append, ctypes.c_void_p).value or 0

    def __len__(self) -> int:
        return len(self._slots)

    def _add(self, memory: Memory, *, taken: bool) -> int:
        """Add a slot to the list; return its address."""
        from ..native.program_call import Slot

        slot = np.array([0] * Slot.TABLE + self._table.tolist(), np.int64)
        for place, argument in zip(self._scratch, (*memory.middle, *memory.end), strict=True):
            if isinstance(argument, np.ndarray):
                (slot[Slot.TABLE + place],) = addresses([argument])
        slot[Slot.TAKEN] = taken
        if memory.results is not None:
            (slot[Slot.RESULTS],) = addresses([memory.results])
        (start,) = addresses([slot])
        with self._lock:
            before = self._slots[-1:]
            self._slots.append((slot, memory))
            for last, _ in before:
                last[Slot.NEXT] = start
        return start
