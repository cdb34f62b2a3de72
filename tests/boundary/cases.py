"""Random blocks with links, ghosts and rules: each rule as a user writes it, and for the walker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.fill import Fill
from boundary.link import Link, LinkError, Side

from . import walker
from .walker import Array, Blocks, Cross, Index, Walk

NAMES = ("n0", "n1", "n2")
PARAMETERS = {"p": 1.25, "q": -0.75}
END = ("low", "high")


@dataclass(frozen=True)
class Case:
    """A fill, and what its rules are for the walker.

    Attributes
    ----------
    owned, wide
        The spaces.
    sizes
        Symbolic sizes.
    """

    blocks: Blocks
    owned: Any
    wide: Any
    gridded: bool
    components: int | None
    sizes: Mapping[str, int]
    rules: Sequence[bc.Rule]
    by_side: Mapping[Side, Sequence[Cross]]

    def __repr__(self) -> str:
        f = self.blocks
        links = "; ".join(map(str, f.links.values()))
        return f"<{f.shape} x {f.count}, -{f.low} +{f.high}, {self.rules}, {links}>"

    @property
    def fill(self) -> Fill:
        kind = self.wide if self.components is None else self.wide.vector(self.components)
        return bc.fill(kind, *self.rules, owned=self.owned)

    def walk(self, u: Array) -> Walk:
        """Return the walk from numbers at the owned points."""
        numbers = {name: np.array([value]) for name, value in PARAMETERS.items()}
        return Walk(self.blocks, self.by_side, self._whole(u)[..., None], np.ones(1), numbers)

    def matrix_walk(self) -> Walk:
        """Return the walk that finds matrices: the last column is the constant."""
        count, f = self.components or 1, self.blocks
        size = count * f.count * int(np.prod(f.shape))
        u = np.eye(size, size + 1).reshape(count, f.count, *f.shape, size + 1)
        one = np.eye(size + 1)[-1]
        return Walk(f, self.by_side, u, one, {n: v * one for n, v in PARAMETERS.items()})

    def bound(self) -> Fill:
        """Return the fill with its parameters and sizes."""
        made = self.fill
        return made.bind(**{n: PARAMETERS[n] for n in made.parameters}, **self.sizes)

    def random(self, dtype: Any = np.float64, seed: int = 0) -> Array:
        """Return random numbers at the owned points, of the shape that the fill takes."""
        f = self.blocks
        shape = (*(() if self.components is None else (self.components,)), *self.lead, *f.shape)
        return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)

    @property
    def lead(self) -> Index:
        return (self.blocks.count,) if self.gridded else ()

    def _whole(self, u: Array) -> Array:
        f = self.blocks
        return u.reshape(self.components or 1, f.count, *f.shape)

    def expected(self, u: Array) -> tuple[Array, Array]:
        """Return the values of all points, NaN where there is none, and where two ways differ."""
        f, count = self.blocks, self.components or 1
        whole = np.full((count, f.count, *f.outer), np.nan)
        inner: Any = tuple(slice(a, a + n) for a, n in zip(f.low, f.shape, strict=True))
        every: Any = slice(None)
        whole[(every, every, *inner)] = self._whole(u)
        unclear = np.zeros((f.count, *f.outer), bool)
        walk = self.walk(u)
        for b, index in f.ghosts():
            place = b, *(x + w for x, w in zip(index, f.low, strict=True))
            found = walk.at(b, index)
            if len(found) == 1:
                whole[(every, *place)] = found[0][:, 0]
            unclear[place] = len(found) > 1
        lead = () if self.components is None else (self.components,)
        return whole.reshape(*lead, *self.lead, *f.outer), unclear


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
            shape = tuple(n for a, n in enumerate(blocks.shape) if a != side.axis)
            made = np.random.default_rng(3).uniform(-1, 1, shape)
            return made, made
        case "each":
            made = tuple(number + c for c in range(count or 0))
            return made, made
    return number, number


@st.composite
def made(draw: Any, blocks: Blocks, side: Side, count: int | None) -> Made:
    """Draw a rule for a side."""
    n, on = blocks.shape[side.axis], blocks.staggered[side.axis]
    kinds = ["periodic", "symmetric", "odd", "point", "zero", "constant", "dirichlet", "neumann"]
    kinds += ["robin", "extrapolate", "high order", *(["signs"] if count else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "periodic" and blocks.cells[side.axis] == 0:
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
            return lambda **s: bc.constant(given, **s), walker.constant(known)
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
    bc.bricks(2), bc.bricks(3, periodic=[0]), bc.periodic_box(1), bc.bricks(2, 2),
    bc.bricks(1, 3, periodic=[1]), bc.periodic_box(2), bc.channel(2, 0), bc.o_grid(2),
    bc.glued(), bc.glued(twist=True), bc.moebius(), bc.two_by_two(), bc.two_by_two(periodic=True),
    bc.cubed_sphere(), bc.from_corners(["abcd", "bedf"]), bc.bricks(1, 2, 1), bc.periodic_box(3),
    bc.channel(3, 1), bc.bricks(2, 1, 1, periodic=[0]),
)  # fmt: skip


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
    """Whether links ask for blocks whose extents are all equal."""
    try:
        links.check(tuple(range(2, 2 + links.dims)))
    except LinkError:
        return True
    return False


@st.composite
def cases(draw: Any, tables: bool = True) -> Case:
    """Draw blocks, links, ghosts and rules."""
    gridded = draw(st.integers(0, 3)) > 0
    links = draw(linked()) if gridded else bc.Connectivity(draw(st.integers(1, 3)), 1, [])
    ndim = links.dims
    most, far = (4, 4) if ndim < 3 else (2, 2)
    equal = gridded and cubic(links)
    n = draw(st.integers(1, most))
    shape = tuple(n if equal else draw(st.integers(1, most)) for _ in range(ndim))
    symbols = ssr.sizes(" ".join(NAMES[:ndim]))
    if draw(st.booleans()):
        extents: Any = shape
        sizes: dict[str, int] = {}
    else:
        extents = [symbols[0] if equal else s for s in symbols]
        sizes = dict(zip(NAMES[: 1 if equal else ndim], shape, strict=False))
    owned: Any = bc.Grid(links.count * [tuple(extents)], links=links).cells
    owned = owned if gridded else ssr.Space(*extents)
    location = draw(st.sampled_from(["cells", "cells", "nodes", "faces"]))
    if location == "nodes":
        owned = owned.nodes()
    if location == "faces":
        axis = draw(st.integers(0, ndim - 1))
        wanted = tuple(a == axis for a in range(ndim))
        if all(link.seen(wanted) == wanted for link in links.links):
            owned = owned.faces(axis)
    widths = [(draw(st.integers(0, far)), draw(st.integers(0, far))) for _ in range(ndim)]
    widths = [(1, 1) if not any(map(sum, widths)) else w for w in widths]
    staggered = owned.data.staggered[int(gridded) :]
    blocks = Blocks(
        tuple(m + s for m, s in zip(shape, staggered, strict=True)),
        tuple(a for a, _ in widths),
        tuple(b for _, b in widths),
        staggered,
        links.count,
        {link.here: link for link in links.links},
    )
    count = draw(st.sampled_from([None, None, None, 2, 3]))
    rules, by_side = draw(ruled(blocks, count, tables))
    return Case(blocks, owned, owned.grow(*widths), gridded, count, sizes, rules, by_side)


@st.composite
def ruled(draw: Any, blocks: Blocks, count: int | None, tables: bool) -> Any:
    """Draw rules for the sides of blocks, not always for all of them, and rarely two for one."""
    rules: list[bc.Rule] = []
    by_side: dict[Side, list[Cross]] = {}
    if blocks.links:
        rule, cross = bc.copy(), walker.copy()
        if tables and blocks.ndim == 2 and len(set(blocks.shape)) == 1 and draw(st.booleans()):
            rule, cross = draw(tabled(rule, cross, blocks, count))
        rules.append(rule)
        for side in blocks.links:
            by_side[side] = [cross]
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


@st.composite
def tabled(draw: Any, rule: Any, cross: Cross, blocks: Blocks, count: int | None) -> Any:
    """Draw an interpolation, a rotation, or both."""
    n, layers = blocks.shape[0], max(*blocks.low, *blocks.high)
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    what = draw(st.sampled_from(["interpolate", "rotate", "both"] if count else ["interpolate"]))
    if what != "rotate":
        points = draw(st.integers(1, min(n, 3)))
        first = rng.integers(0, n - points + 1, (layers, n))
        weights = rng.uniform(-1, 1, (layers, n, points))
        rule = bc.interpolate(first, weights) @ rule
        cross = walker.interpolate(first, weights, cross)
    if what != "interpolate":
        matrices = rng.uniform(-1, 1, (blocks.count, 4, count, count, layers, n))
        rule = bc.rotate(matrices) @ rule
        cross = walker.rotate(matrices, cross)
    return rule, cross
