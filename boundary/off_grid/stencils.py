"""Interpolation stencils of off-grid points: nearest, linear, cubic and windowed sinc weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ssr.extension import Array

KAISER = (1.24, 2.94, 4.53, 6.31, 7.91, 9.42, 10.95, 12.53, 14.09, 15.70)
"""Kaiser's parameter b for the radii 1 to 10. It minimizes the error for waves with at least four
points per wavelength (Hicks, Geophysics 67, 156-166, 2002, table 1)."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of interpolation, which is a product over the axes.

    Attributes
    ----------
    name
        ``nearest``, ``linear``, ``cubic`` or ``sinc``.
    width
        The points of the stencil along an axis.
    weights
        Returns the weights, shape (points, count), for the distances from the first of ``count``
        points of the stencil.
    is_shifted
        Whether the stencil is shifted inwards at the ends of an axis; else it must fit.
    """

    name: str
    width: int
    weights: Callable[[Array, int], Array]
    is_shifted: bool = True


def method_of(name: str, radius: int) -> Method:
    """Return the method of a name; ``radius`` is that of ``sinc``."""
    if name == "sinc":
        return Method(name, 2 * radius, _windowed_sinc, is_shifted=False)
    return Method(name, WIDTHS[name], _lagrange)


WIDTHS: Mapping[str, int] = {"nearest": 1, "linear": 2, "cubic": 4}
"""The stencil width along an axis. The Lagrange polynomials have degree 0, 1 and 3."""


def _lagrange(t: Array, count: int) -> Array:
    """Return the polynomials of Lagrange on the points 0 to count - 1 at t, a row for each t."""
    factors = t[:, None] - np.arange(count)
    found = np.empty((len(t), count))
    for m in range(count):
        others = [k for k in range(count) if k != m]
        scale = math.prod(m - k for k in others)
        found[:, m] = np.prod(factors[:, others], axis=1) / scale
    return found


def _windowed_sinc(t: Array, count: int) -> Array:
    """Return the sinc function times Kaiser's window, scaled so that each row has the sum 1."""
    radius = count // 2
    b, distance = KAISER[radius - 1], t[:, None] - np.arange(count)
    window = np.i0(b * np.sqrt(np.maximum(0.0, 1.0 - (distance / radius) ** 2)))
    found: Array = np.sinc(distance) * window
    return np.asarray(found / found.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a space.

    Attributes
    ----------
    low, high
        Its indices, from ``low`` to before ``high``.
    shift
        The distance from a cell to the point of the same index: 1/2 on an axis of faces.
    period
        The first index and the number of points after which values repeat; None if they do not.
    is_block
        Whether the axis numbers blocks, between which values are not interpolated.
    """

    low: int
    high: int
    shift: float = 0.0
    period: tuple[int, int] | None = None
    is_block: bool = False


Ranges: TypeAlias = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Stencils:
    """The stencils of some points on a space, as products over the axes.

    Attributes
    ----------
    index, factors
        For each axis the indices and weights of the points along it, shape (points, width).
    fits
        Whether the stencil of each point lies within the space, shape (points,).
    """

    index: tuple[Array, ...]
    factors: tuple[Array, ...]
    fits: Array

    @property
    def shape(self) -> tuple[int, int]:
        """The number of points, and of entries for each."""
        return len(self.fits), math.prod(index.shape[1] for index in self.index)

    @cached_property
    def weights(self) -> Array:
        """The weights, shape (points, entries), with the last axis varying fastest."""
        found = np.ones((len(self.fits), 1))
        for factor in self.factors:
            found = _flattened(found[:, :, None] * factor[:, None, :])
        return found

    def places(self, zero: int, strides: Sequence[int]) -> Array:
        """Return the memory offsets of the entries, given the offset of index zero."""
        found = np.full((len(self.fits), 1), zero, np.int64)
        for index, stride in zip(self.index, strides, strict=True):
            found = _flattened(found[:, :, None] + (index * stride)[:, None, :])
        return found

    def within(self, box: Ranges) -> Array:
        """Return which entries lie in a box."""
        found = np.ones((len(self.fits), 1), bool)
        for index, (low, high) in zip(self.index, box, strict=True):
            inside = (index >= low) & (index < high)
            found = _flattened(found[:, :, None] & inside[:, None, :])
        return found


def _flattened(products: Array) -> Array:
    """Return an array of three axes with the last two merged."""
    count, one, other = products.shape
    return products.reshape(count, one * other)


def stencils(method: Method, axes: Sequence[Axis], positions: Array) -> Stencils:
    """Return the stencils of points."""
    along = [_along(method, axis, x) for axis, x in zip(axes, positions.T, strict=True)]
    index, factors, fits = zip(*along, strict=True)
    return Stencils(index, factors, np.logical_and.reduce(fits))


def _along(method: Method, axis: Axis, x: Array) -> tuple[Array, Array, Array]:
    """Return indices, weights, and whether stencils fit along an axis."""
    x = x + axis.shift
    fits = np.ones(len(x), bool)
    if axis.is_block:
        return x[:, None].astype(np.int64), np.ones((len(x), 1)), fits
    width = method.width
    start = np.floor(x + 0.5 if width == 1 else x).astype(np.int64) - max(0, width // 2 - 1)
    if axis.period is None:
        if method.is_shifted:
            width = min(width, axis.high - axis.low)
        else:
            fits = (start >= axis.low) & (start + width <= axis.high)
        start = np.clip(start, axis.low, max(axis.low, axis.high - width))
    weights = method.weights(x - start, width)
    index = start[:, None] + np.arange(width)
    if axis.period is not None:
        first, count = axis.period
        index = (index - first) % count + first
    elif not method.is_shifted:
        index = np.minimum(index, axis.high - 1)  # for stencils that do not fit
    return index, weights, fits
