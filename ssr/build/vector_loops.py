"""Loops over independent rows as vectors, in LLVM's language.

LLVM's own vectors run from the first row of a loop on, and the rows that are left over at its end
one by one. On lines of a few hundred points that is a good part of the time, and so are vectors
that lie in two cache lines. Here a line is cut where vectors of most of its accesses begin: the
vectors at both ends have masks, and those between them have none. What a row computes is the same
in each of them, so bits do not depend on where a line is cut.

A loop has this form if its body is a sequence of elementwise operations, whose loads and stores
are at the row's own place, or at a fixed distance from it; all other loops stay as they are.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple, Protocol

import numpy as np
from llvmlite import ir as llvm
from llvmlite.binding import get_host_cpu_features, parse_assembly
from numba.core import types

from ..runtime import intrinsics

BYTES = 64
"""Bytes of a vector, and of a cache line."""

LONG = 16
"""Vectors of a loop from which on they begin where cache lines do, even if there are more then."""

SHORT = 40
"""Statements of a loop from which on it computes rather than loads, and is left to LLVM."""

FEW = 24
"""Arrays of a function from which on places in them are not in registers, but in memory."""

AHEAD = 80
"""Cache lines between a request for memory and its use, if a loop accesses one or two fields."""

UNDER_WAY = 128
"""Cache lines between requests for memory and their uses, for all fields of a loop together."""

NEAR = 2**22
"""Bytes of fields that need no requests."""

_ARITHMETIC = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_IN_LLVM: Mapping[Any, str] = {
    intrinsics.fma: "llvm.fma", np.sqrt: "llvm.sqrt", builtins.abs: "llvm.fabs",
}  # fmt: skip
_WRITTEN: Mapping[Any, Callable[..., Any]] = {
    intrinsics.minimum: intrinsics.chooses("<"),
    intrinsics.maximum: intrinsics.chooses(">"),
    intrinsics.sign: intrinsics.writes_sign,
}


@cache
def available() -> bool:
    """Whether the processor loads and stores parts of vectors as fast as whole ones."""
    if not get_host_cpu_features().get("avx512vl"):
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


class Translation(Protocol):
    """The function under translation that a loop is in.

    Variables that are ``plain`` need no memory; those that are assigned once have ``definitions``.
    So many of its arguments are ``arrays``. Loops around the one that is being written may run
    ``backwards``.
    """

    builder: Any
    plain: frozenset[str]
    definitions: Mapping[str, ast.expr]
    arrays: int
    backwards: bool

    def mark(self, node: ast.stmt) -> None:
        """Let what follows stand for a statement."""

    def new_block(self, name: str) -> Any:
        """Return a new basic block."""

    def loop(self, fact: list[Any]) -> Any:
        """Return what tells LLVM a fact about a loop."""

    def static(self, node: ast.expr) -> Any:
        """Return what a name means outside of the function."""

    def kind_of(self, name: str) -> Any:
        """Return the type of a name that has a value, as Numba names it."""

    def counts(self, name: str, bits: Any) -> None:
        """Let the variable of a loop be an integer of LLVM's."""

    def bits_of(self, node: ast.expr) -> Any:
        """Return LLVM's value of an expression."""

    def integer_of(self, node: ast.expr) -> Any:
        """Return LLVM's value of an integer."""

    def start_of(self, array: str) -> Any:
        """Return the address of an array's first element."""

    def steps_of(self, array: str) -> Any:
        """Return the bits of all bytes between neighbours of an array, but for its last axis."""

    def count_of(self, array: str) -> Any:
        """Return the number of elements of an array."""


class Access(NamedTuple):
    """An array's element at an offset, and whether this is one for each row."""

    array: str
    offset: ast.expr
    own: bool


class Plan(NamedTuple):
    """What a loop over vectors needs to know: the type of numbers, and what it accesses.

    Vectors begin where the ``aligned`` access begins a cache line. Of each field that rows access,
    ``ahead`` has the line that sweeps meet first, and whether the field is read. So many vectors
    are computed in one round of the loop.
    """

    dtype: Any
    aligned: Access
    ahead: Sequence[tuple[str, ast.expr, bool]]
    together: int


class _Reader:
    """The check that the body of a loop can be computed on vectors, with all that it accesses."""

    def __init__(self, translation: Translation, variable: str) -> None:
        self._translation = translation
        self._variable = variable
        self._made: dict[str, bool] = {}
        self._chosen = False  # an element that no row may want is read with a mask, or not at all
        self._dtypes: set[Any] = set()
        self._loads: list[Access] = []
        self._stores: list[Access] = []

    def plan(self, body: Sequence[ast.stmt], independent: bool, together: int) -> Plan | None:
        """Return the plan of a loop, or None if it has none."""
        if not all(map(self._statement, body)) or len(self._dtypes) != 1 or not self._stores:
            return None
        if not all(access.own for access in self._stores):
            return None
        if not independent and not self._apart():
            return None
        (dtype,) = self._dtypes
        return Plan(dtype, self._aligned(), self._ahead(), together)

    def _apart(self) -> bool:
        """Whether what is written is accessed at one place of each row only."""
        places: dict[str, set[str]] = {access.array: set() for access in self._stores}
        for access in (*self._loads, *self._stores):
            if access.array in places:
                places[access.array].add(ast.dump(access.offset))
        return all(len(found) == 1 for found in places.values())

    def _aligned(self) -> Access:
        """Return the access that most others are aligned with; of those alike the first store.

        It is one of a field if there is one: lines of the arrays of kernels' own have any length.
        """
        accesses = [a for a in (*self._stores, *self._loads) if a.own]
        accesses = [a for a in accesses if self._is_field(a.array)] or accesses
        lengths = Counter((a.array, _shift(a.offset)) for a in accesses)
        most = max(lengths.values())
        return next(a for a in accesses if lengths[a.array, _shift(a.offset)] == most)

    def _is_field(self, array: str) -> bool:
        return bool(self._translation.kind_of(array).layout == "A")

    def _ahead(self) -> list[tuple[str, ast.expr, bool]]:
        """Return the first line of each field; the arrays of kernels' own are near.

        Sweeps that run backwards have met what lies ahead of them in memory.
        """
        if self._translation.backwards:
            return []
        lines: dict[str, list[ast.expr]] = {}
        for access in (*self._loads, *self._stores):
            if access.own and self._is_field(access.array):
                lines.setdefault(access.array, []).append(_line(access.offset))
        read = {access.array for access in self._loads}
        definitions = self._translation.definitions
        return [
            (array, furthest(offsets, definitions), array in read)
            for array, offsets in lines.items()
        ]

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name not in self._translation.plain:
                    return False
                is_truth = not self._real(value)
                self._made[name] = is_truth
                return not is_truth or self._truth(value)
            case ast.Expr(value=ast.Call(func=function, args=[array, offset, value])):
                if self._static(function) is not intrinsics.st or not self._real(value):
                    return False
                return self._accessed(array, offset, self._stores)
        return False

    def _static(self, node: ast.expr) -> Any:
        return self._translation.static(node)

    def _accessed(self, array: ast.expr, offset: ast.expr, kept: list[Access]) -> bool:
        if not isinstance(array, ast.Name):
            return False
        kind = self._translation.kind_of(array.id)
        own = self._distance(offset)
        if own is None or not isinstance(kind, types.Array) or (self._chosen and not own):
            return False
        self._dtypes.add(kind.dtype)
        kept.append(Access(array.id, offset, own))
        return isinstance(kind.dtype, types.Float)

    def _distance(self, node: ast.expr) -> bool | None:
        """Whether an index grows with the row by one, or is the same for all; else None."""
        names = [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]
        if any(name in self._made for name in names):
            return None
        if self._variable not in names:
            return False
        match node:
            case ast.Name():
                return True
            case ast.BinOp(left, ast.Add(), right):
                found = self._distance(left), self._distance(right)
                return True if found in ((True, False), (False, True)) else None
            case ast.BinOp(left, ast.Sub(), right):
                return (
                    True if (self._distance(left), self._distance(right)) == (True, False) else None
                )
        return None

    def _real(self, node: ast.expr) -> bool:
        """Whether an expression is a number, of arithmetic that vectors have."""
        match node:
            case ast.Name(id=name):
                if name in self._made:
                    return not self._made[name]
                kind = self._translation.kind_of(name)
                if isinstance(kind, types.Float):
                    self._dtypes.add(kind)
                    return True
                return False
            case ast.BinOp(left, op, right):
                return type(op) in _ARITHMETIC and self._real(left) and self._real(right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._real(operand)
            case ast.IfExp(test, body, orelse):
                before, self._chosen = self._chosen, True
                found = all((self._truth(test), self._real(body), self._real(orelse)))
                self._chosen = before
                return found
            case ast.Call(func=function, args=args, keywords=[]):
                meant = self._static(function)
                if meant is intrinsics.ld:
                    array, offset = args
                    return self._accessed(array, offset, self._loads)
                known = any(meant is one for one in (*_IN_LLVM, *_WRITTEN))
                return known and all(map(self._real, args))
        return False

    def _truth(self, node: ast.expr) -> bool:
        """Whether an expression is a condition that vectors have."""
        match node:
            case ast.Name(id=name):
                if name in self._made:
                    return self._made[name]
                return bool(self._translation.kind_of(name) == types.boolean)
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr(), right):
                return self._truth(left) and self._truth(right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._truth(operand)
            case ast.Compare(left, [op], [right]):
                return type(op) in _COMPARISONS and self._real(left) and self._real(right)
        return False


def _line(offset: ast.expr) -> ast.expr:
    """Return the offset of a row's own place on the line that an access is on."""
    return offset.left if _shift(offset) and isinstance(offset, ast.BinOp) else offset


def _mentions(node: ast.expr, name: str) -> bool:
    """Whether an expression has a variable in it."""
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def _shift(offset: ast.expr) -> str:
    """Return what is added to a row's own place along its line, as text."""
    match offset:
        case ast.BinOp(_, ast.Add() | ast.Sub() as op, ast.Constant(value=int(number))):
            return f"{type(op).__name__} {number}"
    return ""


def furthest(offsets: Sequence[ast.expr], definitions: Mapping[str, ast.expr]) -> ast.expr:
    """Return the offset of the line that most sweeps meet first: the last one in memory.

    Lines are compared if their offsets differ by multiples of strides only, which are names; the
    largest group of such lines counts. Names of offsets have ``definitions``.

    >>> lines = [ast.parse(t, mode="eval").body for t in ("r + i", "(k + 1) * s + i", "k * s + i")]
    >>> definition = ast.parse("(k - 1) * s", mode="eval").body
    >>> ast.unparse(furthest(lines, {"r": definition}))
    '(k + 1) * s + i'
    """
    groups: dict[Any, list[tuple[list[tuple[str, int]], int]]] = {}
    for place, offset in enumerate(offsets):
        terms = _expanded(offset, definitions)
        steps = sorted((names[0], n) for names, n in terms.items() if len(names) == 1)
        rest = frozenset((names, n) for names, n in terms.items() if len(names) != 1)
        groups.setdefault(rest, []).append((steps, place))
    lines = max(groups.values(), key=len)
    names = sorted({name for steps, _ in lines for name, _ in steps})
    last = max(lines, key=lambda line: [dict(line[0]).get(name, 0) for name in names])
    return offsets[last[1]]


def _expanded(node: ast.expr, definitions: Mapping[str, ast.expr]) -> dict[tuple[str, ...], int]:
    """Return an integer as a sum of products of names, with their factors."""
    found: Counter[tuple[str, ...]] = Counter()
    match node:
        case ast.Constant(value=int(number)):
            found[()] = number
        case ast.Name(id=name) if name in definitions:
            found = Counter(_expanded(definitions[name], definitions))
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            found.update(_expanded(left, definitions))
            sign = 1 if isinstance(op, ast.Add) else -1
            for names, number in _expanded(right, definitions).items():
                found[names] += sign * number
        case ast.BinOp(left, ast.Mult(), right):
            for names, number in _expanded(left, definitions).items():
                for others, factor in _expanded(right, definitions).items():
                    found[tuple(sorted(names + others))] += number * factor
        case _:
            found[ast.unparse(node),] = 1
    return {names: number for names, number in found.items() if number}


def plan(translation: Translation, node: ast.For, kind: str) -> Plan | None:
    """Return the plan of a loop, or None if it cannot be computed on vectors.

    Parameters
    ----------
    translation
        The function that the loop is in.
    node
        The loop, with a step of one.
    kind
        The name of its range. No row of an ``independent`` one reads or writes what another one
        writes; of an ``interleaved`` one, moreover, two vectors are to be computed at a time.
    """
    assert isinstance(node.target, ast.Name)
    is_short = len(node.body) <= SHORT and translation.arrays <= FEW
    if not is_short or node.target.id not in translation.plain:
        return None
    reader = _Reader(translation, node.target.id)
    return reader.plan(node.body, kind != "range", 2 if kind == "interleaved" else 1)


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
        self._lanes = BYTES * 8 // dtype.bitwidth
        number = llvm.DoubleType() if dtype.bitwidth == 64 else llvm.FloatType()
        self._type = llvm.VectorType(number, self._lanes)
        self._code = f"v{self._lanes}f{dtype.bitwidth}"
        self._size = dtype.bitwidth // 8
        self._made: dict[str, Any] = {}

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Write the statements of a body."""
        for node in body:
            self._translation.mark(node)
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._made[name] = self._value(value, self._mask)
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
                if name in self._made:
                    return self._made[name]
                return self._all(self._translation.bits_of(node))
            case ast.BinOp(left, ast.BitAnd(), right):
                return builder.and_(self._value(left, mask), self._value(right, mask))
            case ast.BinOp(left, ast.BitOr(), right):
                return builder.or_(self._value(left, mask), self._value(right, mask))
            case ast.BinOp(left, op, right):
                write = getattr(builder, _ARITHMETIC[type(op)])
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
                    _COMPARISONS[type(op)], self._value(left, mask), self._value(right, mask)
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
        if function in _WRITTEN:
            return _WRITTEN[function](None, self._builder, None, given)
        name = f"{_IN_LLVM[function]}.{self._code}"
        meant = self._declared(name, self._type, [self._type] * len(given))
        return self._builder.call(meant, given)


def write(translation: Translation, node: ast.For, plan: Plan, start: Any, stop: Any) -> None:
    """Write a loop: a vector with a mask, whole vectors while there are some, and a rest.

    A loop of some length begins where a cache line does, before its first row, if the lines of the
    array begin alike; the mask leaves out what comes before.
    """
    assert isinstance(node.target, ast.Name)
    builder, name = translation.builder, node.target.id
    word, bits = start.type, plan.dtype.bitwidth
    lanes = word(BYTES * 8 // bits)
    before, ends, test, main, rest, end = (
        translation.new_block(f"vectors.{part}")
        for part in ("before", "ends", "test", "main", "rest", "end")
    )
    builder.cbranch(builder.icmp_signed("<", start, stop), before, end)

    builder.position_at_end(before)
    translation.counts(name, start)
    array, number = plan.aligned.array, translation.integer_of(plan.aligned.offset)
    place = builder.gep(translation.start_of(array), [number])
    within = builder.and_(builder.ptrtoint(place, word), word(BYTES - 1))
    within = builder.udiv(within, word(bits // 8))
    count = builder.sub(stop, start)
    is_long = builder.icmp_signed(">=", count, word(LONG * lanes.constant))
    rest_of = builder.and_(builder.sub(count, word(1)), word(lanes.constant - 1))
    no_more = builder.icmp_signed("<", builder.add(within, rest_of), lanes)
    even = builder.and_(translation.steps_of(array), word(BYTES - 1))
    is_even = builder.icmp_signed("==", even, word(0))
    begins = builder.and_(is_even, builder.or_(is_long, no_more))
    first = builder.sub(start, builder.select(begins, within, word(0)))
    far = min(AHEAD, UNDER_WAY // max(len(plan.ahead), 1)) * int(lanes.constant)
    total = reduce(
        builder.add, [translation.count_of(array) for array, _, _ in plan.ahead], word(0)
    )
    is_far = builder.icmp_signed(">", total, word(NEAR * 8 // bits))
    ahead = builder.sub(builder.select(is_far, word(far), word(0)), start)
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
