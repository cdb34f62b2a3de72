"""The work of all ranks of a job in a call of a program: computation, exchanges, reductions.

One rank for each distinct shape of boxes is run alone, through its own tables and kernels, on the
machine at hand; the messages of all ranks follow from the schedules.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import boundary as bc

from .loggp import LogGP, Replay, replay
from .recorded import Array, Event, Messages, Recorded
from .smpi import write

Make = Callable[[Any], Callable[[], object]]
"""A function of ranks that returns the call: a function without parameters, such as a step."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace(Recorded):
    """A call of a program on ranks, with measured times of each rank's own work; see `trace`.

    Attributes
    ----------
    beside
        The seconds of the call that took turns with it; None without such a call.

    Examples
    --------
    The program smooths on 16 ranks, each of which has 16 x 16 points; times are drawn twice.

    >>> import ssr, boundary as bc
    >>> from benchmarks.performance_model import LogGP, trace
    >>> cells = ssr.Space(64, 64)
    >>> A = ssr.stencil(cells, cells, {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}, outside="zero")
    >>> @ssr.program(u=cells)
    ... def smooth(u):
    ...     u[:] = A @ u
    >>> def make(ranks):
    ...     return smooth.bind(bc.distribute(cells, ranks).zeros(cells))
    >>> trace = trace(make, ranks=16, calls=5)
    >>> network = LogGP(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9)
    >>> times = [trace.replay(network, sample=seed).seconds for seed in range(2)]
    >>> min(times) > 2 * network.overhead
    True
    """

    beside: float | None = None

    def replay(
        self,
        network: LogGP,
        *,
        blocking: bool = False,
        merged: bool = True,
        calls: int = 4,
        sample: int | None = None,
    ) -> Replay:
        """Return the time of a call on a network after the LogGP model.

        Parameters
        ----------
        network
            The network over which messages are sent.
        blocking
            Whether an exchange begins only where it is awaited, without overlap with work.
        merged
            Whether the arrays that one rank sends to another in an exchange are one message, as
            in the actual exchange, and not one message each.
        calls
            How many calls follow each other; the last one counts.
        sample
            The seed of a random draw: in each call each rank takes the times of one of the timed
            calls of its shape, so that a call waits for the slowest of all ranks. Replays with
            several seeds give a distribution. None takes the same times of work for all calls.
        """
        return replay(self, network, blocking=blocking, merged=merged, calls=calls, sample=sample)

    def to_smpi(
        self,
        directory: str | Path,
        network: LogGP,
        calls: int = 10,
        *,
        ranks_per_node: int | None = None,
    ) -> Path:
        """Write files from which SimGrid's SMPI replays calls; return the script of the replay.

        Parameters
        ----------
        directory
            The directory of the files; it is created if it does not exist.
        network
            The network that the platform represents.
        calls
            How many calls follow each other.
        ranks_per_node
            The ranks of a node, which share its link to a fat tree of two levels: a leaf switch has
            16 nodes and 8 links to the level above, and messages share the bandwidth of each link.
            None gives every rank a separate link, without contention.
        """
        return write(self, directory, network, calls, ranks_per_node)


def trace(
    make: Make,
    ranks: int,
    *,
    calls: int = 10,
    placements: int = 1,
    beside: Callable[[], object] | None = None,
) -> Trace:
    """Return the work and the messages of all ranks of a job in a call, without the job.

    For each distinct shape of boxes one rank is run alone on this machine, with the memory, tables
    and kernels that it has in the job, and its work between exchanges is timed. It has no values of
    other ranks, so its results are meaningless; quantities that depend on them, such as the number
    of iterations of a solver, have to be fixed.

    Parameters
    ----------
    make
        A function of ranks that returns a function without parameters, which is the call: a step in
        time, for example. It is called as on each rank of a job, with an object that replaces
        `boundary.world()`.
    ranks
        The number of ranks.
    calls
        How often the call is timed; the fastest one counts.
    placements
        How often a rank is created again and timed: its arrays are then at other addresses, which
        changes the times.
    beside
        A call for comparison, such as the undistributed program: it takes turns with the calls of
        each shape, so that other load on the machine slows both down. Times of work are then the
        median ratio of the two times, multiplied by the median time of this call.

    Raises
    ------
    ValueError
        If the exchanges of ranks of different shapes, or of several calls, differ.
    ArgumentError
        If values of other ranks are gathered.

    Examples
    --------
    >>> import ssr, boundary as bc
    >>> from benchmarks.performance_model import LogGP, trace
    >>> cells = ssr.Space(64, 64)
    >>> A = ssr.stencil(cells, cells, {(0, 0): 0.5, (0, 1): 0.25, (1, 0): 0.25}, outside="zero")
    >>> @ssr.program(u=cells)
    ... def smooth(u):
    ...     u[:] = A @ u
    >>> def make(ranks):
    ...     on = bc.distribute(cells, ranks)
    ...     run = smooth.bind(on.zeros(cells))
    ...     return lambda: run()
    >>> found = trace(make, ranks=64, calls=3)
    >>> [event.what for event in found.events]
    ['begin', 'await']
    >>> network = LogGP(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9)
    >>> found.replay(network).seconds > 2 * 0.4e-6
    True
    """
    first = _run(make, ranks, 0, (placements, calls), beside)
    shapes, members = first.world.shapes()
    others = (_run(make, ranks, rank, (placements, calls), beside) for rank in members if rank)
    runs = [first, *others]
    for rank, run in zip(members, runs, strict=True):
        if not np.array_equal(run.events, first.events):
            raise ValueError(
                f"Rank {rank} does not exchange as rank 0 does. "
                "The exchanges of a traced program must not depend on the values of fields."
            )
    used = sorted({int(e) // 2 for e in first.events if e >= 0})
    events = tuple(_event(int(event), used) for event in first.events)
    messages = tuple(Messages(*first.world.messages(number).T) for number in used)
    if beside is None:
        work = np.array([run.fastest for run in runs])
        samples = tuple(run.work[run.calm] for run in runs)
        return Trace(ranks, shapes, events, work, messages, samples)
    pace = float(np.median([run.beside for run in runs]))
    work = pace * np.array([np.median(run.ratios, axis=0) for run in runs])
    samples = tuple(pace * run.ratios[run.calm] for run in runs)
    return Trace(ranks, shapes, events, work, messages, samples, pace)


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The recorded work of one rank.

    Attributes
    ----------
    events
        Those of a call, as `boundary.traced_rank` records them.
    work
        The seconds between them, in each call. Where the operating system has given the core to
        another process, they are scaled so that their sum is the processor time of the call.
    beside
        The seconds of the calls that took turns with these, if any.
    calm
        Which calls are samples: those in which the operating system gave the core to no other
        process, or all if there are no such calls.
    world
        The rank.
    """

    events: Array
    work: Array
    beside: Array
    calm: Array
    world: Any

    @property
    def fastest(self) -> Array:
        """The seconds between events in the fastest call."""
        found: Array = self.work[self.work.sum(axis=1).argmin()]
        return found

    @property
    def ratios(self) -> Array:
        """The times of work divided by those of the interleaved calls."""
        found: Array = self.work / self.beside[:, None]
        return found


def _run(
    make: Make,
    ranks: int,
    rank: int,
    often: tuple[int, int],
    beside: Callable[[], object] | None,
) -> _Run:
    """Run a rank alone, with several placements, in turns with another call if one is given."""
    placements, calls = often
    runs = [_placed(make, bc.traced_rank(ranks, rank), calls, beside) for _ in range(placements)]
    events = runs[0].events
    if not all(np.array_equal(run.events, events) for run in runs):
        raise ValueError("The exchanges differ when the program is made again.")
    work, others = [run.work for run in runs], [run.beside for run in runs]
    calm = np.concatenate([run.calm for run in runs])
    calm = calm if calm.any() else ~calm
    return _Run(events, np.concatenate(work), np.concatenate(others), calm, runs[0].world)


def _placed(make: Make, world: Any, calls: int, beside: Callable[[], object] | None) -> _Run:
    call = make(world)
    found: list[tuple[Array, Array]] = []
    others: list[float] = []
    calm: list[bool] = []
    with np.errstate(all="ignore"):
        for _ in range(2):  # data unchanged since the first call is not exchanged again
            call()
        for _ in range(calls):
            if beside is not None:
                others.append(_again(beside))
                call()
            switches, used, start = _switches(), time.process_time(), time.perf_counter()
            events, seconds = world.record(call)
            share = (time.process_time() - used) / (time.perf_counter() - start)
            calm.append(_switches() == switches)
            found.append((events, seconds if calm[-1] else seconds * min(1.0, share)))
            if not np.array_equal(found[-1][0], found[0][0]):
                raise ValueError("The exchanges differ from call to call.")
    work = np.array([w for _, w in found])
    return _Run(found[0][0], work, np.array(others), np.array(calm), world)


def _switches() -> int:
    """Return how often the operating system has taken the core from this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _again(call: Callable[[], object]) -> float:
    """Return the processor time of a call after another one, so that its data are in the caches."""
    call()
    start = time.process_time()
    call()
    return time.process_time() - start


def _event(event: int, used: Sequence[int]) -> Event:
    if event < 0:
        return Event("reduce", -event)
    return Event("await" if event % 2 else "begin", used.index(event // 2))
