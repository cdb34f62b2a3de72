"""Dispatch to the verifier of each program representation, after each pass."""

from __future__ import annotations

from collections.abc import Sequence

from ... import ir
from .lines import verify_lines
from .loops import verify_line_loops, verify_loops
from .nests import verify, verify_call
from .pieces import verify_pieces
from .programs import verify_program


def verify_forms(program: ir.Program, forms: Sequence[ir.Form], after: str) -> None:
    """Check a program, or the forms of its steps as nests, pieces or loops."""
    if not forms:
        verify_program(program, after)
    fields = {f.name: f for f in (*program.fields, *program.temporaries)}
    for form in forms:
        match form:
            case ir.Call() if form.external.fields:
                verify_call(form, fields, [name for name, _ in program.wide])
            case ir.Nest():
                verify(form, fields, after)
            case ir.LineNest():
                verify_lines(form)
            case ir.SplitNest():
                verify_pieces(form, after)
            case ir.LoopNest():
                verify_loops(form)
            case ir.LineLoops():
                verify_line_loops(form)
