"""`boundary.distribute`: distribute a grid or a space over ranks, and check the arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssr import Index, Space
from ssr.errors import ArgumentError, UnboundError
from ssr.extension import integer

from ...grid.grid import Grid
from ..partition.cuts import chosen, cut
from ..partition.partition import Partition, partition
from ..worlds.launch import world_of
from .distribution import Distribution


def distribute(
    cells: Grid | Space,
    ranks: Any = None,
    *,
    cut: Sequence[int] | None = None,
    boxes: Sequence[tuple[int, int, Sequence[tuple[int, int]]]] | None = None,
    **sizes: Any,
) -> Distribution:
    """Return the distribution of a grid or a space over ranks.

    Parameters
    ----------
    cells
        A grid, or a space without ghosts.
    ranks
        The result of `boundary.world`, `boundary.threads` or `boundary.simulated_ranks`; by default
        one rank alone.
    cut
        The number of parts of each block along each of its axes. By default blocks are cut so that
        ranks have nearly equal numbers of cells and few cells next to a cut.
    boxes
        The boxes, one by one: (rank, kind of blocks, ranges), where the ranges are one pair (low,
        high) for each axis of the cells, the block axis of a grid first. A rank may own none.
    **sizes
        Values of the symbolic sizes.

    Raises
    ------
    ArgumentError
        If the boxes do not cover every cell exactly once, or ``ranks`` is not a communicator,
        threads or simulated ranks.
    UnboundError
        If a size has no value.

    Examples
    --------
    The same text for one rank and for many:

    >>> import numpy as np, ssr, boundary as bc
    >>> n, = ssr.sizes("n")
    >>> cells = ssr.Space(n)
    >>> lap = ssr.stencil(cells, cells.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})
    >>> fill = bc.fill(cells.grow(1), bc.periodic(axis=0))
    >>> @ssr.program(u=cells, dt=ssr.scalar)
    ... def heat(u, dt):
    ...     u[:] = u + dt * (lap @ (fill @ u))
    >>> for ranks in 1, 3:
    ...     on = bc.distribute(cells, bc.simulated_ranks(ranks), n=8)
    ...     u = on.zeros(cells)
    ...     u.fill(lambda i: i)
    ...     heat(u, 0.25)
    ...     print(u.gather())
    [2. 1. 2. 3. 4. 5. 6. 5.]
    [2. 1. 2. 3. 4. 5. 6. 5.]
    """
    kinds = cells.kinds if isinstance(cells, Grid) else (cells,)
    if not all(isinstance(space, Space) for space in kinds):
        raise ArgumentError(f"distribute takes a grid or a space, not {cells!r}.")
    known = _sizes(kinds, sizes)
    world = world_of(ranks)
    if cut is not None and boxes is not None:
        raise ArgumentError("Both cut and boxes are given.", hint="Give one of them.")
    if boxes is not None:
        made = partition(kinds, known, boxes, world.ranks)
    elif cut is not None:
        made = _cut(kinds, known, cut, world.ranks)
    else:
        made = chosen(kinds, known, world.ranks)
    return Distribution(kinds, made, world)


def _cut(kinds: Sequence[Space], sizes: Mapping[str, int], parts: Any, ranks: int) -> Partition:
    counts = [integer(p) for p in parts] if isinstance(parts, Sequence) else [None]
    if any(c is None for c in counts):
        raise ArgumentError(f"cut is {parts!r}, not a number of parts for each axis of a block.")
    return cut(kinds, sizes, [c for c in counts if c is not None], ranks)


def _sizes(kinds: Sequence[Space], given: Mapping[str, Any]) -> dict[str, int]:
    """Return the values of sizes."""
    known: dict[str, int] = {}
    for name, value in given.items():
        number = integer(value)
        if number is None or isinstance(value, Index):
            raise ArgumentError(f"The size {name} is {value!r}, not an integer.")
        known[name] = number
    sizes = {n for space in kinds for n in space.sizes}
    for name in sorted(set(known) - sizes):
        raise ArgumentError(
            f"There is no size {name}.", hint=f"The sizes are {', '.join(sorted(sizes)) or 'none'}."
        )
    for name in sorted(sizes):
        if name not in known:
            raise UnboundError(
                f"No value is given for the size {name}.",
                hint=f"Write bc.distribute(..., {name}=...).",
            )
    return known
