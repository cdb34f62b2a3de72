"""Simulate programs on many ranks, and measure them on a cluster.

``mpiexec -n CORES python -m benchmarks.scaling --simulate FILE [--only NAME...] [--ranks P...]``
times the work of each shape of boxes on all cores at the same time, replays it with the messages of
P ranks on networks after the LogGP model, and writes counts, times and their bands. Without
``mpiexec`` one core is busy.

``mpiexec -n N python -m benchmarks.scaling --measure FILE`` measures the same problems on N ranks
and writes machine, MPI, counts, the step times of every rank, and a simulation of the same ranks.
Please send the file.

``--compare FILE...`` prints measured and simulated times. ``--plot PICTURE SIMULATED
[MEASURED...]`` draws the efficiencies. ``--tables FOLDER SIMULATED [MEASURED...]`` writes the
tables of the page.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import boundary as bc
from apps import commands
from benchmarks import timing
from benchmarks.scaling import compare, measure, picture, simulate, tables
from benchmarks.scaling.problems import DEFAULT, PROBLEMS

RANKS = 6, 24, 96, 384, 1344, 10752
PATIENCE = 3600.0
"""Seconds that a rank waits for others: the first one compiles and simulates meanwhile."""


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--simulate", type=Path, metavar="FILE")
    way.add_argument("--measure", type=Path, metavar="FILE")
    way.add_argument("--compare", type=Path, nargs="+", metavar="FILE")
    way.add_argument("--plot", type=Path, nargs="+", metavar="FILE")
    way.add_argument("--tables", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, default=list(DEFAULT))
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument(
        "--rounds", type=int, default=20, help="the timed calls of each rank or shape"
    )
    parser.add_argument("--placements", type=int, default=1, help="layouts of memory for the work")
    parser.add_argument("--tiny", action="store_true", help="sizes of a test")
    parser.add_argument("--stacks", type=float, help="seconds after which ranks print their stacks")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, measure, or read the files of both."""
    given = parsed(arguments)
    if given.stacks:
        faulthandler.dump_traceback_later(given.stacks, repeat=True)
    if given.compare:
        print("\n\n".join(compare.text(_read(path)) for path in given.compare))
    elif given.plot:
        target, simulated, *others = given.plot
        picture.draw(target, _read(simulated), [_read(path) for path in others])
    elif given.tables:
        target, simulated, *others = given.tables
        tables.write(target, _read(simulated), [_read(path) for path in others])
    else:
        _in_job(given)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _in_job(given: argparse.Namespace) -> None:
    """Run the part that ranks do together; the first one writes the file after each result."""
    comm = bc.world(timeout=PATIENCE)
    problems = {
        name: PROBLEMS[name].small() if given.tiny else PROBLEMS[name] for name in given.only
    }
    often = given.rounds, given.placements
    if given.simulate:
        results = simulate.simulate(comm, problems, given.ranks, often)
    elif comm is None:
        raise SystemExit(
            "Start the ranks: mpiexec -n N python -m benchmarks.scaling --measure FILE"
        )
    else:
        results = measure.measure(comm, problems, often)
    for found in results:
        timing.write_json(given.simulate or given.measure, found)
        if given.measure:
            print(compare.text(found), flush=True)


if __name__ == "__main__":
    commands.run(main)
