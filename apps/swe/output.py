"""Files of a run that follow the CF conventions: NetCDF (.nc) and Zarr (.zarr)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ssr

from . import cases
from .conventions import CELLS, SIDES, about, attributes, constants, coordinates, fields
from .run import Run

SUFFIXES = ".nc", ".zarr"


def writer(path: Path, run: Run, command: str) -> ssr.output.Writer:
    """Return a writer of the values at points, as reports of a run leave them.

    Parameters
    ----------
    command
        The command that made the file, for its history.
    """
    known = run.solver.known
    return ssr.output.Writer(
        path,
        fields(run.gauges.values, known.at),
        coordinates=coordinates(known),
        constants=constants(known),
        dims=CELLS,
        attributes=attributes(),
        about=about(run.setting, command),
        chunks=SIDES,
    )


def check(path: Path, *, fresh: bool = True) -> None:
    """Reject a name without a known suffix, and the name of a file that must be kept.

    Raises
    ------
    OutputError
        If the name has another suffix, or the file exists and the run is not a fresh one.
    """
    if path.suffix not in SUFFIXES:
        raise ssr.errors.OutputError(
            f"{path} has no known format.", hint=f"Let the name end in {' or '.join(SUFFIXES)}."
        )
    if path.exists() and not fresh:
        raise ssr.errors.OutputError(
            f"{path} exists already.",
            note="a run that continues another one writes a file of its own",
            hint="Give another name; xarray.open_mfdataset reads several files as one.",
        )


@contextmanager
def read(path: Path) -> Iterator[Any]:
    """Open a file of a run as an `xarray.Dataset`; time is in seconds from the start.

    Raises
    ------
    OutputError
        If there is no such file, it has another format, or a part that is read is damaged.
    """
    import xarray

    check(path)
    if not path.exists():
        raise ssr.errors.OutputError(f"{path} does not exist.")
    try:
        with xarray.open_dataset(path, decode_times=False) as found:
            n = found.sizes.get("x", 0)
            shapes = [found[k].shape[1:] for k in ("height", "zeta") if k in found.variables]
            known = "time" in found.variables and found.attrs.get("case") in cases.NAMES
            if not known or n < 4 or shapes != 2 * [(6, n, n)]:
                raise ssr.errors.OutputError(f"{path} is not a file of a shallow-water run.")
            yield found
    except ssr.Error:
        raise
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        note = " ".join(str(error).split())
        raise ssr.errors.OutputError(f"{path} cannot be read.", note=note) from None
