"""LLVM IR of operations on bundles of lines, and of rows with periodic terms.

Their semantics are defined by `ssr.runtime.bundles` and `ssr.runtime.periods`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.operations import BUNDLE
from ..kernel.types import Type, Vector
from ..runtime import target
from ..runtime.constants import WINDOW
from .builder import BIT, NUMBER, WORD, Builder, known
from .values import Value, Writer, converted, llvm_type

Writing: TypeAlias = Callable[[llvm.Value], None]


def load(b: Builder, data: llvm.Value, count: int) -> llvm.Value:
    """Write the load of contiguous values as a vector."""
    vector = llvm.VectorType(data.type.pointee, count)
    return b.load(b.bitcast(data, vector.as_pointer()), align=bytes_of(data))


def store(b: Builder, value: llvm.Value, data: llvm.Value) -> None:
    """Write the store of a vector to contiguous elements."""
    b.store(value, b.bitcast(data, value.type.as_pointer()), align=bytes_of(data))


def bytes_of(data: llvm.Value) -> int:
    """Return the bytes of a number that is pointed at."""
    return 8 if isinstance(data.type.pointee, llvm.DoubleType) else 4


def masked_load(b: Builder, vector: llvm.Type, data: llvm.Value, mask: llvm.Value) -> llvm.Value:
    """Write the load of contiguous values; masked-off values are not read, and are zero."""
    place = b.bitcast(data, vector.as_pointer())
    given = place, NUMBER(bytes_of(data)), mask, llvm.Constant(vector, None)
    return _masked(b, "load", vector, vector, given)


def masked_store(b: Builder, value: llvm.Value, data: llvm.Value, mask: llvm.Value) -> None:
    """Write the store of the numbers with a mask."""
    place = b.bitcast(data, value.type.as_pointer())
    _masked(b, "store", llvm.VoidType(), value.type, (value, place, NUMBER(bytes_of(data)), mask))


def _masked(
    b: Builder, name: str, result: llvm.Type, vector: llvm.Type, given: Sequence[llvm.Value]
) -> llvm.Value:
    element = "f64" if isinstance(vector.element, llvm.DoubleType) else "f32"
    whole = f"llvm.masked.{name}.v{vector.count}{element}.p0"
    return b.call(b.external(whole, result, *[value.type for value in given]), given)


def between(b: Builder, count: int, low: llvm.Value, high: llvm.Value) -> llvm.Value:
    """Write for each place of a vector whether it is in a range.

    Places are compared as integers of such a size that a vector of them is one register.
    """
    bits = 8 * target.current().vector_bytes // count or WORD.width
    word = llvm.IntType(min(bits, WORD.width))
    places = llvm.Constant(llvm.VectorType(word, count), [*range(count)])

    def limit(number: llvm.Value) -> llvm.Value:
        if word != WORD:
            number = b.trunc(b.largest(WORD(0), b.smallest(WORD(count), number)), word)
        return b.spread(number, count)

    tests = [] if known(low) == 0 else [b.icmp_signed(">=", places, limit(low))]
    if known(high) != count:
        tests.append(b.icmp_signed("<", places, limit(high)))
    truths = llvm.VectorType(BIT, count)
    return reduce(b.and_, tests) if tests else llvm.Constant(truths, [BIT(1)] * count)


# -- bundles of lines ------------------------------------------------------------------------------


def _take(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    lines, place = given
    assert isinstance(type_, Vector)
    return load(b, b.at(lines.memory.data, place.bits), type_.lanes)


def _put(b: Builder, given: Sequence[Value], type_: Type) -> None:
    lines, place, value = given
    bundle = _bundle_of(lines)
    number = Value(value.type, value.bits)
    if not isinstance(value.type, Vector):
        number = Value(ir.Scalar(bundle.element), value.bits)
    store(b, converted(b, number, bundle), b.at(lines.memory.data, place.bits))


def _bundle_of(lines: Value) -> Vector:
    from ..kernel.operations import result

    found = result("take", (lines.type,))
    assert isinstance(found, Vector)
    return found


def _copied(name: str, write: Callable[[_Copy], None]) -> Writer:
    """Return the writer of a copy of lines, by a function that the module has once."""

    def call(b: Builder, given: Sequence[Value], type_: Type) -> None:
        lines, place, step, array, start, *rest = given
        assert isinstance(lines.type, ir.Array)
        here, there = b.at(lines.memory.data, place.bits), b.at(array.memory.data, start.bits)
        function = _function_of(b.module, f"ssr_{name}_{lines.type.element}", here.type, write)
        b.call(function, [here, there, step.bits, *(each.bits for each in rest)])

    return call


def _function_of(
    module: llvm.Module, name: str, kind: llvm.Type, write: Callable[[_Copy], None]
) -> llvm.Value:
    """Return the function that copies lines between memory of a type; define it at first use."""
    known = module.globals.get(name)
    if known is not None:
        return known
    made = llvm.Function(
        module, llvm.FunctionType(llvm.VoidType(), [kind, kind, *[WORD] * 5]), name
    )
    made.linkage = "internal"
    made.attributes.add("noinline")
    for pointer in made.args[:2]:
        pointer.add_attribute("noalias")
    b = Builder.beginning(made)
    size = 8 if isinstance(kind.pointee, llvm.DoubleType) else 4
    write(_Copy(b, BUNDLE // size, *made.args))
    b.ret_void()
    return made


@dataclass(frozen=True, slots=True)
class _Copy:
    """The copy of lines between bundles and an array, whose points and lines lie apart."""

    b: Builder
    size: int
    lines: llvm.Value
    array: llvm.Value
    step: llvm.Value
    along: llvm.Value
    across: llvm.Value
    count: llvm.Value
    many: llvm.Value

    def bundle(self, point: llvm.Value) -> llvm.Value:
        """Return the address of the bundle of a point."""
        return self.b.at(self.lines, self.b.mul(point, self.step))

    def write(self, one: Writing, block: Writing, single: Writing) -> None:
        """Write the copies: of contiguous points, of square blocks, or of single points."""
        b, size = self.b, WORD(self.size)
        full = b.icmp_signed("==", self.many, size)
        contiguous = b.and_(full, b.icmp_signed("==", self.across, WORD(1)))
        with b.if_else(contiguous) as (then, otherwise):
            with then, b.count_to(self.count) as point:
                one(point)
            with otherwise:
                blocks = b.sdiv(self.count, size)
                turned = b.and_(full, b.icmp_signed("==", self.along, WORD(1)))
                blocks = b.select(turned, blocks, WORD(0))
                with b.count_to(blocks) as number:
                    block(b.mul(number, size))
                done = b.mul(blocks, size)
                with b.count_to(b.sub(self.count, done)) as rest:
                    single(b.add(done, rest))


def _gathering(copy: _Copy) -> None:
    b, size, to, array = copy.b, copy.size, copy.bundle, copy.array

    def one(point: llvm.Value) -> None:
        store(b, load(b, b.at(array, b.mul(point, copy.along)), size), to(point))

    def block(first: llvm.Value) -> None:
        of = [b.at(array, b.add(first, b.mul(WORD(n), copy.across))) for n in range(size)]
        for n, vector in enumerate(_turned(b, [load(b, data, size) for data in of])):
            store(b, vector, to(b.add(first, WORD(n))))

    def single(point: llvm.Value) -> None:
        last = b.sub(copy.many, WORD(1))
        with b.count_to(WORD(size)) as lane:
            line = b.smallest(last, lane)
            of = b.add(b.mul(point, copy.along), b.mul(line, copy.across))
            b.store(b.get(array, of), b.at(to(point), lane))

    copy.write(one, block, single)


def _scattering(copy: _Copy) -> None:
    b, size, of, array = copy.b, copy.size, copy.bundle, copy.array

    def one(point: llvm.Value) -> None:
        store(b, load(b, of(point), size), b.at(array, b.mul(point, copy.along)))

    def block(first: llvm.Value) -> None:
        rows = [load(b, of(b.add(first, WORD(n))), size) for n in range(size)]
        for n, vector in enumerate(_turned(b, rows)):
            store(b, vector, b.at(array, b.add(first, b.mul(WORD(n), copy.across))))

    def single(point: llvm.Value) -> None:
        with b.count_to(copy.many) as lane:
            to = b.add(b.mul(point, copy.along), b.mul(lane, copy.across))
            b.store(b.get(of(point), lane), b.at(array, to))

    copy.write(one, block, single)


def _turned(b: Builder, rows: Sequence[llvm.Value]) -> list[llvm.Value]:
    """Return the columns of a square block of numbers that is given by its rows.

    Blocks on both sides of the diagonal change places: halves first, then quarters, and so on.
    """
    size, distance = len(rows), len(rows) // 2
    found = list(rows)
    while distance:
        low = [n if not n & distance else size + n - distance for n in range(size)]
        high = [n + distance if not n & distance else size + n for n in range(size)]
        for n in range(size):
            if not n & distance:
                pair = found[n], found[n + distance]
                found[n], found[n + distance] = (shuffled(b, *pair, p) for p in (low, high))
        distance //= 2
    return found


def shuffled(
    b: Builder, first: llvm.Value, second: llvm.Value, places: Sequence[int]
) -> llvm.Value:
    """Write elements of two vectors, which are counted one after the other."""
    chosen = llvm.Constant(llvm.VectorType(NUMBER, len(places)), [NUMBER(n) for n in places])
    return b.shuffle_vector(first, second, chosen)


# -- bundles of rows -------------------------------------------------------------------------------


def _repeated(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    _, *numbers = given
    vector = llvm_type(type_)
    found = vector(llvm.Undefined)
    for place in range(vector.count):
        number = numbers[place % len(numbers)]
        found = b.insert_element(found, number.bits, NUMBER(place))
    return found


def _take_rows(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    lines, place, weights, low, high = given
    vector = llvm_type(type_)
    rows = between(b, vector.count, low.bits, high.bits)
    read = b.and_(_present(b, weights.bits), rows)
    return masked_load(b, vector, b.at(lines.memory.data, place.bits), read)


def _present(b: Builder, weights: llvm.Value) -> llvm.Value:
    """Write for each row of a bundle whether its weight is not zero: a constant."""
    return b.fcmp_unordered("!=", weights, llvm.Constant(weights.type, None))


def _take_wanted(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    lines, place, first, low, high, *reads = given
    vector = llvm_type(type_)
    bits = llvm.IntType(WINDOW * vector.count)
    there = _bits_between(b, bits, low.bits, high.bits)
    wanted = bits(0)
    for distance, rows in zip(reads[::2], reads[1::2], strict=True):
        found = b.and_(there, _as(b, rows.bits, bits))
        wanted = b.or_(wanted, b.shl(found, _as(b, distance.bits, bits)))
    lanes = b.trunc(b.lshr(wanted, _as(b, first.bits, bits)), llvm.IntType(vector.count))
    data = b.at(lines.memory.data, place.bits)

    def partly() -> llvm.Value:
        return masked_load(b, vector, data, b.bitcast(lanes, llvm.VectorType(BIT, vector.count)))

    if target.current().masks:
        return partly()
    with b.if_else(b.icmp_unsigned("==", lanes, lanes.type(-1))) as (all_lanes, some_lanes):
        with all_lanes:
            whole, after_whole = load(b, data, vector.count), b.block
        with some_lanes:
            part, after_part = partly(), b.block
    found = b.phi(vector)
    found.add_incoming(whole, after_whole)
    found.add_incoming(part, after_part)
    return found


def _bits_between(b: Builder, bits: llvm.IntType, low: llvm.Value, high: llvm.Value) -> llvm.Value:
    """Write the set of rows from a first one to before a last one as an integer.

    The last one may come before the first one: there are no rows then.
    """
    before_each = []
    for end in (low, high):
        end = b.largest(WORD(0), b.smallest(WORD(bits.width - 1), end))
        before_each.append(b.sub(b.shl(bits(1), _as(b, end, bits)), bits(1)))
    before, until = before_each
    return b.and_(until, b.not_(before))


def _as(b: Builder, number: llvm.Value, kind: llvm.Type) -> llvm.Value:
    """Return a nonnegative integer extended to a type."""
    return number if number.type == kind else b.zext(number, kind)


def _of_two(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    left, right, number = given
    count, first = left.bits.type.count, number.known
    return shuffled(b, left.bits, right.bits, range(first, first + count))


def _put_rows(b: Builder, given: Sequence[Value], type_: Type) -> None:
    lines, place, value, low, high = given
    count, data = value.bits.type.count, b.at(lines.memory.data, place.bits)

    def partly() -> None:
        masked_store(b, value.bits, data, between(b, count, low.bits, high.bits))

    if target.current().masks:
        partly()
        return
    begun = b.icmp_signed("<=", low.bits, WORD(0))
    inside = b.and_(begun, b.icmp_signed(">=", high.bits, WORD(count)))
    with b.if_else(inside) as (all_rows, some_rows):
        with all_rows:
            store(b, value.bits, data)
        with some_rows:
            partly()


def _fma_present(b: Builder, given: Sequence[Value], type_: Type) -> llvm.Value:
    weights, x, total = (converted(b, value, type_) for value in given)
    return b.select(_present(b, weights), b.elementwise("fma", weights, x, total), total)


WRITERS: Mapping[str, Writer] = {
    "take": _take,
    "put": _put,
    "gather": _copied("gather", _gathering),
    "scatter": _copied("scatter", _scattering),
    "repeated": _repeated,
    "take_rows": _take_rows,
    "take_wanted": _take_wanted,
    "of_two": _of_two,
    "put_rows": _put_rows,
    "fma_present": _fma_present,
}
