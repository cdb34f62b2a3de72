"""Dependence analysis of matrices and assignments by isl: triangularity, order, in-place safety."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .. import ir
from ..errors import NotTriangularError, SingularMatrixError
from ..points.affine import Affine, offset_of
from ..points.sets import Domain
from ..symbols.printing import show
from .lines import crossing
from .own_box import is_local


def diagonal_split(
    found: tuple[ir.Family, ...], rows: Domain, given: Domain, name: str
) -> tuple[ir.Order, tuple[ir.Family, ...], tuple[ir.Family, ...]]:
    """Return the order of substitution, the diagonal families and the others.

    It need be possible for the sizes that are ``given``, by a condition on them.
    """
    sides = Sides.of(found, given)
    order = sides.order(name)
    missing = rows & given
    for f in sides.diagonal:
        missing = missing - f.domain
    if not missing.empty:
        raise SingularMatrixError(
            f"{name} has no diagonal entry in some rows, so it cannot be solved.",
            note=f"It is missing for {missing.simplified().notation()}.",
        )
    return order, sides.diagonal, (*sides.before, *sides.after)


@dataclass(frozen=True, slots=True)
class Sides:
    """Families by the position of their columns: before the row, at the row, or after it."""

    before: tuple[ir.Family, ...]
    diagonal: tuple[ir.Family, ...]
    after: tuple[ir.Family, ...]

    @classmethod
    def of(cls, found: Iterable[ir.Family], given: Domain) -> Sides:
        """Return families divided by the position of their columns, for the given sizes."""
        sides: tuple[list[ir.Family], ...] = ([], [], [])
        for f in found:
            for kept, domain in zip(
                sides,
                (
                    f.domain.before(f.column, f.row),
                    f.domain.equal(f.row, f.column),
                    f.domain.before(f.row, f.column),
                ),
                strict=True,
            ):
                if not (domain & given).empty:
                    kept.append(replace(f, domain=domain))
        return cls(*map(tuple, sides))

    def order(self, name: str) -> ir.Order:
        """Return the order in which rows are substituted."""
        if self.before and self.after:
            first, last = self.before[0], self.after[0]
            across = crossing((*self.before, *self.diagonal, *self.after))
            raise NotTriangularError(
                f"{name}.solve needs a triangular matrix, or one with columns along one axis only; "
                f"{name} is neither.",
                note=f"({_place(first.column)}) comes before the row for "
                f"{first.domain.notation()}; ({_place(last.column)}) after it for "
                f"{last.domain.notation()}"
                + (
                    f"; columns lie at {across[0]} and at {across[1]} from the row"
                    if across
                    else ""
                ),
                hint=f"Solve with {name}.tril() or {name}.triu(), or use an iterative solver.",
            )
        return "forward" if self.before else "backward" if self.after else "any"


def _place(column: tuple[Affine, ...]) -> str:
    return ", ".join(map(str, column))


def reads(value: ir.Value, domain: Domain) -> Iterator[tuple[Domain, ir.Load]]:
    """Yield all loads of a value with the rows that execute them; shared nodes are visited once."""
    seen: set[tuple[int, Domain]] = set()
    left = [(value, domain)]
    while left:
        here, rows = left.pop()
        if (id(here), rows) in seen:
            continue
        seen.add((id(here), rows))
        match here:
            case ir.Load():
                yield rows, here
            case ir.Sum(terms):
                for term in reversed(terms):
                    inside = rows & term.domain
                    left += [(part, inside) for part in (term.operand, term.weight) if part]
            case ir.Op(_, args):
                left += [(arg, rows) for arg in reversed(args)]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The order of an assignment, whether it runs in place, and the reason if it does not."""

    order: ir.Order
    in_place: bool
    reason: str


def sweep(assignment: ir.Assignment) -> Sweep:
    """Return the order in which an assignment may write its target in place, if there is one.

    In-place assignment is correct if and only if every old value that a row reads is at or after
    the row in sweep order, and so not yet overwritten. New values are before the row by
    construction. For a stored matrix, the applied part bounds the position of its columns.
    """
    old = [
        (domain, load)
        for domain, load in _of_rows(reads(assignment.value, assignment.domain), assignment)
        if load.array == assignment.target and not load.new and not domain.empty
    ]
    made = assignment.order != "any"
    gathered = [
        g for g in ir.gathers(assignment.value) if g.array == assignment.target and not g.new
    ]
    if not old and not gathered:
        return Sweep(assignment.order, True, "the target is not read before it is written")
    candidates: tuple[ir.Order, ...] = (assignment.order,) if made else ("forward", "backward")
    row = tuple(Affine.name(a) for a in assignment.axes)
    reason = ""
    for order in candidates:
        found = _overwritten(order, row, old, gathered)
        if found is None:
            own = all(load.index == row for _, load in old) and all(_own(g, row) for g in gathered)
            if not made and own:
                return Sweep("any", True, "each row reads only its own old value")
            return Sweep(order, True, f"in {order} order all old values lie at or after the row")
        reason = f"in {order} order, row ({_place(row)}) reads {found}"
    return Sweep(assignment.order, False, reason)


def _of_rows(
    found: Iterator[tuple[Domain, ir.Load]], assignment: ir.Assignment
) -> Iterator[tuple[Domain, ir.Load]]:
    """Yield reads; reads of a partially assigned target are restricted to the assigned rows.

    The memory of a box holds old values at the points of others, which it does not assign.
    """
    in_part = assignment.part is not None or is_local(assignment.domain)
    for domain, load in found:
        if in_part and load.array == assignment.target:
            domain = domain & assignment.domain.preimage(load.index, assignment.axes)
        yield domain, load


def _overwritten(
    order: ir.Order,
    row: tuple[Affine, ...],
    old: Sequence[tuple[Domain, ir.Load]],
    gathered: Sequence[ir.Gather],
) -> str | None:
    """Return a description of a read of an overwritten value by a row; None if there is none."""
    for domain, load in old:
        pair = (load.index, row) if order == "forward" else (row, load.index)
        lost = domain.before(*pair)
        if not lost.empty:
            return (
                f"the old value at ({_place(load.index)}) after it was overwritten, "
                f"for {lost.simplified().notation()}"
            )
    for g in gathered:
        first, last = g.part if g.row == row else ir.WHOLE
        if first < 1 if order == "forward" else last > 2:
            return f"old values of {g.array} through {show(g)} after they were overwritten"
    return None


def _own(gather: ir.Gather, row: tuple[Affine, ...]) -> bool:
    """Whether a product with a stored matrix reads the row's own point only."""
    return gather.part == (1, 2) and gather.row == row


def earlier(*together: ir.Assignment) -> tuple[tuple[int, ...], ...] | None:
    """Return the offsets from a row of assignments to rows that must be done before it, in place.

    None means that they are not the same for all rows. A row comes after the rows whose new
    values it reads, and after the rows that read its old value.
    """
    row = tuple(Affine.name(a) for a in together[0].axes)
    targets = {a.target for a in together}
    offsets: dict[tuple[int, ...], None] = {}
    for domain, load in (
        found for a in together for found in _of_rows(reads(a.value, a.domain), a)
    ):
        if load.array not in targets or domain.empty:
            continue
        offset = offset_of(load.index, row)
        if offset is None:
            return None
        if any(offset):
            offsets[offset if load.new else tuple(-o for o in offset)] = None
    gathered = [g for a in together for g in ir.gathers(a.value) if g.array in targets]
    if not all(_own(g, row) for g in gathered):
        return None
    return tuple(sorted(offsets))
