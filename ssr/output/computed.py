"""Lazily computed output variables: values that are computed box by box during writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError, DtypeError, ShapeError
from ..points.numbers import Array, integer
from ..spaces.distributed import is_distributed
from .pieces import Box, as_values, boxes_of, piece


class Computed:
    """Values that are computed when they are written, box by box, so that no process holds all.

    Parameters
    ----------
    function
        Takes the values of the fields in a box, then the indices of its points, an array for each
        axis, which broadcast. It returns an array that broadcasts to the shape of the box; or,
        where several variables are written, one such array for each.
    *fields
        Arrays or fields of ranks with the same points. Vectors have their components first.
    shape
        The number of points along each axis. By default that of the points of the first field.
    dtype
        The type of the values.

    Attributes
    ----------
    shape, dtype
        Those of the values.

    Raises
    ------
    ArgumentError, ShapeError
        If there is no function, or fields have other points.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> h, b = np.ones((2, 3)), np.full((2, 3), 0.5)
    >>> surface = ssr.output.Computed(lambda h, b, j, i: h + b, h, b)
    >>> ssr.output.to_xarray({"surface": surface})["surface"].values
    array([[1.5, 1.5, 1.5],
           [1.5, 1.5, 1.5]])
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *fields: Any,
        shape: Sequence[int] | None = None,
        dtype: Any = np.float64,
    ) -> None:
        if not callable(function):
            raise ArgumentError(f"function is {function!r}, not a function of values and indices.")
        self.function = function
        self.fields = [as_values(f"Field {n}", field) for n, field in enumerate(fields)]
        if shape is None:
            if not self.fields:
                raise ArgumentError(
                    "Values without fields have no shape.", hint="Give shape=(ny, nx)."
                )
            self.shape = points_of(self.fields[0])
        else:
            self.shape = _as_shape(shape)
        self.dtype = _as_dtype(dtype)
        for number, field in enumerate(self.fields):
            if tuple(field.shape[len(field.shape) - len(self.shape) :]) != self.shape:
                raise ShapeError(
                    f"Field {number} has shape {tuple(field.shape)}, which are not values at "
                    f"{self.shape} points."
                )

    def __repr__(self) -> str:
        return f"<Computed values of shape {self.shape}>"


def computed_piece(made: Computed, box: Box, several: int | None, first: bool) -> Array | None:
    """Return the values of a box on the first rank; all ranks call it together."""
    parts = [piece(field, _box_of(field, box)) for field in made.fields]
    if not first or any(part is None for part in parts):
        return None
    return _values(made, parts, box, several)


def computed_boxes(
    made: Computed,
    boxes: Sequence[Box],
    several: int | None,
    share: Callable[[int], Sequence[int]],
) -> Iterator[tuple[int, Array]]:
    """Yield the boxes of this process with their values; all ranks call it together."""
    if not made.fields:
        for number in share(len(boxes)):
            yield number, _values(made, [], boxes[number], several)
        return
    every = [boxes_of(f, [_box_of(f, box) for box in boxes], share) for f in made.fields]
    for parts in zip(*every, strict=True):
        number = parts[0][0]
        yield number, _values(made, [values for _, values in parts], boxes[number], several)


def _box_of(field: Any, box: Box) -> Box:
    """Return the box of a field, with all components."""
    lead = field.shape[: len(field.shape) - len(box)]
    return (*((0, n) for n in lead), *box)


def _values(made: Computed, parts: Sequence[Any], box: Box, several: int | None) -> Array:
    """Return the values of a box, computed from those of the fields."""
    shape = tuple(high - low for low, high in box)
    indices = np.ix_(*(np.arange(low, high) for low, high in box)) if box else ()
    found = made.function(*parts, *indices)
    if several is not None and len(found) != several:
        raise ShapeError(f"The function returns {len(found)} values for {several} names.")
    values = np.empty(shape if several is None else (several, *shape), made.dtype)
    targets, sources = ([values], [found]) if several is None else (values, found)
    for target, source in zip(targets, sources, strict=True):
        try:
            target[...] = source
        except ValueError:
            raise ShapeError(
                f"The function returns values of shape {np.shape(source)} for a box of shape "
                f"{target.shape}."
            ) from None
    return values


def points_of(values: Any) -> tuple[int, ...]:
    """Return the shape of the points of a field, without components, or the shape of an array."""
    shape = tuple(values.shape)
    if not is_distributed(values):
        return shape
    return shape[len(shape) - int(getattr(values.kind, "space", values.kind).ndim) :]


def _as_dtype(given: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(given)
    except (TypeError, ValueError):
        found = np.dtype(object)
    if found.kind not in "biufc":
        raise DtypeError(f"dtype is {given!r}; expected a type of numbers.")
    return found


def _as_shape(given: Any) -> tuple[int, ...]:
    found = [integer(n) for n in given] if isinstance(given, list | tuple) else [None]
    shape = tuple(n for n in found if n is not None and n >= 0)
    if len(shape) < len(found):
        raise ArgumentError(f"shape is {given!r}, not a tuple of integers.")
    return shape
