"""A base class whose array operators raise errors with a hint."""

from typing import Any, NoReturn

from ssr.errors import UnsupportedError


def _arithmetic(self: Any, *_: Any) -> NoReturn:
    raise UnsupportedError(
        "Fields of ranks have no arithmetic.",
        hint="Write it in a program: @ssr.program(u=space) with u[:] = ... in its body.",
    )


class NoArithmetic:
    """A base class whose operators are errors."""

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = _arithmetic

    def __setitem__(self, points: Any, values: Any) -> NoReturn:
        raise UnsupportedError(
            "Fields of ranks have no item assignment.",
            hint="Write u.fill(lambda j, i: ...) or u.set(array); in a program, u[part] = ....",
        )
