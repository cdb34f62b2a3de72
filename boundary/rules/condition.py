"""Robin conditions ``a u + b du/dn = value`` on a side, and the ghost points that satisfy them.

The weights of a ghost row are quotients ``(p a h + q b) / (r a h + s b)``, where h is the spacing
and p, q, r, s are numbers; the weight of the value is ``c h / (r a h + s b)``. Either a or b may be
zero in this form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import add, ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import vanishes
from .copies import mapped, mirror
from .given import GivenQuantity, SideValues
from .layers import layer_of, layers
from .polynomial import lagrange, lagrange_slope, product, product_slope
from .rows.strips import Strip


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients of a condition beyond one side.

    Attributes
    ----------
    numbers
        The coefficients as numbers, if they are constant; a and b are numbers if one is zero.
    """

    a: SideValues
    b: SideValues
    spacing: SideValues

    @property
    def numbers(self) -> tuple[float, float, float] | None:
        """The three coefficients, if all are numbers."""
        found = tuple(_number(k.value) for k in (self.a, self.b, self.spacing))
        a, b, h = found
        return None if a is None or b is None or h is None else (a, b, h)

    @property
    def kind(self) -> str:
        """The prescribed quantity: the field, its derivative, or a sum of both."""
        if _number(self.b.value) == 0:
            return "value"
        return "derivative" if _number(self.a.value) == 0 else "both"

    def known(self, values: SideValues) -> SideValues:
        """Return values restricted to the part of the side to which the coefficients apply."""
        return values.along(self.a, self.b, self.spacing)

    def scale(self) -> ir.Value:
        """Return the factor of the value if the condition is divided by its only coefficient."""
        if self.kind == "value":
            return _quotient(ir.ONE, self.a.value)
        return _quotient(self.spacing.value, self.b.value)

    def sum(self, p: float, q: float) -> ir.Value:
        """Return ``p a h + q b``."""
        first = multiply(ir.Const(p), multiply(self.a.value, self.spacing.value))
        return add(first, multiply(ir.Const(q), self.b.value))


class Condition:
    """A condition with user-defined coefficients."""

    def __init__(self, a: GivenQuantity, b: GivenQuantity, spacing: GivenQuantity) -> None:
        self.a, self.b, self.spacing = a, b, spacing

    @staticmethod
    def of(text: str, a: Any, b: Any, spacing: Any) -> Condition:
        """Return a condition after a check of its numbers and arrays."""
        made = Condition(
            GivenQuantity(text, "a", a),
            GivenQuantity(text, "b", b),
            GivenQuantity(text, "spacing", spacing),
        )
        h = made.spacing.number
        if h is not None and not h > 0:
            raise ArgumentError(f"{text}: the spacing is {h!r}, not positive.")
        given = made.spacing.given
        if h is None and isinstance(given, np.ndarray) and not given.min() > 0:
            raise ArgumentError(f"{text}: a spacing is not positive.")
        if _both_zero(made.a.given, made.b.given):
            raise ArgumentError(f"{text}: a and b are both zero.")
        return made

    @property
    def data(self) -> dict[str, Any]:
        """The data of the rule."""
        return {**self.a.data, **self.b.data, **self.spacing.data}

    def at(self, frame: Frame, side: Side, name: Callable[[str], str]) -> Coefficients:
        """Return the coefficients beyond a side."""
        a, b, spacing = (one.at(frame, side, name) for one in (self.a, self.b, self.spacing))
        return Coefficients(a, b, spacing)


def reflections(
    text: str, frame: Frame, side: Side, condition: Coefficients, values: SideValues
) -> list[Strip]:
    """Return ghosts for which a condition holds half-way to their reflections."""
    known, source = condition.known(values), mirror(frame, side, None)
    apart = 2 * frame.layer(side) + first_apart(frame, side)
    numbers, kind = condition.numbers, condition.kind
    if kind == "value":
        part = mapped(frame, side, source, ir.Const(-1.0))
        scale = ir.Const(2.0 / numbers[0]) if numbers else multiply(_TWO, condition.scale())
        return [known.added(part, scale)]
    if kind == "derivative":
        part = mapped(frame, side, source, ir.ONE)
        scale = ir.Const(numbers[2] / numbers[1]) if numbers else condition.scale()
        return [known.added(part, multiply(scale, ir.Coordinate(apart)))]
    found = []
    for layer in range(layers(text, frame)):
        distance = 2 * layer + first_apart(frame, side)
        weights = (
            _reflected(text, layer, distance, numbers)
            if numbers
            else _reflected_at_points(distance, condition)
        )
        part = mapped(frame, side, source, weights[0])
        part = replace(part, where=(layer_of(frame, side, layer),))
        found.append(known.added(part, weights[1]))
    return found


def _reflected(
    text: str, layer: int, distance: int, numbers: tuple[float, float, float]
) -> tuple[ir.Value, ir.Value]:
    """Return the weights of ``a (ghost + u) / 2 + b (ghost - u) / (distance h) = value``."""
    a, b, spacing = numbers
    slope = b * 2 / spacing / distance
    if vanishes(a + slope, a, slope):
        raise ArgumentError(
            f"{text} is singular: the condition does not determine the ghosts of layer {layer}.",
            hint="a + 2 b / distance of the ghost from its reflection must not be zero.",
        )
    return ir.Const((slope - a) / (slope + a)), ir.Const(2.0 / (slope + a))


def _reflected_at_points(distance: int, condition: Coefficients) -> tuple[ir.Value, ir.Value]:
    """Return the same weights where coefficients differ from point to point."""
    below = condition.sum(distance, 2.0)
    weight = _quotient(condition.sum(-distance, 2.0), below)
    return weight, _quotient(multiply(ir.Const(2.0 * distance), condition.spacing.value), below)


def quotients(
    points: Sequence[Fraction], ghost: Fraction, condition: Coefficients
) -> tuple[list[ir.Value], ir.Value]:
    """Return the weights of `ghost_weights` where coefficients differ from point to point."""
    zero, slope, rise = product(points, Fraction(0)), product_slope(points), product(points, ghost)
    below = condition.sum(float(zero), -float(slope))
    weights = []
    for n in range(len(points)):
        here = lagrange(points, n, ghost)
        p = here * zero - rise * lagrange(points, n, Fraction(0))
        q = rise * lagrange_slope(points, n) - here * slope
        weights.append(_quotient(condition.sum(float(p), float(q)), below))
    return weights, _quotient(multiply(ir.Const(float(rise)), condition.spacing.value), below)


def first_apart(frame: Frame, side: Side) -> int:
    """Return the distance from the first ghost beyond a side to its reflection, in points."""
    return 2 if frame.blocks[side.block].staggered[side.axis] else 1


def _both_zero(a: Any, b: Any) -> bool:
    """Whether two numbers or arrays are both zero at a point."""
    if not all(isinstance(one, (float, np.ndarray)) for one in (a, b)):
        return False
    if np.ndim(a) and np.ndim(b) and np.shape(a) != np.shape(b):
        return False  # reported when the rule is compared with its side
    return bool(np.any((np.asarray(a) == 0) & (np.asarray(b) == 0)))


_TWO = ir.Const(2.0)


def _number(value: ir.Value) -> float | None:
    return value.value if isinstance(value, ir.Const) else None


def _quotient(above: ir.Value, below: ir.Value) -> ir.Value:
    if isinstance(above, ir.Const) and isinstance(below, ir.Const):
        return ir.Const(above.value / below.value)
    return above if below == ir.ONE else ir.Op("div", (above, below))
