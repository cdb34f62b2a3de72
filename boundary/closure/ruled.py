"""Rule sets of a frame: consistency checks, and resolved ghost rows by size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError, Error, ShapeError, at
from ssr.extension import AXES, Affine, Domain, ir

from ..errors import AmbiguousGhostError, UndefinedGhostError
from ..grid.boxes import Box, Orthant
from ..grid.frame import Frame
from ..rules.evaluate import is_live
from ..rules.given import OnSpace
from ..rules.rows.affine_rows import Conflict, Row, Undefined
from ..rules.rows.strips import Strip
from ..rules.rule import Rule, check_points
from .closure import Closure, Region, close
from .definition import Definition
from .run_time import by_table, computable, is_live_row, scalars_of

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Half-open ranges of integer indices."""

LARGE = 61
"""The extent used for blocks that are large enough for all rules."""


def several(likely: Mapping[str, int], free: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield likely sizes, and then small ones of the free names, for which ghosts lie otherwise.

    >>> list(several({"n": 61}, ["n"]))
    [{'n': 61}, {'n': 1}, {'n': 2}, {'n': 3}]
    """
    yield dict(likely)
    if free:
        yield from ({**likely, **dict.fromkeys(free, n)} for n in (1, 2, 3))
    if len(free) > 1:
        yield from ({**likely, name: 1} for name in free)


@dataclass(frozen=True, eq=False)
class Ruled:
    """Rules about the ghosts of a frame.

    Raises
    ------
    ArgumentError
        If a rule does not fit the blocks, or applies to none of their sides.
    """

    frame: Frame
    rules: tuple[Rule, ...]
    strips: tuple[Strip, ...]
    data: Mapping[str, Any]
    _known: list[Closure] = field(default_factory=list)

    @staticmethod
    def of(frame: Frame, rules: Sequence[Rule]) -> Ruled:
        """Return the rules of a frame, after a check that they fit it."""
        strips: list[Strip] = []
        data: dict[str, Any] = {}
        for number, rule in enumerate(rules):
            if not isinstance(rule, Rule):
                raise ArgumentError(
                    f"{rule!r} is not a boundary rule.",
                    hint="Rules are made by functions such as bc.periodic; "
                    "bc.interpolate and bc.transform_vector are applied to one, as in "
                    "bc.interpolate(first, weights) @ bc.linked().",
                )
            with at(rule.span):
                found = list(rule.strips(frame, number))
                if not found and not any(True for _ in rule.sides(frame)):
                    _check_sides(frame, rule)
            strips += found
            data |= rule.named(number)
        return Ruled(frame, tuple(rules), tuple(strips), data)

    def alike(self, other: Ruled) -> bool:
        """Whether other rules are provably equal.

        Functions of coordinates are equal if they have the same code.
        """
        if self is other:
            return True
        return (
            (self.frame, self.strips) == (other.frame, other.strips)
            and self.data.keys() == other.data.keys()
            and all(_alike(value, other.data[name]) for name, value in self.data.items())
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the scalars that tables of the rules hold factors for."""
        found: dict[str, None] = {}
        for strip in self.strips:
            for value in strip.row.constant:
                if not is_live(value, self.data):
                    found |= scalars_of(value)
        return tuple(found)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Names of all parameters of the rules: scalars, and fields that a program gives."""
        found: dict[str, None] = {}
        for strip in self.strips:
            for value in (*(e.weight for e in strip.row.entries), *strip.row.constant):
                found |= scalars_of(value)
        fields = (v for v in self.data.values() if isinstance(v, OnSpace) and v.array is None)
        return tuple({**found, **{v.name: None for v in fields}})

    @cached_property
    def weighing(self) -> frozenset[str]:
        """Names of the scalars that occur in weights, or in constants as more than factors."""
        found: dict[str, None] = {}
        for strip in self.strips:
            for entry in strip.row.entries:
                found |= scalars_of(entry.weight)
            for constant in strip.row.constant:
                if is_live(constant, self.data):
                    found |= scalars_of(constant)
        return frozenset(found)

    @cached_property
    def fields(self) -> dict[str, OnSpace]:
        """The fields that a program gives for parameters, by the names of the parameters."""
        found = (v for v in self.data.values() if isinstance(v, OnSpace) and v.array is None)
        return {v.name: v for v in found}

    def is_live(self, row: Row) -> bool:
        """Whether a row is computed when a program runs, not when its tables are assembled."""
        return is_live_row(row, self.data)

    @cached_property
    def live(self) -> bool:
        """Whether any rule is computed when a program runs."""
        return any(self.is_live(strip.row) for strip in self.strips)

    @cached_property
    def live_orthants(self) -> tuple[tuple[int, Orthant], ...]:
        """The kinds of blocks and the orthants that have ghosts computed when a program runs."""
        if not self.live:
            return ()
        found: dict[tuple[int, Orthant], None] = {}
        fixed = self.fixed()
        for sizes in several(self.likely(), [n for n in self.frame.sizes if n not in fixed]):
            with suppress(Error):  # blocks too small for the rules
                for region in self.closed(sizes).regions:
                    if isinstance(region.outcome, Row) and self.is_live(region.outcome):
                        kind, _ = self.frame.places[region.block]
                        found[kind, region.orthant] = None
        return tuple(found)

    def check(self, components: int | None) -> None:
        """Check that rules for vectors fit the number of components; None means numbers."""
        for strip in self.strips:
            row = strip.row
            counts = {len(e.mix) for e in row.entries if e.mix is not None}
            counts |= {len(row.constant)} - {1}
            if counts - {components}:
                with at(strip.origin.span):
                    raise ShapeError(
                        f"{strip.origin.rule} is for {min(counts - {components})} components.",
                        note="the fields have one value at each point"
                        if components is None
                        else f"the fields have {components}",
                    )

    @property
    def tabled(self) -> bool:
        """Whether entries have matrices, or weights from tables along the sides."""
        return any(e.mix is not None or by_table(e) for s in self.strips for e in s.row.entries)

    @property
    def varying(self) -> bool:
        """Whether entries have weights that differ from point to point."""
        return any(not isinstance(e.weight, ir.Const) for s in self.strips for e in s.row.entries)

    @property
    def pointwise(self) -> bool:
        """Whether there are rows of single ghosts."""
        return any(s.point is not None for s in self.strips)

    def closed(self, sizes: Mapping[str, int]) -> Closure:
        """Return all ghosts as combinations of owned points, for given sizes."""
        self._check_lengths(sizes)
        found = next((c for c in self._known if c.comparisons.holds(sizes)), None)
        if found is None:
            found = close(self.frame, self.strips, sizes)
            found = computable(found, self.data) if self.live else found
            self._known.append(found)
        return found

    def large(self) -> Closure:
        """Return all ghosts as combinations of owned points, for blocks that are not small."""
        return self.closed(self.likely())

    def likely(self) -> dict[str, int]:
        """Return sizes that fit the tables of the rules, of blocks that are not small."""
        return {name: LARGE + 4 * n for n, name in enumerate(self.frame.sizes)} | self.fixed()

    def fixed(self) -> dict[str, int]:
        """Return the sizes that follow from the tables of the rules."""
        found: dict[str, int] = {}
        for strip in self.strips:
            for axis, length in strip.fits:
                extent = self.frame.blocks[strip.side.block].shape[axis]
                if len(extent.terms) == 1:
                    ((name, factor),) = extent.terms
                    if isinstance(name, str) and (length - extent.constant) % factor == 0:
                        found[name] = (length - extent.constant) // factor
        return found

    def _check_lengths(self, sizes: Mapping[str, int]) -> None:
        """Check that sizes fit the tables of rules, and that there are enough points."""
        each = [block.inner(sizes) for block in self.frame.blocks]
        for strip in self.strips:
            side, extents = strip.side, each[strip.side.block]
            with at(strip.origin.span):
                text, points = strip.origin.rule, extents[side.axis]
                check_points(text, self.frame, side, strip.least, points)
                for axis, length in strip.fits:
                    if extents[axis] != length:
                        raise ShapeError(
                            f"{text}: the tables are for {length} points along a side, "
                            f"{self.frame.named(side)} has {extents[axis]}."
                        )

    def definition(self, sizes: Mapping[str, int], components: int) -> Definition:
        """Return the rules for point-by-point resolution; the errors are those of `closed`."""
        self._check_lengths(sizes)
        return Definition(self.frame, self.strips, self.data, sizes, components)

    def domain(self, block: int, box: Box) -> Domain:
        """Return a box of a block as a set of the indices of its field."""
        count = self.frame.ndim + self.frame.gridded
        edges = list(box)
        if self.frame.gridded:
            _, place = self.frame.places[block]
            edges.insert(0, (Affine.of(place), Affine.of(place + 1)))
        return Domain.box(AXES[count], [low for low, _ in edges], [high for _, high in edges])

    def read(
        self,
        closed: Closure,
        reads: Sequence[Domain | None],
        sizes: Mapping[str, int] | None = None,
    ) -> Iterator[Region]:
        """Yield the regions that are read."""
        for region in closed.regions:
            kind, _ = self.frame.places[region.block]
            wanted = reads[kind]
            if wanted is None:
                yield region
            elif sizes is None:
                if not (self.domain(region.block, region.box) & wanted).empty:
                    yield region
            else:
                edges = self._read(region, wanted, sizes)[-self.frame.ndim :]
                if edges:
                    box = tuple((Affine.of(low), Affine.of(high)) for low, high in edges)
                    yield replace(region, box=box)

    def _read(self, region: Region, wanted: Domain, sizes: Mapping[str, int]) -> Ranges:
        """Return the ranges of indices of a region's field that are read, for given sizes.

        Integer arithmetic is used where it suffices, since each isl operation costs memory.
        """
        edges = [(low.evaluate(sizes), high.evaluate(sizes)) for low, high in region.box]
        if self.frame.gridded:
            _, place = self.frame.places[region.block]
            edges.insert(0, (place, place + 1))
        boxes = wanted.boxes(tuple(edges), sizes)
        if boxes is None:
            part = (self.domain(region.block, region.box) & wanted).fixed(sizes)
            return () if part.empty else part.bounds()
        pairs = zip(*boxes, strict=True)
        return tuple((min(a for a, _ in p), max(b for _, b in p)) for p in pairs)

    def defined(self, region: Region) -> None:
        """Check that the ghosts of a region, which are read, have one definition."""
        match region.outcome:
            case Undefined(why):
                raise self._undefined(region, why)
            case Conflict(origins):
                one, other = origins
                both = one.span or other.span
                hint = "Give a deliberate order as a product of fills, or do not read them."
                if one.side == other.side:
                    hint = "Each side needs one rule: narrow them down by axis, side and block."
                with at(both):
                    raise AmbiguousGhostError(
                        f"Ghosts that are read are defined differently by two rules: "
                        f"{self.frame.region(region.block, region.box)}.",
                        note=f"{one.described(self.frame)}, and {other.described(self.frame)}, "
                        "lead to different values there",
                        hint=hint,
                    )
            case Row():
                pass

    def _undefined(self, region: Region, why: str) -> Error:
        where = self.frame.region(region.block, region.box)
        given = ", ".join(rule.text for rule in self.rules) or "none"
        return UndefinedGhostError(
            f"Ghosts that are read have no value: {where}.",
            note=f"{why}; the rules are {given}",
            hint="Add a rule for them, or read fewer points.",
        )


def _alike(a: Any, b: Any) -> bool:
    """Whether data of rules are the same: arrays, or functions of coordinates."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, OnSpace) and isinstance(b, OnSpace):
        return (a.name, a.space) == (b.name, b.space) and _alike(a.array, b.array)
    return bool(getattr(a, "__code__", a) == getattr(b, "__code__", b))


def _check_sides(frame: Frame, rule: Rule) -> None:
    """Refuse a rule that applies to no side at all."""
    every = rule.axis is None and rule.block is None and rule.end == "both"
    if rule.linked:
        what = "no side is linked" if every else "no such side is linked"
    elif every:
        return
    else:
        what = "such sides are linked; a rule for them names a block"
    raise ArgumentError(f"{rule.text} applies to no side: {what}.")
