"""Diagnosis of a failed verification: the row and the read with the first wrong value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ssr.provenance import operation_of, shown, written_by

from ..schedules.plan import Plan


@dataclass(frozen=True)
class Difference:
    """A value on ranks that differs from the value on one array: numbers of terms.

    Attributes
    ----------
    name, index
        The field or result, and the point.
    rank, box
        The owner of the value; a result belongs to no box.
    expected, seen
        The term on one array, and the term on ranks.
    """

    name: str
    index: tuple[int, ...]
    rank: int
    box: int | None
    expected: float
    seen: float


def label(plan: Plan, found: Difference) -> str:
    """Return a difference as an error message; requires labelled stores."""
    reader, expected, seen = _deepest(_number(found.expected), _number(found.seen))
    place = f"{found.name}{list(found.index)}"
    owner = f"rank {found.rank}" + (f", box {found.box}" if found.box is not None else "")
    who = "" if reader is None else f"{_label(reader)} "
    return (
        f"schedule of {plan.declaration.program.name}: {place} of {owner} is not what one array "
        f"holds; {who}reads {_value(seen)}, not {_value(expected)}"
    )


def _number(value: float) -> int:
    return int(value) if value == value else 0


def _deepest(expected: int, seen: int) -> tuple[Any, int, int]:
    """Return the label of the row that reads a wrong value, the right value, and the wrong one.

    Operands of the two values are compared recursively until they were written by different rows
    or statements.
    """
    reader = None
    while True:
        one, other = operation_of(expected), operation_of(seen)
        made = written_by(expected), written_by(seen)
        apart = None not in made and made[0][:2] != made[1][:2]
        alike = one[0] == other[0] and len(one) == len(other) and one[0] != "leaf"
        if (reader is not None and apart) or not alike or one[0] in ("constant", "unwritten"):
            return reader, expected, seen
        here, there = Counter(one[1:]), Counter(other[1:])
        wanted, had = [*(here - there)], [*(there - here)]
        pairs = [
            (a, b) for a, b in zip(one[1:], other[1:], strict=True) if a in wanted and b in had
        ]
        expected, seen = pairs[0] if pairs else (wanted[0], had[0])
        reader = made[1] or reader


def _label(label: Any) -> str:
    piece, row, rank = label
    where = f" at row ({', '.join(map(str, row))})" if row else ""
    return f"{piece}{where} on rank {rank}"


def _value(number: int) -> str:
    label = written_by(number)
    text = shown(number)
    return text if label is None else f"what {_label(label)} made"
