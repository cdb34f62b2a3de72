"""Nests of solves along grid lines: the forward and backward sweeps, and their loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..points.affine import Affine
from ..points.loop_tree import Loop, Run
from ..points.sets import Domain
from ..symbols.nodes import Field, Load, Value, loads
from .nests import Piece


@dataclass(frozen=True, slots=True)
class Taken:
    """A line variable that is copied from an array.

    The ``load`` reads the row's own point. Points of a line lie between bounds.
    """

    variable: str
    load: Load
    points: Domain


@dataclass(frozen=True)
class LineNest:
    """Systems along lines: the computations of each row of a line, forward and then backward.

    For periodic lines there is a third sweep, ``closing``.

    A *line variable* has a value for each point of a line; its name begins with %, and its index
    is a position along the line. The ``taken`` variables are copied from arrays before the sweeps,
    the ``given`` variables are copied to arrays after them. Pieces access line variables only, and
    ``numbers`` that are equal for all rows; no row is in two pieces of a sweep. Adjacent lines
    along the axis ``across`` are solved together; None if there is one line only. The ``origin``
    is that of the assignments (`Assignment`). The first ``inverse`` of the ``given`` arrays receive
    the reciprocals of the pivots.
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
    closing: tuple[Piece, ...] = ()
    numbers: tuple[tuple[str, Value], ...] = ()
    origin: int = -1
    inverse: int = 0

    @property
    def pivots(self) -> tuple[str, ...]:
        """The arrays that receive the reciprocals of the pivots."""
        return self.made[: self.inverse]

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
        """The axis along which lines are adjacent: the last one, or the one before it."""
        last = len(self.axes) - 1
        return last if self.along < last else last - 1 if last else None

    @property
    def outer(self) -> tuple[str, ...]:
        """The axes whose indices identify a line; the axis ``across`` is the last."""
        return (*self.axes[: self.along], *self.axes[self.along + 1 :])

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of all sweeps."""
        return *self.forward, *self.backward, *self.closing

    @property
    def variables(self) -> tuple[str, ...]:
        """The line variables."""
        made = [
            part.statement.array for piece in self.pieces for part in piece.parts if part.stored
        ]
        return tuple(dict.fromkeys([*(taken.variable for taken in self.taken), *made]))

    @cached_property
    def beyond(self) -> int:
        """The largest distance of reads beyond the first or last row of lines."""
        taken = {taken.variable for taken in self.taken}
        parts = (part for piece in self.forward for part in piece.parts)
        found = (load for part in parts for load in loads(part.value) if load.array in taken)
        return max((abs(load.index[0].constant) for load in found), default=0)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines on which the same pieces run, and the loops of each of them.

    Each copied line variable has loops over the copied points of a line.
    """

    taken: tuple[tuple[str, tuple[Loop, ...]], ...]
    forward: tuple[Loop, ...]
    backward: tuple[Loop, ...]
    closing: tuple[Loop, ...]
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
