"""LLVM functions that add lines of terms to reproducible sums and extremes, eight terms at a time.

Their results are bitwise identical to those of `ssr.runtime.sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from llvmlite import ir as llvm

from ..runtime.sums import FAR, LARGE, SCALE, SHIFT, SMALL, WIDTH
from .builder import DOUBLE, NUMBER, WORD, WORDS, Builder
from .machine_code import declared

LANES = 8
"""Number of terms that are processed at a time."""

FULL = 2**25
"""Number of terms whose parts can be added exactly, in one lane or in all lanes."""

INTEGERS, DOUBLES = llvm.VectorType(WORD, LANES), llvm.VectorType(DOUBLE, LANES)
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
        How elements are counted: as ``itself``, their ``squares``, or of these the ``usual`` ones,
        the ``large`` ones scaled down, or the ``small`` ones scaled up.
    """

    def __init__(self, function: llvm.Function, terms: str = "itself") -> None:
        self.function = function
        self.terms = terms
        self.element = function.args[0].type.pointee
        self.data, self.count, self.state = self.function.args
        self.builder = Builder.beginning(function)

    def each(self, take: Callable[[llvm.Value, bool], None]) -> None:
        """Give all terms to ``take``: as vectors of doubles first, then the rest one by one."""
        b = self.builder
        many = b.sdiv(self.count, WORD(LANES))
        vectors = llvm.VectorType(self.element, LANES)
        size = 4 if isinstance(self.element, llvm.FloatType) else 8
        with b.count_to(many) as number:
            place = b.at(self.data, b.mul(number, WORD(LANES)))
            terms = b.load(b.bitcast(place, vectors.as_pointer()), align=size)
            take(self.term(terms, DOUBLES), True)
        done = b.mul(many, WORD(LANES))
        with b.count_to(b.sub(self.count, done)) as rest:
            term = b.get(self.data, b.add(done, rest))
            take(self.term(term, DOUBLE), False)

    def term(self, element: llvm.Value, kind: llvm.Type) -> llvm.Value:
        """Return the terms of elements, as doubles."""
        b, vector = self.builder, kind != DOUBLE
        wide = element if element.type == kind else b.fpext(element, kind)
        if self.terms == "itself":
            return wide
        if self.terms == "small":
            wide = b.fmul(wide, _splat(SCALE, vector))
        square = b.fmul(wide, wide)
        if self.terms in ("usual", "large"):
            none = _splat(0.0, vector)
            finite = b.fcmp_ordered("==", b.fsub(wide, wide), none)
            is_large = b.and_(finite, b.fcmp_ordered(">", square, _splat(LARGE, vector)))
            scaled = b.fmul(wide, _splat(1.0 / SCALE, vector))
            if self.terms == "usual":
                return b.select(is_large, none, square)
            return b.select(is_large, b.fmul(scaled, scaled), none)
        return square

    def get(self, place: int) -> llvm.Value:
        """Return an integer of the state."""
        return self.builder.get(self.state, place)

    def put(self, place: int, value: llvm.Value) -> None:
        """Change an integer of the state."""
        self.builder.store(value, self.builder.at(self.state, place))


def _splat(value: int | float, vector: bool) -> llvm.Value:
    """Return a number, or a vector of it."""
    kind, many = (WORD, INTEGERS) if isinstance(value, int) else (DOUBLE, DOUBLES)
    return many([value] * LANES) if vector else kind(value)


def _lanes(b: Builder, vector: llvm.Value) -> list[llvm.Value]:
    return [b.extract_element(vector, NUMBER(n)) for n in range(LANES)]


def _spread(b: Builder, value: llvm.Value, vector: bool) -> llvm.Value:
    """Return a number in all lanes of a vector, or itself."""
    return b.spread(value, LANES) if vector else value


def _magnitude(b: Builder, terms: llvm.Value, vector: bool) -> llvm.Value:
    """Return the bits of absolute values."""
    return b.and_(b.bitcast(terms, INTEGERS if vector else WORD), _splat(POSITIVE, vector))


def _larger(b: Builder, sign: int, many: llvm.Value, one: llvm.Value) -> llvm.Value:
    """Return the largest (sign 1) or smallest of the lanes of a vector and one more integer."""
    order = ">" if sign > 0 else "<"
    for lane in _lanes(b, b.load(many)):
        now = b.load(one)
        b.store(b.select(b.icmp_signed(order, lane, now), lane, now), one)
    return b.load(one)


def sum_function(b: Builder, element: llvm.Type, terms: str = "itself") -> llvm.Value:
    """Return the function that adds up lines of some type of numbers, or their squares."""
    name = "sum" if terms == "itself" else terms
    return _line_function(b, name, element, lambda function: _write_sum(_Line(function, terms)))


def extreme_function(b: Builder, element: llvm.Type, sign: int) -> llvm.Value:
    """Return the function that finds the largest number of lines (sign 1) or the smallest one."""
    name = "maximum" if sign > 0 else "minimum"
    return _line_function(b, name, element, lambda function: _write_extreme(_Line(function), sign))


def _line_function(
    b: Builder, name: str, element: llvm.Type, write: Callable[[llvm.Function], None]
) -> llvm.Value:
    """Return the shared function that takes lines of some type of numbers into a state."""
    kind = llvm.FunctionType(WORD, [element.as_pointer(), WORD, WORDS])
    return declared(b, f"ssr_{name}_{element}", kind, write)


def _write_sum(line: _Line) -> None:
    """Write the addition of a line to a sum.

    Parts are added up in the lanes of the state while they are exact; the limbs get them when the
    level changes, when they could be full, and at last in `total`.
    """
    b = line.builder
    again = line.function.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)
    seen = b.icmp_signed("!=", line.get(0), WORD(0))
    many, one, sums, rest = _take_apart(line, line.get(1))
    if line.terms == "squares" and line.element == DOUBLE:  # float32 squares need no scaling
        unusual = _unusual(b, _larger(b, 1, many, b.variable(b.load(one))))
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
            more = b.insert_element(_splat(0.0, True), scalar, NUMBER(0))
            _add_to_lanes(b, line.state, place, vector, more)
        with b.if_then(b.icmp_signed(">", count, WORD(FULL))):
            _flush(b, line.state)
    b.ret(WORD(0))


def _lane_pointer(b: Builder, state: llvm.Value, place: int) -> llvm.Value:
    """Return the address of the lanes of a limb in a state."""
    return b.bitcast(b.at(state, 8 + place * LANES), DOUBLES.as_pointer())


def _add_to_lanes(b: Builder, state: llvm.Value, place: int, *parts: llvm.Value) -> None:
    """Add sums of parts to the lanes of a limb."""
    pointer = _lane_pointer(b, state, place)
    b.store(reduce(b.fadd, parts, b.load(pointer, align=8)), pointer, align=8)


def _any_beyond(b: Builder, many: llvm.Value, limit: llvm.Value) -> llvm.Value:
    """Return whether one of the magnitudes in a variable is beyond a limit."""
    over = b.icmp_signed(">", b.load(many), _spread(b, limit, True))
    return b.icmp_signed("!=", b.bitcast(over, llvm.IntType(LANES)), llvm.IntType(LANES)(0))


def _limit(b: Builder, level: llvm.Value) -> llvm.Value:
    """Return the bits of the largest magnitude that fits into a level."""
    exponent = b.add(b.mul(b.add(level, WORD(1)), WORD(WIDTH)), WORD(1022))
    tiny = b.sub(b.shl(WORD(1), b.add(exponent, WORD(51))), WORD(1))
    normal = b.sub(b.shl(exponent, WORD(52)), WORD(1))
    huge = b.icmp_signed(">=", exponent, WORD(2047))
    normal = b.select(huge, WORD(INFINITE - 1), normal)
    return b.select(b.icmp_signed("<=", exponent, WORD(0)), tiny, normal)


def _flush(b: Builder, state: llvm.Value) -> None:
    """Add the lanes of a state to its limbs."""
    level = b.get(state, 1)
    top = b.sub(level, _scaled(b, level))
    for place in range(3):
        pointer = _lane_pointer(b, state, place)
        part = DOUBLE(0.0)
        for lane in _lanes(b, b.load(pointer, align=8)):
            part = b.fadd(part, lane)
        unit = _power(b, b.sub(WORD(place), top))
        limb = b.at(state, 2 + place)
        b.store(b.add(b.load(limb), b.fptosi(b.fmul(part, unit), WORD)), limb)
        b.store(_splat(0.0, True), pointer, align=8)
    b.store(WORD(0), b.at(state, 7))


def _add_special(line: _Line) -> None:
    """Add up the terms that are not finite."""
    b = line.builder
    with b.count_to(line.count) as number:
        term = line.term(b.get(line.data, number), DOUBLE)
        with b.if_then(b.icmp_signed(">=", _magnitude(b, term, False), WORD(INFINITE))):
            total = b.fadd(b.bitcast(line.get(6), DOUBLE), term)
            line.put(6, b.bitcast(total, WORD))
    line.put(5, WORD(1))


def _unusual(b: Builder, largest: llvm.Value) -> llvm.Value:
    """Return whether squares need scaling, by the bits of the largest one: 1 down, 2 up, 0 none."""
    small = b.icmp_signed("<", largest, WORD(_SMALL))
    large = b.icmp_signed(">", largest, WORD(_LARGE))
    return b.select(large, WORD(1), b.select(small, WORD(2), WORD(0)))


def _level(b: Builder, bits: llvm.Value) -> llvm.Value:
    """Return the highest limb of a positive number, (floor(log2(number)) + 1) // WIDTH."""
    biased = b.lshr(bits, WORD(52))
    zeros = b.ctlz(bits, llvm.IntType(1)(0))
    tiny = b.sub(WORD(63 - 1074), zeros)
    exponent = b.select(b.icmp_signed("==", biased, WORD(0)), tiny, b.sub(biased, WORD(1023)))
    return b.sub(b.udiv(b.add(exponent, WORD(100 * WIDTH + 1)), WORD(WIDTH)), WORD(100))


def _raise_level(line: _Line, level: llvm.Value) -> None:
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


def _scaled(b: Builder, level: llvm.Value) -> llvm.Value:
    """Return the number of limbs by which terms are scaled down."""
    low = b.select(b.icmp_signed("<", level, WORD(-FAR)), WORD(-SHIFT), WORD(0))
    return b.select(b.icmp_signed(">", level, WORD(FAR)), WORD(SHIFT), low)


def _power(b: Builder, limbs: llvm.Value) -> llvm.Value:
    """Return 2 to the power of a number of limbs."""
    exponent = b.add(b.mul(limbs, WORD(WIDTH)), WORD(1023))
    return b.bitcast(b.shl(exponent, WORD(52)), DOUBLE)


def _take_apart(
    line: _Line, level: llvm.Value
) -> tuple[llvm.Value, llvm.Value, list[llvm.Value], list[llvm.Value]]:
    """Return the largest magnitudes as bits, and the sums of parts from a highest limb on.

    Both have separate variables for the lanes and for the remaining terms. The sums are invalid if
    a term does not fit into the highest limb.
    """
    b = line.builder
    begins = {vector: _anchors(b, level, vector) for vector in (True, False)}
    sums = {
        vector: [b.variable(anchor) for anchor in anchors]
        for vector, (_, anchors) in begins.items()
    }
    largest = {vector: b.variable(_splat(0, vector)) for vector in (True, False)}
    line.each(
        lambda terms, vector: _split(
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


def _anchors(b: Builder, level: llvm.Value, vector: bool) -> tuple[llvm.Value, list[llvm.Value]]:
    """Return the factor of terms, and the initial values of the sums of their parts.

    Each initial value is so large that its last bit is the unit of a limb: the change of the sum
    when a term is added is the part of the term.
    """
    shift = _scaled(b, level)
    scale = _power(b, b.neg(shift))
    above = [b.sub(b.sub(level, shift), WORD(place)) for place in range(3)]
    anchors = [b.fmul(_power(b, limb), DOUBLE(1.5 * 2.0**52)) for limb in above]
    return _spread(b, scale, vector), [_spread(b, anchor, vector) for anchor in anchors]


def _split(
    b: Builder,
    terms: llvm.Value,
    scale: llvm.Value,
    sums: Sequence[llvm.Value],
    largest: llvm.Value,
    vector: bool,
) -> None:
    """Add the parts of terms to sums, and record the bits of the largest magnitude.

    An odd last bit of the term decides ties, independently of the value of a sum.
    """
    size, now = _magnitude(b, terms, vector), b.load(largest)
    b.store(b.select(b.icmp_signed(">", size, now), size, now), largest)
    rest = b.fmul(terms, scale)
    for place, pointer in enumerate(sums):
        known = b.load(pointer)
        total = b.fadd(known, _odd(b, rest, vector))
        b.store(total, pointer)
        part = b.fsub(total, known)
        rest = b.fsub(rest, part) if place else b.elementwise("fma", terms, scale, b.fneg(part))


def _odd(b: Builder, numbers: llvm.Value, vector: bool) -> llvm.Value:
    """Return numbers with the last bit set."""
    bits = b.or_(b.bitcast(numbers, INTEGERS if vector else WORD), _splat(1, vector))
    return b.bitcast(bits, DOUBLES if vector else DOUBLE)


def _write_extreme(line: _Line, sign: int) -> None:
    """Write the search of a line for the largest number (sign 1) or the smallest one."""
    b = line.builder
    worst = -(2**63) if sign > 0 else POSITIVE
    first = b.select(b.icmp_signed("==", line.get(0), WORD(0)), WORD(worst), line.get(1))
    many, one = b.variable(_splat(worst, True)), b.variable(first)

    def take(terms: llvm.Value, vector: bool) -> None:
        bits = b.bitcast(terms, INTEGERS if vector else WORD)
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


def value_of(b: Builder, row: llvm.Value) -> llvm.Value:
    """Return the value of a sum whose state is at an address."""
    kind = llvm.FunctionType(DOUBLE, [row.type])
    return b.call(declared(b, "ssr_total", kind, _write_total), [row])


def _write_total(function: llvm.Function) -> None:
    """Write the conversion of a state to its value."""
    (row,) = function.args
    b = Builder.beginning(function)
    with b.if_then(b.icmp_signed("!=", b.get(row, 0), WORD(0))):
        _flush(b, row)
    seen, level, high, middle, low, special, bits = (b.get(row, n) for n in range(7))
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
