"""Errors with a remedy for operations of arrays that fields do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import ssr
from ssr.errors import UnsupportedError

GATHER = (
    "u.gather() returns the whole as an array on all ranks, u.parts() yields the boxes of this "
    "process."
)


def _refused(message: str, hint: str) -> Callable[..., NoReturn]:
    """Return a method that raises an error."""

    def refused(self: Any, *_: Any, **__: Any) -> NoReturn:
        """Raise an error that names the operation of programs to use instead."""
        raise UnsupportedError(message, hint=hint)

    return refused


def _reduction(name: str) -> Callable[..., NoReturn]:
    """Return a method in place of a reduction of arrays."""
    compiled = {"sum": "u", "max": "u", "min": "u", "dot": "u, v"}
    if name in compiled:
        hint = f"In a program, write `return ssr.{name}({compiled[name]})`."
    elif name == "mean":
        hint = "In a program, write `return ssr.sum(u)`, and divide the result by u.size."
    else:
        hint = (
            f"Write u.gather().{name}(); programs have ssr.sum, ssr.max, ssr.min, ssr.dot and "
            "ssr.norm."
        )
    return _refused(f"Fields of ranks have no method {name!r}.", hint)


_arithmetic = _refused(
    "Fields of ranks have no arithmetic.",
    "Write it in a program: @ssr.program(u=space) with u[:] = ... in its body.",
)
_comparison = _refused(
    "Fields of ranks are not compared by operators.",
    "Write np.array_equal(u.gather(), v.gather()), which all ranks call, or `u is v`.",
)
_number = _refused(
    "A field of ranks is not a number.",
    "Return a number from a program, as in `return ssr.max(u)`.",
)


class NoArrayOperations:
    """A base class whose operators, NumPy functions and reductions are errors."""

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _arithmetic
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = _arithmetic
    __neg__ = __pos__ = __abs__ = _refuse_product = _arithmetic

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _comparison
    __hash__ = object.__hash__

    __float__ = __int__ = __complex__ = _number
    __bool__ = _refused(
        "A field of ranks has no truth value.",
        "Write `u is None`, or test a number that a program returns, such as ssr.max(u).",
    )

    __getitem__ = _refused("Fields of ranks have no items.", f"{GATHER} Both take no index.")
    __iter__ = _refused("Fields of ranks are not iterable.", GATHER)
    __len__ = _refused("Fields of ranks have no length.", "Use u.shape or u.size.")

    sum, max, min = _reduction("sum"), _reduction("max"), _reduction("min")
    mean, std, var = _reduction("mean"), _reduction("std"), _reduction("var")
    dot, prod, all = _reduction("dot"), _reduction("prod"), _reduction("all")
    any, argmax, argmin = _reduction("any"), _reduction("argmax"), _reduction("argmin")

    def __setitem__(self, points: Any, values: Any) -> NoReturn:
        raise UnsupportedError(
            "Fields of ranks have no item assignment.",
            hint="Write u.fill(lambda j, i: ...) or u.set(array); in a program, u[part] = ....",
        )

    def __array_ufunc__(self, function: Any, method: str, *_: Any, **__: Any) -> NoReturn:
        name = function.__name__
        if method == "__call__" and name in ssr.__all__:
            hint = f"Write it in a program, with ssr.{name}."
        else:
            hint = GATHER
        raise UnsupportedError(f"np.{name} does not apply to fields of ranks.", hint=hint)
