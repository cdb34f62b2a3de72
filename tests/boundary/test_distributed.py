"""Products on several ranks: simulated in one process, and under mpiexec."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.ranks.layout import Layout
from ssr.errors import (
    ArgumentError,
    DtypeError,
    ShapeError,
    SpaceError,
    UnboundError,
    UnsupportedError,
)

from .ranks import cases

ROOT = Path(__file__).parents[2]
SECONDS = 120
"""Most time that a run under mpiexec may take."""

# -- simulated ranks -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_number_of_ranks_has_the_bits_of_one(number: int, dtype: Any) -> None:
    A = cases()[number]
    D = bc.Distributed(A)
    x = np.random.default_rng(2).standard_normal(D.shape).astype(dtype)
    before = x.copy()
    widths = [(-a, b - n) for (_, n), (a, b) in zip(box(A, "rows"), box(A, "cols"), strict=True)]
    expected = A @ np.pad(x, widths, mode="wrap")
    assert np.array_equal(D @ x, expected)
    for ranks in range(1, min(6, len(x)) + 1):
        assert np.array_equal(bc.simulate(A, x, Layout.even(len(x), ranks)), expected)
    assert np.array_equal(bc.simulate(A, x, Layout((0, 1, 4, len(x)))), expected)
    assert np.array_equal(x, before)
    assert expected.dtype == dtype


def box(A: ssr.Matrix, what: str) -> Any:
    sizes = {n: A.definition.bound[n] for n in A.sizes}
    return getattr(A, what).box(sizes)


def test_rows_that_differ_and_an_axis_that_ends() -> None:
    """Guards on indices of the whole, positions in values, and no ghosts along axis 0."""
    n, m = 7, 4
    cells = ssr.Space(n, m)

    @ssr.matrix(rows=cells, cols=cells.grow(0, 1))
    def A(j, i):  # type: ignore[no-untyped-def]
        yield (j, i), 1.0 + j
        yield (j, i + 1), 0.5 * i
        if j > 0:
            yield (j - 1, i - 1), -1.0
        if j < n - 2:
            yield (j + 2, i), 2.0

    x = np.random.default_rng(3).random((n, m))
    wide = np.pad(x, ((0, 0), (1, 1)), mode="wrap")
    expected = A @ wide
    np.testing.assert_allclose(expected.ravel(), A.to_scipy() @ wide.ravel(), rtol=1e-15)
    for ranks in range(1, 7):
        assert np.array_equal(bc.simulate(A, x, Layout.even(n, ranks)), expected)


def test_ghosts_beyond_several_ranks() -> None:
    """A halo wider than the whole space."""
    cells = ssr.Space(3)
    A = ssr.stencil(cells, cells.grow(5), {-5: 1.0, 4: 10.0, 0: 100.0})
    x = np.array([1.0, 2.0, 4.0])
    expected = [x[(i - 5) % 3] + 10 * x[(i + 4) % 3] + 100 * x[i] for i in range(3)]
    for ranks in (1, 2, 3):
        assert bc.simulate(A, x, Layout.even(3, ranks)).tolist() == expected


def test_one_rank_alone() -> None:
    A = cases()[1]
    D = bc.Distributed(A)
    assert repr(D) == "<Distributed stencil: rank 0 of 1, rows 0:6 of 6>"
    assert D.explain() == (
        "rank 0 of 1 owns rows 0:6 of 6\n  ghosts    -1 = 5, 6 = 0\n  inner     0:6"
    )
    x = np.arange(30.0).reshape(6, 5)
    local = D.local(x)
    assert np.array_equal(local, x)
    assert not np.shares_memory(local, x)
    assert np.array_equal(D.gather(local), x)
    sliced = np.zeros((6, 10))[:, ::2]
    sliced[:] = x
    assert np.array_equal(D @ sliced, D @ x)


# -- mistakes ------------------------------------------------------------------------------------


def test_arrays_that_do_not_fit() -> None:
    D = bc.Distributed(cases()[1])
    with pytest.raises(ShapeError, match=r"Rank 0 owns an array of shape \(6, 5\), not \(5, 6\)"):
        D @ np.zeros((5, 6))
    with pytest.raises(ShapeError, match="Rank 0 owns"):
        D.gather(np.zeros(3))
    with pytest.raises(ShapeError, match=r"The whole array has shape \(6, 5\), not \(6,\)"):
        D.local(np.zeros(6))
    with pytest.raises(DtypeError, match="dtype int64"):
        D @ np.zeros((6, 5), int)


def test_matrices_that_cannot_be_distributed() -> None:
    cells = ssr.Space(4, 4)
    wide = cells.grow(1)
    with pytest.raises(SpaceError, match=r"Nothing defines the ghosts .* along axis 0"):
        bc.Distributed(ssr.stencil(cells, wide, {(1, 0): 1.0}), periodic=(1,))
    with pytest.raises(ArgumentError, match="Axis 2 of a space with 2 axes"):
        bc.Distributed(ssr.stencil(cells, wide, {(1, 0): 1.0}), periodic=(0, 1, 2))
    with pytest.raises(SpaceError, match="are not its rows with ghosts"):
        bc.Distributed(ssr.stencil(cells, cells.grow(-1), {(0, 0): 1.0}, outside="drop"))
    with pytest.raises(SpaceError, match="are not the cells of a box"):
        bc.Distributed(ssr.identity(cells.nodes()))
    with pytest.raises(SpaceError, match="are not the cells of a box"):
        bc.Distributed(ssr.identity(wide))
    with pytest.raises(UnsupportedError, match=r"diagonal has run-time data \(d\)"):
        bc.Distributed(ssr.diagonal(cells))
    with pytest.raises(UnsupportedError, match="A ndarray cannot be distributed"):
        bc.Distributed(np.eye(3))  # type: ignore[arg-type]
    with pytest.raises(UnboundError, match="size n"):
        bc.Distributed(ssr.identity(ssr.Space(ssr.size("n"))))
    with pytest.raises(ArgumentError, match="The layout is for 2 ranks; the communicator has 1"):
        bc.Distributed(ssr.identity(cells), layout=Layout.even(4, 2))


# -- MPI -----------------------------------------------------------------------------------------

needs_mpi = pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)


def run(*command: str) -> tuple[int, str]:
    """Run a command that cannot hang: it and its children are killed when time is over."""
    environment = {**os.environ, "MPIEXEC_TIMEOUT": str(SECONDS - 20), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, output


def on_ranks(count: int, what: str) -> tuple[int, str]:
    script = str(Path(__file__).with_name("ranks.py"))
    return run("mpiexec", "-n", str(count), sys.executable, script, what, str(count))


@needs_mpi
@pytest.mark.parametrize("count", [1, 2, 3])
def test_ranks_have_the_bits_of_one(count: int) -> None:
    code, output = on_ranks(count, "compare")
    assert code == 0, output
    assert f"equal bits on {count} ranks" in output.splitlines(), output
    assert "MPICH" not in output


@needs_mpi
def test_a_failing_rank_ends_the_job_with_its_message() -> None:
    code, output = on_ranks(2, "fail")
    assert code != 0
    assert "Rank 1 of 2 failed:" in output
    assert "ssr.errors.ShapeError: Rank 1 owns an array of shape (3, 5), not (1, 2)." in output
    assert "Hint: D.local(x) is this rank's part of a whole array." in output


def test_mpi_is_imported_by_nobody_who_does_not_ask() -> None:
    text = "import sys, boundary as bc; bc.world(); print([m for m in sys.modules if 'mpi' in m])"
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("PMI", "OMPI"))}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert "mpi4py" not in done.stdout, done.stdout
    assert done.returncode == 0, done.stderr


def test_mpiexec_without_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    hook = sys.excepthook
    with pytest.raises(ArgumentError, match="mpi4py cannot be imported") as caught:
        bc.world()
    assert caught.value.hint == "Install the extra: pip install 'staged-sparse-row[mpi]'."
    assert sys.excepthook is hook


def test_without_mpiexec_there_is_no_world(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert bc.world() is None
