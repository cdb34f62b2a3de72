"""Memory that two processes of one node share, found out by pairs of ranks as they need it.

A rank that sends makes the memory and offers it to the one that receives, which opens it through
``/proc``, or answers that it cannot, as it runs on another node. Both know then, and keep what they
know: memory for the same messages is not offered twice.
"""

from __future__ import annotations

import mmap
import os
import secrets
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ssr.extension import Array

from .mailboxes import APART, Mailbox
from .world import Letter

LARGEST = 2**20
"""The bytes of a message from which on it is left to MPI: a mailbox holds two of them."""

KEPT = 2**26
"""The bytes of all mailboxes of two ranks, beyond which messages are left to MPI."""

OFFER = 6
"""The integers of an offer: node, name space of processes, process, file, token, bytes."""

Name = tuple[str, int, int]
"""What a mailbox is for: an exchange, its number in a schedule, and the bytes of the message."""


Made = tuple[int | None, Array | None, Array]
"""The file of memory for a mailbox, the memory, and what is said about it."""


class Node:
    """The mailboxes of one rank for others, kept as long as the process.

    Parameters
    ----------
    comm
        The ranks.
    """

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
        """Return the mailboxes for messages of an exchange, by their ranks; others are for MPI.

        Parameters
        ----------
        outgoing, incoming
            The messages of this rank.
        name
            The exchange and its number, the same on all ranks.
        tag
            The tag of messages about it.
        complete
            Waits for requests, of which each is one to a rank or from there.
        """
        sent, received = (
            [letter for letter in letters if self._is_new(letter, name)]
            for letters in (outgoing, incoming)
        )
        made = [_made(letter.values.nbytes) for letter in sent]
        try:
            self._offer(sent, received, made, name, tag, complete)
        finally:
            for file, _, _ in made:
                if file is not None:
                    os.close(file)
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
        made: Sequence[Made],
        name: tuple[str, int],
        tag: int,
        complete: Callable[[Sequence[Any], Sequence[int]], None],
    ) -> None:
        """Offer memory to other ranks, open what they offer, and note what came of it."""
        targets, sources = [s.target for s in sent], [r.source for r in received]
        offers, answers = np.zeros((len(received), OFFER), np.int64), np.zeros(len(received), "i1")
        heard = np.zeros(len(sent), np.int8)
        comm = self._comm
        leave = [comm.Isend(o, t, tag) for (_, _, o), t in zip(made, targets, strict=True)]
        complete([comm.Irecv(o, s, tag) for o, s in zip(offers, sources, strict=True)], sources)
        opened = [_opened(offer) for offer in offers]
        answers[:] = [memory is not None for memory in opened]
        leave += [comm.Isend(answers[n : n + 1], s, tag) for n, s in enumerate(sources)]
        leave += [comm.Irecv(heard[n : n + 1], t, tag) for n, t in enumerate(targets)]
        complete(leave, [*targets, *sources, *targets])
        for letter, (_, memory, _), answer in zip(sent, made, heard, strict=True):
            self._note(letter, name, memory if answer else None)
        for letter, found in zip(received, opened, strict=True):
            self._note(letter, name, found)

    def _is_new(self, letter: Letter, name: tuple[str, int]) -> bool:
        """Whether memory has to be offered; both ranks find the same."""
        pair, size = _pair(letter), letter.values.nbytes
        room = self._room.get(pair, KEPT)
        known = self._known.get(pair, {})
        return (*name, size) not in known and size <= LARGEST and Mailbox.room(size) <= room

    def _note(self, letter: Letter, name: tuple[str, int], memory: Array | None) -> None:
        pair, size = _pair(letter), letter.values.nbytes
        if memory is None:
            self._room[pair] = 0  # it is not tried again
            return
        self._room[pair] = self._room.get(pair, KEPT) - Mailbox.room(size)
        boxes = self._known.setdefault(pair, {})
        boxes[(*name, size)] = Mailbox(size, memory[APART:])


def _pair(letter: Letter) -> tuple[int, int]:
    return letter.source, letter.target


def _made(size: int) -> Made:
    """Return the file of new memory for a mailbox, the memory, and what is said about it.

    It begins with a token, by which another process knows that it has opened the right one. Where
    no memory can be had, nobody can open what is offered.
    """
    length, token = APART + Mailbox.room(size), secrets.randbits(62)
    try:
        file = os.memfd_create("boundary")
    except OSError:
        return None, None, np.zeros(OFFER, np.int64)
    os.ftruncate(file, length)
    memory = np.frombuffer(mmap.mmap(file, length), np.uint8)
    memory[:8].view(np.int64)[0] = token
    return file, memory, np.array([*place(), os.getpid(), file, token, length], np.int64)


def _opened(offer: Array) -> Array | None:
    """Return the memory that another process offers, if it runs on this node."""
    *where, process, number, token, length = offer.tolist()
    if tuple(where) != place():
        return None
    try:
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # it may be another user's
        return None
    try:
        memory = np.frombuffer(mmap.mmap(file, length), np.uint8)
    except (OSError, ValueError):
        return None
    finally:
        os.close(file)
    return memory if memory[:8].view(np.int64)[0] == token else None


@cache
def place() -> tuple[int, int]:
    """Return numbers that two processes share if they see each other in ``/proc``.

    Raises
    ------
    OSError
        If there is no such directory.
    """
    with open("/proc/sys/kernel/random/boot_id") as file:
        booted = int(file.read().replace("-", ""), 16)
    return booted % 2**62, os.stat("/proc/self/ns/pid").st_ino


@cache
def is_possible() -> bool:
    """Whether memory can be shared here in this way, as it can under Linux."""
    try:
        place()
    except OSError:
        return False
    return hasattr(os, "memfd_create")
