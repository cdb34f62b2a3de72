"""Block matrices: grids of matrices, each between one component and another.

Everything a block matrix does is done by its blocks; here are the spaces, and the order. Rows are
numbered component by component, as the elements of a flattened array ``(components, ny, nx)``.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from ..algebra.families import Part as Which
from ..algebra.oracle import need
from ..errors import ArgumentError, SpaceError, UnsupportedError
from ..matrices.applied import Applied, What
from ..matrices.matrix import Matrix
from ..points.numbers import plain
from ..programs.expression import Expression
from ..programs.vectors import apart, grouped
from ..spaces.binding import match_sizes
from ..spaces.space import Space, VectorSpace
from ..symbols.index import Index
from ..symbols.values import Value, takes_over
from ..trace.trace import ScalarType
from .component_spaces import Kind, parts, spaces, together, told

if TYPE_CHECKING:
    import scipy.sparse
    from scipy.sparse.linalg import LinearOperator

    from ..programs.program import Program

Array = np.ndarray[Any, np.dtype[Any]]
Grid = tuple[tuple[Matrix, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class BlockMatrix(Applied):
    """A matrix between vector fields, or between tuples of fields: a grid of matrices.

    Made by `ssr.matrix` with vector spaces, by `ssr.block`, by `ssr.kron` with an array, and by
    operations on block matrices. ``X[r, c]`` is the matrix from component c to component r.

    Attributes
    ----------
    rows, cols
        What it acts between: a vector space for arrays ``(components, ...)``, a space for one
        field, a tuple of spaces for a tuple of fields.
    blocks
        The matrices, row by row. One without families is zero.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> line = ssr.Space(ssr.size("n"))
    >>> V = line.vector(2)
    >>> @ssr.matrix(rows=V, cols=V, c=ssr.scalar)
    ... def X(i, *, c):
    ...     yield i, np.eye(2)
    ...     if i > 0:
    ...         yield i - 1, [[0, c], [0, 0]]
    >>> X
    <BlockMatrix X: Space(n).vector(2) -> Space(n).vector(2), 3 families, c=ssr.scalar>
    >>> X.bind(c=10.0) @ np.array([[1.0, 2.0], [3.0, 4.0]])
    array([[ 1., 32.],
           [ 3.,  4.]])
    """

    __array_ufunc__ = None

    name: str
    rows: Kind
    cols: Kind
    blocks: Grid

    def __repr__(self) -> str:
        count = sum(len(m.families) for m in self._all)
        data = "".join(
            f", {n}={kind!r}" if n in self.unbound else f", {n}=bound"
            for n, kind in grouped(self.data).items()
        )
        return (
            f"<BlockMatrix {self.name}: {told(self.cols)} -> {told(self.rows)}, "
            f"{count} families{data}>"
        )

    def explain(self, stage: str | None = None) -> str:
        """Return the stages from entries to kernel as text: ``print(X.explain())``.

        Parameters
        ----------
        stage
            One of ``sets program passes loops source``; all of them by default.
        """
        from ..matrices.explain import explain_blocks

        return explain_blocks(self, stage)

    @property
    def _all(self) -> Iterator[Matrix]:
        return (block for row in self.blocks for block in row)

    @cached_property
    def data(self) -> Mapping[str, Space | ScalarType]:
        """The data of all blocks; a vector field is one field for each component."""
        return {n: kind for m in self._all for n, kind in m.parts.data.items()}

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all blocks."""
        return tuple(sorted(frozenset().union(*(m.sizes for m in self._all))))

    @property
    def bound_sizes(self) -> dict[str, int]:
        """The sizes that have a value."""
        return {n: m.parts.bound[n] for m in self._all for n in m.sizes if n in m.parts.bound}

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        free = {n: self.data[n] for m in self._all for n in m.unbound}
        return tuple(grouped(free))

    @cached_property
    def _square(self) -> bool:
        return spaces(self.rows) == spaces(self.cols)

    # -- algebra ---------------------------------------------------------------------------------

    def _each(self, name: str, change: Callable[[Matrix], Any]) -> BlockMatrix:
        """Return the block matrix with every block changed."""
        return grid(name, self.rows, self.cols, lambda r, c: change(self.blocks[r][c]))

    def __add__(self, other: object) -> Any:
        return self._combine(other, "+", lambda a, b: a + b)

    def __sub__(self, other: object) -> Any:
        return self._combine(other, "-", lambda a, b: a - b)

    def __radd__(self, other: object) -> Any:
        return self._combine(other, "+", lambda a, b: b + a)

    def __rsub__(self, other: object) -> Any:
        return self._combine(other, "-", lambda a, b: b - a)

    def _combine(self, other: object, sign: str, change: Callable[[Matrix, Matrix], Matrix]) -> Any:
        if not isinstance(other, BlockMatrix):
            what = other.name if isinstance(other, Matrix) else type(other).__name__
            raise ArgumentError(
                f"{self.name} {sign} {what}: the sum of block matrices is meant.",
                hint="The same matrix for every component is ssr.kron(np.eye(n), A).",
            )
        if not self._fits(other):
            raise SpaceError(
                f"{self.name} {sign} {other.name}: the matrices act between other spaces.",
                note=f"{told(self.cols)} -> {told(self.rows)} and "
                f"{told(other.cols)} -> {told(other.rows)}",
            )
        name = f"({self.name} {sign} {other.name})"
        return grid(
            name,
            self.rows,
            self.cols,
            lambda r, c: change(self.blocks[r][c], other.blocks[r][c]),
        )

    def _fits(self, other: BlockMatrix) -> bool:
        ours, theirs = ((spaces(m.rows), spaces(m.cols)) for m in (self, other))
        return ours == theirs

    def __neg__(self) -> BlockMatrix:
        return self._each(f"-{self.name}", lambda m: -m)

    def __mul__(self, factor: object) -> Any:
        return self._scaled(factor, f"{factor} * {self.name}", lambda m: m * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self._scaled(divisor, f"{self.name} / {divisor}", lambda m: m / divisor)

    def _scaled(self, factor: object, name: str, change: Callable[[Matrix], Any]) -> Any:
        if isinstance(plain(factor), (numbers.Number, Value, Index)):
            return self._each(name, change)
        raise ArgumentError(
            f"{self.name} is multiplied or divided by {type(factor).__name__}, not by a number.",
            hint="The matrix product is written `@`; the same array at every point is "
            "ssr.kron(array, ssr.identity(space)).",
        )

    def __pow__(self, exponent: object) -> BlockMatrix:
        from .blockwise import power

        return power(self, exponent)

    @cached_property
    def T(self) -> BlockMatrix:
        """The transpose: that of every block, in its place."""
        return grid(f"{self.name}.T", self.cols, self.rows, lambda r, c: self.blocks[c][r].T)

    def __getitem__(self, place: object) -> Any:
        """Return the matrix between two components, ``X[r, c]``, or a part of the blocks.

        Slices choose components, as in ``X[1:, :]``; an integer beside a slice leaves one field.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> X = ssr.kron(np.array([[1, 2], [3, 4]]), ssr.identity(ssr.Space(5)))
        >>> X[1, 0]
        <Matrix kron(array, identity)[1, 0]: Space(5) -> Space(5), 1 families>
        >>> X[0, :]
        <BlockMatrix kron(array, identity)[0, :]: Space(5).vector(2) -> Space(5), 2 families>
        """
        from .blockwise import part

        return part(self, place)

    def tril(self, k: Literal[0, -1] = 0) -> BlockMatrix:
        """Return the entries at points before the row's point, or at it (k = 0)."""
        return self._part("tril", k)

    def triu(self, k: Literal[0, 1] = 0) -> BlockMatrix:
        """Return the entries at points after the row's point, or at it (k = 0)."""
        return self._part("triu", k)

    def diagonal(self) -> BlockMatrix:
        """Return the entries at the row's own point: one dense block for each point."""
        return self._part("diagonal", 0)

    def _part(self, which: Which, k: int) -> BlockMatrix:
        found = {*spaces(self.rows), *spaces(self.cols)}
        if len(found) > 1:
            raise SpaceError(
                f"{self.name}.{which} needs one space for all components.",
                note=f"rows {told(self.rows)}, columns {told(self.cols)}",
                hint="Points are compared; a part of the blocks is X[r, c] or X[1:, :].",
            )
        name = f"{self.name}.{which}({k if k else ''})"
        return self._each(name, lambda m: m._part(which, k))

    def equals(self, other: object) -> bool:
        """Whether the matrices are proved equal, block by block, for all sizes."""
        if not isinstance(other, BlockMatrix) or not self._fits(other):
            return False
        return all(a.equals(b) for a, b in zip(self._all, other._all, strict=True))

    # -- data ------------------------------------------------------------------------------------

    def bind(self, **data: Any) -> BlockMatrix:
        """Return the matrix with values for the data and sizes of its blocks.

        As `Matrix.bind`; the value of a vector field is an array ``(components, ...)``, or inside a
        program one of its vectors. Every block that knows a name gets the value.
        """
        known = {*grouped(self.data), *self.data, *self.sizes}
        for name in data:
            if name not in known:
                raise ArgumentError(
                    f"{self.name} has no data named {name!r}.",
                    hint=f"It has {', '.join(sorted(known)) or 'none'}.",
                )
        flat = apart(data, self.data)

        def bound(m: Matrix) -> Matrix:
            return m.bind(**{n: v for n, v in flat.items() if n in (*m.parts.data, *m.sizes)})

        blocks = tuple(tuple(bound(m) for m in row) for row in self.blocks)
        return replace(self, blocks=blocks)

    # -- application -----------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, (Matrix, BlockMatrix)):
            from .blockwise import product

            return product(self, x)
        return NotImplemented if takes_over(x) else self.apply(x)

    def applied(self, matrix: Matrix) -> BlockMatrix:
        """Return ``matrix @ self``: the matrix applied to each component."""
        from .blockwise import product

        return product(matrix, self)

    def __rmatmul__(self, x: object) -> NoReturn:
        raise UnsupportedError(
            f"A product with {self.name} on the right is not staged.",
            hint="Apply the transpose: X.T @ x.",
        )

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return ``X @ x``, computed by one program.

        Parameters
        ----------
        x
            Array ``(components, ...)``, a tuple with one array for each component, or in a program
            a vector or a tuple of expressions. A tuple gives a tuple, unless the rows are one
            field; so do rows on different spaces.
        out
            Array or tuple of arrays that receives the result; must not overlap ``x``.
        """
        return self._run("apply", x, out)

    def solve(self, b: Any, out: Any = None) -> Any:
        """Return x with ``X x = b``, by elimination at each point or by substitution.

        A matrix whose entries are all at the row's own point is solved with by elimination without
        pivoting, point by point. One whose blocks are triangular as a whole, as
        ``ssr.block([[A, None], [B, C]])``, is solved with component by component by `Matrix.solve`
        of the blocks on its diagonal.

        Parameters
        ----------
        b
            Right side, as ``x`` in `apply`.
        out
            Array or tuple of arrays that receives the solution; must not overlap ``b``.

        Raises
        ------
        NotTriangularError
            If it is of neither form.
        SingularMatrixError
            If a pivot or a diagonal entry is proved to be zero.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> X = ssr.kron(np.array([[2.0, 1.0], [4.0, 3.0]]), ssr.identity(ssr.Space(3)))
        >>> X.solve(np.array([[3.0, 1.0, 2.0], [7.0, 3.0, 4.0]]))
        array([[1., 0., 1.],
               [1., 1., 0.]])
        """
        if not self._square:
            raise SpaceError(
                f"{self.name}.solve needs equal spaces of rows and columns.",
                note=f"rows {told(self.rows)}, columns {told(self.cols)}",
            )
        return self._run("solve", b, out)

    def _run(self, what: What, x: Any, out: Any) -> Any:
        source, target = (self.cols, self.rows) if what == "apply" else (self.rows, self.cols)
        given = parts(source, x, f"{self.name} {what}")
        if isinstance(given[0], Expression):
            from .block_rows import rows_of

            return together(target, rows_of(self, what, given), x)
        program = self.program(what)
        if out is None:
            out = self._made(source, target, given, stacked=isinstance(x, np.ndarray))
        program(*parts(target, out, f"{self.name} {what}"), *given)
        return out

    def _made(self, source: Kind, target: Kind, given: tuple[Array, ...], stacked: bool) -> Any:
        """Return memory for a result: one array, or a tuple of them."""
        if self._square:
            extents = [x.shape for x in given]
        else:
            found = self._matched(zip(spaces(source), given, strict=True))
            need(self.sizes, found, "size")
            extents = [space.extent(found) for space in spaces(target)]
        dtype = given[0].dtype
        if isinstance(target, VectorSpace) and stacked:
            return np.empty((len(extents), *extents[0]), dtype)
        made = tuple(np.empty(extent, dtype) for extent in extents)
        return made[0] if isinstance(target, Space) else made

    def _declared(self, what: What) -> Program:
        from .block_rows import block_program

        return block_program(self, what)

    def aslinearoperator(self, dtype: Any = np.float64) -> LinearOperator:
        """Return a SciPy ``LinearOperator`` on flattened arrays, component by component.

        All sizes must be bound. Its ``rmatvec`` applies the transpose.
        """
        from scipy.sparse.linalg import LinearOperator

        sizes = self._known_sizes()
        extents = {
            kind: [space.extent(sizes) for space in spaces(kind)] for kind in (self.rows, self.cols)
        }

        def flat(matrix: BlockMatrix, x: Array) -> Array:
            x = np.ascontiguousarray(x, dtype).ravel()
            ends = np.cumsum([np.prod(e) for e in extents[matrix.cols]])[:-1]
            pieces = zip(np.split(x, ends), extents[matrix.cols], strict=True)
            y = matrix.apply(tuple(piece.reshape(e) for piece, e in pieces))
            return np.concatenate([part.ravel() for part in parts(matrix.rows, y, "result")])

        return LinearOperator(
            self.shape,
            matvec=lambda x: flat(self, x),
            rmatvec=lambda x: flat(self.T, x),
            dtype=np.dtype(dtype),
        )

    # -- the definition on integers --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; needs all sizes."""
        sizes = self._known_sizes()
        rows, cols = (
            sum(int(np.prod(space.extent(sizes))) for space in spaces(kind))
            for kind in (self.rows, self.cols)
        )
        return rows, cols

    def _matched(self, given: Iterable[tuple[Space, Array]] = ()) -> dict[str, int]:
        """Return the sizes that follow from arrays and from what is bound."""
        arrays = [(f"x[{n}]", space, x.shape) for n, (space, x) in enumerate(given)]
        arrays += [array for m in self._all for array in m.parts.arrays()]
        return match_sizes(arrays, self.bound_sizes)

    def _known_sizes(self) -> dict[str, int]:
        found = self._matched()
        need(self.sizes, found, "size")
        return found

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array, by running the definitions on integers.

        Its rows are numbered component by component. All sizes and data must be bound.
        """
        import scipy.sparse as sparse

        sizes = self._known_sizes()
        found = [
            [m.bind(**{n: sizes[n] for n in m.sizes}).to_scipy() for m in row]
            for row in self.blocks
        ]
        return sparse.csr_array(sparse.block_array(found, format="csr"))


def grid(name: str, rows: Kind, cols: Kind, made: Callable[[int, int], Matrix]) -> BlockMatrix:
    """Return a block matrix of this name, given its blocks one by one."""

    def named(r: int, c: int) -> Matrix:
        return Matrix(replace(made(r, c).parts, name=f"{name}[{r}, {c}]"))

    across = range(len(spaces(cols)))
    blocks = tuple(tuple(named(r, c) for c in across) for r in range(len(spaces(rows))))
    return BlockMatrix(name, rows, cols, blocks)
