"""Coordinates: proofs of conservation and symmetry, volumes, orders of convergence, errors."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as scipy_solvers
import sympy
from scipy.special import jn_zeros, jv

import boundary as bc
import ssr
from ssr.coordinates import (
    Axis,
    Coordinates,
    cartesian,
    cylindrical,
    from_map,
    from_scale_factors,
    geographic,
    spherical,
)
from ssr.errors import (
    ArgumentError,
    NonFiniteError,
    OutOfRangeError,
    ShapeError,
    SpaceError,
    UnboundError,
)

from .. import plain

n, m, h = ssr.sizes("n m h", at_least=2)
LINE, PLANE, ROOM = ssr.Space(n), ssr.Space(n, m), ssr.Space(n, m, h)
SIZES = {"n": 5, "m": 6, "h": 4}
FULL = Axis(0.0, 2 * np.pi, periodic=True)
s, t, p = sympy.symbols("s t p")


def wider(unit: Any) -> Any:
    """Return a stretching with larger cells at the high end."""
    return 0.5 * unit + 0.5 * unit**2


ELLIPTIC = from_map([s, t], [sympy.cosh(s) * sympy.cos(t), sympy.sinh(s) * sympy.sin(t)])
RING = from_map(
    [s, t, p],
    [
        (3 + s * sympy.cos(t)) * sympy.cos(p),
        (3 + s * sympy.cos(t)) * sympy.sin(p),
        s * sympy.sin(t),
    ],
)
PARABOLIC = from_scale_factors({s: sympy.sqrt(s**2 + t**2), t: sympy.sqrt(s**2 + t**2)})
STRETCHED = Axis(0.0, 2.0, stretching=wider)

GRIDS: dict[str, tuple[Coordinates, float]] = {
    "box": (Coordinates(PLANE, cartesian, y=(1.0, 2.0), x=STRETCHED), 2.0),
    "faces": (Coordinates(LINE, x=np.array([0.0, 0.1, 0.4, 1.0, 1.1, 3.0])), 3.0),
    "disk": (Coordinates(PLANE, cylindrical, r=(0.0, 1.0), theta=FULL), np.pi),
    "pipe": (Coordinates(ROOM, cylindrical, z=STRETCHED, r=(0.0, 1.0), theta=FULL), 2 * np.pi),
    "annulus": (Coordinates(PLANE, cylindrical, r=(1.0, 2.0), z=STRETCHED), 3.0),
    "shells": (Coordinates(LINE, spherical, r=(0.0, 3.0)), 9.0),
    "meridian": (Coordinates(PLANE, spherical, r=(1.0, 2.0), theta=(0.0, np.pi)), 14 / 3),
    "ball": (
        Coordinates(ROOM, spherical, r=(0.0, 1.0), theta=(0.0, np.pi), phi=FULL),
        4 / 3 * np.pi,
    ),
    "globe": (
        Coordinates(
            PLANE,
            geographic(2.0),
            latitude=(-90.0, 90.0),
            longitude=Axis(0.0, 360.0, periodic=True),
        ),
        16 * np.pi,
    ),
    "ellipse": (
        Coordinates(PLANE, ELLIPTIC, s=(0.5, 1.5), t=FULL),
        np.pi * (np.sinh(3.0) - np.sinh(1.0)) / 2,
    ),
    "torus": (Coordinates(ROOM, RING, s=(0.0, 1.5), t=FULL, p=FULL), 13.5 * np.pi**2),
    "parabola": (Coordinates(PLANE, PARABOLIC, s=(1.0, 2.0), t=(0.0, 1.0)), 7 / 3 + 1 / 3),
}
"""Coordinates, and the volume of all cells."""


def bound(name: str) -> Coordinates:
    grid = GRIDS[name][0]
    return grid.bind(**{size: SIZES[size] for size in grid.cells.sizes})


def dense(matrix: Any, grid: Coordinates) -> Any:
    return matrix.bind(**grid.sizes).to_scipy()


def shape(grid: Coordinates, space: Any = None) -> tuple[int, ...]:
    return (space or grid.cells).extent(grid.sizes)  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", GRIDS)
def test_the_divergence_is_minus_the_transpose_of_the_gradient(name: str) -> None:
    """Proved for all numbers of cells but those of arrays, and for all values of weights."""
    grid = bound(name)
    V, cells = grid.volumes(), grid.cells
    for axis in range(cells.ndim):
        inner = grid.faces(axis).grow(*(-int(a == axis) for a in range(cells.ndim)))
        D, G = grid.divergence(axis), grid.gradient(axis)
        M = grid.measure(grid.faces(axis))
        assert (V @ D)[:, inner].equals(-(M @ G[:, cells])[inner, :].T)
    L = (V @ grid.laplacian())[:, cells]
    assert L.equals(L.T)


@pytest.mark.parametrize("name", GRIDS)
def test_the_divergence_theorem(name: str) -> None:
    """Volumes times divergences add up to the fluxes through the boundary."""
    grid, rng = bound(name), np.random.default_rng(3)
    volumes = dense(grid.volumes(), grid).diagonal()
    for axis in range(grid.cells.ndim):
        flux = rng.uniform(-1, 1, shape(grid, grid.faces(axis)))
        inside = volumes @ (dense(grid.divergence(axis), grid) @ flux.ravel())
        through = (dense(grid.areas(axis), grid) @ flux.ravel()).reshape(flux.shape)
        net = np.take(through, -1, axis) - np.take(through, 0, axis)
        assert abs(inside - net.sum()) < 1e-14 * abs(through).sum()


@pytest.mark.parametrize("name", GRIDS)
def test_volumes(name: str) -> None:
    grid, whole = bound(name), GRIDS[name][1]
    total = dense(grid.volumes(), grid).sum()
    assert abs(total - whole) < 1e-14 * whole
    for axis in range(grid.cells.ndim):
        measure = dense(grid.measure(grid.faces(axis)), grid).sum()
        assert abs(measure - whole) < 0.1 * whole


def test_volumes_and_areas_of_single_cells() -> None:
    grid = bound("ball")
    r, theta, phi = (grid.positions(a, grid.cells.nodes()) for a in range(3))
    cubes, bands, widths = np.diff(r**3) / 3, -np.diff(np.cos(theta)), np.diff(phi)
    found = dense(grid.volumes(), grid).diagonal().reshape(shape(grid))
    np.testing.assert_allclose(found, cubes[:, None, None] * bands[:, None] * widths, 2e-15)
    found = dense(grid.areas("theta"), grid).diagonal().reshape(shape(grid, grid.faces(1)))
    areas = (np.diff(r**2) / 2)[:, None, None] * np.sin(theta)[:, None] * widths
    areas[:, [0, -1]] = 0.0
    np.testing.assert_allclose(found, areas, 2e-15)


def test_differences_far_from_the_origin_keep_their_digits() -> None:
    """A thin shell of the Earth: the difference of cubes would lose nine digits."""
    grid = Coordinates(ssr.Space(4), spherical, r=(6.371e6, 6.371e6 + 0.5))
    r = np.array(6.371e6 + np.arange(5) / 8, object) * 8
    exact = [(int(b) ** 3 - int(a) ** 3) / (3 * 8**3) for a, b in pairwise(r)]
    np.testing.assert_allclose(dense(grid.volumes(), grid).diagonal(), exact, 4e-16)


@pytest.mark.parametrize("name", ["pipe", "ellipse"])
def test_weights_have_as_few_axes_as_they_can(name: str) -> None:
    names = GRIDS[name][0]._metric.factor_names
    assert max(len(f.axes) for f in names) == {"pipe": 1, "ellipse": 2}[name]


def test_the_ring_of_two_axes_in_three() -> None:
    assert {f.axes for f in GRIDS["torus"][0]._metric.volume} == {(0, 1), (2,)}


def test_closed_ends() -> None:
    """Neither the axis of a disk nor a pole has ghosts; fluxes there are not read."""
    assert GRIDS["disk"][0].wide == PLANE.grow((0, 1), 1)
    assert GRIDS["globe"][0].wide == PLANE.grow(0, 1)
    assert GRIDS["ball"][0].wide == ROOM.grow((0, 1), 0, 1)
    grid = bound("disk")
    flux = np.ones(shape(grid, grid.faces(0)))
    flux[0] = np.nan
    assert np.isfinite(plain.apply(grid.divergence("r"), flux, shape(grid))).all()


# -- orders --------------------------------------------------------------------------------------


def order(errors: list[float]) -> float:
    return float(np.log2(errors[-2] / errors[-1]))


def solved(grid: Coordinates, fill: Any, b: Any) -> Any:
    matrix = dense((grid.laplacian() @ fill).linear, grid)
    return scipy_solvers.spsolve(matrix.tocsc(), b.ravel()).reshape(b.shape)


def test_a_disk_against_bessel_functions() -> None:
    disk = GRIDS["disk"][0]
    fill = bc.fill(disk.wide, bc.dirichlet(0.0, axis=0, side="high"), bc.periodic(axis=1))
    wave, errors = jn_zeros(2, 1)[0], []
    for size in 10, 20, 40:
        grid = disk.bind(n=size, m=2 * size)
        r, theta = grid.mesh()
        u = jv(2, wave * r) * np.cos(2 * theta)
        errors.append(abs(solved(grid, fill, -(wave**2) * u) - u).max())
    assert errors[-1] < 1e-3
    assert order(errors) > 1.9


def test_an_annulus_with_stretched_cells() -> None:
    ring = Coordinates(LINE, cylindrical, r=Axis(1.0, 3.0, stretching=wider))
    fill = bc.fill(ring.wide, bc.dirichlet(0.0, side="low"), bc.dirichlet(0.0, side="high"))
    errors = []
    for size in 16, 32, 64:
        grid = ring.bind(n=size)
        r = grid.positions("r")
        u = (r**2 - 1) / 4 - 2 * np.log(r) / np.log(3)
        errors.append(abs(solved(grid, fill, np.ones(size)) - u).max())
    assert order(errors) > 1.9


def test_spherical_harmonics() -> None:
    """The eigenvalues are l (l + 1), each 2 l + 1 times."""
    globe = GRIDS["globe"][0]
    fill = bc.fill(globe.wide, bc.periodic(axis=1))
    errors = []
    for size in 12, 24:
        grid = globe.bind(n=size, m=2 * size)
        matrix = -4.0 * dense((grid.laplacian() @ fill).linear, grid)  # radius 2
        found = np.sort(scipy_solvers.eigs(matrix, 9, sigma=-0.5)[0].real)
        assert abs(found[0]) < 1e-10
        errors.append(abs(found[1:] - ([2.0] * 3 + [6.0] * 5)).max())
    assert errors[-1] < 0.1
    assert order(errors) > 1.9


def test_an_ellipse_against_a_polynomial() -> None:
    """x^2 - y^2 is harmonic in any coordinates."""
    ellipse = GRIDS["ellipse"][0]
    low, high = bc.parameter("low"), bc.parameter("high")
    fill = bc.fill(
        ellipse.wide,
        bc.dirichlet(low, axis=0, side="low"),
        bc.dirichlet(high, axis=0, side="high"),
        bc.periodic(axis=1),
    )
    errors = []
    for size in 10, 20:
        grid = ellipse.bind(n=size, m=2 * size)
        a, b = grid.mesh()
        u = (np.cosh(a) * np.cos(b)) ** 2 - (np.sinh(a) * np.sin(b)) ** 2
        ends = [
            ((np.cosh(e) * np.cos(b)) ** 2 - (np.sinh(e) * np.sin(b)) ** 2).ravel()
            for e in (0.5, 1.5)
        ]
        L = grid.laplacian() @ fill
        matrix = dense(L.linear, grid)
        wide = np.zeros(shape(grid, grid.wide))
        wide[0, 1:-1], wide[-1, 1:-1] = 2 * ends[0], 2 * ends[1]
        b = -(dense(grid.laplacian(), grid) @ wide.ravel())
        found = scipy_solvers.spsolve(matrix.tocsc(), b).reshape(u.shape)
        errors.append(abs(found - u).max())
    assert order(errors) > 1.8


# -- conductivities ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["disk", "box", "faces"])
def test_conductivities(name: str) -> None:
    grid, rng = bound(name), np.random.default_rng(4)
    cells, axes = grid.cells, range(grid.cells.ndim)
    of_cells = rng.uniform(1.0, 2.0, shape(grid))
    of_faces = [rng.uniform(1.0, 2.0, shape(grid, grid.faces(a))) for a in axes]
    V = grid.volumes()
    later = grid.laplacian(cells)
    assert later.unbound == ("conductivity",)
    assert later.bind(conductivity=of_cells).equals(grid.laplacian(of_cells))
    scaled = dense(grid.laplacian(ssr.scalar).bind(conductivity=3.0), grid)
    np.testing.assert_allclose(scaled.toarray(), 3.0 * dense(grid.laplacian(), grid).toarray())
    for matrix in (
        later,
        grid.laplacian(of_faces),
        grid.laplacian([grid.faces(a) for a in axes]),
        grid.laplacian([2.0 + a for a in axes]),
    ):
        whole = (V @ matrix)[:, cells]
        assert whole.equals(whole.T)
    found = dense(grid.laplacian(of_faces), grid).toarray()
    expected = sum(
        dense(grid.divergence(a), grid)
        @ np.diag(of_faces[a].ravel())
        @ dense(grid.gradient(a), grid)
        for a in axes
    )
    np.testing.assert_allclose(found, expected, 1e-12, 1e-12)


def test_layers_conduct_as_resistances_in_series() -> None:
    """The flux through layers of unequal widths is that of the sum of their resistances."""
    x, layers = np.array([0.0, 0.1, 0.4, 1.0, 1.1, 3.0]), np.array([1.0, 50.0, 0.2, 3.0, 7.0])
    grid = Coordinates(ssr.Space(5), x=x)
    fill = bc.fill(grid.wide, bc.dirichlet(1.0, side="low"), bc.dirichlet(0.0, side="high"))
    L = grid.laplacian(layers)
    ends = L.to_scipy()[:, 0].toarray().ravel() * 2.0
    u = np.linalg.solve((L @ fill).linear.to_scipy().toarray(), -ends)
    flux = layers[0] * (1.0 - u[0]) / 0.05
    np.testing.assert_allclose(flux, 1.0 / (np.diff(x) / layers).sum(), 1e-12)


def test_cells_that_do_not_conduct() -> None:
    grid = bound("box")
    none = np.zeros(shape(grid))
    none[2:] = 1.0
    found = dense(grid.laplacian(none), grid).toarray()
    assert not found[: 2 * shape(grid)[1]].any()
    assert np.isfinite(found).all()


# -- sums, positions -----------------------------------------------------------------------------


def test_integrals_and_inner_products() -> None:
    grid, rng = bound("shells"), np.random.default_rng(5)
    u, v = rng.uniform(-1, 1, (2, *shape(grid)))
    V = dense(grid.volumes(), grid).diagonal()
    assert abs(grid.integral(u) - (V * u).sum()) < 1e-14

    @ssr.program(u=grid.cells, v=grid.cells)
    def sums(u: Any, v: Any) -> Any:
        return grid.integral(u), grid.inner(u, v)

    found = plain.run(sums, u, v)
    np.testing.assert_allclose(found, (grid.integral(u), (V * u * v).sum()), 1e-14)


def test_the_energy_of_a_field() -> None:
    """Minus the inner product of a field and its Laplacian is that of the gradient with itself."""
    grid = bound("faces")
    u = np.random.default_rng(6).uniform(-1, 1, shape(grid))
    fill = bc.fill(grid.wide, bc.dirichlet(0.0, side="low"), bc.neumann(0.0, side="high"))
    slope = dense((grid.gradient(0) @ fill).linear, grid) @ u
    bent = dense((grid.laplacian() @ fill).linear, grid) @ u
    np.testing.assert_allclose(-grid.inner(u, bent), grid.inner(slope, slope), 1e-13)


def test_averages_are_exact_for_lines() -> None:
    for name, axis in ("box", 1), ("faces", 0), ("disk", 0):
        grid = bound(name)
        q = grid.positions(axis, grid.wide)
        around = [1] * grid.cells.ndim
        around[axis] = -1
        field = np.broadcast_to(q.reshape(around), shape(grid, grid.wide)).ravel()
        found = dense(grid.average(axis), grid) @ field
        known = np.broadcast_to(
            grid.positions(axis, grid.faces(axis)).reshape(around), shape(grid, grid.faces(axis))
        )
        rest = [slice(None)] * grid.cells.ndim
        rest[axis] = slice(1, None) if name == "disk" else slice(None)
        np.testing.assert_allclose(
            found.reshape(known.shape)[tuple(rest)], known[tuple(rest)], 1e-14
        )


def test_positions_of_ghosts() -> None:
    grid = Coordinates(
        ssr.Space(2, 2), y=np.array([0.0, 1.0, 3.0]), x=Axis(0.0, 4.0, periodic=True)
    )
    wide = grid.cells.grow(2)
    assert grid.positions("y", wide).tolist() == [-2.0, -0.5, 0.5, 2.0, 4.0, 5.5]
    assert grid.positions("x", wide).tolist() == [-3.0, -1.0, 1.0, 3.0, 5.0, 7.0]
    around = grid.cells.nodes().grow(1)
    assert grid.positions(0, around).tolist() == [-1.0, 0.0, 1.0, 3.0, 5.0]
    assert grid.positions(-1, around).tolist() == [-2.0, 0.0, 2.0, 4.0, 6.0]


def test_a_difference_takes_coordinates() -> None:
    grid = Coordinates(ssr.Space(5), x=np.array([0.0, 0.1, 0.4, 1.0, 1.1, 3.0]))
    cells, faces = grid.cells, grid.faces(0)
    x, at = grid.positions(0, cells.grow(1)), grid.positions(0, faces)
    made = [
        (ssr.difference(cells, cells.grow(1), 0, derivative=2, coordinates=grid), x**2, 2.0),
        (ssr.difference(cells, faces, 0, coordinates=grid), at**2, at[1:] + at[:-1]),
        (ssr.average(faces, cells.grow(1), 0, coordinates=grid), 3.0 * x + 1.0, 3.0 * at + 1.0),
    ]
    for matrix, u, wanted in made:
        np.testing.assert_allclose(matrix.to_scipy() @ u, wanted, 1e-12, 1e-12)


def test_single_precision() -> None:
    grid = Coordinates(PLANE, cylindrical, r=STRETCHED, theta=FULL, dtype=np.float32)
    grid = grid.bind(n=4, m=8)
    u = np.random.default_rng(0).random((5, 10)).astype(np.float32)
    made = np.empty((4, 8), np.float32)
    plain.run(grid.laplacian().program("apply"), made, u)
    exact = dense(bound_as(grid, float).laplacian(), grid) @ u.ravel().astype(float)
    np.testing.assert_allclose(made.ravel(), exact, 1e-3, 1e-2)
    assert abs(grid.integral(np.ones((4, 8), np.float32)) - 4 * np.pi) < 1e-5


def bound_as(grid: Coordinates, dtype: Any) -> Coordinates:
    return Coordinates(grid.cells, grid.system, dtype=dtype, **grid._metric.axes).bind(**grid.sizes)


def test_a_single_cell() -> None:
    grid = Coordinates(ssr.Space(1, 1), cylindrical, r=(0.0, 1.0), theta=FULL)
    np.testing.assert_allclose(dense(grid.volumes(), grid).toarray(), np.pi)
    assert grid.wide.extent({}) == (2, 3)
    np.testing.assert_allclose(grid.laplacian() @ np.ones((2, 3)), 0.0, atol=1e-15)


# -- errors --------------------------------------------------------------------------------------

DISK = GRIDS["disk"][0]


def volumes(factor: Any) -> Any:
    return Coordinates(ssr.Space(3), from_scale_factors({s: factor}), s=(0, 1)).volumes()


def stretched(stretching: Any) -> Any:
    return Axis(0, 1, stretching=stretching).at_faces(3)


WRONG: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "no space": (
        ArgumentError,
        "space of cells",
        lambda: Coordinates(bc.Grid([(3, 3)]).cells, x=(0, 1)),
    ),
    "faces": (SpaceError, "not for faces", lambda: Coordinates(LINE.faces(0), x=(0, 1))),
    "no system": (ArgumentError, "not a system", lambda: Coordinates(LINE, "polar", x=(0, 1))),  # type: ignore[arg-type]
    "too few": (
        ArgumentError,
        "1 coordinates are given for the 2 axes",
        lambda: Coordinates(PLANE, x=(0, 1)),
    ),
    "names": (ArgumentError, "have no 'x'", lambda: Coordinates(LINE, spherical, x=(0, 1))),
    "no axis": (ArgumentError, "The axis x is", lambda: Coordinates(LINE, x=3.0)),
    "decreasing": (OutOfRangeError, "upward", lambda: Coordinates(LINE, x=(1.0, 0.0))),
    "decreasing faces": (OutOfRangeError, "increase", lambda: Axis(faces=[0.0, 1.0, 0.5])),
    "NaN": (OutOfRangeError, "increase", lambda: Axis(faces=[0.0, np.nan, 0.5])),
    "both": (ArgumentError, "both are given", lambda: Axis(0.0, 1.0, faces=[0.0, 1.0])),
    "neither": (ArgumentError, "needs both ends", lambda: Axis(0.0)),
    "one face": (ShapeError, r"shape \(1,\)", lambda: Axis(faces=[0.0])),
    "other sizes": (ShapeError, "4", lambda: Coordinates(ssr.Space(4), x=np.arange(4.0)).volumes()),
    "sizes apart": (
        ShapeError,
        "n",
        lambda: Coordinates(ssr.Space(n, n), y=np.arange(4.0), x=np.arange(5.0)),
    ),
    "a size": (ArgumentError, "no size 'q'", lambda: DISK.bind(q=3)),
    "a small size": (ArgumentError, "not a positive integer", lambda: DISK.bind(n=0)),
    "too small": (ShapeError, "at least 2", lambda: DISK.bind(n=1)),
    "unbound": (
        UnboundError,
        r"bind\(n=..., m=...\)|bind\(m=..., n=...\)",
        lambda: DISK.laplacian(),
    ),
    "axis": (ArgumentError, "Axes are r, theta", lambda: DISK.gradient("z")),
    "axis 2": (ArgumentError, "no axis 2", lambda: DISK.gradient(2)),
    "stretching": (OutOfRangeError, "maps 0 and 1", lambda: stretched(lambda s: 2 * s)),
    "stretching shape": (ShapeError, "returns the shape", lambda: stretched(lambda s: 0.0)),
    "stretching fails": (ArgumentError, "ZeroDivision", lambda: stretched(lambda s: 1 / 0)),
    "negative r": (
        OutOfRangeError,
        "not positive",
        lambda: Coordinates(ssr.Space(4), cylindrical, r=(-1, 1)).volumes(),
    ),
    "r is absent": (SpaceError, "depend on r", lambda: Coordinates(LINE, cylindrical, theta=FULL)),
    "t is absent": (SpaceError, "depends? on", lambda: Coordinates(LINE, PARABOLIC, s=(1, 2))),
    "does not separate": (
        SpaceError,
        "Volumes depend on t",
        lambda: Coordinates(LINE, from_scale_factors({s: 1, t: s + t}), s=(1, 2)).wide,
    ),
    "not orthogonal": (SpaceError, "not orthogonal", lambda: from_map([s, t], [s + t, t])),
    "constant": (
        ArgumentError,
        "depends on the coordinate t",
        lambda: from_map([s, t], [s, 2 * s]),
    ),
    "few components": (ArgumentError, "as many components", lambda: from_map([s, t], [s])),
    "other symbols": (ArgumentError, "holds p", lambda: from_map([s, t], [p * s, t])),
    "no symbol": (ArgumentError, "not a SymPy symbol", lambda: from_map(["s"], [s])),
    "radius": (ArgumentError, "positive", lambda: geographic(0.0)),
    "conductivity": (ArgumentError, "conductivity is 'x'", lambda: bound("disk").laplacian("x")),
    "conductivities": (ArgumentError, "1 conductivities", lambda: bound("disk").laplacian([1.0])),
    "on faces": (SpaceError, "field on", lambda: bound("disk").laplacian(DISK.faces(0))),
    "axes swapped": (
        SpaceError,
        "of axis 0",
        lambda: bound("disk").laplacian([DISK.faces(1), 1.0]),
    ),
    "shape": (ShapeError, r"shape \(3,\)", lambda: bound("disk").integral(np.ones(3))),
    "integral of faces": (
        ShapeError,
        "not of faces",
        lambda: bound("disk").integral(np.ones((6, 6))),
    ),
    "apart": (
        SpaceError,
        "inner product",
        lambda: bound("disk").inner(np.ones((6, 6)), np.ones((5, 6))),
    ),
    "measure": (SpaceError, "not on", lambda: bound("disk").measure(DISK.wide)),
    "other grid": (SpaceError, "not a space of the grid", lambda: bound("disk").positions(0, LINE)),
    "distribution": (ArgumentError, "must be a distribution, not 3", lambda: DISK.on(3)),
    "singular": (NonFiniteError, "not finite", lambda: volumes(sympy.sqrt(s - 1))),
    "a kink": (OutOfRangeError, "more than 64", lambda: volumes(1 + abs(s - sympy.Rational(1, 2)))),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    kind, text, call = WRONG[name]
    with pytest.raises(kind) as found:
        call()
    assert isinstance(found.value, ssr.Error)
    told = found.value.message, found.value.note, found.value.hint
    assert re.search(text, "\n".join(filter(None, told)))  # without the line of this file
