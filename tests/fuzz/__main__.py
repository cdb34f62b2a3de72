"""Draw random cases, for some time or a number of them; report how many of each kind there were."""

from __future__ import annotations

import argparse
import math
import sys

from .drive import KINDS, Plan, drive


def main() -> int:
    """Run the command; the status is 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="which cases are drawn")
    parser.add_argument("--kind", choices=sorted(KINDS), action="append", help="default: all")
    parser.add_argument("--compiled", action="store_true", help="compile with Numba")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, help="how many programs, however long that takes")
    given = parser.parse_args()
    kinds = tuple(given.kind or KINDS)
    plan = Plan(given.seed, kinds, given.compiled)
    if given.count is not None:
        return drive(plan, math.inf, given.jobs, given.first, given.count)
    return drive(plan, given.seconds, given.jobs, given.first)


sys.exit(main())
