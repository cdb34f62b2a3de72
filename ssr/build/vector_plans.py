"""Which loops over rows can be computed on vectors, and what that takes.

A loop has this form if its body is a sequence of elementwise operations, whose loads and stores
are at the row's own place, or at a fixed distance from it; all other loops stay as they are.
`vector_loops` writes them.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import types

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

ARITHMETIC = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
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

    state: tuple[str, str]

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
    So many ``arrays`` are in its loops; some of its arguments are ``fields``. There are so many
    ``loops`` around the one that is being written, some of which may run ``backwards``. The lines
    of some arrays are terms of ``sums``. Loops have ``plans``, once these are found.
    """

    builder: Any
    plain: frozenset[str]
    definitions: Mapping[str, ast.expr]
    arrays: int
    fields: Sequence[str]
    loops: int
    backwards: bool
    sums: Mapping[str, Terms]
    plans: dict[ast.For, Plan]

    def mark(self, node: ast.stmt) -> None:
        """Let what follows stand for a statement."""

    def new_block(self, name: str) -> Any:
        """Return a new basic block."""

    def write_rows(self, node: ast.For, start: Any, stop: Any) -> None:
        """Write a loop of few rows, row by row."""

    def loop(self, *facts: list[Any]) -> Any:
        """Return what tells LLVM facts about a loop."""

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
    """An array's element at an offset, and the step from that of a row to that of the next one."""

    array: str
    offset: ast.expr
    step: int


class Plan(NamedTuple):
    """What a loop over vectors needs to know: the type of numbers, and what it accesses.

    Vectors begin where the ``aligned`` access begins a cache line, if there is one. Of each field
    that rows access, ``ahead`` has the line that sweeps meet first. So many vectors
    are computed in one round of the loop. The ``parts`` of a long body are several. A plan may be
    for fields that are ``far`` only; LLVM's own vectors are better where they are near. ``loads``
    and ``stores`` are all accesses. Some rows at both ends may lack terms that those ``inside``
    have.
    """

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
    places: dict[str, set[str]] = {}
    for access in accesses:
        if access.array in arrays:
            places.setdefault(access.array, set()).add(ast.dump(access.offset))
    return all(len(found) == 1 for found in places.values())


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
        many = self._translation.arrays > FEW
        in_parts = len(body) >= LONG and not many and target.current().registers >= REGISTERS
        several = parts(body) if in_parts else [Part(body)]
        far = many or (len(body) > SHORT and len(several) == 1)
        if not all(map(self._statement, body)) or len(self._dtypes) != 1 or not self._stores:
            return None
        if not all(access.step for access in self._stores):
            return None
        if not independent and not self._apart():
            return None
        (dtype,) = self._dtypes
        ahead = self._ahead()
        found = inside(body, self._variable)
        if len(self._stores) == 1:
            together = max(together, min(target.current().together, len(self._loads) // PER_VECTOR))
        far = far and not (found and found.by_line)
        if far and not (ahead and target.current().requests):
            return None
        aligned = self._aligned()
        return Plan(dtype, aligned, ahead, together, several, far, self._loads, self._stores, found)

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
        lines: dict[tuple[str, int], list[ast.expr]] = {}
        for access in (*self._loads, *self._stores):
            if access.step and self._is_field(access.array):
                lines.setdefault((access.array, access.step), []).append(line_of(access.offset))
        definitions, backwards = self._translation.definitions, self._translation.backwards
        return [
            Access(array, furthest(offsets, definitions, backwards), step)
            for (array, step), offsets in lines.items()
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
        step = step_of(offset, self._variable, self._made.keys())
        if step is None or not isinstance(kind, types.Array) or (self._chosen and not step):
            return False
        self._dtypes.add(kind.dtype)
        kept.append(Access(array.id, offset, step))
        return isinstance(kind.dtype, types.Float)

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
                return type(op) in ARITHMETIC and self._real(left) and self._real(right)
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
                known = any(meant is one for one in (*IN_LLVM, *WRITTEN))
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
                found = side(node, self._variable)
                if found is not None:
                    return step_of(found.place, self._variable, self._made.keys()) == 0
                return type(op) in COMPARISONS and self._real(left) and self._real(right)
        return False


def step_of(offset: ast.expr, variable: str, others: Collection[str] = ()) -> int | None:
    """Return how far an index grows from row to row, if that is known and not too far.

    It is not if other names than the rows' own ``variable`` have values for each row.

    >>> [step_of(ast.parse(t, mode="eval").body, "i") for t in ("r + 2*i + 1", "k - i", "k", "5*i")]
    [2, None, 0, None]
    """

    def grown(node: ast.expr) -> int | None:
        match node:
            case ast.Constant():
                return 0
            case ast.Name(id=name):
                return 1 if name == variable else None if name in others else 0
            case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
                a, b = grown(left), grown(right)
                if a is None or b is None:
                    return None
                return a + b if isinstance(op, ast.Add) else a - b
            case ast.BinOp(ast.Constant(value=int(factor)), ast.Mult(), right):
                found = grown(right)
                return None if found is None else factor * found
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        return None if names & {variable, *others} else 0

    found = grown(offset)
    return found if found in range(WIDEST + 1) else None


def line_of(offset: ast.expr) -> ast.expr:
    """Return the offset of a row's own place on the line that an access is on."""
    return offset.left if isinstance(offset, ast.BinOp) and shift_of(offset) else offset


def shift_of(offset: ast.expr) -> int:
    """Return what is added to a row's own place along its line.

    >>> [shift_of(ast.parse(t, mode="eval").body) for t in ("r + i - 2", "r + i", "i + 1")]
    [-2, 0, 1]
    """
    match offset:
        case ast.BinOp(_, ast.Add() | ast.Sub() as op, ast.Constant(value=int(number))):
            return number if isinstance(op, ast.Add) else -number
    return 0


def furthest(
    offsets: Sequence[ast.expr], definitions: Mapping[str, ast.expr], backwards: bool = False
) -> ast.expr:
    """Return the offset of the line that sweeps meet first: the last one in memory.

    Sweeps that run backwards meet the first one in memory first.

    Lines are compared if their offsets differ by multiples of strides only, which are names; the
    largest group of such lines counts. Names of offsets have ``definitions``. Where a neighbour is
    chosen, as on a torus, it is the first one, which is that of rows inside.

    >>> lines = [ast.parse(t, mode="eval").body for t in ("r + i", "(k + 1) * s + i", "k * s + i")]
    >>> definition = ast.parse("(k - 1) * s", mode="eval").body
    >>> ast.unparse(furthest(lines, {"r": definition}))
    '(k + 1) * s + i'
    """
    groups: dict[Any, list[tuple[list[tuple[str, int]], int]]] = {}
    for place, offset in enumerate(offsets):
        terms = expanded(offset, definitions, usual=True)
        steps = sorted((names[0], n) for names, n in terms.items() if len(names) == 1)
        rest = frozenset((names, n) for names, n in terms.items() if len(names) != 1)
        groups.setdefault(rest, []).append((steps, place))
    lines = max(groups.values(), key=len)
    names = sorted({name for steps, _ in lines for name, _ in steps})
    last = (min if backwards else max)(
        lines, key=lambda line: [dict(line[0]).get(name, 0) for name in names]
    )
    return offsets[last[1]]


_ARITHMETIC = ast.BinOp, ast.Name, ast.Constant, ast.IfExp
"""Definitions of integers that are written in terms of others."""


def expanded(
    node: ast.expr, definitions: Mapping[str, ast.expr], usual: bool = False
) -> dict[tuple[str, ...], int]:
    """Return an integer as a sum of products of names, with their factors.

    A choice is one name, or what it ``usual``ly is: most rows lie inside, and their neighbours too.
    """
    match node:
        case ast.Constant(value=int(number)):
            return {(): number} if number else {}
        case ast.Name(id=name):
            meant = definitions.get(name)
            if isinstance(meant, _ARITHMETIC):
                return expanded(meant, definitions, usual)
            return {(name,): 1}
        case ast.IfExp(body=usually) if usual:
            return expanded(usually, definitions, usual)
        case ast.BinOp(left, ast.Add() | ast.Sub() as op, right):
            found = expanded(left, definitions, usual)
            sign = 1 if isinstance(op, ast.Add) else -1
            for names, number in expanded(right, definitions, usual).items():
                found[names] = found.get(names, 0) + sign * number
        case ast.BinOp(left, ast.Mult(), right):
            found = {}
            factors = expanded(right, definitions, usual)
            for names, number in expanded(left, definitions, usual).items():
                for others, factor in factors.items():
                    both = tuple(sorted(names + others))
                    found[both] = found.get(both, 0) + number * factor
        case _:
            return {(ast.unparse(node),): 1}
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
    if node.target.id not in translation.plain:
        return None
    found = translation.plans.get(node)
    if found is None:
        reader = _Reader(translation, node.target.id)
        found = reader.plan(node.body, kind != "range", 2 if kind == "interleaved" else 1)
        if found is not None:  # a loop that has none yet may read what is still to be assigned
            translation.plans[node] = found
    return found
