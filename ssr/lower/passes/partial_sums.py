"""Share partial sums of constant stencils between neighboring rows. Reassociates.

The pass applies to terms ``weight * x[row + offset]`` with constant weights that are present
exactly where the point read lies in the space of x, or in the box that owns the row. Offsets that
differ across lines but have the same weights along the line are summed once for each point of the
line, into a line buffer that is zero outside the space or the box:

    before:  y[j, i] = - x[j-1, i-1] - x[j-1, i] - x[j-1, i+1] - ... - x[j+1, i+1]
    after:   c[i]    = x[j-1, i] + x[j, i] + x[j+1, i]
             y[j, i] = - c[i-1] - c[i] - c[i+1]

In three dimensions the same rewrite is applied to the sums over planes, which are kept for the
following lines (scheme c* of the project's feasibility study). The remaining terms may form
further groups: a 27-point stencil with four weights has two. An offset with other weights or more
entries in a few places joins a group with a correction. An offset with fewer entries does not,
since a row must not depend on a point that it does not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ... import ir
from ...distributed.row_bounds import Region, regions
from ...points.affine import Affine, Offset, offset_of
from ..nests import box
from .order_terms import order_terms


@dataclass(frozen=True, slots=True)
class Shared:
    """A group of offsets with one profile along the last axis: members, profile, corrections."""

    profile: Mapping[int, float]
    members: tuple[Offset, ...]
    corrections: Mapping[Offset, float]
    saved: int


def partial_sums(nest: ir.Nest, fields: Mapping[str, ir.Field]) -> ir.Nest:
    """Return the nest with sums of constant stencils taken from line buffers."""
    if nest.joint:
        return nest
    statements: list[ir.Statement] = []
    buffers = list(nest.buffers)
    for statement in nest.statements:
        if not isinstance(statement.value, (ir.Sum, ir.Op)) or len(nest.axes) < 2:
            statements.append(statement)
            continue
        made: list[ir.Statement] = []
        value = _replace_sums(statement, nest, fields, buffers, made)
        made = [replace(s, local=statement.local, kept=statement.kept) for s in made]
        statements += [*made, replace(statement, value=value)]
    found = replace(nest, statements=tuple(statements), buffers=tuple(buffers))
    return order_terms(found)


def _replace_sums(
    statement: ir.Statement,
    nest: ir.Nest,
    fields: Mapping[str, ir.Field],
    buffers: list[ir.Buffer],
    made: list[ir.Statement],
) -> ir.Value:
    def change(value: ir.Value) -> ir.Value | None:
        if not isinstance(value, ir.Sum):
            return None
        result = value
        for array in dict.fromkeys(
            t.operand.array for t in value.terms if isinstance(t.operand, ir.Load)
        ):
            if array in fields and len(fields[array].shape) == len(nest.axes):
                for region in regions(fields[array], nest):
                    for _ in range(len(result.terms)):  # each iteration removes terms
                        shared = _share(result, array, statement, nest, region, buffers, made)
                        if shared is None:
                            break
                        result = shared
        return result

    return ir.rewrite(statement.value, change)


def _share(
    total: ir.Sum,
    array: str,
    statement: ir.Statement,
    nest: ir.Nest,
    region: Region,
    buffers: list[ir.Buffer],
    made: list[ir.Statement],
) -> ir.Sum | None:
    """Return a sum that takes the best group from a buffer; None if no group is profitable."""
    taps = _taps(total, array, nest, statement, region)
    group = best({o: w for o, (w, _) in taps.items()})
    if group is None:
        return None
    axes, reach = nest.axes, (-min(group.profile), max(group.profile))
    name = ir.scratch("c", buffers)
    buffers.append(ir.Buffer(name, 1, max(reach), cleared=max(reach) > 0))
    new = {offset[:-1]: _operand(total, place).new for offset, (_, place) in taps.items()}
    members = {outer: new[outer] for outer in group.members}
    own = array == nest.target
    stage = _columns(name, array, members, nest, region, reach, own, buffers, made)
    made.append(stage)
    last = Affine.name(axes[-1])
    used = {place for offset, (_, place) in taps.items() if offset[:-1] in members}
    kept = [t for n, t in enumerate(total.terms) if n not in used]
    everywhere = statement.domain
    for offset, weight in sorted(group.corrections.items()):
        load = _operand(total, taps[offset][1])
        kept.append(ir.Term(region.within(load.index, axes), ir.Const(weight), load))
    for shift, weight in sorted(group.profile.items()):
        kept.append(ir.Term(everywhere, ir.Const(weight), ir.Load(name, (last + shift,))))
    return ir.Sum(tuple(kept))


def _operand(total: ir.Sum, place: int) -> ir.Load:
    """Return the load of a term that can be shared."""
    load = total.terms[place].operand
    assert isinstance(load, ir.Load)
    return load


def _taps(
    total: ir.Sum, array: str, nest: ir.Nest, statement: ir.Statement, region: Region
) -> dict[Offset, tuple[float, int]]:
    """Return offset -> (weight, place) of the terms that can be shared."""
    row = tuple(Affine.name(a) for a in nest.axes)
    found: dict[Offset, tuple[float, int]] = {}
    for place, term in enumerate(total.terms):
        load = term.operand
        if not isinstance(load, ir.Load) or load.array != array:
            continue
        if not isinstance(term.weight, ir.Const):
            continue
        offset = offset_of(load.index, row)
        if offset is None or (array == nest.target and not any(offset[:-1])):
            continue
        present = statement.domain & term.domain
        if offset in found or not present.equals(
            statement.domain & region.within(load.index, nest.axes)
        ):
            continue
        found[offset] = (term.weight.value, place)
    return found


def best(taps: Mapping[Offset, float]) -> Shared | None:
    """Return the group that saves most operations, if one saves at least two."""
    lines: dict[Offset, dict[int, float]] = {}
    for offset, weight in taps.items():
        lines.setdefault(offset[:-1], {})[offset[-1]] = weight
    found: Shared | None = None
    for profile in lines.values():
        group = _group(profile, lines)
        if group.saved >= 2 and (found is None or group.saved > found.saved):
            found = group
    return found


def _group(profile: Mapping[int, float], lines: Mapping[Offset, Mapping[int, float]]) -> Shared:
    members, corrections, direct = [], {}, 0
    for outer, line in lines.items():
        if not profile.keys() <= line.keys():
            continue
        change = {p: w - profile.get(p, 0.0) for p, w in line.items() if w != profile.get(p)}
        if len(change) + 1 < len(line) or not change:
            members.append(outer)
            direct += len(line)
            corrections.update({(*outer, p): c for p, c in change.items()})
    saved = direct - (len(members) - 1) - len(profile) - len(corrections)
    return Shared(profile, tuple(sorted(members)), corrections, saved if len(members) > 1 else 0)


def _columns(
    name: str,
    array: str,
    members: Mapping[Offset, bool],
    nest: ir.Nest,
    region: Region,
    reach: tuple[int, int],
    own: bool,
    buffers: list[ir.Buffer],
    made: list[ir.Statement],
) -> ir.Statement:
    """Return the statement that sums the member lines into the buffer.

    Each member records whether its elements are new: all elements of a line are, or none.
    """
    axes = nest.axes
    row = [Affine.name(a) for a in axes]
    planes = _planes(members, own) if len(axes) >= 3 else None
    domain = box(axes, (*((0, 0),) * (len(axes) - 1), reach)) & region.on_line(axes)
    terms = []
    rest = dict(members)
    if planes is not None:
        shifts, outers = planes
        new = {outer: members[(*outer, shifts[0])] for outer in outers}
        lookahead = _lookahead(name, array, shifts, new, nest, region, reach, buffers)
        made.append(lookahead)
        for shift in shifts:
            load = ir.Load(lookahead.array, (row[-2] + shift, row[-1]))
            terms.append(ir.Term(domain, ir.ONE, load))
            for outer in outers:
                del rest[(*outer, shift)]
    for outer, is_new in rest.items():
        index = tuple(r + o for r, o in zip(row, (*outer, 0), strict=True))
        terms.append(ir.Term(region.within(index, axes), ir.ONE, ir.Load(array, index, is_new)))
    return ir.Statement(
        name=f"sum_{name[1:]}",
        domain=domain,
        array=name,
        index=(row[-1],),
        value=ir.Sum(tuple(terms)),
        parallel=True,
    )


def _planes(
    members: Mapping[Offset, bool], own: bool
) -> tuple[tuple[int, ...], tuple[Offset, ...]] | None:
    """Return (shifts along the second last axis, plane offsets) to be summed ahead.

    Planes through the row itself are left out where the target is being overwritten.
    """
    lines: dict[Offset, set[int]] = {}
    for outer in members:
        if not own or any(outer[:-1]):
            lines.setdefault(outer[:-1], set()).add(outer[-1])
    if not lines:
        return None
    shifts = max(lines.values(), key=lambda s: (sum(t == s for t in lines.values()), len(s)))
    outers = tuple(sorted(o for o, s in lines.items() if s == shifts))
    if len(shifts) * len(outers) <= len(shifts) + len(outers) or len(outers) < 2:
        return None
    return tuple(sorted(shifts)), outers


def _lookahead(
    name: str,
    array: str,
    shifts: tuple[int, ...],
    outers: Mapping[Offset, bool],
    nest: ir.Nest,
    region: Region,
    reach: tuple[int, int],
    buffers: list[ir.Buffer],
) -> ir.Statement:
    """Return the statement that sums planes one line ahead, into a rotation of buffers."""
    axes = nest.axes
    buffer = ir.scratch("g", buffers)
    rows = 1
    while rows < shifts[-1] - shifts[0] + 1:
        rows *= 2
    buffers.append(ir.Buffer(buffer, rows, max(reach), cleared=max(reach) > 0))
    row = [Affine.name(a) for a in axes]
    grown = (*((0, 0),) * (len(axes) - 2), (-shifts[0], shifts[-1]), reach)
    terms = []
    for outer, is_new in outers.items():
        index = (*(r + o for r, o in zip(row, outer, strict=False)), row[-2], row[-1])
        terms.append(ir.Term(region.within(index, axes), ir.ONE, ir.Load(array, index, is_new)))
    return ir.Statement(
        name=f"sum_{buffer[1:]}",
        domain=box(axes, grown) & region.on_line(axes),
        array=buffer,
        index=(row[-2], row[-1]),
        value=ir.Sum(tuple(terms)),
        parallel=True,
        ahead=-shifts[0] if nest.order == "backward" else shifts[-1],
        lead=(0, shifts[-1] - shifts[0]),
    )
