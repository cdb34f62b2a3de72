"""Rows of ghost points: affine combinations of other points, and the strips where they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from ssr import ir
from ssr.affine import Affine
from ssr.families import add, monomials, multiply
from ssr.values import show

from .frame import Box, Known
from .link import Side

if TYPE_CHECKING:
    from .rules import Rule

Mix: TypeAlias = tuple[tuple[ir.Value, ...], ...]
"""A small matrix between the components of a vector."""

Window: TypeAlias = tuple[tuple[Affine, Affine, Affine], ...]
"""Conditions ``low <= expression < high``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``weight * mix @ u[block, index]``, at the points of a window; no mix is the identity."""

    block: int
    index: tuple[Affine, ...]
    weight: ir.Value
    mix: Mix | None = None
    window: Window = ()

    def moved(self, where: Mapping[str, Affine]) -> Entry:
        """Return the entry with indices replaced."""
        mix = self.mix
        return Entry(
            self.block,
            tuple(a.substitute(where) for a in self.index),
            moved(self.weight, where),
            None if mix is None else tuple(tuple(moved(m, where) for m in row) for row in mix),
            tuple((e.substitute(where), low, high) for e, low, high in self.window),
        )

    def clipped(self, box: Box, axes: tuple[str, ...], known: Known) -> Box:
        """Return the points of a box that are in the window."""
        found = list(box)
        for expression, low, high in self.window:
            for axis, name in enumerate(axes):
                sign = dict(expression.terms).get(name, 0)
                if sign:
                    rest = expression - Affine.name(name) * sign
                    ends = (low - rest, high - rest)
                    if sign < 0:
                        ends = (rest - high + 1, rest - low + 1)
                    old = found[axis]
                    found[axis] = known.most(old[0], ends[0]), known.least(old[1], ends[1])
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Origin:
    """A rule, and a side whose ghosts it defines."""

    rule: Rule
    side: Side

    def __str__(self) -> str:
        return f"{self.rule.text} at {self.side}"


@dataclass(frozen=True, slots=True)
class Row:
    """The value of a ghost point: a constant and entries, and the rules that made it.

    The constant has one value for all components, or one for each.
    """

    entries: tuple[Entry, ...]
    constant: tuple[ir.Value, ...] = (ir.ZERO,)
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Undefined:
    """No rule defines a point; ``why`` says more."""

    why: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two rules define a point differently."""

    origins: tuple[Origin, Origin]


Outcome: TypeAlias = "Row | Undefined | Conflict"


@dataclass(frozen=True, slots=True)
class Strip:
    """What one rule says about the ghosts behind one side.

    Attributes
    ----------
    row
        The row of a ghost, in the indices of its block.
    layers
        The range of the ghosts' indices along the side's axis; None for all.
    extends
        Whether it holds beside the side's end too, where several indices are those of ghosts.
    """

    rule: Rule
    side: Side
    row: Row
    layers: tuple[Affine, Affine] | None = None
    extends: bool = True


def moved(value: ir.Value, where: Mapping[str, Affine]) -> ir.Value:
    """Return a value with indices replaced."""

    def change(node: ir.Value) -> ir.Value | None:
        match node:
            case ir.Coordinate(index):
                return ir.Coordinate(index.substitute(where))
            case ir.Load(_, index):
                return replace(node, index=tuple(a.substitute(where) for a in index))
        return None

    return ir.rewrite(value, change)


def composed(row: Row, entry: Entry, inner: Row, axes: tuple[str, ...]) -> Row:
    """Return a row in which what one entry reads is replaced by the row that defines it."""
    where = dict(zip(axes, entry.index, strict=True))
    found: list[Entry] = []
    for own in row.entries:
        if own is not entry:
            found.append(own)
            continue
        for more in inner.entries:
            new = more.moved(where)
            found.append(
                replace(
                    new,
                    weight=multiply(entry.weight, new.weight),
                    mix=_product(entry.mix, new.mix),
                    window=(*entry.window, *new.window),
                )
            )
    constant = tuple(multiply(entry.weight, moved(c, where)) for c in inner.constant)
    if entry.mix is not None:
        constant = _applied(entry.mix, constant)
    return Row(_collected(found), _sum(row.constant, constant), (*row.origins, *inner.origins))


def _product(a: Mix | None, b: Mix | None) -> Mix | None:
    if a is None or b is None:
        return b if a is None else a
    columns = tuple(zip(*b, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in a)


def _applied(mix: Mix, vector: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    each = vector * len(mix) if len(vector) == 1 else vector
    return tuple(_dot(row, each) for row in mix)


def _dot(a: tuple[ir.Value, ...], b: tuple[ir.Value, ...]) -> ir.Value:
    products = [multiply(x, y) for x, y in zip(a, b, strict=True)]
    zero: ir.Value = ir.ZERO
    return reduce(_plus, (p for p in products if p != ir.ZERO), zero)


def _sum(a: tuple[ir.Value, ...], b: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    count = max(len(a), len(b))
    a, b = (v * count if len(v) == 1 else v for v in (a, b))
    return tuple(_plus(x, y) for x, y in zip(a, b, strict=True))


def _plus(a: ir.Value, b: ir.Value) -> ir.Value:
    if ir.ZERO in (a, b):
        return b if a == ir.ZERO else a
    return add(a, b)


def _collected(entries: list[Entry]) -> tuple[Entry, ...]:
    """Return entries with those at one point added."""
    found: dict[Entry, ir.Value] = {}
    for e in entries:
        place = replace(e, weight=ir.ZERO)
        found[place] = _plus(found[place], e.weight) if place in found else e.weight
    return tuple(replace(p, weight=w) for p, w in found.items() if w != ir.ZERO)


def alike(a: Row, b: Row) -> bool:
    """Whether two rows are proved to be the same."""
    count = max(len(a.constant), len(b.constant))
    constants = (r.constant * count if len(r.constant) == 1 else r.constant for r in (a, b))
    return _form(a) == _form(b) and all(
        _normal(x) == _normal(y) for x, y in zip(*constants, strict=True)
    )


def _form(row: Row) -> dict[object, object]:
    return {
        (e.block, e.index, _text(e.mix), frozenset(map(str, e.window))): _normal(e.weight)
        for e in row.entries
    }


def _text(mix: Mix | None) -> object:
    return None if mix is None else tuple(tuple(map(_normal, row)) for row in mix)


def _normal(value: ir.Value) -> object:
    """Return a form of a value that is equal for equal sums of products."""
    found: dict[str, object] = {}
    for number, rest in monomials(value):
        text = show(rest)
        found[text] = found.get(text, 0) + number  # type: ignore[operator]
    return frozenset((text, number) for text, number in found.items() if number)
