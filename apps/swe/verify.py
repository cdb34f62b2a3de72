"""Compare runs with known results: ``python -m apps.swe verify [--quick]``.

The expected numbers were measured with an independent program of the same scheme; errors of tc1 and
tc2 are those against the exact solution. Each line shows what was computed, what is expected, and
their ratio; where only a bound is known, the expected number is that bound.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import geometry
from .cases import DAY, case
from .checkpoint import Setting, Weights
from .plot import sample, unit
from .run import Make, Result, Run, time_step

PROBES = (
    (0, 0), (0, 45), (90, 30), (270, 30), (270, 45),
    (180, -45), (225, 60), (315, -20), (45, 35.26), (30, 80),
)  # fmt: skip
"""Longitudes and latitudes at which the height of the surface is compared."""

MASS = 1e-12
"""The drift of mass that rounding may cause."""


DRIFT = 0.1
"""The relative difference allowed for drifts of energy and enstrophy: two digits are known."""


@dataclass(frozen=True)
class Check:
    """A run and the results that are expected of it.

    Parameters
    ----------
    step
        The longest time step at 32 cells; by default that of the case.
    expected
        Numbers under the keys of the JSON file.
    within
        The relative difference allowed for all numbers but the drifts.
    probes
        The heights at `PROBES`.
    """

    case: str
    n: int
    days: float
    expected: Mapping[str, float] = field(default_factory=dict)
    within: float = 0.02
    angle: float = 0.0
    weights: Weights = "linear"
    step: float | None = None
    probes: tuple[float, ...] = ()
    quick: bool = False


def _errors(l1: float, l2: float, linf: float) -> dict[str, float]:
    return {"l1": l1, "l2": l2, "linf": linf}


def _ranges(
    low: float, high: float, least: float, most: float, **drifts: float
) -> dict[str, float]:
    return {"h_min": low, "h_max": high, "zeta_min": least, "zeta_max": most} | drifts


CHECKS = (
    Check("tc2", 16, 5, _errors(1.3964e-5, 1.9160e-5, 6.1962e-5), quick=True),
    Check("tc2", 16, 5, _errors(1.6564e-5, 2.2808e-5, 7.0372e-5), angle=45, quick=True),
    Check("tc2", 16, 5, _errors(1.3964e-5, 1.9160e-5, 6.1962e-5), angle=90, quick=True),
    Check("rest", 16, 1, quick=True),
    Check("rest", 16, 1, weights="weno", quick=True),
    Check("tc1", 20, 12, _errors(0.2673, 0.1473, 0.1029), quick=True),
    Check("tc1", 20, 12, _errors(0.2641, 0.1302, 0.1232), angle=45),
    Check("tc1", 20, 12, _errors(0.2813, 0.1937, 0.1606), weights="weno"),
    Check("tc1", 40, 12, _errors(0.0389, 0.0235, 0.0203)),
    Check("tc1", 40, 12, _errors(0.0365, 0.0202, 0.0150), angle=45),
    Check("tc1", 40, 12, _errors(0.0528, 0.0365, 0.0278), weights="weno"),
    Check("tc2", 32, 5, _errors(6.2601e-7, 9.9401e-7, 5.1884e-6)),
    Check("tc2", 32, 5, _errors(8.7511e-7, 1.2294e-6, 4.8148e-6), angle=45),
    Check("tc2", 32, 5, _errors(8.7764e-7, 1.2301e-6, 4.8040e-6), angle=45, weights="weno"),
    Check("tc2", 64, 5, _errors(3.5628e-8, 5.4641e-8, 4.1302e-7)),
    Check("tc2", 64, 5, _errors(4.4899e-8, 6.5879e-8, 3.5292e-7), angle=45),
    Check(
        "tc5", 40, 15, _ranges(5033.00, 5953.65, -3.64e-5, 4.73e-5, energy_drift=-2.6e-6),
        probes=(5905.03, 5484.71, 5658.65, 5664.65, 5389.32,
                5495.85, 5252.62, 5897.05, 5686.67, 5116.76),
    ),
    Check(
        "tc6", 40, 14,
        _ranges(8230.17, 10527.33, -8.84e-5, 8.84e-5, energy_drift=2.0e-6, enstrophy_drift=-1.8e-3),
        step=600,
    ),
    Check(
        "galewsky", 60, 6,
        _ranges(8688.22, 10252.84, -1.21e-4, 1.28e-4, energy_drift=-2.3e-5, enstrophy_drift=-0.017),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A quantity of a check: computed, expected, their ratio, and whether that is good."""

    check: Check
    name: str
    computed: float
    expected: float
    good: bool

    @property
    def ratio(self) -> float:
        """Computed over expected."""
        return self.computed / self.expected if self.expected else math.inf

    def __str__(self) -> str:
        check = self.check
        flow = f"{check.case:<9}{check.angle:>3g}°  n {check.n:>3}  {check.weights:<6}"
        numbers = f"{self.computed:>13.5g}{self.expected:>13.5g}{self.ratio:>10.4f}"
        return f"{flow}  {self.name:<13}{numbers}{'' if self.good else '  WRONG'}"


HEADER = f"{'case':<33}{'quantity':<13}{'computed':>13}{'expected':>13}{'ratio':>10}"


def rows(check: Check, make: Make) -> Iterator[Row]:
    """Run a check and yield what it compares."""
    seconds, flow = check.days * DAY, case(check.case, check.angle)
    dt = time_step(seconds, (check.step or flow.step) * 32 / check.n)
    run = Run(Setting(check.case, check.n, dt, check.angle, check.weights), make, seconds)
    result = run.run()
    found = result.document()
    for name, expected in check.expected.items():
        good = abs(found[name] - expected) <= check.within * abs(expected)
        if name.endswith("drift"):  # smaller is better, and the order of sums matters as much
            good = abs(found[name]) <= (1 + DRIFT) * abs(expected)
        yield Row(check, name, found[name], expected, good)
    surface = np.asarray(result.last.values.H.gather())
    for place, expected in zip(PROBES, check.probes, strict=False):
        height = float(sample(surface, unit(*map(np.array, place))))
        name = f"H({place[0]:g},{place[1]:g})"
        yield Row(check, name, height, expected, abs(height - expected) <= 1e-3 * expected)
    for name, value, bound in _bounds(check, found, result):
        yield Row(check, name, abs(value), bound, abs(value) <= bound)


def _bounds(
    check: Check, found: dict[str, Any], result: Result
) -> Iterator[tuple[str, float, float]]:
    """Yield what must be small: the drift of mass, and the speed in m/s of water at rest."""
    yield "mass_drift", found["mass_drift"], MASS
    if check.case == "rest":
        u = max(float(np.abs(part).max()) for _, part in result.last.values.u.parts())
        yield "speed", u * geometry.RADIUS, 1e-11


def verify(make: Make, quick: bool, show: Callable[[str], object] = print) -> bool:
    """Run the checks and show a line for each quantity; return whether all are good."""
    show(HEADER)
    good = True
    for check in CHECKS:
        if check.quick or not quick:
            for row in rows(check, make):
                show(str(row))
                good = good and row.good
    return good
