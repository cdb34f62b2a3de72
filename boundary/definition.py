"""The rules followed point by point: the oracle of fills.

For one ghost, the rule of its side tells what it reads; a ghost that is read is looked up in the
same way. Nothing is shared with `closure` but what the rules themselves say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .evaluate import affine_in_scalars, evaluate
from .frame import ENDS, Frame
from .link import Side
from .numbering import Numbering, Point
from .strip import ROUNDING, Strip, Strips

if TYPE_CHECKING:
    import scipy.sparse

Path: TypeAlias = frozenset[Point]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a ghost: constants, what multiplies scalars, and a matrix for each point."""

    constant: np.ndarray[Any, Any]
    scalars: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    matrices: Mapping[Point, np.ndarray[Any, Any]] = field(default_factory=dict)


class Unclear(Enum):
    """Two rules define a point differently."""

    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Definition:
    """The rules of a fill for given sizes, and the number of components of its fields."""

    frame: Frame
    strips: Sequence[Strip]
    data: Mapping[str, Any]
    sizes: Mapping[str, int]
    components: int
    done: dict[Point, Value | Unclear | None] = field(default_factory=dict)

    @cached_property
    def _strips(self) -> Strips:
        return Strips(self.strips)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part; rows and columns are numbered field by field."""
        import scipy.sparse

        rows, cols = self._numbers(ghosts=True), self._numbers(ghosts=False)
        entries: list[tuple[float, int, int]] = []
        for block, index in rows.points():
            value = self.at(block, index)
            for point, matrix in () if value is None else value.matrices.items():
                for r, c in zip(*np.nonzero(matrix), strict=True):
                    place = rows.number(block, index, int(r)), cols.number(*point, int(c))
                    entries.append((matrix[r, c], *place))
        values, *places = zip(*entries, strict=True) if entries else ((), (), ())
        shape = rows.count, cols.count
        return scipy.sparse.csr_array(
            scipy.sparse.coo_array((values, places), shape, dtype=np.float64)
        )

    def points(self) -> Iterator[Point]:
        """Yield all points, ghosts too, in the order of the rows of the matrix."""
        return self._numbers(ghosts=True).points()

    def _numbers(self, *, ghosts: bool) -> Numbering:
        return Numbering(self.frame, self.sizes, self.components, ghosts)

    def at(self, block: int, index: tuple[int, ...]) -> Value | None:
        """Return the value of a point; None if no rule defines it, or two do so differently."""
        found = self._at(block, index, frozenset())
        return None if isinstance(found, Unclear) else found

    def _at(self, block: int, index: tuple[int, ...], path: Path) -> Value | Unclear | None:
        """Return the value of a point that the ghosts on a path lead to.

        These have no value: rules that read each other define nothing.
        """
        here = block, index
        if here in self.done:
            return self.done[here]
        points = self.frame.blocks[block]
        out = [
            -1 if x < first else int(x >= first + n)
            for x, first, n in zip(index, points.first, points.inner(self.sizes), strict=True)
        ]
        none = np.zeros(self.components)
        if not any(out):
            return Value(none, {}, {(block, index): np.eye(self.components)})
        found: Value | Unclear | None = None
        sides = [Side(block, axis, ENDS[place]) for axis, place in enumerate(out) if place]
        for side in () if here in path else sides:
            for strip in (*self._strips.ranges(side), *self._strips.points(side).get(index, ())):
                if strip.extends or len(sides) == 1:
                    found = _agreed(found, self._from(strip, index, path | {here}))
        if found is not None or not path:
            self.done[here] = found
        return found

    def _from(self, strip: Strip, index: tuple[int, ...], path: Path) -> Value | Unclear | None:
        """Return the value that one rule gives a point."""
        names = {**self.sizes, **dict(zip(self.frame.axes, index, strict=True))}
        if any(
            not low.evaluate(names) <= index[axis] < high.evaluate(names)
            for axis, low, high in strip.where
        ):
            return None
        count = self.components
        constant, scalars = np.zeros(count), dict[str, np.ndarray[Any, Any]]()
        matrices: dict[Point, np.ndarray[Any, Any]] = {}
        each = strip.row.constant * (count if len(strip.row.constant) == 1 else 1)
        for c, value in enumerate(each):
            rest, factors = affine_in_scalars(value)
            constant[c] = evaluate(rest, names, self.data)
            for name, factor in factors.items():
                scalars.setdefault(name, np.zeros(count))[c] = evaluate(factor, names, self.data)
        for entry in strip.row.entries:
            if any(
                not low.evaluate(names) <= e.evaluate(names) < high.evaluate(names)
                for e, low, high in entry.window
            ):
                continue
            matrix = np.eye(count) * evaluate(entry.weight, names, self.data)
            if entry.mix is not None:
                matrix = matrix @ [
                    [evaluate(v, names, self.data) for v in row] for row in entry.mix
                ]
            source = tuple(a.evaluate(names) for a in entry.index)
            inner = self._at(entry.block, source, path)
            if not isinstance(inner, Value):
                return inner
            constant += matrix @ inner.constant
            for name, known in inner.scalars.items():
                scalars[name] = scalars.get(name, np.zeros(count)) + matrix @ known
            for point, more in inner.matrices.items():
                matrices[point] = matrices.get(point, np.zeros((count, count))) + matrix @ more
        return Value(constant, scalars, matrices)


def _agreed(a: Value | Unclear | None, b: Value | Unclear | None) -> Value | Unclear | None:
    """Return what two rules together say about a point."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Unclear) or isinstance(b, Unclear) or not _alike(a, b):
        return Unclear.UNCLEAR
    return a


def _alike(a: Value, b: Value) -> bool:
    """Whether two values are equal but for rounding."""

    def same(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
        pairs = [(one.get(key, 0.0), other.get(key, 0.0)) for key in {*one, *other}]
        return all(np.allclose(x, y, rtol=ROUNDING, atol=ROUNDING) for x, y in pairs)

    constants = {None: a.constant}, {None: b.constant}
    return same(*constants) and same(a.scalars, b.scalars) and same(a.matrices, b.matrices)
