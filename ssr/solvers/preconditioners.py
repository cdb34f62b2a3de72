"""Preconditioners of all kinds as functions of vectors, where possible as programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from .. import ir
from ..errors import ArgumentError, SpaceError
from ..matrices.matrix import Matrix
from ..matrices.stored_matrix import StoredMatrix
from ..programs.program import Program, own_program
from ..spaces.distributed import is_distributed
from . import vectors
from .composed import Composed
from .factorizations import Factored, Factorization
from .inverse import Inverse
from .smoothers import Smoother

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator


Preconditioner: TypeAlias = (
    "Matrix | StoredMatrix | Program | Smoother | Factorization | Inverse | LinearOperator | "
    "Callable[[Any, Any], Any]"
)
"""An approximate inverse: applied as ``M @ r``, or called as ``M(z, r)`` to assign z."""


def called(A: Matrix | StoredMatrix, M: Preconditioner | None) -> Callable[..., Any] | None:
    """Return a preconditioner as a function ``(z, r)`` of vectors, if possible as a program."""
    if M is None:
        return None
    if isinstance(M, type):
        raise ArgumentError(
            f"The preconditioner is the class {M.__name__}.", hint=f"Make one: {M.__name__}()."
        )
    if isinstance(M, Composed):
        return M
    if isinstance(M, Inverse):
        return _nested(M)
    if isinstance(M, Factorization):
        if isinstance(A, StoredMatrix):
            raise ArgumentError(
                f"{M!r} of {A.name}: rows of a stored matrix cannot be read one by one.",
                hint="Use scipy.sparse.linalg.spilu(A.to_scipy()) in a LinearOperator as M.",
            )
        return Factored(A, M)
    if isinstance(M, Smoother):

        def apply(z: Any, r: Any) -> None:
            M.precondition(cast(Matrix, A), z, r)  # programs accept stored matrices too

    elif isinstance(M, (Matrix, StoredMatrix)):
        if (M.rows, M.cols) != (A.rows, A.cols):
            raise SpaceError(
                f"The preconditioner {M.name} acts on other spaces than {A.name}.",
                note=f"{M.cols!r} -> {M.rows!r} and {A.cols!r} -> {A.rows!r}",
            )

        def apply(z: Any, r: Any) -> None:
            z[:] = M @ r

    elif hasattr(M, "matvec"):
        return _flattened(M)
    elif callable(M):
        _check_assigns(M)
        return M
    else:
        raise ArgumentError(
            f"The preconditioner is {type(M).__name__}.",
            hint="Use a matrix, a smoother, ILU(), a program (z, r), or a function (z, r).",
        )
    return own_program(z=A.rows, r=A.rows)(apply)


def _nested(M: Inverse) -> Callable[..., Any]:
    """Return a solver as a function ``(z, r)`` of vectors."""

    def apply(z: Any, r: Any) -> None:
        vectors.assign(z, M.solution(r))

    return apply


def _flattened(M: Any) -> Callable[..., Any]:
    """Return an operator of SciPy as a function ``(z, r)`` of arrays."""

    def apply(z: Any, r: Any) -> None:
        if is_distributed(r):
            raise ArgumentError(
                f"The preconditioner {type(M).__name__} of SciPy takes arrays, and the right side "
                "is a field of several ranks.",
                hint="Use a matrix, ssr.solvers.Jacobi(), a Multigrid, or a function of fields.",
            )
        np.copyto(z, M.matvec(r.ravel()).reshape(r.shape))

    return apply


def _check_assigns(M: Callable[..., Any]) -> None:
    """Check that a program or function may assign its first parameter from its second."""
    if isinstance(M, Program):
        names = [name for name, _ in M.signature.kinds]
        assigned = {name for step in M.ir.steps for name in ir.made(step)}
        if len(names) != 2 or names[0] not in assigned:
            raise ArgumentError(
                f"The preconditioner {M!r} does not assign its first parameter from its second.",
                hint="Write a program (z, r) with z[:] = ...",
            )
        return
    try:
        signature = inspect.signature(M)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise ArgumentError(
            f"The preconditioner {M!r} does not take two arrays.",
            hint="It is called as M(z, r), and fills z.",
        ) from None
