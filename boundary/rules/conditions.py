"""Rules that give values: to the ghosts, or to the field on the side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ssr.errors import ArgumentError
from ssr.extension import ir, multiply

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import finite, order_of, vanishes
from .copies import mapped, mirror
from .extrapolate import layer_of, layers, polynomials
from .rows import Row
from .rule import Ends, Rule, rule_of
from .side_values import Given, GivenValues, SideValues
from .strips import Clause
from .text import rule_text


def zero(axis: int | None = None, side: Ends = "both", *, block: int | None = None) -> Rule:
    """Return zero padding: ghosts are zero.

    ``u[ghost] = 0``::

        ghosts | owned   | ghosts
           0 0 | a b c d | 0 0

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are not linked.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.zero()) @ np.array([1.0, 2])
    array([0., 1., 2., 0.])
    """
    text = rule_text("zero", axis, side, block)
    return rule_of(text, axis, side, block, lambda frame, side, name: [Clause(Row(()))])


def constant(
    value: Given, axis: int | None = None, side: Ends = "both", *, block: int | None = None
) -> Rule:
    """Return ghosts that have a given value: a number, array, function or `bc.parameter`.

    ``u[ghost] = value``::

        ghosts | owned   | ghosts
           v v | a b c d | v v

    Parameters
    ----------
    value
        What ghosts are, as for `bc.dirichlet`.
    axis, side, block
        The sides of blocks; by default all that are not linked.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.constant(9.0)) @ np.array([1.0, 2])
    array([9., 1., 2., 9.])
    """
    text = rule_text("constant", axis, side, block, value)
    values = GivenValues(text, value)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Clause]:
        known = values.at(frame, side, name)
        return [Clause(Row((), known.each), (), known.extends, known.fits)]

    return rule_of(text, axis, side, block, make, values.data, lengths=values.lengths)


def dirichlet(
    value: Given,
    axis: int | None = None,
    side: Ends = "both",
    *,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for a value that is given on the side: ``u[-1 - k] = 2 value - u[k]``.

    ::

        ghosts        | owned   | ghosts
        2v - b 2v - a | a b c d | 2v - d 2v - c

    Parameters
    ----------
    value
        A number; an array with one value for each point of the side; a function of the
        coordinates of points on the side, in cells, one argument for each axis of the block; or a
        `bc.parameter`. A tuple or list has one of these for each component. Arrays are copied when
        the rule is made: to change a value later, use a parameter.
    axis, side, block
        The sides of blocks; by default all that are not linked.
    order
        The order of accuracy: ghosts lie on the polynomial of degree ``order - 1`` through the
        value and the points next to the side. By default the odd reflection, of order 2.

    Raises
    ------
    HaloError
        When the fill is made or used, if blocks have too few points for the order.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> u = np.array([1.0, 3, 5])                                        # 2 x, x = i + 1/2
    >>> bc.fill(cells.grow(1), bc.dirichlet(0.0, side="low"), bc.dirichlet(6.0, side="high")) @ u
    array([-1.,  1.,  3.,  5.,  7.])
    >>> bc.dirichlet(6.0, side="high"), bc.dirichlet(bc.parameter("inflow"), axis=0, order=4)
    (dirichlet(6.0, side="high"), dirichlet(parameter("inflow"), axis=0, order=4))
    """
    text = rule_text("dirichlet", axis, side, block, value, order=(order, None))
    return _condition(text, 1.0, 0.0, value, 1.0, axis, side, order, block)


def neumann(
    value: Given = 0.0,
    axis: int | None = None,
    side: Ends = "both",
    *,
    spacing: float = 1.0,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for an outward normal derivative that is given on the side.

    ``u[-1 - k] = u[k] + (2 k + 1) spacing value``.

    With s = spacing * value::

        ghosts       | owned   | ghosts
        b + 3s a + s | a b c d | d + s c + 3s

    Parameters
    ----------
    value
        The derivative, given as for `bc.dirichlet`: per unit of `spacing`.
    axis, side, block
        The sides of blocks; by default all that are not linked.
    order
        The order of accuracy, as for `bc.dirichlet`.
    spacing
        The distance of points along the axis.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(1), bc.neumann()) @ np.array([1.0, 3, 5])
    array([1., 1., 3., 5., 5.])
    >>> fill = bc.fill(ssr.Space(3).grow(1), bc.neumann(2.0, side="high"), bc.zero(side="low"))
    >>> fill @ np.ones(3)
    array([0., 1., 1., 1., 3.])
    """
    options = {"spacing": (spacing, 1.0), "order": (order, None)}
    text = rule_text("neumann", axis, side, block, value, **options)
    return _condition(text, 0.0, 1.0, value, spacing, axis, side, order, block)


def robin(
    a: float,
    b: float,
    value: Given,
    axis: int | None = None,
    side: Ends = "both",
    *,
    spacing: float = 1.0,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for ``a u + b du/dn = value`` on the side, n pointing outward.

    By default value and derivative are the mean and the difference quotient of a ghost and its
    reflection.

    With d the distance of the two, ``(a / 2 + b / d) u[ghost] = value - (a / 2 - b / d) u[k]``::

        ghosts          | owned   | ghosts
        p(b, 2) p(a, 1) | a b c d | p(d, 1) p(c, 2)

    Parameters
    ----------
    a, b
        The weights of the field and of its derivative, numbers.
    value
        The value of the sum, given as for `bc.dirichlet`.
    axis, side, block
        The sides of blocks; by default all that are not linked.
    spacing
        The distance of points along the axis.
    order
        The order of accuracy, as for `bc.dirichlet`.

    Raises
    ------
    ArgumentError
        When the fill is made, if the condition does not determine a ghost: where a / 2 + b / d is
        zero, or so small that rounding errors of a, b and the spacing decide it.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.robin(1.0, 1.0, 3.0)) @ np.array([1.0, 2])
    array([2.33333333, 1.        , 2.        , 2.66666667])
    """
    options = {"spacing": (spacing, 1.0), "order": (order, None)}
    text = rule_text("robin", axis, side, block, a, b, value, **options)
    return _condition(text, a, b, value, spacing, axis, side, order, block)


def _condition(
    text: str,
    a: float,
    b: float,
    value: Given,
    spacing: float,
    axis: int | None,
    side: Ends,
    order: int | None,
    block: int | None,
) -> Rule:
    """Return the rule of ``a u + b du/dn = value``, by reflection or by polynomials."""
    a, b = finite(text, "a", a), finite(text, "b", b)
    spacing = finite(text, "spacing", spacing)
    if not spacing > 0:
        raise ArgumentError(f"{text}: the spacing is {spacing!r}, not positive.")
    if not (a or b):
        raise ArgumentError(f"{text}: a and b are both zero.")
    values = GivenValues(text, value)
    count = None if order is None else order_of(text, order)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Clause]:
        known = values.at(frame, side, name)
        if count is not None:
            condition = (a, -b / spacing)  # inward distances in cells
            return polynomials(text, frame, side, count - 1, condition, known)
        source = mirror(frame, side, None)
        apart = 2 * frame.layer(side) + first_apart(frame, side)
        if b == 0:
            part = mapped(frame, side, source, ir.Const(-1.0))
            return [known.added(part, ir.Const(2.0 / a))]
        if a == 0:
            part = mapped(frame, side, source, ir.ONE)
            return [known.added(part, multiply(ir.Const(spacing / b), ir.Coordinate(apart)))]
        return [
            _robin(text, frame, side, layer, a, b * 2 / spacing, known)
            for layer in range(layers(text, frame))
        ]

    return rule_of(text, axis, side, block, make, values.data, lengths=values.lengths)


def _robin(
    text: str,
    frame: Frame,
    side: Side,
    layer: int,
    a: float,
    b: float,
    known: SideValues,
) -> Clause:
    """Return one layer of ``a (ghost + u) / 2 + b (ghost - u) / (2 distance) = value``."""
    slope = b / (2 * layer + first_apart(frame, side))
    if vanishes(a + slope, a, slope):
        raise ArgumentError(
            f"{text} is singular: the condition does not determine the ghosts of layer {layer}.",
            hint="a + 2 b / distance of the ghost from its reflection must not be zero.",
        )
    source = mirror(frame, side, None)
    part = mapped(frame, side, source, ir.Const((slope - a) / (slope + a)))
    part = replace(part, where=(layer_of(frame, side, layer),))
    return known.added(part, ir.Const(2.0 / (slope + a)))


def first_apart(frame: Frame, side: Side) -> int:
    """Return the distance from the first ghost behind a side to its reflection, in points."""
    return 2 if frame.blocks[side.block].staggered[side.axis] else 1
