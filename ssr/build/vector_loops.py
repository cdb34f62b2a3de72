"""Loops over independent rows as vectors, in LLVM's language.

LLVM's own vectors run from the first row of a loop on, and the rows that are left over at its end
one by one. On lines of a few hundred points that is a good part of the time, and so are vectors
that lie in two cache lines. Here a line is cut where vectors of most of its accesses begin: the
vectors at both ends have masks, and those between them have none. What a row computes is the same
in each of them, so bits do not depend on where a line is cut. `vector_plans` says which loops have
this form.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache, reduce
from typing import Any

from llvmlite import ir as llvm
from llvmlite.binding import get_host_cpu_features, parse_assembly
from numba.core.cgutils import alloca_once

from ..points.numbers import CACHE_LINE
from ..runtime import intrinsics
from .vector_parts import Part
from .vector_plans import ARITHMETIC, COMPARISONS, IN_LLVM, WRITTEN, Plan, Translation

BLOCK = 8
"""Vectors on which a part of a long body runs before the next one does."""

LONG = 16
"""Vectors of a loop from which on they begin where cache lines do, even if there are more then."""

AHEAD = 80
"""Cache lines between a request for memory and its use, if a loop accesses one or two fields."""

UNDER_WAY = 128
"""Cache lines between requests for memory and their uses, for all fields of a loop together."""

NEAR = 2**22
"""Bytes of fields that need no requests."""

FAR = 2**21
"""Bytes of fields from which on vectors with requests are better than LLVM's own without."""


def has_masks() -> bool:
    """Whether the processor loads and stores parts of vectors as fast as whole ones."""
    return bool(get_host_cpu_features().get("avx512vl"))


@cache
def available() -> bool:
    """Whether the processor has masks, and LLVM writes loads with them as we do."""
    if not has_masks():
        return False
    try:
        parse_assembly(_PROBE).verify()
    except RuntimeError:  # an LLVM that writes loads with masks otherwise
        return False
    return True


_PROBE = """
declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)
define <8 x double> @probe(ptr %0, <8 x i1> %1) {
  %3 = call <8 x double> @llvm.masked.load.v8f64.p0(ptr %0, i32 8, <8 x i1> %1, <8 x double> zeroinitializer)
  ret <8 x double> %3
}
"""  # noqa: E501


class _Vector:
    """The body of a loop at the rows of one vector.

    Parameters
    ----------
    translation
        The function under translation.
    variable
        The loop's variable, which counts rows.
    dtype
        The type of numbers, as Numba names it.
    mask
        Which rows there are; without one all.
    """

    def __init__(
        self, translation: Translation, variable: str, dtype: Any, mask: Any = None
    ) -> None:
        self._translation = translation
        self._variable = variable
        self._builder = translation.builder
        self._mask = mask
        self._lanes = CACHE_LINE * 8 // dtype.bitwidth
        number = llvm.DoubleType() if dtype.bitwidth == 64 else llvm.FloatType()
        self._type = llvm.VectorType(number, self._lanes)
        self._code = f"v{self._lanes}f{dtype.bitwidth}"
        self._size = dtype.bitwidth // 8
        self.values: dict[str, Any] = {}

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Write the statements of a body."""
        for node in body:
            self._translation.mark(node)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values[name] = self._value(value, self._mask)
                case ast.Expr(value=ast.Call(args=[ast.Name(id=array), offset, value])):
                    self._store(array, offset, self._value(value, self._mask))

    def _place(self, array: str, offset: ast.expr, mask: Any) -> Any:
        """Return the address of an element, which need not be in the array if it has a mask."""
        place = self._address(array, offset, inside=mask is None)
        return self._builder.bitcast(place, self._type.as_pointer())

    def _address(self, array: str, offset: ast.expr, *, inside: bool = True) -> Any:
        start, number = self._translation.start_of(array), self._translation.integer_of(offset)
        return self._builder.gep(start, [number], inbounds=inside)

    def _store(self, array: str, offset: ast.expr, value: Any) -> None:
        place = self._place(array, offset, self._mask)
        if self._mask is None:
            self._builder.store(value, place, align=self._size)
            return
        word = llvm.IntType(32)
        function = self._declared(
            f"llvm.masked.store.{self._code}.p0",
            llvm.VoidType(),
            (self._type, place.type, word, self._mask.type),
        )
        self._builder.call(function, (value, place, word(self._size), self._mask))

    def _load(self, array: str, offset: ast.expr, mask: Any) -> Any:
        place = self._place(array, offset, mask)
        if mask is None:
            return self._builder.load(place, align=self._size)
        word = llvm.IntType(32)
        function = self._declared(
            f"llvm.masked.load.{self._code}.p0",
            self._type,
            (place.type, word, mask.type, self._type),
        )
        zero = llvm.Constant(self._type, None)
        return self._builder.call(function, (place, word(self._size), mask, zero))

    def _declared(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        module = self._builder.module
        kind = llvm.FunctionType(result, arguments)
        return module.globals.get(name) or llvm.Function(module, kind, name)

    def _all(self, number: Any) -> Any:
        """Return the vector of which each element is a number."""
        if isinstance(number, llvm.Constant):
            return llvm.Constant(llvm.VectorType(number.type, self._lanes), [number] * self._lanes)
        builder, zero = self._builder, llvm.IntType(32)(0)
        kind = llvm.VectorType(number.type, self._lanes)
        none = llvm.Constant(kind, llvm.Undefined)
        one = builder.insert_element(none, number, zero)
        places = llvm.Constant(llvm.VectorType(llvm.IntType(32), self._lanes), None)
        return builder.shuffle_vector(one, none, places)

    def _value(self, node: ast.expr, mask: Any) -> Any:
        builder = self._builder
        match node:
            case ast.Name(id=name):
                if name in self.values:
                    return self.values[name]
                return self._all(self._translation.bits_of(node))
            case ast.BinOp(left, ast.BitAnd(), right):
                return builder.and_(self._value(left, mask), self._value(right, mask))
            case ast.BinOp(left, ast.BitOr(), right):
                return builder.or_(self._value(left, mask), self._value(right, mask))
            case ast.BinOp(left, op, right):
                write = getattr(builder, ARITHMETIC[type(op)])
                return write(self._value(left, mask), self._value(right, mask))
            case ast.UnaryOp(ast.Not(), operand):
                return builder.not_(self._value(operand, mask))
            case ast.UnaryOp(_, operand):
                return builder.fsub(self._type(-0.0), self._value(operand, mask))
            case ast.Compare(left, [op], [right]):
                compare = (
                    builder.fcmp_unordered if isinstance(op, ast.NotEq) else builder.fcmp_ordered
                )
                return compare(
                    COMPARISONS[type(op)], self._value(left, mask), self._value(right, mask)
                )
            case ast.IfExp(test, body, orelse):
                return self._choice(test, body, orelse, mask)
            case ast.Call(func=function, args=args):
                return self._call(self._translation.static(function), args, mask)
        raise AssertionError(ast.dump(node))

    def _choice(self, test: ast.expr, body: ast.expr, orelse: ast.expr, mask: Any) -> Any:
        """Write both values; what is not chosen is not read, as it may be outside of an array."""
        builder = self._builder
        chosen = self._value(test, mask)
        other = builder.not_(chosen)
        first = self._value(body, chosen if mask is None else builder.and_(mask, chosen))
        second = self._value(orelse, other if mask is None else builder.and_(mask, other))
        return builder.select(chosen, first, second)

    def _call(self, function: Any, args: Sequence[ast.expr], mask: Any) -> Any:
        if function is intrinsics.ld:
            array, offset = args
            assert isinstance(array, ast.Name)
            if _mentions(offset, self._variable):
                return self._load(array.id, offset, mask)
            return self._all(self._builder.load(self._address(array.id, offset)))
        given = [self._value(arg, mask) for arg in args]
        if function in WRITTEN:
            return WRITTEN[function](None, self._builder, None, given)
        name = f"{IN_LLVM[function]}.{self._code}"
        meant = self._declared(name, self._type, [self._type] * len(given))
        return self._builder.call(meant, given)


def _mentions(node: ast.expr, name: str) -> bool:
    """Whether an expression has a variable in it."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def write(translation: Translation, node: ast.For, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop."""
    if len(plan.parts) > 1:
        _write_parts(translation, node, plan, start, stop)
    else:
        _write_whole(translation, node, plan, start, stop)


def are_far(translation: Translation, plan: Plan) -> Any:
    """Return whether the fields of a loop are so large that it asks for memory ahead."""
    return _are_large(translation, plan, FAR)


def _are_large(translation: Translation, plan: Plan, size: int) -> Any:
    """Return whether the fields of a loop have more than some bytes."""
    builder, word = translation.builder, llvm.IntType(64)
    counts = [translation.count_of(array) for array, _, _ in plan.ahead]
    total = reduce(builder.add, counts, word(0))
    return builder.icmp_signed(">", total, word(size * 8 // plan.dtype.bitwidth))


def _distance(plan: Plan) -> int:
    """Return how many rows lie between a request and its use."""
    lines = min(AHEAD, UNDER_WAY // max(len(plan.ahead), 1))
    return lines * CACHE_LINE * 8 // int(plan.dtype.bitwidth)


def write_far(translation: Translation, node: ast.For, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop over fields that are far: all vectors have masks, and ask for memory.

    The distance is a constant, so that the place of a request takes no register of its own.
    """
    assert isinstance(node.target, ast.Name)
    builder, name = translation.builder, node.target.id
    word, lanes = start.type, start.type(CACHE_LINE * 8 // plan.dtype.bitwidth)
    before = builder.block
    main, end = (translation.new_block(f"far.{part}") for part in ("main", "end"))
    builder.cbranch(builder.icmp_signed("<", start, stop), main, end)

    builder.position_at_end(main)
    row = builder.phi(word, name)
    row.add_incoming(start, before)
    translation.counts(name, row)
    requests = [
        (translation.start_of(array), translation.integer_of(line), is_read)
        for array, line, is_read in plan.ahead
    ]
    _request(translation, requests, word(_distance(plan)))
    _Vector(translation, name, plan.dtype, _mask(builder, lanes, row, row, stop)).run(node.body)
    following = builder.add(row, lanes, flags=["nsw"])
    row.add_incoming(following, main)
    back = builder.cbranch(builder.icmp_signed("<", following, stop), main, end)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))
    builder.position_at_end(end)


def _write_whole(
    translation: Translation, node: ast.For, plan: Plan, start: Any, stop: Any
) -> None:
    """Write a loop of one part: a vector with a mask, whole vectors while there are some, a rest.

    A loop of some length begins where a cache line does, before its first row, if the lines of the
    array begin alike; the mask leaves out what comes before.
    """
    assert isinstance(node.target, ast.Name)
    builder, name = translation.builder, node.target.id
    word, bits = start.type, plan.dtype.bitwidth
    lanes = word(CACHE_LINE * 8 // bits)
    before, ends, test, main, rest, end = (
        translation.new_block(f"vectors.{part}")
        for part in ("before", "ends", "test", "main", "rest", "end")
    )
    builder.cbranch(builder.icmp_signed("<", start, stop), before, end)

    builder.position_at_end(before)
    translation.counts(name, start)
    array, number = plan.aligned.array, translation.integer_of(plan.aligned.offset)
    place = builder.gep(translation.start_of(array), [number])
    within = builder.and_(builder.ptrtoint(place, word), word(CACHE_LINE - 1))
    within = builder.udiv(within, word(bits // 8))
    count = builder.sub(stop, start)
    is_long = builder.icmp_signed(">=", count, word(LONG * lanes.constant))
    rest_of = builder.and_(builder.sub(count, word(1)), word(lanes.constant - 1))
    no_more = builder.icmp_signed("<", builder.add(within, rest_of), lanes)
    even = builder.and_(translation.steps_of(array), word(CACHE_LINE - 1))
    is_even = builder.icmp_signed("==", even, word(0))
    begins = builder.and_(is_even, builder.or_(is_long, no_more))
    first = builder.sub(start, builder.select(begins, within, word(0)))
    far = word(_distance(plan))
    ahead = builder.sub(builder.select(_are_large(translation, plan, NEAR), far, word(0)), start)
    requests = [
        (translation.start_of(array), builder.add(translation.integer_of(line), ahead), is_read)
        for array, line, is_read in plan.ahead
    ]
    at_once = builder.and_(
        builder.icmp_signed("==", first, start), builder.icmp_signed(">=", count, lanes)
    )
    builder.cbranch(at_once, test, ends)

    builder.position_at_end(ends)
    row = builder.phi(word, name)
    row.add_incoming(first, before)
    translation.counts(name, row)
    _request(translation, requests, row)
    _Vector(translation, name, plan.dtype, _mask(builder, lanes, row, start, stop)).run(node.body)
    following = builder.add(row, lanes)
    builder.branch(test)

    builder.position_at_end(test)
    whole = builder.phi(word, name)
    whole.add_incoming(first, before)
    whole.add_incoming(following, ends)
    stride = word(plan.together * lanes.constant)
    builder.cbranch(builder.icmp_signed("<=", whole, builder.sub(stop, stride)), main, rest)

    builder.position_at_end(main)
    for n in range(plan.together):
        here = builder.add(whole, word(n * lanes.constant), flags=["nsw"])
        translation.counts(name, here)
        _request(translation, requests, here)
        _Vector(translation, name, plan.dtype).run(node.body)
    whole.add_incoming(builder.add(whole, stride, flags=["nsw"]), main)
    back = builder.branch(test)
    back.set_metadata("llvm.loop", translation.loop(["llvm.loop.unroll.disable"]))

    builder.position_at_end(rest)
    row.add_incoming(whole, rest)
    builder.cbranch(builder.icmp_signed("<", whole, stop), ends, end)
    builder.position_at_end(end)


def _write_parts(
    translation: Translation, node: ast.For, plan: Plan, start: Any, stop: Any
) -> None:
    """Write a loop whose parts run on some vectors each, the last of which may have a mask."""
    assert isinstance(node.target, ast.Name)
    builder, name = translation.builder, node.target.id
    word, lanes = start.type, CACHE_LINE * 8 // plan.dtype.bitwidth
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
        vector = _Vector(translation, name, plan.dtype, mask)
        vector.values |= {value: builder.load(place(value, row)) for value in part.taken}
        vector.run(part.body)
        for value in part.kept:
            made = vector.values[value]
            if value not in rooms:
                rooms[value] = alloca_once(builder, made.type, size=BLOCK, name=value)
                rooms[value].align = CACHE_LINE
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
        run(part, row, _mask(builder, word(lanes), row, start, last))
        builder.branch(done)
        builder.position_at_end(done)
    first.add_incoming(further, builder.block)
    builder.cbranch(builder.icmp_signed("<", further, stop), block, end)
    builder.position_at_end(end)


def _request(translation: Translation, requests: Sequence[tuple[Any, Any, bool]], row: Any) -> None:
    """Ask for the memory that rows some way ahead access; near arrays are there already."""
    builder = translation.builder
    for start, line, is_read in requests:
        place = builder.gep(start, [builder.add(row, line)])
        intrinsics.requests(builder, place, is_read)


def _mask(builder: Any, lanes: Any, row: Any, start: Any, stop: Any) -> Any:
    """Return which rows of a vector, the first of which may be before ``start``, are in a loop."""

    def less(a: Any, b: Any) -> Any:
        return builder.select(builder.icmp_signed("<", a, b), a, b)

    count = lanes.constant
    kind = llvm.IntType(count)
    none = row.type(0)
    early = builder.sub(start, row)
    early = builder.select(builder.icmp_signed(">", early, none), early, none)
    late = builder.sub(lanes, less(builder.sub(stop, row), lanes))
    after = builder.shl(kind(-1), builder.trunc(early, kind))
    until = builder.lshr(kind(-1), builder.trunc(late, kind))
    return builder.bitcast(builder.and_(after, until), llvm.VectorType(llvm.IntType(1), count))
