"""The operators of all grids, by the rule or as data, and their extents."""

import math
from typing import Any, Literal

from scipy import sparse

import ssr

from .layout import Shape
from .solver import LEVELS, coarse, fine, staged


def csr(points: ssr.Space, shape: Shape) -> ssr.StoredMatrix:
    """Return the operator as data: 27 times the identity less a product of three sums of three."""
    sums = [sparse.diags_array([1.0] * 3, offsets=(-1, 0, 1), shape=(n, n)) for n in shape]
    near = sparse.kron(sparse.kron(sums[0], sums[1]), sums[2])
    matrix = sparse.csr_array(27.0 * sparse.eye_array(math.prod(shape)) - near)
    return ssr.from_scipy(matrix, rows=points, cols=points)


def operators(matrix: Literal["staged", "csr"], shape: Shape) -> list[Any]:
    """Return the operators of all grids: the same object for each where it serves all sizes."""
    if matrix == "staged":
        return [*[staged(fine)] * (LEVELS - 1), staged(coarse)]
    spaces = [*[fine] * (LEVELS - 1), coarse]
    return [csr(points, s) for points, s in zip(spaces, shapes(shape), strict=True)]


def shapes(shape: Shape) -> list[Shape]:
    """Return the extents of all grids."""
    return [tuple(n >> level for n in shape) for level in range(LEVELS)]
