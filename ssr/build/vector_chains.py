"""Chains of loops as one loop over vectors, in LLVM's language.

A step of a recurrence reads what the step before it has made some rows back. In loops of their own
each step stores a line, and the next one loads it again: mostly from two cache lines at a time, and
before the processor has stored it. As one loop they take what they have made of the last vectors
from registers. It is stored all the same, for who else reads it. What a row computes is the same.
`chain_plans` says which loops are chains.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..kernel import ir
from ..runtime import target
from . import requests
from .chain_plans import Chain
from .line_sides import extreme, limits
from .vector_loops import first_row
from .vector_plans import Access, Plan, Translation
from .vectors import Vector, mask_of


class _Line(NamedTuple):
    """A line that loops of a chain store, and later ones read.

    Its elements are stored at an ``offset``; what is read begins at the row ``start``, and ends
    before ``stop``. Rows of so many ``last`` vectors are read together with those of one.
    """

    offset: ir.Expression
    start: Any
    stop: Any
    last: int


class _Linked(Vector):
    """The body of one of a chain's loops at the rows of one vector.

    Parameters
    ----------
    translation, variable, dtype, mask
        As for all vectors.
    chain
        The chain.
    made
        What its loops have made of lines, by array: of this vector, and of the last ones.
    read
        The masks of rows whose elements are read of lines, whoever stores them, by array.
    known
        The arrays that earlier loops store.
    """

    def __init__(
        self,
        translation: Translation,
        variable: str,
        dtype: Any,
        mask: Any,
        chain: Chain,
        made: dict[str, list[Any]],
        read: Mapping[str, Any],
        known: Collection[str],
    ) -> None:
        super().__init__(translation, variable, dtype, mask)
        self._shifts, self._made, self._read, self._known = chain.shifts, made, read, known

    def _store(self, array: str, offset: ir.Expression, value: Any) -> None:
        known = value
        if self._mask is not None and array in self._made:
            others = self._builder.and_(self._read[array], self._builder.not_(self._mask))
            stored = super()._load(array, offset, others)  # before the store: it would wait for it
            known = self._builder.select(self._mask, value, stored)
        super()._store(array, offset, value)
        if array in self._made:
            self._made[array].insert(0, known)

    def _load(self, array: str, offset: ir.Expression, mask: Any) -> Any:
        if array not in self._known:
            return super()._load(array, offset, mask)
        shift = self._shifts[array, offset]
        number, within = divmod(shift, self._lanes)
        low, vectors = abs(number), self._made[array]
        if not within:
            return vectors[low]
        places = range(within, within + self._lanes)
        return self._shuffled(vectors[low], vectors[abs(number + 1)], places)


def write(translation: Translation, chain: Chain) -> None:
    """Write a chain: vectors with masks at both ends of the line, whole vectors between them.

    A vector is whole if all loops have all its rows.
    """
    links, way = chain.links, chain.way
    name, plan = links[0].loop.variable, _plan(chain)
    builder, dtype = translation.builder, plan.dtype
    starts = [translation.integer_of(link.loop.start) for link in links]
    stops = [translation.integer_of(link.loop.stop) for link in links]
    word, lanes = starts[0].type, target.current().lanes(dtype.bitwidth)
    stride = word(way * lanes)
    before, test, some, ends, main, end = (
        translation.new_block(f"chain.{part}")
        for part in ("before", "test", "some", "ends", "main", "end")
    )
    start, stop = extreme(builder, "<", starts), extreme(builder, ">", stops)
    inner = [
        limits(builder, translation.integer_of, link.inside.sides, *rows) if link.inside else rows
        for link, *rows in zip(links, starts, stops, strict=True)
    ]
    low = extreme(builder, ">", [lower for lower, _ in inner])
    high = extreme(builder, "<", [upper for _, upper in inner])
    builder.cbranch(builder.icmp_signed("<", start, stop), before, end)

    builder.position_at_end(before)
    lines = _lines(builder, chain, starts, stops, lanes)
    translation.counts(name, start)
    first = first_row(translation, plan, start, stop)
    asked = requests.of_chain(translation, plan, start)
    if way < 0:
        count = builder.sub(builder.sub(stop, word(1)), first)
        first = builder.add(first, builder.and_(count, word(-lanes)))
    old: dict[str, list[Any]] = {}
    for array, line in lines.items():
        rows = [builder.sub(first, word((n + 1) * way * lanes)) for n in range(line.last)]
        old[array] = [_stored(translation, name, dtype, array, line, row) for row in rows]
    builder.branch(test)

    def phis(given: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        return {array: [builder.phi(v.type, array) for v in vs] for array, vs in given.items()}

    def come(into: Mapping[str, list[Any]], made: Mapping[str, list[Any]], block: Any) -> None:
        for array, vectors in into.items():
            for phi, vector in zip(vectors, made[array], strict=False):
                phi.add_incoming(vector, block)

    def run(row: Any, last: Mapping[str, list[Any]], masked: bool) -> dict[str, list[Any]]:
        """Write all loops at a vector; return what they have made, the vectors before it last."""
        made = {array: [*vectors] for array, vectors in last.items()}
        translation.counts(name, row)
        requests.write(translation, asked, row, lanes)
        read = {
            array: mask_of(builder, lanes, row, line.start, line.stop)
            for array, line in (lines.items() if masked else ())
        }
        known: set[str] = set()
        for link, *rows in zip(links, starts, stops, strict=True):
            mask = mask_of(builder, lanes, row, *rows) if masked else None
            inside = None if masked else link.inside
            body = inside.body if inside else link.loop.body
            _Linked(translation, name, dtype, mask, chain, made, read, known).run(body)
            known |= {access.array for access in link.stores}
        return made

    builder.position_at_end(test)
    row, last = builder.phi(word, name), phis(old)
    row.add_incoming(first, before)
    come(last, old, before)
    upper = builder.add(row, word(lanes), flags=["nsw"])
    is_some = (
        builder.icmp_signed("<", row, stop) if way > 0 else builder.icmp_signed(">", upper, start)
    )
    builder.cbranch(is_some, some, end)

    builder.position_at_end(some)
    is_whole = builder.and_(
        builder.icmp_signed(">=", row, low), builder.icmp_signed("<=", upper, high)
    )
    builder.cbranch(is_whole, main, ends)

    builder.position_at_end(ends)
    come(last, run(row, last, True), ends)
    row.add_incoming(builder.add(row, stride), ends)
    builder.branch(test)

    builder.position_at_end(main)
    here, latest = builder.phi(word, name), phis(last)
    here.add_incoming(row, some)
    come(latest, last, some)
    made = run(here, latest, False)
    following = builder.add(here, stride, flags=["nsw"])
    here.add_incoming(following, main)
    come(latest, made, main)
    row.add_incoming(following, main)
    come(last, made, main)
    more = (
        builder.icmp_signed("<=", following, builder.sub(high, word(lanes)))
        if way > 0
        else builder.icmp_signed(">=", following, low)
    )
    back = builder.cbranch(more, main, test)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))
    builder.position_at_end(end)


def _plan(chain: Chain) -> Plan:
    """Return the plan of the last loop, which asks for the memory of all loops."""
    ahead: dict[str, Access] = {}
    for link in chain.links:
        for line in link.ahead:
            ahead.setdefault(line.array, line)
    return chain.links[-1]._replace(ahead=list(ahead.values()))


def _lines(
    builder: Any, chain: Chain, starts: Sequence[Any], stops: Sequence[Any], lanes: int
) -> dict[str, _Line]:
    """Return the lines that loops of a chain store for later ones."""
    word = starts[0].type
    least, largest = word(-(2**62)), word(2**62)
    found = {}
    for number, link in enumerate(chain.links):
        later = list(zip(chain.links, starts, stops, strict=True))[number + 1 :]
        for array, offset, _ in link.stores:
            lower, upper, furthest = [], [], 0
            for reader, start, stop in later:
                loads = [load for load in reader.loads if load.array == array]
                shifts = [chain.shifts[array, load.offset] for load in loads]
                if shifts:
                    some = builder.icmp_signed("<", start, stop)
                    begin = builder.add(start, word(min(shifts)))
                    end = builder.add(stop, word(max(shifts)))
                    lower.append(builder.select(some, begin, largest))
                    upper.append(builder.select(some, end, least))
                    furthest = max(furthest, *map(abs, shifts))
            if lower:
                rows = extreme(builder, "<", lower), extreme(builder, ">", upper)
                found[array] = _Line(offset, *rows, -(-furthest // lanes))
    return found


def _stored(
    translation: Translation, name: str, dtype: Any, array: str, line: _Line, row: Any
) -> Any:
    """Return what is read of the vector of a line at a row that no loop of the chain makes."""
    lanes = target.current().lanes(dtype.bitwidth)
    mask = mask_of(translation.builder, lanes, row, line.start, line.stop)
    translation.counts(name, row)
    return Vector(translation, name, dtype, mask).load(array, line.offset)
