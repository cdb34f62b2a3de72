"""What a matrix is made of: spaces, families, the definition, data and what these are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import ir
from ..spaces.binding import match_sizes
from ..spaces.space import Space
from ..symbols.values import Value
from ..trace.trace import Path, ScalarType, scalar
from . import families
from .oracle import Combination, Origin, need, spaces
from .oracle import Part as PartOf


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a matrix; `families` are its entries, `origin` is how they were defined."""

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
        """Names of the symbolic sizes of all spaces, those between factors of products too."""
        data = (s for s in self.data.values() if isinstance(s, Space))
        known = [self.rows, self.cols, *data, *spaces(self.origin)]
        return tuple(sorted(frozenset().union(*(s.sizes for s in known))))

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value."""
        return tuple(n for n in self.data if n not in self.bound)

    def arrays(self) -> list[tuple[str, Space, tuple[int, ...]]]:
        """Return the name, the space and the shape of each array that is bound."""
        return [
            (n, s, self.bound[n].shape)
            for n, s in self.data.items()
            if isinstance(s, Space) and isinstance(self.bound.get(n), np.ndarray)
        ]

    def matched(self, *given: tuple[str, Space, tuple[int, ...]]) -> dict[str, int]:
        """Return the sizes that follow from arrays, those bound too, and from bound sizes."""
        known = {n: v for n, v in self.bound.items() if n in self.sizes}
        return match_sizes([*given, *self.arrays()], known)

    def known_sizes(self) -> dict[str, int]:
        """Return all sizes.

        Raises
        ------
        UnboundError
            If one has no value.
        """
        found = self.matched()
        need(self.sizes, found, "size")
        return found


def scaled(parts: Parts, factor: ir.Value, name: str) -> Parts:
    """Return a multiple of a matrix; a factor that is no constant becomes one of its data."""
    found = parts
    if isinstance(factor, ir.Const):
        origin = Combination(None, factor.value, parts.origin)
    else:
        own = ir.fresh("factor", {"factor", *parts.data, *parts.sizes})
        origin = Combination(None, own, parts.origin)
        found = replace(
            parts,
            data={**parts.data, own: scalar},
            bound=MappingProxyType({**parts.bound, own: Value(factor)}),
        )
        factor = ir.Scalar(own)
    entries = families.scale(parts.families, factor)
    return replace(found, name=name, families=entries, origin=origin, paths=())


def cut(parts: Parts, which: families.Part, k: int) -> Parts:
    """Return a triangle of a matrix, or its diagonal."""
    found = families.part(parts.families, which, k)
    name = f"{parts.name}.{which}({k if k else ''})"
    origin = PartOf(which, k, parts.origin)
    return replace(parts, name=name, families=found, origin=origin, paths=())
