"""Write what happens in a box: loops, branches and reductions, as lines of source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .. import ir
from ..ir import LoopNest
from ..points.affine import Affine
from ..points.loop_tree import For, If, Loop, Reduce, Run, runs_of
from .hoist_choices import decide
from .outline import joined
from .write_rows import place_of, write_instance
from .write_taps import write_taps
from .writer import Writer

STRETCH = 2**16
"""Points of a loop that is in no other loop between two polls."""

FEW = 12
"""Lines of which a row may read fewer, for two vectors to be computed at a time."""

LONG = 20
"""Terms of a sum from which on it waits for itself: each addition needs the one before."""


def write_tree(
    writer: Writer, nest: LoopNest, tree: Sequence[Loop], depth: int, *, whole: bool = False
) -> None:
    """Write loops, branches and instances, cut into functions where they are many.

    What is ``whole`` is not cut: the body of an innermost loop.
    """
    before, rows, blocks = writer.lines, dict(writer.rows), []
    decided = dict(writer.decided)
    if not whole:
        for node in tree:
            decide(writer, nest, node, depth)
        _hoist(writer, nest, tree, depth)
    for node in tree:
        writer.lines = []
        _write_node(writer, nest, node, depth, whole)
        blocks.append(writer.lines)
    writer.lines, writer.rows, writer.decided = before, rows, decided
    writer.lines += joined(blocks) if whole else writer.functions.cut(blocks)


def _write_node(writer: Writer, nest: LoopNest, node: Loop, depth: int, whole: bool) -> None:
    match node:
        case For(variable, start, stop, 1, (Run(piece, (*_, index)) as run,)) if nest.pieces[
            piece
        ].taps and index == Affine.name(variable):
            write_taps(writer, nest, run, (writer.spell(start), writer.spell(stop)), depth)
        case For(body=body):
            innermost = _innermost(node)
            start, stop, inside = writer.spell(node.start), writer.spell(node.stop), depth
            if innermost and len(nest.nest.axes) == 1:
                start, stop, inside = _write_strips(writer, nest, node, depth)
            more = f", {node.step}" if node.step != 1 else ""
            bounds = _range(writer, nest, node) if innermost else "range"
            writer.line(inside, f"for {node.variable} in {bounds}({start}, {stop}{more}):")
            if any(map(_innermost, _next_to(body))):
                last = nest.nest.axes[-1]
                writer.line(inside + 1, f"poll(watch, {last}_hi - {last}_lo)")
            write_tree(writer, nest, body, inside + 1, whole=innermost)
        case If(condition, then, orelse):
            writer.line(depth, f"if {writer.spell(condition)}:")
            write_tree(writer, nest, then, depth + 1, whole=whole)
            if orelse:
                writer.line(depth, "else:")
                before, writer.lines = writer.lines, []
                write_tree(writer, nest, orelse, depth + 1, whole=whole)
                often = whole or "%" in condition
                before += writer.lines if often else writer.functions.rare(writer.lines)
                writer.lines = before
        case Reduce():
            write_reduction(writer, nest, node, depth)
        case Run(piece, (*_, index)) if nest.pieces[piece].taps:
            ends = writer.spell(str(index)), writer.spell(str(index + 1))
            write_taps(writer, nest, node, ends, depth)
        case Run():
            write_instance(writer, nest, node, depth)


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


def _innermost(node: Loop) -> bool:
    """Whether a node is a loop that holds none."""
    return isinstance(node, For) and not any(map(has_loop, node.body))


def write_reduction(writer: Writer, nest: LoopNest, node: Reduce, depth: int) -> None:
    """Write the reduction of a line."""
    last, buffer = nest.nest.axes[-1], writer.buffer(node.buffer)
    line = f"{buffer}, {buffer}_0 + {last}_lo, {last}_hi - {last}_lo"
    row = writer.reductions[node.name]
    if node.kind == "sum":
        writer.line(depth, f"accumulate(state, {row}, {line})")
    elif node.kind == "norm":
        writer.line(depth, f"accumulate_squares(state, {row}, {line})")
    else:
        writer.line(depth, f"extreme(state, {row}, {1 if node.kind == 'max' else -1}, {line})")


def _hoist(writer: Writer, nest: LoopNest, tree: Sequence[Loop], depth: int) -> None:
    """Compute before instances and innermost loops the row offsets they need more than once."""
    uses, arrays = Counter[str](), dict[str, str]()
    for node in tree:
        if not (isinstance(node, Run) or _innermost(node)):
            continue
        variable = node.variable if isinstance(node, For) else ""
        for run in runs_of(node):
            where = place_of(writer, nest, run)
            for array, index in _touched(nest.pieces[run.piece]):
                moved = tuple(a.substitute(where) for a in index)
                if not any(variable in a.names() for a in moved[:-1]):
                    row = writer.row(array, moved)
                    arrays.setdefault(row, array)
                    uses[row] += 2 if variable else 1
    for row, count in uses.items():
        if count > 1 and " " in row and row not in writer.rows:
            writer.rows[row] = writer.fresh(f"{writer.argument(arrays[row])}_r")
            writer.line(depth, f"{writer.rows[row]} = {row}")


def _touched(piece: ir.Piece) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    """Yield the elements in memory that a row touches."""
    kept = {part.statement.array for part in piece.parts if not part.stored}
    for part in piece.parts:
        if part.stored:
            yield part.statement.array, part.statement.index
        for load in ir.loads(part.value):
            if load.array not in kept:
                yield load.array, load.index


def _write_strips(writer: Writer, nest: LoopNest, loop: For, depth: int) -> tuple[str, str, int]:
    """Cut a loop that is in no other loop into strips, and poll before each.

    Returns bounds and depth of the loop in a strip.
    """
    start, stop = writer.spell(loop.start), writer.spell(loop.stop)
    length = STRETCH * abs(loop.step)
    end, nearer, step = f"strip + {length}", "min", length
    if loop.step < 0:
        end, nearer, step = f"strip - {length}", "max", -length
    writer.line(depth, f"for strip in range({start}, {stop}, {step}):")
    (axis,) = nest.nest.axes
    writer.line(depth + 1, f"poll(watch, min({length}, {axis}_hi - {axis}_lo))")
    return "strip", f"{nearer}({end}, {stop})", depth + 1


def _range(writer: Writer, nest: LoopNest, loop: For) -> str:
    """Return the range that an innermost loop runs over, which says what LLVM should know of it."""
    if _waits(nest, loop):
        return "interleaved"
    return "independent" if _is_independent(nest, loop) and not writer.checked else "range"


def _is_independent(nest: LoopNest, loop: For) -> bool:
    """Whether rows are independent, though a loop reads other lines of an array that it writes.

    LLVM would compare where these lines are at each line, and gives up where they are many.
    """
    parts = [part for run in runs_of(loop) for part in nest.pieces[run.piece].parts]
    if loop.step != 1 or not all(part.statement.parallel for part in parts):
        return False
    stored = {part.statement.array: part.statement.index for part in parts if part.stored}
    return any(
        load.index != stored.get(load.array, load.index)
        for part in parts
        for load in ir.loads(part.value)
    )


def _waits(nest: LoopNest, loop: For) -> bool:
    """Whether a loop computes one long sum of few lines, and nothing else.

    A processor looks ahead at few such chains. So two vectors are computed at a time, whose chains
    are independent, and which share the weights. Many lines leave no registers for that.
    """
    parts = [part for run in runs_of(loop) for part in nest.pieces[run.piece].parts]
    if loop.step != 1 or len(parts) != 1 or not parts[0].statement.parallel:
        return False
    value = parts[0].value
    if any(parts[0].statement.domain.axes[-1] not in test.names() for test in ir.tests(value)):
        return False
    lines = {(load.array, load.index[:-1]) for load in ir.loads(value)}
    sums = (len(part.terms) for part in ir.walk(value) if isinstance(part, ir.Sum))
    return len(lines) < FEW and max(sums, default=0) >= LONG
