"""Points off the grid on ranks: the bits of one array, and a job of processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, OutOfRangeError, SpaceError

from . import jobs
from .test_mpi import needs_mpi, start

cells = ssr.Space(*ssr.sizes("ny nx"))
SIZES = {"ny": 7, "nx": 9}
SPACES = cells, cells.faces(1), cells.grow(1), cells.vector(2), cells.nodes().vector(3)
BOXES = [(2, 0, ((0, 3), (0, 9))), (0, 0, ((3, 7), (0, 2))), (2, 0, ((3, 7), (2, 9)))]


def spreads() -> Iterator[Any]:
    """Yield the cells on ranks: some own several boxes, some own nothing."""
    for world in bc.simulated_ranks(3), bc.threads(2):
        yield bc.distribute(cells, world, **SIZES)
    yield bc.distribute(cells, bc.simulated_ranks(4), boxes=BOXES, **SIZES)
    yield bc.distribute(cells, bc.simulated_ranks(1), cut=(2, 3), **SIZES)


def places(count: int, seed: int) -> Any:
    """Return points in all cells, some of them between boxes of ranks."""
    found = np.random.default_rng(seed).uniform((-0.5, -0.5), (6.5, 8.5), (count, 2))
    found[: count // 2] = np.round(2 * found[: count // 2]) / 2
    return found


def random(kind: Any, dtype: str) -> tuple[ssr.Space, Any, Any]:
    """Return the space of a kind, an array for it, and values for 40 points."""
    space = kind if isinstance(kind, ssr.Space) else kind.space
    lead = () if space is kind else (kind.components,)
    rng = np.random.default_rng(2)
    return space, rng.random((*lead, *space.extent(SIZES))).astype(dtype), rng.random((40, *lead))


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
def test_ranks_have_the_bits_of_an_array(method: str) -> None:
    for on in spreads():
        one = bc.points(cells, places(40, 0), method, periodic=[1], **SIZES)
        many = bc.points(on, places(40, 0), method, periodic=[1])
        for turn in range(2):
            for kind, dtype in zip(SPACES, ("f8", "f4", "f8", "f4", "f8"), strict=True):
                space, u, values = random(kind, dtype)
                field = on.scatter(kind, u)
                wanted, found = one.interpolate(u, space), many.interpolate(field)
                assert found.dtype == wanted.dtype
                assert found.tobytes() == wanted.tobytes(), (on, kind)
                one.inject(u, values, space)
                many.inject(field, values)
                assert field.gather().tobytes() == u.tobytes(), (on, kind)
            for points in one, many:
                (kept,) = points.move(places(40, turn + 1), np.arange(40))
                np.testing.assert_array_equal(kept, np.arange(40))


def test_programs_and_points_share_fields() -> None:
    """Programs see what was injected, and points what programs compute, wherever values move to."""
    second = ssr.difference(cells, cells.grow(1), 0, derivative=2)
    fill = bc.fill(cells.grow(1), bc.dirichlet(1.0))

    @ssr.program(u=cells)
    def step(u: Any) -> None:
        u[:] = u + 0.1 * (second @ (fill @ u))

    def run(on: Any) -> Any:
        u, points = on.zeros(cells), bc.points(on, places(20, 1), "cubic")
        found = []
        for n in range(3):
            points.inject(u, np.arange(20.0) + n)
            step(u)
            found += [points.interpolate(u), points.interpolate(u, fill=fill)]
            points.inject(u, found[-1], fill=fill)
            points.move(places(20, n))
        return np.array([*found, points.interpolate(u)]).tobytes()

    wanted = run(bc.distribute(cells, **SIZES))
    assert run(bc.distribute(cells, bc.simulated_ranks(3), **SIZES)) == wanted


def test_more_ranks_than_cells() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(9), ny=2, nx=3)
    x, u = [(0.5, 1.5), (-0.5, 2.5), (1.0, 0.25)], on.zeros(cells)
    u.fill(lambda j, i: 10.0 * j + i)
    points = bc.points(on, x, "cubic", outside="nan")
    np.testing.assert_allclose(points.interpolate(u), [6.5, -2.5, 10.25])
    points.move(np.add(x, 3.0))
    assert np.isnan(points.interpolate(u)).all()
    points.inject(u, 1.0)
    bc.points(on, []).inject(u, 1.0)
    np.testing.assert_array_equal(u.gather(), [[0, 1, 2], [10, 11, 12]])


def test_blocks_on_ranks() -> None:
    grid = bc.Grid(6 * [(4, 4)], links=bc.cubed_sphere())
    x = np.column_stack([np.arange(24) % 6, np.random.default_rng(0).uniform(-0.5, 3.5, (24, 2))])
    q, wide = np.random.default_rng(1).random((6, 6, 6)), grid.cells.grow(1)
    wanted = bc.points(grid, x, "cubic").interpolate(q, wide)
    for world in bc.simulated_ranks(4), bc.simulated_ranks(30):
        on = bc.distribute(grid, world)
        found = bc.points(on, x, "cubic").interpolate(on.scatter(wide, q))
        assert found.tobytes() == wanted.tobytes()


def test_fields_of_ranks_that_are_refused() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(3), **SIZES)
    points = bc.points(on, places(4, 0))
    with pytest.raises(ArgumentError, match=r"on\.scatter"):
        points.interpolate(np.ones((7, 9)))
    with pytest.raises(ArgumentError, match="another distribution"):
        points.interpolate(bc.distribute(cells, bc.simulated_ranks(3), **SIZES).zeros(cells))
    with pytest.raises(SpaceError, match="The field is on"):
        points.interpolate(on.zeros(cells), cells.faces(0))
    with pytest.raises(OutOfRangeError, match="does not fit"):
        bc.points(on, places(9, 0), "sinc").interpolate(on.zeros(cells))
    with pytest.raises(ArgumentError, match="Sizes are given for a distribution"):
        bc.points(on, places(4, 0), ny=7)
    with pytest.raises(ArgumentError, match="each once"):
        bc.points(on, places(3, 0), numbers=[0, 1, 1])


@needs_mpi
def test_processes_have_the_bits_of_one() -> None:
    """Each rank refuses points if one of them is outside, and goes on."""
    found = start(4, "drifts")
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == repr(jobs.drifting(None))
