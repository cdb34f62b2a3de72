"""Mistakes in calls: shapes, types, memory, arguments, boxes; and what must work."""

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ssr
from ssr import errors
from ssr.algebra.assemble import by_entries
from tests.ssr.errors.mistakes import (
    Mistakes,
    T,
    U,
    add,
    cells,
    check,
    five,
    line,
    n,
    ones,
    scale,
    sweep,
)

mistake = Mistakes()


@pytest.mark.parametrize(("function", "text"), mistake.cases)
def test_message(function: Callable[[], object], text: str) -> None:
    check(function, text)


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


@mistake("""
    EmptySpaceError: Space(2:n - 2) has no points along axis 0: its extent is -1.
    | R @ ones(3)
    | ^^^^^^^^^^^
    Note: for n = 3
    Hint: Extents are positive.
""")
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


@mistake("""
    EmptySpaceError: Space(n - 5) has no points along axis 0: its extent is 0.
    | M.to_scipy()
    | ^^^^^^^^^^^^
    Note: for n = 5
    Hint: Extents are positive.
""")
def empty_space_at_bound_sizes():
    M = ssr.identity(ssr.Space(n - 5)).bind(n=5)
    M.to_scipy()


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


@mistake(
    DTYPE.format(
        "complex128",
        "Keep real and imaginary parts in two fields or in a vector field.",
    )
)
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
    ArgumentError: 'x' is a masked array, which kernels do not support.
    | T @ np.ma.masked_equal(ones(3), 1.0)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Pass x.filled(value), and the mask as a field of its own.
""")
def masked_array():
    T @ np.ma.masked_equal(ones(3), 1.0)


@pytest.mark.parametrize("boxes", [None, [((0, 2),), ((2, 3),)]])
@pytest.mark.parametrize("name", ["x", "pair"])
def test_masks_are_refused_after_calls_without_them(name: str, boxes: Any) -> None:
    line = ssr.Space(3)

    @ssr.program(x=line, y=line, pair=line.vector(2), a=ssr.scalar)
    def add(x: Any, y: Any, pair: Any, a: Any) -> None:
        y[:] = a * x + pair[0] + pair[1]

    given = {"x": ones(3), "y": ones(3), "pair": ones(2, 3), "a": 0.5}
    masked = given | {name: np.ma.masked_equal(given[name], 1.0)}
    for _ in range(2):
        add(*given.values(), boxes=boxes)
        with pytest.raises(
            errors.ArgumentError, match="masked array, which kernels do not support"
        ):
            add(*masked.values(), boxes=boxes)
    np.testing.assert_array_equal(given["y"], 2.5)


@mistake("""
    DtypeError: There are no kernels for dtype int64.
    | add.kernel(np.int64)
    | ^^^^^^^^^^^^^^^^^^^^
    Hint: Supported: float64, float32.
""")
def kernel_for_integers():
    add.kernel(np.int64)


@mistake("""
    DtypeError: There are no kernels for dtype real.
    | add.explain(dtype="real")
    | ^^^^^^^^^^^^^^^^^^^^^^^^^
    Hint: Supported: float64, float32.
""")
def kernel_for_no_dtype():
    add.explain(dtype="real")


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


@mistake("""
    ArgumentError: stencil @ list: the operand is a NumPy array or a field.
    | T.apply([1.0, 2.0])
    | ^^^^^^^^^^^^^^^^^^^
    Hint: Convert it with np.asarray.
""")
def apply_to_a_list():
    T.apply([1.0, 2.0])


@mistake("""
    ArgumentError: Scalar 'a' is NoneType, not a number.
    | scale(ones(3), None)
    | ^^^^^^^^^^^^^^^^^^^^
""")
def scalar_that_is_none():
    scale(ones(3), None)


@mistake("""
    ArgumentError: Scalar 'a' is complex, not a number.
    | scale(ones(3), 1j)
    | ^^^^^^^^^^^^^^^^^^
""")
def scalar_that_is_complex():
    scale(ones(3), 1j)


@mistake("""
    ArgumentError: Scalar 'a' is too large for a floating-point number.
    | scale(ones(3), 10**400)
    | ^^^^^^^^^^^^^^^^^^^^^^^
""")
def scalar_that_is_too_large():
    scale(ones(3), 10**400)


@mistake("""
    ArgumentError: Scalar 'dt' is list, not a number.
    | U.bind(dt=[1.0])
    | ^^^^^^^^^^^^^^^^
""")
def bound_scalar_that_is_a_list():
    U.bind(dt=[1.0])


@mistake("""
    ShapeError: Size 'n' must be a positive integer, not 2.5.
    | T.bind(n=2.5)
    | ^^^^^^^^^^^^^
""")
def size_that_is_a_fraction():
    T.bind(n=2.5)


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
    V = ssr.stencil(cells, cells, {(-1, 1): 1, (-1, -1): 1, (0, 0): 4}, outside="zero")

    @ssr.program(x=cells, b=cells)
    def p(x, b):
        x[:] = V.solve(b)

    in_boxes(cells.split(1, 2, sizes={"ny": 4, "nx": 4}), p)


@mistake("""
    BoxError: 3 is not a sequence of boxes, one pair of integers for each axis.
    | add(ones(4, 4), ones(4, 4), boxes=3)
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def boxes_that_are_none():
    add(ones(4, 4), ones(4, 4), boxes=3)


@mistake("""
    BoxError: [((0, 4.5),)] is not a sequence of boxes, one pair of integers for each axis.
    | sweep(ones(4), ones(4), boxes=[((0, 4.5),)])
    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""")
def box_with_half_a_row():
    sweep(ones(4), ones(4), boxes=[((0, 4.5),)])


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
    A = ssr.stencil(cells, cells, {(0, -1): 1.0, (0, 1): 2.0}, outside="zero")

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
    A = ssr.stencil(cells, cells, {(0, 0): 2.5, (0, 1): -1.5, (-1, 0): 3.5}, outside="zero")
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


def test_sizes_named_like_hidden_fields() -> None:
    x, t = ssr.sizes("x t")
    A = ssr.identity(ssr.Space(x))
    np.testing.assert_array_equal(A @ np.ones(3), np.ones(3))
    space = ssr.Space(t)
    B = ssr.identity(space)

    @ssr.program(y=space, b=space)
    def p(y, b):
        y[:] = B @ (2.0 * b)

    y = np.zeros(3)
    p(y, np.ones(3))
    np.testing.assert_array_equal(y, 2.0)


def test_boxes_as_lists() -> None:
    x = np.ones((4, 4))
    add(x, np.ones((4, 4)), boxes=[[[0, 2], [0, 4]], [[2, 4], [0, 4]]])
    np.testing.assert_array_equal(x, 2.0)


@pytest.fixture(autouse=True)
def plain_assembly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Assemble as users do: the comparison of all tests would stand between them and an error."""
    monkeypatch.setattr("ssr.matrices.matrix.by_entries", by_entries)
