"""A set of rules about the ghosts of a frame, and the proofs about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ssr.errors import ArgumentError, Error, ShapeError, at
from ssr.extension import AXES, Affine, Domain, ir

from ..errors import AmbiguousGhostError, UndefinedGhostError
from ..grid.frame import Box, Frame
from ..rules.rows import Conflict, Row, Strip, Undefined
from ..rules.rule import Rule, check_points
from .closure import Closed, Piece, close
from .definition import Definition

LARGE = 61
"""A size when nothing is known but that blocks are not small."""


def several(likely: Mapping[str, int], free: Sequence[str]) -> Iterator[dict[str, int]]:
    """Yield likely sizes, and then small ones of the free names; there points lie in other ways.

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
        If a rule does not fit the blocks, or is about none of their sides.
    """

    frame: Frame
    rules: tuple[Rule, ...]
    strips: tuple[Strip, ...]
    data: Mapping[str, Any]
    _known: list[Closed] = field(default_factory=list)

    @staticmethod
    def of(frame: Frame, rules: Sequence[Rule]) -> Ruled:
        """Return rules about a frame."""
        strips: list[Strip] = []
        data: dict[str, Any] = {}
        for number, rule in enumerate(rules):
            if not isinstance(rule, Rule):
                raise ArgumentError(
                    f"{rule!r} is no boundary rule.",
                    hint="Rules are made by functions such as bc.periodic; "
                    "bc.interpolate and bc.rotate are applied to one, as in "
                    "bc.interpolate(first, weights) @ bc.copy().",
                )
            with at(rule.span):
                found = list(rule.strips(frame, number))
                if not found and not any(True for _ in rule.sides(frame)):
                    _check_sides(frame, rule)
            strips += found
            data |= rule.named(number)
        return Ruled(frame, tuple(rules), tuple(strips), data)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the scalars in the rules' values."""
        found: dict[str, None] = {}
        for strip in self.strips:
            for value in strip.row.constant:
                found |= {v.name: None for v in ir.walk(value) if isinstance(v, ir.Scalar)}
        return tuple(found)

    def check(self, components: int | None) -> None:
        """Check that rules for vectors fit the number of components; None means numbers.

        Raises
        ------
        ShapeError
            If one does not.
        """
        for strip in self.strips:
            row = strip.row
            counts = {len(e.mix) for e in row.entries if e.mix is not None}
            counts |= {len(row.constant)} - {1}
            if counts - {components}:
                with at(strip.rule.span):
                    raise ShapeError(
                        f"{strip.rule.text} is for {min(counts - {components})} components.",
                        note="the fields have one value at each point"
                        if components is None
                        else f"the fields have {components}",
                    )

    @property
    def tabled(self) -> bool:
        """Whether entries have weights from tables."""
        return any(
            e.mix is not None or e.window or bool(ir.loads(e.weight))
            for s in self.strips
            for e in s.row.entries
        )

    @property
    def pointwise(self) -> bool:
        """Whether there are rows for one ghost each."""
        return any(s.point is not None for s in self.strips)

    def closed(self, sizes: Mapping[str, int]) -> Closed:
        """Return all ghosts as combinations of owned points, for given sizes.

        Raises
        ------
        ShapeError
            If tables of a rule are for sides of another length.
        HaloError
            If blocks have too few points for a rule.
        """
        self._check_lengths(sizes)
        found = next((c for c in self._known if c.known.holds(sizes)), None)
        if found is None:
            found = close(self.frame, self.strips, sizes)
            self._known.append(found)
        return found

    def large(self) -> Closed:
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
        """Check that sizes fit the tables of rules, and that there are points enough."""
        each = [block.inner(sizes) for block in self.frame.blocks]
        for strip in self.strips:
            side, extents = strip.side, each[strip.side.block]
            with at(strip.rule.span):
                text, points = strip.rule.text, extents[side.axis]
                check_points(text, self.frame, side, strip.least, points)
                for axis, length in strip.fits:
                    if extents[axis] != length:
                        raise ShapeError(
                            f"{strip.rule.text}: the tables are for {length} points along a side, "
                            f"{self.frame.named(side)} has {extents[axis]}."
                        )

    def definition(self, sizes: Mapping[str, int], components: int) -> Definition:
        """Return the rules as they are followed point by point; errors are those of `closed`."""
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
        closed: Closed,
        reads: Sequence[Domain | None],
        sizes: Mapping[str, int] | None = None,
    ) -> Iterator[Piece]:
        """Yield the pieces that are read.

        Parameters
        ----------
        reads
            The elements that are read of the fields of each kind; None for all.
        sizes
            The sizes, if it is asked for these only; pieces are cut down to what is read then.
        """
        for piece in closed.pieces:
            kind, _ = self.frame.places[piece.block]
            wanted = reads[kind]
            if wanted is None:
                yield piece
                continue
            part = self.domain(piece.block, piece.box) & wanted
            if sizes is not None:
                part = part.fixed(sizes)
            if part.empty:
                continue
            if sizes is None:
                yield piece
                continue
            edges = part.bounds()[-self.frame.ndim :]
            box = tuple((Affine.of(low), Affine.of(high)) for low, high in edges)
            yield replace(piece, box=box)

    def defined(self, piece: Piece) -> None:
        """Check that a piece of ghosts that is read has one definition.

        Raises
        ------
        UndefinedGhostError, AmbiguousGhostError
            If no rule defines it, or two define it differently.
        """
        match piece.outcome:
            case Undefined(why):
                raise self._undefined(piece, why)
            case Conflict(origins):
                one, other = origins
                both = one.rule.span or other.rule.span
                with at(both):
                    raise AmbiguousGhostError(
                        f"Ghosts are read that two rules define differently: "
                        f"{self.frame.region(piece.block, piece.box)}.",
                        note=f"{one.told(self.frame)}, and {other.told(self.frame)}, "
                        "lead to different values there",
                        hint="Give a deliberate order as a product of fills, or do not read them.",
                    )
            case Row():
                pass

    def _undefined(self, piece: Piece, why: str) -> Error:
        region = self.frame.region(piece.block, piece.box)
        given = ", ".join(rule.text for rule in self.rules) or "none"
        return UndefinedGhostError(
            f"Ghosts are read that have no value: {region}.",
            note=f"{why}; the rules are {given}",
            hint="Add a rule for them, or read fewer points.",
        )


def _check_sides(frame: Frame, rule: Rule) -> None:
    """Refuse a rule that is about no side at all."""
    every = rule.axis is None and rule.block is None and rule.end == "both"
    if rule.linked:
        what = "no side is linked" if every else "no such side is linked"
    elif every:
        return
    else:
        what = "such sides are linked; a rule for them names a block"
    raise ArgumentError(f"{rule.text} is about no side: {what}.")
