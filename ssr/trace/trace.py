"""Trace a row generator on symbolic indices, once for each path through its conditions.

Every run yields a domain and the entries of its rows (`paths`). Equal entries of different paths
form one family.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from .. import ir
from ..errors import (
    ArgumentError,
    DtypeError,
    ImpureGeneratorError,
    OutOfSpaceError,
    Span,
    at,
    span_of_generator,
)
from ..points.affine import Affine
from ..points.sets import Domain
from ..spaces.space import Space, row_domain
from ..symbols.index import Index, affine
from ..symbols.operations import is_condition
from ..symbols.printing import show
from ..symbols.values import Value, node
from .field_data import FieldData
from .functions import keywords, positional
from .paths import PATHS, Fork, Tracer, check_names, running, too_many


class ScalarType:
    """The type of a run-time number in a declaration: use the object `ssr.scalar`.

    Scalars are numbers in double precision. An expression of scalars and sizes alone is evaluated
    in double precision, once for all points; its value is rounded to the type of the fields where
    an expression combines it with fields.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(3)
    >>> @ssr.program(f=cells, t=ssr.scalar, dt=ssr.scalar)
    ... def tick(f, t, dt):
    ...     f[:] = f + ssr.cos(t)
    ...     return t + dt
    >>> tick(np.zeros(3, np.float32), 33696000.0, 0.5)
    33696000.5
    """

    def __repr__(self) -> str:
        return "ssr.scalar"


scalar = ScalarType()

Data = Mapping[str, "Space | ScalarType"]

Place: TypeAlias = tuple[int, int]

Outside: TypeAlias = Literal["error", "zero"]
"""The treatment of entries whose column lies outside the space of columns."""

Split: TypeAlias = Callable[[object], Iterable[tuple[Place, object]]]
"""A function that splits a yielded value into the entries of a dense block."""


def undivided(value: object) -> Iterable[tuple[Place, object]]:
    """Return a value that is not a block."""
    return (((0, 0), value),)


@dataclass(frozen=True, slots=True)
class Entry:
    """One yielded entry: where it applies, its column and value, and the user's line.

    ``place`` is its row and column in the dense block that was yielded, if one was.
    """

    domain: Domain
    column: tuple[Affine, ...]
    value: ir.Value
    span: Span | None
    place: Place = (0, 0)


@dataclass(frozen=True, slots=True)
class Path:
    """The rows with the same outcome of all conditions, and their entries."""

    domain: Domain
    entries: tuple[Entry, ...]


def check_signature(
    function: Callable[..., object],
    rows: Space,
    data: Mapping[str, object],
    more: tuple[str, ...] = (),
) -> None:
    """Check that a generator takes one index per axis and the declared data as keywords.

    ``more`` are the parameters that follow the indices.
    """
    indices, variadic = positional(function)
    least = sum(p.default is p.empty for p in indices)
    count = rows.ndim + len(more)
    named = keywords(function, data)
    name = function.__name__
    if count < least or (count > len(indices) and not variadic):
        raise ArgumentError(
            f"Generator {name} takes {len(indices)} indices; its rows have {rows.ndim} axes."
            if not more
            else f"Generator {name} takes {len(indices)} parameters besides data, "
            f"not {rows.ndim} indices and {', '.join(more)}."
        )
    if set(named) != set(data):
        raise ArgumentError(
            f"Generator {name} takes the keyword-only data {sorted(named)}, "
            f"but {sorted(data)} is declared.",
            hint="Declare each: a Space for a field, ssr.scalar for a number.",
        )


def check_apart(sizes: Collection[str], names: Iterable[str]) -> None:
    """Check that sizes have no names of data, as values of both are given by name."""
    clash = {name for name in names if name in sizes}
    if clash:
        raise ArgumentError(
            f"The name {', '.join(sorted(clash))} is both a size and a field or scalar.",
            hint="Rename one of them.",
        )


def trace(
    function: Callable[..., object],
    rows: Space,
    cols: Space,
    data: Data,
    split: Split = undivided,
    *,
    outside: Outside = "error",
) -> tuple[Path, ...]:
    """Return the paths of a row generator; ``split`` converts a yielded value into entries.

    With ``outside="zero"`` an entry is restricted to the rows for which its column lies in
    ``cols``, without additional paths.
    """
    others = (cols, *(s for s in data.values() if isinstance(s, Space)))
    start = row_domain(rows, others)
    names = frozenset(rows.axes).union(*(s.sizes for s in (rows, *others)))
    check_apart(names.difference(rows.axes), data)
    pending = [Fork((), start)]
    paths: list[Path] = []

    def run(tracer: Tracer) -> tuple[Entry, ...]:
        try:
            return _run(function, tracer, cols, data, split, outside)
        except RecursionError:
            raise ArgumentError(
                f"{function.__name__} calls itself without end.",
                hint="A generator is run with symbols: end recursions by numbers that are known.",
            ) from None

    while pending:
        fork = pending.pop()
        if len(paths) >= PATHS:
            raise too_many(
                f"Generator {function.__name__} has more than {PATHS} paths.",
                "Each condition that both holds and fails somewhere doubles the paths.",
            )
        tracer = Tracer(fork, names)
        entries = run(tracer)
        again = Tracer(Fork(tuple(tracer.answers), tracer.domain), names, again=True)
        _check_pure(function, entries, run(again))
        paths.append(Path(tracer.domain, entries))
        pending.extend(tracer.forks)
    return tuple(paths)


def _run(
    function: Callable[..., object],
    tracer: Tracer,
    cols: Space,
    data: Data,
    split: Split,
    outside: Outside,
) -> tuple[Entry, ...]:
    given = {
        name: FieldData(name, kind, tracer.outside)
        if isinstance(kind, Space)
        else Value(ir.Scalar(name))
        for name, kind in data.items()
    }
    found: list[tuple[Entry, Domain | None]] = []
    with running(tracer):
        generator = function(*(Index(Affine.name(a)) for a in tracer.domain.axes), **given)
        if not inspect.isgenerator(generator):
            raise ArgumentError(
                f"Generator {function.__name__} returned {type(generator).__name__}; "
                "it must `yield column, value`.",
            )
        for item in generator:
            span = span_of_generator(generator)
            column, value = split_entry(item, cols, span)
            with at(span, 0):
                check_names(frozenset().union(*(c.names() for c in column)), tracer.names)
            beyond = tracer.outside(cols, column)
            if beyond is not None and outside == "error":
                raise OutOfSpaceError(
                    f"Column ({', '.join(map(str, column))}) of {function.__name__} "
                    f"lies outside {cols!r}.",
                    span=span and span.element(0),
                    note=f"That is so for {beyond.simplified(tracer.domain).notation()}.",
                    hint="Guard it with `if column in space:`, or let cols be space.grow(width).",
                )
            with at(span, 1):
                for place, part in split(value):
                    value = _entry(part, tracer.names, data)
                    found.append((Entry(tracer.domain, column, value, span, place), beyond))
    rows = tracer.domain  # smaller than at the yield of an entry if a later condition forked
    return tuple(replace(e, domain=rows - out if out else rows) for e, out in found)


def _entry(value: object, names: frozenset[str], data: Data) -> ir.Value:
    """Return the value of an entry as a node; check that the matrix has the data that it reads."""
    found = node(value)
    if is_condition(found):
        raise DtypeError(
            f"The condition {value!r} is not a number.",
            hint="Write ssr.where(condition, 1.0, 0.0).",
        )
    for part in ir.walk(found):
        match part:
            case ir.Coordinate(index):
                check_names(index.names(), names)
            case ir.Load(name) | ir.Scalar(name) if name not in data:
                raise ArgumentError(
                    f"{show(part)} belongs to a program or to another matrix.",
                    hint="Declare it as data of this matrix and bind it.",
                )
    return found


def split_entry(item: object, cols: Space, span: Span | None) -> tuple[tuple[Affine, ...], object]:
    """Return column and value of one yielded item."""
    if not isinstance(item, tuple) or len(item) != 2:
        raise ArgumentError(f"A generator yields `column, value`, not {item!r}.", span=span)
    column, value = item
    index = column if isinstance(column, tuple) else (column,)
    if len(index) != cols.ndim:
        raise ArgumentError(
            f"A column has {cols.ndim} indices in {cols!r}, not {len(index)}.", span=span
        )
    with at(span, 0):
        return tuple(affine(c) for c in index), value


def _check_pure(
    function: Callable[..., object], first: tuple[Entry, ...], second: tuple[Entry, ...]
) -> None:
    known: set[tuple[int, int]] = set()

    def alike(a: ir.Value, b: ir.Value) -> bool:
        """Whether values are equal; shared nodes are compared once, and NaN equals NaN."""
        if (id(a), id(b)) not in known:
            match a, b:
                case ir.Op(name, args), ir.Op(other, more) if len(args) == len(more):
                    equal = name == other and all(map(alike, args, more))
                case _:
                    equal = repr(a) == repr(b)
            if not equal:
                return False
            known.add((id(a), id(b)))
        return True

    def same(a: Entry, b: Entry) -> bool:
        return a.column == b.column and alike(a.value, b.value)

    pairs = list(zip(first, second, strict=False))
    if len(first) != len(second) or not all(same(a, b) for a, b in pairs):
        changed = next((a for a, b in pairs if not same(a, b)), (first or second)[-1])
        raise ImpureGeneratorError(
            f"Generator {function.__name__} gave different entries when it was run again.",
            span=changed.span,
            note=f"one of them is {show(changed.value)} at ({', '.join(map(str, changed.column))})",
            hint="A generator must not use random numbers or change state; "
            "pass run-time values as data.",
        )
