"""Access relations of the statements of a nest as isl maps, for proofs of schedules.

The relations are exact: nothing is approximated by hulls, and a load is not omitted because an
earlier statement wrote its element. `ssr.distributed.access_regions` computes the approximations
that planning needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .. import ir
from ..algebra.analyse import reads
from ..algebra.own_box import bounded
from ..points.affine import AXES, Affine
from ..points.sets import Domain
from .nests import box

Index = tuple[Affine, ...]
Where = Literal["anywhere", "elsewhere", "kept"]
"""The elements that rank-local rows read: all elements, those of other boxes, or those of other
boxes with the values from before the sweep (`ir.Assignment`)."""


@dataclass(frozen=True, slots=True)
class Access:
    """Elements of an array: those at an index, for all rows of a set.

    Sizes and the bounds of the box of rows are parameters. If the access is ``new``, it reads
    values that earlier rows of the same nest computed.
    """

    array: str
    rows: Domain
    index: Index
    new: bool = False
    where: Where = "anywhere"

    def elements(self, values: Mapping[str, int]) -> Domain:
        """Return the elements for values of all parameters."""
        index = tuple(place.substitute(values) for place in self.index)
        return self.rows.fixed(values).image(index, AXES[len(index)])


@dataclass(frozen=True, slots=True)
class Product:
    """Rows of a stored matrix, of which a part is multiplied with an array."""

    rows: Access
    gather: ir.Gather


@dataclass(frozen=True, slots=True)
class Action:
    """The accesses of a statement to fields and temporaries."""

    name: str
    reads: tuple[Access, ...]
    products: tuple[Product, ...]
    writes: tuple[Access, ...]

    @property
    def every(self) -> tuple[Access, ...]:
        """All that is read; of products the rows of the matrix."""
        return (*self.reads, *(product.rows for product in self.products))


@dataclass(frozen=True, slots=True)
class Actions:
    """The statements of a nest, in groups; each group is done at all rows before the next one.

    That is the meaning of the nest, not its order: statements of a group read old values but where
    they read ``new`` ones.
    """

    target: str
    axes: tuple[str, ...]
    groups: tuple[tuple[Action, ...], ...]


def actions(nest: ir.Nest | ir.LineNest, arrays: Mapping[str, ir.Field]) -> Actions:
    """Return the read and write accesses of the statements of a nest."""
    if isinstance(nest, ir.LineNest):
        return Actions(nest.target, nest.axes, ((_of_lines(nest),),))
    found = tuple(_action(statement, nest, arrays) for statement in nest.statements)
    return Actions(nest.target, nest.axes, (found,) if nest.joint else tuple(_groups(found)))


def _groups(found: Sequence[Action]) -> Iterator[tuple[Action, ...]]:
    """Yield single actions, or groups if actions compute parts of the values of later ones."""
    group: list[Action] = []
    for action in found:
        group.append(action)
        new = {a.array for each in group for a in each.every if a.new}
        if new <= {a.array for each in group for a in each.writes}:
            yield tuple(group)
            group = []
    assert not group, "what rows read of rows before them is made there"


def _action(statement: ir.Statement, nest: ir.Nest, arrays: Mapping[str, ir.Field]) -> Action:
    rows = statement.domain & nest.context
    read: dict[Access, None] = {}
    for domain, load in dict.fromkeys(reads(statement.value, rows)):
        if load.array in arrays and not domain.empty:
            read |= dict.fromkeys(_read(statement, nest.axes, domain, load))
    products = (
        Product(Access(g.array, rows, g.row, g.new), g) for g in ir.gathers(statement.value)
    )
    written = Access(statement.array, rows, statement.index)
    writes = (written,) if statement.array in arrays else ()
    return Action(statement.name, tuple(read), tuple(products), writes)


def _read(
    statement: ir.Statement, axes: tuple[str, ...], rows: Domain, load: ir.Load
) -> Iterator[Access]:
    """Yield the reads of a load; those inside and outside the box are separate if it is local.

    A sweep within boxes reads updated values in its own box only, and old values in other boxes.
    """
    if load.array != statement.local:
        yield Access(load.array, rows, load.index, load.new)
        return
    near = bounded(axes).preimage(load.index, axes)
    where: Where = "kept" if statement.kept else "elsewhere"
    here = Access(load.array, rows & near, load.index, load.new)
    beyond = Access(load.array, rows - near, load.index, where=where)
    yield from (access for access in (here, beyond) if not access.rows.empty)


def _of_lines(nest: ir.LineNest) -> Action:
    """Return the reads and writes of systems along lines; boxes contain whole lines."""
    own = tuple(map(Affine.name, nest.axes))
    across = box(nest.outer).preimage(own[: nest.along] + own[nest.along + 1 :], nest.axes)
    reads = (Access(t.load.array, t.points & across, t.load.index) for t in nest.taken)
    rows = box(nest.axes) & nest.context
    writes = (Access(array, rows, own) for array in nest.made)
    return Action("row", tuple(reads), (), tuple(writes))
