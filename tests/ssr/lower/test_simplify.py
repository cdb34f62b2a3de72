"""Programs without what need not be computed have the same results."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr import ir
from ssr.compiler import passes
from ssr.lower.pass_manager import Setting, State, run

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_program

my, mx = ssr.sizes("my mx")
cells, coarse = ssr.Space(2 * my, 2 * mx), ssr.Space(my, mx)
A = ssr.stencil(
    cells, cells, {(0, 0): 4.0, (0, 1): -1, (0, -1): -1, (1, 0): -1, (-1, 0): -1}, outside="zero"
)
SKEW = ssr.stencil(cells, cells, {(0, 0): 0.5, (1, -1): 0.25}, outside="zero")
SHIFT = ssr.stencil(cells, cells, {(1, 0): 1.0}, outside="zero")


@ssr.matrix(rows=coarse, cols=cells)
def R(j: Any, i: Any) -> Any:
    yield (2 * j, 2 * i), 1.0


@ssr.matrix(rows=cells, cols=coarse)
def P(j: Any, i: Any) -> Any:
    yield (j // 2, i // 2), 1.0


def short(program: ssr.Program, *, exact: bool = False) -> ir.Program:
    return simplified(program.ir, exact=exact)


def simplified(program: ir.Program, *, exact: bool) -> ir.Program:
    """Return a program after the passes from `solve_targets` to `dead_step_elimination`."""
    return run(passes.STEPS[2:6], State(program), Setting(ssr.Options(exact=exact))).program


def names(program: ir.Program) -> list[str]:
    return [s.target if isinstance(s, ir.Assignment) else s.name for s in program.steps]


def test_a_sweep_from_zero_reads_no_old_values() -> None:
    @ssr.program(x=cells, b=cells)
    def sweep(x: Any, b: Any) -> None:
        x[:] = 0.0
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    (step,) = short(sweep).steps
    assert all(load.new or load.array == "b" for load in ir.loads(step.value))
    assert names(short(sweep, exact=True)) == ["x", "x"]


def test_a_residual_read_at_every_second_point_is_computed_there_only() -> None:
    @ssr.program(x=cells, b=cells, c=coarse)
    def restrict(x: Any, b: Any, c: Any) -> None:
        c[:] = R @ (b - A @ x)

    found = short(restrict, exact=True)
    assert names(found) == ["c"]
    assert not found.temporaries
    assert "need not be computed by itself" in restrict.explain("program")


def test_what_is_read_twice_is_stored() -> None:
    @ssr.program(x=cells, b=cells, c=coarse)
    def both(x: Any, b: Any, c: Any) -> None:
        r = b - A @ x
        c[:] = R @ r
        x[:] = SHIFT @ r

    assert names(short(both)) == ["t", "c", "x"]

    @ssr.program(x=cells, c=coarse)
    def spread(x: Any, c: Any) -> None:
        x[:] = P @ (c * c + 1.0)

    assert names(short(spread)) == ["t", "x"]


def test_what_is_moved_reads_what_it_read_before() -> None:
    @ssr.program(x=cells, b=cells, c=coarse)
    def program(x: Any, b: Any, c: Any) -> None:
        r = b - x
        moved = SHIFT @ r
        b[:] = x + 1.0
        c[:] = R @ (moved * 2.0)

    assert names(short(program)) == ["t", "b", "c"]


def test_what_is_overwritten_is_not_computed() -> None:
    @ssr.program(x=cells, b=cells)
    def program(x: Any, b: Any) -> None:
        x[:] = A @ b
        x[:] = b + 1.0

    assert names(program.ir) == ["x"]


@pytest.mark.parametrize("weight", [np.inf, np.nan])
def test_exact_keeps_products_with_zero(weight: float) -> None:
    @ssr.program(x=cells, w=cells, options=ssr.Options(exact=True))
    def program(x: Any, w: Any) -> None:
        x[:] = 0.0
        x[:] = w * x

    x, w = np.ones((2, 2)), np.full((2, 2), weight)
    plain.run(program, x, w)
    assert np.isnan(x).all()
    plain.run(program.with_options(ssr.Options()), x, w)
    assert (x == 0.0).all()


def body(steps: list[Any]) -> Any:
    def run(x: Any, y: Any, c: Any) -> Any:
        fields, numbers = [x, y], []
        for kind, a, b in steps:
            u, v = fields[a], fields[b]
            if kind == "zero":
                u[:] = 0.0
            elif kind == "sweep":
                u[:] = A.tril().solve(v - A.triu(1) @ u)
            elif kind == "restrict":
                c[:] = R @ (v - A @ u) + c
            elif kind == "prolong":
                u[:] = v + P @ (c * c)
            elif kind == "shift":
                u[:] = SHIFT @ (SKEW @ v - u)
            elif kind == "mixed":
                u[:] = ssr.sqrt(abs(u)) * v / (2.0 + v * v) - ssr.minimum(u, v)
            else:
                numbers.append(ssr.dot(u, SHIFT @ (u + v)))
        return tuple(numbers)

    return run


KINDS = st.sampled_from(("zero", "sweep", "restrict", "prolong", "shift", "mixed", "dot"))
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=5)


@some.examples(60)
@given(STEPS, memory.seeds, st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_random_programs(steps: list[Any], seed: int, m: int, n: int, exact: bool) -> None:
    declared = ssr.program(x=cells, y=cells, c=coarse)(body([("zero", 0, 0), *steps]))
    rng = np.random.default_rng(seed)
    shapes = {"x": (2 * m, 2 * n), "y": (2 * m, 2 * n), "c": (m, n)}
    arrays = {k: memory.array(rng, s, "float64") for k, s in shapes.items()}
    meant = {k: a.copy() for k, a in arrays.items()}
    sizes = {"my": m, "mx": n}
    found = interpret_program(simplified(declared.ir, exact=exact), arrays, {}, sizes)
    wanted = interpret_program(declared.ir, meant, {}, sizes)
    for name in shapes:
        if exact:
            plain.check_same(arrays[name], meant[name])
        assert np.array_equal(arrays[name], meant[name])
    assert found == wanted


def test_a_debug_build_leaves_out_the_same() -> None:
    @ssr.program(x=cells, b=cells)
    def sweep(x: Any, b: Any) -> None:
        x[:] = 0.0
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    debug = sweep.with_options(replace(sweep.options, debug=True))
    assert "need not" in sweep.explain("program")
    assert debug.explain("program") == sweep.explain("program")
