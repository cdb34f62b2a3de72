"""The cubed sphere: known values, neighbours, ghost points, rotations."""

import numpy as np
import pytest

from apps.swe import geometry
from apps.swe.cases import tc2
from apps.swe.constants import Constants
from apps.swe.geometry import EDGE, PANELS, RADIUS, SIDES

A, B = np.array(0.3), np.array(-0.5)

LINKS = {
    0: "W3E E1W S5N N4S",
    1: "W0E E2W S5E- N4E",
    2: "W1E E3W S5S- N4N-",
    3: "W2E E0W S5W N4W-",
    4: "W3N- E1N S0N N2N-",
    5: "W3S E1S- S2S- N0S",
}
"""Side, neighbour, its side; a minus where that runs the other way."""


@pytest.mark.parametrize(
    ("panel", "lon", "lat"),
    [
        (0, 17.188733854, -27.560177779),
        (4, 29.520110152, 57.879316494),
        (5, 150.479889848, -57.879316494),
    ],
)
def test_position(panel: int, lon: float, lat: float) -> None:
    found = np.rad2deg(geometry.lonlat(geometry.position(panel, A, B)))
    np.testing.assert_allclose(found, [lon, lat], atol=1e-9)


def test_panels_turn_right_handed() -> None:
    for matrix in geometry.MATRICES:
        assert (matrix @ matrix.T == np.eye(3)).all()
        assert np.linalg.det(matrix) == pytest.approx(1.0)


def test_metric() -> None:
    J, lower, upper = geometry.metric(A, B)
    assert pytest.approx(0.86427888, abs=1e-8) == J / RADIUS**2
    expected = [0.80202647, 0.12369878, 0.95044166]
    np.testing.assert_allclose(np.array(lower) / RADIUS**2, expected, atol=1e-8)
    expected = [1.27238243, -0.16559897, 1.07369495]
    np.testing.assert_allclose(np.array(upper) * RADIUS**2, expected, atol=3e-8)


@pytest.mark.parametrize("panel", range(6))
def test_basis_is_the_derivative_of_the_position(panel: int) -> None:
    e = 1e-5
    along = geometry.position(panel, A + e, B) - geometry.position(panel, A - e, B)
    up = geometry.position(panel, A, B + e) - geometry.position(panel, A, B - e)
    basis = geometry.basis(panel, A, B)
    np.testing.assert_allclose(basis / RADIUS, np.stack([along, up]) / (2 * e), atol=1e-9)
    lower = geometry.metric(A, B).lower
    products = basis @ basis.T
    np.testing.assert_allclose(products, [lower[:2], lower[1:]], rtol=1e-12)
    assert np.cross(*basis) @ geometry.position(panel, A, B) > 0


def test_christoffel_symbols_are_those_of_the_metric() -> None:
    e = 1e-5

    def lower(a: float, b: float) -> np.ndarray:
        g11, g12, g22 = geometry.metric(A + a, B + b).lower
        return np.array([[g11, g12], [g12, g22]])

    d = np.stack([lower(e, 0.0) - lower(-e, 0.0), lower(0.0, e) - lower(0.0, -e)]) / (2 * e)
    first = (d.transpose(1, 2, 0) + d.transpose(1, 0, 2) - d.transpose(0, 1, 2)) / 2
    symbols = np.einsum("im,mkl->ikl", np.linalg.inv(lower(0.0, 0.0)), first)
    c = geometry.christoffel(A, B)
    expected = [[[c.g1_11, c.g1_12], [c.g1_12, 0.0]], [[0.0, c.g2_12], [c.g2_12, c.g2_22]]]
    np.testing.assert_allclose(symbols, expected, atol=1e-8)


def test_areas_fill_the_sphere() -> None:
    assert 6 * geometry.areas(16).sum() == pytest.approx(4 * np.pi * RADIUS**2, rel=1e-12)


def test_wind_and_components() -> None:
    east_north = np.random.default_rng(0).random((2, 6, 5, 5))
    points = PANELS, *geometry.grid(5)
    u = geometry.contravariant(*points, east_north)
    np.testing.assert_allclose(geometry.wind(*points, u), east_north, rtol=1e-12)
    lower = geometry.metric(*geometry.grid(5)).lower
    square = lower[0] * u[0] ** 2 + 2 * lower[1] * u[0] * u[1] + lower[2] * u[1] ** 2
    np.testing.assert_allclose(square, (east_north**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("panel", range(6))
def test_neighbours(panel: int) -> None:
    for name in LINKS[panel].split():
        link = geometry.link(panel, name[0])
        assert link == geometry.Link(int(name[1]), name[2], name.endswith("-"))
        back = geometry.link(link.panel, link.side)
        assert back == geometry.Link(panel, name[0], link.reversed)


@pytest.mark.parametrize("panel", range(6))
@pytest.mark.parametrize("side", SIDES)
def test_ghosts_lie_on_lines_of_the_neighbour(panel: int, side: str) -> None:
    n, (other, its, backwards) = 9, geometry.link(panel, side)
    r = geometry.position(panel, *geometry.ghosts(n, side))
    alpha, beta = geometry.coordinates(other, r)
    across, along = (alpha, beta) if its in "WE" else (beta, alpha)
    inwards = EDGE - np.abs(across)
    depth = (np.arange(3) + 0.5) * (2 * EDGE / n)
    np.testing.assert_allclose(inwards, np.broadcast_to(depth[:, None], (3, n)), atol=1e-14)
    assert (np.sign(across) == (1 if its in "EN" else -1)).all()
    i0, w = geometry.interpolation(n)
    taps = np.sum(w * geometry.centres(n)[i0[..., None] + np.arange(6)], axis=-1)
    np.testing.assert_allclose(taps, -along if backwards else along, atol=1e-13)


def test_interpolation_weights() -> None:
    i0, w = geometry.interpolation(8)
    assert (i0[0, 0], i0[2, 3]) == (0, 1)
    first = [0.26292821, 1.21966403, -0.83317372, 0.50238361, -0.17980491, 0.02800279]
    inner = [0.01116511, -0.09724277, 0.75354043, 0.40198860, -0.07933568, 0.00988432]
    np.testing.assert_allclose(w[0, 0], first, atol=1e-8)
    np.testing.assert_allclose(w[2, 3], inner, atol=1e-8)
    x = np.arange(8.0)
    taps = x[i0[..., None] + np.arange(6)]
    np.testing.assert_allclose(w.sum(axis=-1), 1.0, rtol=1e-13)
    fifth = np.sum(w * (taps - 3.5) ** 5, axis=-1)
    np.testing.assert_allclose(fifth, np.sum(w * (taps - 3.5), axis=-1) ** 5, atol=1e-9)


def test_rotation() -> None:
    T = geometry.rotations(8)
    expected = [[1.0, 0.0], [-0.3511533, 3.26780135]]
    np.testing.assert_allclose(T[:, :, 0, SIDES.index("E"), 2, 3], expected, atol=1e-7)
    r = geometry.position(0, *geometry.ghosts(8, "N"))
    there, back = geometry.rotation(4, 0, r), geometry.rotation(0, 4, r)
    unit = np.einsum("ij...,jk...->ik...", there, back)
    np.testing.assert_allclose(
        unit, np.broadcast_to(np.eye(2)[..., None, None], unit.shape), atol=1e-13
    )


def test_averages_are_exact_to_high_order() -> None:
    def depth(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
        return tc2(0.5).depth(lon, lat)

    coarse, fine = (Constants(n, tc2(0.0)).depth(depth, *np.ogrid[:6, :n, :n]) for n in (8, 16))
    area = geometry.areas(16)
    sums = (fine * area).reshape(6, 8, 2, 8, 2).sum(axis=(2, 4))
    together = sums / area.reshape(8, 2, 8, 2).sum(axis=(1, 3))
    np.testing.assert_allclose(coarse, together, rtol=1e-9)
