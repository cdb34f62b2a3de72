"""Checkpoints: fields and JSON values in one file, for bitwise identical restarts.

A file has four lines of text, followed by the values of the fields. The lines are the name and the
version of the format, the SHA-256 digest of the fourth line, that of the fourth line and all
following bytes, and a header in JSON: the names, dtypes and shapes of the fields in their order,
and the data. The header is padded with blanks and each field with zeros, so that each field begins
at a multiple of 64 bytes. Values are little-endian in C order.

The first rank writes a file box by box; every rank reads its own parts. The number of ranks may
therefore change between runs, and no rank holds a whole field.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import ArgumentError, CheckpointError, DtypeError, ReadOnlyError, ShapeError
from ..points.numbers import Array
from ..spaces.distributed import OneProcess, Ranks, is_data, is_distributed, ranks_of
from .header import FORMAT, TEXT, Stored, header_of, padding, read_header
from .pieces import PIECE, as_values, little, stored
from .places import as_path, publish
from .together import on_first, raise_any

HINT = "Start from another checkpoint, or from the beginning."


@dataclass(frozen=True, repr=False)
class Checkpoint:
    """A checkpoint that was read; made by `load`.

    Attributes
    ----------
    path
        The file.
    fields
        The arrays of the whole by their names, mapped from the file and read-only.
    data
        The values of JSON.
    """

    path: Path
    fields: Mapping[str, Array]
    data: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Checkpoint {self.path} of {', '.join(self.fields) or 'no fields'}>"

    def restore(self, fields: Mapping[str, Any]) -> None:
        """Set arrays and fields to the values of the checkpoint; all ranks call it together.

        Parameters
        ----------
        fields
            Arrays or fields of ranks by their names, with the shapes and dtypes that they have
            there. The checkpoint may have others.

        Raises
        ------
        ArgumentError
            If the checkpoint has no field of a name; the fields are as before.
        ShapeError, DtypeError
            If a field has another shape or dtype there.
        ReadOnlyError
            If an array is read-only.

        Examples
        --------
        >>> import tempfile, numpy as np, ssr
        >>> u = np.arange(3.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ssr.output.save(f"{folder}/a", {"u": u}, {"steps": 7})
        ...     u[:] = 0
        ...     ssr.output.load(f"{folder}/a").restore({"u": u})
        >>> u
        array([0., 1., 2.])
        """
        _named(fields)
        for name, target in fields.items():
            self._check(name, target)
        for name, target in fields.items():
            if is_distributed(target):
                target.set(self.fields[name])
            else:
                target[...] = self.fields[name]

    def _check(self, name: str, target: Any) -> None:
        """Raise if a field cannot be set to that of the checkpoint."""
        if not is_data(target):
            raise ArgumentError(f"{name} is {target!r}; expected an array or a field.")
        found = self.fields.get(name)
        if found is None:
            raise ArgumentError(
                f"{self.path} has no field {name}.", note=f"It has {', '.join(self.fields)}."
            )
        if tuple(target.shape) != found.shape:
            raise ShapeError(
                f"{name} has shape {found.shape} in {self.path}, not {tuple(target.shape)}."
            )
        if little(target.dtype) != found.dtype:
            raise DtypeError(f"{name} has dtype {found.dtype} in {self.path}, not {target.dtype}.")
        if isinstance(target, np.ndarray) and not target.flags.writeable:
            raise ReadOnlyError(f"The array {name} is read-only.")


def save(
    path: str | os.PathLike[str],
    fields: Mapping[str, Any],
    data: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint, whole or not at all; all ranks call it together.

    The file is written next to its place and then moved there, so that a process killed at any
    moment leaves the previous checkpoint whole. Its bytes do not depend on the number of ranks.

    Parameters
    ----------
    path
        The file; its folder is made if it does not exist.
    fields
        Arrays or fields of ranks by their names, with numbers of any type.
    data
        Values of JSON by their names: strings, integers, floats, which are kept to the last bit,
        booleans, None, lists and dictionaries.

    Raises
    ------
    ArgumentError, DtypeError
        If something else is given.
    OutputError
        If the file cannot be written; on all ranks.

    Examples
    --------
    >>> import tempfile, ssr, boundary as bc
    >>> cells = ssr.Space(6)
    >>> u, v = (bc.distribute(cells, bc.simulated_ranks(ranks)).zeros(cells) for ranks in (2, 3))
    >>> u.fill(lambda i: i**2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ssr.output.save(f"{folder}/a", {"u": u}, {"time": 0.1})
    ...     found = ssr.output.load(f"{folder}/a")
    ...     found.restore({"u": v})
    >>> v.gather(), found.data
    (array([ 0.,  1.,  4.,  9., 16., 25.]), {'time': 0.1})
    """
    place, named = as_path(path), _named(fields)
    header = header_of(named, {} if data is None else data)
    pieces = _pieces(named)
    ranks = ranks_of(named.values())
    on_first(ranks, lambda: publish(place, lambda file: _write(file, header, pieces)), pieces)


def digest(fields: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of the values of fields, on all ranks; they call it together.

    It is the same on any number of ranks, and for arrays of the whole.

    Parameters
    ----------
    fields
        Arrays or fields of ranks by their names, in an order that counts.

    Raises
    ------
    ArgumentError, DtypeError
        If fields are not a dictionary of arrays or fields of numbers.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(6)
    >>> u = bc.distribute(cells, bc.simulated_ranks(3)).zeros(cells)
    >>> ssr.output.digest({"u": u}) == ssr.output.digest({"u": np.zeros(6)})
    True
    """
    named, found = _named(fields), hashlib.sha256()
    for values in named.values():
        for piece in stored(values):
            found.update(piece)
    told: str = ranks_of(named.values()).broadcast(found.hexdigest())
    return told


def load(path: str | os.PathLike[str], on: Any = None) -> Checkpoint:
    """Read a checkpoint and compare it with its digest.

    Parameters
    ----------
    path
        The file.
    on
        A field of ranks, or the `boundary.Distribution` that has made it: then all ranks call it
        together, and the first one compares for all. By default each process does.

    Raises
    ------
    CheckpointError
        If the file is missing, damaged, or something else.

    Examples
    --------
    >>> import tempfile, numpy as np, ssr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ssr.output.save(f"{folder}/a", {"u": np.arange(3.0)}, {"steps": 7})
    ...     found = ssr.output.load(f"{folder}/a")
    ...     np.array(found.fields["u"]), found.data
    (array([0., 1., 2.]), {'steps': 7})
    """
    place = as_path(path)
    ranks: Ranks = OneProcess() if on is None else getattr(on, "__ssr_ranks__", on)
    if not all(hasattr(ranks, name) for name in ("is_root", "any", "broadcast")):
        raise ArgumentError(f"on is {on!r}, not a field of ranks or a distribution.")
    found: Checkpoint | None = None
    failed: CheckpointError | None = None
    try:
        found = _read(place)
    except CheckpointError as error:
        failed = error
    raise_any(ranks, failed, f"{place} cannot be read")
    on_first(ranks, lambda: _compare(place))
    assert found is not None
    return found


def _named(fields: Any) -> dict[str, Any]:
    """Return the fields that a user gives by their names."""
    if not isinstance(fields, Mapping) or not all(isinstance(name, str) for name in fields):
        raise ArgumentError(
            f"fields is {type(fields).__name__}, not a dictionary of fields by their names.",
            hint='Write {"u": u}.',
        )
    return {name: as_values(name, values) for name, values in fields.items()}


def _pieces(named: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the fields with their padding, on the first rank; else nothing."""
    for values in named.values():
        yield from stored(values)
        yield bytes(padding(values.dtype.itemsize * math.prod(values.shape)))


def _write(file: BinaryIO, header: bytes, pieces: Iterator[bytes | memoryview]) -> None:
    """Write a checkpoint; its digest is known last."""
    found = hashlib.sha256(header)
    first = FORMAT + _line(found)
    file.writelines((first, _line(found), header))
    for piece in pieces:
        found.update(piece)
        file.write(piece)
    file.seek(len(first))
    file.write(_line(found))


def _line(digest: Any) -> bytes:
    return f"{digest.hexdigest()}\n".encode()


def _opened(path: Path) -> tuple[bytes, bytes, bytes, int]:
    """Return the digests and the header of a file, and its size."""
    try:
        with path.open("rb") as file:
            first = file.readline(len(FORMAT))
            digests = file.readline(65), file.readline(65)
            header = file.readline() if first == FORMAT else b""
            size = file.seek(0, os.SEEK_END)
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror or error}."
        raise CheckpointError(text, hint=HINT) from None
    if first != FORMAT and not FORMAT.startswith(first):
        raise CheckpointError(
            f"{path} is not a checkpoint.",
            note=f"It begins with {first!r} where a checkpoint has {FORMAT!r}.",
            hint=HINT,
        )
    if digests[0] != _line(hashlib.sha256(header)):
        raise _damaged(path)
    return *digests, header, size


def _read(path: Path) -> Checkpoint:
    """Return a checkpoint with its fields mapped, after its header has been verified."""
    *_, header, size = _opened(path)
    start, fields = TEXT + len(header), {}
    try:
        kept, data = read_header(header)
    except (ValueError, KeyError, TypeError):
        raise _damaged(path) from None
    if size != start + sum(each.bytes + padding(each.bytes) for each in kept):
        raise _damaged(path)
    for each in kept:
        fields[each.name] = _mapped(path, each, start)
        start += each.bytes + padding(each.bytes)
    return Checkpoint(path, fields, data)


def _mapped(path: Path, each: Stored, start: int) -> Array:
    """Return a field that is mapped from a file, where there is something to map."""
    if not each.bytes:
        empty = np.zeros(each.shape, each.dtype)
        empty.flags.writeable = False
        return empty
    return np.memmap(path, each.dtype, "r", start, each.shape)


def _compare(path: Path) -> None:
    """Raise if a file differs from its digest."""
    _, told, header, _ = _opened(path)
    found = hashlib.sha256(header)
    with path.open("rb") as file:
        file.seek(TEXT + len(header))
        while piece := file.read(PIECE):
            found.update(piece)
    if told != _line(found):
        raise _damaged(path)


def _damaged(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is not a whole checkpoint.",
        note="It was cut short or changed after it was written.",
        hint=HINT,
    )
