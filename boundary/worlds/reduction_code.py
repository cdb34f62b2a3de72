"""Compiled functions by which kernels reduce numbers over all ranks.

They work through a table: a head with functions that carry integers from rank to rank, as `Head`
tells, and a row for each reduction, as `Word` tells. What begins a reduction writes what this rank
gives to each of them, and calls the first function; what asks calls the second one, and makes of
what it has brought the states of all terms. Where nothing has to be carried there is no function.

The integers of one reduction after another are summed, or the largest of them found, by calls of
``MPI_Iallreduce``, each of which has a row as `Call` tells.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from ssr.extension import compiled, write_combined, write_share

from .code import ADDRESS, NUMBER, WORD, Words, each_row, function


class Head(IntEnum):
    """The integers before the rows: functions, each with what it is called with."""

    BEGIN = 0
    """The address of ``int begin(int count, void *things)``, or 0."""
    BEGIN_COUNT = 1
    BEGIN_THINGS = 2
    ASK = 3
    """The address of ``int ask(int count, void *things, int *done, void *notes)``, or 0."""
    ASK_COUNT = 4
    ASK_THINGS = 5
    NOTES = 6
    PENDING = 7
    """Whether a reduction has begun, and has not finished."""


class Word(IntEnum):
    """The integers of a reduction: its kind, and where its state and its integers are."""

    KIND = 0
    STATE = 1
    GIVEN = 2
    """The address of what this rank gives."""
    FOUND = 3
    """The address of what all ranks have given together."""


class Call(IntEnum):
    """The integers of a call of ``MPI_Iallreduce``: its address, and its arguments."""

    ADDRESS = 0
    SEND = 1
    RECEIVE = 2
    COUNT = 3
    KIND = 4
    OPERATION = 5
    RANKS = 6
    REQUEST = 7


class Functions(NamedTuple):
    """The addresses of the functions.

    ``int begin(int count, void *table)`` and ``int ask(int count, void *table, int *done, void
    *nothing)`` are given the number of reductions, and ``int add(int count, void *calls)`` that of
    calls. They return zero, or the code by which a function of MPI has failed.
    """

    begin: int
    ask: int
    add: int


@cache
def functions() -> Functions:
    """Return the functions, which are compiled now."""
    return Functions(**compiled("reductions", {"begin": _begin, "ask": _ask, "add": _add}))


def _begin(module: Any) -> None:
    begin, builder = function(module, "begin", NUMBER, ADDRESS)
    count, table = begin.args
    head = Words(builder, table)
    with each_row(builder, count, head.at(len(Head)), len(Word)) as row:
        kind, state, given = (row.get(word) for word in (Word.KIND, Word.STATE, Word.GIVEN))
        places = (builder.inttoptr(place, WORD.as_pointer()) for place in (state, given))
        write_share(builder, kind, *places)
    head.set(Head.PENDING, WORD(1))
    with head.when(builder.not_(head.equal(Head.BEGIN, 0))):
        call = head.function(Head.BEGIN, NUMBER, ADDRESS)
        number = builder.trunc(head.get(Head.BEGIN_COUNT), NUMBER)
        builder.ret(builder.call(call, [number, head.pointer(Head.BEGIN_THINGS)]))
    builder.ret(NUMBER(0))


def _ask(module: Any) -> None:
    ask, builder = function(module, "ask", NUMBER, ADDRESS, NUMBER.as_pointer(), ADDRESS)
    count, table, done, _ = ask.args
    head = Words(builder, table)
    builder.store(NUMBER(1), done)
    with head.when(builder.not_(head.equal(Head.ASK, 0))):
        call = head.function(Head.ASK, NUMBER, ADDRESS, NUMBER.as_pointer(), ADDRESS)
        number = builder.trunc(head.get(Head.ASK_COUNT), NUMBER)
        given = number, head.pointer(Head.ASK_THINGS), done, head.pointer(Head.NOTES)
        code = builder.call(call, given)
        with builder.if_then(builder.icmp_signed("!=", code, NUMBER(0))):
            builder.ret(code)
    with builder.if_then(builder.icmp_signed("!=", builder.load(done), NUMBER(0))):
        with each_row(builder, count, head.at(len(Head)), len(Word)) as row:
            kind, state, found = (row.get(word) for word in (Word.KIND, Word.STATE, Word.FOUND))
            places = (builder.inttoptr(place, WORD.as_pointer()) for place in (found, state))
            write_combined(builder, kind, *places)
        head.set(Head.PENDING, WORD(0))
    builder.ret(NUMBER(0))


def _add(module: Any) -> None:
    add, builder = function(module, "add", NUMBER, ADDRESS)
    count, calls = add.args
    with each_row(builder, count, calls, len(Call)) as row:
        kinds = ADDRESS, ADDRESS, NUMBER, WORD, WORD, WORD, ADDRESS
        call = row.function(Call.ADDRESS, *kinds)
        send, receive, request = (
            row.pointer(word) for word in (Call.SEND, Call.RECEIVE, Call.REQUEST)
        )
        number = builder.trunc(row.get(Call.COUNT), NUMBER)
        handles = (row.get(word) for word in (Call.KIND, Call.OPERATION, Call.RANKS))
        code = builder.call(call, [send, receive, number, *handles, request])
        with builder.if_then(builder.icmp_signed("!=", code, NUMBER(0))):
            builder.ret(code)
    builder.ret(NUMBER(0))
