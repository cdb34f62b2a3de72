"""Parts of arrays of one axis, as generated kernels take them out of what a launch hands over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import lower_builtin, type_callable

from .descriptors import described, itemsize, numbers
from .intrinsics import Memory, first


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
    kind = signature.args[0]
    strides = numbers(context, builder, kind, array, "strides")
    data = builder.gep(first(context, builder, kind, array), [start])
    shape = [builder.sub(stop, start)]
    return described(context, builder, signature.return_type, data, shape, strides)


@type_callable(rows)
def _type_rows(context: Any) -> Callable[..., Any]:
    return lambda a, start, stop, width: a.copy(ndim=2) if isinstance(a, types.Array) else None


@lower_builtin(rows, types.Array, types.Integer, types.Integer, types.Integer)
def _lower_rows(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array, start, stop, width = args
    data = builder.gep(first(context, builder, signature.args[0], array), [start])
    size = width.type(itemsize(signature.args[0]))
    shape = [builder.sdiv(builder.sub(stop, start), width), width]
    strides = [builder.mul(width, size), size]
    return described(context, builder, signature.return_type, data, shape, strides)
