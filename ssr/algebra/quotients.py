"""Normal form of values, to compare them: sums of numbers times products of powers of factors.

    -1 / s              ->  -1 * s^-1
    (a s - 2 t) / (3 t) ->  1/3 * a s t^-1 - 2/3
    (s + t) / (2 s + 2 t)   ->  1/2
    a / (2 s + 2 t)     ->  1/2 * a (s + t)^-1

Factors are neither sums nor products nor quotients, except for sums in denominators, which are
normalized by the coefficient of their first term. A numerator that is a multiple of such a sum is
divided by it. Values are compared as functions of their data where no denominator vanishes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from .. import ir
from ..points.affine import Affine
from ..symbols.printing import show

TERMS = 1024
"""Limit of the terms of a normal form; longer values are compared as expressions."""

POWER = 64
"""The largest integer power that is expanded to a product."""

Product: TypeAlias = frozenset[tuple[ir.Value, int]]
"""Factors with their exponents, which may be negative."""

Terms: TypeAlias = dict[Product, Fraction]
"""A sum of products with nonzero coefficients."""

_ONE: Product = frozenset()


class _Long(Exception):
    """A normal form has too many terms, or a number in it is not finite."""


class Normal:
    """The normal form of the values of a family's entries.

    Parameters
    ----------
    row
        The row of an entry. Equal factors that are read at several indices are in the order of
        their distances from it, which does not depend on how the entries are numbered.
    """

    def __init__(self, row: Sequence[Affine]) -> None:
        self._row = row
        self._known: dict[int, tuple[ir.Value, Terms]] = {}
        self._sums: dict[ir.Value, Terms] = {}
        self._key = cache(self._placed)

    def monomials(self, value: ir.Value) -> list[tuple[Fraction, ir.Value]]:
        """Return a value as numbers times products and quotients.

        >>> s, t = ir.Scalar("s"), ir.Scalar("t")
        >>> twice = ir.Op("mul", (ir.Const(2.0), ir.Op("add", (s, t))))
        >>> for number, rest in Normal(()).monomials(ir.Op("div", (ir.Op("neg", (s,)), twice))):
        ...     print(number, show(rest))
        -1/2 (s / (s + t))
        """
        return [(number, self._rendered(p)) for p, number in self._terms(value).items()]

    # -- from values to terms ------------------------------------------------------------------

    def _terms(self, value: ir.Value) -> Terms:
        if id(value) not in self._known:
            try:
                found = self._reduced(self._found(value))
            except _Long:
                found = _factor(value)
            self._known[id(value)] = value, found
        return self._known[id(value)][1]

    def _found(self, value: ir.Value) -> Terms:
        match value:
            case ir.Const(number) if math.isfinite(number):
                return _sum([(_ONE, Fraction(number))])
            case ir.Op("neg", (a,)):
                return {p: -n for p, n in self._terms(a).items()}
            case ir.Op("add" | "sub" as name, (a, b)):
                sign = 1 if name == "add" else -1
                right = ((p, sign * n) for p, n in self._terms(b).items())
                return _sum([*self._terms(a).items(), *right])
            case ir.Op("mul", (a, b)):
                return self._product(self._terms(a), self._terms(b))
            case ir.Op("div", (a, b)) if self._terms(b):
                return self._product(self._terms(a), self._inverse(b))
            case ir.Op("pow", (a, ir.Const(power))) if self._is_product(a, power):
                return self._power(self._terms(a) if power > 0 else self._inverse(a), power)
            case ir.Coordinate(index) if index.terms:
                number, rest = _primitive(index)
                return {frozenset([(ir.Coordinate(rest), 1)]): Fraction(number)}
            case ir.Op(name, args):
                return _factor(ir.Op(name, tuple(self._whole(self._terms(a)) for a in args)))
        return _factor(value)

    def _is_product(self, base: ir.Value, power: float) -> bool:
        return power == round(power) and abs(power) <= POWER and bool(self._terms(base))

    def _product(self, a: Terms, b: Terms) -> Terms:
        """Return the product of two sums, in which no sum is a factor of a numerator."""
        if len(a) * len(b) > TERMS:
            raise _Long
        found: list[tuple[Product, Fraction]] = []
        for p, m in a.items():
            for q, n in b.items():
                found += self._multiplied(p, q, _times(m, n)).items()
        return _sum(found)

    def _multiplied(self, p: Product, q: Product, number: Fraction) -> Terms:
        """Return a product of products: several terms if a denominator becomes a numerator."""
        product = _combined(p, q)
        sums = {(f, power) for f, power in product if power > 0 and f in self._sums}
        made: Terms = {product - sums: number}
        for factor, power in sums:
            for _ in range(power):
                made = self._product(made, self._sums[factor])
        return made

    def _power(self, base: Terms, power: float) -> Terms:
        found: Terms = {_ONE: Fraction(1)}
        for _ in range(int(abs(power))):
            found = self._product(found, base)
        return found

    def _inverse(self, value: ir.Value) -> Terms:
        """Return one over a value that is not zero; of a product it is that of its factors."""
        match value:
            case ir.Op("mul", (a, b)):
                return self._product(self._inverse(a), self._inverse(b))
            case ir.Op("pow", (a, ir.Const(power))) if self._is_product(a, power) and power > 0:
                return self._power(self._inverse(a), power)
        terms = self._terms(value)
        first = min(terms, key=self._order)
        common = _common(terms)
        inverse, number = frozenset((f, -power) for f, power in common.items()), 1 / terms[first]
        if len(terms) > 1:
            monic = {_combined(p, inverse): n * number for p, n in terms.items()}
            factor = self._whole(monic)
            self._sums[factor] = monic
            inverse |= {(factor, -1)}
        return self._multiplied(inverse, _ONE, number)

    # -- quotients of sums ---------------------------------------------------------------------

    def _reduced(self, terms: Terms) -> Terms:
        """Return terms of which no numerator is a multiple of its denominator."""
        for factor in dict.fromkeys(f for product in terms for f, _ in product if f in self._sums):
            lowest = min(dict(product).get(factor, 0) for product in terms)
            if lowest >= 0:
                continue
            over = {p: n for p, n in terms.items() if (factor, lowest) in p}
            above = {p - {(factor, lowest)}: n for p, n in over.items()}
            quotient = self._divided(above, self._sums[factor])
            if quotient is not None:
                rest = [(p, n) for p, n in terms.items() if p not in over]
                less = _combined(frozenset([(factor, lowest)]), frozenset([(factor, 1)]))
                made = self._product(quotient, {less: Fraction(1)})
                return self._reduced(_sum([*rest, *made.items()]))
        return terms

    def _divided(self, terms: Terms, divisor: Terms) -> Terms | None:
        """Return the quotient of two sums if it is a sum: by long division."""
        factors = sorted({f for p in (*terms, *divisor) for f, _ in p}, key=self._key)
        left, by = (_vectors(t, factors) for t in (terms, divisor))
        shifts = [[min(v[n] for v in each) for n in range(len(factors))] for each in (left, by)]
        left, by = (
            {tuple(a - b for a, b in zip(v, shift, strict=True)): n for v, n in each.items()}
            for each, shift in zip((left, by), shifts, strict=True)
        )
        top, found = max(by), dict[tuple[int, ...], Fraction]()
        while left:
            highest = max(left)
            step = tuple(a - b for a, b in zip(highest, top, strict=True))
            if min(step, default=0) < 0 or len(found) >= TERMS:
                return None
            number = found[step] = left[highest] / by[top]
            for v, n in by.items():
                place = tuple(a + b for a, b in zip(v, step, strict=True))
                left[place] = left.get(place, Fraction(0)) - number * n
                if not left[place]:
                    del left[place]
        moved = [a - b for a, b in zip(*shifts, strict=True)]
        return {
            frozenset(
                (f, a + b) for f, a, b in zip(factors, v, moved, strict=True) if a + b
            ): n
            for v, n in found.items()
        }  # fmt: skip

    # -- from terms to values ------------------------------------------------------------------

    def _rendered(self, product: Product) -> ir.Value:
        """Return a product as a value, with its factors in order."""
        ordered = sorted(product, key=lambda each: self._key(each[0]))
        above = [f for f, power in ordered for _ in range(power)]
        below = [f for f, power in ordered for _ in range(-power)]
        found = _joined("mul", above)
        return ir.Op("div", (found, _joined("mul", below))) if below else found

    def _whole(self, terms: Terms) -> ir.Value:
        """Return a sum as a value, with its terms in order."""
        made = []
        for product in sorted(terms, key=self._order):
            number, rest = terms[product], self._rendered(product)
            made.append(rest if number == 1 else ir.Op("mul", (_number(number), rest)))
        return _joined("add", made) if made else ir.ZERO

    def _order(self, product: Product) -> tuple[object, ...]:
        return tuple(sorted((*self._key(f), power) for f, power in product))

    def _placed(self, factor: ir.Value) -> tuple[str, str]:
        """Return the sort key of a factor: its form without indices, then its offsets."""
        plain = show(ir.reindexed(factor, lambda index: tuple(Affine.of(0) for _ in index)))
        return plain, show(ir.reindexed(factor, self._distances))

    def _distances(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        if len(index) != len(self._row):
            return index
        return tuple(here - row for here, row in zip(index, self._row, strict=True))


def _factor(value: ir.Value) -> Terms:
    return {frozenset([(value, 1)]): Fraction(1)}


def _sum(found: Iterable[tuple[Product, Fraction]]) -> Terms:
    """Return the sum of terms, those of equal products joined."""
    terms: Terms = {}
    for product, number in found:
        terms[product] = terms.get(product, Fraction(0)) + number
    if len(terms) > TERMS:
        raise _Long
    return {product: number for product, number in terms.items() if number}


def _combined(p: Product, q: Product) -> Product:
    """Return the product of two products."""
    powers = dict(p)
    for factor, power in q:
        powers[factor] = powers.get(factor, 0) + power
    return frozenset((factor, power) for factor, power in powers.items() if power)


def _common(terms: Terms) -> Mapping[ir.Value, int]:
    """Return the factors that all terms have, each with its lowest power."""
    each = [dict(product) for product in terms]
    factors = dict.fromkeys(f for powers in each for f in powers)
    lowest = {f: min(powers.get(f, 0) for powers in each) for f in factors}
    return {f: power for f, power in lowest.items() if power}


def _primitive(index: Affine) -> tuple[int, Affine]:
    """Return an index as a number times an index whose coefficients have no common divisor."""
    coefficients = [coefficient for _, coefficient in index.terms]
    number = math.gcd(*coefficients, index.constant)
    number = number if coefficients[0] > 0 else -number
    terms = tuple((atom, coefficient // number) for atom, coefficient in index.terms)
    return number, Affine(terms, index.constant // number)


def _vectors(terms: Terms, factors: Sequence[ir.Value]) -> dict[tuple[int, ...], Fraction]:
    """Return terms by the powers of some factors."""
    powers = ((dict(product), number) for product, number in terms.items())
    return {tuple(p.get(f, 0) for f in factors): number for p, number in powers}


def _times(a: Fraction, b: Fraction) -> Fraction:
    """Return the product of two numbers; it is rounded as `multiply` does if they are floats."""
    if any(n.denominator & (n.denominator - 1) for n in (a, b)):
        return a * b
    try:
        return Fraction(float(a) * float(b))
    except (OverflowError, ValueError):
        raise _Long from None


def _number(number: Fraction) -> ir.Value:
    """Return a number as a constant, or as a symbol of its digits if no float represents it."""
    try:
        found = float(number)
    except OverflowError:
        found = math.inf
    if math.isfinite(found) and Fraction(found) == number:
        return ir.Const(found)
    return ir.Scalar(str(number))


def _joined(name: str, values: Sequence[ir.Value]) -> ir.Value:
    """Return values joined by an operation; one if there are none."""
    if not values:
        return ir.ONE
    found = values[0]
    for value in values[1:]:
        found = ir.Op(name, (found, value))
    return found
