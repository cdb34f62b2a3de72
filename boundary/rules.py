"""Rules: what the ghosts behind the sides of blocks are, one basic sub-matrix each."""

from __future__ import annotations

import keyword
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from ssr import ir
from ssr.affine import Affine
from ssr.errors import ArgumentError, ShapeError, Span, user_span
from ssr.families import multiply
from ssr.index import integer

from .errors import HaloError
from .evaluate import check_function
from .frame import Frame
from .link import LinkError, Side
from .polynomial import ghost_weights
from .strip import Entry, Mix, Origin, Row, Strip, Where

Ends: TypeAlias = Literal["low", "high", "both"]
Given: TypeAlias = "float | np.ndarray[Any, Any] | Callable[..., Any] | Parameter | Sequence[Any]"
"""A value on a side: a number, an array, a function of coordinates, a parameter; a sequence has
one for each component."""

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that is given when a fill is used; see `bc.parameter`."""

    name: str


def parameter(name: str) -> Parameter:
    """Return a number with a name, for values that change in time.

    Its value is given by ``fill.bind(name=...)``: a number, or a scalar inside a program.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> fill = bc.fill(cells.grow(1), bc.constant(bc.parameter("inflow")))
    >>> fill.bind(inflow=7.0) @ np.ones(3)
    array([7., 1., 1., 1., 7.])
    """
    if name != str(name) or not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(f"{name!r} is no name for a parameter.")
    return Parameter(name)


@dataclass(frozen=True)
class Rule:
    """What the ghosts behind some sides are.

    Made by functions such as `bc.periodic`; `bc.fill` puts rules together.

    Attributes
    ----------
    text
        The rule as it was written.
    axis, end, block
        The sides it is about: of one axis and end, of one block; None means all.
    make
        Returns what it says about the ghosts of one side; names of data are made unique by the
        function it is given.
    data
        Arrays, and functions of coordinates.
    span
        The user's line.
    linked
        Whether it is about linked sides.
    lengths
        The numbers of points along a side that its tables are for; None means any.
    """

    text: str
    axis: int | None
    end: Ends
    block: int | None
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Part]]
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    span: Span | None = None
    linked: bool = False
    lengths: tuple[int, ...] | None = None

    def __repr__(self) -> str:
        return self.text

    def sides(self, frame: Frame) -> Iterator[Side]:
        """Yield the sides of a frame the rule is about.

        Rules of links are about linked sides. Others are about those that are not linked, or about
        all if they name a block.

        Raises
        ------
        ArgumentError
            If there is no such axis or block.
        """
        if self.axis is not None and not -frame.ndim <= self.axis < frame.ndim:
            raise ArgumentError(f"{self.text}: blocks have {frame.ndim} axes.")
        if self.block is not None and not 0 <= self.block < len(frame.blocks):
            raise ArgumentError(f"{self.text}: there are {len(frame.blocks)} blocks.")
        axis = None if self.axis is None else self.axis % frame.ndim
        for side in frame.sides():
            named = self.block is not None and not self.linked
            about = named or frame.linked(side) == self.linked
            here = self.block in (None, side.block) and axis in (None, side.axis)
            if about and here and self.end in ("both", side.end):
                yield side

    def strips(self, frame: Frame, number: int) -> Iterator[Strip]:
        """Yield what the rule, the so manieth of a fill, says about the ghosts of a frame."""
        for side in self.sides(frame):
            for part in self.make(frame, side, lambda key: f"{key}_{number}"):
                row = replace(part.row, origins=(Origin(self, side),))
                more = part.where, part.extends, part.fits, part.least, part.point
                yield Strip(self, side, row, *more)

    def named(self, number: int) -> dict[str, Any]:
        """Return the rule's data by the names they have in a fill."""
        return {f"{key}_{number}": value for key, value in self.data.items()}


@dataclass(frozen=True, slots=True)
class Part:
    """What a rule says about some layers of ghosts behind one side; see `Strip`."""

    row: Row
    where: Where = ()
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()
    least: int = 1
    point: tuple[int, ...] | None = None


def rule_of(
    text: str,
    axis: int | None,
    side: Ends,
    block: int | None,
    make: Callable[[Frame, Side, Callable[[str], str]], Sequence[Part]],
    data: Mapping[str, Any] | None = None,
    linked: bool = False,
    lengths: tuple[int, ...] | None = None,
) -> Rule:
    """Return a rule about the sides of an axis and an end, of one block or of all."""
    if side not in ("low", "high", "both"):
        raise ArgumentError(f'{text}: a side is "low", "high" or "both", not {side!r}.')
    for name, value in (("axis", axis), ("block", block)):
        if value is not None and integer(value) is None:
            raise ArgumentError(f"{text}: {name} is {value!r}, not an integer.")
    given = MappingProxyType(dict(data or {}))
    return Rule(text, axis, side, block, make, given, user_span(), linked, lengths)


# -- maps ----------------------------------------------------------------------------------------


def copy(axis: int | None = None, side: Ends = "both", *, block: int | None = None) -> Rule:
    """Return the halo copy: a ghost is the point of the block that its side is linked to.

    ``u[ghost] = u[there, map(ghost)]``, where the map is the link's signed permutation of axes.

    ::

        block 0: a b c | d e        the ghosts of one block are the points of the next
        block 1:   b c | d e f

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are linked. Others are never meant.

    Examples
    --------
    >>> import numpy as np, boundary as bc
    >>> grid = bc.Grid(2 * [(3,)], links=bc.bricks(2))
    >>> bc.fill(grid.cells.grow((0, 1)), bc.copy(), bc.zero()) @ np.array([[1., 2, 3], [4, 5, 6]])
    array([[1., 2., 3., 4.],
           [4., 5., 6., 0.]])
    """

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        assert frame.links is not None
        link = frame.links.link(side)
        assert link is not None
        here, there = frame.blocks[link.here.block], frame.blocks[link.there.block]
        if link.seen(here.staggered) != there.staggered:
            raise LinkError(
                f"The points are not of one kind on both sides of the link {link}.",
                note="Across it the faces normal to one axis are those normal to another.",
                hint="Fill ghosts of cells or nodes.",
            )
        index = tuple(
            Affine.name(frame.axes[axis]) * sign + offset
            for axis, sign, offset in link.source(here.cells, there.cells, here.staggered)
        )
        return [Part(Row((Entry(link.there.block, index, ir.ONE),)))]

    return rule_of(told("copy", axis, side, block), axis, side, block, make, linked=True)


def periodic(axis: int | None = None, *, block: int | None = None) -> Rule:
    """Return the circular map of a block onto itself: ``u[g] = u[g + n]``, ``u[n + g] = u[g]``.

    For points on the sides of cells the first and the last one are the same point, and the period
    is n - 1.

    ::

        ghosts | owned   | ghosts
           c d | a b c d | a b

    Parameters
    ----------
    axis
        The axis of the block; all axes by default.
    block
        The block; all blocks by default.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(2), bc.periodic()) @ np.array([1.0, 2, 3])
    array([2., 3., 1., 2., 3., 1., 2.])
    """

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        period = frame.blocks[side.block].cells[side.axis]
        shift = period if side.end == "low" else -period
        return [_mapped(frame, side, frame.index[side.axis] + shift, ir.ONE)]

    return rule_of(told("periodic", axis, "both", block), axis, "both", block, make)


def symmetric(
    axis: int | None = None,
    side: Ends = "both",
    *,
    sign: float | Sequence[float] = 1.0,
    about: Literal["face", "point"] | None = None,
    block: int | None = None,
) -> Rule:
    """Return the reflection ``u[-1 - k] = sign * u[k]``, or ``u[-k] = sign * u[k]`` about a point.

    ::

        ghosts | owned   | ghosts
           b a | a b c d | d c       about the face, sign 1
           c b | a b c d | c b       about the point, sign 1

    Parameters
    ----------
    axis, side, block
        The sides of blocks; by default all that are not linked.
    sign
        1 for even fields, -1 for odd ones such as a velocity normal to the side; a sequence has
        one for each component.
    about
        Reflect about the face of the first cell, or about the first point. By default the face
        for cells, and the point where points sit on the side.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> u, wide = np.array([1.0, 2, 3]), ssr.Space(3).grow(2)
    >>> bc.fill(wide, bc.symmetric()) @ u
    array([2., 1., 1., 2., 3., 3., 2.])
    >>> bc.fill(wide, bc.symmetric(sign=-1, about="point")) @ u
    array([-3., -2.,  1.,  2.,  3., -2., -1.])
    """
    text = told("symmetric", axis, side, block)
    signs = _numbers(text, "sign", sign)
    if about not in (None, "face", "point"):
        raise ArgumentError(f'{text}: about is "face" or "point", not {about!r}.')

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        source = _mirror(frame, side, about)
        if len(signs) == 1:
            return [_mapped(frame, side, source, ir.Const(signs[0]))]
        part = _mapped(frame, side, source, ir.ONE)
        entry = replace(part.row.entries[0], mix=_diagonal(signs))
        return [replace(part, row=Row((entry,)))]

    return rule_of(text, axis, side, block, make)


def _mapped(frame: Frame, side: Side, source: Affine, weight: ir.Value) -> Part:
    """Return a row of one entry that differs from the ghost along the side's axis only."""
    index = list(frame.index)
    index[side.axis] = source
    return Part(Row((Entry(side.block, tuple(index), weight),)))


def _mirror(frame: Frame, side: Side, about: str | None) -> Affine:
    """Return the index along a side's axis of the reflection of a ghost."""
    block = frame.blocks[side.block]
    on_side = block.staggered[side.axis]
    point = about == "point" or (about is None and on_side)
    first = 2 * Affine.of(block.first[side.axis])
    if side.end == "high":
        first = 2 * block.stop(side.axis) - (2 if point else 0)
    return first - frame.index[side.axis] - (0 if point else 1)


def _diagonal(numbers: Sequence[float]) -> Mix:
    return tuple(
        tuple(ir.Const(value if n == m else 0.0) for m in range(len(numbers)))
        for n, value in enumerate(numbers)
    )


# -- values --------------------------------------------------------------------------------------


def zero(axis: int | None = None, side: Ends = "both", *, block: int | None = None) -> Rule:
    """Return zero padding: ghosts are zero.

    ``u[ghost] = 0``::

        ghosts | owned   | ghosts
           0 0 | a b c d | 0 0

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.zero()) @ np.array([1.0, 2])
    array([0., 1., 2., 0.])
    """
    text = told("zero", axis, side, block)
    return rule_of(text, axis, side, block, lambda frame, side, name: [Part(Row(()))])


def constant(
    value: Given, axis: int | None = None, side: Ends = "both", *, block: int | None = None
) -> Rule:
    """Return ghosts that have a given value: a number, array, function or `bc.parameter`.

    ``u[ghost] = value``::

        ghosts | owned   | ghosts
           v v | a b c d | v v

    What an array and a function are is told at `bc.dirichlet`.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.constant(9.0)) @ np.array([1.0, 2])
    array([9., 1., 2., 9.])
    """
    text = told("constant", axis, side, block)
    values = _Values(text, value)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        known = values.at(frame, side, name)
        return [Part(Row((), known.each), (), known.extends, known.fits)]

    return rule_of(text, axis, side, block, make, values.data, lengths=values.lengths)


def dirichlet(
    value: Given,
    axis: int | None = None,
    side: Ends = "both",
    *,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for a value that is given on the side: ``u[-1 - k] = 2 value - u[k]``.

    ::

        ghosts        | owned   | ghosts
        2v - b 2v - a | a b c d | 2v - d 2v - c

    Parameters
    ----------
    value
        A number; an array with one value for each point of the side; a function of the
        coordinates of points on the side, in cells, one argument for each axis of the block; or a
        `bc.parameter`. A tuple or list has one of these for each component.
    axis, side, block
        The sides of blocks; by default all that are not linked.
    order
        The order of accuracy: ghosts lie on the polynomial of degree ``order - 1`` through the
        value and the points next to the side. By default the odd reflection, of order 2.

    Raises
    ------
    HaloError
        When the fill is made or used, if blocks have too few points for the order.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> cells = ssr.Space(3)
    >>> u = np.array([1.0, 3, 5])                                        # 2 x, x = i + 1/2
    >>> bc.fill(cells.grow(1), bc.dirichlet(0.0, side="low"), bc.dirichlet(6.0, side="high")) @ u
    array([-1.,  1.,  3.,  5.,  7.])
    """
    text = told("dirichlet", axis, side, block)
    return _condition(text, 1.0, 0.0, value, 1.0, axis, side, order, block)


def neumann(
    value: Given = 0.0,
    axis: int | None = None,
    side: Ends = "both",
    *,
    spacing: float = 1.0,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for an outward normal derivative that is given on the side.

    ``u[-1 - k] = u[k] + (2 k + 1) spacing value``. The parameters are those of `bc.dirichlet`.

    With s = spacing * value::

        ghosts       | owned   | ghosts
        b + 3s a + s | a b c d | d + s c + 3s

    Parameters
    ----------
    spacing
        The distance of points along the axis.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(1), bc.neumann()) @ np.array([1.0, 3, 5])
    array([1., 1., 3., 5., 5.])
    >>> fill = bc.fill(ssr.Space(3).grow(1), bc.neumann(2.0, side="high"), bc.zero(side="low"))
    >>> fill @ np.ones(3)
    array([0., 1., 1., 1., 3.])
    """
    text = told("neumann", axis, side, block)
    return _condition(text, 0.0, 1.0, value, spacing, axis, side, order, block)


def robin(
    a: float,
    b: float,
    value: Given,
    axis: int | None = None,
    side: Ends = "both",
    *,
    spacing: float = 1.0,
    order: int | None = None,
    block: int | None = None,
) -> Rule:
    """Return ghosts for ``a u + b du/dn = value`` on the side, n pointing outward.

    By default value and derivative are the mean and the difference quotient of a ghost and its
    reflection. The parameters are those of `bc.neumann`.

    With d the distance of the two, ``(a / 2 + b / d) u[ghost] = value - (a / 2 - b / d) u[k]``::

        ghosts          | owned   | ghosts
        p(b, 2) p(a, 1) | a b c d | p(d, 1) p(c, 2)

    Raises
    ------
    ArgumentError
        When the fill is made, if no ghost meets the condition.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(2).grow(1), bc.robin(1.0, 1.0, 3.0)) @ np.array([1.0, 2])
    array([2.33333333, 1.        , 2.        , 2.66666667])
    """
    text = told("robin", axis, side, block)
    return _condition(text, a, b, value, spacing, axis, side, order, block)


def extrapolate(
    order: int = 2, axis: int | None = None, side: Ends = "both", *, block: int | None = None
) -> Rule:
    """Return ghosts on the polynomial of degree ``order - 1`` through the points next to the side.

    ``u[ghost] = sum over n of w[n] u[n]``, n points from the side, with Lagrange's weights::

        ghosts          | owned   | ghosts
        a       a       | a b c d | d       d            order 1
        3a - 2b  2a - b | a b c d | 2d - c  3d - 2c      order 2

    Raises
    ------
    HaloError
        When the fill is made or used, if blocks have fewer points than ``order``.

    Examples
    --------
    >>> import numpy as np, ssr, boundary as bc
    >>> bc.fill(ssr.Space(3).grow(2), bc.extrapolate(2)) @ np.array([1.0, 3, 4])
    array([-3., -1.,  1.,  3.,  4.,  5.,  6.])
    """
    text = told("extrapolate", axis, side, block)
    count = _order(text, order)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        return _polynomials(text, frame, side, count, None, _Known())

    return rule_of(text, axis, side, block, make)


def _condition(
    text: str,
    a: float,
    b: float,
    value: Given,
    spacing: float,
    axis: int | None,
    side: Ends,
    order: int | None,
    block: int | None,
) -> Rule:
    """Return the rule of ``a u + b du/dn = value``, by reflection or by polynomials."""
    for name, number in (("a", a), ("b", b), ("spacing", spacing)):
        _finite(text, name, number)
    if not spacing > 0:
        raise ArgumentError(f"{text}: the spacing is {spacing!r}, not positive.")
    if not (a or b):
        raise ArgumentError(f"{text}: a and b are both zero.")
    values = _Values(text, value)
    count = None if order is None else _order(text, order)

    def make(frame: Frame, side: Side, name: Callable[[str], str]) -> list[Part]:
        known = values.at(frame, side, name)
        if count is not None:
            condition = (float(a), -float(b) / spacing)  # inward distances in cells
            return _polynomials(text, frame, side, count - 1, condition, known)
        source = _mirror(frame, side, None)
        apart = 2 * frame.layer(side) + _first_apart(frame, side)
        if b == 0:
            part = _mapped(frame, side, source, ir.Const(-1.0))
            return [known.added(part, ir.Const(2.0 / a))]
        if a == 0:
            part = _mapped(frame, side, source, ir.ONE)
            return [known.added(part, multiply(ir.Const(spacing / b), ir.Coordinate(apart)))]
        return [
            _robin(text, frame, side, layer, a, b * 2 / spacing, known)
            for layer in range(_layers(frame))
        ]

    return rule_of(text, axis, side, block, make, values.data, lengths=values.lengths)


def _robin(
    text: str,
    frame: Frame,
    side: Side,
    layer: int,
    a: float,
    b: float,
    known: _Known,
) -> Part:
    """Return one layer of ``a (ghost + u) / 2 + b (ghost - u) / (2 distance) = value``."""
    slope = b / (2 * layer + _first_apart(frame, side))
    if a + slope == 0:
        raise ArgumentError(
            f"{text} is singular: any value of the ghosts of layer {layer} meets the condition.",
            hint="a + 2 b / distance of the ghost from its reflection must not be zero.",
        )
    source = _mirror(frame, side, None)
    part = _mapped(frame, side, source, ir.Const((slope - a) / (slope + a)))
    part = replace(part, where=(_layer(frame, side, layer),))
    return known.added(part, ir.Const(2.0 / (slope + a)))


def _polynomials(
    text: str,
    frame: Frame,
    side: Side,
    count: int,
    condition: tuple[float, float] | None,
    known: _Known,
) -> list[Part]:
    """Return the layers of ghosts on polynomials through ``count`` points and a condition."""
    on_side = frame.blocks[side.block].staggered[side.axis]
    skip = int(on_side and condition is not None and condition[1] == 0)
    extent = frame.blocks[side.block].shape[side.axis]
    if extent.is_constant:
        check_points(text, frame, side, count + skip, extent.constant)
    start = Fraction(0) if on_side else _HALF
    points = [start + n + skip for n in range(count)]
    found = []
    for layer in range(_layers(frame)):
        ghost = start - 1 - layer
        weights = ghost_weights(points, ghost, condition)
        if weights is None:
            raise ArgumentError(f"{text} is singular: its polynomial is not unique.")
        entries = []
        for n, weight in enumerate(weights[0]):
            index = list(frame.index)
            index[side.axis] = _inside(frame, side, n + skip)
            entries.append(Entry(side.block, tuple(index), ir.Const(weight)))
        row = Row(tuple(e for e in entries if e.weight != ir.ZERO))
        part = Part(row, (_layer(frame, side, layer),), least=count + skip)
        found.append(known.added(part, ir.Const(weights[1])))
    return found


def _first_apart(frame: Frame, side: Side) -> int:
    """Return how many points the first ghost behind a side is away from its reflection."""
    return 2 if frame.blocks[side.block].staggered[side.axis] else 1


def check_points(text: str, frame: Frame, side: Side, least: int, points: int) -> None:
    """Refuse a block that has too few points along the axis of a side for a rule.

    Raises
    ------
    HaloError
        If they have.
    """
    if points < least:
        has = f"block {side.block} has" if frame.gridded else "there are"
        raise HaloError(
            f"{text} needs {least} points along axis {side.axis}; {has} {points}.",
            hint="Choose a lower order.",
        )


def _inside(frame: Frame, side: Side, n: int) -> Affine:
    """Return the index of the so manieth owned point along a side's axis, from the side."""
    block = frame.blocks[side.block]
    if side.end == "low":
        return Affine.of(block.first[side.axis] + n)
    return block.stop(side.axis) - 1 - n


def _layer(frame: Frame, side: Side, layer: int) -> tuple[int, Affine, Affine]:
    """Return the axis and the range of the indices of one layer of ghosts."""
    block = frame.blocks[side.block]
    at = (
        Affine.of(block.first[side.axis] - 1 - layer)
        if side.end == "low"
        else block.stop(side.axis) + layer
    )
    return side.axis, at, at + 1


def _layers(frame: Frame) -> int:
    """Return how many layers of ghosts may be asked for behind a side, of any block."""
    return max(width for block in frame.blocks for width in (*block.low, *block.high))


@dataclass(frozen=True, slots=True)
class _Known:
    """What is given behind a side for each component; see `Strip` for the rest."""

    each: tuple[ir.Value, ...] = (ir.ZERO,)
    extends: bool = True
    fits: tuple[tuple[int, int], ...] = ()

    def added(self, part: Part, factor: ir.Value) -> Part:
        """Return a part with what is given, times a factor, as its constant."""
        constant = tuple(ir.ZERO if v == ir.ZERO else multiply(factor, v) for v in self.each)
        row = Row(part.row.entries, constant)
        return replace(part, row=row, extends=self.extends, fits=self.fits)


class _Values:
    """What is given on a side, for each component."""

    def __init__(self, text: str, value: Given) -> None:
        self.text = text
        each = list(value) if isinstance(value, (tuple, list)) else [value]
        if not each:
            raise ArgumentError(f"{text}: no value is given.")
        self.each = [self._checked(v) for v in each]
        self.data = {
            f"value{n}": v for n, v in enumerate(self.each) if not isinstance(v, (float, Parameter))
        }
        shapes = {v.shape: None for v in self.each if isinstance(v, np.ndarray)}
        if len(shapes) > 1:
            raise ShapeError(
                f"{text}: the values of components have the shapes {', '.join(map(str, shapes))}."
            )
        self.lengths: tuple[int, ...] | None = next(iter(shapes), None)

    def _checked(self, value: Any) -> Any:
        if isinstance(value, Parameter) or callable(value):
            return value
        if isinstance(value, np.ndarray) and value.ndim:
            if value.dtype.kind not in "iuf":
                raise ArgumentError(f"{self.text}: the values have dtype {value.dtype}.")
            if not np.isfinite(value).all():
                raise ArgumentError(f"{self.text}: a value is NaN or infinite.")
            return np.array(value, np.float64)
        return _finite(self.text, "value", value)

    def at(self, frame: Frame, side: Side, name: Callable[[str], str]) -> _Known:
        """Return the values behind a side."""
        made: list[ir.Value] = []
        fits: tuple[tuple[int, int], ...] = ()
        extends = True
        for n, value in enumerate(self.each):
            if isinstance(value, float):
                made.append(ir.Const(value))
            elif isinstance(value, Parameter):
                made.append(ir.Scalar(value.name))
            elif isinstance(value, np.ndarray):
                made.append(self._array(frame, side, name(f"value{n}"), value))
                fits += tuple(zip(_along(frame, side), value.shape, strict=True))
                extends = False
            else:
                check_function(self.text, value, frame.ndim)
                made.append(ir.Load(name(f"value{n}"), _coordinates(frame, side)))
        return _Known(tuple(made), extends, tuple(dict.fromkeys(fits)))

    def _array(self, frame: Frame, side: Side, name: str, value: Any) -> ir.Value:
        along, block = _along(frame, side), frame.blocks[side.block]
        extents = [block.shape[a] for a in along]
        wanted = tuple(e.constant if e.is_constant else None for e in extents)
        if len(wanted) != value.ndim or any(
            w not in (None, n) for w, n in zip(wanted, value.shape, strict=True)
        ):
            raise ShapeError(
                f"{self.text}: an array of shape {value.shape} is given for {frame.named(side)}.",
                note=f"the side has the shape ({', '.join(map(str, extents))})",
            )
        return ir.Load(name, tuple(frame.index[a] - block.first[a] for a in along))


def _along(frame: Frame, side: Side) -> list[int]:
    """Return the axes along a side."""
    return [a for a in range(frame.ndim) if a != side.axis]


def _coordinates(frame: Frame, side: Side) -> tuple[Affine, ...]:
    """Return the coordinates of the point on a side next to a ghost, in halves of cells."""
    block = frame.blocks[side.block]
    found = [
        2 * (x - first) + int(not staggered)
        for x, first, staggered in zip(frame.index, block.first, block.staggered, strict=True)
    ]
    found[side.axis] = Affine.of(0) if side.end == "low" else 2 * block.cells[side.axis]
    return tuple(found)


# -- words ---------------------------------------------------------------------------------------


def told(name: str, axis: int | None, side: Ends, block: int | None) -> str:
    """Return a rule as it is called in messages."""
    given = [f"axis={axis}"] if axis is not None else []
    given += [f'side="{side}"'] if side != "both" else []
    given += [f"block={block}"] if block is not None else []
    return f"{name}({', '.join(given)})"


def _finite(text: str, name: str, value: Any) -> float:
    if isinstance(value, numbers.Real) or (isinstance(value, np.ndarray) and not value.ndim):
        with suppress(TypeError, ValueError, OverflowError):
            number = float(value)
            if np.isfinite(number):
                return number
    raise ArgumentError(f"{text}: {name} is {value!r}, not a finite number.")


def _numbers(text: str, name: str, value: Any) -> tuple[float, ...]:
    each = value if isinstance(value, (tuple, list)) else [value]
    if not each:
        raise ArgumentError(f"{text}: no {name} is given.")
    return tuple(_finite(text, name, v) for v in each)


def _order(text: str, order: Any) -> int:
    found = integer(order)
    if found is None or found < 1:
        raise ArgumentError(f"{text}: the order is {order!r}, not a positive integer.")
    return found
