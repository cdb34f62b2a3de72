"""Kernels that go through the steps of a schedule: rows of numbers, functions of C, resumption."""

import ctypes
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.compiler.kernel import Kernel
from ssr.extension import FAILED, FINISHED, LATE, LEFT, At, Function, Run, Step
from ssr.runtime.steps import copy

from .. import driven, generated
from ..generated import DOUBLES, INTEGER, SINGLES, functions

Array = np.ndarray[Any, Any]
line = ssr.Space(*ssr.sizes("n"))
BEGIN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
ASK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.c_void_p
)


@ssr.program(x=line, s=ssr.scalar, options=ssr.Options(distributed=True))
def grow(x: Any, s: Any) -> Any:
    x[:] = s * x
    return ssr.sum(x)


def kernel() -> Kernel:
    return grow._launcher.kernel("float64")


def whole(x: Array) -> Run:
    """Return the step that runs the nest on all of an array."""
    return Run({0: np.array([[len(x), 0, len(x), 0]])})


class Entered:
    """A kernel on an array, with a row for each number it is multiplied with."""

    def __init__(self, x: Array, steps: list[Step], numbers: Any, run: Any = None) -> None:
        made = kernel()
        self.at = driven.start(len(numbers))
        self.results = np.zeros((len(numbers), 1))
        self.state = np.zeros((1, 32), np.int64)
        self._run = run or made.run
        self._given = driven.arguments(
            made.meta,
            [x],
            steps,
            self.at,
            buffers=[np.empty(8) for _ in made.meta.buffers],
            scalars=np.reshape(numbers, (-1, 1)),
            state=self.state,
            results=self.results,
        )

    def __call__(self) -> int:
        return int(self._run(*self._given))


def address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


COPIED = """
def copied(target, to, source, of, count):
    copy(target, to, source, of, count)
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_elements_are_copied_one_by_one_and_as_vectors(dtype: str) -> None:
    array = SINGLES if dtype == "float32" else DOUBLES
    types = [array, INTEGER, array, INTEGER, INTEGER]
    copied = generated.compiled(functions(COPIED, {"copy": copy})["copied"], types)
    source = np.arange(1, 200, dtype=dtype)
    for count in range(100):
        for to, of in (0, 0), (3, 8), (8, 5):
            target = np.zeros(120, dtype)
            copied(target, to, source, of, count)
            assert np.array_equal(target[to : to + count], source[of : of + count])
            assert not target[:to].any()
            assert not target[to + count :].any()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_run_for_each_row(compiled: bool) -> None:
    x = np.arange(1.0, 4.0)
    plain = grow._plain.kernel("float64").run
    run = Entered(x, [whole(x)], [2.0, 3.0, 0.5], None if compiled else plain)
    assert run() == FINISHED
    assert x.tolist() == [3.0, 6.0, 9.0]
    assert run.results.tolist() == [[12.0], [36.0], [18.0]]


@pytest.mark.parametrize("compiled", [True, False])
def test_steps_that_are_left_to_the_caller(compiled: bool) -> None:
    x = np.ones(3)
    plain = grow._plain.kernel("float64").run
    run = Entered(x, [whole(x), None, Run()], [2.0, 3.0], None if compiled else plain)
    for row in range(2):
        assert run() == LEFT
        assert (run.at[At.ROW], run.at[At.STEP]) == (row, 1)
        x += 1.0
        run.at[At.STEP] += 1
    assert run() == FINISHED
    assert x.tolist() == [10.0, 10.0, 10.0]
    assert run.results.tolist() == [[6.0], [27.0]]


def test_functions_are_called_by_their_addresses() -> None:
    x, things, notes = np.ones(2), np.zeros(1), np.zeros(1)
    calls: list[Any] = []

    @BEGIN
    def begin(count: int, given: Any) -> int:
        calls.append(("begin", count, given, x[0]))
        return 0

    @ASK
    def ask(count: int, given: Any, done: Any, noted: Any) -> int:
        calls.append(("ask", count, given, noted))
        done[0] = calls.count(calls[-1]) % 3 == 0
        return 0

    there, noted = things.ctypes.data, notes.ctypes.data
    steps: list[Step] = [
        whole(x),
        Function(address(begin), 7, there),
        Function(address(ask), 8, there, noted),
        whole(x),
    ]
    assert Entered(x, steps, [2.0, 3.0])() == FINISHED
    assert x[0] == 36.0
    asked = [("ask", 8, there, noted)] * 3
    assert calls == [("begin", 7, there, 2.0), *asked, ("begin", 7, there, 12.0), *asked]


@pytest.mark.parametrize("asked", [False, True])
def test_a_function_that_fails(asked: bool) -> None:
    x = np.ones(2)
    function: Callable[..., int] = (ASK if asked else BEGIN)(lambda *given: 17)
    steps: list[Step] = [whole(x), Function(address(function), 1, 0, 0 if asked else None)]
    run = Entered(x, steps, [2.0])
    assert run() == FAILED
    assert (run.at[At.STEP], run.at[At.CODE]) == (1, 17)


def test_a_function_that_is_never_done() -> None:
    x = np.ones(2)
    never = ASK(lambda *given: 0)
    run = Entered(x, [Function(address(never), 1, 0, 0), whole(x)], [2.0])
    start = time.perf_counter()
    assert run() == LATE
    assert 0.1 < time.perf_counter() - start < 10.0
    assert run.at[At.STEP] == 0
    run.at[At.STEP] += 1
    assert run() == FINISHED
    assert x[0] == 2.0


def test_many_rows_of_a_small_kernel_can_be_interrupted() -> None:
    """To the end they would run for a minute at two nanoseconds a step."""
    program = """if True:
        import _thread, signal, threading
        import numpy as np
        from tests.ssr.distributed.test_steps import Entered, whole
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in some shells
        x = np.ones(2)
        run = Entered(x, [whole(x)] * 30000, np.ones(10**6))
        threading.Timer(0.1, _thread.interrupt_main).start()
        try:
            run()
        except KeyboardInterrupt:
            print("interrupted")
    """
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.stdout == "interrupted\n", done.stderr
