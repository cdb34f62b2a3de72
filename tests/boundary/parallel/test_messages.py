"""Messages hold what is read and little more, and no rank holds the whole."""

from __future__ import annotations

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.schedules.plan import plan
from boundary.parallel.worlds.world import Simulated

from ...ssr import strategies as some
from . import ranks
from .ranks import Parts

cells = ssr.Space(*ssr.sizes("ny nx"))


# -- what is read --------------------------------------------------------------------------------


STARS: dict[str, tuple[tuple[int, int], dict[Any, float]]] = {
    "cross": ((1, 1), {(0, 0): 4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}),
    "box": ((1, 1), dict.fromkeys(product((-1, 0, 1), repeat=2), 0.5)),
    "far": ((2, 3), {(0, 0): 1.0, (0, 3): 1.0, (-2, 0): 1.0, (1, 1): 1.0}),
}


class Closed:
    """A product with a fill, as a program and as a matrix whose entries say what is read."""

    def __init__(self, name: str, times: int = 1) -> None:
        self.cells: Any = cells
        self.sizes: dict[str, int] = {"ny": 9 * times, "nx": 12 * times}
        if name == "bricks":
            self.cells = bc.Grid(
                4 * [(5 * times, 7 * times)], links=bc.topologies.two_by_two(periodic=True)
            )
            self.sizes = {}
            rows = self.cells.cells
            wide = rows.grow(2)
            weights: Any = {(0, 0, 0): 1.0, (0, 1, 0): 0.5, (0, 0, -2): 0.25, (0, 0, 1): 2.0}
            rules = [bc.linked()]
        else:
            rows = cells
            width, weights = STARS[name]
            wide = cells.grow(*width)
            rules = [bc.periodic(1), bc.symmetric(0)]
        matrix, fill = ssr.stencil(rows, wide, weights), bc.fill(wide, *rules)

        @ssr.program(x=rows, y=rows)
        def multiply(x: Any, y: Any) -> None:
            y[:] = matrix @ (fill @ x)

        self.program = multiply
        self.rows = rows
        made = [abs(m.bind(**self.sizes).to_scipy()) for m in (matrix, fill)]
        self.reads = (made[0] @ made[1]).tocsr()

    def least(self, partition: Any, rank: int) -> int:
        """Return how many values of others the rows of a rank read."""
        owners = np.full(self.rows.extent(self.sizes), -1)
        for box, owner in zip(partition.boxes, partition.owners, strict=True):
            owners[tuple(slice(low, high) for low, high in box)] = owner
        flat = owners.ravel()
        read = np.unique(self.reads[flat == rank].indices)
        return int((flat[read] != rank).sum())


@pytest.mark.parametrize("name", [*STARS, "bricks"])
def test_messages_hold_what_is_read_and_little_more(name: str) -> None:
    """Small boxes read more: all ghosts at corners that lie in their memory are made."""
    of = Closed(name, 5)
    chosen = [Parts(1), Parts(2), Parts(3), Parts(4, cut=(2, 2)), Parts(6, cut=(3, 2)), Parts(12)]
    for parts in chosen:
        on = parts.spread(of.cells, of.sizes)
        made = plan(of.program, on.partition, np.dtype("f8")).explained()
        for rank in range(parts.ranks):
            least = 8 * of.least(on.partition, rank)
            assert least <= made.bytes(rank) <= 1.15 * least, (parts, rank)
            assert made.least(rank) >= least


@some.examples(15)
@given(st.sampled_from([*STARS, "bricks"]), st.data())
def test_all_that_is_read_is_sent(name: str, data: Any) -> None:
    of = Closed(name)
    on = data.draw(ranks.parts(of.cells, of.sizes)).spread(of.cells, of.sizes)
    with ranks.plain_kernels():
        bound = of.program.bind(on.zeros(of.rows), on.zeros(of.rows))
        ranks.check_mail(bound)
    for rank in range(on.world.ranks):
        assert bound.schedule.bytes(rank) >= 8 * of.least(on.partition, rank)


# -- memory --------------------------------------------------------------------------------------


class OneOfMany(Simulated):
    """One rank of a job, of which the others are not there: its messages go nowhere."""

    def __init__(self, ranks: int, rank: int) -> None:
        super().__init__(ranks)
        self.here = (rank,)


def test_a_rank_holds_its_part() -> None:
    """Of 4096 x 4096 points on 64 ranks a field has 2 MiB; two fields are made and bound."""
    of = Closed("cross")
    part = 8 * 4096 * 4096 // 64
    on = bc.distribute(cells, bc.simulated_ranks(64), ny=64, nx=64)
    with ranks.plain_kernels():
        of.program.bind(on.zeros(cells), on.zeros(cells))  # what is made once for all sizes
        tracemalloc.start()
        on = bc.distribute(cells, OneOfMany(64, 27), ny=4096, nx=4096)
        x, y = on.empty(cells), on.zeros(cells)
        x.fill(lambda j, i: j + 0.5 * i)
        of.program.bind(x, y)
        used, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert 2 * part <= used <= 2.1 * part + 2**19
    assert most <= 4.2 * part + 2**19  # a field that is given room for ghosts is there twice
