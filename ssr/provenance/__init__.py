"""Kernels whose numbers are replaced by the operations that made them.

Takes a declaration. Gives kernels that run the generated source as plain Python on terms, each of
which stands for an operation and its operands, down to the elements of the arrays that were given:
two runs that leave equal terms compute equal bits from equal arrays.
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
