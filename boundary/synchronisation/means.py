"""What the copies of shared points become: weighted means, as pieces for given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ssr.errors import ShapeError
from ssr.extension import Array

from ..grid.grid import Grid, GridSpace
from ..rules.evaluate import indices
from ..tables.pieces import Piece, Tap
from .owners import Ranges, owners
from .shared_points import Copy, Shared

How: TypeAlias = Literal["average", "owner"]


@dataclass(frozen=True, eq=False)
class Means:
    """The means of the copies of shared points.

    Attributes
    ----------
    points
        The space of each field: the nodes of each kind of blocks, or the faces normal to each axis,
        kind by kind.
    components
        The number of components of vectors; None for fields of numbers.
    how
        Whether copies become their mean, or the copy of their owner.
    weights
        For each block the weight of its copies.
    basis
        For each field the basis of the vectors at its points; None if they have the same basis.
    """

    points: tuple[GridSpace, ...]
    components: int | None
    how: How
    weights: tuple[float, ...]
    basis: tuple[Array, ...] | None

    def alike(self, other: Means) -> bool:
        """Whether other means are known to be the same."""
        if self is other:
            return True
        same = (self.how, self.weights) == (other.how, other.weights)
        bases = [None if m.basis is None else [b.tolist() for b in m.basis] for m in (self, other)]
        links = [(m.grid.links, m.points, m.components) for m in (self, other)]
        return same and bases[0] == bases[1] and links[0] == links[1]

    @property
    def grid(self) -> Grid:
        """The grid of the points."""
        return self.points[0].grid

    @cached_property
    def shared(self) -> Shared:
        """The points that several blocks hold."""
        return Shared(self.grid, self.points)

    def pieces(self, sizes: Mapping[str, int]) -> Iterator[Piece]:
        """Yield the pieces that make all copies, for given sizes."""
        for copies in self.shared.copies():
            first = copies[0]
            box = self.shared.box(first, sizes)
            if any(low >= high for low, high in box):
                continue
            ordered = sorted(copies, key=lambda copy: copy.place)
            if self.how == "owner":
                for owner, part in owners(self.shared, first, ordered, box, sizes):
                    yield from self._sums(first, [(owner, 1.0)], part, sizes)
            else:
                total = sum(self.weights[c.block] for c in copies)
                used = [(c, self.weights[c.block] / total) for c in ordered]
                yield from self._sums(first, used, box, sizes)

    def _sums(
        self,
        first: Copy,
        used: Sequence[tuple[Copy, float]],
        box: Ranges,
        sizes: Mapping[str, int],
    ) -> Iterator[Piece]:
        """Yield weighted sums of copies, component by component."""
        if self.basis is not None:
            yield from self._turned(first, used, box, sizes)
            return
        count = self.components or 1
        for c in range(count):
            taps = tuple(
                self._tap(copy, copy.field * count + c, w * copy.sign * first.sign, box, sizes)
                for copy, w in used
            )
            yield self._piece(first, c, box, taps)

    def _turned(
        self,
        first: Copy,
        used: Sequence[tuple[Copy, float]],
        box: Sequence[tuple[int, int]],
        sizes: Mapping[str, int],
    ) -> Iterator[Piece]:
        """Yield vectors averaged in the common basis."""
        assert self.basis is not None
        assert self.components is not None
        back = np.moveaxis(self._at(first, box, sizes), (0, 1), (-2, -1))
        back = np.linalg.pinv(back)
        weights = [
            (copy, w * back @ np.moveaxis(self._at(copy, box, sizes), (0, 1), (-2, -1)))
            for copy, w in used
        ]
        for c in range(self.components):
            taps = tuple(
                self._tap(copy, copy.field * self.components + d, matrix[..., c, d], box, sizes)
                for copy, matrix in weights
                for d in range(self.components)
            )
            yield self._piece(first, c, box, taps)

    def _at(self, copy: Copy, box: Sequence[tuple[int, int]], sizes: Mapping[str, int]) -> Array:
        assert self.basis is not None
        names = indices(self.shared.names, tuple(box), sizes)
        every: Any = slice(None)
        whole = 0 * sum(names[n] for n in self.shared.names)
        places = np.broadcast_arrays(*(a.evaluate(names) + whole for a in copy.index))
        place: Any = (every, every, *self.shared.at(copy, places))
        points, given = self.points[copy.field].extent(sizes)[1:], self.basis[copy.field].shape
        if given[3:] != points:
            raise ShapeError(f"The basis has shape {given}; the blocks have {points} points.")
        found: Array = self.basis[copy.field][place]
        return found

    def _piece(
        self, first: Copy, c: int, box: Sequence[tuple[int, int]], taps: tuple[Tap, ...]
    ) -> Piece:
        ndim = len(box)
        return Piece(
            target=first.field * (self.components or 1) + c,
            start=self.shared.at(first, tuple(low for low, _ in box)),
            steps=tuple((0, *(int(a == b) for b in range(ndim))) for a in range(ndim)),
            extents=tuple(high - low for low, high in box),
            taps=taps,
        )

    def _tap(
        self,
        copy: Copy,
        field: int,
        weight: Any,
        box: Sequence[tuple[int, int]],
        sizes: Mapping[str, int],
    ) -> Tap:
        names = self.shared.names
        start = {**sizes, **{n: low for n, (low, _) in zip(names, box, strict=True)}}
        return Tap(
            source=field,
            start=self.shared.at(copy, tuple(a.evaluate(start) for a in copy.index)),
            steps=tuple((0, *(dict(a.terms).get(name, 0) for a in copy.index)) for name in names),
            weight=weight,
        )
