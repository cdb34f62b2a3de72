"""The on-disk cache of kernels: source and machine code, shared by processes.

A kernel's file name holds the digest of its program, of the compiler's choices, and of everything
else that could change the machine code. Sources are made once and never replaced: they are written
aside and linked into place, and the first link wins. Compilation is serialised by a file lock, so
that many processes that start at once compile a kernel once.

A kernel counts from the moment it is *sealed*: the digests of its files are written down last. What
a killed process leaves behind, or a disk spoils, is not as sealed, and is made again. A directory
in which nothing can be written is replaced by a private one, with a warning.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache as once
from pathlib import Path
from uuid import uuid4

from ..errors import PACKAGE, user_span

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this platform
    fcntl = None  # type: ignore[assignment]

CODE = "__pycache__"
"""The folder, beside the sources, in which Numba keeps machine code."""

SETTINGS = (
    "BOUNDSCHECK",
    "CPU_FEATURES",
    "CPU_NAME",
    "DEBUGINFO_DEFAULT",
    "ENABLE_AVX",
    "LOOP_VECTORIZE",
    "OPT",
    "SLP_VECTORIZE",
)
"""Numba's own settings that change machine code."""

_OURS = re.compile(r".+_[0-9a-f]{24}\..+")


def cache_dir() -> Path:
    """Return the directory of cached kernels; ``SSR_CACHE_DIR`` moves it."""
    chosen = os.environ.get("SSR_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or "~/.cache", "ssr"
    )
    return Path(os.path.abspath(os.path.expanduser(chosen)))


def _folder() -> Path:
    """Return the directory kernels are read from and written to."""
    return _usable(cache_dir())


@once
def _usable(folder: Path) -> Path:
    """Return a folder if files can be made in it, else one for this process alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as problem:
        span = user_span()
        warnings.warn_explicit(
            f"Kernels cannot be kept in {folder}: {problem.strerror}. They are compiled again in "
            "every process; set SSR_CACHE_DIR to a directory that can be written.",
            RuntimeWarning,
            span.file if span else __file__,
            span.line if span else 1,
        )
    private = Path(tempfile.mkdtemp(prefix="ssr-"))
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(private, ignore_errors=True)

    atexit.register(remove)
    return private


@once
def environment() -> str:
    """Return everything outside a program that its machine code depends on."""
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy as np

    settings = [f"{name}={getattr(numba.config, name, None)}" for name in SETTINGS]
    packages = [f"{p.__name__} {p.__version__}" for p in (numba, llvmlite, np)]
    processor = [llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
    ours = source_digest(PACKAGE)
    return "\n".join([ours, platform.python_version(), *packages, *processor, *settings])


def source_digest(package: Path) -> str:
    """Return the digest of a package's source: its version, for any state of a checkout."""
    whole = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        whole.update(os.fsencode(file.relative_to(package)) + b"\0")
        whole.update(file.read_bytes() + b"\0")
    return whole.hexdigest()


def digest(*texts: str) -> str:
    """Return a name for texts and this environment that is the same in every process."""
    whole = hashlib.sha256()
    for text in (*texts, environment()):
        whole.update(text.encode())
        whole.update(b"\0")
    return whole.hexdigest()[:24]


def find(name: str) -> Path | None:
    """Return the cached source of a name if it is sealed and all its files are as they were."""
    path = _folder() / f"{name}.py"
    try:
        stamp, *lines = path.with_suffix(".seal").read_text(encoding="utf-8").splitlines()
        whole = stamp == _stamp(path) and all(_as_sealed(path.parent, line) for line in lines)
    except (OSError, ValueError):
        return None
    return path if whole else None


def _as_sealed(folder: Path, line: str) -> bool:
    """Whether a file is what a line of a seal says; Python makes missing byte code again."""
    known, _, file = line.partition(" ")
    place = folder / file
    return _digest_of(place) == known if place.exists() else place.suffix == ".pyc"


def _seal(path: Path) -> None:
    """Write down the digests of a kernel's files."""
    files = [path, *sorted((path.parent / CODE).glob(f"{path.stem}.*"))]
    lines = [f"{_digest_of(f)} {f.relative_to(path.parent)}" for f in files]
    aside = _write_aside(path, "\n".join([_stamp(path), *lines]) + "\n")
    aside.replace(path.with_suffix(".seal"))


def _digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _stamp(path: Path) -> str:
    """Return the time of a source: Numba uses machine code only with the source it was made of."""
    return str(path.stat().st_mtime_ns)


def publish(name: str, source: str) -> Path:
    """Store a source under a name unless it is there; return its path."""
    path = _folder() / f"{name}.py"
    aside = _write_aside(path, source)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        aside.replace(path)
    aside.unlink(missing_ok=True)
    return path


def _write_aside(path: Path, text: str) -> Path:
    aside = path.with_name(f"{path.stem}.{uuid4().hex}.tmp")
    aside.write_text(text, encoding="utf-8")
    return aside


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of a name among processes while its kernel is made, and seal the kernel.

    The system frees the lock when a process dies; what that process left is removed first.
    """
    path = _folder() / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w") as stream:
        alone = _lock(stream.fileno())
        if find(name) is not None:
            yield
            return
        if alone:
            for file in _files(path.parent):
                if file.name.startswith(f"{name}.") and file.suffix != ".lock":
                    file.unlink(missing_ok=True)
        yield
        with contextlib.suppress(FileNotFoundError):
            _seal(path)


def _lock(handle: int) -> bool:
    """Wait for the lock of an open file; return whether it is held: not all systems have locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
            return True
    return False


def _files(folder: Path) -> list[Path]:
    """Return the files of all kernels in a folder, and no others."""
    found = [p for f in (folder, folder / CODE) if f.is_dir() for p in f.iterdir()]
    return [p for p in found if _OURS.fullmatch(p.name)]


def size() -> tuple[int, int]:
    """Return the number of cached kernels and the bytes of all their files."""
    files = _files(cache_dir())
    return sum(p.suffix == ".py" for p in files), sum(p.stat().st_size for p in files)


def clear() -> int:
    """Empty the cache; return the number of kernels removed."""
    kernels, _ = size()
    for file in _files(cache_dir()):
        file.unlink(missing_ok=True)
    return kernels
