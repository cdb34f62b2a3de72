"""Fit arrays to spaces: sizes from shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .errors import ShapeError
from .index import Affine
from .space import Space


def match_sizes(
    arrays: Sequence[tuple[str, Space, tuple[int, ...]]], known: Mapping[str, int]
) -> dict[str, int]:
    """Return the sizes that make all arrays fit, as far as shapes determine them.

    Parameters
    ----------
    arrays
        Name, space and shape of each array.
    known
        Sizes given beforehand.

    Raises
    ------
    ShapeError
        If an array does not fit its space.
    """
    sizes = dict(known)
    pending: list[tuple[str, Space, int, Affine, int]] = []
    for name, space, shape in arrays:
        if len(shape) != space.ndim:
            raise ShapeError(
                f"Array {name!r} has {len(shape)} axes; its space {space!r} has {space.ndim}."
            )
        for axis, (extent, length) in enumerate(zip(space.data.shape, shape, strict=True)):
            pending.append((name, space, axis, extent, length))
    while pending:
        rest = []
        for entry in pending:
            name, space, axis, extent, length = entry
            names = extent.names() - set(sizes)
            if not names or (len(names) == 1 and _solve(extent, next(iter(names)), length, sizes)):
                _check(name, space, axis, extent.evaluate(sizes), length)
            else:
                rest.append(entry)
        if len(rest) == len(pending):
            break
        pending = rest
    for name, space, axis, _, length in pending:
        if not _possible(space.data.shape[axis], length, sizes):
            raise ShapeError(
                f"Array {name!r} has length {length} along axis {axis}; its space is {space!r}."
            )
    return sizes


def _solve(extent: Affine, name: str, length: int, sizes: dict[str, int]) -> bool:
    """Set a size from ``extent == length`` if the extent is linear in it."""
    known = {n: sizes[n] for n in extent.names() if n != name}
    if any(not isinstance(atom, str) for atom, _ in extent.terms):
        return False
    at_zero = extent.evaluate({**known, name: 0})
    slope = extent.evaluate({**known, name: 1}) - at_zero
    if slope == 0 or (length - at_zero) % slope:
        return False
    sizes[name] = (length - at_zero) // slope
    return True


def _possible(extent: Affine, length: int, sizes: Mapping[str, int]) -> bool:
    names = extent.names() - set(sizes)
    linear = [(a, c) for a, c in extent.terms if isinstance(a, str)]
    if len(names) == 1 and len(linear) == len(extent.terms):
        return False
    return length > 0


def _check(name: str, space: Space, axis: int, expected: int, length: int) -> None:
    if expected < 1:
        raise ShapeError(
            f"Array {name!r} makes {space!r} empty along axis {axis}.",
            hint="Every axis needs at least one point.",
        )
    if expected != length:
        raise ShapeError(
            f"Array {name!r} has length {length} along axis {axis} where {expected} is needed.",
            note=f"its space is {space!r}",
        )
