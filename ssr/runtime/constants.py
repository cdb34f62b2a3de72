"""Constants shared by kernels, code generation and callers; they do not require Numba.

The execution of a schedule by a kernel is described in `steps`, bundles in `bundles`.
"""

from __future__ import annotations

from enum import IntEnum

WINDOW = 8
"""Bundles of elements, at most, that rows of a few bundles together read."""

RUN, BEGIN, ASK, LEAVE = range(4)
"""The kind of a step, in the first integer of its row."""

FINISHED, LEFT, FAILED, LATE = 0, 3, 4, 5
"""The result of a kernel after the last step, or at one."""

NO_MEMORY = 6
"""The result of a native program without scratch memory for a call."""

ALIGNED, WRITEABLE = 0x100, 0x400
"""Flags of an array of NumPy, as in ``flags.num``."""

RAISED = -1
"""Returned to compiled code in place of the exception that a kernel has raised."""

REFUSED = 1
"""The result of a kernel that refused its arrays: another layout, or memory that may be shared."""

PLACES = 3
"""The integers that say where a part of a pack is: its start, its end, the length of its rows."""


class At(IntEnum):
    """The integers that say where a kernel is."""

    ROW = 0
    STEP = 1
    CODE = 2
    """The result of a function that has failed."""
    ROWS = 3
    """How many rows of numbers there are."""
