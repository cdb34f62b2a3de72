"""Runs: times and schedules, lengths of steps, criteria, statistics, signals and checkpoints."""

from __future__ import annotations

import io
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import (
    ArgumentError,
    CheckpointError,
    NonFiniteError,
    OutOfRangeError,
    ShapeError,
    StepSizeError,
    UnboundError,
)
from ssr.simulation import (
    CFL,
    FunctionStepper,
    Interrupted,
    Simulation,
    clock,
    progress,
    schedules,
    signals,
)

it, sim = ssr.integrate, ssr.simulation
points = ssr.Space(ssr.size("n"))
plane = ssr.Space(*ssr.sizes("ny nx"))


@it.rhs(u=points, v=points)
def pendulum(t: Any, u: Any, v: Any) -> Any:
    """Return the rates of a pendulum that is pushed."""
    return v, -ssr.sin(u) + 0.1 * ssr.cos(2.0 * t)


def pushed(dt: float = 0.1, method: str = "RK4", dtype: Any = float) -> Any:
    """Return a stepper of three pendulums."""
    state = np.array([0.1, 0.5, 1.0], dtype), np.zeros(3, dtype)
    made: dict[str, Callable[..., Any]] = {
        "AB3": lambda: it.AdamsBashforth(pendulum, 0.0, state, dt),
        "leapfrog": lambda: it.Leapfrog(pendulum, 0.0, state, dt),
        "BDF2": lambda: it.BDF2(pendulum, 0.0, state, dt),
        "RK45": lambda: it.AdaptiveRungeKutta(pendulum, 0.0, state, rtol=1e-7, atol=1e-9),
    }
    if method in made:
        return made[method]()
    return it.RungeKutta(pendulum, 0.0, state, dt, method)


def idle(dt: float | None = None, t: float = 0.0) -> FunctionStepper:
    """Return a stepper that does nothing."""
    return FunctionStepper(lambda t, dt: None, {}, t, dt)


def seen(simulation: Simulation, **schedule: Any) -> list[tuple[int, float]]:
    """Return the list to which a callback appends steps and times."""
    found: list[tuple[int, float]] = []
    simulation.add(lambda s: found.append((s.steps, s.time)), **schedule)
    return found


# -- time and schedules --------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [3, 65, 1000, 99991])
def test_steps_of_a_fraction_are_as_many_as_its_denominator(parts: int) -> None:
    simulation = Simulation(idle(1.0 / parts), stop_time=1.0)
    result = simulation.run()
    assert (result.steps, simulation.time, result.reason) == (parts, 1.0, "stop_time")


def test_fields_in_single_precision_do_not_change_the_clock() -> None:
    simulation = Simulation(pushed(1 / 65, dtype=np.float32), stop_time=100.0)
    times = seen(simulation, time=0.1)
    assert simulation.run().steps == 7000
    assert [time for _, time in times] == [k * 0.1 for k in range(1001)]


@pytest.mark.parametrize("dt", [0.03, 0.1, 1 / 3, 7.0])
def test_times_of_schedules_are_met_exactly(dt: float) -> None:
    simulation = Simulation(idle(dt), stop_time=3.0)
    every, other = seen(simulation, time=0.7), seen(simulation, times=[0.5, 1 / 3, 2.1, 0.5])
    lengths: list[float] = []
    simulation.add(lambda s: lengths.append(s.time))
    simulation.run()
    assert [time for _, time in every] == [k * 0.7 for k in range(5)]
    assert [time for _, time in other] == [1 / 3, 0.5, every[3][1]]  # 2.1 and 3 * 0.7 are one
    assert np.diff(lengths).max() <= dt * (1 + 1e-9)
    assert simulation.time == 3.0


def test_steps_before_a_time_are_equal() -> None:
    simulation = Simulation(idle(0.3), stop_time=2.0)
    simulation.add(lambda s: None, times=[1.0])
    found = seen(simulation)
    simulation.run()
    assert [time for _, time in found] == [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0]


def test_schedules_of_steps() -> None:
    simulation = Simulation(idle(0.25), stop_steps=10)
    found = seen(simulation, steps=4)
    assert simulation.run().reason == "stop_steps"
    assert found == [(0, 0.0), (4, 1.0), (8, 2.0)]
    simulation.stop_steps = 12
    assert simulation.run().steps == 2
    assert found[3:] == [(12, 3.0)]


def test_callbacks_do_not_change_the_bits() -> None:
    """Schedules at multiples of a step leave the times of all stages as they are."""
    plain, busy = pushed(), pushed()
    Simulation(plain, 20.0).run()
    simulation = Simulation(busy, 20.0)
    for schedule in {"time": 0.3}, {"steps": 7}, {"times": [0.7, 1.1]}, {"wall": 1e-9}:
        simulation.add(lambda s: None, **schedule)
    simulation.run()
    assert np.array_equal(plain.y, busy.y)


def test_a_run_from_another_time() -> None:
    simulation = Simulation(idle(0.25, t=0.6), stop_time=2.0)
    found = seen(simulation, time=0.5)
    simulation.run()
    assert [time for _, time in found] == [1.0, 1.5, 2.0]


@pytest.mark.parametrize("start", [0.0, 1.7e9])
def test_times_that_are_large(start: float) -> None:
    """Such as seconds since 1970: a schedule may be a part of a second later."""
    simulation = Simulation(idle(0.125, start), start + 2.0)
    given = seen(simulation, times=[start + 0.5, start + 1.5])
    every = seen(simulation, time=0.5)
    simulation.run()
    assert given == [(4, start + 0.5), (12, start + 1.5)]
    assert every == [(n, start + 0.125 * n) for n in (0, 4, 8, 12, 16)]


def test_schedules_with_many_events() -> None:
    """The number of an event is found from its time, up to rounding errors."""
    every = schedules.schedule(time=0.1)
    for number in 3, 10**8 + 7, 7 * 10**12 + 1:
        assert every.past(every.event(number)) == number + 1
        assert every.is_on(every.event(number))


def test_an_end_and_an_event_that_differ_by_rounding_errors() -> None:
    simulation = Simulation(idle(0.1), 3 * 0.1)  # 0.30000000000000004
    found = seen(simulation, times=[0.3])
    assert simulation.run().steps == 3
    assert found == [(3, 0.3)]


def test_ends_are_checked_when_they_change() -> None:
    simulation = Simulation(idle(0.1), 1.0)
    for name, wrong in ("stop_time", math.nan), ("stop_steps", 7.5), ("wall_limit", "x"):
        with pytest.raises(OutOfRangeError, match=name):
            setattr(simulation, name, wrong)
    simulation.add(lambda s: setattr(s, "stop_time", 2.0), times=[0.5])
    assert (simulation.run().steps, simulation.time) == (20, 2.0)
    simulation.stop_time, simulation.stop_steps = None, 25
    assert (simulation.stop_time, simulation.run().reason) == (math.inf, "stop_steps")


def test_a_run_that_calls_itself_is_refused() -> None:
    simulation = Simulation(idle(0.1), 1.0)
    for call in simulation.run, lambda: simulation.restore("run"):
        simulation.add(lambda s, call=call: call(), times=[simulation.time + 0.5])
        with pytest.raises(ArgumentError, match="under way"):
            simulation.run()
    assert simulation.run().reason == "stop_time"


def test_a_callback_that_is_added_by_a_callback() -> None:
    simulation, found = Simulation(idle(0.1), 1.0), []
    simulation.add(
        lambda s: s.add(lambda s: found.append(s.steps), steps=2), times=[0.5], name="first"
    )
    simulation.run()
    assert found == [6, 8, 10]


def test_wall_time() -> None:
    stepper = FunctionStepper(lambda t, dt: time.sleep(0.01), {}, dt=0.5)
    simulation = Simulation(stepper, wall_limit=0.5)
    found = seen(simulation, wall=0.2)
    result = simulation.run()
    assert (result.reason, result.finished) == ("wall_limit", False)
    assert 1 <= len(found) <= 3
    assert 0.5 <= result.wall < 5.0


def test_steps_of_error_control_meet_times() -> None:
    simulation = Simulation(pushed(method="RK45"), stop_time=10.0)
    found = seen(simulation, time=2.5)
    simulation.run()
    assert [time for _, time in found] == [0.0, 2.5, 5.0, 7.5, 10.0]
    reference = it.solve_ivp(pendulum, (0.0, 10.0), pushed().y, rtol=1e-8, atol=1e-10).y[0]
    assert np.allclose(simulation.stepper.y, reference, atol=1e-2)


def test_own_steppers() -> None:
    class Own:
        t, total = 0.0, 0.0

        def step(self, dt: float) -> None:
            self.total += self.t * dt

    own = Own()
    Simulation(own, 1.0, dt=0.01).run()
    assert own.total == pytest.approx(0.495)
    assert own.t == 1.0


def test_leapfrog_keeps_its_step() -> None:
    """Events at multiples of a step do not begin it again, although they are rounded."""
    stepper, alone = pushed(0.1, "leapfrog"), pushed(0.1, "leapfrog")
    simulation = Simulation(stepper, 12.0)
    simulation.add(lambda s: None, time=0.3)
    simulation.run()
    for _ in range(120):
        alone.step()
    assert np.allclose(stepper.y, alone.y, rtol=0, atol=1e-12)


# -- lengths of steps ----------------------------------------------------------------------------


def test_a_cfl_condition_bounds_steps() -> None:
    speed = [1.0]
    lengths: list[tuple[float, float]] = []

    def step(t: float, dt: float) -> None:
        lengths.append((t, dt))
        speed[0] = 1.0 + 3.0 * t

    condition = CFL(lambda s: 0.1 / speed[0], 0.5, every=1, max_change=1.1)
    simulation = Simulation(FunctionStepper(step, {}), 2.0, dt=condition)
    simulation.run()
    before = [0.0, *(t for t, _ in lengths[:-1])]
    assert all(dt <= 0.05 / (1 + 3 * t) + 1e-15 for t, (_, dt) in zip(before, lengths, strict=True))
    assert simulation.time == 2.0
    grown = Simulation(idle(), 10.0, dt=CFL(lambda s: 0.01 if not s.steps else 1.0, every=2))
    usual: list[float] = []
    grown.add(lambda s: usual.append(s.dt or 0.0))
    grown.run()
    found = np.array(usual[1:])
    assert (found[1:] / found[:-1]).max() == pytest.approx(1.1)


@pytest.mark.parametrize("limit", [math.nan, 0.0, -1.0, None, "x"])
def test_a_cfl_condition_without_a_limit(limit: Any) -> None:
    with pytest.raises(StepSizeError, match="after step 0, at time 0"):
        Simulation(idle(), 1.0, dt=CFL(lambda s: limit)).run()


def test_steps_that_do_not_change_the_time() -> None:
    with pytest.raises(StepSizeError, match="does not change the time"):
        Simulation(idle(1e-20, t=1.0), 2.0).run()


# -- criteria ------------------------------------------------------------------------------------


def test_criteria_stop_a_run() -> None:
    simulation = Simulation(idle(0.5))
    simulation.stop_when(lambda s: s.time >= 3.0, steps=2, name="late")
    result = simulation.run()
    assert (result.reason, result.steps, result.finished) == ("late", 6, True)


def test_a_steady_state() -> None:
    """The change in a unit of time of exp(-t) is exp(-t) (e - 1)."""

    @it.rhs(u=points)
    def decay(t: Any, u: Any) -> Any:
        return -u

    stepper = it.RungeKutta(decay, 0.0, np.ones(4), 0.05)
    simulation = Simulation(stepper, 100.0)
    simulation.stop_when(sim.SteadyState(rtol=0.0, atol=1e-4), time=1.0)
    assert simulation.run().reason == "SteadyState"
    assert simulation.time == math.ceil(math.log((math.e - 1.0) / 1e-4))


def test_nan_is_found_with_its_place() -> None:
    u = np.zeros((3, 4))

    def step(t: float, dt: float) -> None:
        if t > 2.0:
            u[1, 2:] = -np.inf, np.nan

    simulation = Simulation(FunctionStepper(step, {"depth": u}, dt=0.5), 10.0)
    simulation.add(sim.NaNChecker(), steps=3)
    with pytest.raises(NonFiniteError, match=r"depth is not finite at \[1, 2\] after step 6"):
        simulation.run()


# -- statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_statistics_are_those_of_numpy(dtype: Any) -> None:
    stepper = pushed(method="leapfrog", dtype=dtype)
    simulation = Simulation(stepper, 5.0)
    plain = sim.Statistics("u")
    product = sim.Statistics("u", "v", of=lambda u, v: u * v)
    kept: list[Any] = []
    simulation.add(lambda s: kept.append(np.array(stepper.y)), time=0.2)
    for statistics in plain, product:
        simulation.add(statistics, time=0.2)
    simulation.run()
    samples = np.array(kept)[:, 0]
    for found, values in (plain, samples), (product, samples * np.array(kept)[:, 1]):
        assert found.count == 26
        assert np.allclose(found.mean, values.mean(axis=0), atol=1e-6)
        assert np.allclose(found.variance, values.var(axis=0), atol=1e-6)
        assert np.allclose(found.min, values.min(axis=0), atol=1e-6)
        assert np.allclose(found.max, values.max(axis=0), atol=1e-6)
    assert plain.mean.dtype == dtype
    assert np.array_equal(plain.max, samples.max(axis=0))


def test_statistics_of_a_vector_may_be_numbers() -> None:
    @it.rhs(w=plane.vector(2))
    def turn(t: Any, w: Any) -> Any:
        return ssr.vector(-w[1], w[0])

    w = np.ones((2, 2, 3))
    simulation = Simulation(it.RungeKutta(turn, 0.0, w, 0.1), 1.0)
    both, speed = (
        sim.Statistics("w"),
        sim.Statistics("w", of=lambda w: ssr.sqrt(w[0] ** 2 + w[1] ** 2)),
    )
    for statistics in both, speed:
        simulation.add(statistics)
    simulation.run()
    assert both.mean.shape == (2, 2, 3)
    assert speed.mean.shape == (2, 3)
    assert np.allclose(speed.mean, math.sqrt(2.0), atol=1e-5)


def test_variance_of_a_small_deviation() -> None:
    """Sums of squares would lose all digits."""
    u = np.full(2, 1e8)
    simulation = Simulation(
        FunctionStepper(lambda t, dt: np.negative(u - 2e8, out=u), {"u": u}), dt=1, stop_steps=9
    )
    u += [0.5, 0.25]
    statistics = sim.Statistics("u")
    simulation.add(statistics)
    simulation.run()
    assert np.allclose(statistics.variance, [0.25, 0.0625], rtol=1e-8)
    with pytest.raises(UnboundError):
        _ = sim.Statistics("u").mean


# -- wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Simulation(object(), 1.0), "no time t or no method"),
        (lambda: Simulation(idle(), 1.0), "no length of steps"),
        (lambda: Simulation(idle(-0.1), 1.0), "forward in time"),
        (lambda: Simulation(idle(0.1), dt=0.0), "dt is 0"),
        (lambda: Simulation(idle(0.1), math.nan), "stop_time is nan"),
        (lambda: Simulation(idle(0.1), stop_steps=-1), "stop_steps is -1"),
        (lambda: Simulation(idle(0.1), stop_steps=1.5), "stop_steps is 1.5"),  # type: ignore[arg-type]
        (lambda: Simulation(idle(0.1), wall_limit=0), "wall_limit is 0"),
        (lambda: Simulation(pushed(method="RK45"), 1.0, dt=0.1), "chooses its steps itself"),
        (lambda: Simulation(idle(0.1)).run(), "The run has no end"),
        (lambda: Simulation(idle(0.1, t=2.0), 1.0).run(), "after its end"),
        (lambda: Simulation(idle(0.1), 1.0).add(3), "not a function of the simulation"),  # type: ignore[arg-type]
        (lambda: Simulation(idle(0.1), 1.0).add(print, steps=1, time=1.0), "steps and time"),
        (lambda: Simulation(idle(0.1), 1.0).add(print, steps=0), "steps is 0"),
        (lambda: Simulation(idle(0.1), 1.0).add(print, time=-1.0), "time is -1.0"),
        (lambda: Simulation(idle(0.1), 1.0).add(print, times=[math.nan]), "finite number"),
        (lambda: Simulation(idle(0.1), 1.0).add(print, times=3), "not a list of times"),  # type: ignore[arg-type]
        (lambda: Simulation(idle(0.1), 1.0).add(sim.Statistics("u")), "no unknown 'u'"),
        (lambda: sim.Statistics("u", "v"), "no function of them"),
        (lambda: FunctionStepper(print, {"u": 3}), "not a NumPy array"),
    ],
)  # fmt: skip
def test_wrong_arguments(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((ArgumentError, OutOfRangeError), match=message):
        make()


# -- progress ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_progress_is_for_terminals(stream: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSR_QUIET", raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    Simulation(idle(0.5), 10.0, progress=lambda s: f"{s.steps} steps").run()
    text = stream.getvalue()
    assert bool(text) == stream.isatty()
    if text:
        assert "first step" in text
        assert "steps/s" in text
        assert text.endswith("\r")


# -- signals -------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", signals.NAMES)
def test_signals_end_a_run_after_a_step(name: str) -> None:
    number = getattr(signal, name)
    before = [signal.getsignal(getattr(signal, n)) for n in signals.NAMES]
    made: list[int] = []

    def step(t: float, dt: float) -> None:
        if len(made) == 3:
            signal.raise_signal(number)
        made.append(1)

    simulation = Simulation(FunctionStepper(step, {}, dt=0.5), 10.0)
    with pytest.raises(Interrupted) as stopped:
        simulation.run()
    assert stopped.value.steps == len(made) < 20
    assert isinstance(stopped.value, SystemExit) == (number != signal.SIGINT)
    assert [signal.getsignal(getattr(signal, n)) for n in signals.NAMES] == before
    assert simulation.run().reason == "stop_time"  # it can go on
    assert len(made) == 20


def test_a_second_signal_interrupts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "TOGETHER", 0.0)

    def step(t: float, dt: float) -> None:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.001)
        signal.raise_signal(signal.SIGINT)

    simulation = Simulation(FunctionStepper(step, {}, dt=0.5), 10.0)
    with pytest.raises(KeyboardInterrupt) as stopped:
        simulation.run()
    assert not isinstance(stopped.value, Interrupted)
    with pytest.raises(ArgumentError, match="interrupted before its end"):
        simulation.run()


def test_handlers_of_the_user_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    caught: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: caught.append(number))
    try:
        stepper = FunctionStepper(lambda t, dt: signal.raise_signal(signal.SIGTERM), {}, dt=0.5)
        assert Simulation(stepper, 1.0).run().steps == 2
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(caught) == 2


def test_other_threads_have_no_handlers() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(Simulation(idle(0.5), 1.0).run()))
    thread.start()
    thread.join()
    assert found[0].steps == 2


# -- checkpoints ---------------------------------------------------------------------------------

METHODS = "RK4", "AB3", "leapfrog", "BDF2", "RK45"


def measured(method: str, stop_time: float, **named: Any) -> tuple[Any, Any, Simulation]:
    """Return a run with statistics and a criterion."""
    stepper = pushed(0.07, method)
    simulation = Simulation(stepper, stop_time, **named)
    statistics = sim.Statistics("u")
    simulation.add(statistics, steps=3)
    simulation.stop_when(sim.SteadyState(1e-12), time=0.5)
    return stepper, statistics, simulation


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("steps", [0, 1, 2, 17])
def test_a_restored_run_has_the_bits_of_the_whole(method: str, steps: int, tmp_path: Path) -> None:
    """Also where it was interrupted between two events, and within the start of a method."""
    whole, all_samples, simulation = measured(method, 3.0)
    simulation.run()
    _, _, first = measured(method, 3.0)
    first.stop_steps = steps
    first.add(sim.Checkpointer(tmp_path / "run"), time=1.0)
    first.run()
    parts, samples, second = measured(method, 3.0)
    second.restore(tmp_path / "run")
    assert second.steps == steps
    second.run()
    assert np.array_equal(parts.y, whole.y)
    assert (second.steps, samples.count) == (simulation.steps, all_samples.count)
    for name in "mean", "variance", "min", "max":
        assert np.array_equal(getattr(samples, name), getattr(all_samples, name))


def test_a_simulation_goes_back_to_its_checkpoint(tmp_path: Path) -> None:
    """Its callbacks are due again, and its last checkpoint is written again."""
    u = np.ones(3)
    stepper = FunctionStepper(lambda t, dt: np.multiply(u, 1.0 - dt, out=u), {"u": u}, dt=0.1)
    simulation = Simulation(stepper, 1.0)
    events = seen(simulation, time=0.2)
    simulation.add(sim.Checkpointer(tmp_path / "{steps}"), times=[0.5])
    simulation.run()
    first = list(events)
    events.clear()
    simulation.restore(tmp_path / "5")
    (tmp_path / "10").unlink()
    simulation.run()
    assert events == first[3:] == [(6, 3 * 0.2), (8, 0.8), (10, 1.0)]
    assert np.allclose(u, 0.9**10, rtol=1e-14)
    assert (tmp_path / "10").exists()


def test_a_restored_run_has_the_lengths_of_a_cfl_condition(tmp_path: Path) -> None:
    def made(stop_steps: int | None = None) -> tuple[Any, Simulation]:
        u = np.ones(3)
        stepper = FunctionStepper(lambda t, dt: np.multiply(u, 1.0 - 0.5 * dt, out=u), {"u": u})
        condition = CFL(lambda s: 0.1 / u[0], 0.5, every=4)
        return u, Simulation(stepper, 2.0, stop_steps, condition)

    whole, simulation = made()
    simulation.run()
    assert simulation.steps > 9
    for steps in 3, 4, 9:
        _, first = made(steps)
        first.run()
        first.save(tmp_path / "run")
        parts, second = made()
        second.restore(tmp_path / "run")
        second.run()
        assert np.array_equal(parts, whole)
        assert second.steps == simulation.steps


def test_checkpoints_are_written_when_a_run_is_interrupted(tmp_path: Path) -> None:
    _, _, simulation = measured("AB3", 3.0)
    simulation.add(sim.Checkpointer(tmp_path / "run-{steps}", data={"case": "pushed"}), time=1.0)
    simulation.add(lambda s: signal.raise_signal(signal.SIGINT), times=[1.7])
    with pytest.raises(Interrupted, match=r"Ctrl-C has ended .* continued from .*run-") as stopped:
        simulation.run()
    steps = stopped.value.steps
    assert stopped.value.checkpoint == tmp_path / f"run-{steps}"
    assert len(list(tmp_path.iterdir())) == 3  # at times 0 and 1, and at the end
    found = ssr.output.load(tmp_path / f"run-{steps}")
    assert found.data["case"] == "pushed"
    assert {"u", "v", "u_rate1", "v_rate2", "Statistics.mean"} <= set(found.fields)


def test_checkpoints_are_finite(tmp_path: Path) -> None:
    u = np.ones(3)
    stepper = FunctionStepper(lambda t, dt: np.divide(u, float(t < 5.0), out=u), {"u": u}, dt=0.5)
    simulation = Simulation(stepper, 10.0)
    simulation.add(sim.NaNChecker(), steps=1000)
    simulation.add(sim.Checkpointer(tmp_path / "run"), steps=2)
    with np.errstate(divide="ignore"), pytest.raises(NonFiniteError) as error:
        simulation.run()
    assert f"The last checkpoint is {tmp_path / 'run'}" in str(error.value)
    found = ssr.output.load(tmp_path / "run")
    assert found.data["simulation"]["steps"] == 10
    assert np.array_equal(found.fields["u"], np.ones(3))


def test_checkpoints_of_other_runs_are_refused(tmp_path: Path) -> None:
    _, _, simulation = measured("AB3", 1.0)
    simulation.run()
    simulation.save(tmp_path / "run")
    with pytest.raises(ArgumentError, match="not those of RungeKutta"):
        measured("RK4", 2.0)[2].restore(tmp_path / "run")
    longer = it.AdamsBashforth(pendulum, 0.0, (np.ones(4), np.ones(4)), 0.07)
    other = Simulation(longer, 2.0)
    with pytest.raises(ShapeError):
        other.restore(tmp_path / "run")
    with pytest.raises(ArgumentError, match="was not restored"):
        other.run()
    ssr.output.save(tmp_path / "own", {"u": np.ones(3)}, {})
    with pytest.raises(CheckpointError, match="no state of a simulation"):
        other.restore(tmp_path / "own")


def test_a_callback_that_a_checkpoint_lacks_begins_anew(tmp_path: Path) -> None:
    first = Simulation(pushed(), 1.0)
    first.run()
    first.save(tmp_path / "run")
    _, statistics, second = measured("RK4", 2.0)
    second.restore(tmp_path / "run")
    second.run()
    assert statistics.count == 5


SCRIPT = """
import sys, time, numpy as np, ssr
u = np.zeros(3)
def step(t, dt):
    time.sleep(0.001)
    u[:] += 1.0
simulation = ssr.simulation.Simulation(ssr.simulation.FunctionStepper(step, {"u": u}, dt=1), 1e6)
simulation.add(ssr.simulation.Checkpointer(sys.argv[1]), steps=100)
simulation.run()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_process_that_is_asked_to_end(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    command = [sys.executable, "-c", SCRIPT, str(path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(getattr(signal, name))
        error = process.communicate(timeout=60)[1]
    assert "has ended the run after step" in error
    assert f"continued from {path}" in error
    if name == "SIGTERM":
        assert process.returncode == 1
        assert "Traceback" not in error
    found = ssr.output.load(path)
    assert found.fields["u"][0] == found.data["simulation"]["steps"] > 100
    assert list(tmp_path.iterdir()) == [path]


def test_clocks() -> None:
    assert clock.Clock(0.0, 0.1).toward(1e6, 0.0, 0.1)[1] == 10_000_000
    assert clock.Clock(0.0, 0.1, 3).toward(0.4, 0.3, 0.1) == (clock.Clock(0.0, 0.1, 3), 1)
