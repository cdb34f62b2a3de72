"""Stored (CSR) matrices in programs: rows of products with fields, and of substitution.

A row is a loop over stored entries, as an ordinary value of an expression. For symbolic matrices
isl proves triangularity and in-place safety. For stored matrices these properties are read from
the data, and the part of the matrix is recorded in the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from ..algebra.stored import Stored
from ..errors import NotTriangularError, SingularMatrixError, SpaceError
from ..spaces.space import row_domain
from .expression import Expression, check_side, terms
from .recorder import current


def apply_stored(stored: Stored, part: ir.Range, x: Expression) -> Expression:
    """Return the row of the product of a part of a stored matrix with an expression."""
    if x.space != stored.cols:
        raise SpaceError(
            f"A stored matrix @ an expression on {x.space!r}: the columns are {stored.cols!r}."
        )
    field = current().alone(x)
    found = _gather(stored, part, field.name)
    return Expression(stored.rows, ir.Sum(()) if found is None else found)


def solve_stored(stored: Stored, part: ir.Range, b: Expression) -> Expression:
    """Return the row of a triangular solution: ``(b - earlier neighbours) / diagonal``."""
    check_side("A stored matrix ", b, stored.rows)
    order = _order(stored, part)
    b = b.settled()
    sides = ("forward", (0, 1)), ("backward", (2, 3))
    made = [_gather(stored, side, ir.MADE, new=True) for way, side in sides if way == order]
    rows = row_domain(stored.rows)
    found = (ir.Term(rows, ir.Const(-1.0), g) for g in made if g is not None)
    divisor = ir.Diagonal(
        current().keep(stored), stored.rows.indices(), _field("", stored.rows), stored.wide
    )
    total = ir.Sum((*terms(b), *found))
    return Expression(stored.rows, ir.Op("div", (total, divisor)), order)


def _gather(stored: Stored, part: ir.Range, array: str, *, new: bool = False) -> ir.Gather | None:
    """Return the row of the product with a field; None if the part has no entries."""
    part = stored.within(part)
    if part[0] >= part[1]:
        return None
    rows, cols = _field("", stored.rows), _field(array, stored.cols)
    name = current().keep(stored)
    return ir.Gather(name, stored.rows.indices(), rows, cols, part, stored.wide, new)


def _field(name: str, space: Any) -> ir.Field:
    return ir.Field(name, space.data.lower, space.data.shape)


def _order(stored: Stored, part: ir.Range) -> ir.Order:
    """Return the order of substitution."""
    start, stop = stored.within(part)
    if start == 0 and stop == 3:
        side = stored.csr.indices.astype(np.int64) - stored.lines
        before, after = (
            f"row {stored.point(stored.lines[p])}, column {stored.point(stored.csr.indices[p])}"
            for p in (np.argmax(side < 0), np.argmax(side > 0))
        )
        raise NotTriangularError(
            "solve needs a triangular matrix; the stored one has entries on both sides.",
            note=f"{before} is before the diagonal; {after} after it",
            hint="Solve with S.tril() or S.triu(), or use an iterative solver.",
        )
    missing = np.flatnonzero(stored.after == stored.diagonal)
    if part[0] > 1 or part[1] < 2:
        missing = np.arange(len(stored.diagonal))
    if len(missing):
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise SingularMatrixError(
            f"A stored matrix has no diagonal entry in row {stored.point(missing[0])}{more}, "
            "so it cannot be solved.",
            note="Zeros are not stored.",
        )
    return "forward" if start == 0 else "backward" if stop == 3 else "any"
