"""Blocks with levels: at each of them the fill of blocks of two dimensions, bit for bit."""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
from boundary.fills.fill import Fill
from boundary.grid.link import Side

from ...random_examples import examples
from ...ssr import plain
from ..evaluate_pieces import evaluate
from ..walker import Array

SQUARES = (
    bc.cubed_sphere(),
    bc.topologies.bricks(1, 2),
    bc.topologies.moebius(),
    bc.topologies.o_grid(2),
    bc.topologies.two_by_two(periodic=True),
    bc.topologies.from_corners(["mabc", "mbde", "mdaf"]),
)


@dataclass(frozen=True)
class Flat:
    """Blocks of n by n points with tables: for blocks of two dimensions, and of three.

    Numbers are interpolated, vectors are turned too; with no points they are turned only.
    """

    links: bc.Connectivity
    n: int
    width: int
    points: int
    components: int | None

    def rule(self, **levels: Any) -> Any:
        rng = np.random.default_rng(self.n)
        first = rng.integers(0, self.n - self.points + 1, (self.width, self.n))
        weights = rng.uniform(-1, 1, (self.width, self.n, self.points))
        rule: Any = bc.linked()
        if self.points:
            rule = bc.interpolate(first, weights, **levels) @ rule
        if self.components is None:
            return rule
        form = self.links.count, 4, self.components, self.components, self.width, self.n
        return bc.transform_vector(rng.uniform(-1, 1, form), **levels) @ rule

    def fill(self) -> Fill:
        grid = bc.Grid(self.links.count * [(self.n, self.n)], links=self.links)
        return self._filled(grid.cells.grow(self.width), self.rule())

    def layered(self, levels: int, count: int, *rules: Any, ends: int = 0) -> Fill:
        shape, widths = [self.n] * 2, [(self.width, self.width)] * 2
        shape.insert(levels, count)
        widths.insert(levels, (ends, ends))
        grid = bc.Grid(self.links.count * [tuple(shape)], links=self.links.layered(levels))
        return self._filled(grid.cells.grow(*widths), self.rule(levels=levels), *rules)

    def _filled(self, wide: Any, *rules: Any) -> Fill:
        return bc.fill(wide if self.components is None else wide.vector(self.components), *rules)

    def random(self, count: int) -> Array:
        lead = () if self.components is None else (self.components,)
        shape = count, *lead, self.links.count, self.n, self.n
        return np.random.default_rng(1).uniform(-1, 1, shape)

    def axis(self, levels: int) -> int:
        """Return the number of the axis of levels in arrays."""
        return levels + 1 + (self.components is not None)


def evaluated(fill: Fill, u: Array) -> Array:
    """Return a field with its ghosts by the pieces of a fill, which are not compiled."""
    parts = fill.data
    block = parts.ruled.frame.blocks[0]
    pads = [(0, 0)] * (u.ndim - len(block.low)) + list(zip(block.low, block.high, strict=True))
    wide = np.pad(u, pads, constant_values=np.nan)
    axes = tuple(range(wide.ndim - len(block.low), wide.ndim))
    rolled = np.roll(wide, [-w for w in block.low], axes)
    fields = [rolled] if parts.components is None else list(rolled)
    evaluate(fill.step.parts({}), fields)
    return np.roll(rolled, block.low, axes)


@st.composite
def flats(draw: Any) -> Flat:
    n = draw(st.integers(1, 5))
    components = draw(st.sampled_from([None, 2]))
    points = draw(st.integers(int(components is None), n))
    return Flat(draw(st.sampled_from(SQUARES)), n, draw(st.integers(1, 3)), points, components)


@examples(30)
@given(flats(), st.integers(0, 2), st.integers(1, 4))
def test_each_level_has_the_bits_of_the_flat_fill(flat: Flat, levels: int, count: int) -> None:
    u = flat.random(count)
    fill = flat.fill()
    wanted = np.stack([evaluated(fill, level) for level in u])
    made = evaluated(flat.layered(levels, count), np.moveaxis(u, 0, flat.axis(levels)))
    plain.check_same(np.moveaxis(made, flat.axis(levels), 0), wanted)


@pytest.mark.parametrize("levels", [0, 1, 2])
@pytest.mark.parametrize(("components", "points"), [(None, 4), (2, 4), (2, 0)])
def test_kernels_have_them_too(levels: int, components: int | None, points: int) -> None:
    flat = Flat(bc.topologies.glued(twist=True), 6, 2, points, components)
    u = flat.random(9)
    fill, whole = flat.fill(), flat.layered(levels, 9)
    wanted = np.stack([evaluated(fill, level) for level in u])
    given_u = np.ascontiguousarray(np.moveaxis(u, 0, flat.axis(levels)))
    made = np.full(evaluated(whole, given_u).shape, 7.0)
    plain.run(whole._run, made, given_u)
    plain.check_same(np.moveaxis(made, flat.axis(levels), 0), wanted)


def test_weights_are_stored_once_for_all_levels() -> None:
    flat = Flat(bc.cubed_sphere(), 12, 2, 5, 2)

    layouts = 2 * [(0, 9000, 300, 16, 1)]
    few, many = (flat.layered(0, count).step.tables({}, layouts, np.float64) for count in (3, 30))
    assert few.weights.size == many.weights.size
    assert few.links.size == many.links.size


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_the_transpose(levels: int) -> None:
    flat = Flat(bc.cubed_sphere(), 4, 1, 3, 2)
    fill = flat.layered(levels, 2)
    B, C = fill.to_scipy(), flat.fill().to_scipy()
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-1, 1, B.shape[1]), rng.uniform(-1, 1, B.shape[0])
    assert np.isclose((B @ x) @ y, x @ (B.T @ y), rtol=1e-12)
    u = flat.random(2)
    made = np.nan_to_num(evaluated(fill, np.moveaxis(u, 0, flat.axis(levels))))
    np.testing.assert_allclose(B @ np.moveaxis(u, 0, flat.axis(levels)).ravel(), made.ravel())
    back = [C.T @ level.ravel() for level in np.moveaxis(made, flat.axis(levels), 0)]
    wanted = np.moveaxis(np.reshape(back, u.shape), 0, flat.axis(levels))
    np.testing.assert_allclose(B.T @ made.ravel(), wanted.ravel())


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_ghosts_beyond_an_edge_are_those_of_the_ends_of_levels(levels: int) -> None:
    """Above the first level and beyond a side: the rule of the levels, on ghosts of the side."""
    flat = Flat(bc.cubed_sphere(), 4, 2, 3, None)
    ends = bc.dirichlet(3.0, levels, "low"), bc.extrapolate(2, levels, "high")
    fill = flat.layered(levels, 3, *ends, ends=1)
    u = flat.random(3)
    level = np.stack([evaluated(flat.fill(), x) for x in u])
    made = np.moveaxis(evaluated(fill, np.moveaxis(u, 0, flat.axis(levels))), flat.axis(levels), 0)
    np.testing.assert_array_equal(made[1:-1], level)
    np.testing.assert_allclose(made[0], 6.0 - level[0], rtol=1e-14)
    np.testing.assert_allclose(made[-1], 2 * level[-1] - level[-2], rtol=1e-13, atol=1e-13)


def test_levels_that_are_linked_are_copied() -> None:
    """Two layers of panels, one above the other: the ghosts of a side are read across it too."""
    flat = Flat(bc.cubed_sphere(), 3, 1, 2, None)
    links = list(bc.cubed_sphere().layered().pairs())
    above = [
        bc.Link(
            bc.Side(k.here.block + 6, k.here.axis, k.here.end),
            bc.Side(k.there.block + 6, k.there.axis, k.there.end),
            k.axes,
            k.flips,
        )
        for k in links
    ]
    stack = [bc.join(3, Side(p, 0, "high"), Side(p + 6, 0, "low")) for p in range(6)]
    grid = bc.Grid(12 * [(2, 3, 3)], links=[*links, *above, *stack])
    rules = flat.rule(levels=0), bc.linked(axis=0), bc.zero()
    u = flat.random(4)
    level = np.stack([evaluated(flat.fill(), x) for x in u])
    both = np.concatenate([np.moveaxis(u[:2], 0, 1), np.moveaxis(u[2:], 0, 1)])
    made = evaluated(bc.fill(grid.cells.grow(1), *rules), both)
    np.testing.assert_array_equal(np.moveaxis(made[:6, 1:], 1, 0), level[:3])
    np.testing.assert_array_equal(np.moveaxis(made[6:, :-1], 1, 0), level[1:])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_links_with_a_further_axis(axis: int) -> None:
    """Points go where they go without it, and stay at their level."""
    place = axis % 3
    for links in SQUARES:
        layered = links.layered(axis)
        assert (layered.dims, layered.count) == (3, links.count)
        assert len(layered.links) == len(links.links)
        for link in links.links:
            here = Side(link.here.block, link.here.axis + (link.here.axis >= place), link.here.end)
            found = layered.link(here)
            assert found is not None
            for index in product((-2, 0, 3, 4), repeat=2):
                flat = list(link.point(index, (4, 4), (4, 4), (False,) * 2))
                wanted = [*flat[:place], 6, *flat[place:]]
                own = (*index[:place], 6, *index[place:])
                shape = (*(4, 4)[:place], 9, *(4, 4)[place:])
                assert list(found.point(own, shape, shape, (False,) * 3)) == wanted
