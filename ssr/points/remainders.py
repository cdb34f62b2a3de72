"""Split points by the remainders (residue classes) of the indices on which sets depend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .condition import Condition
from .sets import Domain

CLASSES = 16
"""Limit of the classes: four remainders modulo 2 give 16 classes, two modulo 3 give nine."""


def by_remainders(sets: Sequence[Domain], most: int = CLASSES) -> list[tuple[Domain, list[Domain]]]:
    """Return classes of points, and the sets restricted to each class, without remainders.

    Operations of isl on sets are slow if conditions on remainders are combined with others. The
    most frequent remainders are distinguished first. If there would be more than ``most`` classes,
    other remainders stay in the sets.

    >>> sets = [Domain.where(("i",), f"0 <= i < n and i mod 2 = {r}", ("n",)) for r in (0, 1)]
    >>> for where, (even, odd) in by_remainders(sets):
    ...     print(where, even, odd)
    { [i] : (i) mod 2 = 0 } [n] -> { [i] : 0 <= i < n } [n] -> { [i] : false }
    { [i] : (1 + i) mod 2 = 0 } [n] -> { [i] : false } [n] -> { [i] : 0 < i < n }
    """
    everywhere = Domain.of(sets[0].axes, Condition(((),)))
    return list(_within(everywhere, sets, most))


def _within(
    where: Domain, sets: Sequence[Domain], most: int
) -> Iterator[tuple[Domain, list[Domain]]]:
    """Yield classes that are part of one, and the sets in each."""
    found = Counter(c for domain in sets for c in domain.congruences() if c[1] <= most)
    if not found:
        yield where, list(sets)
        return
    expression, divisor = min(found, key=lambda c: (-found[c], c[1], str(c[0])))
    for remainder in range(divisor):
        condition = Condition(((((expression - remainder) % divisor, "= 0"),),))
        part = where & Domain.of(where.axes, condition)
        if not part.empty:
            inside = [(domain & part).simplified(part) for domain in sets]
            yield from _within(part, inside, most // divisor)
