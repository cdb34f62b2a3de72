"""Points off the grid: polynomials, waves, dense matrices, transposes, and wrong arguments."""

import copy
import pickle
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.off_grid.stencils import KAISER
from ssr.errors import (
    ArgumentError,
    ContiguityError,
    DtypeError,
    OutOfRangeError,
    ReadOnlyError,
    ShapeError,
    SpaceError,
    UnboundError,
    UnsupportedError,
)
from ssr.native import machine_code

cells = ssr.Space(7, 9)
SPACES = cells, cells.faces(0), cells.faces(1), cells.nodes(), cells.grow(2), cells.grow((0, 1), 3)
blocks = bc.Grid(2 * [(3, 3)], links=bc.topologies.bricks(1, 2))
METHODS = "nearest", "linear", "cubic"


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def inside(count: int, seed: int = 0) -> Any:
    """Return points in all cells, some of them on sides and centers."""
    found = random(seed).uniform((-0.5, -0.5), (6.5, 8.5), (count, 2))
    found[:4] = (-0.5, -0.5), (6.5, 8.5), (2.0, 3.0), (2.5, 8.5)
    return found


def on(space: ssr.Space) -> Any:
    """Return where the points of a space are, in indices of cells."""
    axes = zip(space.box({}), space.data.staggered, strict=True)
    return np.meshgrid(*(np.arange(*b) - 0.5 * s for b, s in axes), indexing="ij")


# -- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_polynomials_are_exact(space: ssr.Space) -> None:
    x, (y0, x0) = inside(50), on(space)
    for method, degree in ("linear", 1), ("cubic", 3):
        a, b = random().normal(size=(2, degree + 1))

        def f(y: Any, x: Any, a: Any = a, b: Any = b) -> Any:
            return np.polyval(a, y / 8) * np.polyval(b, x / 8)

        found = bc.points(cells, x, method).interpolate(f(y0, x0), space)
        np.testing.assert_allclose(found, f(*x.T), rtol=1e-12, atol=1e-13)


def test_nearest_is_the_value_of_the_cell() -> None:
    u, x = random().random((7, 9)), inside(50)
    j, i = np.clip(np.floor(x + 0.5).astype(int), 0, (6, 8)).T
    np.testing.assert_array_equal(bc.points(cells, x, "nearest").interpolate(u), u[j, i])


def test_values_on_centers_do_not_depend_on_neighbors() -> None:
    """A weight that is zero leaves out even NaN, as of land."""
    u = np.full((7, 9), np.nan)
    u[3, 4] = 2.5
    for method in METHODS:
        point = bc.points(cells, [[3, 4]], method)
        assert point.interpolate(u).tolist() == [2.5]
        v = np.zeros((7, 9))
        point.inject(v, np.inf)
        assert np.isinf(v).sum() == 1
        assert not np.isnan(v).any()


@pytest.mark.parametrize("radius", [2, 4, 7])
def test_windowed_sinc_has_the_error_of_its_window(radius: int) -> None:
    """For waves of at least four points the errors are those that Hicks (2002) minimizes."""
    n, bound = 64, {2: 3e-2, 4: 2e-3, 7: 2e-5}[radius]
    x = random().uniform(-0.5, n - 0.5, (500, 1))
    points = bc.points(ssr.Space(n), x, "sinc", radius=radius, periodic=[0])
    for waves in 0, 1, 5, 16:
        k = 2 * np.pi * waves / n
        found = points.interpolate(np.cos(k * np.arange(n) + 0.3))
        assert abs(found - np.cos(k * x[:, 0] + 0.3)).max() < bound
    assert abs(points.as_matrix().to_scipy().sum(axis=1) - 1).max() < 1e-14


def test_kaiser_parameters_are_optimal() -> None:
    """The largest error over waves of four points and longer grows on both sides of each b."""
    k, t = np.linspace(0, np.pi / 2, 40), np.linspace(0, 1, 15)

    def error(b: float, r: int) -> float:
        m = np.arange(1 - r, r + 1)
        d = t[:, None] - m
        w = np.sinc(d) * np.i0(b * np.sqrt(np.maximum(0, 1 - (d / r) ** 2))) / np.i0(b)
        return float(abs(w @ np.exp(1j * np.outer(m, k)) - np.exp(1j * np.outer(t, k))).max())

    for r, b in enumerate(KAISER[:8], 1):
        assert error(b, r) < min(error(0.94 * b, r), error(1.06 * b, r))


def test_periodic_axes_wrap() -> None:
    u = random().random((7, 9))
    for method in (*METHODS, "sinc"):
        x = inside(20)
        shifted = bc.points(cells, np.add(x, (14, -18)), method, periodic=(0, 1), radius=2)
        x[1], x[3, 1] = (-0.5, -0.5), -0.5  # the upper sides are the lower ones
        np.testing.assert_allclose(shifted.coordinates, x, atol=1e-14)
        tiled = np.pad(u, 4, mode="wrap")
        wide = bc.points(cells.grow(4), x, method, radius=2)
        np.testing.assert_allclose(shifted.interpolate(u), wide.interpolate(tiled), rtol=1e-12)


def test_coordinates_of_axes() -> None:
    """Linear functions of stretched coordinates are exact, and so are sides of cells."""
    y, x = np.cumsum(random().uniform(0.5, 2, 7)), -3.0 + 0.25 * np.arange(9)
    at = np.stack([random().uniform(y[0], y[-1], 30), random().uniform(-3.125, -0.875, 30)], 1)
    points = bc.points(cells, at, axes=(y, x))
    np.testing.assert_allclose(points.interpolate(3 * y[:, None] + x), at @ (3, 1), rtol=1e-13)
    around = bc.points(cells, np.add(at, (0, 2.25)), axes=(None, x), periodic=[-1], outside="clamp")
    np.testing.assert_allclose(around.coordinates[:, 1], at[:, 1])


def test_components_types_and_layouts() -> None:
    u, x = random().random((3, 7, 9)), inside(10)
    points = bc.points(cells, x)
    wanted = np.stack([points.interpolate(part) for part in u], axis=1)
    assert wanted.shape == (10, 3)
    layouts = u, np.asfortranarray(u), np.repeat(u, 2, axis=2)[..., ::2]
    for layout in layouts:
        assert points.interpolate(layout).tobytes() == wanted.tobytes()
        v, w = np.zeros_like(u), np.zeros_like(layout)
        points.inject(v, wanted)
        points.inject(w, wanted)
        np.testing.assert_array_equal(v, w)
    single = points.interpolate(u.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, wanted, rtol=1e-6)
    u.flags.writeable = False
    assert points.interpolate(u).tobytes() == wanted.tobytes()


# -- matrices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_injection_is_the_transpose(space: ssr.Space) -> None:
    shape, v = space.extent({}), random().random(30)
    u = random(1).random(shape)
    for method, periodic in *((m, ()) for m in METHODS), ("cubic", (1,)), ("sinc", (0, 1)):
        points = bc.points(cells, inside(30), method, periodic=periodic, radius=2)
        made = np.zeros(shape)
        points.inject(made, v, space)
        matrix = points.as_matrix(space)
        np.testing.assert_allclose(matrix.T @ v, made, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(matrix @ u, points.interpolate(u, space), rtol=1e-13)
        np.testing.assert_allclose((made * u).sum(), v @ points.interpolate(u, space))
        np.testing.assert_allclose(made.sum(), v.sum())
        np.testing.assert_array_equal(matrix.to_scipy().sum(axis=1).round(12), 1)


def test_contributions_are_added_in_the_order_of_points() -> None:
    points = bc.points(ssr.Space(3), [[1.0]] * 4)
    u = np.zeros(3)
    points.inject(u, [1e16, 1.0, 1.0, -1e16])
    assert u[1] == ((1e16 + 1.0) + 1.0) - 1e16


def test_fills_give_ghosts() -> None:
    """Near a wall values are those of the boundary condition; injection is the transpose."""
    wide, x = cells.grow(2), inside(40)
    fill = bc.fill(wide, bc.dirichlet(2.0, axis=0), bc.symmetric(axis=1))
    u, v, B = random().random((7, 9)), random().random(40), fill.to_scipy()
    for method in ("linear", "cubic", "sinc"):
        points = bc.points(cells, x, method, radius=2)
        P = points.as_matrix(wide)
        found = points.interpolate(u, fill=fill)
        np.testing.assert_allclose(found, P @ (fill @ u), rtol=1e-13)
        made = u.copy()
        points.inject(made, v, fill=fill)
        np.testing.assert_allclose((made - u).ravel(), B.T @ (P.to_scipy().T @ v), atol=1e-13)
    wall = bc.points(cells, [(-0.5, 3.25)])
    np.testing.assert_allclose(wall.interpolate(u, fill=fill), 2.0)


def test_points_of_blocks() -> None:
    grid = bc.Grid(6 * [(5, 5)], links=bc.cubed_sphere())
    q, x = random().random((6, 5, 5)), random().uniform(0, 4, (12, 2))
    panels = np.arange(12) % 6
    found = bc.points(grid, np.column_stack([panels, x]), "cubic").interpolate(q)
    one = bc.points(ssr.Space(5, 5), x, "cubic")
    each = [one.interpolate(q[block])[number] for number, block in enumerate(panels)]
    np.testing.assert_array_equal(found, each)


# -- moves ---------------------------------------------------------------------------------------


def test_moves_compile_nothing() -> None:
    u, x = random().random((7, 9)), inside(20)
    points = bc.points(cells, x)
    points.inject(u.copy(), points.interpolate(u))
    with patch.object(machine_code.Work, "__init__", side_effect=AssertionError):
        for seed in range(3):
            x = inside(20, seed)
            (order,) = points.move(x, np.arange(20))
            np.testing.assert_array_equal(order, np.arange(20))
            fresh = bc.points(cells, x)
            np.testing.assert_array_equal(points.interpolate(u), fresh.interpolate(u))
            v, w = u.copy(), u.copy()
            points.inject(v, 1.0)
            fresh.inject(w, 1.0)
            np.testing.assert_array_equal(v, w)


def test_points_that_leave() -> None:
    x = np.array([(3.0, 3.0), (9.0, 3.0), (3.0, -2.0)])
    u = random().random((7, 9))
    clamped = bc.points(cells, x, outside="clamp")
    np.testing.assert_array_equal(clamped.coordinates, [(3, 3), (6.5, 3), (3, -0.5)])
    lost = bc.points(cells, x, outside="nan")
    assert np.isnan(lost.interpolate(u)).tolist() == [False, True, True]
    v = np.zeros((7, 9))
    lost.inject(v, 1.0)
    assert v.sum() == v[3, 3] == 1.0
    points = bc.points(cells, x[:1])
    with pytest.raises(OutOfRangeError, match="Point 0 is outside the cells"):
        points.move(x[1:2])
    assert points.coordinates.tolist() == [[3.0, 3.0]]


def test_no_points_and_one_cell() -> None:
    none = bc.points(cells, [])
    assert none.interpolate(np.ones((7, 9))).shape == (0,)
    u = np.ones((2, 7, 9))
    none.inject(u, np.zeros((0, 2)))
    assert none.interpolate(u).shape == (0, 2)
    assert none.gather(none.coordinates).shape == (0, 2)
    for method in METHODS:
        one = bc.points(ssr.Space(1, 3), [(0.25, 1.5), (-0.5, -0.5)], method)
        found = one.interpolate(np.array([[1.0, 2.0, 3.0]]))
        assert found.tolist() == {"nearest": [3.0, 1.0]}.get(method, [2.5, 0.5])


# -- wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"coordinates": [[np.nan, 1]]}, OutOfRangeError, "Coordinates are finite"),
        ({"coordinates": [[1, 2, 3]]}, ShapeError, r"not \(points, 2\)"),
        ({"coordinates": [[7, 1]]}, OutOfRangeError, "Point 0 is outside"),
        ({"coordinates": [[1j, 1]]}, DtypeError, "complex"),
        ({"method": "spline"}, ArgumentError, "not one of nearest, linear"),
        ({"radius": 0}, ArgumentError, "from 1 to 10"),
        ({"outside": "zero"}, ArgumentError, "not one of raise"),
        ({"periodic": [2]}, ArgumentError, "no axis 2"),
        ({"periodic": 1}, ArgumentError, "not a sequence"),
        ({"axes": [None]}, ShapeError, "1 entries"),
        ({"axes": [None, np.arange(8)]}, ShapeError, r"not \(9,\)"),
        ({"axes": [None, [1.0]], "cells": ssr.Space(7, 1)}, ArgumentError, "one cell"),
        ({"coordinates": [[0.5, 1, 1]], "cells": blocks}, OutOfRangeError, "block of point 0"),
        (
            {"coordinates": [[2, 1, 1]], "cells": blocks, "outside": "clamp"},
            OutOfRangeError,
            "0 to 1",
        ),
        ({"axes": [None, -np.arange(9)]}, ArgumentError, "do not increase"),
        ({"numbers": [1]}, ArgumentError, "each once"),
        ({"numbers": [0.5]}, ShapeError, "integers"),
        ({"n": 3}, ArgumentError, "no size n"),
        ({"cells": 3}, ArgumentError, "not on 3"),
        ({"cells": ssr.Space(ssr.size("n"), 3)}, UnboundError, "size n"),
        ({"cells": bc.Grid([(3, 3), (3, 4)])}, UnsupportedError, "one shape"),
    ],
)
def test_declarations_that_are_refused(change: Any, error: Any, words: str) -> None:
    given = {"cells": cells, "coordinates": [[1.0, 2.0]], **change}
    with pytest.raises(error, match=words):
        bc.points(given.pop("cells"), given.pop("coordinates"), **given)


def test_fields_that_are_refused() -> None:
    points, u = bc.points(cells, inside(5)), np.ones((7, 9))
    frozen, shared = u.copy(), np.broadcast_to(1.0, (7, 9))
    frozen.flags.writeable = False
    shared.flags.writeable = True
    for field, error, words in (
        (np.ones((9, 7)), ShapeError, "Give the space"),
        (np.ones((0, 7, 9)), ShapeError, "Give the space"),
        (np.ones((7, 9), int), DtypeError, "int64"),
        (u.astype(">f8"), DtypeError, "native"),
        (u[::-1], ContiguityError, "negative strides"),
        (u.tolist(), ArgumentError, "not list"),
        (frozen, ReadOnlyError, "read-only"),
        (shared, ContiguityError, "share memory"),
    ):
        with pytest.raises(error, match=words):
            points.inject(field, 1.0)
    with pytest.raises(ShapeError, match=r"\(3,\), not \(5,\)"):
        points.inject(u, np.ones(3))
    with pytest.raises(SpaceError, match="not the cells"):
        points.interpolate(np.ones((3, 9)), cells.slab(0, 0, 3))
    with pytest.raises(ArgumentError, match="not a space"):
        points.interpolate(u, "cells")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="not a fill"):
        points.interpolate(u, fill=cells)
    with pytest.raises(OutOfRangeError, match="Give a fill of 4 layers"):
        bc.points(cells, inside(5), "sinc").interpolate(u)
    with pytest.raises(UnsupportedError, match="no matrix"):
        bc.points(cells, []).as_matrix()
    with pytest.raises(ShapeError, match="5 rows"):
        points.gather(np.ones(3))
    with pytest.raises(ArgumentError, match="no rank 1 of 1"):
        points.gather(np.ones(5), root=1)
    np.testing.assert_array_equal(u, 1.0)


def test_coordinates_are_axes() -> None:
    """The sides are faces, angles repeat, and sizes are those of the coordinates."""
    Coordinates, Axis = ssr.coordinates.Coordinates, ssr.coordinates.Axis
    space = ssr.Space(*ssr.sizes("nr nt"))
    theta = Axis(0.0, 2.0 * np.pi, periodic=True)
    disk = Coordinates(space, ssr.coordinates.cylindrical, r=np.array([0.0, 1, 3, 7]), theta=theta)
    disk = disk.bind(nt=8)
    at = [(0.5, 0.1), (2.0, -0.1), (3.5, 4.0), (7.0, 2.0 * np.pi)]
    points = bc.points(space, at, axes=disk)
    np.testing.assert_allclose(points.coordinates[:, 1], [0.1, 2.0 * np.pi - 0.1, 4.0, 0.0])
    r, angle = disk.mesh()
    np.testing.assert_allclose(points.interpolate(r + 0.0 * angle)[:3], [0.5, 2.0, 3.5])
    np.testing.assert_allclose(
        points.interpolate(np.cos(angle) + 0.0 * r)[[0, 3]], np.cos(np.pi / 8) * np.ones(2)
    )
    wall = bc.fill(
        space.grow(1),
        bc.dirichlet(5.0, axis=0, side="high"),
        bc.symmetric(axis=0, side="low"),
        bc.periodic(axis=1),
    )
    assert points.interpolate(r**2 + 0.0 * angle, fill=wall)[3] == pytest.approx(5.0)
    one = Coordinates(ssr.Space(1), x=(2.0, 6.0))
    assert bc.points(one.cells, [[6.0]], axes=one).interpolate(np.ones(1)) == [1.0]
    with pytest.raises(OutOfRangeError, match="0 to 7"):
        bc.points(space, [(7.1, 0.0)], axes=disk)
    with pytest.raises(SpaceError, match="coordinates are those of"):
        bc.points(cells, [(1.0, 0.0)], axes=disk)
    with pytest.raises(ArgumentError, match="size nt is 8"):
        bc.points(space, [(1.0, 0.0)], axes=disk, nr=3, nt=9)


def test_copies_and_pickles() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(2))
    u, points, rule = on.zeros(cells), bc.points(on, [(1.0, 2.0)]), bc.dirichlet(1.0)
    for each in (u, points, rule, bc.fill(cells.grow(1), rule)):
        with pytest.raises(UnsupportedError, match="pickled"):
            pickle.dumps(each)
    assert copy.deepcopy(rule) is rule
    other = copy.deepcopy({"u": u})["u"]
    other.set(np.ones((7, 9)))
    assert other.distribution is on
    assert (np.asarray(u) == 0.0).all()
    with pytest.raises(UnsupportedError, match=r"bc\.points"):
        copy.copy(points)
