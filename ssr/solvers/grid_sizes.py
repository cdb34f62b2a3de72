"""Extents of the grids of a multigrid hierarchy: the possible numbers of coarsening steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..errors import ShapeError, SpaceError
from ..matrices.matrix import Matrix
from ..points.affine import Affine
from ..spaces.space import Space
from ..symbols.index import Index, affine

Shape = tuple[int, ...]

LEVELS = 40
"""Limit of the levels in the search for suitable extents."""

LARGEST = 100_000
"""Limit of the length of an axis in the search for suitable extents."""


@dataclass(frozen=True)
class Coarsening:
    """The extents of a fine grid and of the next coarser one, as expressions of the same sizes.

    Attributes
    ----------
    fine, coarse
        One expression for each axis.
    least
        The smallest values of sizes, where they are larger than one.
    solved
        The rows of the matrix of all grids; None allows any extents.
    """

    fine: tuple[Affine, ...]
    coarse: tuple[Affine, ...]
    least: Mapping[str, int] = field(default_factory=dict)
    solved: Space | None = None

    @staticmethod
    def between(fine: Space, coarse: Space, solved: Space) -> Coarsening | None:
        """Return the coarsening between two spaces; None if an axis depends on several sizes."""
        shapes = fine.data.shape, coarse.data.shape, solved.data.shape
        if any(len(e.terms) > 1 or len(e.names()) != len(e.terms) for s in shapes for e in s):
            return None
        if any(one.names() != other.names() for one, other in zip(*shapes[:2], strict=True)):
            return None
        return Coarsening(*shapes[:2], dict(fine.data.least), solved)

    def coarser(self, shape: Shape) -> Shape | None:
        """Return the extents of the next coarser grid, if there is one with fewer points."""
        found = _mapped(self.fine, self.coarse, self.least, shape)
        if found is None or prod(found) >= prod(shape) or not self.contains(found):
            return None
        return found

    def contains(self, shape: Shape) -> bool:
        """Whether the matrix of all grids may have these extents."""
        if self.solved is None:
            return True
        rows = self.solved.data
        return _mapped(rows.shape, rows.shape, dict(rows.least), shape) is not None

    def grids(self, shape: Shape) -> Iterator[Shape]:
        """Yield the extents of a grid and of all coarser ones."""
        here: Shape | None = shape
        while here is not None:
            yield here
            here = self.coarser(here)

    def choices(self, shape: Shape, suits: Callable[[Shape], bool]) -> list[Shape]:
        """Return the nearest extents, at most these and at least these, that suit."""
        found: list[Shape | None] = [None, None]
        for count in range(LEVELS if max(shape) <= LARGEST else 0):
            pairs = [self._nearest(axis, extent, count) for axis, extent in enumerate(shape)]
            for end, extents in enumerate(zip(*pairs, strict=True)):
                other = tuple(e for e in extents if e is not None)
                if found[end] is None and len(other) == len(shape) and suits(other):
                    found[end] = other
            if None not in found or any(below is None for below, _ in pairs):
                break
        return list(dict.fromkeys(other for other in found if other is not None))

    def _nearest(self, axis: int, extent: int, count: int) -> tuple[int | None, int | None]:
        """Return the nearest possible extents of an axis after a number of refinements."""
        ends = (self.coarse[axis],), (self.fine[axis],)
        below: int | None = None
        for start in range(1, extent + 2):
            here: Shape | None = (start,)
            for _ in range(count):
                here = None if here is None else _mapped(*ends, self.least, here)
            if here is not None and here[0] >= extent:
                return (here[0] if here[0] == extent else below), here[0]
            below = below if here is None else here[0]
        return below, None


def _mapped(
    known: tuple[Affine, ...], wanted: tuple[Affine, ...], least: Mapping[str, int], shape: Shape
) -> Shape | None:
    """Return the values of some extents from the values of others; None if impossible."""
    sizes: dict[str, int] = {}
    for expression, extent in zip(known, shape, strict=True):
        if not expression.terms:
            if expression.constant != extent:
                return None
            continue
        ((name, factor),) = expression.terms
        assert isinstance(name, str)
        value, rest = divmod(extent - expression.constant, factor)
        if rest or value < least.get(name, 1) or sizes.setdefault(name, value) != value:
            return None
    found = tuple(e.evaluate(sizes) for e in wanted)
    return found if min(found) > 0 else None


def points(shape: tuple[Any, ...]) -> str:
    """Return extents as text for messages: ``100 x 100 points``."""
    text = " x ".join(map(str, shape))
    return f"{text} point" if text == "1" else f"{text} points"


def choice(shapes: list[Shape]) -> str:
    """Return extents to choose from, ``63 or 127 points``; nothing if there are none."""
    return " or ".join([*(" x ".join(map(str, s)) for s in shapes[:-1]), *map(points, shapes[-1:])])


def check_grids(R: Matrix, solved: Space, shape: Shape, coarsest: int, direct: int) -> None:
    """Check that a grid can be coarsened to few points, where all levels have one matrix."""
    coarsening = Coarsening.between(R.cols, R.rows, solved)
    if coarsening is None or len(shape) != R.cols.ndim:
        return  # the product with the restriction reports the error

    def suits(other: Shape) -> bool:
        few = min(map(prod, coarsening.grids(other))) <= coarsest
        return few and coarsening.contains(other)

    *_, last = coarsening.grids(shape)
    if prod(last) <= coarsest:
        return
    others = choice(coarsening.choices(shape, suits))
    hints = [f"choose {others}"] if others else []
    hints += [f"give coarsest={prod(last)}"] if prod(last) <= direct else []
    raise ShapeError(
        f"A grid of {points(shape)} cannot be coarsened to {coarsest} points or fewer.",
        note=f"{points(last)} have no coarser grid: the restriction leads from {R.cols!r} to "
        f"{R.rows!r}, the matrix is one of {solved!r}.",
        hint=f"{', or '.join(hints).capitalize()}." if hints else None,
    )


def is_odd(extent: Index | int) -> bool:
    """Whether an extent is ``2 c + 1`` with a positive c, for all sizes."""
    twice = affine(extent) - 1
    if twice.is_constant:
        return twice.constant > 1 and twice.constant % 2 == 0
    factors = [factor if isinstance(atom, str) else 1 for atom, factor in twice.terms]
    return not any(n % 2 for n in (*factors, twice.constant))


def too_many(finest: tuple[Any, ...], last: tuple[Any, ...], levels: int) -> SpaceError:
    """Return the error of a grid that has fewer levels, where each has 2 c + 1 points for c."""
    hint = "Use fewer levels."
    if all(isinstance(extent, int) for extent in finest):
        counts = tuple(Affine.name(f"c{axis}") for axis in range(len(finest)))
        twice = Coarsening(tuple(2 * count + 1 for count in counts), counts)
        others = choice(twice.choices(finest, lambda one: len(list(twice.grids(one))) >= levels))
        hint = f"Choose {others}, or fewer levels." if others else hint
    elif levels <= LEVELS:
        factor = 2 ** (levels - 1)
        hint = f"Write extents as {factor}*c + {factor - 1}, with a size c, or use fewer levels."
    return SpaceError(
        f"A grid of {points(finest)} does not have {levels} levels.",
        note=f"{points(last)} have no coarser grid: along each axis there are 2*c + 1 points for "
        "c coarse ones.",
        hint=hint,
    )
