"""The value of a matrix: spaces, entry families, the definition, and named data with bindings.

Tracing, algebra and programs are functions of `MatrixData`, which is immutable. `Matrix` is its
public interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from .. import ir
from ..errors import ShapeError, UnboundError
from ..points.affine import Affine
from ..points.condition import Condition
from ..points.sets import Domain
from ..spaces.binding import match_sizes
from ..spaces.distributed import Component, is_data, is_distributed
from ..spaces.space import Space, row_domain
from ..symbols.operations import known_early
from ..symbols.values import Symbol, Value
from ..trace.trace import Path, ScalarType, scalar
from . import families
from .oracle import Combination, InBoxes, Origin, PartOf, Points, need, number
from .own_box import is_local


@dataclass(frozen=True, slots=True)
class MatrixData:
    """A matrix as a value; `families` are its entries, `origin` is how they were defined."""

    name: str
    rows: Space
    cols: Space
    families: tuple[ir.Family, ...]
    origin: Origin
    data: Mapping[str, Space | ScalarType]
    bound: Mapping[str, Any]
    paths: tuple[Path, ...] = ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all spaces, those between factors of products included."""
        data = (s for s in self.data.values() if isinstance(s, Space))
        known = [self.rows, self.cols, *data, *self.origin.spaces()]
        return tuple(sorted(frozenset().union(*(s.sizes for s in known))))

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        return tuple(n for n in self.data if n not in self.bound)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of data without a number or array: unbound, or bound to symbols of a program."""
        return tuple(
            n for n in self.data if n not in self.bound or isinstance(self.bound[n], Symbol)
        )

    @property
    def is_local(self) -> bool:
        """Whether its entries depend on the boxes into which spaces are cut."""
        return any(f.box != "any" or is_local(f.domain) for f in self.families)

    @property
    def given_rows(self) -> Domain:
        """The rows for all admissible sizes; bound sizes have one value.

        For these sizes no space is empty, as when the generator was traced.
        """
        known = ((Affine.name(n) - self.bound[n], "= 0") for n in self.sizes if n in self.bound)
        data = (space for space in self.data.values() if isinstance(space, Space))
        rows = row_domain(self.rows, (self.cols, *data))
        return rows & Domain.of(rows.axes, Condition((tuple(known),)))

    def arrays(self) -> list[tuple[str, Space, tuple[int, ...]]]:
        """Return the name, the space and the shape of each array that is bound."""
        return [
            (n, s, self.bound[n].shape)
            for n, s in self.data.items()
            if isinstance(s, Space) and is_data(self.bound.get(n))
        ]

    @property
    def distributed(self) -> tuple[Any, ...]:
        """The distributed fields among its data; a component is replaced by its vector field."""
        found = filter(is_distributed, self.bound.values())
        whole = (v.field if isinstance(v, Component) else v for v in found)
        return tuple({id(field): field for field in whole}.values())

    def matched(self, *given: tuple[str, Space, tuple[int, ...]]) -> dict[str, int]:
        """Return the sizes that follow from given and bound arrays, and from bound sizes."""
        known = {n: v for n, v in self.bound.items() if n in self.sizes}
        return match_sizes([*given, *self.arrays()], known)

    def all_sizes(self) -> dict[str, int]:
        """Return all sizes, as determined by arrays and bound sizes."""
        found = self.matched()
        need(self.sizes, found, "size")
        return found


def scaled(matrix: MatrixData, factor: ir.Value, name: str) -> MatrixData:
    """Return a multiple of a matrix; a factor that is not constant is added to its data."""
    found = matrix
    if isinstance(factor, ir.Const):
        origin = Combination(None, factor.value, matrix.origin)
    else:
        own = ir.fresh("factor", {"factor", *matrix.data, *matrix.sizes})
        origin = Combination(None, own, matrix.origin)
        found = replace(
            matrix,
            data={**matrix.data, own: scalar},
            bound=MappingProxyType({**matrix.bound, own: Value(factor)}),
        )
        factor = ir.Scalar(own)
    entries = families.scale(matrix.families, factor)
    return replace(found, name=name, families=entries, origin=origin, paths=())


def cut(matrix: MatrixData, which: families.Triangle, k: int) -> MatrixData:
    """Return a triangle of a matrix, or its diagonal."""
    found = families.part(matrix.families, which, k)
    name = f"{matrix.name}.{which}({k if k else ''})"
    origin = PartOf(matrix.origin, which, k)
    return replace(matrix, name=name, families=found, origin=origin, paths=())


def local(matrix: MatrixData) -> MatrixData:
    """Return the entries of a matrix whose column is in the box of the row."""
    found = families.local(matrix.families)
    name, origin = f"{matrix.name}.rank_local()", InBoxes(matrix.origin)
    return replace(matrix, name=name, families=found, origin=origin, paths=())


def values_of(matrix: MatrixData, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the values of all data that the definition of a matrix takes, for given sizes."""
    names = tuple(n for n in matrix.data if n in matrix.origin.data())
    need(names, matrix.bound, "data")
    values: dict[str, Any] = {}
    for name in names:
        kind = matrix.data[name]
        value = matrix.bound[name]
        if isinstance(value, Value) and known_early(value.node):
            value = number(value, sizes)
        if isinstance(value, Symbol):
            raise UnboundError(f"Data {name!r} is bound to a symbol of a program.")
        if is_distributed(value):
            raise UnboundError(
                f"Data {name!r} is a field of several ranks, of which no rank has all numbers.",
                hint="Bind an array: A.bind(c=field.gather()) on one rank.",
            )
        if isinstance(kind, Space):
            if value.shape != kind.extent(sizes):
                raise ShapeError(
                    f"Field {name!r} has shape {value.shape}; its space has {kind.extent(sizes)}."
                )
            value = Points(value, kind, sizes)
        values[name] = value
    return values
