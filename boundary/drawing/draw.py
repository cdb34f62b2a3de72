"""Drawings of block connectivity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ssr.errors import ArgumentError

from ..grid.link import Link, Side
from ..grid.topology import Connectivity
from .canvas import Place, arrow, canvas, colour, square, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Tile: TypeAlias = tuple[int, int]
"""The position of a block in a lattice: column, row."""

Stroke: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""The start and end of an arrow along a side, in the coordinates of a block of length 1."""

FREE = "#999999"
GAP = 0.4
"""The distance between blocks with sides of length 1."""

MARKS: Mapping[int, tuple[Stroke, ...]] = {
    1: (),
    2: (((0.12,), (0.88,)),),
    3: (((0.15, 0.15), (0.85, 0.15)), ((0.15, 0.15), (0.15, 0.6))),
}
"""The arrows drawn along a side, by the number of dimensions of the blocks. None is symmetric."""

NET: Mapping[tuple[int, str], tuple[int, int, tuple[int, int], tuple[int, int]]] = {
    (0, "high"): (1, 1, (2, 1), (1, 1)),
    (2, "low"): (0, 1, (0, 1), (1, 1)),
    (2, "high"): (2, 1, (0, -1), (1, 1)),
    (0, "low"): (3, 1, (2, -1), (1, 1)),
    (1, "high"): (1, 2, (2, 1), (0, -1)),
    (1, "low"): (1, 0, (2, 1), (0, 1)),
}
"""The unfolded surface of a cube: the tile of each side, and the axes that point right and up on
it."""


class Linked(Protocol):
    """Anything with a connectivity, such as a grid."""

    @property
    def links(self) -> Connectivity:
        """How the blocks are linked."""


def draw(grid: Linked | Connectivity, *, ax: Axes | None = None) -> Axes:
    """Draw the blocks of a grid; sides that meet have one colour and one letter.

    The arrows on two sides that meet show which of their ends meet. Blocks that continue each other
    without a turn are next to each other where there is room. Blocks of three dimensions are drawn
    as the unfolded surface of a cube.

    Parameters
    ----------
    grid
        A grid or its connectivity.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    The axes with the picture.

    Raises
    ------
    ArgumentError
        If it is given something else.

    Examples
    --------
    >>> import boundary as bc
    >>> picture = bc.draw(bc.cubed_sphere())
    >>> picture.get_title()
    '6 blocks of dimension 2, 12 links, 0 sides free'
    """
    links = grid if isinstance(grid, Connectivity) else getattr(grid, "links", None)
    if not isinstance(links, Connectivity):
        raise ArgumentError(
            f"bc.draw takes a grid or its connectivity, not {type(grid).__name__}.",
            hint="Write bc.draw(grid) or bc.draw(bc.cubed_sphere()).",
        )
    dims = links.dims
    size = {1: (1.0, 0.2), 2: (1.0, 1.0), 3: (4.0, 3.0)}[dims]
    corners = {
        block: (x * (size[0] + GAP), y * (size[1] + GAP)) for block, (x, y) in tiles(links).items()
    }
    ax = canvas(ax, corners.values(), size, 1.0 if dims == 3 else 1.5, (0.2, 0.2))
    paint = {1: _draw_line, 2: _draw_square, 3: _draw_net}[dims]
    for block, corner in corners.items():
        paint(ax, block, corner)
    for side in links.unlinked():
        _draw_side(ax, corners[side.block], side, (), FREE, "", dims)
    for number, link in enumerate(links.pairs()):
        for side, strokes in _strokes(link):
            corner = corners[side.block]
            _draw_side(ax, corner, side, strokes, colour(number), _letter(number), dims)
    ax.set_title(repr(links)[len("<Connectivity: ") : -1], fontsize=10)
    return ax


# -- block layout --------------------------------------------------------------------------------


def tiles(links: Connectivity) -> dict[int, Tile]:
    """Return a tile of the plane for each block, adjacent to those linked without rotation.

    Examples
    --------
    >>> import boundary as bc
    >>> tiles(bc.cubed_sphere())
    {0: (0, 0), 4: (0, 1), 1: (1, 0), 2: (2, 0), 3: (3, 0), 5: (0, -1)}
    """
    straight = [link for link in links.links if links.dims == 2 and _straight(link)]
    found: dict[int, Tile] = {}
    while len(found) < links.count:
        new = next(_free_tiles(straight, found), None)
        if new is None:
            block = next(b for b in range(links.count) if b not in found)
            new = block, (1 + max((x for x, _ in found.values()), default=-1), 0)
        found[new[0]] = new[1]
    return found


def _free_tiles(straight: Sequence[Link], found: Mapping[int, Tile]) -> Iterator[tuple[int, Tile]]:
    """Yield blocks with free tiles next to those that have tiles; to the right and up first."""
    for end, step in (("high", 1), ("low", -1)):
        for link in straight:
            here, there = link.here, link.there.block
            if here.end == end and here.block in found and there not in found:
                x, y = found[here.block]
                tile = (x, y + step) if here.axis == 0 else (x + step, y)
                if tile not in found.values():
                    yield there, tile


def _straight(link: Link) -> bool:
    return link.turn == tuple((a, 1) for a in range(link.ndim))


# -- blocks --------------------------------------------------------------------------------------


def _draw_line(ax: Axes, block: int, corner: Place) -> None:
    x, y = corner
    ax.plot([x, x + 1], [y, y], color="black", linewidth=2, zorder=1)
    write(ax, (x + 0.5, y + 0.12), str(block), 15, weight="bold")
    arrow(ax, (x + 0.3, y - 0.12), (x + 0.7, y - 0.12), "black", 0.8)
    write(ax, (x + 0.76, y - 0.12), "0", 8)


def _draw_square(ax: Axes, block: int, corner: Place) -> None:
    x, y = corner
    square(ax, corner, 1, 1, color="#f4f4f4", zorder=0)
    write(ax, (x + 0.55, y + 0.55), str(block), 17, weight="bold")
    start = x + 0.2, y + 0.2
    arrow(ax, start, (x + 0.2, y + 0.39), "black", 0.8)
    arrow(ax, start, (x + 0.39, y + 0.2), "black", 0.8)
    write(ax, (x + 0.2, y + 0.44), "0", 8)
    write(ax, (x + 0.44, y + 0.2), "1", 8)


def _draw_net(ax: Axes, block: int, corner: Place) -> None:
    write(ax, (corner[0] + 0.5, corner[1] + 2.4), str(block), 20, weight="bold")


# -- sides ---------------------------------------------------------------------------------------


def _strokes(link: Link) -> Iterator[tuple[Side, tuple[Stroke, ...]]]:
    """Yield both sides of a link with arrows; those of the second are carried over the link."""
    here = tuple((_on(link.here, a), _on(link.here, b)) for a, b in MARKS[link.ndim])
    yield link.here, here
    if link.there != link.here:
        unit = (1,) * link.ndim
        moves = link.coordinates(unit, unit)

        def carried(x: tuple[float, ...]) -> tuple[float, ...]:
            return tuple(sign * x[a] + offset.constant for a, sign, offset in moves)

        yield link.there, tuple((carried(a), carried(b)) for a, b in here)


def _on(side: Side, along: Sequence[float], depth: float = 0.0) -> tuple[float, ...]:
    """Return the coordinates of a point at a distance inside a side, given along the side."""
    normal = 1 - depth if side.end == "high" else depth
    return (*along[: side.axis], normal, *along[side.axis :])


def _seen(corner: Place, side: Side, x: Sequence[float]) -> Place:
    """Return where a point of a side is drawn."""
    if len(x) == 1:
        return corner[0] + x[0], corner[1]
    if len(x) == 2:
        return corner[0] + x[1], corner[1] + x[0]
    column, row, *directions = NET[side.axis, side.end]
    right, up = (x[a] if sign > 0 else 1 - x[a] for a, sign in directions)
    return corner[0] + column + right, corner[1] + row + up


def _draw_side(
    ax: Axes,
    corner: Place,
    side: Side,
    strokes: Sequence[Stroke],
    colour: str,
    label: str,
    dims: int,
) -> None:
    """Draw a side with its arrows and its letter."""
    x, y = _seen(corner, side, _on(side, (0.5,) * (dims - 1), 0.1 if dims == 2 else 0.0))
    if dims == 1:
        ax.plot(x, y, marker="o", markersize=8, color=colour, zorder=3)
        y += 0.12
    elif dims == 2:
        (a, b), (c, d) = (_seen(corner, side, _on(side, (t,))) for t in (0.0, 1.0))
        ax.plot([a, c], [b, d], color=colour, linewidth=1.5 if label else 1, zorder=2)
    else:
        style = {"facecolor": colour + "22", "edgecolor": "black", "zorder": 1}
        square(ax, (x - 0.5, y - 0.5), 1, 1, **style)
        write(ax, (x, y - 0.1), f"{side.axis} {side.end}", 7)
        y += 0.1
    write(ax, (x, y), label, 12, color=colour, weight="bold")
    for stroke in strokes:
        start, stop = (_seen(corner, side, x) for x in stroke)
        arrow(ax, start, stop, colour, 2.2)
        if dims == 3:
            axis = next(a for a in range(dims) if stroke[0][a] != stroke[1][a])
            reach = max(abs(q - p) for p, q in zip(start, stop, strict=True))
            x, y = (q + 0.07 * (q - p) / reach for p, q in zip(start, stop, strict=True))
            write(ax, (x, y), str(axis), 7, color=colour)


def _letter(number: int) -> str:
    """Return a letter, or two of them where there are more than 26 links."""
    first, second = divmod(number, 26)
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[second]
