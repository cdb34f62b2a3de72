"""Common block connectivities: bricks, channels, periodic boxes, O-grids, and demonstrations."""

from ssr.extension import explain_public

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

explain_public(globals(), __all__)
