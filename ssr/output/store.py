"""The base class of NetCDF files and Zarr stores, to which records are appended."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..errors import OutputError
from ..points.numbers import Array
from ..spaces.distributed import Ranks
from .variables import Layout, Source, ranks_and_share


class Store(ABC):
    """A file or a directory to which records are appended; all ranks call its methods together.

    Parameters
    ----------
    path
        The place.
    layout
        The variables but the time.
    attributes, time
        The attributes of the whole, and those of the time.
    every
        All values, from which the ranks are determined.

    Attributes
    ----------
    count
        The number of records.
    identity
        The device and inode of the file, which distinguish it from others of its name.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        attributes: Mapping[str, Any],
        time: Mapping[str, Any],
        every: Sequence[Source],
    ) -> None:
        self.path, self.layout, self.attributes, self.time = path, layout, attributes, time
        self.ranks: Ranks
        self.ranks, self.share = ranks_and_share(every)
        self.count = 0
        self.identity: tuple[int, int] | None = None

    @staticmethod
    @abstractmethod
    def times(path: Path) -> Array:
        """Return the times of the records at a path; none if no store of a writer is there."""

    @abstractmethod
    def create(self, time: float, record: Sequence[Source]) -> None:
        """Make the store with its first record, next to its place and then there."""

    @abstractmethod
    def open(self) -> Array:
        """Continue a store of the same variables; return the times of its records."""

    @abstractmethod
    def append(self, time: float, record: Sequence[Source]) -> None:
        """Append a record; it counts once all of it is there."""

    @abstractmethod
    def truncate(self, count: int) -> None:
        """Keep the first records only."""

    def found(self, descriptor: int | None = None) -> tuple[int, int] | None:
        """Return the device and inode of the file, or of an open one; None if there is no file."""
        try:
            about = os.stat(self.path if descriptor is None else descriptor)
        except FileNotFoundError:
            return None
        return about.st_dev, about.st_ino

    def check_identity(self, descriptor: int | None = None) -> None:
        """Raise if another program has replaced or removed the file; on the first rank."""
        if self.found(descriptor) != self.identity:
            raise OutputError(
                f"{self.path} is no longer the file that this writer has begun.",
                hint="Let each run write a file of its own.",
            )


Triple: TypeAlias = tuple[tuple[str, ...], Any, Mapping[str, Any]]
"""The axes, the dtype and the attributes of a variable."""

Description: TypeAlias = tuple[Mapping[str, int], Mapping[str, Triple]]
"""The lengths of axes, and the variables by their names."""


def check_same(path: Path, there: Description, here: Description) -> None:
    """Raise an error if the variables of a file differ from those of a writer."""
    for name in {**there[1], **here[1]}:
        if name not in here[1]:
            raise _other(path, f"has a variable {name}")
        if name not in there[1]:
            raise _other(path, f"has no variable {name}")
    for axis in {**there[0], **here[0]}:
        pair = there[0].get(axis), here[0].get(axis)
        if pair[0] != pair[1]:
            raise _other(path, f"has {pair[0]} points along {axis}, not {pair[1]}")
    for name, (axes, dtype, about) in here[1].items():
        found = there[1][name]
        if found[0] != axes:
            raise _other(path, f"has {name} along {found[0]}, not {axes}")
        if found[1] != dtype:
            raise _other(path, f"has {name} of dtype {found[1]}, not {dtype}")
        for key in {**found[2], **about}:
            old, new = found[2].get(key, ""), about.get(key, "")
            if not np.array_equal(old, new):
                raise _other(path, f"has {name} with {key} {old!r}, not {new!r}")


def _other(path: Path, text: str) -> OutputError:
    return OutputError(
        f"{path} {text}.",
        hint='Continue a file with the same variables, or write another one, with mode="w".',
    )
