"""Interpolation and rotation of ghosts: of constants, and by tables that lead far away."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
from boundary.tables.lines import pieces_of
from boundary.tables.pieces import seen
from ssr.errors import ArgumentError

from ...ssr import plain

n, layers = 30, 2
grid = bc.Grid(2 * [(n, n)], links=bc.topologies.bricks(1, 2))
rng = np.random.default_rng(0)
FAR = np.array([n - 3 - np.arange(n).clip(0, n - 3)] * layers)
WEIGHTS = rng.uniform(-1, 1, (layers, n, 3))


def filled(fill: Any, u: Any) -> Any:
    out = np.full((*u.shape[:-2], n, n + layers), np.nan)
    plain.run(fill._run, out, u)
    return out


def test_tables_that_run_backwards() -> None:
    rule = bc.interpolate(FAR, WEIGHTS) @ bc.linked()
    wide = grid.cells.grow(0, (0, layers))
    fill = bc.fill(wide, rule, bc.zero(block=1, side="high", axis=1))
    u = rng.uniform(-1, 1, (2, n, n))
    made = filled(fill, u)
    for k in range(layers):
        for t in range(n):
            wanted = WEIGHTS[k, t] @ u[1, FAR[k, t] : FAR[k, t] + 3, k]
            assert np.isclose(made[0, t, n + k], wanted)
    reads = 0
    for part in fill.step.parts({}):
        for piece in pieces_of(part):
            reads += sum(int(np.prod(seen(piece, tap)[2])) for tap in piece.taps)
    assert reads <= 12 * 3 * n * layers  # not n for each ghost


def test_constants_are_interpolated() -> None:
    first, weights = np.zeros((layers, n), int), rng.uniform(-1, 1, (layers, n, 2))
    rule = bc.interpolate(first, weights) @ bc.dirichlet(3.0)
    fill = bc.fill(bc.Grid([(n, n)]).cells.grow(0, (0, layers)), rule)
    u = rng.uniform(-1, 1, (1, n, n))
    made = filled(fill, u)
    for k in range(layers):
        ghosts = 6.0 - u[0, :2, n - 1 - k]
        np.testing.assert_allclose(made[0, :, n + k], weights[k] @ ghosts)


def test_constants_are_turned() -> None:
    matrices = rng.uniform(-1, 1, (1, 4, 2, 2, layers, n))
    rule = bc.transform_vector(matrices) @ bc.dirichlet([3.0, -1.0])
    fill = bc.fill(bc.Grid([(n, n)]).cells.grow(0, (0, layers)).vector(2), rule)
    u = rng.uniform(-1, 1, (2, 1, n, n))
    made = filled(fill, u)
    for k in range(layers):
        ghosts = np.array([[6.0], [-2.0]]) - u[:, 0, :, n - 1 - k]
        wanted = np.einsum("cdt,dt->ct", matrices[0, 3, :, :, k], ghosts)
        np.testing.assert_allclose(made[:, 0, :, n + k], wanted)


def test_values_along_a_side_are_not_interpolated() -> None:
    first, weights = np.zeros((layers, n), int), np.ones((layers, n, 1))
    rule = bc.interpolate(first, weights) @ bc.ghost_value(np.ones(n))
    with pytest.raises(ArgumentError, match="values that change along a side"):
        bc.fill(bc.Grid([(n, n)]).cells.grow(0, (0, layers)), rule)
