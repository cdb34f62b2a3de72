"""Conversion of fields to and from xarray DataArrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ShapeError, UnsupportedError
from ..points.numbers import Array
from ..spaces.space import Space
from .geometry import Geometry
from .labels import dims, variables, whole

if TYPE_CHECKING:
    import xarray


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise UnsupportedError(
            "xarray is not installed.", hint='Install it: pip install "staged-sparse-row[io]".'
        ) from None
    return xarray


def to_xarray(
    grid: Geometry, u: Any, space: Space | None, name: str | None, attributes: Mapping[str, Any]
) -> xarray.DataArray:
    """Return a field as a DataArray with coordinates, without bounds, which it cannot hold."""
    xarray = _xarray()
    place = grid.space_of(u, space)
    if name is not None and not isinstance(name, str):
        raise ArgumentError(f"name must be a string, not {name!r}.")
    names = dims(grid, place)
    coordinates = {
        name: (axes, values, {k: a for k, a in about.items() if k != "bounds"})
        for name, (axes, values, about) in variables(grid, place).items()
        if name in names
    }
    made = xarray.DataArray(
        np.array(whole(u)),
        dims=names,
        coords=coordinates,
        name=name,
        attrs=dict(attributes),
    )
    return made  # type: ignore[no-any-return]


def from_xarray(grid: Geometry, array: Any, space: Space | None) -> Array:
    """Return the values of a DataArray on a space, after a check of its coordinates."""
    xarray = _xarray()
    if not isinstance(array, xarray.DataArray):
        raise ArgumentError(f"{type(array).__name__} is not a DataArray of xarray.")
    choices = grid.spaces() if space is None else [grid._checked_space(space)]
    place = next((s for s in choices if set(dims(grid, s)) == set(array.dims)), None)
    if place is None:
        raise ArgumentError(
            f"The array has the dimensions {array.dims}.",
            note="; ".join(f"{s.location} have {dims(grid, s)}" for s in choices),
            hint="Rename dimensions: array.rename(...).",
        )
    array = array.transpose(*dims(grid, place))
    shape = place.extent(grid._known_sizes())
    if array.shape != shape:
        raise ShapeError(f"The array has shape {array.shape}, and {place!r} has {shape}.")
    for number, name in enumerate(array.dims):
        _check_coordinate(grid, number, place, array, name)
    values = np.asarray(array.values)
    kind = values.dtype if values.dtype in (np.float32, np.float64) else np.dtype(float)
    if values.dtype.kind not in "iuf":
        raise ArgumentError(f"The values of the array are {values.dtype}, not real numbers.")
    return np.array(values, kind, order="C")


def _check_coordinate(grid: Geometry, number: int, space: Space, array: Any, name: str) -> None:
    """Check that an array has the positions of points, to the rounding of single precision."""
    if name not in array.coords:
        raise ArgumentError(
            f"The array has no coordinate {name!r} to compare with.",
            hint=f"Give it one: array.assign_coords({name}=coordinates.positions(...)).",
        )
    known = grid.positions(number, space)
    given = np.asarray(array.coords[name].values)
    faces = grid._positions[number].faces
    rounding = 1e-6 * max(abs(faces).max(), np.diff(faces).min())
    close = 1e-3 * np.diff(faces).min()
    if given.dtype.kind in "iuf":
        if (abs(given - known) <= min(rounding, close)).all():
            return
        if (abs(given[::-1] - known) <= min(rounding, close)).all():
            raise ArgumentError(
                f"The coordinate {name!r} of the array decreases.",
                hint=f"Reverse the array: array.isel({name}=slice(None, None, -1)).",
            )
    raise ArgumentError(
        f"The coordinate {name!r} of the array is not that of {space!r}.",
        note=f"it begins with {given.flat[0]}, and the grid's with {known[0]}",
    )
