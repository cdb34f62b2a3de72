"""Affine matrices ``x -> A x + c``: products, sums and application."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, reduce
from numbers import Number, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ssr
from ssr.errors import ArgumentError, SpaceError, UnboundError, UnsupportedError
from ssr.extension import (
    Expression,
    Immutable,
    allocated,
    declaration,
    dtype_name,
    integer,
    is_distributed,
    is_zero,
    label,
    own_program,
)

from ..closure.ruled import Ruled
from .operands import (
    MATRICES,
    Kind,
    array_like,
    arrays_of,
    check_known,
    check_results,
    check_sizes,
    fields_of,
    flat,
    kernel_dtype,
    named,
    operands_of,
    shape_of,
    sizes_of,
    spaces_of,
    store,
)

if TYPE_CHECKING:
    import scipy.sparse
    from scipy.sparse.linalg import LinearOperator


class Affine(Immutable, ABC):
    """An affine matrix ``x -> A x + c``: its `linear` part A and its `offset` c.

    Fills are affine matrices, and so are products of them with each other and with matrices,
    ``(A, a) @ (B, b) = (A B, A b + a)``, their multiples by numbers, and their sums.

    Examples
    --------
    The matrix of an implicit step of diffusion, with the temperatures 1 and 0 at the ends:

    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> wide = cells.grow(1)
    >>> second = ssr.stencil(cells, wide, {-1: 1.0, 0: -2.0, 1: 1.0})
    >>> ends = bc.dirichlet(1.0, side="low"), bc.dirichlet(0.0, side="high")
    >>> H = second @ bc.fill(wide, *ends)
    >>> step = ssr.identity(cells) - 0.1 * H
    >>> step.linear.to_scipy().toarray()
    array([[ 1.3, -0.1,  0. ],
           [-0.1,  1.2, -0.1],
           [ 0. , -0.1,  1.3]])
    >>> step.offset
    array([-0.2,  0. ,  0. ])
    >>> u, info = ssr.solvers.cg(step.linear, np.ones(3) - step.offset, rtol=1e-12)
    >>> bool(np.allclose(step @ u, 1.0))
    True
    """

    __array_ufunc__ = None

    habits: ClassVar[Mapping[str, str]] = {
        "toarray": "Write H.to_scipy().toarray() for the linear part, and H.offset.",
        "solve": "Solve with the linear part: H.linear.solve(b - H.offset).",
        "dot": "Write H @ x.",
        "shape": "Its spaces are H.rows and H.cols; sizes follow from arrays.",
    }

    operand = "x"
    """The name of the operand in error messages."""

    @property
    def homogeneous(self) -> bool:
        """Whether the offset is zero because no part has one."""
        return False

    def aslinearoperator(self, dtype: Any = np.float64) -> LinearOperator:
        """Return a SciPy ``LinearOperator`` on flattened arrays; all sizes must be bound.

        Parameters
        ----------
        dtype
            The type of the operator's arrays.

        Raises
        ------
        UnsupportedError
            If the matrix may have an offset.
        """
        if not self.homogeneous:
            raise UnsupportedError(
                f"{self.name} has an offset, and a linear operator has none.",
                hint="Of the linear part: H.linear.aslinearoperator(), with sizes bound.",
            )
        from scipy.sparse.linalg import aslinearoperator

        return aslinearoperator(self.to_scipy().astype(dtype_name(dtype)))

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
        """Return the affine matrix applied to x, an expression of a program or a tuple of them."""

    @abstractmethod
    def run(self, made: Sequence[Any], given: Sequence[Any]) -> None:
        """Apply the affine matrix to the arrays given, and store the result in those made."""

    def apply(self, x: Any, out: Any = None) -> Any:
        """Return the affine matrix applied to an array, or to a tuple of arrays.

        Parameters
        ----------
        x
            An array on `cols`; a tuple of arrays if that is a tuple of spaces.
        out
            The result; by default new memory.

        Raises
        ------
        ShapeError, DtypeError, ContiguityError
            If an array does not fit.
        """
        given = arrays_of(self.name, self.cols, x)
        check_sizes(self.name, self.known_sizes(), self.operand, self.cols, given)
        made = list(out) if isinstance(out, (tuple, list)) else [out]
        sizes = {**self.known_sizes(), **sizes_of(self.cols, given, self.operand)}
        shapes = [shape_of(one, sizes) for one in fields_of(self.rows)]
        if out is None:
            kind = kernel_dtype(*given)
            made = [allocated(shape, kind) for shape in shapes]
            given = [a.astype(kind, copy=False) for a in given]
        else:
            check_results(self.name, made, shapes)
        if self._is_distributed:
            raise ArgumentError(
                f"{self.name} has distributed data, and is applied to an array.",
                hint="Apply it to a field of the same distribution: H @ on.scatter(space, array).",
            )
        self.run(made, given)
        return tuple(made) if isinstance(self.rows, tuple) else made[0]

    @property
    def _is_distributed(self) -> bool:
        """Whether parameters or data of matrices are distributed fields."""
        return False

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
        """The constant part c, as an array or a tuple of arrays: the result for fields of zeros.

        Raises
        ------
        UnboundError
            If a size or parameter has no value.
        ArgumentError
            If a parameter, or data of a matrix, is a distributed field.
        """
        if self._is_distributed:
            raise ArgumentError(
                f"{self.name} has distributed data, and its offset is an array.",
                hint="As a field, the constant part is the result for zeros: H @ on.zeros(H.cols).",
            )
        shapes = [shape_of(one, self.known_sizes()) for one in fields_of(self.cols)]
        zeros = tuple(allocated(shape, np.float64) for shape in shapes)
        for array in zeros:
            array.fill(0.0)
        return self.apply(zeros if isinstance(self.cols, tuple) else zeros[0])

    @abstractmethod
    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound."""

    def _all_sizes(self, hint: str) -> dict[str, int]:
        """Return all sizes; the hint is the code to bind them.

        Raises
        ------
        UnboundError
            If a size is not bound.
        """
        known = self.known_sizes()
        for name in self.sizes:
            if name not in known:
                raise UnboundError(
                    f"No value is given for the size {name}.", hint=f"{hint}.bind({name}=...)."
                )
        return known

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the rules."""
        return ()

    @property
    def rules(self) -> tuple[Ruled, ...]:
        """The sets of rules that its programs are for."""
        return ()

    @property
    def value_kinds(self) -> list[Any]:
        """The kinds of `values`, as for `ssr.program`: `ssr.scalar`, or the space of a field."""
        return []

    @abstractmethod
    def bind(self, **values: Any) -> Affine:
        """Return the affine matrix with values for parameters and sizes."""

    def check_values(self, values: Mapping[str, Any]) -> None:
        """Check that values are given for parameters and sizes only, and that sizes are positive.

        Raises
        ------
        ArgumentError
            If there is no such name, or a size is not a positive integer.
        """
        known = {*self.parameters, *self.sizes}
        for name in values:
            if name not in known:
                raise ArgumentError(
                    f"{self.name} has no parameter {name!r}.",
                    hint=f"It has {', '.join(sorted(known)) or 'none'}.",
                )
        for name, value in values.items():
            if name in self.sizes and (integer(value) or 0) < 1:
                raise ArgumentError(f"The size {name} is {value!r}, not a positive integer.")

    def values(self) -> list[Any]:
        """Return the values of all parameters that programs take.

        Raises
        ------
        UnboundError
            If one has none.
        """
        return []

    def _given(self, values: Sequence[Any]) -> Affine:
        """Return the affine matrix with other values of the same kinds, ordered as `values`."""
        return self

    @property
    def T(self) -> Any:
        """The transpose of the linear part; the offset has none."""
        return self.linear.T

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, (Affine, *MATRICES)):
            return Product(self, x)
        each = x if isinstance(x, (tuple, list)) else [x]
        if any(isinstance(part, (Expression, ssr.Vector)) for part in each):
            return self.applied(x)
        if any(map(is_distributed, each)):
            return self._on_ranks(x)
        return self.apply(x) if array_like(x) else NotImplemented

    def _on_ranks(self, x: Any) -> Any:
        """Return the affine matrix applied to a field of several ranks, or to a tuple of them."""
        given = operands_of(self.name, self.cols, x)
        first = next(filter(is_distributed, given))
        check_known(self.name, self.known_sizes(), first.distribution.sizes, "the field")
        made = [first.distribution.empty(one, first.dtype) for one in fields_of(self.rows)]
        self.run(made, given)
        return tuple(made) if isinstance(self.rows, tuple) else made[0]

    def __rmatmul__(self, matrix: Any) -> Any:
        if isinstance(matrix, MATRICES):
            return Product(matrix, self)
        return NotImplemented

    def __mul__(self, factor: Any) -> Any:
        if isinstance(factor, Real):
            return Combination(f"{factor} * {self.name}", [(float(factor), self)])
        others = Affine, *MATRICES, np.ndarray, Expression, ssr.Value
        if isinstance(factor, others):
            raise ArgumentError(
                f"`*` scales {self.name} by a number, not by {type(factor).__name__}.",
                hint=f"Apply the matrix first, as in dt * ({self.name} @ u); the product of "
                "matrices is written `@`.",
            )
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self * (1.0 / divisor) if isinstance(divisor, Real) else NotImplemented

    def __neg__(self) -> Any:
        return Combination(f"-{self.name}", [(-1.0, self)])

    def __add__(self, other: Any) -> Any:
        return _summed(self, other, 1.0)

    def __radd__(self, other: Any) -> Any:
        if is_zero(other):
            return self
        return _summed(other, self, 1.0)

    def __sub__(self, other: Any) -> Any:
        return _summed(self, other, -1.0)

    def __rsub__(self, other: Any) -> Any:
        return _summed(other, self, -1.0)


class Composite(Affine):
    """An affine matrix composed of other affine matrices and matrices, its parts.

    Parameters
    ----------
    name
        The affine matrix as it was written.
    parts
        The affine matrices and matrices of the composition.

    Raises
    ------
    UndefinedGhostError, AmbiguousGhostError
        If a matrix reads a ghost that the fill to its right does not define.
    """

    def __init__(self, name: str, parts: Sequence[Any]) -> None:
        self._name = name
        self._parts = tuple(parts)
        self._free = self  # its program is valid for all parameter values
        self._program  # noqa: B018  checks that all ghost points read are defined

    def __repr__(self) -> str:
        return f"<Affine {self.name}: {self.cols!r} -> {self.rows!r}>"

    @property
    def name(self) -> str:
        """The affine matrix as it was written."""
        return self._name

    @property
    def homogeneous(self) -> bool:
        """Whether the offset is zero because no part has one."""
        return all(part.homogeneous for part in self._affine)

    @abstractmethod
    def _assembled(self, parts: Sequence[Any]) -> Any:
        """Return the same combination of other matrices, given in place of the parts."""

    @cached_property
    def linear(self) -> Any:
        """The linear part, with the boundary folded in."""
        return self._assembled([p.linear if isinstance(p, Affine) else p for p in self._parts])

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the linear part as a SciPy matrix."""
        import scipy.sparse

        sized, known = [], self.known_sizes()
        for part in self._parts:
            own = {n: v for n, v in known.items() if n in getattr(part, "sizes", ())}
            bind = own and not isinstance(part, Affine)
            sized.append((part.bind(**own) if bind else part).to_scipy())
        return scipy.sparse.csr_array(self._assembled(sized))

    def run(self, made: Sequence[Any], given: Sequence[Any]) -> None:
        """Apply the affine matrix to the arrays given, and store the result in those made."""
        self._free._program(*made, *given, *self.values())

    @property
    def _is_distributed(self) -> bool:
        data = declaration(self._free._program).captured
        return any(map(is_distributed, data)) or any(p._is_distributed for p in self._affine)

    @property
    def _affine(self) -> tuple[Affine, ...]:
        return tuple(part for part in self._parts if isinstance(part, Affine))

    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that are bound, or that follow from arrays bound to matrices."""
        found: dict[str, int] = {}
        for part in self._parts:
            found |= part.known_sizes()
        return found

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the fills, one fill after the other."""
        return tuple(name for part in self._affine for name in part.parameters)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of the fills."""
        return tuple(dict.fromkeys(name for part in self._affine for name in part.sizes))

    def bind(self, **values: Any) -> Any:
        """Return the affine matrix with values for parameters and sizes of its fills."""
        self.check_values(values)
        return self._with(
            f.bind(**{n: v for n, v in values.items() if n in (*f.parameters, *f.sizes)})
            for f in self._affine
        )

    @property
    def rules(self) -> tuple[Ruled, ...]:
        """The sets of rules that its programs are for."""
        return tuple(one for part in self._affine for one in part.rules)

    @property
    def value_kinds(self) -> list[Any]:
        """The kinds of `values`, as for `ssr.program`."""
        return [kind for part in self._affine for kind in part.value_kinds]

    def values(self) -> list[Any]:
        """Return the values of all parameters that programs take."""
        return [value for part in self._affine for value in part.values()]

    def _given(self, values: Sequence[Any]) -> Any:
        """Return the affine matrix with other values of the same kinds, ordered as `values`."""
        rest = iter(values)
        return self._with(f._given([next(rest) for _ in f.value_kinds]) for f in self._affine)

    def _with(self, affine: Iterable[Affine]) -> Any:
        """Return the affine matrix with its affine parts replaced by others of the same rules."""
        rest = iter(affine)
        made = object.__new__(type(self))
        made.__dict__ |= {name: self.__dict__[name] for name in self._declared}
        made._parts = tuple(next(rest) if isinstance(p, Affine) else p for p in self._parts)
        if any(one is not other for one, other in zip(made.rules, self.rules, strict=True)):
            made._free = made
        return made

    _declared = frozenset({"_name", "_free"})
    """The names of the attributes that `_with` copies; they do not depend on parameters."""

    @cached_property
    def _program(self) -> ssr.Program:
        """The program ``y[:] = matrix @ x``; all parameters are scalar arguments."""
        targets, sources = named("y", self.rows), named("x", self.cols)

        def product(*given: Any) -> None:
            ends = len(targets), len(targets) + len(sources)
            x = given[ends[0] : ends[1]]
            made = self._given(given[ends[1] :]).applied(
                x if isinstance(self.cols, tuple) else x[0]
            )
            store(given[: ends[0]], made)

        scalars = {f"s{n}": kind for n, kind in enumerate(self.value_kinds)}
        return own_program(**targets, **sources, **scalars)(product)


class Product(Composite):
    """The product of matrices and affine matrices, applied from the right.

    Raises
    ------
    SpaceError
        If the columns of a factor are not the rows of the next one.
    """

    def __init__(self, left: Any, right: Any) -> None:
        if spaces_of(left.cols) != spaces_of(right.rows):
            raise SpaceError(
                f"{left.name} @ {right.name}: the columns of the first are not the rows of the "
                "second.",
                note=f"{label(left.cols)} and {label(right.rows)}",
                hint="Matrices of several fields are ssr.block([[A, None], [None, B]])."
                if isinstance(right.rows, tuple) and not isinstance(left.cols, tuple)
                else None,
            )
        super().__init__(f"({left.name} @ {right.name})", (*_factors(left), *_factors(right)))

    @property
    def rows(self) -> Kind:
        """The space of the results."""
        return self._parts[0].rows  # type: ignore[no-any-return]

    @property
    def cols(self) -> Kind:
        """The space of the operands."""
        return self._parts[-1].cols  # type: ignore[no-any-return]

    @property
    def factors(self) -> tuple[Any, ...]:
        """The matrices and fills of which it is the product."""
        return self._parts

    def _assembled(self, parts: Sequence[Any]) -> Any:
        return reduce(operator.matmul, parts)

    def applied(self, x: Any) -> Any:
        """Return the product applied to x, an expression of a program."""
        for factor in reversed(self._parts):
            x = factor @ (x if isinstance(factor, Affine) else flat(x))
        return x


class Combination(Composite):
    """A sum of multiples of matrices and affine matrices.

    Parameters
    ----------
    name
        The sum as it was written.
    terms
        Pairs of a number and a matrix, of which at least one is affine.
    """

    _declared = frozenset({"_name", "_free", "_weights"})

    def __init__(self, name: str, terms: Sequence[tuple[float, Any]]) -> None:
        self._weights = tuple(weight for weight, _ in terms)
        super().__init__(name, [part for _, part in terms])

    @property
    def terms(self) -> tuple[tuple[float, Any], ...]:
        """The numbers and matrices of which it is the sum."""
        return tuple(zip(self._weights, self._parts, strict=True))

    @property
    def rows(self) -> Kind:
        """The space of the results."""
        return self._affine[0].rows

    @property
    def cols(self) -> Kind:
        """The space of the operands."""
        return self._affine[0].cols

    def _assembled(self, parts: Sequence[Any]) -> Any:
        pairs = zip(self._weights, parts, strict=True)
        return reduce(operator.add, (p if w == 1.0 else w * p for w, p in pairs))

    def applied(self, x: Any) -> Any:
        """Return the sum applied to x, an expression of a program."""
        made = [
            _fields(part @ (x if isinstance(part, Affine) else flat(x))) for part in self._parts
        ]
        sums = tuple(self._assembled(of_field) for of_field in zip(*made, strict=True))
        return sums if isinstance(self.rows, tuple) else sums[0]


def _fields(made: Any) -> tuple[Any, ...]:
    return made if isinstance(made, tuple) else (made,)


def _factors(operand: Any) -> tuple[Any, ...]:
    return operand.factors if isinstance(operand, Affine) else (operand,)


def _summed(left: Any, right: Any, sign: float) -> Any:
    """Return the sum or difference of two matrices, of which one is affine."""
    shown = "+" if sign > 0 else "-"
    for one, other in (left, right), (right, left):
        if not isinstance(one, (Affine, *MATRICES)):
            if not isinstance(one, (Number, np.ndarray, Expression)):
                return NotImplemented
            raise ArgumentError(
                f"Cannot add {other.name} and {type(one).__name__}; only matrices can be added.",
                hint=f"Apply the matrix first, as in b + {other.name} @ x.",
            )
    for what in "rows", "cols":
        spaces = [spaces_of(getattr(side, what)) for side in (left, right)]
        if spaces[0] != spaces[1]:
            raise SpaceError(
                f"{left.name} {shown} {right.name}: their {what} are on different spaces.",
                note=f"{label(getattr(left, what))} and {label(getattr(right, what))}",
            )
    terms = [*_terms(left), *((sign * weight, part) for weight, part in _terms(right))]
    return Combination(f"({left.name} {shown} {right.name})", terms)


def _terms(operand: Any) -> tuple[tuple[float, Any], ...]:
    return operand.terms if isinstance(operand, Combination) else ((1.0, operand),)
