"""The command: runs, restarts, pictures, numbers, and what it says of mistakes."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ssr
from apps.swe.__main__ import PICTURES, STOPPED, main, options
from apps.swe.cases import NAMES
from apps.swe.checkpoint import load
from apps.swe.run import Result, Run
from tests.apps.swe_oracle import FieldSolver


def command(text: str) -> int:
    return main(text.split(), FieldSolver.of)


def test_a_run_and_its_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = tmp_path / "new" / "numbers.json"
    assert command(f"--case tc2 --n 8 --days 0.1 --angle 45 --json {numbers}") == 0
    found = json.loads(numbers.read_text())
    assert (found["case"], found["n"], found["angle"], found["steps"]) == ("tc2", 8, 45, 4)
    assert found["dt"] == pytest.approx(0.1 * 86400 / 4)
    printed = capsys.readouterr()
    assert printed.out.startswith("tc2: steady geostrophic flow, 8 x 8 cells a panel, day 0.1,")
    assert f"l2 {found['l2']:.4e}" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("extra", ["--cfl 0.4", "--dt 1000", "--weights weno"])
def test_options_of_the_step(extra: str, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    assert command(f"--case tc6 --n 8 --days 0.1 --json {numbers} {extra}") == 0
    found = json.loads(numbers.read_text())
    if "cfl" in extra:
        assert 0.3 < found["courant"] < 0.42
    elif "dt" in extra:
        assert found["dt"] == pytest.approx(8640 / 9)
    else:
        assert found["weights"] == "weno"


def test_files_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = tmp_path / "numbers.json"
    assert command(f"--case rest --n 8 --days 0.1 --json {numbers}") == 0
    assert capsys.readouterr().out.endswith(f"written              {numbers}\n")


def commands() -> list[str]:
    """Return the runs that the solver's page and the Makefile tell of."""
    root = Path(__file__).parents[2]
    names = "apps/swe/README.md", "Makefile"
    pages = [(root / name).read_text(encoding="utf-8") for name in names]
    text = "\n".join(pages)
    return re.findall(r"-m apps\.swe (--case .*)", text.replace("$(FLOW)", "galewsky"))


@pytest.mark.parametrize("line", commands())
def test_commands_of_the_pages_are_understood(line: str) -> None:
    given = options().parse_args(shlex.split(line, comments=True))
    assert given.case in NAMES
    assert given.plot is None or given.plot.suffix in PICTURES


def test_pages_have_commands() -> None:
    assert len(commands()) == 6


def test_restart_equals_one_run(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in "abc")
    common = "--case galewsky --n 8 --every 3"
    assert command(f"{common} --days 0.5 --checkpoint {a}") == 0
    assert command(f"{common} --days 0.25 --checkpoint {b}") == 0
    assert command(f"--days 0.5 --restart {b} --checkpoint {c}") == 0
    whole, parts = load(a), load(c)
    assert (whole.file.fields["state"] == parts.file.fields["state"]).all()
    assert (whole.step, whole.seconds) == (parts.step, parts.seconds)


def test_restart_refuses_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "there"
    assert command(f"--case tc5 --n 8 --days 0.1 --checkpoint {path}") == 0
    capsys.readouterr()
    for extra, text in (
        ("--n 9", "--n is 8 there and 9 here"),
        ("--case tc6", "--case is tc5 there and tc6 here"),
        ("--dt 10", "keeps its time step"),
        ("--days 0.05", "The run is to end after 0.05 days"),
    ):
        assert command(f"--restart {path} --days 1 {extra}") == 1
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert text in error
        assert "Traceback" not in error
        assert ".py" not in error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--n 5", "--n is 5; a panel has at least 6 cells"),
        ("--days 0", "--days is 0.0; it must be above 0"),
        ("--days nan", "--days is nan; it must be above 0"),
        ("--angle nan", "--angle is nan; it must be a number of degrees"),
        ("--n 10000000000", "a panel has at most 1000000 cells"),
        ("--json here --checkpoint ./here", "--json and --checkpoint are one file, here"),
        ("--restart here --json here", "--json and --restart are one file, here"),
        ("--cfl 0.5 --dt 3", "not allowed with argument"),
        ("--case tc5 --angle 3", "--angle is for tc1 and tc2, not for tc5"),
        ("--case tc9", "invalid choice: 'tc9'"),
        ("--plot x.txt", "a picture ends in .png, .pdf, .svg"),
    ],
)
def test_wrong_options(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command(text)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--output x.txt", "x.txt has no known format"),
        ("--restart nowhere", "nowhere cannot be read: No such file"),
        ("plot nowhere.nc", "nowhere.nc does not exist"),
        ("--n 8 --dt 20000", "The run stops at step 0"),
    ],
)
def test_mistakes(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(text) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


@pytest.mark.parametrize(
    ("text", "package", "extra"),
    [
        ("--plot x.png", "matplotlib", "plot"),
        ("plot x.nc", "matplotlib", "plot"),
    ],
)
def test_a_missing_package_is_named_before_the_run(
    text: str, package: str, extra: str,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert command(text) == 1
    error = capsys.readouterr().err
    assert f"The package {package} is missing" in error
    assert f".[{extra}]" in error


@pytest.mark.parametrize("option", ["json", "plot", "checkpoint", "output"])
def test_an_unwritable_place_is_refused_before_the_run(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in "matplotlib", "xarray":
        pytest.importorskip(package)
    (tmp_path / "file").touch()
    name = {"plot": "a.png", "output": "a.nc"}.get(option, "a")

    def no_run(*args: object) -> object:
        raise AssertionError

    assert main(f"--n 8 --{option} {tmp_path}/file/{name}".split(), no_run) == 1  # type: ignore[arg-type]
    error = capsys.readouterr().err
    assert error == f"error: {tmp_path}/file/{name} cannot be written: Not a directory.\n"


def test_too_many_cells_for_the_memory(capsys: pytest.CaptureFixture[str]) -> None:
    def make(*args: object) -> object:
        raise MemoryError("Unable to allocate 9 EiB")

    assert main(["--n", "8"], make) == 1  # type: ignore[arg-type]
    assert capsys.readouterr().err == (
        "error: There is not enough memory: Unable to allocate 9 EiB.\n"
    )


def test_an_interrupt_before_the_first_step(capsys: pytest.CaptureFixture[str]) -> None:
    def make(*args: object) -> object:
        raise KeyboardInterrupt

    assert main(["--n", "8"], make) == STOPPED  # type: ignore[arg-type]
    assert capsys.readouterr().err == "stopped\n"


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_pictures_of_runs_and_files(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in "matplotlib", "xarray", "zarr":
        pytest.importorskip(package)
    image = pytest.importorskip("matplotlib.image")
    file, picture = tmp_path / f"run.{suffix}", tmp_path / "end.png"
    text = f"--case tc5 --n 8 --days 0.25 --every 3 --output {file} --plot {picture} --edges"
    assert command(text) == 0
    assert command(f"plot {file} --edges") == 0
    again = tmp_path / "run.png"
    assert (image.imread(picture) == image.imread(again)).all()
    assert command(f"plot {file} --record 0 --to {tmp_path}/start.png") == 0
    capsys.readouterr()
    assert command(f"plot {file} --record 9") == 1
    assert "3 records" in capsys.readouterr().err
    assert command(f"--restart {file}") == 1
    assert capsys.readouterr().err.startswith(f"error: {file} ")


def test_an_interrupted_run_is_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Stopped(FieldSolver):
        count = 0

        def step(self, dt: float) -> None:
            self.count += 1
            if self.count == 14:
                self.state.set(0.0)
                raise KeyboardInterrupt
            super().step(dt)

    path = tmp_path / "there"
    arguments = f"--n 8 --days 2 --dt 2000 --checkpoint {path}".split()
    assert main(arguments, Stopped.of) == 130
    assert "state after step 10" in capsys.readouterr().err
    assert load(path).step == 10


COMMAND = """
import signal
from apps.swe.__main__ import main
from apps.commands import flush, prepare
from tests.apps.swe_oracle import FieldSolver
class Slow(FieldSolver):
    def step(self, dt):
        time.sleep(0.01)
        super().step(dt)
prepare()
sys.exit(flush(main(sys.argv[1:], Slow.of)))
"""
"""What the command does in a process of its own, with the solver of the tests."""

ROOT = Path(__file__).parents[2]


def signals(*ignored: signal.Signals) -> None:
    """Let signals mean what they do by default, wherever the tests run, and ignore some of them."""
    for name in "SIGINT", "SIGTERM", "SIGHUP":
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def started(
    arguments: str, shell: str = "", ignored: tuple[signal.Signals, ...] = ()
) -> subprocess.Popen[str]:
    """Start the command, with redirections of a shell."""
    text = "import sys, time\n" + COMMAND
    line = f"exec {shlex.join([sys.executable, '-c', text])} {arguments} {shell}"
    pipe = subprocess.PIPE
    how: dict[str, Any] = {"shell": True, "cwd": ROOT, "text": True}
    if os.name == "posix":
        how["preexec_fn"] = lambda: signals(*ignored)
    return subprocess.Popen(line, stdout=pipe, stderr=pipe, **how)


LONG = "--case tc5 --n 8 --dt 600 --days 1000 --every 2"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("names", ["SIGINT", "SIGTERM", "SIGHUP", "SIGTERM SIGHUP SIGTERM"])
def test_signals_that_end_a_process_save_the_run(names: str, tmp_path: Path) -> None:
    path = tmp_path / "there"
    with started(f"{LONG} --checkpoint {path}") as process:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.02)
        before = load(path).step
        time.sleep(0.5)
        for name in names.split():
            process.send_signal(getattr(signal, name))
        assert f"is in {path}" in process.communicate(timeout=60)[1]
    assert process.returncode == STOPPED
    assert load(path).step >= before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_signals_that_are_ignored_stay_so(tmp_path: Path) -> None:
    path = tmp_path / "there"
    arguments = f"--case tc5 --n 8 --days 1 --checkpoint {path}"
    with started(arguments, ignored=(signal.SIGHUP,)) as process:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGHUP)
        assert "day 1," in process.communicate(timeout=60)[0]
    assert process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
def test_streams_may_be_closed(tmp_path: Path) -> None:
    """The files are what they are with open ones: none replaces a closed stream."""
    path, contents = tmp_path / "there", []
    closed = "2>&-", ">&-", "<&- >&- 2>&-"
    for redirection in "", *closed:
        with started(f"--case tc5 --n 8 --days 0.1 --checkpoint {path}", redirection) as process:
            out, err = process.communicate()
        assert process.returncode == 0
        assert err == ""
        assert bool(out) == (">&-" not in redirection.split())
        contents.append(path.read_bytes())
    assert len(set(contents)) == 1
    for redirection in closed:
        with started("--case tc9", redirection) as process:
            process.communicate()
        assert process.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full")
def test_a_full_standard_output_is_told_and_the_files_are_written(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    with started(f"--case tc5 --n 8 --days 0.1 --json {path}", "> /dev/full") as process:
        error = process.communicate()[1]
    assert process.returncode == 1
    assert re.fullmatch(r"error: .*: No space left on device\.\n", error)
    assert json.loads(path.read_text())["steps"] == 4


def test_numbers_are_printed_where_their_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*args: object) -> None:
        raise ssr.errors.OutputError("the disk is full")

    monkeypatch.setattr(ssr.output, "publish", full)
    assert command(f"--case tc2 --n 8 --days 0.1 --json {tmp_path}/numbers.json") == 1
    printed = capsys.readouterr()
    assert "errors of the depth" in printed.out
    assert printed.err == "error: the disk is full\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(Terminal):
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_does_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_on(Gone(), monkeypatch).steps == 6


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_progress_is_for_terminals(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(stream, monkeypatch)
    text = stream.getvalue()
    assert bool(text) == stream.isatty()
    if text:
        last = text.split("\r")[-3]
        for part in "day 0.08 of 0.0833", "step 6", "CFL 0.2", "mass", "energy", "0:00 left":
            assert part in last


def run_on(stream: Any, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Run on a terminal that shows all lines."""
    from tests.apps.test_swe_run import SETTING

    monkeypatch.delenv("SSR_QUIET", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("ssr.simulation.progress.PAUSE", 0.0)
    return Run(SETTING, FieldSolver.of, 7200.0).run()
