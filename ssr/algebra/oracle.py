"""Reference assembly: run the definition of a matrix on integers, to obtain a SciPy matrix.

A matrix records its definition and the operations that combined it; `Origin.assemble` evaluates
that tree. Row generators, the leaves, are run at each row by `by_definition`. The evaluation shares
no code with tracing, families or lowering, so it is the oracle in their tests.
`assemble.by_entries` computes the same matrices from traced entries, much faster.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from .. import ir
from ..errors import OutOfSpaceError, UnboundError, span_of_generator
from ..points.condition import Condition, deciding
from ..points.numbers import index_type
from ..spaces.space import Space, stem
from ..symbols.index import Index, affine
from ..symbols.operations import fold
from ..symbols.values import node

if TYPE_CHECKING:
    import scipy.sparse


class Origin(ABC):
    """The declaration of a matrix, or the operation that combined it."""

    __slots__ = ()

    @abstractmethod
    def spaces(self) -> frozenset[Space]:
        """Return the spaces of the rows and columns of all matrices in the definition."""

    @abstractmethod
    def data(self) -> frozenset[str]:
        """Return the names of the data that the definition reads."""

    @abstractmethod
    def renamed(self, names: Mapping[str, str]) -> Origin:
        """Return the origin with data bound by other names."""

    @abstractmethod
    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array."""


@dataclass(frozen=True, slots=True)
class Definition(Origin):
    """A row generator; ``names`` pairs its keywords with the names of the bound values.

    ``entries`` are the traced entries, in the order in which rows yield them, including zeros;
    ``outside`` states whether entries whose columns lie outside ``cols`` are errors or zero.
    """

    function: Callable[..., Any]
    rows: Space
    cols: Space
    names: tuple[tuple[str, str], ...]
    entries: tuple[ir.Family, ...]
    outside: Literal["error", "zero"] = "error"

    def spaces(self) -> frozenset[Space]:
        """Return the spaces of rows and columns."""
        return frozenset({self.rows, self.cols})

    def data(self) -> frozenset[str]:
        """Return the names of the data that the generator reads."""
        return frozenset(name for _, name in self.names)

    def renamed(self, names: Mapping[str, str]) -> Definition:
        """Return the generator with data bound by other names."""
        return replace(self, names=tuple((own, names.get(n, n)) for own, n in self.names))

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Return the matrix as `leaf` does."""
        return leaf(self, sizes, {own: values[name] for own, name in self.names})


Leaf: TypeAlias = Callable[
    [Definition, Mapping[str, int], Mapping[str, Any]], "scipy.sparse.csr_array"
]
"""A function that assembles the matrix of a generator from sizes and keyword values."""


def by_definition(
    matrix: Definition, sizes: Mapping[str, int], values: Mapping[str, Any]
) -> scipy.sparse.csr_array:
    """Return the matrix of a generator, which is run at each row."""

    def run(point: tuple[int, ...]) -> Any:
        found = matrix.function(*point, **values)
        if matrix.outside == "error":
            return found
        return (entry for entry in found if entry[0] in matrix.cols)

    return by_rows(matrix.rows, matrix.cols, sizes, run)


@dataclass(frozen=True, slots=True)
class Combination(Origin):
    """``left + factor * right``; ``left`` may be absent, and a factor may be named data."""

    left: Origin | None
    factor: float | str
    right: Origin

    def spaces(self) -> frozenset[Space]:
        """Return the spaces of both."""
        return self.right.spaces() | (frozenset() if self.left is None else self.left.spaces())

    def data(self) -> frozenset[str]:
        """Return the names of the data of both, and of the factor."""
        own = frozenset({self.factor} if isinstance(self.factor, str) else ())
        return own | self.right.data() | (frozenset() if self.left is None else self.left.data())

    def renamed(self, names: Mapping[str, str]) -> Combination:
        """Return the combination with data bound by other names."""
        left = None if self.left is None else self.left.renamed(names)
        factor = self.factor
        factor = names.get(factor, factor) if isinstance(factor, str) else factor
        return Combination(left, factor, self.right.renamed(names))

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Scale and add."""
        number = values[self.factor] if isinstance(self.factor, str) else self.factor
        product = number * self.right.assemble(sizes, values, leaf)
        return product if self.left is None else self.left.assemble(sizes, values, leaf) + product


@dataclass(frozen=True, slots=True)
class _Changed(Origin):
    """Operations on one matrix."""

    whole: Origin

    def spaces(self) -> frozenset[Space]:
        """Return the spaces of the matrix."""
        return self.whole.spaces()

    def data(self) -> frozenset[str]:
        """Return the names of the data of the matrix."""
        return self.whole.data()

    def renamed(self, names: Mapping[str, str]) -> Origin:
        """Return the same of the matrix with data bound by other names."""
        return replace(self, whole=self.whole.renamed(names))


@dataclass(frozen=True, slots=True)
class PartOf(_Changed):
    """The entries below, above or on the diagonal."""

    which: str
    k: int

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Cut the entries out."""
        import scipy.sparse as sparse

        whole = self.whole.assemble(sizes, values, leaf)
        if self.which == "diagonal":
            return sparse.csr_array(sparse.diags_array(whole.diagonal()))
        return sparse.csr_array(getattr(sparse, self.which)(whole, self.k))


@dataclass(frozen=True, slots=True)
class InBoxes(_Changed):
    """The entries within boxes: all of them, as a matrix by itself is that of one box."""

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Take all entries."""
        return self.whole.assemble(sizes, values, leaf)


@dataclass(frozen=True, slots=True)
class Transpose(_Changed):
    """The transpose."""

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Exchange rows and columns."""
        import scipy.sparse as sparse

        return sparse.csr_array(self.whole.assemble(sizes, values, leaf).T)


@dataclass(frozen=True, slots=True)
class Restriction(_Changed):
    """Some rows and columns; ``outer`` and ``inner`` are the spaces before and after."""

    outer: tuple[Space, Space]
    inner: tuple[Space, Space]

    def spaces(self) -> frozenset[Space]:
        """Return the spaces of the whole and of the part."""
        return self.whole.spaces().union(self.inner)

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Take the rows and columns out."""
        import scipy.sparse as sparse

        rows, cols = (
            numbers_in(part, space, sizes)
            for part, space in zip(self.inner, self.outer, strict=True)
        )
        return sparse.csr_array(self.whole.assemble(sizes, values, leaf)[rows, :][:, cols])


@dataclass(frozen=True, slots=True)
class _Pair(Origin):
    """Operations on two matrices."""

    left: Origin
    right: Origin

    def spaces(self) -> frozenset[Space]:
        """Return the spaces of both."""
        return self.left.spaces() | self.right.spaces()

    def data(self) -> frozenset[str]:
        """Return the names of the data of both."""
        return self.left.data() | self.right.data()

    def renamed(self, names: Mapping[str, str]) -> Origin:
        """Return the same of the matrices with data bound by other names."""
        return replace(self, left=self.left.renamed(names), right=self.right.renamed(names))


@dataclass(frozen=True, slots=True)
class Product(_Pair):
    """``left @ right``."""

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Multiply."""
        import scipy.sparse as sparse

        left, right = (m.assemble(sizes, values, leaf) for m in (self.left, self.right))
        return sparse.csr_array(left @ right)


@dataclass(frozen=True, slots=True)
class Kronecker(_Pair):
    """The Kronecker product; the indices of ``left`` come first."""

    def assemble(
        self, sizes: Mapping[str, int], values: Mapping[str, Any], leaf: Leaf
    ) -> scipy.sparse.csr_array:
        """Multiply each entry with each."""
        import scipy.sparse as sparse

        left, right = (m.assemble(sizes, values, leaf) for m in (self.left, self.right))
        return sparse.csr_array(sparse.kron(left, right))


class Points:
    """An array seen through the coordinates of its space, as a generator reads it."""

    __slots__ = ("array", "box", "sizes")

    def __init__(self, array: np.ndarray[Any, Any], space: Space, sizes: Mapping[str, int]) -> None:
        self.array = array
        self.box = space.box(sizes)
        self.sizes = sizes

    def __getitem__(self, point: Any) -> Any:
        given = point if isinstance(point, tuple) else (point,)
        index = [i.affine.evaluate(self.sizes) if isinstance(i, Index) else i for i in given]
        for here, (low, high) in zip(index, self.box, strict=True):
            if not low <= here < high:
                raise OutOfSpaceError(f"A field is read at {index}, outside its space.")
        return self.array[tuple(h - low for h, (low, _) in zip(index, self.box, strict=True))]


def numbers_in(part: Space, space: Space, sizes: Mapping[str, int]) -> np.ndarray[Any, Any]:
    """Return the numbers of the points of a part in the whole space."""
    box = space.box(sizes)
    ranges = [
        np.arange(low, high) - start
        for (low, high), (start, _) in zip(part.box(sizes), box, strict=True)
    ]
    places = np.meshgrid(*ranges, indexing="ij")
    return np.ravel_multi_index(places, space.extent(sizes)).ravel()


def by_rows(
    rows: Space,
    cols: Space,
    sizes: Mapping[str, int],
    run: Callable[[tuple[int, ...]], Any],
    entry: Callable[[tuple[int, ...], Any], float] | None = None,
) -> scipy.sparse.csr_array:
    """Return the matrix of a definition, whose generator is run at each row in C order.

    ``entry`` returns the number of a yielded value at a column, by default the value itself.
    """
    import scipy.sparse as sparse

    box = cols.box(sizes)
    shape = tuple(high - low for low, high in box)
    lines: list[int] = []
    columns: list[tuple[int, ...]] = []
    entries: list[float] = []
    deciding_rows = deciding(lambda condition: holds(condition, sizes), sizes)
    with deciding_rows, np.errstate(all="ignore"):
        for line, point in enumerate(rows.points(sizes)):
            generator = run(point)
            for column, value in generator:
                index = column if isinstance(column, tuple) else (column,)
                place = tuple(
                    (c if type(c) is int else affine(c).evaluate(sizes)) - low
                    for c, (low, _) in zip(index, box, strict=True)
                )
                if any(not 0 <= p < n for p, n in zip(place, shape, strict=True)):
                    raise OutOfSpaceError(
                        f"Column {index} of row {point} lies outside {cols!r}.",
                        span=span_of_generator(generator),
                    )
                lines.append(line)
                columns.append(place)
                if entry is None:
                    entries.append(number(value, sizes))
                else:
                    here = tuple(p + low for p, (low, _) in zip(place, box, strict=True))
                    entries.append(entry(here, value))
    count = int(np.prod(rows.extent(sizes)))
    places = np.array(columns, np.int64).reshape(-1, len(shape))
    numbers = np.ravel_multi_index(tuple(places.T), shape)
    wide = count, int(np.prod(shape))
    kind = index_type(*wide, len(entries))
    indices = np.array(lines, kind), numbers.astype(kind)
    return sparse.csr_array(sparse.coo_array((np.asarray(entries, float), indices), shape=wide))


def need(names: tuple[str, ...], values: Mapping[str, Any], what: str) -> None:
    """Check that all names have a value."""
    missing = list(dict.fromkeys(stem(n) for n in names if n not in values))
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
