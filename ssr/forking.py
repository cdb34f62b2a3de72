"""Safe forks of processes with compiler threads.

The child of a fork has only the thread that forked: locks of other threads remain locked, and their
work remains unfinished. A fork therefore waits until no other thread compiles or imports modules,
and until all locks that compilation needs are free, so that the child can compile as well. Work
that may overlap a fork runs in `postponed`, or as a task between `begin_task` and `end_task`.
"""

from __future__ import annotations

import _imp as imp
import functools
import importlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

# Fork handlers run in reverse order of registration. Those of these modules acquire locks that
# other threads need while a fork waits for these threads. Our handlers must therefore run first.
import concurrent.futures.thread  # noqa: F401  # isort: skip
import logging  # noqa: F401  # isort: skip
from threading import Condition, RLock, get_ident, local
from typing import Any

__all__ = ["begin_task", "end_task", "hold", "in_task", "postponed"]

PATIENCE = 60.0
"""Limit in seconds of the wait of a fork for other threads. They could be blocked by the forking
thread, if the fork handler of another package has acquired a lock."""

IMPORTS = 10.0
"""Limit in seconds of the wait for imports, which could be blocked in the same way."""

FOREIGN = (
    ("numba.core.compiler_lock", "global_compiler_lock"),
    ("llvmlite.binding.ffi", "lib._lock"),
)
"""Locks of other packages that threads hold while they compile functions of the user."""

_changed = Condition(RLock())
_busy = 0
"""Number of threads in `postponed`, and of tasks."""

_forking = 0
"""Number of threads that wait to fork."""

_own = local()


class _Imports:
    """Python's lock of imports, in which threads look up the locks of modules."""

    def __enter__(self) -> None:
        imp.acquire_lock()

    def __exit__(self, *error: object) -> None:
        imp.release_lock()


_imports = _Imports()
_locks: list[AbstractContextManager[object]] = []
"""Locks that a fork acquires, in this order."""


def hold(lock: AbstractContextManager[object]) -> None:
    """Acquire a lock before each fork, so that no other thread holds it during the fork."""
    _locks.append(lock)


@contextmanager
def postponed() -> Iterator[None]:
    """Postpone forks by other threads; wait first for a thread that is about to fork."""
    global _busy
    outermost = not _depth()
    with _changed:
        while outermost and _forking:
            _changed.wait()
        _busy += outermost
        _own.depth = _depth() + 1
    try:
        yield
    finally:
        _own.depth -= 1
        if outermost:
            end_task()


def begin_task() -> None:
    """Postpone forks until `end_task`, which another thread may call."""
    global _busy
    with _changed:
        _busy += 1


def end_task() -> None:
    """Let threads fork again."""
    global _busy
    with _changed:
        _busy -= 1
        _changed.notify_all()


@contextmanager
def in_task() -> Iterator[None]:
    """Run a task, which postpones forks already, in this thread."""
    _own.depth = _depth() + 1
    try:
        yield
    finally:
        _own.depth -= 1


def _depth() -> int:
    return getattr(_own, "depth", 0)


def _before() -> None:
    end = time.monotonic() + IMPORTS
    while not (_take() or time.monotonic() > end):
        _in_parent()  # an imported module may compile
        time.sleep(0.001)


def _take() -> bool:
    """Wait for the work of other threads and take all locks; return whether no module is locked."""
    global _forking
    with _changed:
        _forking += 1
    _own.taken = ExitStack()
    _wait_for_work()
    for lock in (*_locks, *_foreign(), _changed, _imports):
        _own.taken.enter_context(lock)
    return not _others_import()


def _wait_for_work() -> None:
    """Wait until no other thread is in `postponed`, and no task is left."""
    global _busy
    mine = bool(_depth())
    with _changed:
        _busy -= mine  # avoids a deadlock of two forking threads
        _changed.notify_all()
        try:
            _changed.wait_for(lambda: not _busy, PATIENCE)
        finally:
            _busy += mine


def _foreign() -> Iterator[AbstractContextManager[object]]:
    """Yield the locks of other packages that are loaded and have them."""
    for module, name in FOREIGN:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is not None:
            yield found


def _others_import() -> bool:
    """Whether another thread has the lock of a module, or is about to take it.

    The lock of imports is held: meanwhile no thread can acquire the lock of another module.
    """
    locks = [lock() for lock in list(getattr(importlib._bootstrap, "_module_locks", {}).values())]
    return any(lock is not None and lock.owner != get_ident() for lock in locks)


def _in_parent() -> None:
    global _forking
    _own.taken.close()
    with _changed:
        _forking -= 1
        _changed.notify_all()


def _in_child() -> None:
    global _busy, _changed, _forking
    _own.taken.close()
    _busy, _forking, _changed = bool(_depth()), 0, Condition(RLock())
    if sys.version_info < (3, 12):
        _unlock_cached_properties()


def _unlock_cached_properties() -> None:
    """Give cached properties new locks: in Python 3.11 all objects of a class share one."""
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        if names.get("cached_property") is functools.cached_property:
            for kind in [value for value in names.values() if isinstance(value, type)]:
                for member in vars(kind).values():
                    if isinstance(member, functools.cached_property):
                        vars(member)["lock"] = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
