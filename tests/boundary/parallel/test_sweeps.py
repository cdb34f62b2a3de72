"""Sweeps on ranks among other statements on the same fields, against arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

Array = np.ndarray[Any, Any]

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
SIZES = {"ny": 6, "nx": 15}
STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
A = ssr.stencil(plane, plane, STAR, outside="zero")
B = ssr.stencil(
    plane, plane, {(0, 0): 5.0, (-1, 1): 1.0, (0, -1): -1.0, (-1, -1): 1.0}, outside="zero"
)
"""Its sweeps wait for rows at both sides of a cut across the last axis, and are doubled."""

C = ssr.stencil(
    plane,
    plane,
    {(0, 0): 5.0, (2, 1): -1.0, (-2, 1): -0.5, (-1, 0): 0.25, (-1, 1): -1.0, (1, 0): 1.0},
    outside="zero",
)
wide = plane.grow(1)
ghosts = bc.fill(wide, bc.zero())
lap = ssr.stencil(plane, wide, {(0, 0): 5.0, (1, -1): -1.0, (-1, -1): -1.0, (-1, 1): -0.5}) @ ghosts


def changed_before(x: Any, b: Any, k: Any) -> None:
    x[:] = x + 0.5 * b
    x[:] = A.tril().solve(b - A.triu(1) @ x)


def changed_behind(x: Any, b: Any, k: Any) -> None:
    x[:] = A.triu().solve(b - A.tril(-1) @ x)
    x[:] = x - 0.5 * k
    k[:] = x * x


def several(x: Any, b: Any, k: Any) -> None:
    x[:] = x - 0.05 * (lap @ k)
    k[:] = B.tril().solve(x - B.triu(1) @ k)
    x[:] = x + 0.5 * b
    b[:] = C.tril().solve(k - C.triu(1) @ b)


def completed(x: Any, b: Any, k: Any) -> None:
    """On ranks the ghosts of ``k`` lie in its own memory: its sweep must not change for that."""
    x[:] = x - 0.05 * (lap @ k)
    k[:] = B.tril().solve(x - B.triu(1) @ k)


def doubled(x: Any, b: Any, k: Any) -> None:
    k[:] = B.tril().solve(x - B.triu(1) @ k)
    k[:] = B.triu().solve(x - B.tril(-1) @ k)


BODIES = [changed_before, changed_behind, several, completed, doubled]


def run(program: ssr.Program, ranks: Any, cut: tuple[int, int] | None) -> list[Array]:
    on = bc.distribute(plane, ranks, cut=cut, **SIZES)
    arrays = np.random.default_rng(0).standard_normal((3, SIZES["ny"], SIZES["nx"]))
    fields = [on.scatter(plane, a) for a in arrays]
    program(*fields)
    return [field.gather() for field in fields]


@pytest.mark.parametrize(
    "options", [{}, {"fuse": False}, {"exact": True}, {"debug": True}], ids=str
)
@pytest.mark.parametrize("body", BODIES)
def test_values_do_not_depend_on_cuts(body: Any, options: dict[str, bool]) -> None:
    program = ssr.program(x=plane, b=plane, k=plane, options=ssr.Options(**options))(body)
    expected = run(program, None, None)
    for ranks, cut in (
        (1, (1, 1)),
        (2, (2, 1)),
        (2, (1, 2)),
        (4, (2, 2)),
        (15, (1, 15)),
        (3, (6, 1)),
    ):
        found = run(program, bc.simulated_ranks(ranks), cut)
        for one, other in zip(found, expected, strict=True):
            assert one.tobytes() == other.tobytes()
    for cut in (2, 1), (1, 2):
        for one, other in zip(run(program, bc.threads(2), cut), expected, strict=True):
            assert one.tobytes() == other.tobytes()


def test_the_sweep_sees_what_a_statement_before_it_has_made() -> None:
    """Against a dense triangular solve."""
    program = ssr.program(x=plane, b=plane, k=plane)(changed_before)
    x, b, _ = np.random.default_rng(0).standard_normal((3, SIZES["ny"], SIZES["nx"]))
    dense = A.bind(**SIZES).to_scipy().toarray()
    right = b.ravel() - np.triu(dense, 1) @ (x + 0.5 * b).ravel()
    expected = np.linalg.solve(np.tril(dense), right).reshape(x.shape)
    found, *_ = run(program, bc.simulated_ranks(4), (2, 2))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("local", [False, True])
def test_triangles_of_blocks_along_one_axis_are_sweeps(local: bool) -> None:
    """They are not systems along lines, which no cut may divide; as triangles of numbers are."""
    V = plane.vector(2)

    @ssr.matrix(rows=V, cols=V)
    def X(j: Any, i: Any) -> Any:
        yield (j, i), [[8.0, 0.5], [0.1, 9.0]]
        if (j - 1, i) in plane:
            yield (j - 1, i), [[0.025, 0.5], [0.0625, -0.03125]]

    @ssr.program(u=V)
    def solve(u: Any) -> None:
        u[:] = (X.rank_local() if local else X).tril().solve(u)

    right = np.random.default_rng(0).standard_normal((2, SIZES["ny"], SIZES["nx"]))
    found = []
    for ranks, cut in (
        (None, None),
        (bc.simulated_ranks(3), (1, 3)),
        (bc.simulated_ranks(3), (3, 1)),
    ):
        u = bc.distribute(plane, ranks, cut=cut, **SIZES).scatter(V, right)
        solve(u)
        found.append(u.gather())
    dense = X.bind(**SIZES).to_scipy().toarray()
    expected = np.linalg.solve(dense, right.ravel()).reshape(right.shape)
    np.testing.assert_allclose(found[0], expected, rtol=1e-13, atol=1e-13)
    for values in found[1 : 2 if local else 3]:
        assert values.tobytes() == found[0].tobytes()
