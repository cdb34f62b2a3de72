"""What each rank receives, sends, and can compute before it has received.

A rank receives what the rows it owns read, less what it owns; what it sends is what others receive
from it. Everything follows from the families of a matrix, for any number of ranks, without MPI.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ssr
from ssr.errors import ArgumentError
from ssr.extension import AXES, Affine, Domain, integer

from .layout import Layout, spans

READ = ("row", "column")
"""The axes of the set of pairs (row, row of the columns it reads)."""


@dataclass(frozen=True, slots=True)
class Message:
    """Rows that are sent to a rank, or received from it, in one piece and in this order."""

    peer: int
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HaloPlan:
    """The exchange of one rank.

    Attributes
    ----------
    rank
        Whose plan it is.
    layout
        Which rank owns which rows.
    ghosts
        The rows that are read and not within the rank's range, with the owned rows they equal:
        ``(row read, owned row)``. They differ where the grid is periodic.
    receives, sends
        One message for each peer, in the order of the peers.
    inner, outer
        The rank's rows that read nothing received, and the others.

    Examples
    --------
    >>> import ssr
    >>> cells = ssr.Space(8)
    >>> A = ssr.stencil(cells, cells.grow(1), {-1: 1, 0: -2, 1: 1})
    >>> print(halo_plans(A, Layout.even(8, 2))[0])
    rank 0 of 2 owns rows 0:4 of 8
      receives  4, 7 from rank 1
      sends     0, 3 to rank 1
      ghosts    -1 = 7, 4
      inner     1:3
      outer     0, 3
    """

    rank: int
    layout: Layout
    ghosts: tuple[tuple[int, int], ...]
    receives: tuple[Message, ...]
    sends: tuple[Message, ...]
    inner: tuple[range, ...]
    outer: tuple[range, ...]

    @property
    def rows(self) -> range:
        """The rows the rank owns."""
        return self.layout.rows(self.rank)

    @property
    def received(self) -> int:
        """Number of rows received."""
        return sum(len(message.rows) for message in self.receives)

    def __str__(self) -> str:
        own = _shown((self.rows,))
        ghosts = [str(g) if g == row else f"{g} = {row}" for g, row in self.ghosts]
        lines = [
            ("receives", [f"{_shown(spans(m.rows))} from rank {m.peer}" for m in self.receives]),
            ("sends", [f"{_shown(spans(m.rows))} to rank {m.peer}" for m in self.sends]),
            ("ghosts", [", ".join(ghosts)] if ghosts else []),
            ("inner", [_shown(self.inner)] if self.inner else []),
            ("outer", [_shown(self.outer)] if self.outer else []),
        ]
        head = f"rank {self.rank} of {self.layout.ranks} owns rows {own} of {self.layout.count}"
        return "\n".join(
            [head, *(f"  {name:<9} {text}" for name, texts in lines for text in texts)]
        )


def halo_plans(matrix: ssr.Matrix, layout: Layout) -> tuple[HaloPlan, ...]:
    """Return the plans of all ranks for the product of a matrix.

    Parameters
    ----------
    matrix
        Its sizes are bound. Columns beyond its rows along axis 0 are ghosts of a periodic grid.
    layout
        Which rank owns which rows.

    Raises
    ------
    ArgumentError
        If the layout has another number of rows than the matrix.
    """
    read = rows_read(matrix, layout)
    ghosts = [_ghosts(read, layout, rank) for rank in range(layout.ranks)]
    return tuple(_plan(read, layout, ghosts, rank) for rank in range(layout.ranks))


def halo_plan(matrix: ssr.Matrix, layout: Layout, rank: int) -> HaloPlan:
    """Return the plan of one rank: that of `halo_plans`."""
    read = rows_read(matrix, layout)
    if integer(rank) not in range(layout.ranks):
        raise ArgumentError(f"The layout has {layout.ranks} ranks, and none is {rank!r}.")
    ghosts = [_ghosts(read, layout, other) for other in range(layout.ranks)]
    return _plan(read, layout, ghosts, rank)


def sizes_of(matrix: ssr.Matrix) -> Mapping[str, int]:
    """Return the sizes a matrix is bound to."""
    return {
        name: matrix.definition.bound[name]
        for name in matrix.sizes
        if name in matrix.definition.bound
    }


def rows_read(matrix: ssr.Matrix, layout: Layout) -> Domain:
    """Return the pairs (row, row of the columns) along axis 0 between which there are entries."""
    if not isinstance(matrix, ssr.Matrix):
        raise ArgumentError(f"A plan is made for a matrix, not for {type(matrix).__name__}.")
    if not isinstance(layout, Layout):
        raise ArgumentError(
            f"The layout is {layout!r}, not ranges of rows.", hint="Write Layout.even(rows, ranks)."
        )
    sizes = sizes_of(matrix)
    count = matrix.rows.extent(sizes)[0]
    if count != layout.count:
        raise ArgumentError(
            f"The layout has {layout.count} rows; {matrix.name} has {count} along axis 0."
        )
    row = Affine.name(AXES[matrix.rows.ndim][0])
    found = Domain.where(READ, "1 = 0")
    for family in matrix.families:
        pair = row, family.column[0].substitute(sizes)
        found = found | family.domain.fixed(sizes).image(pair, READ)
    return found


def _ghosts(read: Domain, layout: Layout, rank: int) -> tuple[tuple[int, int], ...]:
    """Return the rows a rank reads that are not in its range, with the owned rows they equal."""
    own = layout.rows(rank)
    beyond = _between("row", own), f"(column < {own.start} or column >= {own.stop})"
    found = read & Domain.where(READ, " and ".join(beyond))
    return tuple((g, g % layout.count) for (g,) in found.project(("column",)).points())


def _plan(
    read: Domain, layout: Layout, ghosts: Sequence[tuple[tuple[int, int], ...]], rank: int
) -> HaloPlan:
    """Return the plan of a rank, given the ghosts of all ranks."""

    def wanted(by: int, of: int) -> tuple[int, ...]:
        return tuple(sorted({row for _, row in ghosts[by] if layout.owner(row) == of}))

    peers = [peer for peer in range(layout.ranks) if peer != rank]
    received = [Message(peer, wanted(rank, peer)) for peer in peers]
    sent = [Message(peer, wanted(peer, rank)) for peer in peers]
    awaited = [g for g, row in ghosts[rank] if layout.owner(row) != rank]
    outer = _reading(read, layout.rows(rank), spans(awaited))
    inner = sorted(set(layout.rows(rank)) - set(outer))
    return HaloPlan(
        rank,
        layout,
        ghosts[rank],
        tuple(message for message in received if message.rows),
        tuple(message for message in sent if message.rows),
        spans(inner),
        spans(outer),
    )


def _reading(read: Domain, rows: range, columns: Sequence[range]) -> list[int]:
    """Return the rows among some that read one of some columns."""
    if not columns:
        return []
    cases = " or ".join(f"({_between('column', part)})" for part in columns)
    found = read & Domain.where(READ, f"{_between('row', rows)} and ({cases})")
    return [row for (row,) in found.project(("row",)).points()]


def _between(name: str, part: range) -> str:
    return f"{part.start} <= {name} < {part.stop}"


def _shown(parts: Sequence[range]) -> str:
    """Return ranges as text: single rows, or ``first:stop``."""
    return ", ".join(str(p.start) if len(p) == 1 else f"{p.start}:{p.stop}" for p in parts)
