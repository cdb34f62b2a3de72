"""Hash-consed terms: values represented by the operations that computed them.

Equal operations on equal operands are the same term. A term is identified by its number, which an
array of doubles holds like any other value. Expressions with bitwise identical values are one term:
operands of sums and products in either order, ``a - b`` and ``a + -b``, a sum with -0 and a product
with 1. For finite numbers, ``0 * a + b`` rounded once equals b as well, because weights of ghosts
are padded with zeros.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeAlias

import numpy as np

from ..runtime.intrinsics import fma

Key: TypeAlias = "tuple[Any, ...]"
"""The name of an operation with the numbers of its operands, or of a leaf with its identity."""

_MASK = 2**61 - 1
_LOCK = RLock()


class Term:
    """A value represented by the operation that computed it; arithmetic creates further terms.

    Attributes
    ----------
    number
        The number that identifies the term.
    value
        The value of a constant; None for all others.
    """

    __slots__ = ("number", "value")
    __array_ufunc__ = None

    def __init__(self, number: int, value: float | None = None) -> None:
        self.number = number
        self.value = value

    def __add__(self, other: Any) -> Any:
        return _on_bundles(_sum, self, other)

    def __radd__(self, other: Any) -> Any:
        return _on_bundles(_sum, other, self)

    def __sub__(self, other: Any) -> Any:
        return _on_bundles(_difference, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _on_bundles(_difference, other, self)

    def __mul__(self, other: Any) -> Any:
        return _on_bundles(_product, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _on_bundles(_product, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _on_bundles(_quotient, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _on_bundles(_quotient, other, self)

    def __neg__(self) -> Term:
        return _negative(self)

    def __abs__(self) -> Term:
        return made("abs", self)

    def __lt__(self, other: Any) -> Any:
        return _on_bundles(_less, self, other)

    def __gt__(self, other: Any) -> Any:
        return _on_bundles(_less, other, self)

    def __le__(self, other: Any) -> Any:
        return _on_bundles(_at_most, self, other)

    def __ge__(self, other: Any) -> Any:
        return _on_bundles(_at_most, other, self)

    def __eq__(self, other: Any) -> Any:
        return _on_bundles(lambda a, b: term(a) is term(b), self, other)

    def __ne__(self, other: Any) -> Any:
        return _on_bundles(lambda a, b: term(a) is not term(b), self, other)

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return shown(self.number)


class _Table:
    """All terms of a proof: the operation of each term, and the term of each operation."""

    def __init__(self) -> None:
        self.keys: list[Key] = [("unwritten",)]
        self.terms: list[Term] = [Term(0)]
        self.known: dict[Key, Term] = {("unwritten",): self.terms[0]}
        self.written: dict[int, Any] = {}


_TABLE = _Table()

UNWRITTEN = 0
"""The number of the term of unwritten elements."""


@contextmanager
def terms() -> Iterator[None]:
    """Begin without any terms; one thread at a time has them."""
    global _TABLE
    with _LOCK:
        outer, _TABLE = _TABLE, _Table()
        try:
            yield
        finally:
            _TABLE = outer


def made(operation: str, *operands: Any) -> Term:
    """Return the term of an operation."""
    return _known((operation, *[term(value).number for value in operands]))


def leaf(*told: Any) -> Term:
    """Return the term of an input, identified by some values."""
    return _known(("leaf", *told))


def leaves(name: str, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return an array with a different leaf at each point."""
    found = [leaf(name, index).number for index in np.ndindex(*shape)]
    return np.array(found, np.float64).reshape(shape)


def term(value: Any) -> Term:
    """Return a value as a term: itself, or a constant."""
    if type(value) is Term:
        return value
    number = float(value)
    return _known(("constant", number if abs(number) > 0.0 else repr(number)), number)


def of_number(number: float) -> Term:
    """Return the term whose number an array holds; NaN represents unwritten memory."""
    return _TABLE.terms[int(number)] if number == number else _TABLE.terms[UNWRITTEN]


def operation_of(number: int) -> Key:
    """Return the operation of a term, with the numbers of its operands."""
    return _TABLE.keys[number]


def mixed(number: int) -> int:
    """Return a hash of a term's number that does not follow its order."""
    return hash((number, 0x9E3779B97F4A7C15)) & _MASK


def added(total: int, number: int) -> int:
    """Return the integer of a collection of terms with another one."""
    return (total + mixed(number)) & _MASK


def together(one: int, other: int) -> int:
    """Return the integer of two collections of terms as one."""
    return (one + other) & _MASK


def written_by(number: int) -> Any:
    """Return the label under which a term was stored first; None if there is none."""
    return _TABLE.written.get(number)


def is_given(number: int) -> bool:
    """Whether a term is a leaf or a constant."""
    return operation_of(number)[0] in ("leaf", "constant", "unwritten")


def label(number: int, by: Any) -> None:
    """Note where a term was stored, if that is the first time."""
    _TABLE.written.setdefault(number, by)


def shown(number: int) -> str:
    """Return a term as text."""
    operation, *operands = operation_of(number)
    if operation == "leaf":
        name, *rest = operands
        place = "".join(f"[{', '.join(map(str, r))}]" for r in rest if isinstance(r, tuple))
        return f"{name}{place} as it was given" if place or not rest else f"the {name}"
    if operation == "constant":
        return str(*operands)
    return "what nothing has written" if operation == "unwritten" else f"a {operation}"


def _known(key: Key, value: float | None = None) -> Term:
    found = _TABLE.known.get(key)
    if found is None:
        found = _TABLE.known[key] = Term(len(_TABLE.keys), value)
        _TABLE.keys.append(key)
        _TABLE.terms.append(found)
    return found


def _on_bundles(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return a function of two numbers, one of which may be a bundle."""
    if (isinstance(a, np.ndarray) and a.ndim) or (isinstance(b, np.ndarray) and b.ndim):
        return bundle([function(*each) for each in np.broadcast(a, b)])
    return function(a, b)


def bundle(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return values as an array of objects."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _folded(function: Callable[..., Any], *values: Term) -> Term:
    """Return the constant to which an operation on constants evaluates."""
    with np.errstate(all="ignore"):
        return term(function(*(np.float64(each.value) for each in values)))


def _sum(a: Any, b: Any) -> Term:
    one, other = term(a), term(b)
    if one.value is not None and other.value is not None:
        return _folded(operator.add, one, other)
    if _is_nothing(one):
        return other
    if _is_nothing(other):
        return one
    first, last = sorted((one.number, other.number))
    return _known(("sum", first, last))


def _difference(a: Any, b: Any) -> Term:
    return _sum(a, _negative(term(b)))


def _product(a: Any, b: Any) -> Term:
    one, other = term(a), term(b)
    if one.value is not None and other.value is not None:
        return _folded(operator.mul, one, other)
    (minus, one), (less, other) = _apart(one), _apart(other)
    if one.value == 1.0 or other.value == 1.0:
        found = other if one.value == 1.0 else one
    else:
        first, last = sorted((one.number, other.number))
        found = _known(("product", first, last))
    return _negative(found) if minus != less else found


def _quotient(a: Any, b: Any) -> Term:
    one, other = term(a), term(b)
    if one.value is not None and other.value is not None:
        return _folded(operator.truediv, one, other)
    return made("quotient", one, other)


def _negative(value: Term) -> Term:
    if value.value is not None:
        return term(-value.value)
    kind, *operands = operation_of(value.number)
    return _TABLE.terms[operands[0]] if kind == "negative" else _known(("negative", value.number))


def rounded_once(a: Any, b: Any, c: Any) -> Term:
    """Return the term of ``a * b + c`` rounded once."""
    given = one, other, rest = term(a), term(b), term(c)
    if all(each.value is not None for each in given):
        return _folded(fma, *given)
    (minus, one), (less, other) = _apart(one), _apart(other)
    if one.value == 0.0 or other.value == 0.0:
        return rest
    if _is_nothing(rest) or one.value == 1.0 or other.value == 1.0:
        return _sum(_product(a, b), rest)
    first, last = sorted((one.number, other.number))
    operation = "fma" if minus == less else "negative fma"
    return _known((operation, first, last, rest.number))


def _apart(value: Term) -> tuple[bool, Term]:
    """Return whether a term is a negation, and the operand, or else the term."""
    if value.value is not None:
        return (True, term(-value.value)) if value.value < 0.0 else (False, value)
    kind, *operands = operation_of(value.number)
    return (True, _TABLE.terms[operands[0]]) if kind == "negative" else (False, value)


def _is_nothing(value: Term) -> bool:
    """Whether a term is -0, which changes no sum."""
    return value.value == 0.0 and str(value.value) == "-0.0"


def _less(a: Any, b: Any) -> bool:
    return mixed(term(a).number) < mixed(term(b).number)


def _at_most(a: Any, b: Any) -> bool:
    return mixed(term(a).number) <= mixed(term(b).number)
