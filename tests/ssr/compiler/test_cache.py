"""Kernels are kept, shared by processes, made again when spoilt, and never in the way."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler import cache, private_files
from ssr.compiler import kernel as build_kernel
from ssr.compiler.kernel import Kernel, describe

ROOT = Path(__file__).parents[3]

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

SUMS = """
import json
import numpy as np
import ssr

cells = ssr.Space(*ssr.sizes("ny nx"))

@ssr.program(x=cells, y=cells)
def numbers(x, y):
    return ssr.dot(x, y), ssr.max(x)

@ssr.program(x=cells)
def double(x):
    x[:] = 2.0 * x
    return ssr.sum(x)

x = np.linspace(-1.0, 1.0, 35).reshape(5, 7)
programs = [numbers, double]
found = [[*map(float, np.atleast_1d(p(*[x.copy()] * len(p.ir.fields))))] for p in programs]
print(json.dumps([found, [p.kernel().from_cache for p in programs]]))
"""

WAITS = """
import time
from ssr.compiler import kernel

def translated(*given):
    print("compiling", flush=True)
    time.sleep(600)

kernel._translated = translated
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
    return [first, result(start(folder, moved, PYTHONHASHSEED="2")), names(folder, "*")]


def test_a_second_process_compiles_nothing(two: list[Any]) -> None:
    """Neither hash seed nor the place of the user's function changes the key."""
    (name, found, values, _), (again, found_again, same, modules), files = two
    assert (found, found_again) == (False, True)
    assert (again, same) == (name, values)
    assert files == [f"{name}.kernel"]
    unwanted = {
        "ssr.compiler.pipeline",
        "ssr.emit.emission",
        "ssr.lower.loop_schedule",
        "ssr.explain.stages",
        "sympy",
        "matplotlib",
    }
    assert not unwanted & set(modules)


def test_a_warm_process_does_not_import_scipy_linalg(two: list[Any]) -> None:
    assert "scipy.linalg" not in two[1][3]


def test_eight_processes_at_once(tmp_path: Path) -> None:
    """One compiles; the others wait, and say that they found the kernel."""
    found = [result(p) for p in [start(tmp_path) for _ in range(8)]]
    assert len({(name, values) for name, _, values, _ in found}) == 1
    assert [from_cache for _, from_cache, _, _ in found].count(False) == 1
    assert names(tmp_path, "*") == [f"{found[0][0]}.kernel"]


def test_a_killed_process_is_in_nobodys_way(folder: Path) -> None:
    process = start(folder, WAITS + SCRIPT)
    assert process.stdout is not None
    assert process.stdout.readline() == "compiling\n"
    waiting = start(folder)
    assert len(names(folder, "*.lock")) == 1
    assert names(folder, "*.kernel") == []
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    name, found, _, _ = result(waiting)
    assert not found
    assert names(folder, "*") == [f"{name}.kernel"]


# -- one process -----------------------------------------------------------------------------------


def test_kept_and_found(folder: Path) -> None:
    first, second = kernel(), kernel()
    assert (first.from_cache, second.from_cache) == (False, True)
    assert first.source == second.source
    assert first.run is second.run  # machine code is loaded once
    assert names(folder, "*") == [f"{first.name}.kernel"]


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


@pytest.mark.parametrize("harm", [truncate, spoil, empty, remove])
def test_spoilt_kernels_are_made_again(folder: Path, harm: Callable[[Path], None]) -> None:
    first = kernel()
    (file,) = folder.iterdir()
    harm(file)
    again = kernel()
    assert not again.from_cache
    assert again.name == first.name
    assert kernel().from_cache
    assert names(folder, "*") == [file.name]


def test_a_copied_cache(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel()
    shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copyfile)
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "copy"))
    assert kernel().from_cache


def test_a_source_that_was_not_compiled_is_compiled_later(folder: Path) -> None:
    program = ssr.identity(ssr.Space(ssr.size("n"))).program("apply")
    describe(program.ir, program.options, "float64")
    before = {file: file.stat().st_size for file in folder.iterdir()}
    kernel = program.kernel()
    assert not kernel.from_cache
    assert kernel.run is not None  # it waits until the machine code is kept
    (file,) = (file for file, size in before.items() if file.stat().st_size > size)
    assert file.stem == kernel.name


def test_options_and_dtype_are_part_of_the_key(folder: Path) -> None:
    (n,) = ssr.sizes("n")
    line = ssr.Space(n)
    A = ssr.identity(line)
    program = A.program("apply")
    exact = program.with_options(ssr.Options(exact=True))
    found = {program.kernel().name, exact.kernel().name, program.kernel(np.float32).name}
    assert len(found) == 3


def test_options_without_effect_share_machine_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (n,) = ssr.sizes("n")
    program = ssr.identity(ssr.Space(n)).program("apply")
    first, other = program.kernel(), program.with_options(ssr.Options(fold=False))
    with monkeypatch.context() as patch:
        patch.setattr(build_kernel, "_translated", None)  # nothing is compiled
        second = other.kernel()
    assert (second.run, second.source) == (first.run, first.source)
    assert (second.from_cache, second.name == first.name) == (False, False)
    assert found_elsewhere() == ["True", "True"]


def found_elsewhere() -> list[str]:
    """Return for both kernels of the program above whether another process finds them."""
    script = """
    import ssr
    (n,) = ssr.sizes("n")
    program = ssr.identity(ssr.Space(n)).program("apply")
    for options in (ssr.Options(fold=False), ssr.Options()):
        print(program.with_options(options).kernel().from_cache)
    """
    run = [sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def test_the_source_of_the_package_is_part_of_the_key(tmp_path: Path) -> None:
    package = tmp_path / "ssr"
    shutil.copytree(ROOT / "ssr", package, ignore=shutil.ignore_patterns("__pycache__"))
    known = cache.source_digest(ROOT / "ssr")
    assert cache.source_digest(package) == known
    assert known == cache.ours()
    folders = {file.parent for file in package.rglob("*.py")}
    assert len(folders) > 10
    for file in (next(f.glob("*.py")) for f in folders):
        text = file.read_bytes()
        file.write_bytes(text + b"\n")
        assert cache.source_digest(package) != known, file
        file.write_bytes(text)
    assert cache.source_digest(package) == known
    (package / "lower" / "passes").rename(package / "lower" / "moved")
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


def test_a_file_system_without_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(handle: int, kind: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    kernel()
    assert kernel().from_cache


# -- disks that are full ---------------------------------------------------------------------------


class Full:
    """A function of the system that fails at one of its calls."""

    def __init__(self, function: Callable[..., Any], number: int) -> None:
        self.function, self.left = function, number

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.left -= 1
        if self.left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self.function(*args, **named)


@pytest.mark.parametrize("name", ["mkdir", "open", "fdopen", "replace", "fstat", "lstat", "unlink"])
def test_every_call_of_the_system_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The kernel is right, there is one warning or none, and nothing half-written is found."""
    usual = getattr(os, name)
    for number in itertools.count(1):
        folder = tmp_path / str(number)
        monkeypatch.setenv("SSR_CACHE_DIR", str(folder))
        full = Full(usual, number)
        with warnings.catch_warnings(record=True) as told, monkeypatch.context() as patch:
            warnings.simplefilter("always")
            patch.setattr(os, name, full)
            kernel()
        assert [str(w.message).count("No space left on device") for w in told] in ([], [1])
        if full.left > 0:
            break
        kernel()
        assert kernel().from_cache
    assert number > 1


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fdopen(handle: int, mode: str) -> Any:
        return open("/dev/full", mode) if mode == "wb" else usual(handle, mode)

    usual = os.fdopen
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", fdopen)
        with pytest.warns(RuntimeWarning, match="No space left on device") as told:
            kernel()
        assert kernel().from_cache
    assert len(told) == 1
    assert names(folder, "*") == []


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder on a disk of 128 KiB with the cache on it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k,mode=700", "none", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted")
    monkeypatch.setenv("SSR_CACHE_DIR", str(disk / "cache"))
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_nearly_full(small_disk: Path) -> None:
    """However little room is left, the program runs, and what does not fit is not found later."""
    kept = []
    for pages in (0, 1, 2, 4, 8, 32):
        room = 128 * 1024 - pages * 4096
        (small_disk / "filler").write_bytes(bytes(room))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            kernel()
        found = [cache.find(Path(name).stem) for name in names(small_disk, "*.kernel")]
        assert len(told) + len(found) == 1
        assert None not in found
        kept.append(len(found))
        (small_disk / "filler").unlink()
        shutil.rmtree(small_disk / "cache", ignore_errors=True)
        cache._warned.clear()
        cache._in_memory.clear()
    assert kept[0] == 0
    assert kept[-1] == 1


def test_a_read_only_disk(small_disk: Path) -> None:
    """Kernels are read from it; others are compiled, with a warning."""
    assert not kernel().from_cache
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert kernel().from_cache
    with pytest.warns(RuntimeWarning, match="Kernels cannot be kept in .*: Read-only") as told:
        assert not kernel(exact=True).from_cache
    assert len(told) == 1


# -- the limit -------------------------------------------------------------------------------------


def keep(number: int, age: float, size: int = 1000) -> str:
    """Keep data that was last used some days ago; return its name."""
    name = f"kernel_{number:024x}"
    cache.keep(name, bytes(size))
    then = time.time() - age * private_files.DAY
    os.utime(cache.cache_dir() / f"{name}.kernel", (then, then))
    return name


def test_kernels_used_longest_ago_are_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LIMIT", 4500)
    oldest, old, newer = keep(1, 9), keep(2, 8), keep(3, 7)
    assert cache.find(oldest)  # and so it is used today
    keep(4, 6)
    last = keep(5, 0)
    assert cache.find(old) is None
    assert [cache.find(name) is None for name in (oldest, newer, last)] == [False, False, False]
    assert cache.size()[1] <= 4500


def test_a_kernel_is_marked_as_used_once_a_day(folder: Path) -> None:
    name = keep(1, 0.5)
    file = folder / f"{name}.kernel"
    before = file.stat().st_mtime_ns
    cache.find(name)
    assert file.stat().st_mtime_ns == before
    os.utime(file, (0, 0))
    cache.find(name)
    assert file.stat().st_mtime_ns > before


def test_what_killed_processes_left_is_removed(folder: Path) -> None:
    private_files.make(folder)
    old = [f"dead_{2:024x}.lock", f"dead_{2:024x}.kernel.{3:032x}.tmp"]
    new = f"busy_{4:024x}.lock"
    for name in (*old, new):
        (folder / name).touch()
    for name in old:
        os.utime(folder / name, (0, 0))
    keep(1, 100)
    keep(5, 0)
    assert names(folder, "*") == sorted([new, f"kernel_{1:024x}.kernel", f"kernel_{5:024x}.kernel"])


# -- the parts -------------------------------------------------------------------------------------

NAME = "name_0123456789abcdef01234567"


def test_what_is_kept_is_found(folder: Path) -> None:
    assert cache.find(NAME) is None
    cache.keep(NAME, b"first")
    assert cache.find(NAME) == b"first"
    cache.keep(NAME, b"second")
    assert cache.find(NAME) == b"second"


def test_what_fails_leaves_no_lock(folder: Path) -> None:
    def fail() -> None:
        with cache.locked(NAME):
            assert names(folder, "*") == [f"{NAME}.lock"]
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert names(folder, "*") == []


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
    mine = [folder / "model.py", folder / "notes.lock", folder / "model.kernel"]
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
    def fails(*given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build_kernel, "_translated", fails)
        with pytest.raises(KeyboardInterrupt):
            kernel()
    assert not kernel().from_cache
    assert kernel().from_cache


def test_functions_that_kernels_share_are_kept_with_each(tmp_path: Path) -> None:
    """Any kernel can be loaded alone: it has the function that adds up lines with it."""
    (numbers, double), cached = result(start(tmp_path, SUMS))
    assert cached == [False, False]
    assert result(start(tmp_path, SUMS)) == [[numbers, double], [True, True]]
    alone = SUMS.replace("[numbers, double]", "[double]")
    assert result(start(tmp_path, alone)) == [[double], [True]]


def test_functions_that_a_loaded_kernel_has_brought_are_kept_with_others(tmp_path: Path) -> None:
    """What is loaded is not compiled here, and yet has to be kept with the next kernel."""
    first, second = (SUMS.replace("[numbers, double]", f"[{n}]") for n in ("double", "numbers"))
    (double,), _ = result(start(tmp_path, first))
    found, cached = result(start(tmp_path, SUMS.replace("[numbers, double]", "[double, numbers]")))
    assert (found[0], cached) == (double, [True, False])
    assert result(start(tmp_path, second)) == [found[1:], [True]]
