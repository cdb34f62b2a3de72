"""The staged matrix: a short program that gives the entries of a row.

A `Matrix` is immutable. It is declared by a generator, combined by ``+ - * @``, transposed and cut
into parts, applied by ``@`` and inverted, if triangular, by `Matrix.solve`. Nothing is ever stored
but its families.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from . import families, ir
from .applied import Applied, What, linear_operator
from .check import number_of
from .errors import (
    ArgumentError,
    DtypeError,
    ShapeError,
    SpaceError,
    UnboundError,
    UnsupportedError,
)
from .expression import Expression
from .families import Part as Which
from .index import Index, integer, plain
from .matrixrows import apply_rows, solve_rows
from .oracle import (
    Combination,
    Origin,
    Part,
    Points,
    assemble,
    data_of,
    need,
    number,
    renamed,
    spaces,
)
from .space import Space
from .trace import Path, ScalarType, scalar
from .values import Value, known_early, node, operation
from .vectors import Vector, apart, stem

if TYPE_CHECKING:
    import scipy.sparse
    from scipy.sparse.linalg import LinearOperator

    from .assembled import Assembled
    from .program import Program

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Parts:
    """The data of a matrix."""

    name: str
    rows: Space
    cols: Space
    families: tuple[ir.Family, ...]
    origin: Origin
    data: Mapping[str, Space | ScalarType]
    bound: Mapping[str, Any]
    paths: tuple[Path, ...] = ()


class Matrix(Applied):
    """A matrix on structured grids, held as entry families.

    Made by `ssr.matrix`, `ssr.stencil`, `ssr.identity` and by operations on matrices. `rows` and
    `cols` are its spaces. Arrays it is applied to have the shape of ``cols``; the result has the
    shape of ``rows``. Symbolic sizes are taken from the arrays.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> n, = ssr.sizes("n")
    >>> points = ssr.Space(n)
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="drop")
    >>> A @ np.array([1.0, 2.0, 4.0])
    array([ 0., -1.,  6.])
    >>> A.tril().solve(np.array([2.0, 1.0, 0.0]))
    array([1. , 1. , 0.5])
    """

    __array_ufunc__ = None

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    @property
    def name(self) -> str:
        """The name the matrix was declared with, or the expression that made it."""
        return self.parts.name

    @property
    def rows(self) -> Space:
        """The space of the rows."""
        return self.parts.rows

    @property
    def cols(self) -> Space:
        """The space of the columns."""
        return self.parts.cols

    @property
    def families(self) -> tuple[ir.Family, ...]:
        """The entries as families, in the order rows are summed."""
        return self.parts.families

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all spaces, those between factors of products too."""
        data = (s for s in self.parts.data.values() if isinstance(s, Space))
        known = [self.rows, self.cols, *data, *spaces(self.parts.origin)]
        return tuple(sorted(frozenset().union(*(s.sizes for s in known))))

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        return tuple(n for n in self.parts.data if n not in self.parts.bound)

    def __repr__(self) -> str:
        count = len(self.families)
        data = "".join(
            f", {n}=" + ("bound" if n in self.parts.bound else repr(kind))
            for n, kind in self.parts.data.items()
        )
        return f"<Matrix {self.name}: {self.cols!r} -> {self.rows!r}, {count} families{data}>"

    def _repr_html_(self) -> str:
        from .explain import matrix_html

        return matrix_html(self)

    def explain(self, stage: str | None = None) -> str:
        """Return the stages from definition to kernel as text: ``print(A.explain())``.

        Parameters
        ----------
        stage
            One of ``trace sets footprint program passes loops source``; all of them by default.
        """
        from .explain import explain_matrix

        return explain_matrix(self, stage)

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        self._check_summand(other)
        return self._combine(other, 1.0, "+")

    def __sub__(self, other: object) -> Any:
        self._check_summand(other)
        return self._combine(other, -1.0, "-")

    def __radd__(self, other: object) -> Any:
        self._check_summand(other)
        return NotImplemented

    __rsub__ = __radd__

    def _check_summand(self, other: object) -> None:
        if isinstance(other, (numbers.Number, np.ndarray, Value, Index)):
            raise ArgumentError(
                f"{self.name} and {type(other).__name__} are added; the sum of matrices is meant.",
                hint="A multiple of the identity is 2.0 * ssr.identity(space).",
            )

    def __neg__(self) -> Matrix:
        return self._scaled(-1.0, f"-{self.name}")

    def __mul__(self, factor: object) -> Matrix:
        factor = plain(factor)
        if isinstance(factor, (Matrix, np.ndarray, Expression)):
            raise ArgumentError(
                "`*` scales a matrix by a number.",
                hint=f"Apply the matrix first, as in w * ({self.name} @ x)."
                if isinstance(factor, Expression)
                else "The matrix product is written `@`.",
            )
        if not isinstance(factor, (numbers.Number, Value, Index)):
            return NotImplemented
        return self._scaled(factor, f"{factor} * {self.name}")

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Matrix:
        divisor = plain(divisor)
        if not isinstance(divisor, (numbers.Number, Value, Index)):
            return NotImplemented
        if node(divisor) == ir.ZERO:
            raise ArgumentError(f"{self.name} is divided by zero.")
        return self._scaled(operation("div", 1.0, divisor), f"{self.name} / {divisor}")

    def _scaled(self, factor: object, name: str) -> Matrix:
        weight, parts = node(factor), self.parts
        if isinstance(weight, ir.Const):
            origin = Combination(None, weight.value, parts.origin)
        else:
            own = ir.fresh("factor", {"factor", *parts.data, *self.sizes})
            origin = Combination(None, own, parts.origin)
            parts = replace(
                parts,
                data={**parts.data, own: scalar},
                bound=MappingProxyType({**parts.bound, own: Value(weight)}),
            )
            weight = ir.Scalar(own)
        found = families.scale(self.families, weight)
        return Matrix(replace(parts, name=name, families=found, origin=origin, paths=()))

    @cached_property
    def T(self) -> Matrix:
        """The transpose.

        Its entries are those of the inverse of each column map, which need not be injective: a
        column read by several rows gives a row of several entries.

        Raises
        ------
        UnsupportedError
            If a column is read by a number of rows that grows with the grid.

        Examples
        --------
        >>> import ssr
        >>> n, = ssr.sizes("n")
        >>> @ssr.matrix(rows=ssr.Space(2 * n), cols=ssr.Space(n))
        ... def P(i):
        ...     yield i // 2, 1.0
        >>> print(P.T.explain("sets"))
        <Matrix P.T: Space(2*n) -> Space(n), 2 families>
          row (i)  column (2*i)      1.0  where 0 <= i < n
          row (i)  column (2*i + 1)  1.0  where 0 <= i < n

        References
        ----------
        Staged Sparse Row, arXiv 2204.13304.
        """
        from .compose import transpose

        return transpose(self)

    def __pow__(self, exponent: object) -> Matrix:
        from .compose import power

        return power(self, exponent)

    def __getitem__(self, place: object) -> Matrix:
        """Return the entries in some rows and columns: ``A[rows, cols]``.

        Both are spaces within the matrix's own, in the same coordinates, or ``:`` for all.

        Examples
        --------
        >>> import ssr
        >>> s = ssr.Space(4)
        >>> A = ssr.stencil(s, s, {-1: 1, 0: 2, 1: 3}, outside="drop")
        >>> A[s.grow(-1), :].to_scipy().toarray()
        array([[1., 2., 3., 0.],
               [0., 1., 2., 3.]])
        """
        from .compose import submatrix

        return submatrix(self, place)

    def _combine(self, other: object, factor: float, sign: str) -> Any:
        if not isinstance(other, Matrix):
            return NotImplemented
        if (self.rows, self.cols) != (other.rows, other.cols):
            raise SpaceError(
                f"{self.name} {sign} {other.name}: the matrices act between other spaces.",
                note=f"{self.cols!r} -> {self.rows!r} and {other.cols!r} -> {other.rows!r}",
            )
        from .compose import beside, joined

        name, spaces = f"({self.name} {sign} {other.name})", (self.rows, self.cols)
        right = beside(self, other, sign)
        more = families.scale(right.families, ir.Const(factor))
        found = families.merge((*self.families, *more))
        origin = Combination(self.parts.origin, factor, right.parts.origin)
        return joined(self, right, name, spaces, found, origin)

    def tril(self, k: Literal[0, -1] = 0) -> Matrix:
        """Return the entries whose column comes before the row in row order, or is it (k = 0)."""
        return self._part("tril", k)

    def triu(self, k: Literal[0, 1] = 0) -> Matrix:
        """Return the entries whose column comes after the row in row order, or is it (k = 0)."""
        return self._part("triu", k)

    def diagonal(self) -> Matrix:
        """Return the entries on the diagonal, as a matrix."""
        return self._part("diagonal", 0)

    @cached_property
    def _part_cache(self) -> dict[tuple[str, int], Matrix]:
        return {}

    def _part(self, which: Which, k: int) -> Matrix:
        known = self._part_cache.get((which, k))
        if known is not None:
            return known
        self._need_square(which)
        found = families.part(self.families, which, k)
        name = f"{self.name}.{which}({k if k else ''})"
        origin = Part(which, k, self.parts.origin)
        made = Matrix(replace(self.parts, name=name, families=found, origin=origin, paths=()))
        return self._part_cache.setdefault((which, k), made)

    def _need_square(self, what: str) -> None:
        if self.rows != self.cols:
            raise SpaceError(
                f"{self.name}.{what} needs equal spaces of rows and columns.",
                note=f"rows {self.rows!r}, columns {self.cols!r}",
            )

    def equals(self, other: Matrix | Assembled) -> bool:
        """Whether the matrices are proved equal, for all sizes.

        Numbers are compared exactly, other values as expressions of the same data: a scalar bound
        to equal numbers, a field bound to one array. Sizes must be bound alike, or not at all.

        Examples
        --------
        >>> import ssr
        >>> s = ssr.Space(5)
        >>> A = ssr.stencil(s, s, {-1: 1, 0: 2, 1: 3}, outside="drop")
        >>> A.equals(A.tril(-1) + A.triu())
        True
        """
        if not isinstance(other, Matrix):
            return other.equals(self)
        if (self.rows, self.cols) != (other.rows, other.cols):
            return False
        if any(self.parts.bound.get(n) != other.parts.bound.get(n) for n in self.sizes):
            return False
        return families.equal(self.families, other.renamed_apart(self.parts).families)

    # -- data ------------------------------------------------------------------------------------

    def bind(self, **data: Any) -> Matrix:
        """Return the matrix with values for its data: scalars, fields, sizes.

        Parameters
        ----------
        **data
            By the names of the declaration: numbers for scalars, arrays for fields, or, inside a
            program, the program's own fields and scalars. Integers for symbolic sizes.

        Raises
        ------
        ArgumentError
            If a name is not declared.
        ShapeError
            If an array does not have as many axes as its space.
        """
        known = set(self.parts.data) | set(self.sizes)
        data = apart(data, self.parts.data)
        for name, value in data.items():
            if name not in known:
                raise ArgumentError(
                    f"{self.name} has no data named {name!r}.",
                    hint=f"It has {', '.join(sorted(known)) or 'none'}.",
                )
            data[name] = _checked(name, self.parts.data.get(name), value)
        return Matrix(replace(self.parts, bound=MappingProxyType({**self.parts.bound, **data})))

    def renamed_apart(self, other: Parts) -> Matrix:
        """Return the matrix with data renamed where ``other`` means something else by a name."""
        taken = {stem(n) for n in (*other.data, *self.parts.data)}
        names: dict[str, str] = {}
        for name, kind in self.parts.data.items():
            if name not in other.data or name in names:
                continue
            if other.data[name] != kind or not same(
                other.bound.get(name), self.parts.bound.get(name)
            ):
                old = stem(name)
                new = ir.fresh(old, taken)
                taken.add(new)
                names |= {n: new + n[len(old) :] for n in self.parts.data if stem(n) == old}
        return self._renamed(names) if names else self

    def _renamed(self, names: Mapping[str, str]) -> Matrix:
        parts = self.parts

        def change(value: ir.Value) -> ir.Value | None:
            match value:
                case ir.Scalar(name) if name in names:
                    return ir.Scalar(names[name])
                case ir.Load(array, index) if array in names:
                    return ir.Load(names[array], index)
            return None

        return Matrix(
            replace(
                parts,
                families=tuple(
                    replace(f, value=ir.rewrite(f.value, change)) for f in parts.families
                ),
                origin=renamed(parts.origin, names),
                data={names.get(n, n): kind for n, kind in parts.data.items()},
                bound={names.get(n, n): value for n, value in parts.bound.items()},
                paths=(),
            )
        )

    def row(self, *index: Any) -> dict[Any, Any]:
        """Return a row in the generator of an `ssr.recurrence`: a dictionary of values by column.

        Columns are tuples of indices, in one dimension indices; they come and compare in C order.
        The path is forked where the rows differ in their columns; data of the matrix become data of
        the recurrence. A column is a row of the transpose, ``A.T.row(j, i)``.
        """
        from .rows import row

        return row(self, index)

    # -- application -----------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Expression):
            return apply_rows(self, x)
        if isinstance(x, np.ndarray):
            return self.apply(x)
        if isinstance(x, Vector):
            return x.applied(self)
        if isinstance(x, Matrix):
            from .compose import product

            return product(self, x)
        from .assembled import Assembled
        from .blocks import BlockMatrix

        if isinstance(x, BlockMatrix):
            return x.applied(self)
        return NotImplemented if isinstance(x, Assembled) or takes_over(x) else self.apply(x)

    def __rmatmul__(self, x: object) -> NoReturn:
        raise UnsupportedError(
            f"A product with {self.name} on the right is not staged.",
            hint="Apply the transpose: A.T @ x.",
        )

    def apply(self, x: Array, out: Array | None = None) -> Array:
        """Return ``A @ x``.

        Parameters
        ----------
        x
            Array of the shape of ``cols``, float64 or float32, last axis contiguous.
        out
            Array of the shape of ``rows`` that receives the result; must not overlap ``x``.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError, OverlapError, UnboundError
            If an array does not fit, or data are unbound.
        """
        if not isinstance(x, np.ndarray):
            raise ArgumentError(
                f"{self.name} @ {type(x).__name__}: the operand is a NumPy array or a field.",
                hint="Convert it with np.asarray.",
            )
        return self._eager("apply", x, out)

    def solve(self, b: Any, out: Array | None = None) -> Any:
        """Return x with ``A x = b`` for a triangular matrix, by substitution in row order.

        Parameters
        ----------
        b
            Right side: array of the shape of ``rows``, or a field expression in a program.
        out
            Array that receives the solution; must not overlap ``b``.

        Raises
        ------
        NotTriangularError
            If the matrix has entries on both sides of the diagonal.
        SingularMatrixError
            If a row is proved to have no diagonal entry, or a zero one.
        """
        self._need_square("solve")
        if isinstance(b, Expression):
            return solve_rows(self, b)
        if not isinstance(b, np.ndarray):
            raise ArgumentError(f"The right side is a NumPy array, not {type(b).__name__}.")
        return self._eager("solve", b, out)

    def _declared(self, what: What) -> Program:
        from .program import matrix_program

        return matrix_program(self, what)

    def _eager(self, what: What, x: Array, out: Array | None) -> Array:
        program = self._programs.get(what) or self.program(what)
        if out is None:
            shape = x.shape if self._same_shape else self._result_shape(x)
            out = np.empty(shape, x.dtype)
        program(out, x)
        return out

    @cached_property
    def _same_shape(self) -> bool:
        return self.rows.data.shape == self.cols.data.shape

    def _result_shape(self, x: Array) -> tuple[int, ...]:
        from .binding import match_sizes

        known = {n: v for n, v in self.parts.bound.items() if n in self.sizes}
        found = match_sizes([("x", self.cols, x.shape), *self.arrays()], known)
        need(self.rows.sizes, found, "size")
        return self.rows.extent(found)

    def arrays(self) -> list[tuple[str, Space, tuple[int, ...]]]:
        """Return the name, the space and the shape of each array that is bound."""
        return [
            (n, s, self.parts.bound[n].shape)
            for n, s in self.parts.data.items()
            if isinstance(s, Space) and isinstance(self.parts.bound.get(n), np.ndarray)
        ]

    def aslinearoperator(self, dtype: Any = np.float64) -> LinearOperator:
        """Return a SciPy ``LinearOperator`` on flattened arrays; all sizes must be bound.

        Its ``rmatvec`` applies the transpose, which is made when it is first needed.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> s = ssr.Space(3)
        >>> ssr.identity(s).aslinearoperator() @ np.ones(3)
        array([1., 1., 1.])
        """
        return linear_operator(self, *self._extents(), dtype)

    # -- the definition on integers --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; needs all sizes.

        Raises
        ------
        UnboundError
            If a size is symbolic and not bound.
        """
        rows, cols = self._extents()
        return int(np.prod(rows)), int(np.prod(cols))

    def _extents(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        sizes = self._known_sizes()
        return self.rows.extent(sizes), self.cols.extent(sizes)

    def _known_sizes(self) -> dict[str, int]:
        from .binding import match_sizes

        known = {n: v for n, v in self.parts.bound.items() if n in self.sizes}
        found = match_sizes(self.arrays(), known)
        need(self.sizes, found, "size")
        return found

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array, by running its definition on integers.

        No compiler takes part: this is the meaning kernels are tested against. All sizes and data
        must be bound.

        Raises
        ------
        UnboundError
            If a size or datum has no value.

        Examples
        --------
        >>> import ssr
        >>> n, = ssr.sizes("n")
        >>> s = ssr.Space(n)
        >>> ssr.stencil(s, s, {-1: 1, 0: -2, 1: 1}, outside="drop").bind(n=3).to_scipy().toarray()
        array([[-2.,  1.,  0.],
               [ 1., -2.,  1.],
               [ 0.,  1., -2.]])
        """
        sizes = self._known_sizes()
        names = tuple(n for n in self.parts.data if n in data_of(self.parts.origin))
        need(names, self.parts.bound, "data")
        values: dict[str, Any] = {}
        for name in names:
            kind = self.parts.data[name]
            value = self.parts.bound[name]
            if isinstance(value, Value) and known_early(value.node):
                value = number(value, sizes)
            if isinstance(value, (Value, Expression)):
                raise UnboundError(f"Data {name!r} is bound to a symbol of a program.")
            if isinstance(kind, Space):
                if value.shape != kind.extent(sizes):
                    raise ShapeError(
                        f"Field {name!r} has shape {value.shape}; its space has "
                        f"{kind.extent(sizes)}."
                    )
                value = Points(value, kind, sizes)
            values[name] = value
        return assemble(self.parts.origin, sizes, values)


def takes_over(operand: Any) -> bool:
    """Whether an operand of another package defines products itself, as NumPy is told by None."""
    opted_out = getattr(type(operand), "__array_ufunc__", True) is None
    return opted_out and hasattr(type(operand), "__rmatmul__")


def _checked(name: str, kind: Space | ScalarType | None, value: Any) -> Any:
    if kind is None:
        size = integer(value)
        if size is None or size < 1:
            raise ShapeError(f"Size {name!r} is a positive integer, not {value!r}.")
        return size
    if isinstance(kind, Space):
        if isinstance(value, Expression):
            if value.space != kind:
                raise SpaceError(f"Field {name!r} is on {kind!r}, not on {value.space!r}.")
            return value
        if not isinstance(value, np.ndarray):
            raise DtypeError(f"Field {name!r} is bound to {type(value).__name__}, not an array.")
        if value.ndim != kind.ndim:
            raise ShapeError(f"Field {name!r} has {value.ndim} axes; its space has {kind.ndim}.")
        return value
    if isinstance(value, Value):
        return value
    if isinstance(value, Index):
        return Value(node(value))
    return number_of(name, value)


def same(a: Any, b: Any) -> bool:
    """Whether two values of data are one: equal numbers, or an array, or views of its elements."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.__array_interface__ == b.__array_interface__
    return a is b or (isinstance(a, (int, float)) and a == b)
