"""Multi-block structured grids: connectivity, ghost points, boundary conditions, parallel runs."""

from ssr.extension import explain_public

from . import topologies
from .drawing.draw import draw
from .drawing.draw_ghosts import draw_ghosts
from .errors import AmbiguousGhostError, HaloError, LinkError, MessageError, UndefinedGhostError
from .fills.affine import Affine
from .fills.declare import fill
from .fills.explain import explain
from .fills.fill import Fill
from .grid.connect import cubed_sphere, join
from .grid.grid import Grid, GridSpace
from .grid.link import Link, Side
from .grid.topology import Connectivity
from .off_grid.declare import points
from .off_grid.points import Points
from .parallel.partition.partition import Partition
from .parallel.programs.alternating import alternating
from .parallel.programs.distribute import distribute
from .parallel.programs.distribution import Distribution
from .parallel.ranks.field import Field
from .parallel.worlds.ending import abort
from .parallel.worlds.launch import world
from .parallel.worlds.threads import threads
from .parallel.worlds.traced import traced_rank
from .parallel.worlds.world import simulated_ranks
from .rules.conditions import dirichlet, ghost_value, neumann, robin, zero
from .rules.copies import linked, periodic, symmetric
from .rules.extrapolate import extrapolate
from .rules.from_matrix import from_matrix
from .rules.given import parameter
from .rules.interpolate import interpolate
from .rules.rule import Rule
from .rules.transform_vector import transform_vector
from .synchronization.declare import synchronize
from .synchronization.synchronize import Synchronize

__all__ = [
    "Affine",
    "AmbiguousGhostError",
    "Connectivity",
    "Distribution",
    "Field",
    "Fill",
    "Grid",
    "GridSpace",
    "HaloError",
    "Link",
    "LinkError",
    "MessageError",
    "Partition",
    "Points",
    "Rule",
    "Side",
    "Synchronize",
    "UndefinedGhostError",
    "abort",
    "alternating",
    "cubed_sphere",
    "dirichlet",
    "distribute",
    "draw",
    "draw_ghosts",
    "explain",
    "extrapolate",
    "fill",
    "from_matrix",
    "ghost_value",
    "interpolate",
    "join",
    "linked",
    "neumann",
    "parameter",
    "periodic",
    "points",
    "robin",
    "simulated_ranks",
    "symmetric",
    "synchronize",
    "threads",
    "topologies",
    "traced_rank",
    "transform_vector",
    "world",
    "zero",
]

explain_public(globals(), __all__)


def __dir__() -> list[str]:
    """Return the public names; submodules are left out."""
    return __all__
