"""A pool of threads that run compiled functions together and wait for work without Python."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from threading import Lock, Semaphore, Thread, get_ident
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import FINISHED, LATE, LEFT, Array, aligned

from ..compiled.thread_pool import WIDTH, Word, functions


class Team:
    """The worker threads of this process, in addition to the calling thread.

    Parameters
    ----------
    others
        The number of worker threads.
    """

    def __init__(self, others: int) -> None:
        self._rows = aligned((others + 1, WIDTH), np.int64)
        self._rows.fill(0)
        self._given: Sequence[tuple[int, int]] = ()
        self._others, self._lock = others, Lock()
        self._held: object = None
        self._caller: int | None = None
        place, self._failed = self._rows.ctypes.data, self._rows[others]
        self._rows[:others, Word.FAILED] = self._failed.ctypes.data
        self._wakes = [Semaphore(0) for _ in range(others)]
        serve, ask, finished = functions()
        self._ask = _counted(ask, others, place)
        self._finished = _counted(finished, others, place)
        serves = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(serve)
        for wake, row in zip(self._wakes, self._rows, strict=False):
            given = serves, row, wake
            Thread(target=_worker, args=given, name="ssr rank", daemon=True).start()

    def run(
        self, first: Callable[[], int], others: Sequence[tuple[int, int]], held: object
    ) -> list[int]:
        """Run functions concurrently, the first one in this thread; return their results.

        The others are functions ``long long enter(void *given)``, by their addresses and those of
        their arguments. The object ``held`` stays in memory until they have returned, even if
        Ctrl-C ends the call before.

        A function that returns `LATE` is called again, unless another one has failed: that is,
        has returned anything but `LEFT` or `FINISHED`, or has raised an exception.
        """
        if self._caller == get_ident():
            raise ArgumentError(
                "A program runs on these threads already, and is interrupted by this call.",
                hint="In a handler of a signal, only set a flag; test it between calls.",
            )
        with self._lock:
            self._caller = get_ident()
            try:
                return self._run(first, others, held)
            finally:
                self._caller = None

    def _run(
        self, first: Callable[[], int], others: Sequence[tuple[int, int]], held: object
    ) -> list[int]:
        self._wait()  # an interrupted call (Ctrl-C) may have left work unfinished
        self._held = held
        self._failed[0] = 0
        if others != self._given:
            self._rows[: self._others, Word.ENTRY : Word.GIVEN + 1] = others
            self._given = others
        code = LATE
        try:
            if self._ask():
                self._wake()
            while code == LATE and not self._failed[0]:
                code = first()
        finally:
            if code not in (LEFT, FINISHED):
                self._failed[0] = 1
            self._wait()
        self._held = None
        return [code, *self._rows[: self._others, Word.REASON].tolist()]

    def _wake(self) -> None:
        for row, wake in zip(self._rows, self._wakes, strict=False):
            if row[Word.ASLEEP]:
                row[Word.ASLEEP] = 0
                wake.release()

    def _wait(self) -> None:
        """Wait for the others; then raise an exception, such as that of Ctrl-C, if one occurred."""
        problem: BaseException | None = None
        while True:
            try:
                while not self._finished():
                    pass
                break
            except BaseException as error:  # the workers end soon
                self._failed[0] = 1
                problem = problem or error
        if problem is not None:
            raise problem


def _counted(address: int, count: int, rows: int) -> Callable[[], int]:
    """Return a compiled function of some rows."""
    made: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)(address)
    return lambda: int(made(count, rows))


def _worker(serve: Callable[[int], int], row: Array, wake: Semaphore) -> None:
    """Run the worker loop for the lifetime of the process, which also keeps the row."""
    place = row.ctypes.data
    while True:
        serve(place)
        wake.acquire()


_teams: dict[tuple[int, int], Team] = {}
_making: dict[int, Lock] = {}


def team(count: int) -> Team:
    """Return the team of some threads, including the caller."""
    process = os.getpid()  # threads do not survive a fork, and locks stay held
    key = process, count
    if key not in _teams:
        with _making.setdefault(process, Lock()):  # another caller may create it concurrently
            if key not in _teams:
                _teams[key] = Team(count - 1)
    return _teams[key]
