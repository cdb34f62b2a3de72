"""Limits of the effort of set operations, counted in isl's own operations.

The count is the same on all machines, and so is the fallback when a limit is reached. The limit
applies to all isl calls of the process, so only one thread at a time uses isl.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isgeneratorfunction
from threading import RLock
from types import FunctionType
from typing import Any, TypeVar

import islpy as isl

from .. import forking

_CONTEXT = isl.DEFAULT_CONTEXT

_TURN = RLock()
"""The lock of the thread that uses isl."""

forking.hold(_TURN)

EFFORT = 3_000_000
"""Default limit of isl operations of an attempt: about a second."""

Made = TypeVar("Made")
Kind = TypeVar("Kind", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


def in_turn(function: Function) -> Function:
    """Return a wrapper that serializes a function's use of isl between threads.

    A generator is exhausted when it is called.
    """
    listed = isgeneratorfunction(function)

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        with _TURN:
            return iter(list(function(*args, **named))) if listed else function(*args, **named)

    return called  # type: ignore[return-value]


def each_in_turn(kind: Kind) -> Kind:
    """Return a class with its methods and properties wrapped by `in_turn`.

    Special methods that only compare texts or store their arguments do not use isl. A method that
    fails with an error of isl is tried `_once_more`.
    """
    for name, member in list(vars(kind).items()):
        if name.startswith("__") and name not in ("__and__", "__or__", "__sub__", "__le__"):
            continue
        if isinstance(member, FunctionType):
            setattr(kind, name, in_turn(_once_more(member, kind)))
        elif isinstance(member, staticmethod):
            setattr(kind, name, staticmethod(in_turn(_once_more(member.__func__, kind))))
        elif isinstance(member, property) and member.fget is not None:
            made = in_turn(_once_more(member.fget, kind))
            setattr(kind, name, property(made, doc=member.__doc__))
    return kind


def _once_more(function: Function, kind: Any) -> Function:
    """Return a function that is tried again, with sets read from their texts, if isl fails.

    Now and then isl fails at an operation on a set with many quotients (``Assertion "i >= 0"
    failed`` in its tableaus), by the form in which the set is kept and not by its points.
    """
    if isgeneratorfunction(function):
        return function

    def read(value: Any) -> Any:
        if type(value) in (tuple, list):
            return type(value)(map(read, value))
        return value.read_again() if isinstance(value, kind) else value

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        except isl.Error:
            if _given_up() or function.__name__ == "read_again":
                raise
        return function(*map(read, args), **{name: read(value) for name, value in named.items()})

    return called  # type: ignore[return-value]


def _given_up() -> bool:
    """Whether isl has used up its operations. Some functions give no error then, but no text."""
    try:
        isl.Val.int_from_si(_CONTEXT, 0)
    except isl.Error:
        return True
    return False


@in_turn
def attempted(make: Callable[[], Made], most: int = EFFORT) -> Made | None:
    """Return the result of a function; None if isl needs more operations for it.

    A nested attempt has no separate bound; it is aborted with the outer one. Meanwhile isl must
    not call Python functions, because its binding drops their errors.

    >>> from .sets import Domain
    >>> odd = Domain.where(("i",), "i mod 2 = 1")
    >>> attempted(lambda: odd - Domain.where(("i",), "0 <= i < n", ("n",)), most=10) is None
    True
    """
    if _CONTEXT.get_max_operations():
        return make()
    _CONTEXT.reset_operations()
    _CONTEXT.set_max_operations(most)
    try:
        made = make()
    except Exception:
        if _given_up():
            return None
        raise
    else:
        return None if _given_up() else made
    finally:
        _CONTEXT.set_max_operations(0)
        _CONTEXT.reset_operations()
