"""Requests for memory that a loop's rows access further on.

A vector of rows asks for a cache line of each field, on the line that sweeps meet first, so many
rows ahead that it has come into the second-level cache when rows access it. Shortly before, a
second request brings it on into the first-level cache: what a store waits for there keeps all that
is stored behind it waiting. Where fields are near, the first request is for the rows at hand. A
loop that accesses each field at one place asks for nothing: processors foresee what it needs, and
requests disturb them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from llvmlite import ir as llvm

from ..points.numbers import CACHE_LINE
from ..runtime import intrinsics, target
from .vector_plans import Access, Plan, Translation, are_at_one_place

AHEAD = 80
"""Cache lines between a request for memory and its use, if a loop accesses one or two fields."""

UNDER_WAY = 192
"""Cache lines between requests for memory and their uses, for all fields of a loop together."""

SOON = 8
"""Cache lines between a use and the request that brings them into the first-level cache."""

NEAR = 2**22
"""Bytes of fields that need no requests."""

FAR = 16 * 2**20
"""Bytes of all fields of a function from which on vectors with requests are better than LLVM's own
without."""


def are_far(translation: Translation, plan: Plan) -> Any:
    """Return whether the fields of a function are so large that a loop asks for memory ahead.

    They count as if all of them had the size of one of those of most axes: a function that is
    called on each line need not be given the sizes of all.
    """
    builder, fields = translation.builder, translation.fields
    largest = max(fields, key=lambda name: translation.kind_of(name).ndim)
    total = builder.mul(translation.count_of(largest), llvm.IntType(64)(len(fields)))
    return _is_more(translation, plan, total, FAR)


def are_large(translation: Translation, plan: Plan, arrays: Iterable[str], size: int) -> Any:
    """Return whether some fields together have more than some bytes."""
    counts = map(translation.count_of, arrays)
    total = reduce(translation.builder.add, counts, llvm.IntType(64)(0))
    return _is_more(translation, plan, total, size)


def _is_more(translation: Translation, plan: Plan, count: Any, size: int) -> Any:
    """Return whether some numbers have more than some bytes."""
    most = llvm.IntType(64)(size * 8 // plan.dtype.bitwidth)
    return translation.builder.icmp_signed(">", count, most)


class Request(NamedTuple):
    """A request for the memory of a line of an array, some way ahead of a row.

    The ``place`` is that of the first element if the row were zero; rows are ``step`` elements
    apart. What is accessed ``soon`` goes into the first-level cache, to be ``written`` or read.
    """

    array: str
    place: Any
    step: int
    soon: bool
    written: bool


def of_loop(translation: Translation, plan: Plan, start: Any) -> list[Request]:
    """Return what a loop asks for, with its variable at its start."""
    if not target.current().requests or _is_foreseen(translation, plan):
        return []
    return [
        request
        for soon in (False, True)
        for request in _of_lines(translation, plan, start, soon=soon)
    ]


def of_chain(translation: Translation, plan: Plan, start: Any) -> list[Request]:
    """Return what a chain of loops asks for: it waits for its own values, so once is enough."""
    if not target.current().requests:
        return []
    return _of_lines(translation, plan, start)


def of_far_loop(translation: Translation, plan: Plan, word: Any) -> list[Request]:
    """Return what a loop over fields that are far asks for at its present row.

    The distances are constants, so that the places of requests take no registers of their own.
    """
    builder = translation.builder

    def request_of(line: Access, soon: bool) -> Request:
        further = word(line.step * _rows(translation, plan, soon))
        element = builder.add(translation.integer_of(line.offset), further)
        return _request(plan, line, builder.gep(translation.start_of(line.array), [element]), soon)

    return [request_of(line, soon) for line in plan.ahead for soon in (False, True)]


def _of_lines(
    translation: Translation, plan: Plan, start: Any, *, soon: bool = False
) -> list[Request]:
    """Return requests for the lines of fields, with the variable of a loop at its start."""
    builder, word = translation.builder, start.type
    rows = word(_rows(translation, plan, soon))
    if not soon:
        arrays = dict.fromkeys(line.array for line in plan.ahead)
        rows = builder.select(are_large(translation, plan, arrays, NEAR), rows, word(0))

    def request_of(line: Access) -> Request:
        distance = builder.mul(rows, word(line.step))
        from_zero = builder.sub(distance, builder.mul(start, word(line.step)))
        element = builder.add(translation.integer_of(line.offset), from_zero)
        return _request(plan, line, builder.gep(translation.start_of(line.array), [element]), soon)

    return [request_of(line) for line in plan.ahead]


def _request(plan: Plan, line: Access, place: Any, soon: bool) -> Request:
    written = any(store.array == line.array for store in plan.stores)
    return Request(line.array, place, line.step, soon, written)


def _rows(translation: Translation, plan: Plan, soon: bool) -> int:
    """Return how many rows lie between a request and its use; it is negative against sweeps."""
    lines = min(AHEAD, UNDER_WAY // max(len(plan.ahead), 1))
    lines = min(SOON, lines // 2) if soon else lines
    rows = lines * CACHE_LINE * 8 // int(plan.dtype.bitwidth)
    return -rows if translation.backwards else rows


def _is_foreseen(translation: Translation, plan: Plan) -> bool:
    """Whether a loop accesses each field at one place of a row, and reads nothing but fields."""
    fields = set(translation.fields)
    is_read = all(load.array in fields for load in plan.loads)
    return is_read and are_at_one_place((*plan.loads, *plan.stores), fields)


def write(translation: Translation, requests: Sequence[Request], row: Any, lanes: int) -> None:
    """Write requests for the memory of a vector of rows."""
    builder = translation.builder
    for one in requests:
        place = builder.gep(one.place, [builder.mul(row, row.type(one.step))])
        for n in range(one.step):
            further = builder.gep(place, [llvm.IntType(64)(n * lanes)])
            intrinsics.requests(builder, further, soon=one.soon, written=one.written)
