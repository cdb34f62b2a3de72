"""Futures: functions that run in threads, concurrently with Python, and their results.

A process that forks waits for these functions (`ssr.forking`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Generic, TypeVar

from .. import forking

T = TypeVar("T")


class Later(Generic[T]):
    """The result of a function that a thread calls.

    Functions are called in the order of their requests. A thread that needs a result which no
    thread has begun to compute calls the function itself instead of waiting.

    Parameters
    ----------
    function
        The function. It is called once, and again if the call was interrupted.
    threads
        The name and the number of the threads that call it.
    """

    def __init__(self, function: Callable[[], T], threads: tuple[str, int] = ("later", 1)) -> None:
        self._function = function
        self._threads = threads
        self._choosing = Lock()
        self._ask()

    def _ask(self) -> None:
        forking.begin_task()
        try:
            self._made: Future[T] = _threads(os.getpid(), *self._threads).submit(self._in_thread)
        except BaseException:
            forking.end_task()
            raise
        self._made.add_done_callback(lambda _: forking.end_task())

    def _in_thread(self) -> T:
        with forking.in_task():
            return self._function()

    def result(self) -> T:
        """Wait for the function; return its result or raise its exception."""
        with forking.postponed():
            while True:
                try:
                    return self._chosen().result()
                except _Interrupted:
                    continue

    def _chosen(self) -> Future[T]:
        """Return the future of the result; compute it here if no thread has begun to do so."""
        with self._choosing:
            is_free = self._made.cancel()
            if is_free:
                self._made = Future()
                self._made.set_running_or_notify_cancel()
            made = self._made
        if is_free:
            self._call(made)
        return made

    def _call(self, made: Future[T]) -> None:
        """Call the function; if Ctrl-C interrupts this, leave it to a thread."""
        try:
            made.set_result(self._function())
        except Exception as problem:
            made.set_exception(problem)
        except BaseException:
            self._ask()
            made.set_exception(_Interrupted())
            raise


class _Interrupted(Exception):
    """The call of a function was interrupted."""


@cache
def _threads(process: int, name: str, count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, f"ssr-{name}-{process}")
