"""Ghosts by walking: across the side a ghost lies beyond, from point to point, in plain formulas.

Nothing of the package is used but `Link.point`. What a side's rule reads is written down here a
second time. A ghost in a corner lies beyond several sides; it is walked across each of them, and
has a value if all ways lead to the same one. A way may come back to where it was, and go on: so
all ghosts are visited again and again, until no new value is found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

import numpy as np

from boundary.grid.link import Link, Side

Array = np.ndarray[Any, Any]
Index = tuple[int, ...]
Terms = list[tuple[Any, int, Index]]
"""Weights, or matrices between components, with the block and index they belong to."""


@dataclass(frozen=True)
class Blocks:
    """Blocks with ghosts: all that a walk knows of them. Shapes and widths are those of each."""

    shapes: tuple[Index, ...]
    low: tuple[Index, ...]
    high: tuple[Index, ...]
    staggered: tuple[bool, ...]
    links: Mapping[Side, Link]

    @property
    def count(self) -> int:
        return len(self.shapes)

    @property
    def ndim(self) -> int:
        return len(self.staggered)

    def cells(self, block: int) -> Index:
        return tuple(n - s for n, s in zip(self.shapes[block], self.staggered, strict=True))

    def outer(self, block: int) -> Index:
        widths = zip(self.low[block], self.shapes[block], self.high[block], strict=True)
        return tuple(map(sum, widths))

    def inner(self, block: int) -> tuple[slice, ...]:
        """Return where the owned points are in an array with ghosts."""
        ends = zip(self.low[block], self.shapes[block], strict=True)
        return tuple(slice(a, a + n) for a, n in ends)

    def place(self, block: int, index: Index) -> Index:
        """Return where a point is in an array with ghosts."""
        return tuple(x + w for x, w in zip(index, self.low[block], strict=True))

    def sides(self) -> list[Side]:
        return [
            Side(b, a, end)
            for b, a, end in product(range(self.count), range(self.ndim), ("low", "high"))
        ]

    def ghosts(self) -> list[tuple[int, Index]]:
        """Return all ghosts, as blocks and indices."""
        every = [(b, i) for b in range(self.count) for i in np.ndindex(*self.outer(b))]
        places = [(b, tuple(x - w for x, w in zip(i, self.low[b], strict=True))) for b, i in every]
        return [(b, i) for b, i in places if any(self.out(b, i))]

    def out(self, block: int, index: Index) -> Index:
        """Return for each axis whether an index is before (-1) or behind (1) the owned ones."""
        ends = zip(index, self.shapes[block], strict=True)
        return tuple(-1 if x < 0 else int(x >= n) for x, n in ends)

    def distance(self, block: int, index: Index) -> int:
        """Return how many layers a point is outside, over all axes."""
        ends = zip(index, self.shapes[block], strict=True)
        return sum(max(-x, x - n + 1, 0) for x, n in ends)

    def length(self, side: Side) -> int:
        """Return the number of points along the axis of a side."""
        return self.shapes[side.block][side.axis]

    def layer(self, side: Side, index: Index) -> int:
        x = index[side.axis]
        return -1 - x if side.end == "low" else x - self.length(side)

    def inside(self, side: Side, index: Index, k: int) -> Index:
        """Return an index with the place along the side's axis k points from the side."""
        x = k if side.end == "low" else self.length(side) - 1 - k
        return (*index[: side.axis], x, *index[side.axis + 1 :])

    def along(self, side: Side, index: Index) -> Index:
        return tuple(x for a, x in enumerate(index) if a != side.axis)

    def line(self, side: Side, levels: int | None) -> int:
        """Return the axis along a side that is not the axis of levels."""
        (found,) = (a for a in range(self.ndim) if a not in (side.axis, levels))
        return found


@dataclass(frozen=True)
class Cross:
    """What a rule reads: for a side and a ghost beyond it the terms, and the constants.

    A constant is a number, an array of one for each component, or a pair: the name of a parameter
    and a factor.
    """

    row: Callable[[Blocks, Side, Index], tuple[Terms, Any]]
    corners: bool = True


def copy() -> Cross:
    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        link = f.links[side]
        cells = f.cells(side.block), f.cells(link.there.block)
        return [(1.0, link.there.block, link.point(index, *cells, f.staggered))], 0.0

    return Cross(row)


def periodic() -> Cross:
    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        x = list(index)
        x[side.axis] += f.cells(side.block)[side.axis] * (1 if side.end == "low" else -1)
        return [(1.0, side.block, tuple(x))], 0.0

    return Cross(row)


def symmetric(sign: Any = 1.0, about: str | None = None) -> Cross:
    weight = np.diag(sign) if np.ndim(sign) else sign

    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        point = f.staggered[side.axis] if about is None else about == "point"
        k = f.layer(side, index) + int(point)
        return [(weight, side.block, f.inside(side, index, k))], 0.0

    return Cross(row)


def given(value: Any) -> Callable[[Blocks, Side, Index], Any]:
    """Return what is given on a side, at a ghost: numbers, arrays, functions, parameters."""

    def one(v: Any, f: Blocks, side: Side, index: Index) -> Any:
        if callable(v):
            x = [i + (0.0 if s else 0.5) for i, s in zip(index, f.staggered, strict=True)]
            x[side.axis] = 0.0 if side.end == "low" else float(f.cells(side.block)[side.axis])
            return float(v(*x))
        return float(v[f.along(side, index)]) if isinstance(v, np.ndarray) else v

    def at(f: Blocks, side: Side, index: Index) -> Any:
        if isinstance(value, tuple) and not isinstance(value[0], str):
            return np.array([one(v, f, side, index) for v in value])
        return one(value, f, side, index)

    return at


def constant(value: Any) -> Cross:
    at = given(value)
    return Cross(lambda f, side, index: ([], at(f, side, index)), corners=not arrays(value))


def arrays(value: Any) -> bool:
    each = value if isinstance(value, tuple) else (value,)
    return any(isinstance(v, np.ndarray) for v in each)


def scaled(factor: float, value: Any) -> Any:
    return (value[0], value[1] * factor) if isinstance(value, tuple) else factor * value


def robin(a: float, b: float, value: Any, spacing: float = 1.0) -> Cross:
    """Mean and difference quotient of a ghost and its reflection meet the condition."""
    at = given(value)

    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        k, on = f.layer(side, index), f.staggered[side.axis]
        distance = spacing * (2 * k + (2 if on else 1))
        slope, mean = b / distance, a / 2
        terms = [((slope - mean) / (slope + mean), side.block, f.inside(side, index, k + on))]
        return terms, scaled(1.0 / (slope + mean), at(f, side, index))

    return Cross(row, corners=not arrays(value))


def polynomial(order: int, condition: Any = None, value: Any = 0.0, spacing: float = 1.0) -> Cross:
    """Lay a polynomial of degree order - 1 through points and a condition a u + b du/dn."""
    at = given(value)

    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        k, on = f.layer(side, index), f.staggered[side.axis]
        first = 0.0 if on else 0.5
        count = order - (condition is not None)
        skip = int(on and condition is not None and condition[1] == 0)
        places = np.array([first + n + skip for n in range(count)])
        powers = np.arange(order)
        system = places[:, None] ** powers
        if condition is not None:
            a, b = condition
            slope = np.where(powers == 1, 1.0, 0.0)
            system = np.vstack([system, a * (powers == 0) - b / spacing * slope])
        weights = np.linalg.solve(system.T, (first - 1.0 - k) ** powers)
        terms: Terms = [
            (w, side.block, f.inside(side, index, n + skip)) for n, w in enumerate(weights[:count])
        ]
        known = at(f, side, index) if condition is not None else 0.0
        return terms, scaled(weights[-1], known) if condition is not None else 0.0

    return Cross(row, corners=not arrays(value))


def interpolate(first: Array, weights: Array, inner: Cross, levels: int | None = None) -> Cross:
    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        axis = f.line(side, levels)
        k, t = f.layer(side, index), index[axis]
        terms: Terms = []
        total: Any = 0.0
        for r, w in enumerate(weights[k, t]):
            x = list(index)
            x[axis] = int(first[k, t]) + r
            more, known = inner.row(f, side, tuple(x))
            total = total + w * known
            terms += [(w * v, b, i) for v, b, i in more]
        return terms, total

    return Cross(row, corners=False)


def rotate(matrices: Array, inner: Cross, levels: int | None = None) -> Cross:
    def row(f: Blocks, side: Side, index: Index) -> tuple[Terms, Any]:
        k, t = f.layer(side, index), index[f.line(side, levels)]
        before = side.axis - (levels is not None and levels < side.axis)
        matrix = matrices[side.block, 2 * before + (side.end == "high"), :, :, k, t]
        more, known = inner.row(f, side, index)
        constant = matrix @ np.broadcast_to(known, len(matrix))
        return [(matrix * w, b, i) for w, b, i in more], constant

    return Cross(row, corners=False)


def _read(terms: Terms) -> Terms:
    """Return the terms without the points whose weight is zero, but for rounding."""
    return [(w, b, i) for w, b, i in terms if np.any(np.abs(w) > 1e-12)]


@dataclass
class Walk:
    """A walk through ghosts.

    Attributes
    ----------
    rules
        What is said about the ghosts beyond each side.
    u
        For each kind of blocks (components, *shape, m): values at the owned points, each a vector
        of m numbers. With unit vectors the result is a matrix.
    one
        What the constant 1 is, of m numbers.
    parameters
        What a parameter is, likewise.
    """

    blocks: Blocks
    rules: Mapping[Side, Sequence[Cross]]
    u: Sequence[Array]
    one: Array
    parameters: Mapping[str, Array] = field(default_factory=dict)
    done: dict[Any, list[Array]] = field(default_factory=dict)

    def at(self, block: int, index: Index) -> list[Array]:
        """Return the different values that walks from a point lead to, two at most."""
        if not self.done:
            self._walk()
        return self._found(block, index)

    def _walk(self) -> None:
        """Find the values of all ghosts, from those near the owned points outwards."""
        f, rows = self.blocks, dict[tuple[int, Index], list[tuple[Terms, Any]]]()
        work = f.ghosts()
        while work:
            here = work.pop()
            if here not in rows and any(f.out(*here)):
                each = [rule.row(f, side, here[1]) for side, rule in self._rules(*here)]
                rows[here] = [(_read(terms), known) for terms, known in each]
                work += [(b, i) for terms, _ in rows[here] for _, b, i in terms]
        ways = [(g, r) for g in sorted(rows, key=lambda g: f.distance(*g)) for r in rows[g]]
        more = True
        while more:
            more = False
            for here, (terms, known) in ways:
                values = self.done.setdefault(here, [])
                for each in islice(product(*(self._found(b, i) for _, b, i in terms)), 16):
                    v = self._sum(known, [w for w, _, _ in terms], each)
                    if len(values) < 2 and not any(np.allclose(v, w) for w in values):
                        values.append(v)
                        more = True

    def _found(self, block: int, index: Index) -> list[Array]:
        if not any(self.blocks.out(block, index)):
            every: Any = slice(None)
            return [self.u[block][(every, *index)]]
        return self.done.get((block, index), [])

    def _rules(self, block: int, index: Index) -> Iterator[tuple[Side, Cross]]:
        out = self.blocks.out(block, index)
        for axis, place in enumerate(out):
            if place:
                side = Side(block, axis, "low" if place < 0 else "high")
                for rule in self.rules.get(side, ()):
                    if rule.corners or sum(map(abs, out)) == 1:
                        yield side, rule

    def _sum(self, known: Any, weights: Sequence[Any], values: Sequence[Array]) -> Array:
        count, m = len(self.u[0]), self.u[0].shape[-1]
        total = np.zeros((count, m))
        if isinstance(known, tuple):
            name, factor = known
            total += factor * self.parameters[name]
        else:
            total += np.broadcast_to(known, (count,))[:, None] * self.one
        for w, v in zip(weights, values, strict=True):
            total = total + (w @ v if np.ndim(w) else w * v)
        return total
