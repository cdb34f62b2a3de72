"""Symbolic execution of kernels: values are replaced by the operations that computed them.

Takes a declaration. Gives kernels that run the generated source as plain Python on terms, each of
which represents an operation and its operands, down to the elements of the given arrays: two runs
with equal terms compute bitwise identical results from equal arrays.
"""

from .kernels import DTYPE, kernel, on_terms, run_on_arrays
from .operations import LABELS
from .terms import leaf, leaves, operation_of, shown, terms, together, written_by

__all__ = [
    "DTYPE",
    "LABELS",
    "kernel",
    "leaf",
    "leaves",
    "on_terms",
    "operation_of",
    "run_on_arrays",
    "shown",
    "terms",
    "together",
    "written_by",
]
