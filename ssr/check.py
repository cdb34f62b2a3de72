"""Say what is wrong with arrays a kernel cannot take."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from .errors import (
    ArgumentError,
    ContiguityError,
    DtypeError,
    OverlapError,
    ReadOnlyError,
    ShapeError,
)
from .space import Space

SUPPORTED = ("float64", "float32")


def diagnose(
    arrays: Sequence[tuple[str, Space, Any]], dtype: Any, written: Collection[str]
) -> np.dtype[Any]:
    """Check type, layout and dtype of arrays; return their common dtype."""
    common = None if dtype is None else np.dtype(dtype)
    for name, space, a in arrays:
        if not isinstance(a, np.ndarray):
            raise ArgumentError(
                f"{name!r} is {type(a).__name__}, not a NumPy array.",
                hint="Convert it with np.asarray.",
            )
        if a.dtype.name not in SUPPORTED or not a.dtype.isnative:
            raise DtypeError(
                f"Array {name!r} has dtype {a.dtype}.",
                hint=f"Supported: {', '.join(SUPPORTED)}; convert with {name}.astype(float).",
            )
        common = common or a.dtype
        if a.dtype != common:
            raise DtypeError(
                f"Array {name!r} has dtype {a.dtype} where the others have {common}.",
                hint="All arrays of a call have one dtype.",
            )
        if a.ndim != space.ndim:
            raise ShapeError(f"Array {name!r} has {a.ndim} axes; {space!r} has {space.ndim}.")
        _check_layout(name, a)
        if name in written and not a.flags.writeable:
            raise ReadOnlyError(f"Array {name!r} is assigned, but it is read-only.")
    assert isinstance(common, np.dtype)
    return common


def _check_layout(name: str, a: np.ndarray[Any, Any]) -> None:
    long_axes = [s for s, n in zip(a.strides, a.shape, strict=True) if n > 1]
    if a.shape[-1] > 1 and a.strides[-1] != a.itemsize:
        raise ContiguityError(
            f"The last axis of array {name!r} is not contiguous: its stride is "
            f"{a.strides[-1]} bytes.",
            hint=f"Pass np.ascontiguousarray({name}).",
        )
    if any(s <= 0 or s % a.itemsize for s in long_axes):
        raise ContiguityError(
            f"Array {name!r} has the strides {a.strides}; kernels need positive whole ones.",
            hint=f"Pass np.ascontiguousarray({name}).",
        )


def overlap(code: int, arrays: Sequence[tuple[str, Space, Any]]) -> None:
    """Raise if two arrays whose extents in memory meet share an element."""
    first, second = divmod(code, len(arrays))
    pairs = [(first, second)] if max(first, second) < len(arrays) else []
    pairs = pairs or [(n, m) for n in range(len(arrays)) for m in range(n)]
    for n, m in pairs:
        (name, _, a), (other, _, b) = arrays[n], arrays[m]
        if np.shares_memory(a, b):
            raise OverlapError(
                f"Array {name!r} is written and shares memory with {other!r}.",
                hint="Pass a copy, or write the program with one field for both.",
            )
