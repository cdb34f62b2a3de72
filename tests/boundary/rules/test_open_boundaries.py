"""Open boundaries of docs/howto/boundary-recipes.md: what they reflect, compared with theory."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

ny, nx = ssr.size("ny"), ssr.size("nx", at_least=2)
plane = ssr.Space(ny, nx)
wide = plane.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
lap = ssr.stencil(plane, wide, star)
east = plane.side(1, "high")

# c du/dn = -du/dt: what moves straight on leaves
radiating = bc.fill(
    wide,
    bc.periodic(axis=0),
    bc.neumann(axis=1, side="low"),
    bc.neumann(bc.parameter("slope"), axis=1, side="high"),
)


@ssr.matrix(rows=east, cols=plane)
def edge(j: Any, i: Any) -> Any:
    """Return the value on the side, from the two points next to it."""
    yield (j, i), 1.5
    yield (j, i - 1), -0.5


@ssr.integrate.rhs(u=plane, v=plane)
def waves(t: Any, u: Any, v: Any) -> Any:
    """Return the rates of the wave equation with speed 1 and unit spacing, v = du/dt."""
    return v, lap @ (radiating.bind(slope=-(edge @ v)) @ u)


def reflection(kx: float, rows: int) -> float:
    """Return how much of a packet comes back that meets the east side.

    The packet has the wave numbers kx across the side, and 2 pi / rows along it.
    """
    ky, width, length = 2 * np.pi / rows if rows > 1 else 0.0, 40.0, 420
    k = np.hypot(kx, ky)
    y, x = np.arange(rows)[:, None], np.arange(length)[None, :]
    envelope = np.exp(-(((x - 260.0) / width) ** 2)) * np.exp(1j * (kx * x + ky * y))
    slope = -2 * (x - 260.0) / width**2 * envelope
    u, v = envelope.real.copy(), (-1j * k * envelope - (kx / k) * slope).real.copy()
    before = abs(energy(u, v))
    run = ssr.integrate.RungeKutta(waves, 0.0, (u, v), dt=0.5, method="RK4")
    run.advance(round(2 * 160 * k / kx))  # to the side and back
    return float(np.sqrt(energy(*run.y) / before))


def energy(u: Any, v: Any) -> float:
    along = np.roll(u, -1, axis=0) - u
    return float((v**2).sum() + (np.diff(u, axis=1) ** 2).sum() + (along**2).sum())


@pytest.mark.parametrize(("kx", "rows"), [(0.2, 1), (0.2, 48), (0.2, 24), (0.2, 16)])
def test_radiation_reflects_what_first_order_conditions_do(kx: float, rows: int) -> None:
    """(1 - cos) / (1 + cos) of the angle of incidence: Engquist and Majda (1977)."""
    ky = 2 * np.pi / rows if rows > 1 else 0.0
    cosine = kx / np.hypot(kx, ky)
    assert reflection(kx, rows) == pytest.approx((1 - cosine) / (1 + cosine), abs=0.012)


cells = ssr.Space(ssr.size("n"))
faces = cells.faces(0)
inner, last, shore = faces.grow(-1), faces.side(0, "high"), cells.side(0, "high")
slope = ssr.difference(inner, cells, axis=0)
divergence = ssr.difference(cells, faces, axis=0)


@ssr.matrix(rows=last, cols=cells)
def beside(i: Any) -> Any:
    yield i - 1, 1.0


@ssr.program(eta=cells, u=faces, s=cells, sf=faces, r=ssr.scalar, opened=ssr.scalar)
def channel(eta: Any, u: Any, s: Any, sf: Any, r: Any, opened: Any) -> None:
    """One step of waves of speed 1 between a wall and an open end, with a sponge.

    r is the time step by the spacing; s and sf are rates of decay times half a time step.
    """
    eta[:] = ((1.0 - s) * eta - r * (divergence @ u)) / (1.0 + s)
    u[inner] = ((1.0 - sf[inner]) * u[inner] - r * (slope @ eta)) / (1.0 + sf[inner])
    u[last] = opened * (beside @ eta)  # Flather: u = sqrt(g / H) (eta - eta_outside)


def returned(width: float, opened: float, sponge: Any = None, n: int = 400) -> float:
    """Return how much of a pulse comes back: the root of the ratio of energies."""
    x, faces_x, r = np.arange(n) + 0.5, np.arange(n + 1.0), 0.5
    eta = np.exp(-(((x - 150.0) / width) ** 2))
    u = np.exp(-(((faces_x + r / 2 - 150.0) / width) ** 2))  # half a step behind: to the right
    u[[0, -1]] = 0.0
    rate = np.zeros_like if sponge is None else sponge
    before = (eta**2).sum() + (u**2).sum()
    s, sf = r / 2 * rate(x), r / 2 * rate(faces_x)
    for _ in range(int(2 * (n - 150) / r)):
        channel(eta, u, s, sf, r, opened)
    return float(np.sqrt(((eta**2).sum() + (u**2).sum()) / before))


def test_the_condition_of_flather_lets_a_pulse_out() -> None:
    coarse, fine = returned(10.0, 1.0), returned(20.0, 1.0)
    assert returned(10.0, 0.0) == pytest.approx(1.0, abs=0.02)
    assert coarse < 0.05
    assert fine < 0.6 * coarse


def test_a_sponge_damps_by_the_integral_of_its_rate() -> None:
    """Equal rates of both fields reflect nothing: exp(-2 integral of the rate) is left."""

    def rate(x: Any) -> Any:
        return 0.06 * np.clip((x - 300.0) / 100.0, 0.0, None) ** 2

    assert returned(20.0, 0.0, rate) == pytest.approx(np.exp(-2 * 0.06 * 100 / 3), abs=3e-3)
