"""Fills and synchronizations that a program's body makes are the same if their numbers are."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ImpureProgramError

cells = ssr.Space(4, 3)
grid = bc.Grid([(2, 2), (2, 2)], links=bc.topologies.bricks(2, 1))


def scalar(n: int) -> Any:
    return bc.fill(cells.grow(1), bc.dirichlet(float(n)))


def array(n: int) -> Any:
    return bc.fill(cells.grow((1, 0), 0), bc.ghost_value(np.full(3, float(n)), axis=0, side="low"))


def function(n: int) -> Any:
    return bc.fill(cells.grow(1), bc.neumann((lambda y, x: x * y) if n else (lambda y, x: x - y)))


def parameter(n: int) -> Any:
    return bc.fill(cells.grow(1), bc.dirichlet(bc.parameter("g"))).bind(g=float(n))


def copied(n: int) -> Any:
    tables = np.zeros((1, 2), int), np.full((1, 2, 1), float(n))
    return bc.fill(grid.cells.grow(1), bc.interpolate(*tables) @ bc.linked(), bc.zero())


def weighted(n: int) -> Any:
    return bc.synchronize(grid.cells.nodes(), weights=[1.0, 1.0 + n])


def based(n: int) -> Any:
    basis = np.full((2, 3, 3, 2, 2), [[1.0, n], [0.0, 1.0]])
    return bc.synchronize(grid.cells.nodes().vector(2), basis=np.moveaxis(basis, (3, 4), (0, 1)))


@pytest.mark.parametrize("make", [scalar, array, function, parameter, copied, weighted, based])
def test_steps_are_compared_by_their_numbers(make: Callable[[int], Any]) -> None:
    matrix = make(0)
    wide, own = (
        matrix.kinds * 2 if isinstance(matrix, bc.Synchronize) else (matrix.rows, matrix.cols)
    )
    runs = count()

    def other(w: Any, u: Any) -> None:
        w[:] = make(next(runs)) @ u

    def same(w: Any, u: Any) -> None:
        w[:] = make(1) @ u

    with pytest.raises(ImpureProgramError):
        ssr.program(w=wide, u=own)(other)
    ssr.program(w=wide, u=own)(same)
