"""Checks of rule arguments: numbers, orders of accuracy, tables, functions of coordinates."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array, integer, is_async, name_of

ORDERS = 12
"""The highest order of accuracy of polynomials through points near a side."""

ROUNDING = 16 * np.finfo(float).eps
"""A bound on the relative rounding error of a value computed by a few operations: 3.6e-15."""


def finite(text: str, name: str, value: Any) -> float:
    """Return a finite number."""
    if isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and not value.ndim):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
            if np.isfinite(number):
                return number
    raise ArgumentError(f"{text}: {name} is {value!r}, not a finite number.")


def vanishes(total: Any, *terms: Any) -> bool:
    """Whether a sum of given or computed numbers is zero up to rounding errors."""
    return bool(abs(total) <= ROUNDING * sum(abs(term) for term in terms))


def finite_numbers(text: str, name: str, value: Any) -> tuple[float, ...]:
    """Return finite numbers; a single number need not be in a sequence."""
    each = value if isinstance(value, (tuple, list)) else [value]
    if not each:
        raise ArgumentError(f"{text}: no {name} is given.")
    return tuple(finite(text, name, v) for v in each)


def order_of(text: str, order: Any) -> int:
    """Return an order of accuracy, a positive integer up to `ORDERS`."""
    found = integer(order)
    if found is None or found < 1:
        raise ArgumentError(f"{text}: the order is {order!r}, not a positive integer.")
    if found > ORDERS:
        raise ArgumentError(
            f"{text}: the order is {found}, more than {ORDERS}.",
            note=f"Polynomials through {found} points multiply rounding errors by 2**{found}.",
            hint="Choose a lower order. Orders above 8 are rarely useful.",
        )
    return found


def check_function(text: str, function: Callable[..., Any], count: int) -> None:
    """Refuse a function that does not take a given number of coordinates, or is async."""
    if is_async(function):
        raise ArgumentError(
            f"{text}: {name_of(function)} is an async function.",
            hint="Write def instead of async def.",
        )
    if not _takes(function, count):
        names = ", ".join("zyx"[-count:])
        noun = "argument" if count == 1 else "arguments"
        raise ArgumentError(
            f"{text}: the function {name_of(function)} does not take {count} {noun}.",
            note=f"it is called with one array of coordinates for each axis of a block: {names}",
            hint=f"Write lambda {names}: ...",
        )


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function takes a number of arguments, as far as is known.

    Further arguments of NumPy's functions are arrays that they write to.
    """
    if isinstance(function, np.ufunc):
        return function.nin == count
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # no signature available
        return True
    return True


def table(text: str, name: str, values: Any) -> Array:
    """Return a user's table of numbers as a new array."""
    try:
        found = np.asarray(values)
        if found.dtype.kind in "biuf" or all(isinstance(v, numbers.Real) for v in found.flat):
            return np.array(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError(f"{text}: {name} is not an array of real numbers.")
