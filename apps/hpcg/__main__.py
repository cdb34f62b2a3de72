"""Run the HPCG problem: ``python -m apps.hpcg [--nx 104] [--ny 104] [--nz 104] [--time 60] ...``.

All phases of the benchmark: conjugate gradients with a multigrid preconditioner for the 27-point
operator. ``mpiexec -n P python -m apps.hpcg`` runs them on P ranks, each with a box of so many
points. With ``--matrix csr`` the operator is data, for the same programs in one process.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from apps.commands import as_json, tell
from apps.commands import run as command
from apps.ranks import add_threads, ranks_of

from . import report
from .benchmark import run
from .problem import Problem, ProblemError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, 1 if a test of the benchmark fails."""
    parser = argparse.ArgumentParser("python -m apps.hpcg", description="The HPCG problem.")
    for extent in "nx", "ny", "nz":
        parser.add_argument(
            f"--{extent}", type=int, default=104, help="points of a rank along an axis"
        )
    parser.add_argument("--time", type=float, default=60.0, help="seconds of the timed sets")
    parser.add_argument("--matrix", choices=("staged", "csr"), default="staged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    add_threads(parser)
    given = parser.parse_args(arguments)
    ranks = ranks_of(parser, given)
    if given.time < 0:
        parser.error(f"--time is {given.time}; it must be at least 0.")
    try:
        problem = Problem(given.nx, given.ny, given.nz, given.matrix, ranks)
    except ProblemError as error:
        parser.error(str(error))
    result = run(problem, given.time)
    if problem.on.is_root:
        print(report.text(result))
        if given.json:
            given.json.write_text(as_json(report.document(result)))
        if not result.valid:
            tell("error: A test of the benchmark has failed; see the report.")
    return 0 if result.valid else 1


if __name__ == "__main__":
    command(main)
