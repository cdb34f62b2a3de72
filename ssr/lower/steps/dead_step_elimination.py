"""Remove steps whose values are never read before they are overwritten or discarded. Bit-exact.

before:  t[i] = f(x[i]);  y[i] = g(x[i]);  y[i] = h(x[i])
after:   y[i] = h(x[i])
"""

from __future__ import annotations

from dataclasses import replace

from ... import ir
from ...ir.liveness import live


def dead_step_elimination(program: ir.Program) -> ir.Program:
    """Return a program without steps and temporaries that its fields and results do not need."""
    steps = live(program.steps, {f.name for f in program.fields}, program.results)
    written = {name for step in steps for name in ir.made(step)}
    kept = tuple(f for f in program.temporaries if f.name in written)
    return replace(program, steps=steps, temporaries=kept)
