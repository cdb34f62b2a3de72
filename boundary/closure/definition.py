"""Oracle of fills: resolve ghost rules point by point.

For one ghost point, the rule of its side gives the points that it reads; each ghost point among
these is resolved in the same way. All ghost points reached are undefined at first. Their rules are
applied repeatedly until no value changes. The module shares only the rows of the rules with
`closure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..grid.frame import Frame
from ..grid.link import Point, Side
from ..grid.numbering import Numbering
from ..rules.evaluate import affine_in_scalars, check_determined, evaluate
from ..rules.rows.affine_rows import ROUNDING
from ..rules.rows.strips import Strip, Strips
from .run_time import is_live_row

if TYPE_CHECKING:
    import scipy.sparse


@dataclass(frozen=True, slots=True)
class GhostValue:
    """The value of a ghost: constants, factors of scalars, and a matrix for each point."""

    constant: np.ndarray[Any, Any]
    scalars: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    matrices: Mapping[Point, np.ndarray[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Applied:
    """The row of one ghost by one rule: constants, and matrices for the points it reads."""

    constant: np.ndarray[Any, Any]
    scalars: Mapping[str, np.ndarray[Any, Any]]
    reads: Sequence[tuple[np.ndarray[Any, Any], Point]]


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
    done: dict[Point, GhostValue | Unclear | None] = field(default_factory=dict)

    @cached_property
    def _strips(self) -> Strips:
        return Strips(self.strips)

    @cached_property
    def _live(self) -> frozenset[int]:
        """The strips whose rows a program computes, by their identity."""
        return frozenset(id(s) for s in self.strips if is_live_row(s.row, self.data))

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
        """Yield all points, ghosts included, in the order of the rows of the matrix."""
        return self._numbers(ghosts=True).points()

    def _numbers(self, *, ghosts: bool) -> Numbering:
        return Numbering(self.frame, self.sizes, self.components, ghosts)

    def at(self, block: int, index: tuple[int, ...]) -> GhostValue | None:
        """Return the value of a point; None if no rule defines it, or two define it differently."""
        point = block, index
        if not self._sides(point):
            return self._owned(point)
        if point not in self.done:
            self.done.update(self._settled(point))
        found = self.done[point]
        return None if isinstance(found, Unclear) else found

    def _settled(self, point: Point) -> dict[Point, GhostValue | Unclear | None]:
        """Return the new values of a ghost and of all ghosts that it depends on."""
        rules: dict[Point, list[Applied]] = {}
        work = [point]
        while work:
            here = work.pop()
            if here not in rules and here not in self.done and self._sides(here):
                rules[here] = list(self._applied(here))
                work += [source for rule in rules[here] for _, source in rule.reads]
        found: dict[Point, GhostValue | Unclear | None] = dict.fromkeys(rules)
        more = True
        while more:
            more = False
            for here in reversed(rules):
                old = new = found[here]
                for rule in rules[here]:
                    new = _agreed(new, self._sum(rule, found))
                found[here] = new
                more |= new is not old
        return found

    def _sides(self, point: Point) -> list[Side]:
        """Return the sides beyond which a point lies; none if it is owned."""
        block, index = point
        points = self.frame.blocks[block]
        ends = zip(index, points.first, points.inner(self.sizes), strict=True)
        out = tuple(-1 if x < first else int(x >= first + n) for x, first, n in ends)
        return self.frame.beyond(block, out)

    def _owned(self, point: Point) -> GhostValue:
        return GhostValue(np.zeros(self.components), {}, {point: np.eye(self.components)})

    def _applied(self, point: Point) -> Iterator[Applied]:
        """Yield each rule that applies to a ghost, evaluated at its index."""
        _, index = point
        names = {**self.sizes, **dict(zip(self.frame.axes, index, strict=True))}
        for strip in self._strips.beyond(self._sides(point), index):
            if all(
                low.evaluate(names) <= index[axis] < high.evaluate(names)
                for axis, low, high in strip.where
            ):
                yield self._row(strip, names)

    def _row(self, strip: Strip, names: Mapping[str, int]) -> Applied:
        """Return the row of a rule, in numbers."""
        count = self.components
        constant, scalars = np.zeros(count), dict[str, np.ndarray[Any, Any]]()
        if id(strip) in self._live:  # computed by other steps of a program
            return Applied(constant + np.nan, scalars, ())
        each = strip.row.constant * (count if len(strip.row.constant) == 1 else 1)
        for c, value in enumerate(each):
            rest, factors = affine_in_scalars(value)
            constant[c] = evaluate(rest, names, self.data)
            check_determined(strip.origin.rule, constant[c])
            for name, factor in factors.items():
                scalars.setdefault(name, np.zeros(count))[c] = evaluate(factor, names, self.data)
        reads = []
        for entry in strip.row.entries:
            if any(
                not low.evaluate(names) <= e.evaluate(names) < high.evaluate(names)
                for e, low, high in entry.window
            ):
                continue
            weight = evaluate(entry.weight, names, self.data)
            check_determined(strip.origin.rule, weight)
            matrix = np.eye(count) * weight
            if entry.mix is not None:
                matrix = matrix @ [
                    [evaluate(v, names, self.data) for v in row] for row in entry.mix
                ]
            reads.append((matrix, (entry.block, tuple(a.evaluate(names) for a in entry.index))))
        return Applied(constant, scalars, reads)

    def _sum(
        self, rule: Applied, found: Mapping[Point, GhostValue | Unclear | None]
    ) -> GhostValue | Unclear | None:
        """Return the value of one rule from the values so far of the points it reads."""
        inner: list[tuple[np.ndarray[Any, Any], GhostValue]] = []
        unclear = False
        for matrix, source in rule.reads:
            if source in found or source in self.done:
                value = found[source] if source in found else self.done[source]
            else:
                value = self._owned(source)
            if value is None:
                return None
            if isinstance(value, Unclear):
                unclear = True
            else:
                inner.append((matrix, value))
        if unclear:
            return Unclear.UNCLEAR
        none = np.zeros(self.components)
        constant, scalars = rule.constant.copy(), dict(rule.scalars)
        matrices: dict[Point, np.ndarray[Any, Any]] = {}
        for matrix, value in inner:
            constant += matrix @ value.constant
            for name, known in value.scalars.items():
                scalars[name] = scalars.get(name, none) + matrix @ known
            for point, more in value.matrices.items():
                matrices[point] = matrices.get(point, np.zeros(matrix.shape)) + matrix @ more
        return GhostValue(constant, scalars, matrices)


def _agreed(
    a: GhostValue | Unclear | None, b: GhostValue | Unclear | None
) -> GhostValue | Unclear | None:
    """Return the value of a point that two rules define; unclear if they differ."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, Unclear) or isinstance(b, Unclear) or not _alike(a, b):
        return Unclear.UNCLEAR
    return a


def _alike(a: GhostValue, b: GhostValue) -> bool:
    """Whether two values are equal up to rounding."""

    def same(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
        pairs = [(one.get(key, 0.0), other.get(key, 0.0)) for key in {*one, *other}]
        return all(np.allclose(x, y, rtol=ROUNDING, atol=ROUNDING) for x, y in pairs)

    constants = {None: a.constant}, {None: b.constant}
    return same(*constants) and same(a.scalars, b.scalars) and same(a.matrices, b.matrices)
