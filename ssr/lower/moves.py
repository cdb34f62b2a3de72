"""Put steps between nests and calls that move values between boxes with memory of their own.

    before:  nest 0;  call 0;  nest 1
    after:   move 0;  nest 0;  move 1;  call 0;  move 2;  nest 1;  move 3

A move packs numbers of the kernel's arrays into a buffer of messages, unpacks them from there, or
copies them within an array. What it moves is data: records of `RECORD` integers in its table. With
an empty table nothing happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .. import ir
from ..ir.external import External, Layout, Tables
from ..points.numbers import Array
from ..points.sets import Domain
from ..spaces.space import Space

RECORD = 16
"""Integers of a record: what it does (`PACK`, `UNPACK` or `WITHIN`), the number of the array; how
many numbers along four axes; the flat offset of the first one and the strides of the axes where
they are read, and the same where they are written."""

PACK, UNPACK, WITHIN = 0, 1, 2
"""What a record does: from an array to the messages, from there to an array, within an array. The
numbers that are read and those that are written are different ones."""

_COPY = """
def {0}_copy(source, target, links, p):
    rows, columns = links[p + 4], links[p + 5]
    s2, s3, t2, t3 = links[p + 9], links[p + 10], links[p + 14], links[p + 15]
    for a in range(links[p + 2]):
        for b in range(links[p + 3]):
            s = links[p + 6] + a * links[p + 7] + b * links[p + 8]
            t = links[p + 11] + a * links[p + 12] + b * links[p + 13]
            if columns < 8:
                for d in range(columns):
                    copy_column(target, t + d * t3, t2, source, s + d * s3, s2, rows)
            elif s3 == 1 and t3 == 1:
                for c in range(rows):
                    copy(target, t + c * t2, source, s + c * s2, columns)
            else:
                for c in range(rows):
                    for d in range(columns):
                        st(target, t + c * t2 + d * t3, ld(source, s + c * s2 + d * s3))
"""

_ARRAY = f"""
def {{0}}_array(array, scratch, links, p):
    if links[p] == {PACK}:
        {{0}}_copy(array, scratch, links, p)
    elif links[p] == {UNPACK}:
        {{0}}_copy(scratch, array, links, p)
    else:
        {{0}}_copy(array, array, links, p)
"""


@dataclass(frozen=True)
class Move(External):
    """A move of values of so many arrays: all of those of a kernel."""

    count: int
    name: str = "move"
    fields: tuple[tuple[Space, Space], ...] = ()
    data: tuple[str, ...] = ()

    def source(self, name: str) -> str:
        """Return the text of the function."""
        arrays = [f"a{n}" for n in range(self.count)]
        lines = [
            f"def {name}({', '.join(arrays)}, links, weights, scratch):",
            f"    for p in range(0, links.shape[0], {RECORD}):",
            "        number = links[p + 1]",
        ]
        for n, array in enumerate(arrays):
            lines.append(f"        {'elif' if n else 'if'} number == {n}:")
            lines.append(f"            {name}_array({array}, scratch, links, p)")
        return _COPY.format(name) + _ARRAY.format(name) + "\n".join(["", *lines])

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return tables that move nothing."""
        return Tables(np.empty(0, np.int64), np.empty(0, dtype))

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Do nothing, as in one memory."""

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> Move:
        """Return the move: it makes nothing."""
        return self

    def joined(self, other: External) -> None:
        """Return None: moves stay apart."""
        return


def kind_of(step: object) -> Literal["nest", "call", "move"]:
    """Return what a step of a kernel is."""
    if not isinstance(step, ir.Call):
        return "nest"
    return "move" if isinstance(step.external, Move) else "call"


def with_moves(program: ir.Program, steps: Sequence[ir.Ran]) -> tuple[ir.Ran, ...]:
    """Return the steps of a kernel with a move before each of them, and one behind the last."""
    arrays = tuple(field.name for field in (*program.fields, *program.temporaries))
    taken = {step.name for step in steps if isinstance(step, ir.Call)}
    move = ir.Call(ir.fresh("move", taken), Move(len(arrays)), arrays)
    return (move, *(each for step in steps for each in (step, move)))
