"""Files of a run that follow the CF conventions: NetCDF (.nc) and Zarr (.zarr).

Each record is appended as soon as it is known, so that a run which stops leaves a file with all
records up to then. The first one is written aside and then moved.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ssr

from . import cases
from .checkpoint import Setting
from .conventions import recorded
from .files import OutputError
from .run import Report
from .stores import STORES, Store


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
        self._store: Store | None = None
        self._made: tuple[int, int] | None = None

    def write(self, report: Report) -> None:
        """Append a record; all ranks call it together.

        Raises
        ------
        OutputError
            If it cannot be written, or another program has replaced or removed the file.
        """
        on, record = report.flow.on, recorded(report.values, report.flow.known.at)
        if self._store is None:
            store = STORES[suffix(self.path)](self.path, self.setting, self.command, report.flow)
            store.create(report.seconds, record)
            self._made, self._store = _identity(self.path), store
            return
        if on.first and _identity(self.path) != self._made:
            raise OutputError(
                f"{self.path} is no longer the file that this run has begun.",
                hint="Let each run write a file of its own.",
            )
        self._store.append(report.seconds, record)


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
    if path.suffix not in STORES:
        raise OutputError(
            f"{path} has no known format.", hint=f"Let the name end in {' or '.join(STORES)}."
        )
    return path.suffix


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
    fields = [found[name].shape[1:] for name in ("height", "zeta") if name in found.variables]
    known = "time" in found.variables and found.attrs.get("case") in cases.NAMES
    if not known or n < 4 or fields != 2 * [(6, n, n)]:
        raise OutputError(f"{path} is not a file of a shallow-water run.")
