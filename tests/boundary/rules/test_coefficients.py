"""Conditions whose value, coefficients and spacing vary, against ghosts by hand."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.errors import UndefinedGhostError
from ssr.errors import ArgumentError, ShapeError, SpaceError, UnboundError, UnsupportedError
from ssr.integrate.tangent import jacobian_product

from ..parallel import ranks
from ..parallel.ranks import Parts

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
wide = cells.grow(1)
west, east = cells.side(1, "low"), cells.side(1, "high")
nine = {(j, i): 1.0 + j + 2 * i for j in (-1, 0, 1) for i in (-1, 0, 1)}
A = ssr.stencil(cells, wide, nine)
star = ssr.stencil(cells, wide, {(0, 0): 4.0, (0, 1): 1.0, (0, -1): 2.0, (1, 0): 3.0, (-1, 0): 1.0})
p = bc.parameter

N, M = 6, 7
rng = np.random.default_rng(0)
U = rng.random((N, M))
a, b, g, h = rng.uniform(0.5, 2.0, (4, N))
b[2] = a[4] = 0.0

varied = bc.fill(
    wide,
    bc.periodic(axis=0),
    bc.robin(p("a"), p("b"), p("g"), axis=1, side="low", spacing=p("h")),
    bc.robin(p("c"), 2.0, 0.5, axis=1, side="high", spacing=0.5),
)


def ghosts(u: Any, a: Any, b: Any, g: Any, h: Any) -> Any:
    """Return the ghosts of ``a u + b du/dn = g`` behind points, by the definition of the rule."""
    return (g - (a / 2 - b / h) * u) / (a / 2 + b / h)


def by_hand(u: Any, a: Any, b: Any, g: Any, h: Any, c: Any) -> Any:
    w = np.zeros((N + 2, M + 2))
    w[1:-1, 1:-1] = u
    w[1:-1, 0] = ghosts(u[:, 0], a, b, g, h)
    w[1:-1, -1] = ghosts(u[:, -1], c, 2.0, 0.5, 0.5)
    w[0], w[-1] = w[-2], w[1]
    return w


WANTED = by_hand(U, a, b, g, h, 1.5)


def functions(values: Any) -> Any:
    """Return values along a side as a function of place."""
    return lambda y, x: values[np.floor(y).astype(int) % N]


def column(values: Any) -> Any:
    return values[:, None].copy()


@pytest.mark.parametrize(
    "how",
    [
        {"a": a, "b": b, "g": g, "h": h},
        {"a": column(a), "b": b, "g": column(g), "h": column(h)},
    ],
)
def test_arrays(how: Any) -> None:
    fill = varied.bind(**how, c=1.5)
    assert np.allclose(fill @ U, WANTED, atol=1e-14)
    assert np.allclose((A @ fill) @ U, A @ WANTED, atol=1e-13)
    sized = fill.bind(ny=N, nx=M)
    dense = sized.to_scipy().toarray()
    assert np.allclose(dense @ U.ravel() + sized.offset.ravel(), WANTED.ravel())
    for matrix in fill.linear.bind(nx=M), (A @ fill).linear.bind(nx=M):
        meant = dense if matrix.rows == wide else A.bind(ny=N, nx=M).to_scipy() @ dense
        assert np.allclose(matrix.to_scipy().toarray(), meant)
        assert np.allclose(matrix.T.to_scipy().toarray(), meant.T)


def test_functions_and_arrays_given_to_rules() -> None:
    for each in (a, b, g, h), tuple(map(functions, (a, b, g, h))):
        one, two, three, four = each
        fill = bc.fill(
            wide,
            bc.periodic(axis=0),
            bc.robin(one, two, three, axis=1, side="low", spacing=four),
            bc.robin(1.5, 2.0, 0.5, axis=1, side="high", spacing=0.5),
        )
        assert np.allclose(star @ fill @ U, star @ WANTED, atol=1e-13)
        assert np.allclose(fill.bind(ny=N, nx=M).linear @ np.zeros((N, M)), 0.0)
        single = fill @ U.astype(np.float32)
        assert single.dtype == np.float32
        assert np.allclose(single[1:-1], WANTED[1:-1], atol=1e-5)


@ssr.program(y=cells, u=cells, a=west, b=cells, g=west, h=ssr.scalar, c=ssr.scalar)
def step(y: Any, u: Any, a: Any, b: Any, g: Any, h: Any, c: Any) -> Any:
    """Coefficients of all kinds: fields on the side and on all points, expressions, scalars."""
    fill = varied.bind(a=0.5 * a + 0.5 * a, b=b, g=g, h=1.0 / h, c=ssr.sqrt(c))
    y[:] = A @ (fill @ (2.0 * u))


def data() -> list[Any]:
    return [np.zeros((N, M)), U, column(a), np.repeat(column(b), M, axis=1), column(g)]


PARTS = [Parts(1), Parts(3, cut=(3, 1)), Parts(4, cut=(2, 2))]


@pytest.mark.parametrize("parts", PARTS)
def test_fields_and_scalars_of_a_program(parts: Parts) -> None:
    arrays = data()
    step(*arrays, 4.0, 2.25)
    meant = A @ by_hand(2.0 * U, a, b, g, 0.25, 1.5)
    assert np.allclose(arrays[0], meant, atol=1e-12)
    ranks.check(step, [*data(), 4.0, 2.25], cells, {"ny": N, "nx": M}, parts, compiled=True)


def test_threads() -> None:
    arrays = data()
    step(*arrays, 4.0, 2.25)
    on = bc.distribute(cells, bc.threads(2), ny=N, nx=M)
    kinds = cells, cells, west, cells, west
    fields = [on.scatter(kind, array) for kind, array in zip(kinds, data(), strict=True)]
    step(*fields, 4.0, 2.25)
    assert np.array_equal(fields[0].gather(), arrays[0])


def test_fields_of_ranks() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(3), ny=N, nx=M)
    given = {"a": on.scatter(west, column(a)), "h": on.scatter(west, column(h))}
    fill = varied.bind(**given, b=0.7, g=0.3, c=1.5)
    alike = varied.bind(a=a, h=h, b=0.7, g=0.3, c=1.5)
    u = on.scatter(cells, U)
    assert np.allclose((fill @ u).gather(), alike @ U, atol=1e-14)
    assert np.allclose(((A @ fill) @ u).gather(), (A @ alike) @ U, atol=1e-13)
    again = (A @ varied).bind(**given, b=0.7, g=0.3, c=1.5)
    assert np.array_equal((again @ u).gather(), ((A @ fill) @ u).gather())


def test_a_fill_bound_again_and_in_place() -> None:
    fill = varied.bind(a=a, b=b, g=g, h=h, c=9.0).bind(c=1.5)
    w = np.full((N + 2, M + 2), np.nan)
    w[1:-1, 1:-1] = U
    fill.ghosts(w)
    assert np.allclose(w, WANTED, atol=1e-14)
    assert np.allclose(fill.bind(b=3.0, h=0.2) @ U, by_hand(U, a, 3.0, g, 0.2, 1.5))


def test_the_linear_part_has_coefficients_as_data() -> None:
    linear = (A @ varied).linear
    assert set(linear.unbound) == {"a", "b", "h", "c"}
    values = {"a": 0.3, "b": 0.4, "h": 0.2, "c": 1.5}
    wanted = (A @ varied.bind(**values, g=0.0)).bind(ny=N, nx=M).to_scipy()
    found = linear.bind(**values, ny=N, nx=M)
    assert np.allclose(found.to_scipy().toarray(), wanted.toarray(), atol=1e-14)
    assert np.allclose(found @ U, (wanted @ U.ravel()).reshape(N, M))
    assert np.allclose(found.aslinearoperator() @ U.ravel(), wanted @ U.ravel())


@ssr.program(y=cells, z=cells, u=cells, a=west, c=ssr.scalar)
def twice(y: Any, z: Any, u: Any, a: Any, c: Any) -> Any:
    fill = varied.bind(a=a, b=1.0, g=0.0, h=0.5, c=c)
    y[:] = A @ (fill @ u)
    z[:] = (A @ fill).linear @ u


def test_the_linear_part_in_a_program() -> None:
    y, z = np.zeros((2, N, M))
    twice(y, z, U, column(a), 1.5)
    meant = A @ by_hand(U, a, 1.0, 0.0, 0.5, 1.5)
    assert np.allclose(y, meant, atol=1e-13)
    w = by_hand(np.zeros((N, M)), a, 1.0, 0.0, 0.5, 1.5)
    assert np.allclose(z, meant - A @ w, atol=1e-13)


@ssr.integrate.rhs(u=cells, a=west, c=ssr.scalar)
def heated(t: Any, u: Any, a: Any, c: Any) -> Any:
    """Return rates with coefficients that depend on the unknown and on time."""
    given = {"a": a * (1.0 + u[west] ** 2), "b": 1.0 + c, "g": u[west], "h": 1.0, "c": ssr.sin(t)}
    return A @ (varied.bind(**given) @ (u * u))


@ssr.program(du=cells, v=cells, u=cells, a=west, c=ssr.scalar, t=ssr.scalar)
def product(du: Any, v: Any, u: Any, a: Any, c: Any, t: Any) -> Any:
    du[:] = jacobian_product(heated, t, (u,), (a, c), (v,))[0]


def test_the_jacobian_is_that_of_differences() -> None:
    du, v = np.zeros((N, M)), rng.random((N, M))
    product(du, v, U, column(a), 0.7, 0.4)
    e = 1e-6
    above, below = (heated(0.4, U + s * v, column(a), 0.7) for s in (e, -e))
    assert np.allclose(du, (above - below) / (2 * e), atol=1e-7)


line = ssr.Space(ssr.size("n"))


@pytest.mark.parametrize("order", [2, 3, 4])
def test_robin_is_met_by_polynomials(order: int) -> None:
    """The outward derivative: a u + b du/dn = g for u = x^(order-1) on [0, 3 h]."""
    spacing, n = 0.4, 6
    x = (np.arange(-2, n + 2) + 0.5) * spacing
    power = order - 1
    u, (left, right) = x**power, (0.0, n * spacing)
    low = 0.7 * left**power - 1.3 * power * left ** (power - 1)
    high = 0.7 * right**power + 1.3 * power * right ** (power - 1)
    ends = [
        bc.robin(p("a"), p("b"), p(side), side=side, spacing=p("h"), order=order)
        for side in ("low", "high")
    ]
    fill = bc.fill(line.grow(2), *ends)
    numbers = fill.bind(a=0.7, b=1.3, h=spacing, low=low, high=high)
    assert np.allclose(numbers @ u[2:-2], u, atol=1e-12)

    @ssr.program(w=line.grow(2), u=line, a=ssr.scalar, b=ssr.scalar, low=ssr.scalar)
    def run(w: Any, u: Any, a: Any, b: Any, low: Any) -> None:
        w[:] = fill.bind(a=a, b=b, low=low, h=spacing, high=high) @ u

    w = np.zeros(n + 4)
    run(w, u[2:-2].copy(), 0.7, 1.3, low)
    assert np.allclose(w, u, atol=1e-12)


def test_a_face_on_the_side_and_two_layers() -> None:
    """Points on the side: ghosts two spacings from their reflections, and four."""
    faces = ssr.Space(ssr.size("n")).faces(0)
    fill = bc.fill(
        faces.grow(2), bc.robin(p("a"), 1.0, 0.5, side="low", spacing=p("h")), bc.zero(side="high")
    )
    u = np.array([1.0, 4.0, 2.0, 7.0])
    found = fill.bind(a=1.5, h=0.25) @ u
    assert np.allclose(found[1::-1], [ghosts(4.0, 1.5, 1, 0.5, 0.5), ghosts(2.0, 1.5, 1, 0.5, 1.0)])
    value = bc.fill(faces.grow(1), bc.dirichlet(p("v"), side="low", order=3), bc.zero(side="high"))
    assert np.allclose((value.bind(v=3.0) @ np.array([9.0, 4.0, 2.0]))[0], 3 * 3 - 3 * 4 + 2)


def test_blocks_with_links() -> None:
    n = ssr.size("n")
    grid = bc.Grid(2 * [(n, n)], links=bc.topologies.glued(twist=True))
    low, whole = grid.cells.side(0, "low"), grid.cells.grow(1)
    others = bc.linked(), bc.neumann(0.0, axis=0, side="high"), bc.zero(axis=1)
    fill = bc.fill(whole, bc.robin(p("a"), p("b"), 1.0, axis=0, side="low"), *others)
    rim = ssr.stencil(grid.cells, whole, {(0, 1, 0): 1.0, (0, -1, 0): 2.0, (0, 0, 1): 3.0})

    @ssr.program(y=grid.cells, u=grid.cells, a=low, b=ssr.scalar)
    def run(y: Any, u: Any, a: Any, b: Any) -> None:
        y[:] = rim @ (fill.bind(a=a, b=b) @ u)

    u, first = rng.random((2, 4, 4)), rng.random((2, 1, 4))
    y = np.zeros_like(u)
    run(y, u, first, 2.0)
    w = fill.bind(a=first, b=2.0) @ u
    assert np.allclose(w[:, 0, 1:-1], ghosts(u[:, 0], first[:, 0], 2.0, 1.0, 1.0))
    meant = w[:, 2:, 1:-1] + 2 * w[:, :-2, 1:-1] + 3 * w[:, 1:-1, 2:]
    assert np.allclose(y, meant)
    cuts = Parts(4, cut=(2, 1))
    ranks.check(run, [np.zeros_like(u), u, first, 2.0], grid.cells, {"n": 4}, cuts, compiled=True)


def test_vectors() -> None:
    two = wide.vector(2)
    conditions = bc.robin(p("a"), 1.0, [p("g"), 0.5], axis=1), bc.symmetric(axis=0, sign=[-1, 1])
    fill = bc.fill(two, *conditions)

    @ssr.program(w=two, u=cells.vector(2), a=ssr.scalar, g=ssr.scalar)
    def run(w: Any, u: Any, a: Any, g: Any) -> None:
        made = fill.bind(a=a, g=g) @ u
        w[:] = made

    u = rng.random((2, N, M))
    w = np.zeros((2, N + 2, M + 2))
    run(w, u, 0.5, 2.0)
    assert np.allclose(w, fill.bind(a=0.5, g=2.0) @ u, equal_nan=True)
    assert np.allclose(w[0, 1:-1, 0], ghosts(u[0, :, 0], 0.5, 1.0, 2.0, 1.0))
    assert np.allclose(w[1, 1:-1, -1], ghosts(u[1, :, -1], 0.5, 1.0, 0.5, 1.0))


def test_solvers_take_the_linear_part() -> None:
    """The heat equation with a coefficient of heat transfer along one side."""
    five = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
    B = ssr.stencil(cells, wide, five) @ bc.fill(
        wide,
        bc.dirichlet(1.0, axis=0, side="low"),
        bc.neumann(axis=1),
        bc.robin(np.linspace(0.1, 3.0, 8), 1.0, 0.0, axis=0, side="high"),
    )
    linear = B.linear.bind(ny=8)
    dense = linear.to_scipy()
    assert abs(dense - dense.T).max() < 1e-15
    right = -B.bind(ny=8, nx=8).offset
    found = ssr.solvers.cg(linear, right, rtol=1e-12)
    assert np.allclose(dense @ found.x.ravel(), right.ravel(), atol=1e-9)


def test_multigrid_takes_coefficients_as_data() -> None:
    five = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
    B = ssr.stencil(cells, wide, five) @ bc.fill(
        wide, bc.dirichlet(0.0, axis=1), bc.robin(p("a"), 1.0, 0.0, axis=0)
    )
    linear = B.bind(a=np.linspace(0.1, 3.0, 15)).linear.bind(ny=15)
    grids = ssr.solvers.Multigrid.galerkin(linear, 2)
    right = rng.random((15, 15))
    found = ssr.solvers.cg(linear, right, M=grids, rtol=1e-12)
    assert len(found.history) < 25
    assert np.allclose(linear @ found.x, right, atol=1e-9)


def test_functions_for_parameters() -> None:
    fill = bc.fill(wide, bc.neumann(2.0, axis=0, spacing=p("h")), bc.zero(axis=1))
    found = fill.bind(h=lambda y, x: 1.0 + x) @ np.ones((2, 3))
    assert np.allclose(found[0, 1:-1], 1.0 + 2.0 * (1.5 + np.arange(3)))


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="a and b are both zero"):
        bc.robin(np.array([1.0, 0.0]), np.array([0.0, 0.0]), 1.0)
    with pytest.raises(ArgumentError, match="a spacing is not positive"):
        bc.neumann(1.0, spacing=np.array([1.0, 0.0]))
    singular = bc.robin(a, lambda y, x: -a[np.floor(y).astype(int) % N] / 2, 1.0, axis=1)
    with pytest.raises(ArgumentError, match="is singular"):
        bc.fill(wide, singular) @ U
    with pytest.raises(ArgumentError, match="is singular"):
        varied.bind(a=a + 1.0, b=-(a + 1.0) * h / 2, g=g, h=h, c=1.0) @ U
    with pytest.raises(UnboundError, match="needs a value for 'a'"):
        varied.bind(b=1.0, g=0.0, h=1.0, c=1.0) @ U
    with pytest.raises(UnboundError, match="needs a value for 'b'"):
        varied.bind(a=1.0, g=0.0, h=1.0, c=1.0, ny=N, nx=M).to_scipy()
    with pytest.raises(ShapeError, match="has the shape"):
        varied.bind(a=np.ones((2, 2, 2)))
    with pytest.raises(ShapeError, match="one layer"):
        varied.bind(a=np.ones((N, 3)))
    with pytest.raises(ShapeError):
        varied.bind(a=np.ones(N + 1), b=1.0, g=0.0, h=1.0, c=1.0) @ U
    with pytest.raises(ArgumentError, match="finite"):
        varied.bind(a=np.array([[np.nan]]))
    with pytest.raises(ArgumentError, match="a is nan"):
        varied.bind(a=np.nan)
    with pytest.raises(ArgumentError, match=r"the spacing h is -1\.0, not positive"):
        bc.fill(wide, bc.neumann(1.0, spacing=p("h"))).bind(h=-1.0)
    with pytest.raises(SpaceError, match="does not hold all points next to the side"):

        @ssr.program(y=cells, u=cells, a=east)
        def other(y: Any, u: Any, a: Any) -> None:
            y[:] = star @ (varied.bind(a=a, b=1.0, g=0.0, h=1.0, c=1.0) @ u)

    with pytest.raises(ArgumentError, match="no parameter 'z'"):
        varied.bind(z=1.0)


def test_corners_that_are_read() -> None:
    two = bc.robin(p("a"), 1.0, 1.0, axis=0), bc.robin(p("a"), 1.0, 2.0, axis=1)
    with pytest.raises(bc.AmbiguousGhostError):
        A @ bc.fill(wide, *two)
    with pytest.raises(UndefinedGhostError):
        A @ bc.fill(wide, bc.robin(p("a"), 1.0, 1.0, axis=1))
    even = bc.fill(wide, bc.robin(p("a"), 1.0, 0.0))  # a product of two weights in any order

    @ssr.program(y=cells, u=cells, a=ssr.scalar)
    def run(y: Any, u: Any, a: Any) -> None:
        y[:] = A @ (even.bind(a=a) @ u)

    y = np.zeros((N, M))
    run(y, U, 0.6)
    assert np.allclose(y, A @ even.bind(a=0.6) @ U, atol=1e-14)
    run(y[:1, :1].copy(), U[:1, :1].copy(), 0.6)


def test_functions_beside_values_of_a_program() -> None:
    fill = bc.fill(
        wide,
        bc.robin(p("a"), lambda y, x: 1.0 + y, lambda y, x: ssr.sin(y), axis=1),
        bc.neumann(0.0, axis=0),
    )
    pair = ssr.stencil(cells, wide, {(0, 1): 1.0, (0, -1): 2.0})

    @ssr.program(y=cells, u=cells, a=ssr.scalar)
    def run(y: Any, u: Any, a: Any) -> None:
        y[:] = pair @ (fill.bind(a=a) @ u)

    y = np.zeros((N, M))
    run(y, U, 0.6)
    at = np.arange(N) + 0.5
    assert np.allclose(y[:, 0], U[:, 1] + 2 * ghosts(U[:, 0], 0.6, 1 + at, np.sin(at), 1.0))
    closed = bc.fill(wide, bc.robin(p("a"), lambda y, x: np.where(y > 1, 1.0, y), 1.0, axis=1))
    with pytest.raises(UnsupportedError, match="is not computed in a program"):

        @ssr.program(y=cells, u=cells, a=ssr.scalar)
        def other(y: Any, u: Any, a: Any) -> None:
            y[:] = pair @ (closed.bind(a=a) @ u)
