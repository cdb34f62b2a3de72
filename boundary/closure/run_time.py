"""Ghost rows with coefficients from the program, which are evaluated at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ssr.extension import ir

from ..rules.evaluate import is_live
from ..rules.rows.affine_rows import Entry, Row, Undefined
from .closure import Closure

MIXED = Undefined(
    "coefficients that a program gives meet tables of bc.interpolate or matrices of "
    "bc.transform_vector"
)


def is_live_row(row: Row, data: Mapping[str, Any]) -> bool:
    """Whether a row is computed when a program runs, not when its tables are assembled."""
    return any(is_live(e.weight, data, weight=True) for e in row.entries) or any(
        is_live(c, data) for c in row.constant
    )


def computable(closure: Closure, data: Mapping[str, Any]) -> Closure:
    """Return a closure without rows that neither tables nor kernels compute."""
    regions = tuple(
        replace(region, outcome=MIXED) if _mixed(region.outcome, data) else region
        for region in closure.regions
    )
    return replace(closure, regions=regions)


def _mixed(row: object, data: Mapping[str, Any]) -> bool:
    return isinstance(row, Row) and any(map(by_table, row.entries)) and is_live_row(row, data)


def by_table(entry: Entry) -> bool:
    """Whether an entry is one of tables along a side, or mixes components."""
    return bool(entry.window) or not entry.is_diagonal


def scalars_of(value: ir.Value) -> dict[str, None]:
    """Return the names of the scalars in a value, as a set in order."""
    return {v.name: None for v in ir.walk(value) if isinstance(v, ir.Scalar)}
