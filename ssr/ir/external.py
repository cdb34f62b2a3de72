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
Initial: TypeAlias = tuple[int, Any, Any]
"""Values set before the first run: the number of a field, an index of its array, and values."""
Made: TypeAlias = tuple[tuple[Domain, Value], ...]
"""Disjoint sets of points of a field, each with the value that a step computes there."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a function, for arrays of given sizes.

    Attributes
    ----------
    links
        Integers for the function, int64 and contiguous. Without any, the function has no effect.
    weights
        Values of the kernel's type, contiguous.
    scratch
        The size of the function's scratch memory, in values of the kernel's type.
    initial
        Values set before the first run.
    """

    links: Array
    weights: Array
    scratch: int = 0
    initial: tuple[Initial, ...] = ()


class External(ABC):
    """A step that another package defines: its function updates fields in place.

    Attributes
    ----------
    name
        The name of the step in messages and `Program.explain`.
    fields
        For each field the points that must be computed before the step, and all points of its
        array. The former are either a subset of the latter, which the step does not change, or
        all of them, some of which it changes.
    data
        Names of the scalars that the function takes at each call.
    """

    name: str
    fields: tuple[tuple[Space, Space], ...]
    data: tuple[str, ...]

    @abstractmethod
    def functions(self, name: str) -> tuple[Function, ...]:
        """Return the function of a given name, after those that it calls.

        Its arguments are the arrays of all fields; ``links``, ``weights`` and ``scratch``; and the
        scalars of ``data``. It has no result. The names of the functions that it calls begin with
        its name. The functions are compiled like those of a kernel: they read floating-point arrays
        by `Load` and write them by `Store`, and read integers by either `Load` or `Element`. They
        may call the operations of `ssr.runtime.intrinsics`, those of
        ``np``, ``real``, ``min``, ``max`` and ``abs``.

        The functions identify the kernel, so they do not depend on sizes, layouts and tables.
        """

    @abstractmethod
    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return the tables for arrays of given sizes, layouts and type."""

    @abstractmethod
    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do the same update slowly in NumPy, in place; ``scalars`` are the values of ``data``."""

    @abstractmethod
    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> External:
        """Return a step that computes the elements that a program reads, and possibly others."""

    def alike(self, other: External) -> bool:
        """Whether another step is known to compute the same values of the same fields."""
        mine, others = (type(s) for s in (self, other))
        same = (self.name, self.fields, self.data) == (other.name, other.fields, other.data)
        return mine is others and same

    def once(self, alone: Sequence[bool]) -> External:
        """Return an equivalent step for fields whose values persist from run to run."""
        return self

    def rows(self, sources: Sequence[str], scalars: Sequence[Value]) -> tuple[Made, ...] | None:
        """Return the points of each field with their values; None without such a form.

        A value reads points that are given to the step, and is bitwise equal to the result of the
        function for all sizes. Points that are not read later may be left out.
        """
        return None

    def check(self, sizes: Mapping[str, int]) -> None:
        """Refuse sizes for which the step cannot compute all points that are read.

        It is called if no tables are needed because `rows` are used instead.
        """
        return

    @abstractmethod
    def joined(self, other: External) -> External | None:
        """Return one step for the fields of this one and then those of another, if there is one."""
