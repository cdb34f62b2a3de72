"""Compiled functions by which threads take work from each other, without Python.

Each thread but the first has a row of integers, as `Word` tells. It waits there for work in
compiled code, so that a call reaches it in less than a microsecond; after some milliseconds
without any it goes to sleep, and has to be woken.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from ssr.extension import FINISHED, LATE, LEFT, compiled

from .llvm_helpers import ADDRESS, NUMBER, WORD, Words, each_row, function, spin

PAUSES, IDLE, PATIENCE = 1000, 30, 2000
"""Pauses between two times at which other processes may run; such times until a thread without
work sleeps, some milliseconds, and until one that waits for others looks for signals."""


class Word(IntEnum):
    """The integers of a thread, in cache lines of their own."""

    ASKED = 0
    """How many times there was work for it."""
    ENTRY = 1
    """The address of the function that does the work: ``long long enter(void *given)``."""
    GIVEN = 2
    FAILED = 3
    """The address of the integer that tells whether a thread has failed."""
    DONE = 16
    """How many times it has finished."""
    REASON = 17
    """The last result of the function."""
    ASLEEP = 32
    """Whether it must be woken."""


WIDTH = 48
"""The integers of a row, with those that are not used."""


class Functions(NamedTuple):
    """The addresses of the functions.

    ``int serve(void *row)`` works for a thread until it sleeps; ``int ask(int count, void *rows)``
    tells all threads that there is work, and returns how many of them are asleep; ``int
    finished(int count, void *rows)`` waits for all of them, for a tenth of a second or so, and
    returns whether they have finished.
    """

    serve: int
    ask: int
    finished: int


@cache
def functions() -> Functions:
    """Return the functions, which are compiled now."""
    writers = {"serve": _serve, "ask": _ask, "finished": _finished}
    return Functions(**compiled("team", writers))


def _serve(module: Any) -> None:
    serve, builder = function(module, "serve", ADDRESS)
    own = Words(builder, *serve.args)

    def is_asked() -> Any:
        asked = own.seen(own.at(Word.ASKED), "seq_cst")
        return builder.icmp_signed("!=", asked, own.get(Word.DONE))

    def sleep() -> None:
        """Sleep, unless there is work that was given before this could be known."""
        own.publish(WORD(1), own.at(Word.ASLEEP), "seq_cst")
        with own.when(builder.not_(is_asked())):
            builder.ret(NUMBER(0))
        own.publish(WORD(0), own.at(Word.ASLEEP))

    serving = builder.append_basic_block("serving")
    builder.branch(serving)
    builder.position_at_end(serving)
    spin(builder, is_asked, pauses=PAUSES, turns=IDLE, tired=sleep)
    again = builder.append_basic_block("work")
    builder.branch(again)
    builder.position_at_end(again)
    reason = builder.call(
        own.function(Word.ENTRY, ADDRESS, returns=WORD), [own.pointer(Word.GIVEN)]
    )
    failed = own.pointer(Word.FAILED, WORD.as_pointer())
    others = builder.icmp_signed("==", own.seen(failed), WORD(0))
    late = builder.icmp_signed("==", reason, WORD(LATE))
    stopped = builder.append_basic_block("stopped")
    builder.cbranch(builder.and_(late, others), again, stopped)
    builder.position_at_end(stopped)
    own.set(Word.REASON, reason)
    left, finished = (builder.icmp_signed("==", reason, WORD(each)) for each in (LEFT, FINISHED))
    with own.when(builder.not_(builder.or_(left, finished))):
        own.publish(WORD(1), failed)
    own.publish(own.get(Word.ASKED), own.at(Word.DONE))
    builder.branch(serving)


def _ask(module: Any) -> None:
    ask, builder = function(module, "ask", NUMBER, ADDRESS)
    asleep = builder.alloca(NUMBER)
    builder.store(NUMBER(0), asleep)
    count, rows = ask.args
    with each_row(builder, count, rows, WIDTH) as row:
        asked = builder.add(row.get(Word.ASKED), WORD(1))
        row.publish(asked, row.at(Word.ASKED), "seq_cst")
        sleeps = builder.trunc(row.seen(row.at(Word.ASLEEP), "seq_cst"), NUMBER)
        builder.store(builder.add(builder.load(asleep), sleeps), asleep)
    builder.ret(builder.load(asleep))


def _finished(module: Any) -> None:
    finished, builder = function(module, "finished", NUMBER, ADDRESS)
    count, rows = finished.args
    with each_row(builder, count, rows, WIDTH) as row:

        def is_done(row: Words = row) -> Any:
            done = row.seen(row.at(Word.DONE))
            return builder.icmp_signed("==", done, row.get(Word.ASKED))

        spin(
            builder,
            is_done,
            pauses=PAUSES,
            turns=PATIENCE,
            tired=lambda: builder.ret(NUMBER(0)),
        )
    builder.ret(NUMBER(1))
