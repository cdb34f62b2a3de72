"""Where the points of a run are: its spread over ranks, and the data of its matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

import boundary as bc
import ssr

from .numbers import Array
from .reference import field

ALONE = -1
"""The number of ranks of a run on fields of one process."""


PROCESSES: ContextVar[Any] = ContextVar("PROCESSES", default=None)
"""Ranks that replace those of a run, where a job has several processes."""


@dataclass(frozen=True)
class Parts:
    """Who owns the points of a run.

    Parameters
    ----------
    ranks
        The number of ranks; 0 for arrays, or `ALONE`.
    threads
        Whether they are threads.
    cuts
        The numbers of boxes along each axis, or nothing.
    boxes
        Boxes one by one with their ranks and kinds, or nothing.
    """

    ranks: int
    threads: bool = False
    cuts: tuple[int, ...] = ()
    boxes: tuple[Any, ...] = ()

    def world(self) -> Any:
        """Return the ranks."""
        if PROCESSES.get() is not None:
            return PROCESSES.get()
        if self.ranks == ALONE:
            return None
        return bc.threads(self.ranks) if self.threads else bc.simulated_ranks(self.ranks)

    def spread(self, cells: Any, sizes: Mapping[str, int]) -> Any:
        """Return the spread of a grid or space."""
        cut = (*self.cuts, 1, 1, 1, 1)[: cells.ndim] if self.cuts else None
        count = PROCESSES.get().size if PROCESSES.get() is not None else max(self.ranks, 1)
        boxes = [(rank % count, kind, box) for rank, kind, box in self.boxes] or None
        return bc.distribute(cells, self.world(), cut=cut, boxes=boxes, **sizes)


def numbers(seed: int, number: int, turn: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Return the data of a matrix, which texts count; half of all are new in each turn."""
    version = turn * ((seed + number) % 2)
    return np.random.default_rng([seed, number, version]).uniform(-1, 1, shape).astype(dtype)


def meant_data(seed: int, turn: int, dtype: str) -> Any:
    """Return the function ``data`` of a text under its reference meaning in a turn."""

    def data(cells: Any, kind: Any, number: int) -> Any:
        return field(numbers(seed, number, turn, kind.shape, dtype), kind)

    return data


class Ground:
    """The points of a run, on arrays or shared by ranks, and the function ``data`` of its text.

    Parameters
    ----------
    sizes
        The extents.
    seed, dtype
        Which data are drawn.
    parts
        Who owns the points.
    """

    def __init__(
        self, sizes: Iterable[tuple[str, int]], seed: int, dtype: str, parts: Parts
    ) -> None:
        self.sizes, self.seed, self.dtype, self.parts = dict(sizes), seed, dtype, parts
        self._on: Any = None
        self._data: dict[int, tuple[Any, Array]] = {}

    def spread(self, cells: Any) -> Any:
        """Return the spread of a grid or space, which is made once."""
        if self._on is None:
            kinds = cells.kinds if isinstance(cells, bc.Grid) else (cells,)
            needed = {name for space in kinds for name in space.sizes}
            sizes = {n: value for n, value in self.sizes.items() if n in needed}
            self._on = self.parts.spread(cells, sizes)
        return self._on

    def turn(self, turn: int) -> None:
        """Set data to those of a turn."""
        for number, (made, values) in self._data.items():
            new = numbers(self.seed, number, turn, values.shape, self.dtype)
            if new.tobytes() != values.tobytes():
                if isinstance(made, np.ndarray):
                    made[...] = new
                else:
                    made.set(new)
                self._data[number] = made, new

    def data(self, cells: Any, kind: Any, number: int) -> Any:
        """Return data of a matrix: on ranks a field, but for one of three, which is an array."""
        if number not in self._data:
            space = getattr(kind, "space", kind)
            lead = () if kind is space else (kind.components,)
            shape = *lead, *space.extent(self.sizes)
            values = numbers(self.seed, number, 0, shape, self.dtype)
            shared = self.parts.ranks and (self.seed + number) % 3
            made = self.spread(cells).scatter(kind, values) if shared else values.copy()
            self._data[number] = made, values
        return self._data[number][0]

    def changed(self) -> bool:
        """Whether data are others than those of the turn."""
        for made, values in self._data.values():
            now = made if isinstance(made, np.ndarray) else made.gather()
            if now.tobytes() != values.tobytes():
                return True
        return False

    def boxes(self, names: Mapping[str, Any]) -> dict[Any, Array]:
        """Return which box owns each point of the spaces that a text names; see `OWNERS`."""
        found = {}
        for space in names.values():
            if isinstance(space, ssr.Space):
                ranges = space.box(self.sizes)
                lower, shape = zip(*((low, high - low) for low, high in ranges), strict=True)
                owners = np.zeros(shape, int)
                for number, box in enumerate(self._on.partition.owned(space)):
                    at = tuple(slice(*edge) for edge in box - np.array(lower)[:, None])
                    owners[at] = number
                blocks = getattr(space, "blocks", ())
                found[lower, shape, space.data.staggered, blocks] = owners.ravel()
        return found
