"""Traces of calls on many ranks, and their replay on networks that are not there."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from benchmarks import performance_model
from benchmarks.performance_model import traces
from benchmarks.performance_model.loggp import replay
from benchmarks.performance_model.recorded import Event, Messages, Recorded
from benchmarks.performance_model.smpi import replayed, write
from boundary.parallel.ranks import transfers as moves
from boundary.parallel.worlds.traced import Traced
from ssr.errors import ArgumentError

from ..ssr import strategies as some

NETWORK = performance_model.LogGP(latency=1.5e-6, overhead=0.4e-6, gap=0.08e-9)

needs_simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None, reason="needs SimGrid's smpirun"
)

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
wide = plane.grow(1)
CROSS = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
closed = ssr.stencil(plane, wide, CROSS) @ bc.fill(wide, bc.periodic())


@ssr.program(u=plane, v=plane)
def diffuse(u: Any, v: Any) -> Any:
    v[:] = u + 0.1 * (closed @ u)
    u[:] = v + 0.1 * (closed @ v)
    return ssr.sum(u)


def make(on: Callable[[Any], Any]) -> Callable[[Any], Callable[[], object]]:
    def made(ranks: Any) -> Callable[[], object]:
        spread = on(ranks)
        run = diffuse.bind(spread.zeros(plane), spread.zeros(plane))
        return lambda: run()

    return made


# -- traces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [(3, 4), (1, 12)])
def test_a_trace_has_the_messages_of_the_schedule(cut: tuple[int, int]) -> None:
    def on(ranks: Any) -> Any:
        return bc.distribute(plane, ranks, cut=cut, ny=19, nx=26)

    found = performance_model.trace(make(on), 12, calls=2)
    assert [e.what for e in found.events] == ["begin", "await", "begin", "await", "reduce"]
    spread = on(bc.simulated_ranks(12))
    bound = diffuse.bind(spread.zeros(plane), spread.zeros(plane))
    every = [m.merged() for m in found.messages]
    for rank in range(12):
        assert bound.schedule.bytes(rank) == sum(m.bytes[m.targets == rank].sum() for m in every)
        assert bound.schedule.messages(rank) == sum((m.sources == rank).sum() for m in every)
    assert (found.work >= 0).all()
    assert found.work.shape == (found.shapes.max() + 1, 6)


def test_ranks_of_one_shape_are_run_once() -> None:
    ran = []

    def on(ranks: Any) -> Any:
        ran.append(ranks.here)
        return bc.distribute(plane, ranks, cut=(4, 4), ny=20, nx=20)

    found = performance_model.trace(make(on), 16, calls=1)
    assert len(ran) == 9  # corners, sides, and the boxes in the middle
    assert np.array_equal(found.shapes.reshape(4, 4)[1, 1:3], found.shapes.reshape(4, 4)[2, 1:3])


def test_ranks_of_one_shape_wait_for_the_same() -> None:
    """Boxes of a solve work one behind the other, those with equal boxes too."""
    A = ssr.stencil(plane, plane, CROSS, outside="zero")

    @ssr.program(x=plane)
    def sweep(x: Any) -> None:
        x[:] = A.tril().solve(1.0 - A.triu(1) @ x)

    def made(ranks: Any) -> Callable[[], object]:
        return sweep.bind(bc.distribute(plane, ranks, cut=(6, 1), ny=48, nx=64).zeros(plane))

    found = performance_model.trace(made, 6, calls=2)
    assert found.shapes.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.replay(NETWORK).seconds > found.work.sum(axis=1).max()


def test_calls_take_turns_with_what_they_are_compared_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is as slow for both from some time on changes nothing but the seconds."""
    calls: list[str] = []
    pace = {"now": 1.0}

    def made(ranks: Any) -> Callable[[], object]:
        run = make(lambda r: bc.distribute(plane, r, cut=(2, 2), ny=16, nx=16))(ranks)
        return lambda: (calls.append("call"), run())

    def beside() -> None:
        calls.append("beside")
        pace["now"] *= 2.0

    def record(rank: Traced, call: Callable[[], object]) -> tuple[Any, Any]:
        events, seconds = measured(rank, call)
        return events, np.full_like(seconds, pace["now"])

    measured = Traced.record
    monkeypatch.setattr(traces, "_switches", lambda: 0)
    monkeypatch.setattr(traces, "_again", lambda call: (call(), pace["now"])[1])
    monkeypatch.setattr(Traced, "record", record)
    found = performance_model.trace(made, 4, calls=3, beside=beside)
    assert calls == 4 * ["call", "call", *3 * ["beside", "call", "call"]]
    assert found.beside == np.median([2.0**n for n in range(1, 13)])
    assert (found.work == found.beside).all()


def test_ranks_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls in all placements count."""
    made: list[Any] = []

    def again(ranks: Any) -> Callable[[], object]:
        made.append(ranks)
        return make(lambda r: bc.distribute(plane, r, cut=(2, 2), ny=16, nx=16))(ranks)

    def record(rank: Traced, call: Callable[[], object]) -> tuple[Any, Any]:
        events, seconds = measured(rank, call)
        return events, np.full_like(seconds, 1 / len(made))

    measured = Traced.record
    monkeypatch.setattr(Traced, "record", record)
    found = performance_model.trace(again, 4, calls=2, placements=3)
    assert [world.here for world in made] == [(rank,) for rank in range(4) for _ in range(3)]
    assert len({id(world) for world in made}) == 12
    assert (found.work[:, 0] == [1 / 3, 1 / 6, 1 / 9, 1 / 12]).all()  # the fastest one


def test_values_of_others_are_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rank that is run alone computes numbers, whatever memory has held before."""

    def filled(shape: tuple[int, ...], dtype: Any) -> Any:
        return np.full(shape, np.nan, dtype)

    monkeypatch.setattr(moves, "aligned", filled)
    found: list[Any] = []

    def made(ranks: Any) -> Callable[[], object]:
        spread = bc.distribute(plane, ranks, ny=16, nx=16)
        u, v = spread.zeros(plane), spread.zeros(plane)
        u.fill(lambda j, i: 1.0 + j + i)
        run = diffuse.bind(u, v)
        return lambda: found.append(run())

    performance_model.trace(made, 4, calls=2)
    assert found
    assert np.isfinite(found).all()


def test_what_cannot_be_traced() -> None:
    def gathers(ranks: Any) -> Callable[[], object]:
        field = bc.distribute(plane, ranks, ny=4, nx=4).zeros(plane)
        return field.gather

    def changes(ranks: Any) -> Callable[[], object]:
        runs = make(lambda r: bc.distribute(plane, r, ny=4, nx=4))(ranks)
        turns: Iterator[int] = iter(range(100))
        return lambda: [runs() for _ in range(1 + next(turns) // 3)]

    with pytest.raises(ArgumentError, match="gathering"):
        performance_model.trace(gathers, 2)
    with pytest.raises(ValueError, match="from call to call"):
        performance_model.trace(changes, 2)
    with pytest.raises(ValueError, match="not positive"):
        performance_model.LogGP(latency=-1.0, overhead=0.0, gap=0.0)


# -- replay --------------------------------------------------------------------------------------


@st.composite
def recorded(draw: st.DrawFn) -> Recorded:
    """Draw what ranks do: exchanges that are begun and awaited in any order, and reductions."""
    ranks, exchanges = draw(st.integers(1, 5)), draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    messages = []
    for _ in range(exchanges):
        rows = [
            (source, target, int(rng.integers(1, 20000)))
            for source in range(ranks)
            for target in range(ranks)
            for _ in range(int(rng.integers(0, 3)))
            if source != target
        ]
        messages.append(Messages(*np.array(rows, np.int64).reshape(-1, 3).T))
    begun: set[int] = set()
    events = []
    for number in rng.permutation(np.repeat(np.arange(exchanges), 2)).tolist():
        events.append(Event("await" if number in begun else "begin", number))
        begun.add(number)
    if draw(st.booleans()):
        events.insert(int(rng.integers(len(events) + 1)), Event("reduce", 16))
    shapes = rng.integers(0, 2, ranks)
    work = rng.choice([0.0, 1e-6, 5e-6], (2, len(events) + 1))
    return Recorded(ranks, shapes, tuple(events), work, tuple(messages))


def slowly(trace: Recorded, network: performance_model.LogGP, blocking: bool, calls: int) -> float:
    """Return the seconds of the last call, rank by rank and message by message."""
    now, free, before = [0.0] * trace.ranks, [0.0] * trace.ranks, 0.0
    arrived: dict[int, dict[int, list[float]]] = {}

    def send(number: int) -> None:
        merged: dict[tuple[int, int], int] = defaultdict(int)
        of = trace.messages[number]
        for source, target, count in zip(of.sources, of.targets, of.bytes, strict=True):
            merged[int(source), int(target)] += int(count)
        arrived[number] = defaultdict(list)
        for (source, target), count in sorted(merged.items()):
            now[source] += network.overhead
            free[source] = max(now[source], free[source]) + count * network.gap
            arrived[number][target].append(free[source] + network.latency)

    for _ in range(calls):
        before = max(now)
        for number, event in enumerate((*trace.events, None)):
            for rank in range(trace.ranks):
                now[rank] += trace.work[trace.shapes[rank], number]
            if event is None:
                continue
            if event.what == "reduce":
                alone = 2 * network.overhead + network.latency + event.number * network.gap
                now = [max(now) + ceil(log2(trace.ranks)) * alone] * trace.ranks
            elif event.what == "begin" and not blocking:
                send(event.number)
            elif event.what == "await":
                if blocking:
                    send(event.number)
                for rank in range(trace.ranks):
                    for time in sorted(arrived[event.number][rank]):
                        now[rank] = max(now[rank], time) + network.overhead
    return max(now) - before


@some.examples(150)
@given(recorded(), st.booleans(), st.integers(1, 3))
def test_replays_equal_a_slow_one(trace: Recorded, blocking: bool, calls: int) -> None:
    found = replay(trace, NETWORK, blocking=blocking, calls=calls)
    assert found.seconds == pytest.approx(slowly(trace, NETWORK, blocking, calls), rel=1e-9)
    apart = replay(trace, NETWORK, merged=False)
    assert apart.messages >= replay(trace, NETWORK).messages
    assert apart.bytes == replay(trace, NETWORK).bytes


def test_what_is_hidden_behind_work() -> None:
    """Two ranks exchange 8000 bytes, and work for ten microseconds meanwhile."""
    both = Messages(np.array([0, 1]), np.array([1, 0]), np.array([8000, 8000]))
    events = Event("begin", 0), Event("await", 0)
    work = np.array([[2e-6, 10e-6, 3e-6]])
    trace = Recorded(2, np.zeros(2, int), events, work, (both,))
    hidden, shown = replay(trace, NETWORK), replay(trace, NETWORK, blocking=True)
    assert hidden.exposed == pytest.approx(2 * NETWORK.overhead)
    assert shown.exposed == pytest.approx(NETWORK.alone(8000))
    assert (hidden.messages, hidden.bytes) == (1, 8000)


def reducing(ranks: int, samples: tuple[Any, ...]) -> performance_model.Trace:
    """Return what ranks do that compute and then reduce 8 bytes."""
    work = np.array([calls[0] for calls in samples])
    shapes = np.arange(ranks) % len(samples)
    return performance_model.Trace(ranks, shapes, (Event("reduce", 8),), work, (), samples)


def test_a_sampled_call_waits_for_the_slowest_rank() -> None:
    """One of 200 ranks takes the slower one of two calls, but for a chance of 2^-100."""
    calls = np.array([[1e-6, 0.0], [7e-6, 0.0]])
    trace = reducing(200, (calls, calls[:1]))
    reduction = NETWORK.reduction(200, 8)
    assert trace.replay(NETWORK).seconds == pytest.approx(1e-6 + reduction)
    for seed in range(5):
        found = trace.replay(NETWORK, sample=seed)
        assert found.seconds == pytest.approx(7e-6 + reduction)
        assert found.work == pytest.approx(7e-6)


def test_a_seed_gives_the_same_draw() -> None:
    calls = np.random.default_rng(1).random((50, 2))
    trace = reducing(3, (calls,))
    times = [trace.replay(NETWORK, sample=seed).seconds for seed in (0, 0, 1, 2, 3)]
    assert times[0] == times[1]
    assert len(set(times)) == 4
    whole = {*calls.sum(axis=1)}
    assert whole >= {*trace.drawn(np.random.default_rng(1)).sum(axis=1)}, "calls are drawn whole"


@some.examples(20)
@given(recorded())
def test_one_sample_is_no_choice(trace: Recorded) -> None:
    assert replay(trace, NETWORK, sample=1) == replay(trace, NETWORK)


def test_samples_are_the_calls_that_are_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter of the operating system is read before and after each of four calls."""
    counts = iter([0, 0, 0, 1, 1, 1, 1, 1])
    monkeypatch.setattr(traces, "_switches", lambda: next(counts))
    on = performance_model.trace(
        make(lambda r: bc.distribute(plane, r, cut=(1, 1), ny=16, nx=16)), 1, calls=4
    )
    (samples,) = on.samples
    assert samples.shape == (3, len(on.events) + 1)


# -- SMPI ----------------------------------------------------------------------------------------


@some.examples(20)
@given(recorded())
def test_actions_pair_up(tmp_path_factory: pytest.TempPathFactory, trace: Recorded) -> None:
    place = tmp_path_factory.mktemp("smpi")
    write(trace, place, NETWORK, calls=1)
    names = (place / "traces.txt").read_text().split()
    assert len(names) == trace.ranks
    sent, received, opened, awaited = [], [], [], []
    for rank, name in enumerate(names):
        for line in (place / name).read_text().splitlines():
            who, what, *rest = line.split()
            assert int(who) == rank
            if what in ("isend", "irecv"):
                peer, tag, count, _ = map(int, rest)
                pair = (rank, peer) if what == "isend" else (peer, rank)
                (sent if what == "isend" else received).append((*pair, tag, count))
                opened.append((rank, *pair, tag))
            elif what == "wait":
                awaited.append((rank, *map(int, rest)))
    assert sorted(sent) == sorted(received)
    assert sorted(opened) == sorted(awaited)


def exchanging(ranks: int, count: int) -> performance_model.Trace:
    """Return what ranks do that work for 10 us and send some bytes half way round a ring."""
    source = np.arange(ranks)
    messages = Messages(source, (source + ranks // 2) % ranks, np.full(ranks, count))
    events, work = (Event("begin", 0), Event("await", 0)), np.array([[10e-6, 0.0, 0.0]])
    return performance_model.Trace(ranks, 0 * source, events, work, (messages,))


def test_ranks_share_the_nodes_of_a_fat_tree(tmp_path: Path) -> None:
    exchanging(100, 8).to_smpi(tmp_path, NETWORK, ranks_per_node=5)
    hosts = (tmp_path / "hosts.txt").read_text().split()
    assert hosts == [f"node-{rank // 5}" for rank in range(100)]
    platform = (tmp_path / "platform.xml").read_text()
    assert 'topo_parameters="2;16,2;1,8;1,1"' in platform  # two leaf switches for 20 nodes
    assert 'radical="0-31"' in platform


@needs_simgrid
def test_messages_share_the_links_of_a_fat_tree(tmp_path: Path) -> None:
    """Of 4 ranks on 2 nodes each sends 100 kB to the other node; 2 of them share a link."""
    trace, network = exchanging(4, 100_000), performance_model.LogGP(1e-6, 0.0, 1e-9)
    apart = replayed(trace.to_smpi(tmp_path / "apart", network)) / 10
    shared = replayed(trace.to_smpi(tmp_path / "tree", network, ranks_per_node=2)) / 10
    assert apart == pytest.approx(10e-6 + 100e-6 + 1e-6, rel=0.03)
    assert shared == pytest.approx(10e-6 + 200e-6 + 1e-6, rel=0.03)


@needs_simgrid
def test_smpi_agrees_with_loggp(tmp_path: Path) -> None:
    found = performance_model.trace(
        make(lambda r: bc.distribute(plane, r, cut=(4, 6), ny=64, nx=96)), 24, calls=3
    )
    work = np.full_like(found.work, 10e-6)
    fixed = performance_model.Trace(
        found.ranks, found.shapes, found.events[:-1], work[:, 1:], found.messages
    )
    seconds = replayed(fixed.to_smpi(tmp_path, NETWORK, calls=20)) / 20
    assert seconds == pytest.approx(fixed.replay(NETWORK).seconds, rel=0.02)
