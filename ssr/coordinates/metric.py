"""The metric of a coordinate system on the axes of a grid, for any numbers of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ArgumentError, SpaceError
from .axis import Axis
from .system import System
from .weights import Factor, Mode, Weight, function_of, names_of, weight_of

VANISHING = 1e-12
"""The area of a boundary face, relative to interior faces, below which it counts as zero."""


@dataclass(frozen=True, eq=False)
class Metric:
    """Volumes, areas and distances as products of factors.

    Coordinates of the system that have no axis are symmetric: nothing depends on them, and volumes
    and areas are those of a unit of them.

    Attributes
    ----------
    system
        The system of coordinates.
    axes
        The coordinates along the axes, by name, in the order of the axes.
    """

    system: System
    axes: dict[str, Axis]

    def __post_init__(self) -> None:
        known = self.system.factors
        unknown = [name for name in self.axes if known is not None and name not in known]
        if unknown:
            raise ArgumentError(
                f"{self.system.name} coordinates have no {unknown[0]!r}.",
                hint=f"They are {', '.join(known or ())}.",
            )
        for name in self.axes:
            factor = self.system.factor(name)
            for other in self.absent:
                if known is not None and self.system.symbols[other] in factor.free_symbols:
                    raise SpaceError(
                        f"Distances along {name} depend on {other}, which has no axis.",
                        note=f"the scale factor is {factor}",
                    )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(self.axes)

    @cached_property
    def absent(self) -> tuple[str, ...]:
        """The coordinates without an axis."""
        return tuple(name for name in self.system.factors or () if name not in self.axes)

    @cached_property
    def symbols(self) -> list[Any]:
        """The symbols of the coordinates with an axis, then of those without."""
        return [self.system.symbols.get(name, name) for name in (*self.axes, *self.absent)]

    def _jacobian(self, without: int | None = None) -> Any:
        """Return the product of the scale factors, but for that of one axis."""
        found: Any = 1
        for number, name in enumerate((*self.axes, *self.absent)):
            found = found if number == without else found * self.system.factor(name)
        return found

    def _weight(self, integrand: Any, modes: Sequence[Mode]) -> Weight:
        try:
            found = weight_of(integrand, self.symbols, modes)
        except SpaceError as error:
            raise SpaceError(
                f"Volumes depend on {', '.join(self.absent)}, which has no axis, in a product with "
                f"no factor of its own.",
                note=f"the product of scale factors is {integrand}",
            ) from error
        return tuple(Factor(1, f.axes, ("cell",)) if self._is_step(f) else f for f in found)

    def _is_step(self, factor: Factor) -> bool:
        """Whether a factor is the distance of centers that equals the width of all cells."""
        if factor.expression != 1 or factor.modes != ("step",):
            return False
        return list(self.axes.values())[factor.axes[0]].is_uniform

    @cached_property
    def volume(self) -> Weight:
        """The volumes of cells."""
        return self._weight(self._jacobian(), ["cell"] * len(self.axes))

    @cached_property
    def areas(self) -> tuple[Weight, ...]:
        """The areas of the faces normal to each axis."""
        each = range(len(self.axes))
        return tuple(
            self._weight(self._jacobian(a), ["face" if b == a else "cell" for b in each])
            for a in each
        )

    @cached_property
    def distances(self) -> tuple[Weight, ...]:
        """The distances between centers along each axis."""
        each = range(len(self.axes))
        return tuple(
            self._weight(self.system.factor(name), ["step" if b == a else "center" for b in each])
            for a, name in enumerate(self.axes)
        )

    @cached_property
    def factor_names(self) -> dict[Factor, str]:
        """The names of the data of matrices."""
        kinds = {"volume": [self.volume], "area": self.areas, "distance": self.distances}
        return names_of(kinds, self.names, [axis.is_uniform for axis in self.axes.values()])

    @cached_property
    def closed(self) -> tuple[tuple[bool, bool], ...]:
        """Whether the faces at the low and the high end of each axis have no area."""
        return tuple(
            (self._vanishes(a, axis.low), self._vanishes(a, axis.high))
            if not axis.periodic
            else (False, False)
            for a, axis in enumerate(self.axes.values())
        )

    def _vanishes(self, axis: int, end: float | None) -> bool:
        """Whether a factor of the areas normal to an axis is zero at a place, to rounding."""
        for factor in self.areas[axis]:
            if axis not in factor.axes or isinstance(factor.expression, int):
                continue
            function = function_of(factor.expression, [self.symbols[a] for a in factor.axes])
            inner = np.meshgrid(*(self._inner(a) for a in factor.axes), indexing="ij")
            there = [
                np.full_like(x, end) if a == axis else x
                for a, x in zip(factor.axes, inner, strict=True)
            ]
            if (abs(function(*there)) <= VANISHING * abs(function(*inner)).max()).all():
                return True
        return False

    def _inner(self, axis: int) -> Any:
        """Return some coordinates between the ends of an axis."""
        given = list(self.axes.values())[axis]
        assert given.low is not None
        assert given.high is not None
        return given.low + (given.high - given.low) * np.linspace(0.07, 0.93, 8)
