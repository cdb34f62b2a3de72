"""Fills on ranks: all rules, any blocks and links, and ghosts of the caller's own fields."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, reject
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError
from ssr.errors import ArgumentError, ShapeError

from ...ssr import strategies as some
from ..cases import HELPERS, PARAMETERS, Case, cases, cubic
from . import ranks
from .ranks import Parts


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


def completing(
    fill: Any, owned: tuple[Any, ...], wide: tuple[Any, ...], several: bool = False
) -> ssr.Program:
    """Return a program that completes fields u0, u1, ... in the caller's own w0, w1, ..."""
    numbers = range(len(owned))
    kinds = {f"u{k}": space for k, space in enumerate(owned)}
    kinds |= {f"w{k}": space for k, space in enumerate(wide)}
    given_fields = ", ".join(f"u{k}" for k in numbers)
    made = ", ".join(f"e{k}" for k in numbers)
    lines = [f"{made}, = fill @ ({given_fields},)" if several else "e0 = fill @ u0"]
    lines += [f"w{k}[:] = e{k}" for k in numbers]
    scope = {"fill": fill}
    exec(f"def run({', '.join(kinds)}):\n" + "".join(f"    {line}\n" for line in lines), scope)
    return ssr.program(**kinds)(scope["run"])


@some.examples(12)
@given(cases(), st.data())
def test_all_ghosts_are_those_of_one_rank(case: Case, data: Any) -> None:
    def kind(space: Any) -> Any:
        return space if case.components is None else space.vector(case.components)

    fill = case.fill.bind(**{name: PARAMETERS[name] for name in case.fill.parameters})
    cells: Any = case.owned[0]
    cells = cells.grid if case.gridded else cells
    try:
        spaces = tuple(map(kind, case.owned)), tuple(map(kind, case.wide))
        program = completing(fill, *spaces, case.several)
        for _ in range(3):
            parts = data.draw(ranks.parts(cells, case.sizes))
            ranks.check(program, case.random() + case.empty(), cells, case.sizes, parts)
    except AmbiguousGhostError:  # two rules for one ghost
        reject()


def cubes(n: int, width: int, components: int | None) -> tuple[Any, Any, Any]:
    """Return a grid of six panels, its cells with ghosts, and a fill that interpolates."""
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    rng = np.random.default_rng(n)
    first = rng.integers(0, n - 1, (width, n))
    rule: Any = bc.interpolate(first, rng.uniform(-1, 1, (width, n, 2))) @ bc.linked()
    if components is not None:
        rule = (
            bc.transform_vector(rng.uniform(-1, 1, (6, 4, components, components, width, n))) @ rule
        )
    wide = grid.cells.grow(width)
    return grid, wide, bc.fill(wide if components is None else wide.vector(components), rule)


STAR = {(0, 0, 0): -4.0, (0, 0, 2): 1.0, (0, 0, -1): 1.1, (0, 1, 0): 0.9, (0, -2, 0): 1.3}


@pytest.mark.parametrize("components", [None, 2])
def test_products_on_a_cubed_sphere(components: int | None) -> None:
    grid, wide, fill = cubes(5, 2, components)
    star = ssr.stencil(grid.cells, wide, STAR)
    kind: Any = grid.cells if components is None else grid.cells.vector(2)

    @ssr.program(x=kind, y=kind)
    def p(x: Any, y: Any) -> None:
        e = fill @ x
        y[:] = star @ e if components is None else ssr.vector(star @ e[0], star @ e[1])
        x[:] = y + x

    lead = () if components is None else (2,)
    rng = np.random.default_rng(1)
    args = [rng.uniform(-1, 1, (*lead, 6, 5, 5)) for _ in "xy"]
    uneven = [
        (r, 0, ((p, p + 1), j, i))
        for p in range(6)
        for r, (j, i) in enumerate(product([(0, 1), (1, 5)], [(0, 3), (3, 5)]))
    ]
    for parts in Parts(1), Parts(7, cut=(2, 3)), Parts(5, boxes=tuple(uneven)), Parts(6):
        ranks.check(p, args, grid, {}, parts)


@pytest.mark.parametrize("components", [None, 2])
def test_infinities_reach_the_ghosts_that_have_weights_for_them(components: int | None) -> None:
    """Lines of weights are filled up with zeros, in other ways on other boxes."""
    n = 6
    grid, wide, fill = cubes(n, 2, components)
    kind: Any = grid.cells if components is None else grid.cells.vector(2)
    star = ssr.stencil(grid.cells, wide, STAR)

    @ssr.program(x=kind, y=kind)
    def p(x: Any, y: Any) -> None:
        e = fill @ x
        y[:] = star @ e if components is None else ssr.vector(star @ e[0], star @ e[1])

    lead = () if components is None else (2,)
    x, y = np.random.default_rng(1).uniform(-1, 1, (2, *lead, 6, n, n))
    x[..., 0, 1, 2], x[..., 3, n - 1, 3], x[..., 4, n - 2, n - 1] = np.inf, -np.inf, np.nan
    for parts in Parts(1), Parts(7, cut=(2, 3)), Parts(4, cut=(1, 2)):
        ranks.check(p, [x, y], grid, {}, parts)
    if components is None:
        p(x, y)
        product = (star @ fill.linear).to_scipy()
        met = abs(product) @ ~np.isfinite(x.ravel()) > 0
        np.testing.assert_array_equal(np.isfinite(y.ravel()), ~met)


@pytest.mark.parametrize("how", ["average", "owner"])
@pytest.mark.parametrize("links", HELPERS[:14], ids=lambda links: f"{links.count} blocks")
def test_synchronized_points(links: Any, how: Any) -> None:
    shape = [3] * links.dims if cubic(links) else [*range(2, 2 + links.dims)]
    grid = bc.Grid(links.count * [tuple(shape)], links=links)
    nodes = grid.cells.nodes()
    together = bc.synchronize(nodes, how=how)

    @ssr.program(x=nodes)
    def p(x: Any) -> None:
        (x[:],) = (together @ (2.0 * x),)

    @ssr.program(x=nodes, y=nodes)
    def beside(x: Any, y: Any) -> None:
        """Read a copy that is synchronized together with what it was before."""
        a = together @ x
        y[:] = a - x

    x, y = np.random.default_rng(0).uniform(-1, 1, (2, *nodes.extent({})))
    for parts in Parts(2), Parts(3, cut=(2,) * links.dims), Parts(9, cut=(3,) * links.dims):
        ranks.check(p, [x], grid, {}, parts)
        ranks.check(beside, [x, y], grid, {}, parts)


@pytest.mark.parametrize("blocks", [1, 2])
def test_rows_of_a_sparse_matrix(blocks: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 1, (blocks * 25, blocks * 6)) * (rng.random((blocks * 25, 1)) < 0.7)
    grid = bc.Grid(blocks * [(2, 3)])
    wide = grid.cells.grow((1, 2), 1)
    fill = bc.fill(
        wide, bc.from_matrix(scipy.sparse.coo_array(rows), rng.uniform(-1, 1, blocks * 25))
    )
    program = completing(fill, (grid.cells,), (wide,))
    args = [rng.uniform(-1, 1, (blocks, 2, 3)), np.full((blocks, 5, 5), np.nan)]
    for parts in Parts(1), Parts(2), Parts(4, cut=(2, 2)), Parts(6, cut=(2, 3)):
        ranks.check(program, args, grid, {}, parts)


def twice(far: ssr.Matrix, fill: Any) -> ssr.Program:
    """Return a program whose second product reads far beyond the first."""

    @ssr.program(x=far.rows, y=far.rows)
    def p(x: Any, y: Any) -> Any:
        y[:] = far @ (fill @ (far @ (fill @ x)))
        return ssr.sum(y)

    return p


@pytest.mark.parametrize(
    "rule", [bc.periodic(), bc.symmetric(sign=-1), bc.extrapolate(2, 0)], ids=repr
)
def test_halos_that_reach_beyond_several_boxes(rule: Any) -> None:
    cells = ssr.Space(*ssr.sizes("n"))
    far = ssr.stencil(cells, cells.grow(4), {-4: 1.0, -3: 0.5, 0: -2.0, 4: 0.25})
    program = twice(far, bc.fill(cells.grow(4), rule))
    for size in 4, 5, 9:
        args = [np.random.default_rng(size).uniform(-1, 1, size) for _ in "xy"]
        for parts in Parts(1), Parts(3), Parts(size), Parts(2, cut=(4,)), Parts(size + 2):
            ranks.check(program, args, cells, {"n": size}, parts)


def test_ghosts_of_a_fill_that_another_one_reads() -> None:
    """Ghosts that one fill makes are points that the next is given, and that a nest may write."""
    n0, n1 = ssr.sizes("n0 n1")
    cells = ssr.Space(n0, n1)
    sides, wide = cells.grow((0, 0), (1, 1)), cells.grow((0, 2), (1, 1))
    rules = bc.periodic(0), bc.zero(1, "low"), bc.extrapolate(2, 1, "high")
    one = bc.fill(wide, *rules, owned=cells)
    ends = bc.robin(1.0, 0.5, 2.0, 1, "low"), bc.dirichlet(0.5, 1, "high")
    across = bc.fill(sides, *ends, owned=cells)
    along = bc.fill(wide, bc.periodic(0), owned=sides)
    up = ssr.stencil(cells, wide, {(2, 0): 0.25, (0, 0): 1.0})
    beside = ssr.stencil(cells, wide, {(0, -1): -0.5, (1, -1): -0.5})

    @ssr.program(x=cells, y=cells, g=wide)
    def p(x: Any, y: Any, g: Any) -> None:
        y[:] = beside @ (one @ y) - x
        g[:] = along @ g[sides]
        g[sides] = across @ y
        x[:] = beside @ (along @ across @ y)
        e = one @ x
        x[:] = 0.5 * y
        y[:] = up @ e

    for shape in (3, 3), (5, 4):
        sizes = dict(zip(("n0", "n1"), shape, strict=True))
        rng = np.random.default_rng(1)
        wider = shape[0] + 2, shape[1] + 2
        args = [rng.uniform(-1, 1, s) for s in (shape, shape, wider)]
        last = ((1, 0, ((0, 1), (0, shape[1]))), (0, 0, ((1, shape[0]), (0, shape[1]))))
        for parts in Parts(1), Parts(2, boxes=last), Parts(4, cut=(2, 2)), Parts(3, cut=(3, 1)):
            ranks.check(p, args, cells, sizes, parts)


def test_fills_are_applied_to_fields() -> None:
    """So are products with them, fills of tuples, fills in place, and synchronizations."""
    n0, n1 = ssr.sizes("n0 n1")
    cells = ssr.Space(n0, n1)
    wide = cells.grow(1)
    fill = bc.fill(wide, bc.periodic(0), bc.dirichlet(bc.parameter("s"), 1)).bind(s=0.5)
    star = ssr.stencil(cells, wide, {(0, 0): -2.0, (0, 1): 1.0, (-1, 0): 0.5})
    x = np.random.default_rng(0).uniform(-1, 1, (4, 5))
    for parts in Parts(1), Parts(3), Parts(4, cut=(2, 2)):
        u = parts.spread(cells, {"n0": 4, "n1": 5}).scatter(cells, x)
        for made in fill, star @ fill, 0.5 * (star @ fill) - ssr.identity(cells):
            ranks.check_equal([made @ u], [made @ x], made.name)
        again = fill @ u
        fill.ghosts(again)
        ranks.check_equal([again], [fill @ x], "in place")
        with pytest.raises(ShapeError, match="is bound to n0 = 3; the field has n0 = 4"):
            fill.bind(n0=3) @ u
        with pytest.raises(ShapeError, match="is bound to n0 = 3; the field has n0 = 4"):
            fill.bind(n0=3).ghosts(again)


def test_fills_and_synchronizations_are_applied_to_tuples_of_fields() -> None:
    grid = bc.Grid([(3, 4), (3, 2)], links=bc.topologies.glued())
    a, b = grid.kinds
    fill = bc.fill((a.grow(1), b.grow(1)), bc.linked(), bc.zero())
    together = bc.synchronize(a.nodes(), b.nodes())
    rng = np.random.default_rng(1)
    x = tuple(rng.uniform(-1, 1, k.extent({})) for k in grid.kinds)
    y = tuple(rng.uniform(-1, 1, k.nodes().extent({})) for k in grid.kinds)
    for parts in Parts(2), Parts(5, cut=(2, 2)):
        on = parts.spread(grid, {})
        u = tuple(on.scatter(k, each) for k, each in zip(grid.kinds, x, strict=True))
        v = tuple(on.scatter(k.nodes(), each) for k, each in zip(grid.kinds, y, strict=True))
        ranks.check_equal(fill @ u, fill @ x, "fill")
        ranks.check_equal(together @ v, together @ y, "synchronize")
        ranks.check_equal(v, y, "what is synchronized is kept")
        with pytest.raises(ArgumentError, match="is applied to a tuple of 2 fields"):
            fill @ u[:1]
