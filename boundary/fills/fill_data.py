"""The data of a ghost fill: rules, spaces, and bound values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError
from ssr.extension import Expression, is_distributed

from ..closure.ruled import Ruled
from ..rules.given import OnSpace


@dataclass(frozen=True, slots=True)
class FillData:
    """The data of a fill.

    Attributes
    ----------
    wide, owned
        The points of the blocks of each kind, with and without ghosts.
    several
        Whether the fill is applied to tuples with one field for each kind of blocks.
    components
        The number of components of fields; None for fields of numbers.
    ruled, declared
        The rules with the bound values that tables hold, and the rules without values.
    """

    wide: tuple[Space, ...]
    owned: tuple[Space, ...]
    several: bool
    components: int | None
    ruled: Ruled
    declared: Ruled
    bound: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    narrow: bool = True
    join: bool = True
    once: bool = True

    def kind(self, name: str) -> Any:
        """Return the number, array, function or field bound to a parameter.

        It is None for scalars that programs take, and for parameters that are not bound.
        """
        value = self.bound.get(name)
        if value is None:
            return None
        if isinstance(value, Expression) or is_distributed(value):
            return OnSpace(name, value.space)
        if callable(value):
            return value
        if isinstance(value, np.ndarray) and value.ndim:
            whole = value.ndim == self.wide[0].ndim
            return OnSpace(name, None, _checked(name, value)) if whole else value
        if name in self.declared.parameters and name not in self.declared.weighing:
            return None
        return value if not isinstance(value, ssr.Value) else None


def bound(data: FillData, values: Mapping[str, Any]) -> FillData:
    """Return the data of a fill with values for its parameters and sizes."""
    new = replace(data, bound=MappingProxyType(dict(values)))
    kinds = {name: new.kind(name) for name in data.declared.missing}
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    _check_spacings(new)
    if not known:
        return replace(new, ruled=data.declared)
    if _same(data, known):
        return new
    rules = [rule.resolved(known) for rule in data.declared.rules]
    ruled = Ruled.of(data.declared.frame, rules)
    ruled.check(data.components)
    return replace(new, ruled=ruled)


def _check_spacings(data: FillData) -> None:
    """Refuse spacings that are numbers and not positive."""
    for rule in data.declared.rules:
        for name in rule.spacings & data.bound.keys():
            value = data.bound[name]
            if isinstance(value, Real) and not float(value) > 0:
                raise ArgumentError(f"{rule.text}: the spacing {name} is {value!r}, not positive.")


def _same(data: FillData, known: Mapping[str, Any]) -> bool:
    """Whether the rules hold the same fields of a program already, and nothing else."""
    fields = data.ruled.fields
    return known.keys() == fields.keys() and all(
        isinstance(kind, OnSpace) and kind.array is None and kind.space == fields[name].space
        for name, kind in known.items()
    )


def _checked(name: str, array: Any) -> Any:
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ArgumentError(f"The array for {name!r} does not hold finite real numbers.")
    return np.array(array, np.float64)
