"""Operands of affine matrices: one field or a tuple of fields, in programs or as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

import ssr
from ssr import Space, Vector
from ssr.errors import ArgumentError, DtypeError, ShapeError
from ssr.extension import (
    Array,
    Expression,
    VectorSpace,
    counted,
    is_distributed,
    label,
    match_sizes,
    spaces,
)

MATRICES = ssr.Matrix, ssr.BlockMatrix, ssr.StoredMatrix, ssr.StoredBlockMatrix
"""The matrix types that can be multiplied with affine matrices or added to them."""

One: TypeAlias = "Space | VectorSpace"
"""The space of one array."""

Kind: TypeAlias = "Space | VectorSpace | tuple[One, ...]"
"""The space of an operand: one array or a tuple of arrays."""


def fields_of(kind: Any) -> tuple[Any, ...]:
    """Return the space of each array of an operand."""
    return kind if isinstance(kind, tuple) else (kind,)


def fields_alone(kind: Kind) -> Any:
    """Return a kind with the components of vectors one by one in a tuple, as matrices have it."""
    return tuple(s for one in kind for s in spaces(one)) if isinstance(kind, tuple) else kind


def spaces_of(kind: Any) -> Any:
    """Return the space of an operand in a canonical form that is equal for equal spaces.

    Several fields on equal spaces have the form of a vector field, as in `ssr.block`.
    """
    if isinstance(kind, tuple):
        found = tuple(space for one in kind for space in spaces(one))
        alike = len(kind) > 1 and len(set(found)) == 1
        return (len(found), found[0]) if alike else found
    if isinstance(kind, VectorSpace):
        return kind.components, kind.space
    return kind


def shape_of(kind: Any, sizes: dict[str, int]) -> tuple[int, ...]:
    """Return the shape of an array for given sizes."""
    if isinstance(kind, VectorSpace):
        return (kind.components, *kind.space.extent(sizes))
    return kind.extent(sizes)  # type: ignore[no-any-return]


def operands_of(name: str, kind: Kind, x: Any) -> list[Any]:
    """Return the operands of a named matrix, one for each space of its columns."""
    kinds = fields_of(kind)
    if not isinstance(kind, tuple):
        if isinstance(x, (tuple, list)) and any(map(_is_field, x)):
            raise ArgumentError(
                f"{name} is applied to {counted(len(x), 'field', 'fields')} in a "
                f"{type(x).__name__}.",
                note=f"its columns are {label(kind)}",
                hint="Make one vector of them: ssr.vector(a, b)."
                if isinstance(kind, VectorSpace) and len(x) > 1
                else "Give one field, without a tuple: M @ x.",
            )
        return [x]
    if not isinstance(x, (tuple, list)) or len(x) != len(kinds):
        raise ArgumentError(
            f"{name} is applied to a tuple of {len(kinds)} fields.",
            note=f"its columns are {label(kind)}",
        )
    return list(x)


def _is_field(x: object) -> bool:
    return isinstance(x, (Expression, Vector)) or is_distributed(x)


def arrays_of(name: str, kind: Kind, x: Any) -> list[Array]:
    """Return the operands of a named matrix as arrays of real numbers."""
    arrays = [real(name, a) for a in operands_of(name, kind, x)]
    for one, array in zip(fields_of(kind), arrays, strict=True):
        if array.ndim != len(one.shape):
            raise ShapeError(
                f"{name} is applied to an array of {array.ndim} axes.",
                note=f"its columns are {label(kind)}",
            )
    return arrays


def check_results(name: str, made: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> None:
    """Check the output arrays of a named matrix."""
    if len(made) != len(shapes) or not all(isinstance(a, np.ndarray) for a in made):
        kinds = ", ".join(type(a).__name__ for a in made)
        raise ArgumentError(
            f"out of {name} is {kinds or 'empty'}, not {counted(len(shapes), 'array', 'arrays')}."
        )
    for array, shape in zip(made, shapes, strict=True):
        if array.shape != shape:
            raise ShapeError(f"out of {name} has shape {array.shape}, not {shape}.")


def array_like(x: object) -> bool:
    """Whether an operand is an array, a number, or a tuple or list of arrays and numbers."""
    return isinstance(x, (tuple, list, Number)) or hasattr(x, "__array__")


def real(name: str, x: Any) -> Array:
    """Return an operand of a named matrix as an array of real numbers."""
    if isinstance(x, np.ma.MaskedArray):
        raise ArgumentError(
            f"{name} is applied to a masked array.", hint="Pass x.filled(value), without a mask."
        )
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise DtypeError(
            f"{name} is applied to something that is not an array of numbers."
        ) from error
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


def check_sizes(
    name: str, known: Mapping[str, int], operand: str, kind: Kind, arrays: Sequence[Array]
) -> None:
    """Check that arrays fit the sizes to which a matrix is bound."""
    if known:
        check_known(name, known, sizes_of(kind, arrays, operand), "the array")


def check_known(name: str, known: Mapping[str, int], given: Mapping[str, int], what: str) -> None:
    """Check that the sizes of the object ``what`` equal those to which a matrix is bound."""
    for size, value in known.items():
        if given.get(size, value) != value:
            raise ShapeError(
                f"{name} is bound to {size} = {value}; {what} has {size} = {given[size]}."
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
    """Return the spaces of the fields of an operand, by their names in a program."""
    each = fields_of(kind)
    return {f"{name}{n}" if isinstance(kind, tuple) else name: k for n, k in enumerate(each)}


def flat(x: Any) -> Any:
    """Return a tuple with vectors replaced by their components, and anything else as it is."""
    if not isinstance(x, tuple):
        return x
    return tuple(c for part in x for c in (part if isinstance(part, Vector) else [part]))


def store(targets: Sequence[Any], made: Any) -> None:
    """Assign a result to the fields of a program."""
    each = made if isinstance(made, tuple) else (made,)
    for target, value in zip(targets, each, strict=True):
        target[:] = value


def staged(
    between: Callable[[int, int], ssr.Matrix],
    shape: tuple[int, int],
    components: int | None,
    sizes: Mapping[str, int],
    *,
    several: bool,
) -> Any:
    """Return the matrix of several fields, given by a function of their numbers."""

    def bound(row: int, col: int) -> ssr.Matrix:
        made = between(row, col)
        return made.bind(**{n: v for n, v in sizes.items() if n in made.sizes})

    rows, cols = map(range, shape)
    made: list[list[Any]] = [[bound(row, col) for col in cols] for row in rows]
    if components is not None:
        made = [[ssr.kron(np.eye(components), matrix) for matrix in row] for row in made]
    return ssr.block(made) if several else made[0][0]
