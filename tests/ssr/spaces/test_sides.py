"""Sides of spaces: named by axis and end, in assignments, matrices, reductions and restrictions."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr

from .. import plain

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
west, east = cells.side(1, "low"), cells.side(-1, "high")
south, north = cells.side(-2, "low"), cells.side(0, "high")
SIDES = {"west": west, "east": east, "south": south, "north": north}
PLACES = {"west": np.s_[:, :1], "east": np.s_[:, -1:], "south": np.s_[:1], "north": np.s_[-1:]}
SHAPES = (1, 1), (1, 4), (3, 1), (5, 7)
STAR = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 2.0, (1, 0): 3.0, (-1, 0): 4.0}
A = ssr.stencil(cells, cells, STAR, outside="zero")


def data(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape)


def dense(matrix: Any, shape: tuple[int, int]) -> Any:
    return matrix.bind(ny=shape[0], nx=shape[1]).to_scipy().toarray()


# -- names ---------------------------------------------------------------------------------------


def test_sides_are_spaces() -> None:
    assert west == ssr.Space(ny, (0, 1))
    assert east == ssr.Space(ny, (nx - 1, nx))
    assert north == ssr.Space((ny - 1, ny), nx)
    assert repr(east) == "Space(ny, nx - 1:nx)"
    assert east.sizes == ("nx", "ny")
    assert east.shape == (ny, 1)
    assert east.lower[0] == 0
    assert str(east.lower[1]) == "nx - 1"
    assert east.box({"ny": 2, "nx": 5}) == ((0, 2), (4, 5))
    assert list(east.points({"ny": 2, "nx": 3})) == [(0, 2), (1, 2)]
    assert ssr.Space(4, 6).side(1, "high", 2) == ssr.Space(4, (4, 6))
    assert cells.vector(3).side(1, "low") == west.vector(3)


def test_ghosts_faces_and_nodes_have_sides() -> None:
    wide = cells.grow(1, 2)
    assert wide.side(1, "low", 2) == ssr.Space((-1, ny + 1), (-2, 0))
    assert wide.side(1, "high", 2) == ssr.Space((-1, ny + 1), (nx, nx + 2))
    faces = cells.faces(1)
    assert faces.side(1, "high").location == "faces of axis 1"
    assert faces.side(1, "high").box({"ny": 2, "nx": 5}) == ((0, 2), (5, 6))
    assert cells.nodes().side(0, "high").box({"ny": 2, "nx": 5}) == ((2, 3), (0, 6))


def test_what_is_known_of_sizes_stays() -> None:
    m = ssr.size("m", at_least=3)
    two = ssr.Space(ny, m).side(1, "high", 2)
    assert two.data.least == (("m", 3),)
    assert ssr.Space(ny, (m - 2, m)) == two
    with pytest.raises(ssr.errors.ShapeError, match="declared as at least 3"):
        two.extent({"ny": 1, "m": 2})


def test_extents_with_floors() -> None:
    n = ssr.size("n")
    points = ssr.Space(n // 2 + 1)
    last = points.side(0, "high")

    @ssr.program(u=points, v=ssr.Space(n))
    def mark(u: Any, v: Any) -> None:
        u[last] = 7.0
        v[:] = 1.0

    for size in 1, 2, 5, 6:
        u, v = np.zeros(size // 2 + 1), np.zeros(size)
        mark(u, v)
        np.testing.assert_array_equal(u, [0.0] * (size // 2) + [7.0])


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: cells.side(1, "high", 2), ssr.errors.SpaceError, "may have fewer"),
        (lambda: ssr.Space(3, 3).side(0, "low", 4), ssr.errors.SpaceError, "4 points along axis 0"),
        (
            lambda: cells.side(2, "low"),
            ssr.errors.ArgumentError,
            "There is no axis 2 of a space with 2 axes",
        ),
        (lambda: cells.side(0, "west"), ssr.errors.ArgumentError, "not 'west'"),  # type: ignore[arg-type]
        (lambda: cells.side(0, "low", 0), ssr.errors.ArgumentError, "positive integer, not 0"),
        (lambda: cells.side(0, "low", 1.5), ssr.errors.ArgumentError, "not 1.5"),  # type: ignore[arg-type]
        (lambda: bc.Grid([(4, 4)]).cells.side(2, "low"), ssr.errors.ArgumentError, "no axis 2"),
    ],
)
def test_what_is_no_side(make: Any, error: type[ssr.Error], match: str) -> None:
    with pytest.raises(error, match=match):
        make()


def test_a_side_that_is_wider_than_the_axis_is_refused_with_the_way() -> None:
    with pytest.raises(ssr.errors.SpaceError) as caught:
        cells.side(1, "high", 2)
    assert "at_least=2" in str(caught.value)
    m = ssr.size("m", at_least=2)
    assert ssr.Space(ny, m).side(1, "high", 2).shape == (ny, 2)


# -- programs ------------------------------------------------------------------------------------


@ssr.program(u=cells, v=cells)
def around(u: Any, v: Any) -> Any:
    """Change all sides, one after the other, and return numbers of two of them."""
    v[:] = A @ u
    v[west] = 2.0 * u[west] + 1.0
    v[east] = A[east, :] @ u
    v[north] = v[north] - u[north]
    v[south] = A[south, :] @ v
    return ssr.sum(v[east]), ssr.max(u[north])


def expected(u: Any) -> tuple[Any, float, float]:
    full = dense(A, u.shape)
    number = np.arange(u.size).reshape(u.shape)

    def rows(side: str, x: Any) -> Any:
        return (full[number[PLACES[side]].ravel()] @ x.ravel()).reshape(x[PLACES[side]].shape)

    v = (full @ u.ravel()).reshape(u.shape)
    v[PLACES["west"]] = 2.0 * u[PLACES["west"]] + 1.0
    v[PLACES["east"]] = rows("east", u)
    v[PLACES["north"]] -= u[PLACES["north"]]
    v[PLACES["south"]] = rows("south", v)
    return v, v[PLACES["east"]].sum(), u[PLACES["north"]].max()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("run", [ssr.Program.__call__, plain.run], ids=["compiled", "plain"])
def test_assignments(shape: tuple[int, int], run: Any) -> None:
    u, v = data(*shape), np.zeros(shape)
    found = run(around, u, v)
    wanted = expected(u)
    np.testing.assert_allclose(v, wanted[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found, wanted[1:], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("options", [{"fuse": False}, {"debug": True}, {"exact": True}])
def test_assignments_with_options(options: dict[str, bool]) -> None:
    u, v = data(4, 6), np.zeros((4, 6))
    plain.variant(around, **options)(u, v)
    np.testing.assert_allclose(v, expected(u)[0], rtol=1e-12, atol=1e-13)


def test_the_size_that_a_low_side_does_not_have_is_positive() -> None:
    """The part is written without `side`; the symbol of the axis is dropped in it."""
    low = ssr.Space(ny, (0, 1))

    @ssr.program(u=cells)
    def double(u: Any) -> None:
        u[low] = 2.0 * u[low]

    u = np.ones((3, 5))
    double(u)
    np.testing.assert_array_equal(u, [[2.0, 1, 1, 1, 1]] * 3)


def test_sizes_as_large_as_declared_hold_dropped_points() -> None:
    m = ssr.size("m", at_least=3)
    points = ssr.Space(ny, m)
    first = ssr.Space(ny, (0, 3))

    @ssr.program(u=points, b=first)
    def copy(u: Any, b: Any) -> None:
        b[:] = u[first]
        u[points.side(1, "high", 3)] = 1.0

    u, b = data(2, 4), np.zeros((2, 3))
    kept = u.copy()
    copy(u, b)
    np.testing.assert_array_equal(b, kept[:, :3])
    np.testing.assert_array_equal(u[:, 1:], 1.0)
    more = ssr.Space(ny, (0, 4))
    with pytest.raises(ssr.errors.SpaceError, match="not a part of the field"):

        @ssr.program(u=points)
        def beyond(u: Any) -> None:
            u[more] = 0.0


def test_vectors() -> None:
    pair = cells.vector(2)

    @ssr.program(u=pair, f=east.vector(2))
    def inflow(u: Any, f: Any) -> None:
        u[west] = [1.0, -1.0] * u[west]
        u[east] = f
        u[0][north] = 5.0

    u, f = data(2, 3, 4), data(2, 3, 1)
    wanted = u.copy()
    wanted[1, :, :1] *= -1.0
    wanted[:, :, -1:] = f
    wanted[0, -1:] = 5.0
    inflow(u, f)
    np.testing.assert_array_equal(u, wanted)


def test_staggered_sides() -> None:
    faces = cells.faces(1)

    @ssr.program(q=faces, u=cells)
    def walls(q: Any, u: Any) -> None:
        q[faces.side(1, "low")] = 0.0
        q[faces.side(1, "high")] = 1.0
        u[:] = ssr.difference(cells, faces, 1) @ q

    q, u = data(2, 5), np.zeros((2, 4))
    wanted = q.copy()
    wanted[:, 0], wanted[:, -1] = 0.0, 1.0
    walls(q, u)
    np.testing.assert_array_equal(q, wanted)
    np.testing.assert_allclose(u, np.diff(wanted), rtol=1e-14, atol=1e-15)


# -- matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("shape", SHAPES)
def test_restrictions(side: str, shape: tuple[int, int]) -> None:
    full, place = dense(A, shape), np.arange(shape[0] * shape[1]).reshape(shape)[PLACES[side]]
    rows, cols = A[SIDES[side], :], A[:, SIDES[side]]
    np.testing.assert_array_equal(dense(rows, shape), full[place.ravel()])
    np.testing.assert_array_equal(dense(cols, shape), full[:, place.ravel()])
    np.testing.assert_array_equal(dense(cols.T @ rows.T, shape), dense((rows @ cols).T, shape))
    x = data(*shape)
    made = rows.bind(nx=shape[1], ny=shape[0]) @ x
    np.testing.assert_allclose(
        made.ravel(), full[place.ravel()] @ x.ravel(), rtol=1e-13, atol=1e-14
    )
    made = cols.bind(nx=shape[1], ny=shape[0]) @ x[PLACES[side]]
    wanted = full[:, place.ravel()] @ x[PLACES[side]].ravel()
    np.testing.assert_allclose(made.ravel(), wanted, rtol=1e-13, atol=1e-14)


def test_matrices_between_sides() -> None:
    @ssr.matrix(rows=west, cols=east)
    def across(j: Any, i: Any) -> Any:
        yield (j, i + nx - 1), 2.0

    @ssr.program(u=cells)
    def wrap(u: Any) -> None:
        u[west] = across @ u[east]

    u = data(3, 4)
    wanted = u.copy()
    wanted[:, :1] = 2.0 * u[:, -1:]
    wrap(u)
    np.testing.assert_array_equal(u, wanted)
    np.testing.assert_array_equal(dense(across, (3, 4)), 2.0 * np.eye(3))
    np.testing.assert_array_equal(dense(across.T @ across, (3, 4)), 4.0 * np.eye(3))


def test_points_inside_are_read_through_a_matrix() -> None:
    m = ssr.size("m", at_least=2)
    points = ssr.Space(ny, m)
    end = points.side(1, "high")
    inside = ssr.stencil(end, points, {(0, -1): 1.0})

    @ssr.program(u=points)
    def flat(u: Any) -> None:
        u[end] = inside @ u

    u = data(3, 4)
    flat(u)
    np.testing.assert_array_equal(u[:, -1], u[:, -2])
    short = ssr.stencil(end, end.grow(0, (1, 0)), {(0, -1): 1.0})
    assert short.bind(m=4, ny=3).to_scipy().shape == (3, 6)


def test_stored_matrices() -> None:
    shape = 3, 5
    stored = scipy.sparse.csr_array(data(3, 15))
    S = ssr.from_scipy(stored, rows=east, cols=cells)

    @ssr.program(u=cells, v=cells)
    def apply(u: Any, v: Any) -> None:
        v[:] = 0.0
        v[east] = S @ u

    u, v = data(*shape), np.zeros(shape)
    apply(u, v)
    np.testing.assert_allclose(v[:, -1], stored @ u.ravel(), rtol=1e-12, atol=1e-14)


def test_solves_and_sweeps() -> None:
    line = {(0, 0): 4.0, (-1, 0): -1.0, (1, 0): -1.5}
    T = ssr.stencil(east, east, line, outside="zero")

    @ssr.matrix(rows=east, cols=east)
    def ring(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        yield ((j + 1, i) if j < ny - 1 else (0, i)), -1.0

    @ssr.program(u=cells, v=cells, w=cells)
    def solve(u: Any, v: Any, w: Any) -> None:
        v[east] = T.tril().solve(u[east] - T.triu(1) @ v[east])
        w[east] = T.solve(u[east])
        u[east] = ring.solve(u[east])

    u, v, w = data(4, 3), np.zeros((4, 3)), np.zeros((4, 3))
    given = u[:, -1].copy()
    solve(u, v, w)
    matrix = dense(T, (4, 3))
    np.testing.assert_allclose(np.tril(matrix) @ v[:, -1], given, rtol=1e-12)
    np.testing.assert_allclose(matrix @ w[:, -1], given, rtol=1e-12)
    np.testing.assert_allclose(dense(ring, (4, 3)) @ u[:, -1], given, rtol=1e-12)
    assert not v[:, :-1].any()


def test_solves_across_a_wide_side() -> None:
    m = ssr.size("m", at_least=4)
    points = ssr.Space(ny, m)
    end = points.side(1, "high", 3)

    @ssr.matrix(rows=end, cols=end)
    def ring(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        yield (j, i + 1 if i < m - 1 else m - 3), -1.0

    @ssr.program(u=points)
    def solve(u: Any) -> None:
        u[end] = ring.solve(u[end])

    u = data(2, 5)
    given = u[:, -3:].copy()
    solve(u)
    wanted = np.linalg.solve(ring.bind(ny=2, m=5).to_scipy().toarray(), given.ravel())
    np.testing.assert_allclose(u[:, -3:].ravel(), wanted, rtol=1e-12)


def test_data_on_a_side() -> None:
    @ssr.matrix(rows=east, cols=cells, k=east)
    def weighted(j: Any, i: Any, *, k: Any) -> Any:
        yield (j, i), k[j, i]

    k, x = data(3, 1), data(3, 4)
    np.testing.assert_allclose(weighted.bind(k=k, ny=3, nx=4) @ x, k * x[:, -1:], rtol=1e-15)
    full = weighted.bind(k=k, ny=3, nx=4).to_scipy().toarray()
    np.testing.assert_array_equal(full @ x.ravel(), (k * x[:, -1:]).ravel())


def test_fills() -> None:
    """Ghosts have sides of their own, and rows next to a side are folded with the boundary."""
    wide = cells.grow(1)
    fill = bc.fill(wide, bc.periodic(axis=0), bc.dirichlet(1.0, axis=1))
    star = ssr.stencil(cells, wide, STAR)
    ends = star[east, :] @ fill
    x = data(4, 5)
    padded = np.pad(x, ((1, 1), (0, 0)), "wrap")
    padded = np.hstack([2.0 - padded[:, :1], padded, 2.0 - padded[:, -1:]])
    wanted = -4.0 * padded[1:-1, 5:6] + padded[1:-1, 6:] + 2.0 * padded[1:-1, 4:5]
    wanted += 3.0 * padded[2:, 5:6] + 4.0 * padded[:-2, 5:6]

    @ssr.program(v=cells, u=cells, g=wide.side(1, "high"))
    def apply(v: Any, u: Any, g: Any) -> None:
        v[east] = ends @ u
        g[:] = (fill @ u)[wide.side(1, "high")]

    v, g = np.zeros((4, 5)), np.zeros((6, 1))
    apply(v, x, g)
    np.testing.assert_allclose(v[:, -1:], wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(g[1:-1], padded[1:-1, -1:], rtol=1e-14, atol=1e-15)


def test_a_field_on_a_high_side_alone_needs_its_sizes() -> None:
    @ssr.program(b=east)
    def clear(b: Any) -> None:
        b[:] = 0.0

    with pytest.raises(ssr.errors.UnboundError, match="nx"):
        clear(np.ones((3, 1)))


def test_blocks_of_a_grid_have_sides() -> None:
    grid = bc.Grid(2 * [(3, 4)], links=bc.topologies.bricks(1, 2))
    side = grid.cells.side(-1, "high")
    assert side == ssr.Space(2, 3, (3, 4))
    assert side.blocks == (0, 1)

    @ssr.program(u=grid.cells)
    def mark(u: Any) -> None:
        u[side] = 1.0

    u = np.zeros((2, 3, 4))
    mark(u)
    wanted = np.zeros((2, 3, 4))
    wanted[:, :, -1] = 1.0
    np.testing.assert_array_equal(u, wanted)
