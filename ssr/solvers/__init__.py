"""Iterative solvers with the interface of `scipy.sparse.linalg`, as compiled programs."""

from ..public import explain_public
from .coarsening import interpolation
from .eigen.lobpcg import LOBPCG, Eigenpairs, lobpcg
from .factorizations import IC, ILU, Factorization
from .krylov import CG, GMRES, BiCGStab, bicgstab, cg, gmres
from .multigrid import Multigrid
from .preconditioners import Preconditioner
from .smoothers import GaussSeidel, Jacobi, Smoother
from .solver import Solution, Solver
from .stationary import Chebyshev, Richardson, chebyshev, richardson

__all__ = [
    "CG",
    "GMRES",
    "IC",
    "ILU",
    "LOBPCG",
    "BiCGStab",
    "Chebyshev",
    "Eigenpairs",
    "Factorization",
    "GaussSeidel",
    "Jacobi",
    "Multigrid",
    "Preconditioner",
    "Richardson",
    "Smoother",
    "Solution",
    "Solver",
    "bicgstab",
    "cg",
    "chebyshev",
    "gmres",
    "interpolation",
    "lobpcg",
    "richardson",
]

explain_public(globals(), __all__)
