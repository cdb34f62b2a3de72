"""Numba's own pipeline makes the same bits as the one with fewer passes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

import ssr
from ssr.build import machine
from tests.ssr.programs import PROGRAMS, case, check_same, five, plane

UNKNOWN = (0, 1), (0, 2)


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
def test_both_pipelines_make_the_same_bits(
    name: str, debug: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, result = run(name, cache=False, debug=debug)
    monkeypatch.setattr(machine, "KNOWN", UNKNOWN)
    all_passes, same = run(name, cache=False, debug=debug)
    assert result == same
    for field, values in few.items():
        check_same(values, all_passes[field])


def test_kernels_of_all_passes_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(machine, "KNOWN", UNKNOWN)
    first, second = (PROGRAMS["jacobi"]().kernel() for _ in range(2))
    assert (first.from_cache, second.from_cache) == (False, True)


def test_a_numba_that_writes_machine_code_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is compiled in every process, and nothing else happens."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(machine, "KNOWN", UNKNOWN)
    monkeypatch.delattr("numba.core.compiler.CompileResult._reduce")
    first, second = (PROGRAMS["jacobi"]().kernel() for _ in range(2))
    assert (first.from_cache, second.from_cache) == (False, False)


@pytest.mark.parametrize(
    ("version", "known"),
    [((0, 60), False), ((0, 61), True), ((0, 68), True), ((0, 69), False), ((1, 0), False)],
)
def test_known_versions(
    version: tuple[int, int], known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = numba.version_info._replace(short=version)
    monkeypatch.setattr(numba, "version_info", found)
    assert machine.is_known() is known
