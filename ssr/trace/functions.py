"""Validate the callables that define programs and matrices, and inspect their signatures."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..symbols.names import check_length


def declared_function(decorator: str, wanted: str, function: Any) -> Callable[..., Any]:
    """Return a callable as one that has a name and a signature.

    Partial functions and objects with a method ``__call__`` become functions that call them.
    """
    if inspect.isclass(function) or not callable(function):
        kind = "the class " if inspect.isclass(function) else ""
        shown = function.__name__ if inspect.isclass(function) else repr(function)
        raise ArgumentError(f"{decorator} decorates {wanted}, not {kind}{shown}.")
    name = name_of(function)
    check_length("function", name)
    _check_kind(decorator, wanted, function, name)
    if (
        isinstance(function, (FunctionType, MethodType))
        or getattr(function, "__name__", None) == name
    ):
        taken: Callable[..., Any] = function
        return taken
    inner = function if isinstance(function, functools.partial) else function.__call__

    @functools.wraps(inner, assigned=("__doc__",), updated=())
    def called(*args: Any, **named: Any) -> Any:
        return inner(*args, **named)

    called.__name__ = called.__qualname__ = name
    return called


def name_of(function: Any) -> str:
    """Return the name by which messages call a callable.

    >>> name_of(functools.partial(sorted, reverse=True)), name_of(functools.partial)
    ('sorted', 'partial')
    """
    name = getattr(function, "__name__", None)
    if isinstance(name, str):
        return name
    if isinstance(function, functools.partial):
        return name_of(function.func)
    return type(function).__name__


def is_async(function: Any) -> bool:
    """Whether calls of a function return coroutines or asynchronous generators."""
    return any(
        inspect.iscoroutinefunction(part) or inspect.isasyncgenfunction(part)
        for part in (function, getattr(function, "__call__", None))  # noqa: B004
    )


def _check_kind(decorator: str, wanted: str, function: Any, name: str) -> None:
    """Raise an error for callables that cannot be run with symbols."""
    if is_async(function):
        raise ArgumentError(
            f"{name} is an async function; {decorator} decorates {wanted}.",
            hint="Write def instead of async def.",
        )
    compiled = hasattr(function, "py_func")
    if compiled or isinstance(function, (BuiltinFunctionType, np.ufunc, np.vectorize)):
        raise ArgumentError(
            f"{name} is not a Python function; {decorator} decorates {wanted}, "
            "which is run with symbols.",
            hint=f"Give the function that was compiled, {name}.py_func." if compiled else None,
        )
    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"The parameters of {name} are not known, since it has no signature.",
            hint=f"Write {wanted} that calls it.",
        ) from None


def positional(function: Callable[..., Any]) -> tuple[list[inspect.Parameter], bool]:
    """Return the positional parameters of a function, and whether it takes any number more."""
    found = inspect.signature(function).parameters.values()
    named = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return named, any(p.kind is p.VAR_POSITIONAL for p in found)


def keywords(function: Callable[..., Any], declared: Any) -> list[str]:
    """Return the keyword-only parameters that are declared, or have no default value."""
    found = inspect.signature(function).parameters.values()
    return [
        p.name
        for p in found
        if p.kind is p.KEYWORD_ONLY and (p.name in declared or p.default is p.empty)
    ]
