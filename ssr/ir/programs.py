"""Programs: sequences of steps, which are assignments, reductions, solves and external calls."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, Literal, TypeAlias

from ..points.affine import Affine
from ..points.sets import Domain
from ..symbols.nodes import Boxes, Field, Value
from .external import External


@dataclass(frozen=True, slots=True)
class Family:
    """Entries ``value(d)`` at ``(row(d), column(d))`` for all ``d`` in a domain.

    If spaces are cut into boxes, only entries exist whose column is in a ``box`` of the given kind,
    relative to the row.
    """

    domain: Domain
    row: tuple[Affine, ...]
    column: tuple[Affine, ...]
    value: Value
    box: Boxes = "any"


Order = Literal["forward", "backward", "any"]
"""The direction of the dependences between the rows of an assignment."""

MADE = "·"
"""Placeholder for the name of the target of an assignment."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``target[row] = value(row)`` for the rows of a domain: NumPy meaning, right side first.

    Loads marked ``new`` read values that this assignment has already computed, in the given order.
    An assignment of a ``part`` of its target does not change the other points. In boxes with
    separate memory, elements of its target that it reads in other boxes are ``kept`` if they are
    not exchanged again: the values from before the target was written. The ``origin`` is the number
    of the assignment's step in the traced program, or -1.
    """

    target: str
    axes: tuple[str, ...]
    domain: Domain
    value: Value
    order: Order = "any"
    part: Field | None = None
    kept: bool = False
    origin: int = -1


@dataclass(frozen=True, slots=True)
class Reduction:
    """One number from the values at all rows of a space: their sum, largest or smallest.

    Later steps read it as ``Scalar(name)``. Its ``origin`` is that of an `Assignment`.
    """

    name: str
    kind: Literal["sum", "max", "min", "norm"]
    axes: tuple[str, ...]
    rows: Field
    domain: Domain
    value: Value
    origin: int = -1


@dataclass(frozen=True, slots=True)
class Group:
    """Assignments over the same rows that run together: all of them at a row, then the next.

    Loads marked ``new`` read values of any assignment of the group at an earlier row, or of an
    earlier assignment at this row. Others read old values of a target, at rows not yet assigned.
    """

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the blocks of a matrix that couples rows along an axis only.

    It has a row and a column in its block, and the ``offset`` in points of this block from the
    diagonal. Instead of an offset, entries that close a periodic line have a ``point`` of the line
    that is the same for all rows; their offset is zero.
    """

    offset: int
    row: int
    column: int
    value: Value
    point: Affine | None = None


@dataclass(frozen=True, slots=True)
class Solve:
    """Systems of equations, one for each line along an axis, solved without pivoting.

    The value of an assignment is a right side, and its target receives the solution. The matrix has
    blocks of ``size`` rows; assignments beyond these are further right sides. If the rows of a
    system read targets, they read old values on their own line. Fields named by ``pivots``, one for
    each row of a block, receive the reciprocals of the pivots if these are requested.
    """

    assignments: tuple[Assignment, ...]
    axis: int
    size: int
    entries: tuple[Entry, ...]
    pivots: tuple[str, ...] = ()

    @property
    def reach(self) -> int:
        """The largest distances of columns before and after their row, without fixed points."""
        return max(abs(entry.offset) for entry in self.entries)

    @property
    def points(self) -> tuple[Affine, ...]:
        """The fixed points of lines at which columns lie."""
        found = (entry.point for entry in self.entries if entry.point is not None)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Call:
    """A function of another package that updates fields in place, such as ghost points.

    It reads the given points of a field and writes others; so all of its fields count as read and
    as written. Other steps write only the given points of the fields in ``alone``; the values that
    the call computes in these fields persist until the next run of the program.
    Its ``origin`` is that of an `Assignment`.
    """

    name: str
    external: External
    fields: tuple[str, ...]
    scalars: tuple[Value, ...] = ()
    alone: tuple[str, ...] = ()
    origin: int = -1


Step: TypeAlias = "Assignment | Reduction | Group | Solve | Call"


def parts(step: Step) -> tuple[Assignment | Reduction, ...]:
    """Return the assignments of a step, or the step itself; a call has no parts."""
    match step:
        case Group(together) | Solve(together):
            return together
        case Call():
            return ()
    return (step,)


def with_parts(step: Step, change: Callable[[Any], Any]) -> Step:
    """Return a step with each of its `parts` changed."""
    match step:
        case Call():
            return step
        case Group(assignments) | Solve(assignments):
            return replace(step, assignments=tuple(map(change, assignments)))
    changed: Step = change(step)
    return changed


def with_origin(step: Step, origin: int) -> Step:
    """Return a step whose parts have an origin: the number of a step of the declared program."""
    if isinstance(step, Call):
        return replace(step, origin=origin)
    return with_parts(step, lambda part: replace(part, origin=origin))


def origin(step: Step) -> int:
    """Return the number of the step of the declared program that a step is, or -1."""
    return step.origin if isinstance(step, Call) else parts(step)[0].origin


def values(step: Step) -> tuple[Value, ...]:
    """Return the values that a step computes row by row, or takes as numbers."""
    match step:
        case Call(scalars=scalars):
            return scalars
        case Solve(entries=entries):
            return (*(p.value for p in parts(step)), *(e.value for e in entries))
    return tuple(p.value for p in parts(step))


def with_values(step: Step, change: Callable[[Value], Value]) -> Step:
    """Return a step with each of its `values` changed."""
    step = with_parts(step, lambda part: replace(part, value=change(part.value)))
    match step:
        case Call(scalars=scalars):
            return replace(step, scalars=tuple(map(change, scalars)))
        case Solve(entries=entries):
            return replace(step, entries=tuple(replace(e, value=change(e.value)) for e in entries))
    return step


def made(step: Step) -> tuple[str, ...]:
    """Return the names that a step defines: fields, or the scalar of a reduction."""
    if isinstance(step, Call):
        return step.fields
    return tuple(p.target if isinstance(p, Assignment) else p.name for p in parts(step))


@dataclass(frozen=True, slots=True)
class Program:
    """Assignments over fields and reductions, run one after the other.

    ``fields`` and ``scalars`` are arguments in order; ``temporaries`` are allocated for the time of
    a call. ``results`` are the scalars that a call returns, computed from scalars and reductions.
    ``vectors`` are names of arrays, each with the names of the fields passed as this one array.
    ``wide`` are fields with more points than the caller's, each with the name of the array with
    these points to which it was copied.
    """

    name: str
    fields: tuple[Field, ...]
    temporaries: tuple[Field, ...]
    scalars: tuple[str, ...]
    sizes: tuple[str, ...]
    steps: tuple[Step, ...]
    results: tuple[Value, ...] = ()
    vectors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wide: tuple[tuple[str, str], ...] = ()

    def field(self, name: str) -> Field:
        """Return a field or temporary by name."""
        return next(f for f in (*self.fields, *self.temporaries) if f.name == name)

    def rows(self, step: Assignment | Reduction) -> Field:
        """Return the rows of an assignment or a reduction: all points of a field, or a part."""
        if isinstance(step, Reduction):
            return step.rows
        return step.part or self.field(step.target)


def fresh(stem: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the stem, or the stem with a number."""
    names = chain((stem,), (f"{stem}_{n}" for n in count(1)))
    return next(n for n in names if n not in taken)
