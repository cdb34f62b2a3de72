"""The values of a function in LLVM's language: variables, and what expressions make.

What operations, functions and conversions mean is looked up with Numba, and is the same, but for
numbers, where `instructions` knows it.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import types
from numba.core.cgutils import alloca_once, get_item_pointer2, unpack_tuple
from numba.core.errors import UnsupportedError
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

from ..kernel import ir
from ..runtime import descriptors, intrinsics
from . import instructions, vector_plans

OPERATORS: Mapping[ir.Infix | ir.Relation, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_,
    "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Value(NamedTuple):
    """A value of a function under translation: Numba's type, and LLVM's value."""

    kind: Any
    bits: Any


class Values(Lower):
    """What writes the values of a function, of those that are translated."""

    plain: frozenset[str]

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        names = instructions.Names(self.function.scope)
        self.function.scope = self.entry_block.scope = names
        self.builder = instructions.Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)
        self._globals = self.func_ir.func_id.func.__globals__
        self._typing = self.context.typing_context
        self._values: dict[str, Value] = {}
        self._memory: dict[str, Value] = {}
        self._known: dict[Any, tuple[Any, Any]] = {}

    def new_block(self, name: str) -> Any:
        """Return a new basic block at the end of the function."""
        return self.function.append_basic_block(name)

    # -- variables

    def _assign(self, name: str, value: Value) -> None:
        if name in self.plain:
            self._values[name] = value
            return
        if name not in self._memory:
            room = alloca_once(self.builder, value.bits.type, name=name)
            self._memory[name] = Value(value.kind, room)
        kind, room = self._memory[name]
        self.builder.store(self._kept(value, kind), room)

    def named(self, name: str) -> Value:
        """Return the value of a variable."""
        if name in self._memory:
            kind, room = self._memory[name]
            return Value(kind, self.builder.load(room))
        return self._values[name]

    def kind_of(self, name: str) -> Any:
        """Return the type of a name that has a value, as Numba names it."""
        known = self._memory.get(name) or self._values.get(name)
        if known is not None:
            return known.kind
        value = self._globals.get(name)
        return None if isinstance(value, str) else self._typing.resolve_value_type(value)

    def counts(self, name: str, bits: Any) -> None:
        """Let the variable of a loop be an integer of LLVM's."""
        self._assign(name, Value(types.intp, bits))

    def start_of(self, array: str) -> Any:
        """Return the address of an array's first element."""
        kind, bits = self.named(array)
        return intrinsics.first(self.context, self.builder, kind, bits)

    def steps_of(self, array: str) -> Any:
        """Return the bits of all bytes between neighbours of an array, but for its last axis."""
        value = self.named(array)
        steps = self._member(value, "strides")
        found = self._integer(0).bits
        for axis in range(value.kind.ndim - 1):
            found = self.builder.or_(found, self.builder.extract_value(steps, axis))
        return found

    def count_of(self, array: str) -> Any:
        """Return the number of elements of an array."""
        return self._member(self.named(array), "nitems")

    def _member(self, value: Value, name: str) -> Any:
        """Return a member of what describes an array."""
        return descriptors.member(self.context, self.builder, value.kind, value.bits, name)

    def bits_of(self, node: ir.Expression) -> Any:
        """Return LLVM's value of an expression."""
        return self.value(node).bits

    def integer_of(self, node: ir.Expression) -> Any:
        """Return LLVM's value of an integer."""
        return self._kept(self.value(node), types.intp)

    # -- expressions

    def value(self, node: ir.Expression) -> Value:
        """Write what computes an expression, and return its value."""
        match node:
            case ir.Integer(number):
                return self._integer(number)
            case ir.Real(text):
                return self._constant(float(text))
            case ir.Truth(known):
                return self._constant(known)
            case ir.Name(name):
                if name in self._memory or name in self._values:
                    return self.named(name)
                return self._constant(self.static(name))
            case ir.Binary("//" | "%" as symbol, left, ir.Integer(number)):
                return self._divided(self.value(left), symbol, number)
            case ir.Binary(symbol, left, right) | ir.Compare(symbol, left, right):
                return self._apply(OPERATORS[symbol], (self.value(left), self.value(right)))
            case ir.Negative(operand):
                return self._apply(operator.neg, (self.value(operand),))
            case ir.Not(operand):
                return Value(types.boolean, self.builder.not_(self._truth(operand)))
            case ir.All(parts):
                return self._both(parts, is_and=True)
            case ir.Any(parts):
                return self._both(parts, is_and=False)
            case ir.Select(test, then, orelse):
                return self._choice(test, then, orelse)
            case ir.Load(array, offset):
                return self._apply(self.static("ld"), (self.value(array), self.value(offset)))
            case ir.Element(whole, index):
                return self._element(self.value(whole), index)
            case ir.Extent(array, axis):
                shape = self._member(self.named(array), "shape")
                return Value(types.intp, self.builder.extract_value(shape, axis))
            case ir.Group(parts):
                values = [self.value(part) for part in parts]
                kind = types.BaseTuple.from_types(tuple(v.kind for v in values))
                bits = self.context.make_tuple(self.builder, kind, [v.bits for v in values])
                return Value(kind, bits)
            case ir.Call("min" | "max" as name, arguments):
                return self._extreme("<" if name == "min" else ">", arguments)
            case ir.Call(function, arguments):
                return self._apply(self.static(function), [self.value(a) for a in arguments])

    def static(self, name: str) -> Any:
        """Return what a name means outside of the function, such as ``fma`` or ``np.sqrt``."""
        first, *rest = name.split(".")
        found = self._globals[first] if first in self._globals else getattr(builtins, first)
        for attribute in rest:
            found = getattr(found, attribute)
        return found

    def _constant(self, value: Any) -> Value:
        """Return a number of the module; a text there is a type of its own, as Numba has it."""
        is_text = isinstance(value, str)
        kind = types.literal(value) if is_text else self._typing.resolve_value_type(value)
        return Value(kind, self.context.get_constant_generic(self.builder, kind, value))

    def _integer(self, number: int) -> Value:
        return Value(types.intp, self.context.get_constant(types.intp, number))

    def _as(self, value: Value, kind: Any) -> Any:
        """Return LLVM's value of a value as one of a type."""
        if value.kind == kind:
            return value.bits
        return self.context.cast(self.builder, value.bits, value.kind, kind)

    def _kept(self, value: Value, kind: Any) -> Any:
        """Return LLVM's value of a value as one of a type that holds all of its type."""
        if value.kind != kind and self._typing.unify_types(kind, value.kind) != kind:
            raise UnsupportedError(f"A variable of type {kind} is given one of {value.kind}.")
        return self._as(value, kind)

    def _apply(self, function: Any, values: Sequence[Value]) -> Value:
        """Return what a function or an operator makes of values."""
        kinds, given = [value.kind for value in values], [value.bits for value in values]
        found = instructions.arithmetic(self.builder, function, kinds, given)
        if found is not None:
            return Value(
                types.boolean if function in instructions.ORDERS else values[0].kind, found
            )
        if function in (np.sqrt, builtins.abs) and isinstance(kinds[0], types.Float):
            return Value(kinds[0], self._in_llvm(vector_plans.IN_LLVM[function], *given))
        key = function, tuple(kinds)
        if key not in self._known:
            kind = self._typing.resolve_value_type(function)
            signature = self._typing.resolve_function_type(kind, key[1], {})
            if signature is None:
                raise UnsupportedError(f"There is no {function} of {key[1]}.")
            self._known[key] = signature, self.context.get_function(kind, signature)
        signature, write = self._known[key]
        bits = [self._as(value, kind) for value, kind in zip(values, signature.args, strict=True)]
        return Value(signature.return_type, write(self.builder, bits))

    def _in_llvm(self, name: str, value: Any) -> Any:
        """Return what one of LLVM's functions makes of a number, as of each one of a vector."""
        return self.builder.call(self.module.declare_intrinsic(name, [value.type]), [value])

    def _divided(self, value: Value, symbol: Literal["//", "%"], number: int) -> Value:
        """Return the quotient, rounded down, or the remainder of an integer and a known one."""
        if value.kind != types.intp or number <= 0:
            return self._apply(OPERATORS[symbol], (value, self._integer(number)))
        builder, divisor, zero = self.builder, self._integer(number).bits, self._integer(0).bits
        rest = builder.srem(value.bits, divisor)
        below = builder.icmp_signed("<", rest, zero)
        if symbol == "%":
            found = builder.select(below, builder.add(rest, divisor), rest)
        else:
            quotient = builder.sdiv(value.bits, divisor)
            found = builder.add(quotient, builder.sext(below, quotient.type))
        return Value(types.intp, found)

    def _truth(self, node: ir.Expression) -> Any:
        """Return LLVM's value of a condition."""
        kind, bits = self.value(node)
        return bits if kind == types.boolean else self.context.is_true(self.builder, kind, bits)

    def _both(self, parts: Sequence[ir.Expression], *, is_and: bool) -> Value:
        """Write ``and`` and ``or``; what costs something is left out where Python leaves it out."""
        found = self._truth(parts[0])
        for operand in parts[1:]:
            if not any(map(_is_costly, ir.walk(operand))):
                combine = self.builder.and_ if is_and else self.builder.or_
                found = combine(found, self._truth(operand))
                continue
            more, end = self.new_block("more"), self.new_block("end")
            before = self.builder.block
            self.builder.cbranch(found, *((more, end) if is_and else (end, more)))
            self.builder.position_at_end(more)
            other = self._truth(operand)
            after = self.builder.block
            self.builder.branch(end)
            self.builder.position_at_end(end)
            phi = self.builder.phi(found.type)
            phi.add_incoming(found, before)
            phi.add_incoming(other, after)
            found = phi
        return Value(types.boolean, found)

    def _choice(
        self, test: ir.Expression, then_value: ir.Expression, else_value: ir.Expression
    ) -> Value:
        then, orelse, end = (self.new_block(name) for name in ("then", "else", "end"))
        self.builder.cbranch(self._truth(test), then, orelse)
        made = []
        for block, branch in ((then, then_value), (orelse, else_value)):
            self.builder.position_at_end(block)
            made.append((self.value(branch), self.builder.block))
        kind = self._typing.unify_types(*(value.kind for value, _ in made))
        ways = []
        for value, block in made:
            self.builder.position_at_end(block)
            ways.append((self._as(value, kind), self.builder.block))
            self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(ways[0][0].type)
        for bits, block in ways:
            phi.add_incoming(bits, block)
        return Value(kind, phi)

    def _extreme(self, order: str, nodes: Sequence[ir.Expression]) -> Value:
        """Return the least or the greatest of some integers."""
        found, *others = (self._kept(self.value(node), types.intp) for node in nodes)
        for bits in others:
            found = self.builder.select(self.builder.icmp_signed(order, bits, found), bits, found)
        return Value(types.intp, found)

    def _element(self, whole: Value, index: Sequence[ir.Expression]) -> Value:
        """Return an element of a tuple or of an array, whose indices are never negative."""
        match index:
            case (ir.Integer(number),) if isinstance(whole.kind, types.BaseTuple):
                return self._part(whole, number)
        return self._at(whole, self._places(whole, index))

    def _places(self, array: Value, index: Sequence[ir.Expression]) -> list[Any]:
        """Return the place of an element along each axis."""
        kind = array.kind
        if not isinstance(kind, types.Array) or kind.ndim != len(index):
            raise UnsupportedError(
                f"A value of type {kind} has no element at {len(index)} indices."
            )
        return [self.integer_of(part) for part in index]

    def _at(self, array: Value, places: Sequence[Any]) -> Value:
        """Return the element of an array at a place."""
        kind, pointer = array.kind, self._place(array, places)
        return Value(kind.dtype, load_item(self.context, self.builder, kind, pointer))

    def _put(self, array: Value, places: Sequence[Any], value: Value) -> None:
        """Store a value in an array at a place."""
        kind, pointer = array.kind, self._place(array, places)
        store_item(self.context, self.builder, kind, self._as(value, kind.dtype), pointer)

    def _place(self, array: Value, places: Sequence[Any]) -> Any:
        """Return the address of an element; what describes an array is not put into memory."""
        data, sizes, steps = (self._member(array, n) for n in ("data", "shape", "strides"))
        if array.kind.layout != "C":
            sizes, steps = (unpack_tuple(self.builder, one) for one in (sizes, steps))
            return get_item_pointer2(
                self.context, self.builder, data, sizes, steps, array.kind.layout, places
            )
        number, *others = places
        for axis, place in enumerate(others, 1):
            before = self.builder.mul(number, self.builder.extract_value(sizes, axis))
            number = self.builder.add(before, place)
        return self.builder.gep(data, [number], inbounds=True)

    def _part(self, whole: Value, number: int) -> Value:
        """Return a part of a tuple."""
        bits = self.builder.extract_value(whole.bits, number)
        return Value(whole.kind.types[number], bits)


def _is_costly(node: ir.Expression) -> bool:
    """Whether an expression is computed only if an earlier operand of ``and`` or ``or`` asks."""
    match node:
        case ir.Call() | ir.Load() | ir.Element() | ir.Extent():
            return True
        case ir.Binary(symbol):
            return symbol in ("/", "//", "%")
    return False
