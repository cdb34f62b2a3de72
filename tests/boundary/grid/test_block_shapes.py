"""Blocks of different shape in one grid: kinds of blocks, fills of tuples of fields."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.errors import AmbiguousGhostError, HaloError, LinkError, UndefinedGhostError
from boundary.grid.link import Link, Side
from boundary.synchronization.synchronize import Synchronize
from ssr.errors import ArgumentError, Error, ShapeError, SpaceError, UnsupportedError

from ...random_examples import examples
from ...ssr import plain
from ...ssr.interpret import interpret_program
from ..cases import Case, cases, linked, shaped
from ..evaluate_pieces import evaluate
from ..fills.test_fills import check_pieces, compare, size
from ..walker import Array

ny, nx, my, mx = ssr.sizes("ny nx my mx")
FIVE = {(0, 0, 0): -4.0, (0, 0, 1): 1.0, (0, 0, -1): 1.0, (0, 1, 0): 1.0, (0, -1, 0): 1.0}


def corner() -> bc.Connectivity:
    """Return three blocks in an L: block 1 above block 0, block 2 to the right of block 0."""
    up = bc.join(2, Side(0, 0, "high"), Side(1, 0, "low"))
    right = bc.join(2, Side(0, 1, "high"), Side(2, 1, "low"))
    return bc.Connectivity(2, 3, [up, right])


L = bc.Grid([(ny, nx), (my, nx), (ny, mx)], links=corner())
fill = bc.fill(tuple(kind.grow(1) for kind in L.kinds), bc.linked(), bc.dirichlet(0.0))
laps = [ssr.stencil(kind, kind.grow(1), FIVE) for kind in L.kinds]


def fields(*shapes: Any, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


# -- spaces --------------------------------------------------------------------------------------


def test_kinds_are_in_the_order_of_their_first_blocks() -> None:
    shapes = [(2, 3), (3, 2), (2, 3), (1, 1), (3, 2)]
    grid = bc.Grid(shapes)
    assert [k.blocks for k in grid.kinds] == [(0, 2), (1, 4), (3,)]
    assert [k.shape for k in grid.kinds] == [(2, 2, 3), (2, 3, 2), (1, 1, 1)]
    for kind in grid.kinds:
        for made in (kind.grow(1), kind.nodes(), kind.faces(1).grow((1, 0), 2)):
            assert made.blocks == kind.blocks
        assert kind.faces(0).grow(1).owned == kind.faces(0)
    assert repr(grid) == "<Grid of 5 blocks: 2 of 2 x 3, 2 of 3 x 2, 1 of 1 x 1>"
    assert repr(bc.Grid(2 * [(2, 3)])) == "<Grid of 2 blocks of 2 x 3>"


def test_sizes_are_compared_as_expressions() -> None:
    grid = bc.Grid([(ny, nx), (ny, nx + 1), (ny, nx)])
    assert [k.blocks for k in grid.kinds] == [(0, 2), (1,)]


# -- an L ----------------------------------------------------------------------------------------


SIZES = [(3, 4, 2, 5), (1, 1, 1, 1), (1, 2, 9, 1), (9, 11, 4, 13), (2, 9, 9, 2)]


def shapes(sizes: Any) -> list[tuple[int, int, int]]:
    a, b, c, d = sizes
    return [(1, a, b), (1, c, b), (1, a, d)]


def masked(parts: list[Array]) -> list[Array]:
    """Return the Laplacian of three parts of an L, by the rectangle around it."""
    (low, left), (high, right) = parts[0].shape[1:], (parts[1].shape[1], parts[2].shape[2])
    u = np.full((low + high + 2, left + right + 2), np.nan)
    where = [
        (slice(1, low + 1), slice(1, left + 1)),
        (slice(low + 1, low + high + 1), slice(1, left + 1)),
        (slice(1, low + 1), slice(left + 1, left + right + 1)),
    ]
    for part, place in zip(parts, where, strict=True):
        u[place] = part[0]
    around = [u[2:, 1:-1], u[:-2, 1:-1], u[1:-1, 2:], u[1:-1, :-2]]
    middle = u[1:-1, 1:-1]
    # A neighbour outside has the opposite value: the value on the side is zero.
    total = sum(np.where(np.isnan(n), -middle, n) for n in around) - 4 * middle
    return [total[tuple(slice(p.start - 1, p.stop - 1) for p in place)][None] for place in where]


@cache
def laplace(fold: bool) -> ssr.Program:
    """Return the program of the Laplacian, in which ghosts may be folded into what reads them."""

    @ssr.program(u=L.kinds[0], v=L.kinds[1], w=L.kinds[2], options=ssr.Options(fold=fold))
    def laplace(u: Any, v: Any, w: Any) -> None:
        a, b, c = fill @ (u, v, w)
        u[:] = laps[0] @ a
        v[:] = laps[1] @ b
        w[:] = laps[2] @ c

    return laplace


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_laplacian_of_an_L(sizes: Any, fold: bool) -> None:
    """One kernel for all sizes; products, programs and matrices agree with the masked rectangle."""
    u = fields(*shapes(sizes))
    wanted = masked(u)
    names = dict(zip(("ny", "nx", "my", "mx"), sizes, strict=True))
    product = (
        ssr.block([[laps[0], None, None], [None, laps[1], None], [None, None, laps[2]]]) @ fill
    )
    matrix = product.bind(**names).to_scipy() @ np.concatenate([a.ravel() for a in u])
    np.testing.assert_allclose(matrix, np.concatenate([a.ravel() for a in wanted]), atol=1e-13)
    for made, meant in zip(product @ tuple(u), wanted, strict=True):
        np.testing.assert_allclose(made, meant, atol=1e-13)
    compiled, python = [a.copy() for a in u], [a.copy() for a in u]
    program = laplace(fold)
    program(*compiled)
    plain.run(program, *python)
    arrays = dict(zip("uvw", [a.copy() for a in u], strict=True))
    interpret_program(program.ir, arrays, {}, names)
    for made, same, slow, meant in zip(compiled, python, arrays.values(), wanted, strict=True):
        plain.check_same(made, same)
        plain.check_same(made, slow)
        np.testing.assert_allclose(made, meant, atol=1e-13)


def test_in_place() -> None:
    cells, wide = L.kinds, [kind.grow(1) for kind in L.kinds]

    @ssr.program(a=wide[0], b=wide[1], c=wide[2])
    def refresh(a: Any, b: Any, c: Any) -> None:
        a[:], b[:], c[:] = fill @ (a[cells[0]], b[cells[1]], c[cells[2]])

    text = refresh.explain("program")
    assert "makes more points of a, b, c in place" in text
    assert " = " not in text
    u = fields(*shapes(SIZES[0]))
    wanted = fill @ tuple(u)
    for run in (refresh, lambda *w: plain.run(refresh, *w), fill.ghosts):
        arrays = [np.full_like(w, 7.0) for w in wanted]
        for array, own in zip(arrays, u, strict=True):
            array[:, 1:-1, 1:-1] = own
        run(*arrays)
        for made, meant in zip(arrays, wanted, strict=True):
            plain.check_same(made, meant)
    out = tuple(np.full_like(w, 7.0) for w in wanted)
    made = fill.apply(tuple(u), out=out)
    assert all(a is b for a, b in zip(made, out, strict=True))
    for a, meant in zip(out, wanted, strict=True):
        plain.check_same(a, meant)


def test_arrays_of_single_precision() -> None:
    u = [a.astype(np.float32) for a in fields(*shapes(SIZES[0]))]
    assert {w.dtype for w in fill @ u} == {np.dtype(np.float32)}
    mixed = fill @ (u[0], u[1].astype(np.float64), u[2])
    assert {w.dtype for w in mixed} == {np.dtype(np.float64)}


def test_only_what_is_read_is_made_and_calls_are_joined() -> None:
    right = ssr.stencil(L.kinds[0], L.kinds[0].grow(1), {(0, 0, 1): 1.0})

    @ssr.program(u=L.kinds[0], v=L.kinds[1], w=L.kinds[2], x=L.kinds[0])
    def step(u: Any, v: Any, w: Any, x: Any) -> None:
        a, _, _ = fill @ (u, v, w)
        b, _, _ = fill @ (x, v, w)
        u[:] = right @ a + right @ b

    told = bc.explain(step, ny=3, nx=4, my=2, mx=5)
    assert "2 calls joined to 1" in told
    assert "6 of 108 ghosts are made" in told


def test_the_functions_of_fills_depend_on_kinds_only() -> None:
    def functions(pairs: int) -> object:
        links = bc.topologies.bricks(1, 2 * pairs, periodic=[1])
        grid = bc.Grid(pairs * [(ny, nx), (ny, mx)], links=links)
        assert len(grid.kinds) == 2
        wide = tuple(kind.grow(1) for kind in grid.kinds)
        return bc.fill(wide, bc.linked(), bc.dirichlet(0.0)).step.functions("f")

    assert functions(1) == functions(2) == functions(3)


def test_two_rules_may_agree_for_sizes_that_nobody_thought_of() -> None:
    """Both rules of the low side lead to the first point of the other block if this has four."""
    sides = [
        Side(block, 0, end) for block, end in ((0, "low"), (1, "high"), (0, "high"), (1, "low"))
    ]
    links = bc.Connectivity(1, 2, [bc.join(1, *sides[:2]), bc.join(1, *sides[2:])])
    one, other = bc.Grid([(3,), (mx,)], links=links).kinds
    mirror = bc.symmetric(0, "low", block=0)
    both = bc.fill((one.grow((4, 0)), other), bc.linked(), mirror, owned=(one, other))
    for n in (9, 4, 5):
        made, _ = both @ (np.arange(3.0)[None], 10.0 + np.arange(n)[None])
        expected = [10.0 if n == 4 else np.nan, np.nan, np.nan, np.nan, 0.0, 1.0, 2.0]
        np.testing.assert_array_equal(made[0], expected)


# -- any blocks ----------------------------------------------------------------------------------


@examples(40)
@given(cases(several=True))
def test_fills_are_what_walks_lead_to(case: Case) -> None:
    check_pieces(case)


@pytest.mark.parametrize("rule", [bc.extrapolate(2), bc.robin(1.0, 2.0, 0.5)])
def test_halos_of_other_widths(rule: bc.Rule) -> None:
    """What is beyond a side is asked for as deep as the widest halo of any block goes."""
    grid = bc.Grid([(2, 4), (2, 1), (2, 3)], links=bc.topologies.bricks(1, 3))
    narrow, wide = (tuple(kind.grow(0, w) for kind in grid.kinds) for w in (1, 4))
    u = fields((1, 2, 4), (1, 2, 1), (1, 2, 3))
    whole = bc.fill(wide, bc.linked(), rule) @ u
    assert all(np.isfinite(w).all() for w in whole)
    for place in range(3):
        mixed = (*narrow[:place], wide[place], *narrow[place + 1 :])
        made = bc.fill(mixed, bc.linked(), rule) @ u
        for n, (one, all_of_it) in enumerate(zip(made, whole, strict=True)):
            plain.check_same(one, all_of_it if n == place else all_of_it[..., 3:-3])


@examples(40)
@given(cases(several=True))
def test_matrices_are_what_walks_lead_to(case: Case) -> None:
    """The rows of ghosts, and owned points, kind by kind."""
    B, walk = case.bound().to_scipy().toarray(), case.matrix_walk()
    start = 0
    made = {}
    for kind, field in zip(case.kinds, case.empty(), strict=True):
        numbers = np.arange(start, start + field.size).reshape(case.components or 1, len(kind), -1)
        made |= {b: numbers[:, at] for at, b in enumerate(kind)}
        start += field.size
    f = case.blocks
    assert B.shape == (start, walk.one.size - 1)
    for b in range(f.count):
        for at, place in enumerate(np.ndindex(*f.outer(b))):
            index = tuple(x - w for x, w in zip(place, f.low[b], strict=True))
            meant = walk.at(b, index)
            found = B[made[b][:, at]]
            if len(meant) == 1:
                compare(found, meant[0][:, :-1], size(meant[0]))
            elif not meant:
                assert not found.any()


@pytest.mark.parametrize("turned", [False, True])
def test_faces_that_a_link_turns(turned: bool) -> None:
    """Faces normal to one axis of a block are those normal to another axis of the next."""
    link = Link(Side(0, 0, "high"), Side(1, 1, "low"), (0,), (True,))
    grid = bc.Grid([(3, 4), (4, 2)], links=[link])
    a, b = grid.kinds
    wide = a.faces(1).grow(1), b.faces(0 if turned else 1).grow(1)
    if not turned:
        with pytest.raises(LinkError, match="not of one kind on both sides of the link"):
            bc.fill(wide, bc.linked())
        return
    u, v = fields((1, 3, 5), (1, 5, 2))
    made, other = bc.fill(wide, bc.linked(), bc.zero()) @ (u, v)
    np.testing.assert_array_equal(made[0, -1, 1:-1], v[0, ::-1, 0])
    np.testing.assert_array_equal(other[0, 1:-1, 0], u[0, -1, ::-1])


def test_a_deliberate_order() -> None:
    grid = bc.Grid([(2, 3), (2, 4)], links=bc.topologies.glued())
    cells, rows = grid.kinds, tuple(kind.grow(0, 1) for kind in grid.kinds)
    across = bc.fill(rows, bc.linked(), bc.ghost_value(5.0))
    both = bc.fill(tuple(kind.grow(1) for kind in cells), bc.ghost_value(9.0, axis=0), owned=rows)
    u = fields((1, 2, 3), (1, 2, 4))
    a, b = (both @ across) @ tuple(u)
    np.testing.assert_array_equal(a[0, [0, -1]], 9.0)
    np.testing.assert_array_equal(a[0, 1:-1, -1], u[1][0, :, 0])
    np.testing.assert_array_equal(a[0, 1:-1, 0], 5.0)
    np.testing.assert_array_equal(b[0, 1:-1, 0], u[0][0, :, -1])
    offset, _ = (both @ across).offset
    np.testing.assert_array_equal(offset[0, 0], 9.0)
    linear = (both @ across).linear @ tuple(u)
    np.testing.assert_allclose(linear[0] + offset, a)


def test_vectors() -> None:
    grid = bc.Grid([(2, 3), (2, 4)], links=bc.topologies.glued(twist=True))
    wide = tuple(kind.grow(1) for kind in grid.kinds)
    one = bc.fill(wide, bc.linked(), bc.ghost_value(bc.parameter("g")))
    rules = bc.linked(), bc.ghost_value([bc.parameter("g"), 2.0])
    two = bc.fill(tuple(w.vector(2) for w in wide), *rules)
    u = fields((2, 1, 2, 3), (2, 1, 2, 4))
    made = two.bind(g=1.0) @ u
    first = one.bind(g=1.0) @ [a[0] for a in u]
    second = one.bind(g=2.0) @ [a[1] for a in u]
    for both, x, y in zip(made, first, second, strict=True):
        np.testing.assert_array_equal(both, [x, y])
    a, b = grid.kinds
    mean = [ssr.stencil(k, k.grow(1), {(0, 0, 1): 0.5, (0, 0, -1): 0.5}) for k in (a, b)]
    blocks = [[ssr.kron(np.eye(2), mean[0]), None], [None, ssr.kron(np.eye(2), mean[1])]]
    product = ssr.block(blocks) @ two.bind(g=1.0)

    @ssr.program(u=a.vector(2), v=b.vector(2), g=ssr.scalar)
    def step(u: Any, v: Any, g: Any) -> None:
        x, y = two.bind(g=g) @ (u, v)
        u[:], v[:] = mean[0] @ x, mean[1] @ y

    arrays = [x.copy() for x in u]
    step(*arrays, 1.0)
    flat = product @ u
    for n, array in enumerate(arrays):
        wanted = (made[n][..., 1:-1, 2:] + made[n][..., 1:-1, :-2]) / 2
        np.testing.assert_allclose(array, wanted, rtol=1e-14)
        np.testing.assert_allclose(np.stack(flat[2 * n : 2 * n + 2]), wanted, rtol=1e-14)

    @ssr.program(u=a.vector(2), v=b.vector(2), p=wide[0].vector(2), q=wide[1].vector(2))
    def each(u: Any, v: Any, p: Any, q: Any) -> None:
        p[:], q[:] = one.bind(g=3.0) @ (u, v)

    p, q = (np.zeros_like(m) for m in made)
    each(*u, p, q)
    np.testing.assert_array_equal(p[1], (one.bind(g=3.0) @ [x[1] for x in u])[0])


# -- tables --------------------------------------------------------------------------------------


def shifted(n: int) -> Any:
    """Return an interpolation for a side of n points: the mean of a point and the next."""
    first = np.minimum(np.arange(n), n - 2)[None]
    return bc.interpolate(first, np.full((1, n, 2), 0.5))


def test_tables_fit_the_length_of_each_side() -> None:
    """Sides of other lengths have other tables, of rules that name their block or their axis."""
    grid = bc.Grid([(3, 4), (5, 4), (3, 6)], links=corner())
    wide = tuple(kind.grow(1) for kind in grid.kinds)
    with pytest.raises(ShapeError) as caught:
        bc.fill(wide, shifted(4) @ bc.linked())
    assert caught.value.message == (
        "interpolate: the tables have 4 points, block 0, axis 1 high has 3."
    )
    rules = shifted(4) @ bc.linked(axis=0), shifted(3) @ bc.linked(axis=1), bc.zero()
    u = fields((1, 3, 4), (1, 5, 4), (1, 3, 6))
    a, b, c = bc.fill(wide, *rules) @ u

    def mean(line: Array) -> Array:
        between = (line[:-1] + line[1:]) / 2
        return np.append(between, between[-1])

    np.testing.assert_allclose(a[0, -1, 1:-1], mean(u[1][0, 0]))
    np.testing.assert_allclose(a[0, 1:-1, -1], mean(u[2][0, :, 0]))
    np.testing.assert_allclose(b[0, 0, 1:-1], mean(u[0][0, -1]))
    np.testing.assert_allclose(c[0, 1:-1, 0], mean(u[0][0, :, -1]))


def test_rotations() -> None:
    grid = bc.Grid([(3, 4), (3, 2)], links=bc.topologies.glued())
    wide = tuple(kind.grow(1).vector(2) for kind in grid.kinds)
    T = np.random.default_rng(1).uniform(-1, 1, (2, 4, 2, 2, 1, 3))
    made = bc.fill(wide, bc.transform_vector(T) @ bc.linked(), bc.zero())
    u = fields((2, 1, 3, 4), (2, 1, 3, 2))
    a, b = made @ u
    here = np.einsum("cdt,dt->ct", T[0, 3, :, :, 0], u[1][:, 0, :, 0])
    there = np.einsum("cdt,dt->ct", T[1, 2, :, :, 0], u[0][:, 0, :, -1])
    np.testing.assert_allclose(a[:, 0, 1:-1, -1], here)
    np.testing.assert_allclose(b[:, 0, 1:-1, 0], there)
    found = made.linear @ tuple(component for field in u for component in field)
    for one, other in zip(found, (*a, *b), strict=True):
        np.testing.assert_allclose(one, other)


def test_sparse_rows_are_numbered_kind_by_kind() -> None:
    """Blocks 0 and 2 are of one kind, and before block 1."""
    rng = np.random.default_rng(0)
    grid = bc.Grid([(2, 3), (1, 2), (2, 3)])
    inner, outer = [(2, 2, 3), (1, 1, 2)], [(2, 4, 5), (1, 3, 4)]
    matrix, offset = rng.uniform(-1, 1, (52, 14)), rng.uniform(-1, 1, 52)
    plan = bc.fill(tuple(kind.grow(1) for kind in grid.kinds), bc.from_matrix(matrix, offset))
    u = fields(*inner)
    flat = matrix @ np.concatenate([a.ravel() for a in u]) + offset
    made = plan @ u
    for one, own, part, shape in zip(made, u, np.split(flat, [40]), outer, strict=True):
        wanted = part.reshape(shape)
        wanted[:, 1:-1, 1:-1] = own
        np.testing.assert_allclose(one, wanted, atol=1e-14)
    dense = plan.to_scipy() @ np.concatenate([a.ravel() for a in u])
    ghosts = np.concatenate([(a - b).ravel() for a, b in zip(made, plan.offset, strict=True)])
    np.testing.assert_allclose(dense, ghosts, atol=1e-14)


def test_products_where_kinds_have_as_many_points_with_ghosts() -> None:
    """A block matrix then has the columns of a vector, and fits the fill all the same."""
    grid = bc.Grid([(3,), (2,)], links=bc.topologies.bricks(2))
    wide = tuple(k.grow((1, w)) for k, w in zip(grid.kinds, (1, 2), strict=True))
    steps = [
        ssr.stencil(k, g, {(0, 0): -1.0, (0, 1): 1.0})
        for k, g in zip(grid.kinds, wide, strict=True)
    ]
    fill = bc.fill(wide, bc.linked(), bc.extrapolate(2))
    both = ssr.block([[steps[0], None], [None, steps[1]]]) @ fill
    u = fields((1, 3), (1, 2))
    wanted = [step @ made for step, made in zip(steps, fill @ tuple(u), strict=True)]
    for found, value in zip(both @ tuple(u), wanted, strict=True):
        np.testing.assert_array_equal(found, value)
    flat = both.linear.to_scipy() @ np.concatenate([a.ravel() for a in u])
    np.testing.assert_allclose(flat, np.concatenate([a.ravel() for a in wanted]), atol=1e-15)


# -- shared points -------------------------------------------------------------------------------


@st.composite
def grids(draw: Any) -> bc.Grid:
    links = draw(linked())
    _, found, _ = draw(shaped(links, False, 4 if links.dims < 3 else 2))
    return bc.Grid(found, links=links)


def synchronized(of: Synchronize, given: list[Array]) -> list[Array]:
    made = [a.copy() for a in given]
    evaluate(list(of.means.pieces({})), made)
    return made


def by_oracle(of: Synchronize, given: list[Array]) -> list[Array]:
    flat = of.to_scipy() @ np.concatenate([a.ravel() for a in given])
    ends = np.cumsum([a.size for a in given])[:-1]
    return [a.reshape(f.shape) for a, f in zip(np.split(flat, ends), given, strict=True)]


@examples(40)
@given(grids(), st.booleans())
def test_shared_nodes(grid: bc.Grid, weighted: bool) -> None:
    weights = 1.0 + np.arange(grid.count) if weighted else None
    s = bc.synchronize(*(kind.nodes() for kind in grid.kinds), weights=weights)  # type: ignore[arg-type]
    u = fields(*(p.extent({}) for p in s.means.points))
    made = synchronized(s, u)
    for a, b in zip(made, by_oracle(s, u), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)
    by_block = {
        b: f[at] for k, f in zip(grid.kinds, made, strict=True) for at, b in enumerate(k.blocks)
    }
    old = {b: f[at] for k, f in zip(grid.kinds, u, strict=True) for at, b in enumerate(k.blocks)}
    lengths: Any = grid.shapes
    for members in grid.links.copies(lengths, (True,) * grid.ndim):
        values = [by_block[b][index] for b, index in members]
        counts = np.array([1.0 if weights is None else weights[b] for b, _ in members])
        mean = counts @ [old[b][index] for b, index in members] / counts.sum()
        np.testing.assert_allclose(values, mean, rtol=1e-12, atol=1e-13)


@examples(40)
@given(grids())
def test_shared_fluxes(grid: bc.Grid) -> None:
    if grid.ndim == 1:
        return
    s = bc.synchronize(*(kind.faces(a) for kind in grid.kinds for a in range(grid.ndim)))
    u = fields(*(p.extent({}) for p in s.means.points))
    for a, b in zip(synchronized(s, u), by_oracle(s, u), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)


def test_what_leaves_a_block_enters_the_next() -> None:
    link = Link(Side(0, 0, "high"), Side(1, 1, "high"), (0,), (True,))
    a, b = bc.Grid([(3, 4), (4, 2)], links=[link]).kinds
    s = bc.synchronize(a.faces(0), a.faces(1), b.faces(0), b.faces(1))
    assert repr(s).startswith("<Synchronize Space(1, 4, 4, faces of axis 0), ")
    u = fields((1, 4, 4), (1, 3, 5), (1, 5, 2), (1, 4, 3))
    f, g, h, k = s @ tuple(u)
    np.testing.assert_array_equal(f[0, -1], -k[0, ::-1, -1])
    np.testing.assert_allclose(f[0, -1], (u[0][0, -1] - u[3][0, ::-1, -1]) / 2)
    np.testing.assert_array_equal(f[0, :-1], u[0][0, :-1])
    plain.check_same(g, u[1])
    plain.check_same(h, u[2])


def test_shared_vectors() -> None:
    grid = bc.Grid([(2, 3), (2, 2)], links=bc.topologies.glued())
    a, b = (kind.nodes() for kind in grid.kinds)
    rng = np.random.default_rng(3)
    basis = [rng.uniform(-1, 1, (2, 2, 1, *p.extent({})[1:])) for p in (a, b)]
    s = bc.synchronize(a.vector(2), b.vector(2), basis=basis)
    u = fields((2, 1, 3, 4), (2, 1, 3, 3))
    made = s @ tuple(u)
    space = [np.einsum("mcbji,cbji->mbji", e, v) for e, v in zip(basis, made, strict=True)]
    before = [np.einsum("mcbji,cbji->mbji", e, v) for e, v in zip(basis, u, strict=True)]
    mean = (before[0][:, 0, :, -1] + before[1][:, 0, :, 0]) / 2
    np.testing.assert_allclose(space[0][:, 0, :, -1], mean)
    np.testing.assert_allclose(space[1][:, 0, :, 0], mean)
    flat = s.to_scipy() @ np.concatenate([v.ravel() for v in u])
    np.testing.assert_allclose(flat, np.concatenate([v.ravel() for v in made]), atol=1e-13)
    with pytest.raises(ShapeError, match="1 bases are given for 2 fields"):
        bc.synchronize(a.vector(2), b.vector(2), basis=basis[:1])


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (3, 4, 2, 5), (9, 20, 12, 2)])
def test_one_kernel_synchronises_all_sizes(sizes: Any) -> None:
    s = bc.synchronize(*(kind.nodes() for kind in L.kinds))
    names = dict(zip(("ny", "nx", "my", "mx"), sizes, strict=True))
    u = fields(*(p.extent(names) for p in s.means.points))
    wanted = [a.copy() for a in u]
    evaluate(list(s.means.pieces(names)), wanted)
    arrays = [a.copy() for a in u]
    plain.run(s._program, *arrays)
    for a, b, c in zip(arrays, s @ tuple(u), wanted, strict=True):
        plain.check_same(a, c)
        plain.check_same(b, c)


# -- pictures and words --------------------------------------------------------------------------


def test_explain_and_draw_name_the_blocks_of_the_grid() -> None:
    grid = bc.Grid([(3, 4), (2, 4), (3, 5)], links=corner())
    made = bc.fill(tuple(kind.grow(1) for kind in grid.kinds), bc.linked(), bc.zero())
    text = made.explain()
    assert "  block 0, j in [0, 2], i = 4: u[block 2, j, i - 4]   [linked()]\n" in text
    assert "  block 2, j in [0, 2], i = -1: u[block 0, j, i + 4]   [linked()]\n" in text
    ax = made.draw()
    ends = {tuple(t.get_position()) for t in ax.texts if t.get_text() in ("0", "1", "2")}
    assert len(ends) == 3
    assert max(x for x, _ in ends) == pytest.approx(0.1 + 4 + 3)  # as wide as blocks 0 and 1


# -- mistakes ------------------------------------------------------------------------------------

a, b = bc.Grid([(3, 4), (3, 2)], links=bc.topologies.glued()).kinds
pair = a.grow(1), b.grow(1)
good = bc.fill(pair, bc.linked(), bc.zero())
MISTAKES: dict[str, tuple[Any, type[Error], str]] = {
    "cells": (
        lambda: a.grid.cells,
        SpaceError,
        "The blocks of the grid have 2 shapes, and no common space.",
    ),
    "lengths": (
        lambda: bc.Grid([(3, 4), (4, 4)], links=bc.topologies.glued()),
        LinkError,
        "Linked sides have different lengths.",
    ),
    "lengths in symbols": (
        lambda: bc.Grid([(ny, 4), (ny + 1, 4)], links=bc.topologies.glued()),
        LinkError,
        "Linked sides have different lengths.",
    ),
    "lengths that may differ": (
        lambda: bc.Grid([(ny, 4), (my, 4)], links=bc.topologies.glued()),
        LinkError,
        "Linked sides are not known to have the same length.",
    ),
    "axes": (
        lambda: bc.Grid([(3, 4), (3,)]),
        ArgumentError,
        "Block 1 has 1 dimensions, block 0 2.",
    ),
    "one kind alone": (
        lambda: bc.fill(pair[0], bc.linked()),
        SpaceError,
        "A grid of 2 kinds of blocks has a field for each, in their order.",
    ),
    "another order": (
        lambda: bc.fill(pair[::-1], bc.linked()),
        SpaceError,
        "A grid of 2 kinds of blocks has a field for each, in their order.",
    ),
    "another grid": (
        lambda: bc.fill((pair[0], bc.Grid([(3, 4), (3, 2)]).kinds[1].grow(1)), bc.linked()),
        SpaceError,
        "Several spaces must be those of one grid.",
    ),
    "no space": (
        lambda: bc.fill((pair[0], 3), bc.linked()),  # type: ignore[arg-type]
        ArgumentError,
        "bc.fill takes a space with ghosts first, not a tuple of GridSpace, int.",
    ),
    "components": (
        lambda: bc.fill((pair[0], pair[1].vector(2)), bc.linked()),
        SpaceError,
        "The fields of a fill have the same number of components: ",
    ),
    "owned": (
        lambda: bc.fill(pair, bc.linked(), owned=a),
        SpaceError,
        "1 spaces of owned points are given for 2.",
    ),
    "block": (
        lambda: bc.fill(pair, bc.linked(), bc.zero(block=2)),
        ArgumentError,
        "zero(block=2): there are 2 blocks.",
    ),
    "no linked side": (
        lambda: bc.fill(pair, bc.linked(axis=0)),
        ArgumentError,
        "linked(axis=0) applies to no side: no such side is linked.",
    ),
    "few points": (
        lambda: bc.fill(pair, bc.linked(), bc.extrapolate(3, axis=1)),
        HaloError,
        "extrapolate(3, axis=1) needs 3 points along axis 1; block 1 has 2.",
    ),
    "matrices in another order": (
        lambda: ssr.block([[None, lap(a)], [lap(b), None]][::-1]) @ bc.fill(pair, bc.linked()),
        SpaceError,
        "[[stencil, None], [None, stencil]] @ fill(linked())",
    ),
    "a field alone": (
        lambda: good @ np.ones((1, 3, 4)),
        ArgumentError,
        "fill(linked(), zero()) is applied to a tuple of 2 fields.",
    ),
    "axes of an array": (
        lambda: good @ (np.ones((3, 4)), np.ones((1, 3, 2))),
        ShapeError,
        "fill(linked(), zero()) is applied to an array of 2 axes.",
    ),
    "shape of an array": (
        lambda: good @ (np.ones((1, 3, 4)), np.ones((1, 3, 3))),
        ShapeError,
        "Array 'u1' has length 3 along axis 2 where 2 is needed.",
    ),
    "matrix": (
        lambda: lap(a) @ good,
        SpaceError,
        "stencil @ fill(linked(), zero()): the columns of the first are not the rows of the",
    ),
    "linear": (
        lambda: fill.linear,
        UnsupportedError,
        "The linear part of fill(linked(), dirichlet(0.0)) is not staged.",
    ),
    "nodes of one kind": (
        lambda: bc.synchronize(a.nodes()),
        SpaceError,
        "Several spaces are the nodes of each kind of blocks, or the faces normal to each axis,",
    ),
    "faces in another order": (
        lambda: bc.synchronize(a.faces(0), b.faces(0), a.faces(1), b.faces(1)),
        SpaceError,
        "Several spaces are the nodes of each kind of blocks, or the faces normal to each axis,",
    ),
    "vectors of shared points": (
        lambda: bc.synchronize(a.nodes().vector(2), b.nodes()),
        SpaceError,
        "The vectors of all blocks have the same number of components.",
    ),
}  # fmt: skip


def lap(cells: bc.GridSpace) -> ssr.Matrix:
    return ssr.stencil(cells, cells.grow(1), FIVE)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    act, kind, message = MISTAKES[name]
    with pytest.raises(Error) as caught:
        act()
    assert type(caught.value) is kind
    assert str(caught.value).startswith(message), str(caught.value)


def reading(made: Any) -> Any:
    """Return a body that reads all ghosts beyond sides."""

    def step(u: Any, v: Any) -> None:
        p, q = made @ (u, v)
        first, second = (space.owned for space in made.rows)
        v[:] = lap(second) @ q
        u[:] = lap(first) @ p

    return step


def test_a_program_that_reads_what_nothing_defines() -> None:
    """The block is named by its number in the grid, in whatever field it is."""
    grid = bc.Grid([(3, 4), (3, 2), (3, 4)], links=bc.topologies.bricks(1, 3))
    first, second = grid.kinds
    wide = first.grow(1), second.grow(1)
    walls = bc.linked(), bc.zero(axis=0), bc.zero(axis=1, block=2, side="high")
    none = bc.fill(wide, *walls)
    with pytest.raises(UndefinedGhostError, match=r"block 0, j in \[0, 2\], i = -1"):
        ssr.program(u=first, v=second)(reading(none))
    both = bc.fill(wide, *walls, bc.zero(axis=1), bc.zero(axis=1, block=1, side="low"))
    with pytest.raises(AmbiguousGhostError, match=r"block 1, j in \[0, 2\], i = -1"):
        ssr.program(u=first, v=second)(reading(both))


def test_ghosts_without_a_definition_are_nan() -> None:
    u, v = bc.fill(pair, bc.linked()) @ fields((1, 3, 4), (1, 3, 2))
    assert np.isnan(u[0, [0, -1]]).all()
    assert np.isnan(v[0, 1:-1, -1]).all()
    assert np.isfinite(u[0, 1:-1, 1:]).all()
    assert np.isfinite(v[0, 1:-1, :-1]).all()
