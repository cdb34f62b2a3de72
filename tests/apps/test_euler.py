"""The gas: shock tubes, conservation, order of the scheme; its picture is written."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import boundary as bc
from apps import euler
from apps.euler import GAMMA

State = tuple[float, float, float]
"""Density, velocity, pressure."""

EDGES = (0, 0), (2, 2), (2, 2)
"""Cells beyond the sides of the gas."""

LEFT, RIGHT = (1.0, 0.0, 1.0), (0.125, 0.0, 0.1)


def branch(p: float, state: State) -> float:
    """Return how much faster than a state gas of pressure p beside it moves away from it."""
    rho, _, p0 = state
    c = np.sqrt(GAMMA * p0 / rho)
    if p > p0:
        A, B = 2.0 / ((GAMMA + 1.0) * rho), (GAMMA - 1.0) / (GAMMA + 1.0) * p0
        return float((p - p0) * np.sqrt(A / (p + B)))
    return float(2.0 * c / (GAMMA - 1.0) * ((p / p0) ** ((GAMMA - 1.0) / (2.0 * GAMMA)) - 1.0))


def sod(s: np.ndarray) -> np.ndarray:
    """Return the exact density of Sod's shock tube where x/t = s: rarefaction, contact, shock."""
    p = brentq(lambda p: branch(p, LEFT) + branch(p, RIGHT), 0.1, 1.0, xtol=1e-14)
    u = branch(p, RIGHT)
    middle_left = LEFT[0] * (p / LEFT[2]) ** (1.0 / GAMMA)
    g = (GAMMA - 1.0) / (GAMMA + 1.0)
    q = p / RIGHT[2]
    middle_right = RIGHT[0] * (q + g) / (g * q + 1.0)
    shock = middle_right * u / (middle_right - RIGHT[0])
    c = np.sqrt(GAMMA * LEFT[2] / LEFT[0])
    fan = LEFT[0] * np.clip((2.0 - (GAMMA - 1.0) * s / c) / (GAMMA + 1.0), 0.0, 1.0) ** 5
    tail = u - np.sqrt(GAMMA * p / middle_left)
    where = [s < -c, s < tail, s < u, s < shock]
    return np.select(where, [LEFT[0], fan, middle_left, middle_right], RIGHT[0])


def gas(rho: np.ndarray, u: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.stack([rho, rho * u, rho * v, p / (GAMMA - 1.0) + 0.5 * rho * (u**2 + v**2)])


open_ends = euler.sides(bc.extrapolate(1))


def run(start: np.ndarray, width: float, steps: int, **more: Any) -> tuple[np.ndarray, float]:
    """Return an array of the gas after some steps, and the time; more are arguments of `run`."""
    _, ny, nx = start.shape
    on = bc.distribute(euler.cells, ny=ny, nx=nx)
    U, t = euler.run(on.scatter(euler.gas, np.pad(start, EDGES)), width, steps, **more)
    whole = U.gather()
    assert whole is not None
    return whole[:, 2:-2, 2:-2], t


def tube(n: int, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the density of Sod's problem along an axis at t = 0.2, and the exact one."""
    x = (np.arange(n) + 0.5) / n - 0.5
    rho, p = (np.where(x < 0.0, LEFT[k], RIGHT[k]) * np.ones((4, 1)) for k in (0, 2))
    start = gas(rho, 0.0 * rho, 0.0 * rho, p)
    start = start if axis == 1 else start.transpose(0, 2, 1).copy()
    U, t = run(start, 1.0 / n, 10 * n, until=0.2, fill=open_ends)
    assert t == pytest.approx(0.2)
    density = U[0] if axis == 1 else U[0].T
    assert np.ptp(density, axis=0).max() == 0.0
    return density[0], sod(x / 0.2)


@pytest.mark.parametrize("axis", [0, 1])
def test_shock_tube_converges(axis: int) -> None:
    errors = []
    for n in 100, 200, 400:
        found, exact = tube(n, axis)
        errors.append(np.abs(found - exact).mean())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[0] < 0.012
    assert (orders > 0.7).all()
    assert (orders < 1.1).all()


def test_both_axes_are_alike() -> None:
    np.testing.assert_allclose(tube(50, 0)[0], tube(50, 1)[0], rtol=1e-13)


def test_mass_momentum_and_energy_are_kept() -> None:
    rho, u, v, p = 1.0 + np.random.default_rng(0).random((4, 20, 30))
    start = gas(rho, u, v, p)
    U, _ = run(start, 1.0, 50)
    total = start.sum(axis=(1, 2))
    np.testing.assert_allclose(U.sum(axis=(1, 2)), total, rtol=1e-13)
    assert np.abs(U - start).max() > 0.1


def totals(U: np.ndarray) -> np.ndarray:
    return U.sum(axis=(1, 2))


def test_walls_keep_mass_and_energy() -> None:
    rho, u, v, p = 1.0 + np.random.default_rng(1).random((4, 12, 16))
    start = gas(rho, u, v, p)
    U, _ = run(start, 1.0, 60, fill=euler.sides(euler.wall()))
    np.testing.assert_allclose(totals(U)[[0, 3]], totals(start)[[0, 3]], rtol=1e-13)
    assert (np.abs(totals(U) - totals(start))[1:3] > 1.0).all()  # walls take momentum


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("side", ["low", "high"])
def test_a_shock_is_reflected_by_a_wall(axis: int, side: Any) -> None:
    """Gas runs into a wall: the gas at rest between wall and shock is that of Rankine-Hugoniot."""
    n, speed, rho0, p0 = 200, 1.0, 1.0, 1.0
    g = GAMMA
    # The speed of the shock relative to the wall, by mass and momentum: (g + 1)/4 u and a root.
    half = (g - 3.0) / 4.0 * speed
    shock = half + np.sqrt(((g + 1.0) / 4.0 * speed) ** 2 + g * p0 / rho0)
    p1, rho1 = p0 + rho0 * speed * (speed + shock), rho0 * (speed + shock) / shock
    ones = np.ones((4, n))
    towards = speed if side == "high" else -speed
    start = gas(rho0 * ones, towards * ones, 0.0 * ones, p0 * ones)
    if axis == 0:
        start = start[[0, 2, 1, 3]].transpose(0, 2, 1).copy()
    other: Any = "low" if side == "high" else "high"
    inlet = euler.inflow(axis, other, rho0, *((towards, 0.0) if axis == 1 else (0.0, towards)), p0)
    fill = euler.sides(inlet, euler.wall(axis, side), euler.wall(1 - axis))
    U, t = run(start, 1.0 / n, 10 * n, until=0.4, fill=fill)
    rho, mx, my, E = U if axis == 1 else U[[0, 2, 1, 3]].transpose(0, 2, 1)
    assert np.ptp(rho, axis=0).max() == 0.0
    line = slice(None) if side == "high" else slice(None, None, -1)
    rho, m, p = (a[0][line] for a in (rho, mx, (g - 1.0) * (E - 0.5 * (mx**2 + my**2) / rho)))
    behind = slice(-int(0.7 * shock * t * n), -10)  # the wall itself heats the first cells
    np.testing.assert_allclose(rho[behind], rho1, rtol=4e-3)
    np.testing.assert_allclose(p[behind], p1, rtol=2e-3)
    np.testing.assert_allclose(m[behind], 0.0, atol=4e-3)
    np.testing.assert_allclose(rho[: n // 4], rho0, rtol=1e-12)
    place = n * (1.0 - shock * t)  # mass between the walls' side and the shock is known
    assert rho.sum() - rho0 * n == pytest.approx(rho0 * speed * t * n, rel=1e-10)
    assert abs(np.argmax(rho > (rho0 + rho1) / 2.0) - place) < 2.0


def test_different_sides() -> None:
    """A uniform stream through a channel between walls stays as it is."""
    ones = np.ones((6, 8))
    start = gas(ones, 2.0 * ones, 0.0 * ones, ones)
    fill = euler.sides(
        euler.wall(axis=0), euler.inflow(1, "low", 1.0, 2.0, 0.0, 1.0), euler.outflow(1, "high")
    )
    U, _ = run(start, 1.0, 20, fill=fill)
    np.testing.assert_allclose(U, start, rtol=1e-13, atol=1e-14)


def test_sides_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    euler.main(["--n", "16", "--steps", "30", "--sides", "walls"])
    mass = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mass"))
    assert abs(float(mass.split()[4])) < 1e-14


def wave(n: int, t: float) -> np.ndarray:
    """Return cell averages of a wave of density that drifts through the unit square."""
    y, x = (np.mgrid[:n, :n] + 0.5) / n
    average = np.sinc(1.0 / n) ** 2
    rho = 1.0 + 0.2 * average * np.sin(2.0 * np.pi * (x + y - 1.5 * t))
    return gas(rho, rho * 0.0 + 1.0, rho * 0.0 + 0.5, rho * 0.0 + 1.0)


def test_smooth_flow_is_of_second_order() -> None:
    errors = []
    for n in 64, 128:
        U, t = run(wave(n, 0.0), 1.0 / n, 100 * n, until=0.5)
        errors.append(np.abs(U[0] - wave(n, t)[0]).mean())
    order = np.log2(errors[0] / errors[1])
    assert 1.7 < order < 2.1  # the limiter cuts off extrema


def test_uniform_gas_stays() -> None:
    ones = np.ones((3, 8))
    start = gas(ones, 0.5 * ones, -0.25 * ones, 2.0 * ones)
    U, _ = run(start, 1.0, 5)
    np.testing.assert_allclose(U, start, rtol=1e-14)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "new" / "euler.png"
    euler.main(["--n", "16", "--steps", "3", "--plot", str(picture)])
    assert picture.read_bytes().startswith(b"\x89PNG")
    text = capsys.readouterr().out
    assert "after 3 steps" in text
    assert str(picture) in text


@pytest.mark.skipif(
    shutil.which("mpiexec") is None or importlib.util.find_spec("mpi4py") is None,
    reason="needs mpiexec and mpi4py",
)
def test_ranks_print_one_digest(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    command = [sys.executable, "-m", "apps.euler", "--n", "48", "--steps", "3", "--digest"]
    command += ["--plot", str(tmp_path / "euler.png")]
    lines = []
    for launch in [], ["mpiexec", "-n", "3"]:
        found = subprocess.run([*launch, *command], capture_output=True, text=True, timeout=300)
        assert found.returncode == 0, found.stderr
        lines.append(found.stdout.splitlines())
        (tmp_path / "euler.png").unlink()
    assert [len(each) for each in lines] == [6, 6]
    alone, three = (each[2:] for each in lines)  # behind times
    assert alone[2].startswith("digest: ")
    assert alone == three
