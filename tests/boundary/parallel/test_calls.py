"""Calls of a bound program follow all that happens to its fields between them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError

from . import ranks

n = ssr.size("n")
cells = ssr.Space(n)
near = ssr.stencil(cells, cells, {-1: 1, 1: 2}, outside="zero")
far = ssr.stencil(cells, cells, {-3: 1, 2: 1}, outside="zero")


@ssr.program(u=cells, a=cells, c=cells, dt=ssr.scalar, shift=ssr.scalar)
def step(u: Any, a: Any, c: Any, dt: Any, shift: Any) -> Any:
    u[:] = c * u + dt * (near @ a) + shift
    return ssr.sum(u), ssr.max(u)


@ssr.program(a=cells, u=cells)
def spread(a: Any, u: Any) -> None:
    a[:] = 0.5 * (far @ u)


@ssr.program(u=cells, c=cells)
def wider(u: Any, c: Any) -> None:
    """Take more room in both fields than other programs."""
    u[:] = u + 0.25 * (far @ (far @ c))


@pytest.fixture(autouse=True)
def plain_kernels() -> Any:
    with ranks.plain_kernels():
        yield


@pytest.mark.parametrize("seed", range(4))
def test_calls_follow_what_happens_to_fields(seed: int) -> None:
    random, size = Random(seed), 11
    start = {name: np.array([random.random() for _ in range(size)]) for name in "uac"}
    on = bc.distribute(cells, bc.simulated_ranks(3), n=size)
    fields = {name: on.scatter(cells, values) for name, values in start.items()}
    steps = [(p.bind(**start), p.bind(**fields)) for p in (step, step)]
    others = [
        [p.bind(**{k: given[k] for k, _ in p.signature.kinds}) for given in (start, fields)]
        for p in (spread, wider)
    ]
    for _ in range(24):
        match random.choice(["step", "step", "repeat", "other", "fill"]):
            case "step":
                numbers = random.random(), random.random()
                expected, found = (bound(*numbers) for bound in random.choice(steps))
                assert found == expected
            case "repeat":
                rows = np.array([[random.random(), 0.5] for _ in range(3)])
                expected, found = (bound.repeat(rows) for bound in random.choice(steps))
                assert np.array_equal(found, expected)
            case "other":
                for bound in random.choice(others):
                    bound()
            case "fill":
                name, value = random.choice("uac"), random.random()
                start[name][:] = value + np.arange(size)
                fields[name].fill(lambda i, value=value: value + i)
        for name, field in fields.items():
            assert np.array_equal(field.gather(), start[name])


def test_fields_that_are_read_where_they_are_owned_are_never_exchanged() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(3), n=9)
    u, a, c = (on.zeros(cells) for _ in range(3))
    run = step.bind(u, a, c)
    first = str(run.schedule)
    run(1.0, 2.0)
    later = str(run.schedule)
    assert first != later
    c.fill(lambda i: i)
    assert str(run.schedule) == later
    a.fill(lambda i: i)
    assert str(run.schedule) == first


def test_calls_with_wrong_numbers_leave_nothing_behind() -> None:
    on = bc.distribute(cells, bc.simulated_ranks(2), n=5)
    u, a, c = (on.zeros(cells) for _ in range(3))
    run = step.bind(u, a, c)
    assert run(1.0, 2.0) == (10.0, 2.0)
    with pytest.raises(ArgumentError, match="takes 2 numbers, not 1"):
        run(3.0)
    with pytest.raises(ArgumentError, match="Scalar 'shift' is str, not a number"):
        run(3.0, "4")
    assert (u.gather() == 2.0).all()
    assert run(1.0, 3.0) == (15.0, 3.0)
