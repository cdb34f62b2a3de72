"""Which points of a space are ghosts: those that `grow` added, and nothing is guessed."""

import pickle
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr

n = ssr.size("n")
line = ssr.Space(n)
cells = ssr.Space(*ssr.sizes("ny nx"))
four, five = bc.Grid(2 * [(4,)], links=bc.topologies.bricks(2)), ssr.Space(5)


@pytest.mark.parametrize(
    ("space", "owned"),
    [
        (line, line),
        (line.grow((1, 2)), line),
        (line.grow((0, 2)), line),
        (line.grow(1).grow(1), line),
        (line.grow(2).grow(-1), line),
        (line.grow(1).grow(-1), line),
        (line.grow((1, 0)).grow((-1, 3)), line),
        (line.grow(-1), line.grow(-1)),
        (line.grow((-1, 0)), line.slab(0, 1, n)),
        (line.grow(-1).grow(1), line.grow(-1)),
        (line.grow(-1).grow(2), line.grow(-1)),
        (line.slab(0, -3, n).grow(1), line.slab(0, -3, n)),
        (line.slab(0, 2, n).grow((0, 1)), line.slab(0, 2, n)),
        (cells.grow(1, 0).grow(0, 2), cells),
        (cells.grow(1).grow((-1, 0), 0), cells),
        (cells.grow(0, (-1, 0)).grow(1), cells.grow(0, (-1, 0))),
        (cells.grow(1).faces(1), cells.faces(1)),
        (cells.faces(0).grow(1), cells.faces(0)),
        (cells.nodes().grow((1, 2)), cells.nodes()),
        (cells.grow(1).slab(0, 0, 2), cells.slab(0, 0, 2)),
        (cells.grow(1).side(1, "high"), cells.grow(1).side(1, "high").grow((-1, -1), 0)),
        (line.grow(1).times(five.grow(2)), line.times(five)),
        (four.cells.grow(1), four.cells),
        (four.cells.grow(1).grow(2), four.cells),
        (four.cells.grow(-1).grow(1), four.cells.grow(-1)),
        (four.cells.nodes().grow((0, 2)), four.cells.nodes()),
        (five.grow((4, -4)), None),
        (five.grow((4, -4)).grow(1), None),
        (line.grow((-1, 1)), None),
        (line.grow((-1, 1)).grow(2), None),
        (cells.grow(0, (-1, 1)), None),
        (line.grow((-1, 1)).times(five.grow(1)), None),
    ],
)
def test_owned(space: ssr.Space, owned: ssr.Space | None) -> None:
    assert space.owned == owned
    assert pickle.loads(pickle.dumps(space)).owned == owned
    assert space.owned is None or space.owned.owned == owned
    assert getattr(space.owned, "blocks", None) == getattr(space, "blocks", None) or owned is None


def test_ghosts_are_no_part_of_equality() -> None:
    assert line.grow(1) == line.slab(0, -1, n + 1)
    assert line.slab(0, -1, n + 1).owned == line.slab(0, -1, n + 1)
    assert hash(line.grow(1)) == hash(line.slab(0, -1, n + 1))


def test_unequal_widths() -> None:
    """The lowest index alone would give one ghost behind, and another number of cells."""
    wide = line.grow((1, 2))
    x = np.arange(1.0, 10) ** 2
    A = ssr.stencil(line, wide, {0: 1.0, -1: -2.0, 2: 0.5})
    padded = np.pad(x, (1, 2))
    wanted = padded[1:-2] - 2.0 * padded[:-3] + 0.5 * padded[3:]
    for fill in bc.fill(wide, bc.zero()), bc.fill(wide, bc.zero(), owned=line):
        assert fill.cols == line
        np.testing.assert_allclose(A @ fill @ x, wanted, rtol=1e-14)
    np.testing.assert_allclose(wanted[[0, -1]], [5.5, -47.0])


def test_owned_points_that_begin_below_zero() -> None:
    own = line.slab(0, -2, n)
    for wide in own.grow(1), own.grow((1, 0)).grow((0, 1)):
        fill = bc.fill(wide, bc.periodic())
        assert fill.cols == own
        x = np.arange(1.0, 6)
        np.testing.assert_array_equal(fill @ x, np.pad(x, 1, "wrap"))


def test_given_points_come_before_known_ones() -> None:
    own, wide = line.grow((2, 0)), line.grow((3, 1))
    A = ssr.stencil(own, wide, {-1: 1.0, 1: -2.0})
    x = np.arange(1.0, 6)
    padded = np.pad(x, 1, "wrap")
    fill = bc.fill(wide, bc.periodic(), owned=own)
    np.testing.assert_array_equal(A @ fill @ x, padded[:-2] - 2.0 * padded[2:])
    np.testing.assert_array_equal(A @ fill @ x, [1.0, -5.0, -6.0, -7.0, 2.0])
    assert bc.fill(wide, bc.periodic()).cols == line


def test_equal_spaces_have_the_ghosts_that_they_were_grown_by() -> None:
    """Ghosts added in several steps are those added at once; other owned points are given."""
    x = np.arange(1.0, 6)
    wide = line.grow((3, 1))
    for space in wide, line.grow((2, 0)).grow(1), line.grow(1).grow((2, 0)):
        assert space == wide
        fill = bc.fill(space, bc.periodic())
        assert fill.cols == line
        np.testing.assert_array_equal(fill @ x, np.pad(x, (3, 1), "wrap"))
    for space in line.slab(0, -3, n + 1), wide.slab(0, -3, n + 1):
        assert space == wide
        with pytest.raises(ssr.errors.SpaceError, match="does not tell"):
            bc.fill(space, bc.periodic())
        fill = bc.fill(space, bc.periodic(), owned=line)
        np.testing.assert_array_equal(fill @ x, np.pad(x, (3, 1), "wrap"))


def test_faces_between_walls() -> None:
    """The faces between cells are grown by those on the walls, which are ghosts."""
    inner = cells.faces(1).grow(0, -1)
    fill = bc.fill(inner.grow(0, 1), bc.zero(axis=1))
    u = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(fill @ u, np.pad(u, ((0, 0), (1, 1))))


@pytest.mark.parametrize(
    "wide",
    [
        line,
        line.slab(0, -1, n + 1),
        ssr.Space((-1, 6), 4),
        five.grow((4, -4)),
        five.grow((4, -4)).grow(1),
        line.grow((-1, 1)),
        line.grow(-1),
        cells.grow(1, (1, -1)),
    ],
)
def test_what_is_not_known_is_refused(wide: ssr.Space) -> None:
    with pytest.raises(ssr.errors.SpaceError, match="does not tell") as caught:
        bc.fill(wide, bc.periodic())
    assert "owned=cells" in str(caught.value)


def test_it_can_be_given_then() -> None:
    wide = line.slab(0, -1, n + 1)
    x = np.arange(1.0, 5)
    fill = bc.fill(wide, bc.periodic(), owned=line)
    np.testing.assert_array_equal(fill @ x, np.pad(x, 1, "wrap"))
    moved = five.grow((4, -4))
    fill = bc.fill(moved.grow(1), bc.periodic(), owned=moved)
    np.testing.assert_array_equal(fill @ np.arange(5.0), np.pad(np.arange(5.0), 1, "wrap"))


@pytest.mark.parametrize(
    "made",
    [
        lambda: bc.fill(line.grow(2), bc.zero(), owned=line.grow(3)),
        lambda: bc.fill(line.grow((2, 0)), bc.zero(), owned=line.grow((0, 1))),
        lambda: bc.fill(four.cells.grow(-1), bc.linked(), owned=four.cells),
    ],
)
def test_owned_points_lie_within(made: Any) -> None:
    with pytest.raises(ssr.errors.SpaceError, match="is not within"):
        made()


def test_a_first_index_that_depends_on_sizes() -> None:
    side = cells.side(1, "high")
    with pytest.raises(ssr.errors.SpaceError, match="depends on sizes"):
        bc.fill(side.grow((1, 1), 0), bc.periodic(axis=0))
    known = ssr.Space(4, 6).side(1, "high")
    fill = bc.fill(known.grow((1, 1), 0), bc.periodic(axis=0))
    x = np.arange(4.0)[:, None]
    np.testing.assert_array_equal(fill @ x, np.pad(x, ((1, 1), (0, 0)), "wrap"))
