"""The operations of generated kernels, implemented on terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elementary import FUNCTIONS
from ..runtime import bundles
from ..runtime.intrinsics import Memory
from .terms import (
    Term,
    added,
    bundle,
    is_given,
    label,
    leaf,
    made,
    of_number,
    rounded_once,
    term,
)

_OPERATIONS = ["power", *FUNCTIONS]


class Terms(Memory):
    """An array whose doubles are numbers of terms, seen as flat memory."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        super().__init__(array)
        self.flat: Any = memoryview(self.flat)


class Labels:
    """The piece and row that run, by which stores are labelled in checked source."""

    def __init__(self) -> None:
        self.here: tuple[Any, ...] | None = None
        self.rank: int | None = None

    def require(self, holds: bool, piece: str, row: tuple[int, ...]) -> None:
        """Take note of the row that a piece of a statement runs."""
        self.here = piece, row, self.rank

    def within(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is not a statement, whose stores have its name."""

        def run(*args: Any) -> Any:
            self.here = name, (), self.rank
            return function(*args)

        return run


LABELS = Labels()


def scope(labelled: bool) -> dict[str, Any]:
    """Return the names that replace those imported by a module of generated source."""
    found: dict[str, Any] = {
        "np": _Functions(),
        "real": _real,
        "ld": load,
        "st": store_labelled if labelled else store,
        "fma": fma,
        "minimum": _either("minimum"),
        "maximum": _either("maximum"),
        "sign": _each("sign"),
        **{name: _each(name) for name, f in FUNCTIONS.items() if f.printed == name},
        "component": lambda a, number: type(a)(a.array[number]),
        "between": _between,
        "accumulate": _collect,
        "accumulate_squares": _collect,
        "extreme": lambda state, row, sign, buffer, *part: _collect(state, row, buffer, *part),
        "total": lambda state, row: leaf("sum of all rows", int(state[row, 0])),
        "root": lambda state, row: leaf("norm of all rows", int(state[row, 0])),
        "found": lambda state, row: leaf("extreme of all rows", int(state[row, 0])),
        "require": LABELS.require,
        "take": _take,
        "put": _put,
        "gather": bundles.gather,
        "scatter": bundles.scatter,
        "repeated": lambda lines, *numbers: bundle([numbers[n % len(numbers)] for n in _lanes()]),
        "take_rows": _take_rows,
        "take_wanted": _take_wanted,
        "put_rows": _put_rows,
        "fma_present": _fma_present,
    }
    return found


class _Functions:
    """The names of NumPy that generated source uses, on terms."""

    def __getattr__(self, name: str) -> Any:
        return _each(name) if name in _OPERATIONS else getattr(np, name)


def load(a: Any, offset: int) -> Any:
    """Return the element at a flat offset, as a term where the array has terms."""
    assert 0 <= offset < len(a.flat), f"load at {offset} of {len(a.flat)}"
    value = a.flat[offset]
    return of_number(value) if type(a) is Terms else value


def store(a: Any, offset: int, value: Any) -> None:
    """Store an element at a flat offset."""
    assert 0 <= offset < len(a.flat), f"store at {offset} of {len(a.flat)}"
    a.flat[offset] = term(value).number if type(a) is Terms else value


def store_labelled(a: Any, offset: int, value: Any) -> None:
    """Store an element, and note which row of which piece does."""
    value = term(value)
    if not is_given(value.number):
        label(value.number, LABELS.here)
    store(a, offset, value)


def _real(value: Any) -> Any:
    return value if isinstance(value, (Term, np.ndarray)) else np.float64(value)


def _each(name: str) -> Callable[..., Any]:
    """Return an operation on numbers and bundles; numbers that are no terms are computed with."""
    function = FUNCTIONS[name].compute if name in FUNCTIONS else getattr(np, name)

    def on_numbers(*values: Any) -> Any:
        return made(name, *values) if any(type(v) is Term for v in values) else function(*values)

    def on_bundles(*values: Any) -> Any:
        if any(isinstance(v, np.ndarray) and v.ndim for v in values):
            return bundle([on_numbers(*each) for each in np.broadcast(*values)])
        return on_numbers(*values)

    return on_bundles


def _either(name: str) -> Callable[..., Any]:
    """Return a maximum or minimum, which is commutative."""
    ordered = _each(name)

    def on_numbers(a: Any, b: Any) -> Any:
        terms = [term(a), term(b)]
        return made(name, *sorted(terms, key=lambda each: each.number))

    def on_bundles(a: Any, b: Any) -> Any:
        if any(isinstance(v, np.ndarray) and v.ndim for v in (a, b)):
            return bundle([on_bundles(*each) for each in np.broadcast(a, b)])
        return on_numbers(a, b) if Term in (type(a), type(b)) else ordered(a, b)

    return on_bundles


def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` rounded once, of numbers or bundles."""
    if any(isinstance(v, np.ndarray) and v.ndim for v in (a, b, c)):
        return bundle([rounded_once(*each) for each in np.broadcast(a, b, c)])
    return rounded_once(a, b, c)


def _between(a: Any, start: int, stop: int) -> Any:
    return a[start:stop] if isinstance(a, np.ndarray) else type(a)(a.array[start:stop])


# -- reductions ------------------------------------------------------------------------------------


def _collect(state: Any, row: int, buffer: Any, start: int, count: int) -> None:
    """Add the terms of a buffer to the collection in the state of a reduction."""
    for n in range(start, start + count):
        state[row, 0] = added(int(state[row, 0]), load(buffer, n).number)


# -- bundles ---------------------------------------------------------------------------------------


def _lanes() -> range:
    return range(bundles.width(8))


def _take(lines: Any, place: int) -> Any:
    return bundle([load(lines, place + n) for n in _lanes()])


def _put(lines: Any, place: int, value: Any) -> None:
    for n in _lanes():
        store(lines, place + n, value[n] if isinstance(value, np.ndarray) and value.ndim else value)


def _take_rows(lines: Any, place: int, weights: Any, low: int, high: int) -> Any:
    there = [low <= n < high and bool(w != 0) for n, w in enumerate(weights)]
    return bundle([load(lines, place + n) if is_read else 0.0 for n, is_read in enumerate(there)])


def _take_wanted(lines: Any, place: int, first: int, low: int, high: int, *reads: int) -> Any:
    wanted = {
        n + distance
        for distance, rows in zip(reads[::2], reads[1::2], strict=True)
        for n in range(max(low, 0), high)
        if rows >> n & 1
    }
    return bundle([load(lines, place + n) if first + n in wanted else 0.0 for n in _lanes()])


def _put_rows(lines: Any, place: int, value: Any, low: int, high: int) -> None:
    for n, number in enumerate(value):
        if low <= n < high:
            store(lines, place + n, number)


def _fma_present(weights: Any, x: Any, total: Any) -> Any:
    every = np.broadcast(weights, x, total)
    return bundle([rounded_once(w, a, t) if w != 0 else term(t) for w, a, t in every])
