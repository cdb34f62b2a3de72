"""Volumes, areas and distances as products of arrays of the lowest possible dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from ..errors import OutOfRangeError, SpaceError, UnsupportedError
from ..points.numbers import Array
from ..spaces.space import Space
from ..trace.trace import ScalarType, scalar
from .axis import Axis
from .quadrature import Span, integrals, order_for
from .separation import separated

Mode: TypeAlias = Literal["cell", "face", "center", "step"]
"""The use of a coordinate in a weight: integration over cells (cell) or between centers (step), or
evaluation at faces or centers."""


@dataclass(frozen=True)
class Factor:
    """A factor of weights: a function of some coordinates, integrated or evaluated along each.

    Attributes
    ----------
    expression
        The function, an expression of SymPy or 1.
    axes, modes
        The axes that the factor has, and how it takes the coordinate of each.
    """

    expression: Any
    axes: tuple[int, ...]
    modes: tuple[Mode, ...]

    @property
    def is_inverse(self) -> bool:
        """Whether its array has the inverse values, by which kernels multiply.

        This holds for the factors of volumes and distances, which divide; those of areas multiply.
        """
        return "face" not in self.modes


Weight: TypeAlias = "tuple[Factor, ...]"
"""A product of factors."""


def weight_of(integrand: Any, symbols: Sequence[Any], modes: Sequence[Mode]) -> Weight:
    """Return an integral over cells, faces or steps as a product of factors.

    Symbols after those of the axes are left out: no factor has them together with others.
    """
    count = len(modes)
    parts = separated(integrand, symbols)
    if any(min(axes) < count <= max(axes) for axes in parts if axes):
        raise SpaceError(f"{integrand} does not separate.")
    parts = {axes: one for axes, one in parts.items() if not axes or axes[0] < count}
    alone = {(a,): 1 for a, mode in enumerate(modes) if mode in ("cell", "step")}
    taken = {axis for axes in parts for axis in axes}
    parts |= {axes: one for axes, one in alone.items() if axes[0] not in taken}
    return tuple(
        Factor(expression, axes, tuple(modes[a] for a in axes))
        for axes, expression in sorted(parts.items())
    )


def reduced(above: Weight, below: Weight) -> tuple[Weight, Weight]:
    """Return a quotient of weights without the factors that both have."""
    common = set(above) & set(below)
    first, second = (tuple(f for f in w if f not in common) for w in (above, below))
    return first, second


@dataclass(frozen=True, eq=False)
class Positions:
    """The coordinates of faces and centers along an axis with cells of a known number."""

    axis: Axis
    count: int

    @cached_property
    def faces(self) -> Array:
        """The coordinates of all faces."""
        return self.axis.at_faces(self.count)

    @cached_property
    def centers(self) -> Array:
        """The coordinates of the centers of cells, midway between faces."""
        return 0.5 * (self.faces[1:] + self.faces[:-1])

    def around(self, faces: bool, low: int, high: int) -> Array:
        """Return positions from one index to before another, also of ghosts.

        Ghosts are mirror images beyond an end, or those of the other end of a periodic axis.
        """
        inner, count = (self.faces if faces else self.centers), self.count
        first, last = self.faces[0], self.faces[-1]
        index = np.arange(low, high)
        if self.axis.periodic:
            turns, rest = np.divmod(index, count)
            found = np.asarray(inner[rest] + turns * (last - first))
            return np.where(index == count, last, found) if faces else found
        end = count if faces else count - 1
        below = 2.0 * first - inner[np.clip(-index if faces else -1 - index, 0, end)]
        above = 2.0 * last - inner[np.clip(2 * end - index + (not faces), 0, end)]
        middle = inner[np.clip(index, 0, end)]
        found = np.where(index < 0, below, np.where(index > end, above, middle))
        return np.asarray(found)

    @cached_property
    def steps(self) -> tuple[Span, Span]:
        """The two parts of steps between centers: up to each face, and beyond it.

        At an end both are half of the end cell, as if the ghost were its mirror image; along
        a periodic axis the step from the last center reaches the first one.
        """
        f, c = self.faces, self.centers
        before, after = (c, f[1:]), (f[:-1], c)
        low, high = (after[0][:1], after[1][:1]), (before[0][-1:], before[1][-1:])
        first, last = (high, low) if self.axis.periodic else (low, high)
        up = tuple(np.concatenate(pair) for pair in zip(first, before, strict=True))
        on = tuple(np.concatenate(pair) for pair in zip(after, last, strict=True))
        return (up[0], up[1]), (on[0], on[1])

    def spans(self, mode: Mode) -> tuple[Span, ...]:
        """Return where integrals begin and end along the axis, or where a function is evaluated."""
        if mode == "cell":
            return ((self.faces[:-1], self.faces[1:]),)
        if mode == "step":
            return self.steps
        if mode == "center":
            return ((self.centers, None),)
        same = self.axis.periodic
        return ((np.append(self.faces[:-1], self.faces[0]) if same else self.faces, None),)

    @cached_property
    def nearness(self) -> Any:
        """The weight of the cell after each face in the mean of both cells: 1/2, or an array."""
        if self.axis.is_uniform:
            return 0.5
        before, after = self.steps
        up, on = before[1] - before[0], after[1] - after[0]
        return up / (up + on)


class Values:
    """The values of factors, each computed once: numbers, arrays, or fields of ranks.

    Parameters
    ----------
    positions
        Those along all axes.
    symbols
        The symbols of the coordinates.
    dtype
        The type of arrays.
    on
        The distribution of arrays that have all axes, or None.
    """

    def __init__(
        self,
        cells: Space,
        positions: Sequence[Positions],
        symbols: Sequence[Any],
        dtype: np.dtype[Any],
        on: Any = None,
    ) -> None:
        self.cells, self.positions, self.symbols = cells, tuple(positions), tuple(symbols)
        self.dtype, self.on = dtype, on
        self._known: dict[Factor, Any] = {}

    def __getitem__(self, factor: Factor) -> Any:
        if factor not in self._known:
            self._known[factor] = self._computed(factor)
        return self._known[factor]

    def kind(self, factor: Factor) -> Space | ScalarType:
        """Return the kind with which a matrix declares a factor."""
        if not factor.axes or is_width(factor, self._uniform):
            return scalar
        return space_of(self.cells, factor)

    @property
    def _uniform(self) -> list[bool]:
        return [along.axis.is_uniform for along in self.positions]

    def _computed(self, factor: Factor) -> Any:
        if not factor.axes:
            return float(factor.expression)
        if is_width(factor, self._uniform):
            along = self.positions[factor.axes[0]]
            assert along.axis.low is not None
            assert along.axis.high is not None
            return (along.axis.high - along.axis.low) / along.count
        function = function_of(factor.expression, [self.symbols[a] for a in factor.axes])
        every = [self.positions[a].spans(m) for a, m in zip(factor.axes, factor.modes, strict=True)]
        choices = _products(every)
        order = max(
            order_for(function, self._sample(spans), factor.expression) for spans in choices
        )

        def values(*index: Any) -> Any:
            found: Any = 0.0
            for spans in choices:
                here = [_taken(span, at) for span, at in zip(spans, index, strict=True)]
                found = found + integrals(function, here, order)
            return np.broadcast_to(found, np.broadcast_shapes(*(np.shape(at) for at in index)))

        if self.on is not None and len(factor.axes) == self.cells.ndim:
            return self._field(factor, values)
        counts = [len(spans[0][0]) for spans in every]
        array = np.array(values(*np.ogrid[tuple(slice(0, n) for n in counts)]))
        if factor.is_inverse:
            if not (array > 0.0).all():
                raise _not_positive(factor)
            array = 1.0 / array
        array = array.astype(self.dtype)
        array.flags.writeable = False
        return array

    def _field(self, factor: Factor, values: Callable[..., Any]) -> Any:
        """Return values as a field of ranks, each of which computes its own."""
        space, sizes = space_of(self.cells, factor), self.on.sizes
        made = self.on.zeros(space, self.dtype)
        first = space.first(sizes)
        wrong: list[bool] = []

        def here(*index: Any) -> Any:
            found = values(*(i - low for i, low in zip(index, first, strict=True)))
            if not factor.is_inverse:
                return found
            wrong.append(not (found > 0.0).all())
            with np.errstate(divide="ignore"):
                return 1.0 / found

        made.fill(here)
        if self.on.any(any(wrong)):
            raise _not_positive(factor)
        return made

    def _sample(self, spans: Sequence[Span]) -> list[Span]:
        """Return some of the cells of a factor with several axes, the widest among them."""
        found = []
        for low, high in spans:
            some = np.arange(len(low))
            if len(spans) > 1:
                some = np.unique(np.linspace(0, len(low) - 1, 9).round().astype(int))
                widest = some if high is None else [int(np.argmax(high - low))]
                some = np.union1d(some, widest)
            found.append((low[some], None if high is None else high[some]))
        return [
            _taken(s, at)
            for s, at in zip(
                found, np.ogrid[tuple(slice(0, len(s[0])) for s in found)], strict=True
            )
        ]


def function_of(expression: Any, symbols: Sequence[Any]) -> Callable[..., Any]:
    """Return an expression as a function of arrays."""
    if isinstance(expression, int):
        return lambda *_: np.float64(expression)
    import sympy

    made = sympy.lambdify(list(symbols), expression, "numpy", cse=True)

    def function(*at: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(made(*at), np.float64)
        except (NameError, TypeError, AttributeError) as error:
            raise UnsupportedError(
                f"NumPy does not compute {expression}.", note=str(error)
            ) from error

    return function


def _products(every: Sequence[Sequence[Span]]) -> list[list[Span]]:
    found: list[list[Span]] = [[]]
    for spans in every:
        found = [[*before, span] for before in found for span in spans]
    return found


def _taken(span: Span, at: Any) -> Span:
    """Return the ends of a span at some indices, contiguous."""
    low, high = span
    return low[at], None if high is None else high[at]


def space_of(cells: Space, factor: Factor) -> Space:
    """Return the space of the array of a factor."""
    data, axes = cells.data, factor.axes
    more = [int(mode in ("face", "step")) for mode in factor.modes]
    made = replace(
        data,
        lower=tuple(data.lower[a] for a in axes),
        shape=tuple(data.shape[a] + m for a, m in zip(axes, more, strict=True)),
        staggered=tuple(bool(m) for m in more) if len(axes) == cells.ndim else (False,) * len(axes),
    )
    return Space._from(made, made)


def _not_positive(factor: Factor) -> OutOfRangeError:
    return OutOfRangeError(
        f"The factor {factor.expression} of volumes or distances is not positive everywhere.",
        hint="Let the coordinates run where scale factors are positive, such as r from 0 up.",
    )


def is_width(factor: Factor, uniform: Sequence[bool]) -> bool:
    """Return whether a factor is the width of cells that are all equally wide, a number."""
    return factor.expression == 1 and len(factor.axes) == 1 and uniform[factor.axes[0]]


def names_of(
    weights: Mapping[str, Sequence[Weight]], axes: Sequence[str], uniform: Sequence[bool]
) -> dict[Factor, str]:
    """Return a name for each factor of some weights: that of its first weight, and of its axes."""
    found: dict[Factor, str] = {}
    for kind, each in weights.items():
        for factor in dict.fromkeys(f for weight in each for f in weight if f not in found):
            length = "width" if factor.modes == ("cell",) else "step"
            first = length if factor.expression == 1 and factor.axes else kind
            if factor.axes and factor.is_inverse and not is_width(factor, uniform):
                first = f"over_{first}"
            stem = "_".join([first, *(axes[a] for a in factor.axes)])
            name, count = stem, 2
            while name in found.values():
                name, count = f"{stem}_{count}", count + 1
            found[factor] = name
    return found
