"""What checked kernels are written in: accesses to memory, and rows, that are looked at first.

Like the functions of `intrinsics` they can be called from Python and from kernels. Checked source
that runs as plain Python takes `require` only, since there every access is checked in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import lower_builtin, type_callable

from . import intrinsics
from .descriptors import itemsize, numbers
from .intrinsics import pointer


def ld(a: Any, offset: int) -> Any:
    """Return the element at a flat offset, which must lie in the array."""
    return intrinsics.ld(a, offset)


def st(a: Any, offset: int, value: Any) -> None:
    """Store an element at a flat offset, which must lie in the array."""
    intrinsics.st(a, offset, value)


def require(holds: bool, piece: str, row: tuple[int, ...]) -> None:
    """Fail unless a row that a piece of a statement runs is one of its rows.

    >>> require(False, "row_0 of x", (2, 3))
    Traceback (most recent call last):
      ...
    AssertionError: row_0 of x runs at (2, 3), which is not one of its rows
    """
    if not holds:
        raise AssertionError(
            f"{piece} runs at ({', '.join(map(str, row))}), which is not one of its rows"
        )


@type_callable(ld)
def _type_ld(context: Any) -> Callable[..., Any]:
    return lambda a, offset: a.dtype if isinstance(a, types.Array) else None


@type_callable(st)
def _type_st(context: Any) -> Callable[..., Any]:
    return lambda a, offset, value: types.void if isinstance(a, types.Array) else None


@type_callable(require)
def _type_require(context: Any) -> Callable[..., Any]:
    return lambda holds, piece, row: types.void if isinstance(piece, types.StringLiteral) else None


def _fail(context: Any, builder: Any, wrong: Any, message: str) -> None:
    """Raise an exception where a condition holds."""
    with builder.if_then(wrong, likely=False):
        text = f"{message}; Program.run_plain shows where"
        context.call_conv.return_user_exc(builder, AssertionError, (text,))


def _inside(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> None:
    """Raise an exception if an offset lies outside an array."""
    size = context.get_constant(types.intp, itemsize(kind))
    one, last = size.type(1), size.type(0)
    shape, strides = (numbers(context, builder, kind, array, name) for name in ("shape", "strides"))
    for n, step in zip(shape, strides, strict=True):
        last = builder.add(last, builder.mul(builder.sub(n, one), step))
    outside = builder.or_(
        builder.icmp_signed("<", offset, offset.type(0)),
        builder.icmp_signed(">", builder.mul(offset, size), last),
    )
    _fail(context, builder, outside, "a kernel reaches outside an array")


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


@lower_builtin(require, types.Boolean, types.StringLiteral, types.BaseTuple)
def _lower_require(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    piece = signature.args[1].literal_value
    _fail(context, builder, builder.not_(args[0]), f"{piece} runs a row that is not its own")
    return context.get_dummy_value()
