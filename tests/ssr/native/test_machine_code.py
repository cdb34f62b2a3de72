"""Machine code that threads make, and kernels that are begun before they are needed."""

from __future__ import annotations

import gc
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import ir as llvm

import boundary as bc
import ssr
from ssr.compiler import cache, kernel
from ssr.native import machine_code
from ssr.programs.program import begin
from ssr.runtime.futures import Later
from tests.ssr.generated import INTEGER, compiled, functions, optimised

cells = ssr.Space(*ssr.sizes("ny nx"))
A = ssr.stencil(cells, cells, {(0, 0): 4, (0, 1): -1, (1, 0): -1}, outside="zero")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a cache directory for one test, which begins without kernels under work."""
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel, "_BEGUN", {})
    return tmp_path / "cache"


def declared(factor: float) -> ssr.Program:
    """Return a program with a sum, so that it calls a function that kernels share."""

    @ssr.program(x=cells, y=cells)
    def step(x: Any, y: Any) -> Any:
        y[:] = factor * (A @ x)
        return ssr.sum(y)

    return step


def check(program: ssr.Program, factor: float) -> None:
    """Check what a program computes."""
    x = np.arange(30.0).reshape(5, 6)
    y = np.empty_like(x)
    found = program(x, y)
    assert np.array_equal(y.ravel(), factor * (A.bind(ny=5, nx=6).to_scipy() @ x.ravel()))
    assert found == y.sum()


def locks(folder: Path) -> list[str]:
    return [file.name for file in folder.glob("*.lock")]


def test_results_come_in_order_and_errors_where_they_are_asked_for() -> None:
    seen: list[int] = []
    done = threading.Event()
    threads = [Later(lambda n=n: seen.append(n) or threading.get_ident()) for n in range(5)]
    last = Later(done.set)
    assert done.wait(10)
    last.result()
    assert seen == [0, 1, 2, 3, 4]
    assert threading.get_ident() not in {each.result() for each in threads}


def test_an_error_is_raised_for_each_who_asks() -> None:
    def fails() -> None:
        raise ValueError("of the thread")

    failed = Later(fails)
    for _ in range(2):
        with pytest.raises(ValueError, match="of the thread"):
            failed.result()


def test_who_wants_a_result_before_a_thread_has_begun_calls_the_function() -> None:
    """It is called once, however many want it; an interruption leaves it to a thread."""
    go, called = threading.Event(), list[int]()
    busy = Later(go.wait)

    def function() -> int:
        called.append(threading.get_ident())
        return len(called)

    wanted, left = Later(function), Later(function)
    assert wanted.result() == 1
    assert called == [threading.get_ident()]
    go.set()
    with ThreadPoolExecutor(8) as many:
        assert set(many.map(lambda _: left.result(), range(8))) == {2}
    assert wanted.result() == 1
    assert len(called) == 2
    assert busy.result()


def test_an_interruption_leaves_the_function_to_a_thread() -> None:
    go, called = threading.Event(), list[int]()
    busy = Later(go.wait)

    def function() -> str:
        called.append(threading.get_ident())
        if len(called) == 1:
            raise KeyboardInterrupt
        return "done"

    wanted = Later(function)
    with pytest.raises(KeyboardInterrupt):
        wanted.result()
    go.set()
    assert busy.result()
    assert wanted.result() == "done"
    assert len(called) == 2


def test_a_kernel_that_was_begun(folder: Path) -> None:
    """When it has been built it is in the cache, and nothing is locked or made twice."""
    programs = [declared(2.0), declared(4.0)]
    for program in programs:
        begin(program, "float64")
        begin(program, "float64")
    assert len(kernel._BEGUN) == 2
    for program, factor in zip(programs, (2.0, 4.0), strict=True):
        check(program, factor)
        assert not program.kernel().from_cache
    assert not kernel._BEGUN
    assert locks(folder) == []
    assert cache.size()[0] == 2
    check(declared(2.0), 2.0)
    assert declared(2.0).kernel().from_cache
    begin(declared(2.0), "float64")
    assert not kernel._BEGUN


def test_a_kernel_that_was_begun_for_another_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = declared(3.0)
    begin(program, "float64")
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path / "other"))
    check(program, 3.0)
    assert program.kernel().from_cache is False
    ((_, begun),) = kernel._BEGUN.items()
    assert begun.source == program.kernel().source
    assert begun.run is not None
    kernel._BEGUN.clear()


def test_an_error_of_the_translation_holds_no_lock(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = declared(5.0)

    def fails(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "_translated", fails)
        with pytest.raises(KeyboardInterrupt):
            begin(program, "float64")
    assert locks(folder) == []
    assert not kernel._BEGUN
    check(program, 5.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Processes do not fork here.")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_forks_waits_for_its_threads() -> None:
    """They would stay behind; the child has what they were at, and threads of its own."""
    program = declared(7.0)
    begin(program, "float64")
    process = os.fork()
    if process == 0:
        try:
            check(program, 7.0)
            check(declared(8.0), 8.0)
        except BaseException as problem:
            print(repr(problem), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0
    check(program, 7.0)


def test_solvers_begin_with_all_their_programs() -> None:
    """An iteration finds its kernels made, or under work."""
    n = ssr.size("n")
    line = ssr.Space(n)
    D = ssr.stencil(line, line, {-1: -1.0, 0: 2.5, 1: -1.0}, outside="zero")
    asked: list[str] = []
    usual = kernel._begun

    def noted(name: str, *given: Any) -> Any:
        asked.append(threading.current_thread().name)
        return usual(name, *given)

    b = np.random.default_rng(1).standard_normal(50)
    for solve in (
        lambda: ssr.solvers.CG(D, M=ssr.solvers.ILU()),
        lambda: ssr.solvers.CG(D),
        lambda: ssr.solvers.BiCGStab(D, M=lambda z, r: np.copyto(z, r)),
        lambda: ssr.solvers.GMRES(D, M=ssr.solvers.ILU()),
        lambda: ssr.solvers.Chebyshev(D, (0.5, 4.5)),
        lambda: ssr.solvers.Richardson(D, M=ssr.solvers.ILU()),
    ):
        asked.clear()
        solver = solve()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernel, "_begun", noted)
            solver._begin(b)
            begun = len(asked)
            found = solver(b, rtol=1e-6)
        assert found.info == 0
        assert begun >= 1
        assert len(asked) == begun, "all that an iteration calls was begun before it"
        assert not kernel._BEGUN, "and nothing else"


@pytest.mark.parametrize("spread", [False, True])
def test_bound_programs_are_waited_for_when_they_are_called(
    spread: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Any] = []
    usual = kernel._Shared.load

    def noted(*given: Any) -> Any:
        loaded.append(given)
        return usual(*given)

    monkeypatch.setattr(kernel._Shared, "load", noted)
    program = declared(9.0)
    x, y = np.ones((5, 6)), np.empty((5, 6))
    if spread:
        on = bc.distribute(cells, bc.simulated_ranks(2), ny=5, nx=6)
        fields = on.zeros(cells), on.zeros(cells)
        fields[0].set(x)
        bound = program.bind(*fields)
    else:
        bound = program.bind(x, y)
    assert not loaded
    for _ in range(2):
        assert bound() == 9.0 * (A.bind(ny=5, nx=6).to_scipy() @ x.ravel()).sum()
    assert len(loaded) == 1


def test_machine_code_in_cyclic_garbage_is_freed() -> None:
    """An exception or a caller may be part of a cycle with a kernel."""
    for _ in range(20):
        run = compiled(functions("def f(a):\n    return a + 1\n", {})["f"], [INTEGER])
        assert run(3) == 4
        engine = vars(run)["loaded"].engine
        cycle: list[Any] = [run]
        cycle.append(cycle)
        del run, cycle
        gc.collect()
        assert engine.closed


def test_a_module_that_llvm_refuses() -> None:
    kind = llvm.FunctionType(llvm.IntType(64), [])
    for _ in range(5):
        module = llvm.Module("test")
        llvm.Function(module, kind, "f").append_basic_block("entry")
        with pytest.raises(RuntimeError) as caught:
            machine_code.begin(module)()
        assert caught.value is not None
        del caught
        gc.collect()


def test_a_function_in_the_language_of_llvm() -> None:
    scope = functions("def f(a):\n    return a + 1\n", {})
    text = optimised(scope["f"], [INTEGER])
    assert "add nsw i64" in text
