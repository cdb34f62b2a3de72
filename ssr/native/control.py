"""Early exits of kernels: refused arguments, signal handlers, checks, and steps of a schedule."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir as llvm

from ..kernel.types import Text, Type
from ..runtime.constants import ASK, BEGIN, FAILED, FINISHED, LATE, LEFT, At
from ..runtime.polling import CLOCK, INTERVAL, POINTS
from ..runtime.steps import PATIENCE, SPINS, YIELDS
from .builder import ADDRESS, BIT, BYTE, EXCEPTION, NUMBER, WORD, WORDS, Builder
from .machine_code import declared
from .values import Value, Writer, parts_of, size_of, strides_of

KEEPING = {"x86_64", "AMD64", "aarch64", "arm64"}
"""Architectures with a calling convention that preserves the caller's registers."""


# -- layout checks ---------------------------------------------------------------------------------


def _refused(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    """Write the comparison of arrays with the layout that a kernel was prepared for."""
    whole, layout, written = given
    arrays = parts_of(whole)
    starts = [b.ptrtoint(array.memory.data, WORD) for array in arrays]
    forms = [n for array in arrays for n in (*array.memory.shape, *strides_of(b, array))]
    found = b.room(WORD, len(starts) + len(forms))
    for place, number in enumerate((*starts, *forms)):
        b.store(number, b.at(found, place))
    kind = llvm.FunctionType(BIT, [WORDS, WORDS, *[WORD] * 4])
    compare = declared(b, "ssr_refused", kind, _write_refused)
    sizes = len(starts), len(forms), size_of(arrays[0])
    return b.call(compare, [found, layout.memory.data, *map(WORD, sizes), written.bits])


def _write_refused(function: llvm.Function) -> None:
    """Write the function that compares arrays with the layout that a kernel was prepared for.

    It takes the addresses of arrays and their forms; the expected lengths and forms; the number of
    arrays, and of integers in all forms; the bytes of a value; and the number of arrays that are
    written.
    """
    found, meant, count, integers, size, written = function.args
    b = Builder.beginning(function)
    forms = [b.bitcast(b.at(table, count), ADDRESS) for table in (found, meant)]
    compare = b.external("memcmp", NUMBER, ADDRESS, ADDRESS, WORD)
    differ = b.call(compare, [*forms, b.mul(integers, WORD(8))])
    bad = b.variable(b.icmp_signed("!=", differ, NUMBER(0)))

    def note(condition: llvm.Value) -> None:
        b.store(b.or_(b.load(bad), condition), bad)

    def edges(number: llvm.Value) -> tuple[llvm.Value, llvm.Value]:
        start, length = b.get(found, number), b.get(meant, number)
        return start, b.add(start, length)

    with b.count_to(count) as one:
        start, end = edges(one)
        astray = b.and_(start, b.sub(size, WORD(1)))
        note(b.icmp_signed("!=", astray, WORD(0)))
        others = b.select(b.icmp_signed("<", one, written), count, WORD(0))
        with b.count_to(others, start=b.add(one, WORD(1))) as other:
            begin, stop = edges(other)
            note(b.and_(b.icmp_signed("<", start, stop), b.icmp_signed("<", begin, end)))
    b.ret(b.load(bad))


# -- signal handlers -------------------------------------------------------------------------------


def _stopwatch(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    watch = b.room(WORD, 3)
    b.store(WORD(POINTS), watch)
    b.store(WORD(0), b.at(watch, 1))
    return watch


def _poll(b: Builder, given: Sequence[Value], type_: Type) -> None:
    watch, points = given
    poll(b, watch.bits, points.bits, b.leave)


def poll(b: Builder, watch: llvm.Value, points: llvm.Value, leave: Callable[[], object]) -> None:
    """Write the count of points; ``leave`` writes what follows if a handler of signals raises."""
    if CLOCK is None:
        return
    left = b.sub(b.load(watch), points)
    b.store(left, watch)
    with b.unlikely(b.icmp_signed("<", left, WORD(0))):
        asked = _signal_check(b)
        b.call(asked, [watch], cconv=asked.calling_convention)
        with b.unlikely(b.icmp_signed("!=", b.get(watch, 2), WORD(0))):
            leave()


def _signal_check(b: Builder) -> llvm.Function:
    """Return the function that reads the clock, and lets Python run handlers after a period.

    It stores a nonzero number in the watch if a handler has raised. It is called rarely and
    preserves all registers, so that loops with the call are as fast as without it. In LLVM 15 this
    includes the register of results, so the function has no result.
    """
    known = b.module.globals.get("ssr_poll")
    if isinstance(known, llvm.Function):
        return known
    asked = llvm.Function(b.module, llvm.FunctionType(llvm.VoidType(), [WORDS]), "ssr_poll")
    asked.linkage = "internal"
    asked.calling_convention = "preserve_mostcc" if platform.machine() in KEEPING else ""
    for attribute in "cold", "noinline", "nounwind":
        asked.attributes.add(attribute)
    (watch,) = asked.args
    b = Builder.beginning(asked)
    b.store(WORD(POINTS), watch)
    b.store(WORD(0), b.at(watch, 2))
    now, last = _nanoseconds(b), b.get(watch, 1)
    first = b.icmp_signed("==", last, WORD(0))
    with b.if_then(first):
        b.store(now, b.at(watch, 1))
    soon = b.icmp_signed("<", b.sub(now, last), WORD(INTERVAL))
    with b.if_then(b.or_(first, soon)):
        b.ret_void()
    b.store(now, b.at(watch, 1))
    with_python(b, lambda: b.store(b.sext(_handlers_raise(b), WORD), b.at(watch, 2)))
    b.ret_void()
    return asked


def _handlers_raise(b: Builder) -> llvm.Value:
    return b.call(b.external("PyErr_CheckSignals", NUMBER), [])


def with_python(b: Builder, write: Callable[[], object]) -> None:
    """Write code that runs with Python's lock, which the thread may have or not."""
    lock = b.call(b.external("PyGILState_Ensure", NUMBER), [])
    write()
    b.call(b.external("PyGILState_Release", llvm.VoidType(), NUMBER), [lock])


def _nanoseconds(b: Builder) -> llvm.Value:
    """Return the time of a monotonic clock."""
    pair = b.room(WORD, 2)
    b.call(b.external("clock_gettime", NUMBER, NUMBER, WORDS), [NUMBER(CLOCK), pair])
    return b.add(b.mul(b.get(pair, 0), WORD(10**9)), b.get(pair, 1))


# -- checks of the debug build ---------------------------------------------------------------------


def _require(b: Builder, given: Sequence[Value], type_: Type) -> None:
    holds, piece, _ = given
    assert isinstance(piece.type, Text)
    _fail(b, b.not_(holds.bits), f"{piece.type.text} runs a row that is not its own")


def check_inside(b: Builder, array: Value, offset: llvm.Value) -> None:
    """Write the check that an element at a flat offset lies in an array."""
    memory = array.memory
    size = WORD(size_of(array))
    last = WORD(0)
    for length, step in zip(memory.shape, strides_of(b, array), strict=True):
        last = b.add(last, b.mul(b.sub(length, WORD(1)), step))
    below = b.icmp_signed("<", offset, WORD(0))
    beyond = b.icmp_signed(">", b.mul(offset, size), last)
    _fail(b, b.or_(below, beyond), "a kernel reaches outside an array")


def _fail(b: Builder, wrong: llvm.Value, message: str) -> None:
    """Write the end of a kernel with an AssertionError where a condition holds."""
    text = f"{message}; Program.run_plain shows where"
    with b.unlikely(wrong):
        with_python(b, lambda: error(b, "AssertionError", text))
        b.leave()


def error(b: Builder, kind: str, message: str) -> None:
    """Write that Python raises an exception of a kind."""
    name = f"{EXCEPTION}{kind}"
    known = b.module.globals.get(name) or llvm.GlobalVariable(b.module, BYTE, name)
    function = b.external("PyErr_SetString", llvm.VoidType(), ADDRESS, ADDRESS)
    b.call(function, [known, _text(b, message)])


def _text(b: Builder, text: str) -> llvm.Value:
    """Return the address of a constant text."""
    data = bytearray(text.encode() + b"\0")
    kind = llvm.ArrayType(llvm.IntType(8), len(data))
    made = llvm.GlobalVariable(b.module, kind, b.module.get_unique_name("text"))
    made.linkage, made.global_constant = "internal", True
    made.initializer = llvm.Constant(kind, data)
    return b.bitcast(made, ADDRESS)


# -- steps of a schedule ---------------------------------------------------------------------------


def _follow(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    steps, at = given
    row = b.get(at.memory.data, At.STEP)
    step = b.at(steps.memory.data, b.mul(row, steps.memory.shape[1]))
    return b.call(_followed(b.module), [step, at.memory.data])


def _followed(module: llvm.Module) -> llvm.Value:
    """Return the function that calls a step's function; it takes the addresses of both tables."""
    known = module.globals.get("ssr_follow")
    if known is not None:
        return known
    made = llvm.Function(module, llvm.FunctionType(WORD, [WORDS, WORDS]), "ssr_follow")
    made.linkage = "internal"
    for attribute in "noinline", "nounwind":
        made.attributes.add(attribute)
    step, at = made.args
    b = Builder.beginning(made)
    kind, address, count, things, notes = (b.get(step, n) for n in range(5))
    count = b.trunc(count, NUMBER)
    things, notes = (b.inttoptr(each, ADDRESS) for each in (things, notes))
    code = b.variable(NUMBER(0))
    with b.if_then(b.icmp_signed("==", kind, WORD(BEGIN))):
        begin = _function(b, address, NUMBER, ADDRESS)
        b.store(b.call(begin, [count, things]), code)
        _return(b, b.load(code), at)
    with b.if_then(b.icmp_signed("==", kind, WORD(ASK))):
        done = b.variable(NUMBER(0))
        ask = _function(b, address, NUMBER, ADDRESS, done.type, ADDRESS)
        _ask(b, lambda: b.call(ask, [count, things, done, notes]), done, at)
    b.ret(WORD(LEFT))
    return made


def _ask(b: Builder, ask: Callable[[], llvm.Value], done: llvm.Value, at: llvm.Value) -> None:
    """Poll until the operation is done, it fails, or it takes too long."""
    tries, since = b.variable(WORD(0)), b.variable(WORD(0))
    again, slowly = map(b.append_basic_block, ("again", "slowly"))
    b.branch(again)
    b.position_at_end(again)
    code = ask()
    ready = b.icmp_signed("!=", b.load(done), NUMBER(0))
    with b.if_then(b.or_(ready, b.icmp_signed("!=", code, NUMBER(0)))):
        _return(b, code, at)
    count = b.add(b.load(tries), WORD(1))
    b.store(count, tries)
    b.cbranch(b.icmp_signed("<", count, WORD(SPINS)), again, slowly)
    b.position_at_end(slowly)
    if YIELDS:
        b.call(b.external("sched_yield", NUMBER), [])
    if CLOCK is not None:
        now = _nanoseconds(b)
        with b.if_then(b.icmp_signed("==", b.load(since), WORD(0))):
            b.store(now, since)
        spent = b.sub(now, b.load(since))
        with b.if_then(b.icmp_signed(">", spent, WORD(PATIENCE))):
            b.ret(WORD(LATE))
    b.branch(again)


def _return(b: Builder, code: llvm.Value, at: llvm.Value) -> None:
    """Return whether a function has failed, and keep its code."""
    b.store(b.sext(code, WORD), b.at(at, At.CODE))
    failed = b.icmp_signed("!=", code, NUMBER(0))
    b.ret(b.select(failed, WORD(FAILED), WORD(FINISHED)))


def _function(b: Builder, address: llvm.Value, *arguments: llvm.Type) -> llvm.Value:
    """Return the function of C at an address, which returns an int."""
    return b.inttoptr(address, llvm.FunctionType(NUMBER, arguments).as_pointer())


WRITERS: Mapping[str, Writer] = {
    "refused": _refused,
    "stopwatch": _stopwatch,
    "poll": _poll,
    "require": _require,
    "follow": _follow,
}
