"""The arguments of a kernel for one rank, and the memory behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ContiguityError, DtypeError, ShapeError
from ssr.extension import STATE, Array, layout_of, offsets_of

from ..schedules.plan import Plan
from ..schedules.schedule import KernelPart
from .memory import Memory
from .moves import RankMoves
from .tables import RankTables
from .values import Values

Arguments: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]
"""What a kernel takes before the scalars of a call, and behind them."""

STOP = np.zeros(1, np.int64)
"""The tables of a step of another package that does not run."""


class RankMemory:
    """The memory of one rank for all arrays of a program, in the order of its kernel.

    Attributes
    ----------
    rank
        The rank.
    memories
        The memory of each field and temporary, by the names of the kernel.
    captured
        The arrays of matrices, which are the same on all ranks.
    whole
        For each of these the offset of index zero, and the strides of all axes but the last.
    fields, components
        The arrays of the program's fields: vector fields whole, and as their components.
    states, results
        What reductions have found, and what a call returns.
    """

    def __init__(self, plan: Plan, rank: int, fields: Mapping[str, Values]) -> None:
        meta, declaration = plan.meta, plan.declaration
        self.rank = rank
        self.memories: dict[str, Memory] = {}
        for name, field in fields.items():
            for part in plan.parts[name]:
                self.memories[part] = field.memories[rank]
        for name in meta.temporaries:
            memory = Memory(plan.footprint.spaces[name].ndim, None, plan.dtype)
            memory.grow(*plan.room(rank, (name,)))
            self.memories[name] = memory
        names = meta.fields[len(meta.fields) - len(declaration.captured) :]
        self.captured = dict(zip(names, declaration.captured, strict=True))
        for name, array in self.captured.items():
            _check(name, array, declaration.spaces[name].extent(plan.footprint.sizes), plan.dtype)
        self.whole = {
            name: offsets_of(declaration.spaces[name], array)
            for name, array in self.captured.items()
        }
        mine = [field.memories[rank] for field in fields.values()]
        self.fields = [memory.array for memory in mine]
        self.components = [array for memory in mine for array in memory.arrays()]
        self.temporaries = [self.memories[name].array for name in meta.temporaries]
        self.states = np.zeros((meta.reductions, STATE), np.int64)
        self.results = np.zeros(meta.results)
        self.buffers: list[Array] = []
        self.scratch: dict[int, Array] = {}


def _check(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if an array of a matrix does not fit."""
    if array.shape != shape:
        raise ShapeError(f"{name!r} has shape {array.shape}, not {shape}.")
    if array.dtype != dtype:
        raise DtypeError(f"{name!r} has dtype {array.dtype}; the fields have {dtype}.")
    if array.strides[-1] != array.itemsize:
        raise ContiguityError(
            f"The last axis of {name!r} is not contiguous.",
            hint="np.ascontiguousarray makes it so.",
        )


def arguments(
    plan: Plan, part: KernelPart, rank: RankMemory, tables: RankTables, moves: RankMoves
) -> Arguments:
    """Return the arguments by which a rank runs a part of the kernel."""
    meta, dtype = plan.meta, plan.dtype
    nests: dict[int, Array] = {}
    calls: dict[int, tuple[Array, Array, Array]] = {}
    nothing = np.zeros(0, dtype)
    unit = 0
    for record in meta.units:
        if record.kind == "move":  # before the unit, or behind the last
            calls[record.number] = moves.records(part, unit), nothing, moves.messages
            continue
        rows = part.units.get(unit)
        if record.kind == "nest":
            table = tables.nest(unit, rows or "all")
            nests[record.number] = table if rows else table[:0]
        else:
            made = tables.call(unit, dtype)
            scratch = rank.scratch.setdefault(unit, np.zeros(made.scratch, dtype))
            calls[record.number] = made.links if rows else STOP, made.weights, scratch
        unit += 1
    if not rank.buffers:
        rank.buffers = [np.zeros(tables.buffer(buffer), dtype) for buffer in meta.buffers]
    given = rank.fields if meta.whole else rank.components
    scratch_of_calls = (calls[n][2] for n in range(len(meta.calls)))
    first = *given, *rank.captured.values(), *rank.temporaries, *rank.buffers, *scratch_of_calls
    behind: list[Any] = [dtype.type(value) for value in plan.declaration.constants]
    behind += [rank.states] if meta.reductions else []
    behind += [rank.results] if meta.results else []
    behind.append(layout_of([*rank.components, *rank.captured.values()], 0))
    behind += [nests[n] for n in range(len(meta.nests))]
    behind += [array for n in range(len(meta.calls)) for array in calls[n][:2]]
    return first, tuple(behind)
