"""Launches: a kernel with all arguments that calls with one array layout need, prepared once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeAlias

from ..points.numbers import aligned

Memory: TypeAlias = "tuple[tuple[Any, ...], tuple[Any, ...]]"
"""Arguments that the launch adds to a call: between its fields and its scalars, and at the end."""


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
    rest
        Layout and tables.
    free
        The same with a layout under which arrays may overlap.
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
        Arguments with scratch memory of earlier calls. Concurrent calls by several threads have
        separate ones.
    kept_free
        The same for arrays whose extents in memory overlap.
    apart
        Differences of the addresses of arrays that were found not to overlap.
    """

    ready: Callable[[], Callable[..., int]]
    fields: int
    order: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None
    bound: tuple[tuple[Any, ...], tuple[Any, ...]]
    rest: tuple[Any, ...]
    free: tuple[Any, ...]
    scratch: tuple[tuple[Any, ...], tuple[Any, ...]]
    results: int = 0
    initial: tuple[tuple[int, Any, Any], ...] = ()
    empty: Callable[..., Any] = aligned
    bytes: tuple[int, int] = (0, 0)
    kept: list[Memory] = field(default_factory=list)
    kept_free: list[Memory] = field(default_factory=list)
    apart: set[tuple[int, ...]] = field(default_factory=set)

    @cached_property
    def run(self) -> Callable[..., int]:
        """The kernel."""
        return self.ready()

    def __call__(self, args: tuple[Any, ...]) -> tuple[float, ...] | None:
        """Run on the arguments of a call; return the results, None if the kernel refused to run."""
        try:
            memory = self.kept.pop()
        except IndexError:
            memory = self.memory()
        results = self._run(args, memory)
        self.kept.append(memory)
        return results

    def anyway(self, args: tuple[Any, ...]) -> tuple[float, ...]:
        """Run on arrays whose extents in memory overlap, but which share no elements."""
        try:
            memory = self.kept_free.pop()
        except IndexError:
            memory = self.memory(free=True)
        results = self._run(args, memory)
        self.kept_free.append(memory)
        assert results is not None, "the kernel refused arrays of the layout it was prepared for"
        return results

    @property
    def held(self) -> int:
        """The bytes that it keeps from call to call, with memory for one call at least."""
        tables, scratch = self.bytes
        return tables + scratch * max(1, len(self.kept) + len(self.kept_free))

    def release(self) -> None:
        """Release the scratch memory of earlier calls."""
        self.kept.clear()
        self.kept_free.clear()

    def _run(self, args: tuple[Any, ...], memory: Memory) -> tuple[float, ...] | None:
        middle, end = memory
        if len(args) == self.fields:
            args = args + middle + end
        else:
            args = args if self.order is None else self.order(args)
            args = args[: self.fields] + middle + args[self.fields :] + end
        if self.run(*args):
            return None
        return self.found(end)

    def found(self, arguments: Sequence[Any]) -> tuple[float, ...]:
        """Return the results that a run left among its last arguments."""
        return tuple(arguments[-1 - len(self.rest)].tolist()) if self.results else ()

    def memory(self, *, free: bool = False) -> Memory:
        """Return the arguments of the kernel that a call does not pass, with new scratch memory."""
        made = [[self.empty(shape, dtype) for shape, dtype in scratch] for scratch in self.scratch]
        for number, index, values in self.initial:
            made[0][number][index] = values
        middle, end = ((*b, *s) for b, s in zip(self.bound, made, strict=True))
        return middle, end + (self.free if free else self.rest)


def arrangement(fields: Sequence[bool]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]] | None:
    """Return a function that moves fields before scalars; None if they are in this order.

    >>> arrangement([False, True, False])((1, "x", 2))
    ('x', 1, 2)
    """
    places = sorted(range(len(fields)), key=lambda n: not fields[n])
    return None if places == sorted(places) else itemgetter(*places)
