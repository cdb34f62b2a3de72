"""Compare runs with known results: ``python -m apps.swe verify [--quick]``.

The expected numbers were measured with an independent program of the same scheme; errors of tc1 and
tc2 are those against the exact solution. Each line shows the computed number, the expected one and
their ratio; where only a bound is known, the expected number is that bound. If the same flow was
run before with half as many cells, the order of its error is also shown.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import geometry
from .cases import DAY, case, viscosity
from .checkpoint import Setting, Weights
from .plot import Points, sample, unit
from .run import Make, Result, Run, time_step
from .solvers import SOLVERS

PROBES = (
    (0, 0), (0, 45), (90, 30), (270, 30), (270, 45),
    (180, -45), (225, 60), (315, -20), (45, 35.26), (30, 80),
)  # fmt: skip
"""Longitudes and latitudes at which the height of the surface is compared."""

MASS = 1e-13
"""The drift of mass that rounding may cause."""


DRIFT = 0.1
"""The relative difference allowed for drifts of energy and enstrophy: two digits are known."""

EXACT = {"height": 0.02, "drift": 0.01}
"""Tolerances of spectral elements: heights in metres, drifts relative to the expected drift."""


@dataclass(frozen=True)
class Check:
    """A run and the results that are expected of it.

    Parameters
    ----------
    step
        The longest time step in seconds; by default that of the case.
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
    solver: str = "fv"
    viscosity: float = 0.0

    def allows(self, name: str, value: float) -> bool:
        """Whether a number is within the tolerance of the expected one."""
        expected = self.expected[name]
        off, size = abs(value - expected), abs(expected)
        if name.endswith("drift") and self.solver == "fv":
            return abs(value) <= (1 + DRIFT) * size  # the order of sums matters as much
        if name.endswith("drift"):
            return off <= EXACT["drift"] * size
        if name.startswith("h_") and self.solver == "sem":
            return off <= EXACT["height"]
        return off <= self.within * size

    @property
    def setting(self) -> Setting:
        """The setting of the run."""
        flow, seconds = case(self.case, self.angle), self.days * DAY
        longest = self.step or SOLVERS[self.solver].step(flow, self.n)
        options = self.angle, self.weights, self.solver, self.viscosity
        return Setting(self.case, self.n, time_step(seconds, longest), *options)


def _errors(l1: float, l2: float, linf: float) -> dict[str, float]:
    return {"l1": l1, "l2": l2, "linf": linf}


def _ranges(
    low: float, high: float, least: float, most: float, **drifts: float
) -> dict[str, float]:
    return {"h_min": low, "h_max": high, "zeta_min": least, "zeta_max": most} | drifts


def _elements(
    case: str, n: int, days: float, expected: Mapping[str, float], *, angle: float = 0.0,
    smooth: bool = False, probes: tuple[float, ...] = (), quick: bool = False,
) -> Check:  # fmt: skip
    """Return a check of spectral elements, with or without viscosity."""
    nu = viscosity(n) if smooth else 0.0
    return Check(
        case, n, days, expected, 1e-3, angle, probes=probes, quick=quick, solver="sem", viscosity=nu
    )


VOLUMES = (
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
        step=480,
    ),
    Check(
        "galewsky", 60, 6,
        _ranges(8688.22, 10252.84, -1.21e-4, 1.28e-4, energy_drift=-2.3e-5, enstrophy_drift=-0.017),
    ),
)  # fmt: skip


ELEMENTS = (
    _elements("tc2", 4, 5, _errors(1.5110e-4, 1.9763e-4, 9.7393e-4), quick=True),
    _elements("tc2", 8, 5, _errors(7.2927e-6, 9.3665e-6, 5.8925e-5), quick=True),
    _elements("tc2", 16, 5, _errors(4.3489e-7, 5.6759e-7, 3.6499e-6), quick=True),
    _elements("tc2", 16, 5, _errors(4.3489e-7, 5.6759e-7, 3.6499e-6), angle=90),
    _elements("tc2", 32, 5, _errors(2.6692e-8, 3.4633e-8, 2.3199e-7)),
    _elements("tc2", 4, 5, _errors(1.6510e-4, 3.1775e-4, 2.4432e-3), angle=45, quick=True),
    _elements("tc2", 16, 5, _errors(3.6500e-7, 5.1724e-7, 3.4510e-6), angle=45, quick=True),
    _elements("tc2", 32, 5, _errors(2.0308e-8, 2.9083e-8, 2.1383e-7), angle=45),
    _elements("tc2", 4, 5, _errors(2.4929e-4, 3.0615e-4, 1.0957e-3), angle=45, smooth=True),
    _elements("tc2", 16, 5, _errors(2.7947e-6, 3.2694e-6, 7.6796e-6), angle=45, smooth=True),
    _elements("rest", 16, 50 / 345.6, {}, quick=True),
    _elements("rest", 16, 50 / 345.6, {}, smooth=True, quick=True),
    _elements(
        "tc1", 10, 12, _errors(0.46333, 0.13428, 0.081615) | {"h_min": -67.15, "h_max": 954.23},
        quick=True,
    ),
    _elements(
        "tc1", 10, 12, _errors(0.84288, 0.14067, 0.066742) | {"h_min": -54.99, "h_max": 988.67},
        angle=45,
    ),
    _elements(
        "tc1", 20, 12, _errors(0.052325, 0.016388, 0.011937) | {"h_min": -11.46, "h_max": 995.13},
    ),
    _elements(
        "tc5", 6, 1, quick=True,
        expected=_ranges(4990.00944847, 5967.86551960, -1.52745087e-5, 4.51345070e-5,
                         energy_drift=-3.494591e-8, enstrophy_drift=-9.348026e-7),
    ),
    _elements(
        "tc5", 6, 1, smooth=True, quick=True,
        expected=_ranges(4992.09576091, 5966.09528586, -1.51206566e-5, 4.06258846e-5,
                         energy_drift=-1.546430e-6, enstrophy_drift=-2.522322e-5),
    ),
    _elements(
        "galewsky", 6, 1, smooth=True, quick=True,
        expected=_ranges(8956.12252126, 10194.34794774, -8.79162319e-5, 1.01742492e-4,
                         energy_drift=-3.499576e-4, enstrophy_drift=-2.974870e-2),
    ),
    _elements(
        "tc5", 10, 15, smooth=True,
        expected=_ranges(5034.04, 5952.93, -3.6231e-5, 4.6216e-5,
                         energy_drift=-3.87e-5, enstrophy_drift=-5.58e-4),
        probes=(5905.25, 5482.79, 5658.44, 5665.97, 5392.69,
                5496.59, 5253.23, 5896.72, 5688.67, 5114.33),
    ),
    _elements(
        "tc5", 20, 15, smooth=True,
        expected=_ranges(5032.22, 5953.84, -3.6250e-5, 4.7822e-5,
                         energy_drift=-4.39e-6, enstrophy_drift=-8.58e-5),
        probes=(5904.90, 5483.13, 5660.11, 5664.28, 5389.72,
                5495.99, 5252.24, 5897.46, 5681.87, 5116.69),
    ),
    _elements(
        "tc5", 10, 15,
        expected=_ranges(5029.30, 5955.09, -3.9626e-5, 4.8898e-5,
                         energy_drift=-1.00e-7, enstrophy_drift=4.93e-4),
    ),
    _elements(
        "tc5", 20, 15,
        expected=_ranges(5032.40, 5953.90, -3.6476e-5, 5.0574e-5,
                         energy_drift=-1.86e-8, enstrophy_drift=3.87e-5),
    ),
    _elements(
        "tc6", 10, 14, smooth=True,
        expected=_ranges(8330.23, 10515.82, -8.8839e-5, 8.8839e-5,
                         energy_drift=-2.07e-4, enstrophy_drift=-4.28e-3),
    ),
    _elements(
        "galewsky", 20, 6, smooth=True,
        expected=_ranges(8625.00, 10253.97, -1.3706e-4, 1.3887e-4,
                         energy_drift=-5.50e-5, enstrophy_drift=-1.53e-2),
        probes=(10152.25, 9591.08, 10128.48, 10132.28, 9951.95,
                10166.87, 8800.11, 10159.10, 10190.87, 9073.06),
    ),
    _elements("jet", 8, 6, {"l2": 1.2152e-2}, smooth=True),
    _elements("jet", 16, 6, {"l2": 4.2644e-3}, smooth=True),
)  # fmt: skip

CHECKS = (*VOLUMES, *ELEMENTS)


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
        kind = check.weights if check.solver == "fv" else "sem nu" if check.viscosity else "sem"
        flow = f"{check.case:<9}{check.angle:>3g}°  n {check.n:>3}  {kind:<6}"
        numbers = f"{self.computed:>13.5g}{self.expected:>13.5g}{self.ratio:>10.4f}"
        return f"{flow}  {self.name:<13}{numbers}{'' if self.good else '  WRONG'}"


HEADER = f"{'case':<33}{'quantity':<13}{'computed':>13}{'expected':>13}{'ratio':>10}"


def rows(check: Check, make: Make) -> Iterator[Row]:
    """Run a check and yield its comparisons."""
    setting = check.setting
    result = Run(setting, make, check.days * DAY).run()
    found = result.document()
    for name, expected in check.expected.items():
        yield Row(check, name, found[name], expected, check.allows(name, found[name]))
    surface = np.asarray(result.last.values.H.gather())
    points = Points(result.last.flow.known.at, setting.kind.degree)
    for place, expected in zip(PROBES, check.probes, strict=False):
        height = float(sample(surface, unit(*map(np.array, place)), points))
        name = f"H({place[0]:g},{place[1]:g})"
        allowed = 1e-3 * expected if check.solver == "fv" else EXACT["height"]
        yield Row(check, name, height, expected, abs(height - expected) <= allowed)
    for name, value, bound in _bounds(check, found, result):
        yield Row(check, name, abs(value), bound, abs(value) <= bound)


def _bounds(
    check: Check, found: dict[str, Any], result: Result
) -> Iterator[tuple[str, float, float]]:
    """Yield numbers that have bounds: the drift of mass, and the speed in m/s of water at rest."""
    yield "mass_drift", found["mass_drift"], MASS
    if check.case == "rest":
        u = max(float(np.abs(part).max()) for _, part in result.last.values.u.parts())
        yield "speed", u * geometry.RADIUS, 1e-11


def _order(coarser: Row, row: Row) -> Row:
    """Return the order of the errors of two runs, of which one has twice as many cells."""
    computed, expected = (
        math.log2(getattr(coarser, name) / getattr(row, name)) for name in ("computed", "expected")
    )
    return Row(row.check, "order of l2", computed, expected, row.good)


def verify(
    make: Make, quick: bool, show: Callable[[str], object] = print, solver: str | None = None
) -> bool:
    """Run the checks and show a line for each quantity; return whether all are good."""
    show(HEADER)
    good = True
    before: dict[Any, Row] = {}
    for check in CHECKS:
        if (check.quick or not quick) and solver in (None, check.solver):
            for row in rows(check, make):
                show(str(row))
                good = good and row.good
                if row.name == "l2":
                    key = check.solver, check.weights, check.case, check.angle, check.viscosity > 0
                    if coarser := before.get((key, check.n // 2)):
                        show(str(_order(coarser, row)))
                    before[key, check.n] = row
    return good
