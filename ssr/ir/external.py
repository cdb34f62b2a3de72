"""The interface of external steps: steps of a program that another package implements.

A program contains the points of the fields that such a step reads and those that it computes. The
computation belongs to the other package: an `External` supplies its function as kernel IR, the
tables that drive this function, and a reference implementation in NumPy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..kernel.ir import Function
from ..points.numbers import Array
from ..points.sets import Domain
from ..spaces.space import Space
from ..symbols.nodes import Value

Layout: TypeAlias = tuple[int, ...]
"""The layout of an array in elements: the offset of index zero, and the strides of its axes."""
Made: TypeAlias = tuple[tuple[Domain, Value], ...]
"""Disjoint sets of points of a field, each with the value that a step computes there."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a function, for arrays of given sizes.

    Attributes
    ----------
    links
        Integers, int64 and contiguous: whatever the function wants. If there are none, it has
        nothing to do.
    weights
        Numbers of the kernel's type, contiguous.
    scratch
        How many numbers of the kernel's type the function needs as scratch memory.
    initial
        Values that are there before the first run: number of the field, index of its array, values.
    """

    links: Array
    weights: Array
    scratch: int = 0
    initial: tuple[tuple[int, Any, Any], ...] = ()


class External(ABC):
    """A step that another package writes: it updates fields in place by a function of its own.

    Attributes
    ----------
    name
        What messages and `Program.explain` call it.
    fields
        For each field the points that must be made before the step, and all points of its array.
        The former are a part of the latter, which the step leaves as it is, or all of them, some
        of which it changes.
    data
        Names of the numbers that the function takes at each call.
    """

    name: str
    fields: tuple[tuple[Space, Space], ...]
    data: tuple[str, ...]

    @abstractmethod
    def functions(self, name: str) -> tuple[Function, ...]:
        """Return the function of a given name, after those that it calls.

        Its arguments are the arrays of all fields; ``links``, ``weights`` and ``scratch``; and the
        numbers of ``data``. It returns nothing. The names of those that it calls begin with its
        own. They are compiled like those of a kernel: they read floating-point arrays by `Load` and
        write them by `Store`, and read integers by either `Load` or `Element`. They may call the
        operations that a kernel imports from `ssr.runtime.intrinsics`, those of ``np``, ``real``,
        ``min``, ``max`` and ``abs``.

        They identify the kernel: sizes, layouts and tables are no part of them.
        """

    @abstractmethod
    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return the tables for arrays of given sizes, layouts and type."""

    @abstractmethod
    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do the same update slowly in NumPy, in place; ``scalars`` are those of ``data``."""

    @abstractmethod
    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        """Return what makes the elements that a program reads, and perhaps no others."""

    def alike(self, other: External) -> bool:
        """Whether another step is known to make the same of the same fields."""
        mine, others = (type(s) for s in (self, other))
        same = (self.name, self.fields, self.data) == (other.name, other.fields, other.data)
        return mine is others and same

    def once(self, alone: Sequence[bool]) -> External:
        """Return what makes the same, where values stay in some fields from run to run."""
        return self

    def rows(self, sources: Sequence[str], scalars: Sequence[Value]) -> tuple[Made, ...] | None:
        """Return what is made of each field as values of its points; None without such a form.

        A value reads points that are given to the step, and has the bits that the function makes,
        for all sizes. Points that are not read later may be left out.
        """
        return None

    def check(self, sizes: Mapping[str, int]) -> None:
        """Refuse sizes for which the step cannot make what is read.

        It is asked where no tables are needed, since `rows` are used instead.
        """
        return

    @abstractmethod
    def joined(self, other: External) -> External | None:
        """Return one step for the fields of this one and then those of another, if there is one."""
