"""Distributions: grids and spaces over ranks, the fields on them, and runs of programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError, UnboundError
from ssr.extension import Immutable, VectorSpace, match_sizes

from ..partition.cuts import block_axes, chosen, with_whole_lines
from ..partition.partition import Partition
from ..ranks.facts import of_program
from ..ranks.field import Field
from ..ranks.given_values import check_real, field_dtype
from ..schedules.plan import Plan, plan
from ..worlds.world import World, positive, simulated_ranks
from .alternating import alternating
from .binding import bound_program
from .bound import Bound


class Distribution(Immutable):
    """A distribution of a grid or a space over ranks; made by `boundary.distribute`.

    Attributes
    ----------
    partition
        The boxes and their owners.
    world
        The ranks.

    Examples
    --------
    >>> import ssr, boundary as bc
    >>> cells = ssr.Space(8)
    >>> on = bc.distribute(cells, bc.simulated_ranks(2))
    >>> for box, values in on.zeros(cells).parts():
    ...     print(box, values)
    ((0, 4),) [0. 0. 0. 0.]
    ((4, 8),) [0. 0. 0. 0.]
    """

    def __init__(self, cells: Sequence[Space], partition: Partition, world: World) -> None:
        self.cells = tuple(cells)
        self.partition = partition
        self.world = world
        self._bound: dict[tuple[int, ...], tuple[Bound, tuple[object, ...]]] = {}
        self._plans: WeakKeyDictionary[ssr.Program, dict[Any, Plan]] = WeakKeyDictionary()
        self._coarser: dict[Any, Distribution] = {}
        self._fewer: dict[int, Distribution] = {}
        self._whole: dict[frozenset[int], Distribution] = {}

    def __repr__(self) -> str:
        count = len(self.partition)
        boxes = f"{count} box{'' if count == 1 else 'es'}"
        return f"{boxes} on {self.world.ranks} rank{'' if self.world.ranks == 1 else 's'}"

    @cached_property
    def boxed(self) -> Distribution:
        """The same boxes in one process, with separate memory."""
        return Distribution(self.cells, self.partition, simulated_ranks(1))

    @property
    def sizes(self) -> Mapping[str, int]:
        """Values of the symbolic sizes."""
        return self.partition.sizes

    def __str__(self) -> str:
        lines = [f"{self!r}, this process has {_ranks(self.world.here)}"]
        for rank in self.world.here:
            for box in self.partition.of_rank(rank):
                lines.append(f"  rank {rank}: {self.partition.shown(box)}")
        return "\n".join(lines)

    # -- collective decisions --------------------------------------------------------------------

    @property
    def is_root(self) -> bool:
        """Whether this process has the first rank, which prints and writes files for all."""
        return 0 in self.world.here

    def any(self, flag: bool) -> bool:
        """Return on all ranks whether a flag is set on any of them; all ranks call it together.

        Raises
        ------
        ArgumentError
            If the flag holds several values.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> bc.distribute(ssr.Space(8), bc.simulated_ranks(2)).any(False)
        False
        """
        try:
            most = np.array([bool(flag)], np.int64)
        except (ValueError, TypeError):
            raise ArgumentError(
                f"any takes one truth value, not several in {type(flag).__name__}.",
                hint="Write on.any(bool(array.any())).",
            ) from None
        nothing = np.zeros(0, np.int64)
        self.world.combine(nothing, most, "a decision of all ranks")
        return bool(most[0])

    def broadcast(self, value: Any) -> Any:
        """Return on all ranks the value that the first one gives; all ranks call it together.

        Parameters
        ----------
        value
            Anything that can be pickled. The values of other ranks are ignored.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> bc.distribute(ssr.Space(8), bc.simulated_ranks(2)).broadcast("name")
        'name'
        """
        return self.world.shared(value)

    # -- fields ----------------------------------------------------------------------------------

    def empty(self, kind: Space | VectorSpace, dtype: Any = np.float64) -> Field:
        """Return a field without values: NaN until they are set.

        Parameters
        ----------
        kind
            A space, or a vector space. Cells, faces, nodes, spaces with ghosts and those of coarser
            levels are owned like the distributed cells.
        dtype
            float64 or float32.

        Raises
        ------
        ArgumentError, DtypeError, UnboundError
            If the space is on another grid, the type is another one, or a size has no value.
        """
        space = kind.space if isinstance(kind, VectorSpace) else kind
        if not isinstance(space, Space):
            raise ArgumentError(f"A field is made on a space, not on {kind!r}.")
        found = field_dtype(dtype)
        for name in space.sizes:
            if name not in self.sizes:
                raise UnboundError(
                    f"No value is given for the size {name}.",
                    hint=f"Give it where the grid is spread: bc.distribute(..., {name}=...).",
                )
        return Field(self, kind, found)

    def zeros(self, kind: Space | VectorSpace, dtype: Any = np.float64) -> Field:
        """Return a field of zeros of a kind and a dtype, as `empty`."""
        made = self.empty(kind, dtype)
        made.set(0.0)
        return made

    def scatter(self, kind: Space | VectorSpace, whole: Any) -> Field:
        """Return a field with the values of an array of the whole.

        Parameters
        ----------
        kind
            A space, or a vector space.
        whole
            An array of the whole, float64 or float32, or lists of numbers.

        Raises
        ------
        ArgumentError, DtypeError, ShapeError
            If it is not such an array.
        """
        if hasattr(whole, "dtype"):
            check_real("The values", whole.dtype)
        made = self.empty(kind, getattr(whole, "dtype", np.float64))
        made.set(whole)
        return made

    # -- levels ----------------------------------------------------------------------------------

    def coarsen(self, points: Space, cells: Space | None = None) -> Distribution:
        """Return the distribution of a coarser level: its cells are points of a coarser space.

        A coarse point is owned like its fine ones, so restriction and interpolation read few points
        of other ranks. In a program, a field of the coarser level stands for the same points here,
        and the other way round.

        Parameters
        ----------
        points
            The points, as a space here.
        cells
            The space that they are on the coarser level; by default ``points``. If one space with
            symbolic sizes serves all levels, give that: its sizes have other values there.

        Raises
        ------
        ArgumentError
            If there are several kinds of blocks, or ``points`` is on another grid, or has other
            first indices than ``cells``.
        ShapeError, UnboundError
            If there are no sizes, or several, for which ``cells`` has as many points.

        Examples
        --------
        >>> import numpy as np, ssr, boundary as bc
        >>> n = ssr.size("n")
        >>> fine, coarse = ssr.Space(2 * n), ssr.Space(n)
        >>> @ssr.matrix(rows=coarse, cols=fine)
        ... def mean(i):
        ...     yield 2 * i, 0.5
        ...     yield 2 * i + 1, 0.5
        >>> @ssr.program(c=coarse, f=fine)
        ... def restrict(c, f):
        ...     c[:] = mean @ f
        >>> levels = [bc.distribute(fine, bc.simulated_ranks(2), n=8)]
        >>> levels.append(levels[0].coarsen(coarse, fine))
        >>> levels.append(levels[1].coarsen(coarse, fine))
        >>> f, c, d = (on.zeros(fine) for on in levels)
        >>> f.fill(lambda i: i)
        >>> restrict(c, f)
        >>> restrict(d, c)
        >>> d.gather()
        array([ 1.5,  5.5,  9.5, 13.5])
        """
        known = points, points if cells is None else cells
        for space in known:
            if not isinstance(space, Space):
                raise ArgumentError(f"coarsen takes spaces of points, not {space!r}.")
        if known not in self._coarser:
            self._coarser[known] = self._coarsened(*known)
        return self._coarser[known]

    def _coarsened(self, points: Space, cells: Space) -> Distribution:
        if len(self.cells) > 1:
            raise ArgumentError(
                f"A grid with blocks of {len(self.cells)} shapes cannot be coarsened.",
                hint="Distribute the coarser grid with boxes=.",
            )
        if points.lower != cells.lower:
            raise ArgumentError(
                f"{points!r} and {cells!r} have different first indices.",
                hint="Give cells with the first indices of the points.",
            )
        here = self.partition
        found = match_sizes([("points", cells, points.extent(here.sizes))], {})
        missing = [name for name in cells.sizes if name not in found]
        if missing:
            raise UnboundError(
                f"{cells!r} has as many points as {points!r} for more than one {missing[0]}.",
                hint=f"Give cells with one value of {missing[0]} for each number of points.",
            )
        boxes = here.owned(points)
        sizes = {**here.sizes, **found}
        made = Partition((cells,), sizes, here.kinds, boxes, here.owners, here.ranks)
        return Distribution((cells,), made, self.world)

    def agglomerate(self, ranks: int | None = None, *, points: int = 1) -> Distribution:
        """Return a distribution of the same cells on fewer ranks; the others own nothing.

        On a coarse level a rank has few points, and exchanges take longer than its work. There
        fields are moved, by `Field.set` or `Field.redistributed`, and their programs run on few
        ranks.

        Parameters
        ----------
        ranks
            The largest number of ranks.
        points
            The smallest number of cells of each rank, if there are as many cells.

        Returns
        -------
        Distribution
            The distribution itself if its cells are on so few ranks.

        Raises
        ------
        ArgumentError
            If a number is not a positive integer.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> n = ssr.size("n")
        >>> fine, coarse = ssr.Space(4 * n), ssr.Space(n)
        >>> below = bc.distribute(fine, bc.simulated_ranks(4), n=6).coarsen(coarse)
        >>> print(below.agglomerate(2))
        2 boxes on 4 ranks, this process has ranks 0 to 3
          rank 0: [0:3]
          rank 2: [3:6]
        >>> print(below.agglomerate(points=6).agglomerate(4))
        1 box on 4 ranks, this process has ranks 0 to 3
          rank 0: [0:6]
        """
        here = self.partition
        most = here.ranks if ranks is None else positive("ranks", ranks)
        cells = sum(math.prod(space.extent(here.sizes)) for space in self.cells)
        count = min(most, max(1, cells // positive("points", points)))
        if count >= len(set(here.owners.tolist())):
            return self
        if count not in self._fewer:
            made = chosen(self.cells, here.sizes, count)
            owners = made.owners * here.ranks // count  # close to the previous owners
            made = replace(made, owners=owners, ranks=here.ranks)
            self._fewer[count] = Distribution(self.cells, made, self.world)
        return self._fewer[count]

    def undivided(self, *axes: int) -> Distribution:
        """Return a distribution of the same cells in which no line along some axes is cut.

        Solves along grid lines need such a distribution. Where they alternate between axes, values
        are moved from a field of one distribution to that of another by `Field.set`.

        Parameters
        ----------
        *axes
            Axes of a block, counted as those of an array.

        Returns
        -------
        Distribution
            The distribution itself if its boxes are whole along these axes.

        Raises
        ------
        ArgumentError
            If there is no such axis.

        Examples
        --------
        >>> import ssr, boundary as bc
        >>> rows = bc.distribute(ssr.Space(4, 6), bc.simulated_ranks(2)).undivided(1)
        >>> columns = rows.undivided(0)
        >>> for on in rows, columns:
        ...     print(on)
        2 boxes on 2 ranks, this process has ranks 0 to 1
          rank 0: [0:2, 0:6]
          rank 1: [2:4, 0:6]
        2 boxes on 2 ranks, this process has ranks 0 to 1
          rank 0: [0:4, 0:3]
          rank 1: [0:4, 3:6]
        """
        known = block_axes(self.partition, axes)
        if known not in self._whole:
            made = with_whole_lines(self.partition, known)
            if made is self.partition:
                return self
            self._whole[known] = Distribution(self.cells, made, self.world)
        return self._whole[known]

    # -- programs --------------------------------------------------------------------------------

    def run(
        self,
        program: ssr.Program,
        args: tuple[Any, ...],
        named: Mapping[str, Any],
        *,
        bound: bool,
    ) -> Any:
        """Run a program on ``args`` and ``named``, or return it bound to them (``bound``)."""
        if bound:
            return bound_program(program, self, args, named, agreed=True)
        given = program.signature.arranged(args, named)
        kinds = [kind for _, kind in program.signature.kinds]
        is_field = [isinstance(kind, Space | VectorSpace) for kind in kinds]
        pairs = list(zip(given, is_field, strict=True))
        fields = tuple(value if field else None for value, field in pairs)
        return self._kept(program, fields)(*(value for value, field in pairs if not field))

    def alternating(
        self, programs: Sequence[ssr.Program], values: Mapping[str, Any]
    ) -> Callable[..., None]:
        """Return programs bound to values by `alternating`: a function of the other scalars."""
        return alternating(*programs).bind(**values)

    def _kept(self, program: ssr.Program, fields: tuple[Any, ...]) -> Bound:
        """Return a program bound to fields, cached with the program while all fields exist."""
        key = id(program), *map(id, fields)
        known = self._bound.pop(key, None)
        if known is None:
            made = bound_program(program, self, fields, {}, agreed=False)
            seen = [ref(f, lambda _: self._bound.pop(key, None)) for f in fields if f is not None]
            known = made, (program, *seen)
        self._bound[key] = known
        if len(self._bound) > KEPT:
            self._bound.pop(next(iter(tuple(self._bound))), None)
        return known[0]

    def plan(self, program: ssr.Program, dtype: np.dtype[Any]) -> Plan:
        """Return the execution plan of a program for a dtype, which is cached."""
        known = self._plans.setdefault(program, {})
        if dtype not in known:
            self.world.agree(of_program(program, dtype))
            what = f"the making of {program.ir.name}'s kernel"
            first = partial(self.world.first, what=what)
            known[dtype] = plan(program, self.partition, dtype, first)
        return known[dtype]

    def product(self, matrix: Any, x: Field) -> Field:
        """Return the product of a matrix with a field x."""
        program = matrix.program("apply")
        names = [name for name, _ in program.signature.kinds]
        kinds = dict(program.signature.kinds)
        y = self.empty(kinds[names[0]], x.dtype)
        self.run(program, (y, x), {}, bound=False)
        return y


KEPT = 512
"""The largest number of bound programs that a distribution keeps."""


def _ranks(here: Sequence[int]) -> str:
    return f"rank {here[0]}" if len(here) == 1 else f"ranks {here[0]} to {here[-1]}"
