"""Files of a run that follow the CF conventions: NetCDF (.nc) and Zarr (.zarr).

Fields have the axes ``time, panel, y, x``; longitude and latitude are fields of cells, with the
corners of the cells as bounds. Each record is appended as soon as it is known, so that a run which
stops leaves a file with all records up to then. The first one is written aside and then moved.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import ssr

from . import cases, geometry
from .checkpoint import Setting
from .fields import bottom
from .files import OutputError, aside, reserve, writing
from .geometry import PANELS, Array
from .run import Report

SUFFIXES = (".nc", ".zarr")

EPOCH = "seconds since 2000-01-01 00:00:00"
"""The date at which all flows begin; they have none of their own."""

NAMES = {
    "h": ("depth of the water", "m", None),
    "H": ("height of the surface", "m", None),
    "u": ("wind to the east", "m s-1", "eastward_wind"),
    "v": ("wind to the north", "m s-1", "northward_wind"),
    "zeta": ("relative vorticity", "s-1", "atmosphere_relative_vorticity"),
}
"""Each field's long name, units and CF standard name."""


class Output:
    """A file to which one report after the other is appended.

    Parameters
    ----------
    command
        The command that made the file, for its history.
    fresh
        Whether a file of the same name may be replaced.

    Raises
    ------
    OutputError
        If the name does not tell the format, or the file exists and may not be replaced.
    """

    def __init__(self, path: Path, setting: Setting, command: str, *, fresh: bool = True) -> None:
        suffix(path)
        if path.exists() and not fresh:
            raise OutputError(
                f"{path} exists already.",
                note="a run that continues another one writes a file of its own",
                hint="Give another name; xarray.open_mfdataset reads several files as one.",
            )
        self.path, self.setting = path, setting
        self.command = command.encode(errors="backslashreplace").decode()  # attributes are UTF-8
        self.records = 0
        self._made: tuple[int, int] | None = None

    def write(self, report: Report) -> None:
        """Append a record.

        Raises
        ------
        OutputError
            If it cannot be written, or another program has replaced or removed the file.
        """
        record = dataset(report, self.setting, self.command)
        append, create = _WAYS[suffix(self.path)]
        if self.records == 0:
            with aside(self.path) as beside:
                create(beside, record)
            self._made = _identity(self.path)
        elif _identity(self.path) != self._made:
            raise OutputError(
                f"{self.path} is no longer the file that this run has begun.",
                hint="Let each run write a file of its own.",
            )
        else:
            with writing(self.path):
                append(self.path, record)
        self.records += 1


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes a file from others of its name, or None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def suffix(path: Path) -> str:
    """Return the suffix of a file's name, which tells its format.

    Raises
    ------
    OutputError
        If the name has another suffix.
    """
    if path.suffix not in SUFFIXES:
        raise OutputError(
            f"{path} has no known format.", hint=f"Let the name end in {' or '.join(SUFFIXES)}."
        )
    return path.suffix


def dataset(report: Report, setting: Setting, command: str) -> Any:
    """Return a report as an `xarray.Dataset` with one time."""
    import xarray

    n, flow = setting.n, cases.case(setting.case, setting.angle)
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
    """Return the corners of the cells in degrees, anticlockwise, shape (6, n, n, 4).

    Of equal longitudes that nearest to the centre of the cell is taken.
    """
    ends = geometry.faces(n)
    r = geometry.position(PANELS, ends[None, :], ends[:, None])
    corners = [(0, 0), (0, 1), (1, 1), (1, 0)]
    r = np.stack([r[:, :, j : n + j, i : n + i] for j, i in corners], axis=-1)
    lon, lat = np.rad2deg(geometry.lonlat(r))
    centre = np.rad2deg(geometry.lonlat(geometry.position(PANELS, *geometry.grid(n)))[0])[..., None]
    return {"lon": centre + (lon - centre + 180) % 360 - 180, "lat": lat}


ROOM = 1 << 20
"""The most bytes that a record of NetCDF takes besides its numbers."""


def _create_netcdf(path: Path, record: Any) -> None:
    reserve(path, record.nbytes + ROOM)
    record.to_netcdf(path, engine="h5netcdf", unlimited_dims=["time"])


def _append_netcdf(path: Path, record: Any) -> None:
    import h5netcdf

    reserve(path, sum(record[name].nbytes for name in NAMES) + ROOM)
    with h5netcdf.File(path, "a") as file:
        place = file.dimensions["time"].size
        file.resize_dimension("time", place + 1)
        try:
            file.variables["time"][place] = record["time"].values[0]
            for name in NAMES:
                file.variables[name][place] = record[name].values[0]
        except BaseException:  # of an interrupt too: a record is there as a whole or not at all
            file.resize_dimension("time", place)
            raise


def _create_zarr(path: Path, record: Any) -> None:
    """Write format 2, whose metadata are in one file: a record counts once it is complete."""
    record.to_zarr(path, mode="w", zarr_format=2, consolidated=True)


def _append_zarr(path: Path, record: Any) -> None:
    moving = record.drop_vars(["bottom", "cell_area", "lon_bounds", "lat_bounds"])
    moving.to_zarr(path, append_dim="time", consolidated=True)


_WAYS = {".nc": (_append_netcdf, _create_netcdf), ".zarr": (_append_zarr, _create_zarr)}
"""How a record is appended, and how the first one is written."""


@contextmanager
def read(path: Path) -> Iterator[Any]:
    """Open a file of a run as an `xarray.Dataset`; time is in seconds from the start.

    Raises
    ------
    OutputError
        If there is no such file, it is something else, or a part that is read is damaged.
    """
    import xarray

    if not path.exists():
        raise OutputError(f"{path} does not exist.")
    engine = "zarr" if suffix(path) == ".zarr" else "h5netcdf"
    try:
        with xarray.open_dataset(path, engine=engine, decode_times=False) as found:
            _check_run(path, found)
            yield found
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, ssr.Error):
            raise
        raise OutputError(f"{path} cannot be read.", note=" ".join(str(error).split())) from None


def _check_run(path: Path, found: Any) -> None:
    n = found.sizes.get("x", 0)
    fields = [found[name].shape[1:] for name in ("H", "zeta") if name in found.variables]
    known = "time" in found.variables and found.attrs.get("case") in cases.NAMES
    if not known or n < 6 or fields != 2 * [(6, n, n)]:
        raise OutputError(f"{path} is not a file of a shallow-water run.")
