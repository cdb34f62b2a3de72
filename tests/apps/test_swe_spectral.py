"""Spectral elements: derivatives, synchronization, invariants, viscosity, known flows."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from apps.swe import conventions, geometry, plot
from apps.swe.__main__ import main
from apps.swe.cases import DAY, GRAVITY, case, viscosity
from apps.swe.checkpoint import Setting, load
from apps.swe.output import read
from apps.swe.run import Result, Run, time_step
from apps.swe.solvers import make
from apps.swe.spectral import (
    LAGRANGE,
    NODES,
    Constants,
    Elements,
    derivative,
    first,
    inside,
    last,
    mean,
    nodes,
    panel,
    rhs,
    smooth,
    turned,
)
from tests.apps.swe_elements import ElementByElement

A = geometry.RADIUS

FLOW: dict[str, Any] = {
    "wind": nodes.vector(2),
    "m": panel.vector(5),
    "f": nodes,
    "b": nodes,
    "per": ssr.scalar,
}


@cache
def tendency(known: Constants) -> ssr.Program:
    """Return the program of dU/dt, one-sided and after synchronization."""

    @ssr.program(U=nodes.vector(3), R=nodes.vector(3), S=nodes.vector(3), **FLOW)
    def tendency(U: Any, R: Any, S: Any, wind: Any, m: Any, f: Any, b: Any, per: Any) -> None:
        R[:] = rhs(U, wind, m, f, b, per, False)
        S[:] = ssr.vector(mean @ R[0], *(turned(known) @ R[1:]))

    return tendency


def tendencies(flow: Elements, state: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return dU/dt of a state, one-sided and after synchronization."""
    made = [np.empty(flow.state.shape) for _ in range(2)]
    given = flow.state.gather() if state is None else state
    constants = [flow.constants[name].gather() for name in ("wind", "m", "f", "b")]
    tendency(flow.elements)(given, *made, *constants, flow.per)
    return made[0], made[1]


def masses(known: Constants) -> np.ndarray:
    """Return the areas of all points, those of every copy."""
    size = 3 * known.n + 1
    return np.broadcast_to(known.sphere(*np.ogrid[:size, :size]), (6, size, size))


def everywhere(known: Constants) -> tuple[Any, ...]:
    """Return the indices of all points."""
    size = 3 * known.n + 1
    return tuple(np.ogrid[:6, :size, :size])


def analytic(known: Constants, seed: int) -> np.ndarray:
    """Return a smooth state in motion: polynomials in space."""
    where = known.places(*everywhere(known))
    r, rng = geometry.position(*where), np.random.default_rng(seed)
    terms = np.stack([r[0], r[1], r[2], r[0] * r[1], r[1] * r[2], r[2] ** 2])
    h, *v = np.einsum("ct,tpji->cpji", rng.normal(size=(4, 6)), terms)
    u = np.einsum("crpji,rpji->cpji", geometry.basis(*where), 30.0 * np.stack(v))
    return np.stack([5000.0 + 300.0 * h, *u])


def continuous(known: Constants, seed: int) -> np.ndarray:
    """Return a random state in motion, which all copies of a point share."""
    rng = np.random.default_rng(seed)
    shape = np.shape(analytic(known, 0))[1:]
    h = mean @ rng.uniform(4000.0, 6000.0, shape)
    u = turned(known) @ rng.normal(0.0, 20.0 * A, (2, *shape))
    return np.stack([h, *u])


# -- operators -----------------------------------------------------------------------------------


def test_derivatives_of_cubics_are_exact() -> None:
    for power in range(4):
        slope = power * NODES ** max(power - 1, 0)
        np.testing.assert_allclose(LAGRANGE @ NODES**power, slope, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_derivative_adds_up_by_parts(n: int) -> None:
    """Rows sum to zero, and W D + (W D)^T has the ends only."""
    D, known = derivative.bind(ne=n).to_scipy().toarray(), Constants(n, case("tc2"))
    np.testing.assert_allclose(D.sum(axis=1), 0.0, atol=1e-14)
    W = known.weights * n / (2 * geometry.EDGE)
    parts = W[:, None] * D
    ends = np.zeros(len(D))
    ends[[0, -1]] = -1.0, 1.0
    np.testing.assert_allclose(parts + parts.T, np.diag(ends), atol=1e-14)


def test_the_derivative_has_three_kinds_of_rows() -> None:
    D = derivative.bind(ne=4).to_scipy().toarray() / 2
    s = np.sqrt(5.0)
    shared = [-0.25, 0.7725424859, -2.0225424859, 0.0, 2.0225424859, -0.7725424859, 0.25]
    np.testing.assert_allclose(D[3, :7], shared, atol=1e-10)
    np.testing.assert_allclose(D[4, 3:7], [-(1 + s) / 4, 0, s / 2, (1 - s) / 4], atol=1e-14)
    np.testing.assert_allclose(D[5, 3:7], [(s - 1) / 4, -s / 2, 0, (1 + s) / 4], atol=1e-14)
    np.testing.assert_allclose(D[0, :4], LAGRANGE[0], atol=1e-14)
    np.testing.assert_allclose(D[12, 9:], LAGRANGE[3], atol=1e-14)
    assert derivative.bind(ne=4).to_scipy().nnz == 2 * 4 + 3 * 6 + 8 * 3


def test_one_sided_derivatives_make_the_derivative() -> None:
    ahead, within, behind = (D.bind(ne=3).to_scipy().toarray() for D in (first, inside, last))
    D = derivative.bind(ne=3).to_scipy().toarray()
    np.testing.assert_allclose(D[3], (ahead + behind)[3] / 2, atol=1e-14)
    np.testing.assert_array_equal(D[[1, 2, 4, 5, 7, 8]], within[[1, 2, 4, 5, 7, 8]])
    assert np.flatnonzero(ahead.any(axis=1)).tolist() == [0, 3, 6]
    assert np.flatnonzero(within.any(axis=1)).tolist() == [1, 2, 4, 5, 7, 8]
    assert np.flatnonzero(behind.any(axis=1)).tolist() == [3, 6, 9]


def test_points() -> None:
    known = Constants(4, case("tc2"))
    first = [-0.7853981634, -0.6768588067, -0.5012384384, -0.3926990817, -0.2841597250]
    np.testing.assert_allclose(known.at[:5], first, atol=1e-10)
    J = known.metric(*np.ogrid[:13, :13])[1] / A**2
    assert J[1, 2] == pytest.approx(0.788294755892663, rel=1e-14)
    assert J[0, 0] == pytest.approx(0.7698003589195008, rel=1e-14)
    assert ((known.edges[:-1] <= known.at) & (known.at <= known.edges[1:] + 1e-15)).all()


@pytest.mark.parametrize(("n", "error"), [(4, 8.75e-8), (8, 1.54e-9), (16, 2.46e-11)])
def test_area_of_the_sphere(n: int, error: float) -> None:
    found = masses(Constants(n, case("tc2"))).sum() / (4 * np.pi * A**2) - 1
    assert found == pytest.approx(error, rel=4e-3)


# -- a right-hand side ---------------------------------------------------------------------------


def test_tendencies_of_the_steady_flow() -> None:
    flow = Elements(4, case("tc2", 45))
    at = np.s_[:, 0, 1, 2]
    np.testing.assert_allclose(
        flow.state.gather()[at], [1405.69927247, 22842366.5200, 80602631.7318], rtol=1e-11
    )
    one, both = tendencies(flow)
    np.testing.assert_allclose(
        one[at], [3.70631150820e-5, 23.7391489850, -1.70104764164], rtol=1e-8
    )
    np.testing.assert_allclose(both[at], one[at])
    np.testing.assert_allclose(
        one[:, 0, 0, 0], [1.00325943889e-4, 42.3646489149, -59.3417444654], rtol=1e-8
    )
    for place, u in (
        ((0, 0, 0), (69.7562510296, -34.8781255149)),
        ((3, 0, 12), (34.8781255147, -34.8781255149)),
        ((5, 12, 0), (69.7562510296, 34.8781255147)),
    ):
        assert abs(both[0][place]) < 1e-15
        np.testing.assert_allclose([x[place] for x in both[1:]], u, rtol=1e-8)


def test_copies_of_smooth_fields_stay_and_have_equal_masses() -> None:
    known = Constants(4, case("tc2"))
    state, m = analytic(known, 1), masses(known)
    np.testing.assert_allclose(mean @ state[0], state[0], rtol=1e-14)
    u = turned(known) @ state[1:]
    np.testing.assert_allclose(u, state[1:], atol=1e-13 * abs(state[1:]).max())
    np.testing.assert_allclose(mean @ m, m, rtol=1e-14)
    loose = np.random.default_rng(2).normal(size=u.shape)
    once = turned(known) @ loose
    np.testing.assert_allclose(turned(known) @ once, once, atol=1e-14 * abs(once).max())


def test_mass_energy_and_vorticity_are_conserved() -> None:
    flow = Elements(4, case("tc5"))
    known, m = flow.elements, masses(flow.elements)
    h, *u = state = continuous(known, 3)
    _, (dh, d1, d2) = tendencies(flow, state)
    _, _, *G = known.metric(*np.ogrid[:13, :13])
    v1, v2 = G[0] * u[0] + G[1] * u[1], G[1] * u[0] + G[2] * u[1]
    E = GRAVITY * (h + flow.constants["b"].gather()) + (u[0] * v1 + u[1] * v2) / 2
    D = derivative.bind(ne=4).to_scipy().toarray() * flow.per
    zeta = (d2 @ D.T - np.einsum("jk,pki->pji", D, d1)) / known.metric(*np.ogrid[:13, :13])[1]
    for terms in (m * dh, m * (E * dh + h * (v1 * d1 + v2 * d2)), m * (mean @ zeta)):
        assert abs(terms.sum()) < 2e-14 * abs(terms).sum()


@pytest.mark.parametrize("n", [2, 3])
def test_tendencies_are_those_of_elements(n: int) -> None:
    flow = Elements(n, case("tc5"))
    state = continuous(flow.elements, 4)
    _, found = tendencies(flow, state)
    expected = ElementByElement(flow.elements).rhs(state)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12 * abs(other).max())


# -- viscosity -----------------------------------------------------------------------------------


def laplace(known: Constants, q: np.ndarray) -> np.ndarray:
    """Return the Laplacian of a field, times the square of the radius."""
    made, size = np.empty_like(q), 3 * known.n + 1
    m = np.ascontiguousarray(known.metric(*np.ogrid[:size, :size]))
    smooth(q.copy(), made, m, known.n / (2 * geometry.EDGE))
    return A**2 * made


def test_laplacian_of_z() -> None:
    known = Constants(4, case("tc2"))
    z = geometry.position(*known.places(*everywhere(known)))[2]
    once = laplace(known, z)
    twice = laplace(known, once)
    for place, value in ((1, 2), 1.1501951379), ((0, 0), 1.1969534773), ((3, 3), 0.7151503759):
        assert once[0][place] == pytest.approx(value, rel=1e-9)
    assert twice[0, 1, 2] == pytest.approx(-1.3548218092, rel=1e-8)
    m = masses(known)
    assert (m * z * once).sum() / (m * z * z).sum() == pytest.approx(-2, rel=2e-7)
    assert (m * z * twice).sum() / (m * z * z).sum() == pytest.approx(4, rel=6e-6)


@pytest.mark.parametrize(("n", "l2", "most"), [(4, 2.70e-3, 4.2e-2), (8, 4.12e-4, 1.13e-2)])
def test_errors_of_the_laplacian(n: int, l2: float, most: float) -> None:
    known = Constants(n, case("tc2"))
    z = geometry.position(*known.places(*everywhere(known)))[2]
    m, error = masses(known), laplace(known, z) + 2 * z
    assert np.sqrt((m * error**2).sum() / m.sum()) == pytest.approx(l2, rel=5e-3)
    assert abs(error).max() == pytest.approx(most, rel=1e-2)


def test_the_laplacian_is_symmetric_and_keeps_integrals() -> None:
    known = Constants(3, case("tc2"))
    m, rng = masses(known), np.random.default_rng(5)
    q, r = (mean @ rng.normal(size=m.shape) for _ in range(2))
    Lq, Lr = laplace(known, q), laplace(known, r)
    assert abs((m * Lq).sum()) < 1e-13 * abs(m * Lq).sum()
    assert (m * r * Lq).sum() == pytest.approx((m * q * Lr).sum(), rel=1e-12)
    assert (m * q * Lq).sum() < 0
    assert abs(laplace(known, np.ones_like(q))).max() < 1e-11


# -- flows ---------------------------------------------------------------------------------------


def run(name: str, n: int, days: float, *, nu: float = 0.0, angle: float = 0.0) -> Result:
    dt = time_step(days * DAY, case(name, angle).element_dt(n))
    setting = Setting(name, n, dt, angle, solver="sem", viscosity=nu)
    return Run(setting, make, days * DAY).run()


@pytest.mark.parametrize("nu", [0.0, viscosity(16)])
def test_water_at_rest_stays_at_rest(nu: float) -> None:
    flow = Elements(16, case("rest"), nu)
    for _ in range(50):
        flow.step(250.0)
    size = 49
    known = flow.elements
    _, _, *G = known.metric(*np.ogrid[:size, :size])
    h, *u = flow.state.gather()
    speed = np.sqrt(u[0] * (G[0] * u[0] + G[1] * u[1]) + u[1] * (G[1] * u[0] + G[2] * u[1]))
    assert speed.max() < 1e-11
    np.testing.assert_allclose(h + flow.constants["b"].gather(), 6000.0, rtol=1e-13)


def test_order_of_the_steady_flow() -> None:
    coarse, fine = (run("tc2", n, 1, angle=45.0).document() for n in (8, 16))
    for name, order in ("l1", 3.9), ("l2", 3.9), ("linf", 3.7):
        assert np.log2(coarse[name] / fine[name]) > order
    assert abs(fine["mass_drift"]) < 1e-15


def test_errors_of_five_days() -> None:
    found = run("tc2", 4, 5, angle=45.0).document()
    for name, value in ("l1", 1.6510e-4), ("l2", 3.1775e-4), ("linf", 2.4432e-3):
        assert found[name] == pytest.approx(value, rel=1e-3)
    assert found["energy_drift"] == pytest.approx(-1.4e-9, rel=5e-2)


@pytest.mark.parametrize(
    ("name", "rough", "height", "vorticity", "drifts", "change"),
    [
        ("tc5", False, (4990.00944847, 5967.86551960), (-1.52745087e-5, 4.51345070e-5),
         (-3.494591e-8, -9.348026e-7), 2.35934947e-3),
        ("tc5", True, (4992.09576091, 5966.09528586), (-1.51206566e-5, 4.06258846e-5),
         (-1.546430e-6, -2.522322e-5), 2.34585593e-3),
        ("galewsky", True, (8956.12252126, 10194.34794774), (-8.79162319e-5, 1.01742492e-4),
         (-3.499576e-4, -2.974870e-2), 2.28160246e-3),
    ],
)  # fmt: skip
def test_one_day(
    name: str, rough: bool, height: Any, vorticity: Any, drifts: Any, change: float
) -> None:
    result = run(name, 6, 1, nu=viscosity(6) if rough else 0.0)
    found, last = result.document(), result.last
    assert last.height == pytest.approx(height, abs=1e-7)
    assert last.vorticity == pytest.approx(vorticity, rel=1e-8)
    assert found["energy_drift"] == pytest.approx(drifts[0], rel=1e-6)
    assert found["enstrophy_drift"] == pytest.approx(drifts[1], rel=1e-6)
    assert abs(found["mass_drift"]) < 1e-15
    known = Constants(6, case(name))
    before = known.depth(case(name).depth, *everywhere(known))
    m, h = masses(known), last.values.h.gather()
    l2 = np.sqrt((m * (h - before) ** 2).sum() / (m * before**2).sum())
    assert l2 == pytest.approx(change, rel=1e-7)


def test_a_bell_is_carried() -> None:
    """As far as it goes in two days; the wind never changes."""
    result = run("tc1", 6, 2)
    flow = result.last.flow
    start = flow.known.state(*everywhere(flow.known))  # type: ignore[arg-type]
    np.testing.assert_allclose(flow.state.gather()[1:], turned(flow.known) @ start[1:], rtol=1e-9,
                               atol=1e-2)  # fmt: skip
    assert result.document()["l2"] < 0.2
    assert abs(result.document()["mass_drift"]) < 1e-13


# -- ranks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ranks", "cut"), [(4, None), (24, (2, 2)), (5, (1, 2))])
def test_steps_have_the_bits_of_one_process(ranks: int, cut: tuple[int, int] | None) -> None:
    flow, n = case("tc5"), 4
    alone = Elements(n, flow, viscosity(n))
    spread = Elements(n, flow, viscosity(n), bc.simulated_ranks(ranks), cut)
    for _ in range(2):
        alone.step(flow.element_dt(n))
        spread.step(flow.element_dt(n))
    assert np.array_equal(spread.state.gather(), alone.state.gather())


# -- the command ---------------------------------------------------------------------------------


def test_runs_go_on_to_the_same_bits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start, numbers = tmp_path / "start", tmp_path / "numbers.json"
    whole = f"--solver sem --case tc5 --n 4 --steps 5 --digest --json {numbers}"
    assert main(whole.split()) == 0
    expected = capsys.readouterr().out
    assert main(f"--solver sem --case tc5 --n 4 --steps 2 --checkpoint {start}".split()) == 0
    text = capsys.readouterr().out
    assert text.startswith("tc5: zonal flow over a mountain, 4 x 4 elements a panel")
    assert "million points a second" in text
    assert main(f"--restart {start} --steps 5 --digest".split()) == 0
    assert capsys.readouterr().out == expected
    assert load(start).file.fields["state"].shape == (3, 6, 13, 13)
    found = json.loads(numbers.read_text())
    assert (found["solver"], found["n"], found["points"]) == ("sem", 4, 13)
    assert found["viscosity"] == pytest.approx(viscosity(4))
    assert main(f"--restart {start} --steps 5 --viscosity off".split()) == 1
    assert "keeps its viscosity" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--viscosity 3", "--viscosity is not for the solver fv"),
        ("--solver sem --weights weno", "--weights is not for the solver sem"),
        ("--solver sem --viscosity -1", "--viscosity is -1.0; it must not be below 0"),
        ("--solver sem --n 0", "a panel has at least 1 elements along a side"),
    ],
)
def test_options_that_do_not_fit(
    text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(text.split())
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0.0), ("--case tc5", viscosity(10)), ("--case tc5 --viscosity off", 0.0),
     ("--viscosity auto", 0.0), ("--viscosity 1e15", 1e15)],
)  # fmt: skip
def test_viscosity_is_chosen(text: str, expected: float) -> None:
    made: list[Setting] = []

    def note(setting: Setting) -> Any:
        made.append(setting)
        raise ssr.errors.ArgumentError("enough")

    assert main(f"--solver sem {text}".split(), note) == 1
    assert made[0].viscosity == pytest.approx(expected)


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_files_and_pictures(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("zarr")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("apps.swe.output.SIDES", {"panel": 1, "y": 5, "x": 5})
    path, known = tmp_path / f"run.{suffix}", Constants(4, case("tc2"))
    options = f"--solver sem --n 4 --steps 1 --output {path} --plot {tmp_path / 'end.png'}"
    assert main(options.split()) == 0
    with read(path) as file:
        assert file.sizes == {"time": 2, "panel": 6, "y": 13, "x": 13, "corner": 4}
        area = float(file["cell_area"].sum())
        assert area == pytest.approx(4 * np.pi * A**2, rel=1e-7)
        np.testing.assert_allclose(file["x"], known.at)
        h = known.depth(case("tc2").depth, *everywhere(known))
        np.testing.assert_allclose(file["height"][0], h, rtol=1e-14)
    assert main(["plot", str(path), "--to", str(tmp_path / "again.png")]) == 0
    assert (tmp_path / "again.png").stat().st_size > 10_000


def test_cells_of_points_cover_the_sphere_once() -> None:
    """The corners of a cell surround its point, or have it on their edge."""
    known = Constants(3, case("tc2"))
    lon, lat = conventions.bounds(known, *everywhere(known))
    place = geometry.position(*known.places(*everywhere(known)))
    r = plot.unit(lon, lat)
    turn = np.einsum("r...c,r...->...c", np.cross(r, np.roll(r, -1, axis=-1), axis=0), place)
    assert (turn > -1e-12).all()
    corners = known.edges
    assert corners[0] == -geometry.EDGE
    assert corners[-1] == pytest.approx(geometry.EDGE, rel=1e-15)


def test_samples_are_of_fourth_order() -> None:
    r = np.random.default_rng(2).normal(size=(3, 2000))
    r /= np.linalg.norm(r, axis=0)
    errors = []
    for n in 4, 8:
        known = Constants(n, case("tc2"))
        x, y, z = geometry.position(*known.places(*everywhere(known)))
        found = plot.sample(x + y * z, r, plot.Points(known.at, 3))
        errors.append(np.abs(found - r[0] - r[1] * r[2]).max())
    assert 10 < errors[0] / errors[1] < 22
