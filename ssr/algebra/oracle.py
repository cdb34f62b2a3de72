"""The definition run on integers: from generator to SciPy matrix without any compiler.

A matrix remembers how it was declared and combined; `assemble` evaluates that tree. It shares no
code with staging, families or lowering, so it is the oracle they are tested against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import ir
from ..errors import OutOfSpaceError, UnboundError, span_of_generator
from ..points.condition import Condition, deciding
from ..spaces.space import Space
from ..symbols.index import affine
from ..symbols.operations import fold
from ..symbols.values import node

if TYPE_CHECKING:
    import scipy.sparse


@dataclass(frozen=True, slots=True)
class Definition:
    """A row generator; ``data`` pairs its keyword names with the names values are bound to."""

    function: Callable[..., Any]
    rows: Space
    cols: Space
    data: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recursion:
    """A row generator that reads rows made before, and rows of other matrices.

    ``data`` pairs the names of all data, and ``own`` are those the generator takes; ``spaces`` are
    those of the matrices whose rows are read.
    """

    function: Callable[..., Any]
    rows: Space
    cols: Space
    data: tuple[tuple[str, str], ...]
    own: tuple[str, ...]
    spaces: frozenset[Space]


@dataclass(frozen=True, slots=True)
class Combination:
    """``left + factor * right``; ``left`` may be absent."""

    left: Origin | None
    factor: float | str
    right: Origin


@dataclass(frozen=True, slots=True)
class Part:
    """The entries below, above or on the diagonal."""

    which: str
    k: int
    whole: Origin


@dataclass(frozen=True, slots=True)
class Product:
    """``left @ right``."""

    left: Origin
    right: Origin


@dataclass(frozen=True, slots=True)
class Transpose:
    """The transpose."""

    whole: Origin


@dataclass(frozen=True, slots=True)
class Restriction:
    """Some rows and columns; ``outer`` and ``inner`` are the spaces before and after."""

    outer: tuple[Space, Space]
    inner: tuple[Space, Space]
    whole: Origin


@dataclass(frozen=True, slots=True)
class Kronecker:
    """The Kronecker product; the indices of ``left`` come first."""

    left: Origin
    right: Origin


Origin: TypeAlias = (
    "Definition | Recursion | Combination | Part | Product | Transpose | Restriction | Kronecker"
)


def spaces(origin: Origin) -> frozenset[Space]:
    """Return the spaces of the rows and columns of all matrices a matrix was made of."""
    match origin:
        case Definition():
            return frozenset({origin.rows, origin.cols})
        case Recursion():
            return origin.spaces | {origin.rows}
        case Restriction():
            return spaces(origin.whole).union(origin.inner)
        case Product(left, right) | Kronecker(left, right):
            return spaces(left) | spaces(right)
        case Combination(left, _, right):
            return spaces(right) if left is None else spaces(left) | spaces(right)
        case Part() | Transpose():
            return spaces(origin.whole)


def renamed(origin: Origin, names: Mapping[str, str]) -> Origin:
    """Return the origin with data bound by other names."""
    match origin:
        case Definition() | Recursion():
            return replace(origin, data=tuple((o, names.get(n, n)) for o, n in origin.data))
        case Combination(left, factor, right):
            moved = None if left is None else renamed(left, names)
            factor = names.get(factor, factor) if isinstance(factor, str) else factor
            return Combination(moved, factor, renamed(right, names))
        case Product(left, right) | Kronecker(left, right):
            return type(origin)(renamed(left, names), renamed(right, names))
        case Part() | Transpose() | Restriction():
            return replace(origin, whole=renamed(origin.whole, names))


def data_of(origin: Origin) -> frozenset[str]:
    """Return the names of the data that the definition reads."""
    match origin:
        case Definition() | Recursion():
            return frozenset(name for _, name in origin.data)
        case Combination(left, factor, right):
            own = frozenset({factor} if isinstance(factor, str) else ())
            return own | data_of(right) | (frozenset() if left is None else data_of(left))
        case Product(left, right) | Kronecker(left, right):
            return data_of(left) | data_of(right)
        case Part() | Transpose() | Restriction():
            return data_of(origin.whole)


class Points:
    """An array seen through the coordinates of its space, as a generator reads it."""

    __slots__ = ("array", "box")

    def __init__(self, array: np.ndarray[Any, Any], space: Space, sizes: Mapping[str, int]) -> None:
        self.array = array
        self.box = space.box(sizes)

    def __getitem__(self, point: Any) -> Any:
        index = point if isinstance(point, tuple) else (point,)
        for here, (low, high) in zip(index, self.box, strict=True):
            if not low <= here < high:
                raise OutOfSpaceError(f"A field is read at {index}, outside its space.")
        return self.array[tuple(h - low for h, (low, _) in zip(index, self.box, strict=True))]


def assemble(
    origin: Origin, sizes: Mapping[str, int], values: Mapping[str, Any]
) -> scipy.sparse.csr_array:
    """Return the matrix of a definition as a SciPy CSR array.

    Parameters
    ----------
    origin
        What the matrix was made of.
    sizes
        The integers of all symbolic sizes.
    values
        Numbers and arrays by the names they are bound to; arrays have their space's shape.
    """
    import scipy.sparse as sparse

    match origin:
        case Definition():
            data = {own: values[name] for own, name in origin.data}
            return by_rows(origin, sizes, lambda point: origin.function(*point, **data))
        case Recursion():
            from ..recurrences.done import recursion

            return recursion(origin, sizes, values)
        case Combination(left, factor, right):
            number = values[factor] if isinstance(factor, str) else factor
            product = number * assemble(right, sizes, values)
            return product if left is None else assemble(left, sizes, values) + product
        case Part("tril", k, whole):
            return sparse.csr_array(sparse.tril(assemble(whole, sizes, values), k))
        case Part("triu", k, whole):
            return sparse.csr_array(sparse.triu(assemble(whole, sizes, values), k))
        case Part(_, _, whole):
            return sparse.csr_array(sparse.diags_array(assemble(whole, sizes, values).diagonal()))
        case Product(left, right):
            return sparse.csr_array(assemble(left, sizes, values) @ assemble(right, sizes, values))
        case Transpose(whole):
            return sparse.csr_array(assemble(whole, sizes, values).T)
        case Kronecker(left, right):
            return sparse.csr_array(
                sparse.kron(assemble(left, sizes, values), assemble(right, sizes, values))
            )
        case Restriction(outer, inner, whole):
            rows, cols = (
                numbers_in(part, space, sizes) for part, space in zip(inner, outer, strict=True)
            )
            return sparse.csr_array(assemble(whole, sizes, values)[rows, :][:, cols])


def numbers_in(part: Space, space: Space, sizes: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """Return the numbers that the points of a part have in the whole space."""
    box = space.box(sizes)
    ranges = [
        np.arange(low, high) - start
        for (low, high), (start, _) in zip(part.box(sizes), box, strict=True)
    ]
    places = np.meshgrid(*ranges, indexing="ij")
    return np.ravel_multi_index(places, space.extent(sizes)).ravel()


def by_rows(
    origin: Definition | Recursion,
    sizes: Mapping[str, int],
    run: Callable[[tuple[int, ...]], Any],
    keep: Callable[[tuple[int, ...], float], None] = lambda column, value: None,
) -> scipy.sparse.csr_array:
    """Return the matrix of a definition, whose generator is run at each row in C order.

    ``keep`` is told of each entry.
    """
    import scipy.sparse as sparse

    cols = origin.cols.box(sizes)
    shape = tuple(high - low for low, high in cols)
    lines: list[int] = []
    columns: list[tuple[int, ...]] = []
    entries: list[float] = []
    deciding_rows = deciding(lambda condition: holds(condition, sizes), sizes)
    with deciding_rows, np.errstate(all="ignore"):
        for line, point in enumerate(origin.rows.points(sizes)):
            generator = run(point)
            for column, value in generator:
                index = column if isinstance(column, tuple) else (column,)
                place = tuple(
                    (c if type(c) is int else affine(c).evaluate(sizes)) - low
                    for c, (low, _) in zip(index, cols, strict=True)
                )
                if any(not 0 <= p < n for p, n in zip(place, shape, strict=True)):
                    raise OutOfSpaceError(
                        f"Column {index} of row {point} lies outside {origin.cols!r}.",
                        span=span_of_generator(generator),
                    )
                lines.append(line)
                columns.append(place)
                entries.append(number(value, sizes))
                keep(tuple(p + low for p, (low, _) in zip(place, cols, strict=True)), entries[-1])
    count = int(np.prod(origin.rows.extent(sizes)))
    places = np.array(columns, np.int64).reshape(-1, len(shape))
    numbers = np.ravel_multi_index(tuple(places.T), shape)
    whole = sparse.coo_array(
        (np.asarray(entries, float), (lines, numbers)), shape=(count, int(np.prod(shape)))
    )
    return sparse.csr_array(whole)


def need(names: tuple[str, ...], values: Mapping[str, Any], what: str) -> None:
    """Check that all names have a value.

    Raises
    ------
    UnboundError
        If one is missing.
    """
    missing = [n for n in names if n not in values]
    if missing:
        raise UnboundError(
            f"No value is bound to {what} {', '.join(missing)}.",
            hint=f"Bind it: A.bind({', '.join(f'{n}=...' for n in missing)}).",
        )


def holds(condition: Condition, sizes: Mapping[str, int]) -> bool:
    """Return the truth of a condition for given sizes."""
    return any(
        all(
            e.evaluate(sizes) >= 0 if relation == ">= 0" else e.evaluate(sizes) == 0
            for e, relation in case
        )
        for case in condition.cases
    )


def number(value: object, sizes: Mapping[str, int]) -> float:
    """Return a yielded value as a number; sizes may occur in it."""
    if isinstance(value, (int, float, np.number)):
        return float(value)
    return _evaluate(node(value), sizes)


def _evaluate(value: ir.Value, sizes: Mapping[str, int]) -> float:
    match value:
        case ir.Const(constant):
            return constant
        case ir.Coordinate(index):
            return float(index.evaluate(sizes))
        case ir.Op(name, args):
            return fold(name, *(_evaluate(a, sizes) for a in args))
        case _:
            raise AssertionError(value)
