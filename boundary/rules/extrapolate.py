"""Polynomial extrapolation of ghost points from the points next to a side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ssr.errors import ArgumentError
from ssr.extension import Affine, ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import order_of
from .condition import Coefficients, quotients
from .given import SideValues
from .layers import layer_of, layers
from .polynomial import ghost_weights
from .rows.affine_rows import Entry, Row
from .rows.strips import Strip
from .rows.text import rule_text
from .rule import Ends, Rule, check_points, rule_of

_HALF = Fraction(1, 2)


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

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        return polynomials(text, frame, side, count, None, SideValues())

    return rule_of(text, axis, side, block, make)


def polynomials(
    text: str,
    frame: Frame,
    side: Side,
    count: int,
    condition: Coefficients | None,
    values: SideValues,
) -> list[Strip]:
    """Return the layers of ghosts on polynomials through ``count`` points and a condition."""
    on_side = frame.blocks[side.block].staggered[side.axis]
    skip = int(on_side and condition is not None and condition.kind == "value")
    extent = frame.blocks[side.block].shape[side.axis]
    if extent.is_constant:
        check_points(text, frame, side, count + skip, extent.constant)
    start = Fraction(0) if on_side else _HALF
    points = [start + n + skip for n in range(count)]
    known = values if condition is None else condition.known(values)
    found = []
    for layer in range(layers(text, frame)):
        weights, of_value = _weights(text, points, start - 1 - layer, condition)
        entries = []
        for n, weight in enumerate(weights):
            index = list(frame.index)
            index[side.axis] = _inside(frame, side, n + skip)
            entries.append(Entry(side.block, tuple(index), weight))
        part = Strip(Row(tuple(entries)), (layer_of(frame, side, layer),), least=count + skip)
        found.append(known.added(part, of_value))
    return found


def _weights(
    text: str, points: Sequence[Fraction], ghost: Fraction, condition: Coefficients | None
) -> tuple[list[ir.Value], ir.Value]:
    """Return the weights of points next to a side for a ghost, and that of the value."""
    scale: ir.Value = ir.ONE
    plain: tuple[float, float] | None = None
    if condition is not None and condition.numbers is not None:
        a, b, spacing = condition.numbers
        plain = a, -b / spacing  # inward distances in cells
    elif condition is not None:
        if condition.kind == "both":
            return quotients(points, ghost, condition)
        plain = (1.0, 0.0) if condition.kind == "value" else (0.0, -1.0)
        scale = condition.scale()
    found = ghost_weights(points, ghost, plain)
    if found is None:
        raise ArgumentError(f"{text} is singular: its polynomial is not unique.")
    weights, of_value = found
    return [ir.Const(w) for w in weights], multiply(ir.Const(of_value), scale)


def _inside(frame: Frame, side: Side, n: int) -> Affine:
    """Return the index along a side's axis of the owned point number n, counted from the side."""
    block = frame.blocks[side.block]
    if side.end == "low":
        return Affine.of(block.first[side.axis] + n)
    return block.stop(side.axis) - 1 - n
