"""Ghost fills as a step of programs: the ghost points that are read, and their tables.

Several fills can be combined into one step. A step provides tables for given sizes, and ghost rows
in closed form where they exist; the compiler inlines the latter into the statements that read the
ghost points.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from ssr import Space
from ssr.errors import Error
from ssr.extension import Array, Domain, External, Layout, Made, Tables, ir, kernel, row_domain

from ..closure.closed_form import ClosedRow, closed_rows, ghost_values
from ..closure.closure import Closure, Region
from ..closure.ruled import Ruled, several
from ..errors import HaloError
from ..rules.rows.affine_rows import Conflict, Row
from .assemble import assemble, form_of
from .machine import Form
from .machine_functions import functions
from .pieces import AnyPiece, Piece, points
from .regions import RegionPieces


@dataclass(frozen=True, eq=False)
class Member:
    """A fill of a vector's components, or of numbers, as part of a step.

    Attributes
    ----------
    ruled
        The rules.
    components
        The number of fields on each space.
    spaces
        The owned points and all points of the blocks of each kind.
    reads
        For each space the elements that are read later, which must be defined; None for all
        elements, where undefined ghosts are NaN.
    narrow, join, once
        Whether only these elements are computed, whether the step may be merged with another, and
        whether it may omit constants that are already stored.
    standing
        The numbers of the spaces on which ghosts, and therefore constants, persist between runs.
    """

    ruled: Ruled
    components: int
    spaces: tuple[tuple[Space, Space], ...]
    reads: tuple[Domain | None, ...]
    narrow: bool = True
    join: bool = True
    once: bool = True
    standing: frozenset[int] = frozenset()

    @property
    def fields(self) -> tuple[tuple[Space, Space], ...]:
        """The owned points and all points of each field, by kind of blocks and component."""
        return tuple(pair for pair in self.spaces for _ in range(self.components))


@dataclass(frozen=True, eq=False)
class Ghosts(External):
    """The ghosts of one or more fills, computed in one pass.

    Attributes
    ----------
    broad
        Whether the machine supports arbitrary parts of the pieces.
    """

    members: tuple[Member, ...]
    broad: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the step in messages."""
        rules = dict.fromkeys(r.text for m in self.members for r in m.ruled.rules)
        return f"fill({', '.join(rules)})"

    @property
    def fields(self) -> tuple[tuple[Space, Space], ...]:  # type: ignore[override]
        """The owned points and all points of each field."""
        return tuple(pair for m in self.members for pair in m.fields)

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the scalars of the step."""
        return tuple(f"{name}" for m in self.members for name in m.ruled.parameters)

    def alike(self, other: External) -> bool:
        """Whether another step provably computes the same ghosts."""
        return (
            super().alike(other)
            and isinstance(other, Ghosts)
            and all(
                a.ruled.alike(b.ruled) for a, b in zip(self.members, other.members, strict=True)
            )
        )

    def functions(self, name: str) -> tuple[kernel.Function, ...]:
        """Return the functions of the machine."""
        return functions(self.form, name)

    def generally(self) -> Ghosts:
        """Return the same step with a machine for arbitrary parts of its pieces."""
        return replace(self, broad=True)

    @cached_property
    def form(self) -> Form:
        """The operations that the machine needs."""
        likely, *small = self._sizes()
        made = self._form_for(likely)
        for sizes in small:
            with suppress(Error):  # blocks too small for the rules
                made |= self._form_for(sizes)
        return made

    def _form_for(self, sizes: Mapping[str, int]) -> Form:
        parts = (part for part, stands in self._every(sizes, checked=False) if not stands)
        made = form_of(parts, len(self.fields), len(self.data), broad=self.broad)
        if not self._has_conflict(sizes):
            return made
        turned = {m.components for m in self.members if m.ruled.tabled and m.components > 1}
        return made | Form(len(self.fields), len(self.data), vectors=tuple(sorted(turned)))

    def _has_conflict(self, sizes: Mapping[str, int]) -> bool:
        """Whether computed ghosts have two definitions, which may agree for other sizes."""
        return any(
            isinstance(region.outcome, Conflict)
            for member in self.members
            for _, region in _regions(member, sizes)
        )

    def _sizes(self) -> Iterator[dict[str, int]]:
        """Yield sizes whose ghosts need different operations: first large ones, then small ones."""
        likely: dict[str, int] = {}
        fixed: dict[str, int] = {}
        for member in self.members:
            likely |= member.ruled.likely()
            fixed |= member.ruled.fixed()
        return several(likely, [name for name in likely if name not in fixed])

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return the tables of the machine."""
        made = assemble(list(self.parts(sizes)), self.form, layouts, dtype)
        return replace(made, initial=tuple(self._initial(sizes)))

    def _initial(self, sizes: Mapping[str, int]) -> Iterator[tuple[int, Any, Any]]:
        """Yield the constants stored before the first run: field, index, values."""
        first = [whole.first(sizes) for _, whole in self.fields]
        for piece in self.standing(sizes):
            for field, start, steps in piece.places:
                inside = tuple(s - low for s, low in zip(start, first[field], strict=True))
                yield field, points(inside, steps, piece.extents), piece.constant

    def standing(self, sizes: Mapping[str, int]) -> Iterator[Piece]:
        """Yield the constants that stay in arrays from run to run."""
        if not any(member.standing for member in self.members):
            return
        for part, stands in self._every(sizes):
            if stands:
                assert isinstance(part, Piece)
                yield part

    def parts(self, sizes: Mapping[str, int]) -> Iterator[AnyPiece]:
        """Yield the pieces that each run computes, for given sizes."""
        yield from (part for part, stands in self._every(sizes) if not stands)

    def _every(
        self, sizes: Mapping[str, int], *, checked: bool = True
    ) -> Iterator[tuple[AnyPiece, bool]]:
        """Yield the pieces, and whether their values stay in the array after the first run."""
        field = scalar = 0
        for member in self.members:
            ruled = member.ruled
            made = RegionPieces(ruled, sizes, field, member.components, scalar, checked)
            for kind, region in _regions(member, sizes):
                if isinstance(region.outcome, Row) and ruled.is_live(region.outcome):
                    _check_live(ruled, kind, region)
                    continue  # computed by other steps of the program
                stands = kind in member.standing
                for part in made.parts(region):
                    yield part, stands and isinstance(part, Piece) and part.fixed
            field += len(member.fields)
            scalar += len(ruled.parameters)

    def check(self, sizes: Mapping[str, int]) -> None:
        """Reject sizes for which a ghost that is read is undefined or has two definitions."""
        for member in self.members:
            if not self._always_defined(member, member.ruled.closed(sizes)):
                for _ in _regions(member, sizes):
                    pass

    def _always_defined(self, member: Member, closure: Closure) -> bool:
        """Whether the ghosts that are read are defined for all sizes that have a closure.

        The result is cached for each closure, so that most programs avoid set operations for new
        sizes.
        """
        key = id(member), id(closure)
        if key not in self._defined:
            try:
                for region in member.ruled.read(closure, member.reads):
                    kind, _ = member.ruled.frame.places[region.block]
                    if member.reads[kind] is not None:
                        member.ruled.defined(region)
            except Error:
                self._defined[key] = False
            else:
                self._defined[key] = True
        return self._defined[key]

    @cached_property
    def _defined(self) -> dict[tuple[int, int], bool]:
        return {}

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Compute all ghosts in NumPy by resolving the rules point by point."""
        field = scalar = 0
        for m in self.members:
            names = m.ruled.parameters
            given = dict(zip(names, scalars[scalar : scalar + len(names)], strict=True))
            fields = arrays[field : field + len(m.fields)]
            _follow(m, fields, sizes, given)
            field += len(m.fields)
            scalar += len(names)

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> Ghosts:
        """Return the step that computes the ghosts that are read, after a check of definitions.

        All ghosts of a field visible to the caller are computed; undefined ghosts are NaN.
        """
        members, field = [], 0
        for member in self.members:
            narrowed: list[Domain | None] = []
            found: list[Domain] = []
            for _ in member.spaces:
                stop = field + member.components
                found.append(reduce(operator.or_, reads[field:stop]))
                every = any(kept[field:stop]) or not member.narrow
                narrowed.append(None if every else found[-1])
                field = stop
            for region in member.ruled.read(member.ruled.large(), found):
                member.ruled.defined(region)
            members.append(replace(member, reads=tuple(narrowed)))
        return replace(self, members=tuple(members))

    def once(self, alone: Sequence[bool]) -> Ghosts:
        """Return the step that keeps persistent constants, if there are any."""
        members, field = [], 0
        for member in self.members:
            found = set()
            for kind in range(len(member.spaces)):
                stop = field + member.components
                if member.once and all(alone[field:stop]):
                    found.add(kind)
                field = stop
            members.append(replace(member, standing=frozenset(found)))
        made = replace(self, members=tuple(members))
        for sizes in self._sizes():
            with suppress(Error):  # blocks too small for the rules
                if any(True for _ in made.standing(sizes)):
                    return made
        return self

    def rows(self, sources: Sequence[str], scalars: Sequence[ir.Value]) -> tuple[Made, ...] | None:
        """Return the values of all ghosts that are read; None if one reads several points."""
        found: list[Made] = []
        scalar = 0
        for member, closed in zip(self.members, self._closed, strict=True):
            ruled = member.ruled
            names = sources[len(found) : len(found) + len(member.fields)]
            given = scalars[scalar : scalar + len(ruled.parameters)]
            known = closed is not None and not ruled.live
            made = ghost_values(ruled, closed or (), names, given) if known else None
            if made is None:
                return None
            found += made
            scalar += len(ruled.parameters)
        return tuple(found)

    @cached_property
    def _closed(self) -> tuple[tuple[ClosedRow, ...] | None, ...]:
        """The closed rows of each member."""
        found = []
        for member in self.members:
            read = []
            for (owned, wide), wanted in zip(member.spaces, member.reads, strict=True):
                whole = row_domain(wide, (owned,))
                read.append(whole if wanted is None else whole & wanted)
            found.append(closed_rows(member.ruled, read))
        return tuple(found)

    def joined(self, other: External) -> External | None:
        """Return one step for the fields of both."""
        if not isinstance(other, Ghosts):
            return None
        members = (*self.members, *other.members)
        return Ghosts(members) if all(m.join for m in members) else None


def _check_live(ruled: Ruled, kind: int, region: Region) -> None:
    """Refuse blocks so small that ghosts of tables depend on values of the program."""
    if (kind, region.orthant) not in ruled.live_orthants:
        raise HaloError(
            f"{ruled.frame.region(region.block, region.box)} is made of ghosts with coefficients "
            "that a program gives, since blocks have few points.",
            hint="Use larger blocks, or give the coefficients before the program is declared.",
        )


def _regions(member: Member, sizes: Mapping[str, int]) -> Iterator[tuple[int, Region]]:
    """Yield the regions of ghosts that are computed, each with the kind of its block."""
    ruled = member.ruled
    for region in ruled.read(ruled.closed(sizes), member.reads, sizes):
        kind, _ = ruled.frame.places[region.block]
        if member.reads[kind] is not None:
            ruled.defined(region)
        yield kind, region


def _follow(
    member: Member, fields: Sequence[Array], sizes: Mapping[str, int], scalars: Mapping[str, Any]
) -> None:
    frame, count = member.ruled.frame, member.components
    definition = member.ruled.definition(sizes, count)

    def of_block(arrays: Sequence[Array], block: int) -> Sequence[Array]:
        kind, _ = frame.places[block]
        return arrays[kind * count : (kind + 1) * count]

    def place(block: int, index: Sequence[int]) -> tuple[int, ...]:
        start = frame.blocks[block].start
        return frame.point(block, [x - s for x, s in zip(index, start, strict=True)])

    before = [np.array(f) for f in fields]
    for block, index in definition.points():
        value = definition.at(block, index)
        if value is not None and value.matrices.keys() == {(block, index)}:
            continue
        total = np.full(count, np.nan)
        if value is not None:
            total = value.constant.copy()
            for name, factor in value.scalars.items():
                total += factor * scalars[name]
            for (b, source), matrix in value.matrices.items():
                total += matrix @ [f[place(b, source)] for f in of_block(before, b)]
        for f, x in zip(of_block(fields, block), total, strict=True):
            f[place(block, index)] = x
