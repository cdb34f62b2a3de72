"""Programs bound to fields: what a call checks, and what it remembers for the next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, DtypeError, SpaceError, UnsupportedError
from ssr.extension import (
    Array,
    Declaration,
    VectorSpace,
    check_row,
    declaration,
    number_of,
    opened,
    scalar_rows,
    wanted,
)

from ..ranks.arguments import RankMemory
from ..ranks.facts import of_arguments
from ..ranks.field import Field, Ground
from ..ranks.prepared import Prepared
from ..ranks.tables import RankTables
from ..ranks.values import Values
from ..schedules.explain import Explained
from ..worlds.world import World
from .sequence import Chain


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
        return self._program.returned(tuple(results))

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


class BoundHere(Bound):
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
        plan.schedule()  # what cannot be distributed is found out now
        self._halos: dict[str, int] = {}
        self._changed = [self._fields[name] for name in plan.changed]
        plan.kernel  # noqa: B018 (it is compiled from now on, unless the cache has it)
        self._prepare()

    def __call__(self, *scalars: float) -> Any:
        """Run the program; see `Bound.__call__`."""
        self.take(scalars)
        self._run(self._valid(), self._row, self._result)
        return self.returned()

    @staticmethod
    def __ssr_sequence__(programs: Sequence[Bound]) -> Chain | None:
        """Return what runs programs without Python in between, if that is possible."""
        some = [program for program in programs if isinstance(program, BoundHere)]
        world = some[0].world
        chained = all(p.world == world and p.is_chained for p in some)
        return Chain(some) if chained and len(some) == len(programs) else None

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return tuple(self._open)

    @property
    def returns(self) -> bool:
        """Whether the program returns anything."""
        return bool(self._plan.meta.results)

    @property
    def world(self) -> World:
        """The ranks."""
        return self._ground.world

    @property
    def is_chained(self) -> bool:
        """Whether compiled code can go from this program to the next one."""
        return not self._plan.examined

    @property
    def given(self) -> tuple[Array, Array]:
        """The row of scalars of a call, and the row for what it returns, which stay the same."""
        return self._row, self._result

    def take(self, scalars: Sequence[float]) -> None:
        """Take the scalars of a call."""
        check_row(scalars, self._open)
        for place, name, value in zip(self._places, self._open, scalars, strict=True):
            self._row[0, place] = number_of(name, value)

    def returned(self) -> Any:
        """Return what a call with these scalars has returned."""
        return self._program.returned(tuple(self._result[0].tolist()))

    @property
    def schedule(self) -> Explained:
        """The communication schedule of the next call, as a value that prints.

        Halos that are up to date since a call before are not exchanged again.
        """
        made = self._plan.explained(self._valid())
        return replace(made, carrier=self._ground.world.carrier)

    def _prepare(self) -> None:
        """Make room in the fields for what is read, and memory for the rest; forget all tables."""
        here, fields = self._ground.world.here, self._fields
        for rank in here:
            for name, field in fields.items():
                field.room(rank, self._plan, name)
        self._ranks = [RankMemory(self._plan, rank, fields) for rank in here]
        plan = self._plan
        self._tables = [RankTables(plan.footprint, plan.fronts, rank) for rank in self._ranks]
        self._moves = self._moved()
        self._ready: dict[frozenset[str], Prepared] = {}

    def _valid(self) -> frozenset[str]:
        """Return the fields that are unchanged since a call left their halos up to date.

        They are the same on all ranks.
        """
        fields = self._fields
        return frozenset([n for n, change in self._halos.items() if fields[n].changes == change])

    def _moved(self) -> list[int]:
        return [field.moves for field in self._values]

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars, one after the other, with the bits of calls."""
        numbers = self._numbers(rows)
        results = np.zeros((len(numbers), self._plan.meta.results))
        done = 0
        while done < len(numbers):
            valid = self._valid()
            end = len(numbers) if valid == self._plan.kept else done + 1
            self._run(valid, numbers[done:end], results[done:end])
            done = end
        return results

    def _run(self, valid: frozenset[str], numbers: Array, results: Array) -> None:
        """Run the program for rows of numbers, before each of which the same halos are valid."""
        ready = self._prepared(valid)
        try:
            ready.run(numbers, results)
        except BaseException:  # such as Ctrl-C: what is under way is not taken up again
            self.failed()
            raise
        self.noted()

    def prepared(self) -> Prepared:
        """Return what runs if the program is called now."""
        return self._prepared(self._valid())

    def _prepared(self, valid: frozenset[str]) -> Prepared:
        if self._moves != self._moved():  # another program needed more room
            self._prepare()
        ready = self._ready.get(valid)
        if ready is None:
            if wanted():
                from ..verify.proof import prove  # what it needs takes long to import

                prove(self._plan, valid)
            ready = self._ready[valid] = Prepared(
                self._plan, self._ground.world, self._ranks, self._tables, valid
            )
        return ready

    def noted(self) -> None:
        """Note what the fields are behind a call."""
        for field in self._changed:
            field.changes += 1
        self._halos = {name: self._fields[name].changes for name in self._plan.kept}

    def failed(self) -> None:
        """Note that a call has not come to its end: no halo is valid."""
        self._ready.clear()
        for field in self._changed:
            field.changes += 1
        self._halos = {}

    def _numbers(self, rows: Iterable[Sequence[float]]) -> Array:
        """Return the numbers of all scalars and constants for each row of those without a value."""
        given = scalar_rows(rows, self._open)
        found = np.repeat(self._row, len(given), axis=0)
        found[:, self._places] = given
        return found


class BoundAlone(Bound):
    """A program bound to fields of a job of one process; it runs as on arrays."""

    def __init__(
        self,
        program: ssr.Program,
        ground: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        super().__init__(program, ground, fields)
        arrays = {name: field.values.whole for name, field in fields.items()}
        values = {name: value for name, value in scalars.items() if value is not None}
        self._run = program.bind(**arrays, **values)

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return tuple(self._run.scalars)

    def __call__(self, *scalars: float) -> Any:
        """Run the program; see `Bound.__call__`."""
        return self._run(*scalars)

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars; see `BoundHere.repeat`."""
        return self._run.repeat(rows)

    @property
    def schedule(self) -> Explained:
        """The schedule of a call: transfers between blocks show where ranks would exchange."""
        return self._ground.plan(self._program, self._dtype).explained()


class BoundBoxed(Bound):
    """A program whose values depend on boxes, bound to fields of a job of one process.

    Its boxes share one array for each field, and have memory of their own in copies of the fields.
    """

    def __init__(
        self,
        program: ssr.Program,
        ground: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        super().__init__(program, ground, fields)
        copies = {name: Field(f.distribution.boxed, f.kind, f.dtype) for name, f in fields.items()}
        self._run = BoundHere(program, ground.boxed, copies, scalars)
        self._pairs = {name: (f.values, copies[name].values) for name, f in fields.items()}
        self._changed = ground.boxed.plan(program, self._dtype).changed

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return self._run.scalars

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars; see `BoundHere.repeat`."""
        for whole, apart in self._pairs.values():
            _copy(whole, apart)
        try:
            return self._run.repeat(rows)
        finally:
            for name in self._changed:
                _copy(*reversed(self._pairs[name]))

    @property
    def schedule(self) -> Explained:
        """The communication schedule of the next call between boxes; see `BoundHere.schedule`."""
        return self._run.schedule


def _copy(source: Values, target: Values) -> None:
    """Set values to others, which have the same boxes."""
    for (_, there), (_, here) in zip(source.views(), target.views(), strict=True):
        here[...] = there
    target.changes += 1


def bound_program(
    program: ssr.Program,
    ground: Ground,
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    *,
    agreed: bool,
) -> Bound:
    """Return a program bound to fields; scalars may be left out."""
    given = program.signature.arranged(args, named, partly=True)
    with_data, data = opened(declaration(program))
    scalars: dict[str, float | None] = {}
    places: list[tuple[str, Any, Any]] = []
    for (name, kind), value in zip(program.signature.kinds, given, strict=True):
        if hasattr(kind, "shape"):
            places.append((name, kind, value))
        else:
            scalars[name] = None if value is None else number_of(name, value)
    places += [(name, _kind(with_data, name), value) for name, value in data.items()]
    for _, kind, value in places:
        if isinstance(value, Field) and value.kind == kind:  # sizes are those of its level
            ground = value.distribution
            break
    fields = {name: _field(program, ground, name, kind, value) for name, kind, value in places}
    kinds = {str(field.dtype) for field in fields.values()}
    if len(kinds) > 1:
        raise DtypeError(
            f"The fields have dtypes {', '.join(sorted(kinds))}.",
            hint="All fields of a call have one type.",
        )
    twice = [n for n, f in fields.items() if sum(f is other for other in fields.values()) > 1]
    if twice:
        raise ArgumentError(
            f"{' and '.join(map(repr, twice))} of {program.ir.name} are the same field.",
            hint="Give a copy: field.copy().",
        )
    if ground.world.alone and declaration(program).local and len(ground.partition) > 1:
        return BoundBoxed(program, ground, fields, scalars)
    if ground.world.alone:
        return BoundAlone(program, ground, fields, scalars)
    if agreed:
        ground.world.agree(of_arguments(f"the binding of {program.ir.name}", fields, scalars))
    return BoundHere(program, ground, fields, scalars)


def _kind(declared: Declaration, name: str) -> Space | VectorSpace:
    """Return the points of a field of a program, by the name of the parameter."""
    parts = dict(declared.program.vectors).get(name)
    return declared.spaces[parts[0]].vector(len(parts)) if parts else declared.spaces[name]


def _field(program: ssr.Program, ground: Ground, name: str, kind: Any, value: Any) -> Field:
    """Return an argument as a field that fits its parameter."""
    if not isinstance(value, Field):
        raise ArgumentError(
            f"{name!r} is {type(value).__name__}; other arguments of {program.ir.name} are fields "
            "of several ranks.",
            hint="Make it one: on.scatter(space, array), or on.zeros(space).",
        )
    if value.distribution is ground and value.kind != kind:
        raise SpaceError(f"{name!r} is on {value.kind!r}; {program.ir.name} takes {kind!r}.")
    if value.distribution is not ground and not _stands_for(value, kind, ground):
        raise ArgumentError(
            f"{name!r} is distributed differently from the other fields of {program.ir.name}.",
            hint="Make all fields of a program by one bc.distribute(...).",
        )
    return value


def _stands_for(field: Field, kind: Any, ground: Ground) -> bool:
    """Whether a field of another distribution, such as a coarser level, has points of this one."""
    space = getattr(kind, "space", kind)
    one, other = field.distribution.partition, ground.partition
    return (
        field.distribution.world == ground.world
        and field.components == getattr(kind, "components", None)
        and np.array_equal(one.owners, other.owners)
        and np.array_equal(one.owned(field.space), other.owned(space))
    )
