"""Shared memory between two processes of a node, established for pairs of ranks on demand.

The sending rank allocates the memory and offers it to the receiving rank. The receiver opens it
through ``/proc``, or answers that it cannot because it runs on another node. Both ranks record the
result, so that memory for the same messages is offered once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ssr.extension import Array

from .channels import Letter
from .mailboxes import APART, Mailbox
from .shared_pages import OFFER, Pages, new_pages, opened

LARGEST = 2**20
"""The largest message in bytes that uses a mailbox, which holds two. Larger messages use MPI."""

KEPT = 2**26
"""The largest total size of the mailboxes of two ranks in bytes. Further messages use MPI."""

Name = tuple[str, int, int]
"""The key of a mailbox: an exchange, its number in a schedule, and the message size in bytes."""


class Node:
    """The mailboxes of one rank for others, kept as long as the process."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._known: dict[tuple[int, int], dict[Name, Mailbox]] = {}
        self._room: dict[tuple[int, int], int] = {}

    def mailboxes(
        self,
        outgoing: Sequence[Letter],
        incoming: Sequence[Letter],
        name: tuple[str, int],
        tag: int,
        complete: Callable[[Sequence[Any], Sequence[int]], None],
    ) -> dict[tuple[int, int], Mailbox]:
        """Return the mailboxes for messages of an exchange, by their ranks; others are for MPI."""
        sent, received = (
            [letter for letter in letters if self._is_new(letter, name)]
            for letters in (outgoing, incoming)
        )
        made = [new_pages(_length(letter)) for letter in sent]
        try:
            self._offer(sent, received, made, name, tag, complete)
        finally:
            for pages in made:
                if pages is not None:
                    pages.close()
        every = {_pair(each): each for each in (*outgoing, *incoming)}
        known = {
            pair: self._known.get(pair, {}).get((*name, letter.values.nbytes))
            for pair, letter in every.items()
        }
        return {pair: box for pair, box in known.items() if box is not None}

    def _offer(
        self,
        sent: Sequence[Letter],
        received: Sequence[Letter],
        made: Sequence[Pages | None],
        name: tuple[str, int],
        tag: int,
        complete: Callable[[Sequence[Any], Sequence[int]], None],
    ) -> None:
        """Offer memory to other ranks, open the memory that they offer, and record the results."""
        targets, sources = [s.target for s in sent], [r.source for r in received]
        nothing = np.zeros(OFFER, np.int64)
        offered = [nothing if pages is None else pages.offer() for pages in made]
        offers, answers = np.zeros((len(received), OFFER), np.int64), np.zeros(len(received), "i1")
        heard = np.zeros(len(sent), np.int8)
        comm = self._comm
        leave = [comm.Isend(o, t, tag) for o, t in zip(offered, targets, strict=True)]
        complete([comm.Irecv(o, s, tag) for o, s in zip(offers, sources, strict=True)], sources)
        found = [opened(o, _length(r)) for o, r in zip(offers, received, strict=True)]
        answers[:] = [memory is not None for memory in found]
        leave += [comm.Isend(answers[n : n + 1], s, tag) for n, s in enumerate(sources)]
        leave += [comm.Irecv(heard[n : n + 1], t, tag) for n, t in enumerate(targets)]
        complete(leave, [*targets, *sources, *targets])
        for letter, pages, answer in zip(sent, made, heard, strict=True):
            self._note(letter, name, pages.bytes if pages is not None and answer else None)
        for letter, memory in zip(received, found, strict=True):
            self._note(letter, name, memory)

    def _is_new(self, letter: Letter, name: tuple[str, int]) -> bool:
        """Whether memory has to be offered; the result is the same on both ranks."""
        pair, size = _pair(letter), letter.values.nbytes
        room = self._room.get(pair, KEPT)
        known = self._known.get(pair, {})
        return (*name, size) not in known and size <= LARGEST and Mailbox.room(size) <= room

    def _note(self, letter: Letter, name: tuple[str, int], memory: Array | None) -> None:
        pair, size = _pair(letter), letter.values.nbytes
        if memory is None:
            self._room[pair] = 0  # no further attempts
            return
        self._room[pair] = self._room.get(pair, KEPT) - Mailbox.room(size)
        boxes = self._known.setdefault(pair, {})
        boxes[(*name, size)] = Mailbox(size, memory[APART:])


def _length(letter: Letter) -> int:
    """Return the bytes of memory for the mailbox of a message, including the token before it."""
    return APART + Mailbox.room(letter.values.nbytes)


def _pair(letter: Letter) -> tuple[int, int]:
    return letter.source, letter.target
