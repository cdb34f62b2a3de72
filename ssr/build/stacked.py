"""Line buffers on the stack of a kernel, beside the other values that it keeps there.

The first cache of a processor may look for a line by a hash of its address, and take two lines at
one place of their pages for the same if their hashes are alike: each then waits for the next cache
whenever the other was used last. On AMD's that is so for one pair of pages in 256. A kernel that
goes through line buffers for each vector, and through a dozen lines of its stack, met such pairs in
one of twelve places of the buffers, and took up to a quarter longer for as long as the process
lived. Pages that are neighbours have different hashes.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

from llvmlite import ir as llvm
from numba.core.cgutils import alloca_once

from ..points.numbers import CACHE_LINE

ROOM = 4096 + 20 * CACHE_LINE
"""Bytes of a buffer on the stack. Buffers begin at different places of pages, as no page fits."""

MOST = 16
"""Buffers of a kernel up to which they are there: all together are little for any stack."""


def buffers(function: FunctionType) -> Collection[str]:
    """Return the arguments of a generated function that are line buffers for its stack."""
    meta = function.__globals__.get("META", {})
    names = [name for name, *_ in meta.get("buffers", ())]
    return names if function.__name__ == "kernel" and len(names) <= MOST else ()


def placed(builder: Any, name: str, given: Any, count: Any, size: int) -> Any:
    """Return where the numbers of a buffer are: on the stack if they fit, else where they were.

    Parameters
    ----------
    given
        Where the caller has room for them.
    count, size
        How many there are, and the bytes of each.
    """
    room = alloca_once(builder, llvm.ArrayType(llvm.IntType(8), ROOM), name=name)
    room.align = CACHE_LINE
    fit = builder.icmp_signed("<=", count, count.type(ROOM // size))
    return builder.select(fit, builder.bitcast(room, given.type), given)
