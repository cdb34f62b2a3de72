"""Programs bound to fields of several ranks that run one after the other as one."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ssr.extension import FINISHED, RAISED, Array

from ..compiled.sequences import Head, Word, chain
from ..ranks.arguments import RankCall
from ..ranks.prepared import Prepared
from ..worlds.world import World

_CHAIN = ctypes.CFUNCTYPE(ctypes.c_longlong, ctypes.c_void_p)


class Link(Protocol):
    """A bound program, as one of several that run one after the other."""

    @property
    def world(self) -> World:
        """The ranks."""

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that it takes."""

    @property
    def returns(self) -> bool:
        """Whether it returns anything."""

    @property
    def given(self) -> tuple[Array, Array]:
        """The row of its scalars and the row for what it returns, which stay the same."""

    def take(self, scalars: Sequence[float]) -> None:
        """Take the scalars of a call."""

    def prepared(self) -> Prepared:
        """Return what runs if the program is called now."""

    def noted(self) -> None:
        """Note what the fields are behind a call."""

    def failed(self) -> None:
        """Note that a call has not come to its end."""

    def returned(self) -> Any:
        """Return what a call has returned."""


class Chain:
    """Programs of the same ranks that run one after the other, without Python in between.

    Parameters
    ----------
    programs
        The programs, none of them twice.
    """

    def __init__(self, programs: Sequence[Link]) -> None:
        self._programs = tuple(programs)
        self._world = programs[0].world
        numbered = [*enumerate(self._programs)]
        self._taking = [(n, program) for n, program in numbered if program.scalars]
        self._returning = [(n, program) for n, program in numbered if program.returns]
        self._ready: list[Prepared] = []
        self._works: list[_RankChain] = []

    def __call__(self, rows: Sequence[Sequence[float]]) -> tuple[Any, ...]:
        """Run them, each with a row of scalars; return what each of them returns."""
        for number, program in self._taking:
            program.take(rows[number])
        self._run()
        results: list[Any] = [None] * len(self._programs)
        for number, program in self._returning:
            results[number] = program.returned()
        return tuple(results)

    def _run(self) -> None:
        ready = []
        try:
            for program in self._programs:  # each finds what those before it leave
                ready.append(program.prepared())
                program.noted()
            if ready != self._ready:
                self._ready = ready
                given = [program.given for program in self._programs]
                ranks = zip(*(each.calls for each in ready), strict=True)
                self._works = [_RankChain(calls, given) for calls in ranks]
            self._go()
        except BaseException:
            self._ready = []
            for program in self._programs:
                program.failed()
            raise

    def _go(self) -> None:
        works = self._works
        for work in works:
            work.begin()
        self._world.go_through(works, lambda reason: self._ready[works[0].place].do(reason))


class _RankChain:
    """The programs of one rank, each with the rows of its scalars and of what it returns."""

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
        self._go_on = _CHAIN(chain())
        self._things = table.ctypes.data

    @property
    def place(self) -> int:
        """The number of the program that has stopped."""
        return int(self._table[Head.PLACE])

    def begin(self) -> None:
        """Begin with the first program."""
        self._table[Head.PLACE : Head.BEGUN + 1] = 0

    def go_on(self) -> int:
        """Go on until all is done, or there is a step that is the caller's; return which it is."""
        if self._go_on is not None:
            try:
                reason = int(self._go_on(self._things))
                if reason == RAISED:
                    for entry in self._entries:
                        entry.raise_problem()
                return reason
            except SystemError as error:  # a handler of signals has raised what is behind it
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
        """Return the function of C that goes on, and the address of its argument."""
        return None if self._go_on is None else (chain(), self._things)

    def next_step(self) -> None:
        """Leave a step behind."""
        self._calls[self.place].next_step()
