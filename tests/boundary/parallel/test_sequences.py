"""Bound programs that run one after the other as one, on arrays and on ranks."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from boundary.parallel.programs.bound import ProgramSequence
from ssr.errors import ArgumentError, ShapeError

from . import repeated
from .ranks import plain_kernels
from .repeated import diffuse, plane, scaled, smooth


@pytest.fixture(scope="module")
def alone() -> list[str]:
    return repeated.lines(None, together=False)


@pytest.mark.parametrize("count", [2, 3])
def test_threads_have_the_bits_of_calls(count: int, alone: list[str]) -> None:
    assert repeated.lines(bc.threads(count), together=True) == alone


def test_kernels_in_plain_python(alone: list[str]) -> None:
    with plain_kernels():
        found = repeated.in_sequence(
            bc.distribute(plane, bc.simulated_ranks(2), ny=19, nx=26), together=True
        )
    assert found == alone[-len(found) :]


def test_the_debug_build_runs_them_one_by_one() -> None:
    options = ssr.Options(debug=True)
    on = bc.distribute(plane, bc.simulated_ranks(2), ny=6, nx=7)
    u = on.zeros(plane)
    run = ssr.sequence(smooth.with_options(options).bind(u), smooth.bind(u))
    assert run() == (0.0, 0.0)
    u.set(np.nan)
    with pytest.raises(ssr.errors.Error, match="nan"):
        run()


def test_on_ranks_it_is_one_call() -> None:
    """A rank that is traced leaves its kernels at the end only, behind all reductions."""
    ranks = bc.traced_rank(4, 1)
    on = bc.distribute(plane, ranks, ny=12, nx=12)
    u, v, c = (on.zeros(plane) for _ in range(3))
    run = ssr.sequence(scaled.bind(u, c, 0.1, 0.2), smooth.bind(v), scaled.bind(v, c, 0.1))
    chain = run._run
    assert isinstance(chain, ProgramSequence)
    run(0.5)
    (work,) = chain._works
    left: list[int] = []
    go_on = work.go_on
    work.go_on = lambda: left.append(0) or go_on()  # type: ignore[method-assign, func-returns-value]
    run(0.25)
    assert len(left) == 1


def test_programs_of_several_spreads(alone: list[str]) -> None:
    """Programs of other ranks, or of arrays, do not join; they run one by one."""
    on = bc.distribute(plane, bc.simulated_ranks(2), ny=6, nx=7)
    beside = bc.distribute(plane, bc.simulated_ranks(3), ny=6, nx=7)
    u, v, w = on.zeros(plane), beside.zeros(plane), np.ones((6, 7))
    for field in u, v:
        field.set(1.0)
    run = ssr.sequence(smooth.bind(u), smooth.bind(v), smooth.bind(w))
    assert len(set(run())) == 1
    assert np.array_equal(u.gather(), w)
    assert np.array_equal(v.gather(), w)


def test_a_failure_on_the_way_is_not_taken_for_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that programs would have been given is taken for granted afterwards."""
    on = bc.distribute(plane, bc.simulated_ranks(3), ny=9, nx=8)
    results = []
    for fails in False, True:
        u, c = on.zeros(plane), on.zeros(plane)
        c.fill(lambda j, i: 1.0 * i + j * j)
        run = ssr.sequence(diffuse.bind(u, c, 0.1, 0.2), smooth.bind(u))
        if fails:
            with monkeypatch.context() as patch:
                patch.setattr(ProgramSequence, "_go", lambda *_: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    run()
        run()
        results.append(u.gather())
    assert np.array_equal(*results)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="There are no alarms.")
@pytest.mark.filterwarnings("ignore:The order of reads and writes of slow is proved")
@pytest.mark.parametrize("ranks", [bc.simulated_ranks(1), bc.threads(2)], ids=str)
def test_signals_end_a_sequence(ranks: Any) -> None:
    """What a handler raises on the way, in any of the programs, is what the call raises."""

    @ssr.program(u=plane)
    def slow(u: Any) -> None:
        for _ in range(4):
            u[:] = ssr.exp(-u * u) + ssr.sin(u)

    u = bc.distribute(plane, ranks, ny=1500, nx=1500).zeros(plane)
    run = ssr.sequence(*(slow.bind(u) for _ in range(12)))
    known = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
        with pytest.raises(KeyboardInterrupt):
            [run() for _ in range(1000)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, known)
    run()


def test_mistakes() -> None:
    u, c = np.zeros((4, 5)), np.zeros((4, 5))
    with pytest.raises(ArgumentError, match="sequence needs at least one program"):
        ssr.sequence()
    with pytest.raises(ArgumentError, match="is not a bound program"):
        ssr.sequence(smooth)
    with pytest.raises(ArgumentError, match="is not a bound program"):
        ssr.sequence(smooth.bind(u), lambda: None)
    bound = smooth.bind(u)
    with pytest.raises(ArgumentError, match="comes twice"):
        ssr.sequence(bound, bound)
    run = ssr.sequence(diffuse.bind(u, c), bound)
    with pytest.raises(ArgumentError, match="takes 2 numbers, not 1"):
        run(0.5)
    u[:] = 1.0
    with pytest.raises(ArgumentError, match="Scalar 'a' is str"):
        ssr.sequence(bound, diffuse.bind(u, c))(0.5, "x")
    assert (u == 1.0).all()  # nothing has run
    assert repr(run) == "<2 bound programs, one after the other>"
    u.shape = 5, 4
    with pytest.raises(ShapeError):
        run(0.5, 0.5)


def test_mistakes_on_ranks() -> None:
    on = bc.distribute(plane, bc.simulated_ranks(2), ny=6, nx=7)
    u, c = on.zeros(plane), on.zeros(plane)
    run = ssr.sequence(smooth.bind(u), diffuse.bind(u, c))
    with pytest.raises(ArgumentError, match="takes 2 numbers, not 0"):
        run()
    with pytest.raises(ArgumentError, match="Scalar 'a' is str"):
        run(0.5, "x")
    assert run(0.5, 0.25) == (0.0, None)
