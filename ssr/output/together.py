"""Work of the first rank on behalf of all ranks, with collective errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ..errors import CheckpointError, OutputError
from ..spaces.distributed import Ranks

T = TypeVar("T")


def on_first(ranks: Ranks, work: Callable[[], T]) -> T:
    """Work on the first rank, and return its result on all ranks, or raise its error there."""
    found: T | None = None
    failed: OutputError | None = None
    if ranks.is_root:
        try:
            found = work()
        except OutputError as error:
            failed = error
    raise_shared(ranks, failed)
    told: T = ranks.broadcast(found)
    return told


def write_first(ranks: Ranks, write: Callable[[], object], pieces: Iterator[object]) -> None:
    """Write on the first rank, while all go through the pieces that it collects.

    If it fails, the rest of the pieces is collected all the same, so that no rank waits; then all
    ranks raise its error.
    """
    failed: OutputError | None = None
    if ranks.is_root:
        try:
            write()
        except OutputError as error:
            failed = error
    for _ in pieces:
        pass
    raise_shared(ranks, failed)


def raise_shared(ranks: Ranks, failed: OutputError | CheckpointError | None) -> None:
    """Raise the error of the first rank on all ranks."""
    told = ranks.broadcast(failed)
    if told is not None:
        raise (failed or told)


def raise_any(ranks: Ranks, failed: OutputError | CheckpointError | None, what: str) -> None:
    """Raise the error of a rank on this rank, and an error that reports it on all others."""
    if ranks.any(failed is not None):
        raise failed or OutputError(f"{what} on another rank.")
