"""Files of a run that follow the CF conventions: NetCDF (.nc) and Zarr (.zarr).

Fields have the axes ``time, panel, y, x``; longitude and latitude are fields of cells, with the
corners of the cells as bounds. Each record is appended when it is known, so that a run that stops
leaves a file with all records up to then.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import ssr

from . import geometry
from .cases import case
from .checkpoint import Setting
from .fields import bottom
from .geometry import PANELS, Array
from .run import Report

SUFFIXES = (".nc", ".zarr")

EPOCH = "seconds since 2000-01-01 00:00:00"
"""The flows have no date; all begin on this one."""

NAMES = {
    "h": ("depth of the water", "m", None),
    "H": ("height of the surface", "m", None),
    "u": ("wind to the east", "m s-1", "eastward_wind"),
    "v": ("wind to the north", "m s-1", "northward_wind"),
    "zeta": ("relative vorticity", "s-1", "atmosphere_relative_vorticity"),
}
"""Each field's long name, units and CF standard name."""


class OutputError(ssr.Error, ValueError):
    """A file cannot be written or read."""


class Output:
    """A file that takes one report after the other.

    Parameters
    ----------
    command
        What made it, for the file's history.
    fresh
        Whether a file of the same name may be replaced.

    Raises
    ------
    OutputError
        If the name says no format, or the file is there and may not be replaced.
    """

    def __init__(self, path: Path, setting: Setting, command: str, *, fresh: bool = True) -> None:
        suffix(path)
        if path.exists() and not fresh:
            raise OutputError(
                f"{path} is there already.",
                note="a run that goes on writes a file of its own",
                hint="Give another name; xarray.open_mfdataset reads several files as one.",
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.setting, self.command = path, setting, command
        self.records = 0

    def write(self, report: Report) -> None:
        """Append a record."""
        record = dataset(report, self.setting, self.command)
        try:
            if suffix(self.path) == ".zarr":
                _write_zarr(self.path, record, self.records)
            elif self.records == 0:
                record.to_netcdf(self.path, engine="h5netcdf", unlimited_dims=["time"])
            else:
                _append_netcdf(self.path, record)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written: {error}.") from None
        self.records += 1


def suffix(path: Path) -> str:
    """Return the format of a file by its name.

    Raises
    ------
    OutputError
        If the name ends otherwise.
    """
    if path.suffix not in SUFFIXES:
        raise OutputError(
            f"{path} says no known format.", hint=f"Let the name end in {' or '.join(SUFFIXES)}."
        )
    return path.suffix


def dataset(report: Report, setting: Setting, command: str) -> Any:
    """Return a report as an `xarray.Dataset` with one time."""
    import xarray

    n, flow = setting.n, case(setting.case, setting.angle)
    f = report.fields
    u, v = geometry.wind(PANELS, *geometry.grid(n), np.stack([f.u1, f.u2]))
    values = {"h": f.h, "H": f.H, "u": u, "v": v, "zeta": f.zeta}
    cells = ("panel", "y", "x")
    fields: dict[str, Any] = {}
    for name, (long_name, units, standard) in NAMES.items():
        about = {"long_name": long_name, "units": units, "cell_measures": "area: cell_area"}
        about |= {} if standard is None else {"standard_name": standard}
        fields[name] = (("time", *cells), values[name][None], about)
    area = geometry.areas(n) * np.ones((6, 1, 1))
    about = {"long_name": "height of the bottom", "standard_name": "surface_altitude", "units": "m"}
    fields["bottom"] = (cells, bottom(flow, n)[1], about)
    about = {"long_name": "area of the cell", "standard_name": "cell_area", "units": "m2"}
    fields["cell_area"] = (cells, area, about)
    fields |= {f"{k}_bounds": ((*cells, "corner"), b) for k, b in bounds(n).items()}
    made = xarray.Dataset(
        fields, _coordinates(report, n), _attributes(setting, flow.title, command)
    )
    for name in NAMES:
        made[name].encoding["_FillValue"] = None
    return made


def _coordinates(report: Report, n: int) -> dict[str, Any]:
    lon, lat = np.rad2deg(geometry.lonlat(geometry.position(PANELS, *geometry.grid(n))))
    cells, centres = ("panel", "y", "x"), geometry.centres(n)

    def about(name: str, units: str, long_name: str) -> dict[str, str]:
        return {"standard_name": name, "units": units, "bounds": f"{long_name}_bounds"}

    time = {"standard_name": "time", "units": EPOCH, "calendar": "proleptic_gregorian", "axis": "T"}
    return {
        "time": ("time", [report.seconds], time),
        "panel": ("panel", np.arange(6), {"long_name": "panel of the cubed sphere"}),
        "y": ("y", centres, {"long_name": "beta", "units": "radian", "axis": "Y"}),
        "x": ("x", centres, {"long_name": "alpha", "units": "radian", "axis": "X"}),
        "lon": (cells, lon, about("longitude", "degrees_east", "lon")),
        "lat": (cells, lat, about("latitude", "degrees_north", "lat")),
    }


def _attributes(setting: Setting, title: str, command: str) -> dict[str, Any]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "Conventions": "CF-1.11",
        "title": f"Shallow water on the cubed sphere: {title}",
        "source": f"apps.swe of ssr {ssr.__version__}",
        "history": f"{now}: {command}",
        "command": command,
        "version": ssr.__version__,
        **{"case": setting.case, "angle": setting.angle, "n": setting.n},
        **{"dt": setting.dt, "weights": setting.weights},
    }


def bounds(n: int) -> dict[str, Array]:
    """Return the corners of the cells in degrees, shape (6, n, n, 4), against the clock.

    Longitudes are those nearest to the cell's own.
    """
    ends = geometry.faces(n)
    r = geometry.position(PANELS, ends[None, :], ends[:, None])
    corners = [(0, 0), (0, 1), (1, 1), (1, 0)]
    r = np.stack([r[:, :, j : n + j, i : n + i] for j, i in corners], axis=-1)
    lon, lat = np.rad2deg(geometry.lonlat(r))
    centre = np.rad2deg(geometry.lonlat(geometry.position(PANELS, *geometry.grid(n)))[0])[..., None]
    return {"lon": centre + (lon - centre + 180) % 360 - 180, "lat": lat}


def _write_zarr(path: Path, record: Any, records: int) -> None:
    """Write the first record, or append one; in version 2, whose metadata are in one place."""
    if records:
        moving = record.drop_vars(["bottom", "cell_area", "lon_bounds", "lat_bounds"])
        moving.to_zarr(path, append_dim="time", consolidated=True)
    else:
        record.to_zarr(path, mode="w", zarr_format=2, consolidated=True)


def _append_netcdf(path: Path, record: Any) -> None:
    import h5netcdf

    with h5netcdf.File(path, "a") as file:
        place = file.dimensions["time"].size
        file.resize_dimension("time", place + 1)
        file.variables["time"][place] = record["time"].values[0]
        for name in NAMES:
            file.variables[name][place] = record[name].values[0]


def read(path: Path) -> Any:
    """Return a file of a run as an `xarray.Dataset`; time is in seconds from the start.

    Raises
    ------
    OutputError
        If there is no such file, or it is something else.
    """
    import xarray

    if not path.exists():
        raise OutputError(f"{path} is not there.")
    engine = "zarr" if suffix(path) == ".zarr" else "h5netcdf"
    try:
        found = xarray.open_dataset(path, engine=engine, decode_times=False)
    except (OSError, ValueError, KeyError) as error:
        raise OutputError(f"{path} cannot be read.", note=str(error)) from None
    if not {"H", "zeta", "lon", "lat"} <= set(found.variables):
        raise OutputError(f"{path} is not a file of a shallow-water run.")
    return found
