"""Vectorized loop bodies: the operations of one vector of rows.

A row accesses elements at its own index, at a constant offset from it, or with stride two. A mask
selects the active rows of a vector; without a mask all rows are active.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Never

from .. import ir
from ..building import call, do, let
from ..integers import at_row, minus, plus
from ..linear import shift_of, step_of
from .context import Context
from .line_sides import Side, side
from .plans import Plan
from .windows import Line, Window, key_of

NONE: Mapping[Line, Never] = MappingProxyType({})
"""No windows."""


class Made(NamedTuple):
    """A value: a vector, or a number or truth that is the same for all rows."""

    node: ir.Expression
    is_vector: bool


class Body:
    """The body of a loop at the rows of one vector.

    Parameters
    ----------
    context
        The function.
    plan
        The plan of the loop.
    row
        The first row of the vector.
    out
        The list to which the statements of the vector are added.
    mask
        The active rows; all rows without a mask.
    windows
        Lines of which the rows read several elements.
    before
        For each window the last element that each row of the previous vector reads. The statements
        of both vectors may be interleaved.
    """

    def __init__(
        self,
        context: Context,
        plan: Plan,
        row: ir.Expression,
        out: list[ir.Statement],
        mask: ir.Expression | None = None,
        windows: Mapping[Line, Window] = NONE,
        before: Mapping[Line, ir.Expression] = NONE,
    ) -> None:
        self.context, self._out, self.mask = context, out, mask
        self._variable, self._row = plan.loop.variable, row
        self.lanes = plan.lanes
        self._windows, self._before = windows, before
        self._sides: dict[Side, ir.Expression] = {}
        self.last: dict[Line, ir.Expression] = {}
        self.values: dict[str, Made] = {}

    def run(self, node: ir.Statement) -> None:
        """Add a statement of the body."""
        match node:
            case ir.Let((name,), value):
                found = self._value(value, self.mask)
                self.values[name] = Made(self.named(name, found.node), found.is_vector)
            case ir.Store(ir.Name(array), offset, value):
                self.store(array, offset, self.vector(self._value(value, self.mask)))

    def named(self, stem: str, value: ir.Expression) -> ir.Expression:
        """Return the new variable of a value; a name has one."""
        if isinstance(value, ir.Name):
            return value
        name = self.context.names.new(stem)
        self._out.append(let(name, value))
        return ir.Name(name)

    def vector(self, value: Made) -> ir.Expression:
        """Return a value as a vector."""
        if value.is_vector:
            return value.node
        return call(f"spread{self.lanes}", value.node)

    # -- accesses

    def store(self, array: str, offset: ir.Expression, value: ir.Expression) -> None:
        """Store a vector."""
        if step_of(offset, self._variable) == 1:
            self._store_at(array, self._place(offset), value, self.mask)
            return
        rows = self.mask or self._all_rows()
        value = self.named("numbers", value)
        for further, places in self._halves():
            part = call("shuffle", value, value, *(0 if n is None else n for n in places))
            mask = self._taken(rows, places)
            self._store_at(array, self._place(offset, further), part, mask)

    def load(self, array: str, offset: ir.Expression, mask: ir.Expression | None) -> ir.Expression:
        """Return the elements of an array at the places of the rows, under a mask if given."""
        if step_of(offset, self._variable) == 1:
            if mask is None and (line := key_of(array, offset)) in self._windows:
                return self._in_window(line, shift_of(offset))
            return self.load_at(array, self._place(offset), mask)
        low, high = (
            self.load_at(array, self._place(offset, further), mask and self._taken(mask, n))
            for further, n in self._halves()
        )
        lanes = self.lanes
        return call("shuffle", low, high, *range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2))

    def load_at(
        self, array: str, place: ir.Expression, mask: ir.Expression | None
    ) -> ir.Expression:
        """Return elements side by side."""
        return call(f"vector_load{self.lanes}", array, place, *self._optional(mask))

    def _store_at(
        self, array: str, place: ir.Expression, value: ir.Expression, mask: ir.Expression | None
    ) -> None:
        self._out.append(do("vector_store", array, place, value, *self._optional(mask)))

    def _place(self, offset: ir.Expression, further: int = 0) -> ir.Expression:
        return plus(at_row(offset, self._variable, self._row), further)

    def _optional(self, mask: ir.Expression | None) -> tuple[ir.Expression, ...]:
        return () if mask is None else (mask,)

    def _all_rows(self) -> ir.Expression:
        return call(f"spread{self.lanes}", ir.Truth(True))

    def _halves(self) -> tuple[tuple[int, Sequence[int | None]], ...]:
        """Return where two vectors begin that have every second element, and their lanes' rows.

        The second one ends with the last of these elements, which may be the last of its array.
        """
        lanes, half = self.lanes, self.lanes // 2
        low = [n // 2 if n % 2 == 0 else None for n in range(lanes)]
        high = [half + n // 2 if n % 2 else None for n in range(lanes)]
        return (0, low), (lanes - 1, high)

    def _taken(self, mask: ir.Expression, places: Sequence[int | None]) -> ir.Expression:
        """Return a mask with the lanes of some places; lanes without a place are false."""
        none = call(f"spread{self.lanes}", ir.Truth(False))
        return call("shuffle", mask, none, *(self.lanes if n is None else n for n in places))

    # -- windows

    def _in_window(self, line: Line, place: int) -> ir.Expression:
        """Return an element of each row's window: part of this vector, part of the one before."""
        window = self._windows[line]
        if line not in self.last:
            loaded = self.load_at(window.array, self._place(window.offset), None)
            self.last[line] = self.named(window.array, loaded)
        first = self.lanes + place - window.last
        if first == self.lanes:
            return self.last[line]
        places = range(first, first + self.lanes)
        return call("shuffle", self._before[line], self.last[line], *places)

    def load_before(self, window: Window) -> ir.Expression:
        """Return the elements of a window in the previous vector that this vector needs."""
        low = self.lanes - (window.last - window.first)
        mask = call(f"rows_between{self.lanes}", low, self.lanes)
        return self.load_at(window.array, self._place(window.offset, -self.lanes), mask)

    # -- values

    def _value(self, node: ir.Expression, mask: ir.Expression | None) -> Made:
        """Return the value of an expression; ``mask`` selects the rows that need it."""
        match node:
            case ir.Name(name):
                return self.values.get(name, Made(node, False))
            case ir.Binary(operator, left, right):
                a, b = self._value(left, mask), self._value(right, mask)
                return Made(ir.Binary(operator, a.node, b.node), a.is_vector or b.is_vector)
            case ir.Negative(operand):
                found = self._value(operand, mask)
                return Made(ir.Negative(found.node), found.is_vector)
            case ir.Not(operand):
                found = self._value(operand, mask)
                is_vector = found.is_vector
                return Made(_complement(found.node) if is_vector else ir.Not(found.node), is_vector)
            case ir.Compare(relation, left, right):
                tested = side(node, self._variable)
                if tested is not None:
                    return Made(self._side(tested), True)
                a, b = self._value(left, mask), self._value(right, mask)
                return Made(ir.Compare(relation, a.node, b.node), a.is_vector or b.is_vector)
            case ir.Select():
                return self._choice(node, mask)
            case ir.Load(ir.Name(array), offset):
                if step_of(offset, self._variable):
                    return Made(self.load(array, offset, mask), True)
                return Made(node, False)
            case ir.Call(function, arguments):
                given = [self._value(argument, mask) for argument in arguments]
                call_ = ir.Call(function, tuple(one.node for one in given))
                return Made(call_, any(one.is_vector for one in given))
        raise AssertionError(node)

    def _choice(self, node: ir.Select, mask: ir.Expression | None) -> Made:
        """Return one of two values; elements that are not chosen are not read."""
        chosen = self._value(node.test, mask)
        then_mask, else_mask = mask, mask
        if _reads(node.then) or _reads(node.orelse):
            chosen = Made(self.named("chosen", self.vector(chosen)), True)
        if _reads(node.then):
            then_mask = self._both(mask, chosen.node)
        if _reads(node.orelse):
            else_mask = self._both(mask, _complement(chosen.node))
        then, orelse = self._value(node.then, then_mask), self._value(node.orelse, else_mask)
        if not (chosen.is_vector or then.is_vector or orelse.is_vector):
            return Made(ir.Select(chosen.node, then.node, orelse.node), False)
        return Made(call("blend", *map(self.vector, (chosen, then, orelse))), True)

    def _both(self, mask: ir.Expression | None, more: ir.Expression) -> ir.Expression:
        return self.named("rows", more if mask is None else ir.Binary("&", mask, more))

    def _side(self, tested: Side) -> ir.Expression:
        """Return which rows are at a place or after it, or else at it or before it."""
        if tested not in self._sides:
            low = tested.place if tested.after else None
            high = None if tested.after else plus(tested.place, 1)
            self._sides[tested] = self.named("side", rows_between(self.lanes, self._row, low, high))
        return self._sides[tested]


def rows_between(
    lanes: int, row: ir.Expression, low: ir.Expression | None, high: ir.Expression | None
) -> ir.Expression:
    """Return which rows of a vector are in a range, of which one end may be left open."""
    first = ir.Integer(0) if low is None else minus(low, row)
    stop = ir.Integer(lanes) if high is None else minus(high, row)
    return call(f"rows_between{lanes}", first, stop)


def _reads(node: ir.Expression) -> bool:
    return any(isinstance(part, ir.Load) for part in ir.walk(node))


def _complement(mask: ir.Expression) -> ir.Expression:
    """Return the other rows."""
    return call("complement", mask)


class Linked(Body):
    """The body of one of a chain's loops at the rows of one vector.

    Parameters
    ----------
    context, plan, row, out, mask
        As in `Body`.
    shifts
        The distances of loads to the rows that stored their elements, by array and offset.
    made
        The values of lines, by array: of this vector, if it has them, and of the last ones.
    read
        The masks of rows whose elements of lines are read, by array, for all storing loops.
    known
        The arrays that earlier loops store.
    """

    def __init__(
        self,
        context: Context,
        plan: Plan,
        row: ir.Expression,
        out: list[ir.Statement],
        mask: ir.Expression | None,
        shifts: Mapping[tuple[str, ir.Expression], int],
        made: dict[str, list[ir.Expression]],
        read: Mapping[str, ir.Expression],
        known: Collection[str],
    ) -> None:
        super().__init__(context, plan, row, out, mask)
        self._shifts, self._made, self._read, self._known = shifts, made, read, known

    def store(self, array: str, offset: ir.Expression, value: ir.Expression) -> None:
        """Store a vector, and keep it for later loops, with elements that others have stored."""
        if array not in self._made:
            super().store(array, offset, value)
            return
        value = kept = self.named(array, value)
        if self.mask is not None:
            others = ir.Binary("&", self._read[array], _complement(self.mask))
            stored = super().load(array, offset, others)  # before the store, which would stall it
            kept = self.named(array, call("blend", self.mask, value, stored))
        super().store(array, offset, value)
        self._made[array].insert(0, kept)

    def load(self, array: str, offset: ir.Expression, mask: ir.Expression | None) -> ir.Expression:
        """Return the elements of an array: of the values of the earlier loop that stores it."""
        if array not in self._known:
            return super().load(array, offset, mask)
        number, within = divmod(self._shifts[array, offset], self.lanes)
        vectors = self._made[array]
        if not within:
            return vectors[abs(number)]
        places = range(within, within + self.lanes)
        return call("shuffle", vectors[abs(number)], vectors[abs(number + 1)], *places)
