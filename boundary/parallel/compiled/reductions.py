"""Compiled reductions over all ranks: sums, maxima and minima.

A table holds a head (`Head`) with the addresses of two transport functions, and one row (`Word`)
for each reduction. ``begin`` writes the integers that this rank contributes and calls the first
transport function. ``ask`` calls the second one and, when the transport is complete, computes the
states of the reductions from the combined integers. On a single rank there is no transport
function.

Between processes the transport is ``MPI_Iallreduce``, with one row (`Call`) for each call. Between
threads each rank copies its integers into a buffer that all threads can read (`Place`, `Seen`). The
buffer has two slots, used alternately, and a counter, which is stored after the integers (release)
and loaded before them (acquire). Two slots suffice: when a rank begins a reduction, all ranks have
read the integers of the last but one.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

from ssr.extension import compiled, write_combined, write_share

from .llvm_helpers import ADDRESS, NUMBER, WORD, Words, each_row, function


class Head(IntEnum):
    """The integers before the rows: addresses of functions, and their arguments."""

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
    """Whether a reduction has begun and has not finished."""
    CHECKED = 8
    """The address of the sum over all ranks of the reduction's identifier, or 0."""
    EXPECTED = 9
    """The value of this sum if all ranks are at the same reduction."""


MIXED = -2
"""The return code of ``ask`` if ranks are at different reductions."""


class Word(IntEnum):
    """The integers of a reduction: its kind, and the addresses of its state and integers."""

    KIND = 0
    STATE = 1
    GIVEN = 2
    """The address of the integers that this rank contributes."""
    FOUND = 3
    """The address of the combined integers of all ranks."""


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


class Place(IntEnum):
    """The integers of a rank that is a thread, before a row (`Seen`) for each rank."""

    NUMBER = 0
    """The number of reductions that the rank has begun."""
    GIVEN = 1
    """The address of the integers of the rank."""
    FOUND = 2
    """The address of the combined integers of all ranks."""
    COUNT = 3
    """The number of integers."""
    SUMMED = 4
    """The number of integers that are summed. The maximum is taken of the others."""
    OWN = 5
    """The address of the rank's own row."""


class Seen(IntEnum):
    """The shared integers of a rank: the address of its contributions, and their counter."""

    ROOM = 0
    COUNTER = 1


class Functions(NamedTuple):
    """The addresses of the functions.

    ``int begin(int count, void *table)`` and ``int ask(int count, void *table, int *done, void
    *nothing)`` take the number of reductions, and ``int add(int count, void *calls)`` takes the
    number of calls. They return zero, or the error code of a failed MPI function. ``int put(int
    count, void *place)`` and ``int gather(int count, void *place, int *done, void *nothing)`` take
    the number of ranks.
    """

    begin: int
    ask: int
    add: int
    put: int
    gather: int


@cache
def functions() -> Functions:
    """Compile the functions and return their addresses."""
    writers = {"begin": _begin, "ask": _ask, "add": _add, "put": _put, "gather": _gather}
    return Functions(**compiled("reductions", writers))


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
        with head.when(builder.not_(head.equal(Head.CHECKED, 0))):
            checked = builder.load(head.pointer(Head.CHECKED, WORD.as_pointer()))
            mixed = builder.icmp_signed("!=", checked, head.get(Head.EXPECTED))
            with builder.if_then(mixed, likely=False):
                builder.ret(NUMBER(MIXED))
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


def _put(module: Any) -> None:
    put, builder = function(module, "put", NUMBER, ADDRESS)
    own = Words(builder, put.args[1])
    seen = Words(builder, own.pointer(Place.OWN))
    number = builder.add(own.get(Place.NUMBER), WORD(1))
    own.set(Place.NUMBER, number)
    room = _half(builder, seen, number, own.get(Place.COUNT))
    size = builder.mul(own.get(Place.COUNT), WORD(8))
    given = own.pointer(Place.GIVEN, WORD.as_pointer())
    builder.copy(room, given, size)
    seen.publish(number, seen.pointer(Seen.COUNTER, WORD.as_pointer()))
    builder.ret(NUMBER(0))


def _gather(module: Any) -> None:
    gather, builder = function(module, "gather", NUMBER, ADDRESS, NUMBER.as_pointer(), ADDRESS)
    count, place, done, _ = gather.args
    own = Words(builder, place)
    number, words = own.get(Place.NUMBER), own.get(Place.COUNT)
    builder.store(NUMBER(0), done)
    with each_row(builder, count, own.at(len(Place)), len(Seen)) as row:
        known = row.seen(row.pointer(Seen.COUNTER, WORD.as_pointer()))
        with builder.if_then(builder.icmp_signed("<", known, number)):
            builder.ret(NUMBER(0))
    found = own.pointer(Place.FOUND, WORD.as_pointer())
    first = _half(builder, Words(builder, own.pointer(Place.OWN)), number, words)
    builder.copy(found, first, builder.mul(words, WORD(8)))
    with each_row(builder, count, own.at(len(Place)), len(Seen)) as row:
        room = _half(builder, row, number, words)
        others = row.when(builder.icmp_unsigned("!=", room, first))
        with others, builder.count_to(words) as place:
            here = builder.gep(found, [place])
            one, other = builder.load(here), builder.load(builder.gep(room, [place]))
            larger = builder.select(builder.icmp_signed(">", one, other), one, other)
            is_summed = builder.icmp_signed("<", place, own.get(Place.SUMMED))
            builder.store(builder.select(is_summed, builder.add(one, other), larger), here)
    builder.store(NUMBER(1), done)
    builder.ret(NUMBER(0))


def _half(builder: Any, row: Words, number: Any, words: Any) -> Any:
    """Return the address of the integers of a reduction in the shared buffer of a rank."""
    half = builder.mul(builder.and_(number, WORD(1)), words)
    return builder.gep(row.pointer(Seen.ROOM, WORD.as_pointer()), [half])
