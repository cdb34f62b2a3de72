"""Random programs on ranks that are processes: ``mpiexec -n 3 python -m tests.fuzz.processes``.

Each process runs the cases of some numbers on arrays and on the ranks of the job, and compares.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

import boundary as bc

from .cases import Case, source
from .drive import Plan, Tally, outcomes
from .spreads import PROCESSES


def main() -> int:
    """Run the command; the status is 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.processes", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which cases are drawn")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--count", type=int, default=10, help="how many programs")
    parser.add_argument("--compiled", action="store_true", help="compile with Numba")
    given = parser.parse_args()
    comm = bc.world(timeout=60.0)
    PROCESSES.set(comm)
    plan, tally = Plan(given.seed, ("distributed",), given.compiled), Tally()
    for number in range(given.first, given.first + given.count):
        counts: Counter[tuple[str, str, str]] = Counter()
        for kind, case, run, outcome in outcomes(plan, number):
            counts[kind, outcome.kind, outcome.what] += 1
            if outcome.kind == "wrong":
                tally.findings += 1
                print(f"== number {number}\n{source(Case(case.text, (run,)), outcome)}", flush=True)
        tally.add(counts)
    if comm is None or comm.rank == 0:
        print(tally, flush=True)
    return int(tally.findings > 0)


if __name__ == "__main__":
    sys.exit(main())
