"""Of the ghosts only those are made that a program reads."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

import boundary as bc
import ssr
from boundary.tables.pieces import Piece
from ssr import ir
from ssr.points.sets import Domain

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(3)
fill = bc.fill(wide, bc.periodic())


def made(program: ssr.Program, **sizes: int) -> set[tuple[int, ...]]:
    """Return the ghosts that a program makes."""
    found = set()
    for step in program.ir.steps:
        if isinstance(step, ir.Call):
            for piece in step.external.parts(sizes):  # type: ignore[attr-defined]
                assert isinstance(piece, Piece)
                for offset in np.ndindex(*piece.extents):
                    found.add(tuple(int(a + b) for a, b in zip(piece.start, offset, strict=True)))
    return found


def test_layers_that_are_not_read_are_not_made() -> None:
    A = ssr.stencil(cells, wide, {(0, -1): 1.0, (0, 1): 1.0, (2, 0): 0.5})

    @ssr.program(y=cells, x=cells)
    def p(y: Any, x: Any) -> None:
        y[:] = A @ (fill @ x)

    sides = {(j, i) for j in range(5) for i in (-1, 4)}
    assert made(p, ny=5, nx=4) == sides | {(j, i) for j in (5, 6) for i in range(4)}
    x = np.random.default_rng(3).normal(size=(5, 4))
    y = np.empty_like(x)
    p(y, x)
    expected = np.roll(x, 1, 1) + np.roll(x, -1, 1) + 0.5 * np.roll(x, -2, 0)
    np.testing.assert_allclose(y, expected, rtol=1e-15, atol=1e-15)


def test_all_ghosts_are_made_for_the_caller() -> None:
    @ssr.program(h=wide)
    def p(h: Any) -> None:
        h[:] = fill @ h[cells]

    assert len(made(p, ny=5, nx=4)) == 11 * 10 - 5 * 4


def test_what_is_read_is_found_by_arithmetic_at_new_sizes() -> None:
    near = cells.grow(1)
    walls = bc.fill(near, bc.symmetric(axis=0), bc.dirichlet(lambda y, x: 1.0 * y, axis=1))
    star = {(0, 0): -4, (0, 1): 1, (0, -1): 1, (1, 0): 1, (-1, 0): 1}
    lap = ssr.stencil(cells, near, star)

    @ssr.program(y=cells, x=cells)
    def p(y: Any, x: Any) -> None:
        y[:] = lap @ (walls @ x)

    assert len(made(p, ny=5, nx=4)) == 18
    with patch.object(Domain, "__and__", side_effect=AssertionError):
        assert len(made(p, ny=7, nx=9)) == 32
