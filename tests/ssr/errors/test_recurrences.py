"""Mistakes with recurrences: what is read too early or outside, pivots that are zero, misuse."""

from itertools import count
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.algebra.oracle import by_definition

from .mistakes import Mistakes, T, U, cells, check, five, line, ones

mistake = Mistakes()
A = ssr.stencil(cells, cells, {(-1, 0): -1, (0, 0): 4, (0, 1): -1}, outside="zero")


@ssr.recurrence(rows=line, cols=line)
def R(i: Any, done: Any) -> Any:
    yield i, 2.0 if i == 0 else 3.0 - 1.0 / done[i - 1, i - 1]


@mistake("""
    UnmadeRowError: done is read at row (j + 1, i), which has not been computed yet.
    | yield (j, i), done[(j + 1, i), (j, i)]
    |               ^^^^^^^^^^^^^^^^^^^^^^^^
    Note: That is so for everywhere.
    Hint: Rows are computed in C order; read only rows before this one: `if k < (j, i):`.
""")
def row_that_is_made_later() -> None:
    @ssr.recurrence(rows=cells, cols=cells)
    def later(j: Any, i: Any, done: Any) -> Any:
        if (j + 1, i) in cells:
            yield (j, i), done[(j + 1, i), (j, i)]


@mistake("""
    UnmadeRowError: done is read at row (i), which has not been computed yet.
    | yield i, 1.0 / done[i, i]
    |                ^^^^^^^^^^
    Note: That is so for everywhere.
    Hint: Rows are computed in C order; read only rows before this one: `if k < (j, i):`.
""")
def row_that_is_being_made() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def own(i: Any, done: Any) -> Any:
        yield i, 1.0 / done[i, i]


@mistake("""
    OutOfSpaceError: done is read at the row (i - 1), outside Space(n).
    | yield i, done[i - 1, i]
    |          ^^^^^^^^^^^^^^
    Note: That is outside for i = 0.
    Hint: Guard the read with `if`, as in `if k in space:`.
""")
def row_outside() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def unguarded(i: Any, done: Any) -> Any:
        yield i, done[i - 1, i]


@mistake("""
    OutOfSpaceError: done is read at the column (i + 1), outside Space(n).
    | yield i, done[i - 1, i + 1]
    |          ^^^^^^^^^^^^^^^^^^
    Note: That is outside for i = -1 + n.
    Hint: Guard the read with `if`, as in `if k in space:`.
""")
def column_outside() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def unguarded(i: Any, done: Any) -> Any:
        if i > 0:
            yield i, done[i - 1, i + 1]


@mistake("""
    OutOfSpaceError: Row (i - 1) of stencil lies outside Space(n).
    | row = T.row(i - 1)
    |       ^^^^^^^^^^^^
    Note: That is so for i = 0.
    Hint: Guard it with `if row in space:`.
""")
def row_of_a_matrix_outside() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def unguarded(i: Any, done: Any) -> Any:
        row = T.row(i - 1)
        yield from row.items()


@mistake("""
    ArgumentError: done[...] takes a row and a column, not i - 1.
    | yield i, done[i - 1]
    |          ^^^^^^^^^^^
    Hint: Write done[k, c] with tuples of indices k and c.
""")
def row_without_a_column() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def short(i: Any, done: Any) -> Any:
        yield i, done[i - 1]


@mistake("""
    SpaceError: The row of stencil is given by 2 indices, not 1.
    | yield from A.row(j).items()
    |            ^^^^^^^^
""")
def row_with_too_few_indices() -> None:
    @ssr.recurrence(rows=cells, cols=cells)
    def short(j: Any, i: Any, done: Any) -> Any:
        yield from A.row(j).items()


@mistake("""
    SingularMatrixError: LU divides by its entry at row (j - 1, i) and column (j - 1, i), which \
is zero.
    | row[k] /= done[k, k]
    |           ^^^^^^^^^^
    Note: That is so for 0 < j < ny and 0 <= i <= -2 + nx.
    Hint: The matrix that is factorized needs a diagonal without zeros.
""")
def pivot_that_is_zero() -> None:
    B = A - A.diagonal()

    @ssr.recurrence(rows=cells, cols=cells)
    def LU(j: Any, i: Any, done: Any) -> Any:
        row = B.row(j, i)
        for k in [c for c in row if c < (j, i)]:
            row[k] /= done[k, k]
        yield from row.items()


@mistake("""
    SpaceError: The recurrence B needs equal spaces of rows and columns.
    | @ssr.recurrence(rows=line, cols=five)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: rows Space(n), columns Space(5)
""")
def recurrence_that_is_not_square() -> None:
    @ssr.recurrence(rows=line, cols=five)
    def B(i: Any, done: Any) -> Any:
        yield i, 1.0


@mistake("""
    ArgumentError: cols must be a Space, not Space(ny, nx).vector(2).
    | @ssr.recurrence(rows=cells, cols=cells.vector(2))
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def recurrence_to_blocks() -> None:
    @ssr.recurrence(rows=cells, cols=cells.vector(2))
    def B(j: Any, i: Any, done: Any) -> Any:
        yield (j, i), np.eye(2)


@mistake("""
    ArgumentError: Generator B takes 1 parameters besides data, not 1 indices and done.
    | @ssr.recurrence(rows=line, cols=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def generator_without_done() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def B(i: Any) -> Any:
        yield i, 1.0


@mistake("""
    ImpureGeneratorError: Generator B gave different entries when it was run again.
    | yield i, float(next(numbers))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: one of them is 0.0 at (i)
    Hint: A generator must not use random numbers or change state; pass run-time values as data.
""")
def impure_generator() -> None:
    numbers = count()

    @ssr.recurrence(rows=line, cols=line)
    def B(i: Any, done: Any) -> Any:
        yield i, float(next(numbers))


@mistake("""
    UnsupportedError: The column (0) of a recurrence has no fixed distance from the row.
    | yield 0, 1.0
    |       ^
    Note: An array is stored for each distance.
""")
def column_at_no_fixed_distance() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def B(i: Any, done: Any) -> Any:
        yield 0, 1.0


@mistake("""
    ArgumentError: stencil.row is read outside the generator of a recurrence.
    | T.row(0)
    | ^^^^^^^^
    Hint: Use A.explain(), or A.to_scipy().
""")
def row_outside_of_generators() -> None:
    T.row(0)


@mistake("""
    ArgumentError: 'dt' has two values in the matrices whose rows are read.
    | yield i, fast.row(i)[i] + slow.row(i)[i]
    |                           ^^^^^^^^^^^
    Hint: Give the data of one of the matrices another name.
""")
def two_values_of_one_datum() -> None:
    fast, slow = U.bind(dt=1.0), U.bind(dt=2.0)

    @ssr.recurrence(rows=line, cols=line)
    def B(i: Any, done: Any) -> Any:
        yield i, fast.row(i)[i] + slow.row(i)[i]


@mistake("""
    UnboundError: Matrix R needs a value for 'R'.
    | R @ ones(4)
    | ^^^^^^^^^^^
    Hint: Compute the recurrence first: R.compute().
""")
def product_before_it_is_computed() -> None:
    R @ ones(4)


@mistake("""
    UnboundError: No value is bound to size n.
    | R.compute()
    | ^^^^^^^^^^^
    Hint: Bind it: A.bind(n=...).
""")
def computed_without_sizes() -> None:
    R.compute()


@mistake("""
    ArgumentError: B is computed into 'u', from which it is computed.
    | B.bind(u=u).compute(out=ssr.vector(u))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Give it a field of its own.
""")
def computed_into_its_own_data() -> None:
    @ssr.recurrence(rows=line, cols=line, u=line)
    def B(i: Any, done: Any, *, u: Any) -> Any:
        yield i, u[i] if i == 0 else u[i] - 1.0 / done[i - 1, i - 1]

    @ssr.program(u=line)
    def step(u: Any) -> None:
        B.bind(u=u).compute(out=ssr.vector(u))


@mistake("""
    ArgumentError: The recurrence twice has no entries to compute.
    | twice.program("compute")
    | ^^^^^^^^^^^^^^^^^^^^^^^^
    Note: All of its entries have a closed form.
    Hint: Use it as it is; compute() returns it unchanged.
""")
def nothing_to_compute() -> None:
    @ssr.recurrence(rows=line, cols=line)
    def twice(i: Any, done: Any) -> Any:
        yield i, 2.0

    twice.program("compute")


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_mistake(function: Any, text: str) -> None:
    check(function, text)


def test_unmade_and_outside_on_integers() -> None:
    with pytest.raises(
        ssr.errors.UnmadeRowError, match="row \\(2\\), which has not been computed yet"
    ):
        _run_on_integers(lambda i, done: done[i + 1, i] if 0 < i < 3 else 1.0)
    with pytest.raises(ssr.errors.OutOfSpaceError, match="row \\(-1\\), outside"):
        _run_on_integers(lambda i, done: done[i - 1, i])


def _run_on_integers(value: Any) -> None:
    from ssr.recurrences.done import Recursion

    def B(i: Any, done: Any) -> Any:
        yield i, value(i, done)

    Recursion(B, five, (), (), frozenset()).assemble({}, {}, by_definition)
