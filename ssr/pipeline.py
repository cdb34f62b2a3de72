"""The compiler: from a program's assignments to the source of its kernel."""

from __future__ import annotations

from dataclasses import dataclass

from . import ir
from .emit import kernel_source
from .loops import LoopNest, schedule
from .nests import in_place, nest
from .options import Options
from .passes.partial_sums import partial_sums
from .passes.prefetch import prefetch
from .passes.reciprocal import reciprocal
from .passes.recurrence import order_terms, recurrence


@dataclass(frozen=True, slots=True)
class Lowered:
    """All stages of a lowered program."""

    program: ir.Program
    notes: tuple[str, ...]
    nests: tuple[ir.Nest, ...]
    loops: tuple[LoopNest, ...]
    source: str
    meta: dict[str, object]


def lower(program: ir.Program, options: Options, dtype: str, title: str) -> Lowered:
    """Return the kernel source of a program, with the stages on the way."""
    program, notes = in_place(program)
    nests = tuple(
        optimise(nest(a, program.field(a.target)), program, options, dtype)
        for a in program.assignments
    )
    loops = tuple(schedule(n, options) for n in nests)
    source, meta = kernel_source(program, loops, dtype, title)
    return Lowered(program, notes, nests, loops, source, meta)


def optimise(made: ir.Nest, program: ir.Program, options: Options, dtype: str) -> ir.Nest:
    """Return a nest after all passes that are switched on."""
    fields = {f.name: f for f in (*program.fields, *program.temporaries)}
    free = not options.exact
    if free:
        made = reciprocal(made)
    made = order_terms(made)
    if free and options.partial_sums:
        made = order_terms(partial_sums(made, fields))
    if options.recurrence:
        made = recurrence(made, fields, factor=free, doubling=free)
    if options.prefetch:
        made = prefetch(made, 8 if dtype == "float64" else 16)
    return made
