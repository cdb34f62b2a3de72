"""Consistency check of collective calls: ranks compare their next step and report differences.

Each rank describes its next collective call in a few texts. One reduction of four integers compares
the digests of these texts. If they differ, all ranks detect it and exchange the texts for the error
message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Array

Facts = Mapping[str, str]
"""The next collective call of a rank: texts by topic, the most general one first."""

Complete = Callable[[Sequence[Any]], None]
"""A function that waits for MPI requests."""


def agree(comm: Any, facts: Facts, complete: Complete) -> None:
    """Compare facts with those of all other ranks, which call this together."""
    from mpi4py import MPI

    text = json.dumps([*facts.items()]).encode()
    own = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), np.int64) >> 1
    largest = np.concatenate([own, -own])
    complete([comm.Iallreduce(MPI.IN_PLACE, largest, MPI.MAX)])
    if not np.array_equal(largest[:2], -largest[2:]):
        raise disagreement([dict(json.loads(each)) for each in _texts(comm, text, complete)])


def _texts(comm: Any, text: bytes, complete: Complete) -> list[bytes]:
    """Return the texts of all ranks."""
    lengths: Array = np.zeros(comm.Get_size(), np.int64)
    complete([comm.Iallgather(np.array([len(text)], np.int64), lengths)])
    every = np.zeros(int(lengths.sum()), np.uint8)
    complete([comm.Iallgatherv(np.frombuffer(text, np.uint8), [every, lengths.astype(np.int32)])])
    return [part.tobytes() for part in np.split(every, np.cumsum(lengths)[:-1])]


def disagreement(facts: Sequence[Facts]) -> ArgumentError:
    """Return the error of ranks with different facts.

    >>> disagreement([{"step": "a sum", "size": "4"}, {"step": "a sum", "size": "5"}]).message
    'The ranks disagree about the size: 4 on rank 0; 5 on rank 1.'
    """
    names = dict.fromkeys(name for each in facts for name in each)
    differing = next(name for name in names if len({each.get(name) for each in facts}) > 1)
    ranks: dict[str, list[int]] = {}
    for rank, each in enumerate(facts):
        ranks.setdefault(each.get(differing, "missing"), []).append(rank)
    told = "; ".join(f"{value} on {named(some)}" for value, some in ranks.items())
    first = next(iter(names))
    return ArgumentError(
        f"The ranks disagree about the {differing}: {told}.",
        note=None if differing == first else f"all of them are at {facts[0][first]}",
        hint="All ranks make the same fields and run the same programs, in the same order.",
    )


def named(ranks: Sequence[int]) -> str:
    """Return some ranks in words."""
    few = ", ".join(map(str, ranks[:8]))
    return f"rank{'' if len(ranks) == 1 else 's'} {few}{' and others' if len(ranks) > 8 else ''}"
