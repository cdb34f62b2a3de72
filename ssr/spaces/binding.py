"""Bind symbolic sizes: determine sizes from the shapes of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import ShapeError
from ..points.affine import Affine
from .space import Space


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of an array: its extent in the array's space, and its length."""

    array: str
    space: Space
    number: int
    length: int

    @property
    def extent(self) -> Affine:
        """The number of points the space has along the axis."""
        return self.space.data.shape[self.number]

    def __str__(self) -> str:
        return f"Array {self.array!r} has length {self.length} along axis {self.number}"


def match_sizes(
    arrays: Sequence[tuple[str, Space, tuple[int, ...]]], known: Mapping[str, int]
) -> dict[str, int]:
    """Return the sizes that make all arrays fit, as far as shapes determine them."""
    sizes = dict(known)
    origins = {name: f"{name} is bound to {value}" for name, value in known.items()}
    pending = [axis for entry in arrays for axis in _axes(*entry)]
    while pending:
        rest = [axis for axis in pending if not _settled(axis, sizes, origins)]
        if len(rest) == len(pending):
            break
        pending = rest
    for axis in pending:
        if axis.length < 1:
            raise _too_short(axis)
    for _, space, _ in arrays:
        space._check_least(sizes)
    return sizes


def _axes(name: str, space: Space, shape: tuple[int, ...]) -> list[Axis]:
    if len(shape) != space.ndim:
        raise ShapeError(
            f"Array {name!r} has {len(shape)} axes, not {space.ndim}.",
            note=f"its space is {space!r}",
        )
    return [Axis(name, space, number, length) for number, length in enumerate(shape)]


def _settled(axis: Axis, sizes: dict[str, int], origins: dict[str, str]) -> bool:
    """Check an axis of known extent or determine a size from it; return whether it is settled."""
    unknown = axis.extent.names() - set(sizes)
    if not unknown:
        _check(axis, axis.extent.evaluate(sizes), origins)
        return True
    if len(unknown) > 1 or any(not isinstance(atom, str) for atom, _ in axis.extent.terms):
        return False
    (name,) = unknown
    at_zero = axis.extent.evaluate({**sizes, name: 0})
    slope = axis.extent.evaluate({**sizes, name: 1}) - at_zero
    value, remainder = divmod(axis.length - at_zero, slope)
    if remainder:
        raise ShapeError(
            f"{axis}, which is {axis.extent} for no integer {name}.",
            note=f"its space is {axis.space!r}{_because(axis.extent, origins)}",
        )
    if axis.length < 1 or value < 1:
        raise _too_short(axis, f"; {name} would be {value}")
    sizes[name] = value
    origins[name] = f"{name} = {value} follows from axis {axis.number} of {axis.array!r}"
    return True


def _check(axis: Axis, expected: int, origins: Mapping[str, str]) -> None:
    because = _because(axis.extent, origins)
    if expected < 1:
        raise ShapeError(
            f"The space of array {axis.array!r} has no points along axis {axis.number}.",
            note=f"its space is {axis.space!r}{because}",
            hint="Every axis needs at least one point.",
        )
    if expected != axis.length:
        raise ShapeError(
            f"{axis} where {expected} is needed.", note=f"its space is {axis.space!r}{because}"
        )


def _too_short(axis: Axis, more: str = "") -> ShapeError:
    return ShapeError(
        f"{axis}, which is too short.",
        note=f"its space is {axis.space!r}{more}",
        hint="Sizes are positive, and every axis needs at least one point.",
    )


def _because(extent: Affine, origins: Mapping[str, str]) -> str:
    known = [origins[name] for name in sorted(extent.names()) if name in origins]
    return "".join(f"; {reason}" for reason in known)
