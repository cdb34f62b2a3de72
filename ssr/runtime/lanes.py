"""The sums and extremes of `sums` in machine code: eight terms at once.

Importing this module teaches Numba `accumulate`, `accumulate_squares`, `total`, `root`, `extreme`
and `found`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable

from . import internals, shared
from .descriptors import member
from .intrinsics import repeat
from .sums import (
    FAR,
    LARGE,
    SCALE,
    SHIFT,
    SMALL,
    STATE,
    WIDTH,
    accumulate,
    accumulate_squares,
    extreme,
    found,
    root,
    total,
)

__all__ = ["accumulate", "accumulate_squares", "extreme", "found", "root", "total"]

LANES = 8
"""Terms taken at once."""

FULL = 2**25
"""Terms whose parts are surely added up exactly, one lane or all together."""

MOST = 2**24
"""Terms of a line that are added up at once."""

WORD, DOUBLE = llvm.IntType(64), llvm.DoubleType()
WORDS, DOUBLES = llvm.VectorType(WORD, LANES), llvm.VectorType(DOUBLE, LANES)
INFINITE = 0x7FF0000000000000
POSITIVE = 2**63 - 1
_LARGE, _SMALL = (int(bits) for bits in np.array([LARGE, SMALL]).view(np.int64))


class _Line:
    """The body of a function that takes a line of terms into a state.

    It returns 0 if it has done so.

    Parameters
    ----------
    function
        The function.
    terms
        What elements stand for: ``itself``, their ``squares``, or of these the ``usual`` ones, the
        ``large`` ones scaled down, or the ``small`` ones scaled up.
    """

    def __init__(self, function: Any, terms: str = "itself") -> None:
        self.function = function
        self.terms = terms
        self.element = function.args[0].type.pointee
        if internals.are_known():  # llvmlite has no public way to say so
            set.add(self.function.attributes, '"prefer-vector-width"="512"')
        self.data, self.count, self.state = self.function.args
        self.builder = llvm.IRBuilder(self.function.append_basic_block("entry"))

    def variable(self, value: Any) -> Any:
        """Return a variable that has a value from here on."""
        with self.builder.goto_entry_block():
            pointer = self.builder.alloca(value.type)
        self.builder.store(value, pointer)
        return pointer

    def each(self, take: Any) -> None:
        """Give all terms to ``take``: as vectors of doubles first, then the rest one by one."""
        b = self.builder
        many = b.sdiv(self.count, WORD(LANES))
        vectors = llvm.VectorType(self.element, LANES)
        with cgutils.for_range(b, many) as loop:
            place = b.gep(self.data, [b.mul(loop.index, WORD(LANES))])
            terms = b.load(b.bitcast(place, vectors.as_pointer()))
            terms.align = 4 if isinstance(self.element, llvm.FloatType) else 8
            take(self.term(terms, DOUBLES), True)
        done = b.mul(many, WORD(LANES))
        with cgutils.for_range(b, b.sub(self.count, done)) as loop:
            term = b.load(b.gep(self.data, [b.add(done, loop.index)]))
            take(self.term(term, DOUBLE), False)

    def term(self, element: Any, kind: Any) -> Any:
        """Return what elements stand for, as doubles."""
        b = self.builder
        wide = element if element.type == kind else b.fpext(element, kind)
        if self.terms == "itself":
            return wide
        if self.terms == "small":
            wide = b.fmul(wide, _all(kind, SCALE))
        square = b.fmul(wide, wide)
        if self.terms in ("usual", "large"):
            none = _all(kind, 0.0)
            finite = b.fcmp_ordered("==", b.fsub(wide, wide), none)
            is_large = b.and_(finite, b.fcmp_ordered(">", square, _all(kind, LARGE)))
            scaled = b.fmul(wide, _all(kind, 1.0 / SCALE))
            if self.terms == "usual":
                return b.select(is_large, none, square)
            return b.select(is_large, b.fmul(scaled, scaled), none)
        return square

    def get(self, place: int) -> Any:
        """Return an integer of the state."""
        return self.builder.load(self.builder.gep(self.state, [WORD(place)]))

    def put(self, place: int, value: Any) -> None:
        """Change an integer of the state."""
        self.builder.store(value, self.builder.gep(self.state, [WORD(place)]))


def _all(kind: Any, value: float) -> Any:
    """Return a number, or a vector of it."""
    return kind(value) if kind == DOUBLE else kind([value] * LANES)


def _splat(value: int | float, vector: bool) -> Any:
    kind, many = (WORD, WORDS) if isinstance(value, int) else (DOUBLE, DOUBLES)
    return many([value] * LANES) if vector else kind(value)


def _lanes(b: Any, vector: Any) -> list[Any]:
    return [b.extract_element(vector, llvm.IntType(32)(n)) for n in range(LANES)]


def _spread(b: Any, value: Any, vector: bool) -> Any:
    """Return a number in all lanes of a vector, or itself."""
    return repeat(b, value, LANES) if vector else value


def _magnitude(b: Any, terms: Any, vector: bool) -> Any:
    """Return the bits of absolute values."""
    return b.and_(b.bitcast(terms, WORDS if vector else WORD), _splat(POSITIVE, vector))


def _larger(b: Any, sign: int, many: Any, one: Any) -> Any:
    """Return the largest (sign 1) or smallest of the lanes of a vector and one more integer."""
    order = ">" if sign > 0 else "<"
    for lane in _lanes(b, b.load(many)):
        now = b.load(one)
        b.store(b.select(b.icmp_signed(order, lane, now), lane, now), one)
    return b.load(one)


def _line_function(
    context: Any,
    module: Any,
    name: str,
    element: Any,
    write: Callable[[_Line], None],
    terms: str = "itself",
) -> Any:
    """Return the shared function that takes lines of some type of numbers into a state."""
    kind = llvm.FunctionType(WORD, [element.as_pointer(), WORD, WORD.as_pointer()])
    return shared.declared(
        context,
        module,
        f"ssr_{name}_{element}",
        kind,
        lambda function: write(_Line(function, terms)),
    )


def _write_sum(line: _Line) -> None:
    """Write what adds a line to a sum.

    Parts are added up in the lanes of the state while they are exact; the limbs get them when the
    level changes, when they could be full, and at last in `total`.
    """
    b = line.builder
    again = line.function.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)
    seen = b.icmp_signed("!=", line.get(0), WORD(0))
    many, one, sums, rest = _take_apart(line, line.get(1))
    if line.terms == "squares" and line.element == DOUBLE:  # of float32 none need scaling
        unusual = _unusual(b, _larger(b, 1, many, line.variable(b.load(one))))
        with b.if_then(b.icmp_signed("!=", unusual, WORD(0))):
            b.ret(unusual)
    limit = b.select(seen, _limit(b, line.get(1)), WORD(0))
    beyond = _any_beyond(b, many, limit)
    with b.if_then(b.or_(beyond, b.icmp_signed(">", b.load(one), limit))):
        largest = _larger(b, 1, many, one)
        with b.if_then(b.icmp_signed(">=", largest, WORD(INFINITE))):
            _add_special(line)
            b.ret(WORD(0))
        _flush(b, line.state)
        _raise_level(line, _level(b, largest))
        b.branch(again)
    with b.if_then(seen):
        count = b.add(line.get(7), line.count)
        line.put(7, count)
        for place, (vector, scalar) in enumerate(zip(sums, rest, strict=True)):
            more = b.insert_element(_splat(0.0, True), scalar, llvm.IntType(32)(0))
            _add_to_lanes(b, line.state, place, vector, more)
        with b.if_then(b.icmp_signed(">", count, WORD(FULL))):
            _flush(b, line.state)
    b.ret(WORD(0))


def _lane_pointer(b: Any, state: Any, place: int) -> Any:
    """Return where the lanes of a limb stand in a state."""
    return b.bitcast(b.gep(state, [WORD(8 + place * LANES)]), DOUBLES.as_pointer())


def _add_to_lanes(b: Any, state: Any, place: int, *parts: Any) -> None:
    """Add sums of parts to the lanes of a limb."""
    pointer = _lane_pointer(b, state, place)
    lanes = b.load(pointer)
    lanes.align = 8
    b.store(reduce(b.fadd, parts, lanes), pointer).align = 8


def _any_beyond(b: Any, many: Any, limit: Any) -> Any:
    """Return whether one of the magnitudes in a variable is beyond a limit."""
    over = b.icmp_signed(">", b.load(many), _spread(b, limit, True))
    return b.icmp_signed("!=", b.bitcast(over, llvm.IntType(LANES)), llvm.IntType(LANES)(0))


def _limit(b: Any, level: Any) -> Any:
    """Return the bits of the largest magnitude that fits into a level."""
    exponent = b.add(b.mul(b.add(level, WORD(1)), WORD(WIDTH)), WORD(1022))
    tiny = b.sub(b.shl(WORD(1), b.add(exponent, WORD(51))), WORD(1))
    normal = b.sub(b.shl(exponent, WORD(52)), WORD(1))
    huge = b.icmp_signed(">=", exponent, WORD(2047))
    normal = b.select(huge, WORD(INFINITE - 1), normal)
    return b.select(b.icmp_signed("<=", exponent, WORD(0)), tiny, normal)


def _flush(b: Any, state: Any) -> None:
    """Add the lanes of a state to its limbs."""
    level = b.load(b.gep(state, [WORD(1)]))
    top = b.sub(level, _scaled(b, level))
    for place in range(3):
        pointer = _lane_pointer(b, state, place)
        lanes = b.load(pointer)
        lanes.align = 8
        part = DOUBLE(0.0)
        for lane in _lanes(b, lanes):
            part = b.fadd(part, lane)
        unit = _power(b, b.sub(WORD(place), top))
        limb = b.gep(state, [WORD(2 + place)])
        b.store(b.add(b.load(limb), b.fptosi(b.fmul(part, unit), WORD)), limb)
        b.store(_splat(0.0, True), pointer).align = 8
    b.store(WORD(0), b.gep(state, [WORD(7)]))


def _add_special(line: _Line) -> None:
    """Add up the terms that are not finite."""
    b = line.builder
    with cgutils.for_range(b, line.count) as loop:
        term = b.load(b.gep(line.data, [loop.index]))
        term = line.term(term, DOUBLE)
        with b.if_then(b.icmp_signed(">=", _magnitude(b, term, False), WORD(INFINITE))):
            total = b.fadd(b.bitcast(line.get(6), DOUBLE), term)
            line.put(6, b.bitcast(total, WORD))
    line.put(5, WORD(1))


def _unusual(b: Any, largest: Any) -> Any:
    """Return whether squares need scaling, by the bits of the largest one: 1 down, 2 up, 0 none."""
    small = b.icmp_signed("<", largest, WORD(_SMALL))
    large = b.icmp_signed(">", largest, WORD(_LARGE))
    return b.select(large, WORD(1), b.select(small, WORD(2), WORD(0)))


def _level(b: Any, bits: Any) -> Any:
    """Return the highest limb of a positive number, (floor(log2(number)) + 1) // WIDTH."""
    biased = b.lshr(bits, WORD(52))
    zeros = b.ctlz(bits, llvm.IntType(1)(0))
    tiny = b.sub(WORD(63 - 1074), zeros)
    exponent = b.select(b.icmp_signed("==", biased, WORD(0)), tiny, b.sub(biased, WORD(1023)))
    return b.sub(b.udiv(b.add(exponent, WORD(100 * WIDTH + 1)), WORD(WIDTH)), WORD(100))


def _raise_level(line: _Line, level: Any) -> None:
    """Let the state begin at a limb at least as high as a level."""
    b = line.builder
    old = b.select(b.icmp_signed("==", line.get(0), WORD(0)), level, line.get(1))
    up = b.select(b.icmp_signed(">", level, old), b.sub(level, old), WORD(0))
    limbs = [line.get(2 + place) for place in range(3)]
    for place in reversed(range(3)):
        moved = WORD(0)
        for source in range(place + 1):
            here = b.icmp_signed("==", up, WORD(place - source))
            moved = b.select(here, limbs[source], moved)
        line.put(2 + place, moved)
    line.put(0, WORD(1))
    line.put(1, b.add(old, up))


def _scaled(b: Any, level: Any) -> Any:
    """Return the number of limbs by which terms are scaled down."""
    low = b.select(b.icmp_signed("<", level, WORD(-FAR)), WORD(-SHIFT), WORD(0))
    return b.select(b.icmp_signed(">", level, WORD(FAR)), WORD(SHIFT), low)


def _power(b: Any, limbs: Any) -> Any:
    """Return 2 to the power of a number of limbs."""
    exponent = b.add(b.mul(limbs, WORD(WIDTH)), WORD(1023))
    return b.bitcast(b.shl(exponent, WORD(52)), DOUBLE)


def _take_apart(line: _Line, level: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """Return the largest magnitudes as bits, and the sums of parts from a highest limb on.

    Of the magnitudes, variables of the lanes and of the terms that were left over; of both, too,
    the sums. They mean nothing if a term does not fit into that limb.
    """
    b = line.builder
    begins = {vector: _anchors(b, level, vector) for vector in (True, False)}
    sums = {
        vector: [line.variable(anchor) for anchor in anchors]
        for vector, (_, anchors) in begins.items()
    }
    largest = {vector: line.variable(_splat(0, vector)) for vector in (True, False)}
    line.each(
        lambda terms, vector: take_apart(
            b, terms, begins[vector][0], sums[vector], largest[vector], vector
        )
    )
    found = {
        vector: [
            b.fsub(b.load(pointer), anchor)
            for pointer, anchor in zip(sums[vector], anchors, strict=True)
        ]
        for vector, (_, anchors) in begins.items()
    }
    return largest[True], largest[False], found[True], found[False]


class Begun(NamedTuple):
    """What a state says of terms that are taken apart for it.

    Attributes
    ----------
    scale, anchors
        What terms are scaled by, and what the sums of their parts begin with.
    limit
        The bits of the largest magnitude that fits; no term does before the state has seen one.
    room
        How many terms it has room for.
    """

    scale: Any
    anchors: Sequence[Any]
    limit: Any
    room: Any


def begin(b: Any, state: Any) -> Begun:
    """Return what a state says of vectors of terms that are taken apart from now on."""
    seen, level, filled = (b.load(b.gep(state, [WORD(place)])) for place in (0, 1, 7))
    limit = b.select(b.icmp_signed("!=", seen, WORD(0)), _limit(b, level), WORD(-1))
    room = b.sub(WORD(FULL), filled)
    room = b.select(b.icmp_signed("<", room, WORD(MOST)), room, WORD(MOST))
    return Begun(*_anchors(b, level), limit, room)


def _anchors(b: Any, level: Any, vector: bool = True) -> tuple[Any, list[Any]]:
    """Return what terms are scaled by, and what the sums of their parts begin with.

    Each sum begins with a number so large that units of a limb are its last bits: what adding a
    term changes it by is the part of the term.
    """
    shift = _scaled(b, level)
    scale = _power(b, b.neg(shift))
    above = [b.sub(b.sub(level, shift), WORD(place)) for place in range(3)]
    anchors = [b.fmul(_power(b, limb), DOUBLE(1.5 * 2.0**52)) for limb in above]
    return _spread(b, scale, vector), [_spread(b, anchor, vector) for anchor in anchors]


def take_apart(
    b: Any, terms: Any, scale: Any, sums: Sequence[Any], largest: Any, vector: bool = True
) -> None:
    """Add the parts of terms to sums, and note the bits of the largest magnitude.

    An odd last bit of the term decides ties, wherever a sum stands.
    """
    size, now = _magnitude(b, terms, vector), b.load(largest)
    b.store(b.select(b.icmp_signed(">", size, now), size, now), largest)
    rest = b.fmul(terms, scale)
    for place, pointer in enumerate(sums):
        known = b.load(pointer)
        total = b.fadd(known, _odd(b, rest, vector))
        b.store(total, pointer)
        part = b.fsub(total, known)
        rest = b.fsub(rest, part) if place else _fma(b, terms, scale, b.fneg(part), vector)


def are_within(b: Any, largest: Any, limit: Any) -> Any:
    """Return whether magnitudes that `take_apart` has noted are within a limit."""
    return b.not_(_any_beyond(b, largest, limit))


def are_usual(b: Any, largest: Any) -> Any:
    """Return whether squares, whose magnitudes `take_apart` has noted, need no scaling."""
    return b.and_(
        b.not_(_any_beyond(b, largest, WORD(_LARGE))), _any_beyond(b, largest, WORD(_SMALL - 1))
    )


def add_lanes(b: Any, state: Any, count: Any, sums: Sequence[Any], anchors: Sequence[Any]) -> None:
    """Write what adds the parts of so many terms to the state of which they were begun.

    Parameters
    ----------
    sums, anchors
        Where their sums are, and what these began with.
    """
    filled = b.gep(state, [WORD(7)])
    b.store(b.add(b.load(filled), count), filled)
    for place, (pointer, anchor) in enumerate(zip(sums, anchors, strict=True)):
        _add_to_lanes(b, state, place, b.fsub(b.load(pointer), b.load(anchor)))


def _fma(b: Any, x: Any, y: Any, z: Any, vector: bool) -> Any:
    """Return ``x y + z``: processors have units for it that stand idle while others add."""
    name, kind = ("llvm.fma.v8f64", DOUBLES) if vector else ("llvm.fma.f64", DOUBLE)
    known = b.module.globals.get(name)
    function = known or llvm.Function(b.module, llvm.FunctionType(kind, [kind] * 3), name)
    return b.call(function, [x, y, z])


def _odd(b: Any, numbers: Any, vector: bool) -> Any:
    """Return numbers with the last bit set."""
    bits = b.or_(b.bitcast(numbers, WORDS if vector else WORD), _splat(1, vector))
    return b.bitcast(bits, DOUBLES if vector else DOUBLE)


def _write_extreme(line: _Line, sign: int) -> None:
    """Write what takes a line into the largest number (sign 1) or the smallest one."""
    b = line.builder
    worst = -(2**63) if sign > 0 else POSITIVE
    first = b.select(b.icmp_signed("==", line.get(0), WORD(0)), WORD(worst), line.get(1))
    many, one = line.variable(_splat(worst, True)), line.variable(first)

    def take(terms: Any, vector: bool) -> None:
        bits = b.bitcast(terms, WORDS if vector else WORD)
        negative = b.icmp_signed("<", bits, _splat(0, vector))
        key = b.select(negative, b.xor(bits, _splat(POSITIVE, vector)), bits)
        beyond = _splat(POSITIVE if sign > 0 else -(2**63), vector)
        key = b.select(b.fcmp_unordered("uno", terms, terms), beyond, key)
        best = many if vector else one
        now = b.load(best)
        b.store(b.select(b.icmp_signed(">" if sign > 0 else "<", key, now), key, now), best)

    line.each(take)
    line.put(1, _larger(b, sign, many, one))
    line.put(0, WORD(1))
    b.ret(WORD(0))


_write_maximum = partial(_write_extreme, sign=1)
_write_minimum = partial(_write_extreme, sign=-1)


def state_of(context: Any, builder: Any, kind: Any, state: Any, row: Any) -> Any:
    """Return the address of a row of states."""
    data = member(context, builder, kind, state, "data")
    return builder.gep(data, [builder.mul(row, WORD(STATE))])


def _data(context: Any, builder: Any, kind: Any, buffer: Any, start: Any) -> Any:
    return builder.gep(member(context, builder, kind, buffer, "data"), [start])


@type_callable(accumulate)
@type_callable(accumulate_squares)
def _type_accumulate(context: Any) -> Any:
    return lambda state, row, buffer, start, count: types.void


@lower_builtin(accumulate, types.Array, types.Integer, types.Array, types.Integer, types.Integer)
def _lower_accumulate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def add(element: Any, given: Sequence[Any]) -> None:
        function = _line_function(context, builder.module, "sum", element, _write_sum)
        builder.call(function, given)

    _each_part(context, builder, signature, args, add)
    return context.get_dummy_value()


@lower_builtin(
    accumulate_squares, types.Array, types.Integer, types.Array, types.Integer, types.Integer
)
def _lower_squares(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def add(element: Any, given: Sequence[Any]) -> None:
        *line, state = given
        functions = {
            terms: _line_function(context, builder.module, terms, element, _write_sum, terms)
            for terms in ("squares", "usual", "large", "small")
        }

        def of(terms: str, row: int) -> Any:
            place = builder.gep(state, [WORD(row * STATE)])
            return builder.call(functions[terms], [*line, place])

        unusual = of("squares", 0)
        with builder.if_then(builder.icmp_signed("!=", unusual, WORD(0)), likely=False):
            of("usual", 0)
            with builder.if_else(builder.icmp_signed("==", unusual, WORD(1))) as (large, small):
                with large:
                    of("large", 1)
                with small:
                    of("small", 2)

    _each_part(context, builder, signature, args, add)
    return context.get_dummy_value()


def _each_part(
    context: Any, builder: Any, signature: Any, args: Any, add: Callable[[Any, Sequence[Any]], None]
) -> None:
    """Write what adds parts of a line, none of more than `MOST` elements, to a state."""
    state, row, buffer, start, count = args
    kinds = signature.args
    data = _data(context, builder, kinds[2], buffer, start)
    place = state_of(context, builder, kinds[0], state, row)
    with cgutils.for_range_slice(builder, WORD(0), count, WORD(MOST), WORD) as (start, _):
        left = builder.sub(count, start)
        some = builder.select(builder.icmp_signed("<", left, WORD(MOST)), left, WORD(MOST))
        add(data.type.pointee, [builder.gep(data, [start]), some, place])


@type_callable(extreme)
def _type_extreme(context: Any) -> Any:
    return lambda state, row, sign, buffer, start, count: types.void


@lower_builtin(
    extreme, types.Array, types.Integer, types.Integer, types.Array, types.Integer, types.Integer
)
def _lower_extreme(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    state, row, sign, buffer, start, count = args
    kinds = signature.args
    data = _data(context, builder, kinds[3], buffer, start)
    functions = [
        _line_function(context, builder.module, name, data.type.pointee, write)
        for name, write in (("maximum", _write_maximum), ("minimum", _write_minimum))
    ]
    given = [data, count, state_of(context, builder, kinds[0], state, row)]
    with builder.if_else(builder.icmp_signed(">", sign, WORD(0))) as (then, otherwise):
        with then:
            builder.call(functions[0], given)
        with otherwise:
            builder.call(functions[1], given)
    return context.get_dummy_value()


@type_callable(total)
@type_callable(root)
@type_callable(found)
def _type_value(context: Any) -> Any:
    return lambda state, row: types.float64


@lower_builtin(found, types.Array, types.Integer)
def _lower_found(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    key = builder.load(builder.gep(state_of(context, builder, signature.args[0], *args), [WORD(1)]))
    negative = builder.icmp_signed("<", key, WORD(0))
    bits = builder.select(negative, builder.xor(key, WORD(POSITIVE)), key)
    return builder.bitcast(bits, DOUBLE)


@lower_builtin(total, types.Array, types.Integer)
def _lower_total(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _total(context, builder, state_of(context, builder, signature.args[0], *args))


@lower_builtin(root, types.Array, types.Integer)
def _lower_root(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    b, row = builder, state_of(context, builder, signature.args[0], *args)
    usual, large, small = (_total(context, b, b.gep(row, [WORD(n * STATE)])) for n in range(3))
    up, down = DOUBLE(SCALE), DOUBLE(1.0 / SCALE)
    squares = [b.fadd(large, b.fmul(b.fmul(usual, down), down)), small, usual]
    sqrt = b.module.declare_intrinsic("llvm.sqrt", [DOUBLE])
    roots = [b.call(sqrt, [square]) for square in squares]
    is_large = b.fcmp_ordered(">", large, DOUBLE(0.0))
    is_small = b.fcmp_ordered("<", usual, DOUBLE(SMALL))
    found = b.select(is_small, b.fmul(roots[1], down), roots[2])
    return b.select(is_large, b.fmul(roots[0], up), found)


def _total(context: Any, builder: Any, row: Any) -> Any:
    """Return the value of a sum whose state is at an address."""
    kind = llvm.FunctionType(DOUBLE, [row.type])
    function = shared.declared(context, builder.module, "ssr_total", kind, _write_total)
    return builder.call(function, [row])


def _write_total(function: Any) -> None:
    """Write what returns the number that a state stands for."""
    b, (row,) = llvm.IRBuilder(function.append_basic_block("entry")), function.args
    with b.if_then(b.icmp_signed("!=", b.load(b.gep(row, [WORD(0)])), WORD(0))):
        _flush(b, row)
    seen, level, high, middle, low, special, bits = (
        b.load(b.gep(row, [WORD(n)])) for n in range(7)
    )
    mask = WORD(2**WIDTH - 1)
    middle = b.add(middle, b.ashr(low, WORD(WIDTH)))
    high = b.add(high, b.ashr(middle, WORD(WIDTH)))
    below = b.add(b.shl(b.and_(middle, mask), WORD(WIDTH)), b.and_(low, mask))
    shift = _scaled(b, level)
    unit = _power(b, b.sub(b.sub(level, shift), WORD(2)))
    upper = b.fmul(b.sitofp(high, DOUBLE), b.fmul(unit, DOUBLE(2.0 ** (2 * WIDTH))))
    value = b.fadd(upper, b.fmul(b.sitofp(below, DOUBLE), unit))
    value = b.fmul(value, _power(b, shift))
    value = b.select(b.icmp_signed("==", seen, WORD(0)), DOUBLE(0.0), value)
    unusual = b.icmp_signed("!=", special, WORD(0))
    b.ret(b.select(unusual, b.bitcast(bits, DOUBLE), value))
