"""Code of the loops over a box: loops, branches and reductions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .. import ir
from ..ir import LoopNest
from ..kernel import ir as kernel
from ..kernel.building import call, do, loop, minus, plus
from ..kernel.outline import joined
from ..points.affine import Affine
from ..points.expressions import expression
from ..points.loop_tree import For, If, Loop, Reduce, Run, runs_of
from .builder import Builder
from .hoist_choices import hoist_choices
from .periodic_rows import emit_periodic_rows
from .rows import emit_instance, place_of

STRETCH = 2**16
"""Points between two polls in a loop without an enclosing loop."""


def emit_tree(
    builder: Builder, nest: LoopNest, tree: Sequence[Loop], *, whole: bool = False
) -> None:
    """Add loops, branches and instances, outlined as functions if there are many.

    The body of an innermost loop is ``whole``, so it is not cut.
    """
    rows, decided, blocks = dict(builder.rows), dict(builder.decided), []
    if not whole:
        for node in tree:
            hoist_choices(builder, nest, node)
        _hoist(builder, nest, tree)
    for node in tree:
        with builder.block() as block:
            _emit_node(builder, nest, node, whole)
        blocks.append(block)
    builder.rows, builder.decided = rows, decided
    builder.add(*(joined(blocks) if whole else builder.functions.cut(blocks)))


def _emit_node(builder: Builder, nest: LoopNest, node: Loop, whole: bool) -> None:
    match node:
        case For(variable, start, stop, 1, (Run(piece, (*_, index)) as run,)) if nest.pieces[
            piece
        ].taps and index == Affine.name(variable):
            emit_periodic_rows(builder, nest, run, (builder.own(start), builder.own(stop)))
        case For():
            _emit_loop(builder, nest, node)
        case If():
            _emit_branch(builder, nest, node, whole)
        case Reduce():
            _emit_reduction(builder, nest, node)
        case Run(piece, (*_, index)) if nest.pieces[piece].taps:
            ends = builder.own(expression(index)), builder.own(expression(index + 1))
            emit_periodic_rows(builder, nest, node, ends)
        case Run():
            emit_instance(builder, nest, node)


def _emit_loop(builder: Builder, nest: LoopNest, node: For) -> None:
    """Add a loop; one that is in no other loop runs in stretches, and polls before each."""
    innermost = is_innermost(node)
    alone = innermost and len(nest.nest.axes) == 1
    start, stop = builder.own(node.start), builder.own(node.stop)
    ends = (kernel.Name("strip"), _stretch_end(node, stop)) if alone else (start, stop)
    with builder.block() as body:
        if any(map(is_innermost, _next_to(node.body))):
            builder.add(do("poll", "watch", _points(nest)))
        emit_tree(builder, nest, node.body, whole=innermost)
    order = _order(builder, nest, node) if innermost else "serial"
    made = loop(node.variable, (*ends, node.step), body, order)
    if alone:
        stretch = STRETCH * node.step
        poll = do("poll", "watch", call("min", abs(stretch), _points(nest)))
        made = loop("strip", (start, stop, stretch), (poll, made))
    builder.add(made)


def _stretch_end(node: For, stop: kernel.Expression) -> kernel.Expression:
    """Return where the part of a loop ends that begins at the variable ``strip``."""
    if node.step < 0:
        return call("max", minus("strip", -STRETCH * node.step), stop)
    return call("min", plus("strip", STRETCH * node.step), stop)


def _points(nest: LoopNest) -> kernel.Expression:
    """Return the number of points of a line of the box."""
    last = nest.nest.axes[-1]
    return minus(f"{last}_hi", f"{last}_lo")


def _emit_branch(builder: Builder, nest: LoopNest, node: If, whole: bool) -> None:
    """Add a branch; most lines are on its first side, unless it is about remainders."""
    test = builder.own(node.condition)
    with builder.block() as then:
        emit_tree(builder, nest, node.then, whole=whole)
    with builder.block() as orelse:
        emit_tree(builder, nest, node.orelse, whole=whole)
    often = whole or any(
        isinstance(part, kernel.Binary) and part.operator == "%" for part in kernel.walk(test)
    )
    rest = orelse if often else builder.functions.rare(orelse)
    builder.add(kernel.If(test, tuple(then), tuple(rest)))


def has_loop(node: Loop) -> bool:
    """Whether a node is a loop or holds one."""
    match node:
        case For():
            return True
        case If(_, then, orelse):
            return any(has_loop(n) for n in (*then, *orelse))
    return False


def _next_to(tree: Sequence[Loop]) -> Iterator[Loop]:
    """Yield nodes and those in their branches, but not those in loops."""
    for node in tree:
        yield node
        if isinstance(node, If):
            yield from _next_to((*node.then, *node.orelse))


def is_innermost(node: Loop) -> bool:
    """Whether a node is a loop without nested loops."""
    return isinstance(node, For) and not any(map(has_loop, node.body))


def _emit_reduction(builder: Builder, nest: LoopNest, node: Reduce) -> None:
    """Add the reduction of a line."""
    last, buffer = nest.nest.axes[-1], builder.buffer(node.buffer)
    line = buffer, plus(f"{buffer}_0", f"{last}_lo"), _points(nest)
    row = builder.reductions[node.name]
    match node.kind:
        case "sum":
            builder.add(do("accumulate", "state", row, *line))
        case "norm":
            builder.add(do("accumulate_squares", "state", row, *line))
        case kind:
            builder.add(do("extreme", "state", row, 1 if kind == "max" else -1, *line))


def _hoist(builder: Builder, nest: LoopNest, tree: Sequence[Loop]) -> None:
    """Compute before instances and innermost loops the row offsets they need more than once."""
    uses, arrays = Counter[kernel.Expression](), dict[kernel.Expression, str]()
    for node in tree:
        if not (isinstance(node, Run) or is_innermost(node)):
            continue
        variable = node.variable if isinstance(node, For) else ""
        for run in runs_of(node):
            where = place_of(builder, nest, run)
            for array, index in _touched(nest.pieces[run.piece]):
                moved = tuple(a.substitute(where) for a in index)
                if not any(variable in a.names() for a in moved[:-1]):
                    row = builder.row(array, moved)
                    arrays.setdefault(row, array)
                    uses[row] += 2 if variable else 1
    for row, count in uses.items():
        if count > 1 and not isinstance(row, kernel.Name) and row not in builder.rows:
            builder.rows[row] = builder.let(f"{builder.argument(arrays[row])}_r", row)


def _touched(piece: ir.Piece) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    """Yield the elements in memory that a row touches."""
    kept = {part.statement.array for part in piece.parts if not part.stored}
    for part in piece.parts:
        if part.stored:
            yield part.statement.array, part.statement.index
        for load in ir.loads(part.value):
            if load.array not in kept:
                yield load.array, load.index


def _order(builder: Builder, nest: LoopNest, node: For) -> kernel.Order:
    """Return the order of the rows of an innermost loop."""
    return "independent" if _is_independent(nest, node) and not builder.checked else "serial"


def _is_independent(nest: LoopNest, node: For) -> bool:
    """Whether rows are independent, though a loop reads other lines of an array that it writes.

    LLVM would check at run time for each line whether they overlap, but not for many lines.
    """
    parts = [part for run in runs_of(node) for part in nest.pieces[run.piece].parts]
    if node.step != 1 or not all(part.statement.parallel for part in parts):
        return False
    stored = {part.statement.array: part.statement.index for part in parts if part.stored}
    return any(
        load.index != stored.get(load.array, load.index)
        for part in parts
        for load in ir.loads(part.value)
    )
