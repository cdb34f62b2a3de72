"""Launches: a kernel with all arguments that calls with one array layout need, prepared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from ..ir.external import Initial
from ..points.numbers import Array, aligned

Argument: TypeAlias = "Array | float"
Results: TypeAlias = tuple[float, ...]

Empty: TypeAlias = Callable[[tuple[int, ...], type[np.generic]], Array]
"""Allocates memory of a shape and a type."""

Shapes: TypeAlias = tuple[tuple[tuple[int, ...], type[np.generic]], ...]
"""The shapes and types of arrays of scratch memory."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The arguments that a launch adds to a call, with scratch memory of their own.

    Attributes
    ----------
    middle
        The arguments between the fields and the scalars of the call.
    end
        The arguments after these.
    results
        The array of them that receives the results; None if there are none.
    """

    middle: tuple[Argument, ...]
    end: tuple[Argument, ...]
    results: Array | None

    def found(self) -> Results:
        """Return the results of the last run."""
        return () if self.results is None else tuple(self.results.tolist())


@dataclass(frozen=True)
class Launch:
    """A kernel with scratch memory, bound data, layouts and tables for arrays of one layout.

    The kernel takes fields, bound fields, temporaries and buffers; scalars, bound scalars, states
    and results; and then layout and tables. It checks the layout before it computes anything, so a
    launch may be tried on any arrays.

    Attributes
    ----------
    ready
        Waits for the kernel, and returns it.
    fields
        The number of fields of a call; its other arguments are scalars.
    order
        Moves the fields of a call before its scalars; None if this is already their order.
    bound
        Bound fields, bound scalars.
    layouts
        The layout of the arrays, and the same layout without the condition that they do not
        overlap.
    tables
        Tables, after the layout.
    scratch
        Shapes and types of temporaries and buffers; of the state of reductions, and of results.
    results
        The number of values that a call returns.
    initial
        The initial contents of scratch memory: number of the temporary, index, values.
    empty
        Allocates scratch memory.
    bytes
        The bytes of tables that no other launch has, and of the scratch memory of one call.
    kept
        The arguments of earlier calls, with either layout. Concurrent calls by several threads have
        separate ones.
    apart
        Differences of the addresses of arrays that were found not to overlap.
    """

    ready: Callable[[], Callable[..., int]]
    fields: int
    order: Callable[[tuple[Argument, ...]], tuple[Argument, ...]] | None
    bound: tuple[tuple[Array, ...], tuple[float, ...]]
    layouts: tuple[Array, Array]
    tables: tuple[Array, ...]
    scratch: tuple[Shapes, Shapes]
    results: int = 0
    initial: tuple[Initial, ...] = ()
    empty: Empty = aligned
    bytes: tuple[int, int] = (0, 0)
    kept: tuple[list[Memory], list[Memory]] = field(default_factory=lambda: ([], []))
    apart: set[tuple[int, ...]] = field(default_factory=set)

    @cached_property
    def run(self) -> Callable[..., int]:
        """The kernel."""
        return self.ready()

    def __call__(self, args: tuple[Argument, ...], *, overlapping: bool = False) -> Results | None:
        """Run on the arguments of a call; return the results, None if the kernel refused to run.

        The extents of ``overlapping`` arrays in memory overlap, but they share no elements.
        """
        kept = self.kept[overlapping]
        try:
            memory = kept.pop()
        except IndexError:
            memory = self.memory(overlapping=overlapping)
        if len(args) == self.fields:
            args = args + memory.middle + memory.end
        else:
            args = args if self.order is None else self.order(args)
            args = args[: self.fields] + memory.middle + args[self.fields :] + memory.end
        results = None if self.run(*args) else memory.found()
        kept.append(memory)
        return results

    @property
    def held(self) -> int:
        """The bytes that it keeps from call to call, with memory for one call at least."""
        tables, scratch = self.bytes
        return tables + scratch * max(1, sum(map(len, self.kept)))

    def release(self) -> None:
        """Release the scratch memory of earlier calls."""
        for kept in self.kept:
            kept.clear()

    def memory(self, *, overlapping: bool = False) -> Memory:
        """Return the arguments of the kernel that a call does not pass, with new scratch memory."""
        middle, end = ([self.empty(*one) for one in scratch] for scratch in self.scratch)
        for number, index, values in self.initial:
            middle[number][index] = values
        fields, scalars = self.bound
        return Memory(
            (*fields, *middle),
            (*scalars, *end, self.layouts[overlapping], *self.tables),
            end[-1] if self.results else None,
        )


def arrangement(
    fields: Sequence[bool],
) -> Callable[[tuple[Argument, ...]], tuple[Argument, ...]] | None:
    """Return a function that moves fields before scalars; None if they are in this order.

    >>> arrangement([False, True, False])((1, "x", 2))
    ('x', 1, 2)
    """
    places = sorted(range(len(fields)), key=lambda n: not fields[n])
    return None if places == sorted(places) else itemgetter(*places)
