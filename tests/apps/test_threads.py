"""Applications on threads: the bits of one process, whatever their number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps import euler, poisson
from apps.hpcg import __main__ as hpcg
from apps.swe import __main__ as swe

COUNTS = "1", "2", "3"


def digests(
    main: Callable[[list[str]], Any], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> set[str]:
    """Return the lines with a digest that a command prints on one thread and on several."""
    found = set()
    for count in COUNTS:
        main([*arguments, "--digest", "--threads", count])
        found.add(capsys.readouterr().out.split()[-1])
    return found


def test_shallow_water(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(digests(swe.main, ["--case", "tc5", "--n", "12", "--steps", "3"], capsys)) == 1


def test_euler(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(digests(euler.main, ["--n", "24", "--steps", "5"], capsys)) == 1


def test_poisson(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = set()
    for count in COUNTS:
        plot = str(tmp_path / "u.png")
        poisson.main(["--n", "15", "--digest", "--plot", plot, "--threads", count])
        found |= {text for text in capsys.readouterr().out.splitlines() if "digest" in text}
    assert len(found) == 1


def test_hpcg(tmp_path: Path) -> None:
    """The report is that of as many ranks, all of them threads of one process."""
    path = tmp_path / "report.json"
    extents = [text for name in ("nx", "ny", "nz") for text in (f"--{name}", "16")]
    hpcg.main([*extents, "--time", "0", "--threads", "2", "--json", str(path)])
    made = json.loads(path.read_text())
    assert made["valid"]
    assert (made["shape"], made["ranks"], made["threads"]) == ([32, 16, 16], 2, 2)


@pytest.mark.parametrize("count", ["0", "-2"])
def test_counts_that_are_none(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        euler.main(["--threads", count])
    assert f"--threads is {count}; it must be at least 1." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        swe.main(["--threads", count])
    assert f"--threads is {count}; it must be at least 1." in capsys.readouterr().err
