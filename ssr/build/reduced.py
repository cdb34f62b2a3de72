"""Numba's pipeline without what generated functions do not need.

Kernels are long, and Numba is written for functions of a page. They are also simple: numbers,
arrays that are arguments, loops, and calls of a few functions with the same types over and over.
So what costs time in proportion to the length of a function is left out, or done once.

All of this stands on internals of Numba; `machine` knows with which versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from llvmlite.binding import Linkage, parse_assembly
from numba import types
from numba._dynfunc import make_function
from numba.core import ir as numba_ir
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import AnalysisPass, PassManager, register_pass
from numba.core.imputils import builtin_registry
from numba.core.registry import cpu_target
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering, NoPythonBackend
from numba.core.typing import arraydecl, mathdecl, npydecl, templates
from numba.core.typing import builtins as builtin_types
from numba.cpython import builtins, mathimpl, numbers, rangeobj, tupleobj
from numba.np import npyimpl

from ..kernel import ir
from ..kernel.from_python import functions_of
from ..runtime import target
from ..runtime.machine_code import Library
from .kernel_ir import attach, ir_of
from .to_llvm import Translation

DECLARING = arraydecl, builtin_types, builtins, numbers, rangeobj, tupleobj
"""The modules of Numba that tell, when they are imported, of most that kernels use."""

LARGE = 115
"""Basic blocks of a kernel with its parts beyond which it is optimised for size."""


@contextmanager
def remembered(context: Any, method: str) -> Iterator[None]:
    """Let a context remember what it finds for a function and types of arguments."""
    if method in vars(context):
        yield
        return
    find = getattr(context, method)
    known: dict[Any, Any] = {}

    def look(function: Any, given: Any, *more: Any, **named: Any) -> Any:
        if isinstance(function, types.Dispatcher) or any(more) or named:
            return find(function, given, *more, **named)
        key = function, tuple(given) if isinstance(given, list) else given
        if key not in known:
            known[key] = find(function, given, *more)
        return known[key]

    setattr(context, method, look)
    try:
        yield
    finally:
        delattr(context, method)


@contextmanager
def sparing() -> Iterator[None]:
    """Let Numba know of what kernels use only, and not look for more.

    It would import all that it can translate, such as linear algebra with that of SciPy, and
    compile its counts of references. Who compiles functions of their own gets that when they do.
    """
    typing, target = cpu_target.typing_context, cpu_target.target_context
    if "refresh" in vars(typing):
        yield
        return
    typing.refresh = target.refresh = lambda: None
    target.post_lowering = lambda module, library: None
    try:
        for written in (builtin_registry, mathimpl.registry, npyimpl.registry):
            target.install_registry(written)
        for known in (mathdecl.registry, npydecl.registry, templates.builtin_registry):
            typing.install_registry(known)
        target.install_registry(builtin_registry)  # what they have told it
        yield
    finally:
        del typing.refresh, target.refresh, target.post_lowering


@global_compiler_lock
def translated(function: Any, signature: Any) -> Any:
    """Return what Numba made of a function that `KernelCompiler` compiles, without machine code."""
    arguments, result = normalize_signature(signature)
    made = function._compiler._compile_core(arguments, result)
    made.library.finalize()
    return made


@register_pass(mutates_CFG=False, analysis_only=True)
class Declaration(AnalysisPass):
    """What Numba must know of a function of which the kernel IR is translated."""

    _name = "kernel_declaration"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Note the types of the arguments and of the result."""
        function, names = state.func_id.func, state.func_id.arg_names
        place = numba_ir.Loc(function.__code__.co_filename, function.__code__.co_firstlineno)
        start = {0: numba_ir.Block(numba_ir.Scope(None, place), place)}
        state.func_ir = numba_ir.FunctionIR(
            start, False, state.func_id, place, {}, len(names), names
        )
        state.typemap = {f"arg.{name}": kind for name, kind in zip(names, state.args, strict=True)}
        state.calltypes = {}
        if state.return_type is None:
            state.return_type = _result_of(ir_of(function))
        return True


def _result_of(function: ir.Function) -> Any:
    """Return the type of what a function returns, as Numba names it: an integer, or nothing."""
    returns = (node for node in ir.statements(function.body) if isinstance(node, ir.Return))
    return types.intp if any(node.value is not None for node in returns) else types.none


@register_pass(mutates_CFG=False, analysis_only=True)
class KernelLowering(NativeLowering):
    """Translation to LLVM that looks up equal operations once."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that translates."""
        return Translation

    def run_pass(self, state: Any) -> bool:
        """Write the code of a kernel."""
        if state.library is None:
            state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
        with (
            remembered(state.typingctx, "resolve_function_type"),
            remembered(state.targetctx, "get_function"),
        ):
            return bool(super().run_pass(state))


class KernelLibrary(Library):
    """Code of a kernel with its parts.

    Nobody else calls the parts. LLVM is told so, and what they do not use of their arguments, most
    of what describes an array, is not passed to them at each line.

    Large kernels are optimised for size, for targets with masks: their loops are vectors with
    masked ends, written once, instead of being unrolled, with two more loops for the rows that are
    left over. LLVM generates code in proportion.
    """

    def _optimize_final_module(self) -> None:
        shorter = self.blocks > LARGE and target.current().masks and _may_be_shorter()
        for function in self._final_module.functions:
            if function.is_declaration:
                continue
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
            if shorter:
                function.add_function_attribute("optsize")


@cache
def _may_be_shorter() -> bool:
    """Whether LLVM can be asked to optimise a function for size.

    Old versions of llvmlite attach what is said of a function to its result, which LLVM refuses.
    """
    module = parse_assembly("define void @probe() { ret void }")
    for function in module.functions:
        function.add_function_attribute("optsize")
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


class PartLibrary(KernelLibrary):
    """Code of a kernel's part, which is optimised and made executable with the kernel only.

    It stays a function unless it is to be ``inside`` of its caller, where LLVM optimises it again.
    """

    inside = False

    def add_ir_module(self, ir_module: Any) -> None:
        """Take a module in LLVM's language."""
        for function in ir_module.functions:
            if not function.is_declaration and not self.inside:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = Linkage.linkonce_odr
        self._shared_module = self._final_module  # Numba would copy it
        self._finalized = True


@register_pass(mutates_CFG=False, analysis_only=True)
class PartLowering(KernelLowering):
    """Translation of a kernel's part; kernels find it by a function that Python cannot call."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Write the code of a part."""
        name = state.func_id.func_qualname
        library = state.library = PartLibrary(state.targetctx.codegen(), name)
        library.inside = hasattr(state.func_id.func, "inside")
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        function = make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (library,))
        state.targetctx.insert_user_function(function, made.fndesc, [library])
        state["cr"] = made._replace(cfunc=function)
        return True


class KernelCompiler(CompilerBase):
    """Numba's pipeline for kernels, whose IR becomes LLVM's language in one walk.

    Array arguments are promised not to overlap. Arrays are neither made nor kept, so references are
    not counted.
    """

    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,
    ) -> None:
        flags.nrt = False
        with sparing():
            super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    @staticmethod
    def optimised(function: Any, signature: Any, text: str) -> str:
        """Return a function of a module's text in LLVM's language, as LLVM optimises it."""
        found = {each.name: each for each in functions_of(text)}
        attach(function.py_func, found[function.__name__])
        return str(translated(function, signature).library.work.text())

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, whose bytecode nobody reads."""
        self.state.func_id = FunctionIdentity.from_function(func)
        self.state.lifted, self.state.lifted_from = (), None
        with sparing():
            return self._compile_bytecode()

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        flags, is_part = self.state.flags, self.state.return_type is None
        flags.noalias = flags.no_cfunc_wrapper = True
        flags.no_cpython_wrapper = is_part
        manager = PassManager("kernel")
        manager.add_pass(Declaration, "types of arguments")
        manager.add_pass(PartLowering if is_part else KernelLowering, "kernel IR to LLVM")
        manager.add_pass(NoPythonBackend, "compile")
        manager.finalize()
        return [manager]


class OverlappingCompiler(KernelCompiler):
    """The compiler of kernels without the promise that arrays do not overlap."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        pipelines = super().define_pipelines()
        self.state.flags.noalias = False
        return pipelines
