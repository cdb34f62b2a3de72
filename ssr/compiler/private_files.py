"""Files with verified ownership: only their owner can have written them.

Machine code that is read from a cache is executed. A file is therefore read only if it belongs to
the current user and others cannot write to it, its folder or any folder above. Symbolic links are
not followed. On systems without POSIX users (Windows) nothing is checked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path
from uuid import uuid4

DAY = 86400.0
"""Seconds after which reading a file updates its time of last use."""

_CHECKED = hasattr(os, "getuid")
_SAFELY = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


def make(folder: Path) -> Path:
    """Create a folder if it does not exist, and return its path with all links resolved."""
    for place in (*reversed(folder.parents), folder):
        if not os.path.lexists(place):
            place.mkdir(mode=0o700, exist_ok=True)
    real = folder.resolve()
    if _CHECKED:
        for place in dict.fromkeys((real, *real.parents, folder, *folder.parents)):
            _check(place, os.lstat(place), leads=place != real)
    return real


def _check(place: Path, status: os.stat_result, leads: bool = False) -> None:
    """Refuse files and folders that other users could have written.

    A parent directory may also belong to root. In a directory with the sticky bit, other users can
    create files but not replace existing ones.
    """
    mode = status.st_mode
    if status.st_uid != os.getuid() and not (leads and status.st_uid == 0):
        _refuse(f"{place} belongs to another user")
    if stat.S_ISLNK(mode) or (leads and mode & stat.S_ISVTX):
        return
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not (leads and _alone(status.st_gid))):
        _refuse(f"others can write to {place}")


def _refuse(reason: str) -> None:
    raise PermissionError(errno.EPERM, reason)


@once
def _alone(group: int) -> bool:
    """Whether a group is this user's private group, which many systems create for each user."""
    import grp
    import pwd

    try:
        user, members = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    own = user.pw_gid == group and members.gr_name == user.pw_name
    return own and set(members.gr_mem) <= {user.pw_name}


def opened(path: Path, flags: int) -> int:
    """Open a file that only this user can have written; return its handle."""
    handle = os.open(path, flags | _SAFELY, 0o600)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            _refuse(f"{path} is not an ordinary file")
        if _CHECKED:
            _check(path, status)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read(path: Path) -> bytes:
    """Return the bytes of a file of this user, which counts as used today."""
    with os.fdopen(opened(path, os.O_RDONLY), "rb") as stream:
        if time.time() - os.fstat(stream.fileno()).st_mtime > DAY:
            with contextlib.suppress(OSError):
                os.utime(stream.fileno() if os.utime in os.supports_fd else path)
        return stream.read()


def write(path: Path, data: bytes) -> None:
    """Write a file atomically: readers see either the old contents or the new ones."""
    aside = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    handle = opened(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        aside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock among processes by a file that is there meanwhile.

    The system frees the lock when a process dies. Where files cannot be locked, no process waits.
    """
    handle = _lock(path)
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                path.unlink()
            os.close(handle)


def _lock(path: Path) -> int | None:
    """Wait for the lock of a file; return its handle, or None if locks are not supported."""
    try:
        import fcntl
    except ImportError:  # not on this platform
        return None
    while True:
        try:
            handle = opened(path, os.O_RDWR | os.O_CREAT)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.lstat(path)):
                return handle
        except FileNotFoundError:
            pass  # the holder of the lock has removed the file
        except OSError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
