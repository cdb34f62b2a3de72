"""Bind the data of matrices: numbers and arrays, or the symbols of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..algebra.matrix_data import MatrixData
from ..errors import ArgumentError, DtypeError, ShapeError, SpaceError
from ..points.numbers import integer
from ..run.check_arrays import number_of
from ..spaces.distributed import as_data, is_data
from ..spaces.space import Space
from ..symbols.index import Index
from ..symbols.values import Value, node
from ..trace.trace import ScalarType
from .expression import Expression
from .vectors import apart


def bind(matrix: MatrixData, data: Mapping[str, Any]) -> MatrixData:
    """Return a matrix with values for its data; errors are those of `Matrix.bind`."""
    known = set(matrix.data) | set(matrix.sizes)
    values = apart({name: as_data(value) for name, value in data.items()}, matrix.data)
    for name, value in values.items():
        if name not in known:
            raise ArgumentError(
                f"{matrix.name} has no data named {name!r}.",
                hint=f"It has {', '.join(sorted(known)) or 'none'}.",
            )
        values[name] = _checked(name, matrix.data.get(name), value)
    return replace(matrix, bound=MappingProxyType({**matrix.bound, **values}))


def _checked(name: str, kind: Space | ScalarType | None, value: Any) -> Any:
    if kind is None:
        size = integer(value)
        if size is None or size < 1:
            raise ShapeError(f"Size {name!r} must be a positive integer, not {value!r}.")
        return size
    if isinstance(kind, Space):
        if isinstance(value, Expression):
            if value.space != kind:
                raise SpaceError(f"Field {name!r} is on {kind!r}, not on {value.space!r}.")
            return value
        if not is_data(value):
            raise DtypeError(f"Field {name!r} is bound to {type(value).__name__}, not an array.")
        if len(value.shape) != kind.ndim:
            axes = len(value.shape)
            raise ShapeError(f"Field {name!r} has {axes} axes; its space has {kind.ndim}.")
        return value
    if isinstance(value, Value):
        return value
    if isinstance(value, Index):
        return Value(node(value))
    return number_of(name, value)
