"""Dense block elimination of symbolic values: no pivoting, structural zeros omitted.

A block is factorized in Doolittle's order, with one reciprocal for each pivot:

    U[k, c] = A[k, c] - sum of L[k, m] U[m, c]                 m < k <= c
    L[r, k] = (A[r, k] - sum of L[r, m] U[m, k]) / U[k, k]     m < k < r

Each value of the factors and solutions is named once, by a function of the caller. Values that
follow from constants alone are computed at compile time.

A pivot is the difference of larger numbers. If it is zero in exact arithmetic, rounding leaves
a small number. If S, the sum of the magnitudes of these larger numbers, is given, a pivot p is
treated as zero if S + p / 8 equals S, that is, if it is below 4 to 8 units of rounding of S. Its
inverse is then NaN. Pivots that follow from constants alone are always compared in this way.
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
"""A value of a row; None stands for a structural zero."""
Pair: TypeAlias = tuple[Number, Number]
Let: TypeAlias = Callable[[ir.Value], ir.Value]
"""A function that stores a value and returns the variable that replaces it."""


@dataclass(frozen=True, slots=True)
class Factors:
    """The triangular factors of a block at some rows: below the unit diagonal, and from it on.

    ``inverse`` are the reciprocals of the pivots. A value of ``singular`` is zero where a pivot is.
    """

    rows: Domain
    let: Let
    lower: Mapping[Place, Number]
    upper: Mapping[Place, Number]
    inverse: tuple[ir.Value, ...]
    singular: tuple[ir.Value, ...] = ()

    @property
    def watched(self) -> tuple[ir.Value, ...]:
        """Numbers that are infinite where pivots are zero, or taken for zero."""
        return tuple(map(_reciprocal, self.singular)) or self.inverse

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


def factorized(
    block: Sequence[Sequence[Number]], rows: Domain, let: Let, scale: Scale | None = None
) -> Factors:
    """Return the factors of a block of numbers."""
    count = range(len(block))
    lower: dict[Place, Number] = {}
    upper: dict[Place, Number] = {}
    inverse: list[ir.Value] = []
    singular: list[ir.Value] = []
    for k in count:
        for c in count[k:]:
            pairs = ((lower[k, m], upper[m, c]) for m in range(k))
            upper[k, c] = named(less(rows, block[k][c], pairs), let)
        if isinstance(upper[k, k], ir.Const):
            upper[k, k] = _unless_rounded(rows, block, lower, upper, k)
        inverse.append(_inverse(upper[k, k], let))
        if scale is not None:
            pairs = ((lower[k, m], upper[m, k]) for m in range(k))
            total = scale.times(rows, size(rows, scale.sizes[k], pairs))
            singular.append(_remainder(total, upper[k, k], let))
            inverse[k] = _unless_zero(inverse[k], singular[k], let)
        for r in count[k + 1 :]:
            pairs = ((lower[r, m], upper[m, k]) for m in range(k))
            lower[r, k] = named(_product(less(rows, block[r][k], pairs), inverse[k]), let)
    return Factors(rows, let, lower, upper, tuple(inverse), tuple(singular))


def _unless_rounded(
    rows: Domain,
    block: Sequence[Sequence[Number]],
    lower: Mapping[Place, Number],
    upper: Mapping[Place, Number],
    k: int,
) -> Number:
    """Return a pivot that is a constant: zero if it is a result of rounding alone."""
    pivot = upper[k, k]
    total = size(rows, block[k][k], ((lower[k, m], upper[m, k]) for m in range(k)))
    if isinstance(total, ir.Const) and isinstance(pivot, ir.Const):
        return pivot if total.value + pivot.value / 8 != total.value else ir.ZERO
    return pivot


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes of the numbers whose sums and differences the diagonal entries of a block are.

    Their rounding errors add up along lines of a ``length``.
    """

    sizes: Sequence[Number]
    length: ir.Value = ir.ONE

    def times(self, rows: Domain, total: Number) -> Number:
        """Return a size times the length; constants are not results of sums along lines."""
        if total is None or isinstance(total, ir.Const):
            return total
        return ir.Op("mul", (self.length, total))


def size(rows: Domain, start: Number, pairs: Iterable[Pair]) -> Number:
    """Return the size of a value, and of the products of pairs, added up."""
    return less(rows, _absolute(start), ((_minus(_absolute(a)), _absolute(b)) for a, b in pairs))


def _minus(value: Number) -> Number:
    return None if value is None else _negated(value)


def _absolute(value: Number) -> Number:
    if isinstance(value, ir.Const):
        return ir.Const(abs(value.value))
    return None if value is None else ir.Op("abs", (value,))


def _remainder(total: Number, pivot: Number, let: Let) -> ir.Value:
    """Return a number that is zero only if a pivot is negligible compared with a size."""
    if total is None or pivot is None:
        return ir.ONE
    if isinstance(total, ir.Const) and isinstance(pivot, ir.Const):
        return ir.Const((total.value + pivot.value / 8) - total.value)
    part = ir.Op("mul", (pivot, ir.Const(0.125)))
    return let(ir.Op("sub", (ir.Op("add", (total, part)), total)))


def _unless_zero(inverse: ir.Value, remainder: ir.Value, let: Let) -> ir.Value:
    """Return the inverse of a pivot, or NaN."""
    if isinstance(remainder, ir.Const):
        return inverse if remainder.value else ir.Const(math.nan)
    return let(ir.Op("add", (inverse, ir.Op("div", (ir.ZERO, remainder)))))


def named(value: Number, let: Let) -> Number:
    """Return a variable for a value; return constants, scalars and elements of arrays as is."""
    plain = value is None or isinstance(value, (ir.Const, ir.Load, ir.Scalar, ir.Rounded))
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
    match value:
        case ir.Const(number):
            return ir.Const(-number)
        case ir.Op("neg", (inner,)):
            return inner
    return ir.Op("neg", (value,))


def _product(value: Number, factor: ir.Value) -> Number:
    if value is None or factor == ir.ONE:
        return value
    if isinstance(value, ir.Const) and isinstance(factor, ir.Const):
        return ir.Const(value.value * factor.value)
    return ir.Op("mul", (value, factor))


def _reciprocal(value: ir.Value) -> ir.Value:
    if isinstance(value, ir.Const):
        return ir.Const(1.0 / value.value if value.value else math.inf)
    return ir.Op("div", (ir.ONE, value))


def _inverse(pivot: Number, let: Let) -> ir.Value:
    """Return the inverse of a pivot; there is none only at sizes that the matrix does not have."""
    if pivot is None:
        return ir.Const(math.nan)
    if isinstance(pivot, ir.Const) and pivot.value:
        return ir.Const(1.0 / pivot.value)
    return let(ir.Op("div", (ir.ONE, pivot)))


# -- pivots --------------------------------------------------------------------------------------


def check_filled(name: str, rows: Domain, filled: Mapping[Place, Domain]) -> None:
    """Check that elimination finds every pivot of a block at every row."""
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
            f"{name} has no diagonal entry in some rows, so it cannot be solved.", note=note
        )
    return SingularMatrixError(
        f"{name} has no pivot in component {component}, so it cannot be solved.",
        note=note,
        hint="Elimination is without pivoting; put the components into another order.",
    )
