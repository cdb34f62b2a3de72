"""Differences and averages on rough grids: polynomials, orders, planes, kernels, errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.errors import ArgumentError, SpaceError

from .. import plain
from .. import strategies as some

more, ny = ssr.sizes("more ny")
line = ssr.Space(more + 10)
plane = ssr.Space(ny, more + 10)
rng = np.random.default_rng(5)
PAIRS = [(one, other) for one in ("cells", "faces") for other in ("cells", "faces")]


def rough(space: ssr.Space, count: int, decreasing: bool = False) -> Any:
    """Return cells or faces at random distances, a cell between its faces."""
    steps = np.random.default_rng(count).uniform(0.3, 1.7, 2 * count + 40)
    every = np.cumsum(steps) - steps.sum() / 2
    every = -every if decreasing else every
    (low, high), *_ = space.box({"more": count - 10})
    begin = 20 + (0 if space.data.staggered[0] else 1)
    return every[begin + 2 * low : begin + 2 * high : 2].copy()


def made_on(
    rows: ssr.Space, cols: ssr.Space, derivative: int, order: int, outside: Any, given: Any
) -> ssr.Matrix:
    """Return the difference or average along a line."""
    if not derivative:
        return ssr.average(rows, cols, 0, order=order, outside=outside, coordinates=given)
    return ssr.difference(
        rows, cols, 0, derivative=derivative, order=order, outside=outside, coordinates=given
    )


def places(rows: str, cols: str, one_sided: bool) -> tuple[ssr.Space, ssr.Space]:
    """Return the spaces of rows and columns."""
    found = {"cells": line, "faces": line.faces(0)}
    return found[rows], found[cols] if one_sided else found[cols].grow(6)


def exact_below(rows: str, cols: str, derivative: int, order: int) -> int:
    """Return the number of points of rows in the middle."""
    symmetric = derivative % 2 == (rows != cols)
    return derivative + order - int(symmetric and derivative > 0)


@some.examples(30)
@given(
    st.sampled_from(PAIRS),
    st.integers(0, 3),
    st.sampled_from([2, 4]),
    st.booleans(),
    st.booleans(),
)
def test_polynomials(
    pair: tuple[str, str], derivative: int, order: int, one_sided: bool, decreasing: bool
) -> None:
    of, values = places(*pair, one_sided)
    at, x = (rough(space, 16, decreasing) for space in (of, values))
    outside = "one-sided" if one_sided else "error"
    matrix = made_on(of, values, derivative, order, outside, (at, x)).bind(more=6).to_scipy()
    for power in range(exact_below(*pair, derivative, order)):
        wanted = np.poly1d([1.0] + [0.0] * power)
        known = wanted.deriv(derivative)(at) if derivative else wanted(at)
        size = (abs(matrix) @ abs(x) ** power).max()
        np.testing.assert_allclose(matrix @ x**power, known, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("derivative", [1, 2])
@pytest.mark.parametrize("pair", PAIRS)
def test_orders_on_rough_grids(pair: tuple[str, str], derivative: int, order: int) -> None:
    """Errors of the same rough grid at half of its size are smaller by the order's power of two."""
    of, values = places(*pair, False)
    errors = []
    for size in 0.05, 0.025:
        at, x = (size * rough(space, 12) for space in (of, values))
        made = made_on(of, values, derivative, order, "error", (at, x)).bind(more=2).to_scipy()
        meant = np.exp(1.3 * at) * 1.3**derivative
        errors.append(abs(made @ np.exp(1.3 * x) - meant).max())
    least = exact_below(*pair, derivative, order) - derivative
    assert least - 0.4 < np.log2(errors[0] / errors[1])


def test_along_an_axis_of_a_plane() -> None:
    wide = plane.grow(0, 1)
    x = rough(line.grow(1), 12)
    second = ssr.difference(plane, wide, 1, derivative=2, coordinates=line.grow(1))
    one = ssr.difference(line, line.grow(1), 0, derivative=2, coordinates=x)
    u = rng.uniform(-1, 1, (3, 14))
    made = second.bind(coordinates=x) @ u
    np.testing.assert_array_equal(made, [plain.apply(one, row, (12,)) for row in u])
    np.testing.assert_allclose(
        made.ravel(), second.bind(coordinates=x, ny=3).to_scipy() @ u.ravel()
    )


def test_an_implicit_step_along_uneven_lines() -> None:
    cells = ssr.Space(more + 10)
    faces = cells.faces(0)
    inner = faces.grow(-1)
    x, at = rough(cells, 14), rough(faces, 14)
    slope = ssr.difference(inner, cells, 0, coordinates=(at[1:-1], x))
    A = ssr.identity(cells) + slope.T @ slope
    b = rng.uniform(-1, 1, 14)
    dense = A.to_scipy().toarray()
    np.testing.assert_allclose(A.solve(b), np.linalg.solve(dense, b), rtol=1e-12)


WRONG: dict[str, tuple[type[Exception], str, Callable[[], Any]]] = {
    "spacing of a second derivative": (
        ArgumentError,
        "two points between cells and faces",
        lambda: ssr.difference(line, line.grow(1), 0, derivative=2, spacing=line),
    ),
    "spacing of like points": (
        ArgumentError,
        "two points between cells and faces",
        lambda: ssr.difference(line, line.grow(1), 0, spacing=np.ones(12)),
    ),
    "spacing and coordinates": (
        ArgumentError,
        "takes one of them",
        lambda: ssr.difference(line, line.grow(1), 0, spacing=2.0, coordinates=line.grow(1)),
    ),
    "one position for two locations": (
        ArgumentError,
        "1 positions are given for cells and faces",
        lambda: ssr.difference(line, line.faces(0), 0, coordinates=line.faces(0)),
    ),
    "other points": (
        SpaceError,
        "Positions on",
        lambda: ssr.difference(line, line.grow(1), 0, coordinates=line),
    ),
    "not monotonic": (
        ArgumentError,
        "neither increase nor decrease",
        lambda: ssr.difference(
            line, line.grow(1), 0, coordinates=np.array([0.0, 1.0, 0.5] + [2.0] * 11)
        ),
    ),
    "a plane of positions": (
        ArgumentError,
        "an array of one axis",
        lambda: ssr.difference(line, line.grow(1), 0, coordinates=np.ones((3, 3))),
    ),
    "dropped points": (
        ArgumentError,
        "no position",
        lambda: ssr.difference(line, line, 0, outside="zero", coordinates=line),
    ),
    "an average along no axis": (
        ArgumentError,
        "no axis None",
        lambda: ssr.average(line, line.faces(0), coordinates=(line, line.faces(0))),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    kind, text, make = WRONG[name]
    with pytest.raises(kind, match=text):
        make()
