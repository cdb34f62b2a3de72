"""Reductions over ranks by compiled code have the bits of those by Python."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
from boundary.parallel.worlds.channels import BEGINNING, CompiledChannel, ask, begin
from boundary.parallel.worlds.reductions import Reduction, is_pending
from ssr.extension import Function
from ssr.runtime import sums

from ...ssr import strategies as some
from ...ssr.programs.test_reductions import FLOATS

KINDS = st.lists(st.sampled_from(["sum", "max", "min"]), min_size=1, max_size=4)


def state_of(kinds: Sequence[str], terms: Sequence[float]) -> Any:
    """Return the states of reductions of some terms, as kernels leave them."""
    states = np.zeros((len(kinds), sums.STATE), np.int64)
    if not terms:
        return states
    for row, kind in enumerate(kinds):
        with np.errstate(all="ignore"):
            if kind == "sum":
                sums.add(states[row], list(terms))
            else:
                sums.extreme(
                    states, row, 1 if kind == "max" else -1, np.array(terms), 0, len(terms)
                )
    return states


@some.examples(150)
@given(KINDS, st.lists(st.lists(FLOATS, max_size=6), min_size=1, max_size=4))
def test_states_of_all_parts(kinds: list[str], parts: list[list[float]]) -> None:
    states = [state_of(kinds, terms) for terms in parts]
    whole = sums.combined(kinds, *sums.shares(kinds, states))
    ranks = [Reduction(kinds, state) for state in states]
    channel = CompiledChannel({n: rank.functions for n, rank in enumerate(ranks)}, ranks)
    channel.start()
    for which, combine in enumerate((np.add, np.maximum)):
        every = [rank.halves(rank.given)[which] for rank in ranks]
        for rank in ranks:
            rank.halves(rank.found)[which][:] = combine.reduce(every)
    assert channel.is_done()
    assert all(np.array_equal(state, whole) for state in states)


@some.examples(60)
@given(KINDS, st.lists(st.lists(FLOATS, max_size=6), min_size=2, max_size=5), st.integers(1, 4))
def test_threads(kinds: list[str], parts: list[list[float]], turns: int) -> None:
    """Ranks begin in any order, and again as soon as they have what they asked for."""
    states = [state_of(kinds, terms) for terms in parts]
    channel = bc.threads(len(parts)).reduction(kinds, states, "a test")
    for _ in range(turns):
        whole = sums.combined(kinds, *sums.shares(kinds, states))
        channel.start()
        channel.wait()
        for state, terms in zip(states, parts, strict=True):
            assert np.array_equal(state, whole)
            state[...] = state_of(kinds, terms)


def test_threads_at_the_same_time() -> None:
    """A thread that is ahead by one reduction leaves what others have not seen yet."""
    count, turns = 3, 400
    states = [np.zeros((1, sums.STATE), np.int64) for _ in range(count)]
    channel: Any = bc.threads(count).reduction(["sum"], states, "a test")
    found: list[list[float]] = [[] for _ in range(count)]

    def work(rank: int) -> None:
        for turn in range(turns):
            states[rank][...] = state_of(["sum"], [float(turn * (rank + 1))])
            begin(channel.starting(rank))
            while not ask(channel.waiting(rank))[0]:
                time.sleep(0)
            found[rank].append(sums.total(states[rank], 0))

    every = [threading.Thread(target=work, args=(rank,)) for rank in range(count)]
    for each in every:
        each.start()
    for each in every:
        each.join()
    assert found == [[6.0 * turn for turn in range(turns)]] * count


def test_what_carries_integers_is_called() -> None:
    """It begins once and is asked until it is done; an error of its own is ours."""
    told: list[Any] = []
    answers = [(0, 0), (0, 0), (0, 1)]

    def begin(count: int, things: int) -> int:
        told.append(("begin", count, things))
        return 0

    def ask(count: int, things: int, done: Any, notes: int) -> int:
        told.append(("ask", count, things, notes))
        code, done[0] = answers.pop(0)
        return code

    beginning = BEGINNING(begin)
    asking = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int), ctypes.c_void_p
    )(ask)
    state = state_of(["sum"], [1.5, -0.25])
    reduction = Reduction(["sum"], state)
    channel = CompiledChannel(
        {0: reduction.functions}, reduction, lambda code: RuntimeError(f"code {code}")
    )
    address = [ctypes.cast(each, ctypes.c_void_p).value or 0 for each in (beginning, asking)]
    reduction.carried(Function(address[0], 3, 64), Function(address[1], 5, 128, notes=256))
    assert not is_pending(reduction.head)
    channel.start()
    reduction.found[:] = reduction.given
    assert is_pending(reduction.head)
    channel.wait()
    assert not is_pending(reduction.head)
    assert told == [("begin", 3, 64), *[("ask", 5, 128, 256)] * 3]
    assert sums.total(state, 0) == 1.25
    answers.append((7, 0))
    with pytest.raises(RuntimeError, match="code 7"):
        channel.is_done()


def test_functions_are_those_of_kernels() -> None:
    """A kernel starts and waits by addresses and integers only."""
    state = state_of(["max"], [2.0])
    reduction = Reduction(["max"], state)
    starting, waiting = reduction.functions
    gc.collect()
    assert begin(starting) == 0
    reduction.found[:] = reduction.given
    assert ask(waiting) == (True, 0)
    assert sums.found(state, 0) == 2.0
