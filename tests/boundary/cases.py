"""Random blocks with links, ghosts and rules: each rule as a user writes it, and for the walker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary import topologies
from boundary.errors import LinkError
from boundary.fills.fill import Fill
from boundary.grid.link import Link, Side

from . import walker
from .walker import Array, Blocks, Cross, Index, Walk

PARAMETERS = {"p": 1.25, "q": -0.75}
END = ("low", "high")


@dataclass(frozen=True)
class Case:
    """A fill, and what its rules are for the walker.

    Attributes
    ----------
    owned, wide
        The spaces of the blocks of each kind.
    kinds
        The blocks of each kind: those of one field.
    several
        Whether the fill is applied to tuples of fields.
    sizes
        Symbolic sizes.
    """

    blocks: Blocks
    owned: tuple[Any, ...]
    wide: tuple[Any, ...]
    kinds: tuple[tuple[int, ...], ...]
    gridded: bool
    several: bool
    components: int | None
    sizes: Mapping[str, int]
    rules: Sequence[bc.Rule]
    by_side: Mapping[Side, Sequence[Cross]]

    def __repr__(self) -> str:
        f = self.blocks
        links = "; ".join(map(str, f.links.values()))
        return f"<{f.shapes}, -{f.low} +{f.high}, {self.rules}, {links}>"

    @property
    def fill(self) -> Fill:
        count = self.components
        each = tuple(w if count is None else w.vector(count) for w in self.wide)
        if self.several:
            return bc.fill(each, *self.rules, owned=self.owned)
        return bc.fill(each[0], *self.rules, owned=self.owned[0])

    def walk(self, fields: Sequence[Array]) -> Walk:
        """Return the walk from numbers at the owned points."""
        numbers = {name: np.array([value]) for name, value in PARAMETERS.items()}
        u = [part[..., None] for part in self.by_block(fields)]
        return Walk(self.blocks, self.by_side, u, np.ones(1), numbers)

    def matrix_walk(self) -> Walk:
        """Return the walk that finds matrices: the last column is the constant."""
        f, size, m = self.blocks, 0, 1 + sum(a.size for a in self.random())
        fields = []
        for a in self.random():
            fields.append(np.eye(a.size, m, size).reshape(*a.shape, m))
            size += a.size
        one = np.eye(m)[-1]
        u = self.by_block(fields, 1)
        return Walk(f, self.by_side, u, one, {n: v * one for n, v in PARAMETERS.items()})

    def bound(self) -> Fill:
        """Return the fill with its parameters and sizes."""
        made = self.fill
        return made.bind(**{n: PARAMETERS[n] for n in made.parameters}, **self.sizes)

    @property
    def lead(self) -> Index:
        return () if self.components is None else (self.components,)

    def random(self, dtype: Any = np.float64, seed: int = 0) -> list[Array]:
        """Return random numbers at the owned points, a field for each kind."""
        rng = np.random.default_rng(seed)
        shapes = [(*self.lead, *self.shape(k, self.blocks.shapes[k[0]])) for k in self.kinds]
        return [rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes]

    def empty(self, value: float = np.nan, dtype: Any = np.float64) -> list[Array]:
        """Return fields with ghosts."""
        f = self.blocks
        return [
            np.full((*self.lead, *self.shape(kind, f.outer(kind[0]))), value, dtype)
            for kind in self.kinds
        ]

    def shape(self, kind: Index, extents: Index) -> Index:
        """Return the shape of an array of numbers for some blocks."""
        return (len(kind), *extents) if self.gridded else extents

    def by_block(self, fields: Sequence[Array], more: int = 0) -> list[Array]:
        """Return views (components, ...) of the blocks of fields that have some axes behind."""
        found: dict[int, Array] = {}
        for kind, field in zip(self.kinds, fields, strict=True):
            extents = field.shape[field.ndim - self.blocks.ndim - more :]
            whole = field.reshape(self.components or 1, len(kind), *extents)
            found |= {b: whole[:, at] for at, b in enumerate(kind)}
        return [found[b] for b in range(self.blocks.count)]

    def given(self, fields: Sequence[Array]) -> Any:
        """Return fields as the fill takes them."""
        return tuple(fields) if self.several else fields[0]

    def expected(self, fields: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Return the values of all points, NaN where there is none, and where two ways differ."""
        f, made = self.blocks, self.empty()
        whole, every = self.by_block(made), (slice(None),)
        unclear = [np.zeros(f.outer(b), bool) for b in range(f.count)]
        for b, own in enumerate(self.by_block(fields)):
            whole[b][(*every, *f.inner(b))] = own
        walk = self.walk(fields)
        for b, index in f.ghosts():
            place, found = f.place(b, index), walk.at(b, index)
            if len(found) == 1:
                whole[b][(*every, *place)] = found[0][:, 0]
            unclear[b][place] = len(found) > 1
        return made, unclear


# -- rules ---------------------------------------------------------------------------------------

Made = tuple[Callable[..., bc.Rule], Cross]


@st.composite
def values(draw: Any, blocks: Blocks, side: Side, count: int | None, corners: bool = True) -> Any:
    """Draw a value as a user gives it, and for the walker."""
    kind = draw(st.sampled_from(["number", "number", "parameter", "function", "array", "each"]))
    if (kind == "each" and count is None) or (kind == "array" and blocks.ndim == 1):
        kind = "number"
    number = draw(st.sampled_from([0.0, 2.0, -1.5, 1 / 3]))
    match kind:
        case "parameter":
            name = draw(st.sampled_from(sorted(PARAMETERS)))
            return bc.parameter(name), (name, 1.0)
        case "function":

            def function(*x: Any) -> Any:
                return number + sum((n + 1) * a for n, a in enumerate(x))

            return function, function
        case "array":
            shape = blocks.along(side, blocks.shapes[side.block])
            made = np.random.default_rng(3).uniform(-1, 1, shape)
            return made, made
        case "each":
            made = tuple(number + c for c in range(count or 0))
            return made, made
    return number, number


@st.composite
def made(draw: Any, blocks: Blocks, side: Side, count: int | None) -> Made:
    """Draw a rule for a side."""
    n, on = blocks.length(side), blocks.staggered[side.axis]
    kinds = ["periodic", "symmetric", "odd", "point", "zero", "constant", "dirichlet", "neumann"]
    kinds += ["robin", "extrapolate", "high order", *(["signs"] if count else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "periodic" and blocks.cells(side.block)[side.axis] == 0:
        kind = "zero"
    given, known = draw(values(blocks, side, count))
    h = draw(st.sampled_from([1.0, 0.5]))
    match kind:
        case "symmetric":
            return lambda **s: bc.symmetric(**s), walker.symmetric()
        case "odd":
            return lambda **s: bc.symmetric(sign=-1, **s), walker.symmetric(-1.0)
        case "signs":
            signs = tuple(float((-1) ** c) for c in range(count or 0))
            return lambda **s: bc.symmetric(sign=signs, **s), walker.symmetric(signs)
        case "point":
            face = "face" if on else "point"
            return lambda **s: bc.symmetric(about=face, **s), walker.symmetric(1.0, face)
        case "zero":
            return lambda **s: bc.zero(**s), walker.constant(0.0)
        case "constant":
            return lambda **s: bc.ghost_value(given, **s), walker.constant(known)
        case "dirichlet":
            return lambda **s: bc.dirichlet(given, **s), walker.robin(1.0, 0.0, known)
        case "neumann":
            return lambda **s: bc.neumann(given, spacing=h, **s), walker.robin(0, 1, known, h)
        case "robin":
            cross = walker.robin(1.0, 2.0, known, h)
            return lambda **s: bc.robin(1.0, 2.0, given, spacing=h, **s), cross
        case "extrapolate":
            order = draw(st.integers(1, min(n, 4)))
            return lambda **s: bc.extrapolate(order, **s), walker.polynomial(order)
        case "high order":
            what = draw(st.sampled_from(["dirichlet", "neumann", "robin"]))
            order = draw(st.integers(1 + (what == "neumann"), 3))
            a, b = {"dirichlet": (1.0, 0.0), "neumann": (0.0, 1.0), "robin": (1.0, 3.0)}[what]
            if order - 1 + int(on and b == 0) > n:
                return lambda **s: bc.zero(**s), walker.constant(0.0)
            cross = walker.polynomial(order, (a, b), known, h)
            more = {"spacing": h} if b else {}
            each = {
                "dirichlet": lambda **s: bc.dirichlet(given, order=order, **s),
                "neumann": lambda **s: bc.neumann(given, order=order, **more, **s),
                "robin": lambda **s: bc.robin(a, b, given, order=order, **more, **s),
            }
            return each[what], cross
    # Both ends of an axis are asked for at once.
    return lambda side, **s: bc.periodic(**s), walker.periodic()


# -- blocks --------------------------------------------------------------------------------------

HELPERS = (
    topologies.bricks(2),
    topologies.bricks(3, periodic=[0]),
    topologies.periodic_box(1),
    topologies.bricks(2, 2),
    topologies.bricks(1, 3, periodic=[1]),
    topologies.periodic_box(2),
    topologies.channel(2, 0),
    topologies.o_grid(2),
    topologies.glued(),
    topologies.glued(twist=True),
    topologies.moebius(),
    topologies.two_by_two(),
    topologies.two_by_two(periodic=True),
    bc.cubed_sphere(),
    topologies.from_corners(["abcd", "bedf"]),
    topologies.bricks(1, 2, 1),
    topologies.periodic_box(3),
    topologies.channel(3, 1),
    topologies.bricks(2, 1, 1, periodic=[0]),
    topologies.glued(twist=True).layered(1),
    topologies.from_corners(["mabc", "mbde", "mdaf"]).layered(),
)


@st.composite
def linked(draw: Any) -> bc.Connectivity:
    """Draw links: those of a helper, or random ones."""
    if draw(st.booleans()):
        return draw(st.sampled_from(HELPERS))
    ndim = draw(st.integers(1, 3))
    count = draw(st.integers(1, 3))
    sides = [Side(b, a, e) for b in range(count) for a in range(ndim) for e in END]  # type: ignore[arg-type]
    order = draw(st.permutations(sides))
    pairs = draw(st.integers(0, len(sides) // 2))
    links = []
    for here, there in zip(order[0 : 2 * pairs : 2], order[1 : 2 * pairs : 2], strict=True):
        along = [a for a in range(ndim) if a != there.axis]
        axes = draw(st.sampled_from(list(permutations(along))))
        flips = draw(st.tuples(*[st.booleans()] * (ndim - 1)))
        links.append(Link(here, there, axes, flips))
    if order[2 * pairs :] and draw(st.integers(0, 3)) == 0:  # a side folded onto itself
        here = order[-1]
        along = tuple(a for a in range(ndim) if a != here.axis)
        if along:
            flips = (True,) * len(along)
            links.append(Link(here, here, along, flips))
    return bc.Connectivity(ndim, count, links)


def cubic(links: bc.Connectivity) -> bool:
    """Whether links ask for blocks whose extents are all equal, where all have one shape."""
    try:
        links.check(links.count * [tuple(range(2, 2 + links.dims))])
    except LinkError:
        return True
    return False


def lengths(links: bc.Connectivity, alike: bool) -> list[list[int]]:
    """Return for each axis of each block the number of its length: those that meet have one.

    Parameters
    ----------
    alike
        Whether all blocks have one shape.
    """
    found = [[b * links.dims + a for a in range(links.dims)] for b in range(links.count)]

    def meet(one: int, other: int) -> None:
        for row in found:
            row[:] = [one if n == other else n for n in row]

    for b in range(links.count if alike else 0):
        for a in range(links.dims):
            meet(found[0][a], found[b][a])
    for link in links.links:
        along = [a for a in range(links.dims) if a != link.here.axis]
        for a, c in zip(along, link.axes, strict=True):
            meet(found[link.here.block][a], found[link.there.block][c])
    return found


def kinds_of(extents: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """Return the blocks of each shape, in the order of their first blocks."""
    found: dict[str, list[int]] = {}
    for number, shape in enumerate(extents):
        found.setdefault(str(shape), []).append(number)
    return tuple(map(tuple, found.values()))


@st.composite
def shaped(draw: Any, links: bc.Connectivity, alike: bool, most: int) -> Any:
    """Draw the shapes of blocks: as a grid takes them, as integers, and the sizes."""
    classes = lengths(links, alike)
    numbers = sorted({n for row in classes for n in row})
    known = {n: draw(st.integers(1, most)) for n in numbers}
    shapes = [tuple(known[n] for n in row) for row in classes]
    if draw(st.booleans()):
        return shapes, shapes, {}
    names = {n: f"n{place}" for place, n in enumerate(numbers)}
    symbols = {n: ssr.size(name) for n, name in names.items()}
    extents = [tuple(symbols[n] for n in row) for row in classes]
    return extents, shapes, {names[n]: known[n] for n in numbers}


@st.composite
def cases(draw: Any, tables: bool = True, several: bool | None = None) -> Case:
    """Draw blocks, links, ghosts and rules.

    Parameters
    ----------
    several
        Whether blocks may have several shapes, and the fill takes tuples; either by default.
    """
    gridded = several or draw(st.integers(0, 3)) > 0
    links = draw(linked()) if gridded else bc.Connectivity(draw(st.integers(1, 3)), 1, [])
    many = gridded and (draw(st.booleans()) if several is None else several)
    ndim = links.dims
    most, far = (4, 4) if ndim < 3 else (2, 2)
    extents, shapes, sizes = draw(shaped(links, not many, most))
    if gridded:
        kinds, grid = kinds_of(extents), bc.Grid(extents, links=links)
        owned: list[Any] = list(grid.kinds)
    else:
        kinds, owned = ((0,),), [ssr.Space(*extents[0])]
    location = draw(st.sampled_from(["cells", "cells", "nodes", "faces"]))
    if location == "nodes":
        owned = [space.nodes() for space in owned]
    if location == "faces":
        axis = draw(st.integers(0, ndim - 1))
        wanted = tuple(a == axis for a in range(ndim))
        if all(link.seen(wanted) == wanted for link in links.links):
            owned = [space.faces(axis) for space in owned]
    staggered = owned[0].data.staggered[int(gridded) :]
    each = [draw(widths(ndim, far)) for _ in (kinds if draw(st.booleans()) else kinds[:1])]
    each = each if len(each) == len(kinds) else each * len(kinds)
    by_block = {b: w for kind, w in zip(kinds, each, strict=True) for b in kind}
    blocks = Blocks(
        tuple(tuple(m + s for m, s in zip(shape, staggered, strict=True)) for shape in shapes),
        tuple(tuple(a for a, _ in by_block[b]) for b in range(links.count)),
        tuple(tuple(a for _, a in by_block[b]) for b in range(links.count)),
        staggered,
        {link.here: link for link in links.links},
    )
    count = draw(st.sampled_from([None, None, None, 2, 3]))
    rules, by_side = draw(ruled(blocks, count, tables))
    wide = tuple(space.grow(*width) for space, width in zip(owned, each, strict=True))
    return Case(blocks, tuple(owned), wide, kinds, gridded, many, count, sizes, rules, by_side)


@st.composite
def widths(draw: Any, ndim: int, far: int) -> Any:
    """Draw the numbers of ghosts before and behind each axis, some of them positive."""
    found = [(draw(st.integers(0, far)), draw(st.integers(0, far))) for _ in range(ndim)]
    return [(1, 1) if not any(map(sum, found)) else w for w in found]


@st.composite
def ruled(draw: Any, blocks: Blocks, count: int | None, tables: bool) -> Any:
    """Draw rules for the sides of blocks, not always for all of them, and rarely two for one."""
    rules: list[bc.Rule] = []
    by_side: dict[Side, list[Cross]] = {}
    if blocks.links:
        rule, cross = bc.linked(), walker.copy()
        levels, choices = -1, lines(blocks) if tables else []
        if choices and draw(st.booleans()):
            levels, length = draw(st.sampled_from(choices))
            rule, cross = draw(tabled(rule, cross, blocks, count, levels, length))
        rules.append(rule)
        for side in blocks.links:
            by_side[side] = [cross] if side.axis != levels else []
        ends = [side for side in blocks.links if side.axis == levels]
        if ends and draw(st.booleans()):
            rules.append(bc.linked(levels))
            by_side.update({side: [walker.copy()] for side in ends})
    for side in blocks.sides():
        chance = draw(st.integers(0, 19))
        if chance == 0 or (side in by_side and chance < 19):
            continue
        make, cross = draw(made(blocks, side, count))
        rule = make(axis=side.axis, side=side.end, block=side.block)
        rules.append(rule)
        by_side.setdefault(side, []).append(cross)
        if rule.text.startswith("periodic"):
            other = Side(side.block, side.axis, "high" if side.end == "low" else "low")
            by_side.setdefault(other, []).append(cross)
    return rules, by_side


def lines(blocks: Blocks) -> list[tuple[Any, int]]:
    """Return the axes of levels, None for two axes, for which links are of lines of one length."""
    choices: list[Any] = {1: [], 2: [None], 3: [0, 1, 2]}[blocks.ndim]
    found = []
    for levels in choices:
        sides = [side for side in blocks.links if side.axis != levels]
        lengths = {blocks.shapes[s.block][blocks.line(s, levels)] for s in sides}
        found += [(levels, n) for n in lengths if len(lengths) == 1]
    return found


@st.composite
def tabled(
    draw: Any,
    rule: Any,
    cross: Cross,
    blocks: Blocks,
    count: int | None,
    levels: int | None,
    n: int,
) -> Any:
    """Draw an interpolation, a rotation, or both."""
    layers = max(map(max, blocks.low + blocks.high))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    what = draw(st.sampled_from(["interpolate", "rotate", "both"] if count else ["interpolate"]))
    if what != "rotate":
        points = draw(st.integers(1, min(n, 3)))
        first = rng.integers(0, n - points + 1, (layers, n))
        weights = rng.uniform(-1, 1, (layers, n, points))
        rule = bc.interpolate(first, weights, levels=levels) @ rule
        cross = walker.interpolate(first, weights, cross, levels)
    if what != "interpolate":
        matrices = rng.uniform(-1, 1, (blocks.count, 4, count, count, layers, n))
        rule = bc.transform_vector(matrices, levels=levels) @ rule
        cross = walker.rotate(matrices, cross, levels)
    return rule, cross
