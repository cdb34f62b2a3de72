"""Solve with a block-diagonal matrix: dense elimination at each point, as pointwise expressions.

Each value of the elimination (`algebra/elimination`) is a field of the program, computed once from
its entry and from earlier values. Fusion keeps these fields in line buffers.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import reduce

from .. import ir
from ..algebra.elimination import Number, check_filled, factorized, no_pivot
from ..points.sets import Domain
from ..programs.expression import Expression
from ..programs.matrix_rows import bound_families, diagonal_value
from ..programs.recorder import current
from ..spaces.space import row_domain
from ..trace.trace import Place
from .block_data import BlockData
from .component_spaces import spaces

Diagonals = Sequence[Sequence[tuple[ir.Family, ...]]]
"""The families of each entry of the diagonal blocks, row by row."""


def eliminated(matrix: BlockData, b: Sequence[Expression]) -> list[Expression]:
    """Return the components of the solution, given those of the right side."""
    recorder, space = current(), spaces(matrix.rows)[0]

    def let(value: ir.Value) -> ir.Value:
        return recorder.store(Expression(space, value)).value

    rows = row_domain(space)
    found = [[bound_families(m.definition, recorder) for m in row] for row in matrix.blocks]
    check_pivots(matrix.name, matrix.given_rows, found)
    factors = factorized(numbers(found, rows), rows, let)
    check_numbers(matrix.name, factors.upper)
    x = factors.solve([component.settled().value for component in b])
    return [Expression(space, value or ir.ZERO) for value in x]


def numbers(found: Diagonals, rows: Domain) -> list[list[Number]]:
    """Return the entries of blocks as values."""
    return [[diagonal_value(each, rows) if each else None for each in row] for row in found]


def check_pivots(name: str, rows: Domain, found: Diagonals) -> None:
    """Check that entries and the fill-in of elimination cover every pivot at every row."""
    filled = {
        (r, c): reduce(operator.or_, (family.domain for family in each), rows - rows)
        for r, row in enumerate(found)
        for c, each in enumerate(row)
    }
    check_filled(name, rows, filled)


def check_numbers(name: str, upper: Mapping[Place, Number]) -> None:
    """Check that no pivot is the number zero."""
    for r, c in upper:
        if r == c and upper[r, c] == ir.ZERO:
            raise no_pivot(name, r, "The number there is zero.")
