"""Processor properties on which vectorization depends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """Properties of a kind of processor.

    Attributes
    ----------
    name
        The name of the instruction set.
    vector_bytes
        Bytes of a vector register; 0 if loops are left to LLVM's own vectoriser.
    registers
        The number of vector registers.
    masks
        Whether parts of vectors are loaded and stored at the cost of whole ones.
    requests
        Whether prefetch instructions make loops over large fields faster.
    together
        The largest number of vectors of one sum that are computed at a time.
    """

    name: str
    vector_bytes: int
    registers: int
    masks: bool
    requests: bool
    together: int

    def lanes(self, bits: int) -> int:
        """Return the number of values of ``bits`` bits in a vector."""
        return self.vector_bytes * 8 // bits


AVX512 = Target("AVX-512", 64, 32, masks=True, requests=True, together=2)
AVX2 = Target("AVX2", 32, 16, masks=False, requests=True, together=4)
NEON = Target("NEON", 16, 32, masks=False, requests=False, together=4)
GENERIC = Target("generic", 0, 16, masks=False, requests=False, together=1)
