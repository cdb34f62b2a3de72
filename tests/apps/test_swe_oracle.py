"""The oracle is right: known errors, order, water at rest, mass."""

import numpy as np
import pytest

from apps.swe import geometry
from apps.swe.cases import DAY, case
from apps.swe.geometry import SIDES
from tests.apps.swe_oracle import Solver, Weights, lines_out


@pytest.mark.parametrize(
    ("angle", "expected"),
    [(0.0, (1.3964e-5, 1.9160e-5, 6.1962e-5)), (45.0, (1.6564e-5, 2.2808e-5, 7.0372e-5))],
)
def test_errors_of_tc2_after_five_days(angle: float, expected: tuple[float, ...]) -> None:
    n, flow = 16, case("tc2", angle)
    solver = Solver(n, flow)
    start = solver.state[0].sum()
    exact, area = solver.state[0].copy(), geometry.areas(n)
    steps = round(5 * DAY / flow.dt(n))
    for _ in range(steps):
        solver.step(flow.dt(n))
    over = area / (np.pi / 2 / n) ** 2
    h, truth = solver.state[0] / over, exact / over
    error = h - truth
    l1 = np.sum(abs(error) * area) / np.sum(truth * area)
    l2 = np.sqrt(np.sum(error**2 * area) / np.sum(truth**2 * area))
    linf = abs(error).max() / truth.max()
    np.testing.assert_allclose((l1, l2, linf), expected, rtol=1e-3)
    assert abs(solver.state[0].sum() / start - 1) < 1e-12


@pytest.mark.parametrize("weights", ["linear", "weno"])
def test_tendencies_of_a_steady_flow_vanish_at_fourth_order(weights: Weights) -> None:
    sizes = []
    for n in 16, 32:
        solver = Solver(n, case("tc2", 45), weights)
        tendency = solver.rhs(solver.state)
        scale = np.abs(solver.state).mean(axis=(1, 2, 3)) / DAY
        sizes.append(np.abs(tendency).mean(axis=(1, 2, 3)) / scale)
    orders = np.log2(sizes[0] / sizes[1])
    assert (orders > 3.5).all()


def test_ghosts_are_filled_at_fifth_order_or_better() -> None:
    errors = []
    for n in 16, 32:
        flow = case("tc2", 0)
        solver = Solver(n, flow)
        alpha, beta = geometry.grid(n)
        place = geometry.lonlat(geometry.position(geometry.PANELS, alpha, beta))
        h = flow.depth(*place)
        wide = solver.fill(h, h, flow.velocity(n))
        worst = np.zeros(2)
        for p in range(6):
            for side in SIDES:
                points = p, *geometry.ghosts(n, side)
                there = geometry.lonlat(geometry.position(*points))
                u = geometry.contravariant(*points, flow.wind(*there))
                found = [lines_out(wide[m, p], side) for m in (0, 2, 3)]
                worst[0] = max(worst[0], abs(found[0] - flow.depth(*there)).max())
                worst[1] = max(worst[1], abs(np.stack(found[1:]) - u).max() / abs(u).max())
        errors.append(worst)
    assert (np.log2(errors[0] / errors[1]) > 4.5).all()


@pytest.mark.parametrize("weights", ["linear", "weno"])
def test_water_at_rest_stays(weights: Weights) -> None:
    n, flow = 12, case("rest")
    solver = Solver(n, flow, weights)
    for _ in range(5):
        solver.step(flow.dt(n))
    assert np.abs(solver.state[1:] / solver.state[0]).max() * geometry.RADIUS < 1e-11


def test_weno_equals_linear_weights_on_a_smooth_flow() -> None:
    n, flow = 16, case("tc2", 45)
    linear, weno = Solver(n, flow), Solver(n, flow, "weno")
    difference = linear.rhs(linear.state) - weno.rhs(weno.state)
    scale = np.abs(linear.state).max(axis=(1, 2, 3), keepdims=True) / DAY
    assert 0 < np.abs(difference / scale).max() < 1e-2


def test_bell_is_carried() -> None:
    n, flow = 20, case("tc1", 0)
    solver = Solver(n, flow)
    start = solver.state[0].copy()
    dt = flow.dt(n)
    for _ in range(round(12 * DAY / dt)):
        solver.step(dt)
    error, total = solver.state[0] - start, start.sum()
    assert np.abs(error).sum() / total == pytest.approx(0.2673, rel=0.02)
    assert error.sum() / total == pytest.approx(0.0, abs=1e-12)
