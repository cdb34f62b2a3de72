"""Signals during kernels that run long, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import pytest

LATEST = 0.2
"""The seconds until Ctrl-C has ended a kernel."""

SLACK = 0.3
"""The seconds that the processes may have to wait for a processor besides."""

START = """
import signal, sys, threading, time
import numpy as np
import ssr

signal.signal(signal.SIGINT, signal.default_int_handler)
ny, nx, n = ssr.sizes("ny nx n")
plane, line = ssr.Space(ny, nx), ssr.Space(n)
ROUNDS = 12


def rounds(x):
    for _ in range(ROUNDS):
        x = ssr.sin(ssr.exp(x))
    return x


def reference(x):
    for _ in range(ROUNDS):
        x = np.sin(np.exp(x))
    return x


def assert_near(y, expected):
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-9)


def interrupted(run):
    print("ready", flush=True)
    try:
        run()
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
    else:
        print("never", flush=True)


@ssr.program(y=plane, x=plane)
def long(y, x):
    z = ssr.materialize(rounds(x))
    y[:] = ssr.stencil(plane, plane, {(-1, 0): -1.0, (0, 0): 1.0}, outside="zero") @ z
    return ssr.sum(y)


@ssr.program(y=line, x=line)
def long_line(y, x):
    y[:] = rounds(x)


@ssr.program(y=plane.vector(2), x=plane.vector(2))
def long_vector(y, x):
    for c in range(2):
        y[c] = rounds(x[c])
"""


def latency(script: str) -> float:
    """Return the seconds from Ctrl-C to the exception in the process of a script."""
    command = [sys.executable, "-c", START + textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        sent = time.monotonic()
        process.send_signal(2)
        ended = process.stdout.readline()
        rest = process.stdout.read()
    assert rest == "right\n"
    assert process.returncode == 0
    return float(ended) - sent


@pytest.mark.parametrize(
    ("program", "shape", "call"),
    [
        ("long", (2000, 2000), "long(y, x)"),
        ("long_line", (4_000_000,), "long_line(y, x)"),
        ("long", (2000, 2000), "long.bind(y, x)()"),
        ("long_vector", (2, 1000, 2000), "long_vector(y, x)"),
    ],
)
def test_interrupts_end_a_kernel_and_the_next_call_is_right(
    program: str, shape: tuple[int, ...], call: str
) -> None:
    script = f"""
    x, y = np.random.default_rng(1).random({shape}), np.zeros({shape})
    {program}(y[..., :3], x[..., :3])  # compiles it
    interrupted(lambda: {call})
    assert not y.ravel()[-1]  # it did not come to the end
    result = {call}
    z = reference(x)
    if {program} is long:
        z[1:] -= z[:-1].copy()
        np.testing.assert_allclose(result, z.sum(), rtol=1e-6)
    assert_near(y, z)
    print("right")
    """
    assert latency(script) < LATEST + SLACK


@pytest.mark.parametrize(("ny", "count"), [(2000, 1), (3, 10**8)])
def test_interrupts_end_a_loop_of_a_compiled_function(ny: int, count: int) -> None:
    script = f"""
    import numba
    x, y = np.random.default_rng(1).random(({ny}, 2000)), np.zeros(({ny}, 2000))
    step = long.native(y, x)
    @numba.njit
    def loop(count, y, x):
        for _ in range(count):
            step(y, x)
    loop(0, y, x)
    interrupted(lambda: loop({count}, y, x))
    loop(1, y, x)
    z = reference(x)
    z[1:] -= z[:-1].copy()
    assert_near(y, z)
    print("right")
    """
    assert latency(script) < LATEST + SLACK


def test_a_kernel_in_another_thread_goes_on() -> None:
    script = """
    x, y = np.random.default_rng(1).random((2000, 2000)), np.zeros((2000, 2000))
    long(y[:3], x[:3])
    done = threading.Event()
    threading.Thread(target=lambda: (long(y, x), done.set())).start()
    interrupted(done.wait)
    done.wait()
    z = reference(x)
    z[1:] -= z[:-1].copy()
    assert_near(y, z)
    print("right")
    """
    assert latency(script) < LATEST + SLACK


def test_handlers_that_do_not_raise_run_meanwhile() -> None:
    script = """
    x, y = np.random.default_rng(1).random((2000, 2000)), np.zeros((2000, 2000))
    long(y[:3], x[:3])
    times = []
    signal.signal(signal.SIGINT, lambda *_: times.append(time.monotonic()))
    print("ready", flush=True)
    long(y, x)
    assert time.monotonic() - times[0] > 0.1
    print(times[0], flush=True)
    z = reference(x)
    z[1:] -= z[:-1].copy()
    assert_near(y, z)
    print("right")
    """
    assert latency(script) < LATEST + SLACK
