"""The meaning of a program's text, on integers and dense arrays.

`Reference` stands for the package where a text says ``ssr``: indices are integers of Python, a
matrix is a dense array made row by row, an expression is computed when it is written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from .numbers import (
    Array,
    Field,
    Number,
    Several,
    Undefined,
    VectorField,
    larger,
    number,
    pointwise,
    reduction,
    smaller,
    where,
)

Owners = Mapping[Any, Array]
OWNERS: ContextVar[Owners] = ContextVar("OWNERS")
"""For the `Space.key` of each space the number of the box that owns each of its points.

Nothing is there while a program runs on arrays, which have one box.
"""


@dataclass(frozen=True)
class Space:
    """A box of integer points."""

    lower: tuple[int, ...]
    shape: tuple[int, ...]
    staggered: tuple[bool, ...]

    def __post_init__(self) -> None:
        if min(self.shape) < 1:
            raise Undefined(f"a space has the shape {self.shape}")

    @staticmethod
    def of(*shape: int) -> Space:
        return Space((0,) * len(shape), tuple(map(int, shape)), (False,) * len(shape))

    @property
    def count(self) -> int:
        return int(np.prod(self.shape))

    @property
    def key(self) -> Any:
        """What tells spaces apart."""
        return self.lower, self.shape, self.staggered, ()

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def grow(self, *width: Any) -> Space:
        each = width * self.ndim if len(width) == 1 else width
        pairs = [w if isinstance(w, tuple) else (w, w) for w in each]
        lower = tuple(a - w for a, (w, _) in zip(self.lower, pairs, strict=True))
        shape = tuple(n + sum(w) for n, w in zip(self.shape, pairs, strict=True))
        return Space(lower, shape, self.staggered)

    def faces(self, axis: int) -> Space:
        return self._staggered({axis % self.ndim})

    def nodes(self) -> Space:
        return self._staggered(set(range(self.ndim)))

    def _staggered(self, axes: set[int]) -> Space:
        shape = tuple(n + (a in axes) for a, n in enumerate(self.shape))
        return Space(self.lower, shape, tuple(a in axes for a in range(self.ndim)))

    def vector(self, components: int) -> VectorSpace:
        return VectorSpace(components, self)

    def times(self, other: Space) -> Space:
        return Space(
            self.lower + other.lower, self.shape + other.shape, self.staggered + other.staggered
        )

    def __contains__(self, point: Any) -> bool:
        index = point if isinstance(point, tuple) else (point,)
        return all(0 <= x - a < n for x, a, n in zip(index, self.lower, self.shape, strict=True))

    def points(self) -> Iterator[tuple[int, ...]]:
        """Yield all points in C order."""
        yield from product(*(range(a, a + n) for a, n in zip(self.lower, self.shape, strict=True)))

    def position(self, point: Any) -> int:
        """Return the place of a point in C order."""
        index = point if isinstance(point, tuple) else (point,)
        if index not in self:
            raise Undefined(f"the point {index} lies outside {self}")
        place = 0
        for x, a, n in zip(index, self.lower, self.shape, strict=True):
            place = place * n + x - a
        return place

    def place(self, part: Space) -> tuple[slice, ...]:
        """Return where the points of a part are in an array on this space."""
        ends = zip(part.lower, self.lower, part.shape, self.shape, strict=True)
        if any(a < b or a + n > b + m for a, b, n, m in ends):
            raise Undefined(f"{part} is not a part of {self}")
        starts = [a - b for a, b in zip(part.lower, self.lower, strict=True)]
        return tuple(slice(a, a + n) for a, n in zip(starts, part.shape, strict=True))


@dataclass(frozen=True)
class VectorSpace:
    """Several values at each point of a space."""

    components: int
    space: Space

    @property
    def count(self) -> int:
        return self.components * self.space.count

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.components, *self.space.shape)


def base(space: Any) -> tuple[int, Space]:
    """Return the number of components, and the space of the points."""
    return (space.components, space.space) if isinstance(space, VectorSpace) else (1, space)


class Reading:
    """A field as a generator reads it, at integer points."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, place: Any) -> Any:
        index = place if isinstance(place, tuple) else (place,)
        if isinstance(self.value, Several):
            first, *rest = index
            return Reading(self.value.components[first])[tuple(rest)]
        space = self.value.space
        return float(self.value.value.ravel()[space.position(index)])


@dataclass(frozen=True, eq=False)
class Matrix:
    """A dense matrix between spaces: values, scales, and where there are entries."""

    rows: Any
    cols: Any
    value: Array
    scale: Array
    entries: Array

    __array_ufunc__ = None

    def _like(self, value: Array, scale: Array, entries: Array) -> Matrix:
        return replace(self, value=value, scale=scale, entries=entries)

    def __add__(self, other: Matrix) -> Matrix:
        return self._like(
            self.value + other.value, self.scale + other.scale, self.entries | other.entries
        )

    def __sub__(self, other: Matrix) -> Matrix:
        return self + -other

    def __neg__(self) -> Matrix:
        return self._like(-self.value, self.scale, self.entries)

    def __mul__(self, factor: Any) -> Matrix:
        f = number(factor)
        return self._like(self.value * f.value, self.scale * f.scale, self.entries)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Matrix:
        return self * (1.0 / divisor)

    def __pow__(self, exponent: int) -> Matrix:
        made = identity(self.rows)
        for _ in range(exponent):
            made = made @ self
        return made

    @property
    def T(self) -> Matrix:
        return Matrix(self.cols, self.rows, self.value.T, self.scale.T, self.entries.T)

    def _where(self, holds: Callable[[Array], Array]) -> Matrix:
        """Return entries by how many points the column is after the row; blocks are not cut."""
        rows, cols = (
            np.arange(each.count) % base(each)[1].count for each in (self.rows, self.cols)
        )
        kept = holds(cols - rows[:, None])
        return self._like(self.value * kept, self.scale * kept, self.entries & kept)

    def tril(self, k: int = 0) -> Matrix:
        return self._where(lambda apart: apart <= k)

    def triu(self, k: int = 0) -> Matrix:
        return self._where(lambda apart: apart >= k)

    def diagonal(self) -> Matrix:
        return self.tril().triu()

    def rank_local(self) -> Matrix:
        """Return the entries whose column is in the box of the row: all of them on arrays."""
        owners = OWNERS.get({})
        if not owners:
            return self
        count, points = base(self.rows)
        boxes = np.tile(owners[points.key], count)
        near = boxes[:, None] == boxes
        return self._like(self.value * near, self.scale * near, self.entries & near)

    def __getitem__(self, place: Any) -> Matrix:
        rows, cols = (
            known if isinstance(part, slice) else part
            for part, known in zip(place, (self.rows, self.cols), strict=True)
        )
        at = np.ix_(
            [self.rows.position(p) for p in rows.points()],
            [self.cols.position(p) for p in cols.points()],
        )
        return Matrix(rows, cols, self.value[at], self.scale[at], self.entries[at])

    def bind(self, **_: Any) -> Matrix:
        return self

    def compute(self) -> Matrix:
        return self

    def row(self, *index: int) -> dict[Any, Number]:
        """Return a row as a dictionary of numbers by column, in C order."""
        line = self.rows.position(index)
        found: dict[Any, Number] = {}
        for n, point in enumerate(self.cols.points()):
            if self.entries[line, n]:
                column = point if len(point) > 1 else point[0]
                found[column] = Number(self.value[line, n], self.scale[line, n])
        return found

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Matrix):
            return Matrix(
                self.rows,
                x.cols,
                self.value @ x.value,
                self.scale @ x.scale,
                (self.entries.astype(int) @ x.entries.astype(int)) > 0,
            )
        if hasattr(x, "after"):  # a fill
            return x.after(self)
        value, scale = flat(x, self.cols)
        unknown = np.isnan(value)  # is unknown where it is read only
        made = self.value @ np.where(unknown, 0.0, value)
        made[self.entries[:, unknown].any(axis=1)] = np.nan
        return shaped(made, self.scale @ np.where(unknown, 0.0, scale), self.rows)

    def solve(self, b: Any) -> Any:
        """Return the solution by substitution, forwards or backwards, or that along lines."""
        value, scale = flat(b, self.rows)
        if self._lines():
            inverse = np.linalg.inv(self.value)
            x = inverse @ value
            return shaped(x, abs(inverse) @ (scale + self.scale @ abs(x)), self.cols)
        x, s = value.copy(), scale.copy()
        count = base(self.rows)[1].count
        lower = not self.triu(1).entries.any()
        if not lower and self.tril(-1).entries.any():
            raise Undefined("the matrix is not a triangle")
        for n in range(count) if lower else range(count - 1, -1, -1):
            at = np.arange(n, len(value), count)
            others = self.entries[at].any(axis=0)
            others[at] = False
            place = np.ix_(at, np.flatnonzero(others))
            right = value[at] - self.value[place] @ x[others]
            x[at], s[at] = self._block(at, right, scale[at] + self.scale[place] @ s[others])
        return shaped(x, s, self.cols)

    def _block(self, at: Array, b: Array, scale: Array) -> tuple[Array, Array]:
        """Return the solution and scale of the equations of one point."""
        place = np.ix_(at, at)
        a, size = self.value[place], self.scale[place]
        if len(at) == 1:
            if not a[0, 0]:
                raise Undefined("the matrix is singular")
            return b / a[0], scale / abs(a[0]) * (size[0] / abs(a[0]))
        inverse = np.linalg.inv(a)
        x = inverse @ b
        return x, abs(inverse) @ (scale + size @ abs(x))

    def _lines(self) -> bool:
        """Whether all columns lie along one axis from their rows, on both sides."""
        if isinstance(self.rows, VectorSpace) or self.rows != self.cols:
            return False
        points = np.array(list(self.rows.points())).reshape(len(self.value), -1)
        apart = points[None] - points[:, None]
        met = apart[self.entries]
        axes = np.flatnonzero(met.any(axis=0)) if len(met) else []
        return len(axes) == 1 and met.min() < 0 < met.max()


def flat(x: Any, space: Any) -> tuple[Array, Array]:
    """Return the values and scales of a field or vector as flat arrays."""
    count, points = base(space)
    parts = [number(part) for part in (x if isinstance(x, Several) else [x])]
    if len(parts) != count:
        raise Undefined("a vector has another number of components")
    shape = points.shape
    values = [np.broadcast_to(p.value, shape).ravel() for p in parts]
    scales = [np.broadcast_to(p.scale, shape).ravel() for p in parts]
    return np.concatenate(values), np.concatenate(scales)


def shaped(value: Array, scale: Array, space: Any) -> Any:
    """Return a field or vector of flat arrays."""
    count, points = base(space)
    values, scales = value.reshape(count, *points.shape), scale.reshape(count, *points.shape)
    parts = [Number(v, s, points) for v, s in zip(values, scales, strict=True)]
    return Several(parts) if isinstance(space, VectorSpace) else parts[0]


def empty(rows: Any, cols: Any) -> Matrix:
    """Return a matrix without entries."""
    shape = rows.count, cols.count
    return Matrix(rows, cols, np.zeros(shape), np.zeros(shape), np.zeros(shape, bool))


def put(made: Matrix, line: int, column: Any, value: Any) -> None:
    """Add an entry, or a block of entries, to a row of a matrix."""
    (down, rows), (across, cols) = base(made.rows), base(made.cols)
    place = cols.position(column)
    numbers = [[value]] if down == across == 1 and np.ndim(value) == 0 else value
    for r, c in product(range(down), range(across)):
        entry = number(numbers[r][c])
        at = r * rows.count + line, c * cols.count + place
        made.value[at] += entry.value
        made.scale[at] += entry.scale
        made.entries[at] = True


def identity(space: Any) -> Matrix:
    """Return the identity."""
    return Matrix(
        space, space, np.eye(space.count), np.eye(space.count), np.eye(space.count, dtype=bool)
    )


def diagonal(space: Space, values: Any) -> Matrix:
    """Return the diagonal matrix of a field."""
    value, scale = flat(values, space)
    return Matrix(space, space, np.diag(value), np.diag(scale), np.eye(space.count, dtype=bool))


def kron(left: Any, right: Matrix) -> Matrix:
    """Return the Kronecker product; a plain array on the left acts on components."""
    if isinstance(left, Matrix):
        rows, cols = left.rows.times(right.rows), left.cols.times(right.cols)
        arrays = (left.value, left.scale, left.entries)
    else:
        rows, cols = right.rows.vector(len(left)), right.cols.vector(len(left[0]))
        arrays = (np.asarray(left, float), np.abs(left), np.ones(np.shape(left), bool))
    ours = (right.value, right.scale, right.entries)
    return Matrix(rows, cols, *(np.kron(a, b) for a, b in zip(arrays, ours, strict=True)))


@dataclass(frozen=True)
class Beside:
    """A matrix for each of several fields."""

    parts: tuple[Matrix, ...]

    def __matmul__(self, x: Any) -> Any:
        if hasattr(x, "after"):  # a fill
            return x.after(self)
        return tuple(part @ each for part, each in zip(self.parts, x, strict=True))


def block(parts: Sequence[Sequence[Matrix | None]]) -> Beside:
    """Return the block matrix of matrices on its diagonal."""
    found = [[(n, m) for m, part in enumerate(row) if part] for n, row in enumerate(parts)]
    assert found == [[(n, n)] for n in range(len(parts))]
    return Beside(tuple(part for row in parts for part in row if part))


def from_scipy(matrix: Any, *, rows: Space, cols: Space) -> Matrix:
    """Return a stored matrix."""
    a = matrix.toarray()
    return Matrix(rows, cols, a, np.abs(a), a != 0)


def stencil(rows: Space, cols: Space, weights: Mapping[Any, float], outside: str) -> Matrix:
    """Return a stencil, whose entries outside are dropped."""
    made = empty(rows, cols)
    for line, point in enumerate(rows.points()):
        for offset, weight in weights.items():
            shift = offset if isinstance(offset, tuple) else (offset,)
            column = tuple(x + o for x, o in zip(point, shift, strict=True))
            if column in cols or outside == "error":
                put(made, line, column, weight)
    return made


def difference(
    rows: Space,
    cols: Space,
    axis: int,
    *,
    derivative: int = 1,
    order: int = 2,
    spacing: float = 1.0,
    outside: str = "error",
) -> Matrix:
    """Return a derivative along an axis."""
    made = _lines(rows, cols, {axis: derivative}, order, outside)
    return made * spacing**-derivative


def average(
    rows: Space, cols: Space, axis: int | None = None, *, order: int = 2, outside: str = "error"
) -> Matrix:
    """Return values between points, along all axes on which locations differ."""
    apart = [a for a in range(rows.ndim) if rows.staggered[a] != cols.staggered[a]]
    return _lines(rows, cols, dict.fromkeys(apart if axis is None else [axis], 0), order, outside)


def _lines(
    rows: Space, cols: Space, derivatives: Mapping[int, int], order: int, outside: str
) -> Matrix:
    """Return derivatives along axes of the polynomials through the points around each row."""
    made = empty(rows, cols)
    for line, point in enumerate(rows.points()):
        each = [
            _weights(rows, cols, axis, point[axis], derivative, order, outside)
            for axis, derivative in derivatives.items()
        ]
        for taps in product(*each):
            column = list(point)
            for axis, (x, _) in zip(derivatives, taps, strict=True):
                column[axis] = x
            if tuple(column) in cols or outside != "zero":
                put(made, line, tuple(column), float(np.prod([w for _, w in taps])))
    return made


def _weights(
    rows: Space, cols: Space, axis: int, x: int, derivative: int, order: int, outside: str
) -> list[tuple[int, float]]:
    """Return the points along an axis that a row reads, with their weights."""
    here = x - rows.staggered[axis] / 2
    shift = cols.staggered[axis] / 2
    if rows.staggered[axis] == cols.staggered[axis]:
        half = order // 2 - 1 + (derivative + 1) // 2
        first, last = x - half, x + half
    else:
        half = order // 2 + derivative // 2
        last = int(np.floor(here + shift)) + half
        first = last - 2 * half + 1
    low, high = cols.lower[axis], cols.lower[axis] + cols.shape[axis] - 1
    points = list(range(first, last + 1))
    found = _solved([p - shift - here for p in points], derivative)
    used = [p for p, w in zip(points, found, strict=True) if w]
    if outside == "one-sided" and used[0] < low:
        points = list(range(low, low + derivative + order))
    elif outside == "one-sided" and used[-1] > high:
        points = list(range(high + 1 - derivative - order, high + 1))
    found = _solved([p - shift - here for p in points], derivative)
    return [(p, w) for p, w in zip(points, found, strict=True) if w]


def _solved(places: Sequence[float], derivative: int) -> list[float]:
    """Return weights with which all polynomials through some places have the derivative at 0."""
    powers = np.vander(np.array(places), increasing=True).T
    wanted = np.zeros(len(places))
    wanted[derivative] = math.factorial(derivative)
    found = np.linalg.solve(powers, wanted)
    return [0.0 if abs(w) < 1e-10 else float(w) for w in found]


@dataclass(frozen=True, eq=False)
class Generator:
    """A generator whose data are not bound yet."""

    function: Callable[..., Any]
    rows: Any
    cols: Any

    def bind(self, **data: Any) -> Matrix:
        made = empty(self.rows, self.cols)
        known = {
            n: Reading(v) if isinstance(v, Several) or getattr(v, "space", None) else v
            for n, v in data.items()
        }
        for line, point in enumerate(base(self.rows)[1].points()):
            for column, value in self.function(*point, **known):
                put(made, line, column, value)
        return made


class Done:
    """The rows of a recurrence that are made already."""

    def __init__(self) -> None:
        self.rows: dict[Any, dict[Any, Number]] = {}

    def __getitem__(self, place: Any) -> Number:
        row, column = place
        if row not in self.rows:
            raise Undefined(f"row {row} is read before it is made")
        return self.rows[row].get(column, Number(0.0))


@dataclass(frozen=True, eq=False)
class Program:
    """A body over fields; ``kinds`` are the spaces of its parameters, None for numbers."""

    body: Callable[..., Any]
    kinds: dict[str, Any]

    def __call__(self, *args: Any) -> Any:
        return self.body(*args)

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters for arrays and numbers."""
        return {n: field(values[n], kind) for n, kind in self.kinds.items()}

    def run(self, fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[Number]]:
        """Return parameters like some after a run, and what the body returns."""
        fields = {n: again(fields[n], kind) for n, kind in self.kinds.items()}
        made = self.body(**fields)
        many = made if isinstance(made, tuple) else () if made is None else (made,)
        return fields, [number(m) for m in many]


def field(value: Any, kind: Any) -> Any:
    """Return an array as a field or vector field; a number as it is."""
    if kind is None:
        return Number(value)
    if isinstance(kind, VectorSpace):
        return VectorField(Field(part, None, kind.space) for part in value)
    return Field(value, None, kind)


def again(given: Any, kind: Any) -> Any:
    """Return a new parameter with the values of another."""
    if kind is None:
        return given
    if isinstance(kind, VectorSpace):
        return VectorField(Field(part.value, part.scale, kind.space) for part in given)
    return Field(given.value, given.scale, kind)


class Size(int):
    """A size that knows its name."""

    name: str

    @staticmethod
    def of(name: str, value: int) -> Size:
        made = Size(value)
        made.name = name
        return made


class Reference:
    """The public names of the package for given sizes."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self.scalar = None
        self.Space = Space.of
        self.identity, self.diagonal, self.kron = identity, diagonal, kron
        self.from_scipy, self.stencil = from_scipy, stencil
        self.difference, self.average, self.block = difference, average, block
        self.materialize = lambda values: values
        self.where, self.minimum, self.maximum = where, smaller, larger
        self.sqrt = pointwise(np.sqrt, lambda x: x.scale / np.sqrt(np.abs(x.value)))
        self.tanh = pointwise(np.tanh, lambda x: x.scale)
        self.sin = pointwise(np.sin, lambda x: x.scale)
        self.sum, self.max = reduction(np.sum, True), reduction(np.max, False)
        self.min = reduction(np.min, False)
        self.vector = lambda *parts: Several(map(number, parts))
        self.options = SimpleNamespace()

    def sizes(self, names: str) -> tuple[int, ...]:
        return tuple(Size.of(n, self._sizes[n]) for n in names.split())

    def dot(self, x: Any, y: Any) -> Number:
        return self.sum(x * y)

    def norm(self, x: Any) -> Number:
        found: Number = self.sqrt(self.dot(x, x))
        return found

    def matrix(self, *, rows: Any, cols: Any, **data: Any) -> Callable[..., Any]:
        def declare(function: Callable[..., Any]) -> Any:
            made = Generator(function, rows, cols)
            return made if data else made.bind()

        return declare

    def recurrence(self, *, rows: Any, cols: Any) -> Callable[..., Any]:
        def declare(function: Callable[..., Any]) -> Matrix:
            done, made = Done(), empty(rows, cols)
            for line, point in enumerate(rows.points()):
                row = dict(function(*point, done))
                done.rows[point if len(point) > 1 else point[0]] = row
                for column, value in row.items():
                    put(made, line, column, value)
            return made

        return declare

    def program(self, **kinds: Any) -> Callable[..., Program]:
        return lambda body: Program(body, kinds)
