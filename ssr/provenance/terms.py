"""Terms: numbers replaced by the operations that made them.

Equal operations on equal operands are the same term, known by its number, which an array of doubles
holds like any other value. Forms that give the same bits are one term: operands of sums and
products in either order, ``a - b`` and ``a + -b``, a sum with -0 and a product with 1.
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
"""The name of an operation with the numbers of its operands, or of a leaf with what tells it."""

_MASK = 2**61 - 1
_LOCK = RLock()


class Term:
    """A number as the operation that made it; arithmetic makes further terms."""

    __slots__ = ("number",)
    __array_ufunc__ = None

    def __init__(self, number: int) -> None:
        self.number = number

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
    """All terms of a proof: what made each, and the term of each operation."""

    def __init__(self) -> None:
        self.keys: list[Key] = [("unwritten",)]
        self.terms: list[Term] = [Term(0)]
        self.known: dict[Key, Term] = {("unwritten",): self.terms[0]}
        self.written: dict[int, Any] = {}


_TABLE = _Table()

UNWRITTEN = 0
"""The number of the term that stands for what nothing has written."""


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
    """Return the term of something that is given, by what tells it from others."""
    return _known(("leaf", *told))


def leaves(name: str, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return an array with a leaf of its own at each point."""
    found = [leaf(name, index).number for index in np.ndindex(*shape)]
    return np.array(found, np.float64).reshape(shape)


def term(value: Any) -> Term:
    """Return a value as a term: itself, or a constant."""
    if type(value) is Term:
        return value
    number = float(value)
    return _known(("constant", number if number else repr(number)))


def of_number(number: float) -> Term:
    """Return the term whose number an array holds; NaN is what nothing has written."""
    return _TABLE.terms[int(number)] if number == number else _TABLE.terms[UNWRITTEN]


def operation_of(number: int) -> Key:
    """Return the operation that a term stands for, with the numbers of its operands."""
    return _TABLE.keys[number]


def mixed(number: int) -> int:
    """Return an integer that tells nothing but the term, in no order."""
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


def _known(key: Key) -> Term:
    found = _TABLE.known.get(key)
    if found is None:
        found = _TABLE.known[key] = Term(len(_TABLE.keys))
        _TABLE.keys.append(key)
        _TABLE.terms.append(found)
    return found


def _on_bundles(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return a function of two numbers, one of which may be a bundle."""
    if isinstance(a, np.ndarray) and a.ndim or isinstance(b, np.ndarray) and b.ndim:
        return bundle([function(*each) for each in np.broadcast(a, b)])
    return function(a, b)


def bundle(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Return values as an array of objects."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _folded(function: Callable[..., Any], *values: Any) -> Term | None:
    """Return the constant that an operation makes of constants; None if one is none."""
    keys = [operation_of(term(value).number) for value in values]
    if any(kind != "constant" for kind, *_ in keys):
        return None
    with np.errstate(all="ignore"):
        return term(function(*(np.float64(operands[0]) for _, *operands in keys)))


def _sum(a: Any, b: Any) -> Term:
    known = _folded(operator.add, a, b)
    if known is not None:
        return known
    one, other = term(a), term(b)
    if _is(one, "-0.0"):
        return other
    if _is(other, "-0.0"):
        return one
    first, last = sorted((one.number, other.number))
    return _known(("sum", first, last))


def _difference(a: Any, b: Any) -> Term:
    return _sum(a, _negative(term(b)))


def _product(a: Any, b: Any) -> Term:
    known = _folded(operator.mul, a, b)
    if known is not None:
        return known
    (minus, one), (less, other) = map(_apart, (term(a), term(b)))
    first, last = sorted((one.number, other.number))
    made = (
        other if _is_one(one) else one if _is_one(other) else _known(("product", first, last))
    )
    return _negative(made) if minus != less else made


def _quotient(a: Any, b: Any) -> Term:
    known = _folded(operator.truediv, a, b)
    return made("quotient", a, b) if known is None else known


def _negative(value: Term) -> Term:
    kind, *operands = operation_of(value.number)
    if kind == "negative":
        return _TABLE.terms[operands[0]]
    if kind == "constant":
        return term(-float(operands[0]))
    return _known(("negative", value.number))


def rounded_once(a: Any, b: Any, c: Any) -> Term:
    """Return the term of ``a * b + c`` rounded once."""
    known = _folded(fma, a, b, c)
    if known is not None:
        return known
    (minus, one), (less, other) = map(_apart, (term(a), term(b)))
    rest, negative = term(c), minus != less
    if _is(rest, "-0.0") or _is_one(one) or _is_one(other):
        return _sum(_product(a, b), rest)
    first, last = sorted((one.number, other.number))
    return _known(("fma", negative, first, last, rest.number))


def _apart(value: Term) -> tuple[bool, Term]:
    """Return whether a term is a negative, and of what."""
    kind, *operands = operation_of(value.number)
    if kind == "constant" and float(operands[0]) < 0.0:
        return True, term(-operands[0])
    return (True, _TABLE.terms[operands[0]]) if kind == "negative" else (False, value)


def _is_one(value: Term) -> bool:
    return operation_of(value.number) == ("constant", 1.0)


def _is(value: Term, zero: str) -> bool:
    return operation_of(value.number) == ("constant", zero)


def _less(a: Any, b: Any) -> bool:
    return operator.lt(*(mixed(term(value).number) for value in (a, b)))


def _at_most(a: Any, b: Any) -> bool:
    return operator.le(*(mixed(term(value).number) for value in (a, b)))
