"""Boundaries of structured grids: blocks and their links, ghost points, ranks."""

from .connect import (
    bricks,
    channel,
    cubed_sphere,
    from_corners,
    glued,
    join,
    moebius,
    o_grid,
    periodic_box,
    two_by_two,
)
from .draw import draw
from .draw_ghosts import draw_ghosts
from .link import Link, LinkError, Side
from .topology import Connectivity

__all__ = [
    "Connectivity",
    "Link",
    "LinkError",
    "Side",
    "bricks",
    "channel",
    "cubed_sphere",
    "draw",
    "draw_ghosts",
    "from_corners",
    "glued",
    "join",
    "moebius",
    "o_grid",
    "periodic_box",
    "two_by_two",
]
