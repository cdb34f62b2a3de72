"""Which loops over rows can be computed on vectors, and what that takes.

A loop has this form if its body is a sequence of elementwise operations, whose loads and stores
are at the row's own place, or at a fixed distance from it; all other loops stay as they are.
`vector_loops` writes them.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import types

from ..kernel import ir
from ..kernel.linear import furthest, line_of, shift_of, step_of
from ..runtime import intrinsics, target
from .line_sides import Inside, inside, side
from .vector_parts import Part, parts

SHORT, LONG = 50, 150
"""Statements up to which a loop loads rather than computes, and from which on it is cut into parts;
LLVM's own vectors are as good between them where fields are near."""

REGISTERS = 32
"""Vector registers from which on the parts of a long body are better than LLVM's own vectors."""

MANY = 10
"""Loads of a row from which on processors wait for loads. With fewer they wait for memory, and the
longer what is computed depends on the last load, the less they have under way."""

PER_VECTOR = 6
"""Loads of a row that makes one number of them for each vector that is computed at a time: the sum
of a vector is a chain of operations, and chains of several vectors overlap."""

FEW = 21
"""Arrays in loops of a function from which on places in them are not in registers, but in memory:
LLVM's own vectors, which need fewer of them, are better where fields are near."""

WIDEST = 2
"""The longest step between elements of one vector."""

ARITHMETIC = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
IN_LLVM: Mapping[Any, str] = {
    intrinsics.fma: "llvm.fma", np.sqrt: "llvm.sqrt", builtins.abs: "llvm.fabs",
}  # fmt: skip
WRITTEN: Mapping[Any, Callable[..., Any]] = {
    intrinsics.minimum: intrinsics.chooses("<"),
    intrinsics.maximum: intrinsics.chooses(">"),
    intrinsics.sign: intrinsics.writes_sign,
}


class Terms(Protocol):
    """A sum whose terms a loop adds up as it makes them; see `vector_sums`.

    Attributes
    ----------
    state
        The name of the array that has its state, and the row as an expression.
    """

    state: tuple[str, ir.Expression]

    def begin(self, place: Any, count: Any) -> None:
        """Begin a line of so many terms at a place of its buffer."""

    def take(self, terms: Any, mask: Any) -> None:
        """Take a vector of terms."""

    def end(self, place: Any, count: Any, otherwise: Callable[[], object]) -> None:
        """Add a line to the sum; ``otherwise`` writes what adds up the buffer."""

    def close(self) -> None:
        """Give the state what it has not got yet."""


class Translation(Protocol):
    """The function under translation that a loop is in.

    Variables that are ``plain`` need no memory; those that are assigned once have ``definitions``.
    So many ``arrays`` are in its loops; some of its arguments are ``fields``. Loops around the one
    that is being written may run ``backwards``. The lines of some arrays are terms of ``sums``.
    Loops have ``plans`` by their identity, once these are found.
    """

    builder: Any
    plain: frozenset[str]
    definitions: Mapping[str, ir.Expression]
    arrays: int
    fields: Sequence[str]
    backwards: bool
    sums: Mapping[str, Terms]
    plans: dict[int, Plan]

    def mark(self, node: ir.Statement) -> None:
        """Let what follows stand for a statement."""

    def new_block(self, name: str) -> Any:
        """Return a new basic block."""

    def write_rows(self, node: ir.For, start: Any, stop: Any) -> None:
        """Write a loop of few rows, row by row."""

    def loop(self, *facts: list[Any]) -> Any:
        """Return what tells LLVM facts about a loop."""

    def static(self, name: str) -> Any:
        """Return what a name means outside of the function."""

    def kind_of(self, name: str) -> Any:
        """Return the type of a name that has a value, as Numba names it."""

    def counts(self, name: str, bits: Any) -> None:
        """Let the variable of a loop be an integer of LLVM's."""

    def bits_of(self, node: ir.Expression) -> Any:
        """Return LLVM's value of an expression."""

    def integer_of(self, node: ir.Expression) -> Any:
        """Return LLVM's value of an integer."""

    def start_of(self, array: str) -> Any:
        """Return the address of an array's first element."""

    def steps_of(self, array: str) -> Any:
        """Return the bits of all bytes between neighbours of an array, but for its last axis."""

    def count_of(self, array: str) -> Any:
        """Return the number of elements of an array."""


class Access(NamedTuple):
    """An array's element at an offset, and the step from that of a row to that of the next one."""

    array: str
    offset: ir.Expression
    step: int


class Plan(NamedTuple):
    """What vectors of a ``loop`` need to know: the type of numbers, and what it accesses.

    Vectors begin where the ``aligned`` access begins a cache line, if there is one. Of each field
    that rows access, ``ahead`` has the line that sweeps meet first. So many vectors
    are computed in one round of the loop. The ``parts`` of a long body are several. A plan may be
    for fields that are ``far`` only; LLVM's own vectors are better where they are near. ``loads``
    and ``stores`` are all accesses. Some rows at both ends may lack terms that those ``inside``
    have.
    """

    loop: ir.For
    dtype: Any
    aligned: Access | None
    ahead: Sequence[Access]
    together: int
    parts: Sequence[Part]
    far: bool
    loads: Sequence[Access]
    stores: Sequence[Access]
    inside: Inside | None


def are_at_one_place(accesses: Iterable[Access], arrays: Collection[str]) -> bool:
    """Whether rows access each of some arrays at one place only, if at all."""
    places: dict[str, set[ir.Expression]] = {}
    for access in accesses:
        if access.array in arrays:
            places.setdefault(access.array, set()).add(access.offset)
    return all(len(found) == 1 for found in places.values())


class _Reader:
    """The check that the body of a loop can be computed on vectors, with all that it accesses."""

    def __init__(self, translation: Translation, loop: ir.For) -> None:
        self._translation = translation
        self._loop = loop
        self._variable = loop.variable
        self._made: dict[str, bool] = {}
        self._chosen = False  # an element that no row may want is read with a mask, or not at all
        self._dtypes: set[Any] = set()
        self._loads: list[Access] = []
        self._stores: list[Access] = []

    def plan(self) -> Plan | None:
        """Return the plan of the loop, or None if it has none."""
        body, order = self._loop.body, self._loop.order
        many = self._translation.arrays > FEW
        in_parts = len(body) >= LONG and not many and target.current().registers >= REGISTERS
        several = parts(body) if in_parts else [Part(body)]
        far = many or (len(body) > SHORT and len(several) == 1)
        if not all(map(self._statement, body)) or len(self._dtypes) != 1 or not self._stores:
            return None
        if not all(access.step for access in self._stores):
            return None
        if order == "serial" and not self._apart():
            return None
        (dtype,) = self._dtypes
        ahead = self._ahead()
        found = inside(body, self._variable)
        together = 2 if order == "interleaved" else 1
        if len(self._stores) == 1:
            together = max(together, min(target.current().together, len(self._loads) // PER_VECTOR))
        far = far and not (found and found.by_line)
        if far and not (ahead and target.current().requests):
            return None
        aligned = self._aligned()
        return Plan(
            self._loop, dtype, aligned, ahead, together, several, far, self._loads, self._stores,
            found,
        )  # fmt: skip

    def _apart(self) -> bool:
        """Whether what is written is accessed at one place of each row only."""
        written = {access.array for access in self._stores}
        return are_at_one_place((*self._loads, *self._stores), written)

    def _aligned(self) -> Access | None:
        """Return the access that most others are aligned with; of those alike the first store.

        It is one of a field if there is one: lines of the arrays of kernels' own have any length.
        """
        accesses = [a for a in (*self._stores, *self._loads) if a.step == 1]
        accesses = [a for a in accesses if self._is_field(a.array)] or accesses
        lengths = Counter((a.array, shift_of(a.offset)) for a in accesses)
        most = max(lengths.values(), default=0)
        return next((a for a in accesses if lengths[a.array, shift_of(a.offset)] == most), None)

    def _is_field(self, array: str) -> bool:
        return bool(self._translation.kind_of(array).layout == "A")

    def _ahead(self) -> list[Access]:
        """Return the line of each field that comes first; the arrays of kernels' own are near."""
        lines: dict[tuple[str, int], list[ir.Expression]] = {}
        for access in (*self._loads, *self._stores):
            if access.step and self._is_field(access.array):
                lines.setdefault((access.array, access.step), []).append(line_of(access.offset))
        definitions, backwards = self._translation.definitions, self._translation.backwards
        return [
            Access(array, furthest(offsets, definitions, backwards), step)
            for (array, step), offsets in lines.items()
        ]

    def _statement(self, node: ir.Statement) -> bool:
        match node:
            case ir.Let((name,), value):
                if name not in self._translation.plain:
                    return False
                is_truth = not self._real(value)
                self._made[name] = is_truth
                return not is_truth or self._truth(value)
            case ir.Store(array, offset, value):
                if self._translation.static("st") is not intrinsics.st or not self._real(value):
                    return False
                return self._accessed(array, offset, self._stores)
        return False

    def _accessed(self, array: ir.Expression, offset: ir.Expression, kept: list[Access]) -> bool:
        if not isinstance(array, ir.Name):
            return False
        kind = self._translation.kind_of(array.name)
        step = step_of(offset, self._variable, self._made.keys())
        if step is None or step not in range(WIDEST + 1) or (self._chosen and not step):
            return False
        if not isinstance(kind, types.Array):
            return False
        self._dtypes.add(kind.dtype)
        kept.append(Access(array.name, offset, step))
        return isinstance(kind.dtype, types.Float)

    def _real(self, node: ir.Expression) -> bool:
        """Whether an expression is a number, of arithmetic that vectors have."""
        match node:
            case ir.Name(name):
                if name in self._made:
                    return not self._made[name]
                kind = self._translation.kind_of(name)
                if isinstance(kind, types.Float):
                    self._dtypes.add(kind)
                    return True
                return False
            case ir.Binary(symbol, left, right):
                return symbol in ARITHMETIC and self._real(left) and self._real(right)
            case ir.Negative(operand):
                return self._real(operand)
            case ir.Select(test, then, orelse):
                before, self._chosen = self._chosen, True
                found = all((self._truth(test), self._real(then), self._real(orelse)))
                self._chosen = before
                return found
            case ir.Load(array, offset):
                is_plain = self._translation.static("ld") is intrinsics.ld
                return is_plain and self._accessed(array, offset, self._loads)
            case ir.Call(function, arguments):
                meant = self._translation.static(function)
                known = any(meant is one for one in (*IN_LLVM, *WRITTEN))
                return known and all(map(self._real, arguments))
        return False

    def _truth(self, node: ir.Expression) -> bool:
        """Whether an expression is a condition that vectors have."""
        match node:
            case ir.Name(name):
                if name in self._made:
                    return self._made[name]
                return bool(self._translation.kind_of(name) == types.boolean)
            case ir.Binary("&" | "|", left, right):
                return self._truth(left) and self._truth(right)
            case ir.Not(operand):
                return self._truth(operand)
            case ir.Compare(_, left, right):
                found = side(node, self._variable)
                if found is not None:
                    return step_of(found.place, self._variable, self._made.keys()) == 0
                return self._real(left) and self._real(right)
        return False


def plan(translation: Translation, loop: ir.For) -> Plan | None:
    """Return the plan of a loop, or None if it cannot be computed on vectors.

    Parameters
    ----------
    translation
        The function that the loop is in.
    loop
        The loop, with a step of one.
    """
    if loop.variable not in translation.plain:
        return None
    found = translation.plans.get(id(loop))
    if found is None:
        found = _Reader(translation, loop).plan()
        if found is not None:  # a loop that has none yet may read what is still to be assigned
            translation.plans[id(loop)] = found
    return found
