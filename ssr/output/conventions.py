"""CF conventions for names, attributes and times."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ..errors import ArgumentError

CONVENTIONS = "CF-1.11"

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

UNITS = re.compile(
    r"(days?|d|hours?|hr?s?|minutes?|mins?|seconds?|secs?|s|milliseconds?|msecs?|ms) since "
    r"-?\d{1,6}-\d{1,2}-\d{1,2}([T ]\d{1,2}:\d{1,2}(:\d{1,2}(\.\d+)?)?)?( ?(UTC|Z|[+-]\d.*))?"
)

CALENDARS = (
    "standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap",
    "366_day", "360_day",
)  # fmt: skip

EPOCH = "seconds since 2000-01-01 00:00:00"
"""Default units of time, for runs without a start date."""


def checked_names(names: Iterable[Any]) -> None:
    """Raise an error for names of variables and axes that CF forbids (sections 2.3 and 2.4)."""
    known: dict[str, str] = {}
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ArgumentError(
                f"{name!r} is not a name of a variable or an axis.",
                hint="Use letters, digits and underscores, and begin with a letter.",
            )
        other = known.setdefault(name.lower(), name)
        if other != name:
            raise ArgumentError(
                f"The names {other} and {name} differ in case only.", hint="Rename one of them."
            )


def time_attributes(units: Any, calendar: Any) -> dict[str, Any]:
    """Return the attributes of the time."""
    if not isinstance(units, str) or not UNITS.fullmatch(units):
        raise ArgumentError(
            f"time_units is {units!r}.", hint=f"Write units and a date, such as {EPOCH!r}."
        )
    if not isinstance(calendar, str) or calendar not in CALENDARS:
        raise ArgumentError(
            f"calendar is {calendar!r}.", hint=f"The calendars of CF are {', '.join(CALENDARS)}."
        )
    about = {"standard_name": "time", "long_name": "time", "axis": "T"}
    return {**about, "units": units, "calendar": calendar}


def file_attributes(given: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the attributes of a file: those given, and the usual ones."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    command = " ".join(sys.argv) or "python"
    return {
        "Conventions": CONVENTIONS,
        "source": f"ssr {version}",
        "history": f"{now}: {command.encode(errors='backslashreplace').decode()}",
        **checked_attributes("the file", given),
    }


def checked_tables(given: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return the attributes of variables by their names."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        raise ArgumentError(
            f"attributes is {given!r}, not a dictionary for each variable.",
            hint='Write {"u": {"units": "m s-1"}}.',
        )
    return given


def checked_attributes(of: str, given: Any) -> dict[str, Any]:
    """Return attributes as texts and as numbers of NumPy."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"The attributes of {of} are {given!r}, not a dictionary.")
    checked_names(given)
    return {name: _attribute(of, name, value) for name, value in given.items()}


def _attribute(of: str, name: str, value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.ndim > 1 or not array.size:
        raise ArgumentError(
            f"The attribute {name} of {of} is {value!r}.", hint="Give a text, a number, or several."
        )
    if array.dtype.kind in "iu" and np.can_cast(np.min_scalar_type(array.min()), "i4"):
        small = array.astype("i4")
        array = small if (small == array).all() else array
    return array if array.ndim else array[()]
