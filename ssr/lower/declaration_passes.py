"""Passes that run when a program is defined, before its arrays and options are known.

They determine the steps that `explain` shows, and the points that external steps compute.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import ir
from ..distributed.local_entries import local_entries
from ..errors import Span
from ..options import Options
from .pass_manager import Pass, Setting, State, run
from .steps.dead_step_elimination import dead_step_elimination
from .steps.join_sums import join_sums
from .steps.place_calls import place_calls

DEAD_STEP_ELIMINATION = Pass(dead_step_elimination)

DECLARATION = (
    DEAD_STEP_ELIMINATION,
    Pass(local_entries, given=lambda s, _: {"distributed": s.options.distributed}),
    Pass(join_sums),
    Pass(
        place_calls,
        given=lambda s, _: {"places": s.places, "distributed": s.options.distributed},
    ),
)


def declared(
    recorded: ir.Program, options: Options, places: Sequence[Span | None] = ()
) -> ir.Program:
    """Return a program as it is declared, whose recorded steps have their numbers as origins."""
    setting = Setting(options, places=tuple(places))
    return run(DECLARATION, State(recorded), setting).program
