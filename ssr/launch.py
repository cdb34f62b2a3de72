"""Run a kernel: what a call with arrays of one layout needs beside the arrays, prepared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import itemgetter
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel with scratch memory, bound data, layouts and tables for arrays of one layout.

    The kernel checks the layout itself, before it does anything: a launch may be tried on any
    arrays.

    Attributes
    ----------
    run
        The kernel.
    order
        The places of the kernel's arguments in (arguments of the call, bound data, layout and
        tables, scratch); None if that is their order.
    rest
        Bound data, layout and tables.
    free
        The same with a layout under which arrays may overlap.
    scratch
        Shapes and types of temporaries and buffers, of the state of reductions, and of results.
    dtype
        The type of all numbers.
    results
        How many numbers a call returns.
    empty
        Allocates scratch memory.
    kept
        Scratch memory of earlier calls. Calls at the same time, by several threads, have their own.
    """

    run: Callable[..., int]
    order: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    rest: tuple[Any, ...]
    free: tuple[Any, ...]
    scratch: tuple[Any, ...]
    dtype: Any
    results: int
    empty: Callable[..., Any] = np.empty
    kept: list[tuple[Any, ...]] = field(default_factory=list)

    def __call__(self, args: tuple[Any, ...]) -> tuple[float, ...] | None:
        """Run on the arguments of a call; return the results, None if the kernel refused to run."""
        if self.order is None:
            return None if self.run(*args, *self.rest) else ()
        return self._run(args + self.rest)

    def anyway(self, args: tuple[Any, ...]) -> tuple[float, ...] | None:
        """Run on arrays whose extents in memory meet, after they were found not to overlap."""
        return self._run(args + self.free)

    def _run(self, given: tuple[Any, ...]) -> tuple[float, ...] | None:
        if self.order is None:
            return None if self.run(*given) else ()
        try:
            memory = self.kept.pop()
        except IndexError:
            memory = tuple([self.empty(shape, dtype) for shape, dtype in self.scratch])
        if self.run(*self.order(given + memory)):
            return None
        results = tuple(memory[-1].tolist()) if self.results else ()
        self.kept.append(memory)
        return results


def arrangement(
    fields: Sequence[bool], bound: tuple[int, int], tables: int, scratch: tuple[int, int]
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
    """Return the order of a kernel's arguments among those of a `Launch`.

    Parameters
    ----------
    fields
        For each argument of a call whether it is a field; the others are scalars.
    bound
        How many fields and how many scalars are bound.
    tables
        How many layouts and tables there are.
    scratch
        How many temporaries and buffers, and how many arrays of states and results there are.
    """
    lengths = (len(fields), *bound, tables, *scratch)
    ends = list(accumulate(lengths))
    _, captured, constants, rest, memory, states = (
        range(end - length, end) for end, length in zip(ends, lengths, strict=True)
    )
    places = [n for n, field in enumerate(fields) if field]
    places += [*captured, *memory]
    places += [n for n, field in enumerate(fields) if not field]
    places += [*constants, *states, *rest]
    return None if places == sorted(places) else itemgetter(*places)
