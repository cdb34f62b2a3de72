"""Binding of a program to fields: on arrays, on the boxes of one process, or on ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, DtypeError, SpaceError
from ssr.extension import Array, Declaration, VectorSpace, declaration, number_of, opened

from ..ranks.facts import of_arguments
from ..ranks.field import Field, Ground
from ..schedules.explain import Explained
from .bound import Bound, BoundOnRanks


class BoundOnArrays(Bound):
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
        """Run the program for each row of scalars; see `BoundOnRanks.repeat`."""
        return self._run.repeat(rows)

    @property
    def schedule(self) -> Explained:
        """The schedule of a call: transfers between blocks show where ranks would exchange."""
        return self._ground.plan(self._program, self._dtype).explained()


class BoundOnBoxes(Bound):
    """A program whose values depend on the decomposition, bound to fields in one process.

    Each field is one array; the program runs on copies with separate memory for each subdomain.
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
        self._run = BoundOnRanks(program, ground.boxed, copies, scalars)
        self._pairs = {name: (f.values, copies[name].values) for name, f in fields.items()}
        self._changed = ground.boxed.plan(program, self._dtype).changed

    @property
    def scalars(self) -> Sequence[str]:
        """The names of the scalars that a call takes."""
        return self._run.scalars

    def repeat(self, rows: Iterable[Sequence[float]]) -> Array:
        """Run the program for each row of scalars; see `BoundOnRanks.repeat`."""
        for whole, apart in self._pairs.values():
            apart.copy(whole)
        try:
            return self._run.repeat(rows)
        finally:
            for name in self._changed:
                whole, apart = self._pairs[name]
                whole.copy(apart)

    @property
    def schedule(self) -> Explained:
        """The schedule of the next call between boxes; see `BoundOnRanks.schedule`."""
        return self._run.schedule


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
        if isinstance(value, Field) and value.kind == kind:  # the sizes are those of its level
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
        return BoundOnBoxes(program, ground, fields, scalars)
    if ground.world.alone:
        return BoundOnArrays(program, ground, fields, scalars)
    if agreed:
        ground.world.agree(of_arguments(f"the binding of {program.ir.name}", fields, scalars))
    return BoundOnRanks(program, ground, fields, scalars)


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
