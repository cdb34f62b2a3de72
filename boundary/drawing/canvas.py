"""Drawing primitives on matplotlib axes without a frame: arrows, text, rectangles, colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ssr.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Place: TypeAlias = tuple[float, float]
"""Coordinates in the picture: horizontal, vertical."""

COLOURS = (
    *("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17a2b8"),
    *("#e377c2", "#8c564b", "#7a7a00", "#003f7f", "#00b894", "#7f0000"),
)
LARGEST = 14.0
"""The largest extent of a new figure in inches."""


def colour(number: int) -> str:
    """Return one of twelve colours."""
    return COLOURS[number % len(COLOURS)]


def canvas(
    ax: Axes | None,
    corners: Iterable[Place],
    size: tuple[float, float],
    scale: float,
    margin: tuple[float, float],
) -> Axes:
    """Return axes without a frame that show blocks of a size, given by their lower left corners.

    ``scale`` is the length of a unit in inches in a new figure, ``margin`` the room around all
    blocks and below them.
    """
    import matplotlib.axes
    import matplotlib.pyplot as plt

    if ax is not None and not isinstance(ax, matplotlib.axes.Axes):
        raise ArgumentError(f"ax is {ax!r}, not the axes of a picture of matplotlib.")
    xs, ys = zip(*corners, strict=True)
    around, below = margin
    left, right = min(xs) - around, max(xs) + size[0] + around
    low, top = min(ys) - below, max(ys) + size[1] + around
    if ax is None:
        scale = min(scale, LARGEST / (right - left), LARGEST / (top - low))
        inches = max(3.4, scale * (right - left)), max(1.2, scale * (top - low) + 0.4)
        _, ax = plt.subplots(figsize=inches, layout="constrained")
    ax.set_xlim(left, right)
    ax.set_ylim(low, top)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def write(ax: Axes, place: Place, text: str, size: float, **style: Any) -> None:
    """Write a text with its middle at a place; ``style`` is matplotlib's."""
    x, y = place
    ax.text(x, y, text, fontsize=size, **{"ha": "center", "va": "center", **style})


def arrow(
    ax: Axes,
    start: Place,
    stop: Place,
    colour: str,
    width: float,
    bend: float = 0.0,
    shrink: float = 0.0,
) -> None:
    """Draw an arrow, which is pulled to its right by ``bend`` times its length."""
    ax.annotate(
        "",
        xy=stop,
        xytext=start,
        zorder=3,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": width,
            "shrinkA": shrink,
            "shrinkB": shrink,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )


def square(ax: Axes, corner: Place, width: float, height: float, **style: Any) -> None:
    """Fill a rectangle, given by its lower left corner; ``style`` is matplotlib's."""
    x, y = corner
    ax.fill([x, x + width, x + width, x], [y, y, y + height, y + height], **style)
