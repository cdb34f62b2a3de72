"""The problems of the gallery, solved on small grids and compared with what is known."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as scipy_solvers
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import boundary as bc

GALLERY = Path(__file__).parent.parent / "docs" / "gallery"
NAMES = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "draw")


def problem(name: str) -> ModuleType:
    """Return the module of a problem."""
    spec = importlib.util.spec_from_file_location(name, GALLERY / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def drawn(name: str, *found: Any) -> None:
    """Draw what a problem has found."""
    pytest.importorskip("matplotlib")
    getattr(problem("draw"), name)(*found).canvas.draw()


def test_problems_are_short_and_shown() -> None:
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        lines = (GALLERY / f"{name}.py").read_text(encoding="utf-8").splitlines()
        assert len([line for line in lines if line.strip()]) <= 60
        assert f"]({name}.py)" in page
        assert f"]({name}.png)" in page


def test_cavity() -> None:
    """At Re = 1000 profiles are those of the references within the error of the grid.

    Steps are seven times as long as explicit viscosity allows.
    """
    known = problem("draw")
    grid, u, v = problem("cavity").run(32, 35.0, 5e-2, levels=3)
    widths = np.diff(grid.positions("x", grid.cells.nodes()))
    assert 7 * widths.min() ** 2 / (4 * 1e-3) < 5e-2
    flux = (u[:, 1:] - u[:, :-1]) * widths[:, None] + (v[1:] - v[:-1]) * widths
    assert abs(flux).max() < 1e-7
    centres = grid.positions("x")
    along_y, along_x = (CubicSpline(centres, w) for w in (u[:, 16], v[16]))
    for places, profile, *references in (
        (known.PLACES_Y, along_y, known.GHIA_U, known.SPECTRAL_U),
        (known.PLACES_X, along_x, known.GHIA_V, known.SPECTRAL_V),
    ):
        for reference in references:
            np.testing.assert_allclose(profile(places), reference, atol=0.03)
    drawn("cavity", grid, u, v)


def test_waves() -> None:
    """In a homogeneous box the wave is the known one until it comes back from the sides."""
    module = problem("waves")
    section, traces, dt, shown = module.run(60, 6.0, 0.45, layered=False)
    time = np.arange(1, len(traces) + 1) * dt
    for k in 4, 6:
        r = k * 50.0
        exact = 1e9 * module.ricker(time - r / 1500, 6.0) / (4 * np.pi * 1500**2 * r)
        assert abs(traces[:, k] - exact).max() < 0.1 * abs(exact).max()
    drawn("waves", section, traces, dt, shown)


def test_gray_scott() -> None:
    module = problem("gray_scott")
    u, v = module.run(24, 0)
    a, b = u.copy(), v.copy()
    for _ in range(20):
        du, dv = (
            sum(np.roll(w, s, axis) for s in (-1, 1) for axis in (0, 1)) - 4 * w for w in (a, b)
        )
        rate = a * b**2
        a, b = a + 0.16 * du - rate + 0.0367 * (1 - a), b + 0.08 * dv + rate - 0.1016 * b
    u, v = module.run(24, 20)
    np.testing.assert_allclose(u, a, 1e-12)
    np.testing.assert_allclose(v, b, 1e-12, 1e-15)
    drawn("gray_scott", u, v)


def test_imex() -> None:
    """The reference is the solution of SciPy; errors have the orders of the methods."""
    module, n = problem("imex"), 48
    v, found = module.run(n, 40.0, (2.0, 1.0))
    x, r = (np.arange(n) + 0.5) / n, 1e-5 * (n / 0.5) ** 2
    bumps = [
        np.exp(-(((x - a) / 0.1) ** 4) - ((x[:, None] - b) / 0.1) ** 4)
        for a, b in ((0.3, 0.3), (0.65, 0.45), (0.4, 0.75))
    ]

    def rates(t: float, y: Any) -> Any:
        u, v = y.reshape(2, n, n)
        du, dv = (
            sum(np.roll(w, s, axis) for s in (-1, 1) for axis in (0, 1)) - 4 * w for w in (u, v)
        )
        du, dv = 2 * r * du + 0.0367 * (1 - u), r * dv - (0.0367 + 0.0649) * v
        return np.stack([du - u * v**2, dv + u * v**2]).ravel()

    start = np.stack([1 - 0.5 * sum(bumps), 0.25 * sum(bumps)]).ravel()
    exact = solve_ivp(rates, (0.0, 40.0), start, "DOP853", rtol=1e-9, atol=1e-10).y[:, -1]
    np.testing.assert_allclose(v, exact.reshape(2, n, n)[1], atol=1e-5)
    for method, order, most in ("ARS111", 1, 1e-2), ("ARS222", 2, 1e-3), ("ARS443", 3, 1e-4):
        _, errors, work = found[method]
        assert errors[-1] < most
        assert abs(np.log2(errors[0] / errors[1]) - order) < 0.4
        assert work[0] < work[1]
    drawn("imex", v, found)


def test_diffusion() -> None:
    """After a long time the flux is the same through every column of faces."""
    module = problem("diffusion")
    k, times, found = module.run(20, 400.0, (400, 20_000, 40_000))
    u = found[-1]
    resistance = (1 / k[:, 1:] + 1 / k[:, :-1]) / 2
    flux = ((u[:, :-1] - u[:, 1:]) / resistance).sum(axis=0)
    np.testing.assert_allclose(flux, flux[0], 1e-3)
    assert 0.0 < u.min() < u.max() < 1.0
    drawn("diffusion", k, times, found)


def test_membrane() -> None:
    module = problem("membrane")
    values, vectors = module.run(24, 4)
    matrix = module.A.bind(n=24).to_scipy().tocsc() * 24**2
    expected = scipy_solvers.eigsh(matrix, 4, sigma=0)[0]
    np.testing.assert_allclose(values, expected, 1e-4)
    assert abs(values[0] - 9.63972) < 0.05
    drawn("membrane", values, vectors)


def test_obstacles() -> None:
    u, v, free = problem("obstacles").run(24, 0.5)
    solid = free == 0.0
    assert not u[:, 1:][solid].any()
    assert not v[1:][solid].any()
    assert abs(u[:, 1:] - u[:, :-1] + v[1:] - v[:-1]).max() < 1e-3
    np.testing.assert_allclose(u.sum(axis=0), 24.0, 1e-3)
    drawn("obstacles", u, v, free)


def test_multigrid() -> None:
    k, u, histories = problem("multigrid").run(63, 4)
    assert len(histories["multigrid"]) < 30 < len(histories["IC(0)"]) < len(histories["none"])
    drawn("multigrid", k, u, histories)


def test_sphere() -> None:
    edges, area, found = problem("sphere").run(24)
    first, last = found[0], found[-1]
    assert abs(area.sum() - 4 * np.pi) < 1e-12
    assert abs((last * area).sum() - (first * area).sum()) < 1e-12 * (first * area).sum()
    assert ((last - first) ** 2 * area).sum() < 0.4**2 * (first**2 * area).sum()
    drawn("sphere", edges, area, found)


def test_tsunami() -> None:
    """A plane wave over a step of the depth, and over a slope by Green's law."""
    module = problem("tsunami")
    gauges = (352.5, 500), (622.5, 500), (952.5, 500)

    def crest(depth: Any, hours: float) -> Any:
        start = lambda x, y: 2 * np.exp(-(((x - 250) / 40) ** 2)) + 0 * y  # noqa: E731
        found = module.run(200, hours, gauges, depth, start, 0.0)
        time, records = found[-2:]
        return time, records, found

    time, records, found = crest(lambda x, y: np.where(x < 500, 4000.0, 1000.0) + 0 * y, 0.9)
    assert abs(records[:, 0].max() - 1.0) < 0.01
    assert abs(records[:, 1].max() - 2 / (1 + np.sqrt(1 / 4))) < 0.02
    assert abs(records[time > 0.35, 0].max() - (1 - np.sqrt(1 / 4)) / (1 + np.sqrt(1 / 4))) < 0.02
    deep, shallow = (1000 / np.sqrt(9.81 * depth) / 3600 for depth in (4000.0, 1000.0))
    arrival = (500 - 250) * deep + (622.5 - 500) * shallow
    assert abs(time[records[:, 1].argmax()] - arrival) < 0.02
    drawn("tsunami", *found)
    time, records, _ = crest(lambda x, y: np.interp(x, [400, 900], [4000, 1000]) + 0 * y, 1.5)
    assert abs(records[:, 2].max() / records[:, 0].max() - 4**0.25) < 0.03


def test_acoustics() -> None:
    """A source and its mirror image in a homogeneous section; exchanged places in a layered one."""
    module, f = problem("acoustics"), 9.0
    _, _, records, dt, _, source, receivers = module.run(100, f, 0.6, layered=False)
    time = np.arange(1, len(records) + 1) * dt

    def wave(r: float) -> Any:
        theta = np.linspace(0, 1, 2001)[:, None] * np.arccosh(np.maximum(1, 1500 * time / r))
        return np.trapezoid(module.ricker(time - r / 1500 * np.cosh(theta), f), theta, axis=0)

    for k in 0, 3, 6:
        along = receivers[k, 1] - source[1]
        near, far = (np.hypot(receivers[k, 0] - y, along) for y in (source[0], -source[0]))
        exact = (wave(near) - wave(far)) / (2 * np.pi)
        assert abs(records[:, k] - exact).max() < 0.05 * abs(exact).max()
    found = module.run(100, f, 0.6)
    assert abs(found[2][:, -4] - found[4]).max() < 1e-12 * abs(found[4]).max()
    drawn("acoustics", *found)


def test_drifters() -> None:
    """Drifters stay on streamlines up to errors of fourth order, with the same bits on ranks."""
    module = problem("drifters")
    errors = []
    for size in 12, 24:
        days, found = module.run(size, 1.0)
        stream = module.stream(found)
        errors.append(abs(stream - stream[0]).max() / np.ptp(stream))
    assert errors[1] < 1e-4
    assert np.log2(errors[0] / errors[1]) > 3.5
    _, on_ranks = module.run(24, 0.25, ranks=bc.simulated_ranks(5))
    np.testing.assert_array_equal(on_ranks, found[: len(on_ranks)])
    drawn("drifters", days, found)


def test_cylinder() -> None:
    """Errors against the known solution are of second order."""
    grid, T, sizes, errors = problem("cylinder").run((6, 12), 0.5)
    assert errors[1] < 2e-3
    assert abs(np.log2(errors[0] / errors[1]) - 2.0) < 0.15
    drawn("cylinder", grid, T, sizes, errors)
