"""Translate the operations of programs to expressions of kernel IR."""

from __future__ import annotations

from collections.abc import Sequence

from ..elementary import FUNCTIONS
from . import ir as kernel

_INFIX: dict[str, kernel.Infix] = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|",
}  # fmt: skip
_RELATIONS: dict[str, kernel.Relation] = {
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_CALL = {
    "abs": "abs", "sign": "sign", "pow": "np.power", "min": "minimum", "max": "maximum",
    **{function.name: function.printed for function in FUNCTIONS.values()},
}  # fmt: skip


def operation(name: str, operands: Sequence[kernel.Expression]) -> kernel.Expression:
    """Return an operation on operands.

    >>> operation("min", [kernel.Name("s1"), kernel.Name("s2")])
    Call(function='minimum', arguments=(Name(name='s1'), Name(name='s2')))
    """
    if name == "neg":
        return kernel.Negative(*operands)
    if name == "not":
        return kernel.Not(*operands)
    if name == "where":
        return kernel.Select(*operands)
    if name in _INFIX:
        return kernel.Binary(_INFIX[name], *operands)
    if name in _RELATIONS:
        return kernel.Compare(_RELATIONS[name], *operands)
    return kernel.Call(_CALL[name], tuple(operands))
