"""What is spared in programs, and that each choice can be switched off with the same result."""

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.errors import UndefinedGhostError

from ...ssr import plain

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
across = ssr.stencil(cells, wide, {(0, -1): 0.5, (0, 1): 0.25})


def program(**choices: bool) -> ssr.Program:
    fill = bc.fill(wide, bc.periodic(1), bc.dirichlet(2.0, 0), **choices)

    @ssr.program(u=cells, v=cells, options=ssr.Options(fold=False))
    def step(u: Any, v: Any) -> None:
        u[:] = across @ (fill @ u) + across @ (fill @ v)

    return step


@pytest.mark.parametrize(
    ("choices", "calls", "joined", "made"),
    [
        ({}, 1, True, 16),
        ({"narrow": False}, 1, True, 2 * 22),
        ({"join": False}, 2, False, 8),
        ({"narrow": False, "join": False}, 2, False, 22),
    ],
)
def test_counts_and_results(choices: Any, calls: int, joined: bool, made: int) -> None:
    step = program(**choices)
    text = bc.explain(step, ny=4, nx=5)
    assert text.count("ghosts are made") == calls
    assert ("2 calls joined to 1" in text) == joined
    assert f"{made} of {22 * (1 + joined)} ghosts are made" in text
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-1, 1, (2, 4, 5))
    wanted = sum(0.5 * np.roll(a, 1, 1) + 0.25 * np.roll(a, -1, 1) for a in (u, v))
    plain.run(step, u, v)
    np.testing.assert_allclose(u, wanted, rtol=1e-14)


def test_what_is_read_must_be_defined_in_any_case() -> None:
    down = ssr.stencil(cells, wide, {(1, 0): 1.0})
    fill = bc.fill(wide, bc.periodic(1), narrow=False)
    with pytest.raises(UndefinedGhostError):
        down @ fill


def test_a_program_without_ghosts() -> None:
    @ssr.program(u=cells)
    def p(u: Any) -> None:
        u[:] = 2.0 * u

    assert bc.explain(p) == "program p\n  makes no ghosts"


def test_blocks_are_named_where_there_are_some() -> None:
    text = bc.fill(wide, bc.periodic(1), bc.dirichlet(2.0, 0)).explain()
    assert "j in [0, ny - 1], i = nx: u[j, i - nx]" in text
    grid = bc.Grid(2 * [(3, 3)], links=bc.topologies.bricks(1, 2))
    text = bc.fill(grid.cells.grow(1), bc.linked(), bc.zero()).explain()
    assert "block 0, j in [0, 2], i = 3: u[block 1, j, i - 3]" in text


def test_folded_ghosts_are_counted() -> None:
    fill = bc.fill(wide, bc.periodic(1), bc.dirichlet(2.0, 0))
    cross = ssr.stencil(cells, wide, {(0, -1): 0.5, (1, 0): 0.25})

    @ssr.program(u=cells, v=cells)
    def step(u: Any, v: Any) -> None:
        v[:] = cross @ (fill @ u)

    assert "9 of 22 ghosts are folded, t is not stored" in bc.explain(step, ny=4, nx=5)
