"""The reference of the public names is written without a warning, and has all of them."""

import subprocess
import sys
from pathlib import Path

import pytest

import boundary
import ssr

pytest.importorskip("pdoc")

ROOT = Path(__file__).parent.parent


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "tools/reference.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_all_public_names_have_an_entry(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "index.html")
    pages = {
        "boundary.html": boundary.__all__,
        "ssr.html": set(ssr.__all__)
        - {"coordinates", "errors", "integrate", "output", "simulation", "solvers"},
        "ssr/errors.html": ["Error", "ShapeError"],
        "ssr/coordinates.html": ssr.coordinates.__all__,
        "ssr/integrate.html": ssr.integrate.__all__,
        "ssr/output.html": ssr.output.__all__,
        "ssr/simulation.html": ssr.simulation.__all__,
        "ssr/solvers.html": ssr.solvers.__all__,
    }
    for page, names in pages.items():
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert [name for name in names if f'id="{name}"' not in text] == []
    assert not (tmp_path / "ssr" / "sets.html").exists()


def test_a_warning_is_an_error(tmp_path: Path) -> None:
    done = run(str(tmp_path), "--also", "no_such_module")
    assert done.returncode != 0
    assert "no_such_module" in done.stderr
