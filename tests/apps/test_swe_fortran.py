"""The Fortran references equal the NumPy oracle, and the solver of spectral elements."""

import numpy as np
import pytest

from apps.swe.cases import case, viscosity
from apps.swe.spectral import Elements
from benchmarks import fortran, sem_fortran
from benchmarks.swe_fortran import Reference, boundary_size
from tests.apps.swe_oracle import Solver, Weights

pytestmark = pytest.mark.fortran


def disturbed(name: str, n: int) -> np.ndarray:
    """Return a state far from balance, so that no tendency is a small difference."""
    state = case(name, 30).state(n)
    noise = np.random.default_rng(n).random(state.shape)
    return state * (1 + 0.1 * noise)


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    """Compare to 1e-12 of the largest value of each component."""
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(b).max())


@pytest.mark.parametrize("build", list(fortran.BUILDS))
@pytest.mark.parametrize("weights", ["linear", "weno"])
def test_tendencies_in_all_builds(weights: Weights, build: str) -> None:
    n, flow = 12, case("tc5")
    oracle, reference = Solver(n, flow, weights), Reference(n, flow, weights, build)
    reference.state[:] = disturbed("tc5", n)
    assert_close(reference.rhs(), oracle.rhs(reference.state))


@pytest.mark.parametrize("name", ["tc2", "tc5", "tc6", "galewsky"])
@pytest.mark.parametrize("weights", ["linear", "weno"])
@pytest.mark.parametrize("n", [6, 9])
def test_steps(name: str, weights: Weights, n: int) -> None:
    flow = case(name, 30)
    oracle, reference = Solver(n, flow, weights), Reference(n, flow, weights)
    oracle.state[:] = disturbed(name, n)
    reference.state[:] = oracle.state
    mass = oracle.state[0].sum()
    for _ in range(3):
        oracle.step(100.0)
        reference.step(100.0)
    assert_close(reference.state, oracle.state)
    assert reference.state[0].sum() == pytest.approx(mass, rel=1e-13)


def test_the_boundary_part_alone_changes_nothing() -> None:
    flow = case("tc5")
    once, twice = Reference(8, flow), Reference(8, flow)
    for _ in range(2):
        once.step(200.0)
        twice.step(200.0)
        before = twice.state.copy()
        twice.boundary()()
        assert (twice.state == before).all()
    assert (once.state == twice.state).all()


def test_the_size_of_the_boundary_part() -> None:
    lines, tokens = boundary_size()
    assert 50 < lines < 150
    assert 5 * lines < tokens < 20 * lines


def test_a_frozen_wind_is_refused() -> None:
    with pytest.raises(ValueError, match="tc1 only advects the depth"):
        Reference(8, case("tc1"))


@pytest.mark.parametrize("build", list(fortran.BUILDS))
@pytest.mark.parametrize("nu", [0.0, viscosity(4)])
def test_steps_of_spectral_elements(nu: float, build: str) -> None:
    """The synchronized state of the compiled solver and of Fortran after three steps."""
    flow = case("tc5")
    ours, reference = Elements(4, flow, nu), sem_fortran.Reference(4, flow, nu, build)
    step = reference.stepping(500.0)
    for _ in range(3):
        ours.step(500.0)
        step()
    found = ours.state.gather()
    assert found is not None
    assert_close(reference.state, found)
