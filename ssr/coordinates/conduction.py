"""Conductivities of diffusive fluxes: numbers, cell fields or face fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..errors import ArgumentError, SpaceError
from ..matrices.declare import diagonal
from ..matrices.matrix import Matrix
from ..points.numbers import real
from ..spaces.distributed import is_data
from ..spaces.space import Space
from ..symbols.values import Value
from ..trace.trace import ScalarType
from . import operators
from .geometry import Geometry

Flux: TypeAlias = Callable[[Matrix, Matrix], Matrix]
"""A function that combines a divergence and a gradient with a conductivity."""


def conductivities(grid: Geometry, given: Any, means: Callable[[int], Matrix]) -> list[Flux]:
    """Return a function per axis that inserts a conductivity between divergence and gradient.

    ``means`` returns the matrix of the means of a field of cells at the faces of an axis.
    """
    count = grid.cells.ndim
    if isinstance(given, (tuple, list)):
        if len(given) != count:
            raise ArgumentError(f"{len(given)} conductivities are given for {count} axes.")
        return [_of_faces(grid, axis, one) for axis, one in enumerate(given)]
    if is_data(given) or isinstance(given, Space):
        return [_of_cells(grid, means(axis), given) for axis in range(count)]
    return [_number(grid.faces(axis), given, "conductivity") for axis in range(count)]


def _number(faces: Space, given: Any, name: str) -> Flux:
    if isinstance(given, ScalarType):

        def entries(index: Any, data: Any) -> Any:
            yield tuple(index), data[name]

        return _between(operators.declared("conductivity", faces, faces, {name: given}, entries))
    number = given if isinstance(given, Value) else real(given)
    if number is None:
        raise ArgumentError(
            f"The conductivity is {given!r}.",
            hint="Give a number, ssr.scalar, a field on the cells or its space, or a tuple of "
            "numbers and fields on faces.",
        )
    if isinstance(number, float) and number == 1.0:
        return lambda across, along: across @ along
    return lambda across, along: number * (across @ along)


def _between(middle: Matrix) -> Flux:
    return lambda across, along: across @ (middle @ along)


def _of_cells(grid: Geometry, made: Matrix, given: Any) -> Flux:
    if isinstance(given, Space) and given != grid.cells:
        raise SpaceError(f"The conductivity is a field on {grid.cells!r}, not on {given!r}.")
    return _between(made if isinstance(given, Space) else made.bind(conductivity=given))


def _of_faces(grid: Geometry, axis: int, given: Any) -> Flux:
    faces, name = grid.faces(axis), f"conductivity_{grid.names[axis]}"
    if is_data(given):
        return _between(diagonal(faces, given))
    if not isinstance(given, Space):
        return _number(faces, given, name)
    if given != faces:
        raise SpaceError(f"The conductivity of axis {axis} is on {faces!r}, not on {given!r}.")

    def entries(index: Any, data: Any) -> Any:
        yield tuple(index), data[name][tuple(index)]

    return _between(operators.declared("conductivity", faces, faces, {name: faces}, entries))
