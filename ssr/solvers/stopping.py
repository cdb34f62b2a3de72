"""Stopping criteria of solvers: tolerances, and failure codes."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any

from ..errors import ArgumentError, OutOfRangeError
from ..points.numbers import integer, real
from ..trace.functions import is_async, name_of

NOT_FINITE, DIVERGED, STAGNATED = -1, -2, -3
"""Failure codes: non-finite values, a residual that has grown, and stagnation."""


class Breakdown(Exception):
    """A method cannot continue, because it would divide by zero."""

    def __init__(self, info: int) -> None:
        super().__init__(info)
        self.info = info


def check_limits(rtol: Any, atol: Any, maxiter: Any, callback: Any) -> None:
    """Validate the tolerances, the limit and the callback of an iteration."""
    for name, tolerance in ("rtol", rtol), ("atol", atol):
        found = real(tolerance)
        if found is None or not found >= 0.0:
            raise OutOfRangeError(
                f"The tolerance {name} is {tolerance!r}.", hint="Tolerances are 0 or more."
            )
    count = 0 if maxiter is None else integer(maxiter)
    if count is None or count < 0:
        raise OutOfRangeError(f"maxiter is {maxiter!r}, not an integer from 0 on.")
    if callback is not None:
        _check_callback(callback)


def _check_callback(callback: Any) -> None:
    """Check that a callback takes the solution after an iteration."""
    if not callable(callback) or is_async(callback):
        raise ArgumentError(f"callback is {callback!r}; it is a function of x.")
    with suppress(ValueError):  # the signature is unknown
        try:
            inspect.signature(callback).bind(None)
        except TypeError:
            raise ArgumentError(
                f"The callback {name_of(callback)} does not take one array, the solution x."
            ) from None
