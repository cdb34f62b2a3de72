"""Block-edge synchronisation: points that several blocks hold become equal.

A node on a linked side is a point of both blocks, one on an edge or in a corner of more. Each block
holds a copy; synchronisation replaces all copies of a point by their mean, or by that of its owner.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

import ssr
from ssr import Vector
from ssr.errors import ArgumentError, SpaceError
from ssr.extension import Array, Domain, Expression, External, Layout, Tables, extend

from ..closure.ruled import LARGE, several
from ..fills.operands import declared, kernel_dtype, on_ranks, real
from ..tables.assemble import assemble, form_of, general_form
from ..tables.machine import Form
from ..tables.machine_source import source
from ..tables.pieces import Piece
from .means import Means
from .oracle import synchronisation

if TYPE_CHECKING:
    import scipy.sparse

How: TypeAlias = Literal["average", "owner"]


@dataclass(frozen=True, eq=False)
class Synchronise:
    """The matrix that makes the copies of shared points equal; made by `bc.synchronise`.

    Attributes
    ----------
    means
        Which points are shared, and what their copies become.
    """

    means: Means

    __array_ufunc__ = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"synchronise({', '.join(dict.fromkeys(p.location for p in self.means.points))})"

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The spaces of the fields."""
        if self.means.components is None:
            return self.means.points
        return tuple(p.vector(self.means.components) for p in self.means.points)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""
        return tuple(sorted({name for p in self.means.points for name in p.sizes}))

    def __repr__(self) -> str:
        return f"<Synchronise {', '.join(map(repr, self.kinds))}>"

    def __matmul__(self, x: Any) -> Any:
        """Return the synchronised field, or a tuple of fields if it is given one."""
        many = isinstance(x, (tuple, list))
        each = list(x) if many else [x]
        if len(each) != len(self.means.points):
            raise ArgumentError(f"{self.name} is applied to {len(self.means.points)} fields.")
        if isinstance(each[0], (Expression, Vector)):
            made: Any = self._applied(each)
        elif any(map(on_ranks, each)):
            made = [x.copy() for x in each]
            self._program(*made)
        else:
            arrays = [real(self.name, a) for a in each]
            made = [np.array(a, kernel_dtype(a), order="C") for a in arrays]
            self._program(*made)
        return tuple(made) if many else made[0]

    def _applied(self, each: list[Any]) -> list[Any]:
        count = self.means.components
        if count is None:
            return list(extend(SharedPoints(self), each))
        if any(not isinstance(v, Vector) or len(v) != count for v in each):
            raise SpaceError(f"{self.name} is applied to vectors of {count} components.")
        made = list(extend(SharedPoints(self), [part for vector in each for part in vector]))
        return [Vector(made[n : n + count]) for n in range(0, len(made), count)]

    @cached_property
    def _program(self) -> ssr.Program:
        names = [f"x{n}" for n in range(len(self.means.points))]

        def body(*fields: Any) -> None:
            for field, made in zip(fields, self._applied(list(fields)), strict=True):
                field[:] = made

        body.__name__ = "synchronise"
        return declared(body, dict(zip(names, self.kinds, strict=True)))

    def apply(self, *fields: Array) -> None:
        """Synchronise arrays in place: ``fields`` has one for each space that was given."""
        self._program(*fields)

    # -- as a matrix -----------------------------------------------------------------------------

    def to_scipy(self, **sizes: int) -> scipy.sparse.csr_array:
        """Return the matrix; rows are numbered field by field, then component by component.

        It is made of the classes of equal points, found point by point, for the given ``sizes``.
        """
        return synchronisation(self.means, sizes)


class SharedPoints(External):
    """Synchronisation as a step of programs.

    All copies are read before the first is written.
    """

    data = ()

    def __init__(self, of: Synchronise, *, broad: bool = False) -> None:
        self.of = of
        self.broad = broad
        self.name = of.name
        self.fields = tuple(
            (p, p) for p in of.means.points for _ in range(of.means.components or 1)
        )

    def alike(self, other: External) -> bool:
        """Whether another step is known to make the same means."""
        return (
            super().alike(other)
            and isinstance(other, SharedPoints)
            and self.of.means.alike(other.of.means)
        )

    def source(self, name: str) -> str:
        """Return the text of the machine."""
        return source(self.form, name)

    def generally(self) -> SharedPoints:
        """Return the same step with a machine for any parts of its tables."""
        return SharedPoints(self.of, broad=True)

    @cached_property
    def form(self) -> Form:
        """What the machine must be able to do; it is the same for all numbers."""
        names, means = self.of.sizes, self.of.means.outlined()
        likely = {n: LARGE + 4 * k for k, n in enumerate(names)}
        find = general_form if self.broad else form_of
        made = (
            find(means.pieces(sizes), len(self.fields), staged=True)
            for sizes in several(likely, names)
        )
        return reduce(operator.or_, made)

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return the tables that the machine works through."""
        return assemble(list(self.parts(sizes)), self.form, layouts, dtype, staged=True)

    def parts(self, sizes: Mapping[str, int]) -> Iterator[Piece]:
        """Yield what is made, for given sizes."""
        return self.of.means.pieces(sizes)

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do the same by the SciPy matrix."""
        known = {n: v for n, v in sizes.items() if n in self.of.sizes}
        made = self.of.to_scipy(**known) @ np.concatenate([a.ravel() for a in arrays])
        place = 0
        for a in arrays:
            a[...] = made[place : place + a.size].reshape(a.shape)
            place += a.size

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        """Return the step itself."""
        return self

    def joined(self, other: External) -> External | None:
        """Return None: each synchronisation is a pass of its own."""
        return None
