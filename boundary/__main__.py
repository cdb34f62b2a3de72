r"""``python -m boundary plan``: print the communication schedule of one rank without running a job.

python -m boundary plan apps.swe.volumes:program size=1024 passive=False weights=linear \
        more=1019 --ranks 10752 --rank 77
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ssr
from ssr import Space
from ssr.errors import ArgumentError
from ssr.extension import VectorSpace, run_command

from .grid.grid import GridSpace
from .parallel.programs.distribute import distribute
from .parallel.schedules.plan import plan
from .parallel.worlds.world import simulated_ranks


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m boundary", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    planned = commands.add_parser("plan", help="print what a rank of a program would do")
    planned.add_argument("program", help="MODULE:NAME of a program, or of what returns one")
    planned.add_argument("values", nargs="*", help="NAME=VALUE: its arguments, and sizes")
    planned.add_argument("--ranks", type=int, required=True, help="the number of ranks")
    planned.add_argument("--rank", type=int, default=0, help="the rank, 0 by default")
    planned.add_argument("--dtype", default="float64", choices=["float64", "float32"])
    given = parser.parse_args(arguments)
    sys.stdout.write(f"{_planned(given)}\n")
    return 0


def _planned(given: argparse.Namespace) -> str:
    values = dict(_pair(text) for text in given.values)
    program, sizes = _program(given.program, values)
    if not 0 <= given.rank < given.ranks:
        raise ArgumentError(f"There are {given.ranks} ranks, and none is {given.rank}.")
    on = distribute(_ground(program), simulated_ranks(given.ranks), **sizes)
    made = plan(program, on.partition, np.dtype(given.dtype))
    return made.explain(given.rank)


def _pair(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ArgumentError(f"{text!r} is not NAME=VALUE.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _program(place: str, values: Mapping[str, Any]) -> tuple[ssr.Program, dict[str, Any]]:
    """Return the program at a place, and the remaining values, which are sizes."""
    module, colon, name = place.partition(":")
    if not colon:
        raise ArgumentError(f"{place!r} is not MODULE:NAME.")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"There is no {place}.", note=str(error)) from None
    left = dict(values)
    if not isinstance(found, ssr.Program) and callable(found):
        taken = [n for n in inspect.signature(found).parameters if n in left]
        found = found(**{n: left.pop(n) for n in taken})
    if not isinstance(found, ssr.Program):
        raise ArgumentError(f"{place} is {type(found).__name__}, not a program.")
    return found, left


def _ground(program: ssr.Program) -> Any:
    """Return the grid of a program's fields, or its largest space."""
    kinds = (kind for _, kind in program.signature.kinds)
    parts = (kind.space if isinstance(kind, VectorSpace) else kind for kind in kinds)
    spaces = [part for part in parts if isinstance(part, Space)]
    for space in spaces:
        if isinstance(space, GridSpace):
            return space.grid
    return max(spaces, key=lambda space: space.ndim)


if __name__ == "__main__":
    run_command(main)
