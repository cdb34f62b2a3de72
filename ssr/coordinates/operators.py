"""Finite-volume operators: divergence, gradient and averages, weighted by the metric."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any, TypeAlias

from ..algebra.define import define
from ..matrices.matrix import Matrix
from ..spaces.space import Space
from ..symbols.functions import where
from ..trace.trace import ScalarType
from .weights import Factor, Weight

Data: TypeAlias = Mapping[str, Any]
Placed: TypeAlias = "tuple[Weight, Sequence[Any]]"
"""A weight, and the index of the point at which it is evaluated."""

Kinds: TypeAlias = Mapping[str, "Space | ScalarType"]


@dataclass(frozen=True, eq=False)
class Terms:
    """The form of weights in the generator of a matrix.

    Attributes
    ----------
    names, kinds
        The names of factors, and the kinds with which they are declared.
    """

    names: Mapping[Factor, str]
    kinds: Mapping[Factor, Space | ScalarType]

    def quotient(self, data: Data, above: Sequence[Placed], below: Sequence[Placed] = ()) -> Any:
        """Return a product of weights at points, divided by another; the number 1 if both are 1."""
        parts: tuple[list[Any], list[Any]] = [], []
        for number, each in enumerate((above, below)):
            for weight, index in each:
                for factor in weight:
                    value, place = data[self.names[factor]], number
                    if not isinstance(self.kinds[factor], ScalarType):
                        value = value[tuple(index[a] for a in factor.axes)]
                        place = number ^ int(factor.is_inverse)
                    parts[place].append(value)
        top, bottom = (reduce(mul, values) if values else 1.0 for values in parts)
        return top / bottom if parts[1] else top

    def declared(self, *weights: Weight) -> dict[str, Space | ScalarType]:
        """Return the data of a matrix with some weights."""
        return {self.names[f]: self.kinds[f] for weight in weights for f in weight}


def declared(
    name: str, rows: Space, cols: Space, data: Kinds, entries: Callable[..., Iterator[Any]]
) -> Matrix:
    """Return the matrix of a generator ``entries(index, data)``, whose data have any names."""

    def generator(*index: Any, **data: Any) -> Iterator[Any]:
        return entries(index, data)

    kinds = inspect.Parameter
    parameters = [kinds("index", kinds.VAR_POSITIONAL)]
    parameters += [kinds(each, kinds.KEYWORD_ONLY) for each in data]
    generator.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    generator.__name__ = name
    return Matrix(define(generator, rows, cols, data))


def moved(index: Sequence[Any], axis: int, steps: int) -> tuple[Any, ...]:
    """Return an index some steps further along an axis."""
    return (*index[:axis], index[axis] + steps, *index[axis + 1 :])


@dataclass(frozen=True)
class Ends:
    """The first and the last point along an axis, and whether no flux passes there.

    Faces at which a coordinate is singular have no area: r = 0, and the poles of a sphere.
    """

    axis: int
    first: Any
    last: Any
    closed: tuple[bool, bool]

    def is_closed(self, index: Sequence[Any]) -> bool:
        """Whether a face is a closed end; forks the path of a generator."""
        at = index[self.axis]
        if self.closed[0] and at == self.first:
            return True
        return bool(self.closed[1] and at == self.last)

    def is_end(self, index: Sequence[Any]) -> bool:
        """Whether a face is an end."""
        at = index[self.axis]
        return bool(at == self.first or at == self.last)


def divergence(
    cells: Space, faces: Space, ends: Ends, terms: Terms, area: Weight, volume: Weight
) -> Matrix:
    """Return the difference of the fluxes through the faces of cells, by their volumes."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        for steps, sign in ((0, -1.0), (1, 1.0)):
            face = moved(index, ends.axis, steps)
            if not ends.is_closed(face):
                weight = terms.quotient(data, [(area, face)], [(volume, index)])
                yield face, sign * weight

    return declared("divergence", cells, faces, terms.declared(area, volume), entries)


def gradient(faces: Space, wide: Space, ends: Ends, terms: Terms, distance: Weight) -> Matrix:
    """Return the difference of the values on both sides of faces, by their distance."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        if ends.is_closed(index):
            return
        weight = terms.quotient(data, [], [(distance, index)])
        yield moved(index, ends.axis, -1), -weight
        yield tuple(index), weight

    return declared("gradient", faces, wide, terms.declared(distance), entries)


def average(faces: Space, wide: Space, ends: Ends, nearness: Space | None) -> Matrix:
    """Return the mean of the values on both sides of faces, linear between their positions."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        at = index[ends.axis]
        before, after = moved(index, ends.axis, -1), tuple(index)
        if ends.closed[0] and at == ends.first:
            yield after, 1.0
        elif ends.closed[1] and at == ends.last:
            yield before, 1.0
        else:
            share = 0.5 if nearness is None else data["nearness"][at]
            yield before, 1.0 - share
            yield after, share

    data: Kinds = {} if nearness is None else {"nearness": nearness}
    return declared("average", faces, wide, data, entries)


def volumes(cells: Space, terms: Terms, volume: Weight) -> Matrix:
    """Return the diagonal matrix of the volumes of cells."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        yield tuple(index), terms.quotient(data, [(volume, index)])

    return declared("volumes", cells, cells, terms.declared(volume), entries)


def areas(faces: Space, ends: Ends, terms: Terms, area: Weight) -> Matrix:
    """Return the diagonal matrix of the areas of faces; closed ends have none."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        if not ends.is_closed(index):
            yield tuple(index), terms.quotient(data, [(area, index)])

    return declared("areas", faces, faces, terms.declared(area), entries)


def face_volumes(faces: Space, ends: Ends, terms: Terms, area: Weight, distance: Weight) -> Matrix:
    """Return the diagonal matrix of areas times distances, half of that at both ends."""

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        if ends.is_closed(index):
            return
        whole = terms.quotient(data, [(area, index), (distance, index)])
        yield tuple(index), 0.5 * whole if ends.is_end(index) else whole

    return declared("face_volumes", faces, faces, terms.declared(area, distance), entries)


def face_values(
    faces: Space, cells: Space, ends: Ends, periodic: bool, nearness: Space | None
) -> Matrix:
    """Return the diagonal matrix of the harmonic means at faces of a field of cells.

    Resistances between centers are those of both cells in series. At an end that is not periodic
    the value is that of the cell there.
    """
    axis = ends.axis
    kinds: dict[str, Space | ScalarType] = {"conductivity": cells}
    if nearness is not None:
        kinds["nearness"] = nearness

    def entries(index: Sequence[Any], data: Data) -> Iterator[Any]:
        k, at = data["conductivity"], index[axis]
        before, after = moved(index, axis, -1), tuple(index)
        if at == ends.first:
            before = (*index[:axis], ends.last - 1, *index[axis + 1 :]) if periodic else after
        elif at == ends.last:
            after = (*index[:axis], ends.first, *index[axis + 1 :]) if periodic else before
        if before == after:
            yield tuple(index), k[after]
            return
        share = 0.5 if nearness is None else data["nearness"][at]
        both = share * k[after] + (1.0 - share) * k[before]
        yield tuple(index), where(both == 0.0, 0.0, k[before] * k[after] / both)

    return declared("face_values", faces, faces, kinds, entries)
