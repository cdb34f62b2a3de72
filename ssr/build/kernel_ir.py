"""The kernel IR of a function of Python, which the package's own compiler reads in its place."""

from __future__ import annotations

from types import FunctionType

from ..kernel import ir


def attach(function: FunctionType, found: ir.Function) -> None:
    """Let a function of Python say what it is in kernel IR."""
    vars(function)["kernel_ir"] = found


def ir_of(function: FunctionType) -> ir.Function:
    """Return a function of Python in kernel IR."""
    found: ir.Function = vars(function)["kernel_ir"]
    return found
