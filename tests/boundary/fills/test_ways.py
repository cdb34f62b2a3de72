"""All ways to apply a fill, compiled, for many sizes each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.fills.fill import Fill
from boundary.grid.link import Side

from ...ssr import plain
from .. import walker
from ..walker import Array, Blocks, Cross, Index, Walk

G = 0.75
"""What the parameter g is."""


@dataclass(frozen=True)
class Setup:
    """A fill for all sizes, and the same for the walker."""

    fill: Fill
    sizes: Callable[[Index], Index]
    low: Index
    high: Index
    staggered: tuple[bool, ...]
    links: bc.Connectivity
    rules: Callable[[Side], list[Cross]]

    def blocks(self, cells: Index) -> Blocks:
        shape = tuple(n + s for n, s in zip(self.sizes(cells), self.staggered, strict=True))
        links = {link.here: link for link in self.links.links}
        each = [self.links.count * (one,) for one in (shape, self.low, self.high)]
        return Blocks(*each, self.staggered, links)  # type: ignore[arg-type]

    @property
    def gridded(self) -> bool:
        return self.fill.data.ruled.frame.gridded


def _setup(name: str) -> Setup:
    ny, nx = ssr.sizes("ny nx")
    none = bc.Connectivity(2, 1, [])
    if name == "one block":
        owned = ssr.Space(ny, nx)
        given = (
            bc.periodic(1),
            bc.symmetric(0, "low", sign=-1),
            bc.dirichlet(bc.parameter("g"), 0, "high"),
        )
        made: Mapping[Any, Cross] = {
            (1, "low"): walker.periodic(),
            (1, "high"): walker.periodic(),
            (0, "low"): walker.symmetric(-1.0),
            (0, "high"): walker.robin(1.0, 0.0, ("g", 1.0)),
        }
        fill = bc.fill(owned.grow((1, 2), (3, 1)), *given, owned=owned)
        rules = lambda side: [made[side.axis, side.end]]  # noqa: E731
        return Setup(fill, lambda n: n, (1, 3), (2, 1), (False, False), none, rules)
    if name == "faces":
        owned = ssr.Space(ny, nx).faces(1)
        fill = bc.fill(
            owned.grow(2), bc.symmetric(1), bc.dirichlet(lambda y, x: 1 + y + 2 * x, 0, order=2)
        )
        high = walker.polynomial(2, (1.0, 0.0), lambda y, x: 1 + y + 2 * x)
        rules = lambda side: [walker.symmetric() if side.axis else high]  # noqa: E731
        return Setup(fill, lambda n: n, (2, 2), (2, 2), (False, True), none, rules)
    if name == "cubed sphere":
        links = bc.cubed_sphere()
        cells = bc.Grid(6 * [(nx, nx)], links=links).cells
        fill = bc.fill(cells.grow(2).vector(2), bc.linked())
        return Setup(
            fill, lambda n: (n[1],) * 2, (2, 2), (2, 2), (False, False), links,
            lambda side: [walker.copy()],
        )  # fmt: skip
    links = bc.topologies.bricks(1, 2, 1, periodic=[1])
    (nz,) = ssr.sizes("nz")
    nodes = bc.Grid(2 * [(nz, ny, nx)], links=links).cells.nodes()
    fill = bc.fill(
        nodes.grow(1), bc.linked(), bc.extrapolate(2, 0), bc.neumann(2.0, 2, spacing=0.5)
    )
    neumann = walker.robin(0.0, 1.0, 2.0, 0.5)
    rules = lambda side: [  # noqa: E731
        walker.polynomial(2) if side.axis == 0 else walker.copy() if side.axis == 1 else neumann
    ]
    return Setup(fill, lambda n: (2, *n), (1,) * 3, (1,) * 3, (True,) * 3, links, rules)


setup = cache(_setup)
NAMES = ["one block", "faces", "cubed sphere", "nodes"]
CELLS = [(1, 1), (1, 2), (2, 1), (3, 3), (2, 5), (7, 4), (4, 7), (9, 10)]


def random(of: Setup, cells: Index, dtype: Any = np.float64, seed: int = 0) -> Array:
    """Return random numbers at the owned points."""
    f, count = of.blocks(cells), of.fill.data.components
    shape = (*((count,) if count else ()), *((f.count,) if of.gridded else ()), *f.shapes[0])
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def walked(of: Setup, cells: Index, u: Array) -> Array:
    """Return all points by walking; NaN where ways differ or lead nowhere."""
    f, parts = of.blocks(cells), of.fill.data
    flat = u.reshape(parts.components or 1, f.count, *f.shapes[0]).astype(float)
    rules = {side: of.rules(side) for side in f.sides()}
    each = [flat[:, b, ..., None] for b in range(f.count)]
    walk = Walk(f, rules, each, np.ones(1), {"g": np.array([G])})
    whole = np.full((len(flat), f.count, *f.outer(0)), np.nan)
    every: Any = slice(None)
    whole[(every, every, *f.inner(0))] = flat
    for b, index in f.ghosts():
        found = walk.at(b, index)
        if len(found) == 1:
            whole[(every, b, *f.place(b, index))] = found[0][:, 0]
    return whole.reshape(*u.shape[: -f.ndim], *f.outer(0))


def close(made: Array, wanted: Array) -> None:
    np.testing.assert_array_equal(np.isnan(made), np.isnan(wanted))
    tolerance = 1e-5 if made.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(made, wanted, rtol=tolerance, atol=10 * tolerance)


def inner(of: Setup, wide: Array) -> Array:
    """Return the owned part of an array with ghosts."""
    ends = zip(of.low, of.high, strict=True)
    return wide[(..., *(slice(a, -b or None) for a, b in ends))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays(name: str, dtype: Any) -> None:
    of = setup(name)
    bound = of.fill.bind(g=G) if of.fill.parameters else of.fill
    for cells in CELLS:
        u = random(of, cells, dtype)
        wanted = walked(of, cells, u)
        close(made := bound @ u, wanted)
        out = np.full_like(made, 7.0)
        assert bound.apply(u, out=out) is out
        plain.check_same(out, made)
        wide = np.full_like(made, 7.0)
        inner(of, wide)[...] = u
        bound.ghosts(wide)
        plain.check_same(wide, made)


def star(rows: Any, cols: Any, of: Setup) -> Any:
    """Return a matrix that reads all ghosts beyond sides, and none beyond edges."""
    rng = np.random.default_rng(2)
    ndim = len(of.low)
    weights = {(0,) * ndim: 0.5}
    for axis, (low, high) in enumerate(zip(of.low, of.high, strict=True)):
        for by in (*range(-low, 0), *range(1, high + 1)):
            weights[tuple(by * (a == axis) for a in range(ndim))] = float(rng.uniform(-1, 1))
    lead = (0,) * of.gridded
    return ssr.stencil(rows, cols, {(*lead, *offset): w for offset, w in weights.items()})


def read(matrix: ssr.Matrix, wide: Array, cells: Index, shape: Index) -> Array:
    """Return a matrix times an array with ghosts, which it does not all read, by SciPy."""
    names = dict(zip(("nz", "ny", "nx"), ((2, *cells)), strict=True))
    sized = matrix.bind(**{n: v for n, v in names.items() if n in matrix.sizes}).to_scipy()
    flat = np.nan_to_num(wide.astype(float)).ravel()
    made: Array = sized @ flat
    return made.reshape(shape)


@pytest.mark.parametrize("name", ["one block", "faces", "nodes"])
def test_products_and_programs(name: str) -> None:
    of = setup(name)
    fill = of.fill
    (owned,), (wide,) = fill.data.owned, fill.data.wide
    A = star(owned, wide, of)
    bound = fill.bind(g=G) if fill.parameters else fill
    product = A @ bound

    def body(x: Any, y: Any, h: Any, g: Any) -> None:
        own = fill.bind(g=g) if fill.parameters else fill
        e = own @ (x * 2.0)
        y[:] = A @ e + (A @ own) @ x
        h[:] = own @ h[owned]
        x[:] = x + h[owned] - A @ h

    program = ssr.program(x=owned, y=owned, h=wide, g=ssr.scalar)(body)
    for run in (program, lambda *a: plain.run(program, *a)):
        for cells in CELLS if run is program else CELLS[:5]:
            u, v = random(of, cells), random(of, cells, seed=1)
            wanted, double, wanted_v = (walked(of, cells, w) for w in (u, 2 * u, v))
            x, y, h = u.copy(), np.full_like(u, np.nan), np.full(wanted.shape, 7.0)
            inner(of, h)[...] = v
            run(x, y, h, G)
            once = read(A, wanted, cells, u.shape)
            close(y, read(A, double, cells, u.shape) + once)
            close(h, wanted_v)
            close(x, u + v - read(A, wanted_v, cells, u.shape))
            close(product @ u, once)
