"""Operations as they are written in the source of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|",
}  # fmt: skip
_CALL = {
    "abs": "abs", "sign": "sign", "sqrt": "np.sqrt", "exp": "np.exp", "log": "np.log",
    "sin": "np.sin", "cos": "np.cos", "tan": "np.tan", "tanh": "np.tanh", "pow": "np.power",
    "arctan2": "np.arctan2", "min": "minimum", "max": "maximum",
}  # fmt: skip


def operation_text(name: str, operands: Sequence[str]) -> str:
    """Return the source of an operation.

    >>> operation_text("add", ["s1", "s2"]), operation_text("min", ["s1", "s2"])
    ('(s1 + s2)', 'minimum(s1, s2)')
    """
    if name == "neg":
        return f"(-{operands[0]})"
    if name == "not":
        return f"(not {operands[0]})"
    if name == "where":
        return f"({operands[1]} if {operands[0]} else {operands[2]})"
    if name in _INFIX:
        return f"({operands[0]} {_INFIX[name]} {operands[1]})"
    return f"{_CALL[name]}({', '.join(operands)})"
