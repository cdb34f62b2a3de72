"""Parts of arrays of one axis, as generated kernels take them out of what a launch hands over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import populate_array

from .intrinsics import Memory


def between(a: Any, start: int, stop: int) -> Any:
    """Return a part of an array of one axis."""
    return a[start:stop] if isinstance(a, np.ndarray) else Memory(a.array[start:stop])


def rows(a: Any, start: int, stop: int, width: int) -> Any:
    """Return a part of an array of one axis as rows of a length."""
    return a[start:stop].reshape(-1, width)


@type_callable(between)
def _type_between(context: Any) -> Callable[..., Any]:
    return lambda a, start, stop: a if isinstance(a, types.Array) else None


@lower_builtin(between, types.Array, types.Integer, types.Integer)
def _lower_between(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, start, stop = args
    whole = context.make_array(signature.args[0])(context, builder, array)
    part = context.make_array(signature.return_type)(context, builder)
    strides = cgutils.unpack_tuple(builder, whole.strides)
    data = builder.gep(whole.data, [start])
    populate_array(part, data, [builder.sub(stop, start)], strides, whole.itemsize, None)
    return part._getvalue()


@type_callable(rows)
def _type_rows(context: Any) -> Callable[..., Any]:
    return lambda a, start, stop, width: a.copy(ndim=2) if isinstance(a, types.Array) else None


@lower_builtin(rows, types.Array, types.Integer, types.Integer, types.Integer)
def _lower_rows(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, start, stop, width = args
    whole = context.make_array(signature.args[0])(context, builder, array)
    part = context.make_array(signature.return_type)(context, builder)
    data = builder.gep(whole.data, [start])
    shape = [builder.sdiv(builder.sub(stop, start), width), width]
    strides = [builder.mul(width, whole.itemsize), whole.itemsize]
    populate_array(part, data, shape, strides, whole.itemsize, None)
    return part._getvalue()
