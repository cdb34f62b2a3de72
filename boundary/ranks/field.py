"""Fields whose points are shared by several ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, ShapeError
from ssr.extension import Array, VectorSpace

from ..partition.boxes import Box, as_box, slices, volume
from ..partition.partition import Partition
from .memory import Memory
from .world import World


class Ground(Protocol):
    """What fields stand on: boxes, their owners, and programs over such fields."""

    partition: Partition
    world: World

    def run(
        self,
        program: ssr.Program,
        args: tuple[Any, ...],
        named: Mapping[str, Any],
        *,
        bound: bool,
    ) -> Any:
        """Run a program on fields, or bind it to them."""

    def product(self, matrix: Any, x: Field) -> Field:
        """Return the product of a matrix with a field."""


class Field:
    """A field whose points are owned by the boxes of a partition; made by `Spread.zeros`.

    A program takes it as an argument in the place of an array. Each rank has the points of its own
    boxes, and those around them that its programs read; the latter are nobody's business but the
    programs'. What changes a field, `fill`, `scatter` and programs, is done by all ranks together.

    Attributes
    ----------
    spread
        How points are owned.
    kind
        Its space, or vector space.
    dtype
        The type of its numbers.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(6)
    >>> on = bc.spread(cells, bc.simulated(2))
    >>> u = on.zeros(cells)
    >>> u.fill(lambda i: i**2)
    >>> u.gather()
    array([ 0.,  1.,  4.,  9., 16., 25.])
    """

    __array_ufunc__ = None

    def __init__(self, spread: Ground, kind: Space | VectorSpace, dtype: Any) -> None:
        self.spread = spread
        self.kind = kind
        self.dtype = np.dtype(dtype)
        self.memories: dict[int, Memory] = {}
        self.changes = 0
        self.moves = 0
        owned = spread.partition.owned(self.space)
        for rank in spread.world.here:
            memory = Memory(self.space.ndim, self.components, self.dtype)
            boxes = {b: as_box(owned[b]) for b in spread.partition.of_rank(rank)}
            memory.grow({b: box for b, box in boxes.items() if volume(box)}, {})
            self.memories[rank] = memory

    @property
    def space(self) -> Space:
        """Its points."""
        return self.kind.space if isinstance(self.kind, VectorSpace) else self.kind

    @property
    def components(self) -> int | None:
        """The number of values at each point of a vector field; None for a field of numbers."""
        return self.kind.components if isinstance(self.kind, VectorSpace) else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole, which no rank holds."""
        lead = () if self.components is None else (self.components,)
        return *lead, *self.space.extent(self.spread.partition.sizes)

    def __repr__(self) -> str:
        return f"<Field on {self.kind!r}, {self.spread!r}>"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ArgumentError(
            "A field of several ranks is no array: no rank holds all of it.",
            hint="field.gather() makes an array of the whole, field.parts() gives a rank's own.",
        )

    # -- values ----------------------------------------------------------------------------------

    def parts(self) -> Iterator[tuple[Box, Array]]:
        """Yield the boxes that the ranks of this process own, each with its values.

        The values are a view that is only read; `fill` and `set` change them. It is that of this
        moment: a program that is bound later may move them.

        Yields
        ------
        tuple
            The ranges of the box, one pair (low, high) for each axis; and an array of its shape,
            with the components of a vector field before.
        """
        for box, view in self._views():
            view.flags.writeable = False
            yield box, view

    def _views(self) -> Iterator[tuple[Box, Array]]:
        for rank in self.memories:
            yield from self._of_rank(rank)

    def fill(self, values: Callable[..., Any]) -> None:
        """Set all values by a function of the indices; it is called for each box.

        Parameters
        ----------
        values
            Takes an array of integers for each axis, which broadcast to the shape of a box, and
            gives what broadcasts to the values of the box.

        Raises
        ------
        ShapeError
            If the values do not broadcast to the shape of a box; the field is as before.
        """
        made = []
        for box, view in self._views():
            indices = np.ogrid[tuple(slice(low, high) for low, high in box)]
            made.append((view, self._fitting(values(*indices), view.shape, box)))
        for view, new in made:
            view[...] = new
        self.changes += 1

    def _fitting(self, values: Any, shape: tuple[int, ...], box: Box) -> Array:
        try:
            return np.broadcast_to(np.asarray(values, self.dtype), shape)
        except ValueError:
            raise ShapeError(
                f"The values for the box {box} have shape {np.shape(values)}, not {shape}."
            ) from None

    def set(self, whole: Any) -> None:
        """Set all values from an array of the whole, of which each rank takes its part.

        Parameters
        ----------
        whole
            Anything that is indexed like an array of the field's shape: an array, one that is
            mapped from a file, or a number for all points.
        """
        if not hasattr(whole, "shape"):
            whole = np.asarray(whole, self.dtype)
        if np.ndim(whole) and np.shape(whole) != self.shape:
            raise ShapeError(f"The whole has shape {self.shape}, not {np.shape(whole)}.")
        lower = self.space.lower
        for box, view in self._views():
            inside = slices(box, lower)
            view[...] = whole[(..., *inside)] if np.ndim(whole) else whole
        self.changes += 1

    def gather(self, root: int | None = None) -> Array | None:
        """Return the whole as an array.

        Parameters
        ----------
        root
            The rank that gets it; the others get None. By default all ranks get it.
        """
        mine = [
            [(box, np.array(view)) for box, view in self._of_rank(rank)] for rank in self.memories
        ]
        every = self.spread.world.gathered(mine, root)
        if every is None:
            return None
        whole = np.empty(self.shape, self.dtype)
        for each in every:
            for box, values in each:
                inside = slices(box, self.space.lower)
                whole[(..., *inside)] = values
        return whole

    def _of_rank(self, rank: int) -> Iterator[tuple[Box, Array]]:
        owned = self.spread.partition.owned(self.space)
        memory = self.memories[rank]
        for number, storage in memory.near.items():
            box = as_box(owned[number])
            if volume(box):
                yield box, storage.view(memory.flat, box)

    def copy(self) -> Field:
        """Return a field with the same values."""
        made = Field(self.spread, self.kind, self.dtype)
        for (_, view), (_, values) in zip(made._views(), self._views(), strict=True):
            view[...] = values
        return made

    # -- programs --------------------------------------------------------------------------------

    def room(
        self,
        rank: int,
        near: Mapping[int, Box],
        far: Mapping[int, Sequence[Box]],
    ) -> None:
        """Make room for what a program reads around boxes, and elsewhere."""
        if self.memories[rank].grow(near, far):
            self.moves += 1

    def __ssr_program__(
        self, program: ssr.Program, args: tuple[Any, ...], named: Mapping[str, Any], bound: bool
    ) -> Any:
        """Run a program on fields, or bind it to them."""
        return self.spread.run(program, args, named, bound=bound)

    def __rmatmul__(self, matrix: Any) -> Field:
        """Return the product of a matrix with the field."""
        return self.spread.product(matrix, self)
