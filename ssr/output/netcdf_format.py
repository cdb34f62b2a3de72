"""The file header of the classic NetCDF formats with 64-bit offsets (CDF-2 and CDF-5).

The format is specified in the NetCDF Users Guide, "NetCDF Classic Format Specification". A file
consists of a header, the values of variables without a record axis, and records, each with the
values of all other variables. All numbers are big-endian, and lengths are multiples of 4. The
header begins with the number of records, so that a record becomes valid when this number is
written. CDF-2 is supported by all readers; CDF-5 is needed for 64-bit integers and for variables of
4 GiB and more.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

TYPES = {
    "i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6,
    "u1": 7, "u2": 8, "u4": 9, "i8": 10, "u8": 11,
}  # fmt: skip
"""The type codes; codes from 7 on exist in CDF-5 only."""

DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
"""The tags of lists."""

LARGEST = 2**32 - 4
"""Limit in CDF-2 of the bytes of a variable, or of its part of a record."""


@dataclass(frozen=True)
class Stored:
    """A variable of a file.

    Parameters
    ----------
    dims
        The names of its axes; a record variable has that of the records first.
    begin
        Where its values begin in the file, those of the first record.
    """

    dims: tuple[str, ...]
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    begin: int = 0


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Parameters
    ----------
    lengths
        The lengths of the axes; that of the records is 0.
    wide
        Whether the format is CDF-5.
    size
        The bytes of the header, and of the values that do not change, up to the first record.
    """

    lengths: Mapping[str, int]
    attributes: Mapping[str, Any]
    variables: Mapping[str, Stored]
    wide: bool
    size: int = 0

    def is_record(self, variable: Stored) -> bool:
        """Whether each record has values of a variable."""
        return bool(variable.dims) and self.lengths[variable.dims[0]] == 0

    def bytes_of(self, variable: Stored) -> int:
        """Return the bytes of a variable, or of its part of a record, up to a multiple of 4."""
        lengths = [self.lengths[dim] for dim in variable.dims]
        count = math.prod(lengths[1:] if self.is_record(variable) else lengths)
        return -(-count * variable.dtype.itemsize // 4) * 4

    @property
    def record(self) -> int:
        """The bytes of a record."""
        return sum(self.bytes_of(v) for v in self.variables.values() if self.is_record(v))


def laid_out(
    lengths: Mapping[str, int], attributes: Mapping[str, Any], variables: Mapping[str, Stored]
) -> Header:
    """Return the header of a new file, with the places of its variables."""
    rough = Header(lengths, attributes, variables, wide=False)
    every = list(variables.values())
    wide = any(TYPES[v.dtype.str[1:]] > 6 or rough.bytes_of(v) > LARGEST for v in every) or any(
        length >= 2**31 for length in lengths.values()
    )
    rough = Header(lengths, attributes, variables, wide)
    place = len(encoded(rough, 0))
    begins = {}
    for is_record in False, True:
        if is_record:
            size = place
        for name, variable in variables.items():
            if rough.is_record(variable) == is_record:
                begins[name] = place
                place += rough.bytes_of(variable)
    placed = {
        name: Stored(v.dims, v.dtype, v.attributes, begins[name]) for name, v in variables.items()
    }
    return Header(lengths, attributes, placed, wide, size)


def encoded(header: Header, records: int) -> bytes:
    """Return a header as bytes."""
    return _Encoder(header.wide).header(header, records)


class _Encoder:
    def __init__(self, wide: bool) -> None:
        self.wide = wide

    def count(self, value: int) -> bytes:
        """Return an encoded length; CDF-2 lengths are limited to the largest 32-bit integer."""
        return struct.pack(">q", value) if self.wide else struct.pack(">I", min(value, 2**32 - 1))

    def header(self, header: Header, records: int) -> bytes:
        dims = list(header.lengths)
        parts = [b"CDF\5" if self.wide else b"CDF\2", self.count(records)]
        parts += self.tag(DIMENSIONS, len(dims))
        parts += [self.name(name) + self.count(n) for name, n in header.lengths.items()]
        parts += self.attributes(header.attributes)
        parts += self.tag(VARIABLES, len(header.variables))
        for name, variable in header.variables.items():
            parts += [self.name(name), self.count(len(variable.dims))]
            parts += [self.count(dims.index(dim)) for dim in variable.dims]
            parts += self.attributes(variable.attributes)
            parts.append(struct.pack(">i", TYPES[variable.dtype.str[1:]]))
            parts.append(self.count(header.bytes_of(variable)))
            parts.append(struct.pack(">q", variable.begin))
        return b"".join(parts)

    def tag(self, tag: int, count: int) -> list[bytes]:
        return [struct.pack(">i", tag if count else 0), self.count(count)]

    def name(self, name: str) -> bytes:
        text = name.encode()
        return self.count(len(text)) + _padded(text)

    def attributes(self, given: Mapping[str, Any]) -> list[bytes]:
        parts = self.tag(ATTRIBUTES, len(given))
        for name, value in given.items():
            if isinstance(value, str):
                kind, count, data = 2, len(value.encode()), value.encode()
            else:
                array = np.atleast_1d(value)
                kind, count = TYPES[array.dtype.str[1:]], len(array)
                data = array.astype(array.dtype.newbyteorder(">")).tobytes()
            parts += [self.name(name), struct.pack(">i", kind), self.count(count), _padded(data)]
        return parts


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def decoded(file: BinaryIO) -> tuple[Header, int] | None:
    """Return the header of an open file and the number of its records; None of another file."""
    magic = file.read(4)
    if magic not in (b"CDF\2", b"CDF\5"):
        return None
    try:
        return _Decoder(file, magic == b"CDF\5").header()
    except (struct.error, KeyError, IndexError, UnicodeDecodeError, ValueError):
        return None


class _Decoder:
    def __init__(self, file: BinaryIO, wide: bool) -> None:
        self.file, self.wide = file, wide
        self.kinds = {number: kind for kind, number in TYPES.items()}

    def integer(self, kind: str) -> int:
        found: int = struct.unpack(kind, self.file.read(struct.calcsize(kind)))[0]
        return found

    def count(self) -> int:
        return self.integer(">q" if self.wide else ">I")

    def data(self, size: int) -> bytes:
        found = self.file.read(-(-size // 4) * 4)
        if len(found) < size:
            raise ValueError("the file is cut short")
        return found[:size]

    def name(self) -> str:
        return self.data(self.count()).decode()

    def tagged(self) -> int:
        """Return the length of a list."""
        self.integer(">i")
        return self.count()

    def attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in range(self.tagged()):
            name, kind, count = self.name(), self.kinds[self.integer(">i")], self.count()
            data = self.data(count * int(kind[1]))
            array = np.frombuffer(data, f">{kind}").astype(kind) if kind != "S1" else data
            found[name] = data.decode() if kind == "S1" else array if count > 1 else array[0]
        return found

    def header(self) -> tuple[Header, int]:
        records = self.count()
        lengths = {}
        for _ in range(self.tagged()):
            name = self.name()
            lengths[name] = self.count()
        attributes, dims = self.attributes(), list(lengths)
        variables = {}
        for _ in range(self.tagged()):
            name = self.name()
            axes = tuple(dims[self.count()] for _ in range(self.count()))
            about, kind = self.attributes(), np.dtype(self.kinds[self.integer(">i")])
            self.count()
            variables[name] = Stored(axes, kind, about, self.integer(">q"))
        header = Header(lengths, attributes, variables, self.wide)
        records_at = [v.begin for v in variables.values() if header.is_record(v)]
        return Header(lengths, attributes, variables, self.wide, min(records_at)), records
