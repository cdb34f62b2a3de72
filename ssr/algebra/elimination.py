"""Elimination in dense blocks of values: without pivoting, and without what is zero everywhere.

A block is factorised in Doolittle's order, with one reciprocal for each pivot:

    U[k, c] = A[k, c] - sum of L[k, m] U[m, c]                 m < k <= c
    L[r, k] = (A[r, k] - sum of L[r, m] U[m, k]) / U[k, k]     m < k < r

Each number of the factors and of solutions is named once, by a function of the caller. Numbers that
follow from constants alone are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .. import ir
from ..errors import SingularMatrixError
from ..points.sets import Domain
from ..trace.trace import Place

Number: TypeAlias = "ir.Value | None"
"""A value that a row computes; None is zero."""
Pair: TypeAlias = tuple[Number, Number]
Let: TypeAlias = Callable[[ir.Value], ir.Value]
"""What names a value: it returns what stands for it from there on."""


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of a block, at some rows: what is below the unit diagonal, and the rest."""

    rows: Domain
    let: Let
    lower: Mapping[Place, Number]
    upper: Mapping[Place, Number]
    inverse: tuple[ir.Value, ...]

    def solve(self, b: Sequence[Number]) -> list[Number]:
        """Return the solution for a right side."""
        x, count = list(b), range(len(b))
        for k in count:
            x[k] = self._less(x[k], ((self.lower[k, m], x[m]) for m in range(k)))
        for k in reversed(count):
            rest = self._less(x[k], ((self.upper[k, m], x[m]) for m in count[k + 1 :]))
            x[k] = named(_product(rest, self.inverse[k]), self.let)
        return x

    def _less(self, start: Number, pairs: Iterable[Pair]) -> Number:
        return named(less(self.rows, start, pairs), self.let)


def factorised(block: Sequence[Sequence[Number]], rows: Domain, let: Let) -> Factors:
    """Return the factors of a block of numbers.

    Parameters
    ----------
    block
        Its numbers, row by row; every pivot is there.
    rows
        The rows of the matrix at which they are computed.
    let
        What names the numbers of the factors.
    """
    count = range(len(block))
    lower: dict[Place, Number] = {}
    upper: dict[Place, Number] = {}
    inverse: list[ir.Value] = []
    for k in count:
        for c in count[k:]:
            pairs = ((lower[k, m], upper[m, c]) for m in range(k))
            upper[k, c] = named(less(rows, block[k][c], pairs), let)
        inverse.append(_inverse(upper[k, k], let))
        for r in count[k + 1 :]:
            pairs = ((lower[r, m], upper[m, k]) for m in range(k))
            lower[r, k] = named(_product(less(rows, block[r][k], pairs), inverse[k]), let)
    return Factors(rows, let, lower, upper, tuple(inverse))


def named(value: Number, let: Let) -> Number:
    """Return what stands for a value: a number or an element of an array stands for itself."""
    plain = value is None or isinstance(value, (ir.Const, ir.Load, ir.Scalar))
    return value if plain else let(value)  # type: ignore[arg-type]


def less(rows: Domain, start: Number, pairs: Iterable[Pair]) -> Number:
    """Return a value less products, as one chain of fused multiply-adds."""
    left = [(a, b) for a, b in pairs if a and b and a != ir.ZERO and b != ir.ZERO]
    if not left:
        return start
    first = ir.ZERO if start is None else start
    known = [
        a.value * b.value for a, b in left if isinstance(a, ir.Const) and isinstance(b, ir.Const)
    ]
    if isinstance(first, ir.Const) and len(known) == len(left):
        return ir.Const(first.value - sum(known))
    terms = [] if first == ir.ZERO else [_term(rows, first)]
    return ir.Sum((*terms, *(ir.Term(rows, _negated(a), b) for a, b in left)))


def _term(rows: Domain, value: ir.Value) -> ir.Term:
    if isinstance(value, ir.Const):
        return ir.Term(rows, value)
    return ir.Term(rows, ir.ONE, value)


def _negated(value: ir.Value) -> ir.Value:
    return ir.Const(-value.value) if isinstance(value, ir.Const) else ir.Op("neg", (value,))


def _product(value: Number, factor: ir.Value) -> Number:
    if value is None or factor == ir.ONE:
        return value
    if isinstance(value, ir.Const) and isinstance(factor, ir.Const):
        return ir.Const(value.value * factor.value)
    return ir.Op("mul", (value, factor))


def _inverse(pivot: Number, let: Let) -> ir.Value:
    """Return the inverse of a pivot; there is none only at sizes that the matrix does not have."""
    if pivot is None:
        return ir.Const(math.nan)
    if isinstance(pivot, ir.Const) and pivot.value:
        return ir.Const(1.0 / pivot.value)
    return let(ir.Op("div", (ir.ONE, pivot)))


# -- pivots --------------------------------------------------------------------------------------


def check_filled(name: str, rows: Domain, filled: Mapping[Place, Domain]) -> None:
    """Check that elimination finds every pivot of a block at every row.

    Parameters
    ----------
    name
        The matrix.
    rows
        Its rows.
    filled
        The rows that have each entry of the block.

    Raises
    ------
    SingularMatrixError
        If a pivot is missing somewhere.
    """
    known, count = dict(filled), range(1 + max(r for r, _ in filled))
    for k in count:
        missing = rows - known[k, k]
        if not missing.empty:
            where = f"It is missing for {missing.simplified().notation()}."
            raise no_pivot(name, k if len(count) > 1 else None, where)
        for r in count[k + 1 :]:
            for c in count[k + 1 :]:
                known[r, c] = known[r, c] | (known[r, k] & known[k, c])


def no_pivot(name: str, component: int | None, note: str) -> SingularMatrixError:
    """Return the error of a matrix that cannot be eliminated; blocks have components."""
    if component is None:
        return SingularMatrixError(
            f"{name} has no diagonal entry in some rows, so it cannot be solved with.", note=note
        )
    return SingularMatrixError(
        f"{name} has no pivot in component {component}, so it cannot be solved with.",
        note=note,
        hint="Elimination is without pivoting; put the components into another order.",
    )
