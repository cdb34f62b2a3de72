"""Integer index expressions: `Affine` is the data, `Index` is what a generator computes with.

An expression is a sum of integer multiples of names (row indices and sizes) and of floors of such
sums divided by a positive constant: the quasi-affine expressions of Presburger arithmetic.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from .errors import Error, NotAffineError, RuntimeConditionError

AXES = {1: ("i",), 2: ("j", "i"), 3: ("k", "j", "i"), 4: ("l", "k", "j", "i")}
"""Names of the row indices by number of dimensions: the last is the contiguous one."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The integer ``floor(numerator / divisor)`` with a positive constant divisor."""

    numerator: Affine
    divisor: int


Atom: TypeAlias = "str | Floor"


@dataclass(frozen=True, slots=True)
class Affine:
    """An immutable quasi-affine expression ``constant + sum(coefficient * atom)``.

    >>> i = Affine.name("i")
    >>> str(2 * i - 1)
    '2*i - 1'
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    @staticmethod
    def name(name: str) -> Affine:
        """Return the expression that is one name."""
        return Affine(((name, 1),))

    @staticmethod
    def of(value: Affine | int) -> Affine:
        """Return ``value`` as an expression."""
        return value if isinstance(value, Affine) else Affine((), value)

    @staticmethod
    def build(terms: Mapping[Atom, int], constant: int) -> Affine:
        """Return the canonical form: sorted terms without zeros."""
        kept = sorted(((a, c) for a, c in terms.items() if c), key=lambda term: str(term[0]))
        return Affine(tuple(kept), constant)

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        if not other.terms:
            return Affine(self.terms, self.constant + other.constant)
        if not self.terms:
            return Affine(other.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms:
            terms[atom] = terms.get(atom, 0) + coefficient
        return Affine.build(terms, self.constant + other.constant)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other if isinstance(other, int) else other * -1)

    def __rsub__(self, other: int) -> Affine:
        return self * -1 + other

    def __mul__(self, factor: int) -> Affine:
        if not factor:
            return Affine()
        terms = tuple((atom, coefficient * factor) for atom, coefficient in self.terms)
        return Affine(terms, self.constant * factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Affine:
        assert divisor > 0
        whole = {a: c // divisor for a, c in self.terms if c % divisor == 0}
        rest = {a: c for a, c in self.terms if c % divisor}
        outside = Affine.build(whole, self.constant // divisor)
        if not rest:
            return outside
        inside = Affine.build(rest, self.constant % divisor)
        return outside + Affine(((Floor(inside, divisor), 1),))

    def __mod__(self, divisor: int) -> Affine:
        return self - (self // divisor) * divisor

    @property
    def is_constant(self) -> bool:
        """Whether no name occurs."""
        return not self.terms

    def names(self) -> frozenset[str]:
        """Return the names that occur, those inside floors included."""
        found: set[str] = set()
        for atom, _ in self.terms:
            found |= {atom} if isinstance(atom, str) else atom.numerator.names()
        return frozenset(found)

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """Return the expression with names replaced."""
        result = Affine((), self.constant)
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                inner = Affine.of(values[atom]) if atom in values else Affine.name(atom)
            else:
                inner = atom.numerator.substitute(values) // atom.divisor
            result = result + inner * coefficient
        return result

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the integer for given values of all names."""
        total = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                total += coefficient * values[atom]
            else:
                total += coefficient * (atom.numerator.evaluate(values) // atom.divisor)
        return total

    def render(self, floor: Callable[[str, int], str]) -> str:
        """Return the expression as text, floors written by ``floor(numerator, divisor)``."""
        text = ""
        for atom, coefficient in self.terms:
            body = (
                atom if isinstance(atom, str) else floor(atom.numerator.render(floor), atom.divisor)
            )
            size = abs(coefficient)
            body = body if size == 1 else f"{size}*{body}"
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {body}" if text else ("-" + body if sign == "-" else body)
        if not text:
            return str(self.constant)
        if self.constant:
            text += f" {'-' if self.constant < 0 else '+'} {abs(self.constant)}"
        return text

    def isl(self) -> str:
        """Return the text isl reads."""
        return self.render(lambda numerator, divisor: f"floor(({numerator})/{divisor})")

    def __str__(self) -> str:
        return self.render(lambda numerator, divisor: f"(({numerator})//{divisor})")


def lexicographic(
    left: tuple[Affine, ...], right: tuple[Affine, ...]
) -> tuple[tuple[tuple[Affine, str], ...], ...]:
    """Return ``left < right`` in lexicographic order as a disjunction of conjunctions.

    Each conjunction is a tuple of (expression, relation) with relation ``">= 0"`` or ``"= 0"``.
    """
    cases = []
    for axis in range(len(left)):
        equal = tuple((right[a] - left[a], "= 0") for a in range(axis))
        cases.append((*equal, (right[axis] - left[axis] - 1, ">= 0")))
    return tuple(cases)


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
        if not name.isidentifier() or name.startswith("_") or name in AXES[4]:
            raise Error(
                f"{name!r} cannot name a size.",
                hint="Use an identifier other than i, j, k, l, not starting with an underscore.",
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
