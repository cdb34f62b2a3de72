"""The matrix-free sparse matrix: a row generator, traced to entry families.

A `Matrix` is immutable. It is defined by a generator, combined by ``+ - * @``, transposed, split
into parts, applied by ``@`` and, if triangular or coupled along one axis, inverted by
`Matrix.solve`. Only its families are stored.
"""

from __future__ import annotations

import math
import numbers
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..algebra import combine, families
from ..algebra.assemble import by_entries
from ..algebra.families import Triangle
from ..algebra.matrix_data import MatrixData, cut, local, scaled, values_of
from ..algebra.oracle import by_definition, need
from ..algebra.renaming import renamed_apart
from ..errors import ArgumentError, OverlapError
from ..options import Options
from ..points.numbers import Array, allocated, is_zero, plain
from ..programs.data import bind
from ..programs.expression import Expression
from ..programs.matrix_program import What, matrix_program
from ..programs.matrix_rows import apply_rows, solutions, solve_rows
from ..programs.program import Program, explained
from ..programs.vectors import Vector
from ..public import counted, flag
from ..spaces.space import Space
from ..symbols.index import Index
from ..symbols.values import Row, Value, node, operation, takes_over
from .operator import Operator
from .rows import row

if TYPE_CHECKING:
    import scipy.sparse


class Matrix(Operator["Matrix"]):
    """A matrix on structured grids, held as entry families.

    Made by `ssr.matrix`, `ssr.stencil`, `ssr.identity` and by operations on matrices. `rows` and
    `cols` are its spaces. Arrays it is applied to have the shape of ``cols``; the result has the
    shape of ``rows``. Symbolic sizes are taken from the arrays.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> n, = ssr.sizes("n")
    >>> points = ssr.Space(n)
    >>> A = ssr.stencil(points, points, {-1: -1, 0: 2, 1: -1}, outside="zero")
    >>> A @ np.array([1.0, 2.0, 4.0])
    array([ 0., -1.,  6.])
    >>> A.tril().solve(np.array([2.0, 1.0, 0.0]))
    array([1. , 1. , 0.5])
    """

    def __init__(self, definition: MatrixData) -> None:
        if not isinstance(definition, MatrixData):
            raise ArgumentError(
                f"A Matrix is not made of {type(definition).__name__}.",
                hint="Matrices are made by ssr.matrix, ssr.stencil, ssr.from_scipy and others.",
            )
        self.definition = definition

    @property
    def name(self) -> str:
        """The declared name of the matrix, or the expression that defines it."""
        return self.definition.name

    @property
    def rows(self) -> Space:
        """The space of the rows."""
        return self.definition.rows

    @property
    def cols(self) -> Space:
        """The space of the columns."""
        return self.definition.cols

    @property
    def families(self) -> tuple[ir.Family, ...]:
        """The entries as families, in the order rows are summed."""
        return self.definition.families

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all spaces, those between factors included."""
        return self.definition.sizes

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        return self.definition.unbound

    def __repr__(self) -> str:
        count = counted(len(self.families), "family", "families")
        data = "".join(
            f", {n}=" + ("bound" if n in self.definition.bound else repr(kind))
            for n, kind in self.definition.data.items()
        )
        return f"<Matrix {self.name}: {self.cols!r} -> {self.rows!r}, {count}{data}>"

    def _repr_html_(self) -> str:
        from ..explain.notebook import matrix_html

        return matrix_html(self.definition, repr(self))

    def explain(self, stage: str | None = None) -> str:
        """Return the stages from definition to kernel as text: ``print(A.explain())``.

        Parameters
        ----------
        stage
            One of ``trace sets footprint program passes nests loops source vectors assembly``; all
            but the last two by default. Or the name of a pass, as ``passes`` lists them.

        Raises
        ------
        ArgumentError
            If there is no such stage.
        """
        from ..explain.stages import explain_matrix

        def application() -> tuple[ir.Program, ir.Program, Options]:
            free = self.definition.free
            made = matrix_program(self.definition, "apply", free) if free else self.program("apply")
            return explained(made)

        return explain_matrix(self.definition, repr(self), application, stage)

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: object) -> Any:
        self._check_summand(other)
        return self._combine(other, 1.0, "+")

    def __sub__(self, other: object) -> Any:
        self._check_summand(other)
        return self._combine(other, -1.0, "-")

    def __radd__(self, other: object) -> Any:
        if is_zero(other):
            return self
        self._check_summand(other)
        return NotImplemented

    def __rsub__(self, other: object) -> Any:
        self._check_summand(other)
        return NotImplemented

    def __neg__(self) -> Matrix:
        return self._scaled(-1.0, f"-{self.name}")

    def __mul__(self, factor: object) -> Matrix:
        factor = plain(factor)
        if isinstance(factor, (Matrix, np.ndarray, Row)):
            raise ArgumentError(
                f"`*` scales {self.name} by a number, not by another operand.",
                hint=f"Apply the matrix first, as in w * ({self.name} @ x)."
                if isinstance(factor, Row)
                else "The matrix product is written `@`.",
            )
        if not isinstance(factor, (numbers.Number, Value, Index)):
            return NotImplemented
        return self._scaled(factor, f"{factor} * {self.name}")

    def __truediv__(self, divisor: Any) -> Matrix:
        divisor = plain(divisor)
        if not isinstance(divisor, (numbers.Number, Value, Index)):
            return NotImplemented
        if node(divisor) == ir.ZERO:
            raise ArgumentError(f"{self.name} is divided by zero.")
        return self._scaled(operation("div", 1.0, divisor), f"{self.name} / {divisor}")

    def _scaled(self, factor: object, name: str) -> Matrix:
        return Matrix(scaled(self.definition, node(factor), name))

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
        return Matrix(combine.transpose(self.definition))

    def __pow__(self, exponent: object) -> Matrix:
        return Matrix(combine.power(self.definition, exponent))

    def __getitem__(self, place: object) -> Matrix:
        """Return the entries in some rows and columns: ``A[rows, cols]``.

        Both are spaces within the matrix's own, in the same coordinates, or ``:`` for all.

        Examples
        --------
        >>> import ssr
        >>> s = ssr.Space(4)
        >>> A = ssr.stencil(s, s, {-1: 1, 0: 2, 1: 3}, outside="zero")
        >>> A[s.grow(-1), :].to_scipy().toarray()
        array([[1., 2., 3., 0.],
               [0., 1., 2., 3.]])
        """
        return Matrix(combine.submatrix(self.definition, place))

    def _combine(self, other: object, factor: float, sign: str) -> Any:
        if not isinstance(other, Matrix):
            return NotImplemented
        return Matrix(combine.combined(self.definition, other.definition, factor, sign))

    @cached_property
    def _part_cache(self) -> dict[tuple[str, int], Matrix]:
        return {}

    def _part(self, which: Triangle, k: int) -> Matrix:
        known = self._part_cache.get((which, k))
        if known is not None:
            return known
        self._need_square(f".{which}")
        made = Matrix(cut(self.definition, which, k))
        return self._part_cache.setdefault((which, k), made)

    @cached_property
    def _local(self) -> Matrix:
        self._need_square(".local")
        return Matrix(local(self.definition))

    def equals(self, other: Operator[Any]) -> bool:
        """Return whether the matrices are proved equal, for all sizes.

        Numbers are compared exactly with those of ``other``, other values as expressions of the
        same data: a scalar bound to equal numbers, a field bound to one array. Sums, products and
        quotients of data are compared in exact arithmetic, as functions where no denominator is
        zero: ``-1 / s[i]`` and ``-(1 / s[i])`` are equal. Both matrices must have the same bound
        sizes.

        Examples
        --------
        >>> import ssr
        >>> s = ssr.Space(5)
        >>> A = ssr.stencil(s, s, {-1: 1, 0: 2, 1: 3}, outside="zero")
        >>> A.equals(A.tril(-1) + A.triu())
        True
        """
        if not isinstance(other, Matrix):
            self._need_matrix(other)
            return other.equals(self)
        if (self.rows, self.cols) != (other.rows, other.cols):
            return False
        if any(self.definition.bound.get(n) != other.definition.bound.get(n) for n in self.sizes):
            return False
        theirs = renamed_apart(other.definition, self.definition)
        return families.equal(self.families, theirs.families)

    # -- data ------------------------------------------------------------------------------------

    def bind(self, **data: Any) -> Matrix:
        """Return the matrix with values for its data: scalars, fields, sizes.

        Parameters
        ----------
        **data
            By the names of the declaration: numbers for scalars, arrays for fields, or, inside a
            program, the program's own fields and scalars. Integers for symbolic sizes. Fields of
            `boundary.distribute` may stand for arrays: the matrix is for vectors of the same
            distribution.

        Raises
        ------
        ArgumentError
            If a name is not declared.
        ShapeError
            If an array does not have as many axes as its space.
        """
        return Matrix(bind(self.definition, data))

    def row(self, *index: Any) -> dict[Any, Any]:
        """Return a row in the generator of an `ssr.recurrence`: a dictionary of values by column.

        Parameters
        ----------
        *index
            The indices of the row, one for each axis.

        Notes
        -----
        Columns are tuples of indices, in one dimension indices; they come and compare in C order.
        The path is forked where the rows differ in their columns; data of the matrix become data of
        the recurrence. A column is a row of the transpose, ``A.T.row(j, i)``.
        """
        return row(self.definition, index)

    # -- application -----------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Expression):
            return apply_rows(self.definition, x)
        if isinstance(x, np.ndarray):
            return self.apply(x)
        if isinstance(x, Vector):
            return Vector([self @ component for component in x])
        if isinstance(x, Matrix):
            return Matrix(combine.product(self.definition, x.definition))
        return NotImplemented if takes_over(x) else self.apply(x)

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
        """Return x with ``A x = b``, by substitution or by elimination along lines.

        Triangular systems are solved by substitution in row order. If the matrix couples points
        along one axis only, each grid line is an independent banded system, solved by elimination
        without pivoting.

        Parameters
        ----------
        b
            Right side: array of the shape of ``rows``, or a field expression in a program. An array
            with one more axis, or a vector, is a right side for each component.
        out
            Array that receives the solution; must not overlap ``b``.

        Raises
        ------
        NotTriangularError
            If the matrix is neither triangular nor couples points along one axis only.
        SingularMatrixError
            If a row is proved to have no diagonal entry, or a zero one.

        Examples
        --------
        Implicit diffusion along the first axis:

        >>> import numpy as np, ssr
        >>> cells = ssr.Space(*ssr.sizes("ny nx"))
        >>> A = ssr.stencil(cells, cells, {(-1, 0): -1, (0, 0): 3, (1, 0): -1}, outside="zero")
        >>> x = A.solve(np.ones((4, 2)))
        >>> bool(np.allclose(A @ x, 1.0))
        True
        """
        self._need_square(".solve")
        if isinstance(b, (Expression, Vector)) and out is not None:
            raise ArgumentError(
                f"{self.name}.solve takes no out= in a program.",
                hint="Assign the result: x[:] = A.solve(b).",
            )
        if isinstance(b, Expression):
            return solve_rows(self.definition, b)
        if isinstance(b, Vector):
            return Vector(solutions(self.definition, list(b)))
        if not isinstance(b, np.ndarray):
            raise ArgumentError(f"The right side must be a NumPy array, not {type(b).__name__}.")
        if b.ndim == self.rows.ndim + 1 and len(b):
            return self._solutions(b, out)
        return self._eager("solve", b, out)

    def _solutions(self, b: Array, out: Array | None) -> Array:
        """Return the solutions for the components of a right side."""
        if out is None:
            return np.stack([self._eager("solve", given, None) for given in b])
        made = self.cols.vector(len(b)).parts("out", out)
        if np.shares_memory(out, b):
            raise OverlapError(
                "Array 'out' is written and shares memory with 'b'.", hint="Pass a copy."
            )
        for component, given in zip(made, b, strict=True):
            self._eager("solve", given, component)
        return out

    def _declared(self, what: What) -> Program:
        return matrix_program(self.definition, what)

    def _flat(self, x: Array) -> Array:
        return self.apply(x.reshape(self._extents()[1])).ravel()

    def _eager(self, what: What, x: Array, out: Array | None) -> Array:
        program = self._programs.get(what) or self.program(what)
        if out is None:
            shape = x.shape if self._same_shape else self._result_shape(x)
            out = allocated(shape, x.dtype if x.dtype.kind == "f" else np.float64)
        program(out, x)
        return out

    @cached_property
    def _same_shape(self) -> bool:
        return self.rows.data.shape == self.cols.data.shape

    def _result_shape(self, x: Array) -> tuple[int, ...]:
        found = self.definition.matched(("x", self.cols, x.shape))
        need(self.rows.sizes, found, "size")
        return self.rows.extent(found)

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
        return math.prod(rows), math.prod(cols)

    def _extents(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        sizes = self.definition.all_sizes()
        return self.rows.extent(sizes), self.cols.extent(sizes)

    def _check_rows(self, shape: tuple[int, ...]) -> None:
        """Raise a `ShapeError` if an array of a shape has other rows."""
        self.definition.matched(("b", self.rows, shape))

    @property
    def _distributed(self) -> tuple[Any, ...]:
        """The data that are fields of several ranks."""
        return tuple(self.definition.distributed)

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound, or that follow from arrays that are bound."""
        return self.definition.matched()

    def to_scipy(self, *, definition: bool = False) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array. All sizes and data must be bound.

        Row generators are evaluated for whole ranges of rows by NumPy, from their traced entries;
        sums, products and other operations on them are those of SciPy. Columns of a row ascend,
        entries at one column are summed, and yielded zeros are stored.

        Parameters
        ----------
        definition
            Whether generators are run at each row on integers instead, which takes about 100 us a
            row. This is the definition of the matrix, independent of tracing, against which kernels
            are tested. Both ways give the same structure and, for data in double precision, the
            same bits, except for functions such as ``exp`` that NumPy evaluates differently on
            arrays. The rows of an `ssr.recurrence` are always made by its definition.

        Raises
        ------
        UnboundError
            If a size or datum has no value.

        Examples
        --------
        >>> import ssr
        >>> n, = ssr.sizes("n")
        >>> s = ssr.Space(n)
        >>> ssr.stencil(s, s, {-1: 1, 0: -2, 1: 1}, outside="zero").bind(n=3).to_scipy().toarray()
        array([[-2.,  1.,  0.],
               [ 1., -2.,  1.],
               [ 0.,  1., -2.]])
        """
        sizes = self.definition.all_sizes()
        leaf = by_definition if flag("to_scipy", "definition", definition) else by_entries
        return self.definition.origin.assemble(sizes, values_of(self.definition, sizes), leaf)
