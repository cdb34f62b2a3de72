"""A builder of LLVM IR with constant folding and local common-subexpression elimination.

It omits instructions whose results are known. LLVM would remove them, but would first have to parse
them: for example, the same address is computed for each load of a row.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import count

from llvmlite import ir as llvm

from ..runtime.constants import RAISED

WORD, NUMBER, BYTE, BIT = (llvm.IntType(bits) for bits in (64, 32, 8, 1))
DOUBLE, SINGLE = llvm.DoubleType(), llvm.FloatType()
ADDRESS, WORDS = BYTE.as_pointer(), WORD.as_pointer()

EXCEPTION = "ssr_exception_"
"""Prefix of the symbols of Python exceptions. Python's own symbols are not used: in a process that
has loaded Numba, LLVM resolves them to other addresses."""

_COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip


class Builder(llvm.IRBuilder):
    """A writer of instructions.

    Arithmetic on known integers is done at once, and an instruction that a block has is not written
    there again.
    """

    own_functions = False
    """Whether shared functions are emitted into the current module."""

    def __init__(self, block: llvm.Block | None = None) -> None:
        super().__init__(block)
        self._written: dict[llvm.Block, dict[Hashable, llvm.Value]] = {}
        self._is_at_end = True

    @classmethod
    def beginning(cls, function: llvm.Function) -> Builder:
        """Return a writer of the body of a function, from its first block on."""
        function.scope = _Names(function.scope)
        block = function.append_basic_block("entry")
        block.scope = function.scope
        return cls(block)

    def _once(self, write: Callable[[], llvm.Value], *key: Hashable) -> llvm.Value:
        """Return the value written in this block for a key; write it at the first use."""
        if not self._is_at_end:
            return write()
        known = self._written.setdefault(self.block, {})
        if key not in known:
            known[key] = write()
        return known[key]

    # -- places

    def position_at_end(self, block: llvm.Block) -> None:
        """Write at the end of a block from here on."""
        super().position_at_end(block)
        self._is_at_end = True

    def position_at_start(self, block: llvm.Block) -> None:
        """Write at the start of a block from here on."""
        super().position_at_start(block)
        self._is_at_end = False

    def position_before(self, instr: llvm.Instruction) -> None:
        """Write before an instruction from here on."""
        super().position_before(instr)
        self._is_at_end = False

    def position_after(self, instr: llvm.Instruction) -> None:
        """Write after an instruction from here on."""
        super().position_after(instr)
        self._is_at_end = False

    # -- integers

    def add(
        self, lhs: llvm.Value, rhs: llvm.Value, name: str = "", flags: Sequence[str] = ()
    ) -> llvm.Value:
        """Write a sum."""
        a, b = known(lhs), known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a + b)
        if a == 0 or b == 0:
            return rhs if a == 0 else lhs
        write = partial(super().add, lhs, rhs, name=name, flags=flags)
        return self._once(write, "add", *flags, _key(lhs), _key(rhs))

    def sub(
        self, lhs: llvm.Value, rhs: llvm.Value, name: str = "", flags: Sequence[str] = ()
    ) -> llvm.Value:
        """Write a difference."""
        a, b = known(lhs), known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a - b)
        if b == 0:
            return lhs
        write = partial(super().sub, lhs, rhs, name=name, flags=flags)
        return self._once(write, "sub", *flags, _key(lhs), _key(rhs))

    def mul(
        self, lhs: llvm.Value, rhs: llvm.Value, name: str = "", flags: Sequence[str] = ()
    ) -> llvm.Value:
        """Write a product."""
        a, b = known(lhs), known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a * b)
        if a == 1 or b == 1:
            return rhs if a == 1 else lhs
        if a == 0 or b == 0:
            return lhs if a == 0 else rhs
        write = partial(super().mul, lhs, rhs, name=name, flags=flags)
        return self._once(write, "mul", *flags, _key(lhs), _key(rhs))

    def icmp_signed(
        self, cmpop: str, lhs: llvm.Value, rhs: llvm.Value, name: str = ""
    ) -> llvm.Value:
        """Write a comparison."""
        a, b = known(lhs), known(rhs)
        if a is not None and b is not None:
            return BIT(int(_COMPARED[cmpop](a, b)))
        write = partial(super().icmp_signed, cmpop, lhs, rhs, name=name)
        return self._once(write, cmpop, _key(lhs), _key(rhs))

    def select(
        self,
        cond: llvm.Value,
        lhs: llvm.Value,
        rhs: llvm.Value,
        name: str = "",
        flags: Sequence[str] = (),
    ) -> llvm.Value:
        """Write a choice."""
        found = known(cond)
        if found is not None:
            return lhs if found else rhs
        return super().select(cond, lhs, rhs, name=name, flags=flags)

    def smallest(self, *numbers: llvm.Value) -> llvm.Value:
        """Write the least of some integers."""
        return self._extreme("<", numbers)

    def largest(self, *numbers: llvm.Value) -> llvm.Value:
        """Write the largest of some integers."""
        return self._extreme(">", numbers)

    def _extreme(self, order: str, numbers: Sequence[llvm.Value]) -> llvm.Value:
        found, *others = numbers
        for number in others:
            found = self.select(self.icmp_signed(order, number, found), number, found)
        return found

    # -- addresses

    def gep(
        self,
        ptr: llvm.Value,
        indices: Sequence[llvm.Value],
        inbounds: bool = False,
        **named: object,
    ) -> llvm.Value:
        """Write the address of an element."""
        if len(indices) == 1 and known(indices[0]) == 0:
            return ptr
        write = partial(super().gep, ptr, indices, inbounds, **named)
        if "source_etype" in named:
            return write()
        return self._once(write, inbounds, id(ptr), *map(_key, indices))

    def at(self, pointer: llvm.Value, index: llvm.Value | int) -> llvm.Value:
        """Write the address of an element, of which the index may be an integer of Python."""
        return self.gep(pointer, [WORD(index) if isinstance(index, int) else index])

    def get(self, pointer: llvm.Value, index: llvm.Value | int = 0) -> llvm.Value:
        """Write the load of an element."""
        return self.load(self.at(pointer, index))

    def bitcast(self, value: llvm.Value, typ: llvm.Type, name: str = "") -> llvm.Value:
        """Write the same bits as of another type."""
        write = partial(super().bitcast, value, typ, name=name)
        return self._once(write, "bitcast", id(value), typ)

    def freeze(self, value: llvm.Value) -> llvm.Value:
        """Write the same integer, of which LLVM takes no sum apart."""
        frozen = llvm.instructions.Instruction(self.block, value.type, "freeze", [value])
        self.block.instructions.append(frozen)
        self.position_at_end(self.block)
        return frozen

    # -- memory on the stack

    def room(self, kind: llvm.Type, length: int | None = None, name: str = "") -> llvm.Instruction:
        """Return memory on the stack for a value, or several, for the whole call."""
        size = None if length is None else WORD(length)
        with self.goto_entry_block():
            return self.alloca(kind, size=size, name=name)

    def variable(self, value: llvm.Value) -> llvm.Value:
        """Return memory on the stack that has a value from here on."""
        pointer = self.room(value.type)
        self.store(value, pointer)
        return pointer

    def clear(self, words: llvm.Value, length: llvm.Value) -> None:
        """Write zeros to ``length`` integers of 64 bits."""
        kinds = ADDRESS, BYTE, WORD, BIT
        name = "llvm.memset.p0.i64"
        given = self.bitcast(words, ADDRESS), BYTE(0), self.mul(length, WORD(8)), BIT(0)
        self.call(self.external(name, llvm.VoidType(), *kinds), given)

    def copy(self, target: llvm.Value, source: llvm.Value, length: llvm.Value) -> None:
        """Write the copy of ``length`` bytes, which do not overlap."""
        kinds = ADDRESS, ADDRESS, WORD, BIT
        name = "llvm.memcpy.p0.p0.i64"
        places = (self.bitcast(each, ADDRESS) for each in (target, source))
        self.call(self.external(name, llvm.VoidType(), *kinds), [*places, length, BIT(0)])

    # -- control

    def unlikely(self, condition: llvm.Value) -> AbstractContextManager[object]:
        """Return the context of code that runs where a condition holds, which is rare."""
        found: AbstractContextManager[object] = self.if_then(condition, likely=False)
        return found

    @contextmanager
    def count_to(
        self, stop: llvm.Value, start: llvm.Value | None = None, step: llvm.Value | None = None
    ) -> Iterator[llvm.Value]:
        """Write a loop over integers from ``start``, or 0, to before ``stop``."""
        start, step = stop.type(0) if start is None else start, step or stop.type(1)
        test, body, end = (self.append_basic_block(name) for name in ("test", "body", "end"))
        before = self.block
        self.branch(test)
        self.position_at_end(test)
        counter = self.phi(stop.type)
        counter.add_incoming(start, before)
        self.cbranch(self.icmp_signed("<", counter, stop), body, end)
        self.position_at_end(body)
        yield counter
        counter.add_incoming(self.add(counter, step, flags=["nsw"]), self.block)
        self.branch(test)
        self.position_at_end(end)

    def leave(self) -> None:
        """Write the end of a function of a kernel after Python has raised an exception."""
        self.ret(WORD(RAISED))

    # -- functions

    def external(self, name: str, result: llvm.Type, *arguments: llvm.Type) -> llvm.Value:
        """Return a function of LLVM, of Python or of the C library."""
        found = self.module.globals.get(name)
        return found or llvm.Function(self.module, llvm.FunctionType(result, arguments), name)

    def elementwise(self, name: str, *values: llvm.Value) -> llvm.Value:
        """Call a function of LLVM for numbers, which is one for vectors of them too."""
        kind = values[0].type
        return self.call(
            self.external(f"llvm.{name}.{suffix(kind)}", kind, *[v.type for v in values]), values
        )

    def spread(self, number: llvm.Value, lanes: int) -> llvm.Value:
        """Return the vector of which each element is a number."""
        vector = llvm.VectorType(number.type, lanes)
        if isinstance(number, llvm.Constant) and number.constant is not llvm.Undefined:
            return llvm.Constant(vector, [number] * lanes)
        none = llvm.Constant(vector, llvm.Undefined)
        one = self.insert_element(none, number, NUMBER(0))
        places = llvm.Constant(llvm.VectorType(NUMBER, lanes), [0] * lanes)
        return self.shuffle_vector(one, none, places)

    def request(self, pointer: llvm.Value, *, soon: bool = False, written: bool = False) -> None:
        """Write a prefetch of the memory at an address, which may be any address.

        The cache line is loaded into the second-level cache. A first-level cache has few buffers
        for outstanding misses, and misses to memory would delay those served by the second level.
        Only lines that rows access ``soon`` are loaded into the first-level cache, in a writable
        state if they are ``written``.
        """
        function = self.external(
            "llvm.prefetch.p0", llvm.VoidType(), ADDRESS, NUMBER, NUMBER, NUMBER
        )
        hints = NUMBER(int(soon and written)), NUMBER(3 if soon else 2), NUMBER(1)
        self.call(function, [self.bitcast(pointer, ADDRESS), *hints])


def suffix(kind: llvm.Type) -> str:
    """Return a type as written in the names of LLVM's functions."""
    if isinstance(kind, llvm.VectorType):
        return f"v{kind.count}{suffix(kind.element)}"
    if isinstance(kind, llvm.IntType):
        return f"i{kind.width}"
    return "f64" if isinstance(kind, llvm.DoubleType) else "f32"


class _Names:
    """The names of a function's values; unnamed values are numbered."""

    def __init__(self, named: llvm.Names) -> None:
        self._named = named
        self._count = count()

    def register(self, name: str, deduplicate: bool = False) -> str:
        """Return a name that no other value has."""
        return self._named.register(name, deduplicate) if name else f".t{next(self._count)}"


def known(value: llvm.Value) -> int | None:
    """Return an integer that is a constant."""
    if not isinstance(value, llvm.Constant) or not isinstance(value.type, llvm.IntType):
        return None
    found = value.constant
    return int(found) if isinstance(found, int) else None


def _key(value: llvm.Value) -> Hashable:
    """Return a key that distinguishes a value from others in use."""
    found = known(value)
    return id(value) if found is None else (value.type.width, found)


def _integer(kind: llvm.Type, number: int) -> llvm.Value:
    """Return an integer as a type has it, without the bits beyond its highest one."""
    half = 1 << (kind.width - 1)
    return kind((number + half) % (2 * half) - half if kind.width > 1 else number % 2)
