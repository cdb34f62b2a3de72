"""Machine code of modules in LLVM's language, which threads make while Python goes on.

LLVM needs about as long for a kernel as all that comes before it in Python, and needs no Python. So
it works on one kernel while the next one is written. llvmlite lets one thread at a time into LLVM,
as modules may share a context, which only one may change; here each has its own, and what takes
long is called past that lock.
"""

from __future__ import annotations

import copy
import ctypes
import os
import weakref
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi
from numba.core import config
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary

from . import target
from .later import Later

THREADS = 4
"""At most so many modules are under work at once."""


def target_machine(codegen: Any) -> Any:
    """Return a compiler of LLVM for the target, whose code a generator of Numba's can load."""
    options: dict[str, Any] = {"opt": vars(config)["OPT"]}
    codegen._customize_tm_options(options)
    return target.processor().machine(**options)


class Work:
    """LLVM's work on one module, which a thread begins at once.

    The thread does nothing in Python, which it would have to wait for: all else is done when this
    is made, and when it is asked for its result.

    Parameters
    ----------
    codegen
        Numba's code generator.
    module
        A module with all that it needs.
    assembly
        Whether to make its text instead of the code itself.
    """

    def __init__(self, codegen: Any, module: Any, *, assembly: bool = False) -> None:
        self._prepare(codegen, module)
        self._form = 0 if assembly else 1
        count = min(THREADS, max(1, (os.cpu_count() or 1) - 1))  # one processor is for Python
        self._made = Later(self._run, ("llvm", count))
        self._code: bytes | None = None
        self._reading = Lock()

    def _prepare(self, codegen: Any, module: Any) -> None:
        """Read the module in a context of its own, and make what works on it."""
        context = llvm.create_context()
        self._module = llvm.parse_bitcode(module.as_bitcode(), context)
        codegen = copy.copy(codegen)
        codegen._tm = self._machine = target_machine(codegen)
        self._module.triple = target.processor().triple
        self._module.data_layout = str(self._machine.target_data)
        made = codegen._module_pass_manager()
        self._passes = made if isinstance(made, tuple) else (made,)  # Numba 0.61 has no builder
        self._problem = ffi.OutputString()
        held = self._module, *self._passes, self._machine, context, self._problem
        self._close = weakref.finalize(self, _close, held)  # in this order
        self._close.atexit = False

    def _run(self) -> Any:
        """Optimise the module; return the buffer with its machine code."""
        passes, *builder = self._passes
        run = _past_lock("RunNewModulePassManager" if builder else "RunPassManager")
        run(passes, self._module, *builder)
        emit = _past_lock("TargetMachineEmitToMemory")
        return emit(self._machine, self._module, self._form, self._problem)

    def text(self) -> str:
        """Return the module as LLVM has optimised it."""
        self._made.result()
        return str(self._module)

    def code(self) -> bytes:
        """Return the machine code; LLVM frees what it needs no more."""
        with self._reading:  # several kernels may call one function
            if self._code is None:
                buffer = self._made.result()
                if not buffer:
                    raise RuntimeError(str(self._problem))
                start, size = (
                    getattr(ffi.lib, f"LLVMPY_GetBuffer{part}")(buffer)
                    for part in ("Start", "Size")
                )
                self._code = ctypes.string_at(start, size)  # kept first: Ctrl-C may come
                ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)
                self._close()
            return self._code


def _close(held: Sequence[Any]) -> None:
    """Let LLVM free what stands for things of its own."""
    for each in held:
        each.close()


@cache
def _past_lock(name: str) -> Any:
    """Return a function of llvmlite without the lock around all of them."""
    known, function = (
        getattr(library, f"LLVMPY_{name}") for library in (ffi.lib, ctypes.CDLL(ffi.lib._name))
    )
    function.argtypes, function.restype = known.argtypes, known.restype
    return function


class Library(JITCodeLibrary):
    """Code in LLVM's language, on which LLVM has still to do its ``work``.

    It is optimised once only, with the whole module. Numba does so three times: each function, then
    all of them to bring the counts of references together, and all again.
    """

    blocks = 0
    """How many basic blocks it has, with the libraries that it needs."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take a module in LLVM's language; it is checked with all others."""
        self._raise_if_finalized()
        self.blocks += sum(len(function.blocks) for function in ir_module.functions)
        module = llvm.parse_assembly(normalize_ir_text(str(ir_module)))
        module.data_layout = self.codegen._data_layout
        self._final_module.link_in(module)

    def add_linking_library(self, library: Any) -> None:
        """Let it need a library; each call of a function of that says so again."""
        if library not in self._linking_libraries:
            super().add_linking_library(library)
            self.blocks += getattr(library, "blocks", 0)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self.work = Work(self.codegen, self._final_module)
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        """Return what Numba makes a library of: its machine code, and the names in it."""
        return self.name, "object", (self.work.code(), _names(self._final_module))


def _names(module: Any) -> bytes:
    """Return a module that defines the names that a module shows to others."""
    functions = [f.name for f in module.functions if _is_shown(f)]
    variables = [v.name for v in module.global_variables if _is_shown(v)]
    lines = [f'define void @"{name}"() {{ ret void }}' for name in functions]
    lines += [f'@"{name}" = global i8 0' for name in variables]
    made: bytes = llvm.parse_assembly("\n".join(lines)).as_bitcode()
    return made


def _is_shown(value: Any) -> bool:
    return not value.is_declaration and value.linkage not in (
        llvm.Linkage.internal,
        llvm.Linkage.private,
    )
