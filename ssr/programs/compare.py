"""Compare two traces of a program's body, to detect bodies that are not pure.

Steps are compared one by one, and values node by node; shared subexpressions are compared once.
The names of temporaries and reductions may differ if they correspond one to one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from .. import ir
from ..algebra.stored import Stored
from ..errors import ImpureProgramError, Span
from ..ir.liveness import live
from ..symbols.printing import show
from .recorder import Recorder

SHOWN = 60
"""Limit of the length of a value in a message."""


def check_same(first: Recorder, second: Recorder) -> None:
    """Check that two runs of a program's body recorded the same."""
    found = next(_differences(first, first.steps, second, second.steps), None)
    if found is not None:  # dead steps may differ
        found = next(_differences(first, _needed(first), second, _needed(second)), None)
    if found is not None:
        raise impure(first.name, *found)


def impure(name: str, note: str, place: Span | None = None) -> ImpureProgramError:
    """Return the error of a body whose second run differs from the first."""
    return ImpureProgramError(
        f"The body of program {name} did something else when it was run again.",
        span=place,
        note=note,
        hint="A body must not use random numbers or change state. "
        "What differs between calls is passed as an argument, numbers as ssr.scalar.",
    )


def _needed(recorder: Recorder) -> Sequence[ir.Step]:
    """Return the steps whose values are read, or are in a field of the caller."""
    results = [value.node for value in recorder.returned()]
    return live(recorder.steps, set(recorder.fields), results)


def _differences(
    first: Recorder, steps: Sequence[ir.Step], second: Recorder, others: Sequence[ir.Step]
) -> Iterator[tuple[str, Span | None]]:
    """Yield how the steps of two runs differ, and where the user wrote them."""
    compared = _Comparison(first, second)
    each = chain(*(zip(r.steps, r.places, strict=True) for r in (first, second)))
    places = {id(step): place for step, place in each}
    for one, other in zip(steps, others, strict=False):
        yield from ((note, places[id(one)]) for note in compared.steps(one, other))
    counts = len(steps), len(others)
    if counts[0] != counts[1]:
        more = max(steps, others, key=len)[min(counts)]
        note = "the first run ended after step {}, the second after step {}".format(*counts)
        yield note, places[id(more)]
    results = [[value.node for value in r.returned()] for r in (first, second)]
    if len(results[0]) != len(results[1]):
        yield "at first it returned {} numbers, then {}".format(*map(len, results)), None
    for pair in zip(*results, strict=False):
        yield from ((f"{note}, in what it returns", None) for note in compared.values(*pair))
    if first.sizes != second.sizes:
        yield f"at first sizes were bound to {first.sizes}, then to {second.sizes}", None


class _Comparison:
    """The comparison of two recordings: corresponding names, and equal parts."""

    def __init__(self, first: Recorder, second: Recorder) -> None:
        self._first, self._second = first, second
        numbers = [name for name, value in first.scalars.items() if value is None]
        made = {*first.captured, *first.reductions}
        given = [name for name in (*first.fields, *numbers) if name not in made]
        self._forth = {name: name for name in given}
        self._back = dict(self._forth)
        self._known: set[tuple[int, int]] = set()

    def steps(self, a: ir.Step, b: ir.Step) -> Iterator[str]:
        """Yield how two steps differ."""
        match a, b:
            case ir.Assignment(), ir.Assignment() if (a.order, a.part) == (b.order, b.part):
                yield from self._names(a.target, b.target)
                yield from self.values(a.value, b.value)
            case ir.Reduction(), ir.Reduction() if a.kind == b.kind:
                yield from self._names(a.name, b.name)
                yield from self.values(a.value, b.value)
            case ir.Group(), ir.Group() if len(a.assignments) == len(b.assignments):
                for pair in zip(a.assignments, b.assignments, strict=True):
                    yield from self.steps(*pair)
            case ir.Solve(), ir.Solve() if _form(a) == _form(b):
                for pair in zip(a.assignments, b.assignments, strict=True):
                    yield from self.steps(*pair)
                for one, other in zip(a.entries, b.entries, strict=True):
                    yield from self.values(one.value, other.value)
            case ir.Call(), ir.Call() if a.external.alike(b.external):
                for names in zip(a.fields, b.fields, strict=True):
                    yield from self._names(*names)
                for numbers in zip(a.scalars, b.scalars, strict=True):
                    yield from self.values(*numbers)
            case ir.Call(name), ir.Call(other) if name == other:
                yield f"{name} was made of other data"
            case _:
                yield f"at first it made {_told(a)}, then {_told(b)}"

    def values(self, a: ir.Value, b: ir.Value) -> Iterator[str]:
        """Yield how two values differ, from left to right."""
        left = [(a, b)]
        while left:
            x, y = left.pop()
            if (id(x), id(y)) in self._known:
                continue
            self._known.add((id(x), id(y)))
            yield from self._nodes(x, y)
            left += reversed([*zip(ir.children(x), ir.children(y), strict=True)])

    def _nodes(self, a: ir.Value, b: ir.Value) -> Iterator[str]:
        """Yield how two values differ, apart from the values inside them."""
        same = type(a) is type(b)
        match a, b:
            case ir.Load(), ir.Load():
                same = (a.index, a.new) == (b.index, b.new)
                yield from self._names(a.array, b.array)
            case ir.Scalar(), ir.Scalar():
                yield from self._names(a.name, b.name)
            case ir.Gather(), ir.Gather():
                same = a == replace(b.of(a.array), matrix=a.matrix)
                yield from self._names(a.array, b.array)
                yield from self._names(a.matrix, b.matrix)
            case ir.Diagonal(), ir.Diagonal():
                same = a == replace(b, matrix=a.matrix)
                yield from self._names(a.matrix, b.matrix)
            case ir.Sum(terms), ir.Sum(others):
                same = len(terms) == len(others) and all(map(_same_rows, terms, others))
            case ir.Op(), ir.Op():
                same = (a.name, len(a.args)) == (b.name, len(b.args))
            case _:
                same = repr(a) == repr(b)  # NaN equals NaN here
        if not same:
            yield f"at first it computed {_shown(a)}, then {_shown(b)}"

    def _names(self, a: str, b: str) -> Iterator[str]:
        """Yield the difference between the meanings of two names, which are paired at first use."""
        if a not in self._forth and b not in self._back:
            self._forth[a], self._back[b] = b, a
            if not _alike(_meaning(self._first, a), _meaning(self._second, b)):
                yield f"the data {a} had other values"
        elif self._forth.get(a) != b:
            yield f"at first it used {a}, then {b}"


def _meaning(recorder: Recorder, name: str) -> Any:
    """Return the meaning of a name: data, or the points of a field or of a reduction."""
    for known in (
        recorder.captured, recorder.stored, recorder.reductions, recorder.scalars
    ):  # fmt: skip
        if name in known:
            return known[name]
    return recorder.space(name)


def _alike(a: Any, b: Any) -> bool:
    """Whether data are the same, number by number."""
    if a is b:
        return True
    if isinstance(a, Stored) and isinstance(b, Stored):
        parts = (
            (a.csr.indptr, b.csr.indptr),
            (a.csr.indices, b.csr.indices),
            (a.csr.data, b.csr.data),
        )
        return (a.rows, a.cols) == (b.rows, b.cols) and all(_alike(*pair) for pair in parts)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    return repr(a) == repr(b)


def _same_rows(a: ir.Term, b: ir.Term) -> bool:
    """Whether terms have the same rows, and both or none have an operand."""
    same = a.domain is b.domain or a.domain == b.domain
    return same and (a.operand is None) == (b.operand is None)


def _form(step: ir.Solve) -> tuple[object, ...]:
    """Return where the systems of a step have entries, and along which axis."""
    places = [(e.offset, e.point, e.row, e.column) for e in step.entries]
    return step.axis, step.size, len(step.assignments), places


def _told(step: ir.Step) -> str:
    """Return a step as messages call it."""
    match step:
        case ir.Call(name):
            return name
        case ir.Reduction(kind=kind):
            return f"a {kind}"
    return f"an assignment of {', '.join(ir.made(step))}"


def _shown(value: ir.Value) -> str:
    """Return a value as messages show it."""
    text = show(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
