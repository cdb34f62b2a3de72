"""The layers of ghost points beyond a side."""

from __future__ import annotations

from ssr.extension import Affine

from ..errors import HaloError
from ..grid.frame import Frame
from ..grid.link import Side

LAYERS = 32
"""The largest number of ghost layers for which polynomial weights are computed."""


def layer_of(frame: Frame, side: Side, layer: int) -> tuple[int, Affine, Affine]:
    """Return the axis and the range of the indices of one layer of ghosts."""
    block = frame.blocks[side.block]
    at = (
        Affine.of(block.first[side.axis] - 1 - layer)
        if side.end == "low"
        else block.stop(side.axis) + layer
    )
    return side.axis, at, at + 1


def layers(text: str, frame: Frame) -> int:
    """Return the largest number of layers of ghosts beyond any side of any block."""
    found = max(width for block in frame.blocks for width in (*block.low, *block.high))
    if found > LAYERS:
        raise HaloError(
            f"{text} makes at most {LAYERS} layers of ghosts beyond a side; there are {found}.",
            hint="Use fewer layers: ghosts far from the side extrapolate far.",
        )
    return found
