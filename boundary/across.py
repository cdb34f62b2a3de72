"""What is done to ghosts that are copies of points of another block: interpolation, rotation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ssr import ir
from ssr.affine import Affine
from ssr.errors import ArgumentError, ShapeError, user_span
from ssr.families import multiply

from .errors import HaloError
from .evaluate import table
from .frame import Frame
from .link import Side
from .rules import Part, Rule
from .strip import Entry, Row, Where, applied

Changed: TypeAlias = tuple[Row, Where]
Change: TypeAlias = Callable[[Frame, Side, Row, Callable[[str], str]], list[Changed]]
"""From what a rule says about the ghosts of a side to what it says after the change, in parts."""

DIAGONALS = 24
"""So many weights of a ghost, zeros among them, are no reason to treat it apart from others."""


@dataclass(frozen=True)
class Step:
    """A change of rows; the tables it reads, and their layers and points along a side."""

    change: Change
    tables: Mapping[str, Any]
    layers: int
    length: int


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
    def length(self) -> int:
        """The number of points along a side that the tables are for."""
        return self.steps[0].length

    def __repr__(self) -> str:
        return self.text

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, Across):
            _same_length(self, other)
            text = f"{self.text} @ {other.text}"
            return Across(text, (*self.steps, *other.steps))
        if not isinstance(other, Rule):
            return NotImplemented
        if other.lengths is not None:
            _same_length(self, other)
        rule = other
        for step in reversed(self.steps):
            rule = _changed(rule, step)
        text = f"{self.text} @ {other.text}"
        return replace(rule, text=text, span=user_span(), lengths=(self.length,))


def _changed(rule: Rule, step: Step) -> Rule:
    """Return a rule with the ghosts behind each side changed."""
    keys = {key: ir.fresh(key, rule.data) for key in step.tables}

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        found = []
        for part in rule.make(frame, side, name):
            fits = (*part.fits, (1 - side.axis, step.length))
            for row, where in step.change(frame, side, part.row, lambda key: name(keys[key])):
                both = (_first(frame, side, step.layers), *part.where, *where)
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


def _same_length(one: Across, other: Any) -> None:
    length = other.length if isinstance(other, Across) else other.lengths[0]
    if one.length != length:
        raise ShapeError(
            f"{one.text} is for {one.length} points along a side, {other.text} for {length}."
        )


def interpolate(first: Any, weights: Any) -> Across:
    """Return the interpolation of ghosts along their side, by tables.

    Ghost t of layer k becomes the sum over r of ``weights[k, t, r]`` times what ghost
    ``first[k, t] + r`` of that layer was: ``bc.interpolate(first, weights) @ bc.copy()`` is first
    copied from the neighbour and then interpolated. Blocks are of two dimensions.

    Parameters
    ----------
    first
        Integers of shape (layers, n): the first point that ghost t of layer k is made from.
    weights
        Numbers of shape (layers, n, points).

    Raises
    ------
    ShapeError, ArgumentError
        If the tables do not fit each other, or a weight is NaN or infinite.

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
    """
    places, weights = table("interpolate", "first", first), table("interpolate", "weights", weights)
    whole = np.isfinite(places) & (places == np.floor(places))
    first = np.where(whole, places, 0).astype(np.int64)
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

    def change(frame: Frame, side: Side, row: Row, name: Callable[[str], str]) -> list[Changed]:
        along = _along("interpolate", frame, side, (layers, length))
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

    return Across("interpolate(...)", (Step(change, tables, layers, length),))


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


def rotate(matrices: Any) -> Across:
    """Return a small matrix for each ghost, between the components of a vector.

    ``bc.rotate(T) @ bc.copy()`` turns the components of the neighbour into those of the own block.
    Blocks are of two dimensions.

    Parameters
    ----------
    matrices
        Numbers of shape (blocks, 4, components, components, layers, n). The four sides of a block
        are axis 0 low and high, axis 1 low and high. Sides without the rule may hold anything.

    Raises
    ------
    ShapeError
        If the shape is another one.

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
    matrices = table("rotate", "matrices", matrices)
    shape = matrices.shape
    if matrices.ndim != 6 or shape[1] != 4 or shape[2] != shape[3] or 0 in shape:
        raise ShapeError(
            f"rotate: the matrices have shape {shape}.",
            hint="It is (blocks, 4 sides, components, components, layers, n).",
        )

    def change(frame: Frame, side: Side, row: Row, name: Callable[[str], str]) -> list[Changed]:
        along = _along("rotate", frame, side, shape[4:])
        if shape[0] != len(frame.blocks):
            raise ShapeError(f"rotate: matrices for {shape[0]} of {len(frame.blocks)} blocks.")
        number = 2 * side.axis + int(side.end == "high")
        values = matrices[side.block, number][:, :, : _layers(frame, side)]
        if not np.isfinite(values).all():
            raise ArgumentError(f"rotate: a matrix of {side} is not finite.")
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

    return Across("rotate(...)", (Step(change, {"matrices": matrices}, shape[4], shape[5]),))


def _mixed(entries: Iterable[Entry], mix: Any) -> Iterable[Entry]:
    for entry in entries:
        if entry.mix is not None:
            raise ArgumentError(
                "rotate: its ghosts are rotated already.", hint="Multiply the matrices."
            )
        yield replace(entry, mix=mix)


def _layers(frame: Frame, side: Side) -> int:
    block = frame.blocks[side.block]
    return block.low[side.axis] if side.end == "low" else block.high[side.axis]


def _along(text: str, frame: Frame, side: Side, table: tuple[int, int]) -> int:
    """Return the axis along a side, after tables of (layers, points) were found to fit."""
    if frame.ndim != 2:
        raise ArgumentError(f"{text}: blocks have {frame.ndim} dimensions, not 2.")
    along = 1 - side.axis
    extent = frame.blocks[side.block].shape[along]
    if extent.is_constant and extent.constant != table[1]:
        raise ShapeError(f"{text}: the tables have {table[1]} points, {side} has {extent}.")
    if table[0] < _layers(frame, side):
        raise HaloError(
            f"{text}: the tables have {table[0]} layers, the halo of {side} has "
            f"{_layers(frame, side)}."
        )
    return along


def _where(bad: Any) -> str:
    return str([int(n) for n in np.argwhere(bad)[0]])
