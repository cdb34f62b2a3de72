"""The meaning of boundary rules: ghosts are followed from point to point.

What a ghost reads may be a ghost again, and have no value, one, or two that differ. So all ghosts
are visited again and again until there is nothing new. Points of weight zero are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy.sparse as sparse

from .grids import Blocks, Grid, Index, Link, Point, Side, join
from .numbers import Array, Number, Several, number
from .reference import Matrix, Reference, VectorSpace, base
from .shared import synchronize

Row = tuple[list[tuple[Any, Point]], Any]
"""Weights, or matrices between components, with the points that they belong to; and a constant."""
NEAR = 1e-12
"""Weights that differ by a smaller part of their size are the same."""


@dataclass(frozen=True)
class Parameter:
    """A number that is given later, times a factor."""

    name: str
    factor: float = 1.0

    def __mul__(self, factor: float) -> Parameter:
        return Parameter(self.name, self.factor * factor)


@dataclass(frozen=True)
class Rule:
    """What the ghosts beyond some sides are.

    Attributes
    ----------
    row
        What a ghost beyond a side reads; None if the rule says nothing about it.
    axis, ends, block
        The sides; None stands for all axes or blocks.
    corners
        Whether it holds for ghosts beyond several sides too.
    exact
        Whether ways that lead to the same are sure to be recognised.
    """

    row: Callable[[Blocks, Side, Index], Row | None]
    axis: int | None = None
    ends: str = "both"
    block: int | None = None
    linked: bool = False
    corners: bool = True
    exact: bool = True

    def holds(self, blocks: Blocks, side: Side) -> bool:
        """Return whether the rule is one of a side."""
        linked = side in blocks.links
        here = linked == self.linked or (self.block is not None and not self.linked)
        named = self.axis in (None, side.axis) and self.block in (None, side.block)
        return here and named and self.ends in ("both", side.end)


def inward(
    terms: Callable[[int, int, bool], list[tuple[Any, int]]],
    factor: Callable[[int, bool], float],
    value: Any,
    where: tuple[int | None, str, int | None],
) -> Rule:
    """Return a rule that reads points inside its side, opposite the ghost.

    Parameters
    ----------
    terms
        The weights, and how far inside the points are: of the layer, the number of points and
        whether a point lies on the side.
    factor, value
        Their product is the constant.
    where
        The sides.
    """

    def row(blocks: Blocks, side: Side, index: Index) -> Row:
        k, n = blocks.layer(side, index), blocks.shapes[side.block][side.axis]
        on = blocks.staggered(side.block)[side.axis]
        read = [(w, blocks.inside(side, index, depth)) for w, depth in terms(k, n, on)]
        return read, given(value, blocks, side, index, factor(k, on))

    return Rule(row, *where, corners=not isinstance(value, np.ndarray), exact=not _data(value))


def _data(value: Any) -> bool:
    return isinstance(value, np.ndarray) or callable(value)


def given(value: Any, blocks: Blocks, side: Side, index: Index, factor: float) -> Any:
    """Return a value on a side, times a factor: a number, one for each component, a parameter."""
    if isinstance(value, tuple):
        return np.array(value) * factor
    if isinstance(value, np.ndarray):
        return value[tuple(x for axis, x in enumerate(index) if axis != side.axis)] * factor
    if callable(value):
        staggered = blocks.staggered(side.block)
        place = [x + (0.0 if on else 0.5) for x, on in zip(index, staggered, strict=True)]
        cells = blocks.shapes[side.block][side.axis] - int(staggered[side.axis])
        place[side.axis] = 0.0 if side.end == "low" else float(cells)
        return value(*place) * factor
    return value * factor


def _extrapolated(order: int, k: int) -> list[tuple[Any, int]]:
    places = range(order)
    return [(float(np.prod([(-1 - k - q) / (p - q) for q in places if q != p])), p) for p in places]


@dataclass(frozen=True)
class Across:
    """A change of what the ghosts of a side read, along the side."""

    change: Callable[[Blocks, Side, Index, Callable[[Index], Row]], Row]
    levels: int | None

    def __matmul__(self, rule: Rule | Across) -> Any:
        if isinstance(rule, Across):
            return _Chain((self, rule))

        def row(blocks: Blocks, side: Side, index: Index) -> Row | None:
            if side.axis == self.levels:
                return None
            return self.change(
                blocks, side, index, lambda i: rule.row(blocks, side, i) or ([], 0.0)
            )

        return replace(rule, row=row, corners=False, exact=False)

    def along(self, blocks: Blocks, side: Side) -> int:
        """Return the axis along a side that the tables are for."""
        return next(a for a in range(blocks.ndim) if a not in (side.axis, self.levels))


@dataclass(frozen=True)
class _Chain:
    parts: tuple[Across, ...]

    def __matmul__(self, rule: Any) -> Any:
        for part in reversed(self.parts):
            rule = part @ rule
        return rule


def interpolate(first: Array, weights: Array, levels: int | None = None) -> Across:
    def change(blocks: Blocks, side: Side, index: Index, row: Callable[[Index], Row]) -> Row:
        axis = made.along(blocks, side)
        k, t = blocks.layer(side, index), index[axis]
        terms: list[tuple[Any, Point]] = []
        for r, w in enumerate(weights[k, t]):
            place = (*index[:axis], int(first[k, t]) + r, *index[axis + 1 :])
            terms += [(w * v, point) for v, point in row(place)[0]]
        return terms, 0.0

    made = Across(change, levels)
    return made


def transform_vector(matrices: Array, levels: int | None = None) -> Across:
    def change(blocks: Blocks, side: Side, index: Index, row: Callable[[Index], Row]) -> Row:
        axis = made.along(blocks, side)
        number = 2 * (side.axis - (levels is not None and levels < side.axis)) + (
            side.end == "high"
        )
        matrix = matrices[side.block, number, :, :, blocks.layer(side, index), index[axis]]
        return [(matrix * w, point) for w, point in row(index)[0]], 0.0

    made = Across(change, levels)
    return made


class Boundary:
    """The public names of the boundary package."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self.Side, self.Link, self.join, self.Grid = Side, Link, join, Grid
        self.interpolate, self.transform_vector = interpolate, transform_vector
        self.synchronize = synchronize
        self.parameter = Parameter

    def linked(self, axis: int | None = None, side: str = "both", block: int | None = None) -> Rule:
        def row(blocks: Blocks, here: Side, index: Index) -> Row:
            return [(1.0, blocks.across(here, index))], 0.0

        return Rule(row, axis, side, block, linked=True)

    def periodic(self, axis: int | None = None, block: int | None = None) -> Rule:
        def terms(k: int, n: int, on: bool) -> list[tuple[Any, int]]:
            return [(1.0, n - int(on) - 1 - k)]

        return inward(terms, lambda k, on: 0.0, 0.0, (axis, "both", block))

    def symmetric(
        self,
        axis: int | None = None,
        side: str = "both",
        sign: Any = 1.0,
        about: str | None = None,
        block: int | None = None,
    ) -> Rule:
        weight = np.diag(sign) if isinstance(sign, (list, tuple)) else sign

        def terms(k: int, n: int, on: bool) -> list[tuple[Any, int]]:
            return [(weight, k + int(on if about is None else about == "point"))]

        return inward(terms, lambda k, on: 0.0, 0.0, (axis, side, block))

    def zero(self, axis: int | None = None, side: str = "both", block: int | None = None) -> Rule:
        return self.ghost_value(0.0, axis, side, block=block)

    def ghost_value(
        self, value: Any, axis: int | None = None, side: str = "both", block: int | None = None
    ) -> Rule:
        return inward(lambda k, n, on: [], lambda k, on: 1.0, value, (axis, side, block))

    def dirichlet(
        self, value: Any, axis: int | None = None, side: str = "both", block: int | None = None
    ) -> Rule:
        return self.robin(1.0, 0.0, value, axis, side, block=block)

    def neumann(
        self,
        value: Any,
        axis: int | None = None,
        side: str = "both",
        spacing: float = 1.0,
        block: int | None = None,
    ) -> Rule:
        return self.robin(0.0, 1.0, value, axis, side, spacing, block)

    def robin(
        self,
        a: float,
        b: float,
        value: Any,
        axis: int | None = None,
        side: str = "both",
        spacing: float = 1.0,
        block: int | None = None,
    ) -> Rule:
        """Return the rule ``a (g + u) / 2 + b (g - u) / distance = value``."""

        def parts(k: int, on: bool) -> tuple[float, float]:
            return a / 2, b / (spacing * (2 * k + 1 + int(on)))

        def terms(k: int, n: int, on: bool) -> list[tuple[Any, int]]:
            mean, slope = parts(k, on)
            return [((slope - mean) / (slope + mean), k + int(on))]

        return inward(terms, lambda k, on: 1.0 / sum(parts(k, on)), value, (axis, side, block))

    def extrapolate(
        self, order: int, axis: int | None = None, side: str = "both", block: int | None = None
    ) -> Rule:
        return inward(
            lambda k, n, on: _extrapolated(order, k), lambda k, on: 0.0, 0.0, (axis, side, block)
        )

    def from_matrix(
        self,
        matrix: Any,
        offset: Any = None,
        axis: int | None = None,
        side: str = "both",
        block: int | None = None,
    ) -> Rule:
        rows, known = matrix.toarray(), np.zeros(matrix.shape[0]) if offset is None else offset

        def row(blocks: Blocks, here: Side, index: Index) -> Row | None:
            every, point = blocks.numbered, (here.block, index)
            if point not in every or not all(made.holds(blocks, s) for s in blocks.out(point)):
                return None
            owned = [point for point in every if not blocks.out(point)]
            line = every.index(point)
            return list(zip(rows[line], owned, strict=True)), known[line]

        made = Rule(row, axis, side, block)
        return made

    def fill(self, wide: Any, *rules: Rule, owned: Any, **_: bool) -> Fill:
        several = isinstance(wide, tuple)
        each = wide if several else (wide,)
        inner = owned if isinstance(owned, tuple) else (owned,)
        blocks = Blocks.of(inner, [base(space)[1] for space in each])
        count = base(each[0])[0] if isinstance(each[0], VectorSpace) else None
        return Fill(blocks, rules, count, several)


@dataclass(frozen=True)
class Fill:
    """Rules for the ghosts of all blocks, with values of their parameters."""

    blocks: Blocks
    rules: tuple[Rule, ...]
    count: int | None
    several: bool
    values: dict[str, Any] = field(default_factory=dict)

    def bind(self, **values: Any) -> Fill:
        return replace(self, values={**self.values, **values})

    def after(self, matrix: Any) -> Product:
        return Product((matrix, self))

    def __matmul__(self, u: Any) -> Any:
        if isinstance(u, (Fill, Product, Matrix)):
            return Product((self,)) @ u
        fields = [list(f) if isinstance(f, Several) else [f] for f in (u if self.several else (u,))]
        if self.count is None and isinstance(u if not self.several else u[0], Several):
            each = [
                self @ (tuple(f[c] for f in fields) if self.several else fields[0][c])
                for c in range(len(fields[0]))
            ]
            return tuple(map(Several, zip(*each, strict=True))) if self.several else Several(each)
        numbers = [number(n) for n in (1.0, *(self.values[name] for name in self.names))]
        spaces = [
            space for space, parts in zip(self.blocks.owned, fields, strict=True) for _ in parts
        ]
        parts = [number(part) for many in fields for part in many]
        value, scale = (
            np.concatenate(
                [
                    np.broadcast_to(getattr(p, what), s.shape).ravel()
                    for p, s in zip(parts, spaces, strict=True)
                ]
                + [np.ravel(getattr(n, what)) for n in numbers]
            )
            for what in ("value", "scale")
        )
        matrix, sizes, unknown = self._matrix
        given = np.isnan(value)
        made, size = matrix @ np.where(given, 0.0, value), sizes @ np.where(given, 0.0, scale)
        made[unknown | (sizes @ given.astype(float) > 0.0)] = np.nan
        return self._taken_apart(made, size)

    def _taken_apart(self, made: Array, size: Array) -> Any:
        """Return fields of flat arrays."""
        found, start = [], 0
        for space in self.blocks.wide:
            each = []
            for _ in range(self.count or 1):
                part = slice(start, start + space.count)
                each.append(
                    Number(made[part].reshape(space.shape), size[part].reshape(space.shape), space)
                )
                start += space.count
            found.append(each[0] if self.count is None else Several(each))
        return tuple(found) if self.several else found[0]

    @property
    def names(self) -> list[str]:
        return sorted(self.values)

    @cached_property
    def _matrix(self) -> tuple[Any, Any, Array]:
        """Return the matrix of all points, that of absolute values, and which rows are unknown."""
        walk = Walk(self)
        count, total = self.count or 1, sum((self.count or 1) * s.count for s in self.blocks.wide)
        rows = [sparse.lil_array((total, walk.width)) for _ in range(2)]
        unknown = np.zeros(total, bool)
        exact = walk.exact
        for point in self.blocks.numbered:
            values = walk.at(point)
            beyond = len(self.blocks.out(point))
            for c in range(count):
                line = _place(self.blocks, self.blocks.wide, point, c, count)
                unknown[line] = len(values) != 1 or (beyond > 1 and not exact)
                if len(values) == 1:
                    for matrix, one in zip(rows, values[0], strict=True):
                        columns = np.flatnonzero(one[c])
                        matrix[[line], columns] = one[c][columns]
        return rows[0].tocsr(), rows[1].tocsr(), unknown


@dataclass(frozen=True)
class Product:
    """Matrices and fills, applied from the right."""

    factors: tuple[Any, ...]

    def after(self, matrix: Any) -> Product:
        return Product((matrix, *self.factors))

    def __matmul__(self, u: Any) -> Any:
        if isinstance(u, (Fill, Product, Matrix)):
            return Product((*self.factors, *(u.factors if isinstance(u, Product) else (u,))))
        return reduce(lambda x, factor: factor @ x, reversed(self.factors), u)


def _place(blocks: Blocks, spaces: Sequence[Any], point: Point, c: int, count: int) -> int:
    """Return the number of a component of a point, in fields one after the other."""
    block, index = point
    kind, first = blocks.places[block]
    space = spaces[kind]
    before = sum(count * s.count for s in spaces[:kind])
    shift = blocks.start(block) if spaces is blocks.wide else (0,) * len(index)
    place = np.ravel_multi_index(
        (*first, *(x + a for x, a in zip(index, shift, strict=True))), space.shape
    )
    return int(before + c * space.count + place)


class Walk:
    """The values of all ghosts: rows of numbers for owned points, one and the parameters.

    Each is a pair: the numbers, and sums of their absolute values.
    """

    def __init__(self, fill: Fill) -> None:
        self.fill, self.blocks, self.count = fill, fill.blocks, fill.count or 1
        self.owned = sum(self.count * space.count for space in self.blocks.owned)
        self.width = self.owned + 1 + len(fill.names)
        self._owned: dict[Point, list[tuple[Array, Array]]] = {}
        self.done: dict[Point, list[tuple[Array, Array]]] = {}
        self._settle()
        self.exact = all(rule.exact for rule in fill.rules)

    def at(self, point: Point) -> list[tuple[Array, Array]]:
        """Return the values of a point: none, one, or two that differ."""
        if self.blocks.out(point):
            return self.done.get(point, [])
        if point not in self._owned:
            made = np.zeros((self.count, self.width))
            for c in range(self.count):
                made[c, _place(self.blocks, self.blocks.owned, point, c, self.count)] = 1.0
            self._owned[point] = [(made, made)]
        return self._owned[point]

    def _settle(self) -> None:
        rows: dict[Point, list[Row]] = {}
        work = list(self.blocks.numbered)
        while work:
            here = work.pop()
            if here not in rows and self.blocks.out(here):
                rows[here] = [_read(*row) for row in self._rows(here)]
                work += [point for terms, _ in rows[here] for _, point in terms]
        self.done = {here: [] for here in rows}
        more = True
        while more:
            more = False
            for here in sorted(rows, key=self._distance):
                for row in rows[here]:
                    for value in self._values(row):
                        if len(self.done[here]) < 2 and not any(
                            _same(value, w) for w in self.done[here]
                        ):
                            self.done[here].append(value)
                            more = True

    def _distance(self, point: Point) -> int:
        block, index = point
        ends = zip(index, self.blocks.shapes[block], strict=True)
        return sum(max(-x, x - n + 1, 0) for x, n in ends)

    def _rows(self, point: Point) -> Iterator[Row]:
        sides = self.blocks.out(point)
        for side in sides:
            for rule in self.fill.rules:
                if rule.holds(self.blocks, side) and (rule.corners or len(sides) == 1):
                    row = rule.row(self.blocks, side, point[1])
                    if row is not None:
                        yield row

    def _values(self, row: Row) -> Iterator[tuple[Array, Array]]:
        """Yield what a row may be: with the first values of all points, and with each other one."""
        terms, constant = row
        known = [self.at(point) for _, point in terms]
        if not all(known):
            return
        first = [values[0] for values in known]
        yield self._sum(terms, constant, first)
        for n, values in enumerate(known):
            for other in values[1:]:
                yield self._sum(terms, constant, [*first[:n], other, *first[n + 1 :]])

    def _sum(
        self, terms: Any, constant: Any, values: Sequence[tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        total = np.zeros((self.count, self.width))
        if isinstance(constant, Parameter):
            total[:, self.owned + 1 + self.fill.names.index(constant.name)] = constant.factor
        else:
            total[:, self.owned] = constant
        size = np.abs(total)
        for (w, _), (value, scale) in zip(terms, values, strict=True):
            total = total + (w @ value if np.ndim(w) else w * value)
            size = size + (np.abs(w) @ scale if np.ndim(w) else abs(w) * scale)
        return total, size


def _read(terms: list[tuple[Any, Point]], constant: Any) -> Row:
    """Return a row without the points of weight zero."""
    return [(w, point) for w, point in terms if np.any(np.abs(w) > NEAR)], constant


def _same(a: tuple[Array, Array], b: tuple[Array, Array]) -> bool:
    """Whether values are the same but for rounding."""
    return bool(np.all(np.abs(a[0] - b[0]) <= NEAR * (1.0 + a[1] + b[1])))
