"""Expression nodes: the values of one row, and functions that traverse and rewrite them.

A `Sum` adds those of its terms whose domain contains the row, as one chain of fused multiply-adds
in the order of the terms. This order defines the rounding of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ..points.affine import AXES, Affine
from ..points.sets import Domain

Boxes: TypeAlias = Literal["any", "own", "other"]
"""The subdomains of columns in distributed programs: any, that of the row, or all others."""


@dataclass(frozen=True, slots=True)
class Const:
    """A number written in the source; rounded to the kernel's type."""

    value: float


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time number, the same for all rows."""

    name: str


@dataclass(frozen=True, slots=True)
class Coordinate:
    """An index expression used as a number."""

    index: Affine


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an array at an index; ``new`` if made by the statement that reads it."""

    array: str
    index: tuple[Affine, ...]
    new: bool = False


@dataclass(frozen=True, slots=True)
class Op:
    """An operation, named by a key of ``operations.FOLD``, which computes it for constants."""

    name: str
    args: tuple[Value, ...]
    known: int | None = field(default=None, init=False, repr=False, compare=False)
    summed: bool | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self.known is None:
            object.__setattr__(self, "known", hash((self.name, self.args)))
        return self.known  # type: ignore[return-value]

    @property
    def holds_sum(self) -> bool:
        """Whether there is a sum among the operands or inside them."""
        if self.summed is None:
            object.__setattr__(self, "summed", any(map(holds_sum, self.args)))
        return self.summed  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Rounded:
    """A value of scalars in an expression of fields: computed in double precision, then rounded.

    It is computed once, and rounded to the type of the fields; a condition is not rounded. Only
    `lower.rounding` changes it.
    """

    value: Value


@dataclass(frozen=True, slots=True)
class Term:
    """``weight * operand`` at the rows of a domain; no operand means the weight alone.

    Until a program is settled for its boxes, it is a term of the rows only whose operand, a load,
    lies in these boxes. Where rows of several kinds run as one piece, it has ``tests``, which are
    all >= 0 at the rows that have the term; others may have a number instead of the operand,
    ``otherwise``.
    """

    domain: Domain
    weight: Value
    operand: Value | None = None
    box: Boxes = "any"
    tests: tuple[Affine, ...] = ()
    otherwise: Const | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the terms present at a row, in order; zero if none is."""

    terms: tuple[Term, ...]
    known: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self.known is None:
            object.__setattr__(self, "known", hash(self.terms))
        return self.known  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Field:
    """An array of a program: its first index and its extents."""

    name: str
    lower: tuple[Affine, ...]
    shape: tuple[Affine, ...]

    @property
    def points(self) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
        """The first index and the extent along each axis."""
        return self.lower, self.shape

    @property
    def edges(self) -> tuple[tuple[Affine, Affine], ...]:
        """The first index along each axis, and the one after the last."""
        pairs = zip(self.lower, self.shape, strict=True)
        return tuple((low, low + extent) for low, extent in pairs)

    @property
    def sizes(self) -> frozenset[str]:
        """Names of the sizes on which the points depend."""
        return frozenset().union(*(e.names() for edge in self.edges for e in edge))

    def slab(self, axis: int, first: int, stop: int) -> Field:
        """Return an array for the points with ``first <= index < stop`` along an axis."""
        lower = (*self.lower[:axis], Affine.of(first), *self.lower[axis + 1 :])
        shape = (*self.shape[:axis], Affine.of(stop - first), *self.shape[axis + 1 :])
        return replace(self, lower=lower, shape=shape)

    @property
    def domain(self) -> Domain:
        """All points, as a set."""
        lower, upper = zip(*self.edges, strict=True)
        return Domain.box(AXES[len(self.shape)], lower, upper)

    @property
    def slices(self) -> str:
        """The points as slices: ``0:ny, 0:nx``."""
        return ", ".join(f"{low}:{high}" for low, high in self.edges)


Range = tuple[int, int]
"""A range of the entries of a row of a stored matrix, as a pair of bounds.

The bounds are 0 for the first entry, 1 for the diagonal, 2 for after the diagonal, 3 for the end.
"""

WHOLE: Range = (0, 3)


@dataclass(frozen=True, slots=True)
class Gather:
    """A part of a row of a stored matrix times a field: the sum over its entries.

    Columns ascend; the first, third, ... entries are added from zero, each by a fused multiply-add,
    so are the others, and then the two sums are added. ``row`` is the row's index; ``rows``
    and ``cols`` say how points are numbered, and ``cols`` is the field. ``wide`` says that the
    matrix needs integers of 64 bits. ``new`` is that of a `Load`.
    """

    matrix: str
    row: tuple[Affine, ...]
    rows: Field
    cols: Field
    part: Range = WHOLE
    wide: bool = False
    new: bool = False

    @property
    def array(self) -> str:
        """The field that is read."""
        return self.cols.name

    def of(self, array: str) -> Gather:
        """Return the same product with another field."""
        return replace(self, cols=replace(self.cols, name=array))


@dataclass(frozen=True, slots=True)
class Diagonal:
    """The diagonal entry of a row of a stored matrix that has one in each row."""

    matrix: str
    row: tuple[Affine, ...]
    rows: Field
    wide: bool = False


Value: TypeAlias = "Const | Scalar | Coordinate | Load | Op | Sum | Gather | Diagonal | Rounded"

ZERO = Const(0.0)
ONE = Const(1.0)


def children(value: Value) -> tuple[Value, ...]:
    """Return the operands of a value."""
    if isinstance(value, Op):
        return value.args
    if isinstance(value, Sum):
        parts = [part for t in value.terms for part in (t.weight, t.operand) if part is not None]
        return tuple(parts)
    return (value.value,) if isinstance(value, Rounded) else ()


def holds_sum(value: Value) -> bool:
    """Whether a value is a sum, or has one inside it."""
    return isinstance(value, Sum) or (isinstance(value, Op) and value.holds_sum)


def sums(value: Value) -> Iterator[Sum]:
    """Yield all sums of a value, parents first; shared nodes are visited once."""
    return (here for here in walk(value, holds_sum) if isinstance(here, Sum))


def tests(value: Value) -> Iterator[Affine]:
    """Yield the tests of all terms of a value."""
    return (test for total in sums(value) for term in total.terms for test in term.tests)


def walk(value: Value, within: Callable[[Value], bool] | None = None) -> Iterator[Value]:
    """Yield a value and all values inside it, parents first; shared nodes are visited once.

    Values of which ``within`` is false are left out, with all that is inside them.
    """
    seen: set[int] = set()
    left = [value]
    while left:
        here = left.pop()
        name = id(here)
        if name not in seen and (within is None or within(here)):
            seen.add(name)
            yield here
            left += children(here)[::-1]


def rewrite(
    value: Value,
    change: Callable[[Value], Value | None],
    within: Callable[[Value], bool] | None = None,
) -> Value:
    """Return the value with ``change`` applied to every node, leaves first; None keeps a node.

    Shared nodes are changed once and stay shared. Values for which ``within`` is false are kept,
    including all values inside them.
    """
    return Rewriting(change, within)(value)


class Rewriting:
    """`rewrite` as a function of several values, in which nodes shared by values stay shared.

    The values have to live as long as the function is used.
    """

    def __init__(
        self,
        change: Callable[[Value], Value | None],
        within: Callable[[Value], bool] | None = None,
    ) -> None:
        self._change, self._within = change, within
        self._done: dict[int, Value] = {}

    def __call__(self, here: Value) -> Value:
        """Return a value with all its nodes changed."""
        if self._within is not None and not self._within(here):
            return here
        if id(here) not in self._done:
            made = with_children(here, self)
            changed = self._change(made)
            self._done[id(here)] = made if changed is None else changed
        return self._done[id(here)]


def rewrite_sums(value: Value, change: Callable[[Sum], Value | None]) -> Value:
    """Return the value with ``change`` applied to every sum, inner ones first; None keeps a sum.

    Most values are long products without any; they are not looked through.
    """
    return rewrite(value, lambda node: change(node) if isinstance(node, Sum) else None, holds_sum)


def with_children(value: Value, visit: Callable[[Value], Value]) -> Value:
    """Return an operation or a sum with each operand replaced by the result of ``visit``."""
    match value:
        case Op(name, args):
            new = tuple([visit(a) for a in args])
            same = all(a is b for a, b in zip(new, args, strict=True))
            return value if same else Op(name, new)
        case Sum(terms):
            made = tuple([_with_parts(t, visit) for t in terms])
            same = all(a is b for a, b in zip(made, terms, strict=True))
            return value if same else Sum(made)
        case _:
            return value


def _with_parts(term: Term, visit: Callable[[Value], Value]) -> Term:
    weight = visit(term.weight)
    operand = None if term.operand is None else visit(term.operand)
    if weight is term.weight and operand is term.operand:
        return term
    return replace(term, weight=weight, operand=operand)


def loads(value: Value) -> tuple[Load, ...]:
    """Return all reads of a value, in order, each once."""
    return tuple(dict.fromkeys(v for v in walk(value) if isinstance(v, Load)))


def arrays(value: Value) -> frozenset[str]:
    """Return the names of all fields and buffers that a value reads."""
    return frozenset(v.array for v in walk(value) if isinstance(v, (Load, Gather)))


def gathers(value: Value) -> tuple[Gather, ...]:
    """Return all products with stored matrices of a value, in order, each once."""
    return tuple(dict.fromkeys(v for v in walk(value) if isinstance(v, Gather)))


def reindexed(value: Value, change: Callable[[tuple[Affine, ...]], tuple[Affine, ...]]) -> Value:
    """Return a value that reads, and has its coordinates, at changed indices."""

    def node(part: Value) -> Value | None:
        match part:
            case Load(index=index):
                return replace(part, index=change(index))
            case Coordinate(index):
                return Coordinate(*change((index,)))
        return None

    return rewrite(value, node)


def substituted(value: Value, where: Mapping[str, Affine]) -> Value:
    """Return a value with expressions instead of indices."""
    return reindexed(value, lambda index: tuple(i.substitute(where) for i in index))


def value_at(value: Value, axes: tuple[str, ...], index: tuple[Affine, ...], rows: Domain) -> Value:
    """Return a value over some axes at the point that other rows read."""
    where = dict(zip(axes, index, strict=True))

    def change(node: Value) -> Value | None:
        match node:
            case Load(_, place):
                return replace(node, index=rows.resolved(tuple(a.substitute(where) for a in place)))
            case Coordinate(place):
                return Coordinate(rows.resolved((place.substitute(where),))[0])
            case Gather(row=place) | Diagonal(row=place):
                return replace(node, row=rows.resolved(tuple(a.substitute(where) for a in place)))
            case Sum(terms):
                moved = (
                    replace(t, domain=rows & t.domain.preimage(index, rows.axes)) for t in terms
                )
                return Sum(tuple(t for t in moved if not t.domain.empty))
        return None

    return rewrite(value, change)


def renamed(value: Value, names: Mapping[str, str]) -> Value:
    """Return a value that reads arrays and scalars by other names."""

    def change(part: Value) -> Value | None:
        match part:
            case Load(name) if name in names:
                return replace(part, array=names[name])
            case Gather(array=name) if name in names:
                return part.of(names[name])
            case Scalar(name) if name in names:
                return Scalar(names[name])
        return None

    return rewrite(value, change)


def reading(value: Value, old: str, array: str) -> Value:
    """Return a value whose new values, read from ``old`` before, are read from ``array``."""

    def change(part: Value) -> Value | None:
        match part:
            case Load(array=known, new=True) if known == old:
                return replace(part, array=array)
            case Gather(array=known, new=True) if known == old:
                return part.of(array)
        return None

    return rewrite(value, change)
