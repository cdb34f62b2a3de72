"""Insert data-transfer steps (halo exchange) between the nests and calls of distributed programs.

    before:  nest 0;  call 0;  nest 1
    after:   move 0;  nest 0;  move 1;  call 0;  move 2;  nest 1;  move 3

A move packs array elements into a message buffer, unpacks them from the buffer, or copies them
within an array. The elements are data: records of `RECORD` integers in the table of the move. With
an empty table the move does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .. import ir
from ..ir.external import External, Layout, Tables
from ..kernel import ir as kernel
from ..kernel.building import (
    ALWAYS,
    choice,
    compare,
    do,
    element,
    every,
    let,
    load,
    loop,
    plus,
    store,
    times,
)
from ..points.numbers import Array
from ..points.sets import Domain
from ..spaces.space import Space

RECORD = 16
"""Integers of a record: its kind (`PACK`, `UNPACK` or `WITHIN`), the number of the array, the
extents along four axes, the flat offset and the strides of the source, and the flat offset and the
strides of the destination."""

PACK, UNPACK, WITHIN = 0, 1, 2
"""The kind of a record: from an array to the message buffer, from the buffer to an array, or within
an array. Source and destination do not overlap."""


def _link(number: int) -> kernel.Expression:
    """Return an integer of the record at ``p``."""
    return element("links", plus("p", number) if number else "p")


def _place(first: int) -> kernel.Expression:
    """Return the flat offset of the first two indices ``a`` and ``b`` of numbers of a record."""
    return plus(_link(first), times("a", _link(first + 1)), times("b", _link(first + 2)))


def _copy(name: str) -> kernel.Function:
    """Return the function that copies the numbers of a record: columns, lines or one by one."""
    read, written = times("d", "s3"), times("d", "t3")
    of, to = plus("s", times("c", "s2")), plus("t", times("c", "t2"))
    top = "target", plus("t", written), "t2", "source", plus("s", read), "s2"
    column = do("copy_column", *top, "rows")
    line = do("copy", "target", to, "source", of, "columns")
    number = store("target", plus(to, written), load("source", plus(of, read)))
    contiguous = every([compare("s3", "==", 1), compare("t3", "==", 1)])
    chosen = choice(
        [
            (compare("columns", "<", 8), [loop("d", (0, "columns"), [column])]),
            (contiguous, [loop("c", (0, "rows"), [line])]),
            (ALWAYS, [loop("c", (0, "rows"), [loop("d", (0, "columns"), [number])])]),
        ]
    )
    begin = let("s", _place(6)), let("t", _place(11))
    body = (
        _several(("rows", "columns"), 4, 5),
        _several(("s2", "s3", "t2", "t3"), 9, 10, 14, 15),
        loop("a", (0, _link(2)), [loop("b", (0, _link(3)), [*begin, *chosen])]),
    )
    return kernel.Function(f"{name}_copy", ("source", "target", "links", "p"), body)


def _several(names: tuple[str, ...], *numbers: int) -> kernel.Let:
    """Return the assignment of integers of a record to variables."""
    return kernel.Let(names, kernel.Group(tuple(map(_link, numbers))))


def _array(name: str) -> kernel.Function:
    """Return the function that executes a record for an array."""

    def copied(source: str, target: str) -> list[kernel.Do]:
        return [do(f"{name}_copy", source, target, "links", "p")]

    chosen = choice(
        [
            (compare(_link(0), "==", PACK), copied("array", "scratch")),
            (compare(_link(0), "==", UNPACK), copied("scratch", "array")),
            (ALWAYS, copied("array", "array")),
        ]
    )
    return kernel.Function(f"{name}_array", ("array", "scratch", "links", "p"), chosen)


@dataclass(frozen=True)
class Move(External):
    """A data transfer between ``count`` arrays, which are all arrays of a kernel."""

    count: int
    name: str = "move"
    fields: tuple[tuple[Space, Space], ...] = ()
    data: tuple[str, ...] = ()

    def functions(self, name: str) -> tuple[kernel.Function, ...]:
        """Return the function that executes all records, after the functions that it calls."""
        arrays = [f"a{n}" for n in range(self.count)]
        chosen = choice(
            (compare("number", "==", n), [do(f"{name}_array", array, "scratch", "links", "p")])
            for n, array in enumerate(arrays)
        )
        records = 0, kernel.Extent("links", 0), RECORD
        body = loop("p", records, [let("number", _link(1)), *chosen])
        taken = (*arrays, "links", "weights", "scratch")
        return _copy(name), _array(name), kernel.Function(name, taken, (body,))

    def tables(self, sizes: Mapping[str, int], layouts: Sequence[Layout], dtype: Any) -> Tables:
        """Return empty tables."""
        return Tables(np.empty(0, np.int64), np.empty(0, dtype))

    def reference(
        self, arrays: Sequence[Array], sizes: Mapping[str, int], scalars: Sequence[Any]
    ) -> None:
        """Change no values, since all arrays are in one memory."""

    def wanted(self, reads: Sequence[Domain], kept: Sequence[bool]) -> Move:
        """Return the move, which computes no values."""
        return self

    def joined(self, other: External) -> None:
        """Return None, because moves are not joined."""
        return


def kind_of(step: object) -> Literal["nest", "call", "move"]:
    """Return the kind of a step of a kernel."""
    if not isinstance(step, ir.Call):
        return "nest"
    return "move" if isinstance(step.external, Move) else "call"


def transfers(
    program: ir.Program, steps: Sequence[ir.Ran]
) -> tuple[ir.Program, tuple[ir.Ran, ...]]:
    """Return the steps of a kernel with a move before each step and one after the last."""
    arrays = tuple(field.name for field in (*program.fields, *program.temporaries))
    taken = {step.name for step in steps if isinstance(step, ir.Call)}
    move = ir.Call(ir.fresh("move", taken), Move(len(arrays)), arrays)
    return program, (move, *(each for step in steps for each in (step, move)))
