"""The on-disk cache of kernels, shared by processes.

The file name of a kernel contains the digest of its program, of the compiler options and of
everything else that could change the machine code. A kernel is one file with a checksum of its
content, written to a temporary file and renamed. Incomplete or damaged files are treated as
missing, and the kernel is built again. With a file lock, a kernel is compiled once when many
processes start at the same time.

Kernels are read only from files that no other user can have written (`private_files`). If the
directory cannot be used, a warning states the reason, and this process keeps its kernels in
memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path

from ..errors import PACKAGE, user_span
from . import private_files

LIMIT = 2**30
"""Size limit of the cache in bytes; beyond it the least recently used kernels are removed."""

_OURS = re.compile(r".+_[0-9a-f]{24}\.(kernel|lock|kernel\.[0-9a-f]{32}\.tmp)")
_DIGEST = hashlib.sha256().digest_size

_PART = 64
"""A process searches for files to remove each time it has written this fraction of `LIMIT`."""

_in_memory: dict[Path, bytes] = {}
_written: dict[Path, int] = {}
"""Bytes that this process has written to each directory since its last search."""

_warned: set[Path] = set()


def cache_dir() -> Path:
    """Return the directory of cached kernels; ``SSR_CACHE_DIR`` moves it."""
    chosen = os.environ.get("SSR_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or "~/.cache", "ssr"
    )
    return Path(os.path.abspath(os.path.expanduser(chosen)))


@once
def environment() -> str:
    """Return the packages on which machine code depends, the target aside."""
    import llvmlite
    import numpy as np

    packages = [f"{p.__name__} {p.__version__}" for p in (llvmlite, np)]
    return "\n".join([sys.version, *packages])


@once
def ours() -> str:
    """Return the digest of our own source, on which descriptions of kernels depend."""
    return source_digest(PACKAGE)


def source_digest(package: Path) -> str:
    """Return the digest of a package's source: its version, for any state of a checkout."""
    whole = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        whole.update(os.fsencode(file.relative_to(package)) + b"\0")
        whole.update(file.read_bytes() + b"\0")
    return whole.hexdigest()


def digest(*texts: str, compiled: bool = True) -> str:
    """Return a name for texts that is the same in every process with the same source.

    The name of ``compiled`` code also depends on the environment; this loads llvmlite.
    """
    whole = hashlib.sha256()
    more = [environment()] if compiled else []
    for text in (*texts, ours(), *more):
        whole.update(text.encode())
        whole.update(b"\0")
    return whole.hexdigest()[:24]


def find(name: str) -> bytes | None:
    """Return the data cached under a name, if its checksum is right."""
    folder = _folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            whole = private_files.read(_file(folder, name))
            if hashlib.sha256(whole[_DIGEST:]).digest() == whole[:_DIGEST]:
                return whole[_DIGEST:]
    return _in_memory.get(cache_dir() / name)


def keep(name: str, data: bytes) -> None:
    """Keep data under a name: on disk, or in memory if that is impossible."""
    folder = _folder()
    if folder is not None:
        try:
            private_files.write(_file(folder, name), hashlib.sha256(data).digest() + data)
        except OSError as problem:
            _warn(problem)
        else:
            _evict_now_and_then(folder, len(data))
            return
    _in_memory[cache_dir() / name] = data


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the interprocess lock of a name while its kernel is compiled."""
    folder = _folder()
    if folder is None:
        yield
        return
    with private_files.locked(folder / f"{name}.lock"):
        yield


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.kernel"


def _folder() -> Path | None:
    """Return the directory of kernels if it is there and only this user can write to it."""
    try:
        return private_files.make(cache_dir())
    except OSError as problem:
        _warn(problem)
        return None


def objection() -> str | None:
    """Return why kernels cannot be kept in the directory of the cache, if it is there."""
    try:
        if cache_dir().exists():
            private_files.make(cache_dir())
    except OSError as problem:
        return problem.strerror
    return None


def _warn(problem: OSError) -> None:
    """Say once for each directory why kernels cannot be kept there."""
    folder = cache_dir()
    if folder in _warned:
        return
    _warned.add(folder)
    span = user_span()
    warnings.warn_explicit(
        f"Kernels cannot be kept in {folder}: {problem.strerror}. They are compiled again in "
        "every process; set SSR_CACHE_DIR to a directory that you can write and others cannot.",
        RuntimeWarning,
        span.file if span else __file__,
        span.line if span else 1,
    )


def _evict_now_and_then(folder: Path, size: int) -> None:
    """Search a directory for files to remove at the first kernel, and where many were added."""
    written = _written.get(folder, LIMIT) + size
    if written * _PART > LIMIT:
        _evict(folder)
        written = 0
    _written[folder] = written


def _evict(folder: Path) -> None:
    """Remove the least recently used kernels beyond the limit, and files of killed processes."""
    found = _files(folder)
    total = sum(status.st_size for _, status in found)
    yesterday = time.time() - private_files.DAY
    for path, status in sorted(found, key=lambda each: each[1].st_mtime):
        left = path.suffix != ".kernel" and status.st_mtime < yesterday
        if left or (total > LIMIT and path.suffix == ".kernel"):
            total -= status.st_size
            with contextlib.suppress(OSError):
                path.unlink()


def _files(folder: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the files of all kernels in a folder, and no others."""
    found = []
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):  # removed by another process
                    found.append((path, path.lstat()))
    return found


def size() -> tuple[int, int]:
    """Return the number of cached kernels and the bytes of all their files."""
    files = _files(cache_dir())
    return sum(p.suffix == ".kernel" for p, _ in files), sum(s.st_size for _, s in files)


def clear() -> int:
    """Empty the cache; return the number of kernels removed."""
    removed = 0
    for path, _ in _files(cache_dir()):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            removed += path.suffix == ".kernel"
    return removed
