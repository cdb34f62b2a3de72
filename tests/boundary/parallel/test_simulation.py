"""Runs on ranks: the bits of one process, decisions of all ranks, restart on other ranks."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import NonFiniteError
from ssr.simulation import NaNChecker, Simulation, Statistics

from . import test_mpi as mpi

it, sim = ssr.integrate, ssr.simulation
plane = ssr.Space(6, 7)
wide = plane.grow(1)
fill = bc.fill(wide, bc.periodic(1), bc.symmetric(0))
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}


@it.rhs(w=plane.vector(2))
def wave(t: Any, w: Any) -> Any:
    """Return the rates of a wave that is pushed: height and velocity."""
    return ssr.vector(w[1] + 0.1 * ssr.cos(t), ssr.stencil(plane, wide, star) @ (fill @ w[0]))


def made(ranks: Any, stop_time: float = 2.0, cut: Any = None) -> tuple[Simulation, Statistics]:
    """Return a run on ranks, or with arrays."""
    values = np.random.default_rng(5).normal(size=(2, 6, 7))
    w: Any = values
    if ranks is not None:
        w = bc.distribute(plane, ranks, cut=cut).zeros(plane.vector(2))
        w.set(values)
    simulation = Simulation(it.AdamsBashforth(wave, 0.0, w, 0.05, 2), stop_time)
    speed = Statistics("w", of=lambda w: w[0] * w[0] + w[1] * w[1])
    simulation.add(speed, time=0.2)
    simulation.add(NaNChecker(), steps=10)
    simulation.stop_when(sim.SteadyState(1e-12), time=0.5)
    return simulation, speed


def result(simulation: Simulation, speed: Statistics) -> list[bytes]:
    """Return the bits of the solution and of its statistics."""
    fields = simulation.stepper.y, speed.mean, speed.variance, speed.min, speed.max
    return [(f if isinstance(f, np.ndarray) else f.gather()).tobytes() for f in fields]


@pytest.fixture(scope="module")
def alone() -> list[bytes]:
    simulation, speed = made(None)
    simulation.run()
    return result(simulation, speed)


@pytest.mark.parametrize("ranks", [bc.simulated_ranks(2), bc.threads(2)], ids=repr)
def test_runs_have_the_bits_of_one_process(ranks: Any, alone: list[bytes]) -> None:
    simulation, speed = made(ranks)
    simulation.run()
    assert result(simulation, speed) == alone


@pytest.mark.parametrize(("one", "other"), [(None, 2), (2, None)])
def test_runs_go_on_on_other_ranks(
    one: int | None, other: int | None, tmp_path: Path, alone: list[bytes]
) -> None:
    first, _ = made(None if one is None else bc.simulated_ranks(one))
    first.stop_steps = 13
    first.run()
    first.save(tmp_path / "run")
    second, speed = made(None if other is None else bc.simulated_ranks(other))
    second.restore(tmp_path / "run")
    second.run()
    assert result(second, speed) == alone


def test_the_place_of_nan_is_that_in_the_whole() -> None:
    inner = ssr.Space((1, 6), (1, 5))
    for kind, index in (plane, (3, 2)), (plane.vector(2), (1, 3, 2)), (inner, (2, 3)):
        on = bc.distribute(plane, bc.simulated_ranks(3))
        u = on.zeros(kind, "float32")
        whole = u.gather()
        whole[index] = np.nan
        whole.flat[-1] = np.inf
        u.set(whole)
        stepper = sim.FunctionStepper(lambda t, dt: None, {"u": u}, dt=1.0)
        simulation = Simulation(stepper, 1.0)
        simulation.add(NaNChecker())
        place = ", ".join(map(str, index))
        with pytest.raises(NonFiniteError, match=rf"u is not finite at \[{place}\]"):
            simulation.run()


def job(folder: Path, ranks: Any) -> None:
    """Interrupt a run by a signal to one rank, and continue it."""
    simulation, _ = made(ranks, stop_time=1e6)
    simulation.add(sim.Checkpointer(folder / "run"), times=[0.5])
    simulation.add(lambda s: time.sleep(0.01))
    if ranks.rank == 1:
        simulation.add(lambda s: os.kill(os.getpid(), signal.SIGTERM), steps=27)
    try:
        simulation.run()
    except sim.Interrupted as stopped:
        sys.stdout.write(f"{stopped.steps}\n")  # one write, which other ranks do not divide
    second, speed = made(ranks, stop_time=1.0)
    second.restore(folder / "run")
    second.stop_time = second.time + 1.0
    second.run()
    if ranks.rank == 0:
        (folder / "bits").write_bytes(b"".join(result(second, speed)))
    else:
        result(second, speed)
    limited, _ = made(ranks, stop_time=1e6)
    limited.wall_limit = 0.3 + 0.2 * ranks.rank
    reason = limited.run().reason
    sys.stdout.write(f"{reason} {limited.steps}\n")
    sys.stdout.flush()


@mpi.needs_mpi
def test_ranks_of_a_job_end_together(tmp_path: Path) -> None:
    done = mpi.start(2, "simulations", str(tmp_path))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.split()
    assert lines.count("wall_limit") == 2
    steps = int(lines[0])
    assert lines.count(str(steps)) == 2
    simulation, speed = made(None, stop_time=1e6)
    simulation.stop_steps = steps
    simulation.run()
    simulation.stop_steps, simulation.stop_time = 10**9, simulation.time + 1.0
    simulation.run()
    assert (tmp_path / "bits").read_bytes() == b"".join(result(simulation, speed))
