"""Check array arguments, and diagnose arrays that a kernel cannot take."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from ..errors import (
    ArgumentError,
    ContiguityError,
    DtypeError,
    Error,
    OverlapError,
    ReadOnlyError,
    ShapeError,
)
from ..points.numbers import Array, plain
from ..spaces.space import Space

T = TypeVar("T")

SUPPORTED = ("float64", "float32")

_NATIVE = tuple(map(np.dtype, SUPPORTED))


def diagnose(
    arrays: Sequence[tuple[str, Space, object]], written: Collection[str]
) -> np.dtype[np.generic]:
    """Check type, layout and dtype of arrays; return their common dtype.

    Arrays that are read are checked first, so that an error names them and not a result allocated
    like them.
    """
    common: np.dtype[np.generic] | None = None
    for name, space, given in read_first(arrays, written):
        a = _checked_type(name, given)
        _check_dtype(name, a, common, name in written)
        common = common or a.dtype
        if a.ndim != space.ndim:
            raise ShapeError(
                f"Array {name!r} has {_axes(a.ndim)}, not {space.ndim}.",
                note=f"its space is {space!r}",
            )
        if a.size:
            _check_layout(name, a, name in written)
        if name in written and not a.flags.writeable:
            raise ReadOnlyError(
                f"Array {name!r} is assigned, but it is read-only.",
                hint="Pass an array that owns its memory, or a copy.",
            )
    assert isinstance(common, np.dtype)
    return common


def read_first(
    arrays: Sequence[tuple[str, Space, T]], written: Collection[str]
) -> list[tuple[str, Space, T]]:
    """Return arrays, those that are only read before the written ones."""
    return sorted(arrays, key=lambda entry: entry[0] in written)


def _axes(count: int) -> str:
    return f"{count} axis" if count == 1 else f"{count} axes"


def _checked_type(name: str, a: object) -> Array:
    if not isinstance(a, np.ndarray):
        raise ArgumentError(
            f"{name!r} is {type(a).__name__}, not a NumPy array.",
            hint="Convert it with np.asarray.",
        )
    if isinstance(a, np.ma.MaskedArray):
        raise ArgumentError(
            f"{name!r} is a masked array, which kernels do not support.",
            hint=f"Pass {name}.filled(value), and the mask as a field of its own.",
        )
    return a


def _check_dtype(name: str, a: Array, common: np.dtype[np.generic] | None, written: bool) -> None:
    if a.dtype not in _NATIVE:
        if a.dtype.kind == "c":
            hint = "Keep real and imaginary parts in two fields or in a vector field."
        elif written:
            hint = f"Supported: {', '.join(SUPPORTED)}; allocate it with one of these."
        else:
            hint = f"Supported: {', '.join(SUPPORTED)}; convert with {name}.astype(np.float64)."
        raise DtypeError(f"Array {name!r} has dtype {a.dtype}.", hint=hint)
    if common is not None and a.dtype != common:
        raise DtypeError(
            f"Array {name!r} has dtype {a.dtype} where the others have {common}.",
            hint="All arrays of a call have one dtype.",
        )


def _check_layout(name: str, a: Array, written: bool) -> None:
    if a.shape[-1] > 1 and a.strides[-1] != a.itemsize:
        raise _unfit(
            f"The last axis of array {name!r} is not contiguous: its stride is "
            f"{a.strides[-1]} bytes.",
            name,
            written,
        )
    if not a.flags.aligned:
        raise _unfit(f"Array {name!r} is not aligned in memory.", name, written)
    axes = sorted((s, n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1)
    if any(s <= 0 or s % a.itemsize for s, _ in axes):
        raise _unfit(
            f"Array {name!r} has the strides {a.strides}; kernels need positive whole ones.",
            name,
            written,
        )
    end = a.itemsize
    for stride, count in axes:
        if written and stride < end:
            raise OverlapError(
                f"Array {name!r} is written, but its own elements share memory.",
                note=f"its shape is {a.shape}, its strides are {a.strides}",
                hint="Pass an array that owns its memory, or a copy.",
            )
        end += (count - 1) * stride


def _unfit(message: str, name: str, written: bool) -> Error:
    """Return the error of a layout; a copy of an array that is written would hide the result."""
    hint = f"Pass np.ascontiguousarray({name})."
    if written:
        hint = f"Pass a contiguous array, and copy it to {name}[...] after the call."
    return ContiguityError(message, hint=hint)


def dtype_name(dtype: DTypeLike) -> str:
    """Return the name of a dtype that kernels support."""
    try:
        name = str(np.dtype(dtype).name)
    except TypeError:
        name = str(dtype)
    if name not in SUPPORTED:
        raise DtypeError(
            f"There are no kernels for dtype {name}.", hint=f"Supported: {', '.join(SUPPORTED)}."
        )
    return name


def number_of(name: str, value: object) -> float:
    """Return the value of a scalar as a float."""
    if type(value) is float:
        return value
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, numbers.Real):
        raise ArgumentError(f"Scalar {name!r} is {type(value).__name__}, not a number.")
    try:
        return float(found)
    except OverflowError:
        raise ArgumentError(f"Scalar {name!r} is too large for a floating-point number.") from None


def addresses(arrays: Sequence[Array]) -> list[int]:
    """Return where in memory the first elements of arrays lie."""
    return [a.__array_interface__["data"][0] for a in arrays]


def overlap(
    arrays: Sequence[tuple[str, Space, Array]], starts: Sequence[int], written: Collection[str]
) -> None:
    """Raise if an array that is written shares an element with another one.

    Kernels compare extents in memory, which also overlap for interleaved views; this function
    compares the elements of such arrays.
    """
    for n, m in sorted(_meeting([a for _, _, a in arrays], starts)):
        (one, _, a), (other, _, b) = arrays[n], arrays[m]
        name, second = (one, other) if one in written else (other, one)
        if name in written and np.shares_memory(a, b):
            raise OverlapError(
                f"Array {name!r} is written and shares memory with {second!r}.",
                hint="Pass a copy, or write the program with one field for both.",
            )


def _meeting(arrays: Sequence[Array], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of numbers, the smaller one first, of arrays whose extents in memory overlap."""
    ends = [start + extent_bytes(a) for start, a in zip(starts, arrays, strict=True)]
    before: list[int] = []
    for n in sorted(range(len(arrays)), key=starts.__getitem__):
        before = [m for m in before if ends[m] > starts[n]]
        yield from ((min(n, m), max(n, m)) for m in before)
        before.append(n)


def extent_bytes(a: Array) -> int:
    """Return the bytes from an array's first element to the end of its last."""
    return int(a.itemsize + sum((n - 1) * s for n, s in zip(a.shape, a.strides, strict=True)))
