"""Coordinates and ownership of off-grid points: each belongs to the rank that owns its cell."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ssr import Space
from ssr.errors import ArgumentError, Error, OutOfRangeError, ShapeError
from ssr.extension import Array

from ..parallel.programs.distribution import Distribution
from ..parallel.ranks.given_values import real_array
from .frame import Frame
from .owners import boxes_of, numbers_within, owners


class Places:
    """The points of the ranks of this process.

    Parameters
    ----------
    distribution, frame
        The cells and their owners, and the coordinates of the cells.
    outside
        The treatment of points outside the domain: ``raise``, ``clamp`` or ``nan``.

    Attributes
    ----------
    count
        The number of points on all ranks.
    numbers, coordinates, positions
        The increasing numbers of points, their coordinates, and the coordinates in index units.
    missing
        A mask of the points outside, which have no values.
    rows
        For each rank of this process the rows of the points that it owns.
    changes
        The number of times that points have been assigned to ranks.
    """

    def __init__(self, distribution: Distribution, frame: Frame, outside: str) -> None:
        self.distribution, self.frame, self.outside = distribution, frame, outside
        self.count = self.changes = 0
        self.numbers = np.zeros(0, np.int64)
        self.coordinates = self.positions = np.zeros((0, len(frame.rulers)))
        self.missing = np.zeros(0, bool)
        self.rows: dict[int, Array] = {}

    @property
    def cells(self) -> Space:
        """The cells."""
        return self.distribution.cells[0]

    # -- checks ----------------------------------------------------------------------------------

    def refuse(self, problem: Error | None) -> None:
        """Raise on all ranks if there is a problem on any of them."""
        if self.distribution.any(problem is not None):
            raise problem or ArgumentError(
                "Points of other ranks are refused.", note="The error of these ranks says why."
            )

    def checked(self, given: Any, rows: int | None) -> Array:
        """Return user coordinates, checked or clamped to the domain unless outside is 'nan'."""
        found = real_array("Coordinates", given).astype(np.float64)
        axes = len(self.frame.rulers)
        if not found.size:
            found = found.reshape(0, axes)
        if found.ndim != 2 or found.shape[1] != axes or rows not in (None, len(found)):
            raise ShapeError(
                f"Coordinates have shape {np.shape(given)}, not "
                f"({'points' if rows is None else rows}, {axes}).",
                hint="Give a row for each point, in the order of the axes of an array.",
            )
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise OutOfRangeError(
                f"The coordinates of point {row} are {tuple(found[row].tolist())}.",
                note="Coordinates are finite numbers.",
            )
        self._check_blocks(found)
        found = self.frame.wrapped(found)
        if self.outside == "raise":
            self._check_inside(found)
        return self.frame.clamped(found) if self.outside == "clamp" else found

    def _check_blocks(self, coordinates: Array) -> None:
        for x, ruler in zip(coordinates.T, self.frame.rulers, strict=True):
            count = ruler.axis.high
            wrong = np.flatnonzero((x != np.round(x)) | (x < 0) | (x >= count))
            if ruler.axis.is_block and len(wrong):
                raise OutOfRangeError(
                    f"The block of point {wrong[0]} is {x[wrong[0]]:g}.",
                    note=f"Blocks have the numbers 0 to {count - 1}.",
                )

    def _check_inside(self, coordinates: Array) -> None:
        outside = np.flatnonzero(self.frame.outside(coordinates))
        if not len(outside):
            return
        row = int(outside[0])
        rulers = [ruler for ruler in self.frame.rulers if not ruler.axis.is_block]
        ends = ", ".join("{:g} to {:g}".format(*ruler.ends) for ruler in rulers)
        raise OutOfRangeError(
            f"Point {row} is outside the cells, at {tuple(coordinates[row].tolist())}.",
            note=f"The ranges of the axes are {ends}.",
            hint='outside="clamp" moves such points to the side, outside="nan" gives NaN.',
        )

    def row_data(self, given: Any) -> Array:
        """Return user data after a check that it has a row for each point."""
        found = np.asarray(given)
        if found.ndim == 0 or len(found) != len(self.numbers) or found.dtype.hasobject:
            raise ShapeError(
                f"Data of points have shape {found.shape} and dtype {found.dtype}.",
                hint=f"Give an array of numbers with {len(self.numbers)} rows, one for each point.",
            )
        return found

    # -- owners ----------------------------------------------------------------------------------

    def begin(self, coordinates: Any, numbers: Any) -> None:
        """Distribute points, given all coordinates or the coordinates of numbered points."""
        points, known, problem = np.zeros(0), None, None
        try:
            points = self.checked(coordinates, None)
            known = None if numbers is None else _numbers(numbers, len(points))
        except Error as error:
            problem = error
        self.refuse(problem)
        if known is None:
            self._begin_with_all(points)
        else:
            self._begin_with_some(known, points)

    def _begin_with_all(self, points: Array) -> None:
        """Select the points of this process if all ranks have all points."""
        world = self.distribution.world
        digest = f"{len(points)} points (checksum {zlib.crc32(points.tobytes()):08x})"
        world.agree({"step": "the making of points", "coordinates": digest})
        self.count, numbers = len(points), np.arange(len(points))
        if len(world.here) == world.ranks:
            self.place(numbers, points, [])
            return
        mine = np.flatnonzero(self._is_own(self._cells_of(points), world.rank))
        self._settle(numbers[mine], points[mine], None)

    def _begin_with_some(self, numbers: Array, points: Array) -> None:
        """Send points to their owners if each rank has some of them."""
        world = self.distribution.world
        total = np.array([len(points)])
        world.combine(total, np.zeros(0, np.int64), "the making of points")
        self.count = int(total[0])
        problem = None
        if not self._are_distinct(numbers):
            problem = ArgumentError(
                f"numbers are not those of {self.count} points, each once.",
                hint=f"On all ranks together they are 0 to {self.count - 1}.",
            )
        self.refuse(problem)
        self.place(numbers, points, [])

    def _are_distinct(self, numbers: Array) -> bool:
        """Return whether the numbers on all ranks are 0 to count - 1, each once."""
        world, count = self.distribution.world, self.count
        valid = (numbers >= 0) & (numbers < count)
        kept = numbers[valid]
        checker = kept * world.ranks // max(1, count)
        parcels = {(world.rank, to): kept[checker == to] for to in np.unique(checker).tolist()}
        arrived = world.deliver(parcels, np.int64, "the making of points")
        every = np.concatenate([np.zeros(0, np.int64), *arrived.values()])
        return bool(valid.all()) and len(np.unique(every)) == len(every)

    def place(self, numbers: Array, coordinates: Array, data: Sequence[Array]) -> list[Array]:
        """Send points to the owners of their cells; return the data of local points."""
        world, target = self.distribution.world, None
        if world.ranks > 1:
            target = self._owners(self._cells_of(coordinates))
        if len(world.here) < world.ranks:
            assert target is not None
            rows = self.delivered(target, [numbers, coordinates, *data])
            (numbers, coordinates, *data), target = rows, None
        order = np.argsort(numbers, kind="stable")
        self._settle(numbers[order], coordinates[order], None if target is None else target[order])
        return [array[order] for array in data]

    def _cells_of(self, coordinates: Array) -> Array:
        return self.frame.cells(self.frame.positions(coordinates))

    def _is_own(self, cells: Array, rank: int) -> Array:
        boxes = boxes_of(self.distribution.partition, self.cells, rank)
        return numbers_within(boxes.items(), cells) >= 0

    def _owners(self, cells: Array) -> Array:
        """Return the ranks that own cells; most cells are local."""
        found = np.full(len(cells), -1)
        for rank in self.distribution.world.here:
            found[self._is_own(cells, rank)] = rank
        others = found < 0
        found[others] = owners(self.distribution.partition, self.cells, cells[others])
        return found

    def delivered(self, target: Array, arrays: Sequence[Array]) -> list[Array]:
        """Send each row of arrays to its target rank; return the rows received here."""
        world, found = self.distribution.world, []
        for array in arrays:
            parcels = {
                (world.rank, to): np.ascontiguousarray(array[target == to]).reshape(-1)
                for to in np.unique(target).tolist()
            }
            arrived = world.deliver(parcels, array.dtype, "the moving of points")
            parts = [values for _, values in sorted(arrived.items())]
            rows = np.concatenate([np.zeros(0, array.dtype), *parts])
            found.append(rows.reshape(-1, *array.shape[1:]))
        return found

    def _settle(self, numbers: Array, coordinates: Array, target: Array | None) -> None:
        """Store the points of this process, given their owners if it has several ranks."""
        numbers.flags.writeable = coordinates.flags.writeable = False
        self.numbers, self.coordinates = numbers, coordinates
        self.positions = self.frame.positions(coordinates)
        self.missing = self.frame.outside(coordinates)
        self.rows = {
            rank: np.arange(len(numbers)) if target is None else np.flatnonzero(target == rank)
            for rank in self.distribution.world.here
        }
        self.changes += 1


def _numbers(given: Any, count: int) -> Array:
    """Return user numbers of points after a check."""
    found = np.asarray(given)
    if found.shape != (count,) or (count and found.dtype.kind not in "iu"):
        raise ShapeError(
            f"numbers have shape {found.shape} and dtype {found.dtype}.",
            hint=f"Give {count} integers, one for each point.",
        )
    return found.astype(np.int64)
