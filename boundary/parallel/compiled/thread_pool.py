"""Compiled worker loop of a thread pool: threads receive work without calling Python.

Each thread except the first has a row of integers (`Word`). It waits for work in a compiled spin
loop, so that a call starts within a microsecond. After some milliseconds without work it sleeps and
must be woken.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from ssr.extension import FINISHED, LATE, LEFT, compiled

from .llvm_helpers import ADDRESS, NUMBER, WORD, Words, each_row, function, spin

PAUSES, IDLE, PATIENCE = 1000, 30, 2000
"""Spin iterations between two yields of the processor; yields until an idle thread sleeps (some
milliseconds); and yields until a thread that waits for others returns to handle signals."""


class Word(IntEnum):
    """The integers of a thread, in separate cache lines."""

    ASKED = 0
    """The number of work items submitted to the thread."""
    ENTRY = 1
    """The address of the work function: ``long long enter(void *given)``."""
    GIVEN = 2
    FAILED = 3
    """The address of the flag that is set when a thread has failed."""
    DONE = 16
    """The number of work items that the thread has finished."""
    REASON = 17
    """The last result of the work function."""
    ASLEEP = 32
    """Whether the thread sleeps and must be woken."""


WIDTH = 48
"""The length of a row in integers, including padding."""


class Functions(NamedTuple):
    """The addresses of the functions.

    ``int serve(void *row)`` is the worker loop of a thread until it sleeps. ``int ask(int count,
    void *rows)`` submits work to all threads, and returns the number of sleeping threads. ``int
    finished(int count, void *rows)`` waits about a tenth of a second for all threads, and returns
    whether they have finished.
    """

    serve: int
    ask: int
    finished: int


@cache
def functions() -> Functions:
    """Compile the functions and return their addresses."""
    writers = {"serve": _serve, "ask": _ask, "finished": _finished}
    return Functions(**compiled("team", writers))


def _serve(module: Any) -> None:
    serve, builder = function(module, "serve", ADDRESS)
    own = Words(builder, *serve.args)

    def is_asked() -> Any:
        asked = own.seen(own.at(Word.ASKED), "seq_cst")
        return builder.icmp_signed("!=", asked, own.get(Word.DONE))

    def sleep() -> None:
        """Sleep, unless work was submitted before the sleep flag was visible."""
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
