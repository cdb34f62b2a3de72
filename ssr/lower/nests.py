"""Boxes of nests: their bounds as parameters, their context, and rows beyond them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from .. import ir
from ..algebra.own_box import own_bounds
from ..points.affine import Affine
from ..points.sets import Domain


@dataclass(frozen=True, slots=True)
class Ends:
    """Numbers of points beyond a box along an axis: before its first and after its last row."""

    low: int = 0
    high: int = 0

    def including(self, other: Ends, shift: int = 0) -> Ends:
        """Return the union with other ends that are shifted along the axis."""
        return Ends(max(self.low, other.low - shift), max(self.high, other.high + shift))


NO_ENDS = Ends()


def bounds(axes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the parameters that bound a box: ``k_lo k_hi j_lo ...``."""
    return tuple(f"{a}_{end}" for a in axes for end in ("lo", "hi"))


def box(axes: tuple[str, ...], grown: tuple[tuple[int, int], ...] | None = None) -> Domain:
    """Return the rows of a box, grown by (low, high) along each axis."""
    grown = grown or ((0, 0),) * len(axes)
    lower = [Affine.name(f"{a}_lo") - g for a, (g, _) in zip(axes, grown, strict=True)]
    upper = [Affine.name(f"{a}_hi") + g for a, (_, g) in zip(axes, grown, strict=True)]
    return Domain.box(axes, lower, upper)


def beyond_box(rows: Domain, index: Sequence[Affine] | None = None) -> tuple[tuple[int, int], ...]:
    """Return for each axis how far rows, or the elements that they read, lie beyond the box."""
    found = []
    for axis, here in zip(rows.axes, index or map(Affine.name, rows.axes), strict=True):
        before = rows.largest(Affine.name(f"{axis}_lo") - here)
        behind = rows.largest(here - Affine.name(f"{axis}_hi") + 1)
        found.append((max(before or 0, 0), max(behind or 0, 0)))
    return tuple(found)


def context(
    axes: tuple[str, ...], parameters: Collection[str], field: ir.Field, *, whole: bool = False
) -> Domain:
    """Return the conditions on sizes and box: no axis is empty, the box lies within the rows.

    If ``whole``, the box consists of all rows.
    """
    case = []
    names: set[str] = set()
    for a, (low, stop) in zip(axes, field.edges, strict=True):
        case.append(f"{low.isl()} <= {a}_lo < {a}_hi <= {stop.isl()}")
        if whole:
            case.append(f"{a}_lo = {low.isl()} and {a}_hi = {stop.isl()}")
        names |= {f"{a}_lo", f"{a}_hi"} | low.names() | stop.names()
    if not {*own_bounds(axes)}.isdisjoint(parameters):
        names |= {*own_bounds(axes)}
        case += [f"{a}_own_lo <= {a}_lo and {a}_hi <= {a}_own_hi" for a in axes]
        ends = zip(axes, field.edges, strict=True)
        case += [
            f"{low.isl()} <= {a}_own_lo and {a}_own_hi <= {stop.isl()}" for a, (low, stop) in ends
        ]
    sizes = set(parameters) - set(bounds(axes)) - set(own_bounds(axes))
    case += [f"{size} >= 1" for size in sorted(sizes)]
    return Domain.where(axes, " and ".join(case), sorted(names | sizes))


def boxes(axes: tuple[str, ...], field: ir.Field, least: int) -> Domain:
    """Return the conditions of boxes with at least ``least`` rows along their last two axes."""
    found = context(axes, (), field)
    ends = zip(axes[-2:], field.edges[-2:], strict=True)
    for axis, (low, stop) in ends if least > 1 else ():
        first, last = f"{axis}_lo", f"{axis}_hi"
        whole = f"{first} = {low.isl()} and {last} = {stop.isl()}"
        names = sorted({first, last} | low.names() | stop.names())
        wide = f"{last} - {first} >= {least} or {whole}"
        found = found & Domain.where(axes, wide, names)
    return found


def covered(value: ir.Value, rows: Domain, zero: float = 0.0) -> ir.Value:
    """Return a value in which every sum has a term at every row: an explicit zero elsewhere."""

    def change(node: ir.Sum) -> ir.Value | None:
        missing = rows
        for term in node.terms:
            missing = missing - term.domain
        return None if missing.empty else ir.Sum((*node.terms, ir.Term(missing, ir.Const(zero))))

    return ir.rewrite_sums(value, change)


def in_buffers(value: ir.Value, homes: Mapping[str, ir.Buffer]) -> ir.Value:
    """Return a value that reads buffers instead of temporaries."""

    def change(part: ir.Value) -> ir.Value | None:
        if not isinstance(part, ir.Load) or part.array not in homes:
            return None
        buffer = homes[part.array]
        return ir.Load(buffer.name, buffer.place(part.index))

    return ir.rewrite(value, change)


def arrays_read(made: ir.Made) -> frozenset[str]:
    """Return the names of the fields and buffers that a nest or a call reads."""
    return frozenset(made.fields) if isinstance(made, ir.Call) else made.read
