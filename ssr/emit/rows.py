"""Code of one row of a statement: its values and its assignments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from .. import ir
from ..algebra.stored import argument, bounds_of
from ..ir import LineLoops, LoopNest
from ..ir.value_numbering import Numbers
from ..kernel import ir as kernel
from ..kernel.building import binary, call, do, let, load, loop, minus, plus, times
from ..kernel.kernel_names import mangled
from ..kernel.program_operations import operation
from ..kernel.rewriting import substituted
from ..points.affine import AXES, Affine
from ..points.expressions import added, expression, place_test
from ..points.loop_tree import Run
from ..points.scanning import ALWAYS, condition_on
from ..symbols.operations import is_condition
from .builder import Builder
from .debug_checks import made_by

Place: TypeAlias = Mapping[str, Affine]
"""The values of the axes and sizes at an instance."""


def place_of(builder: Builder, made: LoopNest | LineLoops, run: Run) -> dict[str, Affine]:
    """Return the values of axes and sizes at an instance, in terms of the kernel's names."""
    sizes = {name: Affine.name(own) for name, own in builder.sizes.items()}
    row = (here.substitute(sizes) for here in made.row(run))
    return sizes | dict(zip(made.nest.axes, row, strict=True))


def emit_instance(builder: Builder, made: LoopNest | LineLoops, run: Run) -> None:
    """Add the assignments of a piece at a row."""
    emit_piece(builder, made, made.pieces[run.piece], place_of(builder, made, run))


def emit_piece(builder: Builder, made: LoopNest | LineLoops, piece: ir.Piece, where: Place) -> None:
    """Add the assignments of a piece at a row, given the values of axes and sizes."""
    if builder.checked:
        _check(builder, made.nest, piece, where)
    numbers = builder.numbers = Numbers(piece.parts)
    for n, part in enumerate(piece.parts):
        numbers.enter(n)
        found = value_of(builder, part.value, where)
        look = made_by(part.statement, builder.buffers), part.statement.origin
        if numbers.shared(part.value) or look in builder.looks:
            found = _held(builder, part.value, found)
        if look in builder.looks:
            at = part.statement.at or tuple(map(Affine.name, made.nest.axes))
            builder.examine(look, [expression(a.substitute(where)) for a in at], found)
        if part.stored:
            target = tuple(a.substitute(where) for a in part.statement.index)
            builder.add(builder.stored(part.statement.array, target, found))
    builder.numbers = None


def _check(builder: Builder, nest: ir.Nest | ir.LineNest, piece: ir.Piece, where: Place) -> None:
    """Add the check that a row belongs to a piece."""
    condition = condition_on(piece.domain, nest.context)
    label = builder.functions.label(f"{piece.name} of {nest.target}")
    if condition != ALWAYS:
        values = {name: expression(place) for name, place in where.items()}
        row = kernel.Group(tuple(values[axis] for axis in nest.axes))
        builder.add(do("require", substituted(condition, values), label, row))


def _held(builder: Builder, value: ir.Value, found: kernel.Expression) -> kernel.Expression:
    """Return the variable that holds a value from now on."""
    assert builder.numbers is not None
    stem = "is" if is_condition(value) else "v"  # a variable has one type in all nests
    name = found if isinstance(found, kernel.Name) else builder.let(stem, found)
    return builder.numbers.hold(value, name)


def value_of(builder: Builder, value: ir.Value, where: Place) -> kernel.Expression:
    """Return a value; sums and shared values are first assigned to new variables."""
    if builder.decided and isinstance(value, ir.Op):
        decided = builder.decided.get(repr(ir.substituted(value, where)))
        if decided is not None:
            return kernel.Name(decided)
    numbers = builder.numbers
    known = None if numbers is None else numbers.name(value)
    if known is not None:
        return known
    found = _computed(builder, value, where)
    if isinstance(value, ir.Op) and numbers is not None and numbers.shared(value):
        return _held(builder, value, found)
    return found


def _computed(builder: Builder, value: ir.Value, where: Place) -> kernel.Expression:
    match value:
        case ir.Const(number):
            return builder.constant(number)
        case ir.Scalar(name):
            return kernel.Name(mangled(name))
        case ir.Rounded(inner):
            assert builder.rounded is not None
            return builder.rounded(inner)
        case ir.Coordinate(index):
            return call("real", expression(index.substitute(where)))
        case ir.Load(array, index):
            return builder.loaded(array, tuple(a.substitute(where) for a in index))
        case ir.Sum():
            return _sum(builder, value, where)
        case ir.Gather():
            return _gathered(builder, value, where)
        case ir.Diagonal(matrix):
            place = load(argument(matrix, "diagonal"), _row_number(builder, value, where))
            return load(argument(matrix, "values"), place)
        case ir.Op(name, args):
            return operation(name, [value_of(builder, a, where) for a in args])


def _sum(builder: Builder, value: ir.Sum, where: Place) -> kernel.Expression:
    if not value.terms:
        return builder.constant(0.0)
    first = value.terms[0]
    lacks = _may_lack(first)
    total = builder.constant(-0.0) if lacks else _first(builder, first, where)
    for n, term in enumerate(value.terms):
        if _may_lack(term):
            total = _tested(builder, term, total, where)
        elif n:
            total = _next(builder, term, total, where)
        if len(value.terms) > 1 or _is_long(total):
            total = builder.let("s", total)
    return total if builder.numbers is None else builder.numbers.hold(value, total)


def _is_long(total: kernel.Expression) -> bool:
    """Whether a sum of one term gets a variable: if it has a sign or a product of variables."""
    return isinstance(total, kernel.Negative) or any(
        isinstance(part, kernel.Binary)
        and part.operator == "*"
        and not isinstance(part.left, kernel.Integer)
        for part in kernel.walk(total)
    )


def _gathered(builder: Builder, value: ir.Gather, where: Place) -> kernel.Expression:
    """Add the loop over the stored entries of a row; return the variable of the sum.

    Two sums take turns, so that an entry does not wait for the one before it.
    """
    row = _row_number(builder, value, where)
    operand, values = builder.argument(value.array), argument(value.matrix, "values")
    places = argument(value.matrix, "places", mangled(value.array))

    def added(total: kernel.Name, entry: kernel.Expression) -> kernel.Let:
        weight, element = load(values, entry), load(operand, load(places, entry))
        return let(total.name, call("fma", weight, element, total))

    start, stop = (
        builder.let("p", load(argument(value.matrix, name), plus(row, shift) if shift else row))
        for name, shift in bounds_of(value.part)
    )
    one, other = (builder.let("s", builder.constant(0.0)) for _ in range(2))
    entry = kernel.Name("p")
    pair = added(one, entry), added(other, plus(entry, 1))
    builder.add(loop("p", (start, minus(stop, 1), 2), pair))
    last = added(one, minus(stop, 1))
    builder.add(kernel.If(binary("&", minus(stop, start), 1), (last,)))
    total = builder.let("s", plus(one, other))
    return total if builder.numbers is None else builder.numbers.hold(value, total)


def _row_number(
    builder: Builder, value: ir.Gather | ir.Diagonal, where: Place
) -> kernel.Expression:
    """Return the variable of the number of a row, counted in C order."""
    number: kernel.Expression | None = None
    for index, low, count in zip(value.row, value.rows.lower, value.rows.shape, strict=True):
        here = index.substitute(where) - low
        extent = expression(count)
        number = expression(here) if number is None else added(times(number, extent), here)
    assert number is not None
    return builder.let("r", builder.own(number))


def _first(builder: Builder, term: ir.Term, where: Place) -> kernel.Expression:
    if term.operand is None:
        return value_of(builder, term.weight, where)
    operand = _operand(builder, term, term.operand, where)
    if term.weight == ir.ONE:
        return operand
    if term.weight == ir.Const(-1.0):
        return kernel.Negative(operand)
    return times(value_of(builder, term.weight, where), operand)


def _next(
    builder: Builder, term: ir.Term, total: kernel.Expression, where: Place
) -> kernel.Expression:
    """Return a total with one more term."""
    if term.operand is None:
        return plus(total, value_of(builder, term.weight, where))
    operand = _operand(builder, term, term.operand, where)
    if term.weight == ir.ONE:
        return plus(total, operand)
    if term.weight == ir.Const(-1.0):
        return minus(total, operand)
    return call("fma", value_of(builder, term.weight, where), operand, total)


def _tested(
    builder: Builder, term: ir.Term, total: kernel.Expression, where: Place
) -> kernel.Expression:
    """Return a total to which a term is added if the row has it; no other row evaluates it."""
    with _unshared(builder):
        found = _next(builder, term, total, where)
    return kernel.Select(_condition(builder, term, where), found, total)


@contextmanager
def _unshared(builder: Builder) -> Iterator[None]:
    """Share no values computed here, because not all rows compute them."""
    numbers, builder.numbers = builder.numbers, None
    yield
    builder.numbers = numbers


def _may_lack(term: ir.Term) -> bool:
    """Whether some rows do not have a term, nor a number in its place."""
    return bool(term.tests) and term.otherwise is None


def _operand(builder: Builder, term: ir.Term, operand: ir.Value, where: Place) -> kernel.Expression:
    """Return a term's operand, or a choice between it and its replacement."""
    if term.otherwise is None:
        return value_of(builder, operand, where)
    with _unshared(builder):
        found = value_of(builder, operand, where)
    other = builder.constant(term.otherwise.value)
    return kernel.Select(_condition(builder, term, where), found, other)


def _condition(builder: Builder, term: ir.Term, where: Place) -> kernel.Expression:
    """Return the condition that a term is there."""
    tests = [test.substitute(where) for test in term.tests]
    decided = builder.decided
    return binary("&", *(decided[t] if t in decided else test_of(t) for t in tests))


def test_of(test: Affine) -> kernel.Expression:
    """Return the test that an expression is >= 0, as one of the place along a line."""
    return place_test(test, *AXES[1])
