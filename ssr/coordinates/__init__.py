"""Grid coordinates: finite volumes in orthogonal coordinates, array labels, and plots."""

from ..public import all_explained, explain_methods
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

globals().update(all_explained(globals(), __all__))
explain_methods(globals(), __all__)
