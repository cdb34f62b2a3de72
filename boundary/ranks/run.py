"""Programs bound to fields of several ranks: kernels run part by part, with messages between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

import ssr
from ssr.errors import ArgumentError, DtypeError, SpaceError
from ssr.extension import number_of, unchecked

from ..schedules.explain import Explained
from ..schedules.messages import Post
from ..schedules.plan import Plan, plan
from ..schedules.schedule import KernelPart, Reduce, Start, Step, Wait
from .arguments import Arguments, RankMemory, arguments
from .field import Field, Ground
from .moves import RankMoves
from .tables import RankTables
from .world import Channel, Letter

Action: TypeAlias = "Callable[[], None] | list[Arguments]"
"""A step of a schedule: messages, or a part of the kernel with the arguments of each rank."""


class BoundHere:
    """A program bound to fields of several ranks; made by `Program.bind`.

    Call it with the scalars that were not bound, in the order of the program's parameters. All
    ranks call it together.
    """

    def __init__(
        self,
        program: ssr.Program,
        ground: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        self._program = program
        self._ground = ground
        self._fields = {name: field.values for name, field in fields.items()}
        self._scalars = dict(scalars)
        self._open = [name for name, value in scalars.items() if value is None]
        dtype = next(iter(fields.values())).dtype
        ground.world.first(
            lambda: self._plan_for(dtype), f"the making of {program.ir.name}'s kernel"
        )
        self._prepare()

    def __repr__(self) -> str:
        return f"<{self._program!r} on {self._ground!r}>"

    @property
    def schedule(self) -> Explained:
        """What the next call exchanges, and when, as a value that prints.

        Fields that have not changed since a call before are not exchanged again.
        """
        return self._plan.explained(self._fresh())

    def _plan_for(self, dtype: np.dtype[Any]) -> None:
        """Find out what cannot be distributed, and compile the kernel unless the cache has it."""
        self._plan = plan(self._program, self._ground.partition, dtype)
        self._plan.schedule()
        self._plan.kernel  # noqa: B018 (it is compiled now)

    def _prepare(self) -> None:
        """Make room in the fields for what is read, and memory for the rest; forget all tables."""
        here, fields = self._ground.world.here, self._fields
        for rank in here:
            for name, field in fields.items():
                field.room(rank, *self._plan.room(rank, self._plan.parts[name]))
        self._ranks = [RankMemory(self._plan, rank, fields) for rank in here]
        self._tables = [RankTables(self._plan.footprint, rank) for rank in self._ranks]
        self._moves = self._moved()
        self._ready: dict[frozenset[str], _Ready] = {}
        self._seen: dict[str, int] = {}

    def _fresh(self) -> frozenset[str]:
        """Return the fields that have not changed since a call before."""
        seen = self._seen
        return frozenset(n for n, field in self._fields.items() if seen.get(n) == field.changes)

    def _moved(self) -> tuple[int, ...]:
        return tuple(field.moves for field in self._fields.values())

    def __call__(self, *scalars: float) -> Any:
        """Run the program.

        Raises
        ------
        ArgumentError
            If the numbers are not those of the scalars without a value.
        """
        numbers = self._numbers(scalars)
        if self._moves != self._moved():  # another program needed more room
            self._prepare()
        fresh = self._fresh()
        ready = self._ready.get(fresh)
        if ready is None:
            ready = self._ready[fresh] = self._made_ready(fresh)
        try:
            results = ready.run(numbers)
        except BaseException:  # such as Ctrl-C: what is under way is not taken up again
            self._ready.clear()
            raise
        finally:
            for name in self._plan.changed:
                self._fields[name].changes += 1
        for name, field in self._fields.items():
            if name not in self._plan.changed:
                self._seen[name] = field.changes
        return self._program.returned(results)

    def _made_ready(self, fresh: frozenset[str]) -> _Ready:
        return _Ready(self._plan, self._ground, self._ranks, self._tables, fresh)

    def _numbers(self, scalars: Sequence[float]) -> list[Any]:
        """Return the numbers of all scalars in the type of the kernel."""
        if len(scalars) != len(self._open):
            raise ArgumentError(
                f"The program takes {len(self._open)} scalars ({', '.join(self._open)}), "
                f"not {len(scalars)}."
            )
        kind, given = self._plan.dtype.type, iter(scalars)
        return [
            kind(number_of(name, next(given) if value is None else value))
            for name, value in self._scalars.items()
        ]


class BoundAlone:
    """A program bound to fields of a job of one process; it runs as on arrays."""

    def __init__(
        self,
        program: ssr.Program,
        ground: Ground,
        fields: Mapping[str, Field],
        scalars: Mapping[str, float | None],
    ) -> None:
        self._program = program
        self._ground = ground
        self._dtype = next(iter(fields.values())).dtype
        arrays = {name: field.values.whole for name, field in fields.items()}
        values = {name: value for name, value in scalars.items() if value is not None}
        self._run = program.bind(**arrays, **values)

    def __repr__(self) -> str:
        return f"<{self._program!r} on {self._ground!r}>"

    def __call__(self, *scalars: float) -> Any:
        """Run the program; see `BoundHere.__call__`."""
        return self._run(*scalars)

    @property
    def schedule(self) -> Explained:
        """What a call exchanges: nothing, but moves between blocks show where ranks would meet."""
        return plan(self._program, self._ground.partition, self._dtype).explained(frozenset())


Bound: TypeAlias = BoundHere | BoundAlone
"""A program bound to fields."""


def bound_program(
    program: ssr.Program, ground: Ground, args: tuple[Any, ...], named: Mapping[str, Any]
) -> Bound:
    """Return a program bound to fields; scalars may be left out.

    Raises
    ------
    ArgumentError
        If an array stands where a field belongs, or fields are spread in different ways.
    SpaceError, DtypeError
        If a field is on another space than the parameter, or fields have different types.
    UnsupportedError
        If the program cannot be distributed.
    """
    given = program.signature.arranged(args, named, partly=True)
    for (_, kind), value in zip(program.signature.kinds, given, strict=True):
        if isinstance(value, Field) and value.kind == kind:  # sizes are those of its level
            ground = value.spread
            break
    fields: dict[str, Field] = {}
    scalars: dict[str, float | None] = {}
    for (name, kind), value in zip(program.signature.kinds, given, strict=True):
        if hasattr(kind, "shape"):
            fields[name] = _field(program, ground, name, kind, value)
        else:
            scalars[name] = None if value is None else number_of(name, value)
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
    if ground.world.alone:
        return BoundAlone(program, ground, fields, scalars)
    return BoundHere(program, ground, fields, scalars)


def _field(program: ssr.Program, ground: Ground, name: str, kind: Any, value: Any) -> Field:
    """Return an argument as a field that fits its parameter."""
    if not isinstance(value, Field):
        raise ArgumentError(
            f"{name!r} is {type(value).__name__}; other arguments of {program.ir.name} are fields "
            "of several ranks.",
            hint="Make it one: on.scatter(space, array), or on.zeros(space).",
        )
    if value.spread is ground and value.kind != kind:
        raise SpaceError(f"{name!r} is on {value.kind!r}; {program.ir.name} takes {kind!r}.")
    if value.spread is not ground and not _stands_for(value, kind, ground):
        raise ArgumentError(
            f"{name!r} is spread in another way than other fields of {program.ir.name}.",
            hint="Make all fields of a program by one bc.spread(...).",
        )
    return value


def _stands_for(field: Field, kind: Any, ground: Ground) -> bool:
    """Whether a field of another spread, such as a coarser level, has points of this one."""
    space = getattr(kind, "space", kind)
    one, other = field.spread.partition, ground.partition
    return (
        field.spread.world == ground.world
        and field.components == getattr(kind, "components", None)
        and np.array_equal(one.owners, other.owners)
        and np.array_equal(one.owned(field.space), other.owned(space))
    )


class _Ready:
    """A program with its tables and messages, for fields of which some have not changed."""

    def __init__(
        self,
        plan: Plan,
        ground: Ground,
        ranks: Sequence[RankMemory],
        tables: Sequence[RankTables],
        fresh: frozenset[str],
    ) -> None:
        self._plan, self._ranks, self._tables, self._world = plan, ranks, tables, ground.world
        self._reduces = bool(plan.meta.reductions)
        made = plan.schedule(fresh)
        posts = [Post(plan.footprint, exchange) for exchange in made.exchanges]
        self._moves = [RankMoves(plan.footprint, posts, rank, plan.dtype) for rank in ranks]
        titles = [Explained(plan.footprint, made).title(number) for number in range(len(posts))]
        self._channels = [self._channel(number, title) for number, title in enumerate(titles)]
        self._actions: list[Action] = [self._action(step) for step in made.steps]
        self._run = unchecked(plan.kernel.run)

    def _channel(self, exchange: int, title: str) -> Channel:
        """Return the channel of an exchange for the ranks of this process."""
        outgoing: list[Letter] = []
        incoming: list[Letter] = []
        for moves in self._moves:
            mail, slot = moves.mails[exchange], moves.slots[exchange]
            for messages, starts, letters in (
                (mail.sends, slot.sends, outgoing),
                (mail.receives, slot.receives, incoming),
            ):
                for message, start in zip(messages, starts, strict=True):
                    values = moves.messages[start : start + message.count]
                    letters.append(Letter(message.source, message.target, values))
        return self._world.channel(outgoing, incoming, title)

    def _action(self, step: Step) -> Action:
        match step:
            case Start(exchange):
                return self._channels[exchange].start
            case Wait(exchange):
                return self._channels[exchange].wait
            case Reduce(unit):
                return lambda: self._reduce(unit)
            case KernelPart():
                every = zip(self._ranks, self._tables, self._moves, strict=True)
                return [arguments(self._plan, step, *of_rank) for of_rank in every]

    def _reduce(self, unit: int) -> None:
        folds = self._plan.footprint.units[unit].folds
        kinds, rows = [kind for _, kind, _ in folds], [row for _, _, row in folds]
        what = f"a reduction of {self._plan.declaration.program.name}"
        states = [rank.states[rows] for rank in self._ranks]
        whole = self._world.reduced(kinds, states, what)
        for rank in self._ranks:
            rank.states[rows] = whole

    def run(self, scalars: Sequence[Any]) -> tuple[float, ...]:
        """Run the program; return its numbers."""
        run = self._run
        if self._reduces:
            for rank in self._ranks:
                rank.states[...] = 0
        for action in self._actions:
            if callable(action):
                action()
                continue
            for before, behind in action:
                refused = run(*before, *scalars, *behind)
                assert not refused, "the kernel refused arrays of the layout it was prepared for"
        return tuple(self._ranks[0].results.tolist()) if self._plan.meta.results else ()
