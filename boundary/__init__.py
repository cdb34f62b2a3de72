"""Boundaries of structured grids: blocks and their links, ghost points, ranks."""

from .across import interpolate, rotate
from .chain import Affine
from .conditions import constant, dirichlet, neumann, robin, zero
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
from .declare import fill
from .distributed import Distributed, simulate
from .draw import draw
from .draw_ghosts import draw_ghosts
from .errors import AmbiguousGhostError, HaloError, UndefinedGhostError
from .exchange import world
from .explain import explain
from .extrapolate import extrapolate
from .fill import Fill
from .given import parameter
from .grid import Grid, GridSpace
from .layout import Layout
from .link import Link, LinkError, Side
from .maps import copy, periodic, symmetric
from .plan import HaloPlan, halo_plan, halo_plans
from .rule import Rule
from .sparse import sparse
from .synchronise import Synchronise, synchronise
from .topology import Connectivity

__all__ = [
    "Affine",
    "AmbiguousGhostError",
    "Connectivity",
    "Distributed",
    "Fill",
    "Grid",
    "GridSpace",
    "HaloError",
    "HaloPlan",
    "Layout",
    "Link",
    "LinkError",
    "Rule",
    "Side",
    "Synchronise",
    "UndefinedGhostError",
    "bricks",
    "channel",
    "constant",
    "copy",
    "cubed_sphere",
    "dirichlet",
    "draw",
    "draw_ghosts",
    "explain",
    "extrapolate",
    "fill",
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
    "robin",
    "rotate",
    "simulate",
    "sparse",
    "symmetric",
    "synchronise",
    "two_by_two",
    "world",
    "zero",
]
