"""Capture functions with the current values of their globals and closure variables.

A matrix runs its generator at the definition, and runs it again as a reference implementation on
integers. The second run must read the same values of globals and of variables of enclosing
functions as the first one, so it uses a copy of the function captured before the first run.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ..errors import LIBRARIES


def captured(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads the values which its globals and closures have now.

    Numbers, containers and arrays are copied, as are the functions that it reads, with their
    globals and closures, and attributes of the user's modules that are read by name. Other
    objects are shared with the caller, including modules and globals of libraries.

    Examples
    --------
    >>> def steps(dt):
    ...     return lambda: dt[0]
    >>> dt = [0.5]
    >>> step = steps(dt)
    >>> kept = captured(step)
    >>> dt[0] = 0.25
    >>> step(), kept()
    (0.25, 0.5)
    """
    made: Callable[..., Any] = _copied(function, frozenset(), {})
    return made


def _copied(value: Any, names: frozenset[str], known: dict[int, tuple[Any, Any]]) -> Any:
    """Return a value that does not change."""
    if id(value) in known:
        return known[id(value)][1]
    match value:
        case FunctionType():
            return _function(value, known)
        case MethodType():
            made: Any = MethodType(_copied(value.__func__, names, known), value.__self__)
        case functools.partial() if type(value) is functools.partial:
            args, named = _copied((value.args, value.keywords), names, known)
            made = functools.partial(_copied(value.func, names, known), *args, **named)
        case ModuleType() if not _in_library(value.__name__):
            made = SimpleNamespace()
            known[id(value)] = value, made
            read = [n for n in sorted(names) if hasattr(value, n)]
            vars(made).update({n: _copied(getattr(value, n), names, known) for n in read})
        case np.ndarray():
            made = value.copy()
        case list() | set() | tuple() | dict() if type(value) in (list, set, tuple, dict):
            made = _container(value, names, known)
        case SimpleNamespace():
            made = SimpleNamespace(**_container(vars(value), names, known))
        case _:
            return value
    return known.setdefault(id(value), (value, made))[1]


def _container(value: Any, names: frozenset[str], known: dict[int, tuple[Any, Any]]) -> Any:
    """Return a copy of a container and of its items."""
    if isinstance(value, dict):
        return {key: _copied(item, names, known) for key, item in value.items()}
    return type(value)(_copied(item, names, known) for item in value)


def _function(function: FunctionType, known: dict[int, tuple[Any, Any]]) -> FunctionType:
    """Return a function whose globals and cells hold copies."""
    code = function.__code__
    names = frozenset(_names(code))
    around = function.__globals__
    scope = around if _in_library(str(around.get("__name__", ""))) else {}
    cells = tuple(CellType() for _ in function.__closure__ or ())
    made = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    known[id(function)] = function, made
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__dict__.update(function.__dict__)
    if scope is not around:
        scope |= {n: around[n] for n in ("__name__", "__builtins__") if n in around}
        scope |= {n: _copied(around[n], names, known) for n in sorted(names & around.keys())}
    for cell, own in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = _copied(own.cell_contents, names, known)
        except ValueError:  # the variable is not assigned yet
            continue
    return made


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a function and in those inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _in_library(module: str) -> bool:
    """Whether a module is Python's own, or a library's whose values do not change."""
    top = module.partition(".")[0]
    return top in LIBRARIES or (top in sys.stdlib_module_names and top != "__main__")
