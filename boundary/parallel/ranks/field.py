"""Distributed fields: values owned by several ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import index
from typing import Any, NoReturn, Protocol
from weakref import WeakKeyDictionary

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, ShapeError, SpaceError, UnsupportedError
from ssr.extension import Array, VectorSpace, allocated, integer

from ...rules.arguments import check_function
from ..partition.boxes import Box, shifted, slices
from ..partition.partition import Partition
from ..schedules.plan import Plan
from ..worlds.world import World
from .given_values import indexed, real_array
from .no_array_operations import NoArrayOperations
from .redistribution import Cargo, carry, route
from .values import Values, Views, first_index


class Ground(Protocol):
    """The domain of distributed fields: boxes, their owners, and programs over such fields."""

    partition: Partition
    world: World

    @property
    def boxed(self) -> Ground:
        """The same boxes in one process, with separate memory."""

    def empty(self, kind: Space | VectorSpace, dtype: Any = np.float64) -> Field:
        """Return a field without values."""

    def zeros(self, kind: Space | VectorSpace, dtype: Any = np.float64) -> Field:
        """Return a field of zeros."""

    def run(
        self,
        program: ssr.Program,
        args: tuple[Any, ...],
        named: Mapping[str, Any],
        *,
        bound: bool,
    ) -> Any:
        """Run a program on fields, or bind it to them."""

    def alternating(
        self, programs: Sequence[ssr.Program], values: Mapping[str, Any]
    ) -> Callable[..., None]:
        """Bind programs to fields, each on a distribution with undivided lines."""

    def plan(self, program: ssr.Program, dtype: np.dtype[Any]) -> Plan:
        """Return the execution plan of a program."""

    def product(self, matrix: Any, x: Field) -> Field:
        """Return the product of a matrix with a field."""

    def coarsen(self, points: Space, cells: Space | None = None) -> Ground:
        """Return the distribution of a coarser level."""

    def undivided(self, *axes: int) -> Ground:
        """Return a distribution of the same cells in which no line along some axes is cut."""

    def agglomerate(self, ranks: int | None = None, *, points: int = 1) -> Ground:
        """Return a distribution of the same cells on fewer ranks."""


class Field(NoArrayOperations):
    """A field whose points are owned by the boxes of a partition; made by `Distribution.zeros`.

    A program takes it as an argument instead of an array. Each rank has the points of its own
    boxes, and a halo of points that its programs read, which is managed by the programs. All ranks
    together, in the same order, make and change a field: they call `Distribution.zeros`, `fill` and
    programs.

    Attributes
    ----------
    distribution
        The owners of the points.
    kind
        Its space, or vector space.
    dtype
        The type of its numbers.
    values
        Its values on the ranks of this process.
    number
        An identifier that is the same on all ranks; 0 in a job of one process.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(6)
    >>> on = bc.distribute(cells, bc.simulated_ranks(2))
    >>> u = on.zeros(cells)
    >>> u.fill(lambda i: i**2)
    >>> u.gather()
    array([ 0.,  1.,  4.,  9., 16., 25.])
    """

    def __init__(self, distribution: Ground, kind: Space | VectorSpace, dtype: Any) -> None:
        self.distribution = distribution
        self.kind = kind
        self.dtype = np.dtype(dtype)
        ground, world = distribution.partition, distribution.world
        self.number = world.agree(
            {
                "step": "the making of a field",
                **ground.facts,
                "space": repr(kind),
                "dtype": str(self.dtype),
            }
        )
        self.values = Values(self.space, ground, self.components, self.dtype, world)
        self._ways: WeakKeyDictionary[Values, tuple[tuple[int, int], Cargo]] = WeakKeyDictionary()

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
        """The shape of the array of all points, which no rank need hold."""
        lead = () if self.components is None else (self.components,)
        return *lead, *self.space.extent(self.distribution.partition.sizes)

    @property
    def size(self) -> int:
        """The number of values of the whole."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"<Field on {self.kind!r}, {self.distribution!r}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """Return the whole as an array, where one process holds all of it.

        It is a copy, so that it is the same on one rank, on threads and on simulated ranks. Where
        one array holds the whole, ``copy=False`` gives a view of it that is only read.

        Raises
        ------
        ArgumentError
            If the field belongs to several processes, or there is nothing to give without a copy.

        Examples
        --------
        >>> import numpy as np, ssr, boundary as bc
        >>> cells = ssr.Space(4)
        >>> u = bc.distribute(cells, bc.threads(2)).zeros(cells)
        >>> u.fill(lambda i: i)
        >>> np.asarray(u, dtype=int)
        array([0, 1, 2, 3])
        """
        if len(self.distribution.world.here) < self.distribution.world.ranks:
            raise ArgumentError(
                "A field of several processes is not an array: none of them holds all of it.",
                hint="field.gather() makes an array of it, field.parts() gives a rank's points.",
            )
        kind = self.dtype if dtype is None else np.dtype(dtype)
        if copy is False:
            if self.values.whole is None or kind != self.dtype:
                raise ArgumentError(
                    "The values of a field are not an array of this dtype without a copy.",
                    hint="Write np.asarray(field), which copies.",
                )
            view = self.values.whole.view()
            view.flags.writeable = False
            return view
        whole = self.gather()
        assert whole is not None
        return whole.astype(kind, copy=False)

    # -- values ----------------------------------------------------------------------------------

    def parts(self) -> Iterator[tuple[Box, Array]]:
        """Yield the boxes that the ranks of this process own, each with its values.

        The values are a read-only view; `fill` and `set` change them. Use the view at once: a
        program that is bound later may move the values in memory.

        Yields
        ------
        tuple
            The ranges of the box, one pair (low, high) for each axis; and an array of its shape,
            with the components of a vector field before.
        """
        for box, view in self.values.views():
            view.flags.writeable = False
            yield box, view

    def fill(self, values: Callable[..., Any]) -> None:
        """Set all values by a function of the indices; it is called for each box.

        Parameters
        ----------
        values
            Takes an array of integers for each axis, which broadcast to the shape of a box, and
            returns values that broadcast to the shape of the box.

        Raises
        ------
        ArgumentError, DtypeError, ShapeError
            If the values are not real numbers, or do not broadcast to the shape of a box; the field
            is as before.
        """
        if not callable(values):
            raise ArgumentError(
                f"fill takes a function of the indices, not {values!r}.",
                hint="Write u.fill(lambda j, i: ...), or u.set(array) for an array of the whole.",
            )
        check_function("fill", values, self.space.ndim)
        made = []
        for box, view in self.values.views():
            indices = np.ogrid[tuple(slice(low, high) for low, high in box)]
            made.append((view, self._fitting(values(*indices), view.shape, box)))
        for view, new in made:
            view[...] = new
        self.values.changes += 1

    def _fitting(self, values: Any, shape: tuple[int, ...], box: Box) -> Array:
        array = real_array(f"The values for the box {box}", values)
        try:
            return np.broadcast_to(array, shape)
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
            mapped from a file, or a number for all points. Or another field of the same kind, whose
            values are moved where its points are owned in another way.

        Raises
        ------
        ArgumentError, DtypeError
            If the values are not real numbers.
        ShapeError, SpaceError
            If an array has another shape, or a field is on another space.
        """
        if isinstance(whole, Field):
            self._copy(whole)
            return
        whole = indexed("The values", whole)
        if np.ndim(whole) and np.shape(whole) != self.shape:
            raise ShapeError(f"The whole has shape {self.shape}, not {np.shape(whole)}.")
        lower = self.space.first(self.distribution.partition.sizes)
        for box, view in self.values.views():
            inside = slices(box, lower)
            view[...] = whole[(..., *inside)] if np.ndim(whole) else whole
        self.values.changes += 1

    def gather(
        self, root: int | None = None, box: Sequence[tuple[int, int]] | None = None
    ) -> Array | None:
        """Return the whole, or the points of a box, as an array; all ranks call it.

        Only ranks that own some of the points send values. One rank can thus write a field that no
        rank can hold, box by box.

        Parameters
        ----------
        root
            The rank that gets it; the others get None. By default all ranks get it.
        box
            The points: one pair (low, high) for each axis of the space, in its indices.

        Raises
        ------
        ArgumentError
            If there is no such rank, or the box is not one of the space.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> cells = ssr.Space(4, 6)
        >>> u = bc.distribute(cells, bc.simulated_ranks(3)).zeros(cells)
        >>> u.fill(lambda j, i: 10 * j + i)
        >>> u.gather(root=0, box=((1, 3), (2, 5)))
        array([[12., 13., 14.],
               [22., 23., 24.]])
        """
        world, every = self.distribution.world, self.space.box(self.distribution.partition.sizes)
        points = every if box is None else _part(self.space, every, box)
        target = 0 if root is None else _rank(root, world)
        world.agree(
            {
                "step": "the gathering of a field",
                "field": f"number {self.number}",
                "root": str(root),
                "box": str(points),
            }
        )
        whole: Array | None = None
        places: Views = {}
        if root is None or target in world.here:
            lead = self.shape[: -len(points)]
            whole = allocated((*lead, *(high - low for low, high in points)), self.dtype)
            if target in world.here:
                places = self.values.places(whole, points, target)
        carry(world, self.values.within(points, target), places)
        if root is None and whole is not None:
            world.broadcast(whole, target, "the gathering of a field")
        return whole

    def redistributed(self, on: Ground) -> Field:
        """Return a field with the same values whose points are owned in another way.

        It is the field itself if its points are owned in this way. All ranks call it. Each sends
        one message to each rank that receives some of its points.

        Parameters
        ----------
        on
            A distribution of the same cells over the same ranks.

        Raises
        ------
        ArgumentError
            If ``on`` has other cells or other ranks.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> cells, ranks = ssr.Space(6), bc.simulated_ranks(3)
        >>> u = bc.distribute(cells, ranks, cut=(2,)).zeros(cells)
        >>> u.fill(lambda i: i)
        >>> for box, values in u.redistributed(bc.distribute(cells, ranks, cut=(3,))).parts():
        ...     print(box, values)
        ((0, 2),) [0. 1.]
        ((2, 4),) [2. 3.]
        ((4, 6),) [4. 5.]
        """
        if on is self.distribution:
            return self
        self._check_ground(on)
        made = Field(on, self.kind, self.dtype)
        made.set(self)
        return made

    def _check_ground(self, on: Ground) -> None:
        """Raise if values cannot be moved to another distribution."""
        here = self.distribution
        partition = getattr(on, "partition", None)
        if not isinstance(partition, Partition) or not partition.has_cells_of(here.partition):
            raise ArgumentError(
                f"The field cannot be moved to {on!r}: it is not a distribution of the same cells.",
                hint="Write bc.distribute(...) of the same grid and sizes, with other boxes.",
            )
        if on.world != here.world:
            raise ArgumentError(
                f"The field is on {here.world!r}, and cannot be moved to {on.world!r}.",
                hint="Give bc.distribute(...) the same ranks.",
            )

    def __copy__(self) -> Field:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Field:
        return self.copy()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            f"{self!r} cannot be pickled.",
            note="Each rank has a part of it.",
            hint="Pickle the array that gather() returns, or write it by ssr.output.save.",
        )

    def copy(self) -> Field:
        """Return a field with the same values."""
        made = Field(self.distribution, self.kind, self.dtype)
        made._copy(self)
        return made

    def _copy(self, other: Field) -> None:
        """Copy all values from another field."""
        if other is self:
            return
        if other.kind != self.kind:
            raise SpaceError(f"The other field is on {other.kind!r}, not on {self.kind!r}.")
        if other.distribution is self.distribution:
            self.values.copy(other.values)
        else:
            self._move(other)

    def _move(self, other: Field) -> None:
        """Move the values of a field of another distribution here."""
        moves = other.values.moves, self.values.moves
        known = self._ways.pop(other.values, None)
        if known is None or known[0] != moves:
            other._check_ground(self.distribution)
            known = moves, route(self.distribution.world, other.values, self.values)
        known[1].carry()
        self._ways[other.values] = known  # unless an error has interrupted it
        self.values.changes += 1

    # -- protocol of the solvers of ssr ----------------------------------------------------------

    @property
    def __ssr_layout__(self) -> Hashable:
        """The properties by which fields can replace each other in programs."""
        return self.distribution, self.kind, self.dtype

    def __ssr_like__(
        self, points: Space | VectorSpace | None = None, space: Space | VectorSpace | None = None
    ) -> Field:
        """Return a field without values on the same points, or on the points of a coarser level."""
        if points is None or space is None:
            return Field(self.distribution, self.kind, self.dtype)
        if points == space:
            return Field(self.distribution, space, self.dtype)
        grids = [kind.space if isinstance(kind, VectorSpace) else kind for kind in (points, space)]
        return Field(self.distribution.coarsen(*grids), space, self.dtype)

    def __ssr_gathered__(self) -> Field:
        """Return a field without values on as few ranks as its points are worth."""
        fewer = self.distribution.agglomerate(points=WORTH)
        return self if fewer is self.distribution else Field(fewer, self.kind, self.dtype)

    def __ssr_beside__(self, other: Field) -> Field:
        """Return a field without values, distributed like ``other`` if both have the same cells."""
        here, there = self.distribution, other.distribution
        if there is here or not there.partition.has_cells_of(here.partition):
            return self
        return Field(there, self.kind, self.dtype)

    # -- files -----------------------------------------------------------------------------------

    @property
    def __ssr_ranks__(self) -> Ground:
        """The ranks that share the points, for collective decisions."""
        return self.distribution

    def __ssr_piece__(self, box: Box) -> Array | None:
        """Return the values of a box of the global array on the first rank, else None."""
        if self.values.whole is not None:
            mine: Array = self.values.whole[slices(box, (0,) * len(box))]
            return mine
        found = list(self._shared_out([box], [0], "the gathering of a field"))
        return found[0][1] if found else None

    def __ssr_boxes__(self, boxes: Sequence[Box]) -> Iterator[tuple[int, Array]]:
        """Distribute boxes of the global array among ranks; yield the boxes of this process."""
        world, step = self.distribution.world, "the moving of a field"
        if len(world.here) < world.ranks:
            yield from self._shared_out(boxes, self._owners(len(boxes)), step)
            return
        for number, box in enumerate(boxes):  # one after the other, in less memory
            ((_, values),) = self._shared_out([box], [0], step)
            yield number, values

    def __ssr_share__(self, count: int) -> list[int]:
        """Return which of ``count`` boxes this process receives from `__ssr_boxes__`."""
        here = self.distribution.world.here
        return [number for number, rank in enumerate(self._owners(count)) if rank in here]

    def _owners(self, count: int) -> list[int]:
        """Return the rank of each of ``count`` boxes."""
        ranks = self.distribution.world.ranks
        return [number * ranks // max(count, ranks) for number in range(count)]

    def _shared_out(
        self, boxes: Sequence[Box], owners: Sequence[int], step: str
    ) -> Iterator[tuple[int, Array]]:
        """Yield the boxes of the global array that ranks of this process receive."""
        world, lower = self.distribution.world, self.space.first(self.distribution.partition.sizes)
        field = f"number {self.number}"
        world.agree({"step": step, "field": field, "boxes": f"{len(boxes)} from {boxes[:1]}"})
        lead = len(self.shape) - len(lower)
        made: dict[int, Array] = {}
        sent: dict[tuple[int, int], list[Array]] = {}
        received: dict[tuple[int, int], list[Array]] = {}
        for number, (box, rank) in enumerate(zip(boxes, owners, strict=True)):
            some, points = slices(box[:lead], (0,) * lead), shifted(box[lead:], lower)
            for pair, views in self.values.within(points, rank).items():
                sent.setdefault(pair, []).extend(view[some] for view in views)
            if rank in world.here:
                made[number] = allocated(tuple(high - low for low, high in box), self.dtype)
                for pair, views in self.values.places(made[number], points, rank).items():
                    received.setdefault(pair, []).extend(views)
        carry(world, sent, received)
        yield from made.items()

    def __ssr_first__(self, test: Callable[[Array], Array]) -> tuple[int, ...] | None:
        """Return the index of the first value for which a test is true, in C order, on all ranks.

        It is that of the array of the whole. All ranks call it.
        """
        lower = self.space.first(self.distribution.partition.sizes)
        parts = ((box, test(values)) for box, values in self.parts())
        return first_index(self.distribution.world, self.shape, lower, parts, "a search in a field")

    # -- programs --------------------------------------------------------------------------------

    def __ssr_program__(
        self, program: ssr.Program, args: tuple[Any, ...], named: Mapping[str, Any], bound: bool
    ) -> Any:
        """Run a program on fields, or bind it to them."""
        return self.distribution.run(program, args, named, bound=bound)

    def __ssr_in_turn__(
        self, programs: Sequence[ssr.Program], values: Mapping[str, Any]
    ) -> Callable[..., None]:
        """Return programs bound to fields, each on a distribution with undivided lines."""
        return self.distribution.alternating(programs, values)

    def __ssr_whole__(self) -> Array | None:
        """Return the global array in a job of one process."""
        return self.values.whole

    def __rmatmul__(self, matrix: Any) -> Field:
        """Return the product of a matrix with the field."""
        if not hasattr(type(matrix), "program"):
            self._refuse_product()
        return self.distribution.product(matrix, self)


WORTH = 1000
"""The smallest number of points per rank on a multigrid level. With fewer points messages
dominate."""


def _rank(given: Any, world: World) -> int:
    """Return the number of a rank."""
    number = integer(given)
    if number is None or not 0 <= number < world.ranks:
        raise ArgumentError(
            f"There is no rank {given!r} of {world.ranks}.", hint="Ranks are counted from 0."
        )
    return number


def _part(space: Space, every: Box, given: Any) -> Box:
    """Return a user's box of points of a space after a check."""
    found: Box = ()
    with suppress(TypeError, ValueError):
        found = tuple((index(low), index(high)) for low, high in given)
    within = (a <= low < high <= b for (a, b), (low, high) in zip(every, found, strict=False))
    if len(found) != len(every) or not all(within):
        raise ArgumentError(
            f"box is {given!r}, not a box of points of {space!r}.",
            note=f"That is one pair (low, high) for each axis, within {every}.",
        )
    return found
