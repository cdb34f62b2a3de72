"""Large kernels are cut into functions, which changes no bits; equal functions are one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler.kernel import Kernel
from ssr.compiler.pipeline import lower
from ssr.kernel import outline
from ssr.kernel.building import call, let, load, loop, plus, store
from ssr.kernel.ir import Function, Group, Integer, Let, Name, Statement
from ssr.kernel.outline import Functions
from tests.ssr.sample_programs import PROGRAMS, case, check_same, five, plane, run_source

SMALL = 20
"""Lines of a function in these tests, so that all kernels are large."""


def steps(count: int) -> ssr.Program:
    """Return a program of Jacobi steps in place."""

    @ssr.program(x=plane, b=plane)
    def jacobi(x: Any, b: Any) -> None:
        for _ in range(count):
            x[:] = x + 0.2 * (b - five @ x)

    return jacobi


def source(program: ssr.Program) -> str:
    return lower(program.ir, program.options, "float64", "title").source


def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all kernels large."""
    for name in ("KERNEL", "LINES", "PART", "RARELY"):
        monkeypatch.setattr(outline, name, SMALL)
    monkeypatch.setattr(outline, "FEW", 2)


def test_small_kernels_are_one_function() -> None:
    assert source(PROGRAMS["five_point_apply"]()).count("\ndef ") == 1


@pytest.mark.parametrize(("name", "least"), [("nine_point_symmetric", 8), ("red_black", 10)])
def test_functions_are_not_long(name: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what stands in one innermost loop or branch is not cut."""
    cut(monkeypatch)
    _, *functions = source(PROGRAMS[name]()).split("\ndef ")
    assert len(functions) >= least
    assert functions[-1].startswith("kernel(")
    assert all(text.count("\n") < 4 * SMALL for text in functions[:-1])


@pytest.mark.parametrize("name", ["five_point_gauss_seidel", "nine_point_symmetric", "jacobi"])
def test_bits_of_the_source(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS[name]()
    arrays, scalars = case(program)
    expected = run_source(program, arrays, scalars)
    cut(monkeypatch)
    found = run_source(program, arrays, scalars)
    for field, values in expected.items():
        check_same(values, found[field])


@pytest.mark.parametrize("debug", [False, True])
def test_bits_of_the_kernel(debug: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS["jacobi"]().with_options(ssr.Options(cache=False, debug=debug))
    arrays, scalars = case(program, {"ny": 40, "nx": 50})
    whole, parts = arrays["x"].copy(), arrays["x"].copy()
    program(whole, arrays["b"], *scalars.values())
    cut(monkeypatch)
    again = PROGRAMS["jacobi"]().with_options(program.options)
    again(parts, arrays["b"], *scalars.values())
    assert again.kernel().meta.functions
    check_same(whole, parts)


def test_repeated_nests_are_one_function() -> None:
    """Ten more steps need calls, and no more functions."""
    few, many = (source(steps(count)) for count in (20, 30))
    assert many.count("\ndef ") <= few.count("\ndef ") + 3
    assert len(many) < 1.3 * len(few)


def test_nests_that_are_alone_stay_in_a_kernel() -> None:
    """Where they are too many lines for one function, those that come again do not."""

    def nest(operation: str, field: str) -> list[Statement]:
        return [store(field, n, call(operation, load(field, n))) for n in range(400)]

    nests = nest("np.sin", "x"), nest("np.cos", "x"), nest("np.sin", "y")
    found = Functions().nests(nests)
    assert [len(lines) for lines in found] == [1, 400, 1]
    assert [len(lines) for lines in Functions().nests(nests[:2])] == [400, 400]
    assert [len(lines) for lines in Functions().nests(2 * nests)] == 6 * [1]


def rows(stop: str, of: str, to: str, first: str, name: str) -> list[Statement]:
    """Return a loop that stores exponentials of an array, plus the first element of one."""
    body = let(name, call("np.exp", load(of, "i"))), store(to, "i", plus(name, load(first, 0)))
    return [loop("i", (0, stop), body)]


def test_equal_statements_are_one_function() -> None:
    functions = Functions()
    block = rows("n", "x", "y", "x", "s1")
    assert functions.call(block) == call("part_0", "n", "x", "y")
    assert functions.call(rows("m", "y", "x", "y", "s2")) == call("part_0", "m", "y", "x")
    assert functions.call(rows("n", "x", "y", "y", "s1")) == call("part_1", "n", "x", "y")
    assert functions.functions["part_0"] == Function("part_0", ("n", "x", "y"), tuple(block))


def test_several_targets_are_no_arguments() -> None:
    block = [
        Let(("start", "stop"), Group((Integer(0), Name("n")))),
        loop("i", ("start", "stop"), [store("y", "i", load("x", "i"))]),
    ]
    assert Functions().call(block) == call("part_0", "n", "y", "x")


def test_a_kernel_is_cached_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path))
    cut(monkeypatch)

    def made() -> tuple[Kernel, Any]:
        for name in [n for n in sys.modules if n.startswith("ssr_kernel_")]:
            del sys.modules[name]
        program = PROGRAMS["five_point_gauss_seidel"]()
        x = np.zeros((6, 7))
        program(x, np.linspace(0.0, 1.0, 42).reshape(6, 7))
        return program.kernel(), x

    (first, x), (second, again) = made(), made()
    assert first.meta.functions
    assert (first.from_cache, second.from_cache) == (False, True)
    assert len(list(tmp_path.iterdir())) == 1
    check_same(x, again)
