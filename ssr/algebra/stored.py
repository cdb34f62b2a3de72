"""Stored (CSR) matrices: sparse data between spaces, and their arrays as kernel arguments.

A stored matrix is immutable, so all programs share its arrays. It has CSR form: the columns of
a row ascend, duplicate entries are summed, and zeros are dropped. Values are float64 or float32;
indices have 32 bits if they fit. Two more integers for each row locate its diagonal entry, so that
the strictly lower and upper triangles are ranges of the same arrays.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..errors import ArgumentError, ContiguityError, DtypeError, ShapeError
from ..points.numbers import Array, index_type
from ..spaces.binding import match_sizes
from ..spaces.space import Space

if TYPE_CHECKING:
    import scipy.sparse


BOUNDS = (("first", 0), ("diagonal", 0), ("after", 0), ("first", 1))
"""The array and the offset from the row number of each bound of `ir.Range`."""


@dataclass(frozen=True, eq=False)
class Stored:
    """A matrix as data between spaces, whose points are numbered in C order."""

    csr: scipy.sparse.csr_array
    rows: Space
    cols: Space

    @staticmethod
    def of(matrix: Any, rows: Space, cols: Space) -> Stored:
        """Return a copy of a sparse matrix of SciPy."""
        made = Stored.checked(matrix)
        _check_shape(made.shape, rows, cols)
        return Stored.made(made, rows, cols)

    @staticmethod
    def checked(matrix: Any) -> scipy.sparse.csr_array:
        """Return a copy of a sparse matrix of SciPy, which must be a valid one of real numbers."""
        import scipy.sparse as sparse

        if not sparse.issparse(matrix):
            raise ArgumentError(
                f"{type(matrix).__name__} is not a sparse matrix of SciPy.",
                hint="Convert it with scipy.sparse.csr_array.",
            )
        if matrix.dtype.kind not in "bfiu":
            raise DtypeError(f"A stored matrix has dtype {matrix.dtype}; expected real numbers.")
        kind = np.float32 if matrix.dtype.newbyteorder("=") == np.float32 else np.float64
        made = matrix.astype(kind, copy=True)
        if made.ndim != 2:
            raise ShapeError(f"A stored matrix has {made.ndim} axes, not 2.")
        if hasattr(made, "check_format"):
            try:
                made.check_format(full_check=True)
            except ValueError as problem:
                raise ArgumentError(f"The sparse matrix is not valid: {problem}.") from None
        return sparse.csr_array(made)

    @staticmethod
    def made(csr: scipy.sparse.csr_array, rows: Space, cols: Space) -> Stored:
        """Return the result of an operation, whose arrays are not shared."""
        return Stored(_canonical(csr), rows, cols)

    @property
    def wide(self) -> bool:
        """Whether integers of 64 bits are needed."""
        return bool(self.csr.indices.dtype == np.int64)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The symbolic sizes that follow from the shape: those of spaces of one dimension."""
        sides = zip(("rows", "columns"), (self.rows, self.cols), self.csr.shape, strict=True)
        return match_sizes([(n, s, (count,)) for n, s, count in sides if s.ndim == 1], {})

    def point(self, row: int) -> str:
        """Return a row's index, or its number where sizes are not known."""
        if set(self.rows.sizes) - set(self.sizes):
            return f"number {row}"
        place = np.unravel_index(row, self.rows.extent(self.sizes))
        first = self.rows.first(self.sizes)
        return f"({', '.join(str(p + low) for p, low in zip(place, first, strict=True))})"

    # -- parts -----------------------------------------------------------------------------------

    @cached_property
    def reach(self) -> ir.Range:
        """The smallest part that holds all entries."""
        if self.rows != self.cols:
            return ir.WHOLE
        csr, some = self.csr, np.flatnonzero(np.diff(self.csr.indptr))
        first, last = csr.indices[csr.indptr[some]], csr.indices[csr.indptr[some + 1] - 1]
        start = 0 if (first < some).any() else 1 if (first == some).any() else 2
        stop = 3 if (last > some).any() else 2 if (last == some).any() else 1
        return start, stop

    def within(self, part: ir.Range) -> ir.Range:
        """Return the smallest of the parts with the same entries; none if it ends at its start."""
        start, stop = self.reach
        return max(start, part[0]), min(stop, part[1])

    @cached_property
    def lines(self) -> Array:
        """The row of each entry."""
        count = self.csr.shape[0]
        return np.repeat(np.arange(count, dtype=self.csr.indices.dtype), np.diff(self.csr.indptr))

    def part(self, part: ir.Range) -> scipy.sparse.csr_array:
        """Return the entries of a part; the arrays are not to be changed."""
        import scipy.sparse as sparse

        start, stop = self.within(part)
        if (start, stop) == self.reach:
            return self.csr
        side = np.sign(self.csr.indices.astype(np.int64) - self.lines) + 1
        kept = (side >= start) & (side < stop)
        entries = self.csr.data[kept], (self.lines[kept], self.csr.indices[kept])
        return sparse.csr_array(entries, shape=self.csr.shape)

    @cached_property
    def diagonal(self) -> Array:
        """Where the entries before the diagonal of each row end."""
        return self._ends(self.csr.indices < self.lines, self.csr.indptr[:-1])

    @cached_property
    def after(self) -> Array:
        """Where the entries after the diagonal of each row begin."""
        return self._ends(self.csr.indices == self.lines, self.diagonal)

    def _ends(self, kept: Array, starts: Array) -> Array:
        counts = np.bincount(self.lines[kept], minlength=len(starts))
        return _frozen((starts + counts).astype(starts.dtype))

    # -- kernels ---------------------------------------------------------------------------------

    def argument(
        self, what: str, sizes: Mapping[str, int], strides: Sequence[int] | None, dtype: Any
    ) -> Array:
        """Return an argument of a kernel, as `needed` names them."""
        match what:
            case "first":
                return np.asarray(self.csr.indptr)
            case "diagonal":
                return self.diagonal
            case "after":
                return self.after
            case "values":
                return self._values(np.dtype(dtype))
        wanted = tuple(int(np.prod(space.extent(sizes))) for space in (self.rows, self.cols))
        if self.csr.shape != wanted:
            raise ShapeError(
                f"A stored matrix has the shape {self.csr.shape}; its spaces have {wanted} points."
            )
        return self._places(self.cols.extent(sizes), strides)

    @cached_property
    def _converted(self) -> dict[Any, Array]:
        return {self.csr.data.dtype: self.csr.data}

    def _values(self, dtype: Any) -> Array:
        if dtype not in self._converted:
            self._converted[dtype] = _frozen(self.csr.data.astype(dtype))
        return self._converted[dtype]

    def _places(self, extent: Sequence[int], strides: Sequence[int] | None) -> Array:
        dense = [int(np.prod(extent[n + 1 :])) for n in range(len(extent))]
        if strides is None or list(strides) == dense:
            return np.asarray(self.csr.indices)
        kind = self.csr.indices.dtype
        if sum((n - 1) * s for n, s in zip(extent, strides, strict=True)) > np.iinfo(kind).max:
            raise ContiguityError(
                "The operand of a stored matrix is spread over too much memory.",
                hint="Pass a contiguous copy.",
            )
        index = np.unravel_index(self.csr.indices, tuple(extent))
        places = sum(i * s for i, s in zip(index, strides, strict=True))
        return np.asarray(places).astype(kind)


def _frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _check_shape(shape: tuple[int, int], rows: Space, cols: Space) -> None:
    """Check that a matrix fits spaces, as far as their sizes are known."""
    for what, space, count in ("rows", rows, shape[0]), ("columns", cols, shape[1]):
        if not count:
            raise ShapeError(f"The matrix has no {what}; {space!r} has at least one point.")
        if not _can_have(space, count):
            raise ShapeError(f"The matrix has {count} {what}; {space!r} has other points.")
    if rows == cols and shape[0] != shape[1]:
        raise ShapeError(
            f"The matrix has {shape[0]} rows and {shape[1]} columns; both are on {rows!r}."
        )


def _can_have(space: Space, count: int) -> bool:
    """Whether a space may have this number of points; with several sizes, as far as is known."""
    fixed = math.prod(e.constant for e in space.data.shape if e.is_constant)
    if count % fixed or not space.sizes:
        return count == fixed
    if len(space.sizes) > 1:
        return True
    (name,) = space.sizes

    def points(n: int) -> int:
        return math.prod(max(0, extent.evaluate({name: n})) for extent in space.data.shape)

    candidates = range(1, count + 2)
    place = bisect_left(candidates, count, key=points)
    return place < len(candidates) and points(candidates[place]) == count


def _canonical(csr: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return a matrix in the form described above; its own arrays may be taken over."""
    csr.sum_duplicates()
    csr.eliminate_zeros()
    kind = index_type(*csr.shape, csr.nnz)
    csr.indices, csr.indptr = csr.indices.astype(kind), csr.indptr.astype(kind)
    for array in csr.data, csr.indices, csr.indptr:
        _frozen(array)
    return csr


def needed(nests: Iterable[ir.Nest]) -> tuple[tuple[str, str, str, bool], ...]:
    """Return the arrays of stored matrices that nests read: matrix, array, operand, ``wide``."""
    found: dict[tuple[str, str, str, bool], None] = {}
    for value in (v for nest in nests for s in nest.statements for v in ir.walk(s.value)):
        match value:
            case ir.Gather(matrix, part=part, wide=wide):
                bounds = [name for name, _ in bounds_of(part)]
                found |= {(matrix, name, "", wide): None for name in (*bounds, "values")}
                found[matrix, "places", value.array, wide] = None
            case ir.Diagonal(matrix, wide=wide):
                found |= {(matrix, name, "", wide): None for name in ("diagonal", "values")}
    return tuple(found)


def bounds_of(part: ir.Range) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return the arrays that bound a part of a row, and where they do: at its number plus this."""
    return BOUNDS[part[0]], BOUNDS[part[1]]


def argument(matrix: str, what: str, array: str = "") -> str:
    """Return the name of a kernel's argument; ``array`` is the operand's."""
    return f"{matrix}_{what}_{array}" if array else f"{matrix}_{what}"
