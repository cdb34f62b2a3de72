"""Synchronization against the classes of equal points, on all kinds of links."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from apps.swe import geometry
from boundary.grid.link import Link, Side
from boundary.synchronization.synchronize import SharedPoints, Synchronize
from ssr.errors import ArgumentError, ShapeError, SpaceError

from ...random_examples import examples
from ...ssr import plain
from ..cases import HELPERS, cubic, linked
from ..evaluate_pieces import evaluate
from ..walker import Array


def evaluated(of: Synchronize, fields: list[Array], sizes: Any = None) -> list[Array]:
    """Return synchronized fields by the pieces, which are not compiled."""
    made = [f.copy() for f in fields]
    parts = list(of.means.pieces(sizes or {}))
    evaluate(parts, made)
    return made


def by_oracle(of: Synchronize, fields: list[Array]) -> list[Array]:
    flat = of.to_scipy() @ np.concatenate([f.ravel() for f in fields])
    ends = np.cumsum([f.size for f in fields])[:-1]
    return [a.reshape(f.shape) for a, f in zip(np.split(flat, ends), fields, strict=True)]


@st.composite
def grids(draw: Any) -> bc.Grid:
    links = draw(linked())
    most = 4 if links.dims < 3 else 2
    n = draw(st.integers(1, most))
    shape = [n if cubic(links) else draw(st.integers(1, most)) for _ in range(links.dims)]
    return bc.Grid(links.count * [tuple(shape)], links=links)


def random(of: Synchronize, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, p.extent({})) for p in of.means.points]


@examples(60)
@given(grids(), st.sampled_from(["average", "owner", "weights"]))
def test_nodes(grid: bc.Grid, how: Any) -> None:
    weights = 1 + np.arange(grid.count) ** 2 if how == "weights" else None
    nodes = grid.cells.nodes()
    s = bc.synchronize(nodes, how="owner" if how == "owner" else "average", weights=weights)
    (u,) = random(s)
    (made,) = evaluated(s, [u])
    np.testing.assert_allclose(made, by_oracle(s, [u])[0], rtol=1e-13, atol=1e-14)
    P = s.to_scipy()
    assert np.abs((P @ P - P).toarray()).max(initial=0.0) < 1e-14
    shape = [n.evaluate({}) for n in nodes.data.shape[1:]]
    cells = [n - 1 for n in shape]
    for members in grid.links.copies(grid.count * [cells], (True,) * grid.links.dims):
        values = np.array([made[(b, *i)] for b, i in members])
        counts = np.ones(grid.count) if weights is None else weights
        given = np.array([counts[b] for b, _ in members])
        if grid.links.dims < 3 or not self_mapped(grid.links):
            assert (values == values[0]).all()
        if how != "owner":
            before = np.array([u[(b, *i)] for b, i in members])
            assert np.isclose(values[0], before @ given / given.sum())


def self_mapped(links: bc.Connectivity) -> bool:
    """Whether a part of a block's surface may be a copy of itself, in another order."""
    return links.dims == 3


@examples(60)
@given(grids())
def test_fluxes(grid: bc.Grid) -> None:
    s = bc.synchronize(*(grid.cells.faces(a) for a in range(grid.links.dims)))
    fields = random(s)
    if len(fields) == 1:
        return  # one dimension: faces are nodes, which have no direction
    made = evaluated(s, fields)
    for a, b in zip(made, by_oracle(s, fields), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-15)
    again = evaluated(s, made)
    for a, b in zip(made, again, strict=True):
        np.testing.assert_array_equal(a, b)
    shape = [n.evaluate({}) for n in grid.cells.data.shape[1:]]
    for link in grid.links.pairs():
        axis = link.here.axis
        staggered = tuple(a == axis for a in range(grid.links.dims))
        ranges = [range(n) for n in shape]
        edge = shape[axis] if link.here.end == "high" else 0
        ranges[axis] = range(edge, edge + 1)
        for index in np.ndindex(*map(len, ranges)):
            at = tuple(r[i] for r, i in zip(ranges, index, strict=True))
            there = link.point(at, shape, shape, staggered)
            out = outward(link.here) * made[axis][(link.here.block, *at)]
            back = outward(link.there) * made[link.there.axis][(link.there.block, *there)]
            assert out + back == 0.0


def outward(side: Side) -> float:
    return 1.0 if side.end == "high" else -1.0


@pytest.mark.parametrize("links", [bc.cubed_sphere(), bc.topologies.two_by_two(periodic=True)])
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_blocks_does_not_matter(links: bc.Connectivity, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(links.count)

    def moved(side: Side) -> Side:
        return Side(int(order[side.block]), side.axis, side.end)

    other = bc.Connectivity(
        links.dims,
        links.count,
        [Link(moved(k.here), moved(k.there), k.axes, k.flips) for k in links.links],
    )
    one, two = (bc.Grid(links.count * [(3, 3)], links=c) for c in (links, other))
    s, t = (bc.synchronize(g.cells.nodes()) for g in (one, two))
    (u,) = random(s)
    v = np.empty_like(u)
    v[order] = u
    (made,), (moved_made,) = evaluated(s, [u]), evaluated(t, [v])
    np.testing.assert_allclose(moved_made[order], made, rtol=1e-15)


def test_a_side_that_is_folded_onto_itself() -> None:
    link = Link(Side(0, 0, "low"), Side(0, 0, "low"), (1,), (True,))
    grid = bc.Grid([(2, 4)], links=[link])
    s = bc.synchronize(grid.cells.nodes())
    u = np.arange(15.0).reshape(1, 3, 5) ** 2
    (made,) = evaluated(s, [u])
    np.testing.assert_array_equal(made[0, 0], (u[0, 0] + u[0, 0, ::-1]) / 2)
    np.testing.assert_array_equal(made[0, 1:], u[0, 1:])
    owner = bc.synchronize(grid.cells.nodes(), how="owner")
    (lower,) = evaluated(owner, [u])
    np.testing.assert_array_equal(lower[0, 0], u[0, 0, [0, 1, 2, 1, 0]])
    np.testing.assert_array_equal(lower[0, 1:], u[0, 1:])
    plain.check_same(owner @ u, lower)
    flux = bc.synchronize(grid.cells.faces(0), grid.cells.faces(1), how="owner")
    with pytest.raises(ArgumentError, match="its own negative"):
        list(flux.means.pieces({}))
    f = bc.synchronize(grid.cells.faces(0), grid.cells.faces(1))
    across, along = random(f)
    made_across, made_along = evaluated(f, [across, along])
    np.testing.assert_array_equal(made_across[0, 0], (across[0, 0] - across[0, 0, ::-1]) / 2)
    np.testing.assert_array_equal(made_along, along)


def test_vectors_on_the_cubed_sphere() -> None:
    n = 4
    ends = geometry.faces(n)
    alpha, beta = np.meshgrid(ends, ends, indexing="xy")
    vectors = np.stack([geometry.basis(p, alpha, beta) for p in range(6)], axis=2)
    basis = np.moveaxis(vectors, 1, 0) / geometry.RADIUS  # (3, component, panel, j, i)
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    s = bc.synchronize(grid.cells.nodes().vector(2), basis=basis)
    u = np.random.default_rng(0).uniform(-1, 1, (2, 6, n + 1, n + 1))
    made = u.copy()
    evaluate(s.means.pieces({}), list(made))
    np.testing.assert_allclose(made.ravel(), s.to_scipy() @ u.ravel(), rtol=1e-12, atol=1e-13)
    space = np.einsum("rcpji,cpji->rpji", basis, made)
    before = np.einsum("rcpji,cpji->rpji", basis, u)
    for members in grid.links.copies(6 * [(n, n)], (True, True)):
        copies = np.array([space[(slice(None), p, *i)] for p, i in members])
        np.testing.assert_allclose(copies, np.broadcast_to(copies[0], copies.shape), atol=1e-13)
        mean = np.mean([before[(slice(None), p, *i)] for p, i in members], axis=0)
        np.testing.assert_allclose(copies[0], mean, atol=1e-13)


@pytest.mark.parametrize("links", HELPERS[:3] + HELPERS[13:14] + HELPERS[15:16])
def test_compiled_and_plain(links: bc.Connectivity) -> None:
    """Symbolic sizes: one kernel, in a program too."""
    (n,) = ssr.sizes("n")
    grid = bc.Grid(links.count * [(n,) * links.dims], links=links)
    s = bc.synchronize(grid.cells.nodes())
    for size in (1, 2, 5):
        shape = (links.count, *(size + 1,) * links.dims)
        u = np.random.default_rng(size).uniform(-1, 1, shape)
        (wanted,) = evaluated(s, [u], {"n": size})
        plain.check_same(s @ u, wanted)
        v = u.copy()
        plain.run(s._program, v)
        plain.check_same(v, wanted)
        s.in_place(u)
        plain.check_same(u, wanted)


@pytest.mark.parametrize(
    "links", [bc.topologies.bricks(1, 2), bc.topologies.bricks(1, 2, periodic=[0])]
)
def test_fluxes_of_small_blocks(links: bc.Connectivity) -> None:
    """What is done for few points is not always what is done for many; one function does both."""
    ny, nx = ssr.sizes("ny nx")
    cells = bc.Grid(links.count * [(ny, nx)], links=links).cells
    s = bc.synchronize(cells.faces(0), cells.faces(1))
    for size in (1, 1), (2, 3), (8, 1), (9, 2), (20, 3):
        sizes = dict(zip(("ny", "nx"), size, strict=True))
        rng = np.random.default_rng(1)
        fields = [rng.uniform(-1, 1, p.extent(sizes)) for p in s.means.points]
        wanted = evaluated(s, fields, sizes)
        plain.run(s._program, *fields)
        for a, b in zip(fields, wanted, strict=True):
            plain.check_same(a, b)


def test_mistakes() -> None:
    grid = bc.Grid(2 * [(2, 2)], links=bc.topologies.bricks(2, 1))
    nodes = grid.cells.nodes()
    with pytest.raises(SpaceError, match="no points that several blocks share"):
        bc.synchronize(grid.cells)
    with pytest.raises(SpaceError, match="takes spaces of a grid"):
        bc.synchronize(ssr.Space(3, 3).nodes())  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="there are 2 blocks"):
        bc.synchronize(nodes, weights=[1.0])
    with pytest.raises(ArgumentError, match="positive numbers"):
        bc.synchronize(nodes, weights=[1.0, -1.0])
    with pytest.raises(ArgumentError, match='"average" or "owner"'):
        bc.synchronize(nodes, how="mean")  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="faces normal to each axis"):
        bc.synchronize(grid.cells.faces(1), grid.cells.faces(0))
    with pytest.raises(SpaceError, match="without ghosts"):
        bc.synchronize(nodes.grow(1))
    with pytest.raises(ShapeError, match="basis has shape"):
        bc.synchronize(nodes.vector(2), basis=np.ones(3))


def bases(size: int) -> Array:
    """Return bases at the nodes of a cubed sphere, shape (3, 2, 6, *points)."""
    ends = geometry.faces(size)
    vectors = [geometry.basis(p, ends[None, :], ends[:, None]) for p in range(6)]
    return np.moveaxis(np.stack(vectors, axis=2), 1, 0) / geometry.RADIUS


def tilted(size: int) -> Any:
    """Return the same as a function of blocks and indices."""
    ends = geometry.faces(size)
    return lambda block, j, i: np.moveaxis(
        geometry.basis(block, ends[i], ends[j]) / geometry.RADIUS, 1, 0
    )


@pytest.mark.parametrize("size", [1, 3, 8])
def test_bases_of_blocks_with_symbolic_sizes(size: int) -> None:
    (n,) = ssr.sizes("n")
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    u = np.random.default_rng(size).uniform(-1, 1, (2, 6, size + 1, size + 1))
    of_array, of_function = (
        bc.synchronize(grid.cells.nodes().vector(2), basis=b(size)) for b in (bases, tilted)
    )
    made = of_array @ u
    np.testing.assert_allclose(of_function @ u, made, atol=1e-15)
    flat = of_array.bind(n=size).to_scipy() @ u.ravel()
    np.testing.assert_allclose(made.ravel(), flat, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(of_function.bind(n=size).to_scipy() @ u.ravel(), flat, atol=1e-14)


def test_components_on_shared_lines_are_made_together() -> None:
    """Lines of many points: in one pass, with the bits of sums one by one."""
    n = 12
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    s = bc.synchronize(grid.cells.nodes().vector(2), basis=bases(n))
    step = SharedPoints(s)
    assert step.form.mutual == ((0, 1, 0, 1),)
    assert not step.form.groups
    u = np.random.default_rng(3).uniform(-1, 1, (2, 6, n + 1, n + 1))
    made, slow = s @ u, u.copy()
    evaluate(s.means.pieces({}), list(slow))
    np.testing.assert_array_equal(made, slow)
    np.testing.assert_allclose(made.ravel(), s.to_scipy() @ u.ravel(), rtol=1e-12, atol=1e-13)


def test_a_basis_for_other_sizes_is_refused() -> None:
    (n,) = ssr.sizes("n")
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    s = bc.synchronize(grid.cells.nodes().vector(2), basis=bases(3))
    s @ np.zeros((2, 6, 4, 4))
    with pytest.raises(ShapeError, match=r"basis has shape .*; the blocks have \(5, 5\) points"):
        s @ np.zeros((2, 6, 5, 5))


@pytest.mark.parametrize("compiled", [False, True])
def test_weights_of_points(compiled: bool) -> None:
    """Cuts that do not meet: copies have masses 1, 1 and 2, and two and two of them 3, 1."""
    grid = bc.Grid(4 * [(2, 3)], links=bc.topologies.two_by_two())
    nodes = grid.cells.nodes()
    rng = np.random.default_rng(1)
    weights, u = rng.uniform(0.5, 2.0, (4, 3, 4)), rng.normal(size=(4, 3, 4))
    given = [weights, lambda block, j, i: weights[block, j, i]]
    made = [
        s @ u if compiled else evaluated(s, [u])[0]
        for s in (bc.synchronize(nodes, weights=w) for w in given)
    ]
    expected = u.copy()
    for members in grid.links.copies(4 * [(2, 3)], (True, True)):
        at = [(block, *index) for block, index in members]
        mean = sum(weights[a] * u[a] for a in at) / sum(weights[a] for a in at)
        for a in at:
            expected[a] = mean
    for one in made:
        np.testing.assert_allclose(one, expected, rtol=1e-14)
    s = bc.synchronize(nodes, weights=weights)
    np.testing.assert_allclose(s.to_scipy() @ u.ravel(), expected.ravel(), rtol=1e-14)


def test_weights_of_points_and_vectors() -> None:
    """Vectors are averaged by the weights in the common basis."""
    n = 3
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    rng = np.random.default_rng(2)
    weights, u = rng.uniform(0.5, 2.0, (6, 4, 4)), rng.normal(size=(2, 6, 4, 4))
    s = bc.synchronize(grid.cells.nodes().vector(2), basis=bases(n), weights=weights)
    made = s @ u
    before, after = (np.einsum("rcpji,cpji->rpji", bases(n), v) for v in (u, made))
    for members in grid.links.copies(6 * [(n, n)], (True, True)):
        at = [(block, *index) for block, index in members]
        mean = sum(weights[a] * before[:, *a] for a in at) / sum(weights[a] for a in at)
        for a in at:  # the tangential part of the mean is what a basis of two vectors can tell
            turn = np.linalg.pinv(bases(n)[:, :, *a])
            np.testing.assert_allclose(made[:, *a], turn @ mean, atol=1e-13)
    assert np.isfinite(after).all()
    np.testing.assert_allclose(s.to_scipy() @ u.ravel(), made.ravel(), atol=1e-13)


def test_numbers_of_points_that_do_not_fit() -> None:
    grid = bc.Grid(2 * [(2, 3)], links=bc.topologies.bricks(1, 2))
    nodes = grid.cells.nodes()
    for error, text, options in (
        (ShapeError, r"weights has shape \(2, 3\)", {"weights": np.ones((2, 3))}),
        (ShapeError, r"\(2, 2, 4\); the blocks have \(3, 4\)", {"weights": np.ones((2, 2, 4))}),
        (ArgumentError, "points are positive", {"weights": np.zeros((2, 3, 4))}),
        (ShapeError, "A basis is for vectors", {"basis": np.ones((2, 2, 2, 3, 4))}),
    ):
        with pytest.raises(error, match=text):
            bc.synchronize(nodes, **options)  # type: ignore[arg-type]
    for error, text, options in (
        (ArgumentError, "points are positive", {"weights": lambda b, j, i: j - 1.0}),
        (ArgumentError, "returns NaN or infinity", {"weights": lambda b, j, i: np.nan}),
        (ShapeError, "returns shape", {"weights": lambda b, j, i: np.ones(17)}),
    ):
        with pytest.raises(error, match=text):
            bc.synchronize(nodes, **options) @ np.zeros((2, 3, 4))  # type: ignore[arg-type]


def test_numbers_of_points_on_ranks() -> None:
    (n,) = ssr.sizes("n")
    grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
    nodes, rng = grid.cells.nodes(), np.random.default_rng(3)
    weights, u = rng.uniform(0.5, 2.0, (6, 6, 6)), rng.normal(size=(2, 6, 6, 6))
    s = bc.synchronize(nodes.vector(2), basis=tilted(5), weights=weights)

    @ssr.program(u=nodes.vector(2))
    def agree(u: Any) -> None:
        u[:] = s @ (2.0 * u)

    for ranks in 4, 7:
        field = bc.distribute(grid, bc.simulated_ranks(ranks), n=5).scatter(nodes.vector(2), u)
        agree(field)
        np.testing.assert_array_equal(field.gather(), s @ (2.0 * u))
