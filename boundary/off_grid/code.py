"""Compiled gather and scatter kernels: weighted stencil sums, and additions to stencil points.

The kernels are driven by tables of memory offsets and weights and are independent of the points.
Sums are accumulated in double precision, in the order of the entries, and rounded once at the end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir as llvm

from ssr.extension import builder_of, compiled

WORD, NUMBER, BIT = llvm.IntType(64), llvm.IntType(32), llvm.IntType(1)
DOUBLE, SINGLE = llvm.DoubleType(), llvm.FloatType()

UNROLLED = 1, 2, 4, 8
"""The stencil widths for which the sum is unrolled."""


class Functions(NamedTuple):
    """The functions for fields of one type.

    ``gather(count, width, stride, places, weights, values, others, out)`` sums over the ``width``
    entries of each of ``count`` points. A place -1 - k is element k of ``others``, the values
    received from other ranks. Entries with the weight zero are not read. The sums of consecutive
    points are stored ``stride`` elements apart.

    ``scatter(count, stride, places, sources, weights, given, values)`` adds to the value at each of
    ``count`` places its weight times the element ``stride * source`` of ``given``, in order.
    """

    gather: Callable[..., int]
    scatter: Callable[..., int]


@cache
def functions(dtype: np.dtype[Any]) -> Functions:
    """Compile and return the functions for a type."""
    kind = DOUBLE if dtype == np.float64 else SINGLE
    writers = {"gather": partial(_gather, kind=kind), "scatter": partial(_scatter, kind=kind)}
    found = compiled(f"stencils of {dtype}", writers)
    return Functions(_called(found["gather"], 3, 5), _called(found["scatter"], 2, 5))


def _called(address: int, integers: int, pointers: int) -> Callable[..., int]:
    """Return a C function that takes integers and addresses."""
    given = [ctypes.c_int64] * integers + [ctypes.c_void_p] * pointers
    return ctypes.CFUNCTYPE(ctypes.c_int, *given)(address)


def _function(module: Any, name: str, *arguments: Any) -> tuple[Any, Any]:
    made = llvm.Function(module, llvm.FunctionType(NUMBER, arguments), name)
    return made.args, builder_of(made)


def _gather(module: Any, kind: Any) -> None:
    """Write the function that sums over stencils."""
    words, doubles, values = WORD.as_pointer(), DOUBLE.as_pointer(), kind.as_pointer()
    args, b = _function(module, "gather", WORD, WORD, WORD, words, doubles, values, values, values)
    count, width, stride, places, weights, own, others, out = args
    tables = places, weights, own, others
    for known in UNROLLED:
        with b.if_then(b.icmp_signed("==", width, WORD(known))):
            with b.count_to(count) as point:
                total = DOUBLE(-0.0)
                for entry in range(known):
                    number = b.add(b.mul(point, WORD(known)), WORD(entry))
                    total = _added(b, tables, number, total)
                b.store(_narrowed(b, total, kind), b.at(out, b.mul(point, stride)))
            b.ret(NUMBER(0))
    with b.count_to(count) as point:
        total = b.variable(DOUBLE(-0.0))
        with b.count_to(width) as entry:
            number = b.add(b.mul(point, width), entry)
            b.store(_added(b, tables, number, b.load(total)), total)
        b.store(_narrowed(b, b.load(total), kind), b.at(out, b.mul(point, stride)))
    b.ret(NUMBER(0))


def _added(builder: Any, tables: Any, number: Any, total: Any) -> Any:
    """Write the sum of a total and an entry of a stencil, given by its number."""
    places, weights, own, others = tables
    place, weight = builder.get(places, number), builder.get(weights, number)
    is_own = builder.icmp_signed(">=", place, WORD(0))
    base = builder.select(is_own, own, others)
    index = builder.select(is_own, place, builder.sub(WORD(-1), place))
    term = builder.fmul(weight, _widened(builder, builder.get(base, index)))
    skipped = builder.fcmp_ordered("==", weight, DOUBLE(0.0))
    return builder.select(skipped, total, builder.fadd(total, term))


def _scatter(module: Any, kind: Any) -> None:
    """Write the function that adds values to the points of stencils."""
    words, doubles, values = WORD.as_pointer(), DOUBLE.as_pointer(), kind.as_pointer()
    args, b = _function(module, "scatter", WORD, WORD, words, words, doubles, doubles, values)
    count, stride, places, sources, weights, given, own = args
    with b.count_to(count) as entry:
        target = b.at(own, b.get(places, entry))
        source = b.get(given, b.mul(b.get(sources, entry), stride))
        term = b.fmul(b.get(weights, entry), source)
        b.store(_narrowed(b, b.fadd(_widened(b, b.load(target)), term), kind), target)
    b.ret(NUMBER(0))


def _widened(builder: Any, value: Any) -> Any:
    return value if value.type == DOUBLE else builder.fpext(value, DOUBLE)


def _narrowed(builder: Any, value: Any, kind: Any) -> Any:
    return value if kind == DOUBLE else builder.fptrunc(value, kind)
