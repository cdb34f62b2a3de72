"""Kernel operations in plain Python: arithmetic and memory accesses.

``ld`` and ``st`` access memory at a flat element offset, without the check for negative indices
that prevents LLVM from vectorizing; ``fma`` rounds once; ``minimum``, ``maximum`` and ``sign``
propagate NaN. ``prefetch`` has no effect on results, nor does the declaration that the rows of
a range are ``independent``. In plain Python the operations act on arrays wrapped by `Memory`, with
bounds checks.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ..elementary import FUNCTIONS
from ..points.numbers import Array

Real: TypeAlias = "np.float64 | np.float32"
Value: TypeAlias = "Real | Array"
"""A number, or a bundle of numbers."""


class Memory:
    """An array seen as the flat memory from its first to its last element."""

    __slots__ = ("array", "flat")

    def __init__(self, array: Array) -> None:
        self.array = array
        steps = [s // array.itemsize for s in array.strides]
        length = 1 + sum((n - 1) * s for n, s in zip(array.shape, steps, strict=True))
        self.flat = np.lib.stride_tricks.as_strided(
            array, (length,), (array.itemsize,), writeable=array.flags.writeable
        )

    def __len__(self) -> int:
        return len(self.flat)


def plain(kernel: Callable[..., int]) -> Callable[..., int]:
    """Return a kernel's source as a function of arrays that runs without Numba."""

    def run(*args: Array | float) -> int:
        given = [
            Memory(a) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args
        ]
        with np.errstate(all="ignore"):
            return kernel(*given)

    return run


def unwritten(shape: int | tuple[int, ...], dtype: DTypeLike) -> Array:
    """Return scratch memory filled with NaN or -1, so that uninitialized reads are visible."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else -1, dtype)


def ld(a: Memory, offset: int) -> Real:
    """Return the element at a flat offset."""
    assert 0 <= offset < len(a.flat), f"load at {offset} of {len(a.flat)}"
    found: Real = a.flat[offset]
    return found


def st(a: Memory, offset: int, value: Real) -> None:
    """Store an element at a flat offset."""
    assert 0 <= offset < len(a.flat), f"store at {offset} of {len(a.flat)}"
    a.flat[offset] = value


def prefetch(a: Memory, offset: int) -> None:
    """Bring an element near; any offset is allowed."""


def address(a: Memory) -> int:
    """Return the address of an array's first element."""
    return int(a.array.ctypes.data)


independent = rolled = range
"""Ranges of a loop without dependences between its rows, and of a loop that is not unrolled."""


def apart(a: Memory, count: int) -> bool:
    """Whether an array has this length along its first axis."""
    return len(a.array) == count


def component(a: Memory, number: int) -> Memory:
    """Return the part of an array with an index along its first axis."""
    return Memory(a.array[number])


def each(function: Callable[..., Real]) -> Callable[..., Value]:
    """Return a function of numbers that takes bundles too, and gives a bundle then."""

    @functools.wraps(function)
    def on_bundles(*given: Value) -> Value:
        for value in given:
            if isinstance(value, np.ndarray):
                return np.array([function(*numbers) for numbers in np.broadcast(*given)])
        return function(*given)

    return on_bundles


def _of_c(name: str, kind: type[ctypes.c_double | ctypes.c_float]) -> Callable[..., float]:
    """Return a function of three numbers of the C library, which IEEE 754 defines to the bit."""
    function = getattr(ctypes.CDLL("ucrtbase" if os.name == "nt" else None), name)
    function.restype, function.argtypes = kind, [kind] * 3
    return function  # type: ignore[no-any-return]


_FMA, _FMAF = _of_c("fma", ctypes.c_double), _of_c("fmaf", ctypes.c_float)


@each
def fma(a: Real, b: Real, c: Real) -> Real:
    """Return ``a * b + c`` rounded once, in the type of ``c``.

    >>> fma(np.float64(1 + 2**-30), np.float64(1 - 2**-30), np.float64(-1.0)) == -(2.0**-60)
    np.True_
    """
    kind = type(c)
    return kind((_FMAF if kind is np.float32 else _FMA)(a, b, c))


def erf(a: Value) -> Value:
    """Return the error function of a number, which NumPy lacks."""
    found: Value = FUNCTIONS["erf"].compute(a)
    return found


@each
def minimum(a: Real, b: Real) -> Real:
    """Return the smaller of two numbers, NaN if one is NaN, like `numpy.minimum`."""
    return a if a < b or a != a else b


@each
def maximum(a: Real, b: Real) -> Real:
    """Return the larger of two numbers, NaN if one is NaN, like `numpy.maximum`."""
    return a if a > b or a != a else b


@each
def sign(a: Real) -> Real:
    """Return -1, 0 or 1, NaN of NaN, like `numpy.sign`."""
    kind = type(a)
    return kind(1) if a > 0 else kind(-1) if a < 0 else kind(0) if a == 0 else a
