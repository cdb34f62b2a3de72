"""Steps that run unequally early share loops, and keep as little as they can."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ssr
from ssr import ir
from ssr.compiler.pipeline import fused_nests
from ssr.lower.passes.loop_fusion import loop_fusion
from ssr.lower.steps.in_place import in_place

from .. import plain

box = ssr.Space(*ssr.sizes("nz ny nx"))
wide = box.grow(1)
AXES = [
    (
        ssr.average(box.faces(axis), wide, axis),
        ssr.difference(box.faces(axis), wide, axis),
        ssr.difference(box, box.faces(axis), axis),
    )
    for axis in range(3)
]
STEPS = [tuple(s * (a == b) for b in range(3)) for a in range(3) for s in (-1, 1)]
CROSS = ssr.stencil(box, box, {(0, 0, 0): -6.0, **dict.fromkeys(STEPS, 1.0)}, outside="zero")


@ssr.program(v=wide, u=wide, c=wide)
def diffuse(v: Any, u: Any, c: Any) -> None:
    v[box] = u[box] + 0.1 * sum(div @ ((mean @ c) * (grad @ u)) for mean, grad, div in AXES)


@ssr.program(u=box)
def heat(u: Any) -> None:
    u[:] = u + 0.1 * (CROSS @ u)


def nest_of(program: ssr.Program) -> ir.Nest:
    made, *others = fused_nests(in_place(program.ir), program.options, "float64").nests
    assert isinstance(made, ir.Nest)
    assert not others
    return made


def apart(program: ssr.Program) -> ssr.Program:
    return program.with_options(replace(program.options, fuse=False))


def test_fluxes_and_their_differences_are_one_loop() -> None:
    nest = nest_of(diffuse)
    (loop,) = loop_fusion(nest)
    assert [(s.planes, s.ahead) for (s,) in loop] == [(0, 0), (1, 0), (0, 1), (0, 0)]
    planes, lines, held = nest.buffers  # those along i are computed again, at both sides of a cell
    assert (planes.rows, planes.lines, lines.rows, held.rows) == (1, 0, 2, 1)


def test_a_step_in_place_keeps_one_plane_of_new_values() -> None:
    nest = nest_of(heat)
    assert [b.rows for b in nest.buffers if b.lines is not None] == [1]
    assert plain.source(heat).count("in independent(") == 1


def test_costly_values_of_a_line_are_stored() -> None:
    mean, grad, div = AXES[2]

    @ssr.program(v=wide, u=wide, c=wide)
    def step(v: Any, u: Any, c: Any) -> None:
        v[box] = u[box] + div @ (ssr.sqrt(mean @ c) * (grad @ u))

    assert plain.source(step).count("np.sqrt") == 1
    assert [b.rows for b in nest_of(step).buffers] == [1]


def test_boxes_and_debug_builds_make_no_promise() -> None:
    debug = heat.with_options(replace(heat.options, debug=True))
    assert "in independent(" not in plain.source(debug)


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 20), (5, 1, 17), (4, 5, 40)])
def test_bits_are_those_of_steps_one_after_the_other(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    u, c = rng.random((2, *(n + 2 for n in shape)))
    made = [np.zeros_like(u) for _ in range(3)]
    diffuse(made[0], u, c)
    plain.run(diffuse, made[1], u, c)
    apart(diffuse)(made[2], u, c)
    assert np.array_equal(made[0], made[1])
    assert np.array_equal(made[0], made[2])
    inner = np.ascontiguousarray(u[1:-1, 1:-1, 1:-1])
    results = [inner.copy() for _ in range(3)]
    heat(results[0])
    plain.run(heat, results[1])
    apart(heat)(results[2])
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
    boxed = np.zeros_like(u)
    if min(shape) > 1:
        diffuse(boxed, u, c, boxes=ssr.Space(*shape).split(2, 2, 2))
        assert np.array_equal(boxed, made[0])


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("line", [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (0, 2), (2, 1)])
def test_values_of_one_other_line(line: tuple[int, int], backward: bool) -> None:
    """Values that are computed again where they are read were those of the reader's own line."""
    near = box.grow(2)
    taps = ssr.stencil(box, near, {(*line, -1): 0.5, (*line, 0): 0.25})
    chain = CROSS.triu() if backward else CROSS.tril()

    @ssr.program(x=near, y=near, v=box, w=box)
    def read(x: Any, y: Any, v: Any, w: Any) -> None:
        v[:] = taps @ (x * y + 2.0 * x)
        w[:] = chain.solve(v)

    shape, (planes, lines) = (3, 4, 5), line
    x, y = np.random.default_rng(0).random((2, *(n + 4 for n in shape)))
    t = x * y + 2.0 * x
    seen = t[2 + planes : planes - 2 or None, 2 + lines : lines - 2 or None]
    v, w = np.zeros((2, *shape))
    for each in (read, apart(read)):
        each(x, y, v, w)
        np.testing.assert_allclose(v, 0.5 * seen[..., 1:-3] + 0.25 * seen[..., 2:-2], 1e-14)
        matrix = chain.bind(**dict(zip(("nz", "ny", "nx"), shape, strict=True))).to_scipy()
        np.testing.assert_allclose(matrix @ w.ravel(), v.ravel(), 1e-12)


fine = ssr.Space(*(2 * n for n in ssr.sizes("nz ny nx")))
NEAR = {tuple(int(n) - 1 for n in place): -1.0 for place in np.ndindex(3, 3, 3)}
CUBE = ssr.stencil(fine, fine, NEAR | {(0, 0, 0): 26.0}, outside="zero")


@ssr.matrix(rows=box, cols=fine)
def injection(k: Any, j: Any, i: Any) -> Any:
    yield (2 * k, 2 * j, 2 * i), 1.0


@ssr.program(x=fine, r=fine, y=box)
def correct_and_smooth(x: Any, r: Any, y: Any) -> None:
    x[:] = x + injection.T @ y
    x[:] = CUBE.tril().solve(r - CUBE.triu(1) @ x)


def test_lines_with_and_without_what_comes_again_are_one_loop_each() -> None:
    source = plain.source(correct_and_smooth)
    both = source.partition("for i in range(0, 2 * nx - 1, 2):")[2].partition("for i in ")[2]
    assert both.startswith("independent(2 * nx):")  # lines without values of y
    assert source.count("in independent(") == 1


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 2, 3), (3, 2, 9), (4, 5, 16)])
def test_bits_do_not_depend_on_lines_that_come_again(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    whole = tuple(2 * n for n in shape)
    x, r, y = rng.random(whole), rng.random(whole), rng.random(shape)
    results = [x.copy() for _ in range(3)]
    correct_and_smooth(results[0], r, y)
    plain.run(correct_and_smooth, results[1], r, y)
    apart(correct_and_smooth)(results[2], r, y)
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
