"""Run a kernel: what a call with arrays of one layout needs beside the arrays, prepared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
        Shapes of temporaries and buffers.
    dtype
        The type of all numbers.
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
    empty: Callable[..., Any] = np.empty
    kept: list[tuple[Any, ...]] = field(default_factory=list)

    def __call__(self, args: tuple[Any, ...]) -> int:
        """Run on the arguments of a call; return the kernel's status, 0 if done."""
        if self.order is None:
            return self.run(*args, *self.rest)
        return self._run(args + self.rest)

    def anyway(self, args: tuple[Any, ...]) -> int:
        """Run on arrays whose extents in memory meet, after they were found not to overlap."""
        return self._run(args + self.free)

    def _run(self, given: tuple[Any, ...]) -> int:
        if self.order is None:
            return self.run(*given)
        try:
            memory = self.kept.pop()
        except IndexError:
            memory = tuple([self.empty(shape, self.dtype) for shape in self.scratch])
        status = self.run(*self.order(given + memory))
        self.kept.append(memory)
        return status


def arrangement(
    fields: Sequence[bool], bound: tuple[int, int], tables: int, scratch: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
    """Return the order of a kernel's arguments among those of a `Launch`.

    Parameters
    ----------
    fields
        For each argument of a call whether it is a field; the others are scalars.
    bound
        How many fields and how many scalars are bound.
    tables, scratch
        How many layouts and tables, and how many pieces of scratch memory follow.
    """
    count = len(fields)
    starts = [count, count + bound[0], count + sum(bound), count + sum(bound) + tables]
    captured, constants, rest, memory = (
        range(start, start + n) for start, n in zip(starts, (*bound, tables, scratch), strict=True)
    )
    places = [n for n, field in enumerate(fields) if field]
    places += [*captured, *memory]
    places += [n for n, field in enumerate(fields) if not field]
    places += [*constants, *rest]
    return None if places == sorted(places) else itemgetter(*places)
