"""Write what happens at one row: values and assignments, as lines of source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .. import ir
from ..algebra.stored import argument, bounds_of
from ..ir import LineLoops, LoopNest
from ..ir.value_numbering import Numbers
from ..points.affine import AXES, Affine
from ..points.loop_tree import Run
from ..points.scanning import condition_text
from .debug_checks import made_by
from .operations import operation_text
from .writer import Writer, factor, spelled

_NAME = re.compile(r"[A-Za-z_]\w*")


def place_of(writer: Writer, made: LoopNest | LineLoops, run: Run) -> dict[str, Affine]:
    """Return what the axes and sizes stand for at an instance, as the kernel spells them."""
    spelling = {name: Affine.name(text) for name, text in writer.sizes.items()}
    row = (here.substitute(spelling) for here in made.row(run))
    return spelling | dict(zip(made.nest.axes, row, strict=True))


def write_instance(writer: Writer, made: LoopNest | LineLoops, run: Run, depth: int) -> None:
    """Write the assignments of a piece at a row."""
    write_piece(writer, made, made.pieces[run.piece], place_of(writer, made, run), depth)


def write_piece(
    writer: Writer,
    made: LoopNest | LineLoops,
    piece: ir.Piece,
    where: Mapping[str, Affine],
    depth: int,
) -> None:
    """Write the assignments of a piece at a row, given what axes and sizes stand for."""
    if writer.checked:
        _write_check(writer, made.nest, piece, where, depth)
    numbers = writer.numbers = Numbers(piece.parts)
    for n, part in enumerate(piece.parts):
        numbers.enter(n)
        text = value_text(writer, part.value, where, depth)
        look = made_by(part.statement, writer.buffers), part.statement.origin
        if numbers.shared(part.value) or look in writer.looks:
            text = _held(writer, part.value, text, depth)
        if look in writer.looks:
            at = part.statement.at or tuple(map(Affine.name, made.nest.axes))
            writer.examine(depth, look, [a.substitute(where) for a in at], text)
        if part.stored:
            target = tuple(a.substitute(where) for a in part.statement.index)
            writer.line(depth, writer.stored(part.statement.array, target, text))
    writer.numbers = None


def _write_check(
    writer: Writer,
    nest: ir.Nest | ir.LineNest,
    piece: ir.Piece,
    where: Mapping[str, Affine],
    depth: int,
) -> None:
    """Write the check that a row is one of those of a piece."""
    condition = condition_text(piece.domain, nest.context)
    texts = {name: str(place) for name, place in where.items()}
    test = _NAME.sub(lambda m: factor(texts.get(m[0], m[0])), condition)
    label = writer.functions.label(f"{piece.name} of {nest.target}")
    row = ", ".join(texts[axis] for axis in nest.axes)
    if condition:
        writer.line(depth, f"require({test}, {label}, ({row},))")


def _held(writer: Writer, value: ir.Value, text: str, depth: int) -> str:
    """Return the variable that holds a value from now on."""
    assert writer.numbers is not None
    name = text
    if not text.isidentifier():
        name = writer.fresh("v")
        writer.line(depth, f"{name} = {text}")
    return writer.numbers.hold(value, name)


def value_text(writer: Writer, value: ir.Value, where: Mapping[str, Affine], depth: int) -> str:
    """Return the source of a value; sums and what is shared write lines of their own first."""
    if writer.decided and isinstance(value, ir.Op):
        decided = writer.decided.get(repr(ir.substituted(value, where)))
        if decided is not None:
            return decided
    numbers = writer.numbers
    known = None if numbers is None else numbers.name(value)
    if known is not None:
        return known
    text = _computed(writer, value, where, depth)
    if isinstance(value, ir.Op) and numbers is not None and numbers.shared(value):
        return _held(writer, value, text, depth)
    return text


def _computed(writer: Writer, value: ir.Value, where: Mapping[str, Affine], depth: int) -> str:
    match value:
        case ir.Const(number):
            return writer.constant(number)
        case ir.Scalar(name):
            return spelled(name)
        case ir.Rounded(inner):
            assert writer.rounded is not None
            return writer.rounded(inner)
        case ir.Coordinate(index):
            return f"real({index.substitute(where)})"
        case ir.Load(array, index):
            return writer.loaded(array, tuple(a.substitute(where) for a in index))
        case ir.Sum():
            return _sum_text(writer, value, where, depth)
        case ir.Gather():
            return _gather_text(writer, value, where, depth)
        case ir.Diagonal(matrix):
            row = _row_number(writer, value, where, depth)
            values, place = argument(matrix, "values"), argument(matrix, "diagonal")
            return f"ld({values}, ld({place}, {row}))"
        case ir.Op(name, args):
            texts = [value_text(writer, a, where, depth) for a in args]
            return operation_text(name, texts)


def _sum_text(writer: Writer, value: ir.Sum, where: Mapping[str, Affine], depth: int) -> str:
    if not value.terms:
        return writer.constant(0.0)
    start = _may_lack(value.terms[0])
    text = writer.constant(-0.0) if start else _first(writer, value.terms[0], where, depth)
    for n, term in enumerate(value.terms):
        if _may_lack(term):
            text = _tested(writer, term, text, where, depth)
        elif n:
            text = _next(writer, term, text, where, depth)
        if len(value.terms) > 1 or text.startswith("-") or " * " in text:
            total = writer.fresh("s")
            writer.line(depth, f"{total} = {text}")
            text = total
    return text if writer.numbers is None else writer.numbers.hold(value, text)


def _gather_text(writer: Writer, value: ir.Gather, where: Mapping[str, Affine], depth: int) -> str:
    """Write the loop over the stored entries of a row; return the variable of the sum.

    Two sums take turns, so that an entry does not wait for the one before it.
    """
    row = _row_number(writer, value, where, depth)
    operand, values = writer.argument(value.array), argument(value.matrix, "values")
    places = argument(value.matrix, "places", spelled(value.array))

    def added(total: str, entry: str) -> str:
        load = f"ld({operand}, ld({places}, {entry}))"
        return f"{total} = fma(ld({values}, {entry}), {load}, {total})"

    start, stop = writer.fresh("p"), writer.fresh("p")
    for variable, (name, shift) in zip((start, stop), bounds_of(value.part), strict=True):
        writer.line(depth, f"{variable} = ld({argument(value.matrix, name)}, {row}{shift})")
    one, other = writer.fresh("s"), writer.fresh("s")
    for total in one, other:
        writer.line(depth, f"{total} = {writer.constant(0.0)}")
    writer.line(depth, f"for p in range({start}, {stop} - 1, 2):")
    writer.line(depth + 1, added(one, "p"))
    writer.line(depth + 1, added(other, "p + 1"))
    writer.line(depth, f"if ({stop} - {start}) & 1:")
    writer.line(depth + 1, added(one, f"{stop} - 1"))
    total = writer.fresh("s")
    writer.line(depth, f"{total} = {one} + {other}")
    return total if writer.numbers is None else writer.numbers.hold(value, total)


def _row_number(
    writer: Writer, value: ir.Gather | ir.Diagonal, where: Mapping[str, Affine], depth: int
) -> str:
    """Write the number of a row, counted in C order; return its variable."""
    number = ""
    for index, low, count in zip(value.row, value.rows.lower, value.rows.shape, strict=True):
        here = writer.spell(str(index.substitute(where) - low))
        extent = factor(writer.spell(str(count)))
        number = f"{factor(number)} * {extent} + {here}" if number else here
    row = writer.fresh("r")
    writer.line(depth, f"{row} = {number}")
    return row


def _first(writer: Writer, term: ir.Term, where: Mapping[str, Affine], depth: int) -> str:
    if term.operand is None:
        return value_text(writer, term.weight, where, depth)
    operand = _operand(writer, term, term.operand, where, depth)
    if term.weight == ir.ONE:
        return operand
    if term.weight == ir.Const(-1.0):
        return f"-{operand}"
    return f"{value_text(writer, term.weight, where, depth)} * {operand}"


def _tested(
    writer: Writer, term: ir.Term, total: str, where: Mapping[str, Affine], depth: int
) -> str:
    """Return the source of a total with a term where that is there; nothing else computes it."""
    with _unshared(writer):
        text = _next(writer, term, total, where, depth)
    return f"({text}) if {_condition(writer, term, where)} else {total}"


@contextmanager
def _unshared(writer: Writer) -> Iterator[None]:
    """Hold no values of what is written here: not all rows compute it."""
    numbers, writer.numbers = writer.numbers, None
    yield
    writer.numbers = numbers


def _may_lack(term: ir.Term) -> bool:
    """Whether some rows do not have a term, nor a number in its place."""
    return bool(term.tests) and term.otherwise is None


def _operand(
    writer: Writer, term: ir.Term, operand: ir.Value, where: Mapping[str, Affine], depth: int
) -> str:
    """Return the source of a term's operand, or of what stands in its place."""
    if term.otherwise is None:
        return value_text(writer, operand, where, depth)
    with _unshared(writer):
        text = value_text(writer, operand, where, depth)
    other = writer.constant(term.otherwise.value)
    return f"({text} if {_condition(writer, term, where)} else {other})"


def _condition(writer: Writer, term: ir.Term, where: Mapping[str, Affine]) -> str:
    """Return the source of what tells whether a term is there."""
    tests = (test.substitute(where) for test in term.tests)
    return " & ".join(writer.decided.get(test) or test_text(test) for test in tests)


def test_text(test: Affine) -> str:
    """Return the source of the test that an expression is >= 0, as one of the place along a line.

    >>> here = Affine.name("i")
    >>> test_text(here - 1), test_text(Affine.name("n") - here - 2), test_text(Affine.name("k"))
    ('(i >= 1)', '(i <= n - 2)', '(k >= 0)')
    """
    (axis,) = AXES[1]
    along = dict(test.terms).get(axis, 0)
    place = test - along * Affine.name(axis)
    if abs(along) != 1:
        return f"({test} >= 0)"
    return f"({axis} >= {-place})" if along > 0 else f"({axis} <= {place})"


def _next(
    writer: Writer,
    term: ir.Term,
    total: str,
    where: Mapping[str, Affine],
    depth: int,
) -> str:
    if term.operand is None:
        return f"{total} + {value_text(writer, term.weight, where, depth)}"
    operand = _operand(writer, term, term.operand, where, depth)
    if term.weight == ir.ONE:
        return f"{total} + {operand}"
    if term.weight == ir.Const(-1.0):
        return f"{total} - {operand}"
    return f"fma({value_text(writer, term.weight, where, depth)}, {operand}, {total})"
