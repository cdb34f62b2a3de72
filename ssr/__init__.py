"""Staged Sparse Row: sparse matrices on structured grids as programs instead of data."""

from .declare import identity, matrix, stencil
from .index import sizes
from .matrix import Matrix
from .options import Options
from .program import Program, program
from .space import Space
from .trace import scalar
from .values import exp, maximum, minimum, sqrt, where

__version__ = "0.1.0"

__all__ = [
    "Matrix",
    "Options",
    "Program",
    "Space",
    "exp",
    "identity",
    "matrix",
    "maximum",
    "minimum",
    "program",
    "scalar",
    "sizes",
    "sqrt",
    "stencil",
    "where",
]
