"""Plots of fields over their coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..points.numbers import Array, real
from ..spaces.space import Space
from .geometry import Geometry
from .labels import axis_label, whole
from .weights import function_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot(
    grid: Geometry,
    u: Any,
    space: Space | None,
    ax: Axes | None,
    label: str | None,
    at: Mapping[str, float],
    style: Mapping[str, Any],
) -> Axes:
    """Draw a field over one or two coordinates."""
    try:
        import matplotlib.axes
        import matplotlib.pyplot as plt
    except ImportError:
        raise UnsupportedError(
            "matplotlib is not installed.",
            hint='Install it: pip install "staged-sparse-row[plot]".',
        ) from None
    if ax is not None and not isinstance(ax, matplotlib.axes.Axes):
        raise ArgumentError(f"ax is {ax!r}, not the axes of a picture of matplotlib.")
    if label is not None and not isinstance(label, str):
        raise ArgumentError(f"label must be a string, not {label!r}.")
    place = grid.space_of(u, space)
    values, left, fixed = _section(grid, whole(u), place, at)
    if len(left) > 2 or not left:
        raise ArgumentError(
            f"A picture must have one or two coordinates, not {len(left)}.",
            hint="Choose points of others: at={name: value}.",
        )
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    if len(left) == 1:
        ax.plot(grid.positions(left[0], place), values, **style)
        ax.set(xlabel=axis_label(grid, left[0]), ylabel=label or "")
        return ax
    _draw_plane(grid, ax, place, values, left, fixed, style, label)
    return ax


def _section(
    grid: Geometry, values: Array, space: Space, at: Mapping[str, float]
) -> tuple[Array, list[int], dict[int, float]]:
    """Return the values next to given coordinates, and the axes that are left."""
    if not isinstance(at, Mapping):
        raise ArgumentError(f"at must be a mapping from coordinates to values, not {at!r}.")
    fixed: dict[int, float] = {}
    for name, given in at.items():
        value = real(given)
        if value is None:
            raise ArgumentError(f"The value of {name} is {given!r}, not a number.")
        fixed[grid.axis(name)] = value
    index = tuple(
        int(abs(grid.positions(a, space) - fixed[a]).argmin()) if a in fixed else slice(None)
        for a in range(grid.cells.ndim)
    )
    return values[index], [a for a in range(grid.cells.ndim) if a not in fixed], fixed


def _draw_plane(
    grid: Geometry,
    ax: Axes,
    space: Space,
    values: Array,
    left: list[int],
    fixed: Mapping[int, float],
    style: Mapping[str, Any],
    label: str | None,
) -> None:
    """Draw a field over two coordinates, each value in a quadrilateral around its point."""
    corners = [_corners(grid, axis, space) for axis in left]
    mapped = _mapped(grid, corners, left, fixed)
    if mapped is None:
        y, x = corners
        ax.set(ylabel=axis_label(grid, left[0]), xlabel=axis_label(grid, left[1]))
    else:
        x, y = mapped
        ax.set(aspect="equal", xlabel="x", ylabel="y")
    image = ax.pcolormesh(x, y, values, **style)
    figure = ax.get_figure()
    assert figure is not None
    figure.colorbar(image, ax=ax, label=label or "")


def _corners(grid: Geometry, axis: int, space: Space) -> Array:
    """Return the ends of the intervals around the points along an axis."""
    points = grid._positions[axis]
    low, high = space.box(grid.sizes)[axis]
    first = grid.cells.first(grid.sizes)[axis]
    if not space.data.staggered[axis]:
        return points.around(True, low - first, high - first + 1)
    found = points.around(False, low - first - 1, high - first)
    if points.axis.periodic:
        return found
    return np.clip(found, points.faces[0], points.faces[-1])


def _mapped(
    grid: Geometry, corners: list[Array], left: list[int], fixed: Mapping[int, float]
) -> tuple[Array, Array] | None:
    """Return the Cartesian coordinates of corners, if they lie in a plane of two components."""
    components = grid.system.components
    if components is None or grid.system.name == "geographic":
        return None
    q = dict(zip(left, np.meshgrid(*corners, indexing="ij"), strict=True))
    q |= {axis: np.full_like(q[left[0]], value) for axis, value in fixed.items()}
    symbols = [grid.system.symbols[name] for name in grid.names]
    shown = []
    for part in components:
        if part.free_symbols <= set(symbols):
            values = np.broadcast_to(
                function_of(part, symbols)(*(q[a] for a in range(len(symbols)))), q[left[0]].shape
            )
            if np.ptp(values) > 1e-9 * abs(values).max():
                shown.append(values)
    return (shown[0], shown[1]) if len(shown) == 2 else None
