"""Shared memory pages of processes of a node: allocation, offer, and mapping by another process.

The file descriptor is required until the other process has opened the memory, and is then closed.
The pages stay mapped in both processes, so that message memory holds no descriptors.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import secrets
import weakref
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ssr.extension import Array

OFFER = 6
"""The integers of an offer: node, process namespace, process, file, token, bytes."""

FAILED = ctypes.c_void_p(-1).value
"""The return value of a failed mmap."""


@dataclass(frozen=True, slots=True)
class Pages:
    """New memory: its file, and the bytes.

    The first eight bytes are a token, by which another process checks that it has opened this
    memory.
    """

    file: int
    bytes: Array

    def offer(self) -> Array:
        """Return the integers with which another process opens the memory."""
        token = int(self.bytes[:8].view(np.int64)[0])
        return np.array([*place(), os.getpid(), self.file, token, self.bytes.size], np.int64)

    def close(self) -> None:
        """Close the file; the memory stays."""
        os.close(self.file)


def new_pages(length: int) -> Pages | None:
    """Return new memory of ``length`` bytes, zero except for the token; None if it fails.

    It fails without free file descriptors or memory, or if the length exceeds the limit of file
    sizes (``ulimit -f``).
    """
    try:
        file = os.memfd_create("boundary")
    except OSError:
        return None
    try:
        os.posix_fallocate(file, 0, length)
        made = mapped(file, length)
    except OSError:
        os.close(file)
        return None
    made[:8].view(np.int64)[0] = secrets.randbits(62)
    return Pages(file, made)


def opened(offer: Array, length: int) -> Array | None:
    """Return memory of so many bytes that another process offers.

    None if nothing is offered, or the process is elsewhere, or has another user, or offers another
    number of bytes, or if the memory cannot be mapped.
    """
    *where, process, number, token, offered = offer.tolist()
    if offered != length or tuple(where) != place():
        return None
    try:
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(file).st_size < length:
            return None
        memory = mapped(file, length)
    except OSError:
        return None
    finally:
        os.close(file)
    return memory if memory[:8].view(np.int64)[0] == token else None


def mapped(file: int, length: int) -> Array:
    """Return the bytes of a file as memory, which is unmapped when the array is deleted.

    Python's ``mmap`` would keep a descriptor open.
    """
    library = _library()
    shared, both = mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE
    address = library.mmap(None, length, both, shared, file, 0)
    if address == FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    buffer: Any = (ctypes.c_uint8 * length).from_address(address)
    unmap = weakref.finalize(buffer, library.munmap, address, length)
    unmap.atexit = False  # exchanges may still be active
    return np.frombuffer(buffer, np.uint8)


@cache
def _library() -> Any:
    """Return the C library with the types of two of its functions."""
    library = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = address
    library.mmap.argtypes = address, size, number, number, number, ctypes.c_long
    library.munmap.argtypes = address, size
    return library


@cache
def place() -> tuple[int, int]:
    """Return numbers that are equal for processes visible to each other in ``/proc``."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        booted = int(file.read().replace("-", ""), 16)
    return booted % 2**62, os.stat("/proc/self/ns/pid").st_ino


@cache
def is_possible() -> bool:
    """Whether memory can be shared here in this way, as it can under Linux."""
    try:
        place()
    except OSError:
        return False
    return hasattr(os, "memfd_create")
