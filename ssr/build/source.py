"""The source of generated functions, as trees."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType
from typing import Any

from numba import types


@lru_cache(maxsize=8)
def _functions(text: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module by name."""
    nodes = statements(ast.parse(text))
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def source_of(function: FunctionType) -> ast.FunctionDef:
    """Return the source of a function as a tree."""
    lines = linecache.getlines(function.__code__.co_filename)
    return _functions("".join(lines))[function.__code__.co_name]


def result_of(function: FunctionType) -> Any:
    """Return the type of what a function returns, as Numba names it: an integer, or nothing."""
    returns = (n for n in statements(source_of(function)) if isinstance(n, ast.Return))
    return types.intp if any(node.value is not None for node in returns) else types.none


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements in the blocks of a module, a function or a statement."""
    for block in ("body", "orelse"):
        for one in getattr(node, block, ()):
            yield one
            yield from statements(one)
