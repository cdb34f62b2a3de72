"""Ranks that are threads: the bits of one process, and what ends a call."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, NonFiniteError

from . import jobs, ranks, repeated
from .test_mpi import ROOT

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
NEAR = {(-1, 0): -1.0, (0, -1): -1.0, (0, 1): -1.0, (1, 0): -1.0}
A = ssr.stencil(plane, plane, {(0, 0): 4.5, **NEAR}, outside="zero")


@ssr.program(x=plane, b=plane)
def smooth(x: Any, b: Any) -> Any:
    """Sweep forwards and backwards: parts of boxes wait for each other."""
    x[:] = A.tril().solve(b - A.triu(1) @ x)
    x[:] = A.triu().solve(b - A.tril(-1) @ x)
    return ssr.norm(b - A @ x)


@ssr.program(u=plane)
def multiply(u: Any) -> None:
    u[:] = 0.125 * (A @ u)


def smoothed(world: Any, times: int, **given: Any) -> tuple[list[float], bytes]:
    """Return the numbers and the bits that some calls make, each a sweep in both directions."""
    on = bc.distribute(plane, world, ny=37, nx=29, **given)
    x, b = on.zeros(plane), on.zeros(plane)
    b.fill(lambda j, i: 1.0 + 0.25 * j - 0.125 * i)
    bound = smooth.bind(x, b)
    numbers = [bound() for _ in range(times)]
    whole = x.gather()
    assert whole is not None
    return numbers, whole.tobytes()


# -- the same bits -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 5])
def test_threads_have_the_bits_of_one_process(count: int) -> None:
    assert repr(jobs.programs(bc.threads(count))) == repr(jobs.programs(None))  # some are NaN


def test_repeated_runs_have_the_bits_of_calls() -> None:
    alone = repeated.lines(None, together=False)
    for together in True, False:
        assert repeated.lines(bc.threads(3), together=together) == alone


@pytest.mark.parametrize("cut", [(1, 4), (4, 1), (2, 2)])
def test_sweeps_wait_for_each_other_many_times(cut: tuple[int, int]) -> None:
    alone = smoothed(None, 100)
    assert smoothed(bc.threads(4), 100, cut=cut) == alone


def test_threads_that_own_nothing() -> None:
    boxes = [(1, 0, ((0, 37), (0, 13))), (4, 0, ((0, 37), (13, 29)))]
    assert smoothed(bc.threads(6), 3, boxes=boxes) == smoothed(None, 3)


def test_plain_kernels_run_one_after_the_other() -> None:
    wanted = smoothed(None, 2)
    with ranks.plain_kernels():
        assert smoothed(bc.threads(3), 2) == wanted


def test_solvers_and_moves_work_on_threads() -> None:
    on = bc.distribute(plane, bc.threads(3), ny=31, nx=31)
    b = on.zeros(plane)
    b.fill(lambda j, i: 1.0 + j * i)
    solver = ssr.solvers.CG(A, M=ssr.solvers.IC())
    found, known = (solver(right, rtol=1e-10) for right in (b, b.gather()))
    assert np.array_equal(found.x.gather(), known.x)


# -- threads that wait ---------------------------------------------------------------------------


def test_threads_that_sleep_are_woken() -> None:
    on = bc.distribute(plane, bc.threads(3), ny=12, nx=8)
    u = on.zeros(plane)
    u.set(1.0)
    bound, wanted = multiply.bind(u), np.ones((12, 8))
    for pause in 0.0, 0.2, 0.0, 0.5:
        time.sleep(pause)
        bound()
        multiply(wanted)
        assert np.array_equal(u.gather(), wanted)


def test_callers_take_turns() -> None:
    """Two threads of the user call programs on the same threads of ours."""
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        found[number] = smoothed(bc.threads(2), 50)

    callers = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found[0] == found[1] == smoothed(None, 50)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_has_threads_of_its_own() -> None:
    wanted = smoothed(bc.threads(3), 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if smoothed(bc.threads(3), 2) == wanted else 1)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(status) == 0


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, 2.5, "two"])
def test_counts_that_are_none(count: Any) -> None:
    with pytest.raises(ArgumentError, match="not a positive integer"):
        bc.threads(count)


def test_one_thread_is_a_process_alone() -> None:
    assert bc.threads(1).alone
    assert bc.threads().size >= 1


class _Enough(Exception):
    """Raised by the handler of a signal."""


@pytest.fixture
def alarm() -> Iterator[None]:
    """Let an exception come a moment later."""

    def stop(*_: Any) -> None:
        raise _Enough

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
@pytest.mark.filterwarnings("ignore:The order of reads and writes of smooth is proved")
def test_an_exception_ends_all_threads_and_the_next_call_is_right() -> None:
    on = bc.distribute(plane, bc.threads(3), ny=400, nx=300)
    x, b = on.zeros(plane), on.zeros(plane)
    b.set(1.0)
    bound = smooth.bind(x, b)
    bound()
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    start = time.monotonic()
    with pytest.raises(_Enough):
        bound.repeat(np.zeros((10**6, 0)))
    assert time.monotonic() - start < 10.0
    x.set(0.0)
    one = bc.distribute(plane, None, ny=400, nx=300)
    y, c = one.zeros(plane), one.zeros(plane)
    c.set(1.0)
    assert [bound() for _ in range(3)] == [smooth(y, c) for _ in range(3)]
    assert np.array_equal(x.gather(), y.gather())


def test_the_debug_build_finds_bad_values_on_threads() -> None:
    @ssr.program(u=plane, options=ssr.Options(debug=True))
    def divide(u: Any) -> None:
        u[:] = 1.0 / u

    on = bc.distribute(plane, bc.threads(2), ny=6, nx=5)
    u = on.zeros(plane)
    u.fill(lambda j, i: 1.0 * (j - 4) + 0.0 * i)
    with pytest.raises(NonFiniteError, match=r"inf in u at \(4, 0\)"):
        divide(u)


CALL_IN_HANDLER = """
import signal, numpy as np, boundary as bc, ssr
cells = ssr.Space(ssr.size("n"))
@ssr.program(u=cells)
def add(u): u[:] = u + 1.0
on = bc.distribute(cells, bc.threads(2), n=50)
u, v = on.zeros(cells), on.zeros(cells)
one, other = add.bind(u), add.bind(v)
one(); other()
def call(*_):
    try:
        other()
    except ssr.Error:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        raise
signal.signal(signal.SIGALRM, call)
signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
while True:
    one.repeat(np.zeros((10**6, 0)))
"""


def test_a_call_within_a_call_is_an_error() -> None:
    """As a handler of a signal could make it; it must not wait for itself."""
    found = subprocess.run(
        [sys.executable, "-c", CALL_IN_HANDLER],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert found.returncode == 1
    assert "A program runs on these threads already" in found.stderr
