"""Each Fortran reference, in every build, against SciPy or a plain sweep on a CSR matrix."""

import math
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest
from scipy import sparse

from benchmarks import fortran
from benchmarks.fortran import Array
from benchmarks.references import operator27

SHAPES_3D = [(12, 12, 12), (1, 1, 1), (5, 7, 9), (2, 3, 33), (3, 20, 1100)]
"""The last is wide enough for the tuned versions to block its rows."""
SHAPES_2D = [(12, 12), (1, 1), (1, 9), (7, 5), (6, 70)]

versions = pytest.mark.parametrize("version", ["natural", "tuned"])
builds = pytest.mark.parametrize("build", list(fortran.BUILDS))


def random(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def assert_close(found: Array, expected: Array) -> None:
    """Compare to 1e-13 of the largest value."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def symmetric_sweep(matrix: sparse.csr_array, b: Array, x: Array) -> None:
    """Do what the references do, one row after the other."""
    diagonal = matrix.diagonal()
    rows = range(b.size)
    for row in [*rows, *reversed(rows)]:
        entries = slice(matrix.indptr[row], matrix.indptr[row + 1])
        rest = b[row] - matrix.data[entries] @ x[matrix.indices[entries]]
        x[row] += rest / diagonal[row]


@pytest.mark.fortran
@builds
@versions
@pytest.mark.parametrize("shape", SHAPES_3D, ids=str)
def test_spmv27(shape: tuple[int, ...], version: fortran.Version, build: str) -> None:
    x, y = random(shape, 1), np.full(shape, np.nan)
    fortran.spmv27(np.pad(x, 1), y, version=version, build=build)()
    assert_close(y.ravel(), operator27(shape) @ x.ravel())


@pytest.mark.fortran
@pytest.mark.parametrize("shape", [(12, 12, 12), (1, 1, 1), (5, 7, 9), (2, 3, 33)], ids=str)
def test_symgs27(shape: tuple[int, ...]) -> None:
    b, start = random(shape, 1), random(shape, 2)
    expected = start.ravel().copy()
    symmetric_sweep(operator27(shape), b.ravel(), expected)
    ghosts = np.pad(np.zeros(shape), 1, constant_values=1) > 0
    for version in "natural", "tuned":
        for build in fortran.BUILDS:
            x = np.pad(start, 1)
            fortran.symgs27(b, x, version=version, build=build)()
            assert_close(x[1:-1, 1:-1, 1:-1].ravel(), expected)
            assert not x[ghosts].any()


@pytest.mark.fortran
@builds
def test_symgs_csr(build: str) -> None:
    matrix = operator27((12, 12, 12))
    b, x = random((12**3,), 1), random((12**3,), 2)
    expected = x.copy()
    symmetric_sweep(matrix, b, expected)
    indptr, indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    fortran.symgs_csr(indptr, indices, matrix.data, matrix.diagonal(), b, x, build=build)()
    assert_close(x, expected)


@pytest.mark.fortran
@builds
@versions
@pytest.mark.parametrize("shape", SHAPES_3D, ids=str)
def test_spmv7(shape: tuple[int, ...], version: fortran.Version, build: str) -> None:
    taps, x, y = random((7, *shape), 1), random(shape, 2), np.full(shape, np.nan)
    fortran.spmv7(taps, np.pad(x, 1), y, version=version, build=build)()
    shifts = (0, 0, -1), (0, 0, 1), (0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0), (0, 0, 0)
    matrix = sum(
        sparse.diags_array(tap.ravel()) @ shifted(shape, shift)
        for tap, shift in zip(taps, shifts, strict=True)
    )
    assert_close(y.ravel(), matrix @ x.ravel())


@pytest.mark.fortran
@builds
@versions
@pytest.mark.parametrize("shape", SHAPES_2D, ids=str)
def test_jacobi5(shape: tuple[int, ...], version: fortran.Version, build: str) -> None:
    b, x, y = random(shape, 1), random(shape, 2), np.full(shape, np.nan)
    fortran.jacobi5(b, np.pad(x, 1), y, version=version, build=build)()
    matrix = sum(shifted(shape, shift) for shift in [(0, -1), (0, 1), (-1, 0), (1, 0)])
    assert_close(y.ravel(), (b.ravel() + matrix @ x.ravel()) / 4)


def shifted(shape: tuple[int, ...], shift: tuple[int, ...]) -> sparse.csr_array:
    """Return the matrix that reads the neighbour at a shift, or nothing outside."""
    matrix = sparse.eye_array(1)
    for extent, offset in zip(shape, shift, strict=True):
        axis = sparse.csr_array(np.eye(extent, k=offset))
        matrix = sparse.kron(matrix, axis)
    return sparse.csr_array(matrix)


@pytest.mark.fortran
@builds
def test_triad(build: str) -> None:
    b, c, a = random((3, 41), 1), random((3, 41), 2), np.full((3, 41), np.nan)
    fortran.triad(3.0, b, c, a, build=build)()
    assert_close(a, b + 3 * c)


@pytest.mark.fortran
def test_variants_are_all_builds_of_all_versions() -> None:
    calls = fortran.variants(fortran.spmv27, np.zeros((3, 3, 3)), np.zeros((1, 1, 1)))
    assert list(calls) == [f"{v} {b}" for v in ("natural", "tuned") for b in fortran.BUILDS]


@pytest.mark.fortran
def test_a_call_keeps_its_arrays_alive() -> None:
    b = np.ones(3)
    alive = weakref.ref(b)
    call = fortran.triad(1.0, b, b, np.zeros(3))
    del b
    assert alive() is not None
    call()
    del call
    assert alive() is None


@pytest.mark.fortran
def test_loading_a_reference_leaves_subnormal_numbers_alone() -> None:
    program = (
        "import numpy as np; from benchmarks import fortran;"
        "x, y = np.zeros((3, 3, 3)), np.zeros((1, 1, 1));"
        "[call() for call in fortran.variants(fortran.spmv27, x, y).values()];"
        "tiny = 1e-308; print(tiny / 16 > 0)"
    )
    run = [sys.executable, "-W", "error", "-c", program]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def zeros(*shape: int) -> Array:
    return np.zeros(shape)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^x must have shape \(4, 5, 6\), not \(4, 5, 5\)\.$"):
        fortran.spmv27(zeros(4, 5, 5), zeros(2, 3, 4))
    with pytest.raises(ValueError, match=r"^y must have 3 axes, not 2\.$"):
        fortran.spmv27(zeros(4, 5), zeros(2, 3))
    with pytest.raises(ValueError, match=r"^A 7-point operator has 7 coefficients, not 6\.$"):
        fortran.spmv7(zeros(6, 1, 1, 1), zeros(3, 3, 3), zeros(1, 1, 1))


def test_types_are_checked() -> None:
    with pytest.raises(TypeError, match=r"^b must be float64, not float32\.$"):
        fortran.triad(1.0, np.zeros(3, np.float32), zeros(3), zeros(3))


def test_layout_is_checked() -> None:
    with pytest.raises(ValueError, match=r"^c must be contiguous in C order, and aligned\.$"):
        fortran.triad(1.0, zeros(3), zeros(6)[::2], zeros(3))
    constant = zeros(3)
    constant.flags.writeable = False
    with pytest.raises(ValueError, match=r"^a is written and must be writeable\.$"):
        fortran.triad(1.0, zeros(3), zeros(3), constant)


def test_overlap_is_refused() -> None:
    a = zeros(3)
    with pytest.raises(ValueError, match=r"^The array written must share no memory with the oth"):
        fortran.triad(1.0, a, zeros(3), a)


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    fortran.compiler_version.cache_clear()
    with pytest.raises(fortran.FortranMissing, match="gfortran is not on the PATH"):
        fortran.compiler_version()


def test_the_operator_is_the_definition() -> None:
    shape = 2, 3, 4
    points = list(np.ndindex(*shape))
    expected = np.zeros((math.prod(shape),) * 2)
    for row, here in enumerate(points):
        for column, there in enumerate(points):
            if max(abs(p - q) for p, q in zip(here, there, strict=True)) <= 1:
                expected[row, column] = 26 if row == column else -1
    np.testing.assert_array_equal(operator27(shape).toarray(), expected)
