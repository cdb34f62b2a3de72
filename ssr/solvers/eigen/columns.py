"""Block vectors: inner products and linear combinations of several vectors.

The programs take a few vectors at a time, which reduces the memory traffic per vector. Columns are
stored in groups of equal length, so that one program serves all groups; the last group is padded
with zero vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ...points.numbers import Array
from ...programs.program import Program, own_program
from ...programs.reductions import dot
from ...spaces.space import Space, VectorSpace
from ...trace.trace import scalar
from .. import vectors
from ..vectors import Vector

GROUP = 4
"""Limit of the columns of a group."""

Columns: TypeAlias = "list[Any]"
"""Vectors on the same points; their number is a multiple of the group length."""


class Grouped:
    """Programs for columns in groups.

    Parameters
    ----------
    space
        The space of a column.
    length
        The columns of a group.
    """

    def __init__(self, space: Space | VectorSpace, length: int) -> None:
        self.space = space
        self.length = length

    def filled(self, given: Sequence[Vector]) -> Columns:
        """Return the vectors, followed by zero vectors that fill the last group."""
        missing = -len(given) % self.length
        return [*given, *(vectors.zeros(given[0]) for _ in range(missing))]

    def empty(self, like: Columns) -> Columns:
        """Return as many columns of zeros."""
        return [vectors.zeros(column) for column in like]

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs."""
        return self._cross, self._square, self._combine

    def inner(self, u: Columns, v: Columns) -> Array:
        """Return the inner products of columns, array (len(u), len(v)).

        Both may be the same list, or have no column in common.
        """
        made, k = np.empty((len(u), len(v))), self.length
        for i, j in product(range(0, len(u), k), range(0, len(v), k)):
            if u is not v or i < j:
                found = self._cross(*u[i : i + k], *v[j : j + k])
                made[i : i + k, j : j + k] = np.reshape(found, (k, k))
            elif i == j:
                made[i : i + k, j : j + k][np.triu_indices(k)] = self._square(*u[i : i + k])
        if u is v:
            lower = np.tril_indices(len(u), -1)
            made[lower] = made.T[lower]
        return made

    def combine(self, target: Columns, *terms: tuple[Columns, Array], add: bool = False) -> None:
        """Assign sums of columns to other columns, ``sum(v @ weights)``; or add them."""
        k = self.length
        for j in range(0, len(target), k):
            keep = float(add)
            for columns, weights in terms:
                for i in range(0, len(columns), k):
                    part = weights[i : i + k, j : j + k]
                    if part.any() or not keep:
                        given = part.ravel().tolist()
                        self._combine(*target[j : j + k], *columns[i : i + k], keep, *given)
                        keep = 1.0

    @cached_property
    def _cross(self) -> Program:
        """The program that returns the inner products of two groups."""
        k = self.length

        def cross(*given: Any) -> Any:
            return tuple(dot(x, y) for x, y in product(given[:k], given[k:]))

        return self._program(cross, _names("uv", k))

    @cached_property
    def _square(self) -> Program:
        """The program that returns the inner products of a group, row by row from the diagonal."""

        def square(*u: Any) -> Any:
            return tuple(dot(x, y) for n, x in enumerate(u) for y in u[n:])

        return self._program(square, _names("u", self.length))

    @cached_property
    def _combine(self) -> Program:
        """The program that adds a linear combination of a group to multiples of a group."""
        k = self.length

        def combine(*given: Any) -> None:
            target, columns, keep, weights = (
                given[:k],
                given[k : 2 * k],
                given[2 * k],
                given[-k * k :],
            )
            for j, y in enumerate(target):
                total = keep * y
                for i, x in enumerate(columns):
                    total = total + weights[i * k + j] * x
                y[:] = total

        weights = [f"w{i}_{j}" for i, j in product(range(k), repeat=2)]
        return self._program(combine, _names("yx", k), ["keep", *weights])

    def _program(
        self, body: Callable[..., Any], fields: Sequence[str], numbers: Sequence[str] = ()
    ) -> Program:
        """Return the program of a body on columns and numbers with some names."""
        kinds = {**dict.fromkeys(fields, self.space), **dict.fromkeys(numbers, scalar)}
        return own_program(**kinds)(body)


def _names(stems: str, count: int) -> list[str]:
    """Return numbered names for a group of each stem."""
    return [f"{stem}{number}" for stem in stems for number in range(count)]
