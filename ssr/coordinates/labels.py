"""Names and attributes of coordinates in the conventions of NetCDF and xarray."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..spaces.space import Space
from .geometry import Geometry


def dims(grid: Geometry, space: Space) -> tuple[str, ...]:
    """Return the names of the dimensions of a space."""
    sizes = grid._known_sizes()
    each = zip(
        grid.names, space.data.staggered, space.box(sizes), grid.cells.box(sizes), strict=True
    )
    found = []
    for name, staggered, (low, high), (first, last) in each:
        name = f"{name}_face" if staggered else name
        if (low, high) != (first, last + staggered):
            name = f"{name}_{low}_to_{high - 1}".replace("-", "minus_")
        found.append(name)
    return tuple(found)


def variables(grid: Geometry, space: Space) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return the coordinate variables of a space, with bounds of cells."""
    found: dict[str, tuple[Any, Any, dict[str, Any]]] = {}
    for number, name in enumerate(dims(grid, space)):
        attributes = attributes_of(grid, number)
        found[name] = (name,), grid.positions(number, space), attributes
        if space.data.staggered[number]:
            continue
        attributes["bounds"] = f"{name}_bounds"
        low, high = space.box(grid._known_sizes())[number]
        first = grid.cells.first(grid.sizes)[number]
        faces = grid._positions[number].around(True, low - first, high - first + 1)
        bounds = np.stack([faces[:-1], faces[1:]], axis=1)
        found[f"{name}_bounds"] = (name, "bounds"), bounds, {}
    return found


def attributes_of(grid: Geometry, number: int) -> dict[str, Any]:
    """Return the attributes of a coordinate: those of its axis first."""
    name = grid.names[number]
    axis = grid._metric.axes[name]
    usual = dict(grid.system.attributes.get(name, {}))
    if axis.units is not None:
        usual["units"] = axis.units
    return usual | dict(axis.attributes)


def axis_label(grid: Geometry, number: int) -> str:
    """Return the name of a coordinate with its units, for pictures."""
    found = attributes_of(grid, number)
    name = found.get("long_name", grid.names[number])
    return f"{name} ({found['units']})" if "units" in found else str(name)


def whole(u: Any) -> Any:
    """Return a field as an array, gathered where it belongs to ranks."""
    return u if isinstance(u, np.ndarray) else u.gather()
