"""Hierarchies of levels, each cut and owned in its own way, have the bits of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr import errors
from ssr.solvers import GaussSeidel, Jacobi, Multigrid, interpolation

from ...ssr import strategies as some
from . import ranks

n, m = ssr.sizes("n m")
fine, coarse = ssr.Space(2 * n + 1, 2 * m + 1), ssr.Space(n, m)
NEAR = {(0, 0): 4.1, (0, 1): -1.0, (0, -1): -0.9, (1, 0): -1.0, (-1, 0): -1.1}


@pytest.fixture(autouse=True)
def plain_programs() -> Iterator[None]:
    """Let programs run as plain Python, with arrays too."""
    with ranks.plain_programs():
        yield


A = ssr.stencil(fine, fine, NEAR, outside="zero")
P = interpolation(fine, coarse)


@ssr.program(x=fine, b=fine)
def smooth(x: Any, b: Any) -> None:
    x[:] = x + 0.2 * (b - A @ x)


@ssr.program(c=coarse, x=fine, b=fine)
def restrict(c: Any, x: Any, b: Any) -> Any:
    c[:] = P.T @ (b - A @ x)
    return ssr.max(c)


@ssr.program(x=fine, c=coarse)
def correct(x: Any, c: Any) -> Any:
    x[:] = x + P @ c
    return ssr.dot(x, x)


Level = tuple[Any, Any, Any]
"""A vector whose points are where finer ones are; the right side and solution of a level."""


def cycle(x: Any, b: Any, levels: list[Level]) -> list[float]:
    """Do a V-cycle; return the numbers of its programs."""
    smooth(x, b)
    if not levels:
        return []
    (near, right, solution), *below = levels
    numbers = [restrict(near, x, b)]
    assign(right, near)
    assign(solution, 0.0)
    numbers += cycle(solution, right, below)
    assign(near, solution)
    numbers.append(correct(x, near))
    smooth(x, b)
    return numbers


def assign(target: Any, source: Any) -> None:
    if isinstance(target, np.ndarray):
        target[...] = source
    else:
        target.set(source)


COUNT = 5
"""Ranks of a hierarchy."""


def drawn(data: Any, sizes: dict[str, int]) -> bc.Distribution:
    """Draw a spread of the cells of a level."""
    return replace(data.draw(ranks.parts(fine, sizes, most=COUNT)), ranks=COUNT).spread(fine, sizes)


def owned(data: Any, near: bc.Distribution) -> bc.Distribution:
    """Draw who works on a level: who owns the finer points, fewer ranks, or any of them."""
    how = data.draw(st.sampled_from(["here", "fewer", "worth", "other"]))
    if how == "fewer":
        return near.agglomerate(data.draw(st.integers(1, COUNT)))
    if how == "worth":
        return near.agglomerate(points=data.draw(st.integers(1, 30)))
    return near if how == "here" else drawn(data, {name: near.sizes[name] for name in "nm"})


@some.examples(10)
@given(st.data())
def test_levels_with_partitions_of_their_own(data: Any) -> None:
    count = data.draw(st.integers(2, 3))
    shape = 2 ** (count + 2) - 1, 2 ** (count + 1) - 1
    first = on = drawn(data, dict(zip("nm", (e // 2 for e in shape), strict=True)))
    arrays: list[Level] = []
    fields: list[Level] = []
    for level in range(1, count):
        near = on.coarsen(coarse, fine)
        on = owned(data, near)
        fields.append((near.zeros(fine), on.zeros(fine), on.zeros(fine)))
        extent = tuple((e + 1) // 2**level - 1 for e in shape)
        x, y, z = (np.zeros(extent) for _ in range(3))
        arrays.append((x, y, z))
    rng = np.random.default_rng(0)
    x, b = rng.uniform(-1.0, 1.0, shape), rng.uniform(-1.0, 1.0, shape)
    u, f = first.scatter(fine, x), first.scatter(fine, b)
    for _ in range(2):
        wanted = cycle(x, b, arrays)
        ranks.check_numbers(tuple(cycle(u, f, fields)), tuple(wanted))
        ranks.check_equal([u], [x], "cycle")


@pytest.mark.parametrize("worth", [1, 20, 60, 10**6])
def test_multigrid_gathers_coarse_levels(worth: int) -> None:
    """The bits do not depend on the ranks that work on a level."""
    grids = Multigrid(4.0 * A, P, P.T, smoother=Jacobi(), coarsest=21)
    array = np.linspace(-1.0, 2.0, 31 * 63).reshape(31, 63)
    wanted = np.zeros_like(array)
    grids(wanted, array)
    on = bc.distribute(fine, bc.simulated_ranks(6), n=15, m=31)
    z, r = on.zeros(fine), on.scatter(fine, array)
    with patch("boundary.parallel.ranks.field.WORTH", worth):
        grids(z, r)
    ranks.check_equal([z], [wanted], "cycle")
    levels = [known[3] for known in grids._vectors.values() if isinstance(known[3], bc.Field)]
    used = {len({*level.distribution.partition.owners.tolist()}) for level in levels}
    assert used == {1: {6}, 20: {6, 5}, 60: {6, 1}, 10**6: {1}}[worth]


def test_gauss_seidel_within_boxes_as_a_smoother() -> None:
    grids = Multigrid(4.0 * A, P, P.T, smoother=GaussSeidel(rank_local=True), coarsest=21)
    on = bc.distribute(fine, bc.simulated_ranks(4), cut=(2, 2), n=7, m=7)
    b = on.zeros(fine)
    b.fill(lambda j, i: np.sin(j) + i)
    x, info = grids.solve(b, rtol=1e-10)
    assert info == 0
    whole = (4.0 * A).bind(n=7, m=7).to_scipy()
    residual = whole @ x.gather().ravel() - b.gather().ravel()
    assert np.linalg.norm(residual) < 1e-9 * np.linalg.norm(b.gather())


def test_what_does_not_fit() -> None:
    on = bc.distribute(fine, bc.simulated_ranks(3), n=3, m=3)
    for wrong in 0, 1.5, "2":
        with pytest.raises(errors.ArgumentError, match="not a positive integer"):
            on.agglomerate(wrong)
    assert on.agglomerate(3) is on
    assert on.agglomerate(2) is on.agglomerate(2)
    with pytest.raises(errors.ArgumentError, match="distributed differently"):
        restrict(
            on.coarsen(coarse, fine).agglomerate(1).zeros(fine), on.zeros(fine), on.zeros(fine)
        )
