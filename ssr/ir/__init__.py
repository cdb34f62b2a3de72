"""The intermediate representation: programs, nests and loops, immutable and compared by value.

The nodes of values are those of `ssr.symbols.nodes`, and names of this module too, as is what a
step of another package is, `external.External`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal, TypeAlias

from ..points.affine import Affine
from ..points.loop_tree import Loop, Run
from ..points.sets import Domain
from ..symbols.nodes import (
    ONE,
    WHOLE,
    ZERO,
    Boxes,
    Const,
    Coordinate,
    Diagonal,
    Field,
    Gather,
    Load,
    Op,
    Range,
    Scalar,
    Sum,
    Term,
    Value,
    arrays,
    children,
    gathers,
    loads,
    reading,
    reindexed,
    rewrite,
    substituted,
    walk,
)
from .external import External

__all__ = [
    "MADE",
    "ONE",
    "WHOLE",
    "ZERO",
    "Assignment",
    "Boxes",
    "Branch",
    "Buffer",
    "Call",
    "Const",
    "Coordinate",
    "Diagonal",
    "Entry",
    "External",
    "Family",
    "Field",
    "Fold",
    "Gather",
    "Group",
    "LineLoops",
    "LineNest",
    "Lines",
    "Load",
    "LoopNest",
    "Made",
    "Nest",
    "Op",
    "Order",
    "Part",
    "Piece",
    "Program",
    "Ran",
    "Range",
    "Reduction",
    "Scalar",
    "Solve",
    "Stage",
    "Statement",
    "Step",
    "Sum",
    "Taken",
    "Term",
    "Value",
    "arrays",
    "children",
    "fresh",
    "gathers",
    "loads",
    "made",
    "parts",
    "reading",
    "reindexed",
    "rewrite",
    "scratch",
    "substituted",
    "values",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Family:
    """Entries ``value(d)`` at ``(row(d), column(d))`` for all ``d`` in a domain.

    Of these only those are there whose column is in a ``box`` of the kind given, as seen from the
    row, where spaces are cut into boxes.
    """

    domain: Domain
    row: tuple[Affine, ...]
    column: tuple[Affine, ...]
    value: Value
    box: Boxes = "any"


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
class Entry:
    """An entry of the blocks of a matrix that couples rows along an axis only.

    It stands in a row of its block and at a column, in the block so many points before or behind
    the block's own row.
    """

    offset: int
    row: int
    column: int
    value: Value


@dataclass(frozen=True, slots=True)
class Solve:
    """Systems of equations, one for each line along an axis, solved without pivoting.

    The value of an assignment is a right side, and its target takes the solution. The matrix has
    blocks of ``size`` rows; assignments beyond these are further right sides. Where the rows of a
    system read targets, these are old values on their own line.
    """

    assignments: tuple[Assignment, ...]
    axis: int
    size: int
    entries: tuple[Entry, ...]


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


Step: TypeAlias = "Assignment | Reduction | Group | Solve | Call"


def parts(step: Step) -> tuple[Assignment | Reduction, ...]:
    """Return the assignments of a step, or the step itself; nothing of a call is known."""
    match step:
        case Group(together) | Solve(together):
            return together
        case Call():
            return ()
    return (step,)


def values(step: Step) -> tuple[Value, ...]:
    """Return the values that a step computes row by row, or takes as numbers."""
    match step:
        case Call(scalars=scalars):
            return scalars
        case Solve(entries=entries):
            return (*(p.value for p in parts(step)), *(e.value for e in entries))
    return tuple(p.value for p in parts(step))


def made(step: Step) -> tuple[str, ...]:
    """Return the names of what a step makes: fields, or the number of a reduction."""
    if isinstance(step, Call):
        return step.fields
    return tuple(p.target if isinstance(p, Assignment) else p.name for p in parts(step))


@dataclass(frozen=True, slots=True)
class Program:
    """Assignments over fields and reductions, run one after the other.

    ``fields`` and ``scalars`` are arguments in order; ``temporaries`` are allocated for the time of
    a call. ``results`` are numbers made of scalars and reductions that a call returns. ``vectors``
    are names of arrays, each with those of the fields that are given as this one array. ``wide``
    are fields that have more points than their caller's, each with the name of what it was copied
    to, which had these points.
    """

    name: str
    fields: tuple[Field, ...]
    temporaries: tuple[Field, ...]
    scalars: tuple[str, ...]
    sizes: tuple[str, ...]
    steps: tuple[Step, ...]
    results: tuple[Value, ...] = ()
    vectors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    wide: tuple[tuple[str, str], ...] = ()

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
    box for it. If its rows are those of its step, as far as they lie in a box with memory of its
    own or so far ``beyond`` it, low and high along each axis, this is given.
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
    beyond: tuple[tuple[int, int], ...] | None = None

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
    is if the nest is ``joint``: all its statements run at a row before the next row. A box of a
    nest has all rows along each of its last two axes, or at ``least`` so many.
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
    least: int = 1

    @property
    def made(self) -> tuple[str, ...]:
        """The arrays and buffers that are written, statement by statement."""
        return tuple(s.array for s in self.statements)

    @property
    def read(self) -> frozenset[str]:
        """The arrays and buffers that are read."""
        return frozenset().union(*(arrays(s.value) for s in self.statements))


@dataclass(frozen=True, slots=True)
class Taken:
    """A line variable that is copied from an array.

    The load is that of the row's own point. Points of a line lie between bounds.
    """

    variable: str
    load: Load
    points: Domain


@dataclass(frozen=True, slots=True)
class LineNest:
    """Systems along lines: what each row of a line computes, forward and then backward.

    A *line variable* has a number for each point of a line; its name begins with %, and its index
    is one place along the line. Those that are ``taken`` are copied from arrays before the sweeps,
    those that are ``given`` are copied to arrays after them. Pieces read and write line variables
    only, and ``numbers`` that are the same for all rows; no row is in two pieces of a sweep. Lines
    that lie side by side along the axis ``across`` are worked on together; None if there is one
    line only.
    """

    target: str
    rows: Field
    axes: tuple[str, ...]
    along: int
    context: Domain
    taken: tuple[Taken, ...]
    given: tuple[tuple[str, str], ...]
    forward: tuple[Piece, ...]
    backward: tuple[Piece, ...]
    numbers: tuple[tuple[str, Value], ...] = ()

    @property
    def made(self) -> tuple[str, ...]:
        """The arrays that are written."""
        return tuple(array for _, array in self.given)

    @property
    def read(self) -> frozenset[str]:
        """The arrays that are read."""
        return frozenset(taken.load.array for taken in self.taken)

    @property
    def across(self) -> int | None:
        """The axis along which lines lie side by side: the last one, or the one before it."""
        last = len(self.axes) - 1
        return last if self.along < last else last - 1 if last else None

    @property
    def outer(self) -> tuple[str, ...]:
        """The axes that tell lines from each other; that across them is the last."""
        return (*self.axes[: self.along], *self.axes[self.along + 1 :])

    @property
    def variables(self) -> tuple[str, ...]:
        """The line variables."""
        pieces = (*self.forward, *self.backward)
        made = [part.statement.array for piece in pieces for part in piece.parts if part.stored]
        return tuple(dict.fromkeys([*(taken.variable for taken in self.taken), *made]))

    @property
    def beyond(self) -> int:
        """How far beyond their first or last row lines are read."""
        taken = {taken.variable for taken in self.taken}
        parts = (part for piece in self.forward for part in piece.parts)
        found = (load for part in parts for load in loads(part.value) if load.array in taken)
        return max((abs(load.index[0].constant) for load in found), default=0)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines on which the same pieces run, and the loops of each of them.

    For what is copied there are loops over the points of a line that are copied, too.
    """

    taken: tuple[tuple[str, tuple[Loop, ...]], ...]
    forward: tuple[Loop, ...]
    backward: tuple[Loop, ...]
    given: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class LineLoops:
    """Systems along lines as loops: the kinds of lines, and the loops over lines that run them."""

    nest: LineNest
    pieces: dict[str, Piece]
    kinds: dict[str, Lines]
    tree: tuple[Loop, ...]

    def row(self, run: Run) -> tuple[Affine, ...]:
        """Return the row of an instance on the first line of a bundle."""
        row = [*map(Affine.name, self.nest.axes)]
        (row[self.nest.along],) = run.indices
        return tuple(row)


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A nest as loops over pieces of its statements, whose domains are the rows that they run."""

    nest: Nest
    pieces: dict[str, Piece]
    tree: tuple[Loop, ...]

    def row(self, run: Run) -> tuple[Affine, ...]:
        """Return the row of an instance, in terms of the variables of the loops.

        The line is where the loops stand, moved as far as the statement runs ahead of them. The
        place along it is given in terms of the loops, so it is not moved again.
        """
        here = tuple(map(Affine.name, self.nest.axes))
        statement = self.pieces[run.piece].parts[0].statement
        return (*statement.runs(here, self.nest.order)[:-1], *run.indices)


Made: TypeAlias = "Nest | LineNest | Call"
"""What a step of a program becomes, or several steps: a nest, or a call."""

Ran: TypeAlias = "LoopNest | LineLoops | Call"
"""The same as loops."""


def fresh(stem: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the stem, or the stem with a number."""
    names = chain((stem,), (f"{stem}_{n}" for n in count(1)))
    return next(n for n in names if n not in taken)
