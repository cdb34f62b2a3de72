"""LLVM functions that all kernels share.

A kernel that reduces lines calls a function that does not depend on the terms. Such a function is
compiled when the first kernel of a target needs it (`machine_code`). Other kernels refer to it by
its name, which includes the target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir as llvm

from ..runtime import target
from .builder import Builder


def declared(b: Builder, name: str, kind: Any, write: Callable[[Any], None]) -> llvm.Function:
    """Return a function as a module of LLVM calls it."""
    from . import machine_code

    if b.own_functions:  # a Numba module: its functions are private
        known = b.module.globals.get(name)
        if known is None:
            known = llvm.Function(b.module, kind, name)
            known.linkage = "linkonce_odr"
            write(known)
        return known
    name = f"{name}.{target.processor().key}"
    known = b.module.globals.get(name)
    if known is not None:
        return known
    machine_code.share(name, kind, write)
    return llvm.Function(b.module, kind, name)
