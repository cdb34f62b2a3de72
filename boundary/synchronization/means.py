"""Weighted means of shared points, as pieces for given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array

from ..grid.grid import Grid, GridSpace
from ..rules.evaluate import indices
from ..tables.pieces import Number, Piece, Tap
from .bases import left_inverse, product
from .owners import Ranges, owners
from .point_values import PointValues
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
        For each block the weight of its copies; or for each field the weights of its points.
    basis
        For each field the basis of the vectors at its points; None if they have the same basis.
    """

    points: tuple[GridSpace, ...]
    components: int | None
    how: How
    weights: tuple[float, ...] | tuple[PointValues, ...]
    basis: tuple[PointValues, ...] | None

    def alike(self, other: Means) -> bool:
        """Whether other means are known to be the same."""
        if self is other:
            return True
        if (self.how, self.points, self.components) != (other.how, other.points, other.components):
            return False
        given = [(*m.weights, None, *(m.basis or ())) for m in (self, other)]
        return (
            self.grid.links == other.grid.links
            and len(given[0]) == len(given[1])
            and all(
                one.alike(two)
                if isinstance(one, PointValues) and isinstance(two, PointValues)
                else one == two
                for one, two in zip(*given, strict=True)
            )
        )

    def outlined(self) -> Means:
        """Return means with the same points and other numbers, for sizes of any kind."""
        ones = PointValues("weight", 0, lambda block, *index: 1.0)
        count = self.components or 1
        same = np.eye(count).reshape(count, count, *(self.grid.ndim * [1]))
        turns = PointValues("basis", 2, lambda block, *index: same)
        plain = [w for w in self.weights if not isinstance(w, PointValues)]
        return replace(
            self,
            weights=tuple(plain) or len(self.weights) * (ones,),
            basis=None if self.basis is None else len(self.basis) * (turns,),
        )

    @property
    def grid(self) -> Grid:
        """The grid of the points."""
        return self.points[0].grid

    @cached_property
    def shared(self) -> Shared:
        """The points that several blocks hold."""
        return Shared(self.grid, self.points)

    def pieces(self, sizes: Mapping[str, int]) -> Iterator[Piece]:
        """Yield the pieces that compute all copies, for given sizes."""
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
                each = [self._weight(copy, box, sizes) for copy in ordered]
                total = sum(each)
                used = [(c, w / total) for c, w in zip(ordered, each, strict=True)]
                yield from self._sums(first, used, box, sizes)

    def _weight(self, copy: Copy, box: Ranges, sizes: Mapping[str, int]) -> Number:
        """Return the weights of a copy in the mean."""
        if not isinstance(self.weights[0], PointValues):
            weight = self.weights[copy.block]
            assert isinstance(weight, float)
            return weight
        weights = self._at(self.weights[copy.field], copy, box, sizes)
        if not (weights > 0).all():
            raise ArgumentError("The weights of points are positive numbers.")
        return weights

    def _sums(
        self,
        first: Copy,
        used: Sequence[tuple[Copy, Number]],
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
        used: Sequence[tuple[Copy, Number]],
        box: Ranges,
        sizes: Mapping[str, int],
    ) -> Iterator[Piece]:
        """Yield vectors averaged in the common basis."""
        assert self.basis is not None
        assert self.components is not None
        bases = self.basis

        def basis(copy: Copy) -> Array:
            return np.moveaxis(self._at(bases[copy.field], copy, box, sizes), (0, 1), (-2, -1))

        back = left_inverse(basis(first))
        weights = [
            (copy, product(np.asarray(w)[..., None, None] * back, basis(copy))) for copy, w in used
        ]
        for c in range(self.components):
            taps = tuple(
                self._tap(copy, copy.field * self.components + d, matrix[..., c, d], box, sizes)
                for copy, matrix in weights
                for d in range(self.components)
            )
            yield self._piece(first, c, box, taps)

    def _at(self, values: PointValues, copy: Copy, box: Ranges, sizes: Mapping[str, int]) -> Array:
        """Return numbers at the points of a copy, in the order of the first copy."""
        names = indices(self.shared.names, tuple(box), sizes)
        whole = 0 * sum(names[n] for n in self.shared.names)
        index = np.broadcast_arrays(*(a.evaluate(names) + whole for a in copy.index))
        points = self.points[copy.field]
        return values.at(
            copy.block, points.blocks.index(copy.block), index, points.extent(sizes)[1:]
        )

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
