"""Output of records that follow the CF conventions, to NetCDF (.nc) and Zarr (.zarr)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..errors import ArgumentError, DtypeError, OutputError, ShapeError
from ..points.numbers import Array, integer
from ..public import is_one_of
from ..spaces.distributed import Ranks
from ..version import __version__
from .conventions import EPOCH, checked_tables, file_attributes, time_attributes
from .netcdf import NetCDF
from .places import as_path, check_place
from .store import Store
from .together import on_first
from .variables import Layout, Source, layout_of, ranks_and_share, sources
from .zarr_store import Zarr

STORES: dict[str, type[Store]] = {".nc": NetCDF, ".zarr": Zarr}
"""The store class for each file name suffix."""


class Writer:
    """A callback that appends records of fields to a NetCDF file or a Zarr store.

    `xarray.open_dataset` reads both. A record is there as a whole or not at all: a process that is
    killed, or a full disk, leaves the records before. No process holds a whole field of ranks: a
    NetCDF file is written by the first rank, which collects one piece after the other, and of a
    Zarr store each rank writes its own chunks.

    Parameters
    ----------
    path
        The file, whose suffix sets the format: .nc is NetCDF, in the classic format with 64-bit
        offsets, and .zarr is Zarr, format 2.
    fields
        The values of a record, by the names of variables: arrays, fields of ranks, numbers,
        `Computed` values, or functions without arguments that return one of these for each record.
        A tuple of names has the components of a vector as variables.
    coordinates
        Coordinates: triples (dims, values, attributes) by their names, as `xarray.Dataset` takes
        them, whose values may also be fields or `Computed`; or an object with methods
        ``dims(space)`` and ``variables(space)`` that return these for a space.
    constants
        Other variables that do not change, written once, by their names.
    dims
        The names of axes: a tuple for all variables with as many axes, or a dictionary of such
        tuples by the names of variables. By default those of the coordinates object, or z, y and x;
        faces are along x_face, and the blocks of a grid along block.
    attributes
        Attributes of variables by their names, such as ``{"u": {"units": "m s-1"}}``.
    about
        Attributes of the file, such as its title. Conventions, source and history are added.
    time_units, calendar
        Units of the time by the CF conventions, in which the times of records are given, and the
        calendar.
    dtype
        float32 to store fields of float64 in half of the space. By default, as they are.
    chunks
        For Zarr, the points along the sides of chunks by the names of axes. By default 65,536 along
        one axis, 256 along each of two, and 64 along each of more.
    mode
        "w" replaces a file, "x" refuses one, and "a" continues one with the same variables,
        coordinates and constants, or else begins it. Records of a continued file from the time of
        the first new record on are dropped, as a run that restarts makes them again; a first record
        that is not later than the first one there is refused. By default a file is replaced, except
        that one with records before the first new one is refused: a run that continues from a
        checkpoint would lose the records of the run before.

    Raises
    ------
    ArgumentError, DtypeError, ShapeError
        If names, axes, values or attributes do not fit each other or the CF conventions.
    OutputError
        If the file cannot be written or continued, or must not be replaced; on all ranks.

    Examples
    --------
    >>> import tempfile, numpy as np, ssr, xarray
    >>> u, x = np.zeros(4), np.array([0.5, 1.5, 2.5, 3.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = ssr.output.Writer(
    ...         f"{folder}/run.nc",
    ...         {"u": u},
    ...         coordinates={"x": ("x", x, {"units": "m"})},
    ...         attributes={"u": {"long_name": "displacement", "units": "m"}},
    ...     )
    ...     for n in range(3):
    ...         u[:] = n
    ...         writer.write(60.0 * n)
    ...     with xarray.open_dataset(f"{folder}/run.nc") as file:
    ...         print(dict(file.sizes), file.u.values[:, 0], file.time.values[2])
    {'time': 3, 'x': 4} [0. 1. 2.] 2000-01-01T00:02:00.000000000
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fields: Any,
        *,
        coordinates: Any = None,
        constants: Mapping[Any, Any] | None = None,
        dims: Any = None,
        attributes: Mapping[str, Mapping[str, Any]] | None = None,
        about: Mapping[str, Any] | None = None,
        time_units: str = EPOCH,
        calendar: str = "proleptic_gregorian",
        dtype: Any = None,
        chunks: Mapping[str, int] | None = None,
        mode: Literal["w", "x", "a"] | None = None,
    ) -> None:
        self.path = as_path(path)
        if self.path.suffix not in STORES:
            raise OutputError(
                f"{self.path} has no known format.", hint=f"Let it end in {' or '.join(STORES)}."
            )
        if not isinstance(fields, Mapping) or not fields:
            raise ArgumentError(f"fields is {fields!r}.", hint='Write {"u": u}.')
        self.fields, self.mode, self.chunks = dict(fields), _as_mode(mode), _as_chunks(chunks)
        self.time = time_attributes(time_units, calendar)
        self.about = file_attributes({} if about is None else about, __version__)
        self.dtype = _as_dtype(dtype)
        self._given = coordinates, dims, checked_tables(attributes)
        self._constants = sources({} if constants is None else constants, "constants")
        self._store: Store | None = None
        self._last = -math.inf
        fixed = {name: value for name, value in self.fields.items() if not _is_function(value)}
        known = sources(fixed, "fields")
        if len(fixed) == len(self.fields):
            self._layout(known)
        self._ranks, _ = ranks_and_share([*known, *self._constants])
        self._check_place()

    def __repr__(self) -> str:
        count = 0 if self._store is None else self._store.count
        return f"<Writer {self.path}, {count} records>"

    def __call__(self, simulation: Any) -> None:
        """Append a record of the time of a simulation, which is its attribute ``time``."""
        self.write(simulation.time)

    def write(self, time: float) -> None:
        """Append a record; all ranks call it together.

        Parameters
        ----------
        time
            The time, in the units of the file; it is later than that of the record before.

        Raises
        ------
        ArgumentError, ShapeError, DtypeError
            If the time is not a number, or a function returns values of another shape or dtype.
        OutputError
            If the record cannot be written, or another program has replaced the file.
        """
        seconds = _as_time(time)
        record = sources(
            {n: value() if _is_function(value) else value for n, value in self.fields.items()},
            "fields",
        )
        if seconds <= self._last:
            raise OutputError(
                f"The record at {seconds:g} is not after the last one of {self.path}, "
                f"at {self._last:g}.",
                hint="Write each time once, in order.",
            )
        if self._store is None:
            self._begin(seconds, record)
        else:
            self._check_shapes(self._store, record)
            self._store.append(seconds, record)
        self._last = seconds

    def _begin(self, time: float, record: Sequence[Source]) -> None:
        """Write the first record into a new file, or one that is continued."""
        layout = self._layout(record)
        made = STORES[self.path.suffix]
        every = [*record, *layout.constants]
        store = made(self.path, layout, self.about, self.time, every)
        if isinstance(store, Zarr):
            store.chunks = self.chunks
        exists = on_first(store.ranks, self.path.exists)
        if exists and self.mode == "x":
            raise self._exists()
        self._check_replaced(store.ranks, time)
        if not exists or self.mode != "a":
            store.create(time, record)
        else:
            self._continue(store, time)
            store.append(time, record)
        self._store = store

    def _continue(self, store: Store, time: float) -> None:
        """Drop the records of a file from a time on."""
        times = store.open()
        count = _count_before(times, time)
        if len(times) and not count:
            raise OutputError(
                f"{self.path} begins at {times[0]:g}, and the new record is at {time:g}.",
                note="A run that continues a file drops its records from the first new one on.",
                hint='Write another file, or replace this one with mode="w".',
            )
        if count < len(times):
            store.truncate(count)

    def _layout(self, record: Sequence[Source]) -> Layout:
        coordinates, dims, attributes = self._given
        layout = layout_of(record, self._constants, coordinates, dims, attributes)
        if self.dtype is not None:
            for name, variable in layout.variables.items():
                if variable.is_record and variable.dtype.kind == "f":
                    layout.variables[name] = variable.of_dtype(self.dtype)
        unknown = [axis for axis in self.chunks if axis not in layout.lengths]
        if unknown:
            raise ArgumentError(f"chunks has the axis {unknown[0]}, which no variable has.")
        return layout

    def _check_shapes(self, store: Store, record: Sequence[Source]) -> None:
        for source in record:
            for name in source.names:
                before, dtype = store.layout.variables[name], source.values.dtype
                if source.shape != before.shape:
                    raise ShapeError(
                        f"{name} has shape {source.shape} now, and {before.shape} before."
                    )
                if not np.can_cast(dtype, before.dtype, "same_kind"):
                    raise DtypeError(f"{name} has dtype {dtype} now, and {before.dtype} before.")

    def _check_place(self) -> None:
        """Raise an error if the path cannot be written, or if a file exists that must not."""

        def check() -> bool:
            check_place(self.path, folder=self.path.suffix == ".zarr")
            return self.path.exists()

        if on_first(self._ranks, check) and self.mode == "x":
            raise self._exists()

    def _check_restart(self, time: float) -> None:
        """Raise an error if a run that continues at a time would replace earlier records."""
        if self._store is None:
            self._check_replaced(self._ranks, time)

    def _check_replaced(self, ranks: Ranks, time: float) -> None:
        """Raise an error if records before a time would be lost, and no mode was given."""

        def check() -> None:
            times = STORES[self.path.suffix].times(self.path)
            if _count_before(times, time):
                raise OutputError(
                    f"{self.path} has records from {times[0]:g} to {times[-1]:g}, which a new file "
                    f"from {time:g} on would replace.",
                    note="A run that continues from a checkpoint continues the file of the run "
                    "before.",
                    hint='Give mode="a" to continue the file, mode="w" to replace it, or another '
                    "name.",
                )

        if self.mode is None:
            on_first(ranks, check)

    def _exists(self) -> OutputError:
        return OutputError(
            f"{self.path} exists already.",
            hint='Give another name, or mode="a" to continue it, or mode="w" to replace it.',
        )


def _is_function(value: Any) -> bool:
    return callable(value) and not hasattr(value, "dtype")


def _count_before(times: Array, time: float) -> int:
    """Return the number of records before a time, which may differ by rounding."""
    return int(np.searchsorted(times, time - 1e-9 * abs(time)))


def _as_time(given: Any) -> float:
    try:
        time = float(given)
    except (TypeError, ValueError):
        time = math.nan
    if not math.isfinite(time):
        raise ArgumentError(f"time is {given!r}, not a finite number.")
    return time


def _as_mode(given: Any) -> str | None:
    if given is not None and not is_one_of(given, ("w", "x", "a")):
        raise ArgumentError(f"mode is {given!r}.", hint='It is "w", "x" or "a".')
    return given  # type: ignore[no-any-return]


def _as_dtype(given: Any) -> np.dtype[Any] | None:
    if given is None:
        return None
    found: np.dtype[Any]
    try:
        found = np.dtype(given)
    except TypeError:
        found = np.dtype(object)
    if found.str[1:] not in ("f4", "f8"):
        raise ArgumentError(f"dtype is {given!r}.", hint="It is float32 or float64.")
    return found


def _as_chunks(given: Any) -> dict[str, int]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentError(f"chunks is {given!r}, not a dictionary.", hint='Write {"x": 128}.')
    found = {name: integer(count) for name, count in given.items()}
    if any(count is None or count < 1 for count in found.values()):
        raise ArgumentError(f"chunks is {given!r}; expected positive integers.")
    return {name: count for name, count in found.items() if count is not None}
