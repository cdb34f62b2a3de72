"""What is done to ghosts that are copies of points of another block: interpolation, rotation.

Tables are for sides that are lines: those of blocks of two dimensions, or of three if the tables
do not change along one axis, that of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, ShapeError, user_span
from ssr.extension import Affine, integer, ir, multiply

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side
from .evaluate import table
from .rows import Entry, Row, Where, applied
from .rule import Part, Rule

Changed: TypeAlias = tuple[Row, Where]
Change: TypeAlias = Callable[[Frame, Side, Row, Callable[[str], str]], list[Changed]]
"""From what a rule says about the ghosts of a side to what it says after the change, in parts."""

DIAGONALS = 24
"""So many weights of a ghost, zeros among them, are no reason to treat it apart from others."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The sides that tables are for: lines of points, the same ones at each level.

    Attributes
    ----------
    text
        What the tables belong to.
    layers, length
        The extents of the tables: layers of ghosts, and points along a side.
    levels
        The axis of blocks of three dimensions along which the tables do not change; None if blocks
        have two.
    """

    text: str
    layers: int
    length: int
    levels: int | None

    def axes(self, frame: Frame) -> tuple[int, int]:
        """Return the axes of a block that are not those of levels.

        Raises
        ------
        ArgumentError
            If there are not two of them.
        """
        if frame.ndim == 3 and self.levels is None:
            raise ArgumentError(
                f"{self.text}: blocks have 3 dimensions, and the tables are for lines.",
                hint="Name the axis along which they do not change: levels=0.",
            )
        if frame.ndim != (2 if self.levels is None else 3):
            note = "levels are one of three axes" if self.levels is not None else None
            noun = "dimension" if frame.ndim == 1 else "dimensions"
            raise ArgumentError(f"{self.text}: blocks have {frame.ndim} {noun}.", note=note)
        one, other = (a for a in range(frame.ndim) if a != self.levels)
        return one, other

    def along(self, frame: Frame, side: Side) -> int:
        """Return the axis along a side, after the tables were found to fit.

        Raises
        ------
        ArgumentError, ShapeError, HaloError
            If they do not.
        """
        (along,) = (a for a in self.axes(frame) if a != side.axis)
        extent, width = frame.blocks[side.block].shape[along], _width(frame, side)
        if extent.is_constant and extent.constant != self.length:
            raise ShapeError(
                f"{self.text}: the tables have {self.length} points, {frame.named(side)} has "
                f"{extent}."
            )
        if self.layers < width:
            raise HaloError(
                f"{self.text}: the tables have {self.layers} layers, the halo of "
                f"{frame.named(side)} has {width}."
            )
        return along


@dataclass(frozen=True)
class Step:
    """A change of rows; the tables it reads, and the sides that they are for."""

    change: Change
    tables: Mapping[str, Any]
    lines: Lines


@dataclass(frozen=True)
class Across:
    """A matrix that acts on the ghosts behind a side; ``across @ rule`` is a rule.

    Made by `bc.interpolate` and `bc.rotate`, and by products of these.

    Attributes
    ----------
    steps
        What is done, the last first.
    """

    text: str
    steps: tuple[Step, ...]

    @property
    def lines(self) -> Lines:
        """The sides that the tables are for."""
        return self.steps[0].lines

    __array_ufunc__ = None

    def __repr__(self) -> str:
        return self.text

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, Across):
            _check_levels(self, other)
            _check_length(self, other.text, other.lines.length)
            text = f"{self.text} @ {other.text}"
            return Across(text, (*self.steps, *other.steps))
        if not isinstance(other, Rule):
            return NotImplemented
        if other.lengths is not None and len(other.lengths) == 1:
            _check_length(self, other.text, other.lengths[0])
        levels = self.lines.levels
        if levels is not None and other.axis in (levels, levels - 3):
            raise ArgumentError(
                f"{self.text} @ {other.text} is about no side: sides normal to the axis of levels "
                "have rules of their own."
            )
        rule = other
        for step in reversed(self.steps):
            rule = _changed(rule, step)
        text = f"{self.text} @ {other.text}"
        return replace(rule, text=text, span=user_span(), lengths=(self.lines.length,))


def _changed(rule: Rule, step: Step) -> Rule:
    """Return a rule with the ghosts behind each side changed; none are behind ends of levels."""
    keys = {key: ir.fresh(key, rule.data) for key in step.tables}

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        if side.axis not in step.lines.axes(frame):
            return []
        along, found = step.lines.along(frame, side), []
        for part in rule.make(frame, side, name):
            fits = (*part.fits, (along, step.lines.length))
            for row, where in step.change(frame, side, part.row, lambda key: name(keys[key])):
                both = (_first(frame, side, step.lines.layers), *part.where, *where)
                found.append(Part(row, both, False, fits, part.least))
        return found

    data = {**rule.data, **{keys[key]: value for key, value in step.tables.items()}}
    return replace(rule, make=make, data=MappingProxyType(data))


def _first(frame: Frame, side: Side, count: int) -> tuple[int, Affine, Affine]:
    """Return the axis and the range of the indices of the first layers behind a side."""
    block = frame.blocks[side.block]
    edge = Affine.of(block.first[side.axis]) if side.end == "low" else block.stop(side.axis)
    return (
        side.axis,
        edge - (count if side.end == "low" else 0),
        edge + (0 if side.end == "low" else count),
    )


def _width(frame: Frame, side: Side) -> int:
    """Return the number of layers of ghosts behind a side."""
    block = frame.blocks[side.block]
    return block.low[side.axis] if side.end == "low" else block.high[side.axis]


def _check_length(one: Across, text: str, length: int) -> None:
    if one.lines.length != length:
        raise ShapeError(
            f"{one.text} is for {one.lines.length} points along a side, {text} for {length}."
        )


def _check_levels(one: Across, other: Across) -> None:
    if one.lines.levels != other.lines.levels:
        raise ArgumentError(
            f"{one.text} @ {other.text}: the axes of levels differ.",
            note=f"they are {one.lines.levels} and {other.lines.levels}",
            hint="Give both the same levels=...",
        )


def _levels(text: str, levels: Any) -> int | None:
    """Return the axis of levels, counted from the first."""
    if levels is None:
        return None
    axis = integer(levels)
    if axis is None or not -3 <= axis < 3:
        raise ArgumentError(f"{text}: levels is {levels!r}, not an axis of three: 0, 1 or 2.")
    return axis % 3


def _told(name: str, levels: int | None) -> str:
    """Return a change as it is called in messages."""
    return f"{name}(...)" if levels is None else f"{name}(..., levels={levels})"


def interpolate(first: Any, weights: Any, *, levels: int | None = None) -> Across:
    """Return the interpolation of ghosts along their side, by tables.

    Ghost t of layer k becomes the sum over r of ``weights[k, t, r]`` times what ghost
    ``first[k, t] + r`` of that layer was: ``bc.interpolate(first, weights) @ bc.copy()`` is first
    copied from the neighbour and then interpolated.

    Parameters
    ----------
    first
        Integers of shape (layers, n): the first point that ghost t of layer k is made from.
    weights
        Numbers of shape (layers, n, points).
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
    >>> grid = bc.Grid(2 * [(3, 2)], links=bc.bricks(1, 2))
    >>> first, weights = np.array([[0, 0, 1]]), np.array([[[1, 0], [0.5, 0.5], [0.5, 0.5]]])
    >>> fill = bc.fill(
    ...     grid.cells.grow(0, (0, 1)), bc.interpolate(first, weights) @ bc.copy(), bc.zero()
    ... )
    >>> (fill @ np.arange(12.0).reshape(2, 3, 2))[0]
    array([[0., 1., 6.],
           [2., 3., 7.],
           [4., 5., 9.]])

    The same at each of two levels; the ghosts at their ends are those of another rule:

    >>> grid = bc.Grid(2 * [(2, 3, 2)], links=bc.bricks(1, 2).layered())
    >>> edge = bc.interpolate(first, weights, levels=0) @ bc.copy()
    >>> fill = bc.fill(grid.cells.grow((1, 0), 0, (0, 1)), edge, bc.neumann(axis=0), bc.zero(2))
    >>> (fill @ np.arange(24.0).reshape(2, 2, 3, 2))[0, :, :, 2]
    array([[12., 13., 15.],
           [12., 13., 15.],
           [18., 19., 21.]])
    """
    axis = _levels("interpolate", levels)
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
        raise ArgumentError(f"interpolate: first{_where(~whole)} is no integer.")
    if not np.isfinite(weights).all():
        raise ArgumentError(f"interpolate: weights{_where(~np.isfinite(weights))} is not finite.")
    layers, length, taps = weights.shape
    last = first + taps - 1
    if (first < 0).any() or (last >= length).any():
        outside = (first < 0) | (last >= length)
        raise ArgumentError(
            f"interpolate: first{_where(outside)} leads outside of the side's {length} points."
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

    return Across(_told("interpolate", axis), (Step(change, tables, lines),))


def _times(constant: ir.Value, factor: ir.Value) -> ir.Value:
    """Return a constant, which is the same along a side, times a factor."""
    if constant == ir.ZERO:
        return constant
    if any(isinstance(v, (ir.Load, ir.Coordinate)) for v in ir.walk(constant)):
        raise ArgumentError(
            "interpolate: values that change along a side are not interpolated.",
            hint="Interpolate the values, and give them to a rule of their own.",
        )
    return multiply(constant, factor)


def _diagonals(first: Any, weights: Any) -> tuple[Any, list[tuple[int, int, int]]]:
    """Return weights by the distance from ghost to point, and the stretches they are counted on.

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


def rotate(matrices: Any, *, levels: int | None = None) -> Across:
    """Return a small matrix for each ghost, between the components of a vector.

    ``bc.rotate(T) @ bc.copy()`` turns the components of the neighbour into those of the own block.

    Parameters
    ----------
    matrices
        Numbers of shape (blocks, 4, components, components, layers, n). The four sides of a block
        are axis 0 low and high, axis 1 low and high. Sides without the rule may hold anything.
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
    >>> grid = bc.Grid(2 * [(2, 2)], links=bc.bricks(1, 2))
    >>> quarter = np.zeros((2, 4, 2, 2, 1, 2))
    >>> quarter[:, :, 0, 1], quarter[:, :, 1, 0] = -1, 1
    >>> fill = bc.fill(
    ...     grid.cells.grow(0, (0, 1)).vector(2), bc.rotate(quarter) @ bc.copy(), bc.zero()
    ... )
    >>> (fill @ np.stack([np.full((2, 2, 2), 3.0), np.full((2, 2, 2), 4.0)]))[:, 0]
    array([[[ 3.,  3., -4.],
            [ 3.,  3., -4.]],
    <BLANKLINE>
           [[ 4.,  4.,  3.],
            [ 4.,  4.,  3.]]])
    """
    axis = _levels("rotate", levels)
    matrices = table("rotate", "matrices", matrices)
    shape = matrices.shape
    if matrices.ndim != 6 or shape[1] != 4 or shape[2] != shape[3] or 0 in shape:
        raise ShapeError(
            f"rotate: the matrices have shape {shape}.",
            hint="It is (blocks, 4 sides, components, components, layers, n).",
        )

    lines = Lines("rotate", shape[4], shape[5], axis)

    def change(frame: Frame, side: Side, row: Row, name: Callable[[str], str]) -> list[Changed]:
        along = lines.along(frame, side)
        if shape[0] != len(frame.blocks):
            raise ShapeError(f"rotate: matrices for {shape[0]} of {len(frame.blocks)} blocks.")
        number = 2 * lines.axes(frame).index(side.axis) + int(side.end == "high")
        values = matrices[side.block, number][:, :, : _width(frame, side)]
        if not np.isfinite(values).all():
            raise ArgumentError(f"rotate: a matrix of {frame.named(side)} is not finite.")
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

    return Across(_told("rotate", axis), (Step(change, {"matrices": matrices}, lines),))


def _mixed(entries: Iterable[Entry], mix: Any) -> Iterable[Entry]:
    for entry in entries:
        if entry.mix is not None:
            raise ArgumentError(
                "rotate: its ghosts are rotated already.", hint="Multiply the matrices."
            )
        yield replace(entry, mix=mix)


def _where(bad: Any) -> str:
    return str([int(n) for n in np.argwhere(bad)[0]])
