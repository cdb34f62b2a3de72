"""Asynchronous compilation of LLVM modules in a thread, and loading of machine code with llvmlite.

For a kernel, LLVM needs about as much time as all earlier stages in Python together, and does not
need Python. A thread therefore compiles one kernel while the next one is generated.
"""

from __future__ import annotations

import platform
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import RLock

from llvmlite import binding
from llvmlite import ir as llvm

from ..compiling import compiling
from ..runtime import target
from ..runtime.futures import Later
from .builder import EXCEPTION, Builder

THREAD = "llvm", 1
"""The name and number of compiler threads: llvmlite serializes its calls."""


def machine(processor: target.Processor) -> binding.TargetMachine:
    """Return an LLVM target machine for a processor, whose code can be loaded into a process.

    Loaded code has a fixed address, so it uses the static relocation model on x86, and the default
    elsewhere.
    """
    fixed = platform.machine() in ("x86_64", "AMD64", "i686")
    return processor.machine(reloc="static" if fixed else "default", jit=True)


class Work:
    """LLVM's work on one module, which a thread begins at once."""

    def __init__(self, module: llvm.Module) -> None:
        _use_widest_vectors(module)
        self._text = str(module)
        self._processor = target.processor()
        self._made = Later(self._object_code, THREAD)

    def _object_code(self) -> bytes:
        with self.optimised() as (compiler, module):
            code: bytes = compiler.emit_object(module)
            return code

    @contextmanager
    def optimised(self) -> Iterator[tuple[binding.TargetMachine, binding.ModuleRef]]:
        """Return the context of the compiler and the module as LLVM optimises it.

        The module is closed before LLVM's context of it: Python closes cyclic garbage, such as that
        of an exception, in any order.
        """
        compiler = machine(self._processor)
        with (
            binding.create_context() as context,
            binding.parse_assembly(self._text, context) as module,
        ):
            module.triple = self._processor.triple
            module.data_layout = str(compiler.target_data)
            module.verify()
            tuning = binding.create_pipeline_tuning_options(speed_level=3)
            tuning.loop_vectorization = True
            with (
                binding.create_pass_builder(compiler, tuning) as builder,
                builder.getModulePassManager() as passes,
            ):
                passes.run(module, builder)
            yield compiler, module

    def code(self) -> bytes:
        """Return the machine code, when it is made."""
        return self._made.result()


def optimised(module: llvm.Module) -> str:
    """Return a module in LLVM's language as LLVM optimises it."""
    with Work(module).optimised() as (_, made):
        return str(made)


def assembly(module: llvm.Module) -> str:
    """Return the assembly of a module for the target."""
    with Work(module).optimised() as (compiler, made):
        text: str = compiler.emit_assembly(made)
        return text


def _discard(functions: Sequence[llvm.Function]) -> None:
    """Remove the instructions of functions: references in circles would keep them in memory."""
    for function in functions:
        for block in function.blocks:
            block.instructions.clear()
            block.terminator = None
        function.blocks.clear()


def _use_widest_vectors(module: llvm.Module) -> None:
    """Let LLVM vectorize with whole vectors of the target, which it halves for some processors."""
    if width := 8 * target.current().vector_bytes:
        for function in module.functions:
            if not function.is_declaration:  # llvmlite does not support this attribute
                set.add(function.attributes, f'"prefer-vector-width"="{width}"')


# -- functions that kernels share ------------------------------------------------------------------
#
# A kernel that reduces lines calls a function that does not depend on the terms. Such a function is
# compiled when the first kernel of a target needs it. Other kernels refer to it by its name, which
# includes the target.

_shared: dict[str, Callable[[], bytes]] = {}
"""For each shared function of this process, a function that returns its machine code."""

_loaded: dict[str, tuple[int, Loaded]] = {}
"""The loaded shared functions: their addresses, and their code."""

_lock = RLock()


def share(name: str, kind: llvm.FunctionType, write: Callable[[llvm.Function], None]) -> None:
    """Let a function be compiled for the kernels of a target, unless it was before."""
    with _lock:
        if name not in _shared:
            module = llvm.Module(name)
            function = llvm.Function(module, kind, name)
            function.attributes.add("optsize")  # their loops need no further unrolling
            write(function)
            _shared[name] = Work(module).code


def declared(
    b: Builder, name: str, kind: llvm.FunctionType, write: Callable[[llvm.Function], None]
) -> llvm.Function:
    """Return a shared function as the module at hand calls it."""
    if b.own_functions:  # a Numba module: its functions are private
        known = b.module.globals.get(name)
        if not isinstance(known, llvm.Function):
            known = llvm.Function(b.module, kind, name)
            known.linkage = "linkonce_odr"
            write(known)
        return known
    name = f"{name}.{target.processor().key}"
    known = b.module.globals.get(name)
    if isinstance(known, llvm.Function):
        return known
    share(name, kind, write)
    return llvm.Function(b.module, kind, name)


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code of a kernel and of the functions that it shares with other kernels."""

    kernel: bytes
    shared: Mapping[str, bytes]


def begin(module: llvm.Module, *more: str) -> Callable[[], Code]:
    """Begin the work on a module, whose text is all it needs, and discard the module's functions.

    Return the function that waits for the code.
    """
    work = Work(module)
    names = [f.name for f in module.functions if f.is_declaration and f.name in _shared]
    _discard(module.functions)

    def code() -> Code:
        return Code(work.code(), {name: _shared[name]() for name in (*names, *more)})

    return code


@dataclass(eq=False)
class Loaded:
    """Machine code in memory, which it leaves with this object."""

    engine: binding.ExecutionEngine

    def address(self, name: str) -> int:
        """Return the address of a function."""
        found: int = self.engine.get_function_address(name)
        return found


def load(code: Code) -> Loaded:
    """Load machine code for the processor at hand."""
    with _lock:
        for name, function in code.shared.items():
            if name not in _loaded:
                _shared.setdefault(name, lambda found=function: found)  # type: ignore[misc]
                found = _in_memory(function)
                _loaded[name] = found.address(name), found
                binding.add_symbol(name, _loaded[name][0])
        return _in_memory(code.kernel)


def shared_address(name: str) -> int:
    """Return the address of a shared function that is loaded."""
    return _loaded[name][0]


@cache
def _know_exceptions() -> None:
    """Register the Python exceptions that kernels raise with LLVM."""
    for kind in AssertionError, TypeError:
        binding.add_symbol(f"{EXCEPTION}{kind.__name__}", id(kind))


def _in_memory(code: bytes) -> Loaded:
    _know_exceptions()
    context = binding.create_context()
    empty = binding.parse_assembly("", context)
    empty.triple = target.processor().triple
    engine = binding.create_mcjit_compiler(empty, machine(target.processor()))
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    loaded = Loaded(engine)
    weakref.finalize(loaded, _close, engine, context).atexit = False
    return loaded


def _close(*held: binding.ExecutionEngine | binding.ContextRef) -> None:
    """Close objects of LLVM in order; Python closes objects of cyclic garbage in any order."""
    for each in held:
        each.close()


# -- C functions -----------------------------------------------------------------------------------


def functions_of_c(
    name: str, writers: Mapping[str, Callable[[llvm.Module], None]]
) -> dict[str, int]:
    """Return the addresses of functions, each written into a module by a function; they stay."""
    with compiling():
        module = llvm.Module(name)
        for write in writers.values():
            write(module)
        with target.compiling_for(target.default()):
            target.check_runs()
            loaded = _in_memory(Work(module).code())
        _kept.append(loaded)
        return {name: loaded.address(name) for name in writers}


_kept: list[Loaded] = []
"""Machine code with the lifetime of the process."""
