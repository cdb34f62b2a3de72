"""Builds that take long are told on terminals, and nowhere else."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ssr.build import progress

SCRIPT = """
import sys, time
from ssr.build import machine, progress
import ssr

progress.PATIENCE = {patience}
usual = machine.jit

def jit(function, **choices):
    time.sleep(0.3)
    return usual(function, **choices)

machine.jit = jit
(n,) = ssr.sizes("n")

@ssr.program(options=ssr.Options(cache=False), x=ssr.Space(n))
def halved(x):
    x[:] = 0.5 * x

halved.kernel()
"""


def on_terminal(script: str) -> str:
    """Run a script with a terminal as its standard error; return what it wrote there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stderr=theirs, cwd=Path(__file__).parents[2]
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


def test_nothing_without_a_terminal() -> None:
    script = SCRIPT.format(patience=0.1)
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, cwd=Path(__file__).parents[2]
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.parametrize("closed", [True, False])
def test_standard_error_may_be_missing(closed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream if closed else None)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.shown("nothing"):
        pass
