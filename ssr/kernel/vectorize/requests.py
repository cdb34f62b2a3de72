"""Software prefetching of the memory that a loop accesses in later rows.

A vector of rows prefetches a cache line of each field, on the line that sweeps reach first. The
distance in rows is such that the cache line has arrived in the second-level cache when rows access
it. Shortly before the access, a second instruction prefetches it into the first-level cache,
because a store that misses there delays all later stores. For fields near in cache, the first
prefetch is for the current rows. A loop that accesses each field at a single offset does not
prefetch: hardware prefetchers handle such streams, and prefetch instructions disturb them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .. import ir
from ..building import call, compare, do, let
from ..building import plus as total
from ..integers import at_row, minus, plus, times
from .context import Context
from .plans import Access, Plan, are_at_one_place

CACHE_LINE = 64
"""The bytes of a cache line."""

AHEAD = 80
"""Prefetch distance in cache lines, if a loop accesses one or two fields."""

UNDER_WAY = 192
"""Limit of the sum of the prefetch distances of all fields of a loop, in cache lines."""

SOON = 8
"""Prefetch distance in cache lines of the second prefetch, into the first-level cache."""

NEAR = 2**22
"""Size in bytes up to which fields need no prefetch ahead."""

FAR = 16 * 2**20
"""Total size in bytes of the fields of a function from which on vector loops with prefetch are
faster than LLVM's without prefetch."""


class Request(NamedTuple):
    """A prefetch of a line of an array, at some distance ahead of a row.

    The ``place`` is the offset of the first element for row zero; rows are ``step`` elements apart.
    Elements that are accessed ``soon`` are loaded into the first-level cache, to be ``written`` or
    read.
    """

    array: str
    place: ir.Expression
    step: int
    soon: bool
    written: bool

    def at(self, row: ir.Expression, lanes: int) -> Iterator[ir.Do]:
        """Yield the statements for the vector that begins at a row."""
        first = plus(self.place, times(row, self.step))
        for n in range(self.step):
            flags = ir.Truth(self.soon), ir.Truth(self.written)
            yield do("request", self.array, plus(first, n * lanes), *flags)


def are_far(context: Context, plan: Plan) -> ir.Expression:
    """Return whether the fields of a function are so large that a loop uses prefetches.

    All fields are assumed to have the size of a field with the most axes, because a function that
    is called on each line does not receive the sizes of all fields.
    """
    largest = max(context.fields, key=context.axes_of)
    total = times(call("elements", largest), len(context.fields))
    return compare(total, ">", FAR // plan.size)


def of_loop(
    context: Context, plan: Plan, start: ir.Expression, *, chain: bool
) -> tuple[list[ir.Statement], list[Request]]:
    """Return the requests of a loop from a row on, and the statements that find their places.

    A chain of loops waits for its own values, so one request for each line is enough.
    """
    foreseen = not chain and _is_foreseen(context, plan)
    if not (context.target.requests and plan.ahead) or foreseen:
        return [], []
    arrays = dict.fromkeys(line.array for line in plan.ahead)
    count = total(*(call("elements", array) for array in arrays))
    large = compare(count, ">", NEAR // plan.size)
    ahead = ir.Name(context.names.new("ahead"))
    rows_ahead = ir.Select(large, ir.Integer(_rows(context, plan)), ir.Integer(0))
    found: list[ir.Statement] = [let(ahead.name, rows_ahead)]
    requests: list[Request] = []
    for soon in (False,) if chain else (False, True):
        rows = ir.Integer(_rows(context, plan, soon=True)) if soon else ahead
        for line in plan.ahead:
            element = at_row(line.offset, plan.loop.variable, start)
            further = minus(times(rows, line.step), times(start, line.step))
            place = context.names.new(f"{line.array}_ahead")
            found.append(let(place, plus(element, further)))
            requests.append(_request(plan, line, ir.Name(place), soon))
    return found, requests


def of_far_loop(context: Context, plan: Plan) -> Iterator[ir.Do]:
    """Yield the prefetches of a loop over fields that are far, for its variable's current value.

    The distances are constants, so that the addresses need no additional registers.
    """
    for line in plan.ahead:
        for soon in (False, True):
            element = plus(line.offset, line.step * _rows(context, plan, soon=soon))
            request = _request(plan, line, element, soon)
            yield from request.at(ir.Integer(0), plan.lanes)


def _request(plan: Plan, line: Access, place: ir.Expression, soon: bool) -> Request:
    written = any(store.array == line.array for store in plan.stores)
    return Request(line.array, place, line.step, soon, written)


def _rows(context: Context, plan: Plan, *, soon: bool = False) -> int:
    """Return the number of rows between a prefetch and its use; negative in backward sweeps."""
    lines = min(AHEAD, UNDER_WAY // max(len(plan.ahead), 1))
    lines = min(SOON, lines // 2) if soon else lines
    rows = lines * CACHE_LINE // plan.size
    return -rows if context.backwards else rows


def _is_foreseen(context: Context, plan: Plan) -> bool:
    """Whether a loop accesses each field at one place of a row, and reads fields only."""
    fields = set(context.fields)
    is_read = all(load.array in fields for load in plan.loads)
    return is_read and are_at_one_place((*plan.loads, *plan.stores), fields)


def requested(requests: Sequence[Request], row: ir.Expression, lanes: int) -> list[ir.Statement]:
    """Return the statements of requests for the vector that begins at a row."""
    return [statement for request in requests for statement in request.at(row, lanes)]
