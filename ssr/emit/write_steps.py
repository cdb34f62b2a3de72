"""Write the function that goes through the steps of a schedule, and runs parts of the kernel.

A kernel for boxes with memory of their own is entered by it. It takes all arrays once, tables for
all steps, and rows of numbers; for each row it goes through the steps.
"""

from __future__ import annotations

from ..runtime.constants import REFUSED, RUN, At
from ..runtime.metadata import KernelMeta
from ..runtime.sums import STATE
from .arguments import driven_arguments, refusals
from .unit import Unit
from .write_whole import NAME, Whole, signature_lines, with_whole
from .writer import spelled

POINTS = 1024
"""What a step counts for a kernel that polls, beside the points that it passes."""


def parameters(unit: Unit, meta: KernelMeta) -> list[str]:
    """Return the names that the kernel itself takes: one run, and the place of a step."""
    names = [a.name for a in driven_arguments(unit, meta)]
    place = names.index("scalars")
    scalars = [spelled(name) for name in meta.scalars]
    return [*names[:place], *scalars, *names[place + 1 : -1], "step", "watch"]


def driver_lines(unit: Unit, meta: KernelMeta) -> list[str]:
    """Return the lines of the function and of its signature."""
    arguments = driven_arguments(unit, meta)
    alone = Whole(tuple(arguments), (), {})  # checked source takes components
    whole = alone if unit.checked else with_whole(unit.program, arguments)
    apart = [f"    if not ({' and '.join(whole.apart)}):", f"        return {REFUSED}"]
    return [
        "",
        "",
        f"def {NAME}({', '.join(a.name for a in whole.given)}):",
        *(apart if whole.apart else []),
        *(f"    {name} = {text}" for name, text in whole.parts.items()),
        *refusals(meta),
        *_loops(unit, meta),
        "",
        "",
        *signature_lines("SIGNATURE", whole.given),
    ]


def _loops(unit: Unit, meta: KernelMeta) -> list[str]:
    """Return the lines that go through rows of numbers, and through the steps."""
    row, step, rows = (f"at[{place:d}]" for place in (At.ROW, At.STEP, At.ROWS))
    names, count = map(spelled, meta.scalars), len(meta.scalars)
    given = {name: f"ld(scalars, {row} * {count} + {k})" for k, name in enumerate(names)}
    given |= {"results": f"component(results, {row})", "step": f"{step} * steps.shape[1]"}
    taken = [given.get(name, name) for name in parameters(unit, meta)]
    cleared = [
        f"        if {step} == 0:",
        f"            for clear in range({meta.states * STATE}):",
        f"                state[clear // {STATE}, clear % {STATE}] = 0",
    ]
    return [
        "    watch = stopwatch()",
        f"    while {row} < {rows}:",
        *(cleared if meta.states else []),
        f"        while {step} < steps.shape[0]:",
        f"            poll(watch, {POINTS})",
        f"            if steps[{step}, 0] == {RUN}:",
        f"                kernel({', '.join(taken)})",
        "            else:",
        "                reason = follow(steps, at)",
        "                if reason:",
        "                    return reason",
        f"            {step} = {step} + 1",
        f"        {step} = 0",
        f"        {row} = {row} + 1",
        "    return 0",
    ]
