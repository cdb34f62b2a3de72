"""Right-hand sides on flat vectors for SciPy's integrators, with sparse Jacobians."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import ir
from ..errors import ArgumentError, ShapeError
from ..matrices.linear_operator import flat_operator
from ..points.affine import Affine
from ..points.enumeration import evaluated, places_of, points_within
from ..points.numbers import Array, index_type, real
from ..points.sets import Domain
from ..programs import reductions
from ..programs.expression import Expression
from ..programs.program import Program, made_program
from ..programs.signature import Kind
from ..spaces.binding import match_sizes
from ..spaces.space import Space, VectorSpace
from ..trace.trace import scalar
from .entries import jacobian_entries
from .right_side import RightSide, State, check_right_side
from .stepper import arguments, state
from .tableaux import assign
from .tangent import jacobian_product, parts_of

if TYPE_CHECKING:
    import scipy.sparse
    from scipy.sparse.linalg import LinearOperator

Slot: TypeAlias = "list[Column]"
"""Entries that share a field, of which each row has at most one."""


class FlatRightSide:
    """A right side on flat vectors, with its Jacobian: the ``fun`` and ``jac`` of SciPy.

    A flat vector has the values of all unknowns one after the other, each in C order, as float64.

    Parameters
    ----------
    fun
        The right side, made by `rhs`.
    y0
        Arrays of the shapes of the unknowns: one, or a tuple of several. Their values are not used.

    Raises
    ------
    ArgumentError
        If the right side was not made by `rhs`, or an unknown is not an array.
    ShapeError
        If the shape of an array is not that of its unknown.

    Examples
    --------
    >>> import numpy as np, scipy.integrate, ssr
    >>> import boundary as bc
    >>> points = ssr.Space(ssr.size("n"))
    >>> ring = bc.fill(points.grow(1), bc.periodic())
    >>> bend = ssr.stencil(points, points.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})
    >>> @ssr.integrate.rhs(u=points, k=ssr.scalar)
    ... def react(t, u, k):
    ...     return k * (bend @ (ring @ u)) + u - u**3
    >>> u = np.cos(2 * np.pi * np.arange(64) / 64)
    >>> f = ssr.integrate.FlatRightSide(react, u)
    >>> found = scipy.integrate.solve_ivp(
    ...     f, (0.0, 5.0), f.pack(u), method="BDF", jac=f.jac, args=(20.0,)
    ... )
    >>> found.status, f.unpack(found.y[:, -1]).shape, f.jac(0.0, f.pack(u), 20.0).nnz
    (0, (64,), 192)
    """

    def __init__(self, fun: RightSide, y0: Any) -> None:
        check_right_side(fun)
        self.fun = fun
        arrays = state(fun, y0)
        if not all(isinstance(array, np.ndarray) for array in arrays):
            raise ArgumentError(
                "SciPy has no fields of several ranks.", hint="Give arrays of the whole."
            )
        kinds = [fun.kinds[name] for name in fun.unknowns]
        shapes = [_points(kind, a.shape) for kind, a in zip(kinds, arrays, strict=True)]
        spaces: list[Any] = [k.space if isinstance(k, VectorSpace) else k for k in kinds]
        self._sizes = match_sizes([*zip(fun.unknowns, spaces, shapes, strict=True)], {})
        self.shapes = tuple(array.shape for array in arrays)
        ends = np.cumsum([0, *(math.prod(shape) for shape in self.shapes)]).tolist()
        self._parts = [*map(slice, ends, ends[1:])]
        self._views = [*zip(self._parts, self.shapes, strict=True)]
        self.size: int = ends[-1]

    def __repr__(self) -> str:
        return f"<FlatRightSide of {self.fun.name}, {self.size} values>"

    def __call__(self, t: float, y: Any, *args: Any) -> Array:
        """Return the rates of change as a new vector.

        Parameters
        ----------
        t
            The time.
        y
            The unknowns, flat.
        *args
            The other arguments of the right side, in order; ``args=`` of `solve_ivp` of SciPy.

        Raises
        ------
        ArgumentError, ShapeError
            If a value does not fit.
        """
        given = self._fields(y)
        found = np.empty(self.size)
        self.fun.program(*self._fields(found), *given, *arguments(self.fun, args), t)
        return found

    def pack(self, y: Any) -> Array:
        """Return the unknowns as one flat vector, a copy.

        Parameters
        ----------
        y
            An array, or a tuple of one for each unknown.

        Raises
        ------
        ArgumentError, ShapeError
            If one does not fit.
        """
        arrays = state(self.fun, y)
        for name, array, shape in zip(self.fun.unknowns, arrays, self.shapes, strict=True):
            if array.shape != shape:
                raise ShapeError(f"The unknown {name} has shape {array.shape}, not {shape}.")
        return np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays])

    def unpack(self, y: Any) -> Any:
        """Return views of a flat vector in the shapes of the unknowns: one, or a tuple of several.

        Parameters
        ----------
        y
            The vector, such as a column of ``y`` in the result of SciPy's `solve_ivp`.

        Raises
        ------
        ArgumentError, ShapeError
            If it is not a vector of ``size`` numbers.
        """
        found = tuple(self._fields(y))
        return found[0] if len(found) == 1 else found

    def jac(self, t: float, y: Any, *args: Any) -> scipy.sparse.csc_array:
        """Return the Jacobian as a sparse matrix, whose structure is the same at all states.

        Entries are derivatives of the right side's function, through products with matrices, fills
        and functions; nothing is differenced. The first call finds the structure.

        Parameters
        ----------
        t, y, *args
            As for a call.

        Raises
        ------
        ArgumentError, ShapeError
            If a value does not fit.
        UnsupportedError
            If the right side has reductions, solves, products with stored matrices, or fills
            between blocks: then `operator` may exist.
        """
        given = self._fields(y)
        structure = self._structure
        values = [np.empty(shape) for shape in structure.shapes]
        structure.program(*values, *given, *arguments(self.fun, args), t)
        return structure.matrix(values)

    def operator(self, t: float, y: Any, *args: Any) -> LinearOperator:
        """Return the Jacobian as a ``LinearOperator``, whose products are derivatives.

        Parameters
        ----------
        t, y, *args
            As for a call; arrays are copied.

        Raises
        ------
        ArgumentError, ShapeError
            If a value does not fit.
        UnsupportedError
            If the right side has reductions or solves.
        """
        point = np.array(self._vector(y))
        rest = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        product = _Product(self, (*self._fields(point), *arguments(self.fun, rest), _time(t)))
        return flat_operator(product, (self.size, self.size), np.float64)

    def _vector(self, y: Any) -> Array:
        """Return a vector of the right length, contiguous."""
        found = np.asarray(y)
        if found.dtype.kind not in "biuf":
            raise ArgumentError(f"y is {type(y).__name__}, not a vector of real numbers.")
        if found.shape != (self.size,):
            raise ShapeError(f"y has shape {found.shape}, not {(self.size,)}.")
        return np.ascontiguousarray(found, np.float64)

    def _fields(self, y: Any) -> list[Array]:
        """Return the parts of a vector in the shapes of the unknowns."""
        whole = self._vector(y)
        return [whole[part].reshape(shape) for part, shape in self._views]

    @cached_property
    def _structure(self) -> Structure:
        return Structure(
            *self.fun._kept("jacobian entries", lambda: _entries(self.fun)), self._sizes
        )


def _points(kind: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of points of an array of a kind."""
    if not isinstance(kind, VectorSpace):
        return shape
    if len(shape) != kind.space.ndim + 1 or shape[0] != kind.components:
        raise ShapeError(f"An array of shape {shape} is given for a field on {kind!r}.")
    return shape[1:]


def _time(t: Any) -> float:
    found = real(t)
    if found is None:
        raise ArgumentError(f"The time is {t!r}, not a number.")
    return float(found)


class _Product:
    """Products of the Jacobian at a point with flat vectors."""

    def __init__(self, of: FlatRightSide, at: tuple[Any, ...]) -> None:
        self.of = of
        self.at = at
        self.program = of.fun._kept("jacobian product", lambda: _product(of.fun))

    def __repr__(self) -> str:
        return f"the Jacobian of {self.of.fun.name}"

    def _flat(self, v: Array) -> Array:
        found = np.empty(self.of.size)
        self.program(*self.of._fields(found), *self.of._fields(v), *self.at)
        return found


def _product(fun: RightSide) -> Program:
    """Return the program of a product of the Jacobian: ``(product, v, y, args, t)``."""

    def body(made: State, v: State, y: State, args: State, t: Any) -> None:
        assign(made, jacobian_product(fun, t, y, args, v))

    return fun._program(("J_{}", "v_{}", "{}"), body, fun.time, name=f"{fun.name}_product")


# -- entries as a sparse matrix --------------------------------------------------------------------


def _entries(fun: RightSide) -> tuple[Program, list[tuple[Space, list[Slot]]], list[Space]]:
    """Return the program that computes all entries, and the layout of the entries.

    Its first parameters are the slots of the components, one after the other. The second result has
    for each component its space and its slots; the third the spaces of the components.
    """
    slots: list[tuple[Space, list[Slot]]] = []

    def body(*values: Any) -> Any:
        made, y = values[: -len(fun.kinds) - 1], values[-len(fun.kinds) - 1 :]
        count = len(fun.unknowns)
        rates, blocks = jacobian_entries(fun, y[-1], y[:count], y[count:-1])
        spaces = [part.space for rate in rates for part in parts_of(rate)]
        found = [(s, _slots(row)) for s, row in zip(spaces, blocks, strict=True)]
        places = iter(made)
        for space, row in found:
            for slot, target in zip(row, places, strict=False):
                terms = tuple(
                    ir.Term(f.domain, f.value) for column in slot for f in column.families
                )
                target[:] = Expression(space, ir.Sum(terms))
        slots[:] = found
        return None if made else reductions.sum(parts_of(y[0])[0])

    made_program(f"{fun.name}_entries", body, {**fun.kinds, fun.time: scalar})
    spaces = [space for space, _ in slots]
    kinds: dict[str, Kind] = {}
    for n, (space, row) in enumerate(slots):
        kinds |= {fun._fresh(f"J{n}_{k}"): space for k in range(len(row))}
    program = made_program(f"{fun.name}_entries", body, {**kinds, **fun.kinds, fun.time: scalar})
    return program, slots, spaces


@dataclass(frozen=True)
class Column:
    """The entries of rows by one affine map to columns: a component, and the sum of families."""

    component: int
    index: tuple[Affine, ...]
    families: tuple[ir.Family, ...]

    @cached_property
    def points(self) -> Domain:
        """The rows."""
        return Domain.union([family.domain for family in self.families])


def _slots(row: Sequence[Sequence[ir.Family]]) -> list[Slot]:
    """Return the entries of a row in few groups, in which rows have one column at most."""
    by_column: dict[tuple[int, Any], list[ir.Family]] = {}
    for component, families in enumerate(row):
        for family in families:
            by_column.setdefault((component, family.column), []).append(family)
    found: list[tuple[Domain, Slot]] = []
    for (component, index), same in by_column.items():
        column = Column(component, index, tuple(same))
        free = (n for n, (taken, _) in enumerate(found) if (taken & column.points).empty)
        n = next(free, None)
        if n is None:
            found.append((column.points, [column]))
        else:
            found[n] = found[n][0] | column.points, [*found[n][1], column]
    return [slot for _, slot in found]


@dataclass(frozen=True)
class Structure:
    """The structure of a sparse Jacobian for given sizes, and the program of its entries."""

    program: Program
    slots: list[tuple[Space, list[Slot]]]
    spaces: list[Space]
    sizes: dict[str, int]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the arrays that the program assigns."""
        return [space.extent(self.sizes) for space, row in self.slots for _ in row]

    def matrix(self, values: Sequence[Array]) -> scipy.sparse.csc_array:
        """Return the matrix of entries that the program has computed."""
        import scipy.sparse as sparse

        order, starts, indices, pointers = self._layout
        every = [v.ravel()[at] for v, at in zip(values, self._places, strict=True)]
        data = np.concatenate([np.empty(0), *every])[order]
        if len(starts) < len(data):
            data = np.add.reduceat(data, starts)
        size = len(pointers) - 1
        return sparse.csc_array((data, indices.copy(), pointers.copy()), (size, size))

    @cached_property
    def _rows_and_columns(self) -> list[tuple[Array, Array, Array]]:
        """For each slot the places of its entries in its array, their rows and their columns."""
        extents = [math.prod(space.extent(self.sizes)) for space in self.spaces]
        first = np.cumsum([0, *extents])
        found = []
        for r, (space, row) in enumerate(self.slots):
            for slot in row:
                triples = [
                    (at, at + first[r], number + first[column.component])
                    for column in slot
                    for at, number in self._numbers(column, space, self.spaces[column.component])
                ]
                parts = [np.concatenate([np.empty(0, int), *p]) for p in zip(*triples, strict=True)]
                found.append(tuple(parts) if parts else (np.empty(0, int),) * 3)
        return found  # type: ignore[return-value]

    @cached_property
    def _places(self) -> list[Array]:
        return [places for places, _, _ in self._rows_and_columns]

    def _numbers(self, column: Column, rows: Space, cols: Space) -> Iterator[tuple[Array, Array]]:
        """Yield the numbers that rows and their columns have in C order."""
        box = rows.box(self.sizes)
        numbers = np.arange(math.prod(rows.extent(self.sizes))).reshape(rows.extent(self.sizes))
        for points in points_within(column.points, box, self.sizes):
            at = numbers[places_of(points, box)]
            where = {**self.sizes, **dict(zip(rows.axes, points, strict=True))}
            place = tuple(
                np.broadcast_to(evaluated(c, where) - low, at.shape)
                for c, (low, _) in zip(column.index, cols.box(self.sizes), strict=True)
            )
            yield at.ravel(), np.ravel_multi_index(place, cols.extent(self.sizes)).ravel()

    @cached_property
    def _layout(self) -> tuple[Array, Array, Array, Array]:
        """The order of the entries by columns and rows, and the structure of the matrix."""
        _, rows, columns = (
            np.concatenate([np.empty(0, int), *p])
            for p in zip(*self._rows_and_columns, strict=True)
        )
        size = sum(math.prod(space.extent(self.sizes)) for space in self.spaces)
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
        new = np.ones(len(rows), bool)
        new[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
        starts = np.flatnonzero(new)
        kind = index_type(size, size, len(starts))
        counts = np.bincount(columns[starts], minlength=size)
        pointers = np.concatenate([[0], np.cumsum(counts)]).astype(kind)
        return order, starts, rows[starts].astype(kind), pointers
