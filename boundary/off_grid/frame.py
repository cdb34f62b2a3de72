"""Coordinates of off-grid points: physical and index coordinates, domain bounds, periodic axes.

Cell i of an axis covers i - 1/2 to i + 1/2 in index coordinates; its center is at i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssr.extension import Array

from .stencils import Axis


@dataclass(frozen=True, eq=False)
class Ruler:
    """The coordinates of the cells along an axis.

    Attributes
    ----------
    axis
        The cells; periodic if their ``period`` is not None.
    centers
        The increasing coordinates of their centers; None if coordinates are indices.
    sides
        The coordinates of the outer sides; by default as far from the outer centers as half of the
        distance of the next ones.
    """

    axis: Axis
    centers: Array | None = None
    sides: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The coordinates of the outer sides of the first cell and the last one."""
        if self.sides is not None:
            return self.sides
        if self.centers is None:
            return self.axis.low - 0.5, self.axis.high - 0.5
        x = self.centers
        return float(x[0] - (x[1] - x[0]) / 2), float(x[-1] + (x[-1] - x[-2]) / 2)

    def wrapped(self, x: Array) -> Array:
        """Return coordinates within the period of the axis, if it has one."""
        if self.axis.period is None:
            return x
        low, high = self.ends
        return np.where((x >= low) & (x < high), x, low + np.mod(x - low, high - low))

    def positions(self, x: Array) -> Array:
        """Return coordinates in index units; sides have half-integer values."""
        if self.centers is None:
            return x
        c = self.centers
        if self.sides is not None:
            first, behind = self.axis.low, self.axis.high
            places = first - 0.5, *range(first, behind), behind - 0.5
            return np.asarray(np.interp(x, [self.sides[0], *c, self.sides[1]], places))
        cell = np.clip(np.searchsorted(c, x, side="right") - 1, 0, len(c) - 2)
        found: Array = self.axis.low + cell + (x - c[cell]) / (c[cell + 1] - c[cell])
        return found


@dataclass(frozen=True, eq=False)
class Frame:
    """The coordinates of points.

    Attributes
    ----------
    rulers
        The axes, that of blocks included.
    """

    rulers: Sequence[Ruler]

    def wrapped(self, coordinates: Array) -> Array:
        """Return coordinates within the periods of the axes."""
        found = np.array(coordinates)
        for number, ruler in enumerate(self.rulers):
            found[:, number] = ruler.wrapped(found[:, number])
        return found

    def outside(self, coordinates: Array) -> Array:
        """Return which coordinates are outside the domain, shape (points,)."""
        low, high = np.transpose([ruler.ends for ruler in self.rulers])
        found: Array = ((coordinates < low) | (coordinates > high)).any(axis=1)
        return found

    def clamped(self, coordinates: Array) -> Array:
        """Return the nearest coordinates in the domain."""
        low, high = np.transpose([ruler.ends for ruler in self.rulers])
        return np.clip(coordinates, low, high)

    def positions(self, coordinates: Array) -> Array:
        """Return coordinates in units of indices, within the cells."""
        columns = zip(self.rulers, coordinates.T, strict=True)
        found = [
            np.clip(ruler.positions(x), ruler.axis.low - 0.5, ruler.axis.high - 0.5)
            for ruler, x in columns
        ]
        return np.stack(found, axis=1)

    def cells(self, positions: Array) -> Array:
        """Return the indices of the cells in which points are."""
        lows = np.array([ruler.axis.low for ruler in self.rulers])
        highs = np.array([ruler.axis.high for ruler in self.rulers])
        return np.clip(np.floor(positions + 0.5).astype(np.int64), lows, highs - 1)
