"""Define matrices between vector fields: row generators whose entries are dense blocks.

The generator is traced once. Each entry of its blocks then becomes an entry of the scalar matrix
between one component of the rows and one component of the columns. A vector field among the data
is split into one field for each component, named as in programs, ``u[0]``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeGuard

import numpy as np

from ..algebra import families
from ..algebra.define import check_declaration
from ..algebra.matrix_data import MatrixData
from ..algebra.oracle import Definition
from ..errors import ArgumentError
from ..matrices.matrix import Matrix
from ..points.numbers import integer
from ..spaces.space import Space, VectorSpace
from ..symbols.values import simplified
from ..trace.captured import captured
from ..trace.field_data import FieldData
from ..trace.trace import Outside, Path, Place, ScalarType, Split, check_signature, trace
from .block_data import grid
from .block_matrix import BlockMatrix
from .component_spaces import Kind, spaces

Given = Mapping[str, "Space | VectorSpace | ScalarType"]
Generator = Callable[..., Any]


def define_blocks(
    function: Generator, rows: Kind, cols: Kind, given: Given, *, outside: Outside = "error"
) -> Any:
    """Return the matrix of a row generator with vector fields.

    A Matrix if neither its rows nor its columns are vectors, otherwise a `BlockMatrix`. Entries
    outside its columns may be dropped.
    """
    check_declaration(function, rows, cols, given, (Space, VectorSpace))
    (outer, *_), (inner, *_) = spaces(rows), spaces(cols)
    check_signature(function, outer, given)
    kept = with_components(captured(function), given)
    data = flat_data(given)
    split = splitting(rows, cols)
    traced = with_components(function, given)
    paths = trace(traced, outer, inner, data, split, outside=outside)

    def component(place: Place, name: str) -> Matrix:
        own = tuple(Path(p.domain, tuple(e for e in p.entries if e.place == place)) for p in paths)
        entries = families.every_entry(own, outer)
        generator, names = one_entry(kept, split, place), tuple((n, n) for n in data)
        origin = Definition(generator, outer, inner, names, entries, outside)
        found = families.canonical(entries)
        return Matrix(MatrixData(name, outer, inner, found, origin, data, {}, own))

    name = function.__name__
    if isinstance(rows, Space) and isinstance(cols, Space):
        return component((0, 0), name)
    made = grid(name, rows, cols, lambda r, c: component((r, c), f"{name}[{r}, {c}]"))
    return BlockMatrix(made)


def flat_data(given: Given) -> dict[str, Space | ScalarType]:
    """Return the kinds of data with a field for each component of vector fields."""
    data: dict[str, Space | ScalarType] = {}
    for name, kind in given.items():
        if isinstance(kind, VectorSpace):
            data |= dict.fromkeys(kind.names(name), kind.space)
        else:
            data[name] = kind
    return data


class VectorData(FieldData):
    """A vector field given to a generator: ``u[c, j, i]`` is a value, ``u[:, j, i]`` an array.

    A point may be one tuple, ``u[:, row]``; alone, as in ``u[row]``, it selects all components.
    """

    __slots__ = ("axes", "components")

    def __init__(self, name: str, components: Sequence[Any], axes: int) -> None:
        self.name = name
        self.components = components
        self.axes = axes

    def __getitem__(self, place: object) -> Any:
        given = flat(place) if isinstance(place, tuple) else [place]
        if len(given) == self.axes and not isinstance(given[0], slice):
            given = [slice(None), *given]
        which, point = given[0], tuple(given[1:])
        if isinstance(which, slice):
            return np.array([u[point] for u in self.components[which]])
        count = len(self.components)
        number = integer(which)
        if number is None or not -count <= number < count:
            raise ArgumentError(
                f"Vector field {self.name!r} of {count} components has no component {which!r}.",
                hint=f"Read {self.name}[component, ...] or {self.name}[:, ...] at a point.",
            )
        return self.components[number][point]


def with_components(function: Generator, given: Given) -> Generator:
    """Return a generator with a field for each component of its vector fields."""

    @functools.wraps(function)
    def generator(*index: Any, **fields: Any) -> Any:
        def whole(name: str) -> Any:
            kind = given[name]
            if isinstance(kind, VectorSpace):
                return VectorData(name, [fields[n] for n in kind.names(name)], kind.space.ndim)
            return fields[name]

        return function(*index, **{name: whole(name) for name in given})

    return generator


def one_entry(function: Generator, split: Split, place: Place) -> Generator:
    """Return the generator of one entry of the blocks of a generator."""

    @functools.wraps(function)
    def generator(*index: Any, **data: Any) -> Any:
        for column, block in function(*index, **data):
            yield column, dict(split(block))[place]

    return generator


def splitting(rows: Kind, cols: Kind) -> Split:
    """Return the function that takes a block apart into its entries and their places.

    A block is an array or a list of rows; where the rows or the columns have no components it may
    be a list of numbers too, and a number where neither has.
    """
    full = len(spaces(rows)), len(spaces(cols))
    shape = tuple(kind.components for kind in (rows, cols) if isinstance(kind, VectorSpace))
    places = list(product(range(full[0]), range(full[1])))

    def split(block: object) -> Iterator[tuple[Place, object]]:
        if shape_of(block) not in (shape, full):
            raise _misfit(block, shape)
        return zip(places, simplified(flat(block)), strict=True)

    return split


def _misfit(block: object, shape: tuple[int, ...]) -> ArgumentError:
    """Return the error of a value that is not a block of a shape."""
    found = shape_of(block)
    wanted = " x ".join(map(str, shape))
    if found:
        told = "ragged" if None in found else " x ".join(map(str, found))
        return ArgumentError(f"A {told} block is yielded where {wanted or 'a number'} is needed.")
    square = len(shape) == 2 and shape[0] == shape[1]
    return ArgumentError(
        f"{block!r} is yielded where a {wanted} block is needed.",
        hint=f"Write value * np.eye({shape[0]})." if square else "Yield an array, or a list.",
    )


def shape_of(block: object) -> tuple[int | None, ...]:
    """Return the shape of an array or of nested lists; None is an extent that varies."""
    if not _is_list(block):
        return ()
    inner = {shape_of(part) for part in block}
    return len(block), *(inner.pop() if len(inner) == 1 else (None,) if inner else ())


def flat(block: object) -> list[object]:
    """Return the entries of an array or of nested lists, row by row."""
    return [entry for part in block for entry in flat(part)] if _is_list(block) else [block]


def _is_list(block: object) -> TypeGuard[Sequence[object]]:
    return isinstance(block, (list, tuple)) or (isinstance(block, np.ndarray) and block.ndim > 0)
