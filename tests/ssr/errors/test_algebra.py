"""Mistakes in the algebra of matrices: products, powers, transposes, parts, Kronecker products."""

from typing import Any

import pytest

import ssr

from .mistakes import Mistakes, T, U, cells, check, faces, five, line, m, n, ones

mistake = Mistakes()
plane = ssr.Space(m, n)
plus = ssr.stencil(
    plane, plane, {(0, 0): 4, (0, 1): 1, (1, 0): 1, (0, -1): 1, (-1, 0): 1}, outside="zero"
)


@mistake("""
    SpaceError: stencil @ identity: the columns of the first are not the rows of the second.
    | T @ ssr.identity(five)
    | ^^^^^^^^^^^^^^^^^^^^^^
    Note: Space(n) and Space(5)
""")
def product_over_other_spaces() -> None:
    T @ ssr.identity(five)


@mistake("""
    ShapeError: stencil @ stencil: size n is bound to 3 and to 4.
    | T.bind(n=3) @ T.bind(n=4)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def product_over_other_sizes() -> None:
    T.bind(n=3) @ T.bind(n=4)


@mistake("""
    ArgumentError: stencil cannot be raised to the power -1.
    | T**-1
    | ^^^^^
    Hint: Powers are integers from 0 on; A.solve(b) stands for the inverse of a triangle.
""")
def inverse_by_a_power() -> None:
    T**-1


@mistake("""
    UnsupportedError: stencil ** 50 has rows of more than 500 entries.
    | plus**50
    | ^^^^^^^^
    Note: rows of stencil ** 16 have 545 already
    Hint: Apply the matrix repeatedly: for _ in range(50): x = stencil @ x.
""")
def power_with_many_entries() -> None:
    plus**50


@mistake("""
    UnsupportedError: stencil.diagonal() ** 1000 is not supported: powers go up to 100.
    | T.diagonal() ** 1000
    | ^^^^^^^^^^^^^^^^^^^^
    Hint: Apply the matrix repeatedly: for _ in range(1000): x = stencil.diagonal() @ x.
""")
def high_power() -> None:
    T.diagonal() ** 1000


@mistake("""
    ArgumentError: stencil cannot be raised to the power 0.5.
    | T**0.5
    | ^^^^^^
    Hint: Powers are integers from 0 on; A.solve(b) stands for the inverse of a triangle.
""")
def root_of_a_matrix() -> None:
    T**0.5


@mistake("""
    SpaceError: stencil ** 2 needs equal spaces of rows and columns.
    | D**2
    | ^^^^
    Note: rows Space(n), columns Space(-1:n + 1)
""")
def square_of_a_rectangle() -> None:
    D = ssr.stencil(line, line.grow(1), {1: 1})
    D**2


@mistake("""
    UnsupportedError: The transpose of mean has rows with too many entries.
    | print(mean.T)
    |       ^^^^^^
    Note: Column (0) is read by over 64 rows, by more in larger grids, or under too many conditions.
    Hint: Use mean.to_scipy().T.
""")
def transpose_of_a_full_column() -> None:
    @ssr.matrix(rows=line, cols=line)
    def mean(i: Any) -> Any:
        yield 0, 1.0

    print(mean.T)


@mistake("""
    ArgumentError: Entries of stencil cannot be read one by one.
    | T[0, 0]
    | ^^^^^^^
    Hint: stencil[rows, cols] takes spaces, or : for all; see stencil.explain(), or use \
A.to_scipy().
""")
def entry_of_a_matrix() -> None:
    T[0, 0]


@mistake("""
    ArgumentError: Entries of stencil cannot be read one by one.
    | T[line]
    | ^^^^^^^
    Hint: stencil[rows, cols] takes spaces, or : for all; see stencil.explain(), or use \
A.to_scipy().
""")
def rows_without_columns() -> None:
    T[line]


@mistake("""
    SpaceError: stencil[...]: Space(-1:n + 1) is not a part of the rows.
    | T[line.grow(1), :]
    | ^^^^^^^^^^^^^^^^^^
    Note: The rows are Space(n).
    Hint: A part has the location of the whole and lies in it for all sizes, as cells.grow(-1) does.
""")
def part_that_is_larger() -> None:
    T[line.grow(1), :]


@mistake("""
    SpaceError: stencil[...]: Space(5) is not a part of the columns.
    | T[:, five]
    | ^^^^^^^^^^
    Note: The columns are Space(n).
    Hint: A part has the location of the whole and lies in it for all sizes, as cells.grow(-1) does.
""")
def part_that_may_be_larger() -> None:
    T[:, five]


@mistake("""
    SpaceError: identity[...]: Space(ny + 1, nx, faces of axis 0) is not a part of the rows.
    | ssr.identity(cells)[faces, :]
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: The rows are Space(ny, nx).
    Hint: A part has the location of the whole and lies in it for all sizes, as cells.grow(-1) does.
""")
def part_at_another_location() -> None:
    ssr.identity(cells)[faces, :]


@mistake("""
    ArgumentError: kron takes two matrices, not ndarray.
    | ssr.kron(T, ones(2, 2))
    | ^^^^^^^^^^^^^^^^^^^^^^^
""")
def kronecker_product_with_an_array() -> None:
    ssr.kron(T, ones(2, 2))


@mistake("""
    SpaceError: The rows of kron(kron(identity, identity), identity) have 6 dimensions.
    | ssr.kron(ssr.kron(plane, plane), plane)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: Space(ny, nx, ny, nx) and Space(ny, nx)
    Hint: A space has 1 to 4 dimensions.
""")
def kronecker_product_of_six_dimensions() -> None:
    plane = ssr.identity(cells)
    ssr.kron(ssr.kron(plane, plane), plane)


@mistake("""
    UnboundError: The sizes m do not follow from the arrays.
    | A @ ones(3)
    | ^^^^^^^^^^^
    Hint: Bind them on the matrix: A.bind(n=...).
""")
def size_between_two_factors() -> None:
    long = ssr.Space(m)

    @ssr.matrix(rows=line, cols=long)
    def R(i: Any) -> Any:
        if i < m:
            yield i, 1.0

    @ssr.matrix(rows=long, cols=line)
    def P(i: Any) -> Any:
        if i < n:
            yield i, 1.0

    A = R @ P
    A @ ones(3)


@mistake("""
    UnboundError: Matrix (identity @ U) needs a value for 'u'.
    | A @ ones(3)
    | ^^^^^^^^^^^
    Hint: Bind it: (identity @ U).bind(u=...).
""")
def product_without_its_data() -> None:
    A = ssr.identity(line) @ U
    A @ ones(3)


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Any, text: str) -> None:
    check(function, text)
