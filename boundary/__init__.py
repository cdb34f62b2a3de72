"""Boundaries of structured grids: blocks and their links, ghost points, ranks."""

from .across import interpolate, rotate
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
from .grid import Grid
from .link import Link, LinkError, Side
from .rules import (
    constant,
    copy,
    dirichlet,
    extrapolate,
    neumann,
    parameter,
    periodic,
    robin,
    symmetric,
    zero,
)
from .topology import Connectivity

__all__ = [
    "Connectivity",
    "Distributed",
    "HaloPlan",
    "Layout",
    "Grid",
    "Link",
    "LinkError",
    "Side",
    "bricks",
    "channel",
    "constant",
    "copy",
    "cubed_sphere",
    "dirichlet",
    "draw",
    "draw_ghosts",
    "extrapolate",
    "from_corners",
    "glued",
    "halo_plan",
    "halo_plans",
    "interpolate",
    "join",
    "moebius",
    "neumann",
    "o_grid",
    "parameter",
    "periodic",
    "periodic_box",
    "simulate",
    "two_by_two",
    "world",
    "robin",
    "rotate",
    "symmetric",
    "two_by_two",
    "zero",
]
