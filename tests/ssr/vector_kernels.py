"""Functions of kernel IR, the same as loops over vectors, and both in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ssr.kernel import ir
from ssr.kernel.from_python import functions_of
from ssr.kernel.inference import Functions
from ssr.kernel.print_python import function_lines, printed
from ssr.kernel.vector_target import AVX2, AVX512, GENERIC, NEON, Target
from ssr.kernel.vectorize import vectorize
from ssr.runtime import intrinsics

Array = np.ndarray[Any, np.dtype[Any]]

TARGETS = {target.name: target for target in (AVX512, AVX2, NEON, GENERIC)}
"""Processors with masks, without masks and with short vectors, and one without vectors."""


NUMBER, INTEGER, TRUTH = ir.Scalar("f8"), ir.Scalar("i8"), ir.Scalar("b1")
ELEMENTS = {"float64": "f8", "float32": "f4"}


def field(dtype: str) -> ir.Array:
    """Return the type of a field of one axis."""
    return ir.Array(ELEMENTS[dtype], contiguous=False, written=True)


def own(dtype: str) -> ir.Array:
    """Return the type of an array of the kernel itself."""
    return ir.Array(ELEMENTS[dtype], written=True)


def module_of(text: str, types: Sequence[ir.Type], dtype: str = "float64") -> ir.Module:
    """Return a module of functions that are written as Python, of which the last one is called."""
    functions = functions_of(text)
    constants = (("third", 1 / 3),)
    return ir.Module("a text", dtype, False, constants, (), (), functions, tuple(types))


def runs(module: ir.Module) -> Callable[..., Any]:
    """Return the last function of a module in plain Python."""
    scope: dict[str, Any] = {}
    exec(printed(module), scope)
    return intrinsics.plain(scope[module.functions[-1].name])


def text_of(module: ir.Module) -> str:
    """Return the functions of a module as text."""
    return "\n".join(line for function in module.functions for line in function_lines(function))


def both(
    text: str, types: Sequence[ir.Type], target: Target, dtype: str = "float64"
) -> tuple[Callable[..., Any], Callable[..., Any], str]:
    """Return a function row by row, on vectors, and the text of the latter."""
    module = module_of(text, types, dtype)
    made = vectorize(module, target)
    Functions(made)  # each variable has one type
    return runs(module), runs(made), text_of(made)


def shifted(numbers: Array, shift: int) -> Array:
    """Return numbers in memory that begins some numbers after the beginning of a cache line."""
    size = numbers.itemsize
    memory = np.empty(len(numbers) * size + 128, np.uint8)
    start = -memory.ctypes.data % 64 + shift * size
    found = memory[start : start + len(numbers) * size].view(numbers.dtype)
    found[:] = numbers
    return found


def lengths(lanes: int) -> Iterator[int]:
    """Yield the numbers of rows of short lines, and of lines of some vectors."""
    yield from sorted({0, 1, 2, lanes - 1, lanes, lanes + 1, 3 * lanes + 2, 7 * lanes + 5})


def check_same(first: Sequence[Array], second: Sequence[Array]) -> None:
    """Fail unless arrays hold the same bits; all NaN are one."""
    for one, other in zip(first, second, strict=True):
        same = (one == other) & (np.signbit(one) == np.signbit(other))
        assert (same | (np.isnan(one) & np.isnan(other))).all(), f"{one}\n{other}"
