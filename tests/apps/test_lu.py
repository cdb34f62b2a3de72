"""LU of the NAS Parallel Benchmarks: its sweeps have the values of the benchmark, and class S."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from apps import lu
from apps.npb.flow import changes, states
from apps.npb.run import KNOWN, begun, main, residual
from tests.boundary.parallel.ranks import plain_kernels
from tests.ssr import plain

LOWER = {
    (3, 5, 7): [5.306070627721765, -0.3820586460638015, 1.075562870884488, 1.148354165639118,
                -3.302758392449292],
    (1, 2, 9): [-28.86743984439036, -4.265251039982688, -9.973336153836565, -8.989303271378821,
                -74.10496268564519],
}  # fmt: skip
UPPER = {
    (3, 5, 7): [3.786177398465527, -1.658017826264019, -0.4744971747033393, 0.8978559404923991,
                -26.17345057890906],
    (1, 2, 9): [-91.82550712568742, -14.51872072200401, -34.34918957831233, -29.73925031485599,
                -202.7750243176805],
}  # fmt: skip
"""What the benchmark has after the sweeps of the first step of class S, at some points."""


@ssr.program(V=changes, W=changes, U=states, dt=ssr.scalar, h=ssr.scalar)
def sweeps(V: Any, W: Any, U: Any, dt: Any, h: Any) -> None:
    """Do the two sweeps of a step."""
    A = lu.relaxed.bind(U=U, dt=dt, h=h)
    V[:] = A.tril().solve(V)
    W[:] = A.triu().solve(A.diagonal() @ V)


def test_sweeps_of_the_first_step() -> None:
    U, exact = begun(12)
    R, S = U.distribution.zeros(changes), U.distribution.zeros(changes)
    residual(S, exact, R, U, 1.0 / 11.0)
    residual(R, U, S, exact, 1.0 / 11.0)
    V = 0.5 * np.array(R.gather())
    W = np.empty_like(V)
    plain.run(sweeps, V, W, np.array(U.gather()), 0.5, 1.0 / 11.0)
    for found, known in (V, LOWER), (W, UPPER):
        for (i, j, k), values in known.items():
            np.testing.assert_allclose(found[:, k - 1, j - 1, i - 1], values, rtol=1e-11)


def test_integral_of_the_pressure() -> None:
    """Of the initial state of class W."""
    found = lu.integral(np.array(begun(33)[0].gather()), 1.0 / 32.0)
    np.testing.assert_allclose(found["xci"], 1672.218936721, rtol=1e-12)


def test_steps_on_ranks() -> None:
    """Rows of a sweep wait for rows of other ranks."""
    made = []
    for count in 1, 3:
        U, _ = begun(7, bc.simulated_ranks(count))
        R, S = U.distribution.zeros(changes), U.distribution.zeros(changes)
        with plain_kernels():
            lu.step.bind(R=R, U=U, S=S, dt=0.01, h=1.0 / 6.0)()
        made.append(U.gather())
    assert np.array_equal(*made)


@pytest.mark.slow
def test_class_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "found.json"
    monkeypatch.setattr(sys, "argv", ["lu", "--json", str(path)])
    main("LU", lu.step, lu.integral)
    found, known = json.loads(path.read_text()), KNOWN["LU"]["S"]
    assert found["verified"]
    for name in "xcr", "xce", "xci":
        np.testing.assert_allclose(found[name], known[name], rtol=1e-8)
