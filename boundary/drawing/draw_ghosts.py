"""Drawings of the interior points that the ghost points of small blocks read."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ssr.errors import ArgumentError
from ssr.extension import integer

from ..grid.checks import items
from ..grid.topology import Connectivity
from .canvas import Place, arrow, canvas, colour, square, write
from .draw import tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Source: TypeAlias = tuple[int, tuple[int, ...], float]
"""A block, an index in the block, and a weight."""

GhostRow: TypeAlias = tuple[int, tuple[int, ...], str, Sequence[Source], float]
"""A block, the index of a ghost point in it, its rule, the points that it reads, and a constant."""

TEXTS = 40
"""The largest number of arrows that are drawn with their weights."""


def draw_ghosts(
    shapes: Sequence[Sequence[int]],
    rows: Iterable[GhostRow],
    *,
    links: Connectivity | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which points the ghosts of small blocks of two dimensions read.

    Ghosts have the colour of their rule. An arrow goes from a ghost to each owned point it reads,
    with the weight at its middle, if there are few and it is not one. A constant stands in the
    ghost.

    Parameters
    ----------
    shapes
        Numbers of owned points of each block along its axes; the first owned index is 0.
    rows
        For each ghost: its block, its index, the name of its rule, its entries as a sequence of
        (block, index, weight), and a constant.
    links
        The connectivity, by which blocks are arranged; side by side by default.
    ax
        Where to draw; a new figure by default.

    Returns
    -------
    The axes with the picture.

    Raises
    ------
    ArgumentError
        If blocks do not have two dimensions, if there are no ghosts, or if a block has no shape.

    Examples
    --------
    >>> import boundary as bc
    >>> rows = [(0, (0, -1), "periodic", [(0, (0, 2), 1.0)], 0.0),
    ...         (0, (0, 3), "dirichlet", [(0, (0, 2), -1.0)], 2.0)]
    >>> picture = bc.draw_ghosts([(1, 3)], rows)
    >>> [text.get_text() for text in picture.get_legend().get_texts()]
    ['periodic', 'dirichlet']
    """
    shapes = [_shape(shape) for shape in items("draw_ghosts", "shapes", shapes)]
    found = tuple(_row(row) for row in items("draw_ghosts", "rows", rows))
    if not found:
        raise ArgumentError("There are no ghosts to draw.")
    if not isinstance(links, (Connectivity, type(None))):
        raise ArgumentError(f"links is {links!r}, not the connectivity of a grid.")
    if links is None:
        links = Connectivity(2, len(shapes))
    if max(map(_blocks, found)) >= len(shapes) or links.count != len(shapes):
        raise ArgumentError(f"draw_ghosts is given the shapes of {len(shapes)} blocks.")
    width = max(max(-j, j - shapes[b][0] + 1, -i, i - shapes[b][1] + 1) for b, (j, i), *_ in found)
    corners = _corners(tiles(links), shapes, 2.0 * width + 1)
    ends = [(x + shapes[b][1], y + shapes[b][0]) for b, (x, y) in corners.items()]
    colours: dict[str, str] = {}
    for _, _, rule, _, _ in found:
        colours.setdefault(rule, colour(len(colours)))
    margin = width + 0.2, width + 0.4 + 0.45 * len(colours)
    ax = canvas(ax, [*corners.values(), *ends], (0, 0), 0.6, margin)
    for block, corner in corners.items():
        _draw_owned(ax, corner, shapes[block], str(block) if len(corners) > 1 else "")
    written = sum(len(reads) for *_, reads, _ in found) <= TEXTS
    for block, index, rule, reads, constant in found:
        ghost = _centre(corners[block], index)
        _draw_ghost(ax, ghost, colours[rule], constant)
        for number, (other, source, weight) in enumerate(reads):
            bend = 0.4 * (number - (len(reads) - 1) / 2) if len(reads) > 1 else 0.12
            text = f"{weight:.3g}" if written and weight != 1 else ""
            _draw_read(ax, ghost, _centre(corners[other], source), colours[rule], text, bend)
    _draw_legend(ax, colours)
    return ax


def _corners(
    places: Mapping[int, tuple[int, int]], shapes: Sequence[Sequence[int]], gap: float
) -> dict[int, Place]:
    """Return the lower left corner of each block, on tiles that are large enough."""

    def starts(axis: int) -> dict[int, float]:
        """Return where the tiles of each number begin, to the right or upwards."""
        found, start = {}, 0.0
        for number in sorted({place[axis] for place in places.values()}):
            found[number] = start
            lengths = [shapes[b][1 - axis] for b, p in places.items() if p[axis] == number]
            start += max(lengths) + gap
        return found

    right, up = starts(0), starts(1)
    return {block: (right[x], up[y]) for block, (x, y) in places.items()}


def _shape(shape: Any) -> tuple[int, int]:
    """Return the shape of a block."""
    found = items("draw_ghosts", "a shape", shape)
    if len(found) != 2:
        raise ArgumentError(f"draw_ghosts draws blocks of 2 dimensions, not of {len(found)}.")
    if any((integer(n) or 0) < 1 for n in found):
        raise ArgumentError(f"draw_ghosts: the extents of a block are {found}.")
    return found


def _row(row: Any) -> GhostRow:
    """Return a row of a user, checked."""
    try:
        block, index, rule, reads, constant = row
        reads = [(operator.index(b), _place(i), float(w)) for b, i, w in reads]
        found = operator.index(block), _place(index), str(rule), reads, float(constant)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"draw_ghosts: {row!r} is not a row.",
            hint="It is (block, index, rule, reads, constant), reads (block, index, weight).",
        ) from error
    if min([found[0], *(b for b, _, _ in reads)]) < 0:
        raise ArgumentError(f"draw_ghosts: {row!r} has a negative block.")
    return found


def _place(index: Any) -> tuple[int, int]:
    j, i = map(operator.index, index)
    return j, i


def _blocks(row: GhostRow) -> int:
    """Return the highest number of a block that a row names."""
    block, _, _, reads, _ = row
    return max([block, *(other for other, _, _ in reads)])


def _centre(corner: Place, index: tuple[int, ...]) -> Place:
    return corner[0] + index[1] + 0.5, corner[1] + index[0] + 0.5


def _draw_owned(ax: Axes, corner: Place, shape: Sequence[int], name: str) -> None:
    """Draw the owned points of a block."""
    (x, y), (ny, nx) = corner, shape
    thin: dict[str, Any] = {"color": "#cccccc", "linewidth": 0.6, "zorder": 0}
    for line in range(1, ny):
        ax.plot([x, x + nx], [y + line] * 2, **thin)
    for line in range(1, nx):
        ax.plot([x + line] * 2, [y, y + ny], **thin)
    square(ax, corner, nx, ny, facecolor="none", edgecolor="black", linewidth=1.5, zorder=2)
    for j in range(ny):
        for i in range(nx):
            ax.plot(*_centre(corner, (j, i)), ".", color="black", markersize=4, zorder=1)
    write(ax, (x + 0.1, y + ny - 0.1), name, 11, weight="bold", ha="left", va="top")


def _draw_ghost(ax: Axes, place: Place, colour: str, constant: float) -> None:
    x, y = place
    style = {"facecolor": colour + "30", "edgecolor": colour, "linewidth": 0.8, "zorder": 1}
    square(ax, (x - 0.5, y - 0.5), 1, 1, **style)
    ax.plot(x, y, "o", color=colour, markersize=5, markerfacecolor="white", zorder=4)
    if constant:
        write(ax, (x, y - 0.32), f"{constant:+.3g}", 7, zorder=5)


def _draw_read(ax: Axes, ghost: Place, source: Place, colour: str, text: str, bend: float) -> None:
    """Draw a bent arrow with a text at its middle."""
    arrow(ax, ghost, source, colour, 0.9, bend, shrink=3)
    if text:
        (x, y), (a, b) = ghost, source
        middle = (x + a + bend * (b - y)) / 2, (y + b - bend * (a - x)) / 2
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        write(ax, middle, text, 7, color=colour, zorder=6, bbox=box)


def _draw_legend(ax: Axes, colours: Mapping[str, str]) -> None:
    for rule, shade in colours.items():
        ax.plot([], [], "s", color=shade, label=rule)
    ax.legend(loc="lower left", fontsize=9, frameon=False, borderaxespad=0)
