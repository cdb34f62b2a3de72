"""Machine code of generated functions, by Numba without what they do not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from numba import types
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
)
from numba.core.untyped_passes import (
    FixupArgs,
    IRProcessing,
    TranslateByteCode,
)


@contextmanager
def _remembered(context: Any) -> Iterator[None]:
    """Let a typing context remember the types of calls: kernels repeat a few of them often."""
    if "resolve_function_type" in vars(context):
        yield
        return
    resolve = context.resolve_function_type
    known: dict[Any, Any] = {}

    def look(function: Any, args: Any, kws: Any) -> Any:
        if kws or isinstance(function, types.Dispatcher):
            return resolve(function, args, kws)
        key = function, tuple(args)
        if key not in known:
            known[key] = resolve(function, args, kws)
        return known[key]

    context.resolve_function_type = look
    try:
        yield
    finally:
        del context.resolve_function_type


@register_pass(mutates_CFG=True, analysis_only=False)
class Types(NopythonTypeInference):
    """Type inference that resolves equal calls once."""

    _name = "kernel_types"

    def run_pass(self, state: Any) -> bool:
        """Find the types of all variables."""
        with _remembered(state.typingctx):
            return bool(super().run_pass(state))


class PartLibrary(JITCodeLibrary):
    """Code of a kernel's part, which is optimised and made executable with the kernel only."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """Lowering to LLVM of a kernel's part."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        """Write the code of a part; kernels find it by a function that Python cannot call."""
        name = state.func_id.func_qualname
        library = state.library = PartLibrary(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        made = state["cr"]
        function = make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (library,))
        state.targetctx.insert_user_function(function, made.fndesc, [library])
        state["cr"] = made._replace(cfunc=function)
        return True


class KernelCompiler(CompilerBase):
    """Numba's no-Python pipeline, reduced to what generated kernels need.

    Array arguments are promised not to overlap. Arrays are neither made nor kept, so nothing
    counts references. Passes that rewrite closures, array expressions and calls of Python functions
    are left out: kernels contain none, and in large functions those passes take longer than LLVM.
    So does single assignment; LLVM does that in any case.
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
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> list[Any]:
        """Return the passes."""
        flags, is_part = self.state.flags, self.state.return_type is None
        flags.noalias = flags.no_cfunc_wrapper = True
        flags.no_cpython_wrapper = is_part
        manager = PassManager("kernel")
        manager.add_pass(TranslateByteCode, "bytecode to Numba IR")
        manager.add_pass(FixupArgs, "arguments")
        manager.add_pass(IRProcessing, "analyse the IR")
        manager.add_pass(Types, "types")
        manager.add_pass(IRLegalization, "check the IR")
        manager.add_pass(AnnotateTypes, "annotate types")
        manager.add_pass(PartLowering if is_part else NativeLowering, "lower to LLVM")
        manager.add_pass(NoPythonBackend, "compile")
        manager.finalize()
        return [manager]


def jit(signature: str | None, *, cache: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of generated kernels: compiled once, for one signature.

    Without a signature it is that of a kernel's parts, which are compiled where they are called.
    """
    return numba.njit(
        signature,
        cache=cache,
        nogil=True,
        error_model="numpy",
        boundscheck=False,
        pipeline_class=KernelCompiler,
    )
