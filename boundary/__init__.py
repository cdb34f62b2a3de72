"""Boundaries of structured grids: blocks and their links, ghost points, ranks."""

from ssr.extension import all_explained, explain_methods

from .drawing.draw import draw
from .drawing.draw_ghosts import draw_ghosts
from .errors import AmbiguousGhostError, HaloError, LinkError, MessageError, UndefinedGhostError
from .fills.affine import Affine
from .fills.declare import fill
from .fills.explain import explain
from .fills.fill import Fill
from .grid.connect import (
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
from .grid.grid import Grid, GridSpace
from .grid.link import Link, Side
from .grid.topology import Connectivity
from .off_grid.declare import points
from .off_grid.points import Points
from .partition.partition import Partition
from .ranks.declare import spread
from .ranks.field import Field
from .ranks.in_turn import in_turn
from .ranks.spread import Spread
from .replay.loggp import LogGP, Replay
from .replay.trace import Trace, trace
from .rules.conditions import constant, dirichlet, neumann, robin, zero
from .rules.copies import copy, periodic, symmetric
from .rules.extrapolate import extrapolate
from .rules.given import parameter
from .rules.interpolate import interpolate
from .rules.rotate import rotate
from .rules.rule import Rule
from .rules.sparse import sparse
from .synchronisation.declare import synchronise
from .synchronisation.synchronise import Synchronise
from .worlds.ending import abort
from .worlds.launch import world
from .worlds.threads import threads
from .worlds.world import simulated

__all__ = [
    "Affine",
    "AmbiguousGhostError",
    "Connectivity",
    "Field",
    "Fill",
    "Grid",
    "GridSpace",
    "HaloError",
    "Link",
    "LinkError",
    "LogGP",
    "MessageError",
    "Partition",
    "Points",
    "Replay",
    "Rule",
    "Side",
    "Spread",
    "Synchronise",
    "Trace",
    "UndefinedGhostError",
    "abort",
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
    "in_turn",
    "interpolate",
    "join",
    "moebius",
    "neumann",
    "o_grid",
    "parameter",
    "periodic",
    "periodic_box",
    "points",
    "robin",
    "rotate",
    "simulated",
    "sparse",
    "spread",
    "symmetric",
    "synchronise",
    "threads",
    "trace",
    "two_by_two",
    "world",
    "zero",
]

globals().update(all_explained(globals(), __all__))
explain_methods(globals(), __all__)


def __dir__() -> list[str]:
    """Return the public names; the rooms of the package are none."""
    return __all__
