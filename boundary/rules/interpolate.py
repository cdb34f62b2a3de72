"""Interpolation of ghost points along their side by tables of weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Affine, ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .across import Across, Changed, Lines, Step, first_place, levels_axis, step_text
from .arguments import table
from .rows.affine_rows import Row

DIAGONALS = 24
"""The number of weights per ghost point, zeros included, up to which a side is not subdivided."""


def interpolate(first: Any, weights: Any, *, levels: int | None = None) -> Across:
    """Return the interpolation of ghosts along their side, by tables.

    Ghost t of layer k becomes the sum over r of ``weights[k, t, r]`` times the previous value of
    ghost ``first[k, t] + r`` of that layer: ``bc.interpolate(first, weights) @ bc.linked()`` is
    first copied from the neighbour and then interpolated.

    Parameters
    ----------
    first
        Integers of shape (layers, n): the first point from which ghost t of layer k is computed.
    weights
        Numbers of shape (layers, n, points). Both tables are copied when the rule is made.
    levels
        For blocks of three dimensions the axis of levels: the tables are used at each of them, on
        the sides that are not normal to it. Ghosts beyond the ends of the levels have rules of
        their own, beyond the edges too. Blocks of two dimensions have no such axis.

    Raises
    ------
    ShapeError, ArgumentError
        If the tables do not fit each other, or a weight is NaN or infinite; when the fill is made,
        if they do not fit the blocks.

    Examples
    --------
    Ghosts half a cell off the points of the neighbour, by linear interpolation:

    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(3, 2)], links=bc.topologies.bricks(1, 2))
    >>> first, weights = np.array([[0, 0, 1]]), np.array([[[1, 0], [0.5, 0.5], [0.5, 0.5]]])
    >>> fill = bc.fill(
    ...     grid.cells.grow(0, (0, 1)), bc.interpolate(first, weights) @ bc.linked(), bc.zero()
    ... )
    >>> (fill @ np.arange(12.0).reshape(2, 3, 2))[0]
    array([[0., 1., 6.],
           [2., 3., 7.],
           [4., 5., 9.]])

    The same at each of two levels; the ghosts at their ends are those of another rule:

    >>> grid = bc.Grid(2 * [(2, 3, 2)], links=bc.topologies.bricks(1, 2).layered())
    >>> edge = bc.interpolate(first, weights, levels=0) @ bc.linked()
    >>> fill = bc.fill(grid.cells.grow((1, 0), 0, (0, 1)), edge, bc.neumann(axis=0), bc.zero(2))
    >>> (fill @ np.arange(24.0).reshape(2, 2, 3, 2))[0, :, :, 2]
    array([[12., 13., 15.],
           [12., 13., 15.],
           [18., 19., 21.]])
    """
    axis = levels_axis("interpolate", levels)
    places, weights = table("interpolate", "first", first), table("interpolate", "weights", weights)
    whole = np.isfinite(places) & (places == np.floor(places))
    first = np.where(whole, np.clip(places, -1, 2.0**62), 0).astype(np.int64)
    if first.ndim != 2 or weights.ndim != 3 or first.shape != weights.shape[:2]:
        raise ShapeError(
            f"interpolate: first has shape {first.shape}, weights {weights.shape}.",
            hint="They are (layers, n) and (layers, n, points).",
        )
    if 0 in weights.shape:
        raise ShapeError(f"interpolate: the tables of shape {weights.shape} are empty.")
    if not whole.all():
        raise ArgumentError(f"interpolate: first{first_place(~whole)} is not an integer.")
    if not np.isfinite(weights).all():
        raise ArgumentError(
            f"interpolate: weights{first_place(~np.isfinite(weights))} is not finite."
        )
    layers, length, taps = weights.shape
    last = first + taps - 1
    if (first < 0).any() or (last >= length).any():
        outside = (first < 0) | (last >= length)
        raise ArgumentError(
            f"interpolate: the points of first{first_place(outside)} are not among the "
            f"{length} points of the side."
        )
    diagonals, stretches = _diagonals(first, weights)
    tables = {"weights": diagonals, "sums": weights.sum(axis=2)}
    lines = Lines("interpolate", layers, length, axis)

    def change(frame: Frame, side: Side, row: Row, name: Callable[[str], str]) -> list[Changed]:
        along = lines.along(frame, side)
        block = frame.blocks[side.block]
        start, stop = block.first[along], block.stop(along)
        t, k = Affine.name(frame.axes[along]), frame.layer(side)
        constant = tuple(_times(c, ir.Load(name("sums"), (k, t - start))) for c in row.constant)
        found: list[Changed] = []
        for n, (first_t, last_t, low) in enumerate(stretches):
            entries = []
            for d in range(len(diagonals)):
                weight = ir.Load(name("weights"), (Affine.of(d), k, t - start))
                moved = t + (d + low)
                window = (moved, Affine.of(start), stop)
                for entry in row.entries:
                    new = entry.moved({frame.axes[along]: moved})
                    product = multiply(new.weight, weight)
                    entries.append(replace(new, weight=product, window=(*new.window, window)))
            end = stop if n == len(stretches) - 1 else Affine.of(start + last_t)
            where = () if len(stretches) == 1 else ((along, Affine.of(start + first_t), end),)
            found.append((Row(tuple(entries), constant), where))
        return found

    return Across(step_text("interpolate", axis), (Step(change, tables, lines),))


def _times(constant: ir.Value, factor: ir.Value) -> ir.Value:
    """Return a constant, which is the same along a side, times a factor."""
    if constant == ir.ZERO:
        return constant
    if any(isinstance(v, (ir.Load, ir.Coordinate)) for v in ir.walk(constant)):
        raise ArgumentError(
            "interpolate: values that change along a side cannot be interpolated.",
            hint="Interpolate the values, and give them to a rule of their own.",
        )
    return multiply(constant, factor)


def _diagonals(first: Any, weights: Any) -> tuple[Any, list[tuple[int, int, int]]]:
    """Return the weights by the distance from ghost to point, and the stretches of a side.

    A stretch is a range of ghosts along the side, and the least distance there. There are several
    only if a ghost would have many weights that are zero.
    """
    layers, length, taps = weights.shape
    shift = first - np.arange(length)
    most = max(4 * taps, DIAGONALS)
    stretches: list[tuple[int, int, int]] = []
    begin = 0
    for t in range(1, length + 1):
        part = shift[:, begin : t + 1]
        if t == length or part.max() - part.min() + taps > most:
            stretches.append((begin, t, int(shift[:, begin:t].min())))
            begin = t
    low = np.concatenate([np.full(stop - start, least) for start, stop, least in stretches])
    found = np.zeros((int((shift - low).max()) + taps, layers, length))
    layer, ghost = np.indices((layers, length))
    for r in range(taps):
        found[shift - low + r, layer, ghost] += weights[:, :, r]
    return found, stretches
