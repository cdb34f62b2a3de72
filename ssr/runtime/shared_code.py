"""Machine code of the functions that kernels share, compiled once in a process.

Such a function is compiled when the first kernel of a target asks for it, and known to others by
its name, which says the target. Machine code of a kernel is kept with that of such functions, so
that it needs no other file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core.compiler_lock import global_compiler_lock

from .machine_code import Library

_known: dict[str, Callable[[], Any]] = {}
"""For each function that kernels of this process use, what returns what is kept of it."""

_loaded: dict[str, Any] = {}
"""The code of functions that kernels of this process can call."""


def ask(context: Any, name: str, kind: Any, write: Callable[[Any], None]) -> None:
    """Let a function be compiled for the kernels of a context, unless it was before.

    The parameters are those of `shared.declared`.
    """
    if name not in _known:
        library = _begun(context.codegen(), name, kind, write)
        _known[name] = library.serialize_using_object_code


def called(functions: Iterable[Any]) -> dict[str, Any]:
    """Return what is kept of those functions of a module that are shared ones, by name."""
    names = [f.name for f in functions if f.is_declaration and f.name in _known]
    return {name: _known[name]() for name in names}


@global_compiler_lock
def load(context: Any, kept: Mapping[str, Any]) -> None:
    """Let kernels find functions of which something was kept."""
    for name, code in kept.items():
        if name not in _loaded:
            _known.setdefault(name, partial(kept.__getitem__, name))
            library = _loaded[name] = context.codegen().unserialize_library(code)
            binding.add_symbol(name, library.get_pointer_to_function(name))


@global_compiler_lock
def _begun(generator: Any, name: str, kind: Any, write: Callable[[Any], None]) -> Library:
    library = Library(generator, name)
    module = library.create_ir_module(name)
    function = llvm.Function(module, kind, name)
    function.attributes.add("optsize")  # they are written as their loops are to be
    write(function)
    library.add_ir_module(module)
    library.finalize()
    return library
