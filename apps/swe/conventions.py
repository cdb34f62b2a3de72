"""What a file of a run holds: variables with their names and units by the CF conventions.

Fields have the axes ``time, panel, y, x``; longitude and latitude are fields of points, with the
corners of the points' cells as bounds. Values are made for any box of points, given by its indices
as arrays that broadcast, so that nobody needs those of the whole.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boundary as bc
import ssr

from . import cases, geometry
from .checkpoint import Setting
from .constants import Indices
from .diagnostics import Values
from .geometry import Array
from .scheme import Known

Box = tuple[tuple[int, int], ...]
"""The ranges of panels, rows and columns of some points."""

EPOCH = "seconds since 2000-01-01 00:00:00"
"""The date at which all flows begin; they have none of their own."""

CELLS = ("panel", "y", "x")

NAMES: Mapping[str, tuple[str, str, str | None]] = {
    "depth": ("depth of the water", "m", None),
    "height": ("height of the surface", "m", None),
    "u": ("wind to the east", "m s-1", "eastward_wind"),
    "v": ("wind to the north", "m s-1", "northward_wind"),
    "zeta": ("relative vorticity", "s-1", "atmosphere_relative_vorticity"),
}
"""Each field's long name, units and CF standard name.

Names in a file differ by more than case, as CF recommends.
"""


@dataclass(frozen=True)
class Variable:
    """A variable of a file.

    Parameters
    ----------
    dimensions
        The names of its axes.
    attributes
        What describes it.
    values
        Its values: an array; a function of the indices of points; or None if each record has its
        own.
    """

    dimensions: tuple[str, ...]
    attributes: Mapping[str, Any]
    values: NDArray[Any] | Callable[[Indices, Indices, Indices], Array] | None = None


@dataclass(frozen=True)
class Recorded:
    """A field of a record: one variable, or several that are made of its components.

    Parameters
    ----------
    change
        Makes the variables of the field's values in a box, given with the indices of its points.
    """

    names: tuple[str, ...]
    field: bc.Field
    change: Callable[[Array, Indices, Indices, Indices], Array] | None = None

    def variables(self, box: Box, values: Array) -> Iterator[tuple[str, Array]]:
        """Yield the variables with their values in a box."""
        made = values[None] if self.change is None else self.change(values, *np.ogrid[place(box)])
        return zip(self.names, made, strict=True)


def recorded(values: Values, at: Array) -> list[Recorded]:
    """Return the fields of a record, for points at these coordinates along a panel."""

    def wind(u: Array, p: Indices, j: Indices, i: Indices) -> Array:
        return geometry.wind(p, at[i], at[j], u)

    alone = {"depth": values.h, "height": values.H, "zeta": values.zeta}
    return [
        *(Recorded((name,), field) for name, field in alone.items()),
        Recorded(("u", "v"), values.u, wind),
    ]


def place(box: Box) -> tuple[slice, ...]:
    """Return a box as the slices of an array of all points."""
    return tuple(slice(low, high) for low, high in box)


def dimensions(n: int) -> dict[str, int]:
    """Return the lengths of the axes but that of time, which grows."""
    return {"panel": 6, "y": n, "x": n, "corner": 4}


def variables(known: Known) -> dict[str, Variable]:
    """Return the variables of a file."""
    every = dict(_coordinates(known))
    for name, (long_name, units, standard) in NAMES.items():
        about = {"long_name": long_name, "units": units, "cell_measures": "area: cell_area"}
        about |= {} if standard is None else {"standard_name": standard}
        every[name] = Variable(("time", *CELLS), about | {"coordinates": "lat lon"})
    about = {"long_name": "height of the bottom", "standard_name": "surface_altitude", "units": "m"}
    every["bottom"] = Variable(CELLS, about | {"coordinates": "lat lon"}, known.bottom)
    about = {"long_name": "area of the cell", "standard_name": "cell_area", "units": "m2"}
    every["cell_area"] = Variable(
        CELLS, about | {"coordinates": "lat lon"}, lambda p, j, i: known.sphere(j, i) + 0.0 * p
    )
    return every


def _coordinates(known: Known) -> Iterator[tuple[str, Variable]]:
    time = {"standard_name": "time", "units": EPOCH, "calendar": "proleptic_gregorian", "axis": "T"}
    yield "time", Variable(("time",), time)
    yield "panel", Variable(("panel",), {"long_name": "panel of the cubed sphere"}, np.arange(6))
    for axis, angle in ("y", "beta"), ("x", "alpha"):
        about = {"long_name": angle, "units": "radian", "axis": axis.upper()}
        yield axis, Variable((axis,), about, known.at)
    for place, (name, units) in enumerate((("longitude", "east"), ("latitude", "north"))):
        short = name[:3]
        about = {"standard_name": name, "units": f"degrees_{units}", "bounds": f"{short}_bounds"}
        yield short, Variable(CELLS, about, _part(lambda *at: places(known.at, *at), place))
        corners = _part(lambda *at: bounds(known, *at), place)
        yield f"{short}_bounds", Variable((*CELLS, "corner"), {}, corners)


def _part(pair: Callable[..., tuple[Array, Array]], place: int) -> Callable[..., Array]:
    return lambda *at: pair(*at)[place]


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


def attributes(setting: Setting, command: str) -> dict[str, Any]:
    """Return what describes a file as a whole."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    title = cases.case(setting.case, setting.angle).title
    return {
        "Conventions": "CF-1.11",
        "title": f"Shallow water on the cubed sphere: {title}",
        "source": f"apps.swe of ssr {ssr.__version__}",
        "history": f"{now}: {command}",
        "command": command,
        "version": ssr.__version__,
        **{"case": setting.case, "angle": setting.angle, "n": setting.n},
        **{"dt": setting.dt, "solver": setting.solver},
        **{"weights": setting.weights, "viscosity": setting.viscosity},
    }
