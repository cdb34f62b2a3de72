"""How NetCDF and Zarr take the variables of a run, box by box, and record by record.

A NetCDF file is written by the first rank, which collects one box after the other; of a Zarr store
every rank writes its own chunks, which depend on the size of the grid only. Either way a record is
there as a whole or not at all.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc

from .checkpoint import Setting
from .conventions import NAMES, Box, Recorded, attributes, dimensions, place, variables
from .files import aside, reserve, writing
from .scheme import Solver

CHUNK = 256
"""The most points along the sides of a box that is written at once, and of a chunk of Zarr."""

ROOM = 1 << 20
"""The most bytes that a record of NetCDF takes besides its numbers."""


def boxes(n: int) -> list[Box]:
    """Return the boxes that are written one by one: panels, cut if they are large."""
    lines = [(low, min(low + CHUNK, n)) for low in range(0, n, CHUNK)]
    return [((p, p + 1), rows, columns) for p, rows, columns in product(range(6), lines, lines)]


class Store(ABC):
    """A file or a directory to which records are appended.

    All ranks call its methods together.

    Parameters
    ----------
    path
        Where it is to be.
    flow
        The solver, of which fields and constants are written.
    """

    def __init__(self, path: Path, setting: Setting, command: str, flow: Solver) -> None:
        self.path, self.setting, self.command, self.on = path, setting, command, flow.on
        self.variables, self.points = variables(flow.known), setting.points

    @abstractmethod
    def create(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Make the store with its first record, beside its place and then there."""

    @abstractmethod
    def append(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Append a record."""


class NetCDF(Store):
    """A file that the first rank writes."""

    def create(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Make the file with its first record, beside its place and then there."""
        if not self.on.first:
            self._collect(None, 0, record)
            return
        with aside(self.path) as beside:
            reserve(beside, self._bytes(first=True))
            beside.unlink()
            with _opened(beside, "w") as file:
                self._describe(file)
                self._append(file, seconds, record)

    def append(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Append a record."""
        if not self.on.first:
            self._collect(None, 0, record)
            return
        with writing(self.path):
            reserve(self.path, self._bytes(first=False))
            with _opened(self.path, "a") as file:
                self._append(file, seconds, record)

    def _bytes(self, *, first: bool) -> int:
        lengths = dimensions(self.points)
        numbers = 0
        for variable in self.variables.values():
            if variable.values is None or first:
                numbers += int(np.prod([lengths.get(d, 1) for d in variable.dimensions]))
        return 8 * numbers + ROOM

    def _describe(self, file: Any) -> None:
        """Make the variables of a new file, and write those that do not change."""
        file.dimensions = {"time": None, **dimensions(self.points)}
        file.attrs.update(attributes(self.setting, self.command))
        for name, variable in self.variables.items():
            values = variable.values
            kind = values.dtype if isinstance(values, np.ndarray) else np.dtype(np.float64)
            made = file.create_variable(name, variable.dimensions, kind)
            made.attrs.update(variable.attributes)
            if isinstance(values, np.ndarray):
                made[:] = values
            elif values is not None:
                for box in boxes(self.points):
                    made[place(box)] = values(*np.ogrid[place(box)])

    def _append(self, file: Any, seconds: float, record: Sequence[Recorded]) -> None:
        number = file.dimensions["time"].size
        file.resize_dimension("time", number + 1)
        try:
            file.variables["time"][number] = seconds
            self._collect(file, number, record)
        except BaseException:  # of an interrupt too: a record is there as a whole or not at all
            file.resize_dimension("time", number)
            raise

    def _collect(self, file: Any, number: int, record: Sequence[Recorded]) -> None:
        """Write the fields of a record, collected box by box."""
        for each in record:
            for box in boxes(self.points):
                collected = each.field.gather(root=0, box=box)
                if file is not None and collected is not None:
                    for name, values in each.variables(box, collected):
                        file.variables[name][(number, *place(box))] = values


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[Any]:
    import h5netcdf

    with h5netcdf.File(path, mode) as file:
        yield file


class Zarr(Store):
    """A store whose chunks are written by all ranks.

    It has format 2, whose metadata are in one file: a record counts once that is written.
    """

    def __init__(self, path: Path, setting: Setting, command: str, flow: Solver) -> None:
        super().__init__(path, setting, command, flow)
        sizes: dict[str, Any] = dict(flow.on.sizes)
        every, world, self.space = boxes(flow.cells), flow.on.world, flow.points
        mine = [
            (k * world.ranks // max(len(every), world.ranks), 0, b) for k, b in enumerate(every)
        ]
        self.chunked = bc.spread(flow.points.grid, world, boxes=mine, **sizes)

    def create(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Make the store with its first record, beside its place and then there."""
        if not self.on.first:
            self._fill(Path(self.on.shared(None)), 0, record, constant=True)
            return
        with aside(self.path) as beside:
            self._describe(beside)
            self.on.shared(str(beside))
            self._fill(beside, 0, record, constant=True)
            self._count(beside, 0, seconds)

    def append(self, seconds: float, record: Sequence[Recorded]) -> None:
        """Append a record."""
        number = 0
        with writing(self.path):
            if self.on.first:
                number = self._grow()
            number = self.on.shared(number)
            self._fill(self.path, number, record, constant=False)
            if self.on.first:
                self._count(self.path, number, seconds)

    def _describe(self, path: Path) -> None:
        """Make the arrays of a new store."""
        import zarr

        group = zarr.open_group(path, mode="w", zarr_format=2)
        group.attrs.update(attributes(self.setting, self.command))
        n = self.points
        lengths = {"time": 1, **dimensions(n)}
        chunks = {"time": 1, "panel": 1, "y": min(n, CHUNK), "x": min(n, CHUNK), "corner": 4}
        for name, variable in self.variables.items():
            axes, values = variable.dimensions, variable.values
            kind = values.dtype if isinstance(values, np.ndarray) else np.dtype(np.float64)
            made = group.create_array(
                name,
                shape=tuple(lengths[d] for d in axes),
                chunks=tuple((lengths if len(axes) == 1 else chunks)[d] for d in axes),
                dtype=kind,
                fill_value=None,
                attributes={"_ARRAY_DIMENSIONS": list(axes), **variable.attributes},
            )
            if isinstance(values, np.ndarray):
                made[:] = values

    def _grow(self) -> int:
        """Make room for a record; return its number."""
        group = _group(self.path)
        number = int(group["time"].shape[0])
        for name in NAMES:
            array = group[name]
            array.resize((number + 1, *array.shape[1:]))
        return number

    def _fill(self, path: Path, number: int, record: Sequence[Recorded], *, constant: bool) -> None:
        """Write the chunks of a record that this rank has; return when all ranks have theirs."""
        group = _group(path)
        for each in record:
            for box, mine in each.field.moved(self.chunked).parts():
                for name, values in each.variables(box, mine):
                    group[name][(number, *place(box))] = values
        if constant:
            points = self.chunked.empty(self.space)
            for name, variable in self.variables.items():
                if callable(variable.values):
                    for box, _ in points.parts():
                        group[name][place(box)] = variable.values(*np.ogrid[place(box)])
        self.on.any(False)

    def _count(self, path: Path, number: int, seconds: float) -> None:
        """Write the time of a record and the metadata of all arrays, from when on it counts."""
        import zarr

        times = _group(path)["time"]
        times.resize((number + 1,))
        times[number] = seconds
        zarr.consolidate_metadata(str(path))


def _group(path: Path) -> Any:
    import zarr

    return zarr.open_group(path, mode="r+", use_consolidated=False)


STORES: dict[str, type[Store]] = {".nc": NetCDF, ".zarr": Zarr}
"""The store for each suffix of a name."""
