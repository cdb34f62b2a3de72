"""Instruction set of the virtual machine that fills ghost points, and its capabilities.

A program, which `assemble` generates, is a sequence of integer records: the opcode, the offset of
the next record, and the operands. Boxes are represented as lines of points with constant strides.
The memory ``scratch`` holds lines of sources and values under computation. `machine_functions`
generates the functions of the machine; they depend on the fields and on the set of opcodes, but not
on the length of the program or on sizes. A program is valid for arrays of one layout: places and
steps are memory offsets and strides in a field.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

TAPS = 8
"""The number of neighbours on a line that are summed in one pass."""


class Op(IntEnum):
    """The instructions.

    A slot is an offset in scratch memory, and a weight is an offset in the weights; both have a
    step from line to line. A field is given by its number, as is a lane, which is one field or a
    pair of fields, the target first. A range is an offset in a field with the steps from line to
    line and along a line. Ranges are encoded as their number, the steps, and an offset for each.
    """

    STOP = 0
    READ = 1  # field; slot, weight, first?, lines, length, steps; ranges: field to scratch
    WRITE = 2  # as READ: scratch times one weight to the field
    TAP = 3  # as READ: weights times the field, added to scratch unless it is the first
    COPY = 4  # lane; weight, lines, length; range of targets, range of sources
    COLUMNS = 5  # as COPY, with the length of a list of columns: (target, source)
    SHARE = 6  # field; 2 weights, lines, length; 2 ranges: both are set to their weighted sum
    GATHER = 7  # field; count; (slot, weight, place): a weight times a point, added to scratch
    SCATTER = 8  # field; count; (slot, place): scratch to points
    FILL = 9  # slot, weight, lines, length, both steps: weights to scratch
    SCALE = 10  # scalar; as FILL: weights times the scalar, added to scratch
    CLEAR = 11  # slot, length: zeros to scratch
    TURN = 12  # size; lines, length, both steps; a slot per component, a weight per entry
    MUTUAL = 13  # group of fields; length; place and step per line; a weight per entry
    PRODUCT = 14  # recipe, more?; times, steps; slot and source per value; a weight per entry


@dataclass(frozen=True, slots=True)
class Form:
    """The operations that the machine needs for given tables.

    Attributes
    ----------
    fields
        The number of fields.
    scalars
        The number of scalars.
    groups
        Groups of values that are summed in one pass over the same neighbours on lines: for each
        group the sizes of its vectors, 1 for a value that is not multiplied by a matrix.
    vectors
        The sizes of the vectors that are multiplied by a matrix.
    pairs
        Pairs of a target and a source field: points of the first are multiples of points of the
        second.
    copies
        Whether points are multiples of other points of the same field.
    lines
        Whether there are other sums, which are computed in scratch memory. Such a machine can
        compute any pieces of vectors of these sizes; the other attributes save time.
    shared
        Whether there are pairs of points that both become a sum of the two.
    mutual
        The fields of lines that become sums of each other, for each kind of such lines.
    """

    fields: int
    scalars: int = 0
    groups: tuple[tuple[int, ...], ...] = ()
    vectors: tuple[int, ...] = ()
    pairs: tuple[tuple[int, int], ...] = ()
    copies: bool = True
    lines: bool = True
    shared: bool = False
    mutual: tuple[tuple[int, ...], ...] = ()

    def __or__(self, other: Form) -> Form:
        """Return the form of a machine with the abilities of two machines for the same fields."""
        merged: dict[str, Any] = {}
        for field in fields(self):
            one, two = getattr(self, field.name), getattr(other, field.name)
            if isinstance(one, bool):
                merged[field.name] = one or two
            elif field.name not in ("fields", "scalars"):
                merged[field.name] = tuple(sorted({*one, *two}))
        return replace(self, **merged)

    def lane(self, target: int, source: int) -> int | None:
        """Return the number of the lane to one field from another or itself; None if there is none.

        The lanes are the fields, if there are copies within a field, followed by the pairs.
        """
        if target == source:
            return target if self.copies else None
        first = self.fields if self.copies else 0
        pair = target, source
        return first + self.pairs.index(pair) if pair in self.pairs else None

    def product(self, group: tuple[int, ...]) -> int | None:
        """Return the instruction that sums the values of a group, or None."""
        return Op.PRODUCT + self.groups.index(group) if group in self.groups else None
