"""Text output of programs, nests and loops, for `explain` and ``SSR_DUMP``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .. import ir
from ..ir import LineLoops, LoopNest
from ..kernel.print_python import expression_text
from ..points.affine import Affine
from ..points.condition import Condition
from ..points.loop_tree import For, If, Loop, Reduce, Run
from ..points.sets import Domain
from ..symbols.printing import show


def point(index: Sequence[Affine]) -> str:
    """Return an index tuple as ``j, i + 1``."""
    return ", ".join(map(str, index))


def table(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Return rows of cells as lines with aligned columns."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))] if rows else []
    return [
        (indent + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def where(domain: Domain, rows: Domain | None = None) -> str:
    """Return ``where ...`` for a domain, within ``rows``; the empty string if it contains all."""
    text = domain.simplified(rows).notation()
    return "" if text == "everywhere" else f"where {text}"


def equation(left: str, value: ir.Value, rows: Domain) -> list[str]:
    """Return ``left = value`` as lines, with the parts that have names spelled out below."""
    (short,), named = _outlined([value])
    text = _bare(show(short))
    if named and text == named[-1][0]:
        return _part(left, named.pop()[1], rows) + _below(named, rows)
    return [f"{left} = {text}", *_below(named, rows)]


def _outlined(values: Sequence[ir.Value]) -> tuple[list[ir.Value], list[tuple[str, ir.Value]]]:
    """Return values with names instead of parts, and the parts, inner parts first.

    Sums have names, and operations that occur more than once.
    """
    inside = {id(each): each for value in values for each in ir.walk(value)}
    uses = Counter(id(part) for each in inside.values() for part in ir.children(each))
    named: list[tuple[str, ir.Value]] = []
    done: dict[int, ir.Value] = {}

    def visit(here: ir.Value) -> ir.Value:
        if isinstance(here, ir.Rounded):
            return visit(here.value)
        if id(here) not in done:
            made = ir.with_children(here, visit)
            is_repeated = isinstance(here, ir.Op) and uses[id(here)] > 1
            if is_repeated or (isinstance(here, ir.Sum) and here.terms):
                named.append((f"s{len(named) + 1}", made))
                made = ir.Scalar(named[-1][0])
            done[id(here)] = made
        return done[id(here)]

    return [visit(value) for value in values], named


def _condition(term: ir.Term, rows: Domain) -> str:
    if not term.tests:
        return where(term.domain, rows)
    tests = Condition((tuple((test, ">= 0") for test in term.tests),))
    text = where(Domain.of(rows.axes, tests), rows)
    return text if term.otherwise is None else f"{text}, else {show(term.otherwise)}"


def _below(named: Sequence[tuple[str, ir.Value]], rows: Domain) -> list[str]:
    return [f"    {line}" for name, part in reversed(named) for line in _part(name, part, rows)]


def _part(left: str, part: ir.Value, rows: Domain) -> list[str]:
    if isinstance(part, ir.Sum):
        return _sum(left, part, rows)
    return [f"{left} = {_bare(show(part))}"]


def _sum(left: str, total: ir.Sum, rows: Domain) -> list[str]:
    cells = []
    for n, term in enumerate(total.terms):
        sign, text = _term(term)
        start = f"{left} =" if n == 0 else " " * len(left) + " " + sign
        text = f"-{text}" if n == 0 and sign == "-" else text
        cells.append((start, text, _condition(term, rows)))
    return [
        f"{a} {b}"
        for a, b in zip((c[0] for c in cells), table([c[1:] for c in cells], ""), strict=True)
    ]


def _term(term: ir.Term) -> tuple[str, str]:
    """Return the sign and the text of a term."""
    sign, weight = "+", term.weight
    if isinstance(weight, ir.Const) and weight.value < 0:
        sign, weight = "-", ir.Const(-weight.value)
    if term.operand is None:
        return sign, _bare(show(weight))
    if weight == ir.ONE:
        return sign, show(term.operand)
    return sign, f"{show(weight)} * {show(term.operand)}"


def _bare(text: str) -> str:
    """Return a text without its outermost parentheses."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 else text
    return text


def program_text(program: ir.Program, notes: Sequence[str] = ()) -> str:
    """Return a program: its arrays, and its assignments with a note on each."""
    rows = [("fields", _fields(program.fields)), ("temporaries", _fields(program.temporaries))]
    rows += [("scalars", ", ".join(program.scalars)), ("sizes", ", ".join(program.sizes))]
    lines = [f"program {program.name}", *table([r for r in rows if r[1]])]
    for n, step in enumerate(program.steps):
        lines += ["", *(f"  {line}" for line in _step(step))]
        lines += [f"  {notes[n]}"] if notes else []
    if program.results:
        results, named = _outlined(program.results)
        lines += ["", f"  return {', '.join(map(show, results))}"]
        lines += [f"      {name} = {_bare(show(part))}" for name, part in reversed(named)]
    return "\n".join(lines)


def _step(step: ir.Step) -> list[str]:
    match step:
        case ir.Call():
            return [call_text(step)]
        case ir.Solve():
            return _solve(step)
        case ir.Reduction(name, kind, _, _, domain, value):
            lines = [f"{kind} for {domain.notation()}:"]
            return [*lines, *(f"  {line}" for line in equation(name, value, domain))]
    first, *_ = together = step.assignments if isinstance(step, ir.Group) else (step,)
    order = "" if first.order == "any" else f", {first.order}"
    lines = [f"for {first.domain.notation()}{order}:"]
    for each in together:
        left = f"{each.target}[{', '.join(each.axes)}]"
        lines += [f"  {line}" for line in equation(left, each.value, each.domain)]
    return lines


def nests_text(forms: Sequence[ir.Form]) -> str:
    """Return the forms of a program's steps, each below its number and the arrays it computes."""
    return "\n".join(
        f"-- nest {number}: {_title(form)} --\n{_form(form)}".rstrip()
        for number, form in enumerate(forms)
    )


def _title(form: ir.Form) -> str:
    match form:
        case ir.Call():
            return call_text(form)
        case ir.LoopNest() | ir.LineLoops() | ir.SplitNest():
            return form.nest.target
        case ir.Nest() | ir.LineNest():
            return form.target
    return ", ".join(ir.made(form))


def _form(form: ir.Form) -> str:
    match form:
        case ir.Call():
            return ""
        case ir.Nest():
            return nest_text(form)
        case ir.LineNest():
            return line_nest_text(form)
        case ir.SplitNest():
            return _split_nest(form)
        case ir.LoopNest():
            return loops_text(form)
        case ir.LineLoops():
            return line_loops_text(form)
    return "\n".join(_step(form))


def _split_nest(made: ir.SplitNest) -> str:
    """Return the pieces that run on each line, below the names of their statements."""
    lines, context = [], made.nest.context
    for stage, there, inside in made.stages:
        known = ""
        if there is not None:
            shown = where(there, context.project(made.nest.axes[:-1]))
            known = f", {'' if inside else 'not '}{shown}"
        names = ", ".join(s.name for s in stage.statements)
        lines.append(f"{names}{known}:")
        for piece in stage.pieces:
            lines.append(f"  {piece.name}, for {piece.domain.simplified(context).notation()}:")
            lines += [f"    {line}" for line in _parts(piece)]
    return "\n".join(lines)


def _solve(solve: ir.Solve) -> list[str]:
    """Return systems along lines: entries of a row, and right sides."""
    first = solve.assignments[0]
    lines = [f"for {first.domain.notation()}, lines along {first.axes[solve.axis]}:"]
    for entry in solve.entries:
        column = [*map(Affine.name, first.axes)]
        here = column[solve.axis] + entry.offset
        column[solve.axis] = here if entry.point is None else entry.point
        block = f"[{entry.row}, {entry.column}]" if solve.size > 1 else ""
        left = f"A{block} at ({point(column)})"
        lines += [f"  {line}" for line in equation(left, entry.value, first.domain)]
    for each in solve.assignments:
        left = f"A {each.target}[{', '.join(each.axes)}]"
        lines += [f"  {line}" for line in equation(left, each.value, each.domain)]
    return lines


def call_text(call: ir.Call) -> str:
    """Return the call of a function of another package."""
    given = ", ".join((*call.fields, *map(show, call.scalars)))
    return f"{call.name}({given})"


def _fields(fields: Iterable[ir.Field]) -> str:
    return ", ".join(f"{f.name}[{f.slices}]" for f in fields)


def nest_text(nest: ir.Nest) -> str:
    """Return a nest: its order and buffers, and its statements in the order they run on a line."""
    before = "other rows, not the same for all"
    if nest.earlier is not None:
        before = ", ".join(f"({', '.join(map(str, o))})" for o in nest.earlier) or "no others"
    lines = [f"{nest.target}[{', '.join(nest.axes)}], order {nest.order}, after rows: {before}"]
    for b in nest.buffers:
        count = "one row" if b.rows == 1 else f"{b.rows} rows in rotation"
        if b.lines is not None:
            count = f"{b.rows} planes in rotation, {b.lines} more lines at both ends"
        lines.append(f"  buffer {b.name}: {count}, {b.pad} more at both ends")
    for s in nest.statements:
        lines += [f"  {line}" for line in _statement(s, nest)]
    for fold in nest.folds:
        lines.append(f"  {fold.name} = {fold.kind} with {fold.buffer}, line by line")
    return "\n".join(lines)


def line_nest_text(nest: ir.LineNest) -> str:
    """Return a nest of systems along lines: the copied values, and the sweeps."""
    along = nest.axes[nest.along]
    lines = [f"{nest.target}[{', '.join(nest.axes)}], lines along {along}"]
    lines += [f"  take {t.variable}[{along}] from {show(t.load)}" for t in nest.taken]
    lines += [f"  {name} = {show(value)}" for name, value in nest.numbers]
    sweeps = ("forward", nest.forward), ("backward", nest.backward), ("closing", nest.closing)
    for title, pieces in sweeps:
        for piece in pieces:
            lines.append(f"  {title}, for {piece.domain.simplified(nest.context).notation()}:")
            lines += [f"    {line}" for line in _parts(piece)]
    row = ", ".join(nest.axes)
    lines += [f"  give {name}[{along}] to {array}[{row}]" for name, array in nest.given]
    return "\n".join(lines)


def _parts(piece: ir.Piece) -> list[str]:
    """Return the equations that a piece computes at a row."""
    return [
        line
        for part in piece.parts
        for line in equation(
            f"{part.statement.array}[{point(part.statement.index)}]", part.value, piece.domain
        )
    ]


def line_loops_text(made: LineLoops) -> str:
    """Return the loops over lines, followed by the loops along lines of each kind."""
    lines = [*_loops(made.tree, "")]
    for name, kind in made.kinds.items():
        lines.append(f"  {name}, forward:")
        lines += _loops(kind.forward, "    ")
        lines.append(f"  {name}, backward:")
        lines += _loops(kind.backward, "    ")
        lines += [f"  {name}, closing:", *_loops(kind.closing, "    ")] if kind.closing else []
    return "\n".join(lines)


def _statement(statement: ir.Statement, nest: ir.Nest) -> list[str]:
    rows = statement.domain & nest.context
    traits = ["parallel" if statement.parallel else "in order"]
    if any((statement.ahead, statement.planes, *statement.lead)):
        early = f"{statement.ahead} lines ahead, from {statement.lead[1]} before the box"
        if statement.planes or statement.lead[0]:
            early = f"{statement.planes} planes and {early}, {statement.lead[0]} planes"
        traits.append(early)
    left = f"{statement.array}[{point(statement.index)}]"
    shown = statement.domain.simplified(nest.context).notation()
    return [
        f"{statement.name}: {', '.join(traits)}",
        f"  for {shown}:",
        *(f"    {line}" for line in equation(left, statement.value, rows)),
    ]


def loops_text(nest: LoopNest) -> str:
    """Return the loops of a nest, followed by the pieces that they run."""
    lines = [*_loops(nest.tree, "")]
    for name, piece in nest.pieces.items():
        for part in piece.parts:
            left = f"{name}: {part.statement.array}[{point(part.statement.index)}]"
            lines += [f"  {line}" for line in equation(left, part.value, piece.domain)]
    return "\n".join(lines)


def _loops(tree: Iterable[Loop], indent: str) -> Iterable[str]:
    deeper = indent + "    "
    for node in tree:
        match node:
            case For(variable, start, stop, step, body):
                ends = ", ".join(map(expression_text, (start, stop)))
                more = f", {step}" if step != 1 else ""
                yield f"{indent}for {variable} in range({ends}{more}):"
                yield from _loops(body, deeper)
            case If(condition, then, orelse):
                yield f"{indent}if {expression_text(condition)}:"
                yield from _loops(then, deeper)
                if orelse:
                    yield f"{indent}else:"
                    yield from _loops(orelse, deeper)
            case Reduce(name, kind, buffer):
                yield f"{indent}{name} = {kind}({name}, {buffer})"
            case Run(piece, indices):
                yield f"{indent}{piece}({point(indices)})"
