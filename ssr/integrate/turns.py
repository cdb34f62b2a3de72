"""Sequences of bound programs for time steps, on arrays or distributed fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..programs.program import Program
from ..spaces.distributed import is_distributed


def in_turn(programs: Sequence[Program], fields: Mapping[str, Any]) -> Callable[..., None]:
    """Return a function of the scalars that are left, which runs programs one after the other.

    All programs take the same of these scalars, in one order. Distributed fields run the programs
    themselves, each where the lines are whole that it solves along.
    """
    field = next((value for value in fields.values() if is_distributed(value)), None)
    if field is not None:
        made: Callable[..., None] = field.__ssr_in_turn__(programs, fields)
        return made
    runs = [
        program.bind(**{n: fields[n] for n, _ in program.signature.kinds if n in fields})
        for program in programs
    ]

    def run(*scalars: Any) -> None:
        for each in runs:
            each(*scalars)

    return run
