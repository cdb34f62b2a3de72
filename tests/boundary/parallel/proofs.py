"""Programs of which each needs some rules of the planner, and proofs of their schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

import boundary as bc
import ssr
from boundary.parallel.schedules.plan import Plan
from boundary.parallel.verify.dependences import check_dependences
from boundary.parallel.verify.equivalence import check_equivalence
from boundary.parallel.verify.proof import prove

n, m = ssr.sizes("n m")
cells = ssr.Space(n, m)
wide = cells.grow(1)
STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
A = ssr.stencil(cells, cells, STAR, outside="zero")
far = ssr.stencil(cells, cells, {(0, 0): 4.0, (0, 2): -1.0, (-2, 0): -1.0}, outside="zero")
lap = ssr.stencil(cells, wide, STAR) @ bc.fill(wide, bc.dirichlet(0.5))


def product(x: Any, y: Any) -> None:
    """Read what others own, of a field that does not change."""
    y[:] = A @ x


def two_products(x: Any, y: Any) -> None:
    """Change what was read of others, and read what was changed."""
    y[:] = A @ x
    x[:] = far @ y


def relaxed(x: Any, y: Any) -> None:
    """Overwrite at each point what others read."""
    x[:] = y - 0.1 * (A @ x)


def through_ghosts(x: Any, y: Any) -> None:
    """Read through ghosts twice, with a change in between."""
    y[:] = x - 0.1 * (lap @ x)
    x[:] = y - 0.1 * (lap @ y)


def sweep(x: Any, y: Any) -> None:
    """Sweep in place: rows wait for rows of other boxes."""
    x[:] = A.tril().solve(y - A.triu(1) @ x)


def backward(x: Any, y: Any) -> None:
    """Sweep in place from the last row on."""
    x[:] = A.triu().solve(y - A.tril(-1) @ x)


def changed_sweep(x: Any, y: Any) -> None:
    """Change a field at each point, then sweep it."""
    x[:] = x + 0.5 * y
    x[:] = A.tril().solve(y - A.triu(1) @ x)


def two_sweeps(x: Any, y: Any) -> None:
    """Sweep two fields, each with terms of the other."""
    y[:] = y - 0.05 * (lap @ x)
    x[:] = A.tril().solve(y - A.triu(1) @ x)
    y[:] = y + 0.5 * x
    y[:] = far.tril().solve(x - far.triu(1) @ y)


def reduced(x: Any, y: Any) -> Any:
    """Use a number that all ranks make together."""
    alpha = ssr.dot(x, A @ y)
    x[:] = x + alpha * y
    return ssr.dot(x, x)


def sums(x: Any, y: Any) -> Any:
    """Read two fields of others and change neither."""
    return ssr.dot(A @ x, A @ y)


PROGRAMS: tuple[Callable[..., Any], ...] = (
    product, two_products, relaxed, through_ghosts, sweep, backward, changed_sweep, two_sweeps,
    reduced, sums,
)  # fmt: skip


def planned(
    function: Callable[..., Any],
    cut: tuple[int, int] = (2, 2),
    ranks: int | None = None,
    options: ssr.Options | None = None,
    sizes: tuple[int, int] = (8, 9),
) -> Plan:
    """Return the plan of a program on cells that are cut in some parts."""
    program = ssr.program(x=cells, y=cells, **({} if options is None else {"options": options}))
    ranks = cut[0] * cut[1] if ranks is None else ranks
    on = bc.distribute(cells, bc.simulated_ranks(ranks), cut=cut, n=sizes[0], m=sizes[1])
    return on.plan(program(function), np.dtype(np.float64))


def stored() -> Plan:
    """Return the plan of a product with a stored matrix, whose rows read two others."""
    rows = ssr.Space(6, 8)
    entries = scipy.sparse.dia_array((np.ones((2, 48)), [-9, 8]), shape=(48, 48))
    S = ssr.from_scipy(entries.tocsr(), rows=rows, cols=rows)

    def multiplied(x: Any, y: Any) -> None:
        y[:] = S @ x

    on = bc.distribute(rows, bc.simulated_ranks(3), cut=(3, 1))
    return on.plan(ssr.program(x=rows, y=rows)(multiplied), np.dtype(np.float64))


def linked() -> Plan:
    """Return the plan of a program that reads other blocks, which lie apart in memory."""
    grid = bc.Grid(6 * [(4, 4)], links=bc.cubed_sphere())
    panels, around = grid.cells, grid.cells.grow(1)
    star = {(0, *offset): weight for offset, weight in STAR.items()}
    laplacian = ssr.stencil(panels, around, star) @ bc.fill(around, bc.linked())

    def across(x: Any, y: Any) -> None:
        y[:] = laplacian @ x
        x[:] = laplacian @ y

    on = bc.distribute(grid, bc.simulated_ranks(4))
    return on.plan(ssr.program(x=panels, y=panels)(across), np.dtype(np.float64))


def within_boxes() -> Plan:
    """Return the plan of two sweeps within boxes, of which the second keeps what others had."""
    near = A.rank_local()

    def smoothed(x: Any, y: Any) -> None:
        rest = y - (A - near) @ x
        x[:] = near.tril().solve(rest - near.triu(1) @ x)
        x[:] = near.triu().solve(rest - near.tril(-1) @ x)
        y[:] = A @ x

    return planned(smoothed)


def proved(plan: Plan) -> None:
    """Prove the schedules of a first call, of later ones, and of one with a single valid halo."""
    prove(plan)
    for name in sorted(plan.kept):
        prove(plan, frozenset([name]))


def on_sets(plan: Plan) -> None:
    """Prove a first call and the next one by sets of elements alone."""
    check_dependences(plan)


def on_terms(plan: Plan) -> None:
    """Prove the same by terms alone."""
    check_equivalence(plan)


PROOFS = (on_sets, on_terms)
