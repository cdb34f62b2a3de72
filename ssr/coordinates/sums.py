"""Integrals and inner products of fields, in programs and of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ShapeError, SpaceError
from ..programs.expression import Expression
from ..programs.program import own_program
from ..programs.reductions import dot, sum
from .finite_volumes import FiniteVolumes


def integral(grid: FiniteVolumes, u: Any) -> Any:
    """Return the sum of a field of cells times their volumes."""
    if isinstance(u, Expression):
        if u.space != grid.cells:
            raise SpaceError(f"The integral takes a field of cells, not of {u.space!r}.")
        return sum(grid.volumes() @ u)
    if grid.space_of(u) != grid.cells:
        raise ShapeError("The integral takes a field of cells, not of faces.")
    volumes = grid.volumes()

    def make() -> Any:
        @own_program(u=grid.cells)
        def integrate(u: Any) -> Any:
            return sum(volumes @ u)

        return integrate

    return _kept(grid, "integral", make)(u)


def inner(grid: FiniteVolumes, u: Any, v: Any) -> Any:
    """Return the inner product of two fields on one space."""
    space, other = (e.space if isinstance(e, Expression) else grid.space_of(e) for e in (u, v))
    if space != other:
        raise SpaceError(
            f"The inner product needs fields on one space, not on {space!r} and {other!r}."
        )
    if isinstance(u, Expression):
        return dot(u, grid.measure(space) @ v)
    measure = grid.measure(space)

    def make() -> Any:
        @own_program(u=space, v=space)
        def product(u: Any, v: Any) -> Any:
            return dot(u, measure @ v)

        return product

    return _kept(grid, space, make)(u, v)


def _kept(grid: FiniteVolumes, key: object, make: Callable[[], Any]) -> Any:
    """Return a program of a grid, which is made once."""
    if key not in grid._programs:
        grid._programs[key] = make()
    return grid._programs[key]
