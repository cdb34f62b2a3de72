"""Vectorisation of kernels: a pass from kernel IR to kernel IR.

Loops over rows become loops over vectors of rows, of the length that a processor has. The rows that
a loop computes, and the bits of each, are the same. `vectorize` is the pass; the folders's modules
say which loops it changes (`plans`, `chain_plans`) and how (`lines`, `in_parts`, `masked`).
"""

from .vectorize import vectorize

__all__ = ["vectorize"]
