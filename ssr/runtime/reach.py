"""Regions of an array that a nest reads or writes, as functions of its box.

A `Reach` is the hull of such elements: bounds of rows along each axis, and the index of the element
that a row accesses. `region` evaluates it for one box, or for many boxes at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias, cast

import numpy as np

from ..points.affine import AXES, Affine, Floor
from ..points.numbers import Array

Integers: TypeAlias = "int | Array"
"""An integer, or an array with one integer for each box."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Elements of an array that rows of a nest access, described by bounds along axes.

    All expressions are in sizes, in the bounds ``{axis}_lo`` and ``{axis}_hi`` of a box, and in
    the bounds ``{axis}_own_lo`` and ``{axis}_own_hi`` of the box that owns its rows.

    Attributes
    ----------
    array
        The name of the array.
    new
        Whether the rows read values computed by earlier rows of the same nest.
    low, high
        For each axis of the nest bounds of the rows: all of ``low`` <= row < all of ``high``.
    when
        If one of these is negative, there are no rows.
    index
        For each axis of the array the index accessed by a row, also in terms of the nest's axes.
    matrix
        The name of a stored matrix whose columns are accessed; ``index`` is then its row.
    """

    array: str
    new: bool
    low: tuple[tuple[Affine, ...], ...]
    high: tuple[tuple[Affine, ...], ...]
    when: tuple[Affine, ...]
    index: tuple[Affine, ...]
    matrix: str = ""


def region(reach: Reach, values: Mapping[str, Integers]) -> tuple[tuple[Integers, Integers], ...]:
    """Return the hull of the accessed elements of an array: low <= index < high on each axis.

    Examples
    --------
    >>> i, lo, hi = map(Affine.name, ("i", "i_lo", "i_hi"))
    >>> reach = Reach("x", False, ((lo,),), ((hi, Affine.of(6)),), (), (2 * i + 1,))
    >>> [(low, high)] = region(reach, {"i_lo": np.array([0, 4, 8]), "i_hi": np.array([4, 8, 12])})
    >>> print(low, high)
    [ 1  9 17] [ 8 12 17]
    """
    axes = AXES[len(reach.low)] if reach.low else ()
    rows: dict[str, tuple[Integers, Integers]] = {}
    empty: bool | Array = False
    for test in reach.when:
        empty = np.logical_or(empty, _value(test, values) < 0)
    for axis, lower, upper in zip(axes, reach.low, reach.high, strict=True):
        low = reduce(np.maximum, (_value(bound, values) for bound in lower))
        high = reduce(np.minimum, (_value(bound, values) for bound in upper))
        empty = np.logical_or(empty, low >= high)
        rows[axis] = low, high - 1
    ends = [_interval(expression, rows, values) for expression in reach.index]
    return tuple((first, np.where(empty, first, last + 1)[()]) for first, last in ends)


def _value(expression: Affine, values: Mapping[str, Integers]) -> Integers:
    """Return the value of an expression; arrays take part in its arithmetic like integers."""
    return expression.evaluate(cast("Mapping[str, int]", values))


def _interval(
    expression: Affine,
    rows: Mapping[str, tuple[Integers, Integers]],
    values: Mapping[str, Integers],
) -> tuple[Integers, Integers]:
    """Return bounds of an expression where the indices of rows lie between first and last ones."""
    first: Integers = expression.constant
    last: Integers = expression.constant
    for atom, factor in expression.terms:
        if isinstance(atom, str):
            ends = rows[atom] if atom in rows else (values[atom], values[atom])
        else:
            assert isinstance(atom, Floor), "elements of distributed arrays are not chosen"
            inner = _interval(atom.numerator, rows, values)
            ends = inner[0] // atom.divisor, inner[1] // atom.divisor
        ends = ends if factor > 0 else ends[::-1]
        first, last = first + factor * ends[0], last + factor * ends[1]
    return first, last
