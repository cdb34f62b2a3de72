"""Quasi-affine integer expressions: sums of names, of floors of such sums, and of choices.

An expression is a sum of integer multiples of names (row indices and sizes) and of floors of such
sums divided by a positive constant: the quasi-affine expressions of Presburger arithmetic. A choice
is one of two expressions, selected by the signs of further expressions, which contain no choices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

AXES = {1: ("i",), 2: ("j", "i"), 3: ("k", "j", "i"), 4: ("l", "k", "j", "i")}
"""Names of the row indices by number of dimensions; the last axis is contiguous."""

Offset: TypeAlias = tuple[int, ...]
"""The steps from a row to an index along each axis."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The integer ``floor(numerator / divisor)`` with a positive constant divisor."""

    numerator: Affine
    divisor: int

    def names(self) -> frozenset[str]:
        """Return the names that occur."""
        return self.numerator.names()

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """Return the integer with names replaced."""
        return self.numerator.substitute(values) // self.divisor

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the integer for given values of all names."""
        return self.numerator.evaluate(values) // self.divisor

    def __str__(self) -> str:
        return f"(({self.numerator})//{self.divisor})"


@dataclass(frozen=True, slots=True)
class Choice:
    """The integer ``then`` where all tests are >= 0, and ``orelse`` elsewhere.

    >>> j = Affine.name("j")
    >>> print(Choice((j - 1,), j - 1, j - 1 + Affine.name("n")))
    (j - 1 if j - 1 >= 0 else j + n - 1)
    """

    tests: tuple[Affine, ...]
    then: Affine
    orelse: Affine

    def names(self) -> frozenset[str]:
        """Return the names that occur."""
        every = (*self.tests, self.then, self.orelse)
        return frozenset().union(*(e.names() for e in every))

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """Return the integer with names replaced."""
        tests = tuple(t.substitute(values) for t in self.tests)
        then, orelse = self.then.substitute(values), self.orelse.substitute(values)
        return Affine(((Choice(tests, then, orelse), 1),))

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the integer for given values of all names."""
        chosen = all(t.evaluate(values) >= 0 for t in self.tests)
        return (self.then if chosen else self.orelse).evaluate(values)

    def __str__(self) -> str:
        tests = " and ".join(f"{t} >= 0" for t in self.tests)
        return f"({self.then} if {tests} else {self.orelse})"


Atom: TypeAlias = "str | Floor | Choice"


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
    @lru_cache(maxsize=1024)
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
        if isinstance(other, int):
            return Affine(self.terms, self.constant - other)
        if not other.terms:
            return Affine(self.terms, self.constant - other.constant)
        if self.terms == other.terms:
            return Affine((), self.constant - other.constant)
        return self + other * -1

    def __rsub__(self, other: int) -> Affine:
        return self * -1 + other

    def __mul__(self, factor: int) -> Affine:
        if factor == 1:
            return self
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
        """Return the names that occur, including those inside floors and choices."""
        found: set[str] = set()
        for atom, _ in self.terms:
            found |= {atom} if isinstance(atom, str) else atom.names()
        return frozenset(found)

    def substitute(self, values: Mapping[str, Affine | int]) -> Affine:
        """Return the expression with names replaced."""
        if all(isinstance(atom, str) and atom not in values for atom, _ in self.terms):
            return self
        result = Affine((), self.constant)
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                inner = Affine.of(values[atom]) if atom in values else Affine.name(atom)
            else:
                inner = atom.substitute(values)
            result = result + inner * coefficient
        return result

    def evaluate(self, values: Mapping[str, int]) -> int:
        """Return the integer for given values of all names."""
        total = self.constant
        for atom, coefficient in self.terms:
            if isinstance(atom, str):
                total += coefficient * values[atom]
            else:
                total += coefficient * atom.evaluate(values)
        return total

    def _text(self, atoms: Callable[[Floor | Choice], str]) -> str:
        """Return the expression as text, atoms that are no names written by a function."""
        text = ""
        for atom, coefficient in self.terms:
            body = atom if isinstance(atom, str) else atoms(atom)
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
        """Return an expression without choices in isl's notation; see `cases`."""

        def floor(atom: Floor | Choice) -> str:
            assert isinstance(atom, Floor)
            return f"floor(({atom.numerator.isl()})/{atom.divisor})"

        return self._text(floor)

    def cases(self) -> tuple[tuple[tuple[Affine, ...], Affine], ...]:
        """Return the cases of the expression without choices, each with its tests that are >= 0.

        >>> j, n = Affine.name("j"), Affine.name("n")
        >>> for tests, e in (Affine(((Choice((j - 1,), j - 1, j - 1 + n), 1),)) + 2).cases():
        ...     print(*tests, ":", e)
        j - 1 : j + 1
        -j : j + n + 1
        """
        found: list[tuple[tuple[Affine, ...], Affine]] = [((), Affine((), self.constant))]
        for atom, coefficient in self.terms:
            found = [
                ((*tests, *more), total + part * coefficient)
                for tests, total in found
                for more, part in _parts(atom)
            ]
        return tuple(found)

    @property
    def ways(self) -> int:
        """The number of `cases`."""
        return math.prod(atom_ways(atom) for atom, _ in self.terms)

    def __str__(self) -> str:
        return self._text(str)


def offset_of(index: Sequence[Affine], row: Sequence[Affine]) -> Offset | None:
    """Return the offset of an index from a row; None if it varies, or if the axes differ.

    >>> j, i = Affine.name("j"), Affine.name("i")
    >>> offset_of((j, i - 1), (j, i)), offset_of((j, 2 * i), (j, i))
    ((0, -1), None)
    """
    if len(index) != len(row):
        return None
    steps = [there - here for there, here in zip(index, row, strict=True)]
    return tuple(s.constant for s in steps) if all(s.is_constant for s in steps) else None


def atom_ways(atom: Atom) -> int:
    """Return the number of combinations of the choices in an atom."""
    match atom:
        case str():
            return 1
        case Floor(numerator, _):
            return numerator.ways
        case Choice(tests, then, orelse):
            return then.ways + len(tests) * orelse.ways


def _parts(atom: Atom) -> list[tuple[tuple[Affine, ...], Affine]]:
    """Return the cases of an atom without choices, each with its tests that are >= 0."""
    match atom:
        case str():
            return [((), Affine.name(atom))]
        case Floor(numerator, divisor):
            return [(tests, inner // divisor) for tests, inner in numerator.cases()]
        case Choice(tests, then, orelse):
            return [
                ((*signs, *more), inner)
                for signs, chosen in _ways(tests, then, orelse)
                for more, inner in chosen.cases()
            ]


def _ways(
    tests: tuple[Affine, ...], then: Affine, orelse: Affine
) -> list[tuple[tuple[Affine, ...], Affine]]:
    """Return when each of two is chosen; the second for each test that may be the first to fail."""
    failed = [((*tests[:n], -test - 1), orelse) for n, test in enumerate(tests)]
    return [(tests, then), *failed]


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
