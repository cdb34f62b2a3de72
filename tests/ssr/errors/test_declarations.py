"""Mistakes in declaring matrices, spaces and sizes, and what is said about them."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

import ssr
from tests.ssr.errors.mistakes import Mistakes, cells, check, faces, five, line, m, n, ones

mistake = Mistakes()


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Callable[[], object], text: str) -> None:
    check(function, text)


# -- columns ---------------------------------------------------------------------------------------


@mistake("""
    NotAffineError: An index expression multiplies (i) by (j).
    | yield (i * j, j), 1.0
    |       ^^^^^^^^^^
    Note: Columns and conditions are affine: integer multiples of indices.
    Hint: Only + - and * // % by integer constants keep an index affine.
""")
def product_of_indices():
    @ssr.matrix(rows=cells, cols=cells)
    def A(j, i):
        yield (i * j, j), 1.0


@mistake("""
    NotAffineError: ((i) / 2.0) is not an index: an integer or an affine expression of row indices.
    | yield i / 2, 1.0
    |       ^^^^^
    Hint: Use // for integer division.
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
    NotAffineError: An index expression multiplies (i) by (i).
    | yield i**2, 1.0
    |       ^^^^
    Note: Columns and conditions are affine: integer multiples of indices.
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
    Hint: Columns and conditions cannot depend on run-time data; the values of entries can.
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


@mistake("""
    NotAffineError: An index expression takes bits of the symbolic index (i).
    | yield i & 1, 1.0
    |       ^^^^^
    Hint: Only + - and * // % by integer constants keep an index affine.
""")
def bits_of_an_index():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i & 1, 1.0


@mistake("""
    UnboundError: The size m belongs to no space of the matrix.
    | if i < m:
    |    ^^^^^
    Hint: Sizes are inferred from array shapes. Use an integer, or declare a number as ssr.scalar.
""")
def condition_on_a_foreign_size():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        if i < m:
            yield i, 1.0


@mistake("""
    UnboundError: The size m belongs to no space of the matrix.
    | yield i, 1.0 / m
    |          ^^^^^^^
    Hint: Sizes are inferred from array shapes. Use an integer, or declare a number as ssr.scalar.
""")
def weight_of_a_foreign_size():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, 1.0 / m


@mistake("""
    NotAffineError: The index (i) is compared with 2.5.
    | if i < 2.5:
    |    ^^^^^^^
    Hint: Compare indices with integers.
""")
def index_compared_with_a_fraction():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        if i < 2.5:
            yield i, 1.0


@mistake("""
    NotAffineError: The index (i) is divided by 2.0 in `//`.
    | yield i // 2.0, 1.0
    |       ^^^^^^^^
    Hint: Divide indices by positive integer constants.
""")
def index_divided_by_a_float():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i // 2.0, 1.0


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
    Hint: Use ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like instead of math.
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


@mistake("""
    RuntimeConditionError: The run-time value u[i] is used where Python needs a number.
    | yield i, int(u[i])
    |          ^^^^^^^^^
    Hint: Use ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like instead of math.
""")
def int_of_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, int(u[i])


@mistake("""
    UnsupportedError: np.cbrt of run-time values is not staged.
    | yield i, np.cbrt(u[i])
    |          ^^^^^^^^^^^^^
    Hint: Use ssr.sqrt, ssr.log, ssr.sin, ssr.maximum, ssr.where and the like.
""")
def function_that_is_not_staged():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, np.cbrt(u[i])


@mistake("""
    DtypeError: array([sqrt(u[i])], dtype=object) is not a real number.
    | yield i, np.sqrt([u[i]])
    |          ^^^^^^^^^^^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def array_of_values():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, np.sqrt([u[i]])


@mistake("""
    DtypeError: array([(1.0 * u[i]), (1.0 * u[i])], dtype=object) is not a real number.
    | yield i, ones(2) * u[i]
    |          ^^^^^^^^^^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def array_times_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, ones(2) * u[i]


@mistake("""
    UnsupportedError: The run-time value u[i] is divided by // or %.
    | yield i, u[i] // 2
    |          ^^^^^^^^^
    Hint: Only + - * / ** and abs.
""")
def integer_division_of_a_value():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, u[i] // 2


@mistake("""
    UnsupportedError: The run-time value u[i] is a number; & | ~ combine conditions.
    | yield i, ssr.where(u[i] & (u[i] < 1), 1.0, 2.0)
    |                    ^^^^^^^^^^^^^^^^^
    Hint: Compare first: (u > 0) & (v > 0).
""")
def number_as_a_condition():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, ssr.where(u[i] & (u[i] < 1), 1.0, 2.0)


@mistake("""
    UnsupportedError: The run-time value (u[i] > 0.0) is combined with 2 as a condition.
    | yield i, ssr.where((u[i] > 0) | 2, 1.0, 2.0)
    |                    ^^^^^^^^^^^^^^
    Hint: Compare first: (u > 0) & (v > 0).
""")
def condition_and_a_literal():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, ssr.where((u[i] > 0) | 2, 1.0, 2.0)


@mistake("""
    UnsupportedError: The run-time value (u[i] > 0.0) cannot be combined by ^.
    | yield i, ssr.where((u[i] > 0) ^ (u[i] < 1), 1.0, 2.0)
    |                    ^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Conditions are combined by & | ~.
""")
def exclusive_or():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, ssr.where((u[i] > 0) ^ (u[i] < 1), 1.0, 2.0)


@mistake("""
    ArgumentError: The run-time value a has no elements.
    | yield i, a[i]
    |          ^^^^
""")
def element_of_a_scalar():
    @ssr.matrix(rows=line, cols=line, a=ssr.scalar)
    def A(i, *, a):
        yield i, a[i]


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
    ArgumentError: rows must be a Space, not 5.
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


@mistake("""
    NotAffineError: The symbolic index (i) is used where NumPy needs an array.
    | yield i, w[i]
    |          ^^^^
    Hint: Declare the array as a field of the matrix, w=space, and bind it.
""")
def array_at_an_index():
    w = ones(5)

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, w[i]


@mistake("""
    DtypeError: np.complex128(1+2j) is not a real number.
    | yield i, np.complex128(1 + 2j)
    |          ^^^^^^^^^^^^^^^^^^^^^
    Hint: Matrix entries are numbers, scalars, fields and arithmetic of these.
""")
def complex_weight_of_numpy():
    @ssr.matrix(rows=line, cols=line)
    def A(i):
        yield i, np.complex128(1 + 2j)


@mistake("""
    ImpureGeneratorError: Generator A gave different entries when it was run again.
    | yield i, float(len(seen))
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    Note: one of them is 1.0 at (i)
    Hint: A generator must not use random numbers or change state; pass run-time values as data.
""")
def impure_on_a_later_path():
    seen = []

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        if i > 2:
            yield i, 1.0
        else:
            seen.append(i)
            yield i, float(len(seen))


@mistake("""
    ArgumentError: Data 'u' of A is declared as 3.0.
    | @ssr.matrix(rows=line, cols=line, u=3.0)
    |  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Use a Space for a field, or ssr.scalar for a number.
""")
def data_of_no_kind():
    @ssr.matrix(rows=line, cols=line, u=3.0)
    def A(i, *, u):
        yield i, u


@mistake("""
    DtypeError: Field 'u' is used as a number.
    | yield i, 2.0 * u
    |          ^^^^^^^
    Hint: Read it at a point: u[...].
""")
def field_without_a_point():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, 2.0 * u


@mistake("""
    DtypeError: The condition (u[i] > 0.0) is not a number.
    | yield i, u[i] > 0
    |          ^^^^^^^^
    Hint: Write ssr.where(condition, 1.0, 0.0).
""")
def condition_as_weight():
    @ssr.matrix(rows=line, cols=line, u=line)
    def A(i, *, u):
        yield i, u[i] > 0


@mistake("""
    ArgumentError: a belongs to a program or to another matrix.
    | yield i, a
    |          ^
    Hint: Declare it as data of this matrix and bind it.
""")
def scalar_of_a_program_in_a_generator():
    @ssr.program(x=line, a=ssr.scalar)
    def p(x, a):
        @ssr.matrix(rows=line, cols=line)
        def A(i):
            yield i, a


@mistake("""
    ImpureGeneratorError: The generator met another condition when it was run again.
    | if len(seen) > 1 and i > 3:
    |                      ^^^^^
    Note: first none, then (i - 4 >= 0)
    Hint: A generator must not use random numbers or change state.
""")
def condition_in_the_second_run_alone():
    seen = []

    @ssr.matrix(rows=line, cols=line)
    def A(i):
        seen.append(i)
        if len(seen) > 1 and i > 3:
            yield i, 1.0


@mistake("""
    ArgumentError: ssr.matrix decorates a generator function, not 3.
    | ssr.matrix(rows=line, cols=line)(3)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def matrix_of_a_number():
    ssr.matrix(rows=line, cols=line)(3)


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
    SpaceError: A space must have 1 to 4 dimensions, not 5.
    | ssr.Space(1, 2, 3, 4, 5)
    | ^^^^^^^^^^^^^^^^^^^^^^^^
""")
def space_with_five_axes():
    ssr.Space(1, 2, 3, 4, 5)


@mistake("""
    SpaceError: The extents of a space are given one by one.
    | ssr.Space((3, 4))
    | ^^^^^^^^^^^^^^^^^
    Hint: Write ssr.Space(*shape); one axis from low to high is ssr.Space(high).slab(0, low, high).
""")
def space_of_a_tuple():
    ssr.Space((3, 4))


@mistake("""
    ArgumentError: There is no axis 2 of a space with 2 axes.
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
    ArgumentError: outside must be "error" or "zero", not 'drop'.
    | ssr.stencil(line, line, {0: 1.0}, outside="drop")
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def unknown_choice():
    ssr.stencil(line, line, {0: 1.0}, outside="drop")


@mistake("""
    ArgumentError: 'i' cannot name a size.
    | ssr.sizes("n i")
    | ^^^^^^^^^^^^^^^^
    Hint: Use an ASCII name that does not start with an underscore. Row indices (i j k l) and words such as min, max, floor, mod and nan cannot name sizes.
""")  # noqa: E501
def size_named_like_an_index():
    ssr.sizes("n i")


@mistake("""
    ArgumentError: No size is named.
    | ssr.sizes("")
    | ^^^^^^^^^^^^^
    Hint: Write ssr.sizes("ny nx").
""")
def no_size():
    ssr.sizes("")


@mistake("""
    ArgumentError: Size n is named twice.
    | ssr.sizes("n n")
    | ^^^^^^^^^^^^^^^^
""")
def size_named_twice():
    ssr.sizes("n n")


@mistake("""
    ArgumentError: 'größe' cannot name a size.
    | ssr.sizes("größe")
    | ^^^^^^^^^^^^^^^^^^
    Hint: Use an ASCII name that does not start with an underscore. Row indices (i j k l) and words such as min, max, floor, mod and nan cannot name sizes.
""")  # noqa: E501
def size_that_is_not_ascii():
    ssr.sizes("größe")


@mistake("""
    ArgumentError: A width must be an integer or a pair of integers, not 1.5.
    | cells.grow(1.5)
    | ^^^^^^^^^^^^^^^
""")
def growth_by_a_fraction():
    cells.grow(1.5)


@mistake("""
    ArgumentError: There is no axis 0.5 of a space with 2 axes.
    | cells.faces(0.5)
    | ^^^^^^^^^^^^^^^^
""")
def faces_between_axes():
    cells.faces(0.5)


@mistake("""
    UnboundError: No value is given for the size nx.
    | cells.split(2, 2)
    | ^^^^^^^^^^^^^^^^^
    Hint: Give all sizes: split(..., sizes={"nx": ..., "ny": ...}).
""")
def split_of_unknown_sizes():
    cells.split(2, 2)


@mistake("""
    ArgumentError: The weights of a stencil map offsets to numbers, not list.
    | ssr.stencil(line, line, [1.0])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def stencil_of_a_list():
    ssr.stencil(line, line, [1.0])


@mistake("""
    ArgumentError: Offset 0.5 is not made of integers.
    | ssr.stencil(line, line, {0.5: 1.0})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def stencil_with_half_offsets():
    ssr.stencil(line, line, {0.5: 1.0})


@mistake("""
    NotAffineError: 'n' is not an index: an integer or an affine expression of row indices.
    | ssr.Space("n")
    | ^^^^^^^^^^^^^^
    Hint: Write ssr.size('n').
""")
def space_of_a_name():
    ssr.Space("n")


@mistake("""
    ArgumentError: The name of a size is a string, not 3.
    | ssr.size(3)
    | ^^^^^^^^^^^
""")
def size_that_is_a_number():
    ssr.size(3)


@mistake("""
    UnsupportedError: The weight a at offset (0,) is known only at run time.
    | ssr.stencil(line, line, {0: a})
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Declare it as data with ssr.matrix, or multiply the matrix by it.
""")
def stencil_with_a_run_time_weight():
    @ssr.program(x=line, a=ssr.scalar)
    def p(x, a):
        ssr.stencil(line, line, {0: a})


@mistake("""
    UnboundError: No value is given for the size ny.
    | cells.box({"nx": 3})
    | ^^^^^^^^^^^^^^^^^^^^
""")
def box_of_unknown_sizes():
    cells.box({"nx": 3})
