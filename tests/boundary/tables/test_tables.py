"""Tables and the function that runs them, against the pieces evaluated one by one, bit for bit."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from boundary.tables.assemble import assemble, form_of
from boundary.tables.machine import Form
from boundary.tables.machine_functions import functions as functions_of
from boundary.tables.pieces import AnyPiece, Piece, Tap, VectorPiece
from ssr.extension import Tables
from ssr.ir.external import Layout
from ssr.kernel import ir
from ssr.kernel.print_python import function_lines
from ssr.runtime.intrinsics import fma, independent, ld, plain, prefetch, rolled, st
from tests.ssr import generated
from tests.ssr.generated import functions

from ...random_examples import examples
from ..evaluate_pieces import evaluate

Array = np.ndarray[Any, Any]
Run = Callable[..., Any]

NAMES = {
    "ld": ld, "st": st, "fma": fma, "prefetch": prefetch, "independent": independent,
    "rolled": rolled,
}  # fmt: skip

FRAME = 2
"""Index of the first element of arrays, negated: pieces have their origin inside."""


def printed(form: Form) -> dict[str, Any]:
    """Return a form's functions as Python."""
    found = functions_of(form, "fill")
    names = found[-1].arguments
    scalars = names[len(names) - form.scalars :]
    values = [
        ir.Call("real", (ir.Name(name),)) if name in scalars else ir.Name(name) for name in names
    ]
    kernel = ir.Function("kernel", names, (ir.Do(ir.Call("fill", tuple(values))),))
    lines = (line for each in (*found, kernel) for line in function_lines(each))
    return functions("\n".join(lines), NAMES)


def checked(form: Form) -> Run:
    """Return a form's function as plain Python, which checks every access."""
    return plain(printed(form)["fill"])


@cache
def compiled(form: Form, axes: int, dtype: str = "float64") -> Run:
    """Return a form's function as machine code, for fields of so many axes."""
    real = {"float64": "f8", "float32": "f4"}[dtype]
    fields = [ir.Array(real, axes, contiguous=False, written=True)] * form.fields
    own = [ir.Array("i8"), ir.Array(real), ir.Array(real), *[ir.Scalar("f8")] * form.scalars]
    return generated.compiled(printed(form)["kernel"], [*fields, *own], dtype=dtype)


def layouts(fields: list[Array], origin: int = 0) -> list[Layout]:
    """Return the layouts of fields whose first element has the index -origin along each axis."""
    strides = [[s // field.itemsize for s in field.strides] for field in fields]
    return [(origin * sum(each), *each) for each in strides]


def shifted(part: AnyPiece, by: int) -> AnyPiece:
    """Return a part with all indices less by a number."""
    if isinstance(part, VectorPiece):
        pieces = tuple(shifted(p, by) for p in part.pieces)
        return VectorPiece(pieces, part.matrix)  # type: ignore[arg-type]
    taps = tuple(
        Tap(t.source, tuple(s - by for s in t.start), t.steps, t.weight, t.window)
        for t in part.taps
    )
    start = tuple(s - by for s in part.start)
    also = tuple((field, tuple(s - by for s in first), steps) for field, first, steps in part.also)
    sums = part.constant, part.scalars
    return Piece(part.target, start, part.steps, part.extents, taps, *sums, also)


def filled(
    run: Run, made: Tables, fields: list[Array], scalars: tuple[Any, ...] = ()
) -> list[Array]:
    """Return the fields after a run."""
    result = [field.copy() for field in fields]
    kind = fields[0].dtype
    scratch = np.full(made.scratch, np.nan, kind)
    run(*result, made.links, made.weights, scratch, *scalars)
    return result


def expected(
    parts: list[AnyPiece], fields: list[Array], scalars: tuple[Any, ...] = ()
) -> list[Array]:
    """Return the fields after the parts, done one by one."""
    result = [field.copy() for field in fields]
    with np.errstate(invalid="ignore"):
        evaluate(parts, result, scalars)
    return result


def check_same(found: list[Array], wanted: list[Array]) -> None:
    """Fail if fields do not hold the same bits, apart from those of NaN."""
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        numbers = ~np.isnan(other)
        assert np.array_equal(np.signbit(one[numbers]), np.signbit(other[numbers]))


Numbers = some.sampled_from([0.0, 1.0, -1.0, 0.5, -2.25, 0.1])


@some.composite
def number(draw: Any, extents: tuple[int, ...]) -> Any:
    """Draw a number, or an array that broadcasts to extents."""
    if draw(some.booleans()):
        return draw(Numbers)
    shape = tuple(draw(some.sampled_from([1, n])) for n in extents)
    rng = np.random.default_rng(draw(some.integers(0, 99)))
    return np.where(rng.random(shape) < 0.3, 0.0, rng.standard_normal(shape))


@some.composite
def taps_of(draw: Any, extents: tuple[int, ...], shape: tuple[int, ...], field: int) -> list[Tap]:
    """Draw taps of a field: one, or some that are neighbours along a loop dimension."""
    axes = len(shape)
    order = draw(some.permutations(range(axes)))
    steps = []
    for n, axis in zip(extents, order, strict=False):
        if n > shape[axis]:
            steps.append((0,) * axes)
            continue
        sign = draw(some.sampled_from([1, -1, 0]))
        steps.append(tuple(sign * (a == axis) for a in range(axes)))
    start = []
    for axis, size in enumerate(shape):
        spread = sum((n - 1) * step[axis] for n, step in zip(extents, steps, strict=True))
        low, high = max(0, -spread), size - 1 - max(0, spread)
        start.append(draw(some.integers(low, high)))
    moving = [d for d, step in enumerate(steps) if any(step)]
    if not moving or not draw(some.booleans()):
        window = None
        if draw(some.booleans()):
            ends = [sorted(draw(some.tuples(*[some.integers(0, n)] * 2))) for n in extents]
            window = tuple((low, high) for low, high in ends)
        return [Tap(field, tuple(start), tuple(steps), draw(number(extents)), window)]
    along = draw(some.sampled_from(moving))
    step = steps[along]
    axis = next(a for a, s in enumerate(step) if s)
    found = []
    for ahead in range(draw(some.integers(-9, 0)), draw(some.integers(1, 9))):
        index = start[axis] + ahead * step[axis]
        inside = [t for t in range(extents[along]) if 0 <= index + t * step[axis] < shape[axis]]
        low, high = (inside[0], inside[-1] + 1) if inside else (0, 0)
        window = tuple((low, high) if d == along else (0, n) for d, n in enumerate(extents))
        first = tuple(s + ahead * d for s, d in zip(start, step, strict=True))
        found.append(Tap(field, first, tuple(steps), draw(number(extents)), window))
    return found


@some.composite
def fills(draw: Any, axes: int, fields: int, scalars: int, apart: bool) -> Any:
    """Draw parts, and the shape of the fields.

    Targets lie behind all that is read along the first axis if they are to be apart, one part
    after the other. A field more than two: the last two are a vector.
    """
    count = draw(some.integers(1, 4))
    rest = tuple(draw(some.integers(1, 14)) for _ in range(axes - 1))
    depth = draw(some.integers(1, 14))
    shape = (depth, *rest)
    parts: list[AnyPiece] = []
    edge = depth if apart else 0
    for _ in range(count):
        extents = tuple(draw(some.integers(1, n)) for n in (draw(some.integers(1, 12)), *rest))
        order = draw(some.permutations(range(axes)))
        steps, start = [], []
        for d in order:
            sign = draw(some.sampled_from([1, -1]))
            steps.append(tuple(sign * (axis == d) for axis in range(axes)))
        start = [
            (edge if axis == 0 else 0) + (extents[axis] - 1 if step[axis] < 0 else 0)
            for axis, step in sorted(zip(order, steps, strict=True))
        ]
        loops = tuple(extents[d] for d in order)
        twice = draw(some.booleans())

        def piece(field: int, taps: tuple[Tap, ...], plain: bool) -> Piece:
            constant = 0.0 if plain else draw(number(loops))  # noqa: B023
            factors = () if plain or not scalars else ((0, draw(number(loops))),)  # noqa: B023
            also = ()
            if twice:  # noqa: B023
                behind = (start[0] + extents[0], *start[1:])  # noqa: B023
                also = ((field, behind, tuple(steps)),)  # noqa: B023
            return Piece(field, tuple(start), tuple(steps), loops, taps, constant, factors, also)  # noqa: B023

        source = draw(some.integers(0, fields - 1))
        taps = [
            tap
            for _ in range(draw(some.integers(0, 3)))
            for tap in draw(taps_of(loops, shape, source))
        ]
        target = draw(some.integers(0, fields - 1))
        bare = bool(taps) and draw(some.booleans())
        if fields > 2 and draw(some.booleans()):
            both = tuple(
                piece(f, tuple(Tap(f, t.start, t.steps, t.weight, t.window) for t in taps), bare)
                for f in (1, 2)
            )
            matrix = tuple(tuple(draw(number(loops)) for _ in both) for _ in both)
            parts.append(VectorPiece(both, matrix))
            if draw(some.booleans()):
                own = tuple(Tap(0, t.start, t.steps, t.weight, t.window) for t in taps)
                parts.append(piece(0, own, bare))
        else:
            parts.append(piece(target, tuple(taps), bare))
        edge += extents[0] * (2 if twice else 1)
    return parts, (max(edge, depth), *rest)


def values(shape: tuple[int, ...], fields: int, dtype: Any = np.float64) -> list[Array]:
    """Return fields of numbers, of which many are zero and some infinite."""
    rng = np.random.default_rng(7)
    found = [rng.standard_normal(shape) for _ in range(fields)]
    found = [np.where(rng.random(shape) < 0.2, -0.0, f) for f in found]
    return [np.where(rng.random(shape) < 0.1, np.inf, f).astype(dtype) for f in found]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_the_text_for_parts_does_what_they_say(axes: int, staged: bool) -> None:
    @examples(15)
    @given(some.data())
    def check(data: Any) -> None:
        parts, shape = data.draw(fills(axes, 3, 1, apart=not staged))
        fields = values(shape, 3)
        form = form_of(parts, 3, 1, staged=staged)
        moved = [shifted(p, FRAME) for p in parts]
        made = assemble(moved, form, layouts(fields, FRAME), staged=staged)
        found = filled(checked(form), made, fields, (1.5,))
        check_same(found, expected(parts, fields, (1.5,)))

    check()


GENERAL = Form(3, 1, ((1,), (1, 2), (2,)), (2,), pairs=((0, 1), (0, 2), (1, 0)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_machine_code_has_the_bits_of_plain_python(dtype: str) -> None:
    run = compiled(GENERAL, 3, dtype)
    scalar = np.dtype(dtype).type(1.5)

    @examples(40)
    @given(some.data(), some.booleans())
    def check(data: Any, staged: bool) -> None:
        parts, shape = data.draw(fills(3, 3, 1, apart=not staged))
        fields = values(shape, 3, dtype)
        made = assemble(parts, GENERAL, layouts(fields), dtype, staged=staged)
        check_same(filled(run, made, fields, (scalar,)), expected(parts, fields, (scalar,)))

    check()


@pytest.mark.parametrize("along", [0, 1])
@pytest.mark.parametrize("weight", [1.0, -1.0])
@pytest.mark.parametrize("lines", [False, True])
def test_copies_between_fields_of_other_shapes(along: int, weight: float, lines: bool) -> None:
    """Rows and columns, forward and backward, by a lane of their own or by scratch memory."""
    here, there = np.arange(18.0).reshape(3, 6), np.arange(100.0, 135.0).reshape(5, 7)
    steps = ((0, 1), (1, 0)) if along else ((1, 0), (0, 1))
    back = tuple(tuple(-n for n in step) for step in steps)
    parts: list[AnyPiece] = [
        Piece(0, (0, 0), steps, (3, 2), (Tap(1, (4, 6), back, weight),)),
        Piece(0, (0, 5), ((1, 0),), (3,), (Tap(0, (0, 4), ((1, 0),), weight),)),
    ]
    form = form_of(parts, 2)
    assert form.pairs == ((0, 1),)
    assert not form.lines
    form = replace(form, lines=True, pairs=()) if lines else form
    found = filled(checked(form), assemble(parts, form, layouts([here, there])), [here, there])
    check_same(found, expected(parts, [here, there]))


def test_sums_that_differ_in_which_neighbours_share_a_field() -> None:
    """Neighbours on a line are added up together only where they are of one field."""
    step = ((1, 0), (0, 1))
    weights = np.random.default_rng(0).uniform(-1, 1, (4, 3, 9))

    def piece(target: int, fields: tuple[int, ...]) -> Piece:
        taps = [
            Tap(f, (0, n), step, w) for n, (f, w) in enumerate(zip(fields, weights, strict=True))
        ]
        return Piece(target, (4, 0), step, (3, 9), tuple(taps))

    parts: list[AnyPiece] = [piece(0, (0, 0, 0, 0)), piece(1, (0, 1, 1, 0))]
    fields = values((8, 14), 2)
    form = form_of(parts, 2)
    found = filled(checked(form), assemble(parts, form, layouts(fields)), fields)
    check_same(found, expected(parts, fields))


def pair(a: tuple[int, ...], b: tuple[int, ...], target: tuple[int, ...], count: int) -> Piece:
    """Return the mean of two rows of points, along the last axis, instead of one of them."""
    step = ((0, 1),)
    taps = tuple(Tap(0, start, step, weight) for start, weight in ((a, 0.25), (b, 0.75)))
    return Piece(0, target, step, (count,), taps)


def test_shared_points_are_made_in_one_pass_unless_others_read_them() -> None:
    a, b = (0, 1), (3, 0)
    both = [pair(a, b, a, 9), pair(a, b, b, 9)]
    reader = Piece(0, (5, 0), ((0, 1),), (9,), (Tap(0, a, ((0, 1),), 2.0),))
    fields = values((6, 10), 1)
    for parts, shared in ((both, True), ([*both, reader], False), (both[:1], False)):
        form = form_of(parts, 1, staged=True)
        assert form.shared == shared
        made = assemble(parts, form, layouts(fields), staged=True)
        check_same(filled(checked(form), made, fields), expected(parts, fields))


def test_values_for_several_places_are_found_once() -> None:
    a, b = (0, 0), (1, 0)
    parts = [pair(a, b, (row, 0), 9) for row in (2, 3, 4)]
    form = form_of(parts, 1)
    fields = values((5, 9), 1)
    one, three = (assemble(some_, form, layouts(fields)) for some_ in (parts[:1], parts))
    assert one.scratch == three.scratch
    check_same(filled(checked(form), three, fields), expected(parts, fields))


def test_the_functions_do_not_depend_on_how_many_pieces_there_are_nor_on_sizes() -> None:
    def parts(count: int, size: int) -> list[AnyPiece]:
        along = ((0, 1, 0),)
        return [
            Piece(0, (block, 0, to), along, (size,), (Tap(0, (block, 0, of), along, -1.0),), 2.0)
            for block in range(count)
            for to, of in ((-1, 0), (size, size - 1))
        ]

    few, many = form_of(parts(1, 30), 1), form_of(parts(50, 99), 1)
    assert functions_of(few, "fill") == functions_of(many, "fill")
