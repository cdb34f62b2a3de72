"""Storage of row recurrences: the entries of each row that must be computed and stored.

An entry of a row is identified by its *offset*, column minus row, which is the same for all rows.
For block entries, the position in the block is appended to the offset. Each entry is classified:

- An entry of constants and indices alone is not stored: its expression is used in the matrix and
  wherever the entry is read.
- An entry of constants, indices and one stored entry is not stored if no later row reads it, as
  ``-1 / done[k, k]``: it is computed where the matrix is used.
- Every other entry is *stored*, with one value for each row, zero where a row has no such entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..algebra.families import add, canonical, column_order
from ..errors import SingularMatrixError, Span, UnsupportedError, at
from ..matrices.rows import Point
from ..points.affine import Affine
from ..points.sets import Domain
from ..spaces.space import Space
from ..symbols.values import Value, simplified
from ..trace.trace import Path
from .done import DONE


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows with equal entries: their values by offset, in the order they were yielded."""

    domain: Domain
    values: Mapping[Point, ir.Value]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The families of a recurrence, and the order in which stored entries are computed."""

    made: Mapping[str, ir.Value]
    families: Mapping[Point, tuple[ir.Family, ...]]


def pattern(
    name: str,
    paths: Sequence[Path],
    space: Space,
    places: Mapping[ir.Load, Span | None],
    *,
    blocks: bool = False,
) -> Pattern:
    """Return the pattern of a recurrence."""
    known = Known(
        name, space, [Rows(p.domain, _by_offset(p, space, blocks)) for p in paths], places
    )
    resolved = [known.resolved(rows) for rows in known.found]
    row, made = space.indices(), dict[str, ir.Value]()
    for offset, label in known.stored.items():
        terms = (ir.Term(r.domain, r.values[offset]) for r in resolved if offset in r.values)
        made[label] = ir.Sum(_by_weight(terms))
    families: dict[Point, list[ir.Family]] = {}
    for offset, label in known.stored.items():
        family = ir.Family(known.domains[offset], row, _sum(row, offset), ir.Load(label, row))
        families.setdefault(offset[len(row) :], []).append(family)
    for offset in known.domains.keys() - known.stored.keys():
        terms = (ir.Term(r.domain, _old(r.values[offset])) for r in resolved if offset in r.values)
        families.setdefault(offset[len(row) :], []).extend(
            ir.Family(t.domain, row, _sum(row, offset), t.weight) for t in _by_weight(terms)
        )
    return Pattern(made, {place: canonical(tuple(found)) for place, found in families.items()})


def _by_offset(path: Path, space: Space, blocks: bool) -> dict[Point, ir.Value]:
    """Return the entries of a path by offset; entries at the same column are added."""
    found: dict[Point, ir.Value] = {}
    for entry in path.entries:
        pairs = zip(entry.column, space.indices(), strict=True)
        offset = tuple(path.domain.values(c - r, 1)[0] for c, r in pairs)
        if any(not o.names().isdisjoint(space.axes) for o in offset):
            raise UnsupportedError(
                f"The column ({', '.join(map(str, entry.column))}) of a recurrence has no fixed "
                "distance from the row.",
                span=entry.span and entry.span.element(0),
                note="An array is stored for each distance.",
            )
        offset = (*offset, *map(Affine.of, entry.place)) if blocks else offset
        found[offset] = add(found[offset], entry.value) if offset in found else entry.value
    return {offset: value for offset, value in found.items() if value != ir.ZERO}


def _sum(row: Point, offset: Point) -> Point:
    return tuple(r + o for r, o in zip(row, offset, strict=False))


def _before(value: ir.Value) -> list[ir.Load]:
    """Return the reads of earlier entries in a value, each once."""
    return [load for load in ir.loads(value) if load.array == DONE]


def _old(value: ir.Value) -> ir.Value:
    """Return a value whose loads of computed elements are replaced by loads of arrays."""
    return ir.rewrite(value, lambda v: replace(v, new=False) if isinstance(v, ir.Load) else None)


class Known:
    """Properties of a recurrence's entries that are known before any is computed."""

    def __init__(
        self,
        name: str,
        space: Space,
        found: Sequence[Rows],
        places: Mapping[ir.Load, Span | None],
    ) -> None:
        self.name = name
        self.space = space
        before: Sequence[Rows] = ()
        while found != before:
            self.found, self.domains = found, _domains(found)
            self._places: dict[tuple[ir.Load, Domain], tuple[tuple[Point, Domain], ...]] = {}
            for rows in found:
                self._check_divisors(rows, places)
            before, found = found, [self._without_zeros(rows) for rows in found]
        used = {offset for rows in self.found for offset in self._read(rows)}
        order = [o for o in sorted(self.domains, key=column_order) if not self._closed(o, used)]
        labels = {offset: f"{name}[{n}]" for n, offset in enumerate(order)}
        self.stored = {offset: labels[offset] for offset in self.domains if offset in labels}

    def _without_zeros(self, rows: Rows) -> Rows:
        """Return rows in which reads of earlier entries that no row has are zero."""
        zero: dict[ir.Value, ir.Value] = {
            load: ir.ZERO
            for value in rows.values.values()
            for load in _before(value)
            if not any(self._at(load, rows.domain))
        }
        values = ((o, _replaced(value, zero)) for o, value in rows.values.items())
        return Rows(rows.domain, {o: value for o, value in values if value != ir.ZERO})

    def _read(self, rows: Rows) -> Iterator[Point]:
        """Yield the offsets of the earlier entries that some rows read."""
        for value in rows.values.values():
            for load in _before(value):
                yield from (offset for offset, _ in self._at(load, rows.domain))

    def _closed(self, offset: Point, used: set[Point]) -> bool:
        """Whether an entry is an expression of constants and of at most one other, stored entry."""
        values = [rows.values[offset] for rows in self.found if offset in rows.values]
        most = max(len(_before(value)) for value in values)
        early = all(
            v.array == DONE if isinstance(v, ir.Load) else not isinstance(v, ir.Scalar)
            for value in values
            for v in ir.walk(value)
        )
        return early and (most == 0 or (most == 1 and offset not in used))

    def _at(self, load: ir.Load, rows: Domain) -> tuple[tuple[Point, Domain], ...]:
        """Return the offsets of the entries that a read may mean, and the rows where it does."""
        key = load, rows
        if key not in self._places:
            self._places[key] = tuple(self._search(load, rows))
        return self._places[key]

    def _search(self, load: ir.Load, rows: Domain) -> Iterator[tuple[Point, Domain]]:
        count = self.space.ndim
        here, there = load.index[:count], load.index[count:]
        gap = (*(c - h for c, h in zip(there, here, strict=False)), *there[count:])
        for offset, domain in self.domains.items():
            if any(a.terms == b.terms and a != b for a, b in zip(gap, offset, strict=True)):
                continue
            where = rows & domain.preimage(here, rows.axes)
            where = where if gap == offset else where.equal(gap, offset)
            if not where.empty:
                yield offset, where

    def resolved(self, rows: Rows) -> Rows:
        """Return the values of rows as they are computed: from stored entries and constants."""
        meaning: dict[ir.Value, ir.Value] = {
            load: self._value(load, rows.domain)
            for value in rows.values.values()
            for load in _before(value)
        }
        values = dict[Point, ir.Value]()
        for offset in (o for o in self.domains if o in rows.values):
            value = values[offset] = _replaced(rows.values[offset], meaning)
            if offset in self.stored and isinstance(value, ir.Op):
                meaning[value] = ir.Load(self.stored[offset], self.space.indices(), True)
        return Rows(rows.domain, values)

    def _value(self, load: ir.Load, rows: Domain) -> ir.Value:
        """Return the value of a read of an earlier entry, for some rows."""
        here = load.index[: self.space.ndim]
        where = dict(zip(self.space.axes, here, strict=True))
        terms: list[ir.Term] = []
        for offset, domain in self._at(load, rows):
            if offset in self.stored:
                stored = ir.Load(self.stored[offset], here, True)
                exact = load.index == (*here, *_sum(here, offset), *offset[len(here) :])
                terms.append(ir.Term(rows if exact else domain, stored))
                continue
            for source in (s for s in self.found if offset in s.values):
                at_row = domain & source.domain.preimage(here, rows.axes)
                if not at_row.empty:
                    terms.append(ir.Term(at_row, ir.substituted(source.values[offset], where)))
        found = _by_weight(terms)
        return found[0].weight if rows <= found[0].domain else ir.Sum(found)

    def _check_divisors(self, rows: Rows, places: Mapping[ir.Load, Span | None]) -> None:
        """Check that every divisor of these rows is an existing entry."""
        divisions = (
            v
            for value in rows.values.values()
            for v in ir.walk(value)
            if isinstance(v, ir.Op) and v.name == "div"
        )
        divisors = dict.fromkeys(v.args[1] for v in divisions)
        for load in divisors:
            if not isinstance(load, ir.Load) or load.array != DONE:
                continue
            missing = rows.domain
            for _, domain in self._at(load, rows.domain):
                missing = missing - domain
            if not missing.empty:
                count = self.space.ndim
                here, column = (", ".join(map(str, load.index[s])) for s in _halves(count))
                with at(places[load]):
                    raise SingularMatrixError(
                        f"{self.name} divides by its entry at row ({here}) and column ({column}), "
                        "which is zero.",
                        note=f"That is so for {missing.simplified().notation()}.",
                        hint="The matrix that is factorized needs a diagonal without zeros.",
                    )


def _domains(found: Iterable[Rows]) -> dict[Point, Domain]:
    """Return the rows that have an entry, by its offset."""
    domains: dict[Point, Domain] = {}
    for rows in found:
        for offset in rows.values:
            before = domains.get(offset)
            domains[offset] = rows.domain if before is None else before | rows.domain
    return domains


def _replaced(value: ir.Value, meaning: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """Return a value with parts replaced, without products with zero and the like."""
    (found,) = simplified([Value(ir.rewrite(value, meaning.get))])
    assert isinstance(found, Value)
    return found.node


def _halves(count: int) -> tuple[slice, slice]:
    return slice(None, count), slice(count, 2 * count)


def _by_weight(terms: Iterable[ir.Term]) -> tuple[ir.Term, ...]:
    """Return the terms, with terms of equal values merged."""
    found: dict[ir.Value, Domain] = {}
    for t in terms:
        found[t.weight] = found[t.weight] | t.domain if t.weight in found else t.domain
    return tuple(ir.Term(domain.canonical(), value) for value, domain in found.items())
