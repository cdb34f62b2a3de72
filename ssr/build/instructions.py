"""Instructions of LLVM, but for those whose result is known.

LLVM removes such instructions itself, but first it has to read them. What describes an array is put
together of eleven arguments and taken apart again at every use, and the same address is computed
for each load: half of what Numba's and our own translations write without looking back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba import types

ORDERS: dict[Callable[..., Any], str] = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">",
    operator.ge: ">=",
}  # fmt: skip
"""The comparisons of numbers."""

_COMPARED = {order: compare for compare, order in ORDERS.items()}

_WHOLE = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
_BOTH = {operator.and_: "and_", operator.or_: "or_"}
_REAL = {
    operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv",
}  # fmt: skip


class Builder(llvm.IRBuilder):  # type: ignore[misc]
    """What writes instructions one after the other.

    Arithmetic on known integers is done at once, and what a block has is not written there again. A
    structure is written where it is wanted as a whole; elsewhere its members are what was put in.
    """

    def __init__(self, block: Any = None) -> None:
        super().__init__(block)
        self._written: dict[Any, dict[Any, Any]] = {}

    def _once(self, write: Callable[[], Any], *key: Any) -> Any:
        """Return what was written at the end of this block before; write it if nothing was."""
        block = self._block
        if self._anchor != len(block.instructions):
            return write()
        known = self._written.setdefault(block, {})
        if key not in known:
            known[key] = write()
        return known[key]

    def add(self, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        """Write a sum."""
        a, b = _known(lhs), _known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a + b)
        if a == 0 or b == 0:
            return rhs if a == 0 else lhs
        write = partial(super().add, lhs, rhs, name=name, flags=flags)
        return self._once(write, "add", *flags, _key(lhs), _key(rhs))

    def sub(self, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        """Write a difference."""
        a, b = _known(lhs), _known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a - b)
        if b == 0:
            return lhs
        write = partial(super().sub, lhs, rhs, name=name, flags=flags)
        return self._once(write, "sub", *flags, _key(lhs), _key(rhs))

    def mul(self, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        """Write a product."""
        a, b = _known(lhs), _known(rhs)
        if a is not None and b is not None:
            return _integer(lhs.type, a * b)
        if a == 1 or b == 1:
            return rhs if a == 1 else lhs
        if a == 0 or b == 0:
            return lhs if a == 0 else rhs
        write = partial(super().mul, lhs, rhs, name=name, flags=flags)
        return self._once(write, "mul", *flags, _key(lhs), _key(rhs))

    def icmp_signed(self, cmpop: str, lhs: Any, rhs: Any, name: str = "") -> Any:
        """Write a comparison."""
        a, b = _known(lhs), _known(rhs)
        if a is not None and b is not None:
            return llvm.IntType(1)(int(_COMPARED[cmpop](a, b)))
        write = partial(super().icmp_signed, cmpop, lhs, rhs, name=name)
        return self._once(write, cmpop, _key(lhs), _key(rhs))

    def select(
        self, cond: Any, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()
    ) -> Any:
        """Write a choice."""
        known = _known(cond)
        if known is not None:
            return lhs if known else rhs
        return super().select(cond, self._whole(lhs), self._whole(rhs), name=name, flags=flags)

    def gep(self, ptr: Any, indices: Sequence[Any], inbounds: bool = False, **named: Any) -> Any:
        """Write the address of an element."""
        if len(indices) == 1 and _known(indices[0]) == 0:
            return ptr
        write = partial(super().gep, ptr, indices, inbounds, **named)
        if "source_etype" in named:
            return write()
        return self._once(write, inbounds, id(ptr), *map(_key, indices))

    def bitcast(self, value: Any, typ: Any, name: str = "") -> Any:
        """Write the same bits as of another type."""
        write = partial(super().bitcast, value, typ, name=name)
        return self._once(write, "bitcast", id(value), typ)

    def insert_value(self, agg: Any, value: Any, idx: Any, name: str = "") -> Any:
        """Return a structure with a member put in."""
        return Structure(agg, value, [*idx] if isinstance(idx, (tuple, list)) else [idx])

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Take a member of a structure; it may be known what was put there."""
        path = [*idx] if isinstance(idx, (tuple, list)) else [idx]
        while isinstance(agg, Structure):
            put = agg.place
            common = min(len(put), len(path))
            if put[:common] != path[:common]:
                agg = agg.before
            elif len(put) > len(path):
                agg = self._whole(agg)
            else:
                agg, path = agg.member, path[len(put) :]
                if not path:
                    return agg
        return super().extract_value(agg, path, name=name)

    def _whole(self, value: Any) -> Any:
        """Write a structure, if a value is one that is not written."""
        if not isinstance(value, Structure):
            return value
        before, member = self._whole(value.before), self._whole(value.member)
        return super().insert_value(before, member, value.place)

    def store(self, value: Any, ptr: Any, align: int | None = None) -> Any:
        """Write a store."""
        return super().store(self._whole(value), ptr, align=align)

    def call(self, fn: Any, args: Sequence[Any], *more: Any, **named: Any) -> Any:
        """Write a call."""
        return super().call(fn, [self._whole(value) for value in args], *more, **named)

    def ret(self, value: Any) -> Any:
        """Write the end of the function."""
        return super().ret(self._whole(value))


class Structure(NamedTuple):
    """A structure with a member put in, which is written where it is wanted as a whole only."""

    before: Any
    member: Any
    place: list[int]

    @property
    def type(self) -> Any:
        """The type of the structure."""
        return self.before.type


class Names:
    """The names of a function's values: most have none, and are numbered.

    Parameters
    ----------
    named
        Gives the others names that differ.
    """

    def __init__(self, named: Any) -> None:
        self._named = named
        self._count = count()

    def register(self, name: str, deduplicate: bool = False) -> Any:
        """Return a name that no other value has."""
        return self._named.register(name, deduplicate) if name else f".{next(self._count)}"


def _known(value: Any) -> int | None:
    """Return an integer that is a constant."""
    if not isinstance(value, llvm.Constant) or not isinstance(value.type, llvm.IntType):
        return None
    found = value.constant
    return int(found) if isinstance(found, int) else None


def _key(value: Any) -> Any:
    """Return what tells a value from others that are in use."""
    known = _known(value)
    return id(value) if known is None else (value.type.width, known)


def _integer(kind: Any, number: int) -> Any:
    """Return an integer as a type has it, without what lies beyond its highest bit."""
    half = 1 << (kind.width - 1)
    return kind((number + half) % (2 * half) - half if kind.width > 1 else number % 2)


def arithmetic(
    builder: Builder, function: Any, kinds: Sequence[Any], values: Sequence[Any]
) -> Any | None:
    """Write an operation on two integers, real numbers or conditions; None if it is no such one.

    It is what Numba writes, but for its check of divisors, which does nothing where division by
    zero is no error.
    """
    if len(values) != 2 or kinds[0] != kinds[1]:
        return None
    if kinds[0] == types.intp:
        if function in _WHOLE:
            return getattr(builder, _WHOLE[function])(*values, flags=["nsw"])
        return builder.icmp_signed(ORDERS[function], *values) if function in ORDERS else None
    if kinds[0] == types.boolean and function in _BOTH:
        return getattr(builder, _BOTH[function])(*values)
    if not isinstance(kinds[0], types.Float):
        return None
    if function in _REAL:
        return getattr(builder, _REAL[function])(*values)
    if function not in ORDERS:
        return None
    compare = builder.fcmp_unordered if function is operator.ne else builder.fcmp_ordered
    return compare(ORDERS[function], *values)
