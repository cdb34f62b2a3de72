"""Block matrices in programs: the rows of ``X @ x`` and ``X.solve(b)``, component by component."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from .. import ir
from ..algebra.lines import two_sided_axis
from ..errors import NotTriangularError, UnboundError
from ..programs.expression import Expression
from ..programs.line_solves import solved_along
from ..programs.matrix_program import What
from ..programs.matrix_rows import apply_rows, bound_families, solve_rows
from ..programs.program import Program, array_program
from ..programs.recorder import current
from ..spaces.space import stem
from .block_data import BlockData
from .component_spaces import spaces
from .elimination import eliminated
from .sweeps import swept


def rows_of(matrix: BlockData, what: What, given: Sequence[Expression]) -> list[Expression]:
    """Return the components of ``matrix @ given`` or of ``matrix.solve(given)``."""
    for name in matrix.unbound:
        raise UnboundError(
            f"Matrix {matrix.name} needs a value for {name!r}.",
            hint=f"Bind it: {matrix.name}.bind({name}=...).",
        )
    return (product if what == "apply" else solution)(matrix, given)


def product(matrix: BlockData, x: Sequence[Expression]) -> list[Expression]:
    """Return ``matrix @ x``: in each component one sum, block by block in order."""
    found = []
    for blocks, space in zip(matrix.blocks, spaces(matrix.rows), strict=True):
        row = Expression(space, ir.Sum(()))
        for block, operand in zip(blocks, x, strict=True):
            row = row + apply_rows(block.definition, operand)
        found.append(row)
    return found


def solution(matrix: BlockData, b: Sequence[Expression]) -> list[Expression]:
    """Return ``matrix.solve(b)``."""
    count = range(len(b))
    filled = [(r, c) for r in count for c in count if matrix.blocks[r][c].families]
    if all(_pointwise(matrix, place) for place in filled):
        return eliminated(matrix, b)
    below, above = ([p for p in filled if p[0] > p[1]], [p for p in filled if p[0] < p[1]])
    if not (below and above):
        return substituted(matrix, b, count if below else count[::-1])
    if len({*spaces(matrix.rows)}) > 1:
        raise NotTriangularError(
            f"{matrix.name}.solve needs one space for all components, or blocks that are "
            "triangular as a whole.",
            note=f"There is block {below[0]} below the diagonal, and block {above[0]} above it.",
            hint="Solve with a triangle of blocks, or use an iterative solver.",
        )
    families = [f for block in matrix.every for f in block.families]
    axis = two_sided_axis(families, spaces(matrix.rows)[0].data.shape, matrix.given_rows)
    return swept(matrix, b) if axis is None else _solved_along(matrix, axis, b)


def _solved_along(matrix: BlockData, axis: int, b: Sequence[Expression]) -> list[Expression]:
    """Return the solution with blocks along lines."""
    recorder = current()
    families = [
        [bound_families(block.definition, recorder) for block in row] for row in matrix.blocks
    ]
    space = spaces(matrix.rows)[0]
    return solved_along(matrix.name, space, axis, families, b, matrix.given_rows)


def _pointwise(matrix: BlockData, place: tuple[int, int]) -> bool:
    """Whether all entries of a block are at the row's own point."""
    block = matrix.blocks[place[0]][place[1]]
    same = block.rows == block.cols
    return same and all(f.domain <= f.domain.equal(f.row, f.column) for f in block.families)


def substituted(
    matrix: BlockData, b: Sequence[Expression], order: Sequence[int]
) -> list[Expression]:
    """Return the solution with a triangle of blocks, component by component in this order."""
    made: dict[int, Expression] = {}
    for r in order:
        rest = b[r]
        for c, x in sorted(made.items()):
            rest = rest - apply_rows(matrix.blocks[r][c].definition, x)
        made[r] = current().store(solve_rows(matrix.blocks[r][r].definition, rest))
    return [made[r] for r in sorted(made)]


def block_program(matrix: BlockData, what: What, free: Collection[str] = ()) -> Program:
    """Return the program of ``X @ x`` or ``X.solve(b)``; free data are parameters."""
    source, target = (matrix.cols, matrix.rows) if what == "apply" else (matrix.rows, matrix.cols)
    taken = {*map(stem, matrix.data), *matrix.sizes}
    given, made = (
        {f"{ir.fresh(name, taken)}[{n}]": space for n, space in enumerate(spaces(kind))}
        for name, kind in zip("xy" if what == "apply" else "bx", (source, target), strict=True)
    )
    kinds = {**made, **given, **{name: matrix.data[name] for name in free}}

    def body(*fields: Any) -> None:
        targets, operands = fields[: len(made)], fields[len(made) : len(made) + len(given)]
        data = dict(zip(free, fields[len(made) + len(given) :], strict=True))
        for field, row in zip(targets, rows_of(matrix.bind(data), what, operands), strict=True):
            field[:] = row

    return array_program(f"{matrix.name} {what}", body, kinds)
