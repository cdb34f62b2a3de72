"""Every mistake a user can make, and what is said about it.

A case is a function that makes one mistake; its text is the whole message: class and sentence, the
user's line (after ``|``) with carets, note and hint.
"""

import copy
import doctest
import linecache
import math
import pickle
import random
import re
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ssr
from ssr import errors
from ssr.errors import Error

n, m, ny, nx = ssr.sizes("n m ny nx")
line, five, cells = ssr.Space(n), ssr.Space(5), ssr.Space(ny, nx)
faces = cells.faces(axis=0)
T = ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="drop")


@ssr.matrix(rows=line, cols=line, u=line, dt=ssr.scalar)
def U(i, *, u, dt):
    yield i, u[i] * dt


@ssr.program(x=line, b=line)
def sweep(x, b):
    x[:] = T.tril().solve(b - T.triu(1) @ x)


@ssr.program(x=cells, b=cells)
def add(x, b):
    x[:] = x + b


@ssr.program(x=line, a=ssr.scalar)
def scale(x, a):
    x[:] = x * a


def ones(*shape: int, dtype: Any = float) -> np.ndarray:
    return np.ones(shape, dtype)


MISTAKES: list[Any] = []


def mistake(text: str, bug: str = "") -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Register a function with the message it must lead to."""

    def register(function: Callable[[], object]) -> Callable[[], object]:
        marks = [pytest.mark.xfail(reason=bug, strict=True)] if bug else []
        MISTAKES.append(pytest.param(function, text, id=function.__name__, marks=marks))
        return function

    return register


def shown(error: Error) -> str:
    """Return a message without file, line numbers and the hints' indentation."""
    lines = f"{type(error).__name__}: {error}".splitlines()
    if error.span is not None:
        head = f'  File "{error.span.file}", line {error.span.line}, in {error.span.function}'
        assert lines[1] == head
        del lines[1]
    return "\n".join(re.sub(r"^ +(\d+ )?(?=\| )", "", text).removeprefix("  ") for text in lines)


@pytest.mark.parametrize(("function", "text"), MISTAKES)
def test_message(function: Callable[[], object], text: str) -> None:
    with pytest.raises(Error) as caught:
        function()
    assert shown(caught.value) == textwrap.dedent(text).strip()
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


# -- columns ---------------------------------------------------------------------------------------


@mistake("""
    NotAffineError: An index expression multiplies (i) by (j).
    | yield (i * j, j), 1.0
    |        ^^^^^
    Note: Columns and conditions are affine: integer multiples of indices.
    Hint: Pass an index array as run-time data instead.
""")
def product_of_indices():
    @ssr.matrix(rows=cells, cols=cells)
    def A(j, i):
        yield (i * j, j), 1.0


@mistake("""
    NotAffineError: ((i) / 2.0) is not an index: an integer or an affine expression of row indices.
    | yield i / 2, 1.0
    |       ^^^^^
    Hint: Pass an index array as run-time data instead.
""")
def half_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i / 2, 1.0


@mistake("""
    NotAffineError: 1.5 is not an index: an integer or an affine expression of row indices.
    | 1.5,
    | ^^^
    Hint: Use // for integer division.
""")
def float_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield (
            1.5,
            1.0,
        )


@mistake("""
    NotAffineError: An index expression raises to a power the symbolic index (i).
    | yield i**2, 1.0
    |       ^^^^
    Hint: Only + - and * // % by integer constants keep an index affine.
""")
def power_of_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i**2, 1.0


@mistake("""
    NotAffineError: The index (i) is divided by 0 in `//`.
    | yield i // 0, 1.0
    |       ^^^^^^
    Hint: Divide indices by positive integer constants.
""")
def index_divided_by_zero():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i // 0, 1.0


@mistake("""
    NotAffineError: The index (i) is divided by -2 in `%`.
    | yield i % -2, 1.0
    |       ^^^^^^
    Hint: Divide indices by positive integer constants.
""")
def index_modulo_a_negative_number():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i % -2, 1.0


@mistake("""
    NotAffineError: u[i] is not an index: an integer or an affine expression of row indices.
    | yield u[i], 1.0
    |       ^^^^
    Hint: Pass an index array as run-time data instead.
""")
def field_as_column():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield u[i], 1.0


@mistake("""
    OutOfSpaceError: Column (j, i + 1) of A lies outside Space(ny, nx).
    | yield (j, i + 1), 1.0
    |       ^^^^^^^^^^
    Note: That is so for i = -1 + nx.
    Hint: Guard it with `if column in space:`, or let cols be space.grow(width).
""")
def column_outside():
    @ssr.matrix(rows=cells, cols=cells)
    def A(j, i):
        yield (j, i), 4.0
        yield (j, i + 1), 1.0


@mistake("""
    OutOfSpaceError: Column (i + 1) of A lies outside Space(5).
    | yield i + 1, 1.0
    |       ^^^^^
    Note: That is so for i = 4.
    Hint: Guard it with `if column in space:`, or let cols be space.grow(width).
""")
def column_outside_in_a_helper():
    def upper(i):
        yield i + 1, 1.0

    @ssr.matrix(rows=five, cols=five)
    def A(i):
        yield i, 2.0
        yield from upper(i)


@mistake("""
    OutOfSpaceError: Column (i + 1) of stencil lies outside Space(n).
    | ssr.stencil(line, line, {1: 1.0})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: That is so for i = -1 + n.
    Hint: Guard it with `if column in space:`, or let cols be space.grow(width).
""")
def stencil_outside():
    ssr.stencil(line, line, {1: 1.0})


@mistake("""
    OutOfSpaceError: Field 'u' is read outside its space, at (i + 1).
    | yield i, 1.0 + u[i + 1]
    |                ^^^^^^^^
    Note: That is outside for i = -1 + n and n > 0.
    Hint: Guard the read with `if`, or give the field on space.grow(width).
""")
def field_read_outside():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, 1.0 + u[i + 1]


@mistake("""
    SpaceError: Field 'u' is read with 2 of 1 indices.
    | yield i, u[i, 0]
    |          ^^^^^^^
""")
def field_read_with_too_many_indices():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, u[i, 0]


# -- conditions and Python's own functions ---------------------------------------------------------


@mistake("""
    RuntimeConditionError: A Python condition depends on the run-time value (u[i] > 0.0).
    | if u[i] > 0:
    |    ^^^^^^^^
    Note: The generator runs once, when the matrix is declared, not for each row.
    Hint: Choose between values with ssr.where(condition, a, b).
""")
def condition_on_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        if u[i] > 0:
            yield i, 1.0


@mistake("""
    RuntimeConditionError: A Python condition depends on the run-time value (u[i] > 1.0).
    | yield i, min(u[i], 1.0)
    |          ^^^^^^^^^^^^^^
    Note: The generator runs once, when the matrix is declared, not for each row.
    Hint: Choose between values with ssr.where(condition, a, b).
""")
def min_of_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, min(u[i], 1.0)


@mistake("""
    RuntimeConditionError: The run-time value u[i] is used where Python needs a number.
    | yield i, math.sqrt(u[i])
    |          ^^^^^^^^^^^^^^^
    Hint: Use ssr.sqrt, ssr.exp, ssr.minimum, ssr.maximum, ssr.where instead of math.
""")
def math_function_of_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, math.sqrt(u[i])


@mistake("""
    NotAffineError: The symbolic index (i) is used where Python needs an integer.
    | yield i, math.sqrt(i)
    |          ^^^^^^^^^^^^
    Hint: Loop over literal ranges and compare the index; int() and range() need numbers.
""")
def math_function_of_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, math.sqrt(i)


@mistake("""
    NotAffineError: The symbolic index (i) is used where Python needs an integer.
    | yield int(i), 1.0
    |       ^^^^^^
    Hint: Loop over literal ranges and compare the index; int() and range() need numbers.
""")
def int_of_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield int(i), 1.0


@mistake("""
    NotAffineError: The symbolic index (n) is used where Python needs an integer.
    | for k in range(n):
    |          ^^^^^^^^
    Hint: Loop over literal ranges and compare the index; int() and range() need numbers.
""")
def range_of_a_size():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        for k in range(n):
            yield k, 1.0


@mistake("""
    NotAffineError: The symbolic index (i) is used where Python needs an integer.
    | yield i, [1.0, 2.0][i]
    |          ^^^^^^^^^^^^^
    Hint: Loop over literal ranges and compare the index; int() and range() need numbers.
""")
def list_at_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, [1.0, 2.0][i]


@mistake("""
    RuntimeConditionError: A condition on symbolic sizes or indices has no truth value here.
    | if n < 3:
    |    ^^^^^
    Hint: Conditions are decided inside a generator; outside, use integer sizes.
""")
def condition_on_a_size_outside():
    if n < 3:
        pass


# -- what a generator yields -----------------------------------------------------------------------


@mistake("""
    ArgumentError: A generator yields `column, value`, not i.
    | yield i
    | ^^^^^^^
""")
def yield_of_a_column():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i


@mistake("""
    ArgumentError: A generator yields `column, value`, not (j, i, 1.0).
    | yield j, i, 1.0
    | ^^^^^^^^^^^^^^^
""")
def yield_of_three():
    @ssr.matrix(rows=cells, cols=cells)
    def A(j, i):
        yield j, i, 1.0


@mistake("""
    ArgumentError: A column has 2 indices in Space(ny, nx), not 1.
    | yield i, 1.0
    | ^^^^^^^^^^^^
""")
def column_with_too_few_indices():
    @ssr.matrix(rows=cells, cols=cells)
    def A(j, i):
        yield i, 1.0


@mistake("""
    ArgumentError: Generator A returned tuple; it must `yield column, value`.
    | @ssr.matrix(rows=line, cols=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def return_instead_of_yield():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        return i, 1.0


@mistake("""
    ArgumentError: Generator A takes 1 indices; its rows have 2 axes.
    | @ssr.matrix(rows=cells, cols=cells)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def generator_with_too_few_indices():
    @ssr.matrix(rows=cells, cols=cells)
    def A(i):
        yield i, 1.0


@mistake("""
    ArgumentError: Generator A takes the keyword-only data ['u'], but [] is declared.
    | @ssr.matrix(rows=line, cols=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Declare each: a Space for a field, ssr.scalar for a number.
""")
def data_not_declared():
    @ssr.matrix(rows=line, cols=line)
    def A(i, *, u):
        yield i, u[i]


@mistake("""
    ArgumentError: rows is a Space, not 5.
    | @ssr.matrix(rows=5, cols=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def rows_that_are_no_space():
    @ssr.matrix(rows=5, cols=line)
    def A(i):
        yield i, 1.0


@mistake("""
    DtypeError: 1j is not a real number.
    | yield i, 1j
    |          ^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def complex_weight():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, 1j


@mistake("""
    DtypeError: 'one' is not a real number.
    | yield i, "one"
    |          ^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def string_weight():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, "one"


@mistake("""
    ImpureGeneratorError: Generator A gave different entries when it was run again.
    | yield i, random.random()
    | ^^^^^^^^^^^^^^^^^^^^^^^^
    Note: one of them is 0.5714025946899135 at (i)
    Hint: A generator must not use random numbers or change state; pass run-time values as data.
""")
def random_weight():
    random.seed(10)

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, random.random()


@mistake("""
    ImpureGeneratorError: The generator met another condition when it was run again.
    | if i > len(seen):
    |    ^^^^^^^^^^^^^
    Note: first (i - 2 >= 0), then (i - 3 >= 0)
    Hint: A generator must not use random numbers or change state.
""")
def counting_generator():
    seen = []

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        seen.append(i)
        if i > len(seen):
            yield i, 1.0


@mistake("""
    TooManyPathsError: Generator A has more than 512 paths.
    | @ssr.matrix(rows=line, cols=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: Each condition that both holds and fails somewhere doubles the paths.
    Hint: Make conditions depend on each other less, or split the matrix into a sum.
""")
def too_many_paths():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        for bit in range(10):
            if i // 2**bit % 2 == 0:
                yield i, 1.0


# -- spaces and sizes ------------------------------------------------------------------------------


@mistake("""
    EmptySpaceError: The space has no points along axis 1: its extent is 0.
    | ssr.Space(3, 0)
    | ^^^^^^^^^^^^^^^
    Hint: Extents are positive.
""")
def empty_space():
    ssr.Space(3, 0)


@mistake("""
    EmptySpaceError: The space has no points along axis 0: its extent is -1.
    | five.grow(-3)
    | ^^^^^^^^^^^^^
    Hint: Extents are positive.
""")
def space_shrunk_to_nothing():
    five.grow(-3)


@mistake("""
    SpaceError: A space has 1 to 4 dimensions, not 5.
    | ssr.Space(1, 2, 3, 4, 5)
    | ^^^^^^^^^^^^^^^^^^^^^^^^
""")
def space_with_five_axes():
    ssr.Space(1, 2, 3, 4, 5)


@mistake("""
    NotAffineError: (3, 4) is not an index: an integer or an affine expression of row indices.
    | ssr.Space((3, 4))
    | ^^^^^^^^^^^^^^^^^
    Hint: Pass an index array as run-time data instead.
""")
def space_of_a_tuple():
    ssr.Space((3, 4))


@mistake("""
    ArgumentError: Axis 2 of a space with 2 axes.
    | cells.faces(2)
    | ^^^^^^^^^^^^^^
""")
def faces_of_no_axis():
    cells.faces(2)


@mistake("""
    SpaceError: Space(ny + 1, nx, faces of axis 0) is staggered already; start from its cells.
    | faces.faces(1)
    | ^^^^^^^^^^^^^^
""")
def faces_of_faces():
    faces.faces(1)


@mistake("""
    SpaceError: A stencil between cells and faces of axis 0 mixes locations.
    | ssr.stencil(cells, faces, {(0, 0): 1.0})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Write it with ssr.matrix, where the shift between the locations is explicit.
""")
def stencil_between_locations():
    ssr.stencil(cells, faces, {(0, 0): 1.0})


@mistake("""
    ArgumentError: Offset (0,) has 1 of 2 components.
    | ssr.stencil(cells, cells, {0: 1.0})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def stencil_offset_of_another_dimension():
    ssr.stencil(cells, cells, {0: 1.0})


@mistake("""
    ArgumentError: outside is "error" or "drop", not 'zero'.
    | ssr.stencil(line, line, {0: 1.0}, outside="zero")
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def unknown_choice():
    ssr.stencil(line, line, {0: 1.0}, outside="zero")


@mistake(
    """
    ArgumentError: 'i' cannot name a size.
    | ssr.sizes("n i")
    | ^^^^^^^^^^^^^^^^
    Hint: Use an ASCII identifier unknown to Python, isl and generated source.
    """,
    bug="index.sizes: a bare Error",
)
def size_named_like_an_index():
    ssr.sizes("n i")


@mistake(
    """
    ArgumentError: No size is named.
    | ssr.sizes("")
    | ^^^^^^^^^^^^^
    Hint: Write ssr.sizes("ny nx").
    """,
    bug="index.sizes: a bare Error",
)
def no_size():
    ssr.sizes("")


# -- algebra ---------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: `*` scales a matrix by a number.
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
    SpaceError: stencil + identity: the matrices act between other spaces.
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
    NotTriangularError: stencil.solve needs a triangular matrix; stencil has entries on both sides.
    | T.solve(ones(3))
    | ^^^^^^^^^^^^^^^^
    Note: (i - 1) comes before the row for 0 < i < n; (i + 1) after it for 0 <= i <= -2 + n
    Hint: Solve with stencil.tril() or stencil.triu(), or use an iterative solver.
""")
def solve_with_a_full_matrix():
    T.solve(ones(3))


SINGULAR = """
    SingularMatrixError: {} has no diagonal entry in some rows, so it cannot be solved with.
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
    ArgumentError: The right side is a NumPy array, not list.
    | T.tril().solve([1.0])
    | ^^^^^^^^^^^^^^^^^^^^^
""")
def solve_for_a_list():
    T.tril().solve([1.0])


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
    ShapeError: Size 'n' is a positive integer, not 0.
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


# -- shapes ----------------------------------------------------------------------------------------


@mistake("""
    ShapeError: Array 'x' has 2 axes, not 1.
    | T @ ones(3, 3)
    | ^^^^^^^^^^^^^^
    Note: its space is Space(n)
""")
def array_with_too_many_axes():
    T @ ones(3, 3)


@mistake("""
    ShapeError: Array 'x' has length 4 along axis 0 where 5 is needed.
    | T.bind(n=5) @ ones(4)
    | ^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(n); n is bound to 5
""")
def array_of_another_length_than_bound():
    T.bind(n=5) @ ones(4)


@mistake("""
    ShapeError: Array 'x' has length 4 along axis 0 where 5 is needed.
    | ssr.identity(five) @ ones(4)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(5)
""")
def array_on_a_fixed_space():
    ssr.identity(five) @ ones(4)


@mistake("""
    ShapeError: Array 'y' has length 4 along axis 0 where 3 is needed.
    | T.apply(ones(3), out=ones(4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(n); n = 3 follows from axis 0 of 'x'
""")
def out_of_another_length():
    T.apply(ones(3), out=ones(4))


@mistake("""
    ShapeError: Array 'x' has length 2 along axis 0 where 3 is needed.
    | add(ones(2, 4), ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(ny, nx); ny = 3 follows from axis 0 of 'b'
""")
def arrays_of_two_heights():
    add(ones(2, 4), ones(3, 4))


@mistake("""
    ShapeError: Array 'x' has length 5 along axis 1 where 4 is needed.
    | add(ones(3, 5), ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(ny, nx); nx = 4 follows from axis 1 of 'b'
""")
def arrays_of_two_widths():
    add(ones(3, 5), ones(3, 4))


@mistake("""
    ShapeError: Array 'b' has length 0 along axis 1, which is too short.
    | add(ones(3, 0), ones(3, 0))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(ny, nx); nx would be 0
    Hint: Sizes are positive, and every axis needs at least one point.
""")
def empty_arrays():
    add(ones(3, 0), ones(3, 0))


@mistake("""
    ShapeError: Array 'x' has length 2 along axis 0, which is too short.
    | R @ ones(2)
    | ^^^^^^^^^^^
    Note: its space is Space(-1:n + 1); n would be 0
    Hint: Sizes are positive, and every axis needs at least one point.
""")
def array_of_ghosts_alone():
    R = ssr.stencil(line, line.grow(1), {-1: 1.0})
    R @ ones(2)


@mistake(
    """
    EmptySpaceError: Space(2:n - 2) has no points along axis 0: its extent is -1.
    | R @ ones(3)
    | ^^^^^^^^^^^
    Note: for n = 3
    Hint: Extents are positive.
    """,
    bug="space.extent: ValueError of np.empty",
)
def space_without_points_at_this_size():
    R = ssr.stencil(line.grow(-2), line, {0: 1.0})
    R @ ones(3)


@mistake("""
    ShapeError: The space of array 'y' has no points along axis 0.
    | R.apply(ones(4), out=ones(1))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(2:n - 2); n = 4 follows from axis 0 of 'x'
    Hint: Every axis needs at least one point.
""")
def result_without_points():
    R = ssr.stencil(line.grow(-2), line, {0: 1.0})
    R.apply(ones(4), out=ones(1))


@mistake("""
    ShapeError: Array 'x' has length 0 along axis 0, which is too short.
    | ssr.identity(ssr.Space(n - 5)) @ ones(0)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(n - 5); n would be 5
    Hint: Sizes are positive, and every axis needs at least one point.
""")
def empty_array_on_a_shifted_size():
    ssr.identity(ssr.Space(n - 5)) @ ones(0)


@mistake("""
    ShapeError: Array 'x' has length 1 along axis 0, which is too short.
    | ssr.identity(ssr.Space(n + 1)) @ ones(1)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(n + 1); n would be 0
    Hint: Sizes are positive, and every axis needs at least one point.
""")
def size_that_would_be_zero():
    ssr.identity(ssr.Space(n + 1)) @ ones(1)


@mistake("""
    ShapeError: Array 'x' has length 5 along axis 0, which is 2*n for no integer n.
    | ssr.identity(ssr.Space(2 * n)) @ ones(5)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: its space is Space(2*n)
""")
def odd_length_for_an_even_space():
    ssr.identity(ssr.Space(2 * n)) @ ones(5)


# -- dtypes and layouts ----------------------------------------------------------------------------

DTYPE = """
    DtypeError: Array 'x' has dtype {}.
    | T @ x
    | ^^^^^
    Hint: {}
"""
CONVERT = "Supported: float64, float32; convert with x.astype(np.float64)."


@mistake(DTYPE.format("int64", CONVERT))
def integers():
    x = ones(3, dtype=np.int64)
    T @ x


@mistake(DTYPE.format("complex128", "Pass real and imaginary parts one after the other."))
def complex_numbers():
    x = ones(3, dtype=complex)
    T @ x


@mistake(DTYPE.format("float16", CONVERT))
def half_precision():
    x = ones(3, dtype=np.float16)
    T @ x


@mistake(DTYPE.format(">f8", CONVERT))
def other_byte_order():
    x = ones(3, dtype=">f8")
    T @ x


@mistake(DTYPE.format("object", CONVERT))
def objects():
    x = ones(3, dtype=object)
    T @ x


@mistake("""
    DtypeError: Array 'x' has dtype int64.
    | add(ones(3, 4, dtype=np.int64), ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Supported: float64, float32; allocate it with one of these.
""")
def integers_as_target():
    add(ones(3, 4, dtype=np.int64), ones(3, 4))


@mistake("""
    DtypeError: Array 'x' has dtype float64 where the others have float32.
    | add(ones(3, 4), ones(3, 4, dtype=np.float32))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: All arrays of a call have one dtype.
""")
def mixed_precision():
    add(ones(3, 4), ones(3, 4, dtype=np.float32))


@mistake("""
    ContiguityError: The last axis of array 'x' is not contiguous: its stride is 16 bytes.
    | T @ ones(6)[::2]
    | ^^^^^^^^^^^^^^^^
    Hint: Pass np.ascontiguousarray(x).
""")
def every_second_element():
    T @ ones(6)[::2]


@mistake("""
    ContiguityError: Array 'b' has the strides (-32, 8); kernels need positive whole ones.
    | add(ones(3, 4), ones(3, 4)[::-1])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass np.ascontiguousarray(b).
""")
def upside_down():
    add(ones(3, 4), ones(3, 4)[::-1])


@mistake("""
    ContiguityError: The last axis of array 'x' is not contiguous: its stride is 24 bytes.
    | add(np.asfortranarray(ones(3, 4)), ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass a contiguous array, and copy it to x[...] after the call.
""")
def fortran_order_as_target():
    add(np.asfortranarray(ones(3, 4)), ones(3, 4))


@mistake("""
    ContiguityError: Array 'b' has the strides (0, 8); kernels need positive whole ones.
    | add(ones(3, 4), np.broadcast_to(ones(4), (3, 4)))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass np.ascontiguousarray(b).
""")
def broadcast():
    add(ones(3, 4), np.broadcast_to(ones(4), (3, 4)))


@mistake("""
    ContiguityError: Array 'x' is not aligned in memory.
    | T @ np.zeros(25, np.uint8)[1:].view(float)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass np.ascontiguousarray(x).
""")
def odd_address():
    T @ np.zeros(25, np.uint8)[1:].view(float)


@mistake("""
    ArgumentError: 'x' is a masked array; kernels know no masks.
    | T @ np.ma.masked_equal(ones(3), 1.0)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass x.filled(value), and the mask as a field of its own.
""")
def masked_array():
    T @ np.ma.masked_equal(ones(3), 1.0)


# -- memory ----------------------------------------------------------------------------------------

OVERLAP = """
    OverlapError: Array 'x' is written and shares memory with 'b'.
    | {}
    | {}
    Hint: Pass a copy, or write the program with one field for both.
"""


@mistake(OVERLAP.format("add(x, x)", "^^^^^^^^^"))
def one_array_twice():
    x = ones(3, 4)
    add(x, x)


@mistake(OVERLAP.format("add(x[:, :4], x[:, 3:7])", "^^^^^^^^^^^^^^^^^^^^^^^^"))
def overlapping_views():
    x = ones(3, 8)
    add(x[:, :4], x[:, 3:7])


@mistake("""
    OverlapError: Array 'x' is written, but its own elements share memory.
    | add(x, ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^
    Note: its shape is (3, 4), its strides are (16, 8)
    Hint: Pass an array that owns its memory, or a copy.
""")
def target_that_overlaps_itself():
    x = np.lib.stride_tricks.as_strided(np.zeros(20), (3, 4), (16, 8))
    add(x, ones(3, 4))


@mistake("""
    ReadOnlyError: Array 'x' is assigned, but it is read-only.
    | add(x, ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^
    Hint: Pass an array that owns its memory, or a copy.
""")
def read_only_target():
    x = ones(3, 4)
    x.flags.writeable = False
    add(x, ones(3, 4))


# -- calls -----------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: add(x, b) misses b.
    | add(ones(3, 4))
    | ^^^^^^^^^^^^^^^
""")
def too_few_arguments():
    add(ones(3, 4))


@mistake("""
    ArgumentError: add(x, b) takes 2 arguments, not 3.
    | add(1, 2, 3)
    | ^^^^^^^^^^^^
""")
def too_many_arguments():
    add(1, 2, 3)


@mistake("""
    ArgumentError: add(x, b) has no parameter 'c'.
    | add(ones(3, 4), c=ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def unknown_argument():
    add(ones(3, 4), c=ones(3, 4))


@mistake("""
    ArgumentError: add(x, b) got two values for 'x'.
    | add(ones(3, 4), x=ones(3, 4))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def argument_twice():
    add(ones(3, 4), x=ones(3, 4))


NO_ARRAY = """
    ArgumentError: '{}' is {}, not a NumPy array.
    | {}
    | {}
    Hint: Convert it with np.asarray.
"""


@mistake(NO_ARRAY.format("b", "list", "sweep(ones(2), [1.0, 2.0])", "^" * 26))
def list_argument():
    sweep(ones(2), [1.0, 2.0])


@mistake(NO_ARRAY.format("b", "NoneType", "sweep(ones(2), None)", "^" * 20))
def missing_argument():
    sweep(ones(2), None)


@mistake(NO_ARRAY.format("x", "float", "scale(2.0, ones(3))", "^" * 19))
def number_for_a_field():
    scale(2.0, ones(3))


# -- programs --------------------------------------------------------------------------------------


@mistake("""
    ArgumentError: Program p assigns nothing.
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
    Hint: Assign the whole field, x[:] = ...; parts are rows of a matrix.
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
    Error: A Python condition depends on a field.
    | if bool(x):
    |    ^^^^^^^
    Hint: A program's body runs once, when it is declared, without data.
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
    SingularMatrixError: stencil.tril(-1) has no diagonal entry in some rows, so it cannot be solved with.
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


# -- boxes -----------------------------------------------------------------------------------------


def in_boxes(boxes: Any, program: ssr.Program = add) -> None:
    program(ones(4, 4), ones(4, 4), boxes=boxes)


BOXES = """
    BoxError: {}
    | program(ones(4, 4), ones(4, 4), boxes=boxes)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"""


@mistake(
    BOXES.format("The boxes do not cover all rows ((0, 4), (0, 4)).")
    + "    Hint: Space.split makes a cover."
)
def boxes_that_do_not_cover():
    in_boxes([((0, 2), (0, 4))])


@mistake(BOXES.format("Boxes ((0, 2), (0, 4)) and ((1, 4), (0, 4)) overlap."))
def boxes_that_overlap():
    in_boxes([((0, 2), (0, 4)), ((1, 4), (0, 4))])


@mistake(BOXES.format("Box ((2, 2), (0, 4)) is empty or not within the rows ((0, 4), (0, 4))."))
def empty_box():
    in_boxes([((0, 2), (0, 4)), ((2, 2), (0, 4)), ((2, 4), (0, 4))])


@mistake(
    BOXES.format(
        "The sweep over 'x' cannot run box by box: "
        "boxes ((0, 4), (0, 2)) and ((0, 4), (2, 4)) wait for each other."
    )
    + "    Note: rows need the rows at offsets ((-1, -1), (-1, 1)) before them\n"
    "    Hint: Cut along the outermost axes only."
)
def boxes_that_wait_for_each_other():
    V = ssr.stencil(cells, cells, {(-1, 1): 1, (-1, -1): 1, (0, 0): 4}, outside="drop")

    @ssr.program(x=cells, b=cells)
    def p(x, b):
        x[:] = V.solve(b)

    in_boxes(cells.split(1, 2, sizes={"ny": 4, "nx": 4}), p)


# -- mistakes that are not told yet, each with what must change --------------------------------------


@mistake(
    """
    ArgumentError: Field 'x' belongs to another program.
    | y[:] = kept[0]
    | ^^^^
    Hint: Use the parameters of the program's own body.
    """,
    bug="expression.py: silently reads another program's array, of any shape",
)
def field_of_another_program():
    kept = []

    @ssr.program(x=line)
    def p(x):
        kept.append(x)
        x[:] = 2.0 * x

    @ssr.program(y=line)
    def q(y):
        y[:] = kept[0]


@mistake(
    """
    ArgumentError: `x += ...` only renames x in a program.
    | x += b
    | ^^^^^^
    Hint: Write x[:] = x + ....
    """,
    bug="expression.py: silently does nothing beside another assignment",
)
def assignment_in_place_to_a_name():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = 2.0 * b
        x += b


@mistake(
    """
    RuntimeConditionError: A Python condition compares fields.
    | if x == b:
    |    ^^^^^^
    Hint: A program's body runs once, when it is declared, without data.
    """,
    bug="expression.py: `==` silently compares identities, `<` is a TypeError",
)
def comparison_of_fields():
    @ssr.program(x=line, b=line)
    def p(x, b):
        if x == b:
            x[:] = b
        else:
            x[:] = 2.0 * b


@mistake(
    """
    ArgumentError: Size n is bound to 3 and to 4 in one program.
    | x[:] = T.bind(n=3) @ b + T.bind(n=4) @ b
    |                          ^^^^^^^^^^^^^^^
    """,
    bug="expression.py: the last one wins silently",
)
def one_size_twice():
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] = T.bind(n=3) @ b + T.bind(n=4) @ b


@mistake(
    """
    ImpureGeneratorError: Generator A gave different entries when it was run again.
    | yield i, float(len(seen))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: one of them is 1.0 at (i)
    Hint: A generator must not use random numbers or change state; pass run-time values as data.
    """,
    bug="trace.py: only the first path is run twice",
)
def impure_on_a_later_path():
    seen = []

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        if i > 2:
            yield i, 1.0
        else:
            seen.append(i)
            yield i, float(len(seen))


@mistake(
    """
    ArgumentError: Data 'u' of A is declared as 3.0.
    | @ssr.matrix(rows=line, cols=line, u=3.0)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Use a Space for a field, or ssr.scalar for a number.
    """,
    bug="matrix.define: whatever is no Space counts as a scalar",
)
def data_of_no_kind():
    @ssr.matrix(rows=line, cols=line, u=3.0)
    def A(i, *, u):
        yield i, u


@mistake(
    """
    DtypeError: np.complex128(1+2j) is not a real number.
    | yield i, np.complex128(1 + 2j)
    |          ^^^^^^^^^^^^^^^^^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
    """,
    bug="values.node: the imaginary part is dropped with a warning",
)
def complex_weight_of_numpy():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, np.complex128(1 + 2j)


@mistake(
    """
    NotAffineError: The symbolic index (i) is used where NumPy needs an array.
    | yield i, w[i]
    |          ^^^^
    Hint: Declare the array as a field of the matrix, w=space, and bind it.
    """,
    bug="index.Index: NumPy hides the error; give Index.__array__",
)
def array_at_an_index():
    w = ones(5)

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, w[i]


@mistake(
    """
    RuntimeConditionError: The run-time value u[i] is used where Python needs a number.
    | yield i, int(u[i])
    |          ^^^^^^^^^
    Hint: Use ssr.sqrt, ssr.exp, ssr.minimum, ssr.maximum, ssr.where instead of math.
    """,
    bug="values.Value: no __int__, so Python says something else",
)
def int_of_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, int(u[i])


@mistake(
    """
    ArgumentError: 'for' cannot name a size.
    | ssr.sizes("for")
    | ^^^^^^^^^^^^^^^^
    Hint: Use an ASCII identifier unknown to Python, isl and generated source.
    """,
    bug="index.sizes: keywords, names of isl and of generated source fail later, or silently",
)
def size_named_like_a_keyword():
    ssr.sizes("for")


@mistake(
    """
    ArgumentError: Size n is named twice.
    | ssr.sizes("n n")
    | ^^^^^^^^^^^^^^^^
    """,
    bug="index.sizes: accepted",
)
def size_named_twice():
    ssr.sizes("n n")


@mistake(
    """
    UnsupportedError: The product of two matrices is not staged.
    | T @ T
    | ^^^^^
    Hint: Apply one after the other: stencil @ (stencil @ x).
    """,
    bug="matrix.__matmul__: a TypeError that says @ is not supported",
)
def product_of_two_matrices():
    T @ T


@mistake(
    """
    ArgumentError: stencil @ list: the operand is a NumPy array or a field.
    | T.apply([1.0, 2.0])
    | ^^^^^^^^^^^^^^^^^^^
    Hint: Convert it with np.asarray.
    """,
    bug="matrix.apply: AttributeError: 'list' object has no attribute 'shape'",
)
def apply_to_a_list():
    T.apply([1.0, 2.0])


@mistake(
    """
    ArgumentError: stencil is divided by zero.
    | T / 0
    | ^^^^^
    """,
    bug="matrix.__truediv__: ZeroDivisionError inside the package",
)
def matrix_divided_by_zero():
    T / 0


@mistake(
    """
    ArgumentError: The weights of a stencil map offsets to numbers, not list.
    | ssr.stencil(line, line, [1.0])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="matrix.stencil: AttributeError inside the package",
)
def stencil_of_a_list():
    ssr.stencil(line, line, [1.0])


@mistake(
    """
    ArgumentError: Offset 0.5 is not made of integers.
    | ssr.stencil(line, line, {0.5: 1.0})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="matrix.stencil: TypeError inside the package (for np.int64 offsets too)",
)
def stencil_with_half_offsets():
    ssr.stencil(line, line, {0.5: 1.0})


@mistake(
    """
    ArgumentError: A width is an integer or a pair of integers, not 1.5.
    | cells.grow(1.5)
    | ^^^^^^^^^^^^^^^
    """,
    bug="space.grow: TypeError inside the package (for np.int64 widths too)",
)
def growth_by_a_fraction():
    cells.grow(1.5)


@mistake(
    """
    ArgumentError: Axis 0.5 of a space with 2 axes.
    | cells.faces(0.5)
    | ^^^^^^^^^^^^^^^^
    """,
    bug="space.faces: gives cells silently",
)
def faces_between_axes():
    cells.faces(0.5)


@mistake(
    """
    UnboundError: No value is given for the size nx.
    | cells.split(2, 2)
    | ^^^^^^^^^^^^^^^^^
    Hint: Give all sizes: split(..., sizes={"nx": ...}).
    """,
    bug="space.split: KeyError inside the package",
)
def split_of_unknown_sizes():
    cells.split(2, 2)


@mistake(
    """
    EmptySpaceError: Space(n - 5) has no points along axis 0: its extent is 0.
    | M.to_scipy()
    | ^^^^^^^^^^^^
    Note: for n = 5
    Hint: Extents are positive.
    """,
    bug="space.extent: an empty SciPy matrix",
)
def empty_space_at_bound_sizes():
    M = ssr.identity(ssr.Space(n - 5)).bind(n=5)
    M.to_scipy()


@mistake(
    BOXES.format("3 is not a sequence of boxes, one pair of integers for each axis."),
    bug="program.__call__: TypeError inside the package",
)
def boxes_that_are_none():
    in_boxes(3)


@mistake(
    BOXES.format(
        "[((0, 4.5), (0, 4))] is not a sequence of boxes, one pair of integers for each axis."
    ),
    bug="boxes.ordered: int() cuts the fraction off silently",
)
def box_with_half_a_row():
    in_boxes([((0, 4.5), (0, 4))])


@mistake(
    """
    ArgumentError: options is {'exact': True}, not ssr.Options.
    | @ssr.program(options={"exact": True}, x=line)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="program.program: AttributeError at the first call",
)
def options_that_are_none():
    @ssr.program(options={"exact": True}, x=line)
    def p(x):
        x[:] = 2.0 * x


@mistake(
    """
    ArgumentError: Option exact is True or False, not 'yes'.
    | ssr.Options(exact="yes")
    | ^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="options.Options: accepted",
)
def option_with_an_unknown_value():
    ssr.Options(exact="yes")


@mistake(
    """
    ArgumentError: Scalar 'a' is NoneType, not a number.
    | scale(ones(3), None)
    | ^^^^^^^^^^^^^^^^^^^^
    """,
    bug="program._number: speaks of matrix entries, and not of a",
)
def scalar_that_is_none():
    scale(ones(3), None)


# -- what must work --------------------------------------------------------------------------------


@pytest.fixture
def buffer() -> np.ndarray:
    return np.arange(48.0).reshape(6, 8)


def test_disjoint_views_of_one_array(buffer: np.ndarray) -> None:
    expected = buffer[:, :4] + buffer[:, 4:]
    add(buffer[:, :4], buffer[:, 4:])
    np.testing.assert_array_equal(buffer[:, :4], expected)


def test_interleaved_views_of_one_array(buffer: np.ndarray) -> None:
    expected = buffer[::2] + buffer[1::2]
    add(buffer[::2], buffer[1::2])
    np.testing.assert_array_equal(buffer[::2], expected)


def test_overlap_is_found_behind_an_interleaved_pair() -> None:
    @ssr.program(x=cells, b=cells, c=cells)
    def p(x, b, c):
        x[:] = b + c

    buffer = np.arange(48.0).reshape(6, 8)
    before = buffer.copy()
    with pytest.raises(errors.OverlapError, match=r"'x' is written and shares memory with 'c'"):
        p(buffer[:, :4], buffer[:, 4:], buffer[:, 1:5])
    np.testing.assert_array_equal(buffer, before)


def test_interleaved_views_and_a_temporary(buffer: np.ndarray) -> None:
    """A kernel numbers its arrays with its temporaries; the check must not mix them up."""
    A = ssr.stencil(cells, cells, {(0, -1): 1.0, (0, 1): 2.0}, outside="drop")

    @ssr.program(b=cells, x=cells)
    def p(b, x):
        x[:] = A @ x + b

    expected = A @ buffer[:, 4:] + buffer[:, :4]
    p(buffer[:, :4], buffer[:, 4:])
    np.testing.assert_array_equal(buffer[:, 4:], expected)


def test_one_input_twice() -> None:
    @ssr.program(x=line, a=line, b=line)
    def p(x, a, b):
        x[:] = a + b

    x, z = np.zeros(3), np.ones(3)
    p(x, z, z)
    np.testing.assert_array_equal(x, 2 * z)


def test_read_only_input() -> None:
    x, b = np.zeros((3, 4)), np.ones((3, 4))
    b.flags.writeable = False
    add(x, b)
    np.testing.assert_array_equal(x, b)


def test_nothing_is_written_if_one_of_two_targets_is_read_only() -> None:
    @ssr.program(x=line, y=line)
    def p(x, y):
        x[:] = 1.0 + 0.0 * x
        y[:] = 2.0 + 0.0 * y

    x, y = np.zeros(3), np.zeros(3)
    p(x, y)
    x[:] = 0.0
    y.flags.writeable = False
    with pytest.raises(errors.ReadOnlyError, match="'y' is assigned"):
        p(x, y)
    np.testing.assert_array_equal(x, 0.0)


def test_nothing_is_written_on_overlap(buffer: np.ndarray) -> None:
    before = buffer.copy()
    with pytest.raises(errors.OverlapError):
        add(buffer[:, :4], buffer[:, 3:7])
    np.testing.assert_array_equal(buffer, before)


def test_a_run_time_zero_on_the_diagonal_is_not_an_error() -> None:
    """Only what is known when a solve is built is told; division by a run-time zero is IEEE's."""
    x = U.bind(u=np.array([1.0, 0.0]), dt=1.0).solve(np.ones(2))
    np.testing.assert_array_equal(x, [1.0, np.inf])


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weights_that_are_not_finite(weight: float) -> None:
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, float(str(weight))

    np.testing.assert_array_equal(A @ np.ones(3), np.full(3, weight))


NAMES = ["w0", "s1", "t0", "table_0", "x_0", "x_s0", "i_lo", "box", "far", "one", "np", "strip"]


def test_scalars_named_like_generated_names() -> None:
    data = ", ".join(f"{name}=ssr.scalar" for name in NAMES)
    source = f"""
        @ssr.program(x=cells, {data})
        def p(x, {", ".join(NAMES)}):
            x[:] = A @ x + {" + ".join(f"x * {name}" for name in NAMES)}
        """
    A = ssr.stencil(cells, cells, {(0, 0): 2.5, (0, 1): -1.5, (-1, 0): 3.5}, outside="drop")
    names: dict[str, Any] = {"ssr": ssr, "cells": cells, "A": A}
    exec(textwrap.dedent(source), names)
    x = np.arange(20.0).reshape(4, 5)
    expected = A @ x + x * sum(range(len(NAMES)))
    names["p"](x, *map(float, range(len(NAMES))))
    np.testing.assert_allclose(x, expected)


def test_scalar_times_field() -> None:
    @ssr.program(x=line, b=line, a=ssr.scalar)
    def p(x, b, a):
        x[:] = a * b

    x = np.zeros(3)
    p(x, np.ones(3), 2.0)
    np.testing.assert_array_equal(x, 2.0)


def test_in_place_addition() -> None:
    @ssr.program(x=line, b=line)
    def p(x, b):
        x[:] += b

    x = np.ones(3)
    p(x, np.ones(3))
    np.testing.assert_array_equal(x, 2.0)


@pytest.mark.xfail(reason="program.__call__: TypeError: unhashable", raises=TypeError)
def test_boxes_as_lists() -> None:
    x = np.ones((4, 4))
    add(x, np.ones((4, 4)), boxes=[[[0, 2], [0, 4]], [[2, 4], [0, 4]]])
    np.testing.assert_array_equal(x, 2.0)


# -- where -----------------------------------------------------------------------------------------


def located(function: Callable[[], object]) -> list[str]:
    """Return the lines that show a place."""
    with pytest.raises(Error) as caught:
        function()
    assert caught.value.span is not None
    return caught.value.span.render().splitlines()[1:]


def compiled(text: str, file: str) -> Callable[[], None]:
    """Return a function that runs a text as if it stood in a file, as notebooks do."""
    text = textwrap.dedent(text).lstrip("\n")
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    code = compile(text, file, "exec")
    return lambda: exec(code, {"T": T, "ssr": ssr, "line": line, "__name__": "__main__"})


def test_a_call_over_several_lines() -> None:
    run = compiled("y = 1 + T.bind(\n    m=3\n  )\n", "<cell 2>")
    assert located(run) == [
        "    1 | y = 1 + T.bind(",
        "      |         ^^^^^^^",
        "    2 |     m=3",
        "      |     ^^^",
        "    3 |   )",
        "      |   ^",
    ]


def test_a_long_call_is_cut() -> None:
    run = compiled("T.bind(\n    a=1,\n    b=2,\n    c=3,\n    d=4,\n)\n", "<cell 3>")
    assert located(run) == [
        "    1 | T.bind(",
        "      | ^^^^^^^",
        "    2 |     a=1,",
        "      |     ^^^^",
        "    ...",
        "    6 | )",
        "      | ^",
    ]


def test_tabs_stay_tabs() -> None:
    run = compiled("if True:\n\tx\t=\tT @\t[1]\n", "<cell 4>")
    assert located(run) == ["    2 | x\t=\tT @\t[1]", "      |  \t \t^^^^^^^"]


def test_wide_and_combining_characters() -> None:
    run = compiled("é, 漢字 = 'e\u0301', '日本'; T @ ['語']\n", "<cell 5>")
    text, marks = located(run)
    assert text == "    1 | é, 漢字 = 'e\u0301', '日本'; T @ ['語']"
    assert marks == "      | " + " " * 23 + "^" * 10


def test_a_cell_of_a_notebook() -> None:
    run = compiled("def f():\n    return 1 + (T @ [1])\n\nf()\n", "<ipython-input-7-c0ffee>")
    assert located(run) == ["    2 | return 1 + (T @ [1])", "      |             ^^^^^^^"]


def test_equal_code_in_two_files() -> None:
    for file in ("<cell 6>", "<cell 7>"):
        with pytest.raises(Error) as caught:
            compiled("T @ [1]\n", file)()
        assert caught.value.span is not None
        assert caught.value.span.file == file


def test_code_without_source() -> None:
    with pytest.raises(Error) as caught:
        exec("T @ [1]", {"T": T})
    assert str(caught.value).splitlines()[:2] == [
        "stencil @ list: the operand is a NumPy array or a field.",
        '  File "<string>", line 1, in <module>',
    ]


PROGRAM = "import ssr\nT = ssr.identity(ssr.Space(3))\nT @ [1]\n"


@pytest.mark.parametrize(("arguments", "file"), [(["-c", PROGRAM], "<string>"), (["-"], "<stdin>")])
def test_command_line(arguments: list[str], file: str) -> None:
    run = subprocess.run(
        [sys.executable, *arguments], input=PROGRAM, capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert f'  File "{file}", line 3, in <module>' in run.stderr.splitlines()[-3:]


def test_doctest() -> None:
    """The lines of an example are shown, and count from its first one."""
    text = ">>> import ssr\n>>> T = ssr.identity(ssr.Space(3))\n>>> T @ [1]\n"
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert '      File "<doctest example[2]>", line 1, in <module>' in "".join(report).splitlines()
    assert "        1 | T @ [1]\n          | ^^^^^^^\n" in "".join(report)


def test_a_library_in_between() -> None:
    """The user's line is shown, not that of SciPy."""
    operator = U.bind(n=3, u=np.ones(3, np.float32), dt=1.0).aslinearoperator()
    text, marks = located(lambda: operator @ np.ones(3))
    assert text.endswith("| text, marks = located(lambda: operator @ np.ones(3))")
    assert marks.endswith(" ^^^^^^^^^^^^^^^^^^^^^")


@pytest.mark.parametrize("send", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_errors_can_be_sent_to_another_process(send: Callable[[Error], Error]) -> None:
    with pytest.raises(Error) as caught:
        T.tril(3)
    error = send(caught.value)
    assert type(error) is type(caught.value)
    assert (str(error), error.span, error.hint) == (
        str(caught.value),
        caught.value.span,
        caught.value.hint,
    )


class UsersError(Exception):
    pass


def test_errors_of_a_generator_pass_through() -> None:
    mine = UsersError("mine")

    def helper():
        raise mine

    with pytest.raises(UsersError) as caught:

        @ssr.matrix(rows=line, cols=line)
        def A(i):
            yield i, 1.0
            helper()

    assert caught.value is mine
    assert mine.__cause__ is None
    assert [f.name for f in traceback.extract_tb(mine.__traceback__)][-2:] == ["A", "helper"]


def test_errors_of_a_program_pass_through() -> None:
    with pytest.raises(KeyError, match="mine"):

        @ssr.program(x=line)
        def p(x):
            raise KeyError("mine")


def test_a_generator_that_fails_leaves_no_trace() -> None:
    """Conditions outside a generator are errors again, and errors are at their own place."""
    with pytest.raises(UsersError):

        @ssr.matrix(rows=line, cols=line)
        def A(i):
            if i > 0:
                raise UsersError

            yield i, 1.0

    with pytest.raises(errors.RuntimeConditionError):
        condition_on_a_size_outside()
