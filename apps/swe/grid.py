"""The grid of the finite volumes, and the matrices that their scheme is made of.

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


def moved(d: int, j: Any, i: Any, by: int) -> Any:
    """Return the indices of a point some steps ahead along a direction."""
    return (j, i + by) if d == 0 else (j + by, i)


def stencil(rows: Any, cols: Any, d: int, weights: dict[int, float]) -> Any:
    """Return the matrix of a weighted sum of points along a direction."""

    @ssr.matrix(rows=rows, cols=cols)
    def along(p, j, i):  # type: ignore[no-untyped-def]
        for by, weight in weights.items():
            yield (p, *moved(d, j, i, by)), weight

    return along


def one_sided(d: int, points: Any, middle: dict[int, float], *ends: dict[int, float]) -> Any:
    """Return a sum of points along a direction with other weights near the ends of a line.

    Parameters
    ----------
    ends
        The weights of the first point of a line, of the second, and so on; those of the last points
        are the same the other way round, with the sign of even or odd weights in the middle.
    """
    sign = -1.0 if middle.get(1) == -middle.get(-1, 0.0) else 1.0

    @ssr.matrix(rows=points, cols=points)
    def along(p, j, i):  # type: ignore[no-untyped-def]
        at, last = (i, points.shape[2] - 1) if d == 0 else (j, points.shape[1] - 1)
        taps = middle
        for place, weights in enumerate(ends):
            if at == place:
                taps = weights
            elif at == last - place:
                taps = {-by: sign * weight for by, weight in weights.items()}
        for by, weight in taps.items():
            yield (p, *moved(d, j, i, by)), weight

    return along


def second(points: Any, d: int) -> Any:
    """Return second differences along a direction, one-sided at the ends of a line."""
    return one_sided(d, points, {-1: 1.0, 0: -2.0, 1: 1.0}, {0: 2.0, 1: -5.0, 2: 4.0, 3: -1.0})


def derivative(points: Any, d: int) -> Any:
    """Return 12 times derivatives along a direction to fourth order, for points at distance one."""
    middle = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}
    first = {0: -25.0, 1: 48.0, 2: -36.0, 3: 16.0, 4: -3.0}
    return one_sided(d, points, middle, first, {-1: -3.0, 0: -10.0, 1: 18.0, 2: -6.0, 3: 1.0})


bend = [second(cells, d) for d in (0, 1)]
at_cells = everywhere(cells, panel)
