"""Ghosts on polynomials through the points next to a side."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ssr.errors import ArgumentError
from ssr.extension import Affine, ir

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import order_of
from .polynomial import ghost_weights
from .rows import Entry, Row
from .rule import Ends, Rule, check_points, rule_of
from .side_values import SideValues
from .strips import Clause
from .text import rule_text

_HALF = Fraction(1, 2)

LAYERS = 32
"""The most layers of ghosts for which polynomials are worked out."""


def extrapolate(
    order: int = 2, axis: int | None = None, side: Ends = "both", *, block: int | None = None
) -> Rule:
    """Return ghosts on the polynomial of degree ``order - 1`` through the points next to the side.

    ``u[ghost] = sum over n of w[n] u[n]``, n points from the side, with Lagrange's weights::

        ghosts          | owned   | ghosts
        a       a       | a b c d | d       d            order 1
        3a - 2b  2a - b | a b c d | 2d - c  3d - 2c      order 2

    Parameters
    ----------
    order
        The number of points that the polynomial goes through, and its order of accuracy, 12 at
        most.
    axis, side, block
        The sides of blocks; by default all that are not linked.

    Raises
    ------
    HaloError
        When the fill is made or used, if blocks have fewer points than ``order``.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(2), bc.extrapolate(2)) @ np.array([1.0, 3, 4])
    array([-3., -1.,  1.,  3.,  4.,  5.,  6.])
    """
    text = rule_text("extrapolate", axis, side, block, order)
    count = order_of(text, order)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Clause]:
        return polynomials(text, frame, side, count, None, SideValues())

    return rule_of(text, axis, side, block, make)


def polynomials(
    text: str,
    frame: Frame,
    side: Side,
    count: int,
    condition: tuple[float, float] | None,
    known: SideValues,
) -> list[Clause]:
    """Return the layers of ghosts on polynomials through ``count`` points and a condition."""
    on_side = frame.blocks[side.block].staggered[side.axis]
    skip = int(on_side and condition is not None and condition[1] == 0)
    extent = frame.blocks[side.block].shape[side.axis]
    if extent.is_constant:
        check_points(text, frame, side, count + skip, extent.constant)
    start = Fraction(0) if on_side else _HALF
    points = [start + n + skip for n in range(count)]
    found = []
    for layer in range(layers(text, frame)):
        ghost = start - 1 - layer
        weights = ghost_weights(points, ghost, condition)
        if weights is None:
            raise ArgumentError(f"{text} is singular: its polynomial is not unique.")
        entries = []
        for n, weight in enumerate(weights[0]):
            index = list(frame.index)
            index[side.axis] = _inside(frame, side, n + skip)
            entries.append(Entry(side.block, tuple(index), ir.Const(weight)))
        part = Clause(Row(tuple(entries)), (layer_of(frame, side, layer),), least=count + skip)
        found.append(known.added(part, ir.Const(weights[1])))
    return found


def _inside(frame: Frame, side: Side, n: int) -> Affine:
    """Return the index along a side's axis of the owned point number n, counted from the side."""
    block = frame.blocks[side.block]
    if side.end == "low":
        return Affine.of(block.first[side.axis] + n)
    return block.stop(side.axis) - 1 - n


def layer_of(frame: Frame, side: Side, layer: int) -> tuple[int, Affine, Affine]:
    """Return the axis and the range of the indices of one layer of ghosts."""
    block = frame.blocks[side.block]
    at = (
        Affine.of(block.first[side.axis] - 1 - layer)
        if side.end == "low"
        else block.stop(side.axis) + layer
    )
    return side.axis, at, at + 1


def layers(text: str, frame: Frame) -> int:
    """Return the largest number of layers of ghosts behind any side of any block.

    Raises
    ------
    HaloError
        If there are more than `LAYERS`: each one has a formula of its own.
    """
    found = max(width for block in frame.blocks for width in (*block.low, *block.high))
    if found > LAYERS:
        raise HaloError(
            f"{text} makes at most {LAYERS} layers of ghosts behind a side; there are {found}.",
            hint="Use fewer layers: ghosts far from the side extrapolate far.",
        )
    return found
