"""Entry point of schedule verification: dependence check and symbolic execution.

With ``SSR_VERIFY=1`` each schedule is verified before its first run: after a call that finds no
halo up to date, and again after itself. `dependences` proves for any size that each read finds the
same write as on one array. `equivalence` executes tables, messages and the source of kernels
symbolically. If a call reads more than about `MOST` values, the second check is omitted with a
warning.
"""

from __future__ import annotations

import warnings
from typing import Any

from ssr.errors import user_span

from ..schedules.plan import Plan
from .dependences import check_dependences
from .equivalence import check_equivalence

MOST = 150_000
"""The approximate number of reads of a call up to which it is executed symbolically."""

_WARNED: dict[Any, Any] = {}
"""The registry of the warnings that were issued, in the format of the module `warnings`."""


def prove(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Fail unless a schedule computes the same values as one array.

    Parameters
    ----------
    valid
        The fields whose halos a call finds up to date, since a call before it.

    Warns
    -----
    RuntimeWarning
        If a call reads too many values, so that it is not run on terms: once for each program and
        place.
    """
    if valid in plan.proved:
        return
    check_dependences(plan, valid)
    if (count := _reads(plan)) > MOST:
        _warn(plan, count)
    else:
        check_equivalence(plan, valid)
    plan.proved.update([frozenset(), valid, plan.kept])


def _warn(plan: Plan, count: int) -> None:
    """Warn that a call with ``count`` reads is not executed symbolically."""
    span = user_span()
    warnings.warn_explicit(
        f"The order of reads and writes of {plan.declaration.program.name} is proved, and its "
        f"tables are not: a call reads about {count:,} values, and SSR_VERIFY=1 proves the tables "
        f"of up to {MOST:,} reads. Run the program on a smaller grid with as many boxes.",
        RuntimeWarning,
        span.file if span else __file__,
        span.line if span else 1,
        registry=_WARNED,
    )


def _reads(plan: Plan) -> int:
    """Return the approximate number of values that a call reads."""
    footprint = plan.footprint
    count = 0
    for unit, rows in footprint.rows.items():
        each = len(footprint.units[unit].reads) + len(footprint.units[unit].writes)
        count += each * int((rows[..., 1] - rows[..., 0]).prod(axis=1).sum())
    return count
