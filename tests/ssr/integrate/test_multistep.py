"""Adams-Bashforth and leapfrog methods: convergence, filters, steps of any length, ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import OutOfRangeError
from ssr.integrate.multistep import weights

line = ssr.Space(ssr.size("n"))
plane = ssr.Space(*ssr.sizes("ny nx"))
wide = plane.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
fill = bc.fill(
    wide, bc.periodic(1), bc.dirichlet(bc.parameter("g"), 0, "low"), bc.neumann(0.0, 0, "high")
)


@ssr.integrate.rhs(x=line, v=line, c=ssr.scalar)
def pendulum(t: Any, x: Any, v: Any, c: Any) -> Any:
    """Return the rates of a pendulum that is pushed."""
    return v, -ssr.sin(x) + c * ssr.cos(2.0 * t)


@ssr.integrate.rhs(u=plane)
def heat(t: Any, u: Any) -> Any:
    """Return diffusion, with a side whose value changes in time."""
    return ssr.stencil(plane, wide, star) @ (fill.bind(g=ssr.sin(2.0 * t)) @ u)


@ssr.integrate.rhs(w=plane.vector(2))
def wave(t: Any, w: Any) -> Any:
    """Return the rates of a wave: height and velocity."""
    return ssr.vector(w[1], ssr.stencil(plane, wide, star) @ (fill.bind(g=ssr.sin(t)) @ w[0]))


def order_in(final: Any, steps: int) -> float:
    """Return the order of convergence from three solutions."""
    coarse, middle, fine = (final(steps * factor) for factor in (1, 2, 4))
    return math.log2(abs(coarse - middle).max() / abs(middle - fine).max())


def adams_bashforth(fun: Any, y: Any, order: int, args: Any = ()) -> Any:
    def final(steps: int) -> Any:
        run = ssr.integrate.AdamsBashforth(fun, 0.0, y(), 1.0 / steps, order, args)
        run.advance(1.0)
        return np.array(run.y)

    return final


@pytest.mark.parametrize("order", [1, 2, 3])
def test_adams_bashforth_converges(order: int) -> None:
    pair = adams_bashforth(pendulum, lambda: (np.array([0.3]), np.array([1.0])), order, (0.7,))
    assert abs(order_in(pair, 40) - order) < 0.15
    rough = np.random.default_rng(0).random((3, 4))
    assert abs(order_in(adams_bashforth(heat, rough.copy, order), 80) - order) < 0.25


@pytest.mark.parametrize("order", [2, 3])
def test_adams_bashforth_with_steps_of_different_lengths(order: int) -> None:
    def final(steps: int) -> Any:
        run = ssr.integrate.AdamsBashforth(
            pendulum, 0.0, (np.array([0.3]), np.array([1.0])), 1.0, order, (0.7,)
        )
        ends = (np.arange(1, steps + 1) / steps) ** 1.3
        for t in ends:
            run.dt = t - run.t
            run.step()
        return np.array(run.y)

    assert abs(order_in(final, 40) - order) < 0.25


def test_weights() -> None:
    assert weights(0.5, []) == [0.5]
    assert weights(1.0, [1.0]) == [1.5, -0.5]
    assert np.allclose(weights(2.0, [1.0]), [4.0, -2.0])  # dt (1 + r/2), -dt r/2 with r = 2
    found = weights(0.7, [0.3, 0.4])
    times = np.array([0.0, -0.3, -0.7])
    for power in range(3):
        assert math.isclose(found @ times**power, 0.7 ** (power + 1) / (power + 1))


def leapfrog(fun: Any, y: Any, **how: Any) -> Any:
    def final(steps: int) -> Any:
        run = ssr.integrate.Leapfrog(fun, 0.0, y(), 1.0 / steps, **how)
        run.advance(1.0)
        return np.array(run.y)

    return final


@pytest.mark.parametrize(("nu", "alpha", "order"), [(0.0, 1.0, 2), (0.3, 1.0, 1)])
def test_leapfrog_converges(nu: float, alpha: float, order: int) -> None:
    how = {"nu": nu, "alpha": alpha}
    pair = leapfrog(pendulum, lambda: (np.array([0.3]), np.array([1.0])), args=(0.7,), **how)
    assert abs(order_in(pair, 64) - order) < 0.15
    smooth = np.stack([np.cos(np.arange(12.0)).reshape(3, 4), np.zeros((3, 4))])
    assert abs(order_in(leapfrog(wave, smooth.copy, **how), 64) - order) < 0.25


def test_leapfrog_with_a_filter_does_as_the_formulas_say() -> None:
    nu, alpha, dt = 0.4, 0.6, 0.1
    run = ssr.integrate.Leapfrog(
        pendulum, 0.0, (np.array([0.3]), np.array([1.0])), dt, nu, alpha, args=(0.7,)
    )
    y = np.array([[0.3], [1.0]])

    def f(t: float, y: Any) -> Any:
        return np.array([y[1], -np.sin(y[0]) + 0.7 * np.cos(2 * t)])

    first = f(0.0, y)
    old, y = y, y + dt / 2 * (first + f(dt, y + dt * first))
    run.step()
    assert np.allclose(run.y, y, rtol=1e-15)
    for n in range(1, 6):
        new = old + 2 * dt * f(n * dt, y)
        d = nu / 2 * (old - 2 * y + new)
        old, y = y + alpha * d, new + (alpha - 1) * d
        run.step()
        assert np.allclose(run.y, y, rtol=1e-14)


def test_leapfrog_goes_on_between_times() -> None:
    """Ends that are not quite multiples of dt are no new beginnings."""
    start = np.array([0.3]), np.array([1.0])
    one, other = (
        ssr.integrate.Leapfrog(pendulum, 0.0, tuple(map(np.copy, start)), 0.1, args=(0.7,))
        for _ in range(2)
    )
    for t in 0.3, 0.7, 1.1:
        one.advance(t)
    other.advance(1.1)
    assert np.allclose(one.y, other.y, rtol=1e-13)
    one.advance(1.15)
    assert one.t == 1.15


@pytest.mark.parametrize("method", [ssr.integrate.AdamsBashforth, ssr.integrate.Leapfrog])
def test_ranks_and_threads_have_the_same_bits(method: Any) -> None:
    w = np.random.default_rng(0).random((2, 7, 8))
    fields = []
    for ranks in bc.simulated_ranks(4), bc.threads(2):
        on = bc.distribute(plane, ranks, ny=7, nx=8)
        field = on.zeros(plane.vector(2))
        field.set(w)
        fields.append(field)
    whole, *others = (method(wave, 0.0, y, 0.05) for y in (w, *fields))
    for run in whole, *others:
        run.advance(0.45)
    for run in others:
        assert np.array_equal(run.y.gather(), whole.y)


def test_arguments_that_do_not_fit() -> None:
    u = np.ones((3, 3))
    with pytest.raises(OutOfRangeError, match="order of an Adams-Bashforth method is 4"):
        ssr.integrate.AdamsBashforth(heat, 0.0, u, 0.1, 4)
    with pytest.raises(OutOfRangeError, match="nu is 2"):
        ssr.integrate.Leapfrog(heat, 0.0, u, 0.1, nu=2.0)
    with pytest.raises(OutOfRangeError, match=r"alpha is 0\.2"):
        ssr.integrate.Leapfrog(heat, 0.0, u, 0.1, alpha=0.2)


STEPPERS: dict[str, Callable[..., Any]] = {
    "RK4": partial(ssr.integrate.RungeKutta, method="RK4"),
    "low storage": partial(ssr.integrate.RungeKutta, method="CK54"),
    "Adams-Bashforth": ssr.integrate.AdamsBashforth,
    "leapfrog": ssr.integrate.Leapfrog,
    "adaptive": ssr.integrate.AdaptiveRungeKutta,
    "BDF2": ssr.integrate.BDF2,
}


@pytest.mark.parametrize("world", [None, bc.simulated_ranks(2)], ids=repr)
@pytest.mark.parametrize("make", STEPPERS.values(), ids=STEPPERS)
def test_the_solution_is_left_in_the_fields_given(make: Any, world: Any) -> None:
    on = bc.distribute(plane, world, ny=5, nx=6)
    u = on.zeros(plane)
    stepper = make(heat, 0.0, u, dt=0.01)
    simulation = ssr.simulation.Simulation(stepper, stop_time=0.055)
    seen = []
    simulation.add(lambda s: seen.append(np.array_equal(u.gather(), s.stepper.y.gather())), steps=1)
    simulation.run()
    for count in range(3):
        stepper.step(0.004)
        seen.append(np.array_equal(u.gather(), stepper.y.gather()))
        stepper.advance(stepper.t + 0.01 * (count + 1))
        seen.append(np.array_equal(u.gather(), stepper.y.gather()))
    assert len(seen) > 8
    assert all(seen)
    assert u.gather().any()
