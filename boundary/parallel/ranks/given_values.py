"""Checks of values assigned to fields: only real numbers are accepted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssr.errors import ArgumentError, DtypeError
from ssr.extension import Array

KINDS = "biuf"
"""The NumPy dtype kinds of real numbers."""


def real_array(what: str, values: Any) -> Array:
    """Return values as an array of real numbers."""
    if values is None or isinstance(values, (str, bytes)):
        raise ArgumentError(f"{what} are {values!r}, not numbers.")
    if isinstance(values, memoryview):
        raise ArgumentError(f"{what} are a memoryview.", hint="Convert it with np.asarray.")
    if isinstance(values, np.ma.MaskedArray):
        raise ArgumentError(
            f"{what} have a mask.", hint="Give array.filled(value), without a mask."
        )
    try:
        array = np.asarray(float(values) if isinstance(values, int) else values)
    except (ValueError, TypeError, OverflowError) as error:
        raise DtypeError(f"{what} do not make an array of numbers.", note=str(error)) from None
    check_real(what, array.dtype)
    return array


def check_real(what: str, dtype: Any) -> None:
    """Raise unless a dtype is one of real numbers."""
    kind = np.dtype(dtype)
    if kind.kind in KINDS:
        return
    hint = "Fields are real numbers."
    if kind.kind == "c":
        hint = "Fields are real: keep real and imaginary parts in two fields."
    raise DtypeError(f"{what} have dtype {kind}.", hint=hint)


def indexed(what: str, values: Any) -> Any:
    """Return values for all points: an array, or an array-like that is read part by part.

    The array-like has a shape and a dtype, such as a data set in a file.
    """
    lazy = hasattr(values, "shape") and hasattr(values, "dtype") and hasattr(values, "__getitem__")
    if not lazy or isinstance(values, np.ma.MaskedArray | np.generic):
        return real_array(what, values)
    try:
        check_real(what, values.dtype)
    except TypeError:
        raise DtypeError(f"{what} have dtype {values.dtype}.") from None
    return values


def field_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of a field."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise DtypeError(f"Fields have dtype float64 or float32, not {dtype!r}.") from None
    if found not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise DtypeError(f"Fields have dtype float64 or float32, not {found}.")
    return found
