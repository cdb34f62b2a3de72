"""Our Fortran references, compiled on the machine that runs them and called from Python.

``benchmarks/fortran`` holds one source for each task, with a *natural* version, the loop nest as it
follows from the mathematics, and for most tasks a *tuned* one, the fastest form that we could write
by hand. Each version is compiled in several builds, as none is the fastest everywhere; the best of
them all is the reference. A function here checks its arrays and returns a call without arguments,
so that timing it costs little more than the work itself.

Arrays are contiguous float64 in NumPy's order, ``[k, j, i]`` where the Fortran says ``(i, j, k)``.
``x`` has one layer of ghosts, which must hold zeros.

The libraries are kept in a directory of the user's own in the system's temporary one. Their names
are digests of source, flags, compiler and processor.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.processor import march

Array = NDArray[np.float64]
Indices = NDArray[np.int32]
Call = Callable[[], None]
Version = Literal["natural", "tuned"]

_SOURCES = Path(__file__).parent / "fortran"
_COMMON = ("-std=f2018", "-fPIC")
_MARCH = march()
_WIDE = (_MARCH, "-mprefer-vector-width=512")
_AHEAD = (  # prefetch every stream far ahead: GCC on its own does so for none of these loops
    "-fprefetch-loop-arrays",
    *("--param", "prefetch-latency=1500"),
    *("--param", "simultaneous-prefetches=64"),
    *("--param", "min-insn-to-prefetch-ratio=0"),
    *("--param", "prefetch-min-insn-to-mem-ratio=0"),
)
_X86 = platform.machine().lower() in ("x86_64", "amd64")

BUILDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"O3": ("-O3", _MARCH), "Ofast": ("-Ofast", _MARCH)}
    | ({"wide": ("-Ofast", *_WIDE), "ahead": ("-O3", *_WIDE, *_AHEAD)} if _X86 else {})
)
"""The flags of each build. ``wide`` uses the longest vectors, ``ahead`` also prefetches; neither
takes the liberties of ``-Ofast``, with which the CSR sweep gathers and is slower."""

LANES = ("--param", "max-completely-peel-times=4", *(_WIDE[1:] if _X86 else ()))
"""Flags for loops over eight lanes, which GCC otherwise unrolls before it can vectorise them."""


class FortranMissing(RuntimeError):
    """Raised if gfortran is not found."""

    def __init__(self) -> None:
        super().__init__("gfortran is not on the PATH; on Debian and Ubuntu: apt install gfortran.")


class FortranError(RuntimeError):
    """Raised if gfortran rejects a source or a flag; the message is that of gfortran."""


def spmv27(x: Array, y: Array, *, version: Version = "tuned", build: str = "O3") -> Call:
    """Bind ``y = A x`` for the 27-point operator: 26, and -1 at each neighbour.

    Parameters
    ----------
    x, y
        Shapes (nz + 2, ny + 2, nx + 2) and (nz, ny, nx).
    """
    _check("y", y, ndim=3, written=True)
    _check("x", x, _padded(y))
    _distinct(y, x)
    return bind("spmv27", version, build, *_extents(y), x, y)


def symgs27(b: Array, x: Array, *, version: Version = "tuned", build: str = "O3") -> Call:
    """Bind a forward and a backward Gauss-Seidel sweep on ``x`` for the operator of `spmv27`.

    Parameters
    ----------
    b, x
        Shapes (nz, ny, nx) and (nz + 2, ny + 2, nx + 2).
    """
    _check("b", b, ndim=3)
    _check("x", x, _padded(b), written=True)
    _distinct(x, b)
    return bind("symgs27", version, build, *_extents(b), b, x)


def symgs_csr(
    indptr: Indices,
    indices: Indices,
    values: Array,
    diagonal: Array,
    b: Array,
    x: Array,
    *,
    version: Literal["natural"] = "natural",
    build: str = "O3",
) -> Call:
    """Bind a forward and a backward Gauss-Seidel sweep on ``x`` for any square CSR matrix.

    The indices are trusted: Fortran reads where they point.

    Parameters
    ----------
    indptr, indices, values
        The matrix, as `scipy.sparse.csr_array` keeps it, with 32-bit indices.
    diagonal, b, x
        One value for each row; x has no ghosts.
    """
    rows, entries = b.size, values.size
    _check_csr(indptr, indices, values, rows)
    _check("diagonal", diagonal, (rows,))
    _check("b", b, (rows,))
    _check("x", x, (rows,), written=True)
    _distinct(x, indptr, indices, values, diagonal, b)
    arrays = indptr, indices, values, diagonal, b, x
    return bind("symgs_csr", version, build, rows, entries, *arrays)


def spmv_csr(
    indptr: Indices,
    indices: Indices,
    values: Array,
    x: Array,
    y: Array,
    *,
    version: Literal["natural"] = "natural",
    build: str = "O3",
) -> Call:
    """Bind ``y = A x`` for any square CSR matrix.

    The indices are trusted: Fortran reads where they point.

    Parameters
    ----------
    indptr, indices, values
        The matrix, as `scipy.sparse.csr_array` keeps it, with 32-bit indices.
    x, y
        One value for each row, without ghosts.
    """
    rows, entries = y.size, values.size
    _check_csr(indptr, indices, values, rows)
    _check("x", x, (rows,))
    _check("y", y, (rows,), written=True)
    _distinct(y, indptr, indices, values, x)
    return bind("spmv_csr", version, build, rows, entries, indptr, indices, values, x, y)


def spmv7(
    coefficients: Iterable[Array],
    x: Array,
    y: Array,
    *,
    version: Version = "tuned",
    build: str = "O3",
) -> Call:
    """Bind ``y = A x`` for a 7-point operator with a coefficient for each neighbour and point.

    Parameters
    ----------
    coefficients
        West and east (i - 1, i + 1), south and north (j), low and high (k), centre; shapes
        (nz, ny, nx).
    x, y
        Shapes (nz + 2, ny + 2, nx + 2) and (nz, ny, nx).
    """
    taps = tuple(coefficients)
    if len(taps) != 7:
        raise ValueError(f"A 7-point operator has 7 coefficients, not {len(taps)}.")
    _check("y", y, ndim=3, written=True)
    _check("x", x, _padded(y))
    for tap in taps:
        _check("coefficient", tap, y.shape)
    _distinct(y, x, *taps)
    return bind("spmv7", version, build, *_extents(y), *taps, x, y)


def jacobi5(b: Array, x: Array, y: Array, *, version: Version = "tuned", build: str = "O3") -> Call:
    """Bind a Jacobi sweep, ``y = (b + the four neighbours of x) / 4``.

    Parameters
    ----------
    b, x, y
        Shapes (ny, nx), (ny + 2, nx + 2) and (ny, nx).
    """
    _check("y", y, ndim=2, written=True)
    _check("b", b, y.shape)
    _check("x", x, _padded(y))
    _distinct(y, b, x)
    return bind("jacobi5", version, build, *_extents(y), b, x, y)


def chain5(u: Array, v: Array, w: Array, *, version: Version = "tuned", build: str = "O3") -> Call:
    """Bind three 5-point stages with a pointwise function between them, back into u.

    Parameters
    ----------
    u, v, w
        Shapes (ny + 2, nx + 2).
    """
    for name, array in (("u", u), ("v", v), ("w", w)):
        _check(name, array, u.shape, ndim=2, written=True)
    _distinct(u, v, w)
    return bind("chain5", version, build, *_extents(u[1:-1, 1:-1]), u, v, w)


def cg7(
    x: Array, r: Array, p: Array, q: Array, rr: Array, *, version: Version = "tuned",
    build: str = "O3",
) -> Call:  # fmt: skip
    """Bind an iteration of conjugate gradients with the 7-point operator.

    Parameters
    ----------
    x, r, q
        Shapes (nz, ny, nx).
    p
        Shape (nz + 2, ny + 2, nx + 2).
    rr
        The square of the norm of r, shape (1,).
    """
    _check("x", x, ndim=3, written=True)
    _check("r", r, x.shape, written=True)
    _check("q", q, x.shape, written=True)
    _check("p", p, _padded(x), written=True)
    _check("rr", rr, (1,), written=True)
    _distinct(x, r, p, q, rr)
    return bind("cg7", version, build, *_extents(x), x, r, p, q, rr)


def euler(
    r: float, s: float, old: Array, new: Array, *, version: Version = "tuned", build: str = "O3"
) -> Call:
    """Bind a step of the Euler equations by the scheme of MUSCL and Hancock with HLL fluxes.

    Parameters
    ----------
    r, s
        The length of the step divided by the width of a cell along x and along y.
    old, new
        Shapes (4, ny + 4, nx + 4), two layers of ghosts, and (4, ny, nx).
    """
    _check("new", new, ndim=3, written=True)
    _check("old", old, (4, new.shape[1] + 4, new.shape[2] + 4))
    _distinct(new, old)
    return bind("euler", version, build, *_extents(new)[:2], float(r), float(s), old, new)


def hpcg(
    b: Array, x: Array, r: Array, z: Array, p: Array, q: Array, residuals: Array, seconds: Array,
    *, version: Literal["tuned"] = "tuned", build: str = "O3",
) -> Call:  # fmt: skip
    """Bind iterations of conjugate gradients with a V-cycle on four grids, from x = 0.

    Parameters
    ----------
    b, x, q
        Shapes (nz, ny, nx), divisible by 8.
    r, z
        The flat fields of all grids one after the other, those of z with ghosts.
    p
        Shape (nz + 2, ny + 2, nx + 2).
    residuals
        Receives the norm of b, then that of the residual after each iteration.
    seconds
        Receives the times of V-cycles, of products and of updates.
    """
    _check("x", x, ndim=3, written=True)
    grids = [tuple(n >> level for n in x.shape) for level in range(4)]
    rows, padded = sum(map(math.prod, grids)), sum(math.prod(n + 2 for n in g) for g in grids)
    _check("b", b, x.shape)
    _check("q", q, x.shape, written=True)
    _check("p", p, _padded(x), written=True)
    _check("r", r, (rows,), written=True)
    _check("z", z, (padded,), written=True)
    _check("residuals", residuals, ndim=1, written=True)
    _check("seconds", seconds, (3,), written=True)
    iterations = residuals.size - 1
    arrays = b, x, r, z, p, q, residuals, seconds
    return bind("hpcg", version, build, *_extents(x), iterations, rows, padded, *arrays)


def hpcg_csr(
    first: Indices, origin: Indices, indptr: Indices, indices: Indices, values: Array,
    diagonal: Array, b: Array, x: Array, r: Array, z: Array, p: Array, q: Array, residuals: Array,
    seconds: Array, *, version: Literal["natural"] = "natural", build: str = "O3",
) -> Call:  # fmt: skip
    """Bind the iterations of `hpcg` with matrices in CSR form, the blocks of one matrix.

    The indices are trusted: Fortran reads where they point.

    Parameters
    ----------
    first, origin
        The first row of each grid, and last the number of rows; for each row of a coarser grid the
        row of the next finer one at the same point.
    indptr, indices, values, diagonal
        The matrix of all grids, 32-bit indices.
    b, x, p
        A value for each row of the finest grid.
    r, z, q
        A value for each row.
    residuals, seconds
        As for `hpcg`.
    """
    rows, entries, fine = diagonal.size, values.size, b.size
    for name, array, size in (
        ("first", first, 5), ("origin", origin, rows), ("indptr", indptr, rows + 1),
        ("indices", indices, entries),
    ):  # fmt: skip
        _check(name, array, (size,), dtype=np.int32)
    for name, field in ("x", x), ("p", p):
        _check(name, field, (fine,), written=True)
    for name, field in ("r", r), ("z", z), ("q", q):
        _check(name, field, (rows,), written=True)
    _check("residuals", residuals, ndim=1, written=True)
    _check("seconds", seconds, (3,), written=True)
    matrix = first, origin, indptr, indices, values, diagonal
    sizes = rows, entries, fine, residuals.size - 1
    return bind("hpcg_csr", version, build, *sizes, *matrix, b, x, r, z, p, q, residuals, seconds)


def triad(
    s: float,
    b: Array,
    c: Array,
    a: Array,
    *,
    version: Literal["natural"] = "natural",
    build: str = "O3",
) -> Call:
    """Bind ``a = b + s c`` on arrays of any one shape."""
    _check("a", a, written=True)
    _check("b", b, a.shape)
    _check("c", c, a.shape)
    _distinct(a, b, c)
    return bind("triad", version, build, a.size, float(s), b, c, a)


def variants(
    reference: Callable[..., Call],
    *data: object,
    versions: Sequence[Version] = ("natural", "tuned"),
) -> dict[str, Call]:
    """Bind every build of the versions of a reference to the same data.

    Returns
    -------
    The calls by names such as ``tuned Ofast``.
    """
    return {
        f"{version} {build}": reference(*data, version=version, build=build)
        for version in versions
        for build in BUILDS
    }


@cache
def compiler_version() -> str:
    """Return the first line of ``gfortran --version``.

    Raises
    ------
    FortranMissing
        If gfortran is not found.
    """
    return _gfortran("--version").partition("\n")[0]


def _check_csr(indptr: Indices, indices: Indices, values: Array, rows: int) -> None:
    """Raise an error unless arrays are a CSR matrix with this number of rows."""
    _check("indptr", indptr, (rows + 1,), dtype=np.int32)
    _check("indices", indices, (values.size,), dtype=np.int32)
    _check("values", values, (values.size,))


def _check(
    name: str,
    array: NDArray[Any],
    shape: tuple[int, ...] | None = None,
    *,
    ndim: int | None = None,
    dtype: type[np.generic] = np.float64,
    written: bool = False,
) -> None:
    """Raise an error unless the array can be passed to Fortran without a copy."""
    if array.dtype != dtype:
        raise TypeError(f"{name} must be {np.dtype(dtype)}, not {array.dtype}.")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}.")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, not {array.ndim}.")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} must be contiguous in C order, and aligned.")
    if written and not array.flags.writeable:
        raise ValueError(f"{name} is written and must be writeable.")


def _distinct(written: NDArray[Any], *read: NDArray[Any]) -> None:
    """Raise an error if the written array overlaps with others: Fortran assumes no aliasing."""
    if any(np.may_share_memory(written, array) for array in read):
        raise ValueError("The array written must share no memory with the others.")


def _padded(array: Array) -> tuple[int, ...]:
    """Return the shape with one layer of ghosts around it."""
    return tuple(extent + 2 for extent in array.shape)


def _extents(array: Array) -> tuple[int, ...]:
    """Return the shape in Fortran's order."""
    return array.shape[::-1]


def aligned(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that begins at a cache line, like arrays that the packages allocate.

    Large arrays of NumPy begin 16 bytes after a page boundary, like allocatable arrays of Fortran.
    """
    memory = np.empty(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    made = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    made[...] = values
    return made


def bind(
    work: str,
    version: str,
    build: str,
    *data: int | float | NDArray[Any],
    flags: Sequence[str] = (),
) -> Call:
    """Return a function that calls a subroutine with the data; flags are added to the build's."""
    library = ctypes.CDLL(str(_compiled(work, (*BUILDS[build], *flags))))
    subroutine = getattr(library, f"{work}_{version}")
    subroutine.restype = None
    return partial(subroutine, *map(_argument, data))


def _argument(value: int | float | NDArray[Any]) -> ctypes._SimpleCData[Any]:
    """Return a value as C passes it; the address of an array keeps that array alive."""
    if isinstance(value, int):
        return ctypes.c_int64(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return value.ctypes.data_as(ctypes.c_void_p)


@cache
def _compiled(work: str, flags: tuple[str, ...]) -> Path:
    """Return the shared library of a source, compiled if no earlier run has done it.

    It is linked without the flags: with ``-Ofast`` the linker would let the whole process, with
    Python and NumPy, flush subnormal numbers to zero.
    """
    source = _SOURCES / f"{work}.f90"
    parts = source.read_text(encoding="utf-8"), *_COMMON, *flags, compiler_version(), _target()
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
    library = _cache() / f"{work}-{digest}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
            object_, shared = Path(scratch, "work.o"), Path(scratch, "work.so")
            _gfortran(*_COMMON, *flags, "-J", scratch, "-c", str(source), "-o", str(object_))
            _gfortran("-shared", str(object_), "-o", str(shared))
            shared.replace(library)  # the same bytes, if another process was first
    return library


@cache
def _target() -> str:
    """Return the options to which ``-march=native`` expands on this machine."""
    return _gfortran("-march=native", "-Q", "--help=target")


def _gfortran(*arguments: str) -> str:
    """Run gfortran and return its output."""
    compiler = shutil.which("gfortran")
    if compiler is None:
        raise FortranMissing
    done = subprocess.run([compiler, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise FortranError(done.stderr)
    return done.stdout


def _cache() -> Path:
    """Return the directory of the libraries, which only the user can access."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    path = Path(tempfile.gettempdir(), f"ssr-fortran-{user}")
    path.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (path.is_symlink() or path.stat().st_uid != os.getuid()):
        raise FortranError(f"{path} belongs to somebody else.")
    return path
