"""The timing harness on a clock that only the candidates move."""

import gc
import json
from pathlib import Path

import pytest

from benchmarks import timing


class Clock:
    """A clock and candidates that take known times on it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def candidate(self, name: str, *seconds: float) -> timing.Call:
        """Return a call that takes one time after the other, then the last for ever."""
        left = list(seconds)

        def call() -> None:
            self.calls.append(name)
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


def test_ratios_pair_the_samples_of_a_round() -> None:
    clock = Clock()
    ours = clock.candidate("ours", 1, 1, 1.0, 2.0, 30.0)
    others = {"fast": clock.candidate("fast", 1, 1, 1.0, 2.0, 4.0), "slow": clock.candidate("", 8)}
    result = timing.compare(ours, others, pairs=3, clock=clock)
    assert result.ours == timing.Timing("ours", (1.0, 2.0, 30.0))
    assert [ratio.samples for ratio in result.ratios] == [(1.0, 1.0, 7.5), (0.125, 0.25, 3.75)]
    assert (result.strongest.other, result.strongest.median) == ("fast", 1.0)
    assert result.strongest.quartiles == (1.0, 4.25)
    assert (result.ours.minimum, result.ours.median) == (1.0, 2.0)


def test_rounds_rotate_the_order() -> None:
    clock = Clock()
    timing.measure({name: clock.candidate(name, 1.0) for name in "abc"}, 3, clock=clock)
    assert "".join(clock.calls) == "aabbcc" + "abc" + "bca" + "cab"


def test_short_calls_are_repeated() -> None:
    clock = Clock()
    (result,) = timing.measure({"a": clock.candidate("a", 1e-4)}, 1, sample=2e-3, clock=clock)
    before, clock.calls = len(clock.calls), []
    assert before >= 20
    assert result.median == pytest.approx(1e-4)


def test_short_calls_find_in_the_caches_what_is_theirs() -> None:
    clock, last = Clock(), ""

    def candidate(name: str) -> timing.Call:
        def call() -> None:
            nonlocal last
            clock.now += 1e-3 if last == name else 5e-3  # the first call fills the caches
            last = name

        return call

    calls = {name: candidate(name) for name in "ab"}
    results = timing.measure(calls, 3, sample=4e-3, clock=clock)
    assert [result.median for result in results] == pytest.approx([1e-3, 1e-3])


def test_a_call_too_short_for_the_clock_ends() -> None:
    clock = Clock()
    coarse = 1.0 / 64
    (result,) = timing.measure(
        {"a": clock.candidate("a", 1e-4)}, 1, clock=lambda: clock.now // coarse * coarse
    )
    assert result.median > 0


def test_reset_runs_before_each_call_and_is_not_timed() -> None:
    clock = Clock()
    reset, call = clock.candidate("reset", 5.0), clock.candidate("call", 1.0)
    result = timing.compare(call, {"other": call}, pairs=2, reset=reset, clock=clock)
    assert result.ours.samples == (1.0, 1.0)
    assert clock.calls == ["reset", "call"] * (len(clock.calls) // 2)


def test_garbage_is_collected_again_afterwards() -> None:
    seen = []
    timing.measure({"a": lambda: seen.append(gc.isenabled())}, 1, sample=0.0)
    assert not any(seen)
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("others", "pairs", "message"),
    [({"ours": print}, 3, "The name 'ours' is taken."), ({}, 0, "There must be at least one")],
)
def test_bad_arguments(others: dict[str, timing.Call], pairs: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timing.compare(lambda: None, others, pairs)


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    others = {"Fortran": clock.candidate("", 2.0)}
    result = timing.compare(clock.candidate("", 1.0), others, pairs=1, clock=clock)
    timing.show("sweep", result, points=10**9)
    assert capsys.readouterr().out.splitlines() == [
        "sweep",
        "candidate    min ms  median ms  ns/point  ours/other      quartiles",
        "---------  --------  ---------  --------  ----------  -------------",
        "ours       1000.000   1000.000      1.00",
        "Fortran    2000.000   2000.000      2.00       0.500  0.500 - 0.500",
        "",
    ]


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    clock = Clock()
    result = timing.compare(clock.candidate("", 1.0), {"b": clock.candidate("", 2.0)}, clock=clock)
    timing.write_json(path, {"machine": timing.machine(), "result": result.json()})
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["result"]["ratios"][0]["median"] == 0.5
    with pytest.raises(TypeError):
        timing.write_json(path, {"bad": object()})  # type: ignore[dict-item]
    assert json.loads(path.read_text(encoding="utf-8")) == content
    assert [file.name for file in tmp_path.iterdir()] == ["bench.json"]


def test_the_machine_is_described() -> None:
    facts = timing.machine()
    assert facts["processor"]
    assert {"cores", "caches", "gfortran", "numpy", "numba"} <= facts.keys()
