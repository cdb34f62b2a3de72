"""Inverses of affine maps on sets, as piecewise affine maps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import islpy as isl

from .affine import Affine
from .effort import attempted, in_turn
from .graph import graph
from .sets import Domain, pieces_of

_CONTEXT = isl.DEFAULT_CONTEXT

Piece = tuple[Domain, tuple[Affine, ...]]
"""A set, and the affine image of its points."""


@contextmanager
def _asymmetric() -> Iterator[None]:
    """Let isl treat no symmetric constraints together inside the block.

    It stops there with an error for some maps of constant columns.
    """
    symmetric = _CONTEXT.get_pip_symmetry()
    _CONTEXT.set_pip_symmetry(0)
    try:
        yield
    finally:
        _CONTEXT.set_pip_symmetry(symmetric)


@in_turn
def inverse(
    found: Domain, image: tuple[Affine, ...], axes: tuple[str, ...], most: int
) -> list[Piece] | None:
    """Return the inverse of an affine map on a set, as pieces of functions.

    The map need not be injective: the first piece at a point is the first of the set's points
    that is mapped to it, in lexicographic order, and so on.

    Examples
    --------
    >>> i = Affine.name("i")
    >>> even = Domain.where(("i",), "0 <= i < n and i mod 2 = 0", ("n",))
    >>> for where, (point,) in inverse(even, (i + 1,), ("i",), 1):
    ...     print(point, "at", where)
    i - 1 at [n] -> { [i] : (1 + i) mod 2 = 0 and 0 < i <= n }
    """
    point = _solved(found.axes, image, axes)
    if point is not None:
        return [(found.image(image, axes), point)]
    mapped = graph(found.axes, image).intersect_domain(found.isl)
    back = mapped.reverse()
    if not mapped.apply_range(back).deltas().project_out_all_params().is_bounded():
        return None

    def peeled() -> tuple[list[Any], bool]:
        firsts, left = list[Any](), back
        while not left.is_empty() and len(firsts) < most:
            firsts.append(left.lexmin_pw_multi_aff())
            left = left.subtract(isl.Map.from_pw_multi_aff(firsts[-1])).coalesce()
        return firsts, bool(left.is_empty())

    with _asymmetric(), suppress(isl.Error):
        made = attempted(peeled)
        if made is not None and made[1]:
            return [piece for first in made[0] for piece in pieces_of(first, axes)]
    return None


def _solved(
    axes: tuple[str, ...], image: tuple[Affine, ...], names: tuple[str, ...]
) -> tuple[Affine, ...] | None:
    """Return the point that a map takes to the point with given names; None if not found.

    Equations are solved one after the other, each for its only unknown index, which has no factor.
    This finds the inverses of translations, exchanged axes and shears, without the remainders that
    isl would introduce.
    """
    known: dict[str, Affine] = {}
    while len(known) < len(axes):
        for here, name in zip(image, names, strict=True):
            axis = _only(here.names().intersection(axes).difference(known))
            sign = dict(here.terms).get(axis, 0)
            rest = here - sign * Affine.name(axis)
            if abs(sign) == 1 and axis not in rest.names():
                known[axis] = sign * (Affine.name(name) - rest.substitute(known))
                break
        else:
            return None
    return tuple(known[axis] for axis in axes)


def _only(names: frozenset[str]) -> str:
    """Return the only one of some names; an empty string if there are more or none."""
    return next(iter(names)) if len(names) == 1 else ""
