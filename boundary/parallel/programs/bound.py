"""Programs bound to distributed fields: checks of a call, and halo validity between calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

import ssr
from ssr.errors import UnsupportedError
from ssr.extension import Array, check_row, number_of, scalar_rows, wanted

from ..ranks.arguments import RankMemory
from ..ranks.field import Field, Ground
from ..ranks.prepared import Prepared
from ..ranks.values import make_room
from ..schedules.explain import Explained
from ..worlds.work import KernelCalls


class Bound(ABC):
    """A program bound to fields; made by `Program.bind`.

    Call it with the scalars that were not bound, in the order of the program's parameters. All
    ranks call it together.
    """

    def __init__(self, program: ssr.Program, ground: Ground, fields: Mapping[str, Field]) -> None:
        self._program = program
        self._ground = ground
        self._dtype = next(iter(fields.values())).dtype

    def __repr__(self) -> str:
        return f"<{self._program!r} on {self._ground!r}>"

    def __call__(self, *scalars: float) -> Any:
        """Run the program."""
        (results,) = self.repeat([scalars]).tolist()
        return self._program._returned(tuple(results))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            "A bound program can neither be copied nor pickled.",
            note="It holds the memory of its ranks and compiled code.",
            hint="Bind the program in each process; kernels come from the cache.",
        )

    @property
    @abstractmethod
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""

    @abstractmethod
    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars; return a row of results for each."""

    @property
    @abstractmethod
    def schedule(self) -> Explained:
        """The communication schedule of the next call, as a value that prints."""


class BoundOnRanks(Bound):
    """A program bound to fields of several ranks."""

    def __init__(
        self,
        program: ssr.Program,
        ground: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        super().__init__(program, ground, fields)
        self._fields = {name: field.values for name, field in fields.items()}
        self._values = [*self._fields.values()]
        self._open = [name for name, value in scalars.items() if value is None]
        self._plan = plan = ground.plan(program, self._dtype)
        values = *scalars.values(), *plan.declaration.constants
        self._places = [n for n, value in enumerate(values) if value is None]
        self._row = np.array([[0.0 if v is None else v for v in values]])
        self._result = np.zeros((1, plan.meta.results))
        self._rows = self._row, self._result
        plan.schedule()  # raises now if the program cannot be distributed
        self._halos: dict[str, int] = {}
        self._changed = [self._fields[name] for name in plan.changed]
        plan.kernel  # noqa: B018 (starts the compilation, unless the kernel is cached)
        self._prepare()

    def __call__(self, *scalars: float) -> Any:
        """Run the program; see `Bound.__call__`."""
        self._set_scalars(scalars)
        _run([self], [self._rows], self._go)
        return self._returned()

    @staticmethod
    def __ssr_sequence__(programs: Sequence[Bound]) -> ProgramSequence | None:
        """Return the programs as one call of compiled code, if that is possible."""
        some = [p for p in programs if isinstance(p, BoundOnRanks) and not p._plan.examined]
        worlds = {p._ground.world for p in some}
        return ProgramSequence(some) if len(some) == len(programs) and len(worlds) == 1 else None

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return tuple(self._open)

    def _set_scalars(self, scalars: Sequence[float]) -> None:
        """Store the scalars of a call."""
        check_row(scalars, self._open)
        for place, name, value in zip(self._places, self._open, scalars, strict=True):
            self._row[0, place] = number_of(name, value)

    def _returned(self) -> Any:
        """Return the results of a call with these scalars."""
        return self._program._returned(tuple(self._result[0].tolist()))

    @property
    def schedule(self) -> Explained:
        """The communication schedule of the next call, as a value that prints.

        Halos that are up to date since a call before are not exchanged again.
        """
        made = self._plan.explained(self._valid())
        return replace(made, carrier=self._ground.world.carrier)

    def _prepare(self) -> None:
        """Extend the fields by the halos read, allocate other memory, and discard all tables."""
        make_room(self._plan, self._fields)
        here = self._ground.world.here
        self._ranks = [RankMemory(self._plan, rank, self._fields) for rank in here]
        self._moves = self._moved()
        self._ready: dict[frozenset[str], Prepared] = {}

    def _valid(self) -> frozenset[str]:
        """Return the fields that are unchanged since a call left their halos up to date.

        The result is the same on all ranks.
        """
        fields = self._fields
        return frozenset([n for n, change in self._halos.items() if fields[n].changes == change])

    def _moved(self) -> list[int]:
        return [field.moves for field in self._values]

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars; results are bitwise those of single calls."""
        numbers = self._numbers(rows)
        results = np.zeros((len(numbers), self._plan.meta.results))
        done = 0
        while done < len(numbers):
            valid = self._valid()
            end = len(numbers) if valid == self._plan.kept else done + 1
            _run([self], [(numbers[done:end], results[done:end])], self._go)
            done = end
        return results

    def _go(self, ready: Sequence[Prepared]) -> None:
        """Run the prepared program."""
        (made,) = ready
        self._ground.world.go_through(made.calls, made.do)

    def _prepared(self, valid: frozenset[str]) -> Prepared:
        if self._moves != self._moved():  # another program needed more memory
            self._prepare()
        ready = self._ready.get(valid)
        if ready is None:
            if wanted():
                from ..verify.proof import prove  # lazy: its dependencies load slowly

                prove(self._plan, valid)
            world = self._ground.world
            ready = self._ready[valid] = Prepared(self._plan, world, self._ranks, valid)
        return ready

    def _succeed(self) -> None:
        """Count changes of fields after a call, and record which halos are up to date."""
        for field in self._changed:
            field.changes += 1
        self._halos = {name: self._fields[name].changes for name in self._plan.kept}

    def _fail(self) -> None:
        """Count changes of fields after a call that was interrupted; no halo is up to date."""
        self._ready.clear()
        for field in self._changed:
            field.changes += 1
        self._halos = {}

    def _numbers(self, rows: Iterable[Sequence[float]]) -> Array:
        """Return all scalars and constants for each row of unbound scalars."""
        given = scalar_rows(rows, self._open)
        found = np.repeat(self._row, len(given), axis=0)
        found[:, self._places] = given
        return found


class ProgramSequence:
    """Programs of the same ranks that run in sequence without returning to Python.

    Parameters
    ----------
    programs
        The programs, without duplicates.
    """

    def __init__(self, programs: Sequence[BoundOnRanks]) -> None:
        self._programs = tuple(programs)
        numbered = [*enumerate(self._programs)]
        self._taking = [(n, program) for n, program in numbered if program._open]
        self._returning = [(n, program) for n, program in numbered if program._plan.meta.results]
        self._rows = [program._rows for program in self._programs]
        self._world = programs[0]._ground.world
        self._ready: Sequence[Prepared] = ()
        self._works: list[KernelCalls] = []

    def __call__(self, rows: Sequence[Sequence[float]]) -> tuple[Any, ...]:
        """Run the programs, each with a row of scalars; return the results of each."""
        for number, program in self._taking:
            program._set_scalars(rows[number])
        _run(self._programs, self._rows, self._go)
        results: list[Any] = [None] * len(self._programs)
        for number, program in self._returning:
            results[number] = program._returned()
        return tuple(results)

    def _go(self, ready: Sequence[Prepared]) -> None:
        """Run the prepared programs."""
        if ready != self._ready:
            self._ready = ready
            ranks = zip(*(made.calls for made in ready), strict=True)
            self._works = [KernelCalls(calls) for calls in ranks]
        self._world.go_through(self._works, self._do)

    def _do(self, reason: int) -> None:
        """Do the step at which the programs have stopped."""
        self._ready[self._works[0].place].do(reason)


def _run(
    programs: Sequence[BoundOnRanks],
    rows: Sequence[tuple[Array, Array]],
    go: Callable[[Sequence[Prepared]], None],
) -> None:
    """Prepare each program for rows of scalars and of results, and run all by a function."""
    ready = []
    try:
        for program, each in zip(programs, rows, strict=True):
            made = program._prepared(program._valid())
            made.take(each)
            ready.append(made)
            program._succeed()  # the next one is prepared for the state that this one leaves
        go(ready)
    except BaseException:  # such as Ctrl-C: the call is not resumed
        for program in programs:
            program._fail()
        raise
