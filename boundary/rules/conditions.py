"""Dirichlet, Neumann, Robin and ghost-value conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..grid.frame import Frame
from ..grid.link import Side
from .arguments import order_of
from .condition import Condition, reflections
from .extrapolate import polynomials
from .given import Quantity, parameters_of, resolved
from .rows.affine_rows import Row
from .rows.strips import Strip
from .rows.text import rule_text
from .rule import Ends, Rule, rule_of
from .side_values import Given, GivenValues


def zero(axis: int | None = None, side: Ends = "both", *, block: int | None = None) -> Rule:
    """Return zero padding: ghosts are zero.

    ``u[ghost] = 0``::

        ghosts | owned   | ghosts
           0 0 | a b c d | 0 0

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are not linked.

    Raises
    ------
    ArgumentError
        If an argument has another form; when the fill is made, if there is no such side.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.zero()) @ np.array([1.0, 2])
    array([0., 1., 2., 0.])
    """
    text = rule_text("zero", axis, side, block)
    return rule_of(text, axis, side, block, lambda frame, side, name: [Strip(Row(()))])


def ghost_value(
    value: Given, axis: int | None = None, side: Ends = "both", *, block: int | None = None
) -> Rule:
    """Return ghosts that have a given value: a number, array, function or `bc.parameter`.

    ``u[ghost] = value``::

        ghosts | owned   | ghosts
           v v | a b c d | v v

    Parameters
    ----------
    value
        The value of the ghosts, given as for `bc.dirichlet`.
    axis, side, block
        The sides of blocks; by default all that are not linked.

    Raises
    ------
    ArgumentError, ShapeError
        If a value is not finite, or does not fit the side; when the fill is made, if there is no
        such side.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.ghost_value(9.0)) @ np.array([1.0, 2])
    array([9., 1., 2., 9.])
    """
    return _constant(rule_text("ghost_value", axis, side, block, value), value, axis, side, block)


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
        `bc.parameter`, for scalars and fields of programs. A tuple or list has one of these for
        each component. Arrays are copied when the rule is made: to change a value later, use a
        parameter.
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
    spacing: Quantity = 1.0,
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
        The distance of the first ghost from the point next to the side, given as for
        `bc.dirichlet`: on uneven grids and in curvilinear coordinates it differs from point to
        point. Ghost k is at 2 k + 1 spacings from its reflection.

    Raises
    ------
    ArgumentError, ShapeError
        If a value is not finite or a spacing not positive, or if it does not fit the side; when the
        fill is made, if there is no such side.
    HaloError
        When the fill is made or used, if blocks have too few points for the order.

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
    a: Quantity,
    b: Quantity,
    value: Given,
    axis: int | None = None,
    side: Ends = "both",
    *,
    spacing: Quantity = 1.0,
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
        The weights of the field and of its derivative, given as for `bc.dirichlet`, without
        components. Either may be zero: b = 0 makes a condition of Dirichlet, a = 0 one of Neumann.
    value
        The value of the sum, given as for `bc.dirichlet`.
    axis, side, block
        The sides of blocks; by default all that are not linked.
    spacing
        The distance of the first ghost from the point next to the side, as for `bc.neumann`.
    order
        The order of accuracy, as for `bc.dirichlet`.

    Raises
    ------
    ArgumentError
        If the condition does not determine a ghost: where a and b are both zero, or a / 2 + b / d
        is, but for the rounding errors of a, b and the spacing. Numbers are checked when the fill
        is made, arrays and functions when it is first used with arrays of a size. Scalars and
        fields of a program are not checked: such ghosts are infinite or NaN.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.robin(1.0, 1.0, 3.0)) @ np.array([1.0, 2])
    array([2.33333333, 1.        , 2.        , 2.66666667])

    One half of a side is held at 2, nothing flows through the other:

    >>> a = np.array([1.0, 0.0])
    >>> low = bc.robin(a, 1 - a, 2 * a, axis=0, side="low")
    >>> bc.fill(ssr.Space(1, 2).grow((1, 0), 0), low) @ np.array([[5.0, 7.0]])
    array([[-1.,  7.],
           [ 5.,  7.]])
    """
    options = {"spacing": (spacing, 1.0), "order": (order, None)}
    text = rule_text("robin", axis, side, block, a, b, value, **options)
    return _condition(text, a, b, value, spacing, axis, side, order, block)


def _constant(text: str, value: Given, axis: int | None, side: Ends, block: int | None) -> Rule:
    values = GivenValues(text, value)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        known = values.at(frame, side, name)
        return [Strip(Row((), known.each), (), known.extends, known.fits)]

    def resolve(given: Mapping[str, Any]) -> Rule:
        return _constant(text, resolved(value, given), axis, side, block)

    made = rule_of(text, axis, side, block, make, values.data, lengths=values.lengths)
    return replace(made, parameters=parameters_of(value), resolve=resolve)


def _condition(
    text: str,
    a: Quantity,
    b: Quantity,
    value: Given,
    spacing: Quantity,
    axis: int | None,
    side: Ends,
    order: int | None,
    block: int | None,
) -> Rule:
    """Return the rule of ``a u + b du/dn = value``, by reflection or by polynomials."""
    condition = Condition.of(text, a, b, spacing)
    values = GivenValues(text, value)
    count = None if order is None else order_of(text, order)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Strip]:
        known = values.at(frame, side, name)
        if count is not None:
            return polynomials(text, frame, side, count - 1, condition.at(frame, side, name), known)
        return reflections(text, frame, side, condition.at(frame, side, name), known)

    def resolve(given: Mapping[str, Any]) -> Rule:
        one, two, three, four = (resolved(each, given) for each in (a, b, value, spacing))
        return _condition(text, one, two, three, four, axis, side, order, block)

    data = {**values.data, **condition.data}
    made = rule_of(text, axis, side, block, make, data, lengths=values.lengths)
    names, spacings = parameters_of(a, b, value, spacing), parameters_of(spacing)
    return replace(made, parameters=names, spacings=spacings, resolve=resolve)
