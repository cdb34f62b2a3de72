"""`numba.njit` makes the same bits as the package's own compiler, with any version of Numba."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import ssr
from ssr.runtime import internals
from tests.ssr import unknown_numba
from tests.ssr.programs import PROGRAMS, case, check_same, five, plane

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _processor_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSR_CPU", raising=False)


def reductions() -> ssr.Program:
    @ssr.program(x=plane, b=plane)
    def reductions(x: ssr.Expression, b: ssr.Expression) -> tuple[ssr.Number, ssr.Number]:
        x[:] = ssr.exp(x) - five @ ssr.where(x > b, x, b)
        return ssr.dot(x, b), ssr.max(x)

    return reductions


CHOSEN: dict[str, Callable[[], ssr.Program]] = {
    "reductions": reductions,
    **{name: PROGRAMS[name] for name in ("five_point_gauss_seidel", "jacobi", "varying_solve")},
    **{name: PROGRAMS[name] for name in ("nine_point_symmetric", "five_point_exact")},
}


def run(name: str, **options: bool) -> tuple[dict[str, np.ndarray], object]:
    """Declare a program anew and run it; return its arrays and results."""
    program = CHOSEN[name]()
    program = program.with_options(ssr.Options(**options))
    arrays, scalars = case(program)
    return arrays, program(*arrays.values(), *scalars.values())


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("name", CHOSEN)
def test_both_compilers_make_the_same_bits(
    name: str, debug: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, result = run(name, cache=False, debug=debug)
    monkeypatch.setenv("SSR_COMPILER", "numba")
    all_passes, same = run(name, cache=False, debug=debug)
    assert result == same
    for field, values in own.items():
        check_same(values, all_passes[field])


def test_a_change_of_compiler_is_a_change_of_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba alone makes no code that can be kept, and takes none that the other compiler kept."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    own = PROGRAMS["jacobi"]().kernel()
    assert own.run is not None
    monkeypatch.setenv("SSR_COMPILER", "numba")
    first, second = (PROGRAMS["jacobi"]().kernel() for _ in range(2))
    assert (first.from_cache, second.from_cache) == (False, False)
    assert first.name == second.name != own.name
    monkeypatch.delenv("SSR_COMPILER")
    again = PROGRAMS["jacobi"]().kernel()
    assert (again.name, again.from_cache) == (own.name, True)


@pytest.mark.parametrize(
    ("version", "known"),
    [((0, 60), False), ((0, 61), True), ((0, 68), True), ((0, 69), False), ((1, 0), False)],
)
def test_known_versions(
    version: tuple[int, int], known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = numba.version_info._replace(short=version)
    monkeypatch.setattr(numba, "version_info", found)
    assert internals.are_known() is known


@pytest.mark.parametrize(("module", "name"), [*unknown_numba.private_names()])
def test_a_private_name_that_is_missing(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any of them is found before anything is compiled."""
    usual = internals._has

    def has(found: Any, asked: str) -> bool:
        return (found.__name__, asked) != (module, name) and usual(found, asked)

    assert internals.objection() is None
    monkeypatch.setattr(internals, "_has", has)
    assert internals.objection() == f"Numba {numba.__version__} has no {module}.{name}"


def test_all_private_names_that_are_imported_are_known() -> None:
    """Those of Numba and llvmlite that they do not document for extensions."""
    public = {"numba", "numba.extending", "llvmlite", "llvmlite.binding", "numba.types"}
    found = set()
    for path in (*ROOT.glob("ssr/**/*.py"), *ROOT.glob("boundary/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            if node.module.split(".")[0] in ("numba", "llvmlite") and node.module not in public:
                found |= {f"{node.module}.{one.name}" for one in node.names}
            elif node.module == "llvmlite.binding":
                found |= {"llvmlite.binding.ffi" for one in node.names if one.name == "ffi"}
    known = set(internals.NAMES)
    for module, names in internals.NAMES.items():
        known |= {f"{module}.{'.'.join(name.split('.')[:1])}" for name in names}
    cgutils = {"numba.core.cgutils", "numba.core.cgutils.alloca_once"}  # in Numba's documentation
    assert found - known - cgutils == set()


def results(*arguments: str, folder: Path, launcher: tuple[str, ...] = ()) -> list[str]:
    """Return what `unknown_numba` prints in a process of its own."""
    command = [*launcher, sys.executable, "-m", "tests.ssr.unknown_numba", *arguments]
    environment = {**os.environ, "SSR_CACHE_DIR": str(folder)}
    made = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert made.returncode == 0, made.stderr
    return made.stdout.splitlines()


@pytest.mark.slow
def test_another_version_of_numba(tmp_path: Path) -> None:
    """In fresh processes, with an empty cache and with a filled one."""
    known = results("known", folder=tmp_path)
    for folder in tmp_path / "empty", tmp_path / "empty", tmp_path:
        assert results("version", folder=folder) == known


@pytest.mark.slow
def test_ranks_without_any_private_name(tmp_path: Path) -> None:
    known, hidden = (results(how, "ranks", folder=tmp_path) for how in ("known", "hidden"))
    assert hidden == known
    assert known[0] == known[1] == known[2]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("mpiexec"), reason="needs mpiexec")
def test_processes_without_any_private_name(tmp_path: Path) -> None:
    (known, *_) = results("known", folder=tmp_path)
    lines = results("hidden", folder=tmp_path, launcher=("mpiexec", "-n", "2"))
    assert "".join(lines) == known + known  # mpiexec may join lines
