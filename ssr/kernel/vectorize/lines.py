"""Vectorized loops along a line, and chains of such loops.

    row = first
    while row < stop:
        if row < low or row >= past:
            i = row
            ...  # some rows may be outside, or lack terms
            row = row + lanes
        for i in vectors(row, past, lanes):  # if low <= row
            ...  # all rows of the vector are inside of the line
            row = i + lanes

LLVM vectorizes from the first row of a loop and runs a scalar remainder loop at its end. On lines
of a few hundred points this remainder is a significant part of the time, and so are vectors that
cross cache lines. Here a loop is peeled to the row at which most of its accesses are aligned.
Vectors at both ends of the line have masks, and those between them have none. Where masks are slow
and rows may be computed twice, vectors at the ends overlap others instead. The operations of a row
are the same in all cases, so results do not depend on the first aligned row.

A *chain* is the fusion of several loops. A step of a recurrence reads values that the previous step
has stored a few rows earlier. In separate loops, each step stores a line and the next step loads it
again, mostly across cache lines and before the store has completed. In the fused loop the values of
the last vectors stay in registers; they are also stored, for other readers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .. import ir
from ..building import compare, every, let, loop
from ..integers import minus, plus
from .alignment import first_row
from .bodies import Body, Linked, rows_between
from .chain_plans import Chain
from .context import Context
from .line_sides import extreme, limits, on_sides, sides_of_loads
from .plans import Access, Plan
from .requests import of_loop, requested
from .windows import Line, windows_of

Values = dict[str, list[ir.Expression]]
"""Vectors of lines by array, the latest first."""


class _Stored(NamedTuple):
    """A line that loops of a chain store, and later ones read.

    Attributes
    ----------
    offset
        The offset of its elements.
    start, stop
        The rows that are read: the first one, and the one after the last.
    last
        The number of earlier vectors that are read together with one.
    """

    offset: ir.Expression
    start: ir.Expression
    stop: ir.Expression
    last: int


def written(context: Context, chain: Chain) -> list[ir.Statement]:
    """Return the statements of a chain of loops, or of a single loop."""
    return _Sweep(context, chain).statements()


class _Sweep:
    """The sweep of a chain over the vectors of a line."""

    def __init__(self, context: Context, chain: Chain) -> None:
        self.context, self.chain = context, chain
        self.plan = _asking(chain)
        self.variable, self.lanes = self.plan.loop.variable, self.plan.lanes
        self.single = len(chain.links) == 1
        self.together = self.plan.together if self.single else 1
        self.overlap = self.single and _may_overlap(context, self.plan)
        self.out: list[ir.Statement] = []
        self.starts = [self._bound("start", link.loop.start) for link in chain.links]
        self.stops = [self._bound("stop", link.loop.stop) for link in chain.links]
        self.start = self._bound("start", extreme("min", *self.starts))
        self.stop = self._bound("stop", extreme("max", *self.stops))

    def _bound(self, stem: str, value: ir.Expression) -> ir.Expression:
        """Return an integer that is computed once."""
        if isinstance(value, ir.Name | ir.Integer):
            return value
        name = self.context.names.new(f"{self.variable}_{stem}")
        self.out.append(let(name, value))
        return ir.Name(name)

    def statements(self) -> list[ir.Statement]:
        """Return all statements."""
        if not self.overlap:
            return [*self.out, *self._vectors()]
        enough = compare(minus(self.stop, self.start), ">=", self.lanes)
        rolled = ir.For(
            self.variable, self.start, self.stop, ir.Integer(1), self.plan.loop.body, "rolled"
        )
        return [*self.out, ir.If(enough, tuple(self._vectors()), (rolled,))]

    def _vectors(self) -> list[ir.Statement]:
        self.out, before = [], self.out
        context, way, row = self.context, self.chain.way, self.context.names.new(self.variable)
        found, first = first_row(context, self.plan, self.start, self.stop)
        self.out += found
        found, self.requests = of_loop(context, self.plan, self.start, chain=not self.single)
        self.out += found
        if way < 0:
            whole = ir.Binary("&", minus(plus(self.stop, -1), first), ir.Integer(-self.lanes))
            first = plus(first, whole)
        self.out.append(let(row, first))
        self.row = ir.Name(row)
        self.lines = self._lines()
        carried = self._carried()
        self.first, self.past = self._limits()
        body = self._end(carried), *self._whole(carried)
        self.out.append(ir.While(self._is_left(self.row), body))
        self.out, found = before, self.out
        return found

    def _is_left(self, row: ir.Expression) -> ir.Expression:
        """Return whether the vector at a row has any rows."""
        if self.chain.way > 0:
            return compare(row, "<", self.stop)
        return compare(plus(row, self.lanes), ">", self.start)

    def _limits(self) -> tuple[ir.Expression, ir.Expression]:
        """Return the first row of whole vectors on the way of the sweep, and the one past the last.

        All rows of a round of whole vectors are inside for all loops.
        """
        bounds = [
            limits(link.inside, *rows)
            for link, *rows in zip(self.chain.links, self.starts, self.stops, strict=True)
        ]
        low = extreme("max", *(lower for lower, _ in bounds))
        high = extreme("min", *(upper for _, upper in bounds))
        last = plus(high, -self.together * self.lanes)
        if self.chain.way > 0:
            return self._bound("low", low), self._bound("past", plus(last, 1))
        return self._bound("last", last), self._bound("past", plus(low, -1))

    # -- whole vectors

    def _order(self) -> tuple[ir.Relation, ir.Relation]:
        """Return the relations of rows before others, and of rows that are not."""
        return ("<", ">=") if self.chain.way > 0 else (">", "<=")

    def _whole(self, carried: Values) -> list[ir.Statement]:
        """Return the loop over vectors without masks, several at a time."""
        here, step = ir.Name(self.variable), self.chain.way * self.together * self.lanes
        enter: list[ir.Statement] = []
        out: list[ir.Statement] = []
        if self.single:
            self._single(enter, out)
        else:
            self._links(out, here, carried, masked=False)
        out.append(let(self.row.name, plus(here, step)))
        vectors = loop(self.variable, (self.row, self.past, step), out, "vectors")
        before, onward = self._order()
        tests = []
        if self.first != self.start:  # may be more than one vector away
            tests.append(compare(self.row, onward, self.first))
        if enter:
            tests.append(compare(self.row, before, self.past))
        return [ir.If(every(tests), (*enter, vectors))] if tests else [vectors]

    def _single(self, enter: list[ir.Statement], out: list[ir.Statement]) -> None:
        """Add the vectors of one round of a single loop; windows go from each to the next one."""
        context, plan = self.context, self.plan
        body = plan.inside.body if plan.inside else plan.loop.body
        windows = windows_of(plan, body)
        outside = Body(context, plan, self.row, enter)
        carried: dict[Line, ir.Expression] = {
            line: outside.named(line[0], outside.load_before(window))
            for line, window in windows.items()
        }
        last: Mapping[Line, ir.Expression] = carried
        vectors: list[Body] = []
        for n in range(self.together):
            here = ir.Name(self.variable)
            if n:
                here = ir.Name(context.names.new(self.variable))
                out.append(let(here.name, plus(self.variable, n * self.lanes)))
            out += requested(self.requests, here, self.lanes)
            vectors.append(Body(context, plan, here, out, windows=windows, before=last))
            last = vectors[-1].last
        for node in body:
            for vector in vectors:
                vector.run(node)
        for line, kept in carried.items():
            assert isinstance(kept, ir.Name)
            out.append(let(kept.name, last[line]))

    # -- vectors at the ends

    def _end(self, carried: Values) -> ir.Statement:
        """Return the vector at a row from which no whole one begins: some rows may be outside."""
        here = ir.Name(self.variable)
        place: ir.Expression = self.row
        if self.overlap:
            latest = minus(self.stop, self.lanes)
            place = extreme("min", extreme("max", self.row, self.start), latest)
        out: list[ir.Statement] = [let(here.name, place)]
        if self.single:
            out += requested(self.requests, here, self.lanes)
            mask = None if self.overlap else self._mask(out, "rows", here, self.start, self.stop)
            body = Body(self.context, self.plan, here, out, mask)
            for node in self.plan.loop.body:
                body.run(node)
        else:
            self._links(out, here, carried, masked=True)
        out.append(let(self.row.name, plus(self.row, self.chain.way * self.lanes)))
        before, onward = self._order()
        early, late = compare(self.row, before, self.first), compare(self.row, onward, self.past)
        return ir.If(ir.Any((early, late)), tuple(out))

    def _mask(
        self,
        out: list[ir.Statement],
        stem: str,
        row: ir.Expression,
        low: ir.Expression,
        high: ir.Expression,
    ) -> ir.Expression:
        name = self.context.names.new(stem)
        out.append(let(name, rows_between(self.lanes, row, low, high)))
        return ir.Name(name)

    # -- chains

    def _links(
        self, out: list[ir.Statement], here: ir.Expression, carried: Values, *, masked: bool
    ) -> None:
        """Add all loops of a chain at a vector, and keep its values and earlier ones."""
        out += requested(self.requests, here, self.lanes)
        made = {array: [*vectors] for array, vectors in carried.items()}
        read = {
            array: self._mask(out, "read", here, line.start, line.stop)
            for array, line in (self.lines.items() if masked else ())
        }
        known: set[str] = set()
        for link, *rows in zip(self.chain.links, self.starts, self.stops, strict=True):
            mask = self._mask(out, "rows", here, *rows) if masked else None
            body = link.inside.body if link.inside and not masked else link.loop.body
            vector = Linked(
                self.context, link, here, out, mask, self.chain.shifts, made, read, known
            )
            for node in body:
                vector.run(node)
            known |= {access.array for access in link.stores}
        for array, vectors in carried.items():
            for kept, value in reversed(list(zip(vectors, made[array], strict=False))):
                assert isinstance(kept, ir.Name)
                out.append(let(kept.name, value))

    def _carried(self) -> Values:
        """Return variables with the vectors of lines before the first vector of the loop."""
        found: Values = {}
        for array, line in self.lines.items():
            found[array] = []
            for n in range(1, line.last + 1):
                row = self._bound("row", plus(self.row, -n * self.chain.way * self.lanes))
                mask = rows_between(self.lanes, row, line.start, line.stop)
                vector = Body(self.context, self.plan, row, self.out)
                old = vector.load(array, line.offset, mask)
                found[array].append(vector.named(array, old))
        return found

    def _lines(self) -> dict[str, _Stored]:
        """Return the lines that loops of a chain store for later ones."""
        found = {}
        for number, link in enumerate(self.chain.links):
            later = list(zip(self.chain.links, self.starts, self.stops, strict=True))[number + 1 :]
            for array, offset, _ in link.stores:
                lower, upper, furthest = list[ir.Expression](), list[ir.Expression](), 0
                for reader, start, stop in later:
                    sides = sides_of_loads(reader.loop.body, self.variable)
                    loads = {load.offset for load in reader.loads if load.array == array}
                    for load in sorted(loads, key=repr):
                        shift = self.chain.shifts[array, load]
                        first, last = on_sides(sides[array, load], start, stop)
                        some = compare(first, "<", last)
                        lower.append(ir.Select(some, plus(first, shift), LARGEST))
                        upper.append(ir.Select(some, plus(last, shift), LEAST))
                        furthest = max(furthest, abs(shift))
                if lower:
                    rows = (
                        self._bound("read", extreme("min", *lower)),
                        self._bound("unread", extreme("max", *upper)),
                    )
                    found[array] = _Stored(offset, *rows, -(-furthest // self.lanes))
        return found


LEAST, LARGEST = ir.Integer(-(2**62)), ir.Integer(2**62)
"""Integers below and above all row numbers."""


def _asking(chain: Chain) -> Plan:
    """Return the plan of the last loop, with the prefetches of all loops."""
    ahead: dict[str, Access] = {}
    for link in chain.links:
        for line in link.ahead:
            ahead.setdefault(line.array, line)
    last = chain.links[-1]
    return last if len(chain.links) == 1 else last._replace(ahead=tuple(ahead.values()))


def _may_overlap(context: Context, plan: Plan) -> bool:
    """Whether rows may be computed twice, which spares masks where they are slow.

    A loop must not read an array that it stores.
    """
    stored = {access.array for access in plan.stores}
    return not context.target.masks and stored.isdisjoint(load.array for load in plan.loads)
