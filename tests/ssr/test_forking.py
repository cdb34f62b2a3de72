"""Processes that fork while other threads compile: parent and child go on."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ssr import forking

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="Processes do not fork here."),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

PATIENCE = 120
"""Seconds after which a child counts as hanging."""

SCRIPT = f"""
import os, signal, sys, threading, time

import numpy as np

import boundary as bc
import ssr

PATIENCE = {PATIENCE}
n = ssr.size("n")
line = ssr.Space(n)


def product(weight):
    row = {{-1: weight, 0: 2, 1: -1}}
    return (ssr.stencil(line, line, row, outside="zero") @ np.ones(4)).tolist()


def right(weight):
    return [1.0, 1.0 + weight, 1.0 + weight, 2.0 + weight]


def forked(check):
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os._exit(0 if check() else 1)
    return child


def ended(child):
    status = os.waitpid(child, 0)[1]
    assert status == 0, status


def compiling():
    # Children of each moment compile a kernel of their own, and the thread one after the other.
    done = []
    other = threading.Thread(target=lambda: done.extend(product(-w) == right(-w) for w in (1, 5)))
    other.start()
    children = []
    for number, pause in enumerate((0.01, 0.1, 0.4)):
        time.sleep(pause)
        weight = -10.0 - number
        children.append(forked(lambda w=weight: product(w) == right(w)))
    other.join()
    for child in children:
        ended(child)
    assert done == [True, True]
    assert product(-3.0) == right(-3.0)


def team():
    # A thread runs programs on a team of threads meanwhile; the child has a team of its own.
    @ssr.program(u=line)
    def grow(u):
        u[:] = u + 1.0

    def field():
        on = bc.distribute(line, bc.threads(2), n=20)
        return on.zeros(line)

    u, stop = field(), threading.Event()
    bound = grow.bind(u)

    def run():
        while not stop.is_set():
            bound()

    other = threading.Thread(target=run)
    other.start()
    time.sleep(0.2)

    def check():
        v = field()
        grow(v)
        return v.gather().tolist() == [1.0] * 20 and product(-2.0) == right(-2.0)

    child = forked(check)
    stop.set()
    other.join()
    ended(child)


def pool():
    # Workers of multiprocessing are forked, and use kernels of the parent and new ones.
    import multiprocessing

    assert product(-1.0) == right(-1.0)
    with multiprocessing.get_context("fork").Pool(2) as workers:
        found = workers.map(product, [-1.0, -7.0, -8.0])
    assert found == [right(-1.0), right(-7.0), right(-8.0)]


def threads():
    # Threads that compile fork at the same time, and do not wait for each other.
    from ssr.forking import postponed

    together = threading.Barrier(3)

    def work():
        with postponed():
            together.wait(10)
            ended(forked(lambda: True))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(PATIENCE)
    assert not any(worker.is_alive() for worker in workers)


def numba():
    # A thread compiles a function of the user's own by Numba.
    import numba

    def function(x):
        for k in range(10):
            x = x + np.sum(np.sort(np.arange(x)))
        return x

    other = threading.Thread(target=numba.njit(numba.int64(numba.int64)), args=(function,))
    other.start()
    time.sleep(0.3)
    child = forked(lambda: product(-4.0) == right(-4.0))
    other.join()
    ended(child)


globals()[sys.argv[1]]()
"""


@pytest.mark.parametrize("what", ["compiling", "team", "pool", "threads", "numba"])
def test_children_compile(what: str, tmp_path: Path) -> None:
    environment = {**os.environ, "SSR_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT, what]
    root = Path(__file__).parents[2]
    made = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, timeout=4 * PATIENCE
    )
    assert made.returncode == 0, made.stderr


def fork_and_end() -> float:
    """Fork a child that ends; return the seconds that the fork took."""
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        os._exit(0)
    took = time.monotonic() - start
    assert os.waitpid(child, 0)[1] == 0
    return took


def while_a_thread_is_in(enter: Callable[[threading.Event, threading.Event], None]) -> None:
    """Check that a fork waits until a thread that has entered something ends."""
    inside, leave, left = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        enter(inside, leave)
        left.set()

    other = threading.Thread(target=work)
    other.start()
    assert inside.wait(10)
    threading.Timer(0.3, leave.set).start()
    assert fork_and_end() > 0.2
    assert leave.is_set()
    other.join()


def test_a_fork_waits_for_threads() -> None:
    def enter(inside: threading.Event, leave: threading.Event) -> None:
        with forking.postponed(), forking.postponed():
            inside.set()
            leave.wait(10)

    while_a_thread_is_in(enter)


def test_a_fork_goes_on_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread may wait for the one that forks, in a lock that only another package knows."""
    monkeypatch.setattr(forking, "PATIENCE", 0.3)
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with forking.postponed():
            inside.set()
            leave.wait(60)

    other = threading.Thread(target=work)
    other.start()
    assert inside.wait(10)
    assert fork_and_end() > 0.2
    assert other.is_alive()
    leave.set()
    other.join()


def test_a_fork_waits_for_tasks() -> None:
    def enter(inside: threading.Event, leave: threading.Event) -> None:
        forking.begin_task()
        with forking.in_task(), forking.postponed():
            inside.set()
            leave.wait(10)
        forking.end_task()

    while_a_thread_is_in(enter)


def test_a_fork_waits_for_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = threading.Lock()
    monkeypatch.setattr(forking, "_locks", [lock])

    def enter(inside: threading.Event, leave: threading.Event) -> None:
        with lock:
            inside.set()
            leave.wait(10)

    while_a_thread_is_in(enter)
    assert not lock.locked()


def test_a_fork_waits_for_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\ntime.sleep(0.4)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    other = threading.Thread(target=importlib.import_module, args=("slow_to_import",))
    other.start()
    while not forking._others_import():
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        import slow_to_import  # type: ignore[import-not-found]

        os._exit(0 if slow_to_import.time else 1)
    assert os.waitpid(child, 0)[1] == 0
    other.join()


def test_a_thread_that_compiles_may_fork() -> None:
    with forking.postponed():
        assert fork_and_end() < 10
        with forking.postponed():
            assert fork_and_end() < 10
    assert fork_and_end() < 10


def test_compilation_begins_after_a_fork() -> None:
    """Threads that begin while another one waits for a fork do not keep it from that."""
    with forking.postponed():
        pass
    for _ in range(5):
        stop = threading.Event()

        def work(stop: threading.Event = stop) -> None:
            while not stop.is_set():
                with forking.postponed():
                    time.sleep(0.002)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        assert fork_and_end() < 30
        stop.set()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
