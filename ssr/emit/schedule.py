"""The driver function of a distributed kernel: it executes the steps of a schedule.

The driver is the entry point of such a kernel. It takes all arrays, the tables of all steps, and
rows of scalars, and runs the steps once for each row.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..kernel.building import (
    Operand,
    binary,
    call,
    compare,
    do,
    element,
    expression,
    let,
    load,
    loop,
    plus,
    times,
)
from ..kernel.ir import (
    Element,
    Expression,
    Extent,
    Function,
    If,
    Integer,
    Name,
    Return,
    SetElement,
    Statement,
    While,
)
from ..kernel.kernel_names import mangled
from ..runtime.constants import RUN, At
from ..runtime.metadata import KernelMeta
from ..runtime.sums import STATE
from .arguments import Argument, driven_arguments, refusals
from .unit import Unit
from .vector_fields import NAME, refusal, with_whole

POINTS = 1024
"""The points that a step counts as in polling, in addition to its own points."""


def parameters(unit: Unit, meta: KernelMeta) -> list[str]:
    """Return the names that the kernel itself takes: one run, and the place of a step."""
    names = [a.name for a in driven_arguments(unit, meta)]
    place = names.index("scalars")
    scalars = [mangled(name) for name in meta.scalars]
    return [*names[:place], *scalars, *names[place + 1 : -1], "step", "watch"]


def cleared(meta: KernelMeta) -> Statement:
    """Return the loop that clears the states of reductions."""
    place = (binary(operator, "clear", STATE) for operator in ("//", "%"))
    zero = SetElement("state", tuple(place), Integer(0))
    return loop("clear", (0, meta.states * STATE), [zero])


def driver(unit: Unit, meta: KernelMeta) -> tuple[Function, list[Argument]]:
    """Return the function, and its arguments."""
    arguments = driven_arguments(unit, meta)
    whole = with_whole(unit.program, arguments)
    body = [
        *([refusal(whole)] if whole.apart else []),
        *(let(name, found) for name, found in whole.parts.items()),
        *refusals(meta),
        *_loops(unit, meta),
    ]
    return Function(NAME, tuple(a.name for a in whole.given), tuple(body)), list(whole.given)


def _loops(unit: Unit, meta: KernelMeta) -> Iterator[Statement]:
    """Yield the loops over rows of numbers, and over steps."""
    row, step, rows = (element("at", int(place)) for place in (At.ROW, At.STEP, At.ROWS))
    names, count = map(mangled, meta.scalars), len(meta.scalars)
    given: dict[str, Expression] = {
        name: load("scalars", plus(times(row, count), k)) for k, name in enumerate(names)
    }
    given["results"] = call("component", "results", row)
    given["step"] = times(step, Extent("steps", 1))
    taken = [given.get(name, Name(name)) for name in parameters(unit, meta)]
    reason = Name("reason")
    follow = let("reason", call("follow", "steps", "at")), If(reason, (Return(reason),))
    is_run = compare(element("steps", step, 0), "==", RUN)
    part = If(is_run, (do("kernel", *taken),), follow)
    each = do("poll", "watch", POINTS), part, _set(step, plus(step, 1))
    start = [If(compare(step, "==", 0), (cleared(meta),))] if meta.states else []
    through = While(compare(step, "<", Extent("steps", 0)), each)
    yield let("watch", call("stopwatch"))
    body = (*start, through, _set(step, 0), _set(row, plus(row, 1)))
    yield While(compare(row, "<", rows), body)
    yield Return(Integer(0))


def _set(place: Element, value: Operand) -> Statement:
    """Return the assignment to one of the integers that say where a kernel is."""
    return SetElement("at", place.index, expression(value))
