"""What a program keeps of its calls: launches up to a number, and up to a number of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import OverlapError
from ssr.run import launcher
from ssr.run.launch import Launch
from ssr.run.launcher import make_room

n, m = ssr.sizes("n m")
line, plane = ssr.Space(n), ssr.Space(n, m)
A = ssr.stencil(line, line, {-1: 1.0, 0: -2.0, 1: 1.0}, outside="zero")


def empty(size: int) -> Launch:
    """Return a launch that keeps so many bytes."""
    layouts = np.empty(0, np.int64), np.empty(0, np.int64)
    return Launch(lambda *_: 0, 1, None, ((), ()), layouts, (), ((), ()), bytes=(0, size))


def kept(sizes: list[int]) -> list[int]:
    """Return the bytes of the launches that are kept of new ones, one after the other."""
    launches: dict[Any, Launch] = {}
    for number, size in enumerate(sizes):
        new = empty(size)
        make_room(launches, new)
        launches[number] = new
    return [launch.held for launch in launches.values()]


def test_all_but_the_largest_may_hold_some_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "KEPT", 100)
    assert kept([40] * 10) == [40] * 3  # one of them is the largest
    assert kept([10, 1000, 10]) == [10, 1000, 10]
    assert kept([1000, 10, 990, 20]) == [10, 990, 20]  # as many as the largest holds
    assert kept([64, 32, 16, 8, 4] * 3)[-5:] == [64, 32, 16, 8, 4]
    assert kept([1] * 300) == [1] * launcher.LAUNCHES


def test_memory_does_not_grow_with_the_shapes_that_are_used() -> None:
    @ssr.program(u=line, options=ssr.Options(fuse=False))
    def squared(u: Any) -> None:
        u[:] = A @ (A @ u)

    for count in range(40):
        squared(np.ones(500_000 + count))
    launches = squared._launcher.launches.values()
    kept = [memory for launch in launches for memory in launch.kept[0]]
    bytes_held = sum(x.nbytes for memory in kept for x in memory.middle)
    assert 0 < bytes_held < launcher.KEPT + 2 * 500_040 * 8
    u = np.ones(3)
    squared(u)
    np.testing.assert_array_equal(u, [2, -2, 2])


def test_the_layout_used_last_is_kept_longest() -> None:
    @ssr.program(u=line)
    def double(u: Any) -> None:
        u[:] = 2 * u

    double(np.ones(1))
    (first,) = double._launcher.launches.values()
    for count in range(2, 2 * launcher.LAUNCHES):
        double(np.ones(count))
        double(np.ones(1))
    assert any(first is launch for launch in double._launcher.launches.values())
    assert len(double._launcher.launches) == launcher.LAUNCHES


def test_arrays_between_each_other_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @ssr.program(u=plane.vector(2), v=plane)
    def add(u: Any, v: Any) -> None:
        u[0] = u[1] + v

    compared = []
    shares = np.shares_memory
    monkeypatch.setattr(np, "shares_memory", lambda a, b: compared.append(1) or shares(a, b))
    for _ in range(3):
        both = np.ones((2, 3, 8))
        add(both[:, :, :4], both[0, :, 4:])
        assert (both[0, :, :4] == 2).all()
        assert (both[0, :, 4:] == 1).all()
    assert len(compared) == 1  # u[0] with v; u[1] lies elsewhere
    both = np.ones((2, 3, 8))
    with pytest.raises(OverlapError, match=r"Array 'u\[0\]' is written and shares memory with 'v'"):
        add(both[:, :, :4], both[0, :, 3:7])
    assert (both == 1).all()


def test_threads_run_a_program_at_the_same_time_on_arrays_between_each_other() -> None:
    """Scratch memory of such calls is kept, too, and every call has its own."""
    from concurrent.futures import ThreadPoolExecutor

    @ssr.program(u=plane, v=plane, options=ssr.Options(fuse=False))
    def step(u: Any, v: Any) -> None:
        u[:] = ssr.sqrt(u * v) + v
        v[:] = u * u + v

    def run(_: int) -> bytes:
        both = np.full((50, 80), 4.0)
        step(both[:, :40], both[:, 40:])
        return both.tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(run, range(40)))) == 1
