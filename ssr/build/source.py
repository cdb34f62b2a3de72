"""The functions of a kernel's module, as kernel IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import TypeAlias

from ..kernel import ir
from ..kernel.from_python import functions_of

Source: TypeAlias = Callable[[], ir.Function]
"""Gives a function in kernel IR; it is asked only for what has no machine code yet."""


def function_of(text: str, name: str) -> ir.Function:
    """Return a function of a module by its name.

    Raises
    ------
    UnsupportedError
        If a function of the module has what kernels do not have.
    """
    return _functions(text)[name]


@lru_cache(maxsize=8)
def _functions(text: str) -> Mapping[str, ir.Function]:
    return {function.name: function for function in functions_of(text)}


def attach(function: FunctionType, source: Source) -> None:
    """Let a function of Python say what it is in kernel IR."""
    vars(function)["kernel_ir"] = source


def ir_of(function: FunctionType) -> ir.Function:
    """Return a function of Python in kernel IR."""
    source: Source = vars(function)["kernel_ir"]
    return source()
