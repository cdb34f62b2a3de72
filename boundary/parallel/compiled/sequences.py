"""A compiled function that runs several programs of a rank in sequence without calling Python."""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

from llvmlite import ir as llvm

from ssr.extension import FINISHED, At, builder_of, compiled

from .llvm_helpers import ADDRESS, WORD, Words


class Head(IntEnum):
    """The integers before the rows of the programs."""

    COUNT = 0
    """The number of programs."""
    PLACE = 1
    """The number of the program that is running or runs next."""
    BEGUN = 2
    """Whether this program has begun."""


class Word(IntEnum):
    """The integers of a program.

    ``long long enter(void *given)`` runs the program from the position in the integers ``AT``.
    """

    ENTRY = 0
    GIVEN = 1
    AT = 2


@cache
def chain() -> int:
    """Compile ``long long chain(void *table)`` and return its address.

    It returns `FINISHED` after the last program, or the reason for which a program has stopped. A
    further call resumes that program.
    """
    return compiled("chain", {"chain": _write})["chain"]


def _write(module: Any) -> None:
    made = llvm.Function(module, llvm.FunctionType(WORD, [ADDRESS]), "chain")
    builder = builder_of(made)
    (table,) = made.args
    head = Words(builder, table)
    test, run, end = map(builder.append_basic_block, ("test", "run", "end"))
    builder.branch(test)

    builder.position_at_end(test)
    place = head.get(Head.PLACE)
    builder.cbranch(builder.icmp_signed("<", place, head.get(Head.COUNT)), run, end)

    builder.position_at_end(run)
    first = builder.add(builder.mul(place, WORD(len(Word))), WORD(len(Head)))
    row = Words(builder, builder.gep(head.at(0), [first]))
    with head.when(head.equal(Head.BEGUN, 0)):
        at = Words(builder, row.pointer(Word.AT))
        builder.clear(at.at(0), WORD(len(At)))
        at.set(At.ROWS, WORD(1))
        head.set(Head.BEGUN, WORD(1))
    enter = row.function(Word.ENTRY, ADDRESS, returns=WORD)
    reason = builder.call(enter, [row.pointer(Word.GIVEN)])
    with builder.if_then(builder.icmp_signed("!=", reason, WORD(FINISHED))):
        builder.ret(reason)
    head.set(Head.PLACE, builder.add(place, WORD(1)))
    head.set(Head.BEGUN, WORD(0))
    builder.branch(test)

    builder.position_at_end(end)
    builder.ret(WORD(FINISHED))
