"""Describe the steps that may share a nest: the arrays that they write and the elements they read.

A step that runs *ahead* of others does so by a number of planes and lines, its `Advance`. A step
that is computed beyond the box of its nest has a `Margin`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeAlias

from ... import ir
from ...algebra.analyse import reads
from ...algebra.own_box import bounded, is_local, own_bounds
from ...points.affine import Affine, Offset, offset_of
from ...points.sets import Domain
from ..nests import NO_ENDS, Ends, beyond_box

Met: TypeAlias = tuple[Domain, tuple[Affine, ...]]
"""A set of rows, and the index of the element that they read."""


@dataclass(frozen=True, slots=True, order=True)
class Advance:
    """The lead of a step in planes, then lines, before the current line of the loops."""

    planes: int = 0
    lines: int = 0

    def including(self, other: Advance) -> Advance:
        """Return the larger number of planes and of lines."""
        return Advance(max(self.planes, other.planes), max(self.lines, other.lines))


@dataclass(frozen=True, slots=True)
class Margin:
    """How far beyond the box a step is computed, along its last three axes."""

    planes: Ends = NO_ENDS
    lines: Ends = NO_ENDS
    columns: Ends = NO_ENDS

    @property
    def ends(self) -> tuple[Ends, Ends, Ends]:
        """The ends along all three axes."""
        return self.planes, self.lines, self.columns

    def including(self, other: Margin, offset: Offset = ()) -> Margin:
        """Return the union with another margin, relative to rows at an offset."""
        shift = (0, 0, 0, *offset)[-3:]
        pairs = zip(self.ends, other.ends, shift, strict=True)
        return Margin(*(own.including(ends, along) for own, ends, along in pairs))

    def first(self, backward: bool) -> Advance:
        """Return by how many planes and lines the loops begin before the box."""
        planes, lines = self.planes, self.lines
        return Advance(planes.high, lines.high) if backward else Advance(planes.low, lines.low)

    def last(self, backward: bool) -> Advance:
        """Return how many planes and lines after the box are computed last."""
        return self.first(not backward)


NO_MARGIN = Margin()


@dataclass(frozen=True, slots=True)
class Timing:
    """When a step of a shared nest runs, and how far beyond the box."""

    advance: Advance
    margin: Margin


@dataclass(frozen=True, slots=True)
class Read:
    """An element that a step reads; its ``offset`` is None if it differs between rows.

    It then has two ``limits``, if they exist: the largest distances in planes and lines by which
    the row lies after the element, and before it. For boxes with separate memory it has the
    ``rows`` that read it, if they are rows of the step. The element lies ``elsewhere`` if it is
    outside the box of each of these rows.
    """

    array: str
    offset: Offset | None
    rows: Domain | None = None
    limits: tuple[Advance | None, Advance | None] = (None, None)
    elsewhere: bool = False

    @property
    def is_near(self) -> bool:
        """Whether the element lies at a fixed distance along the last three axes."""
        return self.offset is not None and not any(self.offset[:-3])

    def seen(self, timing: Timing, backward: bool) -> Advance:
        """Return the advance with which a reader with this timing reads the element's line."""
        assert self.offset is not None
        planes, lines, _ = (0, 0, *self.offset)[-3:]
        sign = -1 if backward else 1
        ahead = timing.advance
        return Advance(ahead.planes + sign * planes, ahead.lines + sign * lines)

    def spared(self, timing: Timing, backward: bool) -> Advance | None:
        """Return the advance of reads so that a step with this timing does not overwrite before.

        None if no distance is sufficient for all rows.
        """
        if self.is_near:
            return self.seen(timing, not backward)
        limit = self.limits[backward]
        if limit is None:
            return None
        ahead = timing.advance
        return Advance(ahead.planes + limit.planes, ahead.lines + limit.lines)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A step that may share a nest: its current nest, the array it writes, and its reads.

    It is ``complete`` if it writes all points of this array.
    """

    nest: ir.Nest
    written: str
    rows: ir.Field
    complete: bool
    domain: Domain
    reads: tuple[Read, ...]
    reached: tuple[Read, ...]
    gathered: frozenset[str]
    scalars: frozenset[str]

    @property
    def reduces(self) -> bool:
        """Whether the step is a reduction."""
        return bool(self.nest.folds)

    @property
    def is_simple(self) -> bool:
        """Whether the step is one statement whose rows are independent."""
        return len(self.nest.statements) == 1 and self.nest.order == "any"

    @property
    def crosses_boxes(self) -> bool:
        """Whether rows depend on rows before them that another box may own."""
        return any(
            part.new
            for statement in self.nest.statements
            for part in ir.walk(statement.value)
            if isinstance(part, (ir.Load, ir.Gather)) and not statement.local
        )

    @property
    def may_grow(self) -> bool:
        """Whether it may be computed at rows beyond a box too."""
        return self.is_simple and not self.reduces and not self.is_local

    @property
    def is_local(self) -> bool:
        """Whether the values computed depend on the box that owns a row."""
        return is_local(self.domain)

    @property
    def made(self) -> Domain:
        """The rows that it computes in some box."""
        return self.domain.without(own_bounds(self.domain.axes)) if self.is_local else self.domain

    def reads_of(self, array: str) -> list[Read]:
        """Return the reads of one array."""
        return [read for read in self.reads if read.array == array]

    def spares(self, read: Read) -> bool:
        """Whether the step preserves an element: rows of one box write no values of other boxes."""
        return self.is_local and read.elsewhere

    def reached_of(self, array: str) -> list[Read]:
        """Return the reads of one array, including those that fill buffers beyond the box."""
        return [read for read in self.reached if read.array == array]


# -- reads of a step -------------------------------------------------------------------------------


def candidate(
    step: ir.Step, made: ir.Made, program: ir.Program, *, apart: bool
) -> Candidate | None:
    """Return a step that may share a nest; None for a call, and for systems along lines.

    For boxes ``apart``, with separate memory, the reads record the rows that perform them.
    """
    if not isinstance(made, ir.Nest):
        return None
    first = ir.parts(step)[0]
    own = {b.name for b in made.buffers}
    row = tuple(Affine.name(a) for a in made.axes)
    values = [(s, value) for s in made.statements for value in ir.walk(s.value)]
    elements = dict.fromkeys(
        Read(value.array, offset_of(value.index, statement.runs(row, made.order, -1)))
        for statement, value in values
        if isinstance(value, ir.Load) and value.array not in own
    )
    found = Candidate(
        nest=made,
        written=ir.made(step)[0],
        rows=made.rows,
        complete=not isinstance(first, ir.Assignment) or first.part is None,
        domain=first.domain,
        reads=tuple(elements),
        reached=tuple(elements),
        gathered=frozenset(value.array for _, value in values if isinstance(value, ir.Gather)),
        scalars=frozenset(value.name for _, value in values if isinstance(value, ir.Scalar)),
    )
    if not found.is_simple:
        return replace(found, reached=tuple(dict.fromkeys(_reached(made))))
    known = _reads_by_rows(found) if apart else _limited(found)
    return replace(found, reads=known, reached=known)


def _reached(nest: ir.Nest) -> Iterator[Read]:
    """Yield the reads of a nest relative to the first and the last row of a box.

    Statements that fill buffers run beyond the box.
    """
    own, row = {b.name for b in nest.buffers}, tuple(map(Affine.name, nest.axes))
    for statement in nest.statements:
        low, high = zip(*beyond_box(statement.domain), strict=True)
        for value in ir.walk(statement.value):
            if isinstance(value, ir.Load) and value.array not in own:
                offset = offset_of(value.index, row)
                for sign, ends in (-1, low), (1, high):
                    yield Read(value.array, offset and _shifted(offset, sign, ends))


def _shifted(offset: Offset, sign: int, ends: Sequence[int]) -> Offset:
    return tuple(o + sign * n for o, n in zip(offset, ends, strict=True))


def _reads_by_rows(step: Candidate) -> tuple[Read, ...]:
    """Return the reads of a step, each with the rows of the step that read the element."""
    return tuple(
        Read(
            array,
            offset,
            reduce(operator.or_, (rows for rows, _ in met)),
            elsewhere=_beyond_own(met),
        )
        for (array, offset), met in _met(step).items()
    )


def _beyond_own(met: Sequence[Met]) -> bool:
    """Whether all rows that read an element are local, and the element lies outside their box."""
    return all(
        is_local(rows) and (rows & bounded(rows.axes).preimage(index, rows.axes)).empty
        for rows, index in met
    )


def _limited(step: Candidate) -> tuple[Read, ...]:
    """Return the reads of a step, with limits where distances differ between rows."""
    if all(read.offset is not None for read in step.reads):
        return step.reads
    return tuple(
        Read(array, offset)
        if offset is not None
        else Read(array, None, limits=(_limit(met, 1), _limit(met, -1)))
        for (array, offset), met in _met(step).items()
    )


def _met(step: Candidate) -> dict[tuple[str, Offset | None], list[Met]]:
    """Return the reads of a one-statement step, grouped by array and offset from the row."""
    (statement,) = step.nest.statements
    row = tuple(map(Affine.name, step.nest.axes))
    found: dict[tuple[str, Offset | None], list[Met]] = {}
    for rows, load in reads(statement.value, step.domain):
        found.setdefault((load.array, offset_of(load.index, row)), []).append((rows, load.index))
    return found


def _limit(met: Sequence[Met], sign: int) -> Advance | None:
    """Return the largest lag of rows after elements in planes and lines; with sign -1, the lead.

    One more plane covers any number of lines.
    """
    limit = Advance()
    for rows, index in met:
        row = tuple(map(Affine.name, rows.axes))
        if len(index) != len(row) or index[:-3] != row[:-3]:
            return None
        ends = [rows.largest((here - there) * sign) for here, there in zip(row, index, strict=True)]
        planes, lines, _ = (0, 0, *ends)[-3:]
        if planes is None or (lines is None and len(row) == 2):
            return None
        found = Advance(planes + 1) if lines is None else Advance(planes, lines)
        limit = limit.including(found)
    return limit
