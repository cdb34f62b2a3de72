"""The value of a block matrix: a grid of matrices between components."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, TypeAlias

from ..algebra.oracle import need
from ..errors import ArgumentError
from ..matrices.matrix import Matrix
from ..points.numbers import Array
from ..points.sets import Domain
from ..programs.vectors import apart, grouped
from ..spaces.binding import match_sizes
from ..spaces.space import Space
from ..trace.trace import ScalarType
from .component_spaces import Kind, spaces

Grid: TypeAlias = tuple[tuple[Matrix, ...], ...]


@dataclass(frozen=True, eq=False)
class BlockData:
    """A grid of matrices, each between one component of the columns and one of the rows."""

    name: str
    rows: Kind
    cols: Kind
    blocks: Grid

    @property
    def every(self) -> Iterator[Matrix]:
        """The blocks one by one, row by row."""
        return (block for row in self.blocks for block in row)

    @cached_property
    def data(self) -> Mapping[str, Space | ScalarType]:
        """The data of all blocks; a vector field is one field for each component."""
        return {n: kind for m in self.every for n, kind in m.definition.data.items()}

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """Names of the symbolic sizes of all blocks."""
        return tuple(sorted(frozenset().union(*(m.sizes for m in self.every))))

    @property
    def bound_sizes(self) -> dict[str, int]:
        """The sizes that have a value."""
        return {
            n: m.definition.bound[n] for m in self.every for n in m.sizes if n in m.definition.bound
        }

    @property
    def given_rows(self) -> Domain:
        """The rows of blocks on one space, for all sizes that the matrix may have."""
        return reduce(operator.and_, (m.definition.given_rows for m in self.every))

    @property
    def unbound(self) -> tuple[str, ...]:
        """Names of data without a value; a vector field is one."""
        return tuple(grouped({n: self.data[n] for m in self.every for n in m.unbound}))

    @property
    def free(self) -> tuple[str, ...]:
        """Names of data without a number or array: unbound, or bound to symbols of a program."""
        return tuple(dict.fromkeys(n for m in self.every for n in m.definition.free))

    @cached_property
    def square(self) -> bool:
        """Whether rows and columns have the same spaces."""
        return spaces(self.rows) == spaces(self.cols)

    def fits(self, other: BlockData) -> bool:
        """Whether another one acts between the same spaces."""
        ours, theirs = ((spaces(m.rows), spaces(m.cols)) for m in (self, other))
        return ours == theirs

    def each(self, name: str, change: Callable[[Matrix], Matrix]) -> BlockData:
        """Return the block matrix with every block changed."""
        return grid(name, self.rows, self.cols, lambda r, c: change(self.blocks[r][c]))

    def bind(self, data: Mapping[str, Any]) -> BlockData:
        """Return the matrix with values for its data; errors are those of `Matrix.bind`."""
        known = {*grouped(self.data), *self.data, *self.sizes}
        for name in data:
            if name not in known:
                raise ArgumentError(
                    f"{self.name} has no data named {name!r}.",
                    hint=f"It has {', '.join(sorted(known)) or 'none'}.",
                )
        flat = apart(data, self.data)

        def bound(m: Matrix) -> Matrix:
            own = {*m.definition.data, *m.sizes}
            return m.bind(**{name: value for name, value in flat.items() if name in own})

        return replace(self, blocks=tuple(tuple(map(bound, row)) for row in self.blocks))

    def all_sizes(self, given: Iterable[tuple[Space, Array]] = ()) -> dict[str, int]:
        """Return all sizes, as determined by arrays and bound sizes."""
        found = self.matched(given)
        need(self.sizes, found, "size")
        return found

    def matched(self, given: Iterable[tuple[Space, Array]] = ()) -> dict[str, int]:
        """Return the sizes that are determined by arrays and bound sizes."""
        arrays = [(f"x[{n}]", space, x.shape) for n, (space, x) in enumerate(given)]
        arrays += [array for m in self.every for array in m.definition.arrays()]
        return match_sizes(arrays, self.bound_sizes)


def grid(name: str, rows: Kind, cols: Kind, made: Callable[[int, int], Matrix]) -> BlockData:
    """Return a block matrix of this name, given its blocks one by one."""

    def named(r: int, c: int) -> Matrix:
        return Matrix(replace(made(r, c).definition, name=f"{name}[{r}, {c}]"))

    across = range(len(spaces(cols)))
    blocks = tuple(tuple(named(r, c) for c in across) for r in range(len(spaces(rows))))
    return BlockData(name, rows, cols, blocks)
