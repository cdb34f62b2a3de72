"""Multiples and sums of affine matrices are those of their linear parts and of their offsets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, ShapeError, SpaceError

n = ssr.size("n")
cells = ssr.Space(n)
wide = cells.grow(1)
second = ssr.stencil(cells, wide, {-1: 1.0, 0: -2.0, 1: 1.0})
ends = bc.dirichlet(bc.parameter("left"), side="low"), bc.neumann(3.0, side="high", spacing=0.5)
H = second @ bc.fill(wide, *ends)
G = ssr.stencil(cells, wide, {0: 1.0, 1: -1.0}) @ bc.fill(wide, bc.periodic())
eye = ssr.identity(cells)


def known(affine: Any, size: int = 6) -> tuple[Any, Any]:
    """Return the linear part and the offset as arrays."""
    values = dict.fromkeys(affine.parameters, 2.0)
    bound = affine.bind(n=size, **values)
    return bound.to_scipy().toarray(), bound.offset


SUMS: list[tuple[Any, list[tuple[float, Any]]]] = [
    (0.5 * H, [(0.5, H)]),
    (H * 3, [(3.0, H)]),
    (H / 4, [(0.25, H)]),
    (-H, [(-1.0, H)]),
    (H + H, [(2.0, H)]),
    (H - G, [(1.0, H), (-1.0, G)]),
    (eye - 0.1 * H, [(1.0, eye), (-0.1, H)]),
    (H - eye, [(1.0, H), (-1.0, eye)]),
    (2 * (eye + 0.5 * (G - H)), [(2.0, eye), (1.0, G), (-1.0, H)]),
]


@pytest.mark.parametrize(("made", "terms"), SUMS, ids=[made.name for made, _ in SUMS])
def test_sums_are_sums(made: Any, terms: list[tuple[float, Any]]) -> None:
    parts = [
        (weight, *known(t)) if isinstance(t, bc.Affine) else (weight, np.eye(6), np.zeros(6))
        for weight, t in terms
    ]
    linear, offset = known(made)
    assert np.allclose(linear, sum(weight * A for weight, A, _ in parts), rtol=1e-15)
    assert np.allclose(offset, sum(weight * c for weight, _, c in parts), rtol=1e-15)
    x = np.random.default_rng(0).random(6)
    bound = made.bind(**dict.fromkeys(made.parameters, 2.0))
    assert np.allclose(bound @ x, linear @ x + offset, rtol=1e-14)
    assert np.allclose(made.linear.bind(n=6).to_scipy().toarray(), linear, rtol=1e-15)
    assert np.allclose(made.T.bind(n=6).to_scipy().toarray(), linear.T, rtol=1e-15)


def test_products_and_programs_with_sums() -> None:
    step = eye - 0.1 * G
    squared = step @ step
    A, _ = known(step)
    x = np.random.default_rng(0).random(6)
    assert np.allclose(squared @ x, A @ A @ x, rtol=1e-14)

    @ssr.program(u=cells, left=ssr.scalar)
    def forward(u: Any, left: Any) -> None:
        u[:] = (eye + 0.1 * H.bind(left=left)) @ u

    wanted = x + 0.1 * (H.bind(left=5.0) @ x)
    forward(x, 5.0)
    assert np.allclose(x, wanted, rtol=1e-14)


def test_sums_on_fields_of_several_kinds() -> None:
    grid = bc.Grid([(3, 4), (3, 2)], links=bc.topologies.bricks(1, 2))
    fill = bc.fill(tuple(kind.grow(1) for kind in grid.kinds), bc.linked(), bc.zero())
    x = tuple(np.random.default_rng(0).random(kind.extent({})) for kind in grid.kinds)
    for made, wanted in zip((2.0 * fill - fill) @ x, fill @ x, strict=True):
        assert np.allclose(made, wanted, equal_nan=True)


def test_implicit_steps_by_a_solver() -> None:
    step = (eye - 0.3 * H).bind(n=6, left=2.0)
    b = np.random.default_rng(0).random(6)
    u, info = ssr.solvers.bicgstab(step.linear, b - step.offset, rtol=1e-12)
    assert info == 0
    assert np.allclose(step @ u, b, rtol=1e-10)
    with pytest.raises(ArgumentError, match="affine") as error:
        ssr.solvers.cg(step, b)
    assert "b - A.offset" in str(error.value)


def test_what_is_no_sum() -> None:
    other = ssr.stencil(ssr.Space(n + 1), ssr.Space(n + 1), {0: 1.0})
    with pytest.raises(SpaceError, match="different spaces"):
        H + other
    for wrong in 1.0, np.ones(6):
        with pytest.raises(ArgumentError, match="only matrices can be added"):
            H + wrong
        with pytest.raises(ArgumentError, match="only matrices can be added"):
            wrong - H
    with pytest.raises(ArgumentError, match="by a number"):
        H * eye
    with pytest.raises(ArgumentError, match="by a number"):

        @ssr.program(u=cells, dt=ssr.scalar)
        def implicit(u: Any, dt: Any) -> None:
            u[:] = (eye - dt * G) @ u

    with pytest.raises(TypeError):
        H * "two"


def test_linear_and_offset_keep_the_sizes_that_are_known() -> None:
    plane = ssr.Space(*ssr.sizes("ny nx"))
    around = plane.grow(1)
    fill = bc.fill(around, bc.dirichlet(1.0))

    @ssr.matrix(rows=plane, cols=around, k=plane)
    def ahead(j: Any, i: Any, *, k: Any) -> Any:
        yield (j, i + 1), k[j, i]

    first = ssr.stencil(plane, around, {(0, 0): 1.0, (0, 1): 1.0})
    bound = (first @ fill).bind(ny=2, nx=3)
    assert bound.linear.shape == (6, 6)
    assert fill.bind(ny=2, nx=3).linear.shape == (20, 6)
    assert (2.0 * bound + first @ fill).linear.shape == (6, 6)
    with pytest.raises(ShapeError):
        bound.linear @ np.ones((5, 5))
    made = ahead.bind(k=np.ones((2, 3))) @ fill
    assert made.linear.shape == (6, 6)
    np.testing.assert_array_equal(made.offset, [[0, 0, 2.0], [0, 0, 2.0]])
    sized = first.bind(ny=2, nx=3) @ fill
    assert sized.linear.shape == (6, 6)
    assert sized.offset.shape == (2, 3)
    with pytest.raises(ShapeError, match="bound to ny = 2"):
        sized @ np.ones((5, 3))
