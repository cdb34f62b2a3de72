"""Kernels for other processors than the one at hand: the same bits, and the assembly of any."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ssr
from ssr.compiler.names import DESCRIBED, Request
from ssr.errors import ArgumentError
from ssr.native import machine_code
from ssr.runtime import target
from tests.ssr.sample_programs import PROGRAMS, case, check_same, five, plane

pytestmark = pytest.mark.skipif(
    not target.host().triple.startswith("x86_64"),
    reason="The processors of these tests are of another kind.",
)

LEVELS = "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in target.VARIABLES:
        monkeypatch.delenv(name, raising=False)


def reductions() -> ssr.Program:
    @ssr.program(x=plane, b=plane)
    def reductions(x: ssr.Expression, b: ssr.Expression) -> tuple[ssr.Number, ssr.Number]:
        x[:] = ssr.exp(x) - five @ ssr.where(x > b, x, b)
        return ssr.dot(x, b), ssr.max(x)

    return reductions


CHOSEN = {
    "reductions": reductions,
    **{name: PROGRAMS[name] for name in ("five_point_gauss_seidel", "jacobi", "varying_solve")},
    **{name: PROGRAMS[name] for name in ("twenty_seven_apply", "restriction")},
}


def on(cpu: str | None, name: str = "reductions", **options: bool) -> ssr.Program:
    """Return a program that is compiled for a processor."""
    return CHOSEN[name]().with_options(ssr.Options(cpu=cpu, **options))


def runs(cpu: str) -> bool:
    """Whether kernels for a processor run here."""
    with target.compiling_for(target.named(cpu)):
        try:
            target.check_runs()
        except ArgumentError:
            return False
    return True


@pytest.mark.parametrize("name", CHOSEN)
def test_bits_are_the_same_for_all_processors(name: str) -> None:
    found = []
    for cpu in (None, *filter(runs, LEVELS)):
        program = on(cpu, name)
        arrays, scalars = case(program)
        found.append((arrays, program(*arrays.values(), *scalars.values())))
    (arrays, result), *others = found
    for more, same in others:
        assert same == result
        for field, values in arrays.items():
            check_same(values, more[field])


def test_the_debug_build_is_for_the_processor_too() -> None:
    assert "zmm" not in on("x86-64-v3", debug=True).explain("assembly")


@pytest.mark.parametrize(
    ("cpu", "has", "lacks"),
    [
        ("x86-64", "xmm", "ymm"),
        ("x86-64-v3", "vfmadd", "zmm"),
        ("x86-64-v4", "zmm", "fmla"),
        ("neoverse-n1", "fmla", "ymm"),
        ("apple-m1", "fmla", "ymm"),
    ],
)
@pytest.mark.parametrize("name", ["jacobi", "reductions"])
def test_assembly_of_any_processor(name: str, cpu: str, has: str, lacks: str) -> None:
    text = on(cpu, name).explain("assembly")
    assert has in text
    assert lacks not in text


def test_matrices_show_their_assembly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_CPU", "x86-64-v3")
    assert "vfmadd" in (text := five.explain("assembly"))
    assert "zmm" not in text
    assert "== assembly ==" not in five.explain()


def test_shared_functions_are_those_of_the_processor() -> None:
    """A kernel calls them by the name of its processor."""
    for cpu in ("x86-64-v2", "x86-64-v3"):
        called = re.findall(r'"?(ssr_\w+)\.(x86-64-v\d)', on(cpu).explain("assembly"))
        assert called
        assert {level for _, level in called} == {cpu}
        assert all(f"{name}.{level}" in machine_code._shared for name, level in called)


def name_of(program: ssr.Program, *form: str) -> str:
    return Request.of(program.ir, program.options, "float64").name(*form)


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, none = on("x86-64-v3"), on(None)
    name, of_host = map(name_of, (chosen, none))
    assert name != of_host
    monkeypatch.setenv("SSR_CPU", "x86-64-v3")
    assert name_of(none) == name
    assert "zmm" not in none.explain("assembly")
    monkeypatch.delenv("SSR_CPU")
    monkeypatch.setenv("NUMBA_CPU_NAME", "x86-64-v3")
    assert name_of(none) == name
    monkeypatch.setenv("SSR_CPU", "x86-64-v33")
    with pytest.raises(ArgumentError, match="SSR_CPU is 'x86-64-v33', which is not a name"):
        none.kernel()


def test_descriptions_are_for_all_processors() -> None:
    programs = on(None), on("x86-64-v2"), on("x86-64-v3")
    assert len({name_of(program, DESCRIBED) for program in programs}) == 1


SCRIPT = """
import sys
import numpy as np
import ssr

n, = ssr.sizes("n")
points = ssr.Space(n)

def made(cpu):
    @ssr.program(y=points, x=points, options=ssr.Options(cpu=cpu))
    def step(y, x):
        y[:] = 0.1 * x + 3.0
        return ssr.dot(x, y)
    return step

x = np.linspace(0.0, 1.0, 1001)
for cpu in sys.argv[1:]:
    program, y = made(cpu), np.zeros_like(x)
    total = program(y, x)
    print(program.kernel().from_cache, total.hex(), hash(y.tobytes()))
"""


def test_the_cache_keeps_processors_apart(tmp_path: Path) -> None:
    def run(*cpus: str) -> list[list[str]]:
        command = [sys.executable, "-c", SCRIPT, *cpus]
        path = str(Path(ssr.__file__).parents[1])
        environment = {"SSR_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONHASHSEED": "1"}
        environment |= {"PYTHONPATH": path, "NUMBA_CPU_NAME": ""}
        done = subprocess.run(
            command, env={**os.environ, **environment}, capture_output=True, text=True, check=True
        )
        return [line.split() for line in done.stdout.splitlines()]

    first, second, both = run("x86-64-v2"), run("x86-64-v3"), run("x86-64-v2", "x86-64-v3")
    assert [found for found, *_ in (*first, *second)] == ["False", "False"]
    assert [found for found, *_ in both] == ["True", "True"]
    assert len({tuple(bits) for _, *bits in (*first, *second, *both)}) == 1
    assert len(list((tmp_path / "kernels").glob("step_*.kernel"))) == 2


def test_names_are_checked_where_a_program_is_defined() -> None:
    with pytest.raises(ArgumentError) as caught:
        on("x86-64-v33")
    assert (
        caught.value.message == "cpu is 'x86-64-v33', which is not a name of a processor in LLVM."
    )
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    with pytest.raises(ArgumentError, match="Option cpu must be a name or None, not 3"):
        ssr.Options(cpu=3)  # type: ignore[arg-type]


def test_what_the_processor_at_hand_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_lacking", lambda wanted: ("avx512f", "avx512vl"))
    for cpu, note in (
        ("x86-64-v4", "It lacks avx512f, avx512vl."),
        ("neoverse-n1", "It is of another kind."),
    ):
        program = on(cpu, "jacobi")
        arrays, scalars = case(program)
        before = {name: values.copy() for name, values in arrays.items()}
        with pytest.raises(ArgumentError) as caught:
            program(*arrays.values(), *scalars.values())
        assert caught.value.note == note
        assert all(np.array_equal(arrays[name], before[name]) for name in arrays)
        assert program.explain("assembly")


def test_programs_for_several_processors_run_in_turns() -> None:
    rng = np.random.default_rng(7)
    x = rng.random((9, 70))
    results = []
    for cpu in ("x86-64-v2", "x86-64-v3", "x86-64-v2", "x86-64-v3"):
        y = np.full_like(x, np.nan)
        five.program("apply").with_options(ssr.Options(cpu=cpu))(y, x)
        results.append(y)
    assert all(np.array_equal(results[0], y) for y in results)
