"""Write what happens in a box: loops, branches, values, as lines of source.

`Writer` holds the lines and the names they use; the functions below walk loops and values.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from . import ir
from .affine import Affine
from .loopnest import For, If, Loop, Reduce, Run
from .loops import LoopNest
from .numbering import Numbers
from .outline import Functions, joined
from .stored import argument, bounds_of

STRIP = 256
"""Rows between two rounds of prefetching."""

DISTANCE = 64
"""Cache lines between a request and its use."""

RESERVED = frozenset(
    """
    i j k l p strip one far clear layout box real np jit ld st fma prefetch address fits
    range min max abs kernel Array minimum maximum sign strip_length state results accumulate
    extreme total found unfit bad meet
    """.split()  # noqa: SIM905
)
"""Names of the kernel's own that look like a user's; others hold a digit, `_lo`, `_hi`, `_w`."""

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|",
}  # fmt: skip
_CALL = {
    "abs": "abs", "sign": "sign", "sqrt": "np.sqrt", "exp": "np.exp", "log": "np.log",
    "sin": "np.sin", "cos": "np.cos", "tan": "np.tan", "tanh": "np.tanh", "pow": "np.power",
    "arctan2": "np.arctan2", "min": "minimum", "max": "maximum",
}  # fmt: skip


def spelled(name: str) -> str:
    """Return a user's name as a name of the kernel, different from all of the kernel's own.

    >>> spelled("wind_speed"), spelled("box"), spelled("x_0"), spelled("u[0]")
    ('wind_speed', 'u__box', 'u__x_0__', 'v__u__0')
    """
    if "[" in name:  # a component of a vector field, or a temporary for it
        return f"v__{name.replace('[', '__').replace(']', '')}"
    plain = re.fullmatch("[A-Za-z]+(_[A-Za-z]{3,})*", name) is not None
    taken = name in RESERVED or keyword.iskeyword(name) or hasattr(builtins, name)
    if plain and not taken:
        return name
    derived = re.search(r"_[a-z]?\d*$", name) is not None  # like offsets and strides of arrays
    return f"u__{name}__" if derived else f"u__{name}"


@dataclass
class Writer:
    """Lines of source under construction, the constants and the row offsets they use."""

    arrays: Mapping[str, ir.Field]
    buffers: Mapping[str, ir.Buffer]
    suffix: str
    near: int
    sizes: Mapping[str, str]
    reductions: Mapping[str, int]
    functions: Functions
    lines: list[str] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    shifts: dict[str, str] = field(default_factory=dict)
    numbers: Numbers | None = None
    counter: int = 0

    def line(self, depth: int, text: str) -> None:
        """Add one line."""
        self.lines.append("    " * depth + text)

    def fresh(self, stem: str) -> str:
        """Return a new variable name."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def constant(self, value: float) -> str:
        """Return the variable that holds a number in the kernel's type; 0.0 and -0.0 differ."""
        text = repr(value)
        text = text if math.isfinite(value) else f"{text[:-3]}np.{text[-3:]}"
        known = self.functions.constants
        return known.setdefault(text, f"w{len(known)}")

    def spell(self, text: str) -> str:
        """Return source with the names of sizes spelled as the kernel spells them."""
        if not self.sizes:
            return text
        return re.sub(r"[A-Za-z_]\w*", lambda m: self.sizes.get(m[0], m[0]), text)

    def buffer(self, name: str) -> str:
        """Return a buffer's argument name."""
        return name.removeprefix("%") + self.suffix

    def row(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of the flat offset at which a row of an array starts."""
        if array in self.buffers:
            name, rotation = self.buffer(array), self.buffers[array]
            turned = f"(({index[0]}) & {rotation.rows - 1})"
            if rotation.lines is not None:
                return f"{name}_0 + {turned} * {name}_p + ({index[1]}) * {name}_w"
            return f"{name}_0" if rotation.rows == 1 else f"{name}_0 + {turned} * {name}_w"
        name = spelled(array)
        parts = [f"{name}_0"]
        for axis, position in enumerate(index[:-1]):
            if position.is_constant and not position.constant:
                continue
            parts.append(f"{_factor(str(position))} * {name}_s{axis}")
        return " + ".join(parts)

    def place(self, array: str, index: Sequence[Affine]) -> str:
        """Return the source of an element's flat offset, with the row hoisted if it was."""
        row = self.row(array, index)
        row = self.rows.get(row, row)
        last = index[-1]
        if last.is_constant and not last.constant:
            return row
        if array in self.buffers and last.constant and len(index) == 1 and last.terms:
            row, last = self.shifted(array, last.constant), Affine(last.terms)
        text = str(last)
        return f"{row} - {text[1:]}" if text.startswith("-") else f"{row} + {text}"

    def shifted(self, array: str, shift: int) -> str:
        """Return the variable that holds the start of a line buffer moved by a shift.

        Its value is hidden from LLVM behind the argument ``one``: otherwise the loads of one
        iteration are carried over to the next in registers, and the vectorised loop spends its
        time on shuffles and has no vectorised remainder (measured: 0.60 -> 0.42 ns a point).
        """
        name = f"{self.buffer(array)}_{'p' if shift > 0 else 'm'}{abs(shift)}"
        factor = "one" if abs(shift) == 1 else f"{abs(shift)} * one"
        self.shifts[name] = f"{self.buffer(array)}_0 {'+' if shift > 0 else '-'} {factor}"
        return name

    def argument(self, array: str) -> str:
        """Return the argument an array or buffer is."""
        return self.buffer(array) if array in self.buffers else spelled(array)


def write_tree(
    writer: Writer, nest: LoopNest, tree: Sequence[Loop], depth: int, *, whole: bool = False
) -> None:
    """Write loops, branches and instances, cut into functions where they are many.

    What is ``whole`` is not cut: the body of an innermost loop.
    """
    before, blocks = writer.lines, []
    for node in tree:
        writer.lines = []
        _write_node(writer, nest, node, depth, whole)
        blocks.append(writer.lines)
    writer.lines = before
    writer.lines += joined(blocks) if whole else writer.functions.cut(blocks)


def _write_node(writer: Writer, nest: LoopNest, node: Loop, depth: int, whole: bool) -> None:
    match node:
        case For(body=body):
            innermost = not any(has_loop(b) for b in body)
            start, stop, inside = writer.spell(node.start), writer.spell(node.stop), depth
            if innermost:
                _hoist(writer, nest, node, depth)
            requests = _requests(nest, node) if innermost and node.step == 1 else ()
            if requests:
                start, stop, inside = _write_strips(writer, nest, node, requests, depth)
            more = f", {node.step}" if node.step != 1 else ""
            writer.line(inside, f"for {node.variable} in range({start}, {stop}{more}):")
            write_tree(writer, nest, body, inside + 1, whole=innermost)
            if innermost:
                writer.rows = {}
        case If(condition, then, orelse):
            writer.line(depth, f"if {writer.spell(condition)}:")
            write_tree(writer, nest, then, depth + 1, whole=whole)
            if orelse:
                writer.line(depth, "else:")
                before, writer.lines = writer.lines, []
                write_tree(writer, nest, orelse, depth + 1, whole=whole)
                before += writer.lines if whole else writer.functions.rare(writer.lines)
                writer.lines = before
        case Reduce():
            write_reduction(writer, nest, node, depth)
        case Run(name, indices):
            write_instance(writer, nest.nest, nest.pieces[name], indices, depth)


def has_loop(node: Loop) -> bool:
    """Whether a node is a loop or holds one."""
    match node:
        case For():
            return True
        case If(_, then, orelse):
            return any(has_loop(n) for n in (*then, *orelse))
    return False


def runs_of(node: Loop) -> list[Run]:
    """Return the instances inside a node, in order."""
    match node:
        case For(body=body):
            return [r for n in body for r in runs_of(n)]
        case If(_, then, orelse):
            return [r for n in (*then, *orelse) for r in runs_of(n)]
        case Run():
            return [node]
        case Reduce():
            return []


def write_reduction(writer: Writer, nest: LoopNest, node: Reduce, depth: int) -> None:
    """Write the reduction of a line."""
    last, buffer = nest.nest.axes[-1], writer.buffer(node.buffer)
    line = f"{buffer}, {buffer}_0 + {last}_lo, {last}_hi - {last}_lo"
    row = writer.reductions[node.name]
    if node.kind == "sum":
        writer.line(depth, f"accumulate(state, {row}, {line})")
    else:
        writer.line(depth, f"extreme(state, {row}, {1 if node.kind == 'max' else -1}, {line})")


def _hoist(writer: Writer, nest: LoopNest, loop: For, depth: int) -> None:
    """Compute the row offsets an innermost loop needs before it."""
    for run in runs_of(loop):
        piece = nest.pieces[run.piece]
        where = _where(writer, nest.nest, piece, run.indices)
        for array, index in _touched(piece):
            moved = tuple(a.substitute(where) for a in index)
            if any(loop.variable in a.names() for a in moved[:-1]):
                continue
            row = writer.row(array, moved)
            if row not in writer.rows and (" " in row):
                name = writer.fresh(f"{writer.argument(array)}_r")
                writer.line(depth, f"{name} = {row}")
                writer.rows[row] = name


def _touched(piece: ir.Piece) -> Iterator[tuple[str, tuple[Affine, ...]]]:
    """Yield the elements in memory that a row touches."""
    kept = {part.statement.array for part in piece.parts if not part.stored}
    for part in piece.parts:
        if part.stored:
            yield part.statement.array, part.statement.index
        for load in (*ir.loads(part.value), *part.statement.requests):
            if load.array not in kept:
                yield load.array, load.index


def _requests(nest: LoopNest, loop: For) -> tuple[ir.Load, ...]:
    """Return the elements an innermost loop should bring near."""
    parts = [part for r in runs_of(loop) for part in nest.pieces[r.piece].parts]
    return parts[0].statement.requests if len(parts) == 1 else ()


def _write_strips(
    writer: Writer, nest: LoopNest, loop: For, requests: Sequence[ir.Load], depth: int
) -> tuple[str, str, int]:
    """Write a loop over strips with its requests; return bounds and depth of the loop inside."""
    (run,) = runs_of(loop)
    where = _where(writer, nest.nest, nest.pieces[run.piece], run.indices)
    variable = loop.variable
    start, stop = writer.spell(loop.start), writer.spell(loop.stop)
    writer.line(depth, f"for strip in range({start}, {stop}, strip_length):")
    stop = f"min(strip + strip_length, {stop})"
    writer.line(depth + 1, "if far:")
    writer.line(depth + 2, f"for {variable} in range(strip, {stop}, {writer.near}):")
    for load in requests:
        index = tuple(a.substitute(where) for a in load.index)
        index = (*index[:-1], index[-1] + DISTANCE * writer.near)
        place = writer.place(load.array, index)
        writer.line(depth + 3, f"prefetch({writer.argument(load.array)}, {place})")
    return "strip", stop, depth + 1


def _where(
    writer: Writer, nest: ir.Nest, piece: ir.Piece, indices: tuple[Affine, ...]
) -> dict[str, Affine]:
    """Return the row of an instance: the line the loops stand at, and the place along it."""
    where = {name: Affine.name(spelling) for name, spelling in writer.sizes.items()}
    row = piece.parts[0].statement.runs(tuple(map(Affine.name, nest.axes)), nest.order)
    where |= {a: here for a, here in zip(nest.axes, row, strict=True) if here != Affine.name(a)}
    where[nest.axes[-1]] = indices[0].substitute(where)
    return where


def write_instance(
    writer: Writer, nest: ir.Nest, piece: ir.Piece, indices: tuple[Affine, ...], depth: int
) -> None:
    """Write the assignments of a piece at a row."""
    where = _where(writer, nest, piece, indices)
    numbers = writer.numbers = Numbers(piece.parts)
    for n, part in enumerate(piece.parts):
        numbers.enter(n)
        text = value_text(writer, part.value, where, depth)
        if numbers.shared(part.value):
            text = _held(writer, part.value, text, depth)
        if part.stored:
            target = tuple(a.substitute(where) for a in part.statement.index)
            array = part.statement.array
            place = writer.place(array, target)
            writer.line(depth, f"st({writer.argument(array)}, {place}, {text})")
    writer.numbers = None


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
        case ir.Coordinate(index):
            return f"real({index.substitute(where)})"
        case ir.Load(array, index):
            moved = tuple(a.substitute(where) for a in index)
            return f"ld({writer.argument(array)}, {writer.place(array, moved)})"
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
    if name == "neg":
        return f"(-{texts[0]})"
    if name == "not":
        return f"(not {texts[0]})"
    if name == "where":
        return f"({texts[1]} if {texts[0]} else {texts[2]})"
    if name in _INFIX:
        return f"({texts[0]} {_INFIX[name]} {texts[1]})"
    return f"{_CALL[name]}({', '.join(texts)})"


def _sum_text(writer: Writer, value: ir.Sum, where: Mapping[str, Affine], depth: int) -> str:
    if not value.terms:
        return writer.constant(0.0)
    text = _first(writer, value.terms[0], where, depth)
    for n, term in enumerate(value.terms):
        if n:
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
        here = str(index.substitute(where) - low)
        extent = _factor(writer.spell(str(count)))
        number = f"{_factor(number)} * {extent} + {here}" if number else here
    row = writer.fresh("r")
    writer.line(depth, f"{row} = {number}")
    return row


def _factor(text: str) -> str:
    """Return source as a factor of a product."""
    return f"({text})" if " " in text or text.startswith("-") else text


def _first(writer: Writer, term: ir.Term, where: Mapping[str, Affine], depth: int) -> str:
    if term.operand is None:
        return value_text(writer, term.weight, where, depth)
    operand = value_text(writer, term.operand, where, depth)
    if term.weight == ir.ONE:
        return operand
    if term.weight == ir.Const(-1.0):
        return f"-{operand}"
    return f"{value_text(writer, term.weight, where, depth)} * {operand}"


def _next(
    writer: Writer,
    term: ir.Term,
    total: str,
    where: Mapping[str, Affine],
    depth: int,
) -> str:
    if term.operand is None:
        return f"{total} + {value_text(writer, term.weight, where, depth)}"
    operand = value_text(writer, term.operand, where, depth)
    if term.weight == ir.ONE:
        return f"{total} + {operand}"
    if term.weight == ir.Const(-1.0):
        return f"{total} - {operand}"
    return f"fma({value_text(writer, term.weight, where, depth)}, {operand}, {total})"
