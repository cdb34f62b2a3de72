"""Functions in LLVM's language that all kernels share.

A kernel that adds up lines calls a function which has nothing to do with what is added up. The
package's own compiler compiles it once in a process (`shared_code`); Numba alone compiles it with
each kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir as llvm

from . import internals, target


def declared(
    context: Any, module: Any, name: str, kind: Any, write: Callable[[Any], None]
) -> llvm.Function:
    """Return a function as a module of LLVM calls it.

    Parameters
    ----------
    context
        Numba's, whose code generator compiles.
    module
        Where the function is called.
    name, kind
        Its name, which is that of its body, too: equal names, equal functions, each of them once
        for each target. Its type.
    write
        What writes its body, if there is no such function yet.
    """
    kept_apart = internals.are_known()
    if kept_apart:
        name = f"{name}.{target.processor().key}"
    known = module.globals.get(name)
    if known is not None:
        return known
    function = llvm.Function(module, kind, name)
    if kept_apart:
        from . import shared_code

        shared_code.ask(context, name, kind, write)
    else:
        function.linkage = "linkonce_odr"
        write(function)
    return function
