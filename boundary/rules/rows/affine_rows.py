"""Symbolic rows of ghost points: affine combinations of other points.

A row can be composed with the rows of the ghost points that it reads, and compared with another
row. Both operations are symbolic in the indices of a block, the sizes, the parameters and the
tables of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from ssr.errors import Span
from ssr.extension import Affine, add, ir, monomials, multiply, show

from ...grid.boxes import Box, Comparisons
from ...grid.frame import Frame
from ...grid.link import Side

Mix: TypeAlias = tuple[tuple[ir.Value, ...], ...]
"""A small matrix that couples the components of a vector."""

ROUNDING = 1e-12
"""The tolerance for weights that are computed in two ways, relative to the largest weight."""

Window: TypeAlias = tuple[tuple[Affine, Affine, Affine], ...]
"""Conditions ``low <= expression < high``."""


_Form: TypeAlias = tuple[int, frozenset[object], tuple[object, ...]]
"""The block of an entry, its window, and its index without the constants."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``weight * mix @ u[block, index]``, at the points of a window; no mix is the identity."""

    block: int
    index: tuple[Affine, ...]
    weight: ir.Value
    mix: Mix | None = None
    window: Window = ()

    @property
    def is_diagonal(self) -> bool:
        """Whether components are not coupled: each is multiplied by a number, if by anything."""
        return all(
            isinstance(v, ir.Const) and (r == c or v == ir.ZERO)
            for r, line in enumerate(self.mix or ())
            for c, v in enumerate(line)
        )

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

    def clipped(self, box: Box, axes: tuple[str, ...], known: Comparisons) -> Box:
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
    """Where a row comes from: a rule as it was written, the user's line, and a side of a block."""

    rule: str
    span: Span | None
    side: Side

    def described(self, frame: Frame) -> str:
        """Return the rule and the side in words."""
        return f"{self.rule} at {frame.named(self.side)}"


@dataclass(frozen=True, slots=True)
class Row:
    """The value of a ghost point: a constant and entries, and the rules that define it.

    The constant has one value for all components, or one for each.
    """

    entries: tuple[Entry, ...]
    constant: tuple[ir.Value, ...] = (ir.ZERO,)
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True)
class Undefined:
    """No rule defines a point, for the reason ``why``."""

    why: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two rules define a point differently."""

    origins: tuple[Origin, Origin]


Outcome: TypeAlias = "Row | Undefined | Conflict"


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
    """Return a row in which the ghost that one entry reads is replaced by its own row."""
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
    constant = tuple(
        c if c == ir.ZERO else multiply(entry.weight, moved(c, where)) for c in inner.constant
    )
    if entry.mix is not None:
        constant = applied(entry.mix, constant)
    return Row(_collected(found), _sum(row.constant, constant), (*row.origins, *inner.origins))


def _product(a: Mix | None, b: Mix | None) -> Mix | None:
    if a is None or b is None:
        return b if a is None else a
    columns = tuple(zip(*b, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in a)


def applied(mix: Mix, vector: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    """Return a small matrix times a vector, which may be one number for all components."""
    each = vector * len(mix) if len(vector) == 1 else vector
    return tuple(_dot(row, each) for row in mix)


def _dot(a: tuple[ir.Value, ...], b: tuple[ir.Value, ...]) -> ir.Value:
    products = [multiply(x, y) for x, y in zip(a, b, strict=True)]
    total: ir.Value = ir.ZERO
    for p in products:
        total = _plus(total, p)
    return total


def _sum(a: tuple[ir.Value, ...], b: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    count = max(len(a), len(b))
    a, b = (v * count if len(v) == 1 else v for v in (a, b))
    return tuple(_plus(x, y) for x, y in zip(a, b, strict=True))


def _plus(a: ir.Value, b: ir.Value) -> ir.Value:
    if ir.ZERO in (a, b):
        return b if a == ir.ZERO else a
    return add(a, b)


def _collected(entries: list[Entry]) -> tuple[Entry, ...]:
    """Return the entries after entries of the same point are summed."""
    found: dict[object, Entry] = {}
    for e in entries:
        place = e.block, e.index, e.mix, e.window
        old = found.get(place)
        found[place] = e if old is None else replace(old, weight=_plus(old.weight, e.weight))
    return tuple(e for e in found.values() if e.weight != ir.ZERO)


def alike(a: Row, b: Row, box: Box, axes: tuple[str, ...], known: Comparisons) -> bool:
    """Whether two rows are provably equal at the points of a box, up to rounding."""
    return not any(_differences(a, b, box, axes, known))


def crossing(
    a: Row, b: Row, box: Box, axes: tuple[str, ...], known: Comparisons
) -> tuple[int, ...]:
    """Return the axes across which a box is divided into parts with equal and unequal rows.

    There are none if the rows are equal at all points of the box, or at no point. Values that
    depend on the point, such as those of tables, are never treated as equal.
    """
    places, constants = _differences(a, b, box, axes, known)
    if constants or any(place.window for place in places):
        return ()
    found: tuple[int, ...] = ()
    for place in places:
        others = (
            _meeting(place, other, box, axes, known) for other in places if other is not place
        )
        met = next((cut for cut in others if cut), ())
        if not met:
            return ()
        found = found or met
    return found


def _differences(
    a: Row, b: Row, box: Box, axes: tuple[str, ...], known: Comparisons
) -> tuple[list[Entry], bool]:
    """Return the points that two rows read with different weights, and if constants differ."""
    fixed = {
        name: low
        for name, (low, high) in zip(axes, box, strict=True)
        if known.sign(high - low - 1) == 0
    }
    rows = (a, 1), (b, -1)
    mixes = (e.mix for e in (*a.entries, *b.entries))
    count = max((len(mix) for mix in mixes if mix is not None), default=1)
    sums = _Places(axes, known)
    for row, sign in rows:
        for entry in row.entries:
            new = entry.moved(fixed)
            sums.at(new).add_matrix(new, count, sign)
    each = [_Sum() for _ in range(max(len(a.constant), len(b.constant)))]
    for row, sign in rows:
        values = row.constant * len(each) if len(row.constant) == 1 else row.constant
        for total, value in zip(each, values, strict=True):
            total.add(moved(value, fixed), sign)
    places = [place for place, total in sums.found if not total.vanishes]
    return places, not all(total.vanishes for total in each)


class _Places:
    """The points that entries read, each with a sum.

    Entries whose indices differ by integers are distinguished by the integers. Only other entries
    are compared for the given sizes.
    """

    def __init__(self, axes: tuple[str, ...], known: Comparisons) -> None:
        self.axes, self.known = axes, known
        self.forms: dict[_Form, dict[tuple[int, ...], tuple[Entry, _Sum]]] = {}
        self.found: list[tuple[Entry, _Sum]] = []

    def at(self, entry: Entry) -> _Sum:
        """Return the sum of the point that an entry reads, a new one if it is the first."""
        where = entry.block, frozenset(entry.window)
        form: _Form = (*where, tuple(x.terms for x in entry.index))
        shifts = tuple(x.constant for x in entry.index)
        own = self.forms.get(form, {})
        if shifts in own:
            return own[shifts][1]
        others = (form for form in self.forms if form[:2] == where and self.forms[form] is not own)
        for other in others:
            for old, total in self.forms[other].values():
                if self._same(old, entry):
                    return total
        self.forms.setdefault(form, own)[shifts] = made = entry, _Sum()
        self.found.append(made)
        return made[1]

    def _same(self, a: Entry, b: Entry) -> bool:
        """Whether entries of one block and window are proved to read the same point."""
        apart = (x - y for x, y in zip(a.index, b.index, strict=True))
        return all(d.names().isdisjoint(self.axes) and self.known.sign(d) == 0 for d in apart)


def _meeting(
    a: Entry, b: Entry, box: Box, axes: tuple[str, ...], known: Comparisons
) -> tuple[int, ...]:
    """Return the axes that decide whether two entries read the same point; none if never."""
    if a.block != b.block:
        return ()
    found: tuple[int, ...] = ()
    for x, y in zip(a.index, b.index, strict=True):
        low = high = x - y
        signs = dict(low.terms)
        for name, (first, stop) in zip(axes, box, strict=True):
            least, most = (first, stop - 1) if signs.get(name, 0) >= 0 else (stop - 1, first)
            low, high = low.substitute({name: least}), high.substitute({name: most})
        if known.sign(low) > 0 or known.sign(high) < 0:
            return ()
        found = found or tuple(axis for axis, name in enumerate(axes) if name in signs)
    return found


class _Sum:
    """A sum of products or of matrices of products; factors of equal products are summed."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, int, str], float] = {}
        self.scale = 0.0

    def add(self, value: ir.Value, sign: int, row: int = 0, column: int = 0) -> None:
        """Add a value with a sign, at a place of the matrix."""
        for number, rest in monomials(value):
            key = row, column, show(rest)
            self.numbers[key] = self.numbers.get(key, 0.0) + sign * float(number)
            self.scale = max(self.scale, abs(float(number)))

    def add_matrix(self, entry: Entry, count: int, sign: int) -> None:
        """Add the matrix of an entry for vectors of ``count`` components, with a sign."""
        for row in range(count):
            if entry.mix is None:
                self.add(entry.weight, sign, row, row)
            else:
                for column, value in enumerate(entry.mix[row]):
                    self.add(multiply(entry.weight, value), sign, row, column)

    @property
    def vanishes(self) -> bool:
        """Whether the sum is zero up to rounding."""
        return all(abs(n) <= ROUNDING * self.scale for n in self.numbers.values())
