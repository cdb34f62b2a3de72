"""Mistakes that are not told yet, each with what must change."""

from collections.abc import Callable

import numpy as np
import pytest

import ssr
from tests.ssr.mistakes import Mistakes, T, add, cells, check, line, n, ones, scale, sweep

mistake = Mistakes()


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Callable[[], object], text: str) -> None:
    check(function, text)


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
    Hint: Write x[:] += ....
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
    ArgumentError: 'größe' cannot name a size.
    | ssr.sizes("größe")
    | ^^^^^^^^^^^^^^^^^^
    Hint: Use an ASCII name that does not start with an underscore and is no keyword, nor i, j, k, l, min, max, floor or the like.
    """,  # noqa: E501
    bug="index.sizes: a syntax error of isl when the size is used",
)
def size_that_is_not_ascii():
    ssr.sizes("größe")


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
    """
    BoxError: 3 is not a sequence of boxes, one pair of integers for each axis.
    | add(ones(4, 4), ones(4, 4), boxes=3)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="program.__call__: TypeError inside the package",
)
def boxes_that_are_none():
    add(ones(4, 4), ones(4, 4), boxes=3)


@mistake(
    """
    BoxError: [((0, 4.5),)] is not a sequence of boxes, one pair of integers for each axis.
    | sweep(ones(4), ones(4), boxes=[((0, 4.5),)])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    """,
    bug="boxes.ordered: int() cuts the fraction off silently",
)
def box_with_half_a_row():
    sweep(ones(4), ones(4), boxes=[((0, 4.5),)])


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
