"""NetCDF files, written box by box by the first rank."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DtypeError, OutputError
from ..points.numbers import Array
from .netcdf_format import TYPES, Header, Stored, decoded, encoded, laid_out
from .pieces import Box, slabs
from .places import aside, writing
from .store import Store, Triple, check_same
from .together import on_first, raise_shared
from .variables import TIME, Source, Variable


class NetCDF(Store):
    """A file of the classic format."""

    header: Header

    @staticmethod
    def times(path: Path) -> Array:
        """Return the times of the records of a file; none if it is not one of a writer."""
        with suppress(OSError):
            found = _read(path)
            if found is not None:
                return found[1]
        return np.zeros(0)

    def create(self, time: float, record: Sequence[Source]) -> None:
        """Make the file with its first record, next to its place and then there."""
        variables = {TIME: Stored((TIME,), np.dtype("f8"), self.time)}
        for name, variable in self.layout.variables.items():
            kind = _stored_dtype(variable)
            variables[name] = Stored(variable.axes, kind, variable.attributes)
        self.header = laid_out({TIME: 0, **self.layout.lengths}, self.attributes, variables)
        pieces = self._pieces([*self.layout.constants, *record], 0)

        def write() -> None:
            with aside(self.path) as beside, beside.open("wb", buffering=0) as file:
                _put(file, 0, encoded(self.header, 1))
                self._write(file, 0, time, pieces)

        on_first(self.ranks, write, pieces)
        self.count, self.identity = 1, on_first(self.ranks, self.found)

    def open(self) -> Array:
        """Continue a file of the same variables; return the times of its records."""

        def read() -> tuple[Header, Array]:
            with writing(self.path):
                found = _read(self.path)
            if found is None:
                raise OutputError(
                    f"{self.path} is not a NetCDF file that can be continued.",
                    note="Files of the classic 64-bit format can, not those of NetCDF-4.",
                )
            return found

        self.header, times = on_first(self.ranks, read)
        self.count = len(times)
        there = {name: (v.dims, v.dtype, v.attributes) for name, v in self.header.variables.items()}
        here: dict[str, Triple] = {TIME: ((TIME,), np.dtype("f8"), self.time)}
        for name, variable in self.layout.variables.items():
            here[name] = variable.axes, _stored_dtype(variable), variable.attributes
        lengths = {**self.header.lengths, TIME: 0}
        own = {TIME: 0, **self.layout.lengths}
        check_same(self.path, (lengths, there), (own, here))
        self._compare_constants()
        self.identity = on_first(self.ranks, self.found)
        return times

    def append(self, time: float, record: Sequence[Source]) -> None:
        """Append a record; it counts once all of it is there."""
        pieces = self._pieces(record, self.count)

        def write() -> None:
            with writing(self.path), self.path.open("r+b", buffering=0) as file:
                self.check_identity(file.fileno())
                try:
                    self._write(file, self.count, time, pieces)
                except BaseException:
                    file.truncate(self._end(self.count))
                    raise
                _put(file, 4, self._number(self.count + 1))

        on_first(self.ranks, write, pieces)
        self.count += 1

    def truncate(self, count: int) -> None:
        """Keep the first records only."""

        def write() -> None:
            with writing(self.path), self.path.open("r+b", buffering=0) as file:
                _put(file, 4, self._number(count))
                file.truncate(self._end(count))

        on_first(self.ranks, write)
        self.count = count

    def _end(self, count: int) -> int:
        return self.header.size + count * self.header.record

    def _number(self, count: int) -> bytes:
        """Return the number of records in the format of the header."""
        return count.to_bytes(8 if self.header.wide else 4, "big")

    def _write(self, file: Any, number: int, time: float, pieces: Iterator[Any]) -> None:
        for offset, data in pieces:
            _put(file, offset, data)
        begin = self.header.variables[TIME].begin + number * self.header.record
        _put(file, begin, np.array(time, ">f8").tobytes())
        file.truncate(self._end(number + 1))  # the last variable may be padded

    def _pieces(self, sources: Sequence[Source], number: int) -> Iterator[tuple[int, Any]]:
        """Yield values with their offsets in the file on the first rank; nothing on other ranks."""
        for source in sources:
            width = source.values.dtype.itemsize * len(source.names)
            for box in slabs(source.shape, width):
                found = source.piece(box, self.ranks.is_root)
                if found is None:
                    yield 0, b""
                    continue
                for name, values in zip(source.names, found, strict=True):
                    stored = self.header.variables[name]
                    begin = stored.begin + _before(box, source.shape) * stored.dtype.itemsize
                    if self.layout.variables[name].is_record:
                        begin += number * self.header.record
                    kind = stored.dtype.newbyteorder(">")
                    yield begin, np.ascontiguousarray(values, kind).reshape(-1).view(np.uint8).data

    def _compare_constants(self) -> None:
        """Raise an error if a file has other values of constant variables."""
        pieces = self._pieces(self.layout.constants, 0)
        failed: OutputError | None = None
        file = self.path.open("rb") if self.ranks.is_root else None
        try:
            for offset, data in pieces:
                if file is not None and failed is None:
                    file.seek(offset)
                    if file.read(len(data)) != data:
                        failed = OutputError(
                            f"{self.path} has other values of coordinates or constants."
                        )
        finally:
            if file is not None:
                file.close()
        raise_shared(self.ranks, failed)


def _read(path: Path) -> tuple[Header, Array] | None:
    """Return the header of a file and the times of its records; None of another file."""
    with path.open("rb") as file:
        found = decoded(file)
        if found is None or TIME not in found[0].variables:
            return None
        (header, count), times = found, list[float]()
        for n in range(count):
            file.seek(header.variables[TIME].begin + n * header.record)
            value = file.read(8)
            if len(value) < 8:
                return None
            times.append(struct.unpack(">d", value)[0])
    return header, np.array(times)


def _stored_dtype(variable: Variable) -> np.dtype[Any]:
    """Return the dtype of a variable in a file."""
    kind = variable.dtype.newbyteorder("=")
    if kind.str[1:] not in TYPES:
        raise DtypeError(
            f"{variable.name} has dtype {kind}, which NetCDF does not have.",
            hint="Give integers, float32 or float64.",
        )
    return kind


def _before(box: Box, shape: tuple[int, ...]) -> int:
    """Return the number of values before the first one of a box, in C order."""
    return int(np.ravel_multi_index([low for low, _ in box], shape)) if box else 0


def _put(file: Any, offset: int, data: Any) -> None:
    """Write all of some bytes at a place of a file without a buffer."""
    rest = memoryview(data)
    file.seek(offset)
    while len(rest):
        rest = rest[file.write(rest) :]
