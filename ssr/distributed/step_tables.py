"""Encode a communication schedule for a distributed kernel as tables of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..points.numbers import Array
from ..runtime.constants import ASK, BEGIN, LEAVE, RUN
from ..runtime.metadata import KernelMeta


@dataclass(frozen=True, slots=True)
class Run:
    """A step that runs a part of the kernel.

    Attributes
    ----------
    nests
        For each nest that runs its table, by the number of the nest.
    calls
        For each call that runs its links and its weights, by the number of the call.
    """

    nests: Mapping[int, Array] = field(default_factory=dict)
    calls: Mapping[int, tuple[Array, Array]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Function:
    """A step that calls a C function.

    Attributes
    ----------
    address
        The address of the function: ``int begin(int count, void *things)``, or ``int ask(int
        count, void *things, int *done, void *notes)``, which is called until it is done.
    count, things, notes
        The arguments of the function; ``notes`` is None for ``begin``.
    """

    address: int
    count: int
    things: int
    notes: int | None = None


Step: TypeAlias = "Run | Function | None"
"""A step of a schedule; None returns control to the caller of the kernel."""


@dataclass(frozen=True, slots=True)
class StepTables:
    """The tables of a schedule that a kernel takes: its steps, and the rows that they refer to."""

    steps: Array
    tables: Array
    links: Array
    weights: Array


def step_tables(meta: KernelMeta, schedule: Sequence[Step], dtype: Any) -> StepTables:
    """Return the tables of a schedule; arrays that several steps name are in them once."""
    tables, links = _Joined(np.int64), _Joined(np.int64)
    weights = _Joined(dtype)
    rows = []
    for step in schedule:
        if step is None:
            rows.append([LEAVE])
        elif isinstance(step, Function):
            given = step.address, step.count, step.things
            rows.append([BEGIN, *given] if step.notes is None else [ASK, *given, step.notes])
        else:
            rows.append([RUN])
            for number in range(len(meta.nests)):
                rows[-1] += tables.place(step.nests.get(number))
            for number in range(len(meta.calls)):
                of_call = step.calls.get(number)
                rows[-1] += links.place(of_call and of_call[0])
                rows[-1] += weights.place(of_call and of_call[1])
    width = max(5, 1 + 2 * len(meta.nests) + 4 * len(meta.calls))
    steps = np.zeros((len(rows), width), np.int64)
    for row, numbers in zip(steps, rows, strict=True):
        row[: len(numbers)] = numbers
    return StepTables(steps, tables.array(), links.array(), weights.array())


class _Joined:
    """Concatenated arrays."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._places: dict[int, list[int]] = {}
        self._arrays: list[Array] = []
        self._end = 0

    def place(self, array: Array | None) -> list[int]:
        """Return where an array begins and ends; one that is not there is empty."""
        if array is None:
            return [0, 0]
        if id(array) not in self._places:
            self._arrays.append(array)
            self._places[id(array)] = [self._end, self._end + array.size]
            self._end += array.size
        return self._places[id(array)]

    def array(self) -> Array:
        """Return all of them as one."""
        every = [array.reshape(-1) for array in self._arrays]
        return np.concatenate([np.empty(0, self._dtype), *every]).astype(self._dtype)
