"""The verifier of solves along lines, based on isl; ``SSR_VERIFY=1`` checks each nest.

A violated rule is a defect of the compiler and raises an `AssertionError`. The rules:

- The pieces of a sweep are disjoint and lie within the rows of the nest. The forward sweep covers
  all rows.
- Every value that a piece reads is defined: it was copied from an array for that point, stored by
  an earlier sweep, by this sweep at an earlier row, or by an earlier part of the piece.
- Every value that is copied to an array is stored at every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import ir
from ...points.affine import Affine
from ...points.sets import Domain

Row = tuple[Affine, ...]


def verify_lines(nest: ir.LineNest) -> None:
    """Check a nest of systems along lines."""
    checker, stored = Checker(nest), {taken.variable: taken.points for taken in nest.taken}
    sweeps = ("forward", nest.forward), ("backward", nest.backward), ("closing", nest.closing)
    for name, pieces in sweeps:
        checker.rows(name, pieces)
        now = checker.stored(pieces)
        for piece in pieces:
            for place in range(len(piece.parts)):
                checker.reads(name, piece, place, stored, now)
        stored |= {n: stored[n] | made if n in stored else made for n, made in now.items()}
    for variable, array in nest.given:
        missing = checker.whole - stored[variable] if variable in stored else checker.whole
        checker.hold(missing, "all sweeps", f"{variable} is given to {array}, but never made")


class Checker:
    """The rules over one nest; every method checks one of them."""

    def __init__(self, nest: ir.LineNest) -> None:
        self.nest = nest
        self.whole = nest.rows.domain
        self.axis = Affine.name(nest.axes[nest.along])

    def hold(self, broken: Domain, where: str, rule: str) -> None:
        """Fail unless no row breaks a rule."""
        if not broken.empty:
            rows = broken.simplified().notation()
            raise AssertionError(f"lines of {self.nest.target!r}, {where}: {rule}, for {rows}")

    def rows(self, sweep: str, pieces: Sequence[ir.Piece]) -> None:
        """Check that a sweep runs rows of the nest, each once; that forward runs all of them."""
        seen = self.whole - self.whole
        for piece in pieces:
            self.hold(piece.domain & seen, sweep, f"{piece.name} runs rows of another piece")
            self.hold(piece.domain - self.whole, sweep, f"{piece.name} runs rows that do not exist")
            seen = seen | piece.domain
        if sweep == "forward":
            self.hold(self.whole - seen, sweep, "rows are never run")

    def stored(self, pieces: Sequence[ir.Piece]) -> dict[str, Domain]:
        """Return the points at which a sweep stores each line variable."""
        found: dict[str, Domain] = {}
        for piece in pieces:
            for part in piece.parts:
                if part.stored:
                    name = part.statement.array
                    made = piece.domain.image(self._point(part.statement.index), self.nest.axes)
                    found[name] = found[name] | made if name in found else made
        return found

    def reads(
        self,
        sweep: str,
        piece: ir.Piece,
        place: int,
        stored: Mapping[str, Domain],
        now: Mapping[str, Domain],
    ) -> None:
        """Check that all line variables that a part of a piece reads are defined."""
        for load in ir.loads(piece.parts[place].value):
            here, rows = self._point(load.index), piece.domain
            if load.array in stored:
                rows = rows - stored[load.array].preimage(here, self.nest.axes)
            if load.array in now:
                pair = (load.index, (self.axis,))
                done = rows.before(*(pair[::-1] if sweep == "backward" else pair))
                rows = rows - (done & now[load.array].preimage(here, self.nest.axes))
            for earlier in piece.parts[:place]:
                if earlier.statement.array == load.array:
                    rows = rows - rows.equal(load.index, earlier.statement.index)
            shown = f"{load.array}[{load.index[0]}]"
            self.hold(rows, f"{sweep}, {piece.name}", f"{shown} is not made yet")

    def _point(self, index: Row) -> Row:
        """Return the point of the row's line at an index along it."""
        along = self.nest.along
        row = tuple(map(Affine.name, self.nest.axes))
        return (*row[:along], index[0], *row[along + 1 :])
