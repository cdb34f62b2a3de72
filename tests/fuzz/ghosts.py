"""The meaning of boundary rules on one block, line by line along each axis.

Along an axis a ghost is a sum of points of its own line and a constant; a point it reads may be a
ghost again. In corners the axes are done in all orders. If these differ in a corner, no corner is
compared, since what reads a ghost of two values may have two values too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from .numbers import Array, Number
from .reference import Reference, Space

Row = tuple[list[tuple[float, int]], float]
"""Weights with the indices that they belong to, and a constant."""
Side = Callable[[int, int, bool], Row]
"""What a ghost is: of the layer, the number of points and whether a point lies on the side.

Indices count from the side inwards.
"""
DEPTH = 64
"""Ghosts that are read by ghosts, one after the other, before they count as a circle."""


@dataclass(frozen=True)
class Rule:
    """What the ghosts beyond some sides are; no axis stands for all of them."""

    side: Side
    axis: int | None
    ends: str

    def holds(self, axis: int, end: str) -> bool:
        """Return whether the rule is one of a side."""
        return self.axis in (None, axis) and self.ends in ("both", end)


def _periodic(k: int, n: int, on: bool) -> Row:
    return [(1.0, n - int(on) - 1 - k)], 0.0


def _mirror(weight: float, constant: Callable[[int, bool], float]) -> Side:
    return lambda k, n, on: ([(weight, k + int(on))], constant(k, on))


def _extrapolate(order: int) -> Side:
    def row(k: int, n: int, on: bool) -> Row:
        places = np.arange(order)
        weights = [
            float(np.prod([(-1 - k - q) / (p - q) for q in places if q != p])) for p in places
        ]
        return list(zip(weights, map(int, places), strict=True)), 0.0

    return row


class Boundary:
    """The public names of the boundary package."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    def periodic(self, axis: int | None = None) -> Rule:
        return Rule(_periodic, axis, "both")

    def symmetric(self, axis: int, side: str = "both", sign: float = 1.0) -> Rule:
        return Rule(_mirror(sign, lambda k, on: 0.0), axis, side)

    def zero(self, axis: int, side: str = "both") -> Rule:
        return self.constant(0.0, axis, side)

    def constant(self, value: float, axis: int, side: str = "both") -> Rule:
        return Rule(lambda k, n, on: ([], value), axis, side)

    def dirichlet(self, value: float, axis: int, side: str = "both") -> Rule:
        return Rule(_mirror(-1.0, lambda k, on: 2.0 * value), axis, side)

    def neumann(self, value: float, axis: int, side: str = "both", spacing: float = 1.0) -> Rule:
        return Rule(_mirror(1.0, lambda k, on: value * spacing * (2 * k + 1 + int(on))), axis, side)

    def extrapolate(self, order: int, axis: int, side: str = "both") -> Rule:
        return Rule(_extrapolate(order), axis, side)

    def fill(self, wide: Space, *rules: Rule, owned: Space) -> Fill:
        return Fill(wide, owned, rules)


@dataclass(frozen=True)
class Fill:
    """Rules for the ghosts of a space."""

    wide: Space
    owned: Space
    rules: tuple[Rule, ...]

    def __matmul__(self, u: Number) -> Number:
        value, scale = (np.broadcast_to(a, self.owned.shape) for a in (u.value, u.scale))
        lines = [self._line(axis) for axis in range(self.owned.ndim)]
        made = [
            (_along(value, lines, order), _along(scale, lines, order, np.abs))
            for order in permutations(range(self.owned.ndim))
        ]
        size = np.max([s for _, s in made], axis=0)
        first = made[0][0]
        same = np.all([np.abs(v - first) <= 1e-12 * size for v, _ in made], axis=0)
        clear = same.all() or self._outside() < 2
        return Number(np.where(clear, first, np.nan), size, self.wide)

    def _outside(self) -> Array:
        """Return along how many axes each point lies outside of the owned ones."""
        count = np.zeros(self.wide.shape, int)
        for point in np.ndindex(*self.wide.shape):
            index = [x + a for x, a in zip(point, self.wide.lower, strict=True)]
            ends = zip(index, self.owned.lower, self.owned.shape, strict=True)
            count[point] = sum(not a <= x < a + n for x, a, n in ends)
        return count

    def _line(self, axis: int) -> tuple[Array, Array]:
        """Return the matrix of a line along an axis and its constants, NaN where undefined."""
        n, start = self.owned.shape[axis], self.owned.lower[axis]
        first = self.wide.lower[axis] - start
        made, known = np.zeros((self.wide.shape[axis], n)), np.zeros(self.wide.shape[axis])
        for place in range(len(made)):
            made[place], known[place] = self._point(axis, first + place, n, DEPTH)
        return made, known

    def _point(self, axis: int, index: int, n: int, depth: int) -> tuple[Array, float]:
        """Return the weights and the constant of a point of a line."""
        if 0 <= index < n:
            return np.eye(n)[index], 0.0
        end = "low" if index < 0 else "high"
        sides = [rule.side for rule in self.rules if rule.holds(axis, end)]
        if not sides or depth == 0:
            return np.full(n, np.nan), np.nan
        terms, constant = sides[0](
            -1 - index if index < 0 else index - n, n, self.owned.staggered[axis]
        )
        row = np.zeros(n)
        for weight, inner in terms:
            place = inner if index < 0 else n - 1 - inner
            more, known = self._point(axis, place, n, depth - 1)
            row, constant = row + weight * more, constant + weight * known
        return row, constant


def _along(
    values: Array,
    lines: list[tuple[Array, Array]],
    order: tuple[int, ...],
    size: Callable[[Array], Array] = np.asarray,
) -> Array:
    """Return an array extended along each axis, in an order."""
    for axis in order:
        matrix, constant = (size(part) for part in lines[axis])
        moved = np.tensordot(matrix, values, (1, axis)) + constant.reshape(
            -1, *[1] * (values.ndim - 1)
        )
        values = np.moveaxis(moved, 0, axis)
    return values
