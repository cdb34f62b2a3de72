"""Products, transposes, parts and Kronecker products of entry families.

A product is substitution: the column of the left family becomes the row of the right one,

    (D, i, c(i), v(i)) @ (E, k, d(k), w(k)) = (D and c(i) in E, i, d(c(i)), v(i) w(c(i))).

A transpose is the inverse of the column map, point by point where several rows read one column.
Every operation returns families whose row is the identity.

References
----------
Staged Sparse Row, arXiv 2204.13304; Mat2Stencil, OOPSLA 2023.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .. import ir
from ..errors import UnsupportedError
from ..points.affine import Affine
from ..points.sets import Domain
from ..spaces.space import Space
from .families import add, canonical, factored, multiply, overlay

FIBRE = 64
"""The most rows that may read one column of a matrix that is transposed."""

Map = tuple[Affine, ...]
Families = tuple[ir.Family, ...]


def product(left: Families, right: Families) -> Families:
    """Return the entries of the product of two matrices."""
    found: list[ir.Family] = []
    for a in left:
        for b in right:
            axes = a.domain.axes
            domain = a.domain & b.domain.preimage(a.column, axes)
            if domain.empty:
                continue
            where = dict(zip(b.domain.axes, a.column, strict=True))
            column = domain.resolved(tuple(c.substitute(where) for c in b.column))
            value = times(a.value, moved(b.value, where, domain))
            found.append(ir.Family(domain, a.row, column, value))
    return total(found)


def transpose(found: Families, cols: Space, name: str) -> Families:
    """Return the entries of the transpose.

    Raises
    ------
    UnsupportedError
        If a column is read by a number of rows that grows with the grid.
    """
    inverse: list[tuple[Domain, Map, ir.Family]] = []
    for f in found:
        pieces = f.domain.inverse(f.column, cols.axes, FIBRE)
        if pieces is None:
            raise UnsupportedError(
                f"The transpose of {name} has rows with too many entries.",
                note=f"Column ({', '.join(map(str, f.column))}) is read by over {FIBRE} rows, "
                "by more in larger grids, or under too many conditions.",
                hint=f"Use {name}.to_scipy().T.",
            )
        inverse += [(domain, point, f) for domain, point in pieces]
    made: list[ir.Family] = []
    points: dict[Map, None] = {}
    for domain, point, f in sorted(inverse, key=lambda piece: _plainness(piece[1], cols)):
        same = (p for p in points if domain <= domain.equal(p, point))
        point = next(same, point)
        points[point] = None
        where = dict(zip(f.domain.axes, point, strict=True))
        value = moved(f.value, where, domain)
        made.append(replace(f, domain=domain, row=cols.indices(), column=point, value=value))
    return total(made)


def _plainness(image: Map, space: Space) -> tuple[object, ...]:
    """Return a key that sorts maps: those without sizes first, then those of most indices."""
    names = frozenset().union(*(e.names() for e in image))
    text = ", ".join(map(str, image))
    return len(names - {*space.axes}), -len(names), len(text), text


def within(part: Space, whole: Space) -> bool:
    """Whether a space is proved to be part of another, for all sizes."""
    if part.data.staggered != whole.data.staggered:
        return False
    return Domain.of(part.axes, part.condition()) <= Domain.of(whole.axes, whole.condition())


def submatrix(found: Families, rows: Space, cols: Space) -> Families:
    """Return the entries in some rows and columns."""
    inside = Domain.of(rows.axes, rows.condition())
    kept = Domain.of(cols.axes, cols.condition())
    return canonical(
        tuple(
            replace(f, domain=f.domain & inside & kept.preimage(f.column, rows.axes)) for f in found
        )
    )


def kronecker(left: Families, right: Families, rows: Space) -> Families:
    """Return the entries ``a * b`` at ``(row a, row b), (column a, column b)``."""
    made: list[ir.Family] = []
    for a in left:
        for b in right:
            first, second = rows.indices()[: len(a.row)], rows.indices()[len(a.row) :]
            one = dict(zip(a.domain.axes, first, strict=True))
            two = dict(zip(b.domain.axes, second, strict=True))
            domain = a.domain.preimage(first, rows.axes) & b.domain.preimage(second, rows.axes)
            column = (
                *(c.substitute(one) for c in a.column),
                *(c.substitute(two) for c in b.column),
            )
            value = times(moved(a.value, one, domain), moved(b.value, two, domain))
            made.append(ir.Family(domain, rows.indices(), column, value))
    return canonical(tuple(made))


def times(a: ir.Value, b: ir.Value) -> ir.Value:
    """Return the product of two values, as a number times the rest."""
    (m, x), (n, y) = factored(a), factored(b)
    return multiply(ir.Const(m * n), multiply(x, y))


def moved(value: ir.Value, where: Mapping[str, Affine], domain: Domain) -> ir.Value:
    """Return a value with indices replaced, as a domain allows to write them."""
    return ir.reindexed(
        value, lambda index: domain.resolved(tuple(i.substitute(where) for i in index))
    )


def total(found: Iterable[ir.Family]) -> Families:
    """Return the sum of families with identity rows, as few of them as can be told.

    Numbers that multiply the same run-time value at the same column are added where they meet;
    different values at one column are added if they are on the same rows.
    """
    grouped: dict[tuple[Map, Map, ir.Boxes, ir.Value], dict[Domain, float]] = {}
    for f in found:
        number, rest = factored(f.value)
        domains = grouped.setdefault((f.row, f.column, f.box, rest), {})
        domain = f.domain.canonical()
        domains[domain] = domains.get(domain, 0.0) + number
    sums: dict[tuple[Map, Map, ir.Boxes, Domain], ir.Value] = {}
    for (row, column, box, rest), domains in grouped.items():
        for domain, number in _apart(domains).items():
            value = multiply(ir.Const(number), rest)
            known = sums.get((row, column, box, domain))
            sums[row, column, box, domain] = value if known is None else add(known, value)
    return canonical(
        tuple(
            ir.Family(domain, row, column, v, box) for (row, column, box, domain), v in sums.items()
        )
    )


def _apart(found: Mapping[Domain, float]) -> dict[Domain, float]:
    """Return numbers on disjoint domains whose sum at each point is that of numbers on domains."""
    pieces: list[tuple[Domain, float]] = []
    for domain, number in found.items():
        pieces = overlay(pieces, domain, number)
    by_number: dict[float, Domain] = {}
    for domain, number in pieces:
        known = by_number.get(number)
        by_number[number] = domain if known is None else known | domain
    return {domain.canonical(): number for number, domain in by_number.items() if number}
