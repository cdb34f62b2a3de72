"""Common block connectivities: bricks, channels, periodic boxes, O-grids, and demonstrations."""

from ssr.extension import all_explained

from .grid.connect import (
    bricks,
    channel,
    from_corners,
    glued,
    moebius,
    o_grid,
    periodic_box,
    two_by_two,
)

__all__ = [
    "bricks",
    "channel",
    "from_corners",
    "glued",
    "moebius",
    "o_grid",
    "periodic_box",
    "two_by_two",
]

globals().update(all_explained(globals(), __all__))
