"""Selection of the loops over rows that can be vectorized, and their vectorization plans.

A loop qualifies if its body is a sequence of elementwise operations, and its loads and stores are
at the row's own index or at a constant offset from it. All other loops are left unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from ... import elementary
from .. import ir
from ..linear import furthest, line_of, shift_of, step_of
from ..types import BYTES, NUMBERS, TRUTH
from .context import Context
from .line_sides import Inside, inside, side
from .parts import Part, parts

SHORT, LONG = 50, 150
"""Number of statements up to which a loop is bound by loads, and from which on it is split into
parts; in between, LLVM's vector loops are as fast if fields are in cache."""

REGISTERS = 32
"""Number of vector registers from which on split bodies are faster than LLVM's vector loops."""

PER_VECTOR = 6
"""Loads of a row for each vector that is computed concurrently: the sum of a vector is a chain of
operations, and the chains of several vectors overlap."""

FEW = 21
"""Number of arrays in loops of a function from which on their addresses spill to memory. LLVM's
vector loops, which need fewer registers, are then faster if fields are in cache."""

WIDEST = 2
"""The largest stride between elements of one vector."""

FUNCTIONS = frozenset({"fma", "abs", "minimum", "maximum", "sign"}) | {
    function.printed for function in elementary.FUNCTIONS.values() if function.of_vectors
}
"""The scalar functions that have vector forms."""


class Access(NamedTuple):
    """An array's element at an offset, and the step from the element of a row to the next one."""

    array: str
    offset: ir.Expression
    step: int


class Plan(NamedTuple):
    """The plan of a vectorized loop.

    Attributes
    ----------
    element
        The type of its values.
    lanes
        The number of rows of a vector.
    aligned
        The access whose vectors begin at cache lines.
    ahead
        For each field that rows access, the line that sweeps access first.
    together
        The number of vectors per iteration of the loop.
    parts
        The parts of a long body, or the whole body.
    far
        Whether vectors are faster only for fields that are far.
    loads, stores
        All accesses.
    inside
        The body of rows that have all terms, if some rows at both ends may lack terms.
    """

    loop: ir.For
    element: str
    lanes: int
    aligned: Access | None
    ahead: tuple[Access, ...]
    together: int
    parts: tuple[Part, ...]
    far: bool
    loads: tuple[Access, ...]
    stores: tuple[Access, ...]
    inside: Inside | None

    @property
    def size(self) -> int:
        """The bytes of a number."""
        return BYTES[self.element]


def are_at_one_place(accesses: Iterable[Access], arrays: Collection[str]) -> bool:
    """Whether rows access each of some arrays at one place only, if at all."""
    places: dict[str, set[ir.Expression]] = {}
    for access in accesses:
        if access.array in arrays:
            places.setdefault(access.array, set()).add(access.offset)
    return all(len(found) == 1 for found in places.values())


class Plans:
    """The plans of the loops of a function.

    Parameters
    ----------
    context
        The function.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._known: dict[int, tuple[ir.For, Plan | None]] = {}

    def of(self, loop: ir.For) -> Plan | None:
        """Return the plan of a loop with a step of one; None if it has none."""
        if id(loop) not in self._known:
            plain = self._context.target.vector_bytes and loop.variable in self._context.uses.plain
            self._known[id(loop)] = loop, _Reader(self._context, loop).plan() if plain else None
        return self._known[id(loop)][1]


class _Reader:
    """The check that the body of a loop can be computed on vectors, with all that it accesses."""

    def __init__(self, context: Context, loop: ir.For) -> None:
        self._context = context
        self._loop = loop
        self._made: dict[str, bool] = {}
        self._chosen = False  # inside a select: its reads may need masks
        self._elements: set[str] = set()
        self._loads: list[Access] = []
        self._stores: list[Access] = []

    def plan(self) -> Plan | None:
        """Return the plan of the loop, or None if it has none."""
        context, body, order = self._context, self._loop.body, self._loop.order
        if not all(map(self._statement, body)) or len(self._elements) != 1 or not self._stores:
            return None
        if not all(access.step for access in self._stores):
            return None
        if order == "serial" and not self._apart():
            return None
        many = context.arrays > FEW
        in_parts = len(body) >= LONG and not many and context.target.registers >= REGISTERS
        several = parts(body) if in_parts else [Part(body)]
        far = many or (len(body) > SHORT and len(several) == 1)
        ahead = self._ahead()
        if far and not (ahead and context.target.requests):
            return None
        (element,) = self._elements
        return Plan(
            loop=self._loop,
            element=element,
            lanes=context.target.lanes(8 * BYTES[element]),
            aligned=self._aligned(),
            ahead=ahead,
            together=self._together(),
            parts=tuple(several),
            far=far,
            loads=tuple(self._loads),
            stores=tuple(self._stores),
            inside=inside(body, self._loop.variable),
        )

    def _together(self) -> int:
        """Return how many vectors are computed at a time."""
        if len(self._stores) > 1:
            return 1
        return max(1, min(self._context.target.together, len(self._loads) // PER_VECTOR))

    def _apart(self) -> bool:
        """Whether each array that is written is accessed at one place of each row only."""
        written = {access.array for access in self._stores}
        return are_at_one_place((*self._loads, *self._stores), written)

    def _aligned(self) -> Access | None:
        """Return the access with which most others are aligned; among equals, the first store.

        Fields are preferred, because lines of internal arrays of a kernel have any length.
        """
        accesses = [a for a in (*self._stores, *self._loads) if a.step == 1]
        accesses = [a for a in accesses if self._context.is_field(a.array)] or accesses
        lengths = Counter((a.array, shift_of(a.offset)) for a in accesses)
        most = max(lengths.values(), default=0)
        return next((a for a in accesses if lengths[a.array, shift_of(a.offset)] == most), None)

    def _ahead(self) -> tuple[Access, ...]:
        """Return the line of each field that comes first; the arrays of kernels' own are near."""
        lines: dict[tuple[str, int], list[ir.Expression]] = {}
        for access in (*self._loads, *self._stores):
            if access.step and self._context.is_field(access.array):
                lines.setdefault((access.array, access.step), []).append(line_of(access.offset))
        definitions, backwards = self._context.uses.definitions, self._context.backwards
        return tuple(
            Access(array, furthest(offsets, definitions, backwards), step)
            for (array, step), offsets in lines.items()
        )

    def _statement(self, node: ir.Statement) -> bool:
        match node:
            case ir.Let((name,), value):
                if name not in self._context.uses.plain:
                    return False
                is_truth = not self._real(value)
                self._made[name] = is_truth
                return not is_truth or self._truth(value)
            case ir.Store(array, offset, value):
                return self._real(value) and self._accessed(array, offset, self._stores)
        return False

    def _accessed(self, array: ir.Expression, offset: ir.Expression, kept: list[Access]) -> bool:
        if not isinstance(array, ir.Name):
            return False
        found = self._context.type_of(array.name)
        step = step_of(offset, self._loop.variable, self._made.keys())
        if step is None or step not in range(WIDEST + 1) or (self._chosen and not step):
            return False
        if not isinstance(found, ir.Array) or found.element not in NUMBERS:
            return False
        self._elements.add(found.element)
        kept.append(Access(array.name, offset, step))
        return True

    def _real(self, node: ir.Expression) -> bool:
        """Whether an expression is a number, of arithmetic that vectors have."""
        match node:
            case ir.Name(name):
                if name in self._made:
                    return not self._made[name]
                found = self._context.type_of(name)
                if isinstance(found, ir.Scalar) and found.element in NUMBERS:
                    self._elements.add(found.element)
                    return True
                return False
            case ir.Binary("+" | "-" | "*" | "/", left, right):
                return self._real(left) and self._real(right)
            case ir.Negative(operand):
                return self._real(operand)
            case ir.Select(test, then, orelse):
                before, self._chosen = self._chosen, True
                found_all = all((self._truth(test), self._real(then), self._real(orelse)))
                self._chosen = before
                return found_all
            case ir.Load(array, offset):
                return self._accessed(array, offset, self._loads)
            case ir.Call(function, arguments):
                return function in FUNCTIONS and all(map(self._real, arguments))
        return False

    def _truth(self, node: ir.Expression) -> bool:
        """Whether an expression is a condition that vectors have."""
        match node:
            case ir.Name(name):
                return (
                    self._made[name] if name in self._made else self._context.type_of(name) == TRUTH
                )
            case ir.Binary("&" | "|", left, right):
                return self._truth(left) and self._truth(right)
            case ir.Not(operand):
                return self._truth(operand)
            case ir.Compare(_, left, right):
                found = side(node, self._loop.variable)
                if found is not None:
                    return step_of(found.place, self._loop.variable, self._made.keys()) == 0
                return self._real(left) and self._real(right)
        return False
