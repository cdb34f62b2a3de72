"""Memory layout of the fields and arrays that are interpolated or changed by injection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError, ContiguityError, DtypeError, ReadOnlyError, ShapeError
from ssr.extension import Array

from ..parallel.partition.boxes import Box
from ..parallel.programs.distribution import Distribution
from ..parallel.ranks.field import Field
from .owners import numbers_within
from .stencils import Stencils

Storage: TypeAlias = tuple[Box | None, int, tuple[int, ...]]
"""A box of points (None: all points), the offset of index zero, and the strides, both in
elements."""


Bases: TypeAlias = Mapping[int, Sequence[int]]
"""For each rank, the base address of each component. Offsets are relative to this address."""


@dataclass(frozen=True, eq=False)
class Operand:
    """The values of a field on the ranks of this process.

    Attributes
    ----------
    components
        The number of values at each point; None for a field of numbers.
    bases
        The base addresses of the values.
    storages
        For each rank where the boxes that it owns are in memory: operands with equal storages have
        equal places.
    """

    space: Space
    components: int | None
    dtype: np.dtype[Any]
    bases: Bases
    storages: tuple[tuple[int, tuple[Storage, ...]], ...]


def operand(on: Distribution, u: Any, space: Any, *, written: bool) -> Operand:
    """Return a distributed field, or an array in a job of one rank, as an operand."""
    if isinstance(u, Field):
        return _of_field(on, u)
    if not isinstance(u, np.ndarray) or isinstance(u, np.ma.MaskedArray):
        raise ArgumentError(
            f"Points take the values of a field or of a NumPy array, not {type(u).__name__}."
        )
    if not on.world.alone:
        raise ArgumentError(
            f"An array has values for points on {on.world.ranks} ranks.",
            hint="Give a field of their spread: on.zeros(space), on.scatter(space, array).",
        )
    if not isinstance(space, Space):
        raise ArgumentError(f"space is {space!r}, not a space.")
    return _of_array(on, u, space, written=written)


def _of_field(on: Distribution, u: Field) -> Operand:
    if u.distribution is not on:
        raise ArgumentError(
            f"The field is on {u.distribution!r}, and the points are on another distribution.",
            hint="Make both on one distribution, or give field.redistributed(points.distribution).",
        )
    values = u.values
    bases, storages = {}, []
    for rank, memory in values.memories.items():
        flat = memory.flat if u.components is not None else memory.flat[None]
        bases[rank] = [component.ctypes.data for component in flat]
        found: tuple[Storage, ...] = tuple(
            (box, memory.near[number].zero, memory.near[number].strides)
            for number, box in values.of_rank(rank)
        )
        if on.world.alone:  # all boxes share one array
            found = ((None, *found[0][1:]),)
        storages.append((rank, found))
    return Operand(u.space, u.components, u.dtype, bases, tuple(storages))


def _of_array(on: Distribution, u: Array, space: Space, *, written: bool) -> Operand:
    extent = space.extent(on.sizes)
    if u.shape[-space.ndim :] != extent or u.ndim > space.ndim + 1 or not u.size:
        raise ShapeError(
            f"The array has shape {u.shape}, not {extent}.",
            note=f"its space is {space!r}; the components of a vector field are its first axis",
            hint="Give the space of an array on faces, nodes or ghosts: space=...",
        )
    if u.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise DtypeError(
            f"The array has dtype {u.dtype}.", hint="Supported: float64, float32 in native order."
        )
    if not u.flags.aligned or any(stride < 0 or stride % u.itemsize for stride in u.strides):
        raise ContiguityError(
            f"The array is not aligned in memory, or has negative strides: {u.strides}.",
            hint="Pass np.ascontiguousarray(array).",
        )
    if written and not u.flags.writeable:
        raise ReadOnlyError(
            "Values are injected into an array that is read-only.",
            hint="Pass an array that owns its memory, or a copy.",
        )
    if written and any(not s and n > 1 for s, n in zip(u.strides, u.shape, strict=True)):
        raise ContiguityError(
            "Values are injected into an array whose elements share memory.",
            hint="Pass a copy.",
        )
    components = u.shape[0] if u.ndim > space.ndim else None
    strides = tuple(stride // u.itemsize for stride in u.strides[-space.ndim :])
    zero = -sum(low * s for low, s in zip(space.first(on.sizes), strides, strict=True))
    bases = {0: bases_of(u, components)}
    return Operand(space, components, u.dtype, bases, ((0, ((None, zero, strides),)),))


def bases_of(u: Array, components: int | None) -> list[int]:
    """Return the addresses of the components of an array."""
    first: int = u.ctypes.data
    return [first] if components is None else [first + c * u.strides[0] for c in range(components)]


def stencil_places(storages: Sequence[Storage], stencils: Stencils) -> Array:
    """Return the offsets of stencil entries in a rank's memory; -1 for remote entries."""
    box, zero, strides = storages[0] if storages else (None, 0, (0,) * len(stencils.index))
    if box is None:
        return stencils.places(zero, strides)
    found = np.full(stencils.shape, -1, np.int64)
    for box, zero, strides in storages:
        assert box is not None
        inside = stencils.within(box)
        found[inside] = stencils.places(zero, strides)[inside]
    return found


def index_places(storages: Sequence[Storage], index: Array) -> Array:
    """Return the memory offsets of indices that a rank owns, a row for each index."""
    boxes = [(number, box) for number, (box, _, _) in enumerate(storages) if box is not None]
    numbers = numbers_within(boxes, index)
    found = np.empty(len(index), np.int64)
    for number, (_, zero, strides) in enumerate(storages):
        mine = numbers == number
        found[mine] = zero + index[mine] @ np.array(strides)
    return found
