"""Where a step of a schedule says what runs: the source of ranges and slices of its tables.

The row of a step that runs a part of the kernel has, behind its kind, for each nest the first place
and the end of its boxes in ``tables``; and for each call the same of its links and of its weights.
The kernel is told the flat place of the row, ``step``.
"""

from __future__ import annotations


def nest_range(number: int, width: int) -> str:
    """Return the source of the places at which the rows of a nest's boxes begin."""
    return f"range({', '.join(_places(2 * number))}, {width})"


def call_runs(nests: int, number: int) -> str:
    """Return the source of the condition that a call has links."""
    return " < ".join(_places(2 * nests + 4 * number))


def call_slices(nests: int, number: int) -> list[str]:
    """Return the source of the links and the weights of a call."""
    first = 2 * nests + 4 * number
    return [
        f"between({name}, {', '.join(_places(first + 2 * n))})"
        for n, name in enumerate(("links", "weights"))
    ]


def _places(first: int) -> tuple[str, str]:
    return f"ld(steps, step + {1 + first})", f"ld(steps, step + {2 + first})"
