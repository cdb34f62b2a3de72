"""Prepare a launch: compute once all arguments that depend only on the layout of the arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .. import ir
from ..errors import UnboundError, UnsupportedError
from ..ir.external import Initial, Tables
from ..points.boxes import Box
from ..points.numbers import Array, aligned
from ..runtime.metadata import KernelMeta
from ..runtime.sums import STATE
from ..spaces.binding import match_sizes
from ..spaces.space import Space
from .call_layout import Plan, plan_boxes
from .check_arrays import diagnose, read_first
from .declaration import Declaration
from .entry import entry_point, is_compiled
from .guard import Form, forms, guarded
from .launch import Empty, Launch, Shapes, arrangement
from .packs import packed

if TYPE_CHECKING:
    from ..compiler.kernel import Kernel


def prepare(
    declaration: Declaration,
    kernel: Callable[[str], Kernel],
    arrays: list[Array],
    boxes: Sequence[Box] | None,
    empty: Empty = aligned,
) -> Launch:
    """Return the launch of a program on arrays of one layout."""
    if declaration.options.distributed:
        raise UnsupportedError(
            f"{declaration.program.name} is compiled for boxes with memory of their own; it takes "
            "no arrays.",
            hint="Use ssr.Options(distributed=False).",
        )
    named = declaration.named(arrays)
    dtype = diagnose(named, declaration.written)
    sizes = _sizes(declaration, named)
    made = kernel(dtype.name)
    plan = plan_boxes(made.meta, declaration.spaces, sizes, named, boxes)
    externals = _externals(declaration, made.meta, plan, sizes, dtype)
    calls = [(tables.links, tables.weights) for tables in externals]
    lengths: Sequence[int] = [*plan.buffers, *(tables.scratch for tables in externals)]
    own: Sequence[Array] = plan.tables
    last: Sequence[Array] = [array for call in calls for array in call]
    if made.meta.whole:
        packs = packed(lengths, own, calls, dtype)
        lengths, own, last = packs.memory, packs.tables, packs.weights
    tables = (*own, *_stored(declaration, made.meta, named, sizes, dtype), *last)
    scratch = _scratch(made.meta, plan.temporaries, lengths, dtype)
    state = -len(tables) - 1 - len(scratch[1])
    return Launch(
        ready=partial(_run, declaration, made, forms(declaration, arrays), state),
        fields=len(declaration.fields),
        order=arrangement([p.kind != "number" for p in declaration.parameters]),
        bound=(declaration.captured, declaration.constants),
        layouts=(plan.layout, plan.free),
        tables=tables,
        scratch=scratch,
        results=made.meta.results,
        initial=_initial(made.meta, externals),
        empty=empty,
        bytes=(sum(array.nbytes for array in (*own, *last)), _bytes(scratch)),
    )


def _sizes(declaration: Declaration, named: Sequence[tuple[str, Space, Array]]) -> dict[str, int]:
    """Return the sizes determined by arrays, first by those that are only read."""
    ordered = read_first(named, declaration.written)
    sizes = match_sizes([(n, s, a.shape) for n, s, a in ordered], declaration.sizes)
    unknown = [s for s in declaration.program.sizes if s not in sizes]
    if unknown:
        raise UnboundError(
            f"The sizes {', '.join(unknown)} do not follow from the arrays.",
            hint="Bind them on the matrix: A.bind(n=...).",
        )
    return sizes


def _stored(
    declaration: Declaration,
    meta: KernelMeta,
    named: Sequence[tuple[str, Space, Array]],
    sizes: Mapping[str, int],
    dtype: np.dtype[np.generic],
) -> list[Array]:
    """Return the arguments of a kernel for stored matrices."""
    steps = {n: [s // a.itemsize for s in a.strides] for n, _, a in named}
    return [
        declaration.stored[s.matrix].argument(s.what, sizes, steps.get(s.operand), dtype)
        for s in meta.stored
    ]


def _externals(
    declaration: Declaration,
    meta: KernelMeta,
    plan: Plan,
    sizes: Mapping[str, int],
    dtype: np.dtype[np.generic],
) -> list[Tables]:
    """Return the tables of external functions; steps without tables check the sizes."""
    steps = (s for s in declaration.program.steps if isinstance(s, ir.Call))
    externals = {s.name: s.external for s in steps}
    for name in externals.keys() - {call.name for call in meta.calls}:
        externals[name].check(sizes)
    return [
        externals[call.name].tables(sizes, layouts, dtype)
        for call, layouts in zip(meta.calls, plan.called, strict=True)
    ]


def _initial(meta: KernelMeta, externals: Sequence[Tables]) -> tuple[Initial, ...]:
    """Return the initial values of temporaries: number, index, values."""
    places = {name: n for n, name in enumerate(meta.temporaries)}
    return tuple(
        (places[call.fields[number]], index, values)
        for call, tables in zip(meta.calls, externals, strict=True)
        for number, index, values in tables.initial
    )


def _scratch(
    meta: KernelMeta,
    temporaries: Sequence[tuple[int, ...]],
    lengths: Sequence[int],
    dtype: np.dtype[np.generic],
) -> tuple[Shapes, Shapes]:
    """Return shapes and types of scratch memory; and of the states and results of reductions."""
    shapes = (*temporaries, *((length,) for length in lengths))
    memory = tuple((shape, dtype.type) for shape in shapes)
    states: list[tuple[tuple[int, ...], type[np.generic]]] = []
    if meta.states:
        states.append(((meta.states, STATE), np.int64))
    if meta.results:
        states.append(((meta.results,), np.float64))
    return memory, tuple(states)


def _bytes(scratch: tuple[Shapes, Shapes]) -> int:
    """Return the bytes of scratch memory."""
    return sum(int(np.prod(shape)) * np.dtype(kind).itemsize for s in scratch for shape, kind in s)


def _run(
    declaration: Declaration, kernel: Kernel, known: Sequence[Form], state: int
) -> Callable[..., int]:
    """Return the function of a kernel that takes the arguments of a call.

    The number ``state`` is the index of the states of reductions among these.
    """
    run = entry_point(kernel.run)
    if declaration.options.debug:
        from ..compiler.debug import watched

        run = watched(run, declaration.program, kernel.meta, declaration.places, state)
    elif is_compiled(kernel.run):
        return run
    return guarded(run, known)
