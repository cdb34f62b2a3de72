"""A small external step: ghost points of boxes with periodic or constant sides, by tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

import ssr
from ssr.errors import OutOfSpaceError
from ssr.ir.external import External, Layout, Tables
from ssr.kernel import ir as kernel
from ssr.kernel.from_python import functions_of
from ssr.points.sets import Domain
from ssr.programs.external import extend
from ssr.spaces.space import row_domain

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Ghosts(External):
    """Make ghost points: ``x[ghost] = factor * x[periodic image] + shift``.

    Ghosts further out than ``reach`` have no definition. A number for each field may be added at
    the call, if ``data`` has one name for each.
    """

    fields: tuple[tuple[ssr.Space, ssr.Space], ...]
    factor: float = 1.0
    reach: int = 99
    data: tuple[str, ...] = ()
    name: str = "ghosts"

    def functions(self, name: str) -> tuple[kernel.Function, ...]:
        count = len(self.fields)
        arrays = ", ".join(f"f{n}" for n in range(count))
        numbers = "".join(f", s{n}" for n in range(len(self.data)))
        lines = [f"def {name}({arrays}, links, weights, scratch{numbers}):", "    p = 0"]
        for n in range(count):
            lines += [
                f"    st(scratch, {n}, ld(weights, {n}))",
                "    stop = p + 1 + links[p]",
                "    p = p + 1",
                "    while p < stop:",
            ]
            shift = f"s{n}" if self.data else "real(0.0)"
            lines += [
                f"        old = ld(f{n}, links[p + 1])",
                f"        st(f{n}, links[p], fma(ld(scratch, {n}), old, {shift}))",
                "        p = p + 2",
            ]
        return functions_of("\n".join(lines))

    def pairs(self, sizes: Mapping[str, int]) -> list[list[tuple[int, ...]]]:
        """Return for each field the ghost points with their images, as one tuple each."""
        found = []
        for given, whole in self.fields:
            inner = given.box(sizes)
            rows = []
            for point in product(*(range(low, high) for low, high in whole.box(sizes))):
                image = tuple(
                    low + (p - low) % (high - low)
                    for p, (low, high) in zip(point, inner, strict=True)
                )
                far = max(
                    max(low - p, p - high + 1) for p, (low, high) in zip(point, inner, strict=True)
                )
                if image != point and far <= self.reach:
                    rows.append((*point, *image))
            found.append(rows)
        return found

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        links: list[int] = []
        for rows, (zero, *strides) in zip(self.pairs(sizes), layouts, strict=True):
            dims = len(strides)
            ends = [end for row in rows for end in (row[:dims], row[dims:])]
            links += [len(ends), *(zero + int(np.dot(end, strides)) for end in ends)]
        count = len(self.fields)
        return Tables(np.array(links, np.int64), np.full(count, self.factor, dtype), count)

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        shifts = scalars or [0.0] * len(arrays)
        for array, (given, whole), shift in zip(arrays, self.fields, shifts, strict=True):
            low = whole.lower
            dims = given.ndim
            (rows,) = replace(self, fields=((given, whole),)).pairs(sizes)
            for row in rows:
                ghost = tuple(np.subtract(row[:dims], low))
                image = tuple(np.subtract(row[dims:], low))
                kind = array.dtype.type
                array[ghost] = kind(self.factor) * array[image] + kind(shift)

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        asked.append((self.name, tuple(reads), tuple(kept)))
        for (given, whole), read in zip(self.fields, reads, strict=True):
            assert read <= row_domain(whole)
            known = row_domain(given.grow(self.reach))
            if not read <= known:
                raise OutOfSpaceError(
                    f"{self.name} does not define all ghost points that are read.",
                    note=f"It lacks {(read - known).simplified().notation()}.",
                )
        return self

    def joined(self, other: External) -> External | None:
        if not isinstance(other, Ghosts) or bool(self.data) != bool(other.data):
            return None
        if (self.factor, self.reach) != (other.factor, other.reach):
            return None
        if self.fields[0][0].ndim != other.fields[0][0].ndim:
            return None
        return replace(self, fields=self.fields + other.fields, data=self.data + other.data)


asked: list[tuple[str, tuple[Domain, ...], tuple[bool, ...]]] = []
"""What external steps were asked to make, the latest last."""


def filled(
    whole: ssr.Space, given: ssr.Space, *operands: Any, numbers: Any = (), **more: Any
) -> Any:
    """Return expressions with their ghost points, in a program; one if one is given."""
    data = tuple(f"s{n}" for n in range(len(numbers)))
    step = Ghosts(((given, whole),) * len(operands), data=data, **more)
    found = extend(step, operands, *numbers)
    return found if len(found) > 1 else found[0]
