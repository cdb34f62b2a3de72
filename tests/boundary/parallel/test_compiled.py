"""Compiled kernels on ranks: a gas, operators of two grids, single precision, unread ghosts."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

import boundary as bc
import ssr
from apps import euler
from apps.hpcg.solver import R, coarse, fine, staged

from .. import bodies
from . import ranks
from .ranks import Parts


def uneven(shape: tuple[int, ...], owners: int) -> Parts:
    """Return boxes of one cell, two cells and the rest along each axis, dealt out in turn."""
    edges = [sorted({0, 1, min(3, n - 1), n}) for n in shape]
    ranges = [pairwise(e) for e in edges]
    boxes = [(n % owners, 0, box) for n, box in enumerate(product(*ranges))]
    return Parts(owners + 1, boxes=tuple(boxes))


def test_a_gas() -> None:
    """A step of the gas reads ghosts that another program makes in the field itself."""
    sizes = {"ny": 9, "nx": 14}
    start = euler.bubble(16)(*np.ogrid[-2:11, -2:16])
    whole, next_whole = start.copy(), start.copy()
    speeds = []
    for _ in range(2):
        speeds.append(euler.fastest(whole))
        euler.periodic(whole)
        euler.step(0.1, 0.1, next_whole, whole)
        whole, next_whole = next_whole, whole
    for parts in Parts(1), Parts(3), uneven((9, 14), 4), Parts(6, cut=(2, 3)):
        on = parts.spread(euler.cells, sizes)
        U, V = on.scatter(euler.gas, start), on.scatter(euler.gas, start)
        for speed in speeds:
            assert euler.fastest(U) == speed
            euler.periodic(U)
            euler.step(0.1, 0.1, V, U)
            U, V = V, U
        ranks.check_equal([U, V], [whole, next_whole], repr(parts))


def test_operators_of_two_grids() -> None:
    A, small = staged(fine), staged(coarse)

    @ssr.program(x=fine, r=fine, xc=coarse, rc=coarse)
    def cycle(x: Any, r: Any, xc: Any, rc: Any) -> Any:
        rc[:] = R @ (r - A @ x)
        xc[:] = 0.03 * rc
        xc[:] = xc + 0.03 * (rc - small @ xc)
        x[:] = x + R.T @ xc
        r[:] = r - A @ x
        return ssr.dot(r, r), ssr.max(x), ssr.sum(xc)

    sizes = {"nz": 2, "ny": 3, "nx": 5}
    rng = np.random.default_rng(0)
    args = [rng.uniform(-1, 1, kind.extent(sizes)) for kind in (fine, fine, coarse, coarse)]
    shape = fine.extent(sizes)
    for parts in Parts(1), Parts(2), Parts(8, cut=(2, 2, 2)), Parts(7), uneven(shape, 5):
        ranks.check(cycle, args, fine, sizes, parts, compiled=True)


def test_single_precision() -> None:
    of = bodies.setting("plane")
    program = bodies.declared(of, [("fluxes", False, 0), ("dot", True, 1)], ssr.Options())
    sizes = {"ny": 6, "nx": 11}
    drawn = bodies.drawn(of, sizes, 0)
    args = [*(a.astype(np.float32) for a in drawn.values()), 0.5]
    for parts in Parts(1), Parts(5), uneven((6, 11), 3):
        ranks.check(program, args, of.cells, sizes, parts, compiled=True)


def test_products_of_ghosts_that_nobody_reads() -> None:
    """Columns at which values are computed that are not stored were loops without a body."""
    crossed = (
        (bc.Side(0, 0, "low"), bc.Side(0, 1, "low")),
        (bc.Side(1, 0, "low"), bc.Side(1, 1, "low")),
    )
    two = bc.Grid([(3, 3), (3, 3)], links=[bc.join(2, *sides, reverse=True) for sides in crossed])
    nodes = two.kinds[0].nodes()
    wide = nodes.grow((1, 3), (0, 2))
    around = [
        bc.fill(wide.vector(2), side, bc.linked(), owned=nodes)
        for side in (bc.symmetric(about="face"), bc.zero())
    ]
    quarter = ssr.stencil(nodes, wide, {(0, 0, 0): 0.25})

    @ssr.program(x=nodes.vector(2), y=nodes.vector(2))
    def multiply(x: Any, y: Any) -> None:
        product = (around[0] @ x) * (around[1] @ y)
        y[:] = ssr.vector(*(quarter @ each for each in product))

    found = []
    for world in None, bc.simulated_ranks(5):
        on = bc.distribute(two, world)
        x, y = on.zeros(nodes.vector(2)), on.zeros(nodes.vector(2))
        for each in x, y:
            each.fill(lambda p, j, i: 1.0 + p + 0.5 * j - 0.25 * i)
        multiply(x, y)
        found.append(y.gather())
    assert np.array_equal(*found)
