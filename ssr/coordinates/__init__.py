"""Grid coordinates: finite volumes in orthogonal coordinates, array labels, and plots."""

from ..public import explain_public
from .axis import Axis
from .coordinates import Coordinates
from .system import (
    System,
    cartesian,
    cylindrical,
    from_map,
    from_scale_factors,
    geographic,
    spherical,
)

__all__ = [
    "Axis",
    "Coordinates",
    "System",
    "cartesian",
    "cylindrical",
    "from_map",
    "from_scale_factors",
    "geographic",
    "spherical",
]

explain_public(globals(), __all__)
