"""Kernels are kept, shared by processes, made again when spoilt, and never in the way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.build import cache, machine
from ssr.build.kernel import Kernel

ROOT = Path(__file__).parents[2]

SCRIPT = """
import json, sys
import numpy as np
import ssr

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
{blank}
@ssr.matrix(rows=cells, cols=cells)
def A(j, i):
    yield (j, i), 4.0
    for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
        if c in cells:
            yield c, -1.0

y = A @ np.linspace(0.0, 1.0, 20).reshape(4, 5)
kernel = A.program("apply").kernel()
print(json.dumps([kernel.name, kernel.from_cache, y.tobytes().hex(), sorted(sys.modules)]))
"""

WAITS = """
import time
from ssr.build import machine

def jit(signature, cache=True):
    print("compiling", flush=True)
    time.sleep(600)

machine.jit = jit
"""


def start(folder: Path, script: str = SCRIPT, **environment: str) -> subprocess.Popen[str]:
    """Start a process that runs a script with a cache directory."""
    return subprocess.Popen(
        [sys.executable, "-c", script.replace("{blank}", "")],
        env={
            **os.environ,
            "SSR_CACHE_DIR": str(folder),
            "PYTHONPATH": str(ROOT),
            "NUMBA_NUM_THREADS": "1",
            **environment,
        },
        stdout=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Any:
    """Return what a process printed at its end."""
    out, _ = process.communicate(timeout=240)
    assert process.returncode == 0
    return json.loads(out.splitlines()[-1])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache directory for one test."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kernel(**options: bool) -> Kernel:
    """Return the kernel of ``y = 2 x`` as a new process would get it, after using it."""
    for name in [n for n in sys.modules if n.startswith("ssr_kernel_")]:
        del sys.modules[name]
    (n,) = ssr.sizes("n")
    line = ssr.Space(n)

    @ssr.program(options=ssr.Options(**options), y=line, x=line)
    def twice(y: Any, x: Any) -> None:
        y[:] = 2.0 * x

    y = np.zeros(3)
    twice(y, np.arange(3.0))
    np.testing.assert_array_equal(y, [0.0, 2.0, 4.0])
    return twice.kernel()


def names(folder: Path, pattern: str) -> list[str]:
    return sorted(p.name for p in folder.rglob(pattern))


# -- several processes -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return what two processes say, one after the other, with other hash seeds and lines."""
    folder = tmp_path_factory.mktemp("cache")
    moved = SCRIPT.replace("{blank}", "# a line more\n")
    first = result(start(folder, PYTHONHASHSEED="1"))
    return [first, result(start(folder, moved, PYTHONHASHSEED="2")), names(folder, "*.py")]


def test_a_second_process_compiles_nothing(two: list[Any]) -> None:
    """Neither hash seed nor the place of the user's function changes the key."""
    (name, found, values, _), (again, found_again, same, modules), files = two
    assert (found, found_again) == (False, True)
    assert (again, same) == (name, values)
    assert files == [f"{name}.py"]
    unwanted = {
        "ssr.build.pipeline",
        "ssr.emit.module",
        "ssr.lower.loops",
        "ssr.matrices.explain",
        "sympy",
        "matplotlib",
    }
    assert not unwanted & set(modules)


@pytest.mark.xfail(reason="machine.jit: Numba sets up typing before it loads machine code")
def test_a_warm_process_does_not_import_scipy_linalg(two: list[Any]) -> None:
    assert "scipy.linalg" not in two[1][3]


def test_eight_processes_at_once(tmp_path: Path) -> None:
    found = [result(p) for p in [start(tmp_path) for _ in range(8)]]
    assert len({(name, values) for name, _, values, _ in found}) == 1
    assert names(tmp_path, "*.py") == [f"{found[0][0]}.py"]
    assert names(tmp_path, "*.tmp*") == []
    assert len(names(tmp_path, "*.nbi")) == len(names(tmp_path, "*.nbc")) == 1


def test_a_killed_process_is_in_nobodys_way(folder: Path) -> None:
    process = start(folder, WAITS + SCRIPT)
    assert process.stdout is not None
    assert process.stdout.readline() == "compiling\n"
    waiting = start(folder)
    assert len(names(folder, "*.py")) == 1
    assert names(folder, "*.seal") == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    name, found, _, _ = result(waiting)
    assert not found
    assert cache.find(name) == folder / f"{name}.py"


# -- one process -----------------------------------------------------------------------------------


def test_kept_and_found(folder: Path) -> None:
    first, second = kernel(), kernel()
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.source == second.source
    assert names(folder, "*.py") == [f"{first.name}.py"]
    assert names(folder, "*.tmp") == []


def test_nothing_is_kept_without_cache(folder: Path) -> None:
    assert not kernel(cache=False).from_cache
    assert names(folder, "*") == []


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def touch(path: Path) -> None:
    os.utime(path, (0, 0))


@pytest.mark.parametrize(
    ("pattern", "harm"),
    [
        ("*.py", truncate),
        ("*.py", remove),
        ("*.py", touch),
        ("*.nbi", truncate),
        ("*.nbi", remove),
        ("*.nbc", spoil),
        ("*.seal", empty),
        ("*.seal", remove),
    ],
)
def test_spoilt_files_are_made_again(
    folder: Path, pattern: str, harm: Callable[[Path], None]
) -> None:
    first = kernel()
    (file,) = folder.rglob(pattern)
    harm(file)
    again = kernel()
    assert not again.from_cache
    assert again.name == first.name
    assert kernel().from_cache
    assert len(names(folder, "*.nbi")) == len(names(folder, "*.nbc")) == 1


def test_spoilt_byte_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python checks the head of byte code only; missing byte code is no harm."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kernel()
    (file,) = folder.rglob("*.pyc")
    truncate(file)
    assert not kernel().from_cache
    (file,) = folder.rglob("*.pyc")
    file.unlink()
    assert kernel().from_cache


def test_a_copied_cache(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy is used if times were copied, too: Numba compares them."""
    kernel()
    shutil.copytree(folder, tmp_path / "with times")
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "with times"))
    assert kernel().from_cache
    shutil.copytree(folder, tmp_path / "without", copy_function=shutil.copyfile)
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "without"))
    assert not kernel().from_cache
    assert kernel().from_cache


def test_options_and_dtype_are_part_of_the_key(folder: Path) -> None:
    (n,) = ssr.sizes("n")
    line = ssr.Space(n)
    A = ssr.identity(line)
    program = A.program("apply")
    exact = program.with_options(ssr.Options(exact=True))
    found = {program.kernel().name, exact.kernel().name, program.kernel(np.float32).name}
    assert len(found) == 3


def test_the_source_of_the_package_is_part_of_the_key(tmp_path: Path) -> None:
    package = tmp_path / "ssr"
    shutil.copytree(ROOT / "ssr", package, ignore=shutil.ignore_patterns("__pycache__"))
    known = cache.source_digest(ROOT / "ssr")
    assert cache.source_digest(package) == known
    assert known in cache.environment()
    folders = {file.parent for file in package.rglob("*.py")}
    assert len(folders) > 10
    for file in (next(f.glob("*.py")) for f in folders):
        text = file.read_bytes()
        file.write_bytes(text + b"\n")
        assert cache.source_digest(package) != known, file
        file.write_bytes(text)
    assert cache.source_digest(package) == known
    (package / "lower" / "passes").rename(package / "lower" / "steps")
    assert cache.source_digest(package) != known


# -- directories -----------------------------------------------------------------------------------


def test_the_directory_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("SSR_CACHE_DIR", "here")
    assert cache.cache_dir() == tmp_path / "here"
    monkeypatch.setenv("SSR_CACHE_DIR", "~/there")
    assert cache.cache_dir() == tmp_path / "home/there"
    monkeypatch.setenv("SSR_CACHE_DIR", "")
    assert cache.cache_dir() == tmp_path / "home/.cache/ssr"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.cache_dir() == tmp_path / "xdg/ssr"


def test_a_missing_directory_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "a" / "b"))
    assert not kernel().from_cache
    assert kernel().from_cache
    shutil.rmtree(tmp_path / "a")
    assert not kernel().from_cache
    assert kernel().from_cache


def test_an_unusable_directory_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match=r"Kernels cannot be kept in .*/file/cache: Not a dir"):
        kernel()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel().from_cache
        kernel(exact=True)


def test_the_warning_is_at_the_users_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="set SSR_CACHE_DIR") as caught:
        kernel()
    assert caught[0].filename == __file__


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory(folder: Path) -> None:
    folder.mkdir(mode=0o555)
    with pytest.warns(RuntimeWarning, match="Kernels cannot be kept in .*: Permission denied"):
        kernel()
    assert kernel().from_cache


def test_a_file_system_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    kernel()
    assert kernel().from_cache
    assert names(folder, "*.tmp") == []


def test_a_file_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "fcntl", None)
    kernel()
    assert kernel().from_cache


# -- the parts -------------------------------------------------------------------------------------

NAME = "name_0123456789abcdef01234567"


def test_the_first_publication_wins(folder: Path) -> None:
    with cache.locked(NAME):
        path = cache.publish(NAME, "# λ\n")
        assert cache.publish(NAME, "# other\n") == path
        assert cache.find(NAME) is None
    assert path.read_bytes() == "# λ\n".encode()
    assert cache.find(NAME) == path


def test_what_fails_is_not_sealed(folder: Path) -> None:
    def fail() -> None:
        with cache.locked(NAME):
            cache.publish(NAME, "")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert cache.find(NAME) is None
    with cache.locked(NAME):
        assert names(folder, "*.py") == []
        cache.publish(NAME, "# again\n")
    assert cache.find(NAME) is not None


def test_threads_wait_for_each_other(folder: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with cache.locked(NAME):
            inside.append(1)
            time.sleep(0.02)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_only_our_files_are_counted_and_removed(folder: Path) -> None:
    made = kernel()
    mine = [folder / "model.py", folder / "notes.lock", folder / "__pycache__" / "model.pyc"]
    for path in mine:
        path.write_text("mine")
    kernels, size = cache.size()
    assert kernels == 1
    assert size > len(made.source)
    assert cache.clear() == 1
    assert cache.size() == (0, 0)
    assert [p.read_text() for p in mine] == ["mine"] * 3
    assert not kernel().from_cache


def test_size_of_no_cache(folder: Path) -> None:
    assert cache.size() == (0, 0)
    assert cache.clear() == 0
    assert not folder.exists()


def test_an_error_of_the_compiler_does_not_stay(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def jit(signature: Any, *, cache: bool = True) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(machine, "jit", jit)
        with pytest.raises(KeyboardInterrupt):
            kernel()
    assert not kernel().from_cache
    assert kernel().from_cache
