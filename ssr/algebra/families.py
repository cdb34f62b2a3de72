"""Algebra of entry families: sums, scalar multiples, triangular parts and equality."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from .. import ir
from ..errors import ArgumentError
from ..points.affine import Affine
from ..points.numbers import integer
from ..points.sets import Domain
from ..spaces.space import Space
from ..symbols.printing import show
from ..trace.trace import Path
from .overlaps import summed
from .quotients import Normal

Triangle = Literal["tril", "triu", "diagonal"]
Maps: TypeAlias = tuple[tuple[Affine, ...], tuple[Affine, ...], ir.Value]
"""The row and column maps of a family, and the factor of its constant values."""

MONOMIALS = 1024
"""Limit of the monomials of an expanded value."""


def every_entry(paths: tuple[Path, ...], rows: Space) -> tuple[ir.Family, ...]:
    """Return the entries of traced paths in the order of yields, with equal entries merged.

    `canonical` makes them the families of a matrix.
    """
    merged: dict[tuple[tuple[Affine, ...], ir.Value], list[Domain]] = {}
    for path in paths:
        summed: dict[tuple[Affine, ...], ir.Value] = {}
        where = {entry.column: entry.domain for entry in path.entries}
        for entry in path.entries:
            known = summed.get(entry.column)
            summed[entry.column] = entry.value if known is None else add(known, entry.value)
        for column, value in summed.items():
            merged.setdefault((column, value), []).append(where[column])
    identity = rows.indices()
    return tuple(
        ir.Family(Domain.union(domains), identity, column, value)
        for (column, value), domains in merged.items()
    )


def add(a: ir.Value, b: ir.Value) -> ir.Value:
    """Return the sum of two values, folded if both are numbers."""
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return ir.Const(a.value + b.value)
    return ir.Op("add", (a, b))


def canonical(found: tuple[ir.Family, ...]) -> tuple[ir.Family, ...]:
    """Return the families without empty and zero ones, in the order rows are summed."""

    def key(family: ir.Family) -> tuple[object, ...]:
        order = column_order(family.column)
        return order, show(family.value), family.domain.text, family.box

    kept = (
        replace(f, domain=f.domain.canonical())
        for f in found
        if f.value != ir.ZERO and not f.domain.empty
    )
    return tuple(sorted(kept, key=key))


def column_order(column: Sequence[Affine]) -> tuple[object, ...]:
    """Return the key that sorts columns: by their linear part, then by their constant in C order.

    The entries of a stencil are thus summed from the lowest column to the highest.
    """
    return tuple(str(Affine(c.terms)) for c in column), tuple(c.constant for c in column)


def local(found: tuple[ir.Family, ...]) -> tuple[ir.Family, ...]:
    """Return the entries whose column is in the box of the row."""
    return settled(replace(f, box="own") for f in found if f.box != "other")


def settled(found: Iterable[ir.Family]) -> tuple[ir.Family, ...]:
    """Return families in which entries on the diagonal are in any box: they are in the row's."""
    kept = []
    for f in found:
        equal = f.domain.equal(f.row, f.column) if f.box != "any" else f.domain
        if f.box == "any" or equal.empty:
            kept.append(f)
            continue
        kept.append(replace(f, domain=f.domain - equal))
        if f.box == "own":
            kept.append(replace(f, domain=equal, box="any"))
    return canonical(tuple(kept))


def apart(family: ir.Family) -> Iterator[ir.Family]:
    """Divide a family into its entries in the box of the row and its entries in other boxes."""
    kinds: tuple[ir.Boxes, ...] = ("own", "other")
    for box in kinds:
        if family.box in (box, "any"):
            yield replace(family, box=box)


def merge(found: Iterable[ir.Family]) -> tuple[ir.Family, ...]:
    """Return the sum of families: constants at the same maps are added where domains overlap.

    If entries depend on boxes, constant factors of equal run-time values are also added.
    """
    found = tuple(found)
    if any(f.box != "any" for f in found):
        return _merged_by_boxes(found)
    numbers: dict[tuple[tuple[Affine, ...], tuple[Affine, ...]], list[tuple[Domain, float]]] = {}
    result: list[ir.Family] = []
    for family in found:
        if isinstance(family.value, ir.Const):
            pieces = numbers.setdefault((family.row, family.column), [])
            pieces.append((family.domain, family.value.value))
        else:
            result.append(family)
    for (row, column), pieces in numbers.items():
        result += [ir.Family(d, row, column, ir.Const(v)) for v, d in summed(pieces).items()]
    return canonical(tuple(result))


def _merged_by_boxes(found: Iterable[ir.Family]) -> tuple[ir.Family, ...]:
    """Return the sum of families whose entries are in boxes of one kind."""
    pieces: dict[tuple[Maps, ir.Boxes], list[tuple[Domain, float]]] = {}
    for f in (part for family in found for part in apart(family)):
        number, rest = factored(f.value)
        key = (f.row, f.column, rest), f.box
        pieces.setdefault(key, []).append((f.domain, number))
    made = []
    for maps in dict.fromkeys(maps for maps, _ in pieces):
        own, other = (summed(pieces.get((maps, box), ())) for box in ("own", "other"))
        row, column, rest = maps
        for number in own | other:
            here, there = own.get(number), other.get(number)
            value = multiply(ir.Const(number), rest)
            for box, domain in _joined_boxes(here, there):
                made.append(ir.Family(domain, row, column, value, box))
    return settled(made)


def _joined_boxes(own: Domain | None, other: Domain | None) -> Iterator[tuple[ir.Boxes, Domain]]:
    """Yield the rows of an entry in any box, in the box of the row only, and in others only."""
    if own is None or other is None:
        if own is not None:
            yield "own", own
        if other is not None:
            yield "other", other
        return
    yield from (("any", own & other), ("own", own - other), ("other", other - own))


def scale(found: tuple[ir.Family, ...], factor: ir.Value) -> tuple[ir.Family, ...]:
    """Return the families with all values multiplied."""
    return canonical(tuple(replace(f, value=multiply(factor, f.value)) for f in found))


def multiply(a: ir.Value, b: ir.Value) -> ir.Value:
    """Return the product of two values, folded if both are numbers or one is 1 or -1."""
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return ir.Const(a.value * b.value)
    for one, other in ((a, b), (b, a)):
        if one == ir.ONE:
            return other
        if one == ir.Const(-1.0):
            return ir.Op("neg", (other,))
    return ir.Op("mul", (a, b))


def factored(value: ir.Value) -> tuple[float, ir.Value]:
    """Return a value as a number times the rest: 1 if it is a number.

    The factors of the rest are in one order, whatever the order they were multiplied in.
    """
    number, factors = _factors(value)
    return number, _joined(factors)


def _factors(value: ir.Value) -> tuple[float, list[ir.Value]]:
    match value:
        case ir.Const(number):
            return number, []
        case ir.Op("neg", (inner,)):
            number, factors = _factors(inner)
            return -number, factors
        case ir.Op("mul", (a, b)):
            (m, left), (n, right) = _factors(a), _factors(b)
            return m * n, left + right
    return 1.0, [value]


def monomials(value: ir.Value) -> list[tuple[Fraction, ir.Value]]:
    """Return a value as a sum of numbers times products, each product in one order.

    >>> x, y = ir.Scalar("x"), ir.Scalar("y")
    >>> for number, rest in monomials(ir.Op("mul", (y, ir.Op("sub", (x, ir.Const(3.0)))))):
    ...     print(number, show(rest))
    1 (x * y)
    -3 y
    """
    return [(Fraction(number), _joined(factors)) for number, factors in _expanded(value)]


def _expanded(value: ir.Value) -> list[tuple[float, list[ir.Value]]]:
    """Return the monomials of a value; numbers are multiplied as `multiply` does, with rounding."""
    match value:
        case ir.Const(number) if math.isfinite(number):
            return [(number, [])]
        case ir.Op("neg", (inner,)):
            return [(-n, factors) for n, factors in _expanded(inner)]
        case ir.Op("add" | "sub" as name, (a, b)):
            sign = 1 if name == "add" else -1
            return _expanded(a) + [(sign * n, factors) for n, factors in _expanded(b)]
        case ir.Op("mul", (a, b)):
            products = [(m * n, x + y) for m, x in _expanded(a) for n, y in _expanded(b)]
            if len(products) <= MONOMIALS and all(math.isfinite(n) for n, _ in products):
                return products
    return [(1.0, [value])]


def _joined(factors: list[ir.Value]) -> ir.Value:
    """Return the product of factors, in one order."""
    product: ir.Value = ir.ONE
    for factor in sorted(factors, key=show):
        product = multiply(product, factor)
    return product


def checked_part(which: Literal["tril", "triu"], k: Any) -> int:
    """Return k, the number of a triangle, if it is one of those defined on a grid."""
    strict = {"tril": -1, "triu": 1}[which]
    part = integer(k)
    if part is None or part not in (0, strict):
        raise ArgumentError(
            f"{which}({k}) is not defined on a grid.",
            note="Entries are compared with the diagonal in row order; there are no far diagonals.",
            hint=f"Use {which}() with the diagonal, or {which}({strict}) without.",
        )
    return part


def part(found: tuple[ir.Family, ...], which: Triangle, k: int) -> tuple[ir.Family, ...]:
    """Return the entries below, above or on the diagonal, in the order of rows.

    Those on the diagonal are among the first two if k is 0.
    """
    kept = []
    for f in found:
        equal = f.domain.equal(f.row, f.column)
        domain = equal
        if which == "tril":
            domain = f.domain.before(f.column, f.row)
        elif which == "triu":
            domain = f.domain.before(f.row, f.column)
        if which != "diagonal" and k == 0:
            domain = domain | equal
        kept.append(replace(f, domain=domain))
    return canonical(tuple(kept))


def equal(left: tuple[ir.Family, ...], right: tuple[ir.Family, ...]) -> bool:
    """Whether two unions of families are proved to be the same matrix for all sizes.

    Number values are compared as functions of (row, column), exactly. So are the numbers that
    multiply the same products and quotients in other values (`quotients`); any other part
    is compared as an expression of the same data at the same indices.
    """
    by_basis: dict[tuple[ir.Value, ir.Boxes], list[tuple[Domain, Fraction]]] = {}
    if any(f.box != "any" for f in (*left, *right)):
        left, right = (tuple(part for f in found for part in apart(f)) for found in (left, right))
    for sign, found in ((1, left), (-1, right)):
        for f in found:
            for number, basis in Normal(f.row).monomials(f.value):
                form, indices = _form(basis)
                image = (*f.row, *f.column, *indices)
                graph = f.domain.image(image, tuple(f"p{n}" for n in range(len(image))))
                key = form, f.box
                by_basis.setdefault(key, []).append((graph, sign * number))
    return not any(summed(pieces) for pieces in by_basis.values())


def _form(value: ir.Value) -> tuple[ir.Value, tuple[Affine, ...]]:
    """Return a value without its indices, and the indices in the order in which they occur."""
    found: list[Affine] = []

    def visit(node: ir.Value) -> ir.Value:
        match node:
            case ir.Load(_, index):
                found.extend(index)
                return replace(node, index=())
            case ir.Coordinate(index):
                found.append(index)
                return ir.Coordinate(Affine())
            case ir.Op(name, args):
                return ir.Op(name, tuple(map(visit, args)))
        return node

    return visit(value), tuple(found)
