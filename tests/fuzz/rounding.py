"""Fused multiply-add by the C library, for kernels that run as plain Python."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from ssr.runtime import intrinsics

LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
FUSED = {np.float64: (LIBRARY.fma, ctypes.c_double), np.float32: (LIBRARY.fmaf, ctypes.c_float)}
for function, number in FUSED.values():
    function.argtypes, function.restype = [number] * 3, number


@intrinsics.each
def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` rounded once, of the type of c."""
    kind = type(c)
    return kind(FUSED[kind][0](a, b, c)) if kind in FUSED else EXACT(a, b, c)


EXACT = intrinsics.fma


@contextmanager
def fast() -> Iterator[None]:
    """Let kernels that are made meanwhile use it instead of fractions."""
    with patch.object(intrinsics, "fma", fma):
        yield
