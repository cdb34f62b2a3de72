"""Processes that examine cases one after the other, and the counts of what came of them."""

from __future__ import annotations

import math
import multiprocessing
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

import ssr

from ..boundary.parallel import ranks
from . import distributed, fills, linked, matrices, mixed, others, programs, rounding
from .cases import Case, Outcome, Run, examine, source
from .runs import distributed_runs, runs
from .shrink import shrunk
from .text import Draft

KINDS: dict[str, Callable[[Random], Draft]] = {
    "matrices": matrices.matrices,
    "kron": matrices.kron,
    "programs": programs.programs,
    "recurrences": others.recurrences,
    "stored": others.stored,
    "blocks": others.blocks,
    "fills": fills.fills,
    "linked": linked.linked,
    "shared": linked.shared,
    "mixed": mixed.mixed,
    "distributed": distributed.distributed,
}
SHARE = {
    "matrices": 5, "kron": 1, "programs": 10, "recurrences": 2, "stored": 1, "blocks": 2,
    "fills": 4, "linked": 8, "shared": 2, "mixed": 8,
    "distributed": 10,
}  # fmt: skip
"""How often a kind is drawn, among those that are asked for."""
CPU = 25
"""Seconds of CPU after which a process is ended by the system."""
LIFE = 150
"""Programs that one process examines."""


@dataclass(frozen=True)
class Plan:
    """Which programs are drawn, and how they are run."""

    seed: int
    kinds: tuple[str, ...]
    compiled: bool

    def case(self, number: int) -> tuple[str, Case]:
        """Return the kind and the case of a number."""
        rng = Random(f"{self.seed} {number}")
        kind = rng.choices(self.kinds, [SHARE[k] for k in self.kinds])[0]
        draft = KINDS[kind](rng)
        drawn = distributed_runs if kind == "distributed" else runs
        return kind, Case(draft.text(), drawn(rng, draft, self.compiled))

    def call(self) -> Callable[..., Any]:
        """Return the function that runs programs on arrays, or ``on`` a spread of them."""
        return called if self.compiled else called_plain


Change = tuple[int, int, np.ndarray[Any, Any]]
"""Before a turn, an argument by its number gets new values."""


def called(
    turns: Iterable[ssr.Program],
    *args: Any,
    on: Any = None,
    change: Change | None = None,
    **more: Any,
) -> Any:
    """Run programs in turns; return what the last one gives."""
    if on is not None:
        return shared(turns, args, on, change)
    results = None
    for turn, program in enumerate(turns):
        if change and change[0] == turn:
            args[change[1]][...] = change[2]
        results = program(*args, **more)
    return results


def called_plain(turns: Iterable[ssr.Program], *args: Any, on: Any = None, **more: Any) -> Any:
    """Run the checked source of programs in turns, compiling nothing."""
    alone = patch.object(ssr.Program, "__call__", ssr.Program.run_plain)
    with rounding.fast(), ranks.plain_kernels() if on is not None else alone:
        return called(turns, *args, on=on, **more)


def shared(
    turns: Iterable[ssr.Program], args: Sequence[Any], on: Any, change: Change | None
) -> Any:
    """Run programs in turns on ranks that share the arrays among their arguments."""
    fields: list[Any] = []
    bound: dict[ssr.Program, Any] = {}
    results = None
    for turn, program in enumerate(turns):
        fields = fields or ranks.scattered(on, program, args)
        if change and change[0] == turn:
            fields[change[1]].set(change[2])
        if program not in bound:  # the fields may get more room than those before it have
            bound[program] = program.bind(*fields)
        with np.errstate(all="ignore"):
            results = bound[program]()
    for field, array in zip(fields, args, strict=True):
        if isinstance(array, np.ndarray):
            array[...] = field.gather()
    return results


def outcomes(plan: Plan, number: int) -> Iterator[tuple[str, Case, Run, Outcome]]:
    """Yield what comes of the runs of one program."""
    kind, case = plan.case(number)
    for run, outcome in examine(case, plan.call()):
        yield kind, case, run, outcome


def _limit() -> None:
    """Let the system end this process, one of many, if the next run takes too long."""
    resource.setrlimit(resource.RLIMIT_CPU, (_used() + CPU, resource.RLIM_INFINITY))


def minimal(
    plan: Plan,
    case: Case,
    run: Run,
    outcome: Outcome,
    seconds: float,
    limit: Callable[[], None] = lambda: None,
) -> Case:
    """Return a smaller case of the same outcome; ``limit`` is called before each one is tried."""
    runs = case.runs if outcome.what == "bits" else (run,)

    def again(smaller: Case) -> bool:
        limit()
        found = [o for _, o in examine(smaller, plan.call())]
        return any(o.kind == "wrong" and o.what == outcome.what for o in found)

    return shrunk(replace(case, runs=runs), again, seconds)


def _used() -> int:
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return int(spent.ru_utime + spent.ru_stime)


def work(plan: Plan, first: int, step: int, last: float, until: float, send: Connection) -> None:
    """Examine programs before a last one and send what comes of them, until the time is over."""
    for number in range(first, first + LIFE * step, step):
        if number >= last:
            break
        if time.time() > until:
            break
        _limit()
        send.send(("start", number, None))
        counts: Counter[tuple[str, str, str]] = Counter()
        seen: set[str] = set()
        try:
            for kind, case, run, outcome in outcomes(plan, number):
                counts[kind, outcome.kind, outcome.what] += 1
                if outcome.kind == "wrong" and outcome.what not in seen:
                    seen.add(outcome.what)
                    send.send(("found", number, (kind, outcome, f"{case.text}# {run}")))
                    if outcome.what != "slow":
                        small = minimal(plan, case, run, outcome, 120.0, _limit)
                        send.send(("small", number, (kind, outcome, source(small, outcome))))
                _limit()  # the next run may be a program of its own
        except Exception:
            send.send(("broken", number, traceback.format_exc()))
        send.send(("done", number, counts))
    send.send(("end", first + LIFE * step, None))


class Tally:
    """The counts of all processes, and how they are printed."""

    def __init__(self) -> None:
        self.programs: Counter[str] = Counter()
        self.cases: Counter[tuple[str, str, str]] = Counter()
        self.findings = 0

    def add(self, counts: Counter[tuple[str, str, str]]) -> None:
        """Add the counts of one program."""
        self.cases += counts
        for kind in {key[0] for key in counts}:
            self.programs[kind] += 1

    def __str__(self) -> str:
        lines = [f"{'kind':14}{'programs':>10}{'cases':>10}{'same':>10}  others"]
        for kind in sorted(self.programs):
            own = {key[1:]: n for key, n in self.cases.items() if key[0] == kind}
            others = {f"{k} {w}": n for (k, w), n in sorted(own.items()) if k != "same"}
            same = own.get(("same", ""), 0)
            shown = ", ".join(f"{what}: {n}" for what, n in others.items())
            lines.append(
                f"{kind:14}{self.programs[kind]:10}{sum(own.values()):10}{same:10}  {shown}"
            )
        total = sum(self.cases.values())
        lines.append(
            f"{'all':14}{sum(self.programs.values()):10}{total:10}; {self.findings} findings"
        )
        return "\n".join(lines)


def drive(plan: Plan, seconds: float, jobs: int, first: int, count: float = math.inf) -> int:
    """Let processes examine a number of programs within some time; return 1 if one is wrong."""
    context = multiprocessing.get_context("fork")
    until, last, tally = time.time() + seconds, first + count, Tally()
    processes: dict[Connection, Any] = {}
    current: dict[Connection, int] = {}
    shown = time.time()

    def start(number: int) -> None:
        receive, send = context.Pipe(False)
        process = context.Process(target=work, args=(plan, number, jobs, last, until, send))
        process.start()
        send.close()
        processes[receive], current[receive] = process, number

    for job in range(jobs):
        start(first + job)
    while processes:
        for ready in wait(list(processes), 5.0):
            assert isinstance(ready, Connection)
            try:
                what, number, told = ready.recv()
            except EOFError:  # ended by the system
                what, number, told = "killed", current[ready], None
            current[ready] = number
            if what == "done":
                tally.add(told)
            elif what in ("found", "small", "broken"):
                tally.findings += what == "found"
                print(f"== {what}: seed {plan.seed} number {number}\n{report(told)}", flush=True)
            elif what in ("end", "killed"):
                process = processes.pop(ready)
                process.join()
                if what == "killed":
                    tally.findings += 1
                    case = plan.case(number)
                    ended = Outcome("wrong", "killed", why(process.exitcode))
                    print(f"== killed: seed {plan.seed} number {number}: {ended.detail}")
                    print(source(case[1], ended), flush=True)
                    number += jobs
                if time.time() < until and number < last:
                    start(number)
        if time.time() - shown > 60.0:
            shown = time.time()
            print(tally, flush=True)
    print(tally, flush=True)
    return int(tally.findings > 0)


def why(status: int | None) -> str:
    """Return why a process was ended by the system."""
    if status == -signal.SIGSEGV:
        return "memory beside an array was read or written"
    return f"more than {CPU} s of CPU"


def report(told: Any) -> str:
    """Return a finding as text."""
    if isinstance(told, str):
        return told
    kind, outcome, text = told
    return f"{kind}: {outcome.what}\n{outcome.detail}\n{text}"
