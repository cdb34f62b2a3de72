"""Runs: time, reports, stops, and going on bit for bit."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from apps.swe import cases
from apps.swe.cases import DAY
from apps.swe.checkpoint import Checkpoint, Setting, load
from apps.swe.diagnostics import Gauges
from apps.swe.run import Report, Result, Run, UnstableError, time_step
from apps.swe.verify import CHECKS, Check, rows, verify
from tests.apps.swe_oracle import FieldSolver

HOUR = 3600.0
SETTING = Setting("tc2", 8, 1200.0, angle=30.0)


def run(setting: Setting, hours: float, start: Checkpoint | None = None) -> tuple[Run, Result]:
    made = Run(setting, FieldSolver.of, HOUR * hours, start=start)
    return made, made.run()


def test_reports_come_at_their_times() -> None:
    found: list[Report] = []
    result = Run(SETTING, FieldSolver.of, 7 * HOUR, every=2 * HOUR).run(found.append)
    assert [report.seconds / HOUR for report in found] == [0, 2, 4, 6, 7]
    assert [report.step for report in found] == [0, 6, 12, 18, 21]
    assert result.last.step == 21
    assert found[0].drift == (0.0, 0.0, 0.0)
    assert found[0].norms is not None
    assert found[0].norms.l2 < 1e-14
    assert result.last.norms is not None
    assert 1e-6 < result.last.norms.l2 < 1e-2


def test_times_of_reports_are_met_exactly() -> None:
    """Steps of 1200 s are made shorter where a report is due between."""
    found: list[Report] = []
    Run(SETTING, FieldSolver.of, 2 * HOUR, every=1500.0).run(found.append)
    assert [report.seconds for report in found] == [0, 1500, 3000, 4500, 6000, 7200]
    assert [report.step for report in found] == [0, 2, 4, 6, 8, 9]


@pytest.mark.parametrize("split", [2, 3])
def test_parts_of_a_run_report_what_the_whole_does(split: int, tmp_path: Path) -> None:
    """Whether or not a report is due at the time at which the second part begins."""
    parts = list[Report]()
    Run(SETTING, FieldSolver.of, 6 * HOUR, every=2 * HOUR).run(parts.append)
    assert [report.seconds / HOUR for report in parts] == [0, 2, 4, 6]
    path = tmp_path / "there"
    first = Run(SETTING, FieldSolver.of, 6 * HOUR, every=2 * HOUR, checkpoint=path)
    first.simulation.stop_steps = 3 * split
    parts = []
    first.run(parts.append)
    assert load(path).seconds == split * HOUR
    Run(SETTING, FieldSolver.of, 6 * HOUR, every=2 * HOUR, start=load(path)).run(parts.append)
    assert [report.seconds / HOUR for report in parts] == [0, 2, 4, 6]


def test_a_state_is_good_when_its_report_is_made() -> None:
    """A run that is interrupted within a report makes it again when it goes on."""
    made = Run(SETTING, FieldSolver.of, 4 * HOUR, every=2 * HOUR)

    def report(found: Report) -> None:
        if found.step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run(report)
    assert made.good == 0
    made = Run(SETTING, FieldSolver.of, 4 * HOUR, every=2 * HOUR)

    def stop(simulation: Any) -> None:
        if simulation.steps:
            raise KeyboardInterrupt

    made.simulation.add(stop, time=2 * HOUR)
    with pytest.raises(KeyboardInterrupt):
        made.run()
    assert made.good == 6


def test_document_has_the_promised_keys() -> None:
    found = run(SETTING, 2)[1].document()
    promised = (
        "case n dt steps days l1 l2 linf mass_drift energy_drift enstrophy_drift h_min h_max "
        "zeta_min zeta_max wall_s ms_per_step cell_updates_per_s ranks"
    )
    assert set(promised.split()) <= set(found)
    assert (found["case"], found["n"], found["steps"], found["ranks"]) == ("tc2", 8, 6, 1)
    assert found["days"] == pytest.approx(2 / 24)
    assert abs(found["mass_drift"]) < 1e-13
    assert 1000 < found["h_min"] < found["h_max"] < 3000
    expected = 6 * 64 / (found["ms_per_step"] * 1e-3)
    assert found["cell_updates_per_s"] == pytest.approx(expected)


def test_no_error_without_an_exact_solution_and_no_energy_without_moving_water() -> None:
    found = run(Setting("tc6", 8, 1200.0), 1)[1].document()
    assert (found["l1"], found["l2"], found["linf"]) == (None, None, None)
    found = run(Setting("tc1", 8, 1200.0), 1)[1].document()
    assert found["l2"] > 0
    assert (found["energy_drift"], found["enstrophy_drift"]) == (None, None)
    assert abs(found["mass_drift"]) < 1e-13


@pytest.mark.parametrize("split", [1.0, 2.0, 3.0])
def test_a_run_goes_on_bit_for_bit(split: float, tmp_path: Path) -> None:
    whole = run(SETTING, 4)[0].solver.state.gather()
    path = tmp_path / "there"
    Run(SETTING, FieldSolver.of, HOUR * split, checkpoint=path).run()
    second, last = run(SETTING, 4, load(path))
    assert np.array_equal(second.solver.state.gather(), whole)
    assert last.last.step == 12
    assert last.last.drift == run(SETTING, 4)[1].last.drift


def test_steps_are_equal_where_the_time_is_no_multiple() -> None:
    times = list[float]()
    made = Run(SETTING, FieldSolver.of, 1.5 * HOUR)
    made.simulation.add(lambda s: times.append(s.time))
    assert made.run().last.seconds == 1.5 * HOUR
    assert np.diff(times).tolist() == [1080.0] * 5


def test_a_run_to_before_its_start_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "there"
    Run(SETTING, FieldSolver.of, 3 * HOUR, checkpoint=path).run()
    with pytest.raises(ssr.errors.ArgumentError, match=r"end after 0.0833333 days"):
        run(SETTING, 2, load(path))


class Breaking(FieldSolver):
    """A solver that spoils one value at a step."""

    value, at, count = math.nan, 15, 0

    def step(self, dt: float) -> None:
        super().step(dt)
        self.count += 1
        if self.count == self.at:
            spoilt = self.state.gather()
            spoilt[0, 4, 5, 2] *= self.value
            self.state.set(spoilt)


class Drying(Breaking):
    value, at = -1.0, 20


class Rushing(Breaking):
    value, at = 60.0, 20


def test_nan_stops_the_run_at_once(tmp_path: Path) -> None:
    rescue = tmp_path / "good"
    made = Run(SETTING, Breaking.of, 20 * HOUR, rescue=rescue)
    with pytest.raises(UnstableError, match=r"step 15: panel 4, j = 5, i = 2 holds no finite") as e:
        made.run()
    assert "state after step 10 is in" in str(e.value)
    saved = load(rescue)
    assert saved.step == 10
    assert saved.seconds == 10 * 1200.0
    expected = run(SETTING, 10 / 3)[0].solver.state.gather()
    assert (saved.file.fields["state"] == expected).all()


def test_nothing_is_saved_before_a_good_state(tmp_path: Path) -> None:
    class Early(Breaking):
        at = 3

    with pytest.raises(UnstableError) as e:
        Run(SETTING, Early.of, 20 * HOUR, rescue=tmp_path / "good").run()
    assert "is in" not in str(e.value)
    assert not list(tmp_path.iterdir())


def test_a_state_that_cannot_be_saved_does_not_hide_why_the_run_stops(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    rescue = tmp_path / "file" / "good"
    with pytest.raises(UnstableError, match="step 15") as e:
        Run(SETTING, Breaking.of, 20 * HOUR, rescue=rescue).run()
    assert f"{rescue} cannot be written" in str(e.value)


def test_dry_land_stops_the_run() -> None:
    with pytest.raises(UnstableError, match="step 20: panel 4, j = 5, i = 2 has run dry"):
        Run(SETTING, Drying.of, 20 * HOUR).run()


def test_fast_waves_stop_the_run() -> None:
    with pytest.raises(UnstableError, match=r"step 20: panel 4, j = 5, i = 2 has waves of \d+ m/s"):
        Run(SETTING, Rushing.of, 20 * HOUR).run()


def test_a_step_that_is_too_long_is_refused_before_the_first() -> None:
    with pytest.raises(UnstableError, match="at step 0") as e:
        run(Setting("tc2", 8, 10000.0), 20)
    assert "shorter step" in str(e.value)


def test_a_really_unstable_run_is_caught() -> None:
    """Above the limit the scheme does break; here the first check is made blind."""
    made = Run(Setting("tc2", 8, 10000.0), FieldSolver.of, 20 * DAY)
    assert made.report().courant > 1.1
    made.gauges.fastest = lambda: 0.0  # type: ignore[method-assign]
    with np.errstate(all="ignore"), pytest.raises(UnstableError, match="finite number"):
        made.run()


def test_time_steps() -> None:
    flow = cases.case("tc2")
    assert time_step(5 * DAY, flow.dt(32)) == 600.0
    assert time_step(5 * DAY, flow.dt(64)) == 300.0
    assert time_step(1000.0, 300.0) == 250.0


def gauges(name: str, n: int, ranks: Any = None) -> Gauges:
    flow = cases.case(name)
    return Gauges(FieldSolver(n, flow, ranks=ranks))


def test_speeds() -> None:
    found = gauges("tc2", 16).fastest()
    assert found == pytest.approx(38.6 + math.sqrt(9.80616 * 2998), rel=0.01)
    assert gauges("tc1", 16).fastest() == pytest.approx(38.6, rel=0.01)


def test_invariants_of_a_turning_layer() -> None:
    found, *_ = gauges("tc2", 32).observe()
    a, speed, omega = 6.37122e6, 2 * np.pi * 6.37122e6 / (12 * DAY), 7.292e-5
    sine, weights = np.polynomial.legendre.leggauss(60)
    h = (2.94e4 - (a * omega * speed + speed**2 / 2) * sine**2) / 9.80616

    def integral(values: np.ndarray) -> float:
        return float(2 * np.pi * a**2 * np.sum(weights * values))

    assert found.mass == pytest.approx(integral(h), rel=1e-10)
    energy = h * speed**2 * (1 - sine**2) / 2 + 9.80616 * h**2 / 2
    assert found.energy == pytest.approx(integral(energy), rel=1e-3)
    absolute = (2 * speed / a + 2 * omega) * sine
    assert found.enstrophy == pytest.approx(integral(absolute**2 / (2 * h)), rel=1e-2)


def test_norms() -> None:
    made = gauges("tc2", 8)
    state = made.flow.state
    exact = state.gather()
    assert made.norms(0.0) == pytest.approx((0.0, 0.0, 0.0), abs=1e-14)
    state.set(exact * 1.5)
    assert made.norms(0.0) == pytest.approx((0.5, 0.5, 0.5))
    exact[0, 3, 0, 0] *= 2.5
    state.set(exact)
    found = made.norms(0.0)
    assert found is not None
    assert 1.0 < found.linf < 1.5
    assert found.l1 < found.l2 < found.linf


@pytest.mark.parametrize("name", ["tc1", "tc2"])
def test_gauges_of_ranks_are_those_of_one_process(name: str) -> None:
    one, five = (gauges(name, 12, ranks) for ranks in (None, bc.simulated_ranks(5)))
    assert repr(five.observe()) == repr(one.observe())  # NaN where there is no energy
    assert (five.fastest(), five.norms(3600.0)) == (one.fastest(), one.norms(3600.0))
    assert five.worst(five.fastest()) == one.worst(one.fastest())
    for mine, theirs in zip(vars(five.values).values(), vars(one.values).values(), strict=True):
        assert np.array_equal(mine.gather(), theirs.gather())


@pytest.mark.parametrize(
    "check",
    [c for c in CHECKS if c.quick and (c.case == "rest" or c.angle == 90)],
    ids=lambda c: f"{c.case}-{c.weights}",
)
def test_known_results(check: Check) -> None:
    found = list(rows(check, FieldSolver.of))
    assert len(found) >= 2
    assert not [str(row) for row in found if not row.good]


def test_verify_tells_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(FieldSolver):
        def step(self, dt: float) -> None:
            super().step(0.9 * dt)

    errors = Run(Setting("tc1", 8, 8640.0), FieldSolver.of, DAY).run().document()
    expected = {name: errors[name] for name in ("l1", "l2", "linf")}
    monkeypatch.setattr("apps.swe.verify.CHECKS", [Check("tc1", 8, 1, expected, quick=True)])
    good, bad = list[str](), list[str]()
    assert verify(FieldSolver.of, True, good.append)
    assert not verify(Slow.of, True, bad.append)
    assert good[0] == bad[0]
    assert [text.endswith("WRONG") for text in good[1:]] == [False] * 4
    assert [text.endswith("WRONG") for text in bad[1:]] == [True] * 3 + [False]
