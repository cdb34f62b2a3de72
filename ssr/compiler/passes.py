"""The pass pipeline: all passes between a traced program and its kernel, in order.

The first passes run when the program is defined (`ssr.lower.declaration_passes`), all others when
a kernel is built. Passes that reassociate or round differently come before all others but
`simplify`; all passes after `recurrence` are bit-exact.
"""

from __future__ import annotations

from collections.abc import Mapping

from .. import ir
from ..distributed.halo_reads import halo_reads
from ..distributed.transfers import transfers
from ..emit.emission import emission
from ..emit.hoist_choices import hoist_choices
from ..kernel.outline import Functions
from ..kernel.vectorize.vectorize import vectorize
from ..lower.declaration_passes import DEAD_STEP_ELIMINATION, DECLARATION
from ..lower.fusing.contract_temporaries import contract_temporaries
from ..lower.fusing.fill_in_place import fill_in_place
from ..lower.fusing.fusion import fusion
from ..lower.fusing.share_temporaries import share_temporaries
from ..lower.lines.line_nest import line_nest
from ..lower.lines.line_schedule import line_schedule
from ..lower.loop_deletion import loop_deletion
from ..lower.loop_schedule import loop_schedule
from ..lower.pass_manager import Pass, Setting, State
from ..lower.passes.hoist_independent import hoist_independent
from ..lower.passes.index_set_splitting import index_set_splitting
from ..lower.passes.loop_fusion import loop_fusion
from ..lower.passes.merge_halo_terms import merge_halo_terms
from ..lower.passes.order_terms import order_terms
from ..lower.passes.overlapping_recurrence import overlapping_recurrence
from ..lower.passes.partial_sums import partial_sums
from ..lower.passes.peel_line_ends import peel_line_ends
from ..lower.passes.periodic_stencils import periodic_stencils
from ..lower.passes.periodic_sums import periodic_sums
from ..lower.passes.predicate_rows import predicate_rows
from ..lower.passes.reciprocal import reciprocal
from ..lower.passes.recurrence import NEGLIGIBLE, recurrence
from ..lower.passes.rematerialize import rematerialize
from ..lower.passes.shorten_rotation import shorten_rotation
from ..lower.step_nest import step_nest
from ..lower.steps.ghost_inlining import ghost_inlining, ghost_inlining_notes
from ..lower.steps.in_place import in_place, in_place_notes
from ..lower.steps.merge_boundary_terms import merge_boundary_terms
from ..lower.steps.pivots import pivots
from ..lower.steps.rounding import rounding
from ..lower.steps.simplify import simplify
from ..lower.steps.solve_targets import solve_targets
from ..lower.steps.stored_values import stored_values
from ..lower.tiling import tiling
from ..options import WIDE, Options

STEP = (ir.Assignment, ir.Reduction, ir.Group)
NEST = (ir.Nest,)


def _free(options: Options) -> bool:
    return not options.exact


def _distributed(options: Options) -> bool:
    return options.distributed


def _least_rows(setting: Setting, _: State) -> Mapping[str, int | None]:
    """Return the least number of rows of boxes with separate memory; None without such boxes."""
    options = setting.options
    return {"least": (WIDE if options.wide_boxes else 1) if options.distributed else None}


def _chains(setting: Setting, state: State) -> Mapping[str, object]:
    free = not setting.options.exact
    negligible = NEGLIGIBLE[setting.dtype] if free else 0.0
    return {"fields": state.fields, "factor": free, "negligible": negligible}


SIMPLE_STEPS = (
    Pass(rounding, given=lambda s, _: {"dtype": s.dtype}),
    Pass(stored_values),
    Pass(solve_targets),
    Pass(simplify, given=lambda s, _: {"exact": s.options.exact}),
    Pass(halo_reads, when=_free),
    DEAD_STEP_ELIMINATION,
)
"""Passes that determine the values that the steps of a program compute."""

STEPS = (
    *SIMPLE_STEPS,
    Pass(in_place, notes=in_place_notes),
    Pass(pivots, when=lambda o: o.debug),
)
"""Passes over the steps of a program."""

NESTS = (
    Pass(step_nest, "nests", STEP, given=lambda _, state: {"program": state.program}),
    Pass(line_nest, "nests", (ir.Solve,), given=lambda _, state: {"program": state.program}),
    Pass(reciprocal, "nests", NEST, given=lambda s, _: {"dtype": s.dtype}, when=_free),
    Pass(merge_halo_terms, "nests", NEST, when=_free),
    Pass(order_terms, "nests", NEST),
    Pass(
        partial_sums,
        "nests",
        NEST,
        given=lambda _, state: {"fields": state.fields},
        when=lambda o: o.partial_sums and not o.exact,
    ),
    Pass(recurrence, "nests", NEST, given=_chains, when=lambda o: o.recurrence),
    Pass(overlapping_recurrence, "nests", NEST, when=_distributed),
    Pass(fill_in_place, "nests", when=_distributed),
    Pass(
        ghost_inlining,
        "nests",
        when=lambda o: o.fold and not o.distributed,
        parts=(merge_boundary_terms,),
        notes=ghost_inlining_notes,
    ),
    Pass(contract_temporaries, "nests"),
    Pass(hoist_independent, "nests", NEST, when=lambda o: o.recurrence),
    Pass(fusion, "nests", given=_least_rows, when=lambda o: o.fuse),
    Pass(rematerialize, "nests", NEST, when=lambda o: o.fuse),
    Pass(shorten_rotation, "nests", NEST, when=lambda o: o.fuse),
    Pass(share_temporaries, "nests"),
)
"""Passes over nests: first over nests of one step, then over nests of several steps."""

LOOPS = (
    Pass(
        index_set_splitting,
        "pieces",
        NEST,
        given=lambda s, _: {"interior": s.options.split},
        parts=(loop_fusion, peel_line_ends, predicate_rows, periodic_sums, periodic_stencils),
    ),
    Pass(loop_schedule, "loops", (ir.SplitNest,), parts=(tiling,)),
    Pass(line_schedule, "loops", (ir.LineNest,)),
    Pass(loop_deletion, "loops"),
    Pass(transfers, "loops", when=_distributed),
)
"""Passes that turn nests into loops."""

EMISSION = Pass(emission, "kernel", parts=(hoist_choices, Functions.outline))
VECTORIZE = Pass(vectorize, "kernel", when=lambda o: not o.debug)

PASSES = (*DECLARATION, *STEPS, *NESTS, *LOOPS, EMISSION, VECTORIZE)
"""All passes, in order."""
