"""Arrays inside larger memory, all of whose other bytes are watched, or must not be read."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
LAYOUTS = ("plain", "padded", "strided", "swapped")


def room(shape: tuple[int, ...], dtype: str, layout: str) -> Array:
    """Return a view of a shape into memory that goes on before, behind and between its lines."""
    *outer, last = shape
    if layout == "padded":
        memory = np.empty([n + 2 for n in outer] + [last + 5], dtype)
        return memory[(*(slice(1, n + 1) for n in outer), slice(2, last + 2))]
    if layout == "strided":
        memory = np.empty([3 * n + 1 for n in outer] + [last + 2], dtype)
        return memory[(*(slice(1, None, 3) for n in outer), slice(1, last + 1))]
    if layout == "swapped" and len(shape) > 2:
        memory = np.empty((shape[1] + 1, shape[0] + 1, *shape[2:]), dtype)
        return memory[1:, :-1].swapaxes(0, 1)
    return fenced(shape, dtype)


def fenced(shape: tuple[int, ...], dtype: str) -> Array:
    """Return an array beside a page that nobody may read: in front of it, or behind.

    Arrays of an even number of elements end where the page begins.
    """
    count, size = int(np.prod(shape)), np.dtype(dtype).itemsize
    room = -(-(count + 32) * size // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, room + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    ends = count % 2 == 0
    fence = ctypes.c_void_p(start + room if ends else start)
    if ctypes.CDLL(None).mprotect(fence, mmap.PAGESIZE, 0):
        raise OSError("no page could be protected")
    memory = np.frombuffer(pages, dtype, room // size, 0 if ends else mmap.PAGESIZE)
    return memory[len(memory) - count :].reshape(shape) if ends else memory[:count].reshape(shape)


class Watched:
    """An array whose surroundings must not change.

    Parameters
    ----------
    values
        What it holds at first.
    """

    def __init__(self, values: Array, dtype: str, layout: str) -> None:
        self.array = room(values.shape, dtype, layout)
        memory = self.array
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        self.memory = memory.reshape(-1).view(np.uint8)
        self.memory[:] = 0xA5
        self.array[...] = values
        self.before = self.memory.copy()

    def strays(self) -> bool:
        """Whether bytes around the array are others than before."""
        kept = self.array.copy()
        changed = self.memory.copy()
        offset = self.array.ctypes.data - self.memory.ctypes.data
        whole = np.ndarray(kept.shape, kept.dtype, changed, offset, self.array.strides)
        inside = np.ndarray(kept.shape, kept.dtype, self.before.copy(), offset, self.array.strides)
        whole[...] = inside
        return not np.array_equal(changed, self.before)
