"""Compiled send and receive functions for mailboxes in shared memory.

A table holds one row of integers (`Word`) for each message. A mailbox is a single-producer
single-consumer buffer with two slots, used alternately, so that a rank can send the next message
before the previous one has been received. The sender copies its values into a slot; the receiver
copies them from the slot to their destination. One counter holds the number of messages put into
the mailbox, another the number taken out; each is written by one rank only. A counter is stored
after the values (release) and loaded before them (acquire).

One row may represent MPI requests, whose functions are called by their addresses.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from ssr.extension import compiled

from .llvm_helpers import ADDRESS, NUMBER, WORD, Words, each_row, function

OUT, IN, CALL = range(3)
"""The type of a row: an outgoing message, an incoming message, or MPI requests."""


class Word(IntEnum):
    """The integers of a row.

    For requests of MPI, ``VALUES`` and ``BOX`` are the addresses of the functions that start and
    test them, ``BYTES`` is their number, and ``PITCH`` and ``SENT`` are the addresses of their
    handles and statuses.
    """

    WHAT = 0
    VALUES = 1
    """The address of the values in the memory of this rank."""
    BYTES = 2
    BOX = 3
    """The address of the mailbox."""
    PITCH = 4
    """The distance from the first slot to the second one in bytes."""
    SENT = 5
    """The address of the number of messages put into the mailbox."""
    TAKEN = 6
    """The address of the number of messages taken out of the mailbox."""
    DONE = 7
    """Whether the message of the current exchange has been put in or taken out."""


class Functions(NamedTuple):
    """The addresses of ``int begin(int count, void *rows)`` and of the test for completion.

    The test is ``int ask(int count, void *rows, int *done, void *nothing)``. Both functions return
    zero, or the error code of a failed MPI function.
    """

    begin: int
    ask: int


@cache
def functions() -> Functions:
    """Compile the functions and return their addresses."""
    return Functions(**compiled("mailboxes", {"begin": _begin, "ask": _ask}))


def _begin(module: Any) -> None:
    """Write the function that begins an exchange: it starts requests and fills free mailboxes."""
    begin, builder = function(module, "begin", NUMBER, ADDRESS)
    count, rows = begin.args
    with each_row(builder, count, rows, len(Word)) as row:
        row.set(Word.DONE, WORD(0))
        with row.when(row.equal(Word.WHAT, CALL)):
            start = row.function(Word.VALUES, NUMBER, ADDRESS)
            given = builder.trunc(row.get(Word.BYTES), NUMBER), row.pointer(Word.PITCH)
            _check(builder, builder.call(start, given))
        with row.when(row.equal(Word.WHAT, OUT)):
            _put(row)
    builder.ret(NUMBER(0))


def _ask(module: Any) -> None:
    """Write the function that advances an exchange and tests whether it has finished."""
    ask, builder = function(module, "ask", NUMBER, ADDRESS, NUMBER.as_pointer(), ADDRESS)
    count, rows, done, _ = ask.args
    flag = builder.alloca(NUMBER)
    builder.store(NUMBER(1), done)
    with each_row(builder, count, rows, len(Word)) as row:
        with row.when(row.equal(Word.DONE, 0)):
            with row.when(row.equal(Word.WHAT, CALL)):
                test = row.function(Word.BOX, NUMBER, ADDRESS, NUMBER.as_pointer(), ADDRESS)
                given = builder.trunc(row.get(Word.BYTES), NUMBER), row.pointer(Word.PITCH)
                _check(builder, builder.call(test, [*given, flag, row.pointer(Word.SENT)]))
                row.set(Word.DONE, builder.zext(builder.load(flag), WORD))
            with row.when(row.equal(Word.WHAT, OUT)):
                _put(row)
            with row.when(row.equal(Word.WHAT, IN)):
                _take(row)
        with row.when(row.equal(Word.DONE, 0)):
            builder.store(NUMBER(0), done)
    builder.ret(NUMBER(0))


def _put(row: Words) -> None:
    """Copy a message into its mailbox if the slot is free."""
    builder = row.builder
    own, other = (row.pointer(word, WORD.as_pointer()) for word in (Word.SENT, Word.TAKEN))
    number = builder.load(own)
    with row.when(builder.icmp_signed("<", builder.sub(number, row.seen(other)), WORD(2))):
        _copy(row, _place(row, number), row.pointer(Word.VALUES))
        _count(row, number, own)


def _take(row: Words) -> None:
    """Copy a message out of its mailbox if it has arrived."""
    builder = row.builder
    own, other = (row.pointer(word, WORD.as_pointer()) for word in (Word.TAKEN, Word.SENT))
    number = builder.load(own)
    with row.when(builder.icmp_signed("<", number, row.seen(other))):
        _copy(row, row.pointer(Word.VALUES), _place(row, number))
        _count(row, number, own)


def _count(row: Words, number: Any, counter: Any) -> None:
    """Count a message as completed."""
    row.publish(row.builder.add(number, WORD(1)), counter)
    row.set(Word.DONE, WORD(1))


def _place(row: Words, number: Any) -> Any:
    """Return the address of a message in the mailbox, whose two halves are used alternately."""
    builder = row.builder
    odd = builder.and_(number, WORD(1))
    return builder.gep(row.pointer(Word.BOX), [builder.mul(odd, row.get(Word.PITCH))])


def _copy(row: Words, target: Any, source: Any) -> None:
    """Copy the values of a message."""
    row.builder.copy(target, source, row.get(Word.BYTES))


def _check(builder: Any, code: Any) -> None:
    """Return a code to the caller unless it is zero."""
    with builder.if_then(builder.icmp_signed("!=", code, NUMBER(0))):
        builder.ret(code)
