"""Block triangular solves: substitution with a dense diagonal block at each point.

    x[i] = D[i]^-1 (b[i] - sum of A[i, j] x[j])     rows j before i, in the order of the sweep

The values of a row (right-hand sides, factors, solution) are temporaries that are assigned jointly:
all of them at a row, then those of the next row. Temporaries that only their own row reads become
line buffers (`lower/fusing/contract_temporaries`), and values without dependences on other rows of
the line are hoisted and computed line by line (`lower/passes/hoist_independent`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .. import ir
from ..algebra.analyse import Sides
from ..algebra.elimination import factorized
from ..algebra.families import multiply
from ..programs.expression import Expression, check_side, terms
from ..programs.matrix_rows import bound_families, right_side
from ..programs.recorder import Recorder, current
from ..spaces.space import Space, row_domain
from .block_data import BlockData
from .component_spaces import spaces
from .elimination import check_numbers, check_pivots, numbers


def swept(matrix: BlockData, b: Sequence[Expression]) -> list[Expression]:
    """Return the components of the solution."""
    recorder, space = current(), spaces(matrix.rows)[0]
    for component in b:
        check_side(matrix.name, component, space)
    rows, given = row_domain(space), matrix.given_rows
    sides = [
        [Sides.of(bound_families(m.definition, recorder), given) for m in row]
        for row in matrix.blocks
    ]
    order = _whole([*chain(*sides)]).order(matrix.name)
    diagonal = [[each.diagonal for each in row] for row in sides]
    check_pivots(matrix.name, given, diagonal)
    together = _Together(space, recorder)
    x = [together.name() for _ in b]
    found = _whole([*chain(*sides)])
    given_sides = [right_side(c, (*found.before, *found.after)) for c in b]
    right = [ir.Sum((*terms(c), *_made(row, x))) for c, row in zip(given_sides, sides, strict=True)]
    factors = factorized(numbers(diagonal, rows), rows, together.let)
    check_numbers(matrix.name, factors.upper)
    for name, value in zip(x, factors.solve(right), strict=True):
        together.values[name] = value or ir.ZERO
    recorder.assign_jointly(space, together.values, order)
    return [recorder.whole(name) for name in x]


def _whole(sides: Sequence[Sides]) -> Sides:
    """Return the families of all blocks."""
    return Sides(
        tuple(chain(*(each.before for each in sides))),
        tuple(chain(*(each.diagonal for each in sides))),
        tuple(chain(*(each.after for each in sides))),
    )


def _made(row: Sequence[Sides], x: Sequence[str]) -> list[ir.Term]:
    """Return the negated terms with values computed by earlier rows."""
    minus = ir.Const(-1.0)
    return [
        ir.Term(f.domain, multiply(minus, f.value), ir.Load(name, f.column, True), f.box)
        for name, each in zip(x, row, strict=True)
        for f in (*each.before, *each.after)
    ]


class _Together:
    """Values of temporaries that are computed together, in order; each reads earlier ones."""

    def __init__(self, space: Space, recorder: Recorder) -> None:
        self.space = space
        self.recorder = recorder
        self.values: dict[str, ir.Value] = {}

    def name(self) -> str:
        """Return the name of one more temporary."""
        name = self.recorder.fresh("t")
        self.recorder.temporaries[name] = self.space
        return name

    def let(self, value: ir.Value) -> ir.Value:
        """Name a value, and return its load at the current row."""
        name = self.name()
        self.values[name] = value
        return ir.Load(name, self.space.indices(), True)
