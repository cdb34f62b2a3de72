"""Alternating-direction program sequences, with redistribution so that grid lines are undivided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import ssr
from ssr.errors import ArgumentError
from ssr.extension import ir

from ..ranks.field import Field, Ground

Turn: TypeAlias = Callable[[Sequence[Any]], None]
"""A function that runs one of the programs, given the numbers of a call of all."""


def alternating(*programs: ssr.Program) -> Alternating:
    """Return programs that run in sequence, each on a distribution with undivided lines.

    A program that solves along some axes runs on the distribution ``on.undivided(*axes)`` of its
    fields' points. Copies of the fields on this distribution are updated when a program takes
    them, with one message for each pair of ranks. At the end the fields themselves are updated. A
    field that no program changes is sent once. In one process nothing is copied.

    Parameters
    ----------
    *programs
        Programs, in order. The method `bind` of the result takes fields and numbers by name.

    Raises
    ------
    ArgumentError
        If there is no program, or an argument is not one.

    Examples
    --------
    >>> import ssr, boundary as bc
    >>> cells = ssr.Space(6, 6)
    >>> def diffused(axis):
    ...     second = ssr.axis_stencil(cells, cells, axis, {-1: 1, 0: -2, 1: 1}, outside="zero")
    ...     @ssr.program(u=cells)
    ...     def solve(u):
    ...         u[:] = (ssr.identity(cells) - 0.5 * second).solve(u)
    ...     return solve
    >>> u = bc.distribute(cells, bc.simulated_ranks(2)).zeros(cells)
    >>> u.fill(lambda j, i: (j == 3) & (i == 2))
    >>> alternate = bc.alternating(diffused(axis=0), diffused(axis=1)).bind(u=u)
    >>> alternate()
    >>> print(u.gather()[2, 2].round(6))
    0.089215
    """
    return Alternating(programs)


class Alternating:
    """Programs that run in sequence; made by `alternating`."""

    def __init__(self, programs: Sequence[ssr.Program]) -> None:
        for program in programs:
            if not isinstance(program, ssr.Program):
                raise ArgumentError(f"alternating takes programs, not {program!r}.")
        if not programs:
            raise ArgumentError(
                "alternating needs at least one program.",
                hint="Write bc.alternating(along_y, along_x).",
            )
        self._programs = tuple(programs)

    def __repr__(self) -> str:
        return f"<{', then '.join(program.ir.name for program in self._programs)}>"

    def bind(self, **values: Any) -> Turns:
        """Return the programs bound to fields and numbers, by the names of their parameters.

        A call of the result runs all programs; it is a collective call. Omitted numbers are
        arguments of each call, in the order of the parameters.
        """
        names = {n: kind for program in self._programs for n, kind in program.signature.kinds}
        for name in values:
            if name not in names:
                raise ArgumentError(
                    f"No program of {self!r} has a parameter {name!r}.",
                    hint=f"The parameters are {', '.join(names)}.",
                )
        missing = [name for name in names if name not in values]
        for name in missing:
            if names[name] is not ssr.scalar:
                raise ArgumentError(f"{self!r} needs a value for {name!r}.")
        copies = {name: Copies(v) for name, v in values.items() if isinstance(v, Field)}
        turns = [_turn(program, values, copies, missing) for program in self._programs]
        return Turns(turns, copies, missing)


class Turns:
    """Bound programs that run in sequence; made by `Alternating.bind`."""

    def __init__(
        self, turns: Sequence[Turn], copies: Mapping[str, Copies], scalars: Sequence[str]
    ) -> None:
        self._turns = tuple(turns)
        self._copies = tuple(copies.values())
        self._scalars = tuple(scalars)

    def __call__(self, *scalars: Any) -> None:
        """Run all programs."""
        if len(scalars) != len(self._scalars):
            raise ArgumentError(
                f"{len(scalars)} numbers are given for ({', '.join(self._scalars)}).",
                hint="Programs in turn take the numbers that are not bound.",
            )
        for turn in self._turns:
            turn(scalars)
        for copies in self._copies:
            copies.refresh(copies.home)


class Copies:
    """A field and its copies on other distributions, some of which are up to date."""

    def __init__(self, home: Field) -> None:
        self.home = home
        self._on: dict[Ground, Field] = {home.distribution: home}
        self._current = [home]
        self._seen = home.values.changes

    def where(self, axes: Sequence[int]) -> Field:
        """Return the copy on a distribution with undivided lines along axes."""
        on = self.home.distribution
        if not on.world.alone:  # otherwise programs run as on arrays
            on = on.undivided(*axes)
        if on not in self._on:
            self._on[on] = self.home.redistributed(on)
        return self._on[on]

    def refresh(self, field: Field) -> None:
        """Bring a copy, or the field itself, up to date."""
        if self.home.values.changes != self._seen:
            self.changed(self.home)
        if not any(field is known for known in self._current):
            field.set(self._current[0])
            self._current.append(field)
            self._seen = self.home.values.changes

    def changed(self, field: Field) -> None:
        """Record that a program has changed a copy, or the field itself."""
        self._current = [field]
        self._seen = self.home.values.changes


def _turn(
    program: ssr.Program,
    values: Mapping[str, Any],
    copies: Mapping[str, Copies],
    missing: Sequence[str],
) -> Turn:
    """Return a program bound to copies of fields with undivided lines."""
    names = [name for name, _ in program.signature.kinds]
    taken = {n: (copies[n], copies[n].where(_axes(program))) for n in names if n in copies}
    made = {name for step in program.ir.steps for name in ir.made(step)}
    made |= {name for name, parts in program.ir.vectors if not made.isdisjoint(parts)}
    fields = {name: field for name, (_, field) in taken.items()}
    bound = program.bind(
        **{name: fields.get(name, values[name]) for name in names if name in values}
    )
    places = [missing.index(name) for name in names if name in missing]

    def run(scalars: Sequence[Any]) -> None:
        for kept, field in taken.values():
            kept.refresh(field)
        bound(*(scalars[place] for place in places))
        for name, (kept, field) in taken.items():
            if name in made:
                kept.changed(field)

    return run


def _axes(program: ssr.Program) -> list[int]:
    """Return the axes along which a program solves, counted from the last one, -1."""
    solves = [step for step in program.ir.steps if isinstance(step, ir.Solve)]
    return sorted({step.axis - len(step.assignments[0].axes) for step in solves})
