"""Iterative solvers with the calls of `scipy.sparse.linalg`; an iteration is a compiled program."""

from ..public import all_explained
from .krylov import CG, GMRES, BiCGStab, bicgstab, cg, gmres
from .multigrid import Multigrid, interpolation
from .smoothers import GaussSeidel, Jacobi, Smoother
from .solver import Preconditioner, Solver
from .stationary import Chebyshev, Richardson, chebyshev, richardson

__all__ = [
    "CG",
    "GMRES",
    "BiCGStab",
    "Chebyshev",
    "GaussSeidel",
    "Jacobi",
    "Multigrid",
    "Preconditioner",
    "Richardson",
    "Smoother",
    "Solver",
    "bicgstab",
    "cg",
    "chebyshev",
    "gmres",
    "interpolation",
    "richardson",
]

globals().update(all_explained(globals(), __all__))
