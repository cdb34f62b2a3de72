"""Enumerate the points of sets for given sizes, as arrays of indices.

Points are returned as one array for each axis; the arrays broadcast against each other. The points
of a box form an open grid; other points are listed individually.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from .affine import Affine, Choice, Floor
from .boxes import Box
from .sets import Domain

Indices: TypeAlias = tuple[np.ndarray[Any, Any], ...]
"""The indices of points, one array for each axis; the arrays broadcast."""

MOST = 2**17
"""Approximate number of points of one group."""


def points_within(domain: Domain, box: Box, sizes: Mapping[str, int]) -> Iterator[Indices]:
    """Yield the points of a box that lie in a set, each once, in groups of bounded size.

    Examples
    --------
    >>> odd = Domain.where(("i",), "0 < i < n and i mod 2 = 1", ("n",))
    >>> [i.tolist() for i, in points_within(odd, ((0, 9),), {"n": 6})]
    [[1, 3, 5]]
    """
    boxes = domain.boxes(box, sizes)
    if boxes is not None and _disjoint(boxes):
        for each in boxes:
            yield from _grids(each)
        return
    for slab in _slabs(box):
        here = _grid(slab)
        inside = np.zeros([high - low for low, high in slab], bool)
        for case in domain.cases():
            held = np.ones((), bool)
            for test, relation in case:
                number = evaluated(test, {**sizes, **dict(zip(domain.axes, here, strict=True))})
                held = held & ((number == 0) if relation == "==" else (number >= 0))
            inside |= held
        found = np.nonzero(inside)
        if len(found[0]):
            yield tuple(places + low for places, (low, _) in zip(found, slab, strict=True))


def places_of(points: Indices, box: Box) -> tuple[Any, ...]:
    """Return the positions of points in an array over a box: slices if the points fill a box."""
    places = [index - low for index, (low, _) in zip(points, box, strict=True)]
    if points[0].ndim == len(points):
        ends = [(int(p.flat[0]), int(p.flat[-1]) + 1) for p in places]
        if all(last - first == p.size for p, (first, last) in zip(places, ends, strict=True)):
            return tuple(slice(*each) for each in ends)
    return tuple(places)


def evaluated(expression: Affine, values: Mapping[str, Any]) -> Any:
    """Return an expression for integers, or arrays of integers, in place of all names."""
    total: Any = expression.constant
    for atom, coefficient in expression.terms:
        match atom:
            case str():
                part = values[atom]
            case Floor(numerator, divisor):
                part = evaluated(numerator, values) // divisor
            case Choice(tests, then, orelse):
                chosen = np.logical_and.reduce(
                    np.broadcast_arrays(*(evaluated(test, values) >= 0 for test in tests))
                )
                part = np.where(chosen, evaluated(then, values), evaluated(orelse, values))
        total = total + part * coefficient
    return total


def _grid(box: Box) -> Indices:
    return tuple(np.ix_(*(np.arange(low, high) for low, high in box)))


def _grids(box: Box) -> Iterator[Indices]:
    return map(_grid, _slabs(box))


def _slabs(box: Box) -> Iterator[Box]:
    """Yield a box in parts along its first axis."""
    (low, high), *rest = box
    step = max(1, MOST // max(1, math.prod(b - a for a, b in rest)))
    for first in range(low, high, step):
        yield ((first, min(first + step, high)), *rest)


def _disjoint(boxes: Sequence[Box]) -> bool:
    return all(
        any(a[1] <= b[0] or b[1] <= a[0] for a, b in zip(one, other, strict=True))
        for n, one in enumerate(boxes)
        for other in boxes[:n]
    )
