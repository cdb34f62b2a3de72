"""The grid of the finite volumes, and the matrices of their scheme.

Fields are ordered ``[panel, beta, alpha]``. A direction is 0 for alpha, 1 for beta.
"""

from typing import Any

import boundary as bc
import ssr

from .scheme import everywhere

(more,) = ssr.sizes("more")
n = more + 5  # interpolation between panels takes six cells
grid = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere())
cells, wide = grid.cells, grid.cells.grow(3)
faces = cells.faces(axis=1), cells.faces(axis=0)
panel = ssr.Space(n, n)
edges = panel.faces(axis=1), panel.faces(axis=0)


def stencil(rows: Any, cols: Any, d: int, weights: dict[int, float]) -> Any:
    """Return the matrix of a weighted sum of points along a direction."""
    return ssr.axis_stencil(rows, cols, -1 - d, weights)


def second(points: Any, d: int) -> Any:
    """Return second differences along a direction, one-sided at the ends of a line."""
    return ssr.difference(points, points, -1 - d, derivative=2, outside="one-sided")


def derivative(points: Any, d: int) -> Any:
    """Return 12 times derivatives along a direction to fourth order, for points at distance one."""
    return 12.0 * ssr.difference(points, points, -1 - d, order=4, outside="one-sided")


bend = [second(cells, d) for d in (0, 1)]
at_cells = everywhere(cells, panel)
