"""Coordinates along one axis: the positions of cell faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ArgumentError, Error, OutOfRangeError, ShapeError, TooLargeError
from ..points.numbers import Array, real
from ..public import flag

LARGEST = 2**48
"""Limit of the number of cells of an axis."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The coordinate along one axis of a grid: where the faces between its cells lie.

    Parameters
    ----------
    low, high
        The ends of a coordinate whose cells are equally wide, or stretched.
    stretching
        A function of the unit interval onto itself, increasing, for cells of unequal widths: it
        takes an array of n + 1 equally spaced numbers from 0 to 1 and returns where the faces lie.
    faces
        In place of the ends, the coordinates of all faces, increasing: an array with one value more
        than there are cells.
    periodic
        Whether the last face is the first one again, as for an angle around a full circle.
    units
        The units, as in the CF conventions; those of the system by default.
    attributes
        Other attributes of the variable, such as ``standard_name``, ``long_name``, ``positive``.

    Raises
    ------
    ArgumentError
        If neither the ends nor the faces are given, or both.
    OutOfRangeError
        If the coordinate does not increase.

    Examples
    --------
    Cells that are smaller at both walls of a channel:

    >>> import numpy as np, ssr
    >>> walls = lambda s: 0.5 + 0.5 * np.tanh(2.0 * (2.0 * s - 1.0)) / np.tanh(2.0)
    >>> ssr.coordinates.Axis(0.0, 1.0, stretching=walls).at_faces(4).round(3)
    array([0.   , 0.105, 0.5  , 0.895, 1.   ])
    """

    low: float | None = None
    high: float | None = None
    stretching: Callable[[Any], Any] | None = None
    faces: Any = None
    periodic: bool = False
    units: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        flag("Axis", "periodic", self.periodic)
        if self.units is not None and not isinstance(self.units, str):
            raise ArgumentError(f"units must be a string, not {self.units!r}.")
        if not isinstance(self.attributes, Mapping):
            raise ArgumentError(f"attributes must be a mapping, not {self.attributes!r}.")
        ends = [self.low is not None, self.high is not None]
        if self.faces is not None:
            if any(ends) or self.stretching is not None:
                raise ArgumentError("An axis has its ends or its faces; both are given.")
            self._set_faces()
            return
        if not all(ends):
            raise ArgumentError(
                "An axis needs both ends, or its faces.",
                hint="Write ssr.coordinates.Axis(0.0, 1.0) or Axis(faces=array).",
            )
        if self.stretching is not None and not callable(self.stretching):
            raise ArgumentError(f"stretching is {self.stretching!r}, not a function.")
        low, high = real(self.low), real(self.high)
        if low is None or high is None:
            raise ArgumentError(
                f"The ends of an axis must be numbers, not {self.low!r}, {self.high!r}."
            )
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise OutOfRangeError(
                f"An axis runs upward between its ends, not from {low} to {high}."
            )
        self._keep(low=low, high=high)

    def _set_faces(self) -> None:
        """Keep a read-only copy of given faces."""
        try:
            faces = np.array(self.faces, np.float64)
        except (TypeError, ValueError):
            raise ArgumentError("The faces of an axis are an array of numbers.") from None
        if faces.ndim != 1 or len(faces) < 2:
            raise ShapeError(
                f"The faces of an axis are an array of shape {faces.shape}.",
                hint="It has one axis, and one value more than there are cells.",
            )
        _check_increasing(faces, "The faces of an axis")
        faces.flags.writeable = False
        self._keep(faces=faces, low=float(faces[0]), high=float(faces[-1]))

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def is_uniform(self) -> bool:
        """Whether all cells are equally wide by definition."""
        return self.faces is None and self.stretching is None

    def at_faces(self, count: Any) -> Array:
        """Return the coordinates of all faces.

        Parameters
        ----------
        count
            The number of cells.

        Raises
        ------
        ShapeError
            If the axis is given by another number of faces.
        OutOfRangeError
            If the stretching does not increase from 0 to 1.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ArgumentError(f"An axis must have a positive number of cells, not {count!r}.")
        if self.faces is not None:
            if len(self.faces) != count + 1:
                raise ShapeError(
                    f"{count} cells have {count + 1} faces, and {len(self.faces)} are given."
                )
            return self.faces  # type: ignore[no-any-return]
        assert self.low is not None
        assert self.high is not None
        if count >= LARGEST:
            raise TooLargeError(f"An axis with {count} cells: no array has so many elements.")
        if self.stretching is None:
            return np.linspace(self.low, self.high, count + 1)
        faces = self.low + (self.high - self.low) * self._stretched(count)
        faces[0], faces[-1] = self.low, self.high
        _check_increasing(faces, "The stretched faces of an axis")
        return faces

    def _stretched(self, count: int) -> Array:
        """Return the values of the stretching, after a check of its ends."""
        assert self.stretching is not None
        unit = np.linspace(0.0, 1.0, count + 1)
        try:
            found = np.array(self.stretching(unit), np.float64)
        except Error:
            raise
        except Exception as error:
            raise ArgumentError(
                f"The stretching of an axis fails: {type(error).__name__}: {error}",
                hint="It takes an array of numbers from 0 to 1 and returns an array.",
            ) from error
        if found.shape != unit.shape:
            raise ShapeError(
                f"A stretching of {unit.shape} numbers returns the shape {found.shape}."
            )
        if not np.allclose([found[0], found[-1]], [0.0, 1.0], rtol=0.0, atol=1e-12):
            raise OutOfRangeError(
                f"The stretching maps 0 and 1 to {found[0]} and {found[-1]}.",
                hint="It maps the unit interval onto itself; low and high are the ends.",
            )
        return found


def axis_of(name: str, given: Any) -> Axis:
    """Return the axis that a user gives: an `Axis`, its ends, or the array of its faces."""
    if isinstance(given, Axis):
        return given
    if isinstance(given, np.ndarray):
        return Axis(faces=given)
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return Axis(*given)
    raise ArgumentError(
        f"The axis {name} is {given!r}.",
        hint="Give its ends (low, high), an array of its faces, or an ssr.coordinates.Axis.",
    )


def _check_increasing(faces: Array, subject: str) -> None:
    if not (np.isfinite(faces).all() and (np.diff(faces) > 0.0).all()):
        raise OutOfRangeError(
            f"{subject} do not increase from one to the next.",
            hint="Reverse the array and the fields where a coordinate decreases.",
        )
