"""All node classes of the intermediate representation, immutable and structurally comparable.

Values are expressions over one row's indices; a `Sum` adds those of its terms whose domain holds
the row, as one chain of fused multiply-adds in the order written: this order *is* the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..points.affine import Affine
from ..points.sets import Domain

if TYPE_CHECKING:
    from ..programs.external import External


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
    """An operation: one of ``values.FOLD``, which says what they mean."""

    name: str
    args: tuple[Value, ...]
    known: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self.known is None:
            object.__setattr__(self, "known", hash((self.name, self.args)))
        return self.known  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Term:
    """``weight * operand`` at the rows of a domain; no operand means the weight alone."""

    domain: Domain
    weight: Value
    operand: Value | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the terms present at a row, in order; zero if none is."""

    terms: tuple[Term, ...]
    known: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self.known is None:
            object.__setattr__(self, "known", hash(self.terms))
        return self.known  # type: ignore[return-value]


Range = tuple[int, int]
"""Entries of a row of a stored matrix: from one bound to another.

The bounds are 0 at the first entry, 1 at the diagonal, 2 after the diagonal, 3 at the end.
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


Value: TypeAlias = "Const | Scalar | Coordinate | Load | Op | Sum | Gather | Diagonal"

ZERO = Const(0.0)
ONE = Const(1.0)


@dataclass(frozen=True, slots=True)
class Family:
    """Entries ``value(d)`` at ``(row(d), column(d))`` for all ``d`` in a domain."""

    domain: Domain
    row: tuple[Affine, ...]
    column: tuple[Affine, ...]
    value: Value


Order = Literal["forward", "backward", "any"]
"""The direction in which the rows of an assignment depend on each other."""

MADE = "·"
"""The array name that stands for the target of an assignment before it has one."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """``target[row] = value(row)`` for the rows of a domain: NumPy meaning, right side first.

    Loads marked ``new`` read values this assignment has made already, in the given order. An
    assignment of a ``part`` of its target leaves the other points as they are.
    """

    target: str
    axes: tuple[str, ...]
    domain: Domain
    value: Value
    order: Order = "any"
    part: Field | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """One number from the values at all rows of a space: their sum, largest or smallest.

    Later steps read it as ``Scalar(name)``.
    """

    name: str
    kind: Literal["sum", "max", "min"]
    axes: tuple[str, ...]
    rows: Field
    domain: Domain
    value: Value


@dataclass(frozen=True, slots=True)
class Group:
    """Assignments over the same rows that are made together: all of them at a row, then the next.

    Loads marked ``new`` read what any of them has made at an earlier row, or one before it at this
    row. The old values of their targets are not read.
    """

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of another package that updates fields in place, such as ghost points.

    It reads the points of a field that it is given and writes others; so all of its fields count
    as read and as written. Of those in ``alone`` nobody else writes other points than those it is
    given: what it makes there once is there at the next run of the program.
    """

    name: str
    external: External
    fields: tuple[str, ...]
    scalars: tuple[Value, ...] = ()
    alone: tuple[str, ...] = ()


Step: TypeAlias = "Assignment | Reduction | Group | Call"


def parts(step: Step) -> tuple[Assignment | Reduction, ...]:
    """Return the assignments of a step, or the step itself; nothing of a call is known."""
    match step:
        case Group(together):
            return together
        case Call():
            return ()
    return (step,)


def values(step: Step) -> tuple[Value, ...]:
    """Return the values that a step computes row by row, or takes as numbers."""
    return step.scalars if isinstance(step, Call) else tuple(p.value for p in parts(step))


def made(step: Step) -> tuple[str, ...]:
    """Return the names of what a step makes: fields, or the number of a reduction."""
    if isinstance(step, Call):
        return step.fields
    return tuple(p.target if isinstance(p, Assignment) else p.name for p in parts(step))


@dataclass(frozen=True, slots=True)
class Field:
    """An array of a program: where its first element lies and how many there are."""

    name: str
    lower: tuple[int, ...]
    shape: tuple[Affine, ...]

    @property
    def points(self) -> tuple[tuple[int, ...], tuple[Affine, ...]]:
        """Where the points lie: first index and extent along each axis."""
        return self.lower, self.shape


@dataclass(frozen=True, slots=True)
class Program:
    """Assignments over fields and reductions, run one after the other.

    ``fields`` and ``scalars`` are arguments in order; ``temporaries`` are allocated for the time of
    a call. ``results`` are numbers made of scalars and reductions that a call returns. ``vectors``
    are names of arrays, each with those of the fields that are given as this one array.
    """

    name: str
    fields: tuple[Field, ...]
    temporaries: tuple[Field, ...]
    scalars: tuple[str, ...]
    sizes: tuple[str, ...]
    steps: tuple[Step, ...]
    results: tuple[Value, ...] = ()
    vectors: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def field(self, name: str) -> Field:
        """Return a field or temporary by name."""
        return next(f for f in (*self.fields, *self.temporaries) if f.name == name)

    def rows(self, step: Assignment | Reduction) -> Field:
        """Return the rows of an assignment or a reduction: all points of a field, or a part."""
        if isinstance(step, Reduction):
            return step.rows
        return step.part or self.field(step.target)


@dataclass(frozen=True, slots=True)
class Statement:
    """``array[index] = value`` for all rows of a domain.

    A nest runs line by line in its order, and on each line its statements one after the other.
    ``parallel`` promises that the rows of a line are independent; otherwise they run in the order
    of the nest. The statement runs ``ahead`` lines early (along the second last axis), and
    ``planes`` planes (along the third last); the loops begin ``lead`` planes and lines before the
    box for it.
    """

    name: str
    domain: Domain
    array: str
    index: tuple[Affine, ...]
    value: Value
    parallel: bool = False
    ahead: int = 0
    planes: int = 0
    lead: tuple[int, int] = (0, 0)
    requests: tuple[Load, ...] = ()

    def runs(self, row: tuple[Affine, ...], order: Order, sign: int = 1) -> tuple[Affine, ...]:
        """Return the row that is run when the loops stand at one; with -1 the other way round."""
        found = [*row]
        for place, early in ((-2, self.ahead), (-3, self.planes)):
            if early:
                found[place] = found[place] + (-sign if order == "backward" else sign) * early
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Part:
    """What one statement does at the rows of a piece.

    A value that is not ``stored`` is read by later parts of the same row only.
    """

    statement: Statement
    value: Value
    stored: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one or more statements at which the same terms are present."""

    name: str
    domain: Domain
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One or more statements cut into pieces, as they run on one line: row by row, all of them."""

    statements: tuple[Statement, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Branch:
    """Two ways to run a line: ``then`` on the lines of a set over the outer axes."""

    lines: Domain
    then: tuple[Stage, ...]
    orelse: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Scratch rows along the last axis: ``rows`` of them in rotation, ``pad`` more at both ends.

    Indices count from the box's lower bounds; with several rows, the first index of a reference is
    taken modulo ``rows``, a power of two. If ``lines`` is given, what rotates are planes: all lines
    of the box and so many more at both ends. A buffer that is ``cleared`` begins as zeros.
    """

    name: str
    rows: int
    pad: int
    lines: int | None = None
    cleared: bool = False

    def place(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        """Return the part of a row's index that says where in the buffer it lies."""
        if self.lines is not None:
            return index[-3:]
        return index[-2:] if self.rows > 1 else index[-1:]


def scratch(stem: str, buffers: Sequence[Buffer]) -> str:
    """Return the name of one more buffer: no user's name holds its first character."""
    return f"%{stem}{len(buffers)}"


@dataclass(frozen=True, slots=True)
class Fold:
    """What a nest does with a line after its statements: reduce a buffer, for one reduction."""

    name: str
    kind: Literal["sum", "max", "min"]
    buffer: str


@dataclass(frozen=True, slots=True)
class Nest:
    """Assignments and reductions as scheduled statements over a box of the target's rows.

    The box lies within ``rows``, and is all of them unless a call is cut into boxes.
    The bounds of the box are parameters ``k_lo <= k < k_hi`` and so on for each axis.
    ``earlier`` holds the offsets to rows that must be done before a row; None if they are not
    the same for all rows. ``whole_lines`` says that a box may not cut lines. ``fused`` says that
    the nest holds several steps of a program; the target is then one of the arrays it writes. So it
    is if the nest is ``joint``: all its statements run at a row before the next row.
    """

    target: str
    rows: Field
    axes: tuple[str, ...]
    order: Order
    context: Domain
    buffers: tuple[Buffer, ...]
    statements: tuple[Statement, ...]
    earlier: tuple[tuple[int, ...], ...] | None
    whole_lines: bool = False
    folds: tuple[Fold, ...] = ()
    fused: bool = False
    joint: bool = False


def fresh(stem: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the stem, or the stem with a number."""
    names = chain((stem,), (f"{stem}_{n}" for n in count(1)))
    return next(n for n in names if n not in taken)


def children(value: Value) -> tuple[Value, ...]:
    """Return the values a value is made of."""
    match value:
        case Op(_, args):
            return args
        case Sum(terms):
            return tuple(part for t in terms for part in (t.weight, t.operand) if part is not None)
        case _:
            return ()


def walk(value: Value) -> Iterator[Value]:
    """Yield a value and all values inside it, parents first; what is shared is met once."""
    seen: set[int] = set()
    left = [value]
    while left:
        here = left.pop()
        if id(here) not in seen:
            seen.add(id(here))
            yield here
            left += reversed(children(here))


def rewrite(value: Value, change: Callable[[Value], Value | None]) -> Value:
    """Return the value with ``change`` applied to every node, leaves first; None keeps a node.

    What is shared is changed once and stays shared.
    """
    done: dict[int, Value] = {}

    def visit(here: Value) -> Value:
        if id(here) not in done:
            made = _with_children(here, visit)
            changed = change(made)
            done[id(here)] = made if changed is None else changed
        return done[id(here)]

    return visit(value)


def _with_children(value: Value, visit: Callable[[Value], Value]) -> Value:
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
    return Term(term.domain, weight, operand)


def loads(value: Value) -> tuple[Load, ...]:
    """Return all reads of a value, in order, each once."""
    return tuple(dict.fromkeys(v for v in walk(value) if isinstance(v, Load)))


def arrays(value: Value) -> frozenset[str]:
    """Return the names of all fields and buffers that a value reads."""
    return frozenset(v.array for v in walk(value) if isinstance(v, (Load, Gather)))


def gathers(value: Value) -> tuple[Gather, ...]:
    """Return all products with stored matrices of a value, in order, each once."""
    return tuple(dict.fromkeys(v for v in walk(value) if isinstance(v, Gather)))


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
