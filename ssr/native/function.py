"""Translate functions of the kernel IR to LLVM IR.

The type of every value follows from the types of earlier values, so that one traversal of
a function is sufficient.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llvmlite import ir as llvm

from ..kernel import ir
from ..kernel.inference import Functions, Scope
from ..kernel.operations import result
from ..kernel.types import DOUBLE, INTEGER, TRUTH, Text, Tuple, Type, TypeMismatch
from ..kernel.uses import plain
from ..runtime.constants import RAISED
from . import arithmetic, arrays, bundles, control, reductions, vectors
from .builder import WORD, Builder
from .loop_metadata import describe
from .values import (
    ELEMENTS,
    TranslatedFunction,
    Value,
    Writer,
    converted,
    element_address,
    flat,
    flat_types,
    integer,
    llvm_type,
    loaded,
    parts_of,
    rounded,
    truth,
    whole,
)

WRITERS: Mapping[str, Writer] = {
    **arithmetic.WRITERS,
    **arrays.WRITERS,
    **bundles.WRITERS,
    **control.WRITERS,
    **reductions.WRITERS,
    **vectors.WRITERS,
}
"""The translations of named operations."""


class Translation:
    """The translation of a module: its functions are written when they are first called."""

    def __init__(self, module: ir.Module, *, overlapping: bool, inside: bool) -> None:
        self.module = llvm.Module("kernel")
        self.functions = Functions(module)
        self.real = self.functions.real
        self.checked = module.checked
        self.overlapping, self.inside = overlapping, inside
        self.constants = {
            **{name: _real(self.real, value) for name, value in module.constants},
            **{name: _real(DOUBLE, value) for name, value in module.doubles},
            **{name: Value(Text(text), None) for name, text in module.labels},
        }
        self._written: dict[tuple[str, tuple[Type, ...]], TranslatedFunction] = {}

    def function(self, name: str, types: Sequence[Type]) -> TranslatedFunction:
        """Return a function for arguments of some types, written if it is not yet."""
        key = name, tuple(types)
        if key not in self._written:
            self._written[key] = self._write(name, types)
        return self._written[key]

    def _write(self, name: str, types: Sequence[Type]) -> TranslatedFunction:
        source = self.functions.found[name]
        kinds = [kind for type_ in types for kind in flat_types(type_)]
        unique = self.module.get_unique_name(name)
        made = llvm.Function(self.module, llvm.FunctionType(WORD, kinds), unique)
        made.linkage = "internal"
        if not (self.inside and name == "kernel"):
            made.attributes.add("noinline")
        given, rest = {}, list(made.args)
        for argument, type_ in zip(source.arguments, types, strict=True):
            count = len(flat_types(type_))
            given[argument] = whole(type_, rest[:count])
            if isinstance(type_, ir.Array) and not self.overlapping:
                rest[0].add_attribute("noalias")
            del rest[:count]
        scope = self.functions.scope(name, types)
        return FunctionTranslation(self, source, scope, made, given).run()


class FunctionTranslation:
    """The translation of a function.

    Parameters
    ----------
    whole_module
        The translation of its module.
    source
        The function.
    scope
        The types of its variables.
    function
        The function of LLVM.
    given
        The values of its arguments.
    """

    def __init__(
        self,
        whole_module: Translation,
        source: ir.Function,
        scope: Scope,
        function: llvm.Function,
        given: Mapping[str, Value],
    ) -> None:
        self._function, self._raises = function, False
        self._module, self._source, self._scope = whole_module, source, scope
        self.b = Builder.beginning(function)
        self._plain = plain(source)
        self._values: dict[str, Value] = {}
        self._rooms: dict[str, llvm.Value] = {}
        self._inner = False
        for name, value in given.items():
            self._assign(name, value)

    def run(self) -> TranslatedFunction:
        """Write the function."""
        self._run(self._source.body)
        if not self.b.block.is_terminated:
            self.b.ret(WORD(0))
        return TranslatedFunction(self._function, self._raises)

    # -- variables

    def _assign(self, name: str, value: Value) -> None:
        type_ = self._scope.variables[name]
        if name in self._plain or isinstance(type_, ir.Array | Tuple):
            self._values[name] = value
            return
        if name not in self._rooms:
            self._rooms[name] = self.b.room(llvm_type(type_), name=name)
        self.b.store(converted(self.b, value, type_), self._rooms[name])

    def _named(self, name: str) -> Value:
        if name in self._rooms:
            return Value(self._scope.variables[name], self.b.load(self._rooms[name]))
        return self._values[name] if name in self._values else self._module.constants[name]

    # -- statements

    def _run(self, body: Sequence[ir.Statement]) -> None:
        for node in body:
            if self.b.block.is_terminated:
                return
            self._statement(node)

    def _statement(self, node: ir.Statement) -> None:
        match node:
            case ir.Let((name,), ir.Binary(left=ir.Name(counter)) as expression) if counter == name:
                self._assign(name, self.value(expression))  # LLVM derives the induction variable
            case ir.Let((name,), expression):
                self._assign(name, self._opaque(expression))
            case ir.Let(names, expression):
                found = self.value(expression)
                for name, part in zip(names, parts_of(found), strict=True):
                    self._assign(name, part)
            case ir.Store(array, offset, expression):
                target, place = self.value(array), self._integer(offset)
                self._store(target, self.value(expression), self._flat(target, place))
            case ir.SetElement(array, index, expression):
                target = self._named(array)
                value = self._opaque(expression)
                places = [self.value(part) for part in index]
                self._store(target, value, element_address(self.b, target, places))
            case ir.Do(call):
                self.value(call)
            case ir.If():
                self._branch(node)
            case ir.For():
                self._for(node)
            case ir.While():
                self._while(node)
            case ir.Return(expression):
                self.b.ret(WORD(0) if expression is None else self._integer(expression))

    def _flat(self, array: Value, place: llvm.Value) -> llvm.Value:
        """Write the address of an element at a flat offset."""
        if self._module.checked:
            control.check_inside(self.b, array, place)
            self._raises = True
        return self.b.gep(array.memory.data, [place], inbounds=True)

    def _store(self, array: Value, value: Value, pointer: llvm.Value) -> None:
        assert isinstance(array.type, ir.Array)
        self.b.store(rounded(self.b, value, ir.Scalar(array.type.element)), pointer)

    def _opaque(self, node: ir.Expression) -> Value:
        """Return the value of an expression; outside of inner loops, LLVM takes no sum apart.

        Loops along a line access elements at such sums. LLVM would try all ways to split the sums
        between registers, which takes it as long as all the rest of its work on a loop.
        """
        found = self.value(node)
        if self._inner or not isinstance(node, ir.Binary) or found.type != INTEGER:
            return found
        return Value(INTEGER, self.b.freeze(found.bits))

    def _branch(self, node: ir.If) -> None:
        then, orelse, end = map(self.b.append_basic_block, ("then", "else", "end"))
        self.b.cbranch(self._truth(node.test), then, orelse)
        ends = False
        for block, body in ((then, node.then), (orelse, node.orelse)):
            self.b.position_at_end(block)
            self._run(body)
            if not self.b.block.is_terminated:
                self.b.branch(end)
                ends = True
        self.b.position_at_end(end)
        if not ends:
            self.b.unreachable()

    def _for(self, node: ir.For) -> None:
        """Write a loop over a range; LLVM vectorizes it if possible."""
        b = self.b
        start, stop, step = (self._integer(bound) for bound in (node.start, node.stop, node.step))
        test, body, end = map(b.append_basic_block, ("range", "row", "end"))
        before = b.block
        b.branch(test)
        b.position_at_end(test)
        counter = b.phi(WORD, node.variable)
        counter.add_incoming(start, before)
        inside = b.icmp_signed("<", counter, stop)
        if not isinstance(node.step, ir.Integer):
            upwards = b.icmp_signed(">", step, WORD(0))
            inside = b.select(upwards, inside, b.icmp_signed(">", counter, stop))
        elif node.step.value < 0:
            inside = b.icmp_signed(">", counter, stop)
        b.cbranch(inside, body, end)
        b.position_at_end(body)
        self._assign(node.variable, Value(INTEGER, counter))
        first, around = len(self._function.blocks), self._inner
        self._inner = not any(isinstance(one, ir.For) for one in ir.statements(node.body))
        self._run(node.body)
        self._inner = around
        if not b.block.is_terminated:
            counter.add_incoming(b.add(counter, step, flags=["nsw"]), b.block)
            back = b.branch(test)
            describe(back, node.order, [body, *self._function.blocks[first:]])
        b.position_at_end(end)

    def _while(self, node: ir.While) -> None:
        test, body, end = map(self.b.append_basic_block, ("while", "body", "end"))
        self.b.branch(test)
        self.b.position_at_end(test)
        self.b.cbranch(self._truth(node.test), body, end)
        self.b.position_at_end(body)
        self._run(node.body)
        if not self.b.block.is_terminated:
            self.b.branch(test)
        self.b.position_at_end(end)

    # -- expressions

    def value(self, node: ir.Expression) -> Value:
        """Write an expression, and return its value."""
        match node:
            case ir.Integer(number):
                return integer(number)
            case ir.Real(text):
                return _real(DOUBLE, float(text))
            case ir.Truth(known):
                return truth(llvm.IntType(1)(int(known)))
            case ir.Name(name):
                return self._named(name)
            case ir.Binary(operator, left, right):
                return arithmetic.binary(self.b, operator, self.value(left), self.value(right))
            case ir.Compare(relation, left, right):
                return arithmetic.compare(self.b, relation, self.value(left), self.value(right))
            case ir.Negative(operand):
                return arithmetic.negative(self.b, self.value(operand))
            case ir.Not(operand):
                found = self.value(operand)
                type_ = TRUTH if isinstance(found.type, ir.Scalar) else found.type
                return Value(type_, self.b.not_(arithmetic.is_true(self.b, found)))
            case ir.All(parts):
                return self._both(parts, is_and=True)
            case ir.Any(parts):
                return self._both(parts, is_and=False)
            case ir.Select():
                return self._choice(node)
            case ir.Load(array, offset):
                source, place = self.value(array), self._integer(offset)
                element = loaded(self.b, source, self._flat(source, place))
                return Value(self._scope.of(node), element)
            case ir.Element(array, index):
                return self._element(self.value(array), index)
            case ir.Extent(array, axis):
                return Value(INTEGER, self._named(array).memory.shape[axis])
            case ir.Group(parts):
                values = [self.value(part) for part in parts]
                types = tuple(value.type for value in values)
                return Value(Tuple(types), tuple(value.held for value in values))
            case ir.Call(function, arguments):
                return self._call(function, [self.value(a) for a in arguments])

    def _call(self, function: str, given: Sequence[Value]) -> Value:
        types = tuple(value.type for value in given)
        if function in self._module.functions.found:
            return self._called(function, given, types)
        if function == "real":
            return Value(self._module.real, rounded(self.b, given[0], self._module.real))
        if function in ("poll", "require"):
            self._raises = True
        type_ = result(function, types)
        return Value(type_, WRITERS[function](self.b, given, type_))

    def _called(self, function: str, given: Sequence[Value], types: Sequence[Type]) -> Value:
        """Write the call of a function of the module."""
        made = self._module.function(function, types)
        code = self.b.call(made.function, [bits for value in given for bits in flat(value)])
        if made.raises:
            self._raises = True
            with self.b.unlikely(self.b.icmp_signed("==", code, WORD(RAISED))):
                self.b.ret(WORD(RAISED))
        return Value(INTEGER, code)

    def _integer(self, node: ir.Expression) -> llvm.Value:
        """Return LLVM's value of an integer."""
        return converted(self.b, self.value(node), INTEGER)

    def _truth(self, node: ir.Expression) -> llvm.Value:
        """Return LLVM's value of a condition."""
        return arithmetic.is_true(self.b, self.value(node))

    def _both(self, parts: Sequence[ir.Expression], *, is_and: bool) -> Value:
        """Write ``and`` and ``or``; costly parts are left out where Python leaves them out."""
        b = self.b
        found = self._truth(parts[0])
        for operand in parts[1:]:
            if not any(map(_is_costly, ir.walk(operand))):
                found = (b.and_ if is_and else b.or_)(found, self._truth(operand))
                continue
            more, end = map(b.append_basic_block, ("more", "end"))
            before = b.block
            b.cbranch(found, *((more, end) if is_and else (end, more)))
            b.position_at_end(more)
            other, after = self._truth(operand), b.block
            b.branch(end)
            b.position_at_end(end)
            phi = b.phi(found.type)
            phi.add_incoming(found, before)
            phi.add_incoming(other, after)
            found = phi
        return truth(found)

    def _choice(self, node: ir.Select) -> Value:
        """Write one of two values, of which the other is not computed."""
        b, type_ = self.b, self._scope.of(node)
        then, orelse, end = map(b.append_basic_block, ("then", "else", "end"))
        b.cbranch(self._truth(node.test), then, orelse)
        ways = []
        for block, branch in ((then, node.then), (orelse, node.orelse)):
            b.position_at_end(block)
            ways.append((converted(b, self.value(branch), type_), b.block))
            b.branch(end)
        b.position_at_end(end)
        phi = b.phi(llvm_type(type_))
        for bits, block in ways:
            phi.add_incoming(bits, block)
        return Value(type_, phi)

    def _element(self, found: Value, index: Sequence[ir.Expression]) -> Value:
        """Return an element of a tuple or of an array, whose indices are never negative."""
        if isinstance(found.type, Tuple):
            (number,) = index
            assert isinstance(number, ir.Integer)
            return parts_of(found)[number.value]
        if not isinstance(found.type, ir.Array):
            raise TypeMismatch(f"A value of the type {found.type} has no element.")
        places = [self.value(part) for part in index]
        element = "i8" if found.type.element == "i4" else found.type.element
        pointer = element_address(self.b, found, places)
        return Value(ir.Scalar(element), loaded(self.b, found, pointer))


def _real(type_: ir.Scalar, value: float) -> Value:
    return Value(type_, ELEMENTS[type_.element](value))


def _is_costly(node: ir.Expression) -> bool:
    """Whether an operand of ``and`` or ``or`` is evaluated only if earlier ones require it."""
    if isinstance(node, ir.Binary):
        return node.operator in ("/", "//", "%")
    return isinstance(node, ir.Call | ir.Load | ir.Element | ir.Extent)
