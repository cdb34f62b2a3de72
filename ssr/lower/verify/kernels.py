"""The verifier of kernel IR: variables are assigned before they are read, and types match.

A violated rule is a defect of the compiler and raises an `AssertionError`.
"""

from __future__ import annotations

from ...kernel.inference import Functions
from ...kernel.ir import Module
from ...kernel.types import TypeMismatch


def verify_kernel(module: Module, after: str) -> None:
    """Check the functions of a kernel that its entry reaches."""
    try:
        Functions(module)
    except (KeyError, TypeMismatch) as problem:
        raise AssertionError(f"after {after}, kernel {module.title!r}: {problem!r}") from problem
