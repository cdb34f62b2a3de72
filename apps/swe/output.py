"""Files of a run that follow the CF conventions: NetCDF (.nc) and Zarr (.zarr)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ssr

from . import cases
from .checkpoint import Setting
from .conventions import CELLS, SIDES, about, attributes, constants, coordinates, fields
from .run import Report

SUFFIXES = ".nc", ".zarr"


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
            raise ssr.errors.OutputError(
                f"{path} exists already.",
                note="a run that continues another one writes a file of its own",
                hint="Give another name; xarray.open_mfdataset reads several files as one.",
            )
        self.path, self.about = path, about(setting, command)
        self._writer: ssr.output.Writer | None = None

    def write(self, report: Report) -> None:
        """Append a record; all ranks call it together.

        Raises
        ------
        OutputError
            If it cannot be written, or another program has replaced or removed the file.
        """
        if self._writer is None:
            known = report.flow.known
            self._writer = ssr.output.Writer(
                self.path,
                fields(report.values, known.at),
                coordinates=coordinates(known),
                constants=constants(known),
                dims=CELLS,
                attributes=attributes(),
                about=self.about,
                chunks=SIDES,
            )
        self._writer.write(report.seconds)


def suffix(path: Path) -> str:
    """Return the suffix of a file's name, which tells its format.

    Raises
    ------
    OutputError
        If the name has another suffix.
    """
    if path.suffix not in SUFFIXES:
        raise ssr.errors.OutputError(
            f"{path} has no known format.", hint=f"Let the name end in {' or '.join(SUFFIXES)}."
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

    suffix(path)
    if not path.exists():
        raise ssr.errors.OutputError(f"{path} does not exist.")
    try:
        with xarray.open_dataset(path, decode_times=False) as found:
            _check_run(path, found)
            yield found
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        if isinstance(error, ssr.Error):
            raise
        note = " ".join(str(error).split())
        raise ssr.errors.OutputError(f"{path} cannot be read.", note=note) from None


def _check_run(path: Path, found: Any) -> None:
    n = found.sizes.get("x", 0)
    shapes = [found[name].shape[1:] for name in ("height", "zeta") if name in found.variables]
    known = "time" in found.variables and found.attrs.get("case") in cases.NAMES
    if not known or n < 4 or shapes != 2 * [(6, n, n)]:
        raise ssr.errors.OutputError(f"{path} is not a file of a shallow-water run.")
