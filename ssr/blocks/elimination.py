"""Solve with one dense block at each point, by elimination written as pointwise expressions.

An LU factorisation without pivoting in Doolittle's order: every number of the factors is computed
once, from its entry and from numbers computed before. What is zero for all points is left out, and
what is the same number everywhere is computed at once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TypeAlias

from .. import ir
from ..points.sets import Domain
from ..programs.expression import Expression
from ..programs.line_solves import check_filled, no_pivot
from ..programs.matrix_rows import bound_families, diagonal_value
from ..programs.recorder import current
from ..spaces.space import row_domain
from ..trace.trace import Place
from .block_data import BlockData
from .component_spaces import spaces

Entry: TypeAlias = "Expression | float"


def eliminated(matrix: BlockData, b: Sequence[Expression]) -> list[Expression]:
    """Return the components of the solution, given those of the right side.

    Raises
    ------
    SingularMatrixError
        If a pivot is proved to be zero.
    """
    check_pivots(matrix)
    count = range(len(b))
    f = {(r, c): _entry(matrix, r, c) for r in count for c in count}
    for k in count:
        for c in count[k:]:
            f[k, c] = _kept(_less(f[k, c], ((f[k, m], f[m, c]) for m in range(k))))
        if _is(f[k, k], 0.0):
            raise no_pivot(matrix.name, k, "The number there is zero.")
        for r in count[k + 1 :]:
            rest = _less(f[r, k], ((f[r, m], f[m, k]) for m in range(k)))
            f[r, k] = _kept(_over(rest, f[k, k]))
    x: list[Entry] = list(b)
    for k in count:
        x[k] = _kept(_less(x[k], ((f[k, m], x[m]) for m in range(k))))
    for k in reversed(count):
        rest = _less(x[k], ((f[k, m], x[m]) for m in count[k + 1 :]))
        x[k] = _kept(_over(rest, f[k, k]))
    return [row for row in x if isinstance(row, Expression)]


def check_pivots(matrix: BlockData) -> None:
    """Check that entries, or what elimination adds to them, make every pivot at every point.

    Raises
    ------
    SingularMatrixError
        If a pivot is missing somewhere.
    """
    rows, filled = row_domain(spaces(matrix.rows)[0]), dict[Place, Domain]()
    for r, row in enumerate(matrix.blocks):
        for c, block in enumerate(row):
            domains = (family.domain for family in block.families)
            filled[r, c] = reduce(operator.or_, domains, rows - rows)
    check_filled(matrix.name, rows, filled)


def _entry(matrix: BlockData, r: int, c: int) -> Entry:
    """Return an entry of the blocks: a number if it is the same everywhere."""
    found = bound_families(matrix.blocks[r][c].definition, current())
    space = spaces(matrix.rows)[r]
    value = diagonal_value(found, row_domain(space))
    if value == ir.Sum(()):
        return 0.0
    return value.value if isinstance(value, ir.Const) else Expression(space, value)


def _less(start: Entry, factors: Iterable[tuple[Entry, Entry]]) -> Entry:
    """Return a value less products."""
    for a, b in factors:
        if not _is(a, 0.0) and not _is(b, 0.0):
            start = -(a * b) if _is(start, 0.0) else start - a * b
    return start


def _over(value: Entry, pivot: Entry) -> Entry:
    return value if _is(pivot, 1.0) or _is(value, 0.0) else value / pivot


def _is(value: Entry, number: float) -> bool:
    return isinstance(value, float) and value == number


def _kept(value: Entry) -> Entry:
    """Return a number, or the field that holds an expression, which is used more than once."""
    return current().store(value) if isinstance(value, Expression) else value
