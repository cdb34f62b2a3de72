"""The contents of a file of a run: variables with their names and units by the CF conventions.

Fields have the axes ``time, panel, y, x``; longitude and latitude are fields of points, with the
corners of the points' cells as bounds. Values are made for any box of points, given by its indices
as arrays that broadcast, so that no process needs those of the whole.
"""

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

import ssr

from . import cases, geometry
from .checkpoint import Setting
from .constants import Indices
from .diagnostics import Values
from .geometry import Array
from .scheme import Known

CELLS = ("panel", "y", "x")

SIDES = {"panel": 1, "y": 256, "x": 256}
"""The points along the sides of chunks of Zarr."""

FIELDS = {
    "depth": {"long_name": "depth of the water", "units": "m"},
    "height": {"long_name": "height of the surface", "units": "m"},
    "u": {"long_name": "wind to the east", "units": "m s-1", "standard_name": "eastward_wind"},
    "v": {"long_name": "wind to the north", "units": "m s-1", "standard_name": "northward_wind"},
    "zeta": {
        "long_name": "relative vorticity",
        "units": "s-1",
        "standard_name": "atmosphere_relative_vorticity",
    },
}
"""The attributes of the fields of a record; names differ by more than case, as CF recommends."""

CONSTANTS = {
    "bottom": {
        "long_name": "height of the bottom",
        "standard_name": "surface_altitude",
        "units": "m",
    },
    "cell_area": {"long_name": "area of the cell", "standard_name": "cell_area", "units": "m2"},
}
"""The attributes of fields that do not change."""


def attributes() -> dict[str, dict[str, Any]]:
    """Return the attributes of all variables but the coordinates."""
    measured = {
        name: {**about, "cell_measures": "area: cell_area"} for name, about in FIELDS.items()
    }
    return {**measured, **CONSTANTS}


def fields(values: Values, at: Array) -> dict[Any, Any]:
    """Return the fields of a record, for points at these coordinates along a panel."""

    def wind(u: Array, p: Indices, j: Indices, i: Indices) -> Array:
        return geometry.wind(p, at[i], at[j], u)

    winds = ssr.output.Computed(wind, values.u)
    return {"depth": values.h, "height": values.H, "zeta": values.zeta, ("u", "v"): winds}


def constants(known: Known) -> dict[str, Any]:
    """Return the fields that do not change."""

    def area(p: Indices, j: Indices, i: Indices) -> Array:
        return known.sphere(j, i)

    return {"bottom": _computed(known, known.bottom), "cell_area": _computed(known, area)}


def coordinates(known: Known) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return the coordinates of the points, with bounds of their cells."""
    found: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "panel": ("panel", np.arange(6), {"long_name": "panel of the cubed sphere"}),
        "y": ("y", known.at, {"long_name": "beta", "units": "radian", "axis": "Y"}),
        "x": ("x", known.at, {"long_name": "alpha", "units": "radian", "axis": "X"}),
    }
    for number, (name, units) in enumerate((("longitude", "east"), ("latitude", "north"))):
        short = name[:3]
        about = {"standard_name": name, "units": f"degrees_{units}", "bounds": f"{short}_bounds"}
        found[short] = CELLS, _computed(known, _point(known, number)), about
        found[f"{short}_bounds"] = (*CELLS, "corner"), _corners(known, number), {}
    return found


def _computed(known: Known, function: Callable[..., Array]) -> Any:
    n = len(known.at)
    return ssr.output.Computed(function, shape=(6, n, n))


def _point(known: Known, number: int) -> Callable[..., Array]:
    return lambda p, j, i: places(known.at, p, j, i)[number]


def _corners(known: Known, number: int) -> Any:
    def corners(p: Indices, j: Indices, i: Indices, c: Indices) -> Array:
        made = bounds(known, *(index[..., 0] for index in (p, j, i)))[number]
        return made[..., c.ravel()]

    n = len(known.at)
    return ssr.output.Computed(corners, shape=(6, n, n, 4))


def places(at: Array, p: Indices, j: Indices, i: Indices) -> tuple[Array, Array]:
    """Return longitude and latitude of points in degrees, from coordinates along a panel."""
    lon, lat = np.rad2deg(geometry.lonlat(geometry.position(p, at[i], at[j])))
    return lon, lat


def bounds(known: Known, p: Indices, j: Indices, i: Indices) -> tuple[Array, Array]:
    """Return longitude and latitude of the corners of cells in degrees, anticlockwise, (..., 4).

    Of equal longitudes that nearest to the point is taken.
    """
    at = known.edges
    corners = [
        geometry.position(p, at[i + east], at[j + north])
        for north, east in ((0, 0), (0, 1), (1, 1), (1, 0))
    ]
    lon, lat = np.rad2deg(geometry.lonlat(np.stack(corners, axis=-1)))
    centre = places(known.at, p, j, i)[0][..., None]
    return centre + (lon - centre + 180) % 360 - 180, lat


def about(setting: Setting, command: str) -> dict[str, Any]:
    """Return the attributes of a file."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    title = cases.case(setting.case, setting.angle).title
    return {
        "title": f"Shallow water on the cubed sphere: {title}",
        "source": f"apps.swe of ssr {ssr.__version__}",
        "history": f"{now}: {command}",
        "command": command,
        "version": ssr.__version__,
        **asdict(setting),
    }
