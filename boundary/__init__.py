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
from .distributed import Distributed, simulate
from .draw import draw
from .draw_ghosts import draw_ghosts
from .exchange import world
from .layout import Layout
from .link import Link, LinkError, Side
from .plan import HaloPlan, halo_plan, halo_plans
from .topology import Connectivity

__all__ = [
    "Connectivity",
    "Distributed",
    "HaloPlan",
    "Layout",
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
    "halo_plan",
    "halo_plans",
    "join",
    "moebius",
    "o_grid",
    "periodic_box",
    "simulate",
    "two_by_two",
    "world",
]
