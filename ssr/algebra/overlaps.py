"""Sums of values on overlapping sets, as values on disjoint sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeVar

from ..points.remainders import by_remainders
from ..points.sets import Domain

Number = TypeVar("Number", float, Fraction)


def summed(found: Iterable[tuple[Domain, Number]]) -> dict[Number, Domain]:
    """Return where the sum of numbers on sets has which value, but where it is zero.

    Numbers are added in their order.

    >>> low, high = (Domain.where(("i",), text, ("n",)) for text in ("i < n", "0 <= i"))
    >>> summed([(low, 2.0), (high, 3.0)])
    {5.0: [n] -> { [i] : 0 <= i < n }, 2.0: [n] -> { [i] : i < 0 and i < n }, 3.0: ...}
    """
    given = list(found)
    if not given:
        return {}
    numbers = [number for _, number in given]
    parts = by_remainders([domain for domain, _ in given])
    if len(parts) == 1:
        return _summed(given)
    where: dict[Number, list[tuple[Domain, Domain]]] = {}
    for part, within in parts:
        for number, domain in _summed(zip(within, numbers, strict=True)).items():
            if not (domain & part).empty:
                where.setdefault(number, []).append((domain.canonical(), part))
    return {number: _joined(pieces, len(parts)) for number, pieces in where.items()}


def _joined(pieces: Sequence[tuple[Domain, Domain]], classes: int) -> Domain:
    """Return the union of sets, each restricted to one of ``classes`` remainder classes."""
    if len(pieces) == classes and len({domain for domain, _ in pieces}) == 1:
        return pieces[0][0]
    return Domain.union([domain & part for domain, part in pieces])


def _summed(given: Iterable[tuple[Domain, Number]]) -> dict[Number, Domain]:
    """Return the result of `summed` without dividing the sets by remainders first."""
    pieces: list[tuple[Domain, Number]] = []
    for domain, number in given:
        pieces = _overlaid(pieces, domain, number)
    by_number: dict[Number, Domain] = {}
    for domain, number in pieces:
        if number:
            known = by_number.get(number)
            by_number[number] = domain if known is None else known | domain
    return by_number


def _overlaid(
    pieces: list[tuple[Domain, Number]], domain: Domain, value: Number
) -> list[tuple[Domain, Number]]:
    """Return disjoint pieces with a value added on a domain."""
    result: list[tuple[Domain, Number]] = []
    for piece, known in pieces:
        both = piece & domain
        if both.empty:
            result.append((piece, known))
            continue
        result.append((both, known + value))
        rest = piece - domain
        if not rest.empty:
            result.append((rest, known))
        domain = domain - piece
    if not domain.empty:
        result.append((domain, value))
    return result
