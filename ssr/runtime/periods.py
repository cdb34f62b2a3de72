"""Rows whose terms come again with a period, a bundle of neighbouring rows at a time.

The weights of a bundle are ``repeated`` along its rows. A row that has no such term has the weight
zero: nothing is read for it, and it is left as it is by ``fma_present``. Its chain of operations is
that of its own terms. At both ends of a line bundles have rows that are none, for which nothing is
read or written: those before ``low`` and from ``high`` on.

A bundle that does not begin with a cache line takes as long to load as two. So where rows read
several neighbours, bundles of elements are loaded one after the other, each once, and those that
rows read are put together ``of_two``.
Called from plain Python a bundle is an array, as in `bundles`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from .bundles import HALF, WORD, Bundle, bytes_of, intrinsic, suffix, width
from .constants import WINDOW
from .intrinsics import fma, ld, pointer, repeat, st

# -- in plain Python -------------------------------------------------------------------------------


def repeated(lines: Any, *numbers: Any) -> Any:
    """Return the bundle of rows of an array that has numbers in turn, from the first one on."""
    return np.resize(np.array(numbers), width(lines.array.itemsize))


def take_rows(lines: Any, place: int, weights: Any, low: int, high: int) -> Any:
    """Return the bundle at an offset of an array, with zeros for rows that do not read it."""
    return _read(lines, place, (low <= n < high and w != 0 for n, w in enumerate(weights)))


def take_wanted(lines: Any, place: int, first: int, low: int, high: int, *reads: int) -> Any:
    """Return the bundle at an offset of an array, with zeros for elements that no row reads.

    Parameters
    ----------
    first
        The number of its first element.
    low, high
        The rows that there are, from the first one to before the last one.
    reads
        In turn a distance, and the set of the rows that read the element which is so far from them,
        as an integer that has a bit for each of them.
    """
    there, wanted = _rows_of(low, high), 0
    for distance, rows in zip(reads[::2], reads[1::2], strict=True):
        wanted |= (rows & there) << distance
    count = width(lines.array.itemsize)
    return _read(lines, place, (wanted >> (first + n) & 1 for n in range(count)))


def _read(lines: Any, place: int, read: Iterable[Any]) -> Any:
    """Return a bundle of elements of an array, with zeros for those that are not read."""
    zero = lines.array.dtype.type(0)
    return np.array([ld(lines, place + n) if is_read else zero for n, is_read in enumerate(read)])


def _rows_of(low: int, high: int) -> int:
    """Return the set of rows from a first one to before a last one; there are none before row 0."""
    before, until = (1 << max(low, 0)) - 1, (1 << max(high, 0)) - 1
    return until & ~before


def of_two(left: Any, right: Any, number: int) -> Any:
    """Return the bundle that begins so many numbers behind the left one of two neighbours."""
    return np.concatenate([left[number:], right[:number]])


def put_rows(lines: Any, place: int, value: Any, low: int, high: int) -> None:
    """Store a bundle at an offset of an array, but for rows that are none."""
    for n, number in enumerate(value):
        if low <= n < high:
            st(lines, place + n, number)


def fma_present(weights: Any, x: Any, total: Any) -> Any:
    """Return ``weights * x + total`` rounded once, and the total where a weight is zero."""
    return np.where(weights != 0, fma(weights, x, total), total)


# -- in machine code -------------------------------------------------------------------------------


@type_callable(repeated)
def _type_repeated(context: Any) -> Callable[..., Any]:
    def typer(lines: Any, *numbers: Any) -> Any:
        known = isinstance(lines, types.Array) and set(numbers) == {lines.dtype}
        return Bundle(lines.dtype) if known else None

    return typer


@lower_builtin(repeated, types.Array, types.VarArg(types.Float))
def _lower_repeated(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    _, *numbers = args
    vector = llvm.VectorType(numbers[0].type, signature.return_type.width)
    made = llvm.Constant(vector, llvm.Undefined)
    for place in range(vector.count):
        number = numbers[place % len(numbers)]
        made = builder.insert_element(made, number, HALF(place))
    return made


@type_callable(take_rows)
def _type_take(context: Any) -> Callable[..., Any]:
    def typer(lines: Any, place: Any, weights: Any, low: Any, high: Any) -> Any:
        known = isinstance(lines, types.Array) and weights == Bundle(lines.dtype)
        return weights if known else None

    return typer


@lower_builtin(take_rows, types.Array, types.Integer, Bundle, types.Integer, types.Integer)
def _lower_take(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    lines, place, weights, *ends = args
    data = pointer(context, builder, signature.args[0], lines, place)
    rows = _rows(builder, weights.type.count, *ends)
    return _loaded(builder, weights.type, data, builder.and_(_present(builder, weights), rows))


@type_callable(take_wanted)
def _type_wanted(context: Any) -> Callable[..., Any]:
    def typer(lines: Any, place: Any, first: Any, low: Any, high: Any, *reads: Any) -> Any:
        return Bundle(lines.dtype) if isinstance(lines, types.Array) else None

    return typer


@lower_builtin(take_wanted, types.Array, *(4 * (types.Integer,)), types.VarArg(types.Integer))
def _lower_wanted(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    lines, place, first, low, high, *reads = args
    vector = context.get_value_type(signature.return_type)
    bits = llvm.IntType(WINDOW * vector.count)
    there = _bits_between(builder, bits, low, high)
    wanted = llvm.Constant(bits, 0)
    for distance, rows in zip(reads[::2], reads[1::2], strict=True):
        found = builder.and_(there, _as(builder, rows, bits))
        wanted = builder.or_(wanted, builder.shl(found, _as(builder, distance, bits)))
    lanes = builder.lshr(wanted, _as(builder, first, bits))
    lanes = builder.trunc(lanes, llvm.IntType(vector.count))
    read = builder.bitcast(lanes, llvm.VectorType(llvm.IntType(1), vector.count))
    data = pointer(context, builder, signature.args[0], lines, place)
    return _loaded(builder, vector, data, read)


def _bits_between(builder: Any, bits: Any, low: Any, high: Any) -> Any:
    """Return the set of rows from a first one to before a last one as an integer.

    The last one may come before the first one: there are no rows then.
    """
    most, none, one = WORD(bits.width - 1), WORD(0), bits(1)
    before_each = []
    for end in (low, high):
        end = builder.select(builder.icmp_signed("<", end, most), end, most)
        end = builder.select(builder.icmp_signed(">", end, none), end, none)
        before_each.append(builder.sub(builder.shl(one, _as(builder, end, bits)), one))
    before, until = before_each
    return builder.and_(until, builder.not_(before))


def _as(builder: Any, number: Any, kind: Any) -> Any:
    """Return an integer that is not negative as one with so many bits."""
    return number if number.type == kind else builder.zext(number, kind)


@type_callable(of_two)
def _type_of_two(context: Any) -> Callable[..., Any]:
    def typer(left: Any, right: Any, number: Any) -> Any:
        return left if left == right and isinstance(left, Bundle) else None

    return typer


@lower_builtin(of_two, Bundle, Bundle, types.Integer)
def _lower_of_two(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    left, right, number = args
    count, first = left.type.count, number.constant
    places = llvm.Constant(llvm.VectorType(HALF, count), list(range(first, first + count)))
    return builder.shuffle_vector(left, right, places)


@type_callable(put_rows)
def _type_put(context: Any) -> Callable[..., Any]:
    return lambda lines, place, value, low, high: types.void


@lower_builtin(put_rows, types.Array, types.Integer, Bundle, types.Integer, types.Integer)
def _lower_put(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    lines, place, value, *ends = args
    data = pointer(context, builder, signature.args[0], lines, place)
    rows = _rows(builder, value.type.count, *ends)
    _masked(builder, "store", llvm.VoidType(), value.type, data, [rows], value)
    return context.get_dummy_value()


def _rows(builder: Any, count: int, low: Any, high: Any) -> Any:
    """Return for each row of a bundle whether it is one."""
    vector = llvm.VectorType(WORD, count)
    numbers = llvm.Constant(vector, list(range(count)))
    begun = builder.icmp_signed(">=", numbers, repeat(builder, low, count))
    return builder.and_(begun, builder.icmp_signed("<", numbers, repeat(builder, high, count)))


def _loaded(builder: Any, vector: Any, data: Any, read: Any) -> Any:
    """Return a bundle of elements, with zeros for those that are not read."""
    zeros = llvm.Constant(vector, [0.0] * vector.count)
    return _masked(builder, "load", vector, vector, data, [read, zeros])


def _masked(
    builder: Any, name: str, result: Any, vector: Any, data: Any, rest: Any, *first: Any
) -> Any:
    """Call the intrinsic function of LLVM that loads or stores some rows of a bundle."""
    place = builder.bitcast(data, vector.as_pointer())
    given = [*first, place, HALF(bytes_of(data)), *rest]
    kind = llvm.FunctionType(result, [value.type for value in given])
    whole = f"llvm.masked.{name}.{suffix(vector)}.p0"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, whole), given)


@type_callable(fma_present)
def _type_fma(context: Any) -> Callable[..., Any]:
    def typer(weights: Any, x: Any, total: Any) -> Any:
        return total if weights == x == total and isinstance(total, Bundle) else None

    return typer


@lower_builtin(fma_present, Bundle, Bundle, Bundle)
def _lower_fma(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    weights, _, total = args
    more = intrinsic(builder, "fma", list(args))
    return builder.select(_present(builder, weights), more, total)


def _present(builder: Any, weights: Any) -> Any:
    """Return for each row of a bundle whether its weight is not zero: a constant."""
    zeros = llvm.Constant(weights.type, [0.0] * weights.type.count)
    return builder.fcmp_unordered("!=", weights, zeros)
