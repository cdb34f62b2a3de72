"""Mistakes in combining matrices, binding data and writing programs."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import ssr
from tests.ssr.errors.mistakes import (
    Mistakes,
    T,
    U,
    cells,
    check,
    faces,
    five,
    line,
    m,
    n,
    ones,
)

mistake = Mistakes()


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Callable[[], object], text: str) -> None:
    check(function, text)


# -- algebra ---------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: `*` scales stencil by a number, not by another operand.
    | T * T
    | ^^^^^
    Hint: The matrix product is written `@`.
""")
def star_of_two_matrices():
    T * T


@mistake("""
    ArgumentError: stencil @ list: the operand is a NumPy array or a field.
    | T @ [1.0, 2.0]
    | ^^^^^^^^^^^^^^
    Hint: Convert it with np.asarray.
""")
def product_with_a_list():
    T @ [1.0, 2.0]


@mistake("""
    SpaceError: stencil + identity: their row or column spaces differ.
    | T + ssr.identity(five)
    | ^^^^^^^^^^^^^^^^^^^^^^
    Note: Space(n) -> Space(n) and Space(5) -> Space(5)
""")
def sum_of_matrices_on_other_spaces():
    T + ssr.identity(five)


@mistake("""
    ArgumentError: tril(3) is not defined on a grid.
    | T.tril(3)
    | ^^^^^^^^^
    Note: Entries are compared with the diagonal in row order; there are no far diagonals.
    Hint: Use tril() with the diagonal, or tril(-1) without.
""")
def far_diagonal():
    T.tril(3)


@mistake("""
    SpaceError: stencil.tril needs equal spaces of rows and columns.
    | R.tril()
    | ^^^^^^^^
    Note: rows Space(n), columns Space(-1:n + 1)
""")
def part_of_a_rectangle():
    R = ssr.stencil(line, line.grow(1), {-1: 1.0})
    R.tril()


@mistake("""
    NotTriangularError: stencil.solve needs a triangular matrix, or one with columns along one \
axis only; stencil is neither.
    | A.solve(ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^
    Note: (j - 1, i) comes before the row for 0 < j < ny and 0 <= i < nx; (j, i + 1) after it for \
0 <= j < ny and 0 <= i <= -2 + nx; columns lie at (-1, 0) and at (0, 1) from the row
    Hint: Solve with stencil.tril() or stencil.triu(), or use an iterative solver.
""")
def solve_with_a_full_matrix():
    A = ssr.stencil(cells, cells, {(-1, 0): -1, (0, 0): 4, (0, 1): -1}, outside="zero")
    A.solve(ones(3, 4))


SINGULAR = """
    SingularMatrixError: {} has no diagonal entry in some rows, so it cannot be solved.
    | {}
    | {}
    Note: It is missing for {}.
"""


def singular(name: str, source: str, region: str) -> str:
    return SINGULAR.format(name, source, "^" * len(source), region)


@mistake(singular("stencil.tril(-1)", "T.tril(-1).solve(ones(3))", "0 <= i < n"))
def solve_without_a_diagonal():
    T.tril(-1).solve(ones(3))


@mistake(singular("Z", "Z.solve(ones(3))", "0 <= i < n"))
def solve_with_a_zero_diagonal():
    @ssr.matrix(rows=line, cols=line)
    def Z(i):
        yield i, 0
        if i > 0:
            yield i - 1, 1.0

    Z.solve(ones(3))


@mistake(singular("Z", "Z.solve(ones(5))", "i = 3 and n >= 4"))
def solve_with_one_zero_on_the_diagonal():
    @ssr.matrix(rows=line, cols=line)
    def Z(i):
        yield i, -0.0 if i == 3 else 1.0

    Z.solve(ones(5))


@mistake(
    singular("(stencil.tril() - 2 * identity)", "D.solve(ones(3))", "0 <= i < n"),
)
def solve_with_a_diagonal_that_cancels():
    D = T.tril() - 2 * ssr.identity(line)
    D.solve(ones(3))


@mistake("""
    ArgumentError: The right side must be a NumPy array, not list.
    | T.tril().solve([1.0])
    | ^^^^^^^^^^^^^^^^^^^^^
""")
def solve_for_a_list():
    T.tril().solve([1.0])


@mistake("""
    ArgumentError: stencil is divided by zero.
    | T / 0
    | ^^^^^
""")
def matrix_divided_by_zero():
    T / 0


@mistake("""
    UnsupportedError: A product with stencil on the right is not staged.
    | ones(3) @ T
    | ^^^^^^^^^^^
    Hint: Apply the transpose: A.T @ x.
""")
def product_from_the_left():
    ones(3) @ T


@mistake("""
    DtypeError: (1+2j) is not a real number.
    | np.complex128(1 + 2j) * T
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def complex_multiple():
    np.complex128(1 + 2j) * T


@mistake("""
    ArgumentError: Cannot add stencil and int; only matrices can be added.
    | 1 - T
    | ^^^^^
    Hint: A multiple of the identity is 2.0 * ssr.identity(space).
""")
def number_minus_a_matrix():
    1 - T


@mistake("""
    ArgumentError: Cannot add stencil and ndarray; only matrices can be added.
    | T + ones(3)
    | ^^^^^^^^^^^
    Hint: A multiple of the identity is 2.0 * ssr.identity(space).
""")
def matrix_plus_an_array():
    T + ones(3)


@mistake("""
    ArgumentError: A matrix has the programs "apply" and "solve", not 'multiply'.
    | T.program("multiply")
    | ^^^^^^^^^^^^^^^^^^^^^
""")
def unknown_program_of_a_matrix():
    T.program("multiply")


# -- data ------------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: U has no data named 'v'.
    | U.bind(v=ones(3))
    | ^^^^^^^^^^^^^^^^^
    Hint: It has dt, n, u.
""")
def bind_of_an_unknown_name():
    U.bind(v=ones(3))


@mistake("""
    UnboundError: Matrix U needs a value for 'dt'.
    | U.bind(u=ones(3)) @ ones(3)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Bind it: U.bind(dt=...).
""")
def scalar_without_a_value():
    U.bind(u=ones(3)) @ ones(3)


@mistake("""
    UnboundError: Matrix U needs a value for 'u'.
    | U @ ones(3)
    | ^^^^^^^^^^^
    Hint: Bind it: U.bind(u=...).
""")
def field_without_a_value():
    U @ ones(3)


@mistake("""
    UnboundError: No value is bound to size n.
    | T.to_scipy()
    | ^^^^^^^^^^^^
    Hint: Bind it: A.bind(n=...).
""")
def size_without_a_value():
    T.to_scipy()


@mistake("""
    UnboundError: The sizes m, n do not follow from the arrays.
    | ssr.identity(ssr.Space(n + m)) @ ones(5)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Bind them on the matrix: A.bind(n=...).
""")
def sizes_that_do_not_follow():
    ssr.identity(ssr.Space(n + m)) @ ones(5)


@mistake("""
    ShapeError: Size 'n' must be a positive integer, not 0.
    | T.bind(n=0)
    | ^^^^^^^^^^^
""")
def size_zero():
    T.bind(n=0)


@mistake("""
    ShapeError: Field 'u' has 2 axes; its space has 1.
    | U.bind(u=ones(3, 3))
    | ^^^^^^^^^^^^^^^^^^^^
""")
def field_with_too_many_axes():
    U.bind(u=ones(3, 3))


@mistake("""
    ShapeError: Array 'u' has length 4 along axis 0 where 3 is needed.
    | U.bind(u=ones(4), dt=1.0) @ ones(3)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(n); n = 3 follows from axis 0 of 'x'
""")
def field_of_another_shape():
    U.bind(u=ones(4), dt=1.0) @ ones(3)


# -- programs --------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: Program p assigns and returns nothing.
    | @ssr.program(x=line, b=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Write x[:] = ...; `x = ...` only renames.
""")
def assignment_to_a_name():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x = 2 * b  # noqa: F841


@mistake("""
    ArgumentError: x[0] assigns a part of a field.
    | x[0] = b
    | ^^^^
    Hint: Assign the whole field, x[:] = ..., or a part named by its Space.
""")
def assignment_of_a_part():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[0] = b


@mistake("""
    ArgumentError: A program's body uses a NumPy array.
    | x[:] = w * b
    |        ^^^^^
    Hint: Declare it as a field of the program and pass it when calling.
""")
def array_in_a_program():
    w = ones(3)

    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = w * b


@mistake("""
    Error: A field of a program is used outside the program's body.
    | kept[0][:] = 1.0
    | ^^^^^^^^^^
    Hint: Fields are symbols; call the program with arrays.
""")
def field_outside_its_program():
    kept = []

    @ssr.program(x=line)
    def p(x):
        kept.append(x)
        x[:] = 2.0 * x

    kept[0][:] = 1.0


@mistake("""
    RuntimeConditionError: A Python condition depends on a field.
    | if bool(x):
    |    ^^^^^^^
    Note: A program's body runs when it is declared, without data.
    Hint: Choose between values with ssr.where(condition, a, b).
""")
def condition_on_a_field():
    @ssr.program(x=line)
    def p(x):
        if bool(x):
            x[:] = 2.0 * x


@mistake("""
    SpaceError: Expressions on Space(ny, nx) and Space(ny + 1, nx, faces of axis 0) are combined.
    | x[:] = x + f
    |        ^^^^^
    Hint: Pointwise arithmetic needs one space; a matrix leads from one to another.
""")
def sum_of_two_locations():
    @ssr.program(x=cells, f=faces)
    def p(x, f):
        x[:] = x + f


@mistake("""
    SpaceError: An expression on Space(ny, nx) is assigned to 'f' on Space(ny + 1, nx, faces of axis 0).
    | f[:] = x
    | ^^^^
    Hint: Both sides of an assignment live on one space.
""")  # noqa: E501
def assignment_to_another_location():
    @ssr.program(x=cells, f=faces)
    def p(x, f):
        f[:] = x


@mistake("""
    SpaceError: identity @ an expression on Space(ny + 1, nx, faces of axis 0): the columns are Space(ny, nx).
    | x[:] = ssr.identity(cells) @ f
    |        ^^^^^^^^^^^^^^^^^^^^^^^
""")  # noqa: E501
def product_with_another_location():
    @ssr.program(x=cells, f=faces)
    def p(x, f):
        x[:] = ssr.identity(cells) @ f


@mistake("""
    SingularMatrixError: stencil.tril(-1) has no diagonal entry in some rows, so it cannot be solved.
    | x[:] = T.tril(-1).solve(b)
    |        ^^^^^^^^^^^^^^^^^^^
    Note: It is missing for 0 <= i < n.
""")  # noqa: E501
def singular_solve_in_a_program():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = T.tril(-1).solve(b)


@mistake("""
    ArgumentError: Program p takes ['x', 'b'], but ['x'] is declared.
    | @ssr.program(x=line)
    |  ^^^^^^^^^^^^^^^^^^^
    Hint: Declare each parameter: a Space for a field, ssr.scalar for a number.
""")
def parameter_not_declared():
    @ssr.program(x=line)
    def p(x, b):
        x[:] = b


@mistake("""
    ArgumentError: Parameter 'b' is declared as 3.
    | @ssr.program(x=line, b=3)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Use a Space, or ssr.scalar.
""")
def parameter_of_no_kind():
    @ssr.program(x=line, b=3)
    def p(x, b):
        x[:] = b


@mistake("""
    ArgumentError: The name n is both a size and a field or scalar.
    | @ssr.program(x=line, n=ssr.scalar)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Rename one of them.
""")
def scalar_named_like_a_size():
    @ssr.program(x=line, n=ssr.scalar)
    def p(x, n):
        x[:] = x * n


@mistake("""
    ArgumentError: Field 'x' belongs to another program.
    | y[:] = kept[0]
    | ^^^^
    Hint: Use the parameters of the program's own body.
""")
def field_of_another_program():
    kept = []

    @ssr.program(x=line)
    def p(x):
        kept.append(x)
        x[:] = 2.0 * x

    @ssr.program(y=line)
    def q(y):
        y[:] = kept[0]


@mistake("""
    ArgumentError: `x += ...` only renames x in a program.
    | x += b
    | ^^^^^^
    Hint: Write x[:] += ....
""")
def assignment_in_place_to_a_name():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = 2.0 * b
        x += b


@mistake("""
    RuntimeConditionError: A Python condition compares fields.
    | if x == b:
    |    ^^^^^^
    Note: A program's body runs when it is declared, without data.
    Hint: Choose between values with ssr.where(condition, a, b).
""")
def comparison_of_fields():
    @ssr.program(x=line, b=line)
    def p(x, b):
        if x == b:
            x[:] = b
        else:
            x[:] = 2.0 * b


@mistake("""
    ArgumentError: Size n is bound to 3 and to 4 in one program.
    | x[:] = T.bind(n=3) @ b + T.bind(n=4) @ b
    |                          ^^^^^^^^^^^^^^^
""")
def one_size_twice():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = T.bind(n=3) @ b + T.bind(n=4) @ b


@mistake("""
    ArgumentError: options is {'exact': True}, not ssr.Options.
    | @ssr.program(options={"exact": True}, x=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def options_that_are_none():
    @ssr.program(options={"exact": True}, x=line)
    def p(x):
        x[:] = 2.0 * x


@mistake("""
    ArgumentError: Option exact must be True or False, not 'yes'.
    | ssr.Options(exact="yes")
    | ^^^^^^^^^^^^^^^^^^^^^^^^
""")
def option_with_an_unknown_value():
    ssr.Options(exact="yes")


@mistake("""
    ArgumentError: Scalar 'a' belongs to another program.
    | y[:] = kept[0] * y
    | ^^^^
    Hint: Use the parameters of the program's own body.
""")
def scalar_of_another_program():
    kept = []

    @ssr.program(x=line, a=ssr.scalar)
    def p(x, a):
        kept.append(a)
        x[:] = a * x

    @ssr.program(y=line)
    def q(y):
        y[:] = kept[0] * y


@mistake("""
    ArgumentError: A value belongs to another program.
    | x[:] = x + kept[0]
    |        ^^^^^^^^^^^
    Hint: Use the parameters of the program's own body.
""")
def value_of_another_program():
    kept = []

    @ssr.program(x=line)
    def p(x):
        kept.append(2.0 * x)
        x[:] = kept[-1]

    @ssr.program(x=line)
    def q(x):
        x[:] = x + kept[0]


@mistake("""
    ArgumentError: `*` scales stencil by a number, not by another operand.
    | x[:] = (b * T) @ x
    |         ^^^^^
    Hint: Apply the matrix first, as in w * (stencil @ x).
""")
def field_times_a_matrix():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = (b * T) @ x


@mistake("""
    ArgumentError: `*` scales stencil by a number, not by another operand.
    | x[:] = T * b
    |        ^^^^^
    Hint: Apply the matrix first, as in w * (stencil @ x).
""")
def matrix_times_a_field():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = T * b


@mistake("""
    ArgumentError: x[condition] assigns a part of a field.
    | x[x < 0.0] = b
    | ^^^^^^^^^^
    Hint: Assign the whole field, x[:] = ssr.where(condition, new, old).
""")
def assignment_under_a_condition():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[x < 0.0] = b


@mistake("""
    RuntimeConditionError: A Python condition compares fields.
    | x[:] = min(x, b)
    |        ^^^^^^^^^
    Note: A program's body runs when it is declared, without data.
    Hint: Choose between values with ssr.where(condition, a, b).
""")
def min_of_fields():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = min(x, b)


@mistake("""
    RuntimeConditionError: The run-time value x[i] is used where Python needs a number.
    | x[:] = math.sqrt(x)
    |        ^^^^^^^^^^^^
    Hint: Use ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like instead of math.
""")
def math_function_of_a_field():
    @ssr.program(x=line)
    def p(x):
        x[:] = math.sqrt(x)


@mistake("""
    UnsupportedError: np.add.reduce of run-time values is not staged.
    | x[:] = x / np.sum(x)
    |            ^^^^^^^^^
    Hint: The sum over all points is ssr.sum(x).
""")
def sum_over_a_field():
    @ssr.program(x=line)
    def p(x):
        x[:] = x / np.sum(x)


@mistake("""
    DtypeError: None is not a real number.
    | x[:] = None
    | ^^^^
    Hint: Operands in a program are numbers, scalars, fields and arithmetic of these.
""")
def assignment_of_nothing():
    @ssr.program(x=line)
    def p(x):
        x[:] = None
