"""Symbolic indices: what a generator computes with, and the conditions that come of comparing.

`Index` holds an `Affine` expression; comparing gives a `Condition`, whose truth the tracer decides.
"""

from __future__ import annotations

import keyword
import numbers
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn

from .affine import AXES, Affine
from .errors import Error, NotAffineError, RuntimeConditionError


@dataclass(frozen=True, slots=True)
class Condition:
    """A Presburger condition on indices: a disjunction of conjunctions of affine constraints.

    Its truth value is decided by the tracer that runs the generator.
    """

    cases: tuple[tuple[tuple[Affine, str], ...], ...]

    def isl(self) -> str:
        """Return the text isl reads."""
        return " or ".join(
            "(" + " and ".join(f"{e.isl()} {relation}" for e, relation in case) + ")"
            if case
            else "(0 = 0)"
            for case in self.cases
        )

    def __bool__(self) -> bool:
        decided = self._constant()
        if decided is not None:
            return decided
        decide = _decide.get()
        if decide is None:
            raise RuntimeConditionError(
                "A condition on symbolic sizes or indices has no truth value here.",
                hint="Conditions are decided inside a generator; outside, use integer sizes.",
            )
        return decide(self)

    def _constant(self) -> bool | None:
        if any(not e.is_constant for case in self.cases for e, _ in case):
            return None
        return any(
            all(e.constant >= 0 if relation == ">= 0" else e.constant == 0 for e, relation in case)
            for case in self.cases
        )


_decide: ContextVar[Callable[[Condition], bool] | None] = ContextVar("decide", default=None)


@contextmanager
def deciding(decide: Callable[[Condition], bool]) -> Iterator[None]:
    """Let ``decide`` answer the conditions met inside the block."""
    token = _decide.set(decide)
    try:
        yield
    finally:
        _decide.reset(token)


class Index:
    """A symbolic integer inside a generator: a row index, a size, or affine arithmetic of them.

    Supports ``+ -``, ``*`` by integers, ``// %`` by positive integers, comparisons and ``abs``;
    `min` and `max` work because comparisons do. Mixed with floats it becomes a value.
    """

    __slots__ = ("affine",)
    __array_ufunc__ = None

    def __init__(self, affine: Affine) -> None:
        self.affine = affine

    def __repr__(self) -> str:
        return str(self.affine)

    def __hash__(self) -> int:
        return hash(self.affine)

    def __add__(self, other: object) -> Any:
        right = _operand(other)
        return _value("add", self, other) if right is None else Index(self.affine + right)

    def __radd__(self, other: object) -> Any:
        left = _operand(other)
        return _value("add", other, self) if left is None else Index(left + self.affine)

    def __sub__(self, other: object) -> Any:
        right = _operand(other)
        return _value("sub", self, other) if right is None else Index(self.affine - right)

    def __rsub__(self, other: object) -> Any:
        left = _operand(other)
        return _value("sub", other, self) if left is None else Index(left - self.affine)

    def __mul__(self, other: object) -> Any:
        if isinstance(other, Index):
            if self.affine.is_constant:
                return Index(other.affine * self.affine.constant)
            if not other.affine.is_constant:
                raise NotAffineError(
                    f"An index expression multiplies ({self}) by ({other}).",
                    note="Columns and conditions are affine: integer multiples of indices.",
                    hint="Pass an index array as run-time data instead.",
                )
            return Index(self.affine * other.affine.constant)
        factor = _integer(other)
        return _value("mul", self, other) if factor is None else Index(self.affine * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return _value("div", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _value("div", other, self)

    def __floordiv__(self, other: object) -> Index:
        divisor = _divisor(self, other, "//")
        return NotImplemented if divisor is None else Index(self.affine // divisor)

    def __mod__(self, other: object) -> Index:
        divisor = _divisor(self, other, "%")
        return NotImplemented if divisor is None else Index(self.affine % divisor)

    def __rfloordiv__(self, other: object) -> NoReturn:
        self._not_affine("divides by")

    def __rmod__(self, other: object) -> NoReturn:
        self._not_affine("divides by")

    def __pow__(self, other: object) -> Index:
        if other == 1:
            return self
        self._not_affine("raises to a power")

    def __neg__(self) -> Index:
        return Index(-self.affine)

    def __pos__(self) -> Index:
        return self

    def __abs__(self) -> Index:
        return -self if self < 0 else self

    def __lt__(self, other: object) -> Condition:
        return _compare(self, other, lambda a, b: (((b - a - 1, ">= 0"),),))

    def __le__(self, other: object) -> Condition:
        return _compare(self, other, lambda a, b: (((b - a, ">= 0"),),))

    def __gt__(self, other: object) -> Condition:
        return _compare(self, other, lambda a, b: (((a - b - 1, ">= 0"),),))

    def __ge__(self, other: object) -> Condition:
        return _compare(self, other, lambda a, b: (((a - b, ">= 0"),),))

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return _compare(self, other, lambda a, b: (((a - b, "= 0"),),))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return _compare(self, other, lambda a, b: (((b - a - 1, ">= 0"),), ((a - b - 1, ">= 0"),)))

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> int:
        if self.affine.is_constant:
            return self.affine.constant
        raise NotAffineError(
            f"The symbolic index ({self}) is used where Python needs an integer.",
            hint="Loop over literal ranges and compare the index; int() and range() need numbers.",
        )

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def _not_affine(self, what: str) -> NoReturn:
        raise NotAffineError(
            f"An index expression {what} the symbolic index ({self}).",
            hint="Only + - and * // % by integer constants keep an index affine.",
        )


def affine(value: object) -> Affine:
    """Return an index or integer as an expression.

    Raises
    ------
    NotAffineError
        If ``value`` is neither.
    """
    if isinstance(value, Index):
        return value.affine
    integer = _integer(value)
    if integer is None:
        raise NotAffineError(
            f"{value!r} is not an index: an integer or an affine expression of row indices.",
            hint="Pass an index array as run-time data instead."
            if not isinstance(value, float)
            else "Use // for integer division.",
        )
    return Affine((), integer)


_TAKEN = frozenset(
    {*AXES[4], *keyword.kwlist, *(f"{a}_{end}" for a in AXES[4] for end in ("lo", "hi"))}
    | {"and", "or", "not", "exists", "implies", "mod", "floor", "ceil", "floord", "ceild"}
    | {"min", "max", "rat", "true", "false", "infty", "infinity", "NaN"}
)
"""Names that mean something else in isl's notation or are row indices and bounds of boxes."""


def sizes(names: str) -> tuple[Index, ...]:
    """Return symbolic sizes: positive integers bound when arrays are given.

    Parameters
    ----------
    names
        Names separated by blanks or commas.

    Raises
    ------
    Error
        If a name is no identifier or is a row index (``i j k l``).

    Examples
    --------
    >>> ny, nx = sizes("ny nx")
    >>> nx - 1
    nx - 1
    """
    found = names.replace(",", " ").split()
    if not found:
        raise Error("No size is named.", hint='Write ssr.sizes("ny nx").')
    for name in found:
        if not name.isidentifier() or name.startswith("_") or name in _TAKEN:
            raise Error(
                f"{name!r} cannot name a size.",
                hint="Use an identifier that does not start with an underscore and is no keyword, "
                "nor i, j, k, l, min, max, floor or the like.",
            )
    return tuple(Index(Affine.name(name)) for name in found)


def _integer(value: object) -> int | None:
    if type(value) is int:
        return value
    if isinstance(value, (bool, float, str)) or not hasattr(value, "__index__"):
        return None
    return operator.index(value)


def _operand(value: object) -> Affine | None:
    if isinstance(value, Index):
        return value.affine
    integer = _integer(value)
    return None if integer is None else Affine((), integer)


def _value(name: str, *args: object) -> Any:
    """Return run-time arithmetic in which an index takes part as a number."""
    if not all(isinstance(a, (Index, numbers.Real)) for a in args):
        return NotImplemented
    from .values import operation

    return operation(name, *args)


def _divisor(self: Index, other: object, sign: str) -> int | None:
    if isinstance(other, Index) and not other.affine.is_constant:
        self._not_affine("divides by a symbolic size;")
    divisor = other.affine.constant if isinstance(other, Index) else _integer(other)
    if divisor is not None and divisor <= 0:
        raise NotAffineError(
            f"The index ({self}) is divided by {divisor} in `{sign}`.",
            hint="Divide indices by positive integer constants.",
        )
    return divisor


def _compare(
    self: Index,
    other: object,
    cases: Callable[[Affine, Affine], tuple[tuple[tuple[Affine, str], ...], ...]],
) -> Condition:
    if isinstance(other, Index):
        return Condition(cases(self.affine, other.affine))
    if isinstance(other, float) and other.is_integer():
        other = int(other)
    integer = _integer(other)
    if integer is None:
        return NotImplemented  # type: ignore[no-any-return]
    return Condition(cases(self.affine, Affine((), integer)))
