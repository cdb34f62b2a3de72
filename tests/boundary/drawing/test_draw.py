"""Pictures of grids: what is drawn is right, and can be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import boundary as bc
from boundary.drawing.draw import GAP, MARKS, tiles
from boundary.grid.link import Link, Side
from boundary.grid.topology import Connectivity
from ssr.errors import ArgumentError

from ..grid.test_topology import SURFACES

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

GRIDS = {name: links for name, (links, _) in SURFACES.items()} | {
    "line": bc.topologies.bricks(3, periodic=(0,)),
    "bricks": bc.topologies.bricks(3, 4, periodic=(0, 1)),
    "cubes": bc.topologies.bricks(1, 1, 2, periodic=(0,)),
    "fold": Connectivity(
        2, 1, [Link(Side(0, 0, "high"), Side(0, 0, "high"), axes=(1,), flips=(True,))]
    ),
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def arrows(ax: Any, colour: str | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the starts and ends of the arrows of a picture."""
    return [
        (np.array(a.xyann), np.array(a.xy))
        for a in ax.texts
        if hasattr(a, "xyann") and a.arrowprops["color"] in (colour, a.arrowprops["color"])
    ]


def overlaps(ax: Any) -> list[tuple[str, str]]:
    """Return the pairs of texts that overlap in a picture of 100 dots an inch."""
    ax.figure.set_dpi(100)
    ax.figure.canvas.draw()
    boxes = [(t.get_text(), t.get_window_extent()) for t in [*ax.texts, ax.title] if t.get_text()]
    return [(a, b) for (a, p), (b, q) in combinations(boxes, 2) if p.overlaps(q)]


# -- blocks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRIDS)
def test_texts_do_not_overlap(name: str) -> None:
    ax = bc.draw(GRIDS[name])
    assert overlaps(ax) == []
    size = ax.figure.get_size_inches()
    assert max(size) <= 14.5
    assert min(size) > 1


@pytest.mark.parametrize("name", GRIDS)
def test_each_link_has_its_letter_twice(name: str) -> None:
    links = GRIDS[name]
    ax = bc.draw(links)
    letters = [t for t in ax.texts if t.get_weight() == "bold" and t.get_text().isalpha()]
    colours = defaultdict(list)
    for text in letters:
        colours[text.get_text()].append(text.get_color())
    assert len(colours) == len(links.pairs())
    for link, (_, found) in zip(links.pairs(), sorted(colours.items()), strict=True):
        assert len(found) == (1 if link.here == link.there else 2)
        assert len(set(found)) == 1


@pytest.mark.parametrize("name", SURFACES)
def test_arrows_of_a_link_are_at_one_place_in_space(name: str) -> None:
    links, place = SURFACES[name]
    ax = bc.draw(links)
    found = defaultdict(list)
    for annotation in ax.texts:
        if hasattr(annotation, "xyann") and annotation.arrowprops["color"] != "black":
            ends = []
            for x, y in (annotation.xyann, annotation.xy):
                column, row = ((z + GAP / 2) // (1 + GAP) for z in (x, y))
                block = next(b for b, tile in tiles(links).items() if tile == (column, row))
                inside = np.array([y - row * (1 + GAP), x - column * (1 + GAP)])
                ends.append(tuple((np.round(place(block, inside), 9) + 0.0).tolist()))
            found[tuple(ends)].append(annotation.arrowprops["color"])
    assert len(found) == len(links.pairs())
    assert all(len(colours) == 2 and len(set(colours)) == 1 for colours in found.values())


def test_marks_tell_every_map_of_a_side() -> None:
    """No turn or flip of a square takes the arrows on it to themselves."""
    strokes = np.array(MARKS[3]) - 0.5
    seen = set()
    for exchange in (False, True):
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            turned = (strokes[..., ::-1] if exchange else strokes) * signs
            seen.add(tuple(np.round(turned, 6).ravel().tolist()))
    assert len(seen) == 8


def test_blocks_that_continue_each_other_are_neighbours() -> None:
    assert tiles(bc.topologies.bricks(2, 3, periodic=(0, 1))) == {
        b: (b % 3, b // 3) for b in (0, 1, 3, 2, 4, 5)
    }
    assert tiles(bc.topologies.moebius()) == {0: (0, 0)}
    assert tiles(Connectivity(2, 2)) == {0: (0, 0), 1: (1, 0)}


@pytest.mark.parametrize("name", GRIDS)
def test_no_two_blocks_are_at_one_place(name: str) -> None:
    found = tiles(GRIDS[name])
    assert set(found) == set(range(GRIDS[name].count))
    assert len(set(found.values())) == len(found)


def test_a_block_whose_place_is_taken() -> None:
    """Block 2 lies above block 1, and block 3 to the left of it: where block 4 would be too."""
    straight = [(0, 1, 1), (1, 0, 2), (0, 0, 4)]
    links = [
        Link(Side(a, axis, "high"), Side(b, axis, "low"), (1 - axis,), (False,))
        for a, axis, b in straight
    ]
    left = Link(Side(2, 1, "low"), Side(3, 1, "high"), (0,), (False,))
    found = tiles(Connectivity(2, 5, [*links, left]))
    assert found == {0: (0, 0), 1: (1, 0), 4: (0, 1), 2: (1, 1), 3: (2, 0)}


def test_a_grid_is_drawn_by_its_links() -> None:
    class Grid:
        links = bc.topologies.glued()

    ax = plt.figure().add_subplot()
    assert bc.draw(Grid(), ax=ax) is ax
    assert ax.get_title() == "2 blocks of dimension 2, 1 link, 6 sides free"


# -- ghosts --------------------------------------------------------------------------------------

SHAPE = 3, 4


def some_rows() -> list[Any]:
    ny, nx = SHAPE
    rows: list[Any] = []
    for j in range(ny):
        rows.append((0, (j, -1), "periodic", [(0, (j, nx - 1), 1.0)], 0.0))
        rows.append((0, (j, nx), "periodic", [(0, (j, 0), 1.0)], 0.0))
    for i in range(nx):
        rows.append((0, (-1, i), "dirichlet", [(0, (0, i), -1.0)], 2.0))
        rows.append((0, (ny, i), "line", [(0, (ny - 1, i), 2.0), (0, (ny - 2, i), -1.0)], 0.0))
    return rows


def test_every_ghost_is_drawn_with_what_it_reads() -> None:
    rows = some_rows()
    ax = bc.draw_ghosts([SHAPE], rows)
    expected = sorted(
        (i + 0.5, j + 0.5, b + 0.5, a + 0.5)
        for _, (j, i), _, reads, _ in rows
        for _, (a, b), _ in reads
    )
    assert sorted((*start, *stop) for start, stop in arrows(ax)) == expected
    texts = [t.get_text() for t in ax.texts if t.get_text()]
    assert sorted(texts) == sorted(4 * ["-1", "+2", "2", "-1"])
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["periodic", "dirichlet", "line"]
    assert overlaps(ax) == []


def test_the_legend_is_below_all_blocks() -> None:
    ax = bc.draw_ghosts([SHAPE], some_rows())
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.y1 < min(p.get_window_extent().y0 for p in ax.patches)


def test_many_weights_are_left_out() -> None:
    reads = [(0, (j, i), 0.125) for j in range(3) for i in range(4)]
    ax = bc.draw_ghosts([SHAPE], [(0, (-1, i), "mean", reads, 0.0) for i in range(4)])
    assert len(arrows(ax)) == 48
    assert not any(t.get_text() for t in ax.texts)


def test_ghosts_of_several_blocks() -> None:
    links = bc.topologies.glued(twist=True)
    link = links.link(Side(0, 1, "high"))
    assert link is not None
    rows: list[Any] = []
    for j in range(3):
        source = link.point((j, 3), (3, 3), (3, 3), (False, False))
        rows.append((0, (j, 3), "copy", [(1, source, 1.0)], 0.0))
    ax = bc.draw_ghosts(2 * [(3, 3)], rows)
    step = 3 + 2 * 1 + 1
    assert sorted((*a, *b) for a, b in arrows(ax)) == [
        (3.5, j + 0.5, step + 0.5, 2.5 - j) for j in range(3)
    ]
    assert [t.get_text() for t in ax.texts if t.get_text()] == ["0", "1"]


def test_ghosts_are_those_of_blocks_of_two_dimensions() -> None:
    with pytest.raises(ArgumentError, match="blocks of 2 dimensions, not of 1"):
        bc.draw_ghosts([(3,)], [])
    with pytest.raises(ArgumentError, match="There are no ghosts to draw"):
        bc.draw_ghosts([(3, 3)], [])
