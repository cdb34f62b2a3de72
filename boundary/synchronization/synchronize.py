"""Synchronization of block edges: shared points of blocks receive one common value.

A node on a linked side belongs to both blocks; a node on an edge or corner may belong to more. Each
block stores a copy. Synchronization replaces all copies of a point by their mean or by the value of
the owner.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

import ssr
from ssr import Vector
from ssr.errors import SpaceError
from ssr.extension import Array, Domain, External, Layout, Tables, extend, kernel, own_program

from ..closure.ruled import LARGE, several
from ..fills.affine import Affine
from ..fills.operands import Kind, fields_alone, operands_of, staged, store
from ..tables.assemble import assemble, form_of
from ..tables.machine import Form
from ..tables.machine_functions import functions
from ..tables.pieces import Piece
from .means import Means
from .oracle import synchronization
from .staged_rows import is_staged, staged_rows

if TYPE_CHECKING:
    import scipy.sparse


class Synchronize(Affine):
    """The matrix that makes the copies of shared points equal; made by `bc.synchronize`.

    It is an affine matrix without offset, like fills: products with matrices and fills, sums and
    multiples are applied factor by factor, and the property ``linear`` of each is a matrix with
    entries.

    Attributes
    ----------
    means
        The shared points, and the weights of their copies.

    Examples
    --------
    The second difference at the nodes of two lines of cells; the matrix is that of one line:

    >>> import numpy as np, boundary as bc, ssr
    >>> rod = bc.Grid(2 * [(2,)], links=bc.topologies.bricks(2))
    >>> nodes = rod.cells.nodes()
    >>> same = bc.synchronize(nodes)
    >>> (same.T @ same.linear).to_scipy().toarray()[2:4, 2:4]
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> A = ssr.stencil(nodes, nodes, {(0, -1): -1.0, (0, 0): 2.5, (0, 1): -1.0}, outside="zero")
    >>> (same @ A).linear.to_scipy().shape
    (6, 6)
    """

    def __init__(
        self, means: Means, bound: Mapping[str, int] | None = None, free: Synchronize | None = None
    ) -> None:
        self.means = means
        self._bound = MappingProxyType(dict(bound or {}))
        self._free = self if free is None else free  # its program is valid for all sizes

    @property
    def name(self) -> str:
        """The name of the matrix in messages."""
        return f"synchronize({', '.join(dict.fromkeys(p.location for p in self.means.points))})"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The spaces of the fields."""
        if self.means.components is None:
            return self.means.points
        return tuple(p.vector(self.means.components) for p in self.means.points)

    @property
    def rows(self) -> Kind:
        """The spaces of the results, which are those of the operands."""
        return self.kinds if len(self.kinds) > 1 else self.kinds[0]

    @property
    def cols(self) -> Kind:
        """The spaces of the operands."""
        return self.rows

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""
        return tuple(sorted({name for p in self.means.points for name in p.sizes}))

    @property
    def homogeneous(self) -> bool:
        """Whether the offset is zero because no part has one: it is."""
        return True

    def __repr__(self) -> str:
        return f"<Synchronize {', '.join(map(repr, self.kinds))}>"

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""
        return dict(self._bound)

    def bind(self, **values: Any) -> Synchronize:
        """Return the matrix with integers for symbolic sizes."""
        self.check_values(values)
        return Synchronize(self.means, {**self._bound, **values}, self._free)

    # -- application -----------------------------------------------------------------------------

    def applied(self, x: Any) -> Any:
        """Return the synchronized field of a program, or a tuple of them."""
        several = isinstance(self.rows, tuple)
        made = self._applied(list(operands_of(self.name, self.cols, x)))
        return tuple(made) if several else made[0]

    def _applied(self, each: list[Any]) -> list[Any]:
        count = self.means.components
        if count is None:
            return list(extend(SharedPoints(self), each))
        if any(not isinstance(v, Vector) or len(v) != count for v in each):
            raise SpaceError(f"{self.name} takes vectors of {count} components.")
        made = list(extend(SharedPoints(self), [part for vector in each for part in vector]))
        return [Vector(made[n : n + count]) for n in range(0, len(made), count)]

    @cached_property
    def _program(self) -> ssr.Program:
        def body(*fields: Any) -> None:
            store(fields, tuple(self._applied(list(fields))))

        body.__name__ = "synchronize"
        return own_program(**{f"x{n}": kind for n, kind in enumerate(self.kinds)})(body)

    def run(self, made: Sequence[Any], given: Sequence[Any]) -> None:
        """Synchronize the arrays ``given`` into the arrays ``made``."""
        for target, values in zip(made, given, strict=True):
            if isinstance(target, np.ndarray):
                np.copyto(target, values)
            else:
                target.set(values)
        self._free._program(*made)

    def in_place(self, *fields: Array) -> None:
        """Synchronize arrays in place: ``fields`` has one for each space that was given."""
        self._free._program(*fields)

    # -- as a matrix -----------------------------------------------------------------------------

    @cached_property
    def linear(self) -> Any:
        """The matrix of its entries: an `ssr.Matrix`; an `ssr.BlockMatrix` for several components.

        With weights of points, a basis, or very many blocks it is a stored matrix, of SciPy's
        entries, and so it is where symbolic sizes are bound.

        Raises
        ------
        UnboundError
            If it is stored, and a size is not bound.
        """
        known = bool(self.sizes) and set(self.sizes) <= set(self._bound)
        if known or not is_staged(self.means):
            kind = fields_alone(self.rows)
            return ssr.from_scipy(self.to_scipy(), rows=kind, cols=kind)
        count = len(self.means.points)
        given = self.means.components, self._bound
        return staged(self._between, (count, count), *given, several=count > 1)

    def _between(self, r: int, c: int) -> ssr.Matrix:
        """Return the matrix from one field to another."""
        points = self.means.points
        return ssr.matrix(rows=points[r], cols=points[c])(staged_rows(self.means, r, c))

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the matrix; rows are numbered field by field, then component by component.

        It is assembled from the classes of equal points, found point by point.

        Raises
        ------
        UnboundError
            If a size is not bound.
        """
        return synchronization(self.means, self._all_sizes("Bind it: same"))


class SharedPoints(External):
    """Synchronization as a step of programs.

    All copies are read before the first is written.
    """

    data = ()

    def __init__(self, of: Synchronize, *, broad: bool = False) -> None:
        self.of = of
        self.broad = broad
        self.name = of.name
        self.fields = tuple(
            (p, p) for p in of.means.points for _ in range(of.means.components or 1)
        )

    def alike(self, other: External) -> bool:
        """Whether another step provably computes the same means."""
        return (
            super().alike(other)
            and isinstance(other, SharedPoints)
            and self.of.means.alike(other.of.means)
        )

    def functions(self, name: str) -> tuple[kernel.Function, ...]:
        """Return the functions of the machine."""
        return functions(self.form, name)

    def generally(self) -> SharedPoints:
        """Return the same step with a machine for arbitrary parts of its pieces."""
        return SharedPoints(self.of, broad=True)

    @cached_property
    def form(self) -> Form:
        """The operations that the machine needs; they do not depend on the values."""
        names, means = self.of.sizes, self.of.means.outlined()
        likely = {n: LARGE + 4 * k for k, n in enumerate(names)}
        made = (
            form_of(means.pieces(sizes), len(self.fields), staged=True, broad=self.broad)
            for sizes in several(likely, names)
        )
        return reduce(operator.or_, made)

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return the tables of the machine."""
        return assemble(list(self.parts(sizes)), self.form, layouts, dtype, staged=True)

    def parts(self, sizes: Mapping[str, int]) -> Iterator[Piece]:
        """Yield the pieces that are computed, for given sizes."""
        return self.of.means.pieces(sizes)

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Apply the SciPy matrix, as a reference."""
        made = synchronization(self.of.means, sizes) @ np.concatenate([a.ravel() for a in arrays])
        place = 0
        for a in arrays:
            a[...] = made[place : place + a.size].reshape(a.shape)
            place += a.size

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        """Return the step itself."""
        return self

    def joined(self, other: External) -> External | None:
        """Return None: synchronizations are separate passes."""
        return None
