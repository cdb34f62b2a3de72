"""Translate kernel IR to LLVM IR.

The entry function of a kernel is ``int64_t kernel(int64_t *words)``. For each array the words hold
the address of its first element, its shape and its strides in bytes, and for each scalar its bits.
The function returns an integer of the kernel, or `RAISED` if Python has raised an exception.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.types import Type
from ..runtime.target import current
from .builder import WORD, WORDS, Builder
from .function import Translation
from .values import ELEMENTS, llvm_type

LARGE = 115
"""Number of basic blocks beyond which a kernel is optimized for size on targets with masks: loops
that LLVM vectorizes then have masked remainders and one copy of their body, and the compile time
is halved."""

ENTRY = "ssr_kernel"
"""The name of the entry function."""


def translated(
    module: ir.Module, main: str, types: Sequence[Type], *, overlapping: bool, inside: bool
) -> llvm.Module:
    """Return a module of LLVM for a module of kernel IR."""
    made = Translation(module, overlapping=overlapping, inside=inside)
    called = made.function(main, types).function
    called.attributes.add("noinline")  # keeps the noalias arguments valid
    _write_entry(called, types)
    if current().masks and sum(len(each.blocks) for each in made.module.functions) > LARGE:
        for function in made.module.functions:
            if not function.is_declaration:
                function.attributes.add("optsize")
    return made.module


def _write_entry(called: llvm.Function, types: Sequence[Type]) -> None:
    """Write the function that is called from outside."""
    entry = llvm.Function(called.module, llvm.FunctionType(WORD, [WORDS]), ENTRY)
    b, (words,) = Builder.beginning(entry), entry.args
    given, place = [], 0
    for type_ in types:
        if not isinstance(type_, ir.Array):
            given.append(b.bitcast(b.get(words, place), llvm_type(type_)))
            place += 1
            continue
        first = b.inttoptr(b.get(words, place), ELEMENTS[type_.element].as_pointer())
        count = type_.axes * (1 if type_.contiguous else 2)
        given += [first, *(b.get(words, place + 1 + n) for n in range(count))]
        place += 1 + 2 * type_.axes
    b.ret(b.call(called, given))
