"""The compiler: from a program's assignments to the module of its kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .. import ir
from ..distributed.transfers import with_moves
from ..emit.module import kernel_of
from ..emit.unit import Form, Unit
from ..ir import LineLoops, LoopNest
from ..kernel.ir import Module
from ..kernel.print_python import printed
from ..lower.accesses import Actions, actions
from ..lower.fusing.contract_temporaries import own_rows
from ..lower.fusing.fill_in_place import widened
from ..lower.fusing.fusion import fuse
from ..lower.fusing.share_temporaries import reuse
from ..lower.lines.line_loops import line_nest, line_schedule
from ..lower.loop_schedule import schedule
from ..lower.nests import in_place, nest
from ..lower.passes.hoist_independent import ahead
from ..lower.passes.merge_halo_terms import join
from ..lower.passes.overlapping_recurrence import line_overlap
from ..lower.passes.partial_sums import partial_sums
from ..lower.passes.reciprocal import reciprocal
from ..lower.passes.recurrence import NEGLIGIBLE, order_terms, recurrence
from ..lower.passes.rematerialize import again
from ..lower.passes.shorten_rotation import carry
from ..lower.steps.ghost_inlining import Folded, fold
from ..lower.steps.pivots import with_pivots
from ..lower.steps.place_calls import copies, partly_needed
from ..lower.steps.rounding import rounded
from ..lower.steps.simplify import simplified
from ..lower.steps.stored_values import stored_values
from ..lower.verify.lines import verify_lines
from ..lower.verify.loops import verify_loops
from ..lower.verify.nests import verify, verify_call, wanted
from ..options import WIDE, Options
from ..runtime.metadata import KernelMeta

Pass: TypeAlias = Callable[[ir.Nest], ir.Nest]
Nests: TypeAlias = tuple[ir.Made, ...]
"""A sequence of nests, and of calls of functions of other packages."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """All stages of a lowered program."""

    program: ir.Program
    notes: tuple[str, ...]
    nests: Nests
    loops: tuple[ir.Ran, ...]
    kernel: Module
    source: str
    meta: KernelMeta


def lower(
    program: ir.Program, options: Options, dtype: str, title: str, *, checked: bool = False
) -> Lowered:
    """Return the kernel of a program, with the stages on the way."""
    program, notes = direct(rounded(program, dtype), options)
    ignored = partly_needed(program) | copies(program) if options.debug else frozenset()
    program, nests = fused_nests(program, options, dtype)
    scheduled = (n if isinstance(n, ir.Call) else _scheduled(n, options) for n in nests)
    loops = tuple(s for s in scheduled if isinstance(s, ir.Call) or s.pieces)  # none: x[:] = x
    form: Form = "debug" if options.debug else "checked" if checked else "fast"
    if options.distributed:
        loops = with_moves(program, loops)
    unit = Unit(program, loops, dtype, title, form, options.distributed, ignored)
    kernel, meta = kernel_of(unit)
    return Lowered(program, notes, nests, loops, kernel, printed(kernel), meta)


def _scheduled(made: ir.Nest | ir.LineNest, options: Options) -> LoopNest | LineLoops:
    """Return the loops of a nest; ``SSR_VERIFY=1`` verifies them."""
    if isinstance(made, ir.LineNest):
        return line_schedule(made)
    loops = schedule(made, options)
    if wanted():
        verify_loops(loops)
    return loops


def simple(program: ir.Program, options: Options) -> ir.Program:
    """Return a program that computes costly values once, and only what is needed."""
    return simplified(stored_values(program), exact=options.exact)


def direct(program: ir.Program, options: Options) -> tuple[ir.Program, tuple[str, ...]]:
    """Return the shorter program with temporaries where it needs them, and notes on its steps.

    In the debug build it has pivots, too.
    """
    program, notes = in_place(simple(program, options))
    return with_pivots(program) if options.debug else program, notes


def fused_nests(program: ir.Program, options: Options, dtype: str) -> tuple[ir.Program, Nests]:
    """Return a program's nests after all passes, and the program without what they buffer."""
    left = apart(program, options, dtype)
    program, alone = left.program, left.nests
    program, alone = own_rows(program, alone)
    alone = tuple(_ahead(n, options) for n in alone)
    if options.fuse:
        program, alone = fuse(program, alone, least=_least(options))
        alone = tuple(_shorter(n) for n in alone)
    program, alone = reuse(program, alone)
    _verified(program, alone, "fusion")
    return program, alone


def accessed(program: ir.Program, options: Options, dtype: str) -> tuple[Actions | ir.Call, ...]:
    """Return what a kernel runs, in order: what each nest reads and writes, and calls."""
    program, _ = direct(rounded(program, dtype), options)
    program, nests = fused_nests(program, options, dtype)
    fields = known(program)
    return tuple(
        made if isinstance(made, ir.Call) else actions(made, fields)
        for made in nests
        if not _is_idle(made)
    )


def _is_idle(made: ir.Made) -> bool:
    """Whether a nest has no loops: it copies elements to themselves."""
    return isinstance(made, ir.Nest) and all(
        s.value == ir.Load(s.array, s.index) for s in made.statements
    )


def _ahead(made: ir.Made, options: Options) -> ir.Made:
    """Return a nest whose lines compute first what waits for no other row, if that is on."""
    return ahead(made) if options.recurrence and isinstance(made, ir.Nest) else made


def _shorter(made: ir.Made) -> ir.Made:
    """Return a nest that stores less of what its statements read of each other."""
    return carry(again(made)) if isinstance(made, ir.Nest) else made


def _least(options: Options) -> int | None:
    """Return how many rows boxes with memory of their own have at least; None if they have none."""
    return (WIDE if options.wide_boxes else 1) if options.distributed else None


def apart(program: ir.Program, options: Options, dtype: str) -> Folded:
    """Return the nest of each step that is left, and which calls were folded into others."""
    alone: Nests = tuple(
        step
        if isinstance(step, ir.Call)
        else line_nest(step, program)
        if isinstance(step, ir.Solve)
        else optimise(nest(step, program), program, options, dtype)
        for step in program.steps
    )
    if options.distributed:
        alone = tuple(line_overlap(n) if isinstance(n, ir.Nest) else n for n in alone)
        return Folded(*widened(program, alone))
    if not options.fold:
        return Folded(program, alone)
    left = fold(program, alone)
    _verified(left.program, left.nests, "fold")
    return left


def _verified(program: ir.Program, nests: Nests, after: str) -> None:
    """Verify the nests of a program, if ``SSR_VERIFY=1`` asks for it."""
    if wanted():
        for made in nests:
            if isinstance(made, ir.Call):
                verify_call(made, known(program), [name for name, _ in program.wide])
            elif isinstance(made, ir.LineNest):
                verify_lines(made)
            else:
                verify(made, known(program), after)


def optimise(made: ir.Nest, program: ir.Program, options: Options, dtype: str) -> ir.Nest:
    """Return the nest of one step after all passes that are switched on."""
    for _, changed in stages(made, program, options, dtype):
        made = changed
    return made


def stages(
    made: ir.Nest, program: ir.Program, options: Options, dtype: str
) -> Iterator[tuple[str, ir.Nest]]:
    """Yield the nest of one step and what each pass makes of it.

    ``SSR_VERIFY=1`` verifies all of them.
    """
    fields = known(program)
    start: tuple[str, Pass] = ("nest", lambda nest: nest)
    for name, change in (start, *passes(fields, options, dtype)):
        made = change(made)
        if wanted():
            verify(made, fields, name)
        yield name, made


def known(program: ir.Program) -> dict[str, ir.Field]:
    """Return the fields and temporaries of a program by name."""
    return {f.name: f for f in (*program.fields, *program.temporaries)}


def passes(
    fields: Mapping[str, ir.Field], options: Options, dtype: str
) -> tuple[tuple[str, Pass], ...]:
    """Return the passes over single steps that are switched on, in order."""
    free = not options.exact
    negligible = NEGLIGIBLE[dtype] if free else 0.0
    every: tuple[tuple[str, bool, Pass], ...] = (
        ("reciprocal", free, lambda nest: reciprocal(nest, dtype)),
        ("join", free, join),
        ("order_terms", True, order_terms),
        (
            "partial_sums",
            free and options.partial_sums,
            lambda nest: order_terms(partial_sums(nest, fields)),
        ),
        (
            "recurrence",
            options.recurrence,
            lambda nest: recurrence(nest, fields, factor=free, negligible=negligible),
        ),
    )
    return tuple((name, change) for name, on, change in every if on)
