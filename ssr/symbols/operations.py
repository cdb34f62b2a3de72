"""Operations on values: their semantics in NumPy, and the subset of conditions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elementary import FUNCTIONS
from ..points.affine import AXES
from . import nodes

FOLD: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide,
    "pow": np.power, "neg": np.negative, "abs": np.absolute, "sign": np.sign,
    **{function.name: function.compute for function in FUNCTIONS.values()},
    "min": np.minimum, "max": np.maximum, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "where": np.where,
}  # fmt: skip
"""The implementation of each operation on numbers."""

CONDITIONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"})
"""Operations with boolean results."""

LOGICAL = frozenset({"and", "or", "not"})
"""Operations on conditions."""

_INDICES = frozenset(axis for axes in AXES.values() for axis in axes)
"""The names of the indices of rows."""


def fold(name: str, *args: float) -> float:
    """Return an operation on numbers, with NumPy's infinities and NaN and without its warnings."""
    with np.errstate(all="ignore"):
        return float(FOLD[name](*args))


def known_early(value: nodes.Value) -> bool:
    """Whether a value contains only indices, sizes and constants."""
    return not any(isinstance(part, (nodes.Load, nodes.Scalar)) for part in nodes.walk(value))


def is_condition(value: nodes.Value) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, nodes.Op) and value.name in CONDITIONS


def of_scalars(value: nodes.Value) -> bool:
    """Whether a value is an expression of scalars, sizes and numbers alone."""
    return all(map(_is_scalar, nodes.walk(value)))


def _is_scalar(part: nodes.Value) -> bool:
    if isinstance(part, nodes.Coordinate):
        return _INDICES.isdisjoint(part.index.names())
    return isinstance(part, (nodes.Const, nodes.Scalar, nodes.Op))
