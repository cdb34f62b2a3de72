"""Affine matrices: ``x -> A x + c``, and their products."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import ssr
from ssr.errors import ArgumentError, DtypeError, ShapeError, SpaceError
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

    @property
    @abstractmethod
    def name(self) -> str:
        """The matrix as it was written."""

    @property
    @abstractmethod
    def linear(self) -> Any:
        """The linear part."""

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
    @abstractmethod
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""

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

    @property
    @abstractmethod
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the rules."""

    @abstractmethod
    def bind(self, **values: Any) -> Affine:
        """Return the affine matrix with values for parameters and sizes."""

    def check_names(self, values: Mapping[str, Any]) -> None:
        """Check that values are given for parameters and sizes only.

        Raises
        ------
        ArgumentError
            If there is no such name.
        """
        known = {*self.parameters, *self.sizes}
        for name in values:
            if name not in known:
                raise ArgumentError(
                    f"{self.name} has no parameter {name!r}.",
                    hint=f"It has {', '.join(sorted(known)) or 'none'}.",
                )

    @abstractmethod
    def values(self) -> list[Any]:
        """Return the values of all parameters.

        Raises
        ------
        UnboundError
            If one has none.
        """

    @abstractmethod
    def given(self, values: Sequence[Any]) -> Affine:
        """Return the affine matrix with other values for all parameters, in their order."""

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
        self._name = f"({left.name} @ {right.name})"
        self._free = self  # its program serves all values of parameters
        self._program  # noqa: B018  what is read must be defined

    def __repr__(self) -> str:
        return f"<Affine {self.name}: {self.cols!r} -> {self.rows!r}>"

    @property
    def name(self) -> str:
        """The product as it was written."""
        return self._name

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

    @property
    def _affine(self) -> tuple[Affine, ...]:
        return tuple(f for f in self._factors if isinstance(f, Affine))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the fills, one fill after the other."""
        return tuple(name for factor in self._affine for name in factor.parameters)

    def bind(self, **values: Any) -> Product:
        """Return the product with values for parameters and sizes of its fills."""
        self.check_names(values)
        return self._with(
            f.bind(**{n: v for n, v in values.items() if n in (*f.parameters, *f.sizes)})
            for f in self._affine
        )

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of the fills."""
        return tuple(dict.fromkeys(name for f in self._affine for name in f.sizes))

    def values(self) -> list[Any]:
        """Return the values of all parameters."""
        return [value for factor in self._affine for value in factor.values()]

    def given(self, values: Sequence[Any]) -> Product:
        """Return the product with other values for all parameters, in their order."""
        rest = iter(values)
        return self._with(f.given([next(rest) for _ in f.parameters]) for f in self._affine)

    def _with(self, fills: Iterable[Affine]) -> Product:
        """Return the product of the same matrices and other fills, of the same rules."""
        rest = iter(fills)
        made = object.__new__(Product)
        made._name, made._free = self._name, self._free
        made._factors = tuple(next(rest) if isinstance(f, Affine) else f for f in self._factors)
        return made

    @cached_property
    def _program(self) -> ssr.Program:
        """The program ``y[:] = product @ x``; all parameters are scalars of its own."""
        scalars = [f"s{n}" for n in range(len(self.parameters))]

        def product(y: Any, x: Any, *values: Any) -> None:
            y[:] = self.given(values).applied(x)

        kinds = {"y": self.rows, "x": self.cols, **dict.fromkeys(scalars, ssr.scalar)}
        return declared(product, kinds)

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the product applied to an array.

        Parameters
        ----------
        out
            The result; by default a new array.
        """
        x = array_of(self, x)
        check_sizes(self, self.cols, x.shape)
        if out is None:
            sizes = sizes_of(self.cols, x.shape)
            kind = kernel_dtype(x)
            out = np.empty(shape_of(self.rows, {**self.known_sizes(), **sizes}), kind)
            x = x.astype(kind, copy=False)
        self._free._program(out, x, *self.values())
        return out


def declared(body: Callable[..., None], kinds: Mapping[str, Any]) -> ssr.Program:
    """Return the program of a body that takes its arguments in order, of the kinds given."""
    parameter = inspect.Parameter
    body.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter(n, parameter.POSITIONAL_OR_KEYWORD) for n in kinds]
    )
    return ssr.program(**kinds)(body)


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


def array_of(matrix: Affine, x: Any) -> Any:
    """Return what a matrix is applied to as an array of real numbers.

    Raises
    ------
    DtypeError
        If it is none.
    """
    array = np.asarray(x)
    if array.dtype.kind not in "biuf":
        raise DtypeError(
            f"{matrix.name} is applied to an array of dtype {array.dtype}.",
            hint="Fields are real numbers.",
        )
    return array


def kernel_dtype(x: Any) -> Any:
    """Return the type in which a kernel runs on an array: float32 for such arrays, else float64."""
    return np.float32 if np.asarray(x).dtype == np.float32 else np.float64


def check_sizes(matrix: Affine, kind: Any, shape: tuple[int, ...]) -> None:
    """Check that an array fits the sizes that are bound.

    Raises
    ------
    ShapeError
        If it does not.
    """
    known = matrix.known_sizes()
    found = sizes_of(kind, shape) if known else {}
    for name, size in known.items():
        if found.get(name, size) != size:
            raise ShapeError(
                f"{matrix.name} is bound to {name} = {size}; the array has {name} = {found[name]}."
            )


def sizes_of(kind: Any, shape: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes that follow from the shape of an array."""
    from ssr.binding import match_sizes

    if isinstance(kind, VectorSpace):
        return match_sizes([("x", kind.space, shape[1:])], {})
    return match_sizes([("x", kind, shape)], {})
