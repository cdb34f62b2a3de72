"""The ranks on which an application runs: those of ``mpiexec``, or threads of one process."""

import argparse
from typing import Any

import boundary as bc


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Let a command take the number of threads."""
    text = "threads of one process (1); the result has the same bits"
    parser.add_argument("--threads", type=int, default=1, metavar="N", help=text)


def ranks_of(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Any:
    """Return the ranks of a job, the threads that a command requests, or None for one process."""
    if given.threads < 1:
        parser.error(f"--threads is {given.threads}; it must be at least 1.")
    ranks = bc.world()
    if ranks is not None and given.threads > 1:
        parser.error("--threads is for one process; mpiexec has started several.")
    return bc.threads(given.threads) if given.threads > 1 else ranks
