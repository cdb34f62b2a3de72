"""The matrix pencil of an eigenvalue problem ``A x = lambda B x``, as programs on vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ... import ir
from ...compiling import compiling
from ...errors import ArgumentError, SpaceError
from ...matrices.matrix import Matrix
from ...matrices.operator import Operator
from ...matrices.stored_matrix import StoredMatrix
from ...programs import reductions
from ...programs.program import Program, begin, own_program
from ...spaces.space import Space, VectorSpace
from ...trace.trace import scalar
from .. import vectors
from ..composed import Composed
from ..factorizations import Factored, Factorization
from ..preconditioners import Preconditioner, called
from ..smoothers import Smoother
from ..solver import no_matrix
from ..vectors import Vector
from .columns import GROUP, Columns, Grouped

Linear: TypeAlias = "Operator[Any] | Program"
"""A matrix, or a program ``(y, x)`` that assigns y the product of a matrix with x."""


class Block:
    """Columns with their products.

    Parameters
    ----------
    parts
        The columns v, their products with A, and those with B unless that is the identity.
    """

    def __init__(self, parts: Sequence[Columns]) -> None:
        self.parts = tuple(parts)
        self.v, self.av, self.bv = parts[0], parts[1], parts[2 if len(parts) > 2 else 0]

    def clear(self, number: int) -> None:
        """Set a column and its products to zero."""
        for part in self.parts:
            vectors.assign(part[number], 0.0)


class Pencil:
    """The matrices A and B, a preconditioner M, and their programs.

    Parameters
    ----------
    A, B, M
        See `lobpcg`.
    """

    def __init__(self, A: Linear, B: Linear | None = None, M: Preconditioner | None = None) -> None:
        self.space = _space("A", A)
        if B is not None and _space("B", B) != self.space:
            raise SpaceError(
                f"B acts on {_space('B', B)!r}, and A on {self.space!r}.",
                hint="Both take vectors on the same points.",
            )
        self._products = [_product(each, self.space) for each in (A, B) if each is not None]
        self._approximate = _preconditioner(A, M, self.space)
        self._grouped: dict[int, Grouped] = {}

    def grouped(self, count: int) -> Grouped:
        """Return the programs for a number of columns, which are processed in groups."""
        length = -(-count // -(-count // GROUP))
        return self._grouped.setdefault(length, Grouped(self.space, length))

    def block(self, v: Columns) -> Block:
        """Return columns with zeros for their products."""
        return Block([v, *([vectors.zeros(column) for column in v] for _ in self._products)])

    def multiply(self, block: Block, which: Sequence[int]) -> None:
        """Compute the products of some columns."""
        for product, images in zip(self._products, block.parts[1:], strict=True):
            for number in which:
                product(images[number], block.v[number])

    def begin(self, like: Vector, groups: Grouped) -> None:
        """Begin to build the programs for arrays, so that threads do a part of it.

        The preconditioner is made for the values that A has now.
        """
        if isinstance(like, np.ndarray):
            parts = self._residual, self.largest, self.scale, *self._products, self._approximate
            with compiling():
                for part in (*groups.programs, *parts):
                    if isinstance(part, Program):
                        begin(part, like.dtype.name)
                    elif isinstance(part, Composed):
                        part._begin(like.dtype.name)
        if isinstance(self._approximate, Factored):
            self._approximate.update(like)

    def precondition(self, z: Vector, r: Vector) -> None:
        """Assign z the product of the preconditioner with r."""
        if self._approximate is None:
            vectors.assign(z, r)
        else:
            self._approximate(z, r)

    def residual(self, r: Vector, block: Block, number: int, value: float) -> tuple[float, float]:
        """Assign r the residual of a column with an eigenvalue; return its norm and that of B x."""
        found: tuple[float, float] = self._residual(r, block.av[number], block.bv[number], value)
        return found

    @cached_property
    def _residual(self) -> Program:
        @own_program(r=self.space, a=self.space, b=self.space, eigenvalue=scalar)
        def residual(r: Any, a: Any, b: Any, eigenvalue: Any) -> Any:
            r[:] = a - eigenvalue * b
            return reductions.usual_norm(r), reductions.usual_norm(b)

        return residual

    @cached_property
    def largest(self) -> Program:
        """The program that returns the largest magnitude of numbers."""

        @own_program(x=self.space)
        def largest(x: Any) -> Any:
            return reductions.max(abs(x))

        return largest

    @cached_property
    def scale(self) -> Program:
        """The program that multiplies a vector by a number."""

        @own_program(x=self.space, factor=scalar)
        def scale(x: Any, factor: Any) -> None:
            x[:] = factor * x

        return scale


def _space(name: str, A: Any) -> Space | VectorSpace:
    """Return the space on which a matrix or program acts."""
    if isinstance(A, Program):
        kinds = [kind for _, kind in A.signature.kinds]
        made = {field for step in A.ir.steps for field in ir.made(step)}
        names = [part for part, _ in A.signature.flat]
        if len(kinds) == 2 and kinds[0] == kinds[1] and names[0] in made:
            found = kinds[0]
            if isinstance(found, (Space, VectorSpace)):
                return found
        raise ArgumentError(
            f"{name} is {A!r}, which does not assign its first parameter from its second.",
            hint="Write a program (y, x) of fields on one space, with y[:] = ...",
        )
    if not isinstance(A, Operator):
        raise no_matrix(A)
    if A.rows != A.cols:
        raise SpaceError(
            f"{A.name} is not square: its rows and columns are different spaces.",
            note=f"rows {A.rows!r}, columns {A.cols!r}",
        )
    rows: Any = A.rows
    if not isinstance(rows, (Space, VectorSpace)):
        raise SpaceError(
            f"{A.name} acts on a tuple of fields, {rows!r}.",
            hint="Vectors are single fields: components on one space are a vector space.",
        )
    return rows


def _product(A: Linear, space: Space | VectorSpace) -> Callable[[Any, Any], Any]:
    """Return the function ``(y, x)`` that assigns y the product of A with x."""
    if isinstance(A, Program):
        return A

    @own_program(y=space, x=space)
    def multiply(y: Any, x: Any) -> None:
        y[:] = A @ x

    return multiply


def _preconditioner(
    A: Linear, M: Preconditioner | None, space: Space | VectorSpace
) -> Callable[..., Any] | None:
    """Return a preconditioner as a function ``(z, r)`` of vectors."""
    if isinstance(M, Operator):
        if _space("M", M) != space:
            raise SpaceError(f"The preconditioner {M.name} acts on other spaces than A.")
        return _product(M, space)
    if isinstance(M, (Smoother, Factorization)) and not isinstance(A, (Matrix, StoredMatrix)):
        raise ArgumentError(
            f"{M!r} needs the entries of A, which is {A!r}.",
            hint="Use a program (z, r) as M.",
        )
    return called(A, M)  # type: ignore[arg-type]
