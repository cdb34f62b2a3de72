"""Block matrices: grids of matrices, each between one component and another.

Operations are delegated to the blocks; this module handles spaces and order. Rows are numbered
component by component, as the elements of a flattened array ``(components, ny, nx)``.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..algebra.families import Triangle
from ..errors import ArgumentError, SpaceError
from ..matrices.matrix import Matrix
from ..matrices.operator import Operator
from ..matrices.stored_matrix import StoredMatrix
from ..options import Options
from ..points.numbers import Array, is_zero, plain
from ..programs.expression import Expression
from ..programs.matrix_program import What
from ..programs.program import Program, explained
from ..programs.vectors import grouped
from ..public import counted
from ..spaces.space import Space, VectorSpace
from ..symbols.index import Index
from ..symbols.values import Value, takes_over
from . import blockwise
from .block_data import BlockData, Grid, grid
from .block_rows import block_program, rows_of
from .component_spaces import Kind, joined, label, parts, spaces

if TYPE_CHECKING:
    import scipy.sparse


class BlockMatrix(Operator["BlockMatrix"]):
    """A matrix between vector fields, or between tuples of fields: a grid of matrices.

    Made by `ssr.matrix` with vector spaces, by `ssr.block`, by `ssr.kron` with an array, and by
    operations on block matrices. ``X[r, c]`` is the matrix from component c to component r.

    Attributes
    ----------
    rows, cols
        The spaces of the result and of the operand: a vector space for arrays ``(components,
        ...)``, a space for one field, a tuple of spaces for a tuple of fields.
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

    def __init__(self, definition: BlockData) -> None:
        self.definition = definition

    @property
    def name(self) -> str:
        """The name of the definition of the matrix, or the expression that computes it."""
        return self.definition.name

    @property
    def rows(self) -> Kind:
        """The space of the result."""
        return self.definition.rows

    @property
    def cols(self) -> Kind:
        """The space of the operand."""
        return self.definition.cols

    @property
    def blocks(self) -> Grid:
        """The matrices, row by row; one without families is zero."""
        return self.definition.blocks

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all blocks."""
        return self.definition.sizes

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        return self.definition.unbound

    def __repr__(self) -> str:
        number = sum(len(m.families) for m in self.definition.every)
        count = counted(number, "family", "families")
        data = "".join(
            f", {n}={kind!r}" if n in self.unbound else f", {n}=bound"
            for n, kind in grouped(self.definition.data).items()
        )
        return f"<BlockMatrix {self.name}: {label(self.cols)} -> {label(self.rows)}, {count}{data}>"

    def explain(self, stage: str | None = None) -> str:
        """Return the stages from entries to kernel as text: ``print(X.explain())``.

        Parameters
        ----------
        stage
            One of ``sets program passes nests loops source vectors assembly``; all but the last two
            by default. Or the name of a pass, as ``passes`` lists them.

        Raises
        ------
        ArgumentError
            If the stage does not exist.
        """
        from ..explain.stages import explain_blocks

        def application() -> tuple[ir.Program, ir.Program, Options]:
            made = block_program(self.definition, "apply", self.definition.free)
            return explained(made)

        blocks = [(repr(m), m.definition) for m in self.definition.every if m.families]
        return explain_blocks(blocks, repr(self), application, stage)

    # -- algebra ---------------------------------------------------------------------------------

    def _each(self, name: str, change: Callable[[Matrix], Any]) -> BlockMatrix:
        return BlockMatrix(self.definition.each(name, change))

    def __add__(self, other: object) -> Any:
        return self._combine(other, "+", lambda a, b: a + b)

    def __sub__(self, other: object) -> Any:
        return self._combine(other, "-", lambda a, b: a - b)

    def __radd__(self, other: object) -> Any:
        if is_zero(other):
            return self
        return self._combine(other, "+", lambda a, b: b + a)

    def __rsub__(self, other: object) -> Any:
        return self._combine(other, "-", lambda a, b: b - a)

    def _combine(self, other: object, sign: str, change: Callable[[Matrix, Matrix], Matrix]) -> Any:
        if takes_over(other) and not isinstance(other, (Matrix, StoredMatrix, BlockMatrix)):
            return NotImplemented
        if not isinstance(other, BlockMatrix):
            what = other.name if isinstance(other, Matrix) else type(other).__name__
            raise ArgumentError(
                f"{self.name} {sign} {what}: expected two block matrices.",
                hint="The same matrix for every component is ssr.kron(np.eye(n), A).",
            )
        if not self.definition.fits(other.definition):
            raise SpaceError(
                f"{self.name} {sign} {other.name}: their row or column spaces differ.",
                note=f"{label(self.cols)} -> {label(self.rows)} and "
                f"{label(other.cols)} -> {label(other.rows)}",
            )
        name = f"({self.name} {sign} {other.name})"
        ours, theirs = self.blocks, other.blocks
        return BlockMatrix(
            grid(name, self.rows, self.cols, lambda r, c: change(ours[r][c], theirs[r][c]))
        )

    def __neg__(self) -> BlockMatrix:
        return self._each(f"-{self.name}", lambda m: -m)

    def __mul__(self, factor: object) -> Any:
        return self._scaled(factor, f"{factor} * {self.name}", lambda m: m * factor)

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
        return BlockMatrix(blockwise.power(self.definition, exponent))

    @cached_property
    def T(self) -> BlockMatrix:
        """The transpose: block (r, c) is the transpose of block (c, r)."""
        made = grid(f"{self.name}.T", self.cols, self.rows, lambda r, c: self.blocks[c][r].T)
        return BlockMatrix(made)

    def __getitem__(self, place: object) -> Any:
        """Return the matrix between two components, ``X[r, c]``, or a part of the blocks.

        Slices choose components, as in ``X[1:, :]``; with a slice, an integer selects one field.

        Examples
        --------
        >>> import numpy as np, ssr
        >>> X = ssr.kron(np.array([[1, 2], [3, 4]]), ssr.identity(ssr.Space(5)))
        >>> X[1, 0]
        <Matrix kron(array, identity)[1, 0]: Space(5) -> Space(5), 1 family>
        >>> X[0, :]
        <BlockMatrix kron(array, identity)[0, :]: Space(5).vector(2) -> Space(5), 2 families>
        """
        found = blockwise.part(self.definition, place)
        return found if isinstance(found, Matrix) else BlockMatrix(found)

    def _part(self, which: Triangle, k: int) -> BlockMatrix:
        found = {*spaces(self.rows), *spaces(self.cols)}
        if len(found) > 1:
            raise SpaceError(
                f"{self.name}.{which} needs one space for all components.",
                note=f"rows {label(self.rows)}, columns {label(self.cols)}",
                hint="Points are compared; a part of the blocks is X[r, c] or X[1:, :].",
            )
        name = f"{self.name}.{which}({k if k else ''})"
        return self._each(name, lambda m: m._part(which, k))

    @cached_property
    def _local(self) -> BlockMatrix:
        return self._each(f"{self.name}.rank_local()", lambda m: m.rank_local())

    def equals(self, other: object) -> bool:
        """Return whether ``other`` is proved equal, block by block, for all sizes."""
        self._need_matrix(other)
        if not isinstance(other, BlockMatrix) or not self.definition.fits(other.definition):
            return False
        return all(
            a.equals(b) for a, b in zip(self.definition.every, other.definition.every, strict=True)
        )

    # -- data ------------------------------------------------------------------------------------

    def bind(self, **data: Any) -> BlockMatrix:
        """Return the matrix with values for the data and sizes of its blocks.

        As `Matrix.bind`; the value of a vector field is an array ``(components, ...)``, or inside a
        program one of its vectors. Every block whose data or sizes include a name gets its value.
        """
        return BlockMatrix(self.definition.bind(data))

    # -- application -----------------------------------------------------------------------------

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, Matrix):
            return BlockMatrix(blockwise.product(self.definition, x))
        if isinstance(x, BlockMatrix):
            return BlockMatrix(blockwise.product(self.definition, x.definition))
        return NotImplemented if takes_over(x) else self.apply(x)

    def __rmatmul__(self, x: object) -> Any:
        if isinstance(x, Matrix):
            return BlockMatrix(blockwise.product(x, self.definition))
        return super().__rmatmul__(x)

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

        If all entries are at the point of the row, each point is an independent dense system,
        solved by elimination without pivoting. If the grid of blocks is triangular, as in
        ``ssr.block([[A, None], [B, C]])``, components are solved one after the other, by
        `Matrix.solve` of the blocks on the diagonal.

        Parameters
        ----------
        b
            Right side, as ``x`` in `apply`.
        out
            Array or tuple of arrays that receives the solution; must not overlap ``b``.

        Raises
        ------
        NotTriangularError
            If the matrix has neither of these forms.
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
        if not self.definition.square:
            raise SpaceError(
                f"{self.name}.solve needs equal spaces of rows and columns.",
                note=f"rows {label(self.rows)}, columns {label(self.cols)}",
            )
        return self._run("solve", b, out)

    def _run(self, what: What, x: Any, out: Any) -> Any:
        source, target = (self.cols, self.rows) if what == "apply" else (self.rows, self.cols)
        given = parts(source, x, f"{self.name} {what}")
        if isinstance(given[0], Expression):
            return joined(target, rows_of(self.definition, what, given), x)
        program = self.program(what)
        if out is None:
            out = self._made(source, target, given, stacked=isinstance(x, np.ndarray))
        program(*parts(target, out, f"{self.name} {what}"), *given)
        return out

    def _made(self, source: Kind, target: Kind, given: tuple[Array, ...], stacked: bool) -> Any:
        """Return memory for a result: one array, or a tuple of them."""
        if self.definition.square:
            extents = [x.shape for x in given]
        else:
            found = self.definition.all_sizes(zip(spaces(source), given, strict=True))
            extents = [space.extent(found) for space in spaces(target)]
        dtype = given[0].dtype
        if isinstance(target, VectorSpace) and stacked:
            return np.empty((len(extents), *extents[0]), dtype)
        made = tuple(np.empty(extent, dtype) for extent in extents)
        return made[0] if isinstance(target, Space) else made

    def _declared(self, what: What) -> Program:
        return block_program(self.definition, what)

    def _flat(self, x: Array) -> Array:
        sizes = self.definition.all_sizes()
        extents = [space.extent(sizes) for space in spaces(self.cols)]
        ends = np.cumsum([np.prod(e) for e in extents])[:-1]
        pieces = zip(np.split(x.ravel(), ends), extents, strict=True)
        y = self.apply(tuple(piece.reshape(e) for piece, e in pieces))
        return np.concatenate([part.ravel() for part in parts(self.rows, y, "result")])

    # -- the definition on integers --------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns; needs all sizes."""
        sizes = self.definition.all_sizes()
        rows, cols = (
            sum(math.prod(space.extent(sizes)) for space in spaces(kind))
            for kind in (self.rows, self.cols)
        )
        return rows, cols

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound, or that follow from arrays that are bound."""
        return self.definition.matched()

    def to_scipy(self, *, definition: bool = False) -> scipy.sparse.csr_array:
        """Return the matrix as a SciPy CSR array, as `Matrix.to_scipy` does.

        Its rows are numbered component by component. All sizes and data must be bound.

        Parameters
        ----------
        definition
            Whether generators are run at each row instead of their entries for many rows at once.
        """
        import scipy.sparse as sparse

        sizes = self.definition.all_sizes()
        found = [
            [m.bind(**{n: sizes[n] for n in m.sizes}).to_scipy(definition=definition) for m in row]
            for row in self.blocks
        ]
        return sparse.csr_array(sparse.block_array(found, format="csr"))
