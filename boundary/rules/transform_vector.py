"""Rotation of vector components at ghost points by one small matrix per point."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Affine, ir

from ..grid.frame import Frame
from ..grid.link import Side
from .across import Across, Changed, Lines, Step, ghost_width, levels_axis, step_text
from .arguments import table
from .rows.affine_rows import Entry, Row, applied


def transform_vector(matrices: Any, *, levels: int | None = None) -> Across:
    """Return a small matrix for each ghost, between the components of a vector.

    ``bc.transform_vector(T) @ bc.linked()`` turns the components of the neighbour into those of the
    own block.

    Parameters
    ----------
    matrices
        Numbers of shape (blocks, 4, components, components, layers, n). The four sides of a block
        are axis 0 low and high, axis 1 low and high. Sides without the rule may hold anything.
        They are copied when the rule is made.
    levels
        For blocks of three dimensions the axis of levels, as for `bc.interpolate`; the four sides
        are those of the other two axes.

    Raises
    ------
    ShapeError, ArgumentError
        If the shape is another one; when the fill is made, if it does not fit the blocks.

    Examples
    --------
    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(2, 2)], links=bc.topologies.bricks(1, 2))
    >>> quarter = np.zeros((2, 4, 2, 2, 1, 2))
    >>> quarter[:, :, 0, 1], quarter[:, :, 1, 0] = -1, 1
    >>> fill = bc.fill(
    ...     grid.cells.grow(0, (0, 1)).vector(2),
    ...     bc.transform_vector(quarter) @ bc.linked(), bc.zero(),
    ... )
    >>> (fill @ np.stack([np.full((2, 2, 2), 3.0), np.full((2, 2, 2), 4.0)]))[:, 0]
    array([[[ 3.,  3., -4.],
            [ 3.,  3., -4.]],
    <BLANKLINE>
           [[ 4.,  4.,  3.],
            [ 4.,  4.,  3.]]])
    """
    axis = levels_axis("transform_vector", levels)
    matrices = table("transform_vector", "matrices", matrices)
    shape = matrices.shape
    if matrices.ndim != 6 or shape[1] != 4 or shape[2] != shape[3] or 0 in shape:
        raise ShapeError(
            f"transform_vector: the matrices have shape {shape}.",
            hint="It is (blocks, 4 sides, components, components, layers, n).",
        )

    lines = Lines("transform_vector", shape[4], shape[5], axis)

    def change(frame: Frame, side: Side, row: Row, name: Callable[[str], str]) -> list[Changed]:
        along = lines.along(frame, side)
        if shape[0] != len(frame.blocks):
            raise ShapeError(
                f"transform_vector: the matrices are for {shape[0]} blocks; there are "
                f"{len(frame.blocks)}."
            )
        number = 2 * lines.axes(frame).index(side.axis) + int(side.end == "high")
        values = matrices[side.block, number][:, :, : ghost_width(frame, side)]
        if not np.isfinite(values).all():
            raise ArgumentError(f"transform_vector: a matrix of {frame.named(side)} is not finite.")
        first = frame.blocks[side.block].first[along]
        place = (frame.layer(side), Affine.name(frame.axes[along]) - first)
        mix = tuple(
            tuple(
                ir.Load(name("matrices"), (*map(Affine.of, (side.block, number, c, d)), *place))
                for d in range(shape[3])
            )
            for c in range(shape[2])
        )
        known = any(c != ir.ZERO for c in row.constant)
        constant = applied(mix, row.constant) if known else row.constant
        return [(Row(tuple(_mixed(row.entries, mix)), constant), ())]

    return Across(
        step_text("transform_vector", axis), (Step(change, {"matrices": matrices}, lines),)
    )


def _mixed(entries: Iterable[Entry], mix: Any) -> Iterable[Entry]:
    for entry in entries:
        if entry.mix is not None:
            raise ArgumentError(
                "transform_vector: the ghosts are rotated already.", hint="Multiply the matrices."
            )
        yield replace(entry, mix=mix)
