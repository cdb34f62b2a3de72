"""Strips: index ranges beyond a side of a block, each with the row of its ghost points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from ssr.extension import Affine

from ...grid.link import Side
from .affine_rows import Origin, Row

Where: TypeAlias = tuple[tuple[int, Affine, Affine], ...]
"""Index ranges by axis. Axes that are not listed are unrestricted."""


@dataclass(frozen=True, slots=True)
class Strip:
    """The row of a rule for some of the ghost points beyond one side.

    Attributes
    ----------
    row
        The row of a ghost, in the indices of its block. Its origin is the rule and the side; the
        functions that make rules leave it out.
    where
        The ranges of indices to which the row applies; by default all layers and all tangential
        indices.
    extends
        Whether the row also applies beyond the ends of the side, at edges and corners.
    fits
        The numbers of points that blocks must have for the tables of the rule, by axis.
    least
        The number of points that blocks must have at least along the side's axis.
    point
        The single ghost to which the row applies; None if it applies to ranges.
    """

    row: Row
    where: Where = ()
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()
    least: int = 1
    point: tuple[int, ...] | None = None

    @property
    def origin(self) -> Origin:
        """The rule, and the side beyond which it applies."""
        return self.row.origins[0]

    @property
    def side(self) -> Side:
        """The side beyond which the strip applies."""
        return self.origin.side

    @property
    def bounds(self) -> Where:
        """The ranges of indices to which the strip applies, also for a single ghost."""
        one = ((a, Affine.of(x), Affine.of(x + 1)) for a, x in enumerate(self.point or ()))
        return (*self.where, *one)


class Strips:
    """Strips by their sides, and the strips of single ghosts by the ghost.

    The time for a block with a strip for each ghost is therefore linear in the number of ghosts.
    """

    def __init__(self, strips: Iterable[Strip]) -> None:
        self._ranges: dict[Side, list[Strip]] = {}
        self._points: dict[Side, dict[tuple[int, ...], list[Strip]]] = {}
        for strip in strips:
            if strip.point is None:
                self._ranges.setdefault(strip.side, []).append(strip)
            else:
                by_point = self._points.setdefault(strip.side, {})
                by_point.setdefault(strip.point, []).append(strip)

    def have_points(self, sides: Iterable[Side]) -> bool:
        """Whether strips of some sides apply to one ghost each."""
        return any(side in self._points for side in sides)

    def beyond(
        self, sides: Sequence[Side], index: tuple[int, ...] | None = None
    ) -> Iterator[Strip]:
        """Yield the strips for the ghosts beyond one side, or beyond several sides at once.

        Of the strips of single ghosts, those of one index, or all.
        """
        for side in sides:
            points = self._points.get(side, {})
            single = chain(*points.values()) if index is None else points.get(index, ())
            for strip in (*self._ranges.get(side, ()), *single):
                if len(sides) == 1 or strip.extends:
                    yield strip
