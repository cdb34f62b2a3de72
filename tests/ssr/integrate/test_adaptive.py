"""Runge-Kutta methods with error control, and the call of SciPy's solve_ivp."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate

import boundary as bc
import ssr
from ssr.errors import ArgumentError, OutOfRangeError, StepSizeError

line = ssr.Space(ssr.size("n"))
plane = ssr.Space(*ssr.sizes("ny nx"))
wide = plane.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
laplace = ssr.stencil(plane, wide, star) @ bc.fill(wide, bc.symmetric())


@ssr.integrate.rhs(x=line, v=line, c=ssr.scalar)
def pendulum(t: Any, x: Any, v: Any, c: Any) -> Any:
    """Return the rates of a pendulum that is pushed."""
    return v, -ssr.sin(x) + c * ssr.cos(2.0 * t)


@ssr.integrate.rhs(u=plane, v=plane)
def brusselator(t: Any, u: Any, v: Any) -> Any:
    """Return the rates of a chemical oscillation with diffusion."""
    rate = u**2 * v
    return 1.0 + rate - 4.0 * u + 0.1 * (laplace @ u), 3.0 * u - rate + 0.1 * (laplace @ v)


def flat(t: float, y: Any) -> Any:
    x, v = y.reshape(2, -1)
    return np.concatenate([v, -np.sin(x) + 0.7 * np.cos(2.0 * t)])


def start() -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.3, 1.0, -2.0]), np.array([1.0, 0.0, 0.5])


@pytest.mark.parametrize("method", ["RK45", "RK23"])
def test_steps_are_those_of_scipy(method: str) -> None:
    """The same errors, norms and control: the same number of steps, of the same lengths."""
    limits = {"rtol": 1e-5, "atol": 1e-7}
    theirs = getattr(scipy.integrate, method)(flat, 0.0, np.concatenate(start()), 50.0, **limits)
    ours = ssr.integrate.AdaptiveRungeKutta(
        pendulum, 0.0, start(), method=method, args=(0.7,), **limits
    )
    for _ in range(25):
        theirs.step()
        ours.step()
        assert math.isclose(ours.t, theirs.t, rel_tol=1e-9)
        assert np.allclose(np.concatenate(ours.y), theirs.y, rtol=1e-9)


@pytest.mark.parametrize("method", ["RK45", "RK23"])
def test_errors_follow_the_tolerance(method: str) -> None:
    exact = scipy.integrate.solve_ivp(
        flat, (0, 5), np.concatenate(start()), method="DOP853", rtol=1e-13, atol=1e-13
    ).y[:, -1]
    errors = []
    for tolerance in 1e-4, 1e-6, 1e-8:
        found = ssr.integrate.solve_ivp(
            pendulum, (0, 5), start(), method, args=(0.7,), rtol=tolerance, atol=tolerance
        )
        errors.append(abs(np.concatenate(found.y[-1]) - exact).max())
        assert errors[-1] < 30 * tolerance
    assert errors[0] > 10 * errors[1] > 100 * errors[2]


def test_ranks_and_threads_make_the_same_steps() -> None:
    u, v = np.random.default_rng(1).random((2, 6, 7))
    whole = ssr.integrate.AdaptiveRungeKutta(brusselator, 0.0, (u.copy(), v.copy()), 2.0, rtol=1e-4)
    whole.advance(3.0)
    assert whole.rejected > 0
    for ranks in bc.simulated_ranks(4), bc.threads(2):
        on = bc.distribute(plane, ranks, ny=6, nx=7)
        fields = on.zeros(plane), on.zeros(plane)
        for field, values in zip(fields, (u, v), strict=True):
            field.set(values)
        run = ssr.integrate.AdaptiveRungeKutta(brusselator, 0.0, fields, 2.0, rtol=1e-4)
        run.advance(3.0)
        assert (run.accepted, run.rejected, run.dt) == (whole.accepted, whole.rejected, whole.dt)
        for ours, theirs in zip(run.y, whole.y, strict=True):
            assert np.array_equal(ours.gather(), theirs)


def test_times_are_met() -> None:
    times = [0.5, 0.5, 1.25, 4.0]
    y0 = start()
    found = ssr.integrate.solve_ivp(pendulum, (0.0, 4.0), y0, t_eval=times, args=(0.7,), rtol=1e-8)
    exact = scipy.integrate.solve_ivp(
        flat, (0.0, 4.0), np.concatenate(y0), t_eval=times[1:], rtol=1e-11, atol=1e-11
    ).y.T
    assert found.t.tolist() == times
    assert found.stepper.t == 4.0
    assert np.array_equal(y0, start())
    assert np.array_equal(found.y[0], found.y[1])
    for ours, theirs in zip(found.y[1:], exact, strict=True):
        assert np.allclose(np.concatenate(ours), theirs, atol=1e-6)


@pytest.mark.parametrize("method", ["RK45", "RK4", "AB3", "leapfrog", "SDIRK4"])
def test_back_in_time(method: str) -> None:
    there = ssr.integrate.solve_ivp(pendulum, (0, 1), start(), args=(0.7,), rtol=1e-9)
    back = ssr.integrate.solve_ivp(
        pendulum, (1, 0), there.y[0], method, args=(0.7,), dt=0.01, rtol=1e-9, atol=1e-9
    )
    assert np.allclose(back.y[0], start(), atol=5e-3 if method == "leapfrog" else 1e-4)


def test_single_precision() -> None:
    found = ssr.integrate.solve_ivp(
        pendulum, (0, 1), tuple(y.astype(np.float32) for y in start()), args=(0.7,)
    )
    exact = ssr.integrate.solve_ivp(pendulum, (0, 1), start(), args=(0.7,))
    assert found.y[0][0].dtype == np.float32
    assert np.allclose(found.y[0], exact.y[0], rtol=1e-3)


def test_a_solution_that_ends() -> None:
    """The solution of u' = u^2 from u = 1 is infinite at t = 1."""

    @ssr.integrate.rhs(u=line)
    def square(t: Any, u: Any) -> Any:
        return u**2

    with pytest.raises(StepSizeError, match=r"step of square becomes too short at t = (1\.|0\.99)"):
        ssr.integrate.solve_ivp(square, (0.0, 2.0), np.ones(2))


def test_a_rate_that_is_zero() -> None:
    @ssr.integrate.rhs(u=line)
    def still(t: Any, u: Any) -> Any:
        return 0.0 * u

    found = ssr.integrate.solve_ivp(still, (0.0, 1.0), np.zeros(3))
    assert found.y[0].tolist() == [0.0, 0.0, 0.0]
    assert found.stepper.accepted < 10


def test_the_longest_step() -> None:
    found = ssr.integrate.solve_ivp(
        pendulum, (0.0, 1.0), start(), args=(0.0,), rtol=1.0, atol=1.0, max_step=0.01
    )
    assert found.stepper.accepted in (100, 101)


def test_arguments_that_do_not_fit() -> None:
    solve, y0 = ssr.integrate.solve_ivp, start()
    with pytest.raises(OutOfRangeError, match="no method 'RK46'"):
        solve(pendulum, (0, 1), y0, "RK46", args=(0.7,))
    with pytest.raises(ArgumentError, match="RK4 has no error control"):
        solve(pendulum, (0, 1), y0, "RK4", args=(0.7,))
    with pytest.raises(OutOfRangeError, match="not sorted from 0"):
        solve(pendulum, (0, 1), y0, t_eval=[0.5, 0.25], args=(0.7,))
    with pytest.raises(OutOfRangeError, match="not sorted from 0"):
        solve(pendulum, (0, 1), y0, t_eval=[2.0], args=(0.7,))
    with pytest.raises(ArgumentError, match="t_span is 1"):
        solve(pendulum, 1, y0, args=(0.7,))
    with pytest.raises(ArgumentError, match="atol has 3 numbers for 2 unknowns"):
        solve(pendulum, (0, 1), y0, args=(0.7,), atol=(1.0, 1.0, 1.0))
    with pytest.raises(OutOfRangeError, match="rtol is 0"):
        solve(pendulum, (0, 1), y0, args=(0.7,), rtol=0.0, atol=0.0)
    with pytest.raises(OutOfRangeError, match="max_step is 0"):
        solve(pendulum, (0, 1), y0, args=(0.7,), max_step=0)
    with pytest.raises(ArgumentError, match="no embedded weights"):
        ssr.integrate.AdaptiveRungeKutta(pendulum, 0.0, y0, method="RK4", args=(0.7,))
