"""Renaming of matrix data, so that names are unique within one expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..spaces.distributed import Component
from ..spaces.space import stem
from .matrix_data import MatrixData


def same(a: Any, b: Any) -> bool:
    """Whether two values of data are one: equal numbers, or an array, or views of its elements."""
    arrays = isinstance(a, np.ndarray), isinstance(b, np.ndarray)
    if any(arrays):
        return all(arrays) and bool(a.__array_interface__ == b.__array_interface__)
    return a is b or (isinstance(a, (int, float, Component)) and a == b)


def renamed_apart(matrix: MatrixData, other: MatrixData) -> MatrixData:
    """Return a matrix with data renamed if ``other`` has different data of the same name."""
    taken = {stem(n) for n in (*other.data, *matrix.data)}
    names: dict[str, str] = {}
    for name, kind in matrix.data.items():
        if name not in other.data or name in names:
            continue
        if other.data[name] != kind or not same(other.bound.get(name), matrix.bound.get(name)):
            old = stem(name)
            new = ir.fresh(old, taken)
            taken.add(new)
            names |= {n: new + n[len(old) :] for n in matrix.data if stem(n) == old}
    return _renamed(matrix, names) if names else matrix


def _renamed(matrix: MatrixData, names: Mapping[str, str]) -> MatrixData:
    return replace(
        matrix,
        families=tuple(replace(f, value=ir.renamed(f.value, names)) for f in matrix.families),
        origin=matrix.origin.renamed(names),
        data={names.get(n, n): kind for n, kind in matrix.data.items()},
        bound={names.get(n, n): value for n, value in matrix.bound.items()},
        paths=(),
    )
