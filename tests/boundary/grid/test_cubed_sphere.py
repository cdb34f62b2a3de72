"""Ghosts of the cubed sphere: interpolated along the neighbour's lines, and turned."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import boundary as bc
from apps.swe import geometry

from .. import evaluate_pieces
from ..walker import Array

WIDTH = 3
SIZES = 16, 32, 64


@cache
def coordinates(n: int) -> tuple[Array, Array]:
    """Return alpha and beta of the centres of cells and ghosts, shape (n + 6, n + 6)."""
    line = geometry.centres(n, WIDTH)
    alpha, beta = np.meshgrid(line, line, indexing="xy")
    return alpha, beta


def scalar(r: Array) -> Array:
    return np.asarray(np.exp(r[0]) * np.sin(2 * r[1] + 0.5) + r[2] ** 3)


def field(n: int) -> Array:
    """Return a smooth function at cells and ghosts of all panels."""
    return scalar(geometry.position(geometry.PANELS, *coordinates(n)))


def rotation(n: int) -> Array:
    """Return the components of a solid-body rotation about a tilted axis, (2, 6, n + 6, n + 6)."""
    axis = np.array([0.3, -0.5, 0.8])
    r = geometry.position(geometry.PANELS, *coordinates(n))
    lon_lat = geometry.compass(r)
    velocity = np.cross(axis, r, axisb=0, axisc=0)
    wind = np.einsum("er...,r...->e...", lon_lat, velocity)
    return geometry.contravariant(geometry.PANELS, *coordinates(n), wind)


def table(n: int) -> Any:
    return bc.interpolate(*geometry.interpolation(n))


def turn(n: int) -> Any:
    """Return the rotations of the ghosts, sides in the order south, north, west, east."""
    matrices = np.moveaxis(geometry.rotations(n), (2, 3), (0, 1))
    return bc.transform_vector(matrices[:, [2, 3, 0, 1]])


def filled(fill: Any, whole: Array) -> Array:
    """Return an array whose ghosts beyond sides were made from its owned points."""
    made = np.full_like(whole, np.nan)
    inner = (..., slice(WIDTH, -WIDTH), slice(WIDTH, -WIDTH))
    made[inner] = whole[inner]
    rolled = np.roll(made, (-WIDTH, -WIDTH), (-2, -1))
    fields = [rolled] if fill.data.components is None else list(rolled)
    with pytest.MonkeyPatch.context() as patch:  # last bits do not matter here
        patch.setattr(evaluate_pieces, "fused", lambda a, b, c: a * b + c)
        evaluate_pieces.evaluate(fill.step.parts({}), fields)
    return np.roll(rolled, (WIDTH, WIDTH), (-2, -1))


def beside(n: int) -> Array:
    """Return where ghosts are that lie beyond one side only."""
    out = np.zeros(n + 2 * WIDTH, bool)
    out[:WIDTH] = out[-WIDTH:] = True
    return out[:, None] ^ out[None, :]


def errors(vector: bool) -> list[float]:
    found = []
    for n in SIZES:
        wide = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells.grow(WIDTH)
        whole = rotation(n) if vector else field(n)
        rule = turn(n) @ table(n) @ bc.linked() if vector else table(n) @ bc.linked()
        made = filled(bc.fill(wide.vector(2) if vector else wide, rule), whole)
        place = (..., beside(n))
        found.append(float(abs(made[place] - whole[place]).max() / abs(whole).max()))
    return found


@pytest.mark.parametrize("vector", [False, True])
def test_order_of_convergence(vector: bool) -> None:
    found = errors(vector)
    orders = np.log2(np.array(found[:-1]) / found[1:])
    assert orders[0] > 4.4, (found, orders)
    assert orders[1] > 5.0, (found, orders)
    assert found[-1] < 1e-7


def test_corners_have_no_value() -> None:
    n = 8
    wide = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells.grow(WIDTH)
    made = filled(bc.fill(wide, table(n) @ bc.linked()), field(n))
    out = np.zeros(n + 2 * WIDTH, bool)
    out[:WIDTH] = out[-WIDTH:] = True
    corners = out[:, None] & out[None, :]
    assert np.isnan(made[:, corners]).all()
    assert not np.isnan(made[:, ~corners]).any()


def test_a_wrong_rotation_is_seen() -> None:
    """Without the rotation the components are those of the neighbour: far off."""
    n = 16
    wide = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells.grow(WIDTH)
    whole = rotation(n)
    made = filled(bc.fill(wide.vector(2), table(n) @ bc.linked()), whole)
    place = (..., beside(n))
    assert abs(made[place] - whole[place]).max() / abs(whole).max() > 0.1


def test_copies_take_the_nearest_cell_beyond_a_side() -> None:
    """The first ghosts of a plain copy are the points across the edge, at most a cell away."""
    n = 16
    wide = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells.grow(WIDTH)
    r = geometry.position(geometry.PANELS, *coordinates(n))
    made = np.stack([filled(bc.fill(wide, bc.linked()), x) for x in r])
    place = (..., beside(n))
    distance = np.sqrt(((made[place] - r[place]) ** 2).sum(axis=0))
    assert np.nanmax(distance) < WIDTH * np.pi / 2 / n
