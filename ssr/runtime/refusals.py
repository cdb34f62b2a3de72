"""Which arrays a kernel refuses: those laid out in another way, and those that share memory.

A kernel is prepared for arrays of one layout, and may be called with any. It notes what it was
given, and a function that all kernels share compares that with what it was prepared for. As part of
each kernel these comparisons took LLVM longer than the loops of a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from . import shared
from .constants import LENGTHS
from .descriptors import itemsize, numbers
from .intrinsics import first, pointer
from .polling import external

WORD, NUMBER, BIT = llvm.IntType(64), llvm.IntType(32), llvm.IntType(1)


def refused(arrays: Sequence[Any], layout: Any, written: int) -> bool:
    """Whether a kernel refuses arrays: those of another layout, and those that share memory.

    Parameters
    ----------
    arrays
        The arrays, those that are written first. They have one type of numbers.
    layout
        What the kernel was prepared for, as `ssr.run.call_layout.layout_of` makes it.
    written
        How many arrays are written.
    """
    given, behind = [a.array for a in arrays], LENGTHS + len(arrays)
    forms = [number for a in given for number in (*a.shape, *a.strides)]
    meant, starts = list(layout[behind : behind + len(forms)]), [a.ctypes.data for a in given]
    astray = any(start % a.itemsize for start, a in zip(starts, given, strict=True))
    return astray or forms != meant or meet(starts, layout[LENGTHS:behind], written)


def meet(starts: Sequence[int], lengths: Sequence[int], written: int) -> bool:
    """Whether memory that is written, that of the first few arrays, is part of another array.

    >>> meet((100, 140, 120), (20, 20, 20), 1), meet((100, 140, 120), (20, 20, 21), 2)
    (False, True)
    """
    edges = [(start, start + length) for start, length in zip(starts, lengths, strict=True)]
    return any(
        edges[n][0] < stop and begin < edges[n][1]
        for n in range(written)
        for begin, stop in edges[n + 1 :]
    )


@type_callable(refused)
def _type_refused(context: Any) -> Callable[..., Any]:
    return lambda arrays, layout, written: (
        types.boolean if isinstance(arrays, types.BaseTuple) else None
    )


@lower_builtin(refused, types.BaseTuple, types.Array, types.Integer)
def _lower_refused(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kinds, (whole, layout, written) = signature.args[0].types, args
    arrays = [(kind, builder.extract_value(whole, n)) for n, kind in enumerate(kinds)]
    starts = [builder.ptrtoint(first(context, builder, *array), WORD) for array in arrays]
    forms = [
        number
        for array in arrays
        for name in ("shape", "strides")
        for number in numbers(context, builder, *array, name)
    ]
    found = cgutils.alloca_once(builder, WORD, len(starts) + len(forms))
    for place, number in enumerate((*starts, *forms)):
        builder.store(number, builder.gep(found, [WORD(place)]))
    prepared = pointer(context, builder, signature.args[1], layout, WORD(LENGTHS))
    kind = llvm.FunctionType(BIT, [found.type, found.type, *[WORD] * 4])
    compare = shared.declared(context, builder.module, "ssr_refused", kind, _write)
    sizes = len(starts), len(forms), itemsize(kinds[0])
    return builder.call(compare, [found, prepared, *map(WORD, sizes), builder.sext(written, WORD)])


def _write(function: Any) -> None:
    """Write what compares arrays with what was prepared for.

    It takes the addresses of arrays and their forms; their lengths and the forms that are meant;
    how many arrays there are, and integers in all forms; the bytes of a number; and how many arrays
    are written.
    """
    builder = llvm.IRBuilder(function.append_basic_block("entry"))
    found, meant, count, integers, size, written = function.args
    forms = [builder.gep(table, [count]) for table in (found, meant)]
    compare = external(builder.module, "memcmp", NUMBER, found.type, found.type, WORD)
    differ = builder.call(compare, [*forms, builder.mul(integers, WORD(8))])
    bad = cgutils.alloca_once_value(builder, builder.icmp_signed("!=", differ, NUMBER(0)))

    def note(condition: Any) -> None:
        builder.store(builder.or_(builder.load(bad), condition), bad)

    def edges(number: Any) -> tuple[Any, Any]:
        start, length = (builder.load(builder.gep(table, [number])) for table in (found, meant))
        return start, builder.add(start, length)

    with cgutils.for_range(builder, count) as one:
        start, end = edges(one.index)
        astray = builder.and_(start, builder.sub(size, WORD(1)))
        note(builder.icmp_signed("!=", astray, WORD(0)))
        is_written = builder.icmp_signed("<", one.index, written)
        others = builder.select(is_written, count, WORD(0))
        with cgutils.for_range(builder, others, builder.add(one.index, WORD(1))) as other:
            begin, stop = edges(other.index)
            before = builder.icmp_signed("<", start, stop)
            note(builder.and_(before, builder.icmp_signed("<", begin, end)))
    builder.ret(builder.load(bad))
