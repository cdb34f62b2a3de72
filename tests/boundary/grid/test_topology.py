"""Links of blocks: against a table, against maps into space, and against their own inverses."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.errors import LinkError
from boundary.grid.link import Link, Location, Side
from boundary.grid.topology import Connectivity
from ssr.errors import ArgumentError

# -- the table of the cubed sphere ---------------------------------------------------------------

TABLE = """
0 W (-1-k, t)  3 E no  (N-1-k, t)
0 E (N+k, t)   1 W no  (k, t)
0 S (t, -1-k)  5 N no  (t, N-1-k)
0 N (t, N+k)   4 S no  (t, k)
1 W (-1-k, t)  0 E no  (N-1-k, t)
1 E (N+k, t)   2 W no  (k, t)
1 S (t, -1-k)  5 E yes (N-1-k, N-1-t)
1 N (t, N+k)   4 E no  (N-1-k, t)
2 W (-1-k, t)  1 E no  (N-1-k, t)
2 E (N+k, t)   3 W no  (k, t)
2 S (t, -1-k)  5 S yes (N-1-t, k)
2 N (t, N+k)   4 N yes (N-1-t, N-1-k)
3 W (-1-k, t)  2 E no  (N-1-k, t)
3 E (N+k, t)   0 W no  (k, t)
3 S (t, -1-k)  5 W no  (k, t)
3 N (t, N+k)   4 W yes (k, N-1-t)
4 W (-1-k, t)  3 N yes (N-1-t, N-1-k)
4 E (N+k, t)   1 N no  (t, N-1-k)
4 S (t, -1-k)  0 N no  (t, N-1-k)
4 N (t, N+k)   2 N yes (N-1-t, N-1-k)
5 W (-1-k, t)  3 S no  (t, k)
5 E (N+k, t)   1 S yes (N-1-t, k)
5 S (t, -1-k)  2 S yes (N-1-t, k)
5 N (t, N+k)   0 S no  (t, k)
"""
"""Ghosts (i, j) of each panel and where they are read: i along alpha, j along beta, N cells."""

EDGES = {"W": (1, "low"), "E": (1, "high"), "S": (0, "low"), "N": (0, "high")}
ROWS = [
    re.fullmatch(r"(\d) (\w) (\(.*?\)) +(\d) (\w) (\w+) +(\(.*?\))", line).groups()  # type: ignore[union-attr]
    for line in TABLE.strip().splitlines()
]


def side(panel: str, edge: str) -> Side:
    axis, end = EDGES[edge]
    return Side(int(panel), axis, end)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ROWS, ids=[f"P{row[0]}{row[1]}" for row in ROWS])
@pytest.mark.parametrize("points", [False, True], ids=["cells", "points"])
def test_every_row_of_the_table(row: tuple[str, ...], points: bool) -> None:
    panel, edge, ghost, neighbour, its_edge, reverse, source = row
    link = bc.cubed_sphere().link(side(panel, edge))
    assert link is not None
    assert link.there == side(neighbour, its_edge)
    assert link.flips == (reverse == "yes",)
    n = 6
    if points:
        # There are N + 1 points; ghost layer k is at -1-k or N + 1 + k, the source 1 + k inside.
        ghost = ghost.replace("N+k", "N+1+k")
        source = source.replace("N-1-t", "N-t").replace("(k,", "(1+k,").replace(" k)", " 1+k)")
    for k, t in product(range(3), range(n + points)):
        names = {"k": k, "t": t, "N": n}
        i, j = eval(ghost, names)
        a, b = eval(source, names)
        assert link.point((j, i), (n, n), (n, n), (points, points)) == (b, a)


def test_the_table_is_all_there_is() -> None:
    assert len(ROWS) == 24
    assert {side(row[0], row[1]) for row in ROWS} == {link.here for link in bc.cubed_sphere().links}
    assert bc.cubed_sphere().unlinked() == ()


def test_the_eight_corners_of_the_cube() -> None:
    corners = """0.SW 3.SE 5.NW; 0.SE 1.SW 5.NE; 0.NW 3.NE 4.SW; 0.NE 1.NW 4.SE;
                 1.SE 2.SW 5.SE; 1.NE 2.NW 4.NE; 2.SE 3.SW 5.SW; 2.NE 3.NW 4.NW"""
    n = 3
    expected = {
        frozenset((int(c[0]), (n * (c[2] == "N"), n * (c[3] == "E"))) for c in group.split())
        for group in corners.split(";")
    }
    classes = bc.cubed_sphere().copies(6 * [(n, n)], (True, True))
    assert {frozenset(c) for c in classes if len(c) == 3} == expected
    assert all(len(c) in (2, 3) for c in classes)
    assert len(classes) == 8 + 12 * (n - 1)


# -- maps into space: the oracle -----------------------------------------------------------------


def cube(block: int, y: np.ndarray) -> np.ndarray:
    """Return the place on the cube of coordinates (beta, alpha) from 0 to 1 of a panel."""
    v, u = 2 * y - 1
    return np.array([[1, u, v], [-u, 1, v], [-1, -u, v], [u, -1, v], [-v, u, 1], [v, u, -1]][block])


def torus(block: int, y: np.ndarray) -> np.ndarray:
    """Return the place on a torus of two by two blocks: an angle for each axis."""
    return np.exp(1j * np.pi * (y + np.array([block // 2, block % 2])))


def plane(block: int, y: np.ndarray) -> np.ndarray:
    return y + np.array([block // 2, block % 2])


def strip(block: int, y: np.ndarray) -> np.ndarray:
    """Return the place on a Moebius strip in space."""
    assert block == 0
    angle, width = 2 * np.pi * y[1], 0.5 * (y[0] - 0.5)
    radius = 2 + width * np.cos(angle / 2)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), width * np.sin(angle / 2)])


def ring(block: int, y: np.ndarray) -> np.ndarray:
    return (1 + y[0]) * np.exp(2j * np.pi * (y[1] + block) / 3 * np.ones(1))


def band(block: int, y: np.ndarray) -> np.ndarray:
    """Return the place of two rectangles, the second one upside down."""
    return np.array([1 - y[0] if block else y[0], y[1] + block])


SURFACES = {
    "cube": (bc.cubed_sphere(), cube),
    "torus": (bc.topologies.two_by_two(periodic=True), torus),
    "square": (bc.topologies.two_by_two(), plane),
    "moebius": (bc.topologies.moebius(), strip),
    "ring": (bc.topologies.o_grid(3), ring),
    "twist": (bc.topologies.glued(twist=True), band),
}
LOCATIONS = list(product((False, True), repeat=2))


@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("staggered", LOCATIONS, ids=str)
def test_copies_are_the_points_at_one_place(name: str, staggered: Location) -> None:
    links, place = SURFACES[name]
    n = 4
    found: dict[tuple[complex, ...], list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    for block in range(links.count):
        for index in product(*(range(n + s) for s in staggered)):
            y = (np.array(index) + 0.5 * ~np.array(staggered)) / n
            key = np.round(place(block, y), 9) + 0.0
            found[tuple(key.tolist())].append((block, index))
    expected = sorted(tuple(sorted(c)) for c in found.values() if len(c) > 1)
    assert list(links.copies(links.count * [(n, n)], staggered)) == expected


@pytest.mark.parametrize("name", SURFACES)
def test_sides_meet_where_they_touch_in_space(name: str) -> None:
    links, place = SURFACES[name]
    n = 5
    touching: dict[tuple[complex, ...], list[Side]] = defaultdict(list)
    for edge in links.sides():
        y = np.full(2, 0.5)
        y[edge.axis] = edge.end == "high"
        touching[tuple((np.round(place(edge.block, y), 9) + 0.0).tolist())].append(edge)
    for met in touching.values():
        partners = [link.there for link in map(links.link, met) if link]
        assert partners == (met[::-1] if len(met) == 2 else [])
    for link in links.links:
        # A ghost is as far outside, in the plane of its side, as its source is inside.
        for index in product(range(n), repeat=2):
            near = index[link.here.axis] == (n - 1 if link.here.end == "high" else 0)
            if near:
                outward = 1 if link.here.end == "high" else -1
                ghost = tuple(x + outward * (a == link.here.axis) for a, x in enumerate(index))
                here = (np.array(index) + 0.5) / n
                here[link.here.axis] = link.here.end == "high"
                source = link.point(ghost, (n, n), (n, n), (False, False))
                there = (np.array(source) + 0.5) / n
                assert there[link.there.axis] == (
                    0.5 / n if link.there.end == "low" else 1 - 0.5 / n
                )
                there[link.there.axis] = link.there.end == "high"
                np.testing.assert_allclose(
                    place(link.here.block, here), place(link.there.block, there), atol=1e-12
                )


# -- three dimensions ----------------------------------------------------------------------------


def test_bricks_are_a_torus_of_three_dimensions() -> None:
    counts, n = (2, 3, 1), 2
    links = bc.topologies.bricks(*counts, periodic=(0, 1, 2))
    total = np.array(counts) * n
    for staggered in product((False, True), repeat=3):
        found = defaultdict(list)
        for block, place in enumerate(product(*map(range, counts))):
            for index in product(*(range(n + s) for s in staggered)):
                found[tuple((np.array(index) + n * np.array(place)) % total)].append((block, index))
        expected = sorted(tuple(sorted(c)) for c in found.values() if len(c) > 1)
        assert list(links.copies(links.count * [(n, n, n)], staggered)) == expected


def test_ghosts_of_bricks() -> None:
    links, shape = bc.topologies.bricks(1, 2, 1, periodic=(1,)), (3, 4, 5)
    link = links.link(Side(0, 1, "low"))
    assert link is not None
    assert link.there == Side(1, 1, "high")
    assert link.point((2, -3, 4), shape, shape, (False, False, False)) == (2, 1, 4)
    assert links.unlinked() == tuple(s for s in links.sides() if s.axis != 1)


CORNERS = np.array(list(product((0, 1), repeat=3)))


@pytest.mark.parametrize("turn", range(24))
def test_corners_of_turned_cubes(turn: int) -> None:
    """Two cubes side by side, the second turned in each of the 24 ways."""
    rotation = rotations()[turn]
    inner = (CORNERS - 0.5) @ rotation.T + 0.5  # of the second cube, in its own axes
    places = np.rint(inner).astype(int) + np.array([1, 0, 0])
    links = bc.topologies.from_corners([[tuple(c) for c in CORNERS], [tuple(c) for c in places]])
    (pair,) = links.pairs()
    assert pair.here == Side(0, 0, "high")
    n = 3
    for j, i, depth in product(range(n), range(n), range(2)):
        there = np.array(pair.point((n + depth, j, i), (n, n, n), (n, n, n), (False,) * 3))
        at = ((there + 0.5) / n - 0.5) @ rotation.T + 0.5 + np.array([1, 0, 0])
        np.testing.assert_allclose(at, (np.array([n + depth, j, i]) + 0.5) / n)


@pytest.mark.parametrize("turns", [(0, 0, 0, 0), (0, 7, 11, 0), (3, 11, 20, 1), (5, 16, 9, 22)])
def test_edges_that_meet_across_other_cubes(turns: tuple[int, ...]) -> None:
    """Four turned cubes around an edge, like an open fan: the first and the last are not linked.

    A place is the weights of corners of which it is the mean: equal weights, equal places.
    """
    labels = []
    for cube, turn in enumerate(turns):
        names = {
            (u, v, w): ("edge", w) if u == v == 0 else ("outer", cube, w) if u == v else
            ("spoke", cube + v, w)
            for u, v, w in product((0, 1), repeat=3)
        }  # fmt: skip
        corners = np.rint((CORNERS - 0.5) @ rotations()[turn].T + 0.5).astype(int)
        labels.append([names[tuple(c)] for c in corners.tolist()])
    links = bc.topologies.from_corners(labels)
    assert len(links.pairs()) == 3

    def place(block: int, y: np.ndarray) -> frozenset[object]:
        weights = np.prod(np.where(CORNERS, y, 1 - y), axis=1)
        return frozenset((c, w) for c, w in zip(labels[block], weights.tolist(), strict=True) if w)

    n = 2
    for staggered in product((False, True), repeat=3):
        found = defaultdict(list)
        for block in range(4):
            for index in product(*(range(n + s) for s in staggered)):
                y = (np.array(index) + 0.5 * ~np.array(staggered)) / n
                found[place(block, y)].append((block, index))
        expected = sorted(tuple(sorted(c)) for c in found.values() if len(c) > 1)
        assert list(links.copies(links.count * [(n, n, n)], staggered)) == expected


def rotations() -> list[np.ndarray]:
    found = []
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        for signs in product((1, -1), repeat=3):
            matrix = np.diag(signs)[list(order)]
            if np.linalg.det(matrix) > 0:
                found.append(matrix)
    return found


# -- any link ------------------------------------------------------------------------------------


@st.composite
def some_links(draw: st.DrawFn) -> Link:
    dims = draw(st.integers(1, 3))
    ends = st.sampled_from(["low", "high"])
    here = Side(0, draw(st.integers(0, dims - 1)), draw(ends))
    there = Side(1, draw(st.integers(0, dims - 1)), draw(ends))
    along = [a for a in range(dims) if a != there.axis]
    flips = tuple(draw(st.booleans()) for _ in along)
    return Link(here, there, tuple(draw(st.permutations(along))), flips)


@given(some_links(), st.data())
def test_a_link_and_its_inverse(link: Link, data: st.DataObject) -> None:
    shape = (5,) * link.ndim
    staggered = tuple(data.draw(st.lists(st.booleans(), min_size=link.ndim, max_size=link.ndim)))
    index = tuple(data.draw(st.integers(-9, 15)) for _ in shape)
    there = link.point(index, shape, shape, staggered)
    assert link.inverse.inverse == link
    assert link.inverse.seen(link.seen(staggered)) == staggered
    assert link.inverse.point(there, shape, shape, link.seen(staggered)) == index


@given(some_links(), st.data())
def test_distance_outside_is_distance_inside(link: Link, data: st.DataObject) -> None:
    n, here, there = 6, link.here, link.there
    staggered = tuple(data.draw(st.booleans()) for _ in range(link.ndim))
    index = [data.draw(st.integers(0, n - 1)) for _ in range(link.ndim)]
    layer = data.draw(st.integers(0, 3))
    more = staggered[here.axis]  # a point on the side is not a ghost
    index[here.axis] = n + layer + more if here.end == "high" else -1 - layer
    source = link.point(index, (n,) * link.ndim, (n,) * link.ndim, staggered)
    last = n - 1 - layer
    assert source[there.axis] == (layer + more if there.end == "low" else last)
    for a, b, flip in zip(
        [a for a in range(link.ndim) if a != here.axis], link.axes, link.flips, strict=True
    ):
        assert source[b] == (n - 1 + staggered[a] - index[a] if flip else index[a])


@given(some_links())
def test_connectivity_adds_the_inverse(link: Link) -> None:
    one = Connectivity(link.ndim, 2, [link])
    assert one.equals(Connectivity(link.ndim, 2, [link.inverse]))
    assert one.equals(Connectivity(link.ndim, 2, [link.inverse, link]))
    assert one.link(link.there) == link.inverse
    assert one.links_of(1) == (link.inverse,)
    assert len(one.unlinked()) == 4 * link.ndim - 2
    assert hash(one) == hash(Connectivity(link.ndim, 2, [link.inverse]))


def test_other_links_are_not_equal() -> None:
    assert not bc.topologies.glued().equals(bc.topologies.glued(twist=True))
    assert bc.topologies.glued() != bc.topologies.glued(twist=True)


def test_symbolic_sizes() -> None:
    ny, nx = ssr.sizes("ny nx")
    link = bc.topologies.glued(twist=True).link(Side(0, 1, "high"))
    assert link is not None
    rows, columns = link.source((ny, nx), (ny, nx), (False, False))
    assert (rows[:2], str(rows[2])) == ((0, -1), "ny - 1")
    assert (columns[:2], str(columns[2])) == ((1, 1), "-nx")
    rows, _ = link.source((ny, nx), (ny, nx), (True, False))
    assert str(rows[2]) == "ny"


def test_a_fold_onto_the_same_side() -> None:
    """The north of a tripolar grid: the last row meets itself the other way round."""
    top = Side(0, 0, "high")
    grid = Connectivity(2, 1, [Link(top, top, axes=(1,), flips=(True,))])
    link = grid.link(top)
    assert link is not None
    assert link.point((8, 1), (8, 6), (8, 6), (False, False)) == (7, 4)
    assert grid.copies(grid.count * [(8, 6)], (True, True)) == (
        ((0, (8, 0)), (0, (8, 6))),
        ((0, (8, 1)), (0, (8, 5))),
        ((0, (8, 2)), (0, (8, 4))),
    )


def test_faces_across_an_exchange_of_axes() -> None:
    """Edges of three cubes around a line: a link turns them into edges of another axis."""
    turned = Link(Side(0, 1, "high"), Side(1, 0, "high"), axes=(1,), flips=(False,))
    grid = Connectivity(2, 2, [turned])
    assert turned.seen((False, True)) == (True, False)
    assert grid.copies(grid.count * [(3, 3)], (False, True)) == ()
    assert len(grid.copies(grid.count * [(3, 3)], (True, True))) == 4


# -- mistakes ------------------------------------------------------------------------------------

STRAIGHT = Link(Side(0, 1, "high"), Side(1, 1, "low"), (0,), (False,))


def refused(message: str, *links: Link, dims: int = 2, count: int = 2) -> None:
    with pytest.raises(LinkError) as caught:
        Connectivity(dims, count, links)
    assert caught.value.render().replace(caught.value.span.render() + "\n", "") == message  # type: ignore[union-attr]


def test_a_side_that_does_not_exist() -> None:
    refused(
        "A link names a side that does not exist: block 2, axis 1 low.\n"
        "  Note: There are 2 blocks of dimension 2, counted from 0.",
        Link(Side(0, 1, "high"), Side(2, 1, "low"), (0,), (False,)),
    )
    refused(
        "A link names a side that does not exist: block 0, axis 2 high.\n"
        "  Note: There are 2 blocks of dimension 2, counted from 0.",
        Link(Side(0, 2, "high"), Side(1, 1, "low"), (0,), (False,)),
    )


def test_a_side_linked_twice() -> None:
    again = Link(Side(0, 1, "high"), Side(1, 1, "high"), (0,), (False,))
    refused(
        "A side is linked twice: block 0, axis 1 high.\n"
        "  Note: block 0, axis 1 high -> block 1, axis 1 low; axis 0 -> axis 0 and "
        "block 0, axis 1 high -> block 1, axis 1 high; axis 0 -> axis 0.\n"
        "  Hint: A side meets one side; where both directions are given, one is the inverse of the "
        "other.",
        STRAIGHT,
        again,
    )


def test_an_inverse_that_is_none() -> None:
    with pytest.raises(LinkError, match="A side is linked twice: block"):
        Connectivity(2, 2, [STRAIGHT, Link(STRAIGHT.there, STRAIGHT.here, (0,), (True,))])


def test_axes_that_are_no_map() -> None:
    refused(
        "A link does not map the axes along block 0, axis 1 high to those along block 1, axis 0 "
        "low.\n"
        "  Note: axes = (0,), flips = (False,), but the second has axes (1,).\n"
        "  Hint: Give each axis along the first side its own axis along the second, and a flip.",
        Link(Side(0, 1, "high"), Side(1, 0, "low"), (0,), (False,)),
    )
    with pytest.raises(LinkError, match="does not map the axes"):
        Connectivity(2, 2, [Link(Side(0, 1, "high"), Side(1, 1, "low"))])
    with pytest.raises(LinkError, match="does not map the axes"):
        Connectivity(2, 2, [Link(Side(0, 1, "high"), Side(1, 1, "low"), (0,), (False, True))])


def test_a_mirror_is_no_link() -> None:
    top = Side(0, 1, "high")
    refused(
        "A side is linked to itself by a mirror: block 0, axis 1 high.\n"
        "  Hint: Leave the side free and fill its ghost points by a symmetric rule.",
        Link(top, top, (0,), (False,)),
    )


def test_a_side_folded_by_a_quarter_turn() -> None:
    top = Side(0, 0, "high")
    refused(
        "A side is linked to itself by a map that is not its own inverse: block 0, axis 0 high.\n"
        "  Note: block 0, axis 0 high -> block 0, axis 0 high; axis 1 -> axis 2; axis 2 -> axis 1 "
        "reversed.\n"
        "  Hint: A side is folded onto itself by flipping axes or by exchanging two of them.",
        Link(top, top, (2, 1), (False, True)),
        dims=3,
    )


def test_sides_of_different_lengths() -> None:
    turned = Link(Side(0, 1, "high"), Side(1, 0, "high"), axes=(1,), flips=(False,))
    with pytest.raises(LinkError) as caught:
        Connectivity(2, 2, [turned]).check(2 * [(4, 6)])
    assert caught.value.message == "Linked sides have different lengths."
    assert caught.value.note == (
        "block 0, axis 1 high (4 cells) meets block 1, axis 0 high (6 cells)."
    )
    ny, nx = ssr.sizes("ny nx")
    with pytest.raises(LinkError, match=r"\(ny cells\) meets .*\(nx cells\)"):
        Connectivity(2, 2, [turned]).check(2 * [(ny, nx)])
    Connectivity(2, 2, [turned]).check(2 * [(ny, ny)])
    with pytest.raises(LinkError, match="Blocks of dimension 2 have 2 extents, not 1"):
        bc.cubed_sphere().check(6 * [(4,)])
    turned = Link(Side(0, 0, "high"), Side(0, 1, "low"), (2, 0), (False, False))
    with pytest.raises(LinkError, match=r"high \(2 by 3 cells\) meets .* low \(3 by 4 cells\)"):
        Connectivity(3, 1, [turned]).check([(4, 2, 3)])


@pytest.mark.parametrize("dims", [0, 4, 2.5])
def test_dimensions_out_of_range(dims: int) -> None:
    with pytest.raises(ArgumentError, match="The number of dimensions of a block must be 1 to 3"):
        Connectivity(dims, 1)


def test_no_blocks() -> None:
    with pytest.raises(ArgumentError, match="The number of blocks must be at least 1, not 0"):
        Connectivity(1, 0)


def test_bricks_are_checked() -> None:
    for counts in ((), (0, 1), (1, 1, 1, 1)):
        with pytest.raises(ArgumentError, match="bricks takes 1 to 3 positive numbers"):
            bc.topologies.bricks(*counts)
    with pytest.raises(ArgumentError, match=r"periodic is \(2,\); blocks with 2 axes have"):
        bc.topologies.bricks(1, 1, periodic=(2,))


def test_corners_that_do_not_tell() -> None:
    with pytest.raises(LinkError, match="Two corners of a side have the same label: block 0"):
        bc.topologies.from_corners(["abaa"])
    with pytest.raises(LinkError, match="3 sides have the same corners"):
        bc.topologies.from_corners(["abcd", "bdef", "bdgh"])
    with pytest.raises(LinkError, match="in orders that no link makes"):
        bc.topologies.from_corners(["abcdefgh", "abdcijkl"])
    for labels in ([], ["abc"], ["ab", "abcd"]):
        with pytest.raises(ArgumentError, match="Blocks have 2, 4 or 8 corners"):
            bc.topologies.from_corners(labels)


def test_helpers_agree() -> None:
    assert bc.topologies.o_grid(1).equals(bc.topologies.channel(2, axis=1))
    assert bc.topologies.glued().equals(bc.topologies.bricks(1, 2))
    assert bc.topologies.periodic_box(2).equals(bc.topologies.bricks(1, 1, periodic=(0, 1)))
    assert bc.topologies.from_corners(["ab", "bc", "ca"]).equals(
        bc.topologies.bricks(3, periodic=(0,))
    )
    assert (
        repr(bc.topologies.moebius())
        == "<Connectivity: 1 block of dimension 2, 1 link, 2 sides free>"
    )
