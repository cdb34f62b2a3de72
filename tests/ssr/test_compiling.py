"""What is changed while something is compiled is as before afterwards."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest

from ssr.compiling import SOON, compiling


@pytest.fixture
def usual() -> Iterator[None]:
    """Set what Python has by default, and what was there before."""
    enabled, interval = gc.isenabled(), sys.getswitchinterval()
    gc.enable()
    sys.setswitchinterval(0.004)
    yield
    sys.setswitchinterval(interval)
    (gc.enable if enabled else gc.disable)()


def state() -> tuple[bool, float]:
    return gc.isenabled(), pytest.approx(sys.getswitchinterval())


def test_all_is_as_before_afterwards(usual: None) -> None:
    with compiling():
        assert state() == (False, SOON)
        with compiling():
            assert state() == (False, SOON)
        assert state() == (False, SOON)
    assert state() == (True, 0.004)
    with pytest.raises(ValueError, match="inside"), compiling():
        raise ValueError("inside")
    assert state() == (True, 0.004)


def test_what_was_off_stays_off(usual: None) -> None:
    gc.disable()
    with compiling():
        assert state() == (False, SOON)
    assert state() == (False, 0.004)


def test_threads_that_overlap_leave_what_was_before_both(usual: None) -> None:
    """The first one to begin need not be the last one to end."""
    first, second, end = threading.Event(), threading.Event(), threading.Event()

    def one() -> None:
        with compiling():
            first.set()
            assert second.wait(10)

    def other() -> None:
        assert first.wait(10)
        with compiling():
            second.set()
            assert end.wait(10)

    threads = [threading.Thread(target=run) for run in (one, other)]
    for thread in threads:
        thread.start()
    threads[0].join()
    assert state() == (False, SOON)
    end.set()
    threads[1].join()
    assert state() == (True, 0.004)


class Knot:
    """An object in a circle."""

    def __init__(self) -> None:
        self.self = self


def test_objects_are_old_afterwards_and_garbage_is_found_in_the_end(
    usual: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ssr.compiling._unsearched", 0)
    gc.collect()
    with compiling():
        knot = weakref.ref(Knot())
    gc.collect(1)
    assert knot() is not None, "only a search among the old ones finds it"
    with compiling():
        monkeypatch.setattr("ssr.compiling.MOST", 0)
        more = [[] for _ in range(3)]
    assert knot() is None
    assert len(more) == 3


def test_what_is_frozen_stays_so(usual: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssr.compiling._unsearched", 0)
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with compiling():
            more = [[] for _ in range(100)]
        assert gc.get_freeze_count() >= before - 50  # some of them may have ended
        assert len(more) == 100
    finally:
        gc.unfreeze()
