"""Run programs and nests row by row, slowly: the second oracle.

The first oracle, `Matrix.to_scipy`, knows what a matrix means; this one knows what the intermediate
representation means, to the last bit. `interpret_program` gives an assignment its NumPy meaning;
`interpret_nest` runs a schedule - lines, statements, buffers - as it is written, so that every pass
can be tested to keep values. Neither uses isl's code generation, the emitter or Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from ssr import ir
from ssr.algebra.stored import Stored
from ssr.elementary import FUNCTIONS
from ssr.lower.nests import bounds
from ssr.points.affine import Affine
from ssr.points.sets import Domain
from ssr.runtime.intrinsics import fma, maximum, minimum, sign
from ssr.runtime.sums import reduced
from ssr.spaces.space import Box
from ssr.symbols.operations import of_scalars

Array = np.ndarray[Any, np.dtype[Any]]
Row = tuple[int, ...]
Read = Callable[[ir.Load, tuple[int, ...]], Any]

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "abs": abs,
    "pow": np.power,
    "sign": sign,
    **{name: function.compute for name, function in FUNCTIONS.items()},
    "min": minimum,
    "max": maximum,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "where": lambda condition, a, b: a if condition else b,
}
"""What `ir.Op` computes, on NumPy scalars of the kernel's type."""


def interpret_program(
    program: ir.Program,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
    dtype: Any = np.float64,
    stored: Mapping[str, Stored] | None = None,
) -> tuple[float, ...]:
    """Run a program's steps one after the other, changing arrays in place; return its results.

    Parameters
    ----------
    program
        The program, as traced or after `nests.in_place`.
    arrays
        One array for each field, of the field's shape.
    scalars, sizes
        Numbers by name.
    dtype
        The type in which everything is computed.
    stored
        Stored matrices by name.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> n, = ssr.sizes("n")
    >>> s = ssr.Space(n)
    >>> A = ssr.stencil(s, s, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> x, y = np.array([1.0, 2.0, 4.0]), np.zeros(3)
    >>> interpret_program(A.program("apply").ir, {"y": y, "x": x}, {}, {"n": 3})
    ()
    >>> y
    array([ 0., -1.,  6.])
    """
    kind = np.dtype(dtype).type
    held = dict(arrays)
    for f in program.temporaries:
        held[f.name] = np.full(tuple(s.evaluate(sizes) for s in f.shape), np.nan, kind)
    with np.errstate(all="ignore"):
        meaning = Meaning(kind, sizes, dict(scalars), stored or {})
        for step in program.steps:
            if isinstance(step, ir.Reduction):
                meaning.scalars[step.name] = _reduce(step, program, held, meaning)
            elif isinstance(step, ir.Call):
                interpret_call(step, held, meaning.scalars, sizes)
            elif isinstance(step, ir.Solve):
                _solve(step, program, held, meaning)
            else:
                together = step.assignments if isinstance(step, ir.Group) else (step,)
                _assign(together, program, held, meaning)
        return tuple(map(float, meaning.in_double.numbers(program.results)))


def interpret_call(
    call: ir.Call,
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
) -> None:
    """Run a call by the definition of its function, changing arrays in place."""
    given = [arrays[name] for name in call.fields]
    meaning = Meaning(given[0].dtype.type, sizes, dict(scalars))
    call.external.reference(given, sizes, meaning.numbers(call.scalars))


def _solve(
    solve: ir.Solve, program: ir.Program, held: Mapping[str, Array], meaning: Meaning
) -> None:
    """Solve systems along lines: each as a dense matrix, by elimination without pivoting."""

    def read(load: ir.Load, index: Row) -> Any:
        return held[load.array][_place(index, program.field(load.array), held[load.array])]

    first, size = solve.assignments[0], solve.size
    lines: dict[Row, list[Row]] = {}
    for row in meaning.points(first.domain):
        lines.setdefault((*row[: solve.axis], *row[solve.axis + 1 :]), []).append(row)
    made: dict[str, dict[Row, Any]] = {a.target: {} for a in solve.assignments}
    for rows in lines.values():
        where = {row: n for n, row in enumerate(rows)}
        matrix = np.zeros((len(rows), size, len(rows), size), meaning.kind)
        for row, n in where.items():
            for entry in solve.entries:
                value = meaning.evaluate(entry.value, row, first.domain, read)
                place = row[solve.axis] + entry.offset
                if entry.point is not None:
                    place = entry.point.evaluate(meaning.sizes)
                column = (*row[: solve.axis], place, *row[solve.axis + 1 :])
                if column in where:
                    matrix[n, entry.row, where[column], entry.column] += value
                else:
                    assert value == 0, f"an entry of row {row} lies outside of its line"
        for side in range(0, len(solve.assignments), size):
            found = [
                [meaning.evaluate(a.value, row, a.domain, read) for a in together]
                for together in [solve.assignments[side : side + size]]
                for row in rows
            ]
            count = len(rows) * size
            x = eliminated(matrix.reshape(count, count), np.array(found, meaning.kind).ravel())
            for c, a in enumerate(solve.assignments[side : side + size]):
                made[a.target] |= dict(zip(rows, x.reshape(-1, size)[:, c], strict=True))
    for name, values in made.items():
        for row, value in values.items():
            held[name][_place(row, program.field(name), held[name])] = value


def eliminated(matrix: Array, right: Array) -> Array:
    """Return the solution of a system of equations, by elimination without pivoting."""
    a, x = matrix.copy(), right.copy()
    for k in range(len(x)):
        for r in range(k + 1, len(x)):
            if a[r, k] != 0:
                factor = a[r, k] / a[k, k]
                a[r, k:] -= factor * a[k, k:]
                x[r] -= factor * x[k]
    for k in reversed(range(len(x))):
        x[k] = (x[k] - a[k, k + 1 :] @ x[k + 1 :]) / a[k, k]
    return x


def _no_field(load: ir.Load, index: Row) -> Any:
    raise AssertionError(f"a result reads the field {load.array}")


def _reduce(
    reduction: ir.Reduction, program: ir.Program, held: Mapping[str, Array], meaning: Meaning
) -> Any:
    """Return the sum, maximum or minimum of the values of all rows."""

    def read(load: ir.Load, index: Row) -> Any:
        return held[load.array][_place(index, program.field(load.array), held[load.array])]

    rows = meaning.points(reduction.domain)
    values = [meaning.evaluate(reduction.value, r, reduction.domain, read) for r in rows]
    return meaning.kind(reduced(reduction.kind, list(map(float, values))))


def _assign(
    together: Sequence[ir.Assignment],
    program: ir.Program,
    held: Mapping[str, Array],
    meaning: Meaning,
) -> None:
    """Run assignments row by row: old loads read arrays as they were, new ones what was made."""
    made: dict[str, dict[Row, Any]] = {a.target: {} for a in together}

    def read(load: ir.Load, index: Row) -> Any:
        if load.new:
            known = made[load.array]
            assert index in known, f"{load.array}{list(index)} is read before it is made"
            return known[index]
        return held[load.array][_place(index, program.field(load.array), held[load.array])]

    rows = meaning.points(together[0].domain)
    for row in reversed(rows) if together[0].order == "backward" else rows:
        for a in together:
            made[a.target][row] = meaning.evaluate(a.value, row, a.domain, read)
    for name, values in made.items():
        for row, value in values.items():
            held[name][_place(row, program.field(name), held[name])] = value


def interpret_nest(
    nest: ir.Nest,
    fields: Mapping[str, ir.Field],
    arrays: Mapping[str, Array],
    scalars: Mapping[str, float],
    sizes: Mapping[str, int],
    box: Box | None = None,
    stored: Mapping[str, Stored] | None = None,
) -> dict[str, list[float]]:
    """Run a nest as it is scheduled, on one box of its rows, changing arrays in place.

    The terms of the reductions in it are returned, by name.

    The rows of a parallel statement run against the order of the nest, to show a false promise.
    Scratch that nobody cleared or wrote is NaN.

    Parameters
    ----------
    nest
        The nest, after any number of passes.
    fields, arrays
        The fields and temporaries of the program by name, and an array for each.
    scalars, sizes
        Numbers by name.
    box
        The rows to run; all by default.
    stored
        Stored matrices by name.
    """
    if box is None:
        extents = [s.evaluate(sizes) for s in nest.rows.shape]
        box = tuple(
            (low.constant, low.constant + n)
            for low, n in zip(nest.rows.lower, extents, strict=True)
        )
    edges = zip(bounds(nest.axes), (edge for pair in box for edge in pair), strict=True)
    kind = next(iter(arrays.values())).dtype.type
    meaning = Meaning(kind, {**sizes, **dict(edges)}, dict(scalars), stored or {})
    memory = Memory(fields, arrays, {}, box)
    for b in nest.buffers:
        shape = [b.rows, *(high - low for low, high in box[-2:])]
        shape[-1] += 2 * b.pad
        shape[1:-1] = [] if b.lines is None else [shape[1] + 2 * b.lines]
        memory.buffers[b.name] = b, np.full(shape, 0.0 if b.cleared else np.nan, meaning.kind)
    terms: dict[str, list[float]] = {}
    alone = tuple((s,) for s in nest.statements if s.parallel or not nest.joint)
    joint = tuple(s for s in nest.statements if nest.joint and not s.parallel)
    groups = (*alone, joint) if joint else alone
    places = [_by_line(meaning.points(g[0].domain & nest.context)) for g in groups]
    with np.errstate(all="ignore"):
        for line in _lines(nest, box):
            for group, rows in zip(groups, places, strict=True):
                _run(group, nest, line, rows, meaning, memory)
            if all(low <= n < high for n, (low, high) in zip(line, box[:-1], strict=True)):
                for fold in nest.folds:
                    terms.setdefault(fold.name, []).extend(memory.line(fold.buffer))
    return terms


def _lines(nest: ir.Nest, box: Box) -> Iterator[Row]:
    """Yield the lines at which the loops of a nest stand, the early ones included."""
    backward = nest.order == "backward"
    ranges = []
    for place, (low, high) in enumerate(box[:-1], start=1 - len(box)):
        more = max(s.lead[place] for s in nest.statements) if place >= -2 else 0
        ranges.append(range(high + more - 1, low - 1, -1) if backward else range(low - more, high))
    return product(*ranges)


def _by_line(rows: list[Row]) -> dict[Row, list[int]]:
    found: dict[Row, list[int]] = {}
    for row in rows:
        found.setdefault(row[:-1], []).append(row[-1])
    return found


def _run(
    together: Sequence[ir.Statement],
    nest: ir.Nest,
    line: Row,
    rows: Mapping[Row, list[int]],
    meaning: Meaning,
    memory: Memory,
) -> None:
    """Run the instances of statements that belong to a line of the loops, row by row."""
    first = together[0]
    backward = nest.order == "backward"
    names = tuple(map(Affine.name, nest.axes))
    moved = first.runs(names, nest.order)[:-1]
    where = dict(zip(nest.axes, line, strict=False))
    line = tuple(index.evaluate(where) for index in moved)
    along = rows.get(line, [])
    for last in reversed(along) if backward != first.parallel else along:
        row = (*line, last)
        for statement in together:
            value = meaning.evaluate(statement.value, row, statement.domain, memory.read)
            index = meaning.index(statement.index, row, statement.domain)
            memory.write(statement.array, index, value)


@dataclass(frozen=True, slots=True)
class Memory:
    """The arrays and scratch rows a nest works on, in a box."""

    fields: Mapping[str, ir.Field]
    arrays: Mapping[str, Array]
    buffers: dict[str, tuple[ir.Buffer, Array]]
    box: Box

    def read(self, load: ir.Load, index: Row) -> Any:
        """Return the element a load reads, whoever wrote it last."""
        array, place = self._find(load.array, index)
        return array[place]

    def line(self, name: str) -> list[float]:
        """Return the elements of a buffer within the box."""
        buffer, array = self.buffers[name]
        low, high = self.box[-1]
        return [float(v) for v in array[0, buffer.pad : buffer.pad + high - low]]

    def write(self, name: str, index: Row, value: Any) -> None:
        """Store an element."""
        array, place = self._find(name, index)
        array[place] = value

    def _find(self, name: str, index: Row) -> tuple[Array, Row]:
        if name not in self.buffers:
            return self.arrays[name], _place(index, self.fields[name], self.arrays[name])
        buffer, array = self.buffers[name]
        place = [index[-1] - self.box[-1][0] + buffer.pad]
        if buffer.lines is not None:
            place.insert(0, index[-2] - self.box[-2][0] + buffer.lines)
        inside = all(0 <= p < extent for p, extent in zip(place, array.shape[1:], strict=True))
        assert inside, f"{name}{list(index)} lies outside the buffer"
        return array, (index[0] % buffer.rows if len(index) > 1 else 0, *place)


def _place(index: Row, f: ir.Field, array: Array) -> Row:
    """Return the position of a point in an array, which must hold it."""
    place = tuple(i - low.constant for i, low in zip(index, f.lower, strict=True))
    inside = all(0 <= p < n for p, n in zip(place, array.shape, strict=True))
    assert inside, f"{f.name}{list(index)} lies outside the array"
    return place


@dataclass(frozen=True, slots=True)
class Meaning:
    """What values mean: the type to compute in, sizes, scalars; remembers the points of domains.

    What is made of scalars alone is computed in double precision, and then rounded to the type.
    """

    kind: Any
    sizes: Mapping[str, int]
    scalars: dict[str, float]
    stored: Mapping[str, Stored] = field(default_factory=dict)
    known: dict[tuple[Domain, Domain], frozenset[Row]] = field(default_factory=dict)

    def points(self, domain: Domain) -> list[Row]:
        """Return the points of a domain in C order."""
        return list(domain.fixed(self.sizes).points())

    def present(self, domain: Domain, rows: Domain, row: Row) -> bool:
        """Whether a row of ``rows`` lies in a domain."""
        if domain is rows:
            return True
        found = self.known.get((domain, rows))
        if found is None:
            found = self.known[domain, rows] = frozenset(self.points(domain & rows))
        return row in found

    def index(self, index: tuple[Affine, ...], row: Row, rows: Domain) -> Row:
        """Return index expressions as integers."""
        where = {**self.sizes, **dict(zip(rows.axes, row, strict=True))}
        return tuple(a.evaluate(where) for a in index)

    def evaluate(self, value: ir.Value, row: Row, rows: Domain, read: Read) -> Any:
        """Return a value at a row of ``rows``, every operation rounded to the type."""
        if self.kind is not np.float64 and isinstance(value, (ir.Scalar, ir.Op, ir.Rounded)):
            inner = value.value if isinstance(value, ir.Rounded) else value
            if of_scalars(inner):
                found = self.in_double.evaluate(inner, row, rows, read)
                return found if isinstance(found, (bool, np.bool_)) else self.kind(found)
        match value:
            case ir.Const(number):
                return self.kind(number)
            case ir.Scalar(name):
                return np.float64(self.scalars[name])
            case ir.Rounded(inner):
                return self.evaluate(inner, row, rows, read)
            case ir.Coordinate(index):
                return self.kind(self.index((index,), row, rows)[0])
            case ir.Load():
                return read(value, self.index(value.index, row, rows))
            case ir.Op(name, args):
                return OPERATIONS[name](*(self.evaluate(a, row, rows, read) for a in args))
            case ir.Gather():
                return self._gathered(value, row, rows, read)
            case ir.Diagonal():
                (entry,) = (v for side, _, v in self._entries(value, row, rows) if side == 1)
                return entry
            case ir.Sum(terms):
                here = [t for t in terms if self.present(t.domain, rows, row)]
                total = self.kind(-0.0) if here else self.kind(0.0)
                for term in here:
                    total = self._add(total, term, row, rows, read)
                return total

    def numbers(self, values: Sequence[ir.Value]) -> tuple[Any, ...]:
        """Return values that are made of scalars only, in the type."""
        here = Domain.where(("i",), "i = 0")
        return tuple(self.evaluate(v, (0,), here, _no_field) for v in values)

    @property
    def in_double(self) -> Meaning:
        """The same for double precision, in which scalars and their arithmetic are."""
        return replace(self, kind=np.float64)

    def _entries(
        self, value: ir.Gather | ir.Diagonal, row: Row, rows: Domain
    ) -> Iterator[tuple[int, int, Any]]:
        """Yield side, column and value of a stored row; sides are 0 before the diagonal, 1, 2."""
        extent = [n.evaluate(self.sizes) for n in value.rows.shape]
        index = self.index(value.row, row, rows)
        place = tuple(i - low.constant for i, low in zip(index, value.rows.lower, strict=True))
        number, csr = int(np.ravel_multi_index(place, extent)), self.stored[value.matrix].csr
        for p in range(csr.indptr[number], csr.indptr[number + 1]):
            column = int(csr.indices[p])
            yield (column >= number) + (column > number), column, self.kind(csr.data[p])

    def _gathered(self, value: ir.Gather, row: Row, rows: Domain, read: Read) -> Any:
        extent = [n.evaluate(self.sizes) for n in value.cols.shape]
        one, other = self.kind(0.0), self.kind(0.0)
        load = ir.Load(value.array, value.row, value.new)
        for side, column, entry in self._entries(value, row, rows):
            if value.part[0] <= side < value.part[1]:
                place = np.unravel_index(column, extent)
                point = tuple(
                    int(c) + low.constant for c, low in zip(place, value.cols.lower, strict=True)
                )
                one, other = other, fma(entry, read(load, point), one)
        return one + other

    def _add(self, total: Any, term: ir.Term, row: Row, rows: Domain, read: Read) -> Any:
        weight = self.evaluate(term.weight, row, rows, read)
        if term.operand is None:
            return total + weight
        return fma(weight, self.evaluate(term.operand, row, rows, read), total)
