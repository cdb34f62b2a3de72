"""The Poisson example: it converges, its error is of second order, its picture is written."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from apps import poisson


def laplacian(size: int) -> scipy.sparse.csr_array:
    """Return the matrix by Kronecker products, without ssr."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(size, size))
    same = scipy.sparse.eye_array(size)
    return scipy.sparse.csr_array(scipy.sparse.kron(line, same) + scipy.sparse.kron(same, line))


def test_matrix_is_the_five_point_laplacian() -> None:
    difference = poisson.A.bind(n=5).to_scipy() - laplacian(5)
    assert abs(difference).max() == 0.0


def test_right_side_fits_the_solution() -> None:
    u, b = poisson.problem(200)
    truncation = np.abs(poisson.A @ u - b).max()
    assert truncation < 3e-7  # h^2 times an error of order h^2
    assert np.abs(b).max() > 1e-3


def test_sweep_is_one_of_textbooks() -> None:
    _, b = poisson.problem(6)
    u = np.random.default_rng(0).standard_normal(b.shape)
    A, expected = laplacian(6).toarray(), u.copy().ravel()
    for row in [*range(36), *reversed(range(36))]:
        expected[row] += (b.ravel()[row] - A[row] @ expected) / A[row, row]
    poisson.sweep(u, b)
    np.testing.assert_allclose(u.ravel(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_error_is_of_second_order(preconditioned: bool) -> None:
    coarse, fine = (
        poisson.conjugate_gradients(size, preconditioned=preconditioned) for size in (15, 31)
    )
    assert max(coarse.residuals[-1], fine.residuals[-1]) < 1e-10
    order = np.log2(coarse.errors[-1] / fine.errors[-1])  # h is halved
    assert 1.95 < order < 2.05


def test_gauss_seidel_converges_and_preconditions() -> None:
    stationary = poisson.gauss_seidel(7, 100)
    assert stationary.residuals[-1] < 1e-10
    assert all(np.diff(stationary.residuals[:80]) < 0)
    plain, better = (poisson.conjugate_gradients(31, preconditioned=p) for p in (False, True))
    assert len(better.residuals) < 0.6 * len(plain.residuals)
    np.testing.assert_allclose(plain.u, better.u, rtol=0, atol=1e-8)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "new" / "poisson.png"
    poisson.main(["--n", "12", "--sweeps", "3", "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = capsys.readouterr().out
    assert "symmetric Gauss-Seidel          3" in text
    assert "discretisation error, n = 12: " in text
    assert str(picture) in text


def test_command_without_matplotlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    picture = tmp_path / "poisson.png"
    poisson.main(["--n", "4", "--sweeps", "1", "--plot", str(picture)])
    assert not picture.exists()
    assert "pip install matplotlib" in capsys.readouterr().out
