"""Programs over fields with undeclared spaces, such as the unknowns of a stepper."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..programs import reductions
from ..programs.program import Program, made_program
from ..programs.signature import Kind
from ..spaces.distributed import is_distributed
from ..spaces.space import Space
from ..symbols.index import size


def kind_of(field: Any) -> Any:
    """Return the space of a field; of an array a space with its number of axes."""
    return field.kind if is_distributed(field) else _box(np.ndim(field))


@cache
def _box(ndim: int) -> Space:
    return Space(*(size(f"n{axis}") for axis in range(ndim)))


def largest(field: Any) -> float:
    """Return the largest magnitude of a field; NaN if it holds NaN."""
    return float(_largest(kind_of(field))(field))


@cache
def _largest(kind: Kind) -> Program:
    return made_program("largest", lambda u: reductions.max(abs(u)), {"u": kind})


def change(new: Any, old: Any) -> tuple[float, float]:
    """Return the largest magnitudes of the difference of two fields, and of the first one."""
    difference, magnitude = _change(kind_of(new))(new, old)
    return float(difference), float(magnitude)


@cache
def _change(kind: Kind) -> Program:
    def body(new: Any, old: Any) -> Any:
        return reductions.max(abs(new - old)), reductions.max(abs(new))

    return made_program("change", body, {"new": kind, "old": kind})


def first_index(field: Any, test: Callable[[Any], Any]) -> tuple[int, ...] | None:
    """Return the index of the first value of a field for which a test is true, in C order."""
    if is_distributed(field):
        found: tuple[int, ...] | None = field.__ssr_first__(test)
        return found
    where = np.argwhere(test(field))
    return tuple(map(int, where[0])) if len(where) else None
