"""Vector operations of solvers on NumPy arrays and on distributed fields.

Solvers compute with programs. Their other operations on vectors are here; `ssr.extension` lists the
methods that a class of vectors needs.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from ..errors import ArgumentError, ShapeError
from ..matrices.matrix import Matrix
from ..points.numbers import Array
from ..spaces.distributed import is_distributed
from ..spaces.space import Space, VectorSpace


class Distributed(Protocol):
    """A vector that no process holds as an array, such as a `boundary.Field`."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole."""

    @property
    def size(self) -> int:
        """The number of values of the whole."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of numbers."""

    @property
    def __ssr_layout__(self) -> Hashable:
        """The properties by which vectors can replace each other in programs."""

    def __ssr_like__(
        self, points: Space | VectorSpace | None = None, space: Space | VectorSpace | None = None
    ) -> Any:
        """Return another vector: see `empty`, `several` and `coarser`."""

    def __ssr_gathered__(self) -> Any:
        """Return the vector, or a replacement on fewer processes."""

    def __ssr_beside__(self, other: Any) -> Any:
        """Return the vector, or a replacement on the processes of another vector."""

    @property
    def __ssr_ranks__(self) -> Any:
        """The ranks that share the points: ``is_root``, ``any(flag)`` and ``broadcast(value)``."""

    def __ssr_first__(self, test: Any) -> tuple[int, ...] | None:
        """Return the index of the first value for which a test is true, in C order."""

    def copy(self) -> Any:
        """Return a vector with the same values."""

    def set(self, whole: Any) -> None:
        """Take values from an array of the whole, one number for all points, or a vector."""

    def gather(self) -> Array | None:
        """Return an array of the whole."""


Vector: TypeAlias = Array | Distributed

V = TypeVar("V", bound=Vector)


def check_vector(b: Any) -> None:
    """Raise if a right side is not a vector."""
    if not isinstance(b, np.ndarray) and not is_distributed(b):
        raise ArgumentError(
            f"The right side is {type(b).__name__}, not a NumPy array.",
            hint="Convert it with np.asarray.",
        )


def check_alike(z: Any, r: Vector) -> None:
    """Raise if a vector that is written has not the points and the dtype of a right side."""
    if type(z) is not type(r) or not hasattr(z, "shape"):
        raise ArgumentError(f"The solution is {type(z).__name__}, not {type(r).__name__}.")
    if z.shape != r.shape or z.dtype != r.dtype:
        raise ShapeError(
            f"The solution has shape {z.shape} and dtype {z.dtype}, the right side {r.shape} and "
            f"{r.dtype}."
        )


def layout(vector: Vector) -> Hashable:
    """Return the layout of a vector; vectors of equal layout can replace each other in programs."""
    if isinstance(vector, np.ndarray):
        return vector.shape, vector.dtype
    return vector.__ssr_layout__


def empty(like: V) -> V:
    """Return a vector on the same points as another, with its dtype, without values."""
    if isinstance(like, np.ndarray):
        return cast(V, np.empty(like.shape, like.dtype))
    return cast(V, like.__ssr_like__())


def several(like: V, kind: VectorSpace) -> V:
    """Return a vector without values that has several numbers at each point of another."""
    if isinstance(like, np.ndarray):
        return cast(V, np.empty((kind.components, *like.shape), like.dtype))
    return cast(V, like.__ssr_like__(kind, kind))


def zeros(like: V) -> V:
    """Return a vector of zeros on the same points as another, with its dtype."""
    made = empty(like)
    assign(made, 0.0)
    return made


def copied(vector: V) -> V:
    """Return a vector with the same values, an array in C order."""
    if is_distributed(vector):
        return cast(V, cast(Distributed, vector).copy())
    return cast(V, np.array(vector, order="C"))


def coarser(like: V, restriction: Matrix, space: Space) -> V:
    """Return a vector without values for the restriction of a vector.

    In the matrix of the next level it is on ``space``.
    """
    if isinstance(like, np.ndarray):
        return cast(V, restriction @ np.zeros_like(like, order="C"))
    return known_as(like, restriction.rows, space)


def known_as(like: V, points: Space | VectorSpace, space: Space | VectorSpace) -> V:
    """Return a vector without values for some points, which are another space to programs.

    An array has no space: its shape is that of the points.
    """
    if isinstance(like, np.ndarray):
        return empty(like)
    return cast(V, like.__ssr_like__(points, space))


def gathered(vector: V) -> V:
    """Return the vector, or a replacement on fewer processes if that is faster."""
    return vector if isinstance(vector, np.ndarray) else cast(V, vector.__ssr_gathered__())


def beside(vector: V, other: Any) -> V:
    """Return the vector, or a replacement on the processes of another vector."""
    return vector if isinstance(vector, np.ndarray) else cast(V, vector.__ssr_beside__(other))


def assign(vector: Vector, whole: Any) -> None:
    """Set a vector to the values of an array of the whole, a number, or another vector."""
    if isinstance(vector, np.ndarray):
        vector[...] = whole
    else:
        vector.set(whole)


def whole(vector: Vector) -> Array:
    """Return all values as an array; of a distributed vector a copy, in every process."""
    if isinstance(vector, np.ndarray):
        return vector
    found = vector.gather()
    assert found is not None, "all processes gather"
    return found
