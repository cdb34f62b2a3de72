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
from .parallel.partition.partition import Partition
from .parallel.performance_model.loggp import LogGP, Replay
from .parallel.performance_model.trace import Trace, trace
from .parallel.programs.declare import spread
from .parallel.programs.in_turn import in_turn
from .parallel.programs.spread import Spread
from .parallel.ranks.field import Field
from .parallel.worlds.ending import abort
from .parallel.worlds.launch import world
from .parallel.worlds.threads import threads
from .parallel.worlds.world import simulated
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
