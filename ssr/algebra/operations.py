"""Products, transposes, submatrices and Kronecker products of entry families.

A product is substitution: the column of the left family becomes the row of the right one,

    (D, i, c(i), v(i)) @ (E, k, d(k), w(k)) = (D and c(i) in E, i, d(c(i)), v(i) w(c(i))).

A transpose is the inverse of the column map, point by point where several rows read one column.
Every operation returns families whose row map is the identity.

References
----------
Staged Sparse Row, arXiv 2204.13304; Mat2Stencil, OOPSLA 2023.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from .. import ir
from ..errors import UnsupportedError
from ..points.affine import Affine
from ..points.effort import attempted
from ..points.inverse import inverse
from ..points.sets import Domain
from ..spaces.space import Space, points_of, row_domain
from .families import add, canonical, factored, multiply
from .overlaps import summed

FIBRE = 64
"""Limit of the rows that read one column of a transposed matrix."""

EFFORT = 30_000_000
"""Limit of isl operations for the entries of a matrix: some ten seconds."""

ENTRIES = 500
"""Limit of the entries of a row of a power, as distinct functions of the row."""

POWER = 100
"""Limit of the exponent of a matrix power."""

KINDS = 1000
"""Limit of the families of a product, since each adds a term to the generated code."""

Map = tuple[Affine, ...]
Families = tuple[ir.Family, ...]


def attempt(name: str, make: Callable[[], Families]) -> Families:
    """Return the entries of a named matrix that is computed from others; limit the effort."""
    found = attempted(make, EFFORT)
    if found is None:
        raise UnsupportedError(
            f"{name} has too many kinds of rows to be distinguished.",
            note="Rows are of different kinds where conditions of the matrices it is made of, such "
            "as bounds and remainders of indices, give them other columns or numbers.",
            hint="Apply the matrices one after the other: A @ (B @ x) for (A @ B) @ x.",
        )
    return found


def product(left: Families, right: Families, name: str) -> Families:
    """Return the entries of the product of two matrices."""
    found = attempt(name, lambda: total(_products(left, right)))
    if len(found) > KINDS:
        raise UnsupportedError(
            f"A product of matrices has {len(found)} kinds of entries; {KINDS} are supported.",
            note="Entries are of different kinds if they are at other distances from the diagonal, "
            "or have other numbers, as next to boundaries.",
            hint="Apply the matrices one after the other: A @ (B @ x) for (A @ B) @ x.",
        )
    return found


def check_power(found: Families, rows: Space, exponent: int, name: str) -> None:
    """Raise an error before a power is computed that is too high or has too many entries."""
    hint = f"Apply the matrix repeatedly: for _ in range({exponent}): x = {name} @ x."
    if exponent > POWER:
        text = f"{name} ** {exponent} is not supported: powers go up to {POWER}."
        raise UnsupportedError(text, hint=hint)
    points = row_domain(rows)
    steps = dict.fromkeys((tuple(f.domain.axes), f.column) for f in found)
    reached: dict[Map, None] = {rows.indices(): None}
    for power in range(1, exponent + 1):
        before = reached
        reached = dict.fromkeys(
            tuple(c.substitute(dict(zip(axes, place, strict=True))) for c in column)
            for place in before
            for axes, column in steps
        )
        if len(reached) > len(before):
            reached = {c: None for c in reached if not _outside(points, c, rows.axes)}
        if len(reached) > ENTRIES:
            raise UnsupportedError(
                f"{name} ** {exponent} has rows of more than {ENTRIES} entries.",
                note=f"rows of {name} ** {power} have {len(reached)} already",
                hint=hint,
            )
        if reached.keys() == before.keys():
            return


def _outside(points: Domain, column: Map, axes: tuple[str, ...]) -> bool:
    """Whether a column lies outside of the points at all rows."""
    return (points & points.preimage(column, axes)).empty


def _products(left: Families, right: Families) -> Iterator[ir.Family]:
    """Yield the products of all entries that meet."""
    for a in left:
        for b in right:
            axes = a.domain.axes
            domain = a.domain & b.domain.preimage(a.column, axes)
            if domain.empty:
                continue
            where = dict(zip(b.domain.axes, a.column, strict=True))
            column = domain.resolved(tuple(c.substitute(where) for c in b.column))
            value = times(a.value, ir.value_at(b.value, b.domain.axes, a.column, domain))
            yield ir.Family(domain, a.row, column, value)


def transpose(found: Families, cols: Space, name: str) -> Families:
    """Return the entries of the transpose."""
    inverted: list[tuple[Domain, Map, ir.Family]] = []
    for f in found:
        pieces = inverse(f.domain, f.column, cols.axes, FIBRE)
        if pieces is None:
            raise UnsupportedError(
                f"The transpose of {name} has rows with too many entries.",
                note=f"Column ({', '.join(map(str, f.column))}) is read by over {FIBRE} rows, "
                "by more in larger grids, or under too many conditions.",
                hint=f"Use {name}.to_scipy().T.",
            )
        inverted += [(domain, point, f) for domain, point in pieces]
    made: list[ir.Family] = []
    points: dict[Map, None] = {}
    for domain, point, f in sorted(inverted, key=lambda piece: _plainness(piece[1], cols)):
        same = (p for p in points if domain <= domain.equal(p, point))
        point = next(same, point)
        points[point] = None
        value = ir.value_at(f.value, f.domain.axes, point, domain)
        made.append(replace(f, domain=domain, row=cols.indices(), column=point, value=value))
    return attempt(f"{name}.T", lambda: total(made))


def _plainness(image: Map, space: Space) -> tuple[object, ...]:
    """Return a key that sorts maps: first maps without sizes, then maps with the most indices."""
    names = frozenset().union(*(e.names() for e in image))
    text = ", ".join(map(str, image))
    return len(names - {*space.axes}), -len(names), len(text), text


def within(part: Space, whole: Space) -> bool:
    """Whether a space is proved to be part of another, for all sizes."""
    if part.data.staggered != whole.data.staggered:
        return False
    return row_domain(part, (whole,)) <= row_domain(whole)


def submatrix(found: Families, rows: Space, cols: Space) -> Families:
    """Return the entries in some rows and columns."""
    inside, kept = points_of(rows), points_of(cols)
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
            value = times(
                ir.value_at(a.value, a.domain.axes, first, domain),
                ir.value_at(b.value, b.domain.axes, second, domain),
            )
            made.append(ir.Family(domain, rows.indices(), column, value))
    return canonical(tuple(made))


def times(a: ir.Value, b: ir.Value) -> ir.Value:
    """Return the product of two values, as a number times the rest."""
    (m, x), (n, y) = factored(a), factored(b)
    return multiply(ir.Const(m * n), multiply(x, y))


def total(found: Iterable[ir.Family]) -> Families:
    """Return the sum of families with identity rows, as few of them as can be found.

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
        for number, where in summed(domains.items()).items():
            domain, value = where.canonical(), multiply(ir.Const(number), rest)
            known = sums.get((row, column, box, domain))
            sums[row, column, box, domain] = value if known is None else add(known, value)
    return canonical(
        tuple(
            ir.Family(domain, row, column, v, box) for (row, column, box, domain), v in sums.items()
        )
    )
