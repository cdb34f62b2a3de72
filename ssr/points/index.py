"""Symbolic indices: what a generator computes with, and the conditions that come of comparing.

`Index` holds an `Affine` expression; comparing gives a `Condition`, whose truth the tracer decides.
"""

from __future__ import annotations

import keyword
import numbers
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from typing import Any, NoReturn

import numpy as np

from ..errors import ArgumentError, NotAffineError, RuntimeConditionError
from .affine import AXES, Affine

_AFFINE = "Only + - and * // % by integer constants keep an index affine."


@dataclass(frozen=True, slots=True, repr=False)
class Condition:
    """A Presburger condition on indices: a disjunction of conjunctions of affine constraints.

    Its truth value is decided by the tracer that runs the generator.
    """

    cases: tuple[tuple[tuple[Affine, str], ...], ...]

    def __repr__(self) -> str:
        return self.isl()

    def names(self) -> frozenset[str]:
        """Return the names of indices and sizes that occur."""
        return frozenset().union(*(e.names() for case in self.cases for e, _ in case))

    def isl(self) -> str:
        """Return the text isl reads."""
        found = []
        for case in self.cases:
            for chosen in product(*(e.cases() for e, _ in case)):
                parts = [f"{test.isl()} >= 0" for tests, _ in chosen for test in tests]
                parts += [
                    f"{e.isl()} {relation}"
                    for (_, e), (_, relation) in zip(chosen, case, strict=True)
                ]
                found.append(f"({' and '.join(parts) or '0 = 0'})")
        return " or ".join(found)

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

    def __and__(self, other: object) -> Condition:
        if not isinstance(other, (Condition, bool)):
            return NotImplemented
        return Condition(tuple(a + b for a in self.cases for b in _cases(other)))

    def __or__(self, other: object) -> Condition:
        if not isinstance(other, (Condition, bool)):
            return NotImplemented
        return Condition(self.cases + _cases(other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        result = Condition(_cases(True))
        for case in self.cases:
            result &= Condition(tuple((atom,) for part in case for atom in _denied(*part)))
        return result

    def _constant(self) -> bool | None:
        if any(not e.is_constant for case in self.cases for e, _ in case):
            return None
        return any(
            all(e.constant >= 0 if relation == ">= 0" else e.constant == 0 for e, relation in case)
            for case in self.cases
        )


def _cases(condition: Condition | bool) -> tuple[tuple[tuple[Affine, str], ...], ...]:
    if isinstance(condition, Condition):
        return condition.cases
    return ((),) if condition else ()


def _denied(expression: Affine, relation: str) -> tuple[tuple[Affine, str], ...]:
    """Return the constraints of which one holds where a constraint does not."""
    less = (-expression - 1, ">= 0")
    return (less,) if relation == ">= 0" else (less, (expression - 1, ">= 0"))


_decide: ContextVar[Callable[[Condition], bool] | None] = ContextVar("decide", default=None)
sizes_known: ContextVar[Mapping[str, int] | None] = ContextVar("sizes_known", default=None)
"""The sizes, where a definition is run on integers."""


@contextmanager
def deciding(
    decide: Callable[[Condition], bool], sizes: Mapping[str, int] | None = None
) -> Iterator[None]:
    """Let ``decide`` answer the conditions met inside the block, for given sizes if there are."""
    tokens = _decide.set(decide), sizes_known.set(sizes)
    try:
        yield
    finally:
        _decide.reset(tokens[0])
        sizes_known.reset(tokens[1])


class Index:
    """A symbolic integer inside a generator: a row index, a size, or affine arithmetic of them.

    Supports ``+ -``, ``*`` by integers, ``// %`` by positive integers, comparisons and ``abs``;
    `min` and `max` work because comparisons do. Mixed with floats it becomes a value.
    """

    __slots__ = ("affine",)

    def __init__(self, affine: Affine) -> None:
        self.affine = affine

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **options: Any) -> Any:
        from ..trace.functions import ufunc

        return ufunc(function, method, args, options)

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
                    hint=_AFFINE,
                )
            return Index(self.affine * other.affine.constant)
        factor = integer(other)
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
        if not isinstance(plain(other), (Index, numbers.Number)):
            return NotImplemented
        if other == 1:
            return self
        self._not_affine("raises to a power")

    def __rpow__(self, other: object) -> NoReturn:
        self._not_affine("raises a number to")

    def __divmod__(self, other: object) -> tuple[Index, Index]:
        return self // other, self % other

    def __and__(self, other: object) -> NoReturn:
        self._not_affine("takes bits of")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __and__

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

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise NotAffineError(
            f"The symbolic index ({self}) is used where NumPy needs an array.",
            hint="Declare the array as a field of the matrix, w=space, and bind it.",
        )

    def _not_affine(self, what: str) -> NoReturn:
        raise NotAffineError(
            f"An index expression {what} the symbolic index ({self}).",
            hint=_AFFINE,
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
    number = integer(value)
    if number is None:
        raise NotAffineError(
            f"{value!r} is not an index: an integer or an affine expression of row indices.",
            hint=_instead_of(value),
        )
    return Affine((), number)


def _instead_of(value: object) -> str | None:
    """Return what to do where something is given that is no index."""
    from ..trace.values import Value, known_early

    if isinstance(value, Value) and not known_early(value.node):
        return "Columns and conditions cannot depend on run-time data; the values of entries can."
    if isinstance(value, str):
        return f"Write ssr.size({value!r})."
    if isinstance(plain(value), (Value, float)):
        return "Use // for integer division."
    return None


_TAKEN = frozenset(
    {*AXES[4], *keyword.kwlist, *(f"{a}_{end}" for a in AXES[4] for end in ("lo", "hi"))}
    | {"and", "or", "not", "exists", "implies", "mod", "floor", "ceil", "floord", "ceild"}
    | {"min", "max", "rat", "true", "false", "infty", "infinity", "NaN"}
)
"""Names that mean something else in isl's notation or are row indices and bounds of boxes."""


def sizes(names: str) -> tuple[Index, ...]:
    """Return symbolic sizes: positive integers bound when arrays are given; see also `size`.

    Parameters
    ----------
    names
        Names separated by blanks or commas.

    Raises
    ------
    ArgumentError
        If a name is given twice, is no ASCII identifier or is a row index (``i j k l``).

    Examples
    --------
    >>> ny, nx = sizes("ny nx")
    >>> nx - 1
    nx - 1
    """
    if not isinstance(names, str):
        raise ArgumentError(f"The names of sizes are a string, not {names!r}.")
    found = names.replace(",", " ").split()
    if not found:
        raise ArgumentError("No size is named.", hint='Write ssr.sizes("ny nx").')
    for name, count in Counter(found).items():
        if count > 1:
            raise ArgumentError(f"Size {name} is named twice.")
    return tuple(_size(name) for name in found)


def size(name: str) -> Index:
    """Return one symbolic size.

    Raises
    ------
    ArgumentError
        If the name is no ASCII identifier or is a row index (``i j k l``).

    Examples
    --------
    >>> n = size("n")
    >>> 2 * n + 1
    2*n + 1
    """
    if not isinstance(name, str):
        raise ArgumentError(f"The name of a size is a string, not {name!r}.")
    return _size(name)


def _size(name: str) -> Index:
    usable = name.isidentifier() and name.isascii() and not name.startswith("_")
    if not usable or name in _TAKEN:
        raise ArgumentError(
            f"{name!r} cannot name a size.",
            hint="Use an ASCII name that does not start with an underscore and is no keyword, "
            "nor i, j, k, l, min, max, floor or the like.",
        )
    return Index(Affine.name(name))


def plain(value: Any) -> Any:
    """Return what a NumPy scalar or an array without axes holds; anything else as it is."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        return value.item()
    return value


def integer(value: Any) -> int | None:
    """Return an integer of Python or NumPy as one of Python's; None if it is none."""
    if type(value) is int:
        return value
    value = plain(value)
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def _operand(value: object) -> Affine | None:
    if isinstance(value, Index):
        return value.affine
    number = integer(value)
    return None if number is None else Affine((), number)


def _value(name: str, *args: object) -> Any:
    """Return run-time arithmetic in which an index takes part as a number."""
    if not all(isinstance(plain(a), (Index, numbers.Number)) for a in args):
        return NotImplemented
    from ..trace.values import operation

    return operation(name, *args)


def _divisor(self: Index, other: object, sign: str) -> int | None:
    if isinstance(other, Index) and not other.affine.is_constant:
        self._not_affine("divides by a symbolic size;")
    divisor = other.affine.constant if isinstance(other, Index) else integer(other)
    if isinstance(other, float) or (divisor is not None and divisor <= 0):
        raise NotAffineError(
            f"The index ({self}) is divided by {other} in `{sign}`.",
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
    other = plain(other)
    if isinstance(other, float) and other.is_integer():
        other = int(other)
    number = integer(other)
    if number is None and isinstance(other, float):
        raise NotAffineError(
            f"The index ({self}) is compared with {other}.",
            hint="Compare indices with integers.",
        )
    if number is None:
        return NotImplemented  # type: ignore[no-any-return]
    return Condition(cases(self.affine, Affine((), number)))
