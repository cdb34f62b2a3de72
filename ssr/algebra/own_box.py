"""Parameters for the bounds of the box (subdomain) that owns a row, in distributed programs.

A box of rows that runs lies within it: ``k_own_lo <= k_lo < k_hi <= k_own_hi``.
"""

from __future__ import annotations

from .. import ir
from ..points.affine import Affine
from ..points.sets import Domain


def own_bounds(axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of its bounds: ``k_own_lo k_own_hi j_own_lo ...``."""
    return tuple(f"{a}_own_{end}" for a in axes for end in ("lo", "hi"))


def own_box(axes: tuple[str, ...], rows: ir.Field) -> Domain:
    """Return its rows; it lies within the rows of all boxes."""
    case, names = [], {*own_bounds(axes)}
    for a, (low, stop) in zip(axes, rows.edges, strict=True):
        case.append(f"{low.isl()} <= {a}_own_lo <= {a} < {a}_own_hi <= {stop.isl()}")
    names |= rows.sizes
    return Domain.where(axes, " and ".join(case), sorted(names))


def bounded(axes: tuple[str, ...]) -> Domain:
    """Return the points within its bounds, whatever rows there are."""
    names = list(map(Affine.name, own_bounds(axes)))
    return Domain.box(axes, names[::2], names[1::2])


def everywhere(domain: Domain, rows: ir.Field) -> Domain:
    """Return a set for the case that one box contains all rows."""
    pairs = zip(domain.axes, rows.edges, strict=True)
    case = (f"{a}_own_lo = {low.isl()} and {a}_own_hi = {stop.isl()}" for a, (low, stop) in pairs)
    names = own_bounds(domain.axes)
    sizes = sorted({*names, *rows.sizes})
    return (domain & Domain.where(domain.axes, " and ".join(case), sizes)).without(names)


def is_local(domain: Domain) -> bool:
    """Whether a set of rows depends on it."""
    return not {*own_bounds(domain.axes)}.isdisjoint(domain.parameters())
