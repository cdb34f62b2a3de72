"""LLVM loop metadata: parallel accesses, vectorization width and unrolling."""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir as llvm

from ..kernel import ir
from .builder import NUMBER


class _Group(llvm.MDValue):
    """A group of accesses to memory (alias scope) in LLVM's language, compared by identity."""

    def __init__(self, module: llvm.Module) -> None:
        super().__init__(module, (), name=str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        """Write it."""
        buf.append("distinct !{}\n")


def describe(branch: llvm.Instruction, order: ir.Order, blocks: Sequence[llvm.Block]) -> None:
    """State the order of the rows of a loop of some blocks at the branch back to its test."""
    facts: list[list[object]]
    match order:
        case "serial":
            return
        case "independent":
            facts = [["llvm.loop.parallel_accesses", _accesses(branch.module, blocks)]]
        case "vectors":
            facts = [["llvm.loop.unroll.disable"]]
        case "rolled":
            facts = [["llvm.loop.vectorize.width", NUMBER(1)], ["llvm.loop.unroll.disable"]]
    branch.set_metadata("llvm.loop", _loop(branch.module, facts))


def _loop(module: llvm.Module, facts: Sequence[list[object]]) -> llvm.MDValue:
    """Return the metadata of a loop: it names itself, and facts."""
    known = [module.add_metadata(fact) for fact in facts]
    loop = llvm.MDValue(module, (), name=str(len(module.metadata)))
    loop.operands = (loop, *known)
    return loop


def _accesses(module: llvm.Module, blocks: Sequence[llvm.Block]) -> _Group:
    """Return the group of all loads and stores of some blocks."""
    group = _Group(module)
    for instruction in (one for block in blocks for one in block.instructions):
        if instruction.opname in ("load", "store"):
            instruction.set_metadata("llvm.access.group", group)
    return group
