"""Time statistics of fields and expressions: mean, variance, minimum and maximum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, SpaceError, UnboundError
from ..integrate.stepper import Stepper
from ..programs import reductions
from ..programs.program import Program, made_program
from ..programs.vectors import Vector
from ..solvers import vectors
from ..spaces.distributed import is_distributed
from ..spaces.space import VectorSpace
from ..symbols.functions import maximum, minimum
from ..trace.trace import scalar
from .fields import kind_of
from .stateful import StatefulCallback

NAMES = "mean", "squares", "min", "max"
"""Accumulated fields; squares is the sum of squared deviations from the mean."""


class Statistics(StatefulCallback):
    """A callback that collects mean, variance, minimum and maximum in time at each point.

    Each call is a sample of the same weight; a schedule in time has samples at equal distances.
    Samples are added by one compiled pass over the fields, by the recurrence of Welford, whose
    rounding errors do not grow. Checkpoints hold the statistics.

    Parameters
    ----------
    *fields
        The names of unknowns of the stepper, or other arrays or fields of ranks.
    of
        A function of expressions, one for each field, as in the body of a program; its values are
        sampled. By default the one field itself.

    Raises
    ------
    ArgumentError
        If there is no field, or several without ``of``.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points, v=points)
    ... def circle(t, u, v):
    ...     return v, -u
    >>> state = np.ones(1), np.zeros(1)
    >>> stepper = ssr.integrate.RungeKutta(circle, 0.0, state, dt=2 * np.pi / 100)
    >>> simulation = ssr.simulation.Simulation(stepper, stop_steps=99)
    >>> u, energy = ssr.simulation.Statistics("u"), ssr.simulation.Statistics(
    ...     "u", "v", of=lambda u, v: u * u + v * v
    ... )
    >>> for statistics in u, energy:
    ...     simulation.add(statistics, steps=1)
    >>> simulation.run().steps, u.count
    (99, 100)
    >>> print(u.variance.round(4), u.min.round(4), energy.mean.round(4))
    [0.5] [-1.] [1.]

    References
    ----------
    B. P. Welford, Technometrics 4, 1962.
    """

    def __init__(self, *fields: Any, of: Callable[..., Any] | None = None) -> None:
        if not fields or (len(fields) > 1 and of is None):
            raise ArgumentError(
                f"Statistics are given {len(fields)} fields, and no function of them.",
                hint='Write Statistics("u"), or Statistics("u", "v", of=lambda u, v: u * v).',
            )
        for field in fields:
            if not isinstance(field, (str, np.ndarray)) and not is_distributed(field):
                raise ArgumentError(
                    f"{field!r} is not a field.", hint="Give the name of an unknown, or an array."
                )
        if of is not None and not callable(of):
            raise ArgumentError(f"of is {of!r}, not a function of expressions.")
        super().__init__(count=0)
        self._given, self._of = fields, of
        self._sources: Callable[[], list[Any]] | None = None
        self._program: Program | None = None

    def begin(self, simulation: Any) -> None:
        """Find the fields in a simulation, which calls this method once.

        Parameters
        ----------
        simulation
            The simulation.

        Raises
        ------
        ArgumentError
            If the stepper has no unknown of a name.
        SpaceError
            If the values have other points than the first field.
        """
        unknowns = simulation.unknowns()
        for name in self._given:
            if isinstance(name, str) and name not in unknowns:
                raise ArgumentError(
                    f"The stepper has no unknown {name!r}.",
                    hint=f"There are {', '.join(unknowns) or 'none'}.",
                )

        def sources() -> list[Any]:
            now = simulation.unknowns()
            return [now[f] if isinstance(f, str) else f for f in self._given]

        found = sources()
        known = simulation.stepper.fun.kinds if isinstance(simulation.stepper, Stepper) else {}
        given = zip(self._given, found, strict=True)
        kinds = [known[n] if isinstance(n, str) and n in known else kind_of(f) for n, f in given]
        of = self._of or (lambda field: field)
        kind = _kind_of_values(of, kinds)
        self._program = _program(of, kinds, kind)
        self._fields = {name: _like(found[0], kinds[0], kind) for name in NAMES}
        self._sources = sources
        self._clear()

    def _clear(self) -> None:
        for name, start in zip(NAMES, (0.0, 0.0, math.inf, -math.inf), strict=True):
            vectors.assign(self._fields[name], start)

    def __call__(self, simulation: Any = None) -> None:
        """Add a sample.

        Parameters
        ----------
        simulation
            The simulation.
        """
        if self._sources is None or self._program is None:
            raise UnboundError(
                "Statistics belong to no simulation.", hint="Call simulation.add(statistics, ...)."
            )
        self._data["count"] += 1
        self._program(*self._sources(), *self._fields.values(), float(self.count))

    @property
    def count(self) -> int:
        """The number of samples."""
        return int(self._data["count"])

    @property
    def mean(self) -> Any:
        """The mean of the samples at each point."""
        return self._found("mean")

    @property
    def variance(self) -> Any:
        """The variance of the samples at each point: the mean of squared deviations, a new field.

        It is that of `numpy.var`, without Bessel's correction.
        """
        squares = self._found("squares")
        made = vectors.copied(squares)
        _divide(kind_of(made))(made, float(self.count))
        return made

    @property
    def min(self) -> Any:
        """The least sample at each point."""
        return self._found("min")

    @property
    def max(self) -> Any:
        """The greatest sample at each point."""
        return self._found("max")

    def _found(self, name: str) -> Any:
        if not self.count:
            raise UnboundError("There is no sample yet.", hint="Run the simulation first.")
        return self._fields[name]


def _kind_of_values(of: Callable[..., Any], kinds: list[Any]) -> Any:
    """Return the space of the values of a function, which has the points of the first field."""
    found: list[Any] = []

    def body(*fields: Any) -> Any:
        values = of(*fields)
        if isinstance(values, Vector):
            found.append(values[0].space.vector(len(values)))
        elif hasattr(values, "space"):
            found.append(values.space)
        else:
            raise ArgumentError(f"of returns {values!r}, not an expression of the fields.")
        return reductions.max(values)

    made_program("values", body, _named(kinds))
    first, kind = _points(kinds[0]), found[0]
    if _points(kind) != first:
        raise SpaceError(
            f"of has values on {_points(kind)!r}, and the first field is on {first!r}.",
            hint="Statistics are collected at the points of the first field.",
        )
    return kind


def _program(of: Callable[..., Any], kinds: list[Any], kind: Any) -> Program:
    """Return the program that adds a sample."""

    def body(*values: Any) -> None:
        fields, (mean, squares, low, high, count) = values[:-5], values[-5:]
        x = of(*fields)
        before = x - mean
        after = before - before / count
        low[:], high[:] = minimum(low, x), maximum(high, x)
        squares[:] = squares + before * after
        mean[:] = mean + before / count

    named = {**_named(kinds), **dict.fromkeys(NAMES, kind), "count": scalar}
    return made_program("statistics", body, named)


def _divide(kind: Any) -> Program:
    def body(x: Any, count: Any) -> None:
        x[:] = x / count

    return made_program("variance", body, {"x": kind, "count": scalar})


def _named(kinds: list[Any]) -> dict[str, Any]:
    return {f"field{n}": kind for n, kind in enumerate(kinds)}


def _points(kind: Any) -> Any:
    return kind.space if isinstance(kind, VectorSpace) else kind


def _like(field: Any, given: Any, kind: Any) -> Any:
    """Return a field of a kind without values, on the points of another field."""
    if not isinstance(field, np.ndarray):
        return field.__ssr_like__(kind, kind)
    points = field.shape[1:] if isinstance(given, VectorSpace) else field.shape
    lead = (kind.components,) if isinstance(kind, VectorSpace) else ()
    return np.empty((*lead, *points), field.dtype)
