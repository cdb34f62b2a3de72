"""Global numbering of the points of all blocks: the row and column numbers of matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import prod

import numpy as np

from .frame import Frame
from .link import Point


@dataclass(frozen=True)
class Numbering:
    """The numbers of points, for given sizes: field by field, each in C order.

    The fields are ordered by kind of blocks, then by component.

    Attributes
    ----------
    ghosts
        Whether ghosts are counted, or owned points only.
    """

    frame: Frame
    sizes: Mapping[str, int]
    components: int
    ghosts: bool

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shape of the field of each kind."""
        found = []
        for kind in self.frame.kinds:
            block = self.frame.blocks[kind[0]]
            extents = block.outer(self.sizes) if self.ghosts else block.inner(self.sizes)
            found.append((len(kind), *extents))
        return tuple(found)

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        """The first number of each kind of blocks, and the total count."""
        return tuple(accumulate((self.components * prod(s) for s in self.shapes), initial=0))

    @property
    def count(self) -> int:
        """The total count of numbers."""
        return self._starts[-1]

    def number(self, block: int, index: tuple[int, ...], component: int = 0) -> int:
        """Return the number of a point."""
        kind, place = self.frame.places[block]
        shape = self.shapes[kind]
        inside = [x - f for x, f in zip(index, self._first(block), strict=True)]
        number = int(np.ravel_multi_index((place, *inside), shape))
        return self._starts[kind] + component * prod(shape) + number

    def point(self, number: int) -> Point:
        """Return the point of a number, for fields without components."""
        kind = next(k for k, end in enumerate(self._starts[1:]) if number < end)
        place, *inside = np.unravel_index(number - self._starts[kind], self.shapes[kind])
        block = self.frame.kinds[kind][int(place)]
        return block, tuple(int(x) + f for x, f in zip(inside, self._first(block), strict=True))

    def points(self) -> Iterator[Point]:
        """Yield all points in their order."""
        for kind, shape in zip(self.frame.kinds, self.shapes, strict=True):
            for block in kind:
                first = self._first(block)
                for inside in np.ndindex(*shape[1:]):
                    yield block, tuple(int(x) + f for x, f in zip(inside, first, strict=True))

    def _first(self, block: int) -> tuple[int, ...]:
        points = self.frame.blocks[block]
        return points.start if self.ghosts else points.first
