"""The kernel arguments of one rank, and the memory that they refer to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ssr.errors import ContiguityError, DtypeError, ShapeError, UnsupportedError
from ssr.extension import (
    STATE,
    Array,
    At,
    Run,
    Step,
    aligned,
    layout_of,
    offsets_of,
    step_tables,
)

from ..schedules.gathered import entries, points_of
from ..schedules.plan import Plan
from ..schedules.schedule import KernelPart
from ..worlds.work import KernelCall
from .memory import Memory
from .tables import RankTables
from .transfers import RankMoves
from .values import Values, memories_of_temporaries


class RankMemory:
    """The memory of one rank for all arrays of a program, in kernel order, and its tables.

    Attributes
    ----------
    memories
        The memory of each field and temporary, by the names of the kernel.
    captured
        The arrays of matrices, which are the same on all ranks.
    whole
        For each captured array the offset of index zero, and the strides of all axes but the last.
    fields, components
        The arrays of the program's fields: vector fields whole, and as their components.
    states
        The states of the reductions, and the findings of the debug build.
    tables
        The tables of memory offsets for loop nests and fills.
    """

    def __init__(self, plan: Plan, rank: int, fields: Mapping[str, Values]) -> None:
        meta, declaration = plan.meta, plan.declaration
        self.rank = rank
        self.memories: dict[str, Memory] = {}
        for name, field in fields.items():
            for part in plan.parts[name]:
                self.memories[part] = field.memories[rank]
        self.memories |= memories_of_temporaries(plan, rank)
        names = meta.fields[len(meta.fields) - len(declaration.captured) :]
        self.captured = dict(zip(names, declaration.captured, strict=True))
        for name, array in self.captured.items():
            _check(name, array, declaration.spaces[name].extent(plan.footprint.sizes), plan.dtype)
        self.captured = {name: _writeable(array) for name, array in self.captured.items()}
        self.whole = {
            name: offsets_of(declaration.spaces[name], array, plan.footprint.sizes)
            for name, array in self.captured.items()
        }
        mine = [field.memories[rank] for field in fields.values()]
        self.fields = [memory.array for memory in mine]
        self.components = [array for memory in mine for array in memory.arrays()]
        self.temporaries = [self.memories[name].array for name in meta.temporaries]
        self.stored = [self._stored(plan, s.matrix, s.what, s.operand) for s in meta.stored]
        self.states = np.zeros((meta.states, STATE), np.int64)
        self._names = *meta.fields, *meta.temporaries
        self.tables = RankTables(plan.footprint, plan.fronts, rank, self.memories, self.whole)
        self.buffers = [aligned((self.tables.buffer(b),), plan.dtype) for b in meta.buffers]

    def _stored(self, plan: Plan, matrix: str, what: str, operand: str) -> Array:
        """Return a kernel argument of a stored matrix; only ``places`` depends on the rank."""
        stored, sizes = plan.declaration.stored[matrix], plan.footprint.sizes
        if what == "places":
            return self._places(plan, matrix, operand)
        return stored.argument(what, sizes, None, plan.dtype)

    def _places(self, plan: Plan, matrix: str, operand: str) -> Array:
        """Return the offsets of the columns of a stored matrix in the memory of an array."""
        footprint, stored = plan.footprint, plan.declaration.stored[matrix]
        numbers = stored.csr.indices
        found = np.full(len(numbers), -1, np.int64)
        for gathered in footprint.gathered:
            if (gathered.matrix, gathered.array) != (matrix, operand):
                continue
            for box in footprint.partition.of_rank(self.rank):
                inside = entries(stored, gathered.rows[box], footprint.sizes)
                if inside.size:
                    storage = self.memories[operand].near[box]
                    columns = points_of(stored.cols, numbers[inside], footprint.sizes)
                    places = storage.zero + np.array(storage.strides) @ columns
                    known = found[inside]
                    if ((known >= 0) & (known != places)).any():
                        raise _in_several_boxes(plan)
                    found[inside] = places
        return np.maximum(found, 0).astype(numbers.dtype)

    def array(self, name: str) -> Array:
        """Return an array of the kernel: the memory of all subdomains of the rank."""
        every = *self.components, *self.captured.values(), *self.temporaries
        return every[self._names.index(name)]


def _in_several_boxes(plan: Plan) -> UnsupportedError:
    return UnsupportedError(
        f"{plan.declaration.program.name} multiplies a row of a stored matrix in several boxes.",
        hint="Assign the product to a field of its own.",
    )


class _Holder:
    """The owner of the memory of an array, and whether it is writable."""

    def __init__(self, array: Array) -> None:
        self.array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _writeable(array: Array) -> Array:
    """Return an array in the same memory with the writable flag, which kernels of ranks require.

    The halo copies could write any array, but never write the arrays of matrices.
    """
    return array if array.flags.writeable else np.asarray(_Holder(array))


def _check(name: str, array: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise if an array of a matrix does not fit."""
    if array.shape != shape:
        raise ShapeError(f"{name!r} has shape {array.shape}, not {shape}.")
    if array.dtype != dtype:
        raise DtypeError(f"{name!r} has dtype {array.dtype}; the fields have {dtype}.")
    if not array.flags.aligned:
        raise ContiguityError(
            f"Array {name!r} is not aligned in memory.", hint="np.ascontiguousarray copies it."
        )
    if array.shape[-1] > 1 and array.strides[-1] != array.itemsize:
        raise ContiguityError(
            f"The last axis of {name!r} is not contiguous.",
            hint="np.ascontiguousarray makes it so.",
        )


def kernel_call(plan: Plan, steps: Sequence[Step], rank: RankMemory, messages: Array) -> KernelCall:
    """Return the call by which one rank executes the steps of a schedule.

    Parameters
    ----------
    steps
        The steps, as those of the kernel.
    rank
        The rank's memory and tables.
    messages
        The memory for messages.
    """
    meta, dtype = plan.meta, plan.dtype
    laid = step_tables(meta, steps, dtype)
    first = *rank.fields, *rank.captured.values(), *rank.temporaries, *rank.buffers
    states = (rank.states,) if meta.states else ()
    rows = np.zeros((0, 0))
    results = (rows,) if meta.results else ()
    given = meta.written_first([*rank.components, *rank.captured.values()])
    at = np.zeros(len(At), np.int64)
    rest = (
        layout_of(given, 0, [plan.footprint.sizes[name] for name in meta.sizes]),
        laid.tables,
        *rank.stored,
        laid.links,
        laid.weights,
        np.zeros(rank.tables.scratch(dtype), dtype),
        messages,
        laid.steps,
        at,
    )
    arguments = *first, rows, *states, *results, *rest
    scalars = len(first)
    return KernelCall(
        plan.kernel, arguments, scalars, scalars + 1 + len(states) if results else None, at
    )


def kernel_step(plan: Plan, part: KernelPart, tables: RankTables, moves: RankMoves) -> Run:
    """Return the tables with which a rank runs a part of the kernel."""
    nests: dict[int, Array] = {}
    calls: dict[int, tuple[Array, Array]] = {}
    nothing = np.zeros(0, plan.dtype)
    unit = 0
    for record in plan.meta.units:
        if record.kind == "move":  # before the unit, or after the last
            calls[record.number] = moves.records(part, unit), nothing
            continue
        rows = part.units.get(unit)
        if rows is not None and record.kind == "nest":
            nests[record.number] = tables.nest(unit, rows)
        elif rows is not None:
            made = tables.call(unit, plan.dtype)
            calls[record.number] = made.links, made.weights
        unit += 1
    return Run(nests, calls)
