"""Values of fields outside programs: parts of the whole, and fields with other owners."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.worlds.channels import Channel
from boundary.parallel.worlds.world import Simulated

from ...ssr import strategies as some
from . import ranks

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
bricks = bc.Grid(3 * [(ny, nx)], links=bc.topologies.bricks(1, 3))
kinds = bc.Grid([(4, ny), (4, nx), (4, ny)], links=bc.topologies.bricks(1, 3))
SPACES: list[tuple[Any, Any]] = [
    *((plane, space) for space in (plane, plane.grow((2, 0), 1), plane.faces(1), ssr.Space(nx))),
    (plane, ssr.Space(2 * ny + 1, nx)),
    *((bricks, space) for space in (bricks.cells, bricks.cells.grow(1), bricks.cells.faces(0))),
    *((kinds, space) for space in (kinds.kinds[0].grow(2), kinds.kinds[1])),
]


@some.examples(60)
@given(
    st.sampled_from(SPACES),
    st.tuples(st.integers(1, 6), st.integers(1, 6)),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([np.float64, np.float32]),
    st.data(),
)
def test_values_arrive(
    of: tuple[Any, Any], shape: tuple[int, int], components: int | None, dtype: Any, data: Any
) -> None:
    """Every point is told by its value; what no number equals, NaN, arrives as well."""
    cells, space = of
    sizes = dict(zip(("ny", "nx"), shape, strict=True))
    kind = space if components is None else space.vector(components)
    drawn = [data.draw(ranks.parts(cells, sizes)) for _ in range(2)]
    count = max(parts.ranks for parts in drawn)
    one, other = (replace(parts, ranks=count).spread(cells, sizes) for parts in drawn)
    extent = kind.extent(sizes) if components is None else (components, *space.extent(sizes))
    whole = np.arange(np.prod(extent), dtype=dtype).reshape(extent)
    whole.flat[0] = np.nan
    field = one.scatter(kind, whole)
    root = data.draw(st.sampled_from([None, 0, count - 1]))
    assert np.array_equal(field.gather(root), whole, equal_nan=True)
    every = space.box(sizes)
    box = [data.draw(st.tuples(st.integers(a, b - 1), st.integers(a, b - 1))) for a, b in every]
    box = [(min(edge), max(edge) + 1) for edge in box]
    inside = [slice(low - a, high - a) for (low, high), (a, _) in zip(box, every, strict=True)]
    assert np.array_equal(field.gather(root, box), whole[(..., *inside)], equal_nan=True)
    moved = field.redistributed(other)
    assert moved.distribution is other
    assert moved.dtype == dtype
    assert np.array_equal(moved.gather(), whole, equal_nan=True)
    for points, values in moved.parts():
        inside = [
            slice(low - a, high - a) for (low, high), (a, _) in zip(points, every, strict=True)
        ]
        assert np.array_equal(values, whole[(..., *inside)], equal_nan=True)


class Counted(Simulated):
    """Ranks that note who sends how many values to whom."""

    sent: list[tuple[int, int, int]]

    def channel(self, outgoing: Any, incoming: Any, what: str, post: Any = None) -> Channel:
        self.sent = [(letter.source, letter.target, letter.values.size) for letter in outgoing]
        return super().channel(outgoing, incoming, what, post)


def test_only_what_is_needed_is_sent() -> None:
    world, cells = Counted(4), ssr.Space(8, 4)
    on, across = (bc.distribute(cells, world, cut=cut) for cut in ((4, 1), (2, 2)))
    field = on.zeros(cells)
    field.gather(root=3, box=((1, 5), (0, 2)))
    assert world.sent == [(0, 3, 2), (1, 3, 4), (2, 3, 2)]
    field.gather(root=0, box=((0, 2), (0, 4)))
    assert world.sent == []
    field.redistributed(on)
    assert world.sent == []
    field.redistributed(across)
    assert world.sent == [(0, 1, 4), (1, 0, 4), (2, 3, 4), (3, 2, 4)]


def test_a_moved_field_takes_part_in_programs() -> None:
    @ssr.program(x=plane, y=plane)
    def add(x: Any, y: Any) -> Any:
        y[:] = x + y
        return ssr.sum(y)

    on, other = (
        bc.distribute(plane, bc.simulated_ranks(3), cut=cut, ny=5, nx=6) for cut in ((3, 1), (1, 3))
    )
    x, y = on.zeros(plane), other.zeros(plane)
    x.fill(lambda j, i: 10 * j + i)
    with ranks.plain_kernels():
        assert add(x.redistributed(other), y) == np.add.outer(10 * np.arange(5), np.arange(6)).sum()
