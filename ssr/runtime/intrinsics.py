"""The few operations generated kernels are written in, for Numba and for plain Python.

``ld`` and ``st`` access memory at a flat element offset, without the check for negative indices
that keeps LLVM from vectorising; ``fma`` rounds once; ``minimum``, ``maximum`` and ``sign`` keep
NaN; ``prefetch`` has no effect on results, nor that a range of rows is ``interleaved`` or
``independent``.
Called from plain Python they do the same on arrays wrapped by `Memory`, with bounds checked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from .descriptors import described, member, numbers


class Memory:
    """An array seen as the flat memory from its first to its last element."""

    __slots__ = ("array", "flat")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        steps = [s // array.itemsize for s in array.strides]
        length = 1 + sum((n - 1) * s for n, s in zip(array.shape, steps, strict=True))
        self.flat = np.lib.stride_tricks.as_strided(
            array, (length,), (array.itemsize,), writeable=array.flags.writeable
        )

    def __len__(self) -> int:
        return len(self.flat)


def plain(kernel: Callable[..., int]) -> Callable[..., int]:
    """Return a kernel's source as a function of arrays that runs without Numba."""

    def run(*args: Any) -> int:
        floating = [isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in args]
        with np.errstate(all="ignore"):
            return kernel(*[Memory(a) if f else a for a, f in zip(args, floating, strict=True)])

    return run


def unwritten(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return scratch memory in which reading what was never written shows: NaN, or -1."""
    return np.full(shape, np.nan if np.dtype(dtype).kind == "f" else -1, dtype)


def ld(a: Any, offset: int) -> Any:
    """Return the element at a flat offset."""
    assert 0 <= offset < len(a.flat), f"load at {offset} of {len(a.flat)}"
    return a.flat[offset]


def st(a: Any, offset: int, value: Any) -> None:
    """Store an element at a flat offset."""
    assert 0 <= offset < len(a.flat), f"store at {offset} of {len(a.flat)}"
    a.flat[offset] = value


def prefetch(a: Any, offset: int) -> None:
    """Bring an element near; any offset is allowed."""


def address(a: Any) -> int:
    """Return the address of an array's first element."""
    return int(a.array.ctypes.data)


independent = range
"""Rows of a loop none of which reads or writes what another one writes."""

interleaved = range
"""Rows of a loop of which two vectors are to be computed at a time, their operations in turn."""


def apart(a: Any, count: int) -> bool:
    """Whether an array has this length along its first axis."""
    return len(a.array) == count


def component(a: Any, number: int) -> Any:
    """Return a part of an array: what has this index along its first axis."""
    return Memory(a.array[number])


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numbers that takes bundles too, and gives a bundle then."""

    @functools.wraps(function)
    def on_bundles(*given: Any) -> Any:
        if not any(isinstance(value, np.ndarray) for value in given):
            return function(*given)
        return np.array([function(*numbers) for numbers in np.broadcast(*given)])

    return on_bundles


@each
def fma(a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c`` rounded once.

    >>> fma(np.float64(1 + 2**-30), np.float64(1 - 2**-30), np.float64(-1.0)) == -(2.0**-60)
    np.True_
    """
    kind = type(c)
    if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
        return kind(a * b + c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return kind(a * b + c)
    return nearest(exact, kind)


def nearest(exact: Fraction, kind: Any) -> Any:
    """Return the floating-point number of a type nearest to a fraction, ties to even."""
    try:
        guess = kind(float(exact))
    except OverflowError:
        return kind(np.inf if exact > 0 else -np.inf)
    if not np.isfinite(guess):
        return guess
    around = (np.nextafter(guess, kind(-np.inf)), guess, np.nextafter(guess, kind(np.inf)))
    finite = [g for g in around if np.isfinite(g)]
    integer = np.uint64 if kind is np.float64 else np.uint32

    def distance(g: Any) -> tuple[Fraction, int]:
        return abs(Fraction(float(g)) - exact), int(np.asarray(g).view(integer)) & 1

    return min(finite, key=distance)


def pointer(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> Any:
    """Return the address of the element at a flat offset, in a lowered function."""
    return builder.gep(first(context, builder, kind, array), [offset], inbounds=True)


def first(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of an array's first element, in a lowered function."""
    return member(context, builder, kind, array, "data")


@type_callable(ld)
def _type_ld(context: Any) -> Callable[..., Any]:
    def typer(a: Any, offset: Any) -> Any:
        return a.dtype if isinstance(a, types.Array) else None

    return typer


@lower_builtin(ld, types.Array, types.Integer)
def _lower_ld(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load(pointer(context, builder, signature.args[0], *args))


@type_callable(st)
def _type_st(context: Any) -> Callable[..., Any]:
    def typer(a: Any, offset: Any, value: Any) -> Any:
        return types.void if isinstance(a, types.Array) else None

    return typer


@lower_builtin(st, types.Array, types.Integer, types.Any)
def _lower_st(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, offset, value = args
    kind = signature.args[0]
    value = context.cast(builder, value, signature.args[2], kind.dtype)
    builder.store(value, pointer(context, builder, kind, array, offset))
    return context.get_dummy_value()


@type_callable(prefetch)
def _type_prefetch(context: Any) -> Callable[..., Any]:
    def typer(a: Any, offset: Any) -> Any:
        return types.void if isinstance(a, types.Array) else None

    return typer


@lower_builtin(prefetch, types.Array, types.Integer)
def _lower_prefetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = first(context, builder, signature.args[0], args[0])
    requests(builder, builder.gep(data, [args[1]]))
    return context.get_dummy_value()


def repeat(builder: Any, value: Any, count: int) -> Any:
    """Return a vector of so many times a number in machine code."""
    vector, half = llvm.VectorType(value.type, count), llvm.IntType(32)
    one = builder.insert_element(llvm.Constant(vector, llvm.Undefined), value, half(0))
    places = llvm.Constant(llvm.VectorType(half, count), [0] * count)
    return builder.shuffle_vector(one, llvm.Constant(vector, llvm.Undefined), places)


def requests(builder: Any, pointer: Any, *, soon: bool = False, written: bool = False) -> None:
    """Write a request for the memory at an address, any address, in a lowered function.

    It comes into the second-level cache. A first-level cache has few places for what is under way,
    and what waits for memory there keeps others from coming out of the second one. Only what rows
    access ``soon`` comes into the first-level cache, as a line that is ``written`` if it is.
    """
    pointer = builder.bitcast(pointer, llvm.IntType(8).as_pointer())
    word = llvm.IntType(32)
    function = llvm.FunctionType(llvm.VoidType(), [pointer.type, word, word, word])
    declared = builder.module.globals.get("llvm.prefetch.p0") or llvm.Function(
        builder.module, function, "llvm.prefetch.p0"
    )
    builder.call(declared, [pointer, word(int(soon and written)), word(3 if soon else 2), word(1)])


@type_callable(address)
def _type_address(context: Any) -> Callable[..., Any]:
    def typer(a: Any) -> Any:
        return types.intp if isinstance(a, types.Array) else None

    return typer


@lower_builtin(address, types.Array)
def _lower_address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    data = first(context, builder, signature.args[0], args[0])
    return builder.ptrtoint(data, context.get_value_type(types.intp))


@type_callable(apart)
def _type_apart(context: Any) -> Callable[..., Any]:
    return lambda a, count: types.boolean if isinstance(a, types.Array) else None


@lower_builtin(apart, types.Array, types.Integer)
def _lower_apart(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    length = numbers(context, builder, signature.args[0], args[0], "shape")[0]
    return builder.icmp_signed("==", length, builder.sext(args[1], length.type))


@type_callable(component)
def _type_component(context: Any) -> Callable[..., Any]:
    return lambda a, number: a.copy(ndim=a.ndim - 1) if isinstance(a, types.Array) else None


@lower_builtin(component, types.Array, types.Integer)
def _lower_component(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, (array, number) = signature.args[0], args
    (_, *shape), (step, *strides) = (
        numbers(context, builder, kind, array, name) for name in ("shape", "strides")
    )
    start = first(context, builder, kind, array)
    data = cgutils.pointer_add(builder, start, builder.mul(number, step))
    return described(context, builder, signature.return_type, data, shape, strides)


@type_callable(fma)
def _type_fma(context: Any) -> Callable[..., Any]:
    def typer(a: Any, b: Any, c: Any) -> Any:
        return c if a == b == c and isinstance(c, types.Float) else None

    return typer


@lower_builtin(fma, types.Float, types.Float, types.Float)
def _lower_fma(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.fma(*args)


@each
def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers, NaN if one is NaN, like `numpy.minimum`."""
    return a if a < b or a != a else b


@each
def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, NaN if one is NaN, like `numpy.maximum`."""
    return a if a > b or a != a else b


def chooses(order: str) -> Callable[..., Any]:
    """Return what writes the smaller or the larger of two numbers, or of two vectors of them."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b = args
        chosen = builder.fcmp_ordered(order, a, b)
        return builder.select(builder.or_(chosen, builder.fcmp_unordered("uno", a, a)), a, b)

    return lower


for _function, _order in ((minimum, "<"), (maximum, ">")):
    type_callable(_function)(
        lambda context: lambda a, b: a if a == b and isinstance(a, types.Float) else None
    )
    lower_builtin(_function, types.Float, types.Float)(chooses(_order))


@each
def sign(a: Any) -> Any:
    """Return -1, 0 or 1, NaN of NaN, like `numpy.sign`."""
    kind = type(a)
    return kind(1) if a > 0 else kind(-1) if a < 0 else kind(0) if a == 0 else a


@type_callable(sign)
def _type_sign(context: Any) -> Callable[..., Any]:
    return lambda a: a if isinstance(a, types.Float) else None


@lower_builtin(sign, types.Float)
def writes_sign(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Write the sign of a number, or those of a vector of numbers."""
    (a,) = args
    zero = a.type(0.0)
    result = builder.select(builder.fcmp_ordered("==", a, zero), zero, a)
    result = builder.select(builder.fcmp_ordered("<", a, zero), a.type(-1.0), result)
    return builder.select(builder.fcmp_ordered(">", a, zero), a.type(1.0), result)
