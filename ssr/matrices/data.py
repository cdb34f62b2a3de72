"""The data of matrices: values that are bound to them, and names that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import ir
from ..algebra.definition import Parts
from ..algebra.oracle import Points, data_of, need, number, renamed
from ..errors import ArgumentError, DtypeError, ShapeError, SpaceError, UnboundError
from ..points.numbers import integer
from ..programs.expression import Expression
from ..programs.vectors import apart, stem
from ..run.check_arrays import number_of
from ..spaces.space import Space
from ..symbols.index import Index
from ..symbols.operations import known_early
from ..symbols.values import Value, node
from ..trace.trace import ScalarType


def bind(parts: Parts, data: Mapping[str, Any]) -> Parts:
    """Return the parts of a matrix with values for its data; errors are those of `Matrix.bind`."""
    known = set(parts.data) | set(parts.sizes)
    values = apart(data, parts.data)
    for name, value in values.items():
        if name not in known:
            raise ArgumentError(
                f"{parts.name} has no data named {name!r}.",
                hint=f"It has {', '.join(sorted(known)) or 'none'}.",
            )
        values[name] = _checked(name, parts.data.get(name), value)
    return replace(parts, bound=MappingProxyType({**parts.bound, **values}))


def _checked(name: str, kind: Space | ScalarType | None, value: Any) -> Any:
    if kind is None:
        size = integer(value)
        if size is None or size < 1:
            raise ShapeError(f"Size {name!r} is a positive integer, not {value!r}.")
        return size
    if isinstance(kind, Space):
        if isinstance(value, Expression):
            if value.space != kind:
                raise SpaceError(f"Field {name!r} is on {kind!r}, not on {value.space!r}.")
            return value
        if not isinstance(value, np.ndarray):
            raise DtypeError(f"Field {name!r} is bound to {type(value).__name__}, not an array.")
        if value.ndim != kind.ndim:
            raise ShapeError(f"Field {name!r} has {value.ndim} axes; its space has {kind.ndim}.")
        return value
    if isinstance(value, Value):
        return value
    if isinstance(value, Index):
        return Value(node(value))
    return number_of(name, value)


def values_of(parts: Parts, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of all data that the definition of a matrix takes, for given sizes.

    Raises
    ------
    UnboundError
        If one has no value, or is a symbol of a program.
    ShapeError
        If an array does not fit its space.
    """
    names = tuple(n for n in parts.data if n in data_of(parts.origin))
    need(names, parts.bound, "data")
    values: dict[str, Any] = {}
    for name in names:
        kind = parts.data[name]
        value = parts.bound[name]
        if isinstance(value, Value) and known_early(value.node):
            value = number(value, sizes)
        if isinstance(value, (Value, Expression)):
            raise UnboundError(f"Data {name!r} is bound to a symbol of a program.")
        if isinstance(kind, Space):
            if value.shape != kind.extent(sizes):
                raise ShapeError(
                    f"Field {name!r} has shape {value.shape}; its space has {kind.extent(sizes)}."
                )
            value = Points(value, kind, sizes)
        values[name] = value
    return values


def same(a: Any, b: Any) -> bool:
    """Whether two values of data are one: equal numbers, or an array, or views of its elements."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.__array_interface__ == b.__array_interface__
    return a is b or (isinstance(a, (int, float)) and a == b)


def renamed_apart(parts: Parts, other: Parts) -> Parts:
    """Return the parts with data renamed where ``other`` means something else by a name."""
    taken = {stem(n) for n in (*other.data, *parts.data)}
    names: dict[str, str] = {}
    for name, kind in parts.data.items():
        if name not in other.data or name in names:
            continue
        if other.data[name] != kind or not same(other.bound.get(name), parts.bound.get(name)):
            old = stem(name)
            new = ir.fresh(old, taken)
            taken.add(new)
            names |= {n: new + n[len(old) :] for n in parts.data if stem(n) == old}
    return _renamed(parts, names) if names else parts


def _renamed(parts: Parts, names: Mapping[str, str]) -> Parts:
    def change(value: ir.Value) -> ir.Value | None:
        match value:
            case ir.Scalar(name) if name in names:
                return ir.Scalar(names[name])
            case ir.Load(array, index) if array in names:
                return ir.Load(names[array], index)
        return None

    return replace(
        parts,
        families=tuple(replace(f, value=ir.rewrite(f.value, change)) for f in parts.families),
        origin=renamed(parts.origin, names),
        data={names.get(n, n): kind for n, kind in parts.data.items()},
        bound={names.get(n, n): value for n, value in parts.bound.items()},
        paths=(),
    )
