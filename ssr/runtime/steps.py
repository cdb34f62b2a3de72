"""How a kernel for boxes with memory of their own goes through the steps of a schedule.

A step is a row of integers, the first of which says what it is. A kernel does by itself

``RUN``
    a part of its own work: the row says which (`ssr.run.steps`);
``BEGIN``
    a call of a function of C, ``int begin(int count, void *things)``: the row has its address, the
    count, and the address of the things;
``ASK``
    calls of ``int ask(int count, void *things, int *done, void *notes)``, until it is done: the row
    has the address of the notes, too.

The functions return zero unless they fail. Their addresses are data, so that a kernel can be kept
on disk. At each other step, ``LEAVE``, the kernel returns `LEFT`, and is called again behind it. It
also returns if a function has `FAILED`, and if one is asked for longer than `PATIENCE`, `LATE`: the
caller may then run handlers of signals, and find out what is wrong.

What it goes through is a table of steps, for each row of a table of numbers; `AT` says where it is.
Called from plain Python, `follow` leaves each step to its caller.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from ..points.numbers import CACHE_LINE
from . import shared
from .constants import ASK, BEGIN, BYTES, FAILED, FINISHED, LATE, LEFT, At
from .descriptors import member, numbers
from .intrinsics import ld, pointer, requests, st
from .polling import CLOCK, external, nanoseconds

PATIENCE = 200_000_000
"""Nanoseconds for which a function is asked."""

SPINS = 2000
"""How often it is asked before the processor is given to others each time."""

YIELDS = hasattr(os, "sched_yield")
"""Whether the C library has a function for that."""

ASKED = 8
"""Elements of a column between a store and the request for its cache line."""

WORD, NUMBER = llvm.IntType(64), llvm.IntType(32)
ADDRESS = llvm.IntType(8).as_pointer()


def follow(steps: Any, at: Any) -> int:
    """Call the function of a step; return `FINISHED`, or why the kernel returns."""
    return LEFT


def copy(target: Any, to: int, source: Any, of: int, count: int) -> None:
    """Copy elements from a flat offset on; those that are read and written do not overlap."""
    for n in range(count):
        st(target, to + n, ld(source, of + n))


@type_callable(copy)
def _type_copy(context: Any) -> Callable[..., Any]:
    return lambda target, to, source, of, count: types.void


@lower_builtin(copy, types.Array, types.Integer, types.Array, types.Integer, types.Integer)
def _lower_copy(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    target, to, source, of, count = args
    written = pointer(context, builder, signature.args[0], target, to)
    read = pointer(context, builder, signature.args[2], source, of)
    kind = context.get_value_type(signature.args[0].dtype)
    size = context.get_abi_sizeof(kind)
    vector = llvm.VectorType(kind, BYTES // size)
    block = WORD(2 * vector.count)  # of single vectors LLVM would make calls of memcpy

    def element(n: Any) -> None:
        builder.store(builder.load(builder.gep(read, [n])), builder.gep(written, [n]))

    def vectors(n: Any) -> None:
        there, here = (
            builder.bitcast(builder.gep(each, [n]), vector.as_pointer()) for each in (read, written)
        )
        for place in WORD(0), WORD(1):
            values = builder.load(builder.gep(there, [place]), align=size)
            builder.store(values, builder.gep(here, [place]), align=size)

    with builder.if_else(builder.icmp_signed(">=", count, block)) as (long, short):
        with long:
            last = builder.sub(count, block)
            with cgutils.for_range_slice(builder, WORD(0), last, block) as (n, _):
                vectors(n)
            vectors(last)
        with short, cgutils.for_range(builder, count) as loop:
            element(loop.index)
    return context.get_dummy_value()


def copy_column(
    target: Any, to: int, apart: int, source: Any, of: int, further: int, count: int
) -> None:
    """Copy elements that lie apart; those that are read and written do not overlap."""
    for n in range(count):
        st(target, to + n * apart, ld(source, of + n * further))


@type_callable(copy_column)
def _type_copy_column(context: Any) -> Callable[..., Any]:
    return lambda target, to, apart, source, of, further, count: types.void


@lower_builtin(
    copy_column,
    types.Array,
    types.Integer,
    types.Integer,
    types.Array,
    types.Integer,
    types.Integer,
    types.Integer,
)
def _lower_copy_column(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    target, to, apart, source, of, further, count = args
    written = pointer(context, builder, signature.args[0], target, to)
    read = pointer(context, builder, signature.args[3], source, of)
    size = context.get_abi_sizeof(context.get_value_type(signature.args[0].dtype))
    kind = llvm.FunctionType(llvm.VoidType(), [written.type, WORD, read.type, WORD, WORD])
    write = partial(_write_column, size=size)
    copied = shared.declared(context, builder.module, f"ssr_copy_column{size}", kind, write)
    builder.call(copied, [written, apart, read, further, count])
    return context.get_dummy_value()


def _write_column(function: Any, size: int) -> None:
    """Write what copies numbers of some bytes that lie apart.

    Where each is stored to a cache line of its own, that line is asked for some numbers before:
    stores wait for their lines one after the other.
    """
    written, apart, read, further, count = function.args
    builder = llvm.IRBuilder(function.append_basic_block("entry"))
    whole = builder.and_(count, WORD(-4))

    def element(n: Any, asked: bool) -> None:
        place = builder.mul(n, apart)
        if asked:
            ahead = builder.add(place, builder.mul(WORD(ASKED), apart))
            requests(builder, builder.gep(written, [ahead]), soon=True, written=True)
        value = builder.load(builder.gep(read, [builder.mul(n, further)]))
        builder.store(value, builder.gep(written, [place]))

    def elements(asked: bool) -> None:
        with cgutils.for_range_slice(builder, WORD(0), whole, WORD(4)) as (n, _):
            for more in range(4):
                element(builder.add(n, WORD(more)), asked)
        with cgutils.for_range_slice(builder, whole, count, WORD(1)) as (n, _):
            element(n, asked)

    is_far = builder.icmp_signed(">=", apart, WORD(CACHE_LINE // size))
    with builder.if_else(is_far) as (far, near):
        with far:
            elements(asked=True)
        with near:
            elements(asked=False)
    builder.ret_void()


@type_callable(follow)
def _type_follow(context: Any) -> Callable[..., Any]:
    return lambda steps, at: types.int64


@lower_builtin(follow, types.Array, types.Array)
def _lower_follow(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    steps, at = (
        member(context, builder, kind, array, "data")
        for kind, array in zip(signature.args, args, strict=True)
    )
    row = builder.load(builder.gep(at, [WORD(At.STEP)]))
    width = numbers(context, builder, signature.args[0], args[0], "shape")[1]
    step = builder.gep(steps, [builder.mul(row, width)])
    return builder.call(_followed(builder.module), [step, at])


def _followed(module: Any) -> Any:
    """Return the function behind `follow`: it takes the addresses of a step, and of where it is."""
    known = module.globals.get("ssr_follow")
    if known is not None:
        return known
    words = WORD.as_pointer()
    made = llvm.Function(module, llvm.FunctionType(WORD, [words, words]), "ssr_follow")
    made.linkage = "linkonce_odr"
    for attribute in "noinline", "nounwind":
        made.attributes.add(attribute)
    step, at = made.args
    builder = llvm.IRBuilder(made.append_basic_block("entry"))
    kind, address, count, things, notes = (
        builder.load(builder.gep(step, [WORD(n)])) for n in range(5)
    )
    count = builder.trunc(count, NUMBER)
    things, notes = (builder.inttoptr(given, ADDRESS) for given in (things, notes))
    code = cgutils.alloca_once_value(builder, NUMBER(0))
    with builder.if_then(builder.icmp_signed("==", kind, WORD(BEGIN))):
        begin = _function(builder, address, NUMBER, ADDRESS)
        builder.store(builder.call(begin, [count, things]), code)
        _return(builder, builder.load(code), at)
    with builder.if_then(builder.icmp_signed("==", kind, WORD(ASK))):
        done = cgutils.alloca_once_value(builder, NUMBER(0))
        ask = _function(builder, address, NUMBER, ADDRESS, done.type, ADDRESS)
        _asked(builder, lambda: builder.call(ask, [count, things, done, notes]), done, at)
    builder.ret(WORD(LEFT))
    return made


def _asked(builder: Any, ask: Callable[[], Any], done: Any, at: Any) -> None:
    """Ask until it is done, it fails, or it takes too long."""
    tries, since = (cgutils.alloca_once_value(builder, WORD(0)) for _ in range(2))
    again = builder.append_basic_block("again")
    builder.branch(again)
    builder.position_at_end(again)
    code = ask()
    ready = builder.icmp_signed("!=", builder.load(done), NUMBER(0))
    ended = builder.or_(ready, builder.icmp_signed("!=", code, NUMBER(0)))
    with builder.if_then(ended):
        _return(builder, code, at)
    count = builder.add(builder.load(tries), WORD(1))
    builder.store(count, tries)
    slowly = builder.append_basic_block("slowly")
    builder.cbranch(builder.icmp_signed("<", count, WORD(SPINS)), again, slowly)
    builder.position_at_end(slowly)
    if YIELDS:
        builder.call(external(builder.module, "sched_yield", NUMBER), [])
    if CLOCK is not None:
        now = nanoseconds(builder)
        with builder.if_then(builder.icmp_signed("==", builder.load(since), WORD(0))):
            builder.store(now, since)
        spent = builder.sub(now, builder.load(since))
        with builder.if_then(builder.icmp_signed(">", spent, WORD(PATIENCE))):
            builder.ret(WORD(LATE))
    builder.branch(again)


def _return(builder: Any, code: Any, at: Any) -> None:
    """Return whether a function has failed, and keep its code."""
    builder.store(builder.sext(code, WORD), builder.gep(at, [WORD(At.CODE)]))
    failed = builder.icmp_signed("!=", code, NUMBER(0))
    builder.ret(builder.select(failed, WORD(FAILED), WORD(FINISHED)))


def _function(builder: Any, address: Any, *arguments: Any) -> Any:
    """Return the function of C at an address, which returns an int."""
    return builder.inttoptr(address, llvm.FunctionType(NUMBER, arguments).as_pointer())
