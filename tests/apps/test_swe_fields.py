"""Values at centres: averages and back, derivatives, vorticity."""

import numpy as np
import pytest

from apps.swe import fields, geometry
from apps.swe.cases import OMEGA, at_centres, case


def test_points_and_averages() -> None:
    k = np.arange(8.0)
    square = k[:, None] ** 2 + 3 * k**2 - k
    np.testing.assert_allclose(fields.to_averages(square), square + 4 / 12)
    np.testing.assert_allclose(fields.to_points(square + 4 / 12), square, atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1])
def test_derivative_is_exact_for_quartics(axis: int) -> None:
    k = np.arange(7.0)
    v, slope = (np.broadcast_to(f, (7, 7)) for f in (k**4 - 5 * k**3, 4 * k**3 - 15 * k**2))
    v, slope = (v, slope) if axis == 1 else (v.T, slope.T)
    np.testing.assert_allclose(fields.derivative(v, axis), slope, atol=1e-9)


def test_fields_of_a_turning_sphere() -> None:
    """Its vorticity is twice its angular speed times the sine of the latitude."""
    errors = []
    for n in 16, 32:
        flow = case("tc2", 30)
        f = fields.fields(flow.state(n), flow)
        speed = 2 * np.pi / (12 * 86400)
        expected = at_centres(flow.coriolis, n) / OMEGA * speed
        errors.append(np.abs(f.zeta - expected).max() / (2 * speed))
        np.testing.assert_allclose(f.h, at_centres(flow.depth, n), rtol=2e-4)
        np.testing.assert_allclose([f.u1, f.u2], flow.velocity(n), atol=1e-3 * speed)
    assert errors[1] < 5e-4
    assert np.log2(errors[0] / errors[1]) > 2.5


def test_water_at_rest_is_level() -> None:
    flow = case("rest")
    f = fields.fields(flow.state(10), flow)
    np.testing.assert_allclose(f.H, 6000.0, rtol=1e-14)
    assert np.ptp(f.h) > 500.0


def test_wind_that_only_carries_is_the_given_one() -> None:
    flow = case("tc1", 60)
    f = fields.fields(flow.state(8), flow)
    assert ((f.u1, f.u2) == flow.velocity(8)).all()
    assert np.isfinite(f.zeta).all()
    assert geometry.areas(8).shape == f.h.shape[1:]
