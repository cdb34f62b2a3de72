"""Row generators of resolved ghost rules, for `ssr.matrix`.

The generators are matrix definitions like those in user programs: run on symbols, they give entry
families; run on integers, they give a SciPy matrix. Variable coefficients are data of the matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any, TypeAlias

import ssr
from ssr import Index, Space
from ssr.errors import UnsupportedError
from ssr.extension import AXES, Affine, affine, ir, name_of

from ..grid.frame import Block, Frame
from ..grid.link import Side
from ..rules.given import OnSpace
from ..rules.rows.affine_rows import Entry, Row
from .ruled import Ruled

Rows: TypeAlias = Callable[..., Iterator[tuple[Any, Any]]]


@dataclass(frozen=True, slots=True)
class _Made:
    """The linear combination of owned points that defines a point: entries and a constant."""

    entries: list[tuple[int, tuple[Any, ...], Any]]
    constant: Any = 0.0


@dataclass(frozen=True, slots=True)
class RowData:
    """The data of a matrix of rows, by name.

    Attributes
    ----------
    kinds
        Spaces of fields, and `ssr.scalar`.
    arrays
        The values of the data that rules store.
    """

    kinds: Mapping[str, Any]
    arrays: Mapping[str, Any]

    @staticmethod
    def of(ruled: Ruled, *, constants: bool) -> RowData:
        """Return the data of the weights of rules, or of weights and constants."""
        kinds: dict[str, Any] = {}
        arrays: dict[str, Any] = {}
        for strip in ruled.strips:
            values = [e.weight for e in strip.row.entries]
            values += strip.row.constant if constants else ()
            for value in (v for one in values for v in ir.walk(one)):
                if isinstance(value, ir.Scalar):
                    kinds[value.name] = ssr.scalar
                elif isinstance(value, ir.Load) and not callable(ruled.data[value.array]):
                    found = ruled.data[value.array]
                    name = data_name(value.array, found)
                    kinds[name] = _space(ruled.frame, strip.side, found)
                    if not (isinstance(found, OnSpace) and found.array is None):
                        arrays[name] = found.array if isinstance(found, OnSpace) else found
        return RowData(kinds, arrays)


def data_name(name: str, found: Any) -> str:
    """Return the name that data of a rule have as data of a matrix."""
    return found.name if isinstance(found, OnSpace) and found.array is None else name


def _space(frame: Frame, side: Side, found: Any) -> Space:
    """Return the space of an array or field given along a side."""
    if isinstance(found, OnSpace) and found.space is not None:
        return found.space
    block = frame.blocks[side.block]
    extents = list(map(index_of, block.shape))
    if not isinstance(found, OnSpace):
        return Space(*(n for axis, n in enumerate(extents) if axis != side.axis))
    extents[side.axis] = 1
    kind, _ = frame.places[side.block]
    return Space(*([len(frame.kinds[kind])] if frame.gridded else []), *extents)


def linear_rows(
    ruled: Ruled, rows: int = 0, cols: int = 0, component: int = 0, names: Sequence[str] = ()
) -> Rows:
    """Return the row generator of the linear part of rules, between two kinds of blocks.

    The generator resolves ghosts recursively by conditions on indices and sizes, so that the matrix
    is correct for blocks of any size. Undefined ghosts have empty rows. Ghosts with two different
    definitions have the row of the first.
    """

    def fill(*point: Any, **data: Any) -> Iterator[tuple[Any, Any]]:
        found = _Rows(ruled, component, data).of(rows, point)
        for number, source, weight in found.entries if found else ():
            kind, _ = ruled.frame.places[number]
            if kind == cols:
                place = ruled.frame.point(number, source)
                yield (place if len(place) > 1 else place[0]), weight

    return _signed(fill, ruled, names)


def constant_rows(ruled: Ruled, rows: int, component: int, names: Sequence[str]) -> Rows:
    """Return the row generator of constants, which are entries in the column of the first point.

    The parameters are as for `linear_rows`. Ghosts that no rule defines are NaN.
    """
    frame = ruled.frame
    first = frame.point(frame.kinds[rows][0], frame.blocks[frame.kinds[rows][0]].first)

    def constants(*point: Any, **data: Any) -> Iterator[tuple[Any, Any]]:
        found = _Rows(ruled, component, data, constants=True).of(rows, point)
        constant = found.constant if found else float("nan")
        if not (isinstance(constant, float) and constant == 0.0):
            yield (first if len(first) > 1 else first[0]), constant

    return _signed(constants, ruled, names)


def _signed(function: Rows, ruled: Ruled, names: Sequence[str]) -> Rows:
    """Return a generator with the signature that `ssr.matrix` reads."""
    indices = AXES[ruled.frame.ndim + ruled.frame.gridded]
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in indices]
    parameters += [Parameter(name, Parameter.KEYWORD_ONLY) for name in names]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of rules at symbolic points, for one component and values of data."""

    ruled: Ruled
    component: int
    data: Mapping[str, Any]
    constants: bool = False

    def of(self, kind: int, point: Sequence[Any]) -> _Made | None:
        """Return the linear combination of a point in blocks of one shape; None if undefined."""
        frame = self.ruled.frame
        if not frame.gridded:
            return self._followed(0, point, None)
        block = next(b for at, b in enumerate(frame.kinds[kind]) if point[0] == at)
        return self._followed(block, point[1:], None)

    def _followed(
        self, block: int, index: Sequence[Any], before: Any, turns: int = 0
    ) -> _Made | None:
        """Return the linear combination of owned points that defines a point; None if undefined.

        Each ghost read is nearer to the owned points than the ghost that reads it, whose distance
        is ``before``. The distance stays equal only where a block of one point is reflected about
        that point, at most once in sequence for each axis. More repetitions, or a larger distance,
        mean that rules read each other in a cycle.
        """
        frame = self.ruled.frame
        points = frame.blocks[block]
        out = [_place(points, axis, x) for axis, x in enumerate(index)]
        if not any(out):
            return _Made([(block, tuple(index), 1.0)])
        distance = sum(
            _distance(points, axis, x, place)
            for axis, (x, place) in enumerate(zip(index, out, strict=True))
        )
        turns = 0 if before is None or distance < before else turns + 1
        if turns > frame.ndim or (turns and distance > before):
            return None
        for strip in self.ruled.strips:
            side = strip.side
            if side.block != block or out[side.axis] != (1 if side.end == "high" else -1):
                continue
            if not strip.extends and sum(map(abs, out)) > 1:
                continue
            if not all(
                Index(low) <= index[axis] and index[axis] < Index(high)
                for axis, low, high in strip.bounds
            ):
                continue
            where = dict(zip(frame.axes, map(affine, index), strict=True))
            constant = self._constant(strip.row, where)
            found: list[tuple[int, tuple[Any, ...], Any]] = []
            for entry in strip.row.entries:
                source = tuple(index_of(a.substitute(where)) for a in entry.index)
                more = self._followed(entry.block, source, distance, turns)
                if more is None:
                    break
                weight = self._weight(entry, where)
                found += [(b, place, weight * w) for b, place, w in more.entries]
                if not _is_zero(more.constant):
                    constant = constant + weight * more.constant
            else:
                return _Made(found, constant)
        return None

    def _constant(self, row: Row, where: Mapping[str, Affine]) -> Any:
        if not self.constants:
            return 0.0
        each = row.constant
        return self._value(each[self.component if len(each) > 1 else 0], where)

    def _weight(self, entry: Entry, where: Mapping[str, Affine]) -> Any:
        assert not entry.window
        weight = self._value(entry.weight, where)
        if entry.mix is None:
            return weight
        return weight * self._value(entry.mix[self.component][self.component], where)

    def _value(self, value: ir.Value, where: Mapping[str, Affine]) -> Any:
        """Return a value in the indices of a point as a number or symbol."""
        match value:
            case ir.Const(number):
                return number
            case ir.Scalar(name):
                return self.data[name]
            case ir.Coordinate(index):
                return 1.0 * index_of(index.substitute(where))
            case ir.Load(name, index):
                place = tuple(index_of(a.substitute(where)) for a in index)
                found = self.ruled.data[name]
                if callable(found):
                    return _traced(found, place)
                return self.data[data_name(name, found)][place if len(place) > 1 else place[0]]
            case ir.Op("neg", (a,)):
                return -self._value(a, where)
            case ir.Op("add" | "mul" | "div" as name, (a, b)):
                one, other = self._value(a, where), self._value(b, where)
                if name == "add":
                    return one + other
                return one * other if name == "mul" else one / other
        raise AssertionError(value)


def _traced(function: Any, place: tuple[Any, ...]) -> Any:
    """Return the value of a function of coordinates at symbolic points."""
    try:
        found = function(*(x / 2.0 for x in place))
        return found if not isinstance(found, int) else float(found)
    except Exception as error:
        raise UnsupportedError(
            f"The function {name_of(function)} of coordinates is not computed in a program: "
            f"{error}",
            note="Beside coefficients that are given at run time it is called with symbols.",
            hint="Write ssr.where for np.where, or give an array along the side.",
        ) from error


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


def _place(block: Block, axis: int, x: Any) -> int:
    """Return whether an index lies below (-1), within (0) or above (1) the owned points."""
    if x < block.first[axis]:
        return -1
    return int(bool(x >= Index(block.stop(axis))))


def _distance(block: Block, axis: int, x: Any, place: int) -> Any:
    """Return the number of layers between an index and the owned points."""
    if not place:
        return 0
    return block.first[axis] - x if place < 0 else x - Index(block.stop(axis)) + 1


def index_of(expression: Affine) -> Any:
    """Return an expression as an integer or a symbolic index."""
    return expression.constant if expression.is_constant else Index(expression)
