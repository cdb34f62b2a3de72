"""The on-disk cache of kernels: source and machine code, shared by processes.

A kernel's file name holds the digest of its program, of the compiler's choices, and of everything
else that could change the machine code. Files are made once and never replaced: they are written
aside and linked into place, and the first link wins. Compilation is serialised by a file lock, so
that many processes that start at once compile a kernel once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache as once
from importlib.metadata import version
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - not on this platform
    fcntl = None  # type: ignore[assignment]


def cache_dir() -> Path:
    """Return the directory of cached kernels; ``SSR_CACHE_DIR`` moves it."""
    chosen = os.environ.get("SSR_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ssr"


@once
def environment() -> str:
    """Return everything outside a program that its machine code depends on."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    parts = [version(p) for p in ("numba", "llvmlite", "numpy")]
    return "\n".join(
        [*parts, _own_digest(), platform.python_version(), llvm.get_host_cpu_name(), features]
    )


@once
def _own_digest() -> str:
    """Return the digest of this package's source: the version, for any state of a checkout."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def digest(*texts: str) -> str:
    """Return a name for texts and this environment that is the same in every process."""
    whole = hashlib.sha256()
    for text in (*texts, environment()):
        whole.update(text.encode())
        whole.update(b"\0")
    return whole.hexdigest()[:24]


def find(name: str) -> Path | None:
    """Return the cached source of a name, if it is there."""
    path = cache_dir() / f"{name}.py"
    return path if path.exists() else None


def publish(name: str, source: str) -> Path:
    """Store a source under a name unless it is there; return its path."""
    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    handle, aside = tempfile.mkstemp(dir=folder, suffix=".tmp")
    try:
        with os.fdopen(handle, "w") as stream:
            stream.write(source)
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        os.unlink(aside)
    return path


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of a name among processes; the system frees it when a process dies."""
    folder = cache_dir()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "w") as stream:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def size() -> tuple[int, int]:
    """Return the number of cached kernels and the bytes of all cache files."""
    folder = cache_dir()
    if not folder.exists():
        return 0, 0
    files = [p for p in folder.rglob("*") if p.is_file()]
    kernels = sum(p.suffix == ".py" for p in files)
    return kernels, sum(p.stat().st_size for p in files)


def clear() -> int:
    """Empty the cache; return the number of kernels removed."""
    kernels, _ = size()
    folder = cache_dir()
    if folder.exists():
        for entry in folder.iterdir():
            if entry.name == "__pycache__" and entry.is_dir():
                shutil.rmtree(entry)
            elif entry.suffix in (".py", ".lock", ".tmp"):
                entry.unlink()
    return kernels
