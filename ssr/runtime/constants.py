"""What kernels, those who write them and those who call them agree on; Numba is not needed for it.

How a kernel goes through the steps of a schedule stands in `steps`, what bundles are in `bundles`.
"""

from __future__ import annotations

from enum import IntEnum

WINDOW = 8
"""Bundles of elements, at most, that rows of a few bundles together read."""

RUN, BEGIN, ASK, LEAVE = range(4)
"""What a step is, in the first integer of its row."""

FINISHED, LEFT, FAILED, LATE = 0, 3, 4, 5
"""What a kernel returns behind the last step, or at one."""

NO_MEMORY = 6
"""What a native program returns if there is no scratch memory for a call."""

ALIGNED, WRITEABLE = 0x100, 0x400
"""Flags of an array of NumPy, as in ``flags.num``."""

RAISED = -1
"""Returned to compiled code in place of the exception that a kernel has raised."""

REFUSED = 1
"""What a kernel returns if it did nothing: arrays of another layout, or that may share memory."""

PLACES = 3
"""The integers that say where a part of a pack is: its start, its end, the length of its rows."""


class At(IntEnum):
    """The integers that say where a kernel is."""

    ROW = 0
    STEP = 1
    CODE = 2
    """What a function has returned that has failed."""
    ROWS = 3
    """How many rows of numbers there are."""
