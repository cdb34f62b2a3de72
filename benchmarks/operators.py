"""The programs that are measured, as a user writes them; sizes are symbolic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import ssr

nz, ny, nx = ssr.sizes("nz ny nx")
plane, space = ssr.Space(ny, nx), ssr.Space(nz, ny, nx)

Weights = dict[int | tuple[int, ...], float]

CROSS: Weights = {(0, 0): 4.0, (-1, 0): -1.0, (0, -1): -1.0, (0, 1): -1.0, (1, 0): -1.0}
CUBE: Weights = {o: -1.0 if any(o) else 26.0 for o in product((-1, 0, 1), repeat=3)}
COEFFICIENTS = ("west", "east", "south", "north", "low", "high", "centre")
FIELDS: dict[str, Any] = dict.fromkeys(COEFFICIENTS, space)


def five_point() -> ssr.Matrix:
    """Return the 5-point Laplacian: 4 on the diagonal, and -1 at each neighbour inside."""
    return ssr.stencil(plane, plane, CROSS, outside="zero")


def twenty_seven_point() -> ssr.Matrix:
    """Return the 27-point operator: 26 on the diagonal, and -1 at each neighbour inside."""
    return ssr.stencil(space, space, CUBE, outside="zero")


def seven_point() -> ssr.Matrix:
    """Return the 7-point operator whose coefficients are seven fields that are bound later."""

    @ssr.matrix(rows=space, cols=space, **FIELDS)
    def varying(
        k: Any, j: Any, i: Any, *, west: Any, east: Any, south: Any, north: Any, low: Any,
        high: Any, centre: Any,
    ) -> Iterator[tuple[Any, Any]]:  # fmt: skip
        entries = (
            ((k - 1, j, i), low),
            ((k, j - 1, i), south),
            ((k, j, i - 1), west),
            ((k, j, i), centre),
            ((k, j, i + 1), east),
            ((k, j + 1, i), north),
            ((k + 1, j, i), high),
        )
        for column, coefficient in entries:
            if column in space:
                yield column, coefficient[k, j, i]

    return varying


def jacobi5() -> ssr.Program:
    """Return a Jacobi sweep for the 5-point Laplacian, from x to y."""
    A = five_point()

    @ssr.program(y=plane, x=plane, b=plane)
    def jacobi(y: Any, x: Any, b: Any) -> None:
        y[:] = A.diagonal().solve(b - (A - A.diagonal()) @ x)

    return jacobi


def gauss_seidel5() -> ssr.Program:
    """Return a forward Gauss-Seidel sweep for the 5-point Laplacian, in place."""
    A = five_point()

    @ssr.program(x=plane, b=plane)
    def sweep(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    return sweep


def forward27() -> ssr.Program:
    """Return a forward Gauss-Seidel sweep for the 27-point operator, in place."""
    A = twenty_seven_point()

    @ssr.program(x=space, b=space)
    def forward(x: Any, b: Any) -> None:
        x[:] = A.tril().solve(b - A.triu(1) @ x)

    return forward


def backward27() -> ssr.Program:
    """Return a backward Gauss-Seidel sweep for the 27-point operator, in place."""
    A = twenty_seven_point()

    @ssr.program(x=space, b=space)
    def backward(x: Any, b: Any) -> None:
        x[:] = A.triu().solve(b - A.tril(-1) @ x)

    return backward


def spmv27() -> ssr.Program:
    """Return ``y[:] = A @ x`` for the 27-point operator."""
    return twenty_seven_point().program("apply")


def spmv7() -> ssr.Program:
    """Return ``y[:] = A @ x`` for the 7-point operator, with coefficients as further fields."""
    A = seven_point()

    @ssr.program(y=space, x=space, **FIELDS)
    def apply(
        y: Any, x: Any, west: Any, east: Any, south: Any, north: Any, low: Any, high: Any,
        centre: Any,
    ) -> None:  # fmt: skip
        taps = west, east, south, north, low, high, centre
        y[:] = A.bind(**dict(zip(COEFFICIENTS, taps, strict=True))) @ x

    return apply


PROGRAMS: Mapping[str, Callable[[], ssr.Program]] = MappingProxyType(
    {
        "jacobi5": jacobi5,
        "spmv27": spmv27,
        "forward27": forward27,
        "backward27": backward27,
        "spmv7": spmv7,
    }
)
"""Functions that declare the programs, again at each call."""
