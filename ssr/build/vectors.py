"""The bodies of loops over rows at the rows of one vector, in LLVM's language.

A row accesses elements at its own place, or at a fixed distance from it, or every second element.
Which rows of a vector there are is in a mask; what has none has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.linear import shift_of, step_of
from ..runtime import intrinsics, target
from .line_sides import Side, extreme, side
from .vector_plans import ARITHMETIC, IN_LLVM, WRITTEN, Translation
from .windows import Line, Window, key_of


class Vector:
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
    windows
        Lines of which the rows read several elements.
    before
        For each of them the last element that each row of the vector before reads. That vector may
        be written at the same time, and has them as soon as this one needs them.
    """

    def __init__(
        self,
        translation: Translation,
        variable: str,
        dtype: Any,
        mask: Any = None,
        windows: Mapping[Line, Window] | None = None,
        before: Mapping[Line, Any] | None = None,
    ) -> None:
        self._translation = translation
        self._variable = variable
        self._builder = translation.builder
        self._mask = mask
        self._lanes = target.current().lanes(dtype.bitwidth)
        number = llvm.DoubleType() if dtype.bitwidth == 64 else llvm.FloatType()
        self._type = llvm.VectorType(number, self._lanes)
        self._code = f"v{self._lanes}f{dtype.bitwidth}"
        self._size = dtype.bitwidth // 8
        self._sides: dict[Side, Any] = {}
        self._windows = {} if windows is None else windows
        self._before = {} if before is None else before
        self.last: dict[Line, Any] = {}
        self.values: dict[str, Any] = {}

    def run(self, body: Sequence[ir.Statement]) -> None:
        """Write the statements of a body."""
        for node in body:
            self._translation.mark(node)
            match node:
                case ir.Let((name,), value):
                    self.values[name] = self._value(value, self._mask)
                case ir.Store(ir.Name(array), offset, value):
                    self._store(array, offset, self._value(value, self._mask))

    def load(self, array: str, offset: ir.Expression) -> Any:
        """Write the load of an element of each row."""
        return self._load(array, offset, self._mask)

    def _place(self, array: str, offset: ir.Expression, further: int, mask: Any) -> Any:
        """Return the address of an element, which need not be in the array if it has a mask."""
        place = self._address(array, offset, further, inside=mask is None)
        return self._builder.bitcast(place, self._type.as_pointer())

    def _address(
        self, array: str, offset: ir.Expression, further: int = 0, *, inside: bool = True
    ) -> Any:
        start, number = self._translation.start_of(array), self._translation.integer_of(offset)
        number = self._builder.add(number, number.type(further)) if further else number
        return self._builder.gep(start, [number], inbounds=inside)

    def _store(self, array: str, offset: ir.Expression, value: Any) -> None:
        if step_of(offset, self._variable) == 1:
            self._store_at(array, offset, 0, value, self._mask)
            if array in self._translation.sums:
                self._translation.sums[array].take(value, self._mask)
            return
        rows = self._all(llvm.IntType(1)(1)) if self._mask is None else self._mask
        for further, places in self._halves():
            part = self._taken(value, places, llvm.Undefined)
            self._store_at(array, offset, further, part, self._taken(rows, places, None))

    def _store_at(
        self, array: str, offset: ir.Expression, further: int, value: Any, mask: Any
    ) -> None:
        place = self._place(array, offset, further, mask)
        if mask is None:
            self._builder.store(value, place, align=self._size)
            return
        word = llvm.IntType(32)
        function = self._declared(
            f"llvm.masked.store.{self._code}.p0",
            llvm.VoidType(),
            (self._type, place.type, word, mask.type),
        )
        self._builder.call(function, (value, place, word(self._size), mask))

    def _load(self, array: str, offset: ir.Expression, mask: Any) -> Any:
        if step_of(offset, self._variable) == 1:
            if self._windows and mask is None:
                line = key_of(array, offset)
                if line in self._windows:
                    return self._in_window(line, shift_of(offset))
            return self._load_at(array, offset, 0, mask)
        low, high = (
            self._load_at(
                array, offset, further, None if mask is None else self._taken(mask, places, None)
            )
            for further, places in self._halves()
        )
        lanes = self._lanes
        return self._shuffled(low, high, (*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2)))

    def _in_window(self, line: Line, place: int) -> Any:
        """Return an element of each row's window: part of this vector, part of the one before."""
        window = self._windows[line]
        if line not in self.last:
            self.last[line] = self._load_at(window.array, window.offset, 0, None)
        first = self._lanes + place - window.last
        if first == self._lanes:
            return self.last[line]
        places = range(first, first + self._lanes)
        return self._shuffled(self._before[line], self.last[line], places)

    def load_before(self, window: Window) -> Any:
        """Write the load of what the vector before has of a window, as far as this one needs it."""
        needed = [n >= self._lanes - (window.last - window.first) for n in range(self._lanes)]
        bit = llvm.IntType(1)
        mask = llvm.Constant(llvm.VectorType(bit, self._lanes), [bit(int(n)) for n in needed])
        return self._load_at(window.array, window.offset, -self._lanes, mask)

    def _load_at(self, array: str, offset: ir.Expression, further: int, mask: Any) -> Any:
        place = self._place(array, offset, further, mask)
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

    def _halves(self) -> tuple[tuple[int, Sequence[int | None]], ...]:
        """Return where two vectors begin that have every second element, and their lanes' rows.

        The second one ends with the last of these elements, which may be the last of its array.
        """
        lanes, half = self._lanes, self._lanes // 2
        low = [n // 2 if n % 2 == 0 else None for n in range(lanes)]
        high = [half + n // 2 if n % 2 else None for n in range(lanes)]
        return (0, low), (lanes - 1, high)

    def _taken(self, vector: Any, places: Sequence[int | None], other: Any) -> Any:
        """Return elements of a vector at some places, and what others are where there is none."""
        others = llvm.Constant(vector.type, other)
        chosen = [self._lanes if place is None else place for place in places]
        return self._shuffled(vector, others, chosen)

    def _shuffled(self, first: Any, second: Any, places: Sequence[int]) -> Any:
        """Return elements of two vectors, which are counted one after the other."""
        word = llvm.IntType(32)
        chosen = llvm.Constant(llvm.VectorType(word, len(places)), [word(n) for n in places])
        return self._builder.shuffle_vector(first, second, chosen)

    def _declared(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        module = self._builder.module
        kind = llvm.FunctionType(result, arguments)
        return module.globals.get(name) or llvm.Function(module, kind, name)

    def _all(self, number: Any) -> Any:
        """Return the vector of which each element is a number."""
        return spread(self._builder, number, self._lanes)

    def _value(self, node: ir.Expression, mask: Any) -> Any:
        builder = self._builder
        match node:
            case ir.Name(name):
                if name in self.values:
                    return self.values[name]
                return self._all(self._translation.bits_of(node))
            case ir.Binary("&", left, right):
                return builder.and_(self._value(left, mask), self._value(right, mask))
            case ir.Binary("|", left, right):
                return builder.or_(self._value(left, mask), self._value(right, mask))
            case ir.Binary(symbol, left, right):
                write = getattr(builder, ARITHMETIC[symbol])
                return write(self._value(left, mask), self._value(right, mask))
            case ir.Not(operand):
                return builder.not_(self._value(operand, mask))
            case ir.Negative(operand):
                return builder.fsub(self._type(-0.0), self._value(operand, mask))
            case ir.Compare(relation, left, right):
                found = side(node, self._variable)
                if found is not None:
                    return self._side(found)
                compare = builder.fcmp_unordered if relation == "!=" else builder.fcmp_ordered
                return compare(relation, self._value(left, mask), self._value(right, mask))
            case ir.Select(test, then, orelse):
                return self._choice(test, then, orelse, mask)
            case ir.Load(ir.Name(array), offset):
                if step_of(offset, self._variable):
                    return self._load(array, offset, mask)
                return self._all(builder.load(self._address(array, offset)))
            case ir.Call(function, arguments):
                return self._call(self._translation.static(function), arguments, mask)
        raise AssertionError(node)

    def _choice(
        self, test: ir.Expression, then: ir.Expression, orelse: ir.Expression, mask: Any
    ) -> Any:
        """Write both values; what is not chosen is not read, as it may be outside of an array."""
        builder = self._builder
        chosen = self._value(test, mask)
        other = builder.not_(chosen)
        first = self._value(then, chosen if mask is None else builder.and_(mask, chosen))
        second = self._value(orelse, other if mask is None else builder.and_(mask, other))
        return builder.select(chosen, first, second)

    def _side(self, found: Side) -> Any:
        """Return which rows are at a place or after it, or else at it or before it."""
        if found not in self._sides:
            row = self._translation.bits_of(ir.Name(self._variable))
            limit = self._translation.integer_of(found.place)
            first = limit if found.after else None
            stop = None if found.after else self._builder.add(limit, limit.type(1))
            self._sides[found] = mask_of(self._builder, self._lanes, row, first, stop)
        return self._sides[found]

    def _call(self, function: Any, arguments: Sequence[ir.Expression], mask: Any) -> Any:
        given = [self._value(argument, mask) for argument in arguments]
        if function in WRITTEN:
            return WRITTEN[function](None, self._builder, None, given)
        name = f"{IN_LLVM[function]}.{self._code}"
        meant = self._declared(name, self._type, [self._type] * len(given))
        return self._builder.call(meant, given)


def spread(builder: Any, number: Any, lanes: int) -> Any:
    """Return the vector of which each element is a number."""
    if isinstance(number, llvm.Constant):
        return llvm.Constant(llvm.VectorType(number.type, lanes), [number] * lanes)
    return intrinsics.repeat(builder, number, lanes)


def mask_of(builder: Any, lanes: int, row: Any, start: Any | None, stop: Any | None) -> Any:
    """Return which rows of a vector are in a range, of which one end may be left open.

    The rows are compared as integers of the size of a number, so their vector is one register.
    """
    word = llvm.IntType(min(target.current().vector_bytes * 8 // lanes, row.type.width))
    numbers = llvm.VectorType(word, lanes)([*range(lanes)])

    def from_row(limit: Any) -> Any:
        """Return the number of rows before a limit in each element, at least 0 and at most all."""
        count = builder.sub(limit, row)
        if word != row.type:
            count = extreme(builder, ">", (count, row.type(0)))
            count = builder.trunc(extreme(builder, "<", (count, row.type(lanes))), word)
        return spread(builder, count, lanes)

    tests = [
        builder.icmp_signed(order, numbers, from_row(limit))
        for order, limit in ((">=", start), ("<", stop))
        if limit is not None
    ]
    return reduce(builder.and_, tests)
