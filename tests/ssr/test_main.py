"""``python -m ssr`` says what is installed and clears the cache."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ssr
from ssr import __main__ as command
from ssr.compiler import cache
from ssr.errors import ArgumentError
from ssr.runtime import target


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache directory of this test alone."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def label(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Run the command; return what it printed, by name."""
    assert command.main(arguments) == 0
    return {line.split()[0]: line[11:] for line in capsys.readouterr().out.splitlines()}


def test_facts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = label(capsys)
    assert list(found) == [
        "ssr",
        "Python",
        "numpy",
        "numba",
        "llvmlite",
        "islpy",
        "scipy",
        "compiler",
        "platform",
        "processor",
        "vectors",
        "target",
        "cores",
        "cache",
        "mpi4py",
        "MPI",
    ]
    import numba

    assert found["ssr"] == ssr.__version__
    assert found["numba"] == numba.__version__
    assert found["Python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert int(found["cores"].split(",")[0]) >= 1
    assert found["cache"] == f"{folder}: 0 kernels, 0 B of at most 1.0 GiB"
    assert not folder.exists()


def test_the_cache_is_counted_and_cleared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache.keep(f"one_{0:024x}", bytes(68))
    assert label(capsys)["cache"] == f"{folder}: 1 kernel, 100 B of at most 1.0 GiB"
    cache.keep(f"two_{1:024x}", bytes(3000))
    assert command.main(["--clear-cache"]) == 0
    assert capsys.readouterr().out == f"Removed 2 kernels (3.1 KiB) from {folder}.\n"
    assert cache.size() == (0, 0)
    assert command.main(["--clear-cache"]) == 0
    assert capsys.readouterr().out == f"Removed 0 kernels (0 B) from {folder}.\n"


def test_a_cache_that_is_not_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert label(capsys)["cache"].endswith(f"; not used: others can write to {folder}")


def test_the_compiler_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert label(capsys)["compiler"] == "LLVM, by llvmlite"
    monkeypatch.setenv("SSR_COMPILER", "numba")
    start = "numba.njit: slower, the same results"
    assert label(capsys)["compiler"] == f"{start} (SSR_COMPILER)"


def test_another_target_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in target.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v2")
    assert label(capsys)["target"] == "x86-64-v2 (NUMBA_CPU_NAME), vectors: generic"
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx2,+fma")
    assert label(capsys)["target"] == "x86-64-v2 (NUMBA_CPU_NAME), vectors: AVX2"
    monkeypatch.setenv("SSR_CPU", "neoverse-n1")
    assert label(capsys)["target"] == "neoverse-n1 (SSR_CPU), vectors: NEON"
    monkeypatch.setenv("SSR_CPU", "neoverse-n99")
    with pytest.raises(ArgumentError, match="SSR_CPU is 'neoverse-n99'"):
        command.facts()


def test_clearing_leaves_other_files(folder: Path) -> None:
    cache.keep(f"one_{0:024x}", bytes(68))
    (folder / "notes.txt").write_text("mine")
    command.cleared()
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]


def test_nothing_optional_is_needed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    monkeypatch.setattr(command, "installed", lambda name: None)
    monkeypatch.setattr(command.shutil, "which", lambda name: None)
    monkeypatch.setattr(command.ctypes.util, "find_library", lambda name: None)
    found = label(capsys)
    assert (found["mpi4py"], found["MPI"], found["scipy"]) == ("not found",) * 3


def test_mpi_is_found_without_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"mpi4py": "4.1.0", "mpich": "4.3.2"}
    monkeypatch.setattr(command, "find_spec", lambda name: object())
    monkeypatch.setattr(command, "installed", versions.get)
    monkeypatch.setattr(command.shutil, "which", lambda name: f"/opt/bin/{name}")
    monkeypatch.setattr(
        command.ctypes.util, "find_library", lambda name: "libmpi.so.12" if name == "mpi" else None
    )
    assert command.mpi4py() == "4.1.0"
    assert command.mpi() == "mpich 4.3.2, libmpi.so.12, /opt/bin/mpiexec"


def test_a_broken_linker_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> str:
        raise OSError(name)

    monkeypatch.setattr(command.ctypes.util, "find_library", broken)
    assert isinstance(command.mpi(), str)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (5 * 2**20, "5.0 MiB"),
        (2**30, "1.0 GiB"),
    ],
)
def test_sizes_are_readable(size: int, text: str) -> None:
    assert command.human(size) == text


def test_as_a_command(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "ssr"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(ssr.__file__).parent.parent,
    )
    assert run.stdout.splitlines()[0].split() == ["ssr", ssr.__version__]
    assert str(folder) in run.stdout


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        command.main(["--clean"])
    assert stop.value.code == 2
    assert "--clean" in capsys.readouterr().err
