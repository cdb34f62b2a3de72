"""The rows of a product that one rank computes, by the kernel of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

import ssr
from ssr.errors import ArgumentError, SpaceError, UnsupportedError
from ssr.extension import Array, Box, Launch, plan_boxes

from .local import LocalVector
from .plan import HaloPlan, sizes_of


def check(matrix: ssr.Matrix, periodic: Iterable[int] | None) -> tuple[int, ...]:
    """Check that a matrix can be distributed; return the periodic axes.

    Parameters
    ----------
    matrix
        Its rows are cells from index 0 on, its columns the same cells with ghosts.
    periodic
        The axes along which ghosts equal cells at the other end; all with ghosts by default.
    """
    if not isinstance(matrix, ssr.Matrix):
        raise UnsupportedError(
            f"A {type(matrix).__name__} cannot be distributed.",
            hint="Distribute a matrix made by ssr.matrix or ssr.stencil.",
        )
    if matrix.definition.data:
        raise UnsupportedError(
            f"{matrix.name} has run-time data ({', '.join(matrix.definition.data)}) and cannot be "
            "distributed."
        )
    rows, cols = matrix.rows, matrix.cols
    if any(rows.data.staggered) or any(rows.lower) or rows.data.staggered != cols.data.staggered:
        raise SpaceError(
            f"The rows of {matrix.name} are not the cells of a box, counted from 0: {rows!r}."
        )
    sizes = sizes_of(matrix)
    pairs = list(zip(rows.box(sizes), cols.box(sizes), strict=True))
    if any(low > 0 or high < n for (_, n), (low, high) in pairs):
        raise SpaceError(f"The columns of {matrix.name}, {cols!r}, are not its rows with ghosts.")
    ghosts = [axis for axis, ((_, n), (low, high)) in enumerate(pairs) if low < 0 or high > n]
    closed = tuple(sorted(set(ghosts if periodic is None else periodic)))
    for axis in closed:
        if axis not in range(rows.ndim):
            raise ArgumentError(f"Axis {axis} of a space with {rows.ndim} axes cannot be periodic.")
    for axis in ghosts:
        if axis not in closed:
            raise SpaceError(
                f"Nothing defines the ghosts of {cols!r} along axis {axis}.",
                hint=f"Make the axis periodic, or leave out entries beyond it in {matrix.name}.",
            )
    return closed


class LocalProduct:
    """The rows of ``A @ x`` that one rank owns, for arrays of one type.

    Parameters
    ----------
    matrix
        The matrix, for the rows of all ranks.
    plan
        The plan of the rank.
    dtype
        The type of numbers.

    Attributes
    ----------
    vector
        The owned points of x with their ghosts.
    """

    def __init__(self, matrix: ssr.Matrix, plan: HaloPlan, dtype: Any) -> None:
        sizes = sizes_of(matrix)
        self._matrix = matrix
        self._cells = matrix.rows.box(sizes)
        self.vector = LocalVector(plan, self._cells, matrix.cols.box(sizes), dtype)

    def inner(self, y: Array) -> None:
        """Compute the rows that read nothing received."""
        self._run(self._inner, y)

    def outer(self, y: Array) -> None:
        """Compute the other rows."""
        self._run(self._outer, y)

    @cached_property
    def _inner(self) -> tuple[Launch, ...]:
        return self._prepared(self.vector.plan.inner)

    @cached_property
    def _outer(self) -> tuple[Launch, ...]:
        return self._prepared(self.vector.plan.outer)

    def _prepared(self, parts: Sequence[range]) -> tuple[Launch, ...]:
        vector, across = self.vector, self._cells[1:]
        corner = vector.plan.rows.start, *(0 for _ in across)
        made = corner, np.empty(vector.shape, vector.wide.dtype)
        read = vector.first, vector.wide
        boxes = [((part.start, part.stop), *across) for part in parts]
        return tuple(_launch(self._matrix, box, made, read) for box in boxes)

    def _run(self, launches: Sequence[Launch], y: Array) -> None:
        for launch in launches:
            done = launch((y, self.vector.wide))
            assert done is not None, "the kernel refused arrays of the layout it was prepared for"


def _launch(
    matrix: ssr.Matrix,
    box: Box,
    made: tuple[Sequence[int], Array],
    read: tuple[Sequence[int], Array],
) -> Launch:
    """Return the kernel of a product for a box of its rows, on arrays that are parts of the whole.

    The kernel computes with the indices of the whole; only the tables know where the arrays begin.

    Parameters
    ----------
    matrix
        The whole matrix.
    box
        The rows to compute.
    made, read
        First index and array: of the result, of the vector.
    """
    program = matrix.program("apply")
    kernel = program.kernel(made[1].dtype)
    (target, _), (source, _) = program.signature.kinds
    arrays = [
        (name, _space(tuple((low, low + n) for low, n in zip(first, a.shape, strict=True))), a)
        for name, (first, a) in ((target, made), (source, read))
    ]
    plan = plan_boxes(kernel.meta, {target: _space(box)}, sizes_of(matrix), arrays, None)
    scratch = tuple((shape, made[1].dtype.type) for shape in (*plan.temporaries, *plan.buffers))
    return Launch(
        run=kernel.run,
        fields=2,
        order=None,
        bound=((), ()),
        rest=(plan.layout, *plan.tables),
        free=(plan.free, *plan.tables),
        scratch=(scratch, ()),
        dtype=made[1].dtype.type,
    )


def _space(box: Box) -> ssr.Space:
    """Return the points of a box as a space."""
    return ssr.Space(*(1 for _ in box)).grow(*((-low, high - 1) for low, high in box))
