"""Compilation that takes long is reported on standard error, by one rank of a job."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ssr.compiler import progress

SCRIPT = """
import sys, time
from ssr.compiler import kernel, progress
import ssr

progress.PATIENCE = {patience}
usual = kernel._translated

def translated(*given):
    time.sleep(0.3)
    return usual(*given)

kernel._translated = translated
(n,) = ssr.sizes("n")

@ssr.program(options=ssr.Options(cache=False), x=ssr.Space(n))
def halved(x):
    x[:] = 0.5 * x

halved.kernel()
"""


@pytest.fixture(autouse=True)
def reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSR_QUIET")


def on_terminal(script: str) -> str:
    """Run a script with a terminal as its standard error; return what it wrote there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stderr=theirs, cwd=Path(__file__).parents[3]
    )
    os.close(theirs)
    told = b""
    try:
        while part := os.read(ours, 1024):
            told += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    return told.decode()


def test_a_line_with_the_seconds() -> None:
    told = on_terminal(SCRIPT.format(patience=0.1))
    assert re.fullmatch(r"compiling halved \.\.\. \d+\.\d s\r\n", told)


def test_short_builds_are_not_told() -> None:
    assert on_terminal(SCRIPT.format(patience=600)) == ""


def test_a_build_that_fails_ends_the_line() -> None:
    fails = SCRIPT.replace("return usual(function, **choices)", "raise KeyError")
    fails = fails.replace("halved.kernel()", "try: halved.kernel()\nexcept KeyError: pass\n")
    told = on_terminal(fails.format(patience=0.1))
    assert re.fullmatch(r"compiling halved \.\.\. \d+\.\d s\r\n", told)


@pytest.mark.parametrize(
    ("environment", "is_reported"),
    [
        ({}, True),
        ({"SSR_QUIET": "1"}, False),
        ({"PMI_RANK": "0"}, True),
        ({"PMI_RANK": "1"}, False),
        ({"OMPI_COMM_WORLD_RANK": "3"}, False),
    ],
)
def test_lines_without_a_terminal(environment: dict[str, str], is_reported: bool) -> None:
    script = SCRIPT.format(patience=0.1)
    known = {name: value for name, value in os.environ.items() if name not in progress.RANKS}
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**known, **environment},
    )
    assert (run.returncode, run.stdout) == (0, "")
    if is_reported:
        assert re.fullmatch(r"(compiling halved, \d+ s so far\n)+", run.stderr)
    else:
        assert run.stderr == ""


def test_waits_that_follow_each_other_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many kernels of a second each are reported after 2, 4 and 8 seconds."""
    now = 100.0
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now)
    waits = progress._Waits()
    lines = []
    for _ in range(12):
        after = waits.begins()
        if after <= 1.0:
            lines.append(waits.reported(after))
        now += 1.0
        waits.ended(1.0)
        now += 0.5
    assert lines == [2.0, 4.0, 8.0]
    now += progress.PATIENCE
    assert waits.begins() == progress.PATIENCE, "a pause begins the count again"


def test_a_wait_within_another_is_part_of_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    monkeypatch.setattr(progress, "_waits", progress._Waits())
    with progress.shown("outer"), progress.shown("inner"):
        time.sleep(0.35)
    told = capsys.readouterr().err.splitlines()
    assert told
    assert {line.split(",")[0] for line in told} == {"outer"}


@pytest.mark.parametrize("closed", [True, False])
def test_standard_error_may_be_missing(closed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream if closed else None)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.shown("nothing"):
        pass
