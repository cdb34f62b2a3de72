"""Work of the first rank on behalf of all ranks, with collective errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ..errors import CheckpointError, OutputError
from ..spaces.distributed import Ranks

T = TypeVar("T")


def on_first(ranks: Ranks, work: Callable[[], T], pieces: Iterable[object] = ()) -> T:
    """Work on the first rank, and return its result on all ranks, or raise its error there.

    All ranks go through the pieces that the first one collects. If it fails, the rest of the pieces
    is collected all the same, so that no rank waits.
    """
    found: T | None = None
    failed: OutputError | CheckpointError | None = None
    if ranks.is_root:
        try:
            found = work()
        except (OutputError, CheckpointError) as error:
            failed = error
    for _ in pieces:
        pass
    raise_shared(ranks, failed)
    told: T = ranks.broadcast(found)
    return told


def raise_shared(ranks: Ranks, failed: OutputError | CheckpointError | None) -> None:
    """Raise the error of the first rank on all ranks."""
    told = ranks.broadcast(failed)
    if told is not None:
        raise (failed or told)


def raise_any(ranks: Ranks, failed: OutputError | CheckpointError | None, what: str) -> None:
    """Raise the error of a rank on this rank, and an error that reports it on all others."""
    if ranks.any(failed is not None):
        raise failed or OutputError(f"{what} on another rank.")
