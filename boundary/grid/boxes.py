"""Index boxes with symbolic bounds, and recorded comparisons of these bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ssr.extension import Affine

from .link import End

Orthant: TypeAlias = tuple[int, ...]
"""For each axis of a block, whether points lie below its range (-1), within (0) or above it (1)."""

Box: TypeAlias = tuple[tuple[Affine, Affine], ...]
"""Half-open ranges of a block's indices. The bounds may depend on sizes."""

ENDS: Mapping[int, End] = {-1: "low", 1: "high"}
"""The end of an axis for each nonzero component of an orthant."""


@dataclass(slots=True)
class Comparisons:
    """Comparisons of expressions for given sizes, recorded with their results.

    Any conclusion from the results holds for all sizes with the same results.
    """

    sizes: Mapping[str, int]
    asked: dict[Affine, int] = field(default_factory=dict)

    def sign(self, a: Affine) -> int:
        """Return whether an expression is negative (-1), zero or positive (1)."""
        if a.is_constant:
            return (a.constant > 0) - (a.constant < 0)
        found = self.asked.get(a)
        if found is None:
            value = a.evaluate(self.sizes)
            found = self.asked[a] = (value > 0) - (value < 0)
        return found

    def less(self, a: Affine, b: Affine) -> bool:
        """Whether ``a < b``."""
        return self.sign(b - a) > 0

    def most(self, a: Affine, b: Affine) -> Affine:
        """Return the larger expression."""
        return b if self.less(a, b) else a

    def least(self, a: Affine, b: Affine) -> Affine:
        """Return the smaller expression."""
        return b if self.less(b, a) else a

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Whether all recorded comparisons have the same results for other sizes."""
        values = ((a.evaluate(sizes), s) for a, s in self.asked.items())
        return all((v > 0) - (v < 0) == s for v, s in values)

    def empty(self, box: Box) -> bool:
        """Whether a box has no points."""
        return any(not self.less(low, high) for low, high in box)

    def common(self, a: Box, b: Box) -> Box:
        """Return the points of both boxes."""
        return tuple(
            (self.most(low, other), self.least(high, more))
            for (low, high), (other, more) in zip(a, b, strict=True)
        )

    def without(self, a: Box, b: Box) -> list[Box]:
        """Return the points of a box that are not in another one within it, as boxes."""
        found, rest = [], list(a)
        for axis, (low, high) in enumerate(b):
            first, last = rest[axis]
            for edge in ((first, low), (high, last)):
                if self.less(*edge):
                    found.append((*rest[:axis], edge, *rest[axis + 1 :]))
            rest[axis] = low, high
        return found
