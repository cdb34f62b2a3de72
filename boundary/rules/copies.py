"""Copy rules: periodic, linked and symmetric ghost points, with an optional sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ssr.errors import ArgumentError
from ssr.extension import Affine, ir, is_one_of

from ..errors import LinkError
from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import finite_numbers
from .rows.affine_rows import Entry, Mix, Row
from .rows.strips import Strip
from .rows.text import rule_text
from .rule import Ends, Rule, rule_of


def linked(axis: int | None = None, side: Ends = "both", *, block: int | None = None) -> Rule:
    """Return the halo copy: a ghost is the point of the block that its side is linked to.

    ``u[ghost] = u[there, map(ghost)]``, where the map is the link's signed permutation of axes.

    ::

        block 0: a b c | d e        the ghosts of one block are the points of the next
        block 1:   b c | d e f

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are linked. Sides that are not linked are ignored.

    Raises
    ------
    ArgumentError
        When the fill is made, if there is no such side, or none is linked.
    LinkError
        If a link turns faces into faces of another axis.

    Examples
    --------
    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(3,)], links=bc.topologies.bricks(2))
    >>> bc.fill(grid.cells.grow((0, 1)), bc.linked(), bc.zero()) @ np.array([[1., 2, 3], [4, 5, 6]])
    array([[1., 2., 3., 4.],
           [4., 5., 6., 0.]])
    """

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        assert frame.links is not None
        link = frame.links.link(side)
        assert link is not None
        here, there = frame.blocks[link.here.block], frame.blocks[link.there.block]
        if link.seen(here.staggered) != there.staggered:
            raise LinkError(
                f"The points are not of one kind on both sides of the link {link}.",
                note="Across it the faces normal to one axis are those normal to another.",
                hint="Fill ghosts of cells or nodes.",
            )
        index = tuple(
            Affine.name(frame.axes[axis]) * sign + offset
            for axis, sign, offset in link.source(here.cells, there.cells, here.staggered)
        )
        return [Strip(Row((Entry(link.there.block, index, ir.ONE),)))]

    return rule_of(rule_text("linked", axis, side, block), axis, side, block, make, linked=True)


def periodic(axis: int | None = None, *, block: int | None = None) -> Rule:
    """Return the circular map of a block onto itself: ``u[g] = u[g + n]``, ``u[n + g] = u[g]``.

    For points on the sides of cells the first and the last one are the same point, and the period
    is n - 1.

    ::

        ghosts | owned   | ghosts
           c d | a b c d | a b

    Parameters
    ----------
    axis
        The axis of the block; all axes by default.
    block
        The block; all blocks by default.

    Raises
    ------
    ArgumentError
        When the fill is made, if there is no such axis or block, or a side is linked.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(2), bc.periodic()) @ np.array([1.0, 2, 3])
    array([2., 3., 1., 2., 3., 1., 2.])
    """

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        period = frame.blocks[side.block].cells[side.axis]
        shift = period if side.end == "low" else -period
        return [mapped(frame, side, frame.index[side.axis] + shift, ir.ONE)]

    return rule_of(rule_text("periodic", axis, "both", block), axis, "both", block, make)


def symmetric(
    axis: int | None = None,
    side: Ends = "both",
    *,
    sign: float | Sequence[float] = 1.0,
    about: Literal["face", "point"] | None = None,
    block: int | None = None,
) -> Rule:
    """Return the reflection ``u[-1 - k] = sign * u[k]``, or ``u[-k] = sign * u[k]`` about a point.

    ::

        ghosts | owned   | ghosts
           b a | a b c d | d c       about the face, sign 1
           c b | a b c d | c b       about the point, sign 1

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are not linked.
    sign
        1 for even fields, -1 for odd ones such as a velocity normal to the side; a sequence has
        one for each component.
    about
        Reflect about the face of the first cell, or about the first point. By default the face
        for cells, and the point where points sit on the side.

    Raises
    ------
    ArgumentError
        If an argument has another form; when the fill is made, if there is no such side.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> u, wide = np.array([1.0, 2, 3]), ssr.Space(3).grow(2)
    >>> bc.fill(wide, bc.symmetric()) @ u
    array([2., 1., 1., 2., 3., 3., 2.])
    >>> bc.fill(wide, bc.symmetric(sign=-1, about="point")) @ u
    array([-3., -2.,  1.,  2.,  3., -2., -1.])
    """
    options = {"sign": (sign, 1.0), "about": (about, None)}
    text = rule_text("symmetric", axis, side, block, **options)
    signs = finite_numbers(text, "sign", sign)
    if about is not None and not is_one_of(about, ("face", "point")):
        raise ArgumentError(f'{text}: about must be "face" or "point", not {about!r}.')

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        source = mirror(frame, side, about)
        if len(signs) == 1:
            return [mapped(frame, side, source, ir.Const(signs[0]))]
        part = mapped(frame, side, source, ir.ONE)
        entry = replace(part.row.entries[0], mix=_diagonal(signs))
        return [replace(part, row=Row((entry,)))]

    return rule_of(text, axis, side, block, make)


def mapped(frame: Frame, side: Side, source: Affine, weight: ir.Value) -> Strip:
    """Return a row of one entry that differs from the ghost along the side's axis only."""
    index = list(frame.index)
    index[side.axis] = source
    return Strip(Row((Entry(side.block, tuple(index), weight),)))


def mirror(frame: Frame, side: Side, about: str | None) -> Affine:
    """Return the index along a side's axis of the reflection of a ghost."""
    block = frame.blocks[side.block]
    on_side = block.staggered[side.axis]
    point = about == "point" or (about is None and on_side)
    first = 2 * Affine.of(block.first[side.axis])
    if side.end == "high":
        first = 2 * block.stop(side.axis) - (2 if point else 0)
    return first - frame.index[side.axis] - (0 if point else 1)


def _diagonal(numbers: Sequence[float]) -> Mix:
    return tuple(
        tuple(ir.Const(value if n == m else 0.0) for m in range(len(numbers)))
        for n, value in enumerate(numbers)
    )
