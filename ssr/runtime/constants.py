"""Constants shared by kernels, code generation and callers; they do not require Numba.

The execution of a schedule by a kernel is described in `steps`, bundles in `bundles`.
"""

from __future__ import annotations

from enum import IntEnum

WINDOW = 8
"""Limit of the bundles of elements that a few bundles of rows read."""

RUN, BEGIN, ASK, LEAVE = range(4)
"""The kind of a step, in the first integer of its row."""

FINISHED, LEFT, FAILED, LATE = 0, 3, 4, 5
"""The status of a kernel after the last step, or at a step that it does not execute."""

NO_MEMORY = 6
"""The status of a native program that has no scratch memory for a call."""

ALIGNED, WRITEABLE = 0x100, 0x400
"""Flags of an array of NumPy, as in ``flags.num``."""

RAISED = -1
"""The status that compiled code receives when a kernel has raised an exception."""

REFUSED = 1
"""The status of a kernel that refused its arrays: another layout, or overlapping memory."""

PLACES = 3
"""Number of integers that locate a part of a pack: its start, its end, the length of its rows."""


class At(IntEnum):
    """The integers that say where a kernel is."""

    ROW = 0
    STEP = 1
    CODE = 2
    """The result of a function that has failed."""
    ROWS = 3
    """The number of rows of scalars."""
