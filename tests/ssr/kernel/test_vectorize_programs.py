"""Whole programs on vectors compute the bits of their rows, on every processor."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.compiler.kernel import Kernel
from ssr.compiler.pipeline import lower
from ssr.kernel.inference import Functions
from ssr.kernel.print_python import printed
from ssr.kernel.vector_target import Target
from ssr.kernel.vectorize import chain_plans, plans, requests, vectorize
from ssr.options import Options
from ssr.run.launcher import Launcher
from ssr.runtime.intrinsics import plain, unwritten
from tests.ssr import memory, test_random_programs
from tests.ssr import sample_programs as programs
from tests.ssr import strategies as some
from tests.ssr.plain import check_same
from tests.ssr.vector_kernels import TARGETS

Build = Callable[[ir.Program, Options, str], Kernel]


def building(target: Target | None) -> Build:
    """Return what makes kernels in plain Python: on vectors of a target, or row by row."""

    def build(program: ir.Program, options: Options, dtype: str) -> Kernel:
        made = lower(program, options, dtype, "a program")
        module = made.kernel if target is None else vectorize(made.kernel, target)
        Functions(module)  # each variable has one type
        source = printed(module)
        scope: dict[str, Any] = {}
        exec(compile(source, "<vectors>", "exec"), scope)
        run = plain(scope["call" if made.meta.whole else "kernel"])
        return Kernel("vectors", source, made.meta, lambda: run, False)

    return build


def results(
    program: ssr.Program, target: Target | None, args: Sequence[Any]
) -> tuple[list[Any], Any]:
    """Return the arguments as a program leaves them, and its results."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    launcher = Launcher(program._launcher.declaration, building(target), unwritten, reuse=False)
    found = launcher.call(tuple(copies), program._arrays(tuple(copies)), None)
    return [np.asarray(a) for a in copies], found


def check(program: ssr.Program, target: Target, args: Sequence[Any]) -> None:
    """Check that a program has the same bits on vectors as row by row."""
    (rows, numbers), (vectors, others) = (results(program, t, args) for t in (None, target))
    for one, other in zip(rows, vectors, strict=True):
        check_same(one, other)
    check_same(np.array(numbers), np.array(others))


every_target = pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)


@every_target
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", list(programs.PROGRAMS))
def test_programs(name: str, dtype: Any, target: Target) -> None:
    program = programs.PROGRAMS[name]()
    for nx in (1, 3, 21):
        sizes = {"n": nx, "nz": 2, "ny": 3, "nx": nx}
        arrays, scalars = programs.case(program, sizes, dtype)
        check(program, target, [(arrays | scalars)[n] for n, _ in program.signature.kinds])


@pytest.mark.parametrize("name", ["twenty_seven_apply", "jacobi", "restriction"])
def test_programs_on_fields_that_are_far(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "FEW", 0)
    monkeypatch.setattr(requests, "FAR", -1)
    test_programs(name, np.float64, TARGETS["AVX-512"])


def test_programs_have_vectors_and_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forms of loops occur in these programs."""
    found = []
    chain = chain_plans.chain

    def noted(*given: Any) -> Any:
        found.append(chain(*given))
        return found[-1]

    monkeypatch.setattr(chain_plans, "chain", noted)
    sources = []
    for name in ("jacobi", "five_point_gauss_seidel", "twenty_seven_gauss_seidel", "restriction"):
        program = programs.PROGRAMS[name]()
        source = building(TARGETS["AVX-512"])(program.ir, program.options, "float64").source
        assert "vector_store" in source
        sources.append(source)
    assert any("shuffle(" in source for source in sources)
    assert any(found)


@some.examples(25)
@given(
    test_random_programs.STEPS,
    memory.seeds,
    st.tuples(st.integers(1, 3), st.integers(1, 27)),
    st.sampled_from([*TARGETS.values()]),
)
def test_programs_that_are_drawn(
    steps: list[Any], seed: int, shape: tuple[int, int], target: Target
) -> None:
    program = test_random_programs.declared(steps, ssr.Options())
    drawn = test_random_programs.drawn(seed, shape)
    check(program, target, [*drawn.values(), 0.5])


def test_every_loop_nest_requests_the_line_that_it_meets_first() -> None:
    cells = ssr.Space(*ssr.sizes("nz ny nx"))
    star = {tuple(s * (a == axis) for a in range(3)): -1.0 for axis in range(3) for s in (-1, 1)}
    A = ssr.stencil(cells, cells, {(0, 0, 0): 6.0, **star}, outside="zero")

    @ssr.program(x=cells, p=cells)
    def step(x: Any, p: Any) -> Any:
        q = A @ p
        x[:] = x + p / ssr.dot(p, q) * q

    text = building(TARGETS["AVX2"])(step.ir, step.options, "float64").source
    lines = dict(re.findall(r"(u__p_r\d+) = (.*)", text))
    below = dict(re.findall(r"(line\d+) = (k \+ 1) if", text))
    requested = [lines[row] for row in re.findall(r"u__p_ahead_\d+ = (u__p_r\d+) ", text)]
    assert len(requested) == 8
    assert all("(k + 1)" in line or any(f"{b} *" in line for b in below) for line in requested)
