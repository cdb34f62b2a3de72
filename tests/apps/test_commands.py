"""What commands share: exit statuses, one message, and JSON that any reader takes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import apps.npb.run as npb
import ssr
from apps import commands
from apps.hpcg import __main__ as hpcg


def failing(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


@pytest.mark.parametrize(
    ("command", "status", "text"),
    [
        (lambda: None, 0, ""),
        (lambda: 3, 3, ""),
        (failing(ssr.Error("It is wrong.", hint="Mend it.")), 1, "error: It is wrong.\n"),
        (failing(FileNotFoundError(2, "No such file", "a.json")), 1, "error: a.json: No such"),
        (failing(MemoryError("all of it")), 1, "error: There is not enough memory: all of it."),
        (failing(KeyboardInterrupt()), 130, "stopped\n"),
        (failing(SystemExit(2)), 2, ""),
    ],
)
def test_exit_statuses(
    command: Callable[[], int | None], status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        commands.run(command)
    assert (ended.value.code or 0) == status
    shown = capsys.readouterr().err
    assert shown.startswith(text)
    assert "Traceback" not in shown


def test_json_has_no_numbers_that_readers_refuse() -> None:
    content = {"a": [1.5, np.nan, (np.inf, -np.inf)], "b": {"c": np.float64("nan"), "d": 2}}
    text = commands.as_json(content)
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert found == {"a": [1.5, None, [None, None]], "b": {"c": None, "d": 2}}


@pytest.mark.parametrize("wrong", [1.0, np.nan])
def test_a_failed_check_of_npb_ends_with_status_1(
    wrong: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"class": "S", "verified": False, "xcr": [wrong] * 5}
    monkeypatch.setattr(npb, "run", lambda *_: found)
    path = tmp_path / "lu.json"
    monkeypatch.setattr(sys, "argv", ["apps.lu", "--class", "S", "--json", str(path)])
    assert npb.main("LU", None) == 1
    shown = capsys.readouterr()
    assert shown.err == "error: The norms of LU, class S, are not those prescribed.\n"
    expected = None if np.isnan(wrong) else wrong
    for text in shown.out, path.read_text():
        made = json.loads(text, parse_constant=lambda name: pytest.fail(name))
        assert made["xcr"] == [expected] * 5


def test_a_failed_test_of_hpcg_ends_with_status_1(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed:
        valid = False

    monkeypatch.setattr(hpcg, "run", lambda *_: Failed())
    monkeypatch.setattr(hpcg.report, "text", lambda _: "")
    assert hpcg.main(["--nx", "16", "--ny", "16", "--nz", "16"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["apps.lu", "--class", "Z"],
        ["apps.sp", "--threads", "0"],
        ["apps.euler", "--n", "0"],
        ["apps.poisson", "--n", "12"],
        ["apps.hpcg", "--nx", "3"],
        ["benchmarks.npb", "--only", "nothing"],
        ["ssr", "--nothing"],
        ["boundary"],
        ["boundary", "plan", "apps.euler:program", "--ranks", "x"],
    ],
)
def test_wrong_arguments_end_with_status_2(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["boundary", "plan", "apps.euler:nothing", "--ranks", "2"], ["apps.swe", "plot", "no.nc"]],
)
def test_failures_end_with_status_1(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
