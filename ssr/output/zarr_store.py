"""Zarr stores (format 2), whose chunks are written by all ranks.

An array is a directory with its metadata in JSON and a file for each chunk. The metadata of all
arrays are also in one file, ``.zmetadata``, by which `xarray` and `zarr` open a store; a record
becomes valid when that file is written. Chunks depend on the lengths of axes only.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import OutputError
from ..points.numbers import Array
from .pieces import Box, blocks, little
from .places import aside, writing
from .store import Description, Store, check_same
from .together import on_first, raise_any
from .variables import TIME, Source, Variable

SIDES = {1: 1 << 16, 2: 256}
"""Chunk extents of arrays with one and two axes."""

SIDE = 64
"""Chunk extent along each axis of arrays with more axes."""

TIMES = 1024
"""Records per chunk of the time variable."""

DESCRIPTION = 1024
"""Bytes of the metadata of an array, padded with blanks so that they can be updated in place."""


class Zarr(Store):
    """A directory of arrays."""

    chunks: Mapping[str, int]

    @staticmethod
    def times(path: Path) -> Array:
        """Return the times of the records of a store; none if it is not one of a writer."""
        found = _read(path)
        return np.zeros(0) if found is None else found[1]

    def create(self, time: float, record: Sequence[Source]) -> None:
        """Make the store with its first record, next to its place and then there."""
        with ExitStack() as stack:

            def begin() -> str:
                beside = stack.enter_context(aside(self.path))
                self._describe(beside, 1)
                return os.fsencode(beside).decode(errors="surrogateescape")

            beside = Path(on_first(self.ranks, begin))
            self._fill(beside, 0, [*self.layout.constants, *record])

            def end() -> None:
                with writing(self.path):
                    self._put_time(beside, 0, time)
                    self._put_metadata(beside, 1)
                stack.close()

            on_first(self.ranks, end)
        self.count, self.identity = 1, on_first(self.ranks, self.found)

    def open(self) -> Array:
        """Continue a store of the same variables; return the times of its records."""

        def read() -> tuple[dict[str, Any], Array]:
            found = _read(self.path)
            if found is None:
                raise OutputError(f"{self.path} is not a Zarr store of a writer.")
            return found

        metadata, times = on_first(self.ranks, read)
        self._compare(metadata)
        self.count = len(times)
        self.identity = on_first(self.ranks, self.found)
        return times

    def append(self, time: float, record: Sequence[Source]) -> None:
        """Append a record; it counts once all of it is there."""
        on_first(self.ranks, self.check_identity)
        self._fill(self.path, self.count, record)

        def end() -> None:
            with writing(self.path):
                self._put_time(self.path, self.count, time)
                self._put_metadata(self.path, self.count + 1)

        on_first(self.ranks, end)
        self.count += 1

    def truncate(self, count: int) -> None:
        """Keep the first records only."""

        def write() -> None:
            with writing(self.path):
                self._put_metadata(self.path, count)

        on_first(self.ranks, write)
        self.count = count

    # -- chunks ----------------------------------------------------------------------------------

    def _fill(self, path: Path, number: int, sources: Sequence[Source]) -> None:
        """Write the chunks of this process; return when all are there."""
        failed: OutputError | None = None
        for source in sources:
            sides = self._sides(self.layout.variables[source.names[0]])
            boxes = blocks(source.shape, sides)
            for at, values in source.boxes(boxes, self.share):
                if failed is None and (self.ranks.is_root or self.share is not range):
                    try:
                        with writing(self.path):
                            self._put_chunk(path, number, source, sides, boxes[at], values)
                    except OutputError as error:
                        failed = error
        raise_any(self.ranks, failed, f"{self.path} cannot be written")

    def _put_chunk(
        self,
        path: Path,
        number: int,
        source: Source,
        sides: tuple[int, ...],
        box: Box,
        values: Array,
    ) -> None:
        place = [low // side for (low, _), side in zip(box, sides, strict=True)]
        for name, each in zip(source.names, values, strict=True):
            variable = self.layout.variables[name]
            whole = np.asarray(each, little(variable.dtype))
            if whole.shape != sides:
                whole = np.zeros(sides, whole.dtype)
                whole[tuple(slice(n) for n in each.shape)] = each
            key = [number, *place] if variable.is_record else place
            file = path / name / (".".join(map(str, key)) or "0")
            file.write_bytes(np.ascontiguousarray(whole).reshape(-1).view(np.uint8).data)

    def _sides(self, variable: Variable) -> tuple[int, ...]:
        """Return the points along the sides of the chunks of a variable."""
        usual = SIDES.get(len(variable.shape), SIDE)
        pairs = zip(variable.dims, variable.shape, strict=True)
        return tuple(max(1, min(n, self.chunks.get(axis, usual))) for axis, n in pairs)

    # -- metadata --------------------------------------------------------------------------------

    def _arrays(self, count: int) -> dict[str, dict[str, Any]]:
        """Return the metadata of all arrays by their names, for a number of records."""
        found = {TIME: _array((count,), (TIMES,), np.dtype("f8"))}
        for name, variable in self.layout.variables.items():
            shape, sides = variable.shape, self._sides(variable)
            if variable.is_record:
                shape, sides = (count, *shape), (1, *sides)
            found[name] = _array(shape, sides, variable.dtype)
        return found

    def _metadata(self, count: int) -> dict[str, Any]:
        """Return the content of all files of metadata by their names."""
        found: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": _json(self.attributes)}
        for name, array in self._arrays(count).items():
            variable = self.layout.variables.get(name)
            axes = (TIME,) if variable is None else variable.axes
            about = self.time if variable is None else variable.attributes
            found[f"{name}/.zarray"] = array
            found[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": list(axes), **_json(about)}
        return found

    def _describe(self, path: Path, count: int) -> None:
        """Write the metadata of the store and of each array."""
        for name, content in self._metadata(count).items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(json.dumps(content).encode().ljust(DESCRIPTION))

    def _put_metadata(self, path: Path, count: int) -> None:
        """Write the metadata that depend on the number of records; the consolidated ones last."""
        every = self._metadata(count)
        for name, content in every.items():
            variable = self.layout.variables.get(name.removesuffix("/.zarray"))
            if name == f"{TIME}/.zarray" or (variable is not None and variable.is_record):
                _overwrite(path / name, 0, json.dumps(content).encode().ljust(DESCRIPTION))
        whole = {"zarr_consolidated_format": 1, "metadata": every}
        _replace(path / ".zmetadata", json.dumps(whole).encode())

    def _put_time(self, path: Path, number: int, time: float) -> None:
        """Write the time of a record into its chunk."""
        file, at = path / TIME / str(number // TIMES), number % TIMES
        if not at:
            file.write_bytes(bytes(8 * TIMES))
        _overwrite(file, 8 * at, np.array(time, "<f8").tobytes())

    def _compare(self, there: Mapping[str, Any]) -> None:
        """Raise an error if a store has other variables, or other values of constant variables."""
        check_same(self.path, _description(there), _description(self._metadata(0)))
        self._compare_constants()

    def _compare_constants(self) -> None:
        failed: OutputError | None = None
        for source in self.layout.constants:
            sides = self._sides(self.layout.variables[source.names[0]])
            boxes = blocks(source.shape, sides)
            for at, values in source.boxes(boxes, self.share):
                place = [low // side for (low, _), side in zip(boxes[at], sides, strict=True)]
                for name, each in zip(source.names, values, strict=True):
                    file = self.path / name / (".".join(map(str, place)) or "0")
                    kind = little(self.layout.variables[name].dtype)
                    found = np.fromfile(file, kind) if file.exists() else np.zeros(0)
                    if found.size == prod(sides):
                        found = found.reshape(sides)[tuple(slice(n) for n in each.shape)]
                    if not np.array_equal(found, each, equal_nan=True):
                        failed = OutputError(f"{self.path} has other values of {name}.")
        raise_any(self.ranks, failed, f"{self.path} has other coordinates or constants")


def _read(path: Path) -> tuple[dict[str, Any], Array] | None:
    """Return the metadata of a store and the times of its records; None of something else."""
    try:
        metadata = json.loads((path / ".zmetadata").read_bytes())["metadata"]
        count = metadata[f"{TIME}/.zarray"]["shape"][0]
        parts = [np.fromfile(path / TIME / str(n), "<f8") for n in range(-(-count // TIMES))]
        return metadata, np.concatenate([*parts, np.zeros(0)])[:count]
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def _description(metadata: Mapping[str, Any]) -> Description:
    """Return the axes and variables that metadata describe."""
    lengths: dict[str, int] = {}
    found = {}
    for key, array in metadata.items():
        if key.endswith("/.zarray"):
            name = key.removesuffix("/.zarray")
            about = dict(metadata[f"{name}/.zattrs"])
            axes = tuple(about.pop("_ARRAY_DIMENSIONS"))
            lengths |= dict(zip(axes, array["shape"], strict=True))
            found[name] = axes, (array["dtype"], *array["chunks"]), about
    return {**lengths, TIME: 0}, found


def _array(shape: Sequence[int], chunks: Sequence[int], dtype: np.dtype[Any]) -> dict[str, Any]:
    return {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(chunks),
        "dtype": little(dtype).str,
        "compressor": None,
        "filters": None,
        "fill_value": None,
        "order": "C",
    }


def _json(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, str) else np.asarray(value).tolist()
        for name, value in attributes.items()
    }


def _overwrite(path: Path, offset: int, content: bytes) -> None:
    """Write a part of a file in one system call."""
    with path.open("r+b", buffering=0) as file:
        file.seek(offset)
        file.write(content)


def _replace(path: Path, content: bytes) -> None:
    """Replace a file at once."""
    beside = path.with_name(f"{path.name}.partial")
    beside.write_bytes(content)
    beside.replace(path)
