"""Which compiler makes machine code: the package's own, or Numba's.

The package's own compiler is several times faster than `numba.njit`, and uses private names of
Numba and llvmlite, which any of their versions may change. So it is used with versions that it was
tested with, where all of these names are there. Otherwise, or with ``SSR_COMPILER=numba`` in the
environment, `numba.njit` compiles kernels, with the interfaces that Numba and llvmlite document for
extensions. That takes longer; the results have the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module

KNOWN = (0, 61), (0, 68)
"""The first and the last version of Numba with which the package's compiler was tested."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "llvmlite.binding.ffi": (
        "OutputString",
        "lib.LLVMPY_DisposeMemoryBuffer",
        "lib.LLVMPY_GetBufferSize",
        "lib.LLVMPY_GetBufferStart",
        "lib.LLVMPY_TargetMachineEmitToMemory",
        "lib._lock",
        "lib._name",
    ),
    "llvmlite.ir": ("IRBuilder._insert",),
    "numba._dynfunc": ("make_function",),
    "numba.core.base": (
        "BaseContext.add_dynamic_addr",
        "BaseContext.get_function",
        "BaseContext.get_python_api",
        "BaseContext.insert_user_function",
        "BaseContext.install_registry",
        "BaseContext.make_tuple",
    ),
    "numba.core.bytecode": ("FunctionIdentity.from_function",),
    "numba.core.cgutils": ("get_item_pointer2", "normalize_ir_text", "unpack_tuple"),
    "numba.core.codegen": (
        "JITCPUCodegen._customize_tm_options",
        "JITCPUCodegen._module_pass_manager",
        "JITCPUCodegen.create_library",
        "JITCPUCodegen.unserialize_library",
        "JITCodeLibrary._finalize_dynamic_globals",
        "JITCodeLibrary._raise_if_finalized",
        "JITCodeLibrary._verify_declare_only_symbols",
        "JITCodeLibrary.add_ir_module",
        "JITCodeLibrary.add_linking_library",
        "JITCodeLibrary.get_pointer_to_function",
    ),
    "numba.core.compiler": (
        "CompileResult._rebuild",
        "CompileResult._reduce",
        "CompilerBase._compile_bytecode",
        "CompilerBase.compile_extra",
        "CompilerBase.define_pipelines",
    ),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.compiler_machinery": ("AnalysisPass", "PassManager", "register_pass"),
    "numba.core.config": ("OPT",),
    "numba.core.dispatcher": (
        "Dispatcher.compile",
        "Dispatcher.disable_compile",
        "_FunctionCompiler._compile_core",
    ),
    "numba.core.errors": ("TypingError", "UnsupportedError"),
    "numba.core.funcdesc": ("FunctionDescriptor.llvm_cpython_wrapper_name",),
    "numba.core.imputils": ("builtin_registry", "lower_constant"),
    "numba.core.ir": ("Block", "FunctionIR", "Loc", "Scope"),
    "numba.core.lowering": (
        "Lower.create_cpython_wrapper",
        "Lower.lower_function_body",
        "Lower.lower_normal_function",
        "Lower.post_lower",
        "Lower.pre_lower",
        "Lower.setup_function",
    ),
    "numba.core.registry": ("cpu_target.target_context", "cpu_target.typing_context"),
    "numba.core.serialize": ("dumps",),
    "numba.core.sigutils": ("normalize_signature",),
    "numba.core.typed_passes": ("NativeLowering.run_pass", "NoPythonBackend"),
    "numba.core.typing.arraydecl": (),
    "numba.core.typing.builtins": (),
    "numba.core.typing.context": ("Context.refresh", "Context.resolve_function_type"),
    "numba.core.typing.mathdecl": ("registry",),
    "numba.core.typing.npydecl": ("registry",),
    "numba.core.typing.templates": ("Signature", "builtin_registry"),
    "numba.cpython.builtins": (),
    "numba.cpython.mathimpl": ("registry",),
    "numba.cpython.numbers": (),
    "numba.cpython.rangeobj": (),
    "numba.cpython.tupleobj": (),
    "numba.np.arrayobj": ("load_item", "store_item"),
    "numba.np.npyimpl": ("registry",),
    "numba.np.numpy_support": ("as_dtype",),
}
"""The private names that the package's compiler uses, by module."""


def objection() -> str | None:
    """Return why `numba.njit` compiles kernels; None if the package's own compiler does."""
    import numba

    if os.environ.get("SSR_COMPILER") == "numba":
        return "SSR_COMPILER is numba"
    first, last = KNOWN
    if not first <= numba.version_info.short <= last:
        between = " to ".join(f"{major}.{minor}" for major, minor in KNOWN)
        return f"Numba is {numba.__version__}, and not of the versions {between}"
    missing = next(_missing(), None)
    return f"Numba {numba.__version__} has no {missing}" if missing else None


def are_known() -> bool:
    """Whether the package's own compiler is used."""
    return objection() is None


def _missing() -> Iterator[str]:
    """Yield the private names that are not there."""
    for module, names in NAMES.items():
        try:
            found = import_module(module)
        except ImportError:
            yield module
            continue
        yield from (f"{module}.{name}" for name in names if not _has(found, name))


def _has(found: object, name: str) -> bool:
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True
