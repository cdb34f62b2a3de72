"""The debug build: kernels that check each access to memory, and what each statement made.

Its source differs from that of other kernels in the functions it imports and in a look at the
target after each statement. It is compiled without the promise that arrays do not overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from .. import ir
from ..errors import NonFiniteError, Span
from ..runtime import intrinsics
from ..runtime.intrinsics import pointer

BAD = 3
"""The first of the numbers a kernel returns where a statement made an infinity or NaN."""


def ld(a: Any, offset: int) -> Any:
    """Return the element at a flat offset, which must lie in the array."""
    return intrinsics.ld(a, offset)


def st(a: Any, offset: int, value: Any) -> None:
    """Store an element at a flat offset, which must lie in the array."""
    intrinsics.st(a, offset, value)


def unfit(a: Any) -> int:
    """Return the number, in C order, of the first element that is infinite or NaN; -1 if none.

    >>> unfit(intrinsics.Memory(np.array([[1.0, 2.0], [np.inf, np.nan]])))
    2
    """
    found = np.flatnonzero(~np.isfinite(a.array))
    return int(found[0]) if len(found) else -1


def verdict(look: int, looks: int, bad: str = "0") -> str:
    """Return the source of what a kernel returns where a look at a target found a bad element."""
    return f"{BAD + look} + {looks} * {bad}"


@type_callable(ld)
def _type_ld(context: Any) -> Callable[..., Any]:
    return lambda a, offset: a.dtype if isinstance(a, types.Array) else None


@type_callable(st)
def _type_st(context: Any) -> Callable[..., Any]:
    return lambda a, offset, value: types.void if isinstance(a, types.Array) else None


@type_callable(unfit)
def _type_unfit(context: Any) -> Callable[..., Any]:
    return lambda a: types.intp if isinstance(a, types.Array) else None


def _inside(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> None:
    """Raise an exception if an offset lies outside an array."""
    made = context.make_array(kind)(context, builder, array)
    size = context.get_constant(
        types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype))
    )
    one, last = size.type(1), size.type(0)
    for n, step in zip(
        cgutils.unpack_tuple(builder, made.shape),
        cgutils.unpack_tuple(builder, made.strides),
        strict=True,
    ):
        last = builder.add(last, builder.mul(builder.sub(n, one), step))
    outside = builder.or_(
        builder.icmp_signed("<", offset, offset.type(0)),
        builder.icmp_signed(">", builder.mul(offset, size), last),
    )
    with builder.if_then(outside, likely=False):
        message = "a kernel reaches outside an array; Program.run_plain shows where"
        context.call_conv.return_user_exc(builder, AssertionError, (message,))


@lower_builtin(ld, types.Array, types.Integer)
def _lower_ld(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind, integer = signature.args
    place = context.cast(builder, args[1], integer, types.intp)
    _inside(context, builder, kind, args[0], place)
    return builder.load(pointer(context, builder, kind, args[0], place))


@lower_builtin(st, types.Array, types.Integer, types.Any)
def _lower_st(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, offset, value = args
    kind = signature.args[0]
    _inside(context, builder, kind, array, offset)
    value = context.cast(builder, value, signature.args[2], kind.dtype)
    builder.store(value, pointer(context, builder, kind, array, offset))
    return context.get_dummy_value()


@lower_builtin(unfit, types.Array)
def _lower_unfit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    made = context.make_array(signature.args[0])(context, builder, args[0])
    shape = cgutils.unpack_tuple(builder, made.shape)
    strides = cgutils.unpack_tuple(builder, made.strides)
    count = context.get_constant(types.intp, 1)
    for n in shape:
        count = builder.mul(count, n)
    found = cgutils.alloca_once_value(builder, context.get_constant(types.intp, -1))
    base = builder.ptrtoint(made.data, count.type)
    with cgutils.for_range(builder, count) as loop:
        rest, place = loop.index, base
        for n, step in zip(reversed(shape), reversed(strides), strict=True):
            place = builder.add(place, builder.mul(builder.srem(rest, n), step))
            rest = builder.sdiv(rest, n)
        value = builder.load(builder.inttoptr(place, made.data.type))
        zero = builder.fsub(value, value)
        with builder.if_then(builder.fcmp_unordered("uno", zero, zero), likely=False):
            builder.store(loop.index, found)
            loop.do_break()
    return builder.load(found)


def watched(
    run: Callable[..., int],
    program: ir.Program,
    meta: Mapping[str, Any],
    places: Sequence[Span | None],
) -> Callable[..., int]:
    """Return a kernel of the debug build that raises an error of ours when it finds a bad value.

    Parameters
    ----------
    run
        The kernel.
    program, meta
        What it computes, and its layout.
    places
        Where the user wrote the program's steps, those that are no calls.
    """
    names = [*meta["fields"], *meta["temporaries"]]
    steps = [step for step in program.steps if not isinstance(step, ir.Call)]
    made = [ir.made(step) for step in steps]
    read = {n for s in steps for value in ir.values(s) for n in ir.arrays(value)}

    def call(*args: Any) -> int:
        arrays = dict(zip(names, args, strict=False))
        given = [note for n in meta["fields"] if n in read for note in _held(n, program, arrays[n])]
        code = run(*args)
        if code < BAD:
            return code
        bad, look = divmod(code - BAD, len(meta["looks"]))
        nest, target = meta["looks"][look]
        step = _step_of(nest, made, meta)
        name = target if target in made[step] else made[step][0]
        where, value = "", "an infinity or nan"
        if target in arrays:
            place = np.unravel_index(bad, arrays[target].shape)
            value = str(arrays[target][place])
            first, *_ = ir.parts(steps[step])
            made_here = program.field(name) if target == name else program.rows(first)
            where = f" at {_point(place, made_here.lower)}"
        raise NonFiniteError(
            f"The program {program.name} makes {value} in {name}{where}.",
            span=places[step],
            note="; ".join(given) or None,
        )

    return call


def _held(name: str, program: ir.Program, array: Any) -> list[str]:
    """Return a note on a bad value that an array holds before the call."""
    found = unfit(intrinsics.Memory(array))
    if found < 0:
        return []
    place = np.unravel_index(found, array.shape)
    where = _point(place, program.field(name).lower)
    return [f"{name} held {array[place]} at {where} when the program was called"]


def _point(place: Sequence[Any], lower: Sequence[int]) -> str:
    return f"({', '.join(str(int(p) + low) for p, low in zip(place, lower, strict=True))})"


def _step_of(nest: int, made: Sequence[Sequence[str]], meta: Mapping[str, Any]) -> int:
    """Return the number of the step that a nest runs; one into a temporary belongs to the next."""
    step = 0
    for earlier in meta["nests"][:nest]:
        step += made[step][0] == earlier["target"]
    return step
