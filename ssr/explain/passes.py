"""Text output of the table of passes, and of a program after each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .. import ir
from ..compiler.passes import PASSES, VECTORIZE
from ..compiler.pipeline import all_states
from ..kernel.print_python import printed
from ..lower.declaration_passes import DECLARATION
from ..lower.pass_manager import Pass, Setting, State, effect_of, name_of, states
from ..options import Options
from .listing import nests_text, program_text, table

Part = Callable[..., object]


def is_pass(name: object) -> bool:
    """Whether a name is that of a pass or of a part of a pass."""
    names = (known for each in PASSES for known in (each.name, *map(name_of, each.parts)))
    return isinstance(name, str) and name in names


def passes_text(recorded: ir.Program, program: ir.Program, options: Options, dtype: str) -> str:
    """Return the table of passes, in order, with a star at those that change a program."""
    changed = {
        place: state != before
        for place, (before, _, state) in enumerate(_run(recorded, program, options, dtype))
    }
    ran = iter(changed.values())
    rows: list[tuple[str, str, str, str]] = []
    for number, each in enumerate(PASSES, 1):
        on = each.when(options)
        star = "*" if on and (each is VECTORIZE or next(ran)) else ""
        rows.append((f"{star:1} {number:2}", each.name, each.representation, each.effect))
        rows += [("", f"  {name_of(part)}", "", effect_of(part)) for part in each.parts]
    return "\n".join(["Passes in order, with * those that change this program.", *table(rows, "")])


def pass_text(
    name: str, recorded: ir.Program, program: ir.Program, options: Options, dtype: str
) -> str:
    """Return a program after a pass, or after the pass that contains a rewrite."""
    found = [each for each in PASSES if name in (each.name, *map(name_of, each.parts))]
    lines = [f"{each.name}: {each.effect}" for each in found[:1]]
    parts = {name_of(part): effect_of(part) for each in found for part in each.parts}
    if name in parts:
        lines.insert(0, f"{name}, a part of {found[0].name}: {parts[name]}")
    if VECTORIZE in found and VECTORIZE.when(options):
        from ..compiler.kernel import vectors

        return "\n".join([*lines, vectors(program, options, dtype)])
    for before, each, state in _run(recorded, program, options, dtype):
        if each in found:
            lines.append("It changes nothing here." if state == before else state_text(state))
            if each.notes is not None:
                given = (before.program, *((before.nests,) if before.nests else ()))
                lines += [f"  {note}" for note in each.notes(*given)]
    if len(lines) == 1:
        lines.append("It is off with these options.")
    return "\n".join(lines)


def all_passes_text(program: ir.Program, options: Options, dtype: str) -> str:
    """Return a program after each pass that runs when its kernel is built."""
    lines, before = [], State(program)
    for each, state in all_states(program, options, dtype):
        text = "no change" if state == before else state_text(state)
        lines += [f"-- after {each.name} --", text]
        before = state
    return "\n".join(lines)


def state_text(state: State) -> str:
    """Return a program between two passes as text."""
    if state.kernel is not None:
        return printed(state.kernel)
    return nests_text(state.nests) if state.nests else program_text(state.program)


def _run(
    recorded: ir.Program, program: ir.Program, options: Options, dtype: str
) -> Iterator[tuple[State, Pass, State]]:
    """Yield the passes that are switched on, each with the states before and after it."""
    before = State(recorded)
    for each, state in states(DECLARATION, before, Setting(options, dtype)):
        yield before, each, state
        before = state
    before = State(program)
    for each, state in all_states(program, options, dtype):
        yield before, each, state
        before = state
