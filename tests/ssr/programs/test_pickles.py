"""Programs, matrices and right sides of modules in other processes and threads."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import UnsupportedError

SCRIPT = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import numpy as np
import boundary as bc, ssr

cells = ssr.Space(ssr.size("n"))
wide = cells.grow(1)
closed = bc.fill(wide, bc.symmetric())
bend = ssr.stencil(cells, wide, {-1: 1.0, 0: -2.0, 1: 1.0}) @ closed

@ssr.program(u=cells, k=ssr.scalar)
def diffuse(u, k):
    u[:] = u + k * (bend @ u)
    return ssr.norm(u)

def run(program, matrix, fill, k):
    assert (program, matrix, fill) == (diffuse, bend, closed)
    u = np.arange(8.0)
    return [program(u, k) for _ in range(3)][-1]

if __name__ == "__main__":
    ks = [0.1, 0.2, 0.3]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(run, *zip(*((diffuse, bend, closed, k) for k in ks))))
    assert found == [run(diffuse, bend, closed, k) for k in ks]
    print("same")
"""

line = ssr.Space(ssr.size("n"))
shift = ssr.stencil(line, line, {-1: 1.0}, outside="zero")


@ssr.program(u=line, k=ssr.scalar)
def grow(u: Any, k: Any) -> Any:
    u[:] = u + k * (shift @ u)
    return ssr.sum(u)


@ssr.integrate.rhs(u=line)
def decay(t: Any, u: Any) -> Any:
    return -u


@pytest.mark.parametrize("made", [grow, shift, decay], ids=["program", "matrix", "right side"])
def test_variables_of_modules_are_pickled_by_name(made: Any) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(made, protocol)) is made
    assert copy.copy(made) is made


def test_what_is_refused() -> None:
    bound = grow.bind(np.ones(3), k=1.0)
    for made in 2.0 * shift, shift.bind(n=3), bound:
        with pytest.raises(UnsupportedError, match="cannot be pickled"):
            pickle.dumps(made)
    lost = pickle.dumps(grow).replace(b"grow", b"gone")
    with pytest.raises(UnsupportedError, match="which is not here"):
        pickle.loads(lost)


def test_processes_that_are_spawned(tmp_path: Path) -> None:
    script = tmp_path / "many.py"
    script.write_text(SCRIPT)
    root = str(Path(__file__).parents[3])
    found = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": root},
    )  # fmt: skip
    assert (found.returncode, found.stdout.strip()) == (0, "same"), found.stderr


def test_threads_call_one_program() -> None:
    def run(k: float) -> float:
        u = np.arange(50.0)
        return [grow(u, k) for _ in range(20)][-1]

    ks = np.linspace(0.0, 0.5, 24).tolist()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, ks)) == [run(k) for k in ks]
