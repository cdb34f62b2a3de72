"""Symbolic indices of generators, and the conditions that comparisons of indices give.

`Index` holds an `Affine` expression; a comparison gives a `Condition`, whose truth the tracer
decides.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any, NoReturn, TypeAlias

from ..errors import ArgumentError, NotAffineError
from ..points.affine import AXES, Affine
from ..points.condition import Condition
from ..points.numbers import integer, plain
from . import nodes
from .names import checked_name
from .operations import known_early
from .values import Operand, Value, check_affine, operation, power, ufunc

Least: TypeAlias = tuple[tuple[str, int], ...]
"""Lower bounds of sizes, if greater than one; sorted by name."""

_AFFINE = "Only + - and * // % by integer constants keep an index affine."


class Index(Operand):
    """A symbolic integer inside a generator: a row index, a size, or affine arithmetic of them.

    Supports ``+ -``, ``*`` by integers, ``// %`` by positive integers, comparisons and ``abs``;
    `min` and `max` work because comparisons do. Mixed with floats, or multiplied by another index,
    it becomes a run-time value, which is not an index. `least` has lower bounds of the sizes that
    are known to be larger than one.

    Examples
    --------
    >>> import ssr
    >>> n = ssr.size("n")
    >>> 2 * (n + 1) - n
    n + 2
    """

    __slots__ = ("affine", "least")

    def __init__(self, affine: Affine, least: Least = ()) -> None:
        self.affine = affine
        self.least = least

    def __array_ufunc__(self, function: Any, method: str, *args: Any, **options: Any) -> Any:
        return ufunc(function, method, args, options)

    @property
    def node(self) -> nodes.Value:
        """The index as a number."""
        return nodes.Coordinate(self.affine)

    def __repr__(self) -> str:
        return str(self.affine)

    def __hash__(self) -> int:
        return hash(self.affine)

    def __add__(self, other: object) -> Any:
        right = _operand(other)
        return _value("add", self, other) if right is None else self._with(right, other)

    def __radd__(self, other: object) -> Any:
        left = _operand(other)
        return _value("add", other, self) if left is None else self._with(left, other)

    def __sub__(self, other: object) -> Any:
        right = _operand(other)
        return _value("sub", self, other) if right is None else self._with(-right, other)

    def __rsub__(self, other: object) -> Any:
        left = _operand(other)
        return _value("sub", other, self) if left is None else (-self)._with(left, other)

    def _with(self, summand: Affine, other: object) -> Index:
        """Return the sum with the value of another index or an integer."""
        return Index(self.affine + summand, merged(self.least, least_of(other)))

    def __mul__(self, other: object) -> Any:
        if isinstance(other, Index):
            if self.affine.is_constant:
                return Index(other.affine * self.affine.constant, other.least)
            if not other.affine.is_constant:
                return _value("mul", self, other)
            other = other.affine.constant
        factor = integer(other)
        if factor is None:
            return _value("mul", self, other)
        return Index(self.affine * factor, self.least)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        return _value("div", self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _value("div", other, self)

    def __floordiv__(self, other: object) -> Index:
        divisor = _divisor(self, other, "//")
        return NotImplemented if divisor is None else Index(self.affine // divisor, self.least)

    def __mod__(self, other: object) -> Index:
        divisor = _divisor(self, other, "%")
        return NotImplemented if divisor is None else Index(self.affine % divisor, self.least)

    def __rfloordiv__(self, other: object) -> NoReturn:
        self._not_affine("divides by")

    def __rmod__(self, other: object) -> NoReturn:
        self._not_affine("divides by")

    def __pow__(self, other: object) -> Any:
        if not isinstance(plain(other), (Index, numbers.Number)):
            return NotImplemented
        return power(self, other)

    def __rpow__(self, other: object) -> Any:
        return _value("pow", other, self)

    def __divmod__(self, other: object) -> tuple[Index, Index]:
        return self // other, self % other

    def __and__(self, other: object) -> NoReturn:
        self._not_affine("takes bits of")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __and__
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __and__

    def __neg__(self) -> Index:
        return Index(-self.affine, self.least)

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
    """Return an index or integer as an expression."""
    if isinstance(value, Index):
        return value.affine
    number = integer(value)
    if number is None:
        check_affine(value)
        raise NotAffineError(
            f"{value!r} is not an index: an integer or an affine expression of row indices.",
            hint=_instead_of(value),
        )
    return Affine((), number)


def _instead_of(value: object) -> str | None:
    """Return the hint for a value that is not an index."""
    if isinstance(value, Value) and not known_early(value.node):
        return "Columns and conditions cannot depend on run-time data; the values of entries can."
    if isinstance(value, str):
        return f"Write ssr.size({value!r})."
    if isinstance(plain(value), (Value, float)):
        return "Use // for integer division."
    return None


_TAKEN = frozenset({*AXES[4], *(f"{a}_{end}" for a in AXES[4] for end in ("lo", "hi"))})
"""Reserved names: row indices, and the bounds of boxes."""

_WORDS = frozenset(
    """
    and or not exists implies mod floor ceil floord ceild min max rat true false infty infinity nan
    """.split()  # noqa: SIM905
)
"""Keywords of isl, which are not case-sensitive."""


def sizes(names: str, *, at_least: int = 1) -> tuple[Index, ...]:
    """Return symbolic sizes: positive integers bound when arrays are given; see also `size`.

    Parameters
    ----------
    names
        Names separated by blanks or commas.
    at_least
        The smallest integer that each of them may be.

    Raises
    ------
    ArgumentError
        If a name is given twice, is not an ASCII identifier or is a row index (``i j k l``), or
        ``at_least`` is not a positive integer.

    Examples
    --------
    >>> ny, nx = sizes("ny nx")
    >>> nx - 1
    nx - 1
    """
    if not isinstance(names, str):
        raise ArgumentError(f"names must be a string, not {names!r}.")
    found = names.replace(",", " ").split()
    if not found:
        raise ArgumentError("No size is named.", hint='Write ssr.sizes("ny nx").')
    for name, count in Counter(found).items():
        if count > 1:
            raise ArgumentError(f"Size {name} is named twice.")
    return tuple(_size(name, at_least) for name in found)


def size(name: str, *, at_least: int = 1) -> Index:
    """Return one symbolic size.

    Parameters
    ----------
    name
        Its name.
    at_least
        The lower bound of the size. Proofs for all sizes, such as that boundary rows have all of
        their columns, assume it; arrays for which the size is smaller raise `ShapeError`.

    Raises
    ------
    ArgumentError
        If the name is not an ASCII identifier or is a row index (``i j k l``), or ``at_least`` is
        not a positive integer.

    Examples
    --------
    >>> n = size("n")
    >>> 2 * n + 1
    2*n + 1

    The one-sided rows of this derivative need three points:

    >>> import numpy as np, ssr
    >>> line = ssr.Space(ssr.size("n", at_least=3))
    >>> slope = ssr.difference(line, line, 0, outside="one-sided")
    >>> slope @ np.array([0.0, 1.0, 4.0])
    array([0., 2., 4.])
    """
    return _size(name, at_least)


def _size(name: str, at_least: int) -> Index:
    name = checked_name("size", name)
    usable = name.isascii() and not name.startswith("_")
    if not usable or name in _TAKEN or name.lower() in _WORDS:
        raise ArgumentError(
            f"{name!r} cannot name a size.",
            hint="Use an ASCII name that does not start with an underscore. Row indices (i j k l) "
            "and words such as min, max, floor, mod and nan cannot name sizes.",
        )
    least = integer(at_least)
    if least is None or least < 1:
        raise ArgumentError(f"The size {name} is at least {at_least!r}, not a positive integer.")
    return Index(Affine.name(name), ((name, least),) if least > 1 else ())


def least_of(value: object) -> Least:
    """Return the lower bounds of the sizes in an index; empty for an integer."""
    return value.least if isinstance(value, Index) else ()


def merged(*known: Least) -> Least:
    """Return the largest of the lower bounds of each size."""
    found: dict[str, int] = {}
    for name, number in chain(*known):
        found[name] = max(number, found.get(name, 1))
    return tuple(sorted(found.items()))


def _operand(value: object) -> Affine | None:
    if isinstance(value, Index):
        return value.affine
    number = integer(value)
    return None if number is None else Affine((), number)


def _value(name: str, *args: object) -> Any:
    """Return run-time arithmetic in which an index takes part as a number."""
    if not all(isinstance(plain(a), (Index, numbers.Number)) for a in args):
        return NotImplemented
    return operation(name, *args)


def _divisor(self: Index, other: object, sign: str) -> int | None:
    if isinstance(other, Index) and not other.affine.is_constant:
        periodic = " Neighbours across a periodic side are ghosts: see boundary.periodic."
        raise NotAffineError(
            f"The index ({self}) is divided by the symbolic ({other}) in `{sign}`.",
            hint=_AFFINE + (periodic if sign == "%" else ""),
        )
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
