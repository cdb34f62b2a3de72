"""Functions of C written in LLVM's language, compiled by llvmlite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import binding
from llvmlite import ir as llvm

from ..compiling import compiling
from ..runtime import target


def compiled(name: str, functions: Mapping[str, Callable[[Any], None]]) -> dict[str, int]:
    """Return the addresses of functions, each written into a module by a function; they stay."""
    with compiling():
        module = llvm.Module(name)
        module.triple = binding.get_process_triple()
        for write in functions.values():
            write(module)
        engine = _engine(str(module))
        _kept.append(engine)
        return {name: engine.get_function_address(name) for name in functions}


_kept: list[Any] = []
"""Machine code that lives as long as the process."""


def _engine(text: str) -> Any:
    """Return what holds the machine code of a module, for no program but the whole process."""
    with target.compiling_for(target.default()):
        target.check_runs()
        machine = target.processor().machine()
    module = binding.parse_assembly(text, binding.create_context())
    module.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=3)
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine
