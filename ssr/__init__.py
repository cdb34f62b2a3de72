"""Staged Sparse Row: sparse matrices on structured grids as programs instead of data."""

from . import errors, solvers
from .assembled import Assembled, from_scipy
from .blocks import BlockMatrix
from .blockwise import block
from .compose import kron
from .declare import diagonal, identity, matrix, stencil
from .errors import Error
from .expression import Field
from .functions import (
    arctan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    sign,
    sin,
    sqrt,
    tan,
    tanh,
    where,
)
from .index import Index, size, sizes
from .matrix import Matrix
from .options import Options
from .program import Program, program
from .recurrent import Recurrence, recurrence
from .reductions import dot, max, min, norm, sum
from .space import Space
from .symbolic import jacobian, lambdify
from .trace import scalar
from .values import Value
from .vectors import Vector, vector

__version__ = "0.1.0"

__all__ = [
    "Assembled",
    "BlockMatrix",
    "Error",
    "Field",
    "Index",
    "Matrix",
    "Options",
    "Program",
    "Recurrence",
    "Space",
    "Value",
    "Vector",
    "arctan2",
    "block",
    "cos",
    "diagonal",
    "dot",
    "errors",
    "exp",
    "from_scipy",
    "identity",
    "jacobian",
    "kron",
    "lambdify",
    "log",
    "matrix",
    "max",
    "maximum",
    "min",
    "minimum",
    "norm",
    "program",
    "recurrence",
    "scalar",
    "sign",
    "sin",
    "size",
    "sizes",
    "solvers",
    "sqrt",
    "stencil",
    "sum",
    "tan",
    "tanh",
    "vector",
    "where",
]
