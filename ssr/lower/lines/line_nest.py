"""Lower a solve along lines to a nest of its own: line variables, sweeps and copies.

    before:  sum of A[k, j, i, o] x[k, j, i + o] = b[k, j, i]
    after:   for each bundle of lines:
               %s0[i], ... = the array elements that the rows read
               for i forward:  C[i], y[i] = ...
               for i backward: x[i] = ...
               x[k, j, i] = %x0[i]

Only the copies access arrays. The sweeps are therefore the same for lines along every axis, and
a solve can run in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ... import ir
from ...algebra.lines import pieces
from ...points.affine import AXES, Affine, offset_of
from ...points.sets import Domain
from ..nests import context
from .cyclic import Circle, closed, far_columns
from .elimination import Place, Rows, System, inverse_pivot, present, solution, swept


def line_nest(solve: ir.Solve, program: ir.Program) -> ir.LineNest:
    """Return the nest of systems along lines."""
    solve, numbers = _numbered(solve, {*program.scalars, *program.sizes, *_names(program)})
    first, taken = solve.assignments[0], _Taken(solve.axis)
    found = _merged([_rows(part, solve, taken) for part in pieces(solve)])
    rows, asked = program.rows(first), bool(solve.pivots)
    length = rows.shape[solve.axis]
    forward, backward = swept(
        System(first.axes[solve.axis], length, solve.size, tuple(found), asked)
    )
    closing = closed(Circle(solve, rows.lower[solve.axis], length)) if solve.points else ()
    parameters = frozenset().union(*(part.domain.parameters() for part in found))
    return ir.LineNest(
        target=first.target,
        rows=rows,
        axes=first.axes,
        along=solve.axis,
        context=_whole_lines(context(first.axes, parameters, rows), rows, solve.axis),
        taken=taken.found(program, rows),
        given=(
            *((inverse_pivot(n), name) for n, name in enumerate(solve.pivots)),
            *((solution(n), a.target) for n, a in enumerate(solve.assignments)),
        ),
        forward=forward,
        backward=backward,
        closing=closing,
        numbers=numbers,
        origin=first.origin,
        inverse=len(solve.pivots),
    )


def _names(program: ir.Program) -> list[str]:
    return [field.name for field in (*program.fields, *program.temporaries)]


def _numbered(
    solve: ir.Solve, taken: set[str]
) -> tuple[ir.Solve, tuple[tuple[str, ir.Value], ...]]:
    """Return systems with names for the values that are equal at all rows, and these values."""
    numbers: dict[ir.Value, str] = {}
    done: dict[int, ir.Value] = {}

    def visit(value: ir.Value) -> ir.Value:
        if id(value) not in done:
            if isinstance(value, ir.Op) and _same_everywhere(value):
                name = ir.fresh("number", {*taken, *numbers.values()})
                done[id(value)] = ir.Scalar(numbers.setdefault(value, name))
            else:
                done[id(value)] = ir.with_children(value, visit)
        return done[id(value)]

    made = replace(
        solve,
        assignments=tuple(replace(a, value=visit(a.value)) for a in solve.assignments),
        entries=tuple(replace(e, value=visit(e.value)) for e in solve.entries),
    )
    return made, tuple((name, value) for value, name in numbers.items())


def _same_everywhere(value: ir.Value) -> bool:
    """Whether a value consists of constants and scalars only."""
    return all(
        isinstance(part, (ir.Const, ir.Scalar, ir.Rounded, ir.Op)) for part in ir.walk(value)
    )


def _whole_lines(known: Domain, rows: ir.Field, along: int) -> Domain:
    """Return the context for boxes that contain all rows along an axis."""
    axis, (low, stop) = known.axes[along], rows.edges[along]
    ends = f"{axis}_lo = {low.isl()} and {axis}_hi = {stop.isl()}"
    names = {f"{axis}_lo", f"{axis}_hi"} | low.names() | stop.names()
    return known & Domain.where(known.axes, ends, sorted(names))


class _Taken:
    """The copies to line variables: a name for each array and each neighboring line."""

    def __init__(self, along: int) -> None:
        self.along = along
        self.names: dict[ir.Load, str] = {}
        self.shifts: dict[ir.Load, list[int]] = {}

    def reading(self, value: ir.Value, axes: Sequence[str]) -> ir.Value:
        """Return a value that reads line variables instead of arrays."""

        def change(part: ir.Value) -> ir.Value | None:
            if not isinstance(part, ir.Load):
                return None
            offset = offset_of(part.index, tuple(map(Affine.name, axes)))
            assert offset is not None
            own = [*part.index]
            own[self.along] = Affine.name(axes[self.along])
            base = ir.Load(part.array, tuple(own))
            assert not any(offset[: self.along] + offset[self.along + 1 :]), "a line of its own"
            name = self.names.setdefault(base, f"%s{len(self.names)}")
            self.shifts.setdefault(base, []).append(offset[self.along])
            return ir.Load(name, (part.index[self.along],))

        return ir.rewrite(value, change)

    def found(self, program: ir.Program, rows: ir.Field) -> tuple[ir.Taken, ...]:
        """Return the line variables, with the points of each line that are copied."""
        return tuple(
            ir.Taken(
                name,
                load,
                near(rows, self.along, (min(self.shifts[load]), max(self.shifts[load])))
                & near(program.field(load.array), self.along, (0, 0)),
            )
            for load, name in self.names.items()
        )


def near(field: ir.Field, along: int, shifts: tuple[int, int]) -> Domain:
    """Return the points between the first and the last points of a field, moved by shifts."""
    axes, first, last = AXES[len(field.shape)], *shifts
    low, stop = field.edges[along]
    ends = f"{(low + first).isl()} <= {axes[along]} < {(stop + last).isl()}"
    return Domain.where(axes, ends, sorted(low.names() | stop.names()))


def _rows(domain: Domain, solve: ir.Solve, taken: _Taken) -> Rows:
    """Return the rows of a piece: their entries and right sides, read from line variables."""
    axes, whole = domain.axes, solve.assignments[0].domain
    entries: dict[Place, ir.Value] = {}
    for entry in solve.entries:
        value = present(entry.value, domain, whole)
        if value is not None and entry.point is None:
            entries[entry.offset, entry.row, entry.column] = taken.reading(value, axes)
    columns = far_columns(solve)
    right = [
        present(v, domain, whole) or ir.ZERO
        for v in (*(a.value for a in solve.assignments), *columns)
    ]
    alone = not any(offset for offset, *_ in entries)
    met = (0,) if alone else range(-solve.reach, solve.reach + 1)
    offsets = frozenset(n for n in met if _has(domain, solve, n))
    return Rows("", domain, offsets, entries, tuple(taken.reading(v, axes) for v in right))


def _merged(found: Sequence[Rows]) -> list[Rows]:
    """Return pieces with names; pieces with the same source are merged."""
    merged: list[Rows] = []
    for rows in found:
        for n, known in enumerate(merged):
            if replace(known, domain=rows.domain) == rows:
                merged[n] = replace(known, domain=(known.domain | rows.domain).simplified())
                break
        else:
            merged.append(rows)
    return [replace(rows, name=f"piece_{n}") for n, rows in enumerate(merged)]


def _has(rows: Domain, solve: ir.Solve, steps: int) -> bool:
    """Whether there is a row at a distance of ``steps`` points from each of some rows."""
    row = [*map(Affine.name, rows.axes)]
    row[solve.axis] = row[solve.axis] + steps
    return rows <= solve.assignments[0].domain.preimage(tuple(row), rows.axes)


def moved(nest: ir.LineNest, place: Mapping[str, str]) -> ir.LineNest:
    """Return a nest that reads and writes other arrays."""
    return replace(
        nest,
        target=place.get(nest.target, nest.target),
        taken=tuple(
            replace(t, load=replace(t.load, array=place.get(t.load.array, t.load.array)))
            for t in nest.taken
        ),
        given=tuple((name, place.get(array, array)) for name, array in nest.given),
    )
