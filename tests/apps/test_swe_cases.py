"""The flows: known values, balance, and what is exact stays exact."""

import numpy as np
import pytest

from apps.swe import cases, geometry
from apps.swe.cases import DAY, GRAVITY
from apps.swe.constants import Constants

POLES = np.deg2rad([-90.0, 0.0, 45.0, 90.0])
ZERO = np.zeros(4)


def test_heights_of_tc2() -> None:
    depth = cases.tc2(0.0).depth(ZERO, POLES)
    np.testing.assert_allclose(depth[[1, 3]], [2998.11547028, 1092.83298453], atol=1e-8)


def test_heights_of_the_jet() -> None:
    depth = cases.jet().depth(ZERO, POLES)
    expected = [10158.18614, 10158.18614, 9646.93321, 9071.20791]
    np.testing.assert_allclose(depth, expected, atol=5e-5)
    assert cases.galewsky().depth(ZERO, POLES)[2] == pytest.approx(9731.78603, abs=5e-5)


def test_mean_depth_of_the_jet() -> None:
    n, jet = 32, cases.jet()
    area = np.broadcast_to(geometry.areas(n), (6, n, n))
    depth = Constants(n, jet).depth(jet.depth, *np.ogrid[:6, :n, :n])
    assert np.average(depth, weights=area) == pytest.approx(1e4, abs=0.05)


@pytest.mark.parametrize("name", ["tc2", "jet"])
def test_balance(name: str) -> None:
    """The slope of a zonal flow's surface carries its Coriolis and centrifugal force."""
    case, e = cases.case(name), 1e-5
    lat = np.linspace(-1.3, 1.3, 53)
    lon = np.zeros_like(lat)
    slope = (case.depth(lon, lat + e) - case.depth(lon, lat - e)) / (2 * e)
    u, v = case.wind(lon, lat)
    force = (case.coriolis(lon, lat) * geometry.RADIUS + u * np.tan(lat)) * u
    np.testing.assert_allclose(GRAVITY * slope, -force, atol=2e-4 * np.abs(force).max())
    assert (v == 0.0).all()


def test_tilted_flow_is_the_upright_one_seen_from_elsewhere() -> None:
    r = np.random.default_rng(1).normal(size=(3, 20))
    r /= np.linalg.norm(r, axis=0)
    angle = np.deg2rad(35.0)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    here, there = geometry.lonlat(r), geometry.lonlat(turn @ r)
    for name in "tc1", "tc2":
        upright, tilted = cases.case(name), cases.case(name, 35.0)
        np.testing.assert_allclose(tilted.depth(*here), upright.depth(*there), atol=1e-9)
        if name == "tc2":
            np.testing.assert_allclose(tilted.coriolis(*here), upright.coriolis(*there), atol=1e-18)
        before = np.einsum("e...,er...->r...", tilted.wind(*here), geometry.compass(r))
        after = np.einsum("e...,er...->r...", upright.wind(*there), geometry.compass(turn @ r))
        np.testing.assert_allclose(turn @ before, after, atol=1e-10)


def test_bell_moves_with_the_wind_and_comes_back() -> None:
    case = cases.case("tc1", 30.0)
    assert case.exact is not None
    lon, lat = np.array([-np.pi / 2]), np.array([0.0])
    assert case.depth(lon, lat)[0] == pytest.approx(1000.0)
    u, v = case.wind(lon, lat)
    seconds = 1800.0
    moved = lon + u * seconds / geometry.RADIUS, lat + v * seconds / geometry.RADIUS
    assert case.exact(seconds)(*moved)[0] == pytest.approx(1000.0, rel=1e-9)
    far = np.linspace(-3, 3, 40), np.linspace(-1.5, 1.5, 40)
    np.testing.assert_allclose(case.exact(12 * DAY)(*far), case.depth(*far), atol=1e-9)


def test_mountain() -> None:
    top = np.array([-np.pi / 2, 1.5 * np.pi, 0.0]), np.full(3, np.pi / 6)
    np.testing.assert_allclose(cases.mountain(*top), [2000.0, 2000.0, 0.0])
    case = cases.tc5()
    surface = case.depth(*top) + case.bottom(*top)
    assert np.ptp(surface) == pytest.approx(0.0, abs=1e-9)


def test_rossby_haurwitz_wave() -> None:
    """Four waves around the equator, no wind at the poles, heights finite there."""
    case = cases.tc6()
    lon = np.linspace(-np.pi, np.pi, 9)[:-1]
    equator = np.zeros_like(lon)
    assert np.ptp(case.depth(lon, equator)[::2]) == pytest.approx(0.0, abs=1e-9)
    poles = np.full_like(lon, np.pi / 2)
    np.testing.assert_allclose(case.depth(lon, poles), 8000.0, rtol=1e-12)
    np.testing.assert_allclose(case.wind(lon, poles), 0.0, atol=1e-12)
    # the curl of the wind, K sin(lat) (2 - 30 cos(lat)^4 cos(4 lon)), at one point
    e, lo, la = 1e-4, 0.3, 0.7

    def at(a: float, b: float) -> np.ndarray:
        return case.wind(np.array(a), np.array(b))

    curl = (at(lo + e, la)[1] - at(lo - e, la)[1]) / (2 * e)
    curl -= (at(lo, la + e)[0] * np.cos(la + e) - at(lo, la - e)[0] * np.cos(la - e)) / (2 * e)
    expected = 7.848e-6 * np.sin(la) * (2 - 30 * np.cos(la) ** 4 * np.cos(4 * lo))
    assert curl / (geometry.RADIUS * np.cos(la)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", cases.NAMES)
def test_state_holds_averages(name: str) -> None:
    n, case = 8, cases.case(name)
    state = case.state(n)
    assert state.shape == (3, 6, n, n)
    assert np.isfinite(state).all()
    area = geometry.areas(n) / (np.pi / 2 / n) ** 2
    depth = Constants(n, case).depth(case.depth, *np.ogrid[:6, :n, :n])
    np.testing.assert_allclose(state[0] / area, depth, rtol=1e-12)
    if name in ("tc2", "tc6"):
        u = state[1:] / state[0]
        scale = np.abs(case.velocity(n)).max()
        np.testing.assert_allclose(u, case.velocity(n), atol=0.15 * scale)
