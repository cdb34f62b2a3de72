"""Helpers that write LLVM IR: rows of 64-bit words, atomic loads and stores, spin loops.

The functions operate on rows of integers and on counters that one thread stores and another thread
loads. `Words.publish` stores with release ordering and `Words.seen` loads with acquire ordering:
all data written before the store are visible after the load of its value.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from llvmlite import ir as llvm

from ssr.extension import builder_of

WORD, NUMBER, BYTE = llvm.IntType(64), llvm.IntType(32), llvm.IntType(8)
ADDRESS = BYTE.as_pointer()

PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}
"""The spin-wait hint of the processor (LLVM intrinsic)."""


def function(module: Any, name: str, *arguments: Any) -> tuple[Any, Any]:
    """Return a new function with the C return type int, and a builder at its beginning."""
    made = llvm.Function(module, llvm.FunctionType(NUMBER, arguments), name)
    return made, builder_of(made)


class Words:
    """A row of integers of 64 bits, in code that works on it."""

    def __init__(self, builder: Any, address: Any) -> None:
        self.builder = builder
        self._words = builder.bitcast(address, WORD.as_pointer())

    def at(self, word: int) -> Any:
        """Return the address of an integer."""
        return self.builder.gep(self._words, [WORD(word)])

    def get(self, word: int) -> Any:
        """Return an integer."""
        return self.builder.load(self.at(word))

    def set(self, word: int, value: Any) -> None:
        """Store an integer."""
        self.builder.store(value, self.at(word))

    def equal(self, word: int, value: int) -> Any:
        """Return whether an integer has a value."""
        return self.builder.icmp_signed("==", self.get(word), WORD(value))

    def pointer(self, word: int, kind: Any = ADDRESS) -> Any:
        """Return an integer as an address."""
        return self.builder.inttoptr(self.get(word), kind)

    def function(self, word: int, *arguments: Any, returns: Any = NUMBER) -> Any:
        """Return the function whose address is an integer of the row."""
        return self.pointer(word, llvm.FunctionType(returns, arguments).as_pointer())

    def seen(self, pointer: Any, order: str = "acquire") -> Any:
        """Return an integer that another thread stores."""
        return self.builder.load_atomic(pointer, order, 8)

    def publish(self, value: Any, pointer: Any, order: str = "release") -> None:
        """Store an integer that another thread loads."""
        self.builder.store_atomic(value, pointer, order, 8)

    def when(self, condition: Any) -> AbstractContextManager[Any]:
        """Return the context of code that runs under a condition."""
        found: AbstractContextManager[Any] = self.builder.if_then(condition)
        return found


@contextmanager
def each_row(builder: Any, count: Any, rows: Any, width: int) -> Iterator[Words]:
    """Write a loop over the rows of a table."""
    words = builder.bitcast(rows, WORD.as_pointer())
    with builder.count_to(builder.sext(count, WORD)) as row:
        yield Words(builder, builder.gep(words, [builder.mul(row, WORD(width))]))


def spin(
    builder: Any, ready: Callable[[], Any], *, pauses: int, turns: int, tired: Callable[[], Any]
) -> None:
    """Write a loop that waits until a condition holds."""
    left, rest = builder.variable(NUMBER(pauses)), builder.variable(NUMBER(turns))
    again, wait, end = map(builder.append_basic_block, ("again", "wait", "end"))
    builder.branch(again)
    builder.position_at_end(again)
    builder.cbranch(ready(), end, wait)
    builder.position_at_end(wait)
    pause = PAUSES.get(platform.machine())
    if pause:
        builder.call(builder.external(pause, llvm.VoidType()), [])
    with builder.if_then(_counted(builder, left)):
        builder.store(NUMBER(pauses), left)
        builder.call(builder.external("sched_yield", NUMBER), [])
        with builder.if_then(_counted(builder, rest)):
            tired()
            if not builder.block.is_terminated:
                builder.branch(end)
    builder.branch(again)
    builder.position_at_end(end)


def _counted(builder: Any, counter: Any) -> Any:
    """Decrement a counter; return whether it is zero."""
    less = builder.sub(builder.load(counter), NUMBER(1))
    builder.store(less, counter)
    return builder.icmp_signed("<=", less, NUMBER(0))
