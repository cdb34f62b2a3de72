"""Vectorisation of kernels: a pass from kernel IR to kernel IR.

Loops over rows become loops over vectors of rows, of the vector length of the processor. The rows
of a loop and their values are bitwise identical. `vectorize` is the pass; the other modules of the
folder select loops (`plans`, `chain_plans`) and rewrite them (`lines`, `in_parts`, `masked`).
"""

from .vectorize import vectorize

__all__ = ["vectorize"]
