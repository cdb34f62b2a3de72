"""Processor properties on which vectorization depends."""

from __future__ import annotations

from typing import Protocol


class Target(Protocol):
    """A kind of processor; `ssr.runtime.target` has some.

    Attributes
    ----------
    vector_bytes
        The bytes of a vector register; 0 if loops are left to LLVM's vectoriser.
    registers
        The number of vector registers.
    masks
        Whether parts of vectors are loaded and stored at the cost of whole ones.
    requests
        Whether loops over large fields are faster with requests for memory (prefetches).
    together
        The largest number of vectors of one sum that are computed at a time.
    """

    @property
    def vector_bytes(self) -> int: ...  # noqa: D102

    @property
    def registers(self) -> int: ...  # noqa: D102

    @property
    def masks(self) -> bool: ...  # noqa: D102

    @property
    def requests(self) -> bool: ...  # noqa: D102

    @property
    def together(self) -> int: ...  # noqa: D102

    def lanes(self, bits: int) -> int:
        """Return the number of lanes of a vector for values of ``bits`` bits."""
