"""Staged Sparse Row: matrix-free sparse matrices on structured grids, compiled to kernels."""

from . import coordinates, errors, integrate, output, simulation, solvers
from .blocks.assemble import block, diagonal, kron
from .blocks.block_matrix import BlockMatrix
from .blocks.declare import matrix
from .blocks.recurrence import BlockRecurrence, recurrence
from .blocks.stored_block_matrix import StoredBlockMatrix, from_scipy
from .errors import Error
from .matrices.declare import identity, stencil
from .matrices.differences import average, axis_stencil, difference
from .matrices.matrix import Matrix
from .matrices.stored_matrix import StoredMatrix
from .options import Options
from .programs.expression import Field
from .programs.materialize import materialize
from .programs.program import Program, program
from .programs.reductions import dot, max, min, norm, sum
from .programs.vectors import Vector, vector
from .public import explain_public
from .recurrences.declare import Recurrence
from .run.sequence import sequence
from .spaces.space import Space
from .symbols.functions import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    ceil,
    cos,
    cosh,
    erf,
    exp,
    expm1,
    floor,
    hypot,
    log,
    log1p,
    maximum,
    minimum,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from .symbols.index import Index, size, sizes
from .symbols.symbolic import jacobian, lambdify
from .symbols.values import Value
from .trace.trace import scalar
from .version import __version__ as __version__

__all__ = [
    "BlockMatrix",
    "BlockRecurrence",
    "Error",
    "Field",
    "Index",
    "Matrix",
    "Options",
    "Program",
    "Recurrence",
    "Space",
    "StoredBlockMatrix",
    "StoredMatrix",
    "Value",
    "Vector",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "average",
    "axis_stencil",
    "block",
    "ceil",
    "coordinates",
    "cos",
    "cosh",
    "diagonal",
    "difference",
    "dot",
    "erf",
    "errors",
    "exp",
    "expm1",
    "floor",
    "from_scipy",
    "hypot",
    "identity",
    "integrate",
    "jacobian",
    "kron",
    "lambdify",
    "log",
    "log1p",
    "materialize",
    "matrix",
    "max",
    "maximum",
    "min",
    "minimum",
    "norm",
    "output",
    "program",
    "recurrence",
    "scalar",
    "sequence",
    "sign",
    "simulation",
    "sin",
    "sinh",
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

explain_public(globals(), __all__)


def __dir__() -> list[str]:
    """Return the public names; submodules are left out."""
    return [*__all__, "__version__"]
