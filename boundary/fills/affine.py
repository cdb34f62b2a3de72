"""Affine matrices: ``x -> A x + c``, and their products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import ssr
from ssr.errors import ArgumentError, SpaceError
from ssr.extension import Expression, told

from .operands import (
    Kind,
    array_like,
    arrays_of,
    check_sizes,
    declared,
    fields_of,
    flat,
    kernel_dtype,
    named,
    shape_of,
    sizes_of,
    spaces_of,
    store,
)

if TYPE_CHECKING:
    import scipy.sparse


class Affine(ABC):
    """An affine matrix ``x -> A x + c``: its `linear` part A and its `offset` c.

    Fills are affine matrices, and so are products of them with each other and with matrices:
    ``(A, a) @ (B, b) = (A B, A b + a)``.
    """

    __array_ufunc__ = None

    operand = "x"
    """What messages call the array it is applied to."""

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
    def applied(self, x: Any) -> Any:
        """Return the affine matrix applied to an expression of a program, or to a tuple of them."""

    @abstractmethod
    def run(self, made: Sequence[Any], given: Sequence[Any]) -> None:
        """Apply the affine matrix to arrays, and store the result in others."""

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the affine matrix applied to an array, or to a tuple of arrays.

        Parameters
        ----------
        x
            An array on `cols`; a tuple of arrays if that is a tuple of spaces.
        out
            The result; by default new memory.
        """
        given = arrays_of(self.name, self.cols, x)
        check_sizes(self.name, self.known_sizes(), self.operand, self.cols, given)
        made = list(out) if isinstance(out, (tuple, list)) else [out]
        if out is None:
            kind = kernel_dtype(*given)
            sizes = {**self.known_sizes(), **sizes_of(self.cols, given, self.operand)}
            made = [np.empty(shape_of(one, sizes), kind) for one in fields_of(self.rows)]
            given = [a.astype(kind, copy=False) for a in given]
        self.run(made, given)
        return tuple(made) if isinstance(self.rows, tuple) else made[0]

    @abstractmethod
    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes."""

    @property
    def factors(self) -> tuple[Any, ...]:
        """The matrices and fills of which it is the product."""
        return (self,)

    @cached_property
    def offset(self) -> Any:
        """The constant part c, as an array or a tuple of arrays: what fields of zeros become.

        Raises
        ------
        UnboundError
            If a size or parameter has no value.
        """
        zeros = tuple(np.zeros(shape_of(one, self.known_sizes())) for one in fields_of(self.cols))
        return self.apply(zeros if isinstance(self.cols, tuple) else zeros[0])

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
        if isinstance(x, (Affine, ssr.Matrix, ssr.BlockMatrix)):
            return Product(self, x)
        each = x if isinstance(x, (tuple, list)) else [x]
        if any(isinstance(part, (Expression, ssr.Vector)) for part in each):
            return self.applied(x)
        return self.apply(x) if array_like(x) else NotImplemented

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
                note=f"{told(left.cols)} and {told(right.rows)}",
                hint="Matrices of several fields are ssr.block([[A, None], [None, B]])."
                if isinstance(right.rows, tuple) and not isinstance(left.cols, tuple)
                else None,
            )
        self._name = f"({left.name} @ {right.name})"
        self._free = self  # its program serves all values of parameters
        self._program  # noqa: B018  checks that what is read is defined

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
        """The matrices and fills of which it is the product."""
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
            x = factor @ (x if isinstance(factor, Affine) else flat(x))
        return x

    def run(self, made: Sequence[Any], given: Sequence[Any]) -> None:
        """Apply the product to arrays, and store the result in others."""
        self._free._program(*made, *given, *self.values())

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
        """Return the product with its fills replaced by others of the same rules."""
        rest = iter(fills)
        made = object.__new__(Product)
        made._name, made._free = self._name, self._free
        made._factors = tuple(next(rest) if isinstance(f, Affine) else f for f in self._factors)
        return made

    @cached_property
    def _program(self) -> ssr.Program:
        """The program ``y[:] = product @ x``; all parameters are scalars of its own."""
        targets, sources = named("y", self.rows), named("x", self.cols)

        def product(*given: Any) -> None:
            ends = len(targets), len(targets) + len(sources)
            x = given[ends[0] : ends[1]]
            made = self.given(given[ends[1] :]).applied(x if isinstance(self.cols, tuple) else x[0])
            store(given[: ends[0]], made)

        scalars = dict.fromkeys((f"s{n}" for n in range(len(self.parameters))), ssr.scalar)
        return declared(product, {**targets, **sources, **scalars})


def _factors(operand: Any) -> tuple[Any, ...]:
    return operand.factors if isinstance(operand, Affine) else (operand,)
