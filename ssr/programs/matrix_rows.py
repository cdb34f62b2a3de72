"""Matrix products and solves in programs: a generic row of ``A @ x`` and of ``A.solve(b)``.

A product is a sum with one term for each entry family. A solve is such a sum, divided by the
diagonal. The data of the matrix are replaced by the values that they are bound to in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from .. import ir
from ..algebra.analyse import diagonal_split
from ..algebra.families import multiply
from ..algebra.lines import distance, two_sided_axis
from ..algebra.matrix_data import MatrixData
from ..errors import SpaceError
from ..points.affine import AXES, Offset
from ..points.sets import Domain
from ..spaces.space import row_domain
from .expression import Expression, check_side, terms
from .line_solves import computed_on_lines, solved_along
from .recorder import Recorder, current


def apply_rows(matrix: MatrixData, x: Expression) -> Expression:
    """Return the row of ``matrix @ x``."""
    if x.space != matrix.cols:
        inside = x.space.ndim == matrix.cols.ndim and row_domain(x.space) <= row_domain(matrix.cols)
        raise SpaceError(
            f"{matrix.name} @ an expression on {x.space!r}: the columns are {matrix.cols!r}.",
            hint="Ghost points around a field are made by a fill: "
            f"{matrix.name} @ (fill @ x), with bc.fill of the package boundary."
            if inside
            else None,
        )
    recorder = current()
    field = recorder.store(x)
    found = bound_families(matrix, recorder)
    made = (ir.Term(f.domain, f.value, ir.Load(field.name, f.column), f.box) for f in found)
    return Expression(matrix.rows, ir.Sum(tuple(made)))


def solve_rows(matrix: MatrixData, b: Expression) -> Expression:
    """Return the row of ``matrix.solve(b)``."""
    (made,) = solutions(matrix, [b])
    return made


def solutions(matrix: MatrixData, right: Sequence[Expression]) -> list[Expression]:
    """Return ``matrix.solve(b)`` for several right sides.

    Where rows are coupled in both directions along an axis, these are systems along lines; else
    the row is ``(b - sum of made neighbours) / diagonal``.
    """
    recorder, given = current(), matrix.given_rows
    axis = two_sided_axis(matrix.families, matrix.rows.data.shape, given)
    if axis is not None:
        found = bound_families(matrix, recorder, lambda data: computed_on_lines(data, matrix.rows))
        return solved_along(matrix.name, matrix.rows, axis, [[found]], right, given)
    found = bound_families(matrix, recorder)
    return [_substituted(matrix, found, b, given) for b in right]


def _substituted(
    matrix: MatrixData, found: tuple[ir.Family, ...], b: Expression, given: Domain
) -> Expression:
    """Return the row of a solution by substitution."""
    check_side(matrix.name, b, matrix.rows)
    rows, minus = row_domain(matrix.rows), ir.Const(-1.0)
    order, diagonal, rest = diagonal_split(found, rows, given, matrix.name)
    b = right_side(b, rest)
    made = tuple(
        ir.Term(f.domain, multiply(minus, f.value), ir.Load(ir.MADE, f.column, True), f.box)
        for f in rest
    )
    total = ir.Sum((*terms(b), *made))
    divisor = diagonal_value(diagonal, rows)
    value = total if divisor == ir.ONE else ir.Op("div", (total, divisor))
    return Expression(matrix.rows, value, order)


def right_side(b: Expression, found: Iterable[ir.Family]) -> Expression:
    """Return the right side of a sweep, stored if it has terms within boxes and entries cross them.

    The sweep over rows of several boxes then runs in a nest without bounds of boxes.
    """
    b = b.settled()
    within = any(term.box != "any" for node in ir.sums(b.value) for term in node.terms)
    across = any(family.box == "any" for family in found)
    return current().store(b) if within and across else b


def entries(matrix: MatrixData, offsets: Sequence[Offset]) -> list[Expression]:
    """Return the entries of a row whose columns lie at some offsets from it, zero without one."""
    found = bound_families(matrix, current())
    made = []
    for offset in offsets:
        here = [f for f in found if distance(f) == offset]
        row = ir.Sum(tuple(ir.Term(f.domain, f.value) for f in here))
        made.append(Expression(matrix.rows, row))
    return made


def diagonal_value(diagonal: tuple[ir.Family, ...], rows: Domain) -> ir.Value:
    """Return the diagonal entry of a row: one value if it is the same expression everywhere."""
    if len(diagonal) == 1 and rows <= diagonal[0].domain:
        return diagonal[0].value
    return ir.Sum(tuple(ir.Term(f.domain, f.value) for f in diagonal))


def bound_families(
    matrix: MatrixData,
    recorder: Recorder,
    computed: Callable[[Expression], bool] = lambda _: False,
) -> tuple[ir.Family, ...]:
    """Return the families with data replaced by the bound fields or values; see `Recorder.data`."""
    meaning = recorder.data(matrix, computed)
    return tuple(replace(f, value=bound_value(f.value, meaning)) for f in matrix.families)


def bound_value(value: ir.Value, meaning: Mapping[str, ir.Value | str]) -> ir.Value:
    """Return a value with data replaced by the bound fields or values."""

    def change(part: ir.Value) -> ir.Value | None:
        if isinstance(part, ir.Scalar):
            found = meaning[part.name]
            assert not isinstance(found, str)
            return found
        if isinstance(part, ir.Load):
            bound = meaning[part.array]
            if isinstance(bound, str):
                return replace(part, array=bound)
            axes = AXES[len(part.index)]
            return ir.substituted(bound, dict(zip(axes, part.index, strict=True)))
        return None

    return ir.rewrite(value, change)
