"""What affine matrices act on: one field, or a tuple of fields; in programs and as arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import ssr
from ssr import Space, Vector
from ssr.errors import ArgumentError, DtypeError, ShapeError
from ssr.extension import VectorSpace, match_sizes, spaces, told

if TYPE_CHECKING:
    from .affine import Affine

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

One: TypeAlias = "Space | VectorSpace"
"""What one array is on."""

Kind: TypeAlias = "Space | VectorSpace | tuple[One, ...]"
"""What an operand is on: an array, or a tuple of arrays."""


def fields_of(kind: Any) -> tuple[Any, ...]:
    """Return what each array of an operand is on."""
    return kind if isinstance(kind, tuple) else (kind,)


def spaces_of(kind: Any) -> Any:
    """Return what an operand is on, so that equal kinds compare equal."""
    if isinstance(kind, tuple):
        return tuple(space for one in kind for space in spaces(one))
    if isinstance(kind, VectorSpace):
        return kind.components, kind.space
    return kind


def shape_of(kind: Any, sizes: dict[str, int]) -> tuple[int, ...]:
    """Return the shape of an array for given sizes."""
    if isinstance(kind, VectorSpace):
        return (kind.components, *kind.space.extent(sizes))
    return kind.extent(sizes)  # type: ignore[no-any-return]


def arrays_of(matrix: Affine, x: Any) -> list[Array]:
    """Return what a matrix is applied to as arrays of real numbers.

    Raises
    ------
    ArgumentError
        If there is not one for each space of its columns.
    DtypeError, ShapeError
        If one is no array of numbers, or has another number of axes.
    """
    kinds = fields_of(matrix.cols)
    if isinstance(matrix.cols, tuple) and (
        not isinstance(x, (tuple, list)) or len(x) != len(kinds)
    ):
        raise ArgumentError(
            f"{matrix.name} is applied to a tuple of {len(kinds)} fields.",
            note=f"its columns are {told(matrix.cols)}",
        )
    arrays = [real(matrix.name, a) for a in (x if isinstance(matrix.cols, tuple) else [x])]
    for kind, array in zip(kinds, arrays, strict=True):
        if array.ndim != len(kind.shape):
            raise ShapeError(
                f"{matrix.name} is applied to an array of {array.ndim} axes.",
                note=f"its columns are {told(matrix.cols)}",
            )
    return arrays


def real(name: str, x: Any) -> Array:
    """Return what a matrix of a name is applied to as an array of real numbers.

    Raises
    ------
    DtypeError
        If it is none.
    """
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise DtypeError(f"{name} is applied to what is no array of numbers.") from error
    if array.dtype.kind not in "biuf":
        raise DtypeError(
            f"{name} is applied to an array of dtype {array.dtype}.",
            hint="Fields are real numbers.",
        )
    return array


def kernel_dtype(*arrays: Any) -> Any:
    """Return the type a kernel runs in: float32 if all arrays are of that type, else float64."""
    single = all(np.asarray(a).dtype == np.float32 for a in arrays)
    return np.float32 if single else np.float64


def check_sizes(matrix: Affine, kind: Kind, arrays: Sequence[Array]) -> None:
    """Check that arrays fit the sizes that are bound.

    Raises
    ------
    ShapeError
        If they do not.
    """
    known = matrix.known_sizes()
    found = sizes_of(kind, arrays, matrix.operand) if known else {}
    for name, size in known.items():
        if found.get(name, size) != size:
            raise ShapeError(
                f"{matrix.name} is bound to {name} = {size}; the array has {name} = {found[name]}."
            )


def sizes_of(kind: Kind, arrays: Sequence[Array], name: str) -> dict[str, int]:
    """Return the sizes that follow from the shapes of arrays."""
    entries = []
    for (field, one), array in zip(named(name, kind).items(), arrays, strict=True):
        vector = isinstance(one, VectorSpace)
        shape = np.shape(array)[1:] if vector else np.shape(array)
        entries.append((field, one.space if vector else one, shape))
    return match_sizes(entries, {})


def named(name: str, kind: Kind) -> dict[str, Any]:
    """Return what the fields of an operand are on, by their names in a program."""
    each = fields_of(kind)
    return {f"{name}{n}" if isinstance(kind, tuple) else name: k for n, k in enumerate(each)}


def flat(x: Any) -> Any:
    """Return a tuple with the components of vectors in their places; anything else as it is."""
    if not isinstance(x, tuple):
        return x
    return tuple(c for part in x for c in (part if isinstance(part, Vector) else [part]))


def store(targets: Sequence[Any], made: Any) -> None:
    """Assign a result to the fields of a program."""
    each = made if isinstance(made, tuple) else (made,)
    for target, value in zip(targets, each, strict=True):
        target[:] = value


def declared(body: Callable[..., None], kinds: Mapping[str, Any]) -> ssr.Program:
    """Return the program of a body that takes its arguments in order, of the kinds given."""
    parameter = inspect.Parameter
    body.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter(n, parameter.POSITIONAL_OR_KEYWORD) for n in kinds]
    )
    return ssr.program(**kinds)(body)
