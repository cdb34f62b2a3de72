"""The Poisson example: it converges, its error is of second order, its picture is written."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr
from apps import poisson


def on(size: int) -> bc.Distribution:
    return bc.distribute(poisson.points, m=size // 2)


def values(field: bc.Field) -> np.ndarray:
    whole = field.gather()
    assert whole is not None
    return whole


def problem(size: int) -> list[np.ndarray]:
    """Return the solution and the right side as arrays."""
    return [function(*np.ogrid[:size, :size]) for function in poisson.problem(size)]


def laplacian(size: int) -> scipy.sparse.csr_array:
    """Return the matrix by Kronecker products, without ssr."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(size, size))
    same = scipy.sparse.eye_array(size)
    return scipy.sparse.csr_array(scipy.sparse.kron(line, same) + scipy.sparse.kron(same, line))


def test_matrix_is_the_five_point_laplacian() -> None:
    difference = poisson.A.bind(m=2).to_scipy() - laplacian(5)
    assert abs(difference).max() == 0.0


def test_right_side_fits_the_solution() -> None:
    u, b = problem(201)
    truncation = np.abs(poisson.A @ u - b).max()
    assert truncation < 3e-7  # h^2 times an error of order h^2
    assert np.abs(b).max() > 1e-3


def test_sweep_is_one_of_textbooks() -> None:
    _, b = problem(7)
    u = np.random.default_rng(0).standard_normal(b.shape)
    A, expected = laplacian(7).toarray(), u.copy().ravel()
    for row in [*range(49), *reversed(range(49))]:
        expected[row] += (b.ravel()[row] - A[row] @ expected) / A[row, row]
    poisson.sweep(u, b)
    np.testing.assert_allclose(u.ravel(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("M", [None, ssr.solvers.GaussSeidel(), poisson.multigrid])
def test_error_is_of_second_order(M: Any) -> None:
    coarse, fine = (poisson.conjugate_gradients(on(size), M=M) for size in (15, 31))
    assert max(coarse.residuals[-1], fine.residuals[-1]) < 1e-10
    order = np.log2(coarse.errors[-1] / fine.errors[-1])  # h is halved
    assert 1.95 < order < 2.05


def test_gauss_seidel_converges_and_preconditions() -> None:
    stationary = poisson.gauss_seidel(on(7), 100)
    assert stationary.residuals[-1] < 1e-10
    assert all(np.diff(stationary.residuals[:80]) < 0)
    plain, better, best = (
        poisson.conjugate_gradients(on(31), M=M)
        for M in (None, ssr.solvers.GaussSeidel(), poisson.multigrid)
    )
    assert len(better.residuals) < 0.6 * len(plain.residuals)
    assert len(best.residuals) < 0.4 * len(better.residuals)
    for run in better, best:
        np.testing.assert_allclose(values(plain.u), values(run.u), rtol=0, atol=1e-8)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "new" / "poisson.png"
    poisson.main(["--n", "15", "--sweeps", "3", "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = capsys.readouterr().out
    assert "symmetric Gauss-Seidel          3" in text
    assert "discretisation error, n = 15: " in text
    assert str(picture) in text


def test_command_without_matplotlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    picture = tmp_path / "poisson.png"
    poisson.main(["--n", "3", "--sweeps", "1", "--plot", str(picture)])
    assert not picture.exists()
    assert "pip install matplotlib" in capsys.readouterr().out


def test_an_even_number_of_points(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        poisson.main(["--n", "12"])
    assert "--n 12 is not an odd number" in capsys.readouterr().err


@pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)
def test_ranks_print_one_digest(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "apps.poisson", "--n", "31", "--sweeps", "1", "--digest"]
    command += ["--plot", str(tmp_path / "poisson.png")]
    digests, errors = list[str](), list[list[str]]()
    for launch in [], ["mpiexec", "-n", "3"]:
        found = subprocess.run([*launch, *command], capture_output=True, text=True, timeout=300)
        assert found.returncode == 0, found.stderr
        lines = found.stdout.splitlines()
        digests += [line for line in lines if line.startswith("digest: ")]
        errors += [[line for line in lines if line.startswith("discretisation error")]]
    assert len(digests) == 2
    assert len(set(digests)) == 1
    assert errors[0] == errors[1]
