"""Loops over independent rows as vectors, in LLVM's language.

LLVM's own vectors run from the first row of a loop on, and the rows that are left over at its end
one by one. On lines of a few hundred points that is a good part of the time, and so are vectors
that lie in two cache lines. Here a line is cut where vectors of most of its accesses begin: the
vectors at both ends have masks, and those between them have none. What a row computes is the same
in each of them, so bits do not depend on where a line is cut. `vector_plans` says which loops have
this form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numba.core.cgutils import alloca_once

from ..kernel import ir
from ..runtime import target
from . import requests, vector_sums
from .line_sides import extreme, limits
from .vector_parts import Part
from .vector_plans import Plan, Translation
from .vectors import Vector, mask_of
from .windows import Line, windows_of

BLOCK = 8
"""Vectors on which a part of a long body runs before the next one does."""

LONG = 6
"""Vectors of a loop from which on they begin where cache lines do, even if there are more then."""


def available() -> bool:
    """Whether the target has vectors that loops are written for."""
    return target.current().vector_bytes > 0


def write(translation: Translation, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop."""
    if plan.inside and plan.inside.by_line:  # there are few such lines, at boundaries
        write_masked(translation, plan, start, stop)
        return
    _begin_sums(translation, plan, start, stop)
    if len(plan.parts) > 1:
        _write_parts(translation, plan, start, stop)
    else:
        _write_whole(translation, plan, start, stop)


def _begin_sums(translation: Translation, plan: Plan, start: Any, stop: Any) -> None:
    """Begin the sums of what a loop makes."""
    vector_sums.begin(translation, plan.stores, plan.loop.variable, start, stop)


def write_masked(translation: Translation, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop all of whose vectors have masks; those over fields that are far ask for memory.

    It is one block, so it is compiled fast.
    """
    _begin_sums(translation, plan, start, stop)
    builder, name = translation.builder, plan.loop.variable
    word, lanes = start.type, target.current().lanes(plan.dtype.bitwidth)
    before = builder.block
    main, end = (translation.new_block(f"masked.{part}") for part in ("main", "end"))
    builder.cbranch(builder.icmp_signed("<", start, stop), main, end)

    builder.position_at_end(main)
    row = builder.phi(word, name)
    row.add_incoming(start, before)
    translation.counts(name, row)
    if plan.far:
        requests.write(translation, requests.of_far_loop(translation, plan, word), word(0), lanes)
    Vector(translation, name, plan.dtype, mask_of(builder, lanes, row, row, stop)).run(
        plan.loop.body
    )
    following = builder.add(row, word(lanes), flags=["nsw"])
    row.add_incoming(following, main)
    back = builder.cbranch(builder.icmp_signed("<", following, stop), main, end)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))
    builder.position_at_end(end)


def _write_whole(translation: Translation, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop of one part: a vector at each end, whole vectors between them.

    Those between them begin where the aligned access does. A vector at an end has a mask, and a
    loop of some length begins before its first row then. Or it overlaps others: a row that is
    computed twice is stored twice. Vectors with rows that are not inside are like those at ends.
    """
    builder, name = translation.builder, plan.loop.variable
    word = start.type
    lanes = word(target.current().lanes(plan.dtype.bitwidth))
    sides, body = (plan.inside.sides, plan.inside.body) if plan.inside else ((), plan.loop.body)
    before, ends, enter, onward, rest, end = (
        translation.new_block(f"vectors.{part}")
        for part in ("before", "ends", "enter", "onward", "rest", "end")
    )
    overlap, last = _may_overlap(translation, plan), builder.sub(stop, lanes)
    if overlap:
        short = translation.new_block("vectors.short")
        builder.cbranch(builder.icmp_signed("<=", start, last), before, short)
        builder.position_at_end(short)
        translation.write_rows(plan.loop, start, stop)
        builder.branch(end)
    else:
        builder.cbranch(builder.icmp_signed("<", start, stop), before, end)

    builder.position_at_end(before)
    translation.counts(name, start)
    low, high = limits(builder, translation.integer_of, sides, start, stop)
    asked = requests.of_loop(translation, plan, start)
    first, step = start, lanes
    if overlap:
        behind = builder.add(_aligned(translation, plan, start), lanes)
        step = builder.sub(behind, start)
        builder.branch(ends)
    else:
        first = first_row(translation, plan, start, stop)
        at_once = builder.and_(
            builder.icmp_signed(">=", first, low),
            builder.icmp_signed(">=", builder.sub(high, first), lanes),
        )
        builder.cbranch(at_once, enter, ends)

    builder.position_at_end(ends)
    row, forward = builder.phi(word, name), builder.phi(word)
    row.add_incoming(first, before)
    forward.add_incoming(step, before)
    translation.counts(name, row)
    requests.write(translation, asked, row, lanes.constant)
    mask = None if overlap else mask_of(builder, lanes.constant, row, start, stop)
    Vector(translation, name, plan.dtype, mask).run(plan.loop.body)
    following = builder.add(row, forward)
    builder.branch(enter)

    builder.position_at_end(enter)
    met = builder.phi(word, name)
    if not overlap:
        met.add_incoming(first, before)
    met.add_incoming(following, ends)
    if any(side.after for side in sides):
        builder.cbranch(builder.icmp_signed(">=", met, low), onward, rest)
    else:
        builder.branch(onward)

    builder.position_at_end(onward)
    leaving = _write_main(translation, name, body, plan, asked, met, high, rest)
    if any(side.after for side in sides):
        leaving.append((met, enter))

    builder.position_at_end(rest)
    left = builder.phi(word, name)
    for place, block in leaving:
        left.add_incoming(place, block)
    row.add_incoming(extreme(builder, "<", (left, last)) if overlap else left, rest)
    forward.add_incoming(lanes, rest)
    back = builder.cbranch(builder.icmp_signed("<", left, stop), ends, end)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))
    builder.position_at_end(end)


def _may_overlap(translation: Translation, plan: Plan) -> bool:
    """Whether rows may be computed twice, which spares masks where they are slow.

    A loop must not read what it stores.
    """
    stored = {access.array for access in plan.stores}
    return (
        not target.current().masks
        and stored.isdisjoint(access.array for access in plan.loads)
        and stored.isdisjoint(translation.sums)
    )


def _write_main(
    translation: Translation,
    name: str,
    body: Sequence[ir.Statement],
    plan: Plan,
    asked: Sequence[requests.Request],
    first: Any,
    stop: Any,
    rest: Any,
) -> list[tuple[Any, Any]]:
    """Write whole vectors from a row on, several at a time, and what goes to the ``rest`` then.

    Windows on lines are carried from each vector to the next one.

    Returns
    -------
    The rows at which it may go there, each with the block that it comes from.
    """
    builder, word = translation.builder, first.type
    lanes = target.current().lanes(plan.dtype.bitwidth)
    stride = word(plan.together * lanes)
    latest = builder.sub(stop, stride)
    test, main = (translation.new_block(f"vectors.{part}") for part in ("test", "main"))
    windows = windows_of(plan, body, name)
    leaving, begin = [], {}
    if windows:
        carry = translation.new_block("vectors.carry")
        leaving.append((first, builder.block))
        builder.cbranch(builder.icmp_signed("<=", first, latest), carry, rest)
        builder.position_at_end(carry)
        translation.counts(name, first)
        vector = Vector(translation, name, plan.dtype)
        begin = {line: vector.load_before(window) for line, window in windows.items()}
    before = builder.block
    builder.branch(test)

    builder.position_at_end(test)
    row = builder.phi(word, name)
    row.add_incoming(first, before)
    carried = {line: builder.phi(value.type) for line, value in begin.items()}
    leaving.append((row, test))
    builder.cbranch(builder.icmp_signed("<=", row, latest), main, rest)

    builder.position_at_end(main)
    last: Mapping[Line, Any] = carried
    rows, vectors = [], []
    for n in range(plan.together):
        rows.append(builder.add(row, word(n * lanes), flags=["nsw"]))
        requests.write(translation, asked, rows[-1], lanes)
        vectors.append(Vector(translation, name, plan.dtype, windows=windows, before=last))
        last = vectors[-1].last
    for node in body:
        for here, vector in zip(rows, vectors, strict=True):
            translation.counts(name, here)
            vector.run([node])
    row.add_incoming(builder.add(row, stride, flags=["nsw"]), main)
    for line, value in carried.items():
        value.add_incoming(begin[line], before)
        value.add_incoming(last[line], main)
    back = builder.branch(test)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))
    return leaving


def _write_parts(translation: Translation, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop whose parts run on some vectors each, the last of which may have a mask."""
    builder, name = translation.builder, plan.loop.variable
    word, lanes = start.type, target.current().lanes(plan.dtype.bitwidth)
    before = builder.block
    block, end = (translation.new_block(f"parts.{part}") for part in ("block", "end"))
    builder.cbranch(builder.icmp_signed("<", start, stop), block, end)

    builder.position_at_end(block)
    first = builder.phi(word, name)
    first.add_incoming(start, before)
    further = builder.add(first, word(BLOCK * lanes))
    last = builder.select(builder.icmp_signed("<", further, stop), further, stop)
    rooms: dict[str, Any] = {}

    def place(value: str, row: Any) -> Any:
        """Return where a value of a vector is handed on."""
        number = builder.udiv(builder.sub(row, first), word(lanes))
        return builder.gep(rooms[value], [number])

    def run(part: Part, row: Any, mask: Any = None) -> None:
        translation.counts(name, row)
        vector = Vector(translation, name, plan.dtype, mask)
        vector.values |= {value: builder.load(place(value, row)) for value in part.taken}
        vector.run(part.body)
        for value in part.kept:
            made = vector.values[value]
            if value not in rooms:
                rooms[value] = alloca_once(builder, made.type, size=BLOCK, name=value)
                rooms[value].align = target.current().vector_bytes
            builder.store(made, place(value, row))

    for part in plan.parts:
        before = builder.block
        test, main, rest, ends, done = (
            translation.new_block(f"part.{each}")
            for each in ("test", "main", "rest", "ends", "done")
        )
        builder.branch(test)
        builder.position_at_end(test)
        row = builder.phi(word, name)
        row.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<=", row, builder.sub(last, word(lanes))), main, rest)

        builder.position_at_end(main)
        run(part, row)
        row.add_incoming(builder.add(row, word(lanes), flags=["nsw"]), builder.block)
        builder.branch(test)

        builder.position_at_end(rest)
        builder.cbranch(builder.icmp_signed("<", row, last), ends, done)

        builder.position_at_end(ends)
        run(part, row, mask_of(builder, lanes, row, start, last))
        builder.branch(done)
        builder.position_at_end(done)
    first.add_incoming(further, builder.block)
    builder.cbranch(builder.icmp_signed("<", further, stop), block, end)
    builder.position_at_end(end)


def first_row(translation: Translation, plan: Plan, start: Any, stop: Any) -> Any:
    """Return where the first vector of a loop begins, with its variable at its start."""
    if plan.aligned is None:
        return start
    builder, word = translation.builder, start.type
    lanes = target.current().lanes(plan.dtype.bitwidth)
    aligned = _aligned(translation, plan, start)
    count = builder.sub(stop, start)
    is_long = builder.icmp_signed(">=", count, word(LONG * lanes))
    rest_of = builder.and_(builder.sub(count, word(1)), word(lanes - 1))
    no_more = builder.icmp_signed(
        "<", builder.add(builder.sub(start, aligned), rest_of), word(lanes)
    )
    return builder.select(builder.or_(is_long, no_more), aligned, start)


def _aligned(translation: Translation, plan: Plan, start: Any) -> Any:
    """Return the last row until the first one at which vectors of the aligned access begin.

    It is the first row itself if the lines of the array begin in several ways.
    """
    if plan.aligned is None:
        return start
    builder, word, size = translation.builder, start.type, target.current().vector_bytes
    element = translation.integer_of(plan.aligned.offset)
    place = builder.gep(translation.start_of(plan.aligned.array), [element])
    within = builder.and_(builder.ptrtoint(place, word), word(size - 1))
    even = builder.and_(translation.steps_of(plan.aligned.array), word(size - 1))
    is_even = builder.icmp_signed("==", even, word(0))
    before = builder.udiv(within, word(plan.dtype.bitwidth // 8))
    return builder.sub(start, builder.select(is_even, before, word(0)))
