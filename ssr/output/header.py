"""The header of a checkpoint: names, dtypes and shapes of its fields, and JSON values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .pieces import little

FORMAT = b"ssr checkpoint, version 1\n"
"""The first line of a file."""

ALIGNED = 64
"""Alignment of fields in bytes."""

TEXT = len(FORMAT) + 2 * 65
"""The bytes before the header: the first line and two digests."""


@dataclass(frozen=True)
class Stored:
    """The name, type and shape of a field in a file."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The bytes of its values."""
        return self.dtype.itemsize * math.prod(self.shape)


def padding(size: int) -> int:
    """Return the number of bytes that pad a size to a multiple of `ALIGNED`."""
    return -size % ALIGNED


def header_of(fields: Mapping[str, Any], data: Any) -> bytes:
    """Return the header of fields and data, as a line that ends at a multiple of `ALIGNED`."""
    if not isinstance(data, Mapping):
        raise ArgumentError(f"data is {data!r}, not a dictionary.")
    _check_names("data", data)
    about = [
        {"name": name, "dtype": little(values.dtype).str, "shape": list(values.shape)}
        for name, values in fields.items()
    ]
    try:
        text = json.dumps({"fields": about, "data": dict(data)}, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ArgumentError(
            f"data has a value that JSON cannot store: {error}.",
            hint="Give numbers, strings, lists and dictionaries; arrays belong to the fields.",
        ) from None
    return text + b" " * padding(TEXT + len(text) + 1) + b"\n"


def read_header(text: bytes) -> tuple[list[Stored], dict[str, Any]]:
    """Return the fields of a header, and its data."""
    found = json.loads(text)
    fields = [
        Stored(each["name"], np.dtype(each["dtype"]), tuple(each["shape"]))
        for each in found["fields"]
    ]
    return fields, found["data"]


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return value.item()
    raise TypeError(f"{value!r} of type {type(value).__name__}")


def _check_names(what: str, value: Any) -> None:
    """Raise an error for names that JSON would change."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise ArgumentError(f"{what} has the name {name!r}, which is not a string.")
            _check_names(f"{what}[{name!r}]", inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_names(what, inner)
