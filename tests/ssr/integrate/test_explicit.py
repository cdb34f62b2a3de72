"""Explicit Runge-Kutta methods: order conditions, convergence, the bits of programs and ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, OutOfRangeError, ShapeError, SpaceError
from ssr.integrate.methods import EXPLICIT
from ssr.integrate.tableaux import order_of, trees

line = ssr.Space(ssr.size("n"))
plane = ssr.Space(*ssr.sizes("ny nx", at_least=2))

ORDERS = {
    "Euler": 1, "Heun": 2, "RK23": 3, "SSPRK33": 3, "RK4": 4, "SSPRK54": 4, "CK54": 4, "RK45": 5,
}  # fmt: skip

ends = bc.fill(
    line.grow(1), bc.dirichlet(bc.parameter("g"), side="low"), bc.neumann(0.0, side="high")
)
bend = ssr.stencil(line, line.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})


@ssr.integrate.rhs(x=line, y=line)
def driven(t: Any, x: Any, y: Any) -> Any:
    """Return the rates of a system that depends on time: x = 1 / (1 + t^2), y = exp(sin(t) x)."""
    return -2.0 * t * x**2, y * (ssr.cos(t) * x - 2.0 * t * ssr.sin(t) * x**2)


@ssr.integrate.rhs(u=line, k=ssr.scalar)
def heat(t: Any, u: Any, k: Any) -> Any:
    """Return diffusion and a reaction, with a value at the left end that changes in time."""
    return k * (bend @ (ends.bind(g=ssr.sin(3.0 * t)) @ u)) - u**3


def solution(t: float) -> tuple[float, float]:
    x = 1.0 / (1.0 + t * t)
    return x, math.exp(math.sin(t) * x)


def ode_error(method: Any, steps: int) -> float:
    x, y = (np.full(3, v) for v in solution(0.25))
    run = ssr.integrate.RungeKutta(driven, 0.25, (x, y), 1.0 / steps, method)
    run.advance(1.25)
    assert run.t == 1.25
    exact = solution(1.25)
    return max(abs(x - exact[0]).max(), abs(y - exact[1]).max())


@pytest.mark.parametrize("name", EXPLICIT)
def test_conditions_give_the_known_order(name: str) -> None:
    assert EXPLICIT[name].order == ORDERS[name]


@pytest.mark.parametrize(("name", "order"), [("Heun", 1), ("RK23", 2), ("RK45", 4)])
def test_embedded_weights_have_a_lower_order(name: str, order: int) -> None:
    method = EXPLICIT[name].butcher
    A = [*method.A, method.b] if len(method.embedded) > len(method.b) else method.A
    full = [(*row, *[0.0] * (len(A) - len(row))) for row in A]
    assert order_of([(full, method.embedded)]) == order


def test_trees() -> None:
    """A000081 of the OEIS."""
    assert [len(trees(n)) for n in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]


@pytest.mark.parametrize("name", EXPLICIT)
def test_order_of_convergence(name: str) -> None:
    steps = 20 if ORDERS[name] > 3 else 40
    found = math.log2(ode_error(name, steps) / ode_error(name, 2 * steps))
    assert abs(found - ORDERS[name]) < 0.25, found


@pytest.mark.parametrize("name", EXPLICIT)
def test_order_of_convergence_for_a_field_with_ghosts(name: str) -> None:
    """By Richardson: of three solutions, the differences have the ratio 2^order."""

    def final(steps: int) -> np.ndarray:
        u = np.sin(np.arange(8.0))
        ssr.integrate.RungeKutta(heat, 0.0, u, 1.0 / steps, name, args=(1.5,)).advance(1.0)
        return u

    steps = 16 if ORDERS[name] > 3 else 64
    coarse, middle, fine = (final(steps * factor) for factor in (1, 2, 4))
    found = math.log2(abs(coarse - middle).max() / abs(middle - fine).max())
    assert abs(found - ORDERS[name]) < 0.3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_step_is_that_of_a_program_written_by_hand(dtype: Any) -> None:
    @ssr.program(u=line, k=ssr.scalar, t=ssr.scalar, dt=ssr.scalar)
    def by_hand(u: Any, k: Any, t: Any, dt: Any) -> None:
        f = heat.function
        a = u + dt * f(t, u, k)
        rate = f(t + dt, a, k)
        b = 0.75 * u + 0.25 * a + (0.25 * dt) * rate
        rate = f(t + 0.5 * dt, b, k)
        u[:] = 1 / 3 * u + 2 / 3 * b + (2 / 3 * dt) * rate

    step = ssr.integrate.step_program(heat, "SSPRK33")
    u = np.sin(np.arange(20.0)).astype(dtype)
    v = u.copy()
    step(u, 0.8, 0.3, 0.1)
    by_hand(v, 0.8, 0.3, 0.1)
    assert np.array_equal(u, v)
    assert step.explain("loops") == by_hand.explain("loops").replace("by_hand", "heat")


def test_low_storage_needs_one_more_field() -> None:
    step = ssr.integrate.step_program(heat, "CK54")
    assert [name for name, _ in step.signature.kinds] == ["u", "k", "u_change", "t", "dt"]
    u, change = np.ones(1000), np.empty(1000)
    memory = step.bind(u, 1.0, change)._launch.memory(overlapping=True)
    added = *memory.middle, *memory.end
    assert sum(m.size for m in added if isinstance(m, np.ndarray)) < 100


def test_vector_fields_and_parts() -> None:
    """A rate on a part of the points leaves the others as they are."""
    faces = line.faces(0)
    inner = faces.grow(-1)
    slope = ssr.difference(inner, line, 0)

    @ssr.integrate.rhs(q=line.vector(2), u=faces, c=line)
    def mixed(t: Any, q: Any, u: Any, c: Any) -> Any:
        return ssr.vector(q[1], -c * q[0]), slope @ q[0]

    q, u, c = (
        np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]]),
        np.full(4, 7.0),
        np.array([1.0, 4.0, 9.0]),
    )
    dq, du = mixed(0.0, q, u, c)
    assert np.array_equal(dq, [[0.0, 0.0, 0.0], [-1.0, -8.0, -36.0]])
    assert np.array_equal(du, [0.0, 1.0, 2.0, 0.0])
    run = ssr.integrate.RungeKutta(mixed, 0.0, (q, u), 0.01, args=(c,))
    run.advance(1.0)
    assert np.allclose(q[0], [math.cos(1.0), 2 * math.cos(2.0), 4 * math.cos(3.0)], atol=1e-6)
    integrals = np.sin([1.0, 2.0, 3.0]) * [1.0, 1.0, 4 / 3]
    assert np.allclose(u, 7.0 + np.array([0.0, *np.diff(integrals), 0.0]), atol=1e-6)


def test_an_unknown_with_ghost_points() -> None:
    """Gas in `apps.euler` is kept in such fields: ghosts that have no rate stay."""
    wide = line.grow(1)

    @ssr.integrate.rhs(u=wide)
    def inside(t: Any, u: Any) -> Any:
        return bend @ u

    assert np.array_equal(inside(0.0, np.array([1.0, 0.0, 0.0, 5.0])), [0.0, 1.0, 5.0, 0.0])


star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
laplace = ssr.stencil(plane, plane.grow(1), star) @ bc.fill(plane.grow(1), bc.periodic())


@ssr.integrate.rhs(u=plane, v=plane, k=plane)
def wave(t: Any, u: Any, v: Any, k: Any) -> Any:
    return v, k * (laplace @ u) - ssr.sin(t) * v


def start(ny: int, nx: int) -> Any:
    return np.random.default_rng(0).random((3, ny, nx))


@pytest.mark.parametrize("name", ["SSPRK54", "RK4", "CK54"])
def test_ranks_have_the_same_bits(name: str) -> None:
    u, v, k = start(9, 11)
    on = bc.distribute(plane, bc.simulated_ranks(4), ny=9, nx=11)
    fields = [on.zeros(plane) for _ in range(3)]
    for field, values in zip(fields, (u, v, k), strict=True):
        field.set(values)
    for y, args in ((u, v), (k,)), (tuple(fields[:2]), (fields[2],)):
        ssr.integrate.RungeKutta(wave, 0.5, y, 0.1, name, args=args).advance(1.0)
    assert np.array_equal(fields[0].gather(), u)
    assert np.array_equal(fields[1].gather(), v)


def test_threads_have_the_same_bits() -> None:
    u, v, k = start(9, 11)
    on = bc.distribute(plane, bc.threads(2), ny=9, nx=11)
    fields = [on.zeros(plane) for _ in range(3)]
    for field, values in zip(fields, (u, v, k), strict=True):
        field.set(values)
    for y, args in ((u, v), (k,)), (tuple(fields[:2]), (fields[2],)):
        ssr.integrate.RungeKutta(wave, 0.0, y, 0.1, args=args).advance(0.5)
    assert np.array_equal(fields[0].gather(), u)


def test_steps_end_at_a_time() -> None:
    u = np.ones(2)
    run = ssr.integrate.RungeKutta(heat, 0.0, u, 0.3, "Euler", args=(0.0,))
    run.advance(1.0)  # four steps of 0.25
    expected = np.ones(2)
    for _ in range(4):
        expected = expected + 0.25 * -(expected**3)
    assert np.allclose(u, expected, rtol=1e-14)
    run.step()
    assert run.t == 1.3
    run.advance(1.3)
    with pytest.raises(OutOfRangeError, match=r"lies before t = 1\.3"):
        run.advance(1.0)
    back = ssr.integrate.RungeKutta(driven, 1.0, (np.full(1, 0.5), np.ones(1)), -0.01)
    back.advance(0.0)
    assert np.allclose(back.y[0], 1.0)


def test_a_step_in_another_program() -> None:
    step = ssr.integrate.step_program(driven)

    @ssr.program(x=line, y=line, t=ssr.scalar)
    def twice(x: Any, y: Any, t: Any) -> Any:
        step(x, y, t, 0.1)
        step(x, y, t + 0.1, 0.1)
        return ssr.sum(x)

    x, y, u, v = np.ones(3), np.ones(3), np.ones(3), np.ones(3)
    twice(x, y, 0.0)
    ssr.integrate.RungeKutta(driven, 0.0, (u, v), 0.1).advance(0.2)
    assert np.allclose([x, y], [u, v], rtol=1e-15)


def test_right_sides_that_do_not_fit() -> None:
    rhs = ssr.integrate.rhs
    with pytest.raises(ArgumentError, match="first parameter of f is not the time"):
        rhs(u=line)(_named(lambda u: -u))
    with pytest.raises(ArgumentError, match="f returns 2 rates"):
        rhs(u=line, k=ssr.scalar)(_named(lambda t, u, k: (-u, u)))
    with pytest.raises(SpaceError, match="is not a part of the unknown 'u' of f"):
        rhs(u=line)(_named(lambda t, u: _doubled @ u))
    with pytest.raises(ArgumentError, match="has no field"):
        rhs(k=ssr.scalar)(_named(lambda t, k: k))
    with pytest.raises(ArgumentError, match="called dt"):
        ssr.integrate.step_program(rhs(u=line, dt=ssr.scalar)(_named(lambda t, u, dt: -u)))


def _named(function: Any) -> Any:
    function.__name__ = "f"
    return function


_doubled = ssr.stencil(line.grow(1), line, {0: 1.0}, outside="zero")


def test_methods_that_do_not_fit() -> None:
    it = ssr.integrate
    with pytest.raises(OutOfRangeError, match="no explicit Runge-Kutta method 'RK5'"):
        it.step_program(heat, "RK5")
    with pytest.raises(ArgumentError, match="implicit"):
        it.step_program(heat, it.ButcherTableau([[1.0]], [1.0]))
    with pytest.raises(ArgumentError, match=r"add up to 0\.75, not 1"):
        it.ButcherTableau([[], [1]], [0.5, 0.25])
    with pytest.raises(ArgumentError, match="A has 1 rows"):
        it.ButcherTableau([[]], [0.5, 0.5])
    with pytest.raises(ArgumentError, match="alpha"):
        it.ShuOsher([[0.5]], [[1]])
    with pytest.raises(ArgumentError, match="first number of A is 0"):
        it.LowStorage([1.0], [1.0])
    with pytest.raises(ArgumentError, match=r"not one of ssr\.integrate"):
        it.step_program(lambda t, u: -u)


def test_arguments_that_do_not_fit() -> None:
    run = ssr.integrate.RungeKutta
    with pytest.raises(ArgumentError, match="1 fields are given for the unknowns x, y"):
        run(driven, 0.0, np.ones(3), 0.1)
    with pytest.raises(ArgumentError, match="0 values are given for the arguments"):
        run(heat, 0.0, np.ones(3), 0.1)
    with pytest.raises(OutOfRangeError, match="dt is 0"):
        run(heat, 0.0, np.ones(3), 0.0, args=(1.0,))
    with pytest.raises(OutOfRangeError, match="t0 is nan"):
        run(heat, math.nan, np.ones(3), 0.1, args=(1.0,))
    with pytest.raises(ArgumentError, match="unknown u is list"):
        run(heat, 0.0, [[1.0, 2.0]], 0.1, args=(1.0,))
    with pytest.raises(ShapeError):
        run(heat, 0.0, np.ones((3, 3)), 0.1, args=(1.0,))
    with pytest.raises(ArgumentError, match="takes 2 values after the time, not 1"):
        heat(0.0, np.ones(3))
