"""Loop nests: the statements of steps with their schedule, and the same as loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..points.affine import Affine
from ..points.loop_tree import Loop, Run
from ..points.sets import Domain
from ..symbols.nodes import Field, Load, Value, arrays
from .programs import Order


@dataclass(frozen=True, slots=True)
class Statement:
    """``array[index] = value`` for all rows of a domain.

    A nest runs line by line in its order, and on each line its statements one after the other.
    ``parallel`` promises that the rows of a line are independent; otherwise they run in the order
    of the nest. The statement runs ``ahead`` lines early (along the second last axis), and
    ``planes`` planes (along the third last); the loops begin ``lead`` planes and lines before the
    box for it. ``beyond`` is given if its rows are those of its step within a box with separate
    memory, extended by these numbers of rows, low and high along each axis. If the rows of its
    step do not depend on rows of other boxes, ``local`` is the array that the step assigns; its
    elements read in other boxes may be ``kept`` there (`Assignment`). If a buffer replaces a
    temporary, the statement ``makes`` that temporary. Its ``origin`` is that of its assignment. A
    statement in terms of the position of the loops computes the row ``at`` another position.
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
    beyond: tuple[tuple[int, int], ...] | None = None
    local: str = ""
    kept: bool = False
    makes: str = ""
    origin: int = -1
    at: tuple[Affine, ...] = ()

    def runs(self, row: tuple[Affine, ...], order: Order, sign: int = 1) -> tuple[Affine, ...]:
        """Return the row that is run at a position of the loops; with sign -1, the inverse."""
        found = [*row]
        for place, early in ((-2, self.ahead), (-3, self.planes)):
            if early:
                found[place] = found[place] + (-sign if order == "backward" else sign) * early
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Part:
    """One statement at the rows of a piece.

    A value that is not ``stored`` is read by later parts of the same row only.
    """

    statement: Statement
    value: Value
    stored: bool = True


@dataclass(frozen=True, slots=True)
class Tap:
    """A term of rows of several classes, which alternate along the line.

    It is an element with a weight for each class, zero for classes that do not read it; or, without
    an element, a constant for each class, -0 if the class has no such term.
    """

    element: Load | None
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one or more statements at which the same terms are present.

    If it has ``taps``, its rows are instead of several classes that repeat with a period: row i of
    each statement is the sum of the taps' terms for its class, in their order, starting from -0.
    """

    name: str
    domain: Domain
    parts: tuple[Part, ...]
    taps: tuple[tuple[Tap, ...], ...] = ()


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
    taken modulo ``rows``, a power of two. If ``lines`` is given, planes rotate instead of rows: a
    plane has all lines of the box and ``lines`` more at both ends. Planes are large, and there are
    only as many as needed. A buffer that is ``cleared`` begins as zeros.
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
    """The reduction of a buffer over a line, after the statements of the line."""

    name: str
    kind: Literal["sum", "max", "min", "norm"]
    buffer: str
    origin: int = -1


@dataclass(frozen=True, slots=True)
class Nest:
    """Assignments and reductions as scheduled statements over a box of the target's rows.

    The box lies within ``rows``, and contains all of them unless a call is cut into boxes.
    The bounds of the box are parameters ``k_lo <= k < k_hi`` and so on for each axis.
    ``earlier`` holds the offsets to rows that must be done before a row; None if they are not
    the same for all rows. With ``whole_lines``, a box may not cut lines. A ``fused`` nest holds
    several steps of a program; the target is then one of the arrays it writes. The same holds for
    a ``joint`` nest: all its statements run at a row before the next row, except parallel ones,
    which come first on each line. A box of a nest has all rows along each of its last two axes, or
    at least ``least`` rows.
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
class SplitNest:
    """A nest with its statements cut into pieces: the stages of each line, in order."""

    nest: Nest
    line: tuple[Stage | Branch, ...]

    @property
    def stages(self) -> tuple[tuple[Stage, Domain | None, bool], ...]:
        """The stages, each with the lines of its branch, and whether it runs on these."""
        found: list[tuple[Stage, Domain | None, bool]] = []
        for part in self.line:
            if isinstance(part, Stage):
                found.append((part, None, True))
            else:
                found += [(stage, part.lines, True) for stage in part.then]
                found += [(stage, part.lines, False) for stage in part.orelse]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A nest as loops over pieces of its statements, whose domains are the rows that they run."""

    nest: Nest
    pieces: dict[str, Piece]
    tree: tuple[Loop, ...]

    def row(self, run: Run) -> tuple[Affine, ...]:
        """Return the row of an instance, in terms of the variables of the loops.

        The line is the current line of the loops, shifted by the advance of the statement. The
        position along it is given in terms of the loops, so it is not shifted again.
        """
        here = tuple(map(Affine.name, self.nest.axes))
        statement = self.pieces[run.piece].parts[0].statement
        return (*statement.runs(here, self.nest.order)[:-1], *run.indices)
