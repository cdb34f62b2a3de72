"""Affine matrices: ``x -> A x + c``, and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import ssr
from ssr.errors import DtypeError, SpaceError
from ssr.space import Space
from ssr.vectors import VectorSpace

if TYPE_CHECKING:
    import scipy.sparse

Kind: TypeAlias = "Space | VectorSpace"


class Affine(ABC):
    """An affine matrix ``x -> A x + c``: its `linear` part A and its `offset` c.

    Fills are affine matrices, and so are products of them with each other and with matrices:
    ``(A, a) @ (B, b) = (A B, A b + a)``.
    """

    __array_ufunc__ = None

    name: str
    linear: Any

    @property
    @abstractmethod
    def rows(self) -> Kind:
        """The space of the results."""

    @property
    @abstractmethod
    def cols(self) -> Kind:
        """The space of the operands."""

    @abstractmethod
    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the affine matrix applied to an array."""

    @abstractmethod
    def applied(self, x: Any) -> Any:
        """Return the affine matrix applied to an expression of a program."""

    @abstractmethod
    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix."""

    @property
    def factors(self) -> tuple[Any, ...]:
        """The matrices and fills it is the product of."""
        return (self,)

    @cached_property
    def offset(self) -> Any:
        """The constant part c, as an array: what a field of zeros becomes.

        Raises
        ------
        UnboundError
            If a size or parameter has no value.
        """
        return self.apply(np.zeros(shape_of(self.cols, self.known_sizes())))

    @abstractmethod
    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""

    def __matmul__(self, x: Any) -> Any:
        from ssr.expression import Expression
        from ssr.vectors import Vector

        if isinstance(x, (Expression, Vector)):
            return self.applied(x)
        if isinstance(x, (Affine, ssr.Matrix, ssr.BlockMatrix)):
            return Product(self, x)
        return self.apply(np.asarray(x))

    def __rmatmul__(self, matrix: Any) -> Any:
        if isinstance(matrix, (ssr.Matrix, ssr.BlockMatrix)):
            return Product(matrix, self)
        return NotImplemented


class Product(Affine):
    """The product of matrices and affine matrices, applied from the right.

    Raises
    ------
    SpaceError
        If the columns of a factor are not the rows of the next one.
    UndefinedGhostError, AmbiguousGhostError
        If a matrix reads a ghost that the fill to its right does not define.
    """

    def __init__(self, left: Any, right: Any) -> None:
        self._factors = (*_factors(left), *_factors(right))
        if spaces_of(left.cols) != spaces_of(right.rows):
            raise SpaceError(
                f"{left.name} @ {right.name}: the columns of the first are not the rows of the "
                "second.",
                note=f"{left.cols!r} and {right.rows!r}",
            )
        self.name = f"({left.name} @ {right.name})"
        self._program  # noqa: B018  what is read must be defined

    def __repr__(self) -> str:
        return f"<Affine {self.name}: {self.cols!r} -> {self.rows!r}>"

    @property
    def rows(self) -> Kind:
        """The space of the results."""
        return self._factors[0].rows  # type: ignore[no-any-return]

    @property
    def cols(self) -> Kind:
        """The space of the operands."""
        return self._factors[-1].cols  # type: ignore[no-any-return]

    @property
    def factors(self) -> tuple[Any, ...]:
        """The matrices and fills it is the product of."""
        return self._factors

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""
        found: dict[str, int] = {}
        for factor in self._factors:
            if isinstance(factor, Affine):
                found |= factor.known_sizes()
        return found

    @cached_property
    def linear(self) -> Any:
        """The linear part: the product of the linear parts, with the boundary folded in."""
        found = None
        for factor in self._factors:
            part = factor.linear if isinstance(factor, Affine) else factor
            found = part if found is None else found @ part
        return found

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix."""
        import scipy.sparse

        found = None
        for factor in self._factors:
            sized = factor
            if not isinstance(factor, Affine):
                known = {n: v for n, v in self.known_sizes().items() if n in factor.sizes}
                sized = factor.bind(**known) if known else factor
            found = sized.to_scipy() if found is None else found @ sized.to_scipy()
        return scipy.sparse.csr_array(found)

    def applied(self, x: Any) -> Any:
        """Return the product applied to an expression of a program."""
        for factor in reversed(self._factors):
            x = factor @ x
        return x

    @cached_property
    def _program(self) -> ssr.Program:
        @ssr.program(y=self.rows, x=self.cols)
        def product(y: Any, x: Any) -> None:
            y[:] = self.applied(x)

        return product

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the product applied to an array.

        Parameters
        ----------
        out
            The result; by default a new array.
        """
        x = numbers_of(x)
        if out is None:
            sizes = sizes_of(self.cols, x.shape)
            kind = x.dtype if x.dtype == np.float32 else np.float64
            out = np.empty(shape_of(self.rows, {**self.known_sizes(), **sizes}), kind)
            x = x.astype(kind, copy=False)
        self._program(out, x)
        return out


def numbers_of(x: Any) -> Any:
    """Return an array of real numbers.

    Raises
    ------
    DtypeError
        If it holds something else.
    """
    found = np.asarray(x)
    if found.dtype.kind not in "biuf":
        raise DtypeError(f"The array has dtype {found.dtype}, not float64 or float32.")
    return found


def _factors(operand: Any) -> tuple[Any, ...]:
    return operand.factors if isinstance(operand, Affine) else (operand,)


def spaces_of(kind: Any) -> Any:
    """Return a kind of field so that equal kinds compare equal."""
    if isinstance(kind, VectorSpace):
        return kind.components, kind.space
    return kind


def shape_of(kind: Any, sizes: dict[str, int]) -> tuple[int, ...]:
    """Return the shape of an array for given sizes."""
    if isinstance(kind, VectorSpace):
        return (kind.components, *kind.space.extent(sizes))
    return kind.extent(sizes)  # type: ignore[no-any-return]


def sizes_of(kind: Any, shape: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes that follow from the shape of an array."""
    from ssr.binding import match_sizes

    if isinstance(kind, VectorSpace):
        return match_sizes([("x", kind.space, shape[1:])], {})
    return match_sizes([("x", kind, shape)], {})
