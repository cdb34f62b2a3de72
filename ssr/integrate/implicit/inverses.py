"""Preconditioners of implicit stages: cached approximate inverses of ``I - h J``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ...blocks.block_matrix import BlockMatrix
from ...errors import ArgumentError, SpaceError
from ...matrices.matrix import Matrix
from ...programs.program import Program, made_program
from ...programs.signature import Kind
from ...solvers import vectors
from ...solvers.inverse import Inverse
from ...trace.trace import scalar

Fields: TypeAlias = "tuple[Any, ...]"

KEPT = 8
"""Size of the cache of approximate inverses, each for one step length."""


class Inverses:
    """The approximate inverses that a function of h returns.

    Where it returns a matrix, it is called once more with the scalar of a program, so that one
    program solves for all h. Other inverses, and matrices that need the number, are kept for the
    last few h.

    Parameters
    ----------
    made
        The function of h, see `ImplicitRungeKutta`.
    """

    def __init__(self, made: Callable[[Any], Any]) -> None:
        self._made = made
        self._for_all: Program | None = None
        self._known: dict[float, Callable[[Fields, Fields], None]] = {}

    def apply(self, z: Fields, r: Fields, h: float) -> None:
        """Assign the approximate solution of ``(I - h J) z = r``."""
        if self._for_all is not None:
            self._for_all(*z, *r, h)
            return
        if h not in self._known:
            inverse = self._made(h)
            if isinstance(inverse, (Matrix, BlockMatrix)):
                self._for_all = None if self._known else _for_all(inverse, self._made)
                if self._for_all is not None:
                    self._for_all(*z, *r, h)
                    return
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[h] = _applied(inverse)
        self._known[h](z, r)


def _for_all(inverse: Matrix | BlockMatrix, made: Callable[[Any], Any]) -> Program | None:
    """Return the program that solves for all h; None if the function needs the number."""

    def solve(z: Any, r: Any, h: Any) -> None:
        z[:] = made(h).solve(r)

    try:
        return made_program(f"{inverse.name}_solve", solve, {**_kinds(inverse), "h": scalar})
    except Exception:  # the function works for numbers only
        return None


def _applied(inverse: Any) -> Callable[[Fields, Fields], None]:
    """Return a function ``(z, r)`` that assigns the approximate solution of a right side."""
    if isinstance(inverse, (Matrix, BlockMatrix)):

        def solve(z: Any, r: Any) -> None:
            z[:] = inverse.solve(r)

        direct = made_program(f"{inverse.name}_solve", solve, _kinds(inverse))
        return lambda z, r: direct(*z, *r)
    if isinstance(inverse, Inverse):
        return lambda z, r: vectors.assign(z[0], inverse.solution(*r))
    if not callable(inverse):
        raise ArgumentError(
            f"The approximate inverse is {inverse!r}.",
            hint="It is a matrix with a solve, a solver, a Multigrid, or a function (z, r).",
        )
    return lambda z, r: inverse(*z, *r)


def _kinds(inverse: Matrix | BlockMatrix) -> dict[str, Kind]:
    """Return the fields of a solve."""
    if inverse.rows != inverse.cols or isinstance(inverse.rows, tuple):
        raise SpaceError(
            f"The approximate inverse {inverse.name} is not on the space of one unknown.",
            note=f"rows {inverse.rows!r}, columns {inverse.cols!r}",
        )
    return {"z": inverse.rows, "r": inverse.rows}
