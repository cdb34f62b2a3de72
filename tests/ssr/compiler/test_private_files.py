"""Kernels are read from nowhere but files that only their user can have written."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler import cache, private_files

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users on this platform")

NAME = "name_0123456789abcdef01234567"


def root(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")(test)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of a cache, with a folder above it that may be given away."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "above" / "cache"))
    return tmp_path / "above" / "cache"


def run(factor: float = 2.0) -> bool:
    """Run a kernel as a new process would; return whether it was found in the cache."""
    (n,) = ssr.sizes("n")
    line = ssr.Space(n)

    @ssr.program(y=line, x=line)
    def scaled(y: Any, x: Any) -> None:
        y[:] = factor * x

    y = np.zeros(3)
    scaled(y, np.arange(3.0))
    np.testing.assert_array_equal(y, factor * np.arange(3.0))
    return scaled.kernel().from_cache


class Planted:
    """A pickle that makes a file when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@pytest.fixture
def planted(folder: Path, tmp_path: Path) -> Path:
    """Seal code of an attacker as the kernel of `run`; return the file that it would make."""
    run()
    (file,) = folder.iterdir()
    trace = tmp_path / "trace"
    cache.keep(file.stem, pickle.dumps(Planted(trace)))
    assert not run()  # where nothing forbids it, the pickle is loaded, and the kernel made again
    trace.unlink()
    cache.keep(file.stem, pickle.dumps(Planted(trace)))
    return trace


def refused(reason: str, planted: Path) -> None:
    """Run the kernel: right, with one warning, and nothing of what was planted."""
    with pytest.warns(RuntimeWarning, match=f"Kernels cannot be kept in .*: {reason}") as told:
        assert not run()
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run()
    assert not planted.exists()


# -- folders ---------------------------------------------------------------------------------------


def test_folders_and_files_are_made_for_their_user_alone(folder: Path) -> None:
    before = os.umask(0)
    try:
        run()
    finally:
        os.umask(before)
    (file,) = folder.iterdir()
    modes = [stat.S_IMODE(p.stat().st_mode) for p in (folder.parent, folder, file)]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775, 0o707, 0o1777])
def test_a_folder_that_others_can_write(folder: Path, planted: Path, mode: int) -> None:
    folder.chmod(mode)
    refused("others can write to .*/cache", planted)


@root
@pytest.mark.parametrize("mode", [0o777, 0o755, 0o700])
def test_a_folder_of_somebody_else(folder: Path, planted: Path, mode: int) -> None:
    folder.chmod(mode)
    os.chown(folder, 65534, 65534)
    refused(".*/cache belongs to another user", planted)


@root
def test_a_folder_above_of_somebody_else(folder: Path, planted: Path) -> None:
    os.chown(folder.parent, 65534, 65534)
    refused(".*/above belongs to another user", planted)


def test_a_folder_above_that_others_can_write(folder: Path, planted: Path) -> None:
    folder.parent.chmod(0o777)
    refused("others can write to .*/above", planted)


def test_others_may_make_files_above_with_the_sticky_bit(folder: Path) -> None:
    run()
    folder.parent.chmod(0o1777)
    assert run()


@root
def test_a_folder_above_that_a_group_can_write(folder: Path, planted: Path) -> None:
    """The user's own group, which many systems make for each user, is no other."""
    folder.parent.chmod(0o770)
    assert private_files.make(folder) == folder
    os.chown(folder.parent, 0, 65534)
    refused("others can write to .*/above", planted)


def test_another_user_of_a_shared_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    folder.chmod(0o1777)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.warns(RuntimeWarning, match="belongs to another user"):
        assert not run()
    assert run()


def test_a_link_to_a_folder_that_others_can_write(
    folder: Path, tmp_path: Path, planted: Path
) -> None:
    open_to_all = tmp_path / "open"
    folder.rename(open_to_all)
    open_to_all.chmod(0o777)
    folder.symlink_to(open_to_all)
    refused("others can write to .*/open", planted)


@root
def test_a_link_of_somebody_else(folder: Path, tmp_path: Path, planted: Path) -> None:
    folder.rename(tmp_path / "mine")
    folder.parent.chmod(0o1777)
    folder.symlink_to(tmp_path / "mine")
    os.lchown(folder, 65534, 65534)
    refused(".*/cache belongs to another user", planted)


def test_a_link_of_the_user(folder: Path, tmp_path: Path) -> None:
    """Many keep their caches on another disk."""
    (tmp_path / "disk").mkdir()
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "disk")
    assert not run()
    assert run()
    assert len(list((tmp_path / "disk").iterdir())) == 1


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_file_that_others_can_write(folder: Path, planted: Path, mode: int) -> None:
    (file,) = folder.iterdir()
    file.chmod(mode)
    assert not run()
    assert not planted.exists()
    assert run()


@root
def test_a_file_of_somebody_else(folder: Path, planted: Path) -> None:
    (file,) = folder.iterdir()
    os.chown(file, 65534, 65534)
    assert not run()
    assert not planted.exists()
    assert run()


def test_a_link_in_place_of_a_kernel(folder: Path, tmp_path: Path, planted: Path) -> None:
    (file,) = folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert not run()
    assert not planted.exists()
    assert not file.is_symlink()
    assert run()


def test_a_link_in_place_of_a_lock(folder: Path, tmp_path: Path) -> None:
    run()
    (file,) = folder.iterdir()
    file.unlink()
    precious = tmp_path / "precious"
    precious.write_text("mine")
    file.with_suffix(".lock").symlink_to(precious)
    assert not run()
    assert precious.read_text() == "mine"
    assert run()


def test_a_lock_is_not_emptied(folder: Path) -> None:
    run()
    lock = folder / f"{NAME}.lock"
    lock.write_text("mine")
    with cache.locked(NAME):
        assert lock.read_text() == "mine"


def test_a_pipe_in_place_of_a_kernel(folder: Path) -> None:
    run()
    (file,) = folder.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert not run()
    assert run()


def test_without_users(folder: Path) -> None:
    """Where the system has no users, nothing is checked."""
    script = (
        "import os; del os.getuid\n"
        "from ssr.compiler import cache\n"
        f"cache.keep({NAME!r}, b'kept')\n"
        f"assert cache.find({NAME!r}) == b'kept'\n"
    )
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[3])
    assert (folder / f"{NAME}.kernel").exists()
