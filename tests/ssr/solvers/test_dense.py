"""Pseudoinverses of dense matrices: right to rounding, of every rank, with the same bits always."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

import ssr
from ssr.errors import NonFiniteError
from ssr.points.numbers import Array
from ssr.solvers.dense import apply, pseudoinverse

DIGEST = """
import hashlib, numpy as np
import tests.ssr.solvers.test_dense as here
print(here.digest())
"""

ENVIRONMENTS = [
    {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "1"},
    {"OPENBLAS_CORETYPE": "Prescott", "OMP_NUM_THREADS": "2"},
    {"OPENBLAS_CORETYPE": "SkylakeX", "OMP_NUM_THREADS": "2"},
    {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX2 FMA3"},
]


def chain(count: int, seed: int, closed: bool) -> Array:
    """Return the matrix of fluxes along a line; if closed, constants are its null space."""
    k = np.exp(np.random.default_rng(seed).standard_normal(count + 1))
    if closed:
        k[0] = k[-1] = 0.0
    return np.diag(k[1:] + k[:-1]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)


MATRICES = {
    "random": np.random.default_rng(1).standard_normal((40, 40)),
    "fluxes": chain(100, 2, closed=False),
    "closed": chain(100, 2, closed=True),
    "two parts": np.kron(np.eye(2), chain(30, 3, closed=True)),
    "nilpotent": np.diag(np.arange(1.0, 10.0), 1),
    "rank one": np.outer(np.arange(1.0, 6.0), np.ones(5)),
    "zero": np.zeros((3, 3)),
    "number": np.full((1, 1), 4.0),
    "large": 1e200 * chain(20, 4, closed=True),
    "small": 1e-200 * chain(20, 4, closed=True),
}


@pytest.mark.parametrize("name", MATRICES)
def test_the_pseudoinverse_of_numpy(name: str) -> None:
    matrix = MATRICES[name]
    wanted = np.linalg.pinv(matrix, rcond=1e-13)
    found = pseudoinverse(matrix)
    np.testing.assert_allclose(found, wanted, 0, 1e-11 * (np.abs(wanted).max() or 1.0))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("closed", [True, False])
def test_jumps_do_not_change_the_rank(scale: float, closed: bool) -> None:
    k = np.where(np.arange(41) < 20, 1.0, scale)
    if closed:
        k[0] = k[-1] = 0.0
    matrix = np.diag(k[1:] + k[:-1]) - np.diag(k[1:-1], 1) - np.diag(k[1:-1], -1)
    found = pseudoinverse(matrix)
    np.testing.assert_allclose(matrix @ found @ matrix, matrix, 0, 1e-6 * np.abs(matrix).max())
    assert abs(found.sum(axis=0)).max() < 1e-8 * abs(found).max() or not closed


def test_products() -> None:
    matrix, x = MATRICES["random"], np.arange(40.0)
    np.testing.assert_allclose(apply(matrix, x), matrix @ x, 1e-12)


def digest() -> str:
    """Return the digest of solutions that need a coarsest grid of 225 points."""
    found = hashlib.sha256()
    for name, matrix in MATRICES.items():
        inverse = pseudoinverse(matrix)
        found.update(name.encode() + inverse.tobytes())
        found.update(apply(inverse, np.linspace(-1.0, 2.0, len(inverse))).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("more", ENVIRONMENTS, ids=str)
def test_bits_depend_neither_on_threads_nor_on_processors(more: dict[str, str]) -> None:
    run = subprocess.run(
        [sys.executable, "-c", DIGEST], env={**os.environ, **more}, capture_output=True, text=True
    )
    assert run.stdout.strip() == digest(), run.stderr


def closed_fluxes(points: int, levels: int) -> tuple[ssr.Matrix, ssr.solvers.Multigrid]:
    """Return the matrix of fluxes with rough coefficients between walls, and its hierarchy."""
    line = ssr.Space(ssr.size("n"))

    @ssr.matrix(rows=line, cols=line, k=ssr.Space(ssr.size("n") + 1))
    def fluxes(i, *, k):  # type: ignore[no-untyped-def]
        yield i, k[i] + k[i + 1]
        if i > 0:
            yield i - 1, -k[i]
        if i + 1 < line.shape[0]:
            yield i + 1, -k[i + 1]

    k = np.exp(np.random.default_rng(0).standard_normal(points + 1))
    k[[0, -1]] = 0.0
    bound = fluxes.bind(k=k)
    return bound, ssr.solvers.Multigrid.galerkin(bound, levels)


@pytest.mark.parametrize("levels", [2, 4, 5, 6])
def test_a_singular_matrix_on_the_coarsest_grid(levels: int) -> None:
    A, multigrid = closed_fluxes(63, levels)
    b = np.random.default_rng(1).standard_normal(63)
    b -= b.mean()
    z = np.empty(63)
    multigrid(z, b)
    assert abs(z).max() < 1e5
    assert ssr.solvers.cg(A, b, rtol=1e-8, M=multigrid).info == 0


def test_a_coarsest_matrix_that_is_not_finite() -> None:
    A, multigrid = closed_fluxes(7, 2)
    A.definition.bound["k"][3] = np.nan
    multigrid.update()
    with pytest.raises(NonFiniteError, match="coarsest grid"):
        multigrid(np.empty(7), np.ones(7))
