"""Programs bound to fields of several ranks: kernels run part by part, with messages between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import ssr
from ssr.errors import ArgumentError, DtypeError, SpaceError
from ssr.extension import (
    STATE,
    Array,
    BufferMeta,
    Declaration,
    Kernel,
    build,
    declaration_of,
    ir,
    layout_of,
    number_of,
    offsets_of,
)

from ..partition.boxes import Box, as_box, volume
from ..schedules.exchanges import exchanges
from .field import Field, Ground
from ..schedules.footprint import Footprint
from .memory import Memory
from ..schedules.messages import Post, at_hand
from ..schedules.explain import Explained
from ..schedules.schedule import KernelPart, Reduce, Schedule, Start, Wait, schedule
from .tables import RankTables
from .world import Channel, Letter

Call = Callable[[], Any]


class BoundHere:
    """A program bound to fields of several ranks; made by `Program.bind`.

    Call it with the scalars that were not bound, in the order of the program's parameters. All
    ranks call it together.
    """

    def __init__(
        self,
        program: ssr.Program,
        spread: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        self._program = program
        self._spread = spread
        self._fields = dict(fields)
        self._scalars = dict(scalars)
        self._open = [name for name, value in scalars.items() if value is None]
        self._form = _form(program, spread, self._fields)
        self._moves: tuple[int, ...] = ()
        self._ready: dict[frozenset[str], _Ready] = {}
        self._ranks: list[_RankMemory] = []
        self._seen: dict[str, int] = {}
        self._prepare()

    def __repr__(self) -> str:
        return f"<{self._program!r} on {self._spread!r}>"

    def _prepare(self) -> None:
        """Make room in the fields for what is read, and memory for the rest; forget all tables."""
        form, spread = self._form, self._spread
        for rank in spread.world.here:
            for name, field in self._fields.items():
                near, far = _room(form.footprint, rank, form.parts[name])
                field.room(rank, near, far)
        self._ranks = [_RankMemory(form, spread, rank, self._fields) for rank in spread.world.here]
        self._moves = tuple(field.moves for field in self._fields.values())
        self._ready = {}
        self._seen = {}

    def __call__(self, *scalars: float) -> Any:
        """Run the program.

        Raises
        ------
        ArgumentError
            If the numbers are not those of the scalars without a value.
        """
        if len(scalars) != len(self._open):
            raise ArgumentError(
                f"The program takes {len(self._open)} scalars ({', '.join(self._open)}), "
                f"not {len(scalars)}."
            )
        if self._moves != tuple(field.moves for field in self._fields.values()):
            self._prepare()
        fresh = frozenset(n for n, f in self._fields.items() if self._seen.get(n) == f.changes)
        ready = self._ready.get(fresh)
        if ready is None:
            ready = self._ready[fresh] = _Ready(self._form, self._spread, self._ranks, fresh)
        given = dict(zip(self._open, scalars, strict=True))
        numbers = [
            given[name] if value is None else value for name, value in self._scalars.items()
        ]
        results = ready.run([self._form.dtype.type(number_of(n, v)) for n, v in zip(self._scalars, numbers, strict=True)])
        for name in self._form.changed:
            self._fields[name].changes += 1
        self._seen = {
            name: field.changes
            for name, field in self._fields.items()
            if name not in self._form.changed
        }
        return self._program.returned(results)

    @property
    def schedule(self) -> Any:
        """What is exchanged, and when: a value that prints, and that `explain` tells more of."""
        from ..schedules.explain import Explained

        every = exchanges(self._form.footprint)
        return Explained(
            self._form.footprint, schedule(self._form.footprint, every), self._form.dtype.itemsize
        )


def bound_program(
    program: ssr.Program,
    spread: Ground,
    args: tuple[Any, ...],
    named: Mapping[str, Any],
    *,
    partly: bool,
) -> BoundHere:
    """Return a program bound to fields; scalars may be left out.

    Raises
    ------
    ArgumentError
        If an array stands where a field belongs, or fields are spread in different ways.
    SpaceError
        If a field is on another space than the parameter.
    """
    given = program.signature.arranged(args, named, partly=partly)
    fields: dict[str, Field] = {}
    scalars: dict[str, float | None] = {}
    for (name, kind), value in zip(program.signature.kinds, given, strict=True):
        if hasattr(kind, "shape"):
            fields[name] = _field(program, spread, name, kind, value)
        else:
            scalars[name] = value
    kinds = {field.dtype for field in fields.values()}
    if len(kinds) > 1:
        raise DtypeError(
            f"The fields have dtypes {', '.join(sorted(str(k) for k in kinds))}.",
            hint="All fields of a call have one type.",
        )
    return BoundHere(program, spread, fields, scalars)


def _field(program: ssr.Program, spread: Ground, name: str, kind: Any, value: Any) -> Field:
    """Return an argument as a field that fits its parameter."""
    if not isinstance(value, Field):
        raise ArgumentError(
            f"{name!r} is {type(value).__name__}; other arguments of {program.ir.name} are fields "
            "of several ranks.",
            hint="Make it one: on.scatter(space, array), or on.zeros(space).",
        )
    if value.spread is not spread:
        raise ArgumentError(
            f"{name!r} is spread in another way than the other fields of {program.ir.name}.",
            hint="Make all fields by one bc.spread(...).",
        )
    if value.kind != kind:
        raise SpaceError(f"{name!r} is on {value.kind!r}; {program.ir.name} takes {kind!r}.")
    return value


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """A program in its distributed form.

    ``parts`` has for each field the names of its arrays in the kernel; ``changed`` the names of
    the fields that a call changes.
    """

    declaration: Declaration
    kernel: Kernel
    footprint: Footprint
    dtype: np.dtype[Any]
    parts: Mapping[str, tuple[str, ...]]
    changed: frozenset[str]


def _form(program: ssr.Program, spread: Ground, fields: Mapping[str, Field]) -> _Form:
    """Return the distributed form of a program, which does not depend on the rank."""
    declaration = _generally(declaration_of(program))
    dtype = next(iter(fields.values())).dtype
    options = replace(declaration.options, distributed=True)
    kernel = build(declaration.program, options, dtype.name)
    footprint = Footprint(declaration, kernel.meta, spread.partition)
    vectors = dict(declaration.program.vectors)
    parts = {name: vectors.get(name, (name,)) for name in fields}
    written = frozenset().union(*footprint.written) if footprint.written else frozenset()
    changed = frozenset(n for n, several in parts.items() if not written.isdisjoint(several))
    return _Form(declaration, kernel, footprint, dtype, parts, changed)


def _generally(declaration: Declaration) -> Declaration:
    """Return a program whose fills work through any part of their tables."""
    program = declaration.program
    steps = tuple(
        replace(step, external=step.external.generally()) if isinstance(step, ir.Call) else step
        for step in program.steps
    )
    return replace(declaration, program=replace(program, steps=steps))


def _room(
    footprint: Footprint, rank: int, arrays: Sequence[str]
) -> tuple[dict[int, Box], dict[int, list[Box]]]:
    """Return what boxes of a rank hold of some arrays of one space: around them, and elsewhere."""
    near: dict[int, Box] = {}
    far: dict[int, list[Box]] = {}
    for array in arrays:
        hulls = footprint.hull(array)
        for box in footprint.partition.of_rank(rank):
            points = as_box(hulls[box])
            if volume(points):
                known = near.get(box)
                near[box] = points if known is None else _both(known, points)
    for read in footprint.reads:
        if read.far and read.array in arrays:
            for box in footprint.partition.of_rank(rank):
                for row in read.boxes[read.numbers == box]:
                    points = as_box(row)
                    if at_hand(footprint, read.array, box, points) is None:
                        far.setdefault(box, []).append(points)
    return near, far


def _both(one: Box, other: Box) -> Box:
    return tuple(
        (min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other, strict=True)
    )


class _RankMemory:
    """The memory of one rank for all arrays of a program, in the order of the kernel."""

    def __init__(
        self, form: _Form, spread: Ground, rank: int, fields: Mapping[str, Field]
    ) -> None:
        meta, declaration = form.kernel.meta, form.declaration
        self.rank = rank
        self.memories: dict[str, Memory] = {}
        for name, field in fields.items():
            for part in form.parts[name]:
                self.memories[part] = field.memories[rank]
        for name in meta.temporaries:
            memory = Memory(form.footprint.spaces[name].ndim, None, form.dtype)
            memory.grow(*_room(form.footprint, rank, (name,)))
            self.memories[name] = memory
        captured = meta.fields[len(meta.fields) - len(declaration.captured) :]
        self.captured = dict(zip(captured, declaration.captured, strict=True))
        self.given = [field.memories[rank].array for field in fields.values()]
        self.apart = [
            array
            for name, field in fields.items()
            for array in field.memories[rank].arrays()
        ]
        self.temporaries = [self.memories[name].array for name in meta.temporaries]
        self.states = np.zeros((meta.reductions, STATE), np.int64)
        self.results = np.zeros(meta.results)

    def whole(self, form: _Form) -> dict[str, tuple[int, ...]]:
        """Return the offsets of the arrays of matrices, which all boxes read whole."""
        return {
            name: offsets_of(form.declaration.spaces[name], array)
            for name, array in self.captured.items()
        }


class _Ready:
    """A program with its tables and messages, for fields of which some have not changed."""

    def __init__(
        self,
        form: _Form,
        spread: Ground,
        ranks: Sequence[_RankMemory],
        fresh: frozenset[str],
    ) -> None:
        self._form, self._ranks, self._world = form, ranks, spread.world
        kept = [part for name in fresh for part in form.parts[name]]
        found = exchanges(form.footprint, kept)
        self.schedule: Schedule = schedule(form.footprint, found)
        posts = [Post(form.footprint, exchange) for exchange in found]
        self._tables = [
            RankTables(form.footprint, posts, r.rank, r.memories, r.whole(form)) for r in ranks
        ]
        for tables in self._tables:
            for unit, step in enumerate(form.footprint.units):
                if step.kind == "call":
                    tables.stand(unit)
        self._messages = [np.zeros(t.room, form.dtype) for t in self._tables]
        self._channels = [self._channel(number) for number in range(len(found))]
        self._scalars = [np.zeros(0)]
        self._steps: list[Any] = [self._step(step) for step in self.schedule.steps]

    def _channel(self, exchange: int) -> Channel:
        """Return the channel of an exchange for the ranks of this process."""
        outgoing, incoming = [], []
        for tables, memory in zip(self._tables, self._messages, strict=True):
            mail, slot = tables.mails[exchange], tables.slots[exchange]
            for message, start in zip(mail.sends, slot.sends, strict=True):
                values = memory[start : start + message.count]
                outgoing.append(Letter(message.source, message.target, values))
            for message, start in zip(mail.receives, slot.receives, strict=True):
                values = memory[start : start + message.count]
                incoming.append(Letter(message.source, message.target, values))
        return self._world.channel(outgoing, incoming)

    def _step(self, step: Any) -> Any:
        match step:
            case Start(exchange):
                return self._channels[exchange].start
            case Wait(exchange):
                return self._channels[exchange].wait
            case Reduce(unit):
                return lambda: self._reduce(unit)
        return [
            self._arguments(step, rank, tables, memory)
            for rank, tables, memory in zip(self._ranks, self._tables, self._messages, strict=True)
        ]

    def _reduce(self, unit: int) -> None:
        for _, kind, row in self._form.footprint.units[unit].folds:
            state = self._world.reduced(kind, [rank.states[row] for rank in self._ranks])
            for rank in self._ranks:
                rank.states[row] = state

    def _arguments(
        self, part: KernelPart, rank: _RankMemory, tables: RankTables, messages: Array
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return the arguments of the kernel before and behind the scalars of a call."""
        meta, form = self._form.kernel.meta, self._form
        nests: dict[int, Array] = {}
        calls: dict[int, tuple[Array, Array, Array]] = {}
        nothing = np.zeros(0, form.dtype)
        place = unit = 0
        for record in meta.units:
            if record.kind == "move":
                calls[record.number] = tables.moves(part, place), nothing, messages
                place += 1
                continue
            rows = part.units.get(unit)
            if record.kind == "nest":
                table = tables.nest(unit, rows or "all")
                nests[record.number] = table if rows else table[:0]
            else:
                made = tables.call(unit, form.dtype)
                links = made.links if rows else STOP
                calls[record.number] = links, made.weights, np.zeros(made.scratch, form.dtype)
            unit += 1
        buffers = [
            np.zeros(self._buffer(tables, buffer), form.dtype) for buffer in meta.buffers
        ]
        middle = (
            *rank.captured.values(),
            *rank.temporaries,
            *buffers,
            *(calls[n][2] for n in range(len(meta.calls))),
        )
        constants = tuple(form.dtype.type(v) for v in form.declaration.constants)
        ends: list[Any] = []
        if meta.reductions:
            ends.append(rank.states)
        if meta.results:
            ends.append(rank.results)
        every = [*rank.apart, *rank.captured.values()]
        end = (
            *constants,
            *ends,
            layout_of(every, 0),
            *(nests[n] for n in range(len(meta.nests))),
            *(array for n in range(len(meta.calls)) for array in calls[n][:2]),
        )
        first = rank.given if meta.whole else rank.apart
        return (*first, *middle), end

    def _buffer(self, tables: RankTables, buffer: BufferMeta) -> int:
        units = self._form.footprint.units
        nests = (n for n, u in enumerate(units) if u.kind == "nest" and u.number == buffer.nest)
        return tables.buffer(next(nests), buffer)

    def run(self, scalars: Sequence[Any]) -> tuple[float, ...]:
        """Run the program; return its numbers."""
        run = self._form.kernel.run
        for rank in self._ranks:
            rank.states[...] = 0
        for step in self._steps:
            if not isinstance(step, list):
                step()
                continue
            for before, behind in step:
                refused = run(*before, *scalars, *behind)
                assert not refused, "the kernel refused arrays of the layout it was prepared for"
        return tuple(self._ranks[0].results.tolist())


STOP = np.zeros(1, np.int64)
"""The tables of a step of another package that does not run."""
