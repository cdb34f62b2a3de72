"""What boxes have been given by one program is not exchanged again by another one."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr

from ...ssr import strategies as some
from . import ranks as ranks_of

plane = ssr.Space(*ssr.sizes("ny nx"))
around = plane.grow(1)
FIVE = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
near = ssr.stencil(plane, plane, FIVE, outside="zero")
far = ssr.stencil(plane, plane, {(0, 0): 2.0, (0, -2): -1.0, (2, 0): -0.5}, outside="zero")
east = ssr.stencil(plane, plane, {(0, 0): 1.0, (0, 1): -0.5}, outside="zero")
ring = ssr.stencil(plane, around, FIVE) @ bc.fill(around, bc.periodic())
pair = plane.vector(2)


@ssr.program(v=plane, u=plane)
def apply_near(v: Any, u: Any) -> None:
    v[:] = v + near @ u


@ssr.program(v=plane, u=plane)
def apply_far(v: Any, u: Any) -> None:
    v[:] = 0.5 * v + far @ u


@ssr.program(v=plane, u=plane)
def apply_east(v: Any, u: Any) -> None:
    v[:] = east @ u - v


@ssr.program(v=plane, u=plane)
def apply_ring(v: Any, u: Any) -> None:
    v[:] = 0.25 * (ring @ u) + v


@ssr.program(v=plane, u=plane)
def smooth(v: Any, u: Any) -> None:
    u[:] = u + 0.125 * (near @ u)
    v[:] = near @ u


@ssr.program(v=plane, u=plane)
def direction(v: Any, u: Any) -> None:
    """Make all that boxes read of v from what they read of u."""
    v[:] = u + 0.5 * v
    u[:] = near @ v


@ssr.program(v=plane, u=plane)
def scale(v: Any, u: Any) -> None:
    u[:] = 0.5 * u + v


PROGRAMS = [apply_near, apply_far, apply_east, apply_ring, smooth, direction, scale]


def exchanged(bound: Any) -> list[str]:
    """Return what the next call exchanges."""
    exchanges = bound.schedule.schedule.exchanges
    return sorted({wish.array for exchange in exchanges for wish in exchange.wishes})


@pytest.fixture
def on() -> Any:
    return bc.distribute(plane, bc.simulated_ranks(4), cut=(2, 2), ny=12, nx=14)


def fields(on: Any, count: int) -> list[Any]:
    made = [on.zeros(plane) for _ in range(count)]
    for number, each in enumerate(made):
        each.fill(lambda j, i, n=number: np.sin(j + 2.0 * i + n))
    return made


def test_what_another_program_was_given_is_known(on: Any) -> None:
    u, v, w = fields(on, 3)
    one, other, wide, part = (
        program.bind(v, u) for program in (apply_near, apply_ring, apply_far, apply_east)
    )
    assert exchanged(one) == exchanged(part) == exchanged(wide) == ["u"]
    one()
    assert exchanged(one) == exchanged(part) == []
    assert exchanged(wide) == ["u"]  # two points away
    assert exchanged(other) == ["u"]  # the other side of the plane
    scale.bind(w, v)()
    assert exchanged(part) == []
    scale.bind(w, u)()
    assert exchanged(one) == exchanged(part) == ["u"]
    part()
    assert exchanged(one) == ["u"]
    assert exchanged(part) == []


def moved(bound: Any) -> int:
    """Return how many values all ranks are sent in the next call."""
    explained = bound.schedule
    mails = (mail for rank in range(4) for mail in explained.mail(rank))
    return sum(message.count for mail in mails for message in mail.receives)


def test_what_is_missing_is_all_that_moves(on: Any) -> None:
    u, v = fields(on, 2)
    one, part = apply_near.bind(v, u), apply_east.bind(v, u)
    assert (moved(one), moved(part)) == (2 * 14 + 2 * 12, 12)
    part()
    assert (moved(one), moved(part)) == (2 * 14 + 12, 0)
    scale.bind(v, u)()
    assert moved(one) == 2 * 14 + 2 * 12
    part()
    one()
    assert (moved(one), moved(part)) == (0, 0)
    wanted, found = (each.gather() for each in fields(on, 2)), v.gather()
    first, second = wanted
    for program in apply_east, scale, apply_east, apply_near:
        program(second, first)
    assert np.array_equal(found, second)


def side(axis: int, step: int) -> Any:
    """Return a program that reads the values at one side of each box."""
    offset = (step, 0) if axis == 0 else (0, step)
    weights = {(0, 0): 1.0, offset: 0.5}
    matrix = ssr.stencil(plane, plane, weights, outside="zero")

    @ssr.program(v=plane, u=plane)
    def apply_side(v: Any, u: Any) -> None:
        v[:] = matrix @ u

    return apply_side


def test_several_programs_give_parts(on: Any) -> None:
    """Sides that four programs have left are all that another one reads."""
    u, v = fields(on, 2)
    sides = [side(axis, step).bind(v, u) for axis in (0, 1) for step in (-1, 1)]
    one = apply_near.bind(v, u)
    left = [2 * 14 + 2 * 12]
    for run in sides:
        run()
        left.append(moved(one))
    assert left == [52, 38, 24, 12, 0]
    one()
    assert exchanged(one) == []
    assert all(exchanged(run) == [] for run in sides)
    wanted, added = (each.gather() for each in fields(on, 2))
    program = side(1, 1)
    program(added, wanted)
    apply_near(added, wanted)
    assert np.array_equal(v.gather(), added)


def test_fields_forget_programs_that_were_bound_first(
    on: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boundary.parallel.ranks.values.GIVERS", 2)
    u, v = fields(on, 2)
    part, one, wide = (program.bind(v, u) for program in (apply_east, apply_near, apply_far))
    for run in part, wide:
        run()
    assert moved(one) == 14 + 12  # without what the first one has left
    one()
    assert exchanged(one) == exchanged(part) == []


def test_what_is_given_behind_a_change_is_known(on: Any) -> None:
    u, v = fields(on, 2)
    apart = smooth.with_options(ssr.Options(fuse=False))
    one, other = apart.bind(v, u), apply_near.bind(v, u)
    assert len(one.schedule.schedule.exchanges) == 2
    other()
    assert len(one.schedule.schedule.exchanges) == 1  # old values are known, new ones are not
    one()
    assert exchanged(other) == []


def test_what_boxes_make_themselves_is_known(on: Any) -> None:
    u, v, w = fields(on, 3)
    one, other = direction.bind(v, u), apply_near.bind(w, v)
    one()
    assert exchanged(other) == []
    v.set(1.0)
    assert exchanged(other) == ["u"]


def test_a_failed_call_leaves_nothing(on: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = fields(on, 2)
    one, other = apply_near.bind(v, u), apply_east.bind(v, u)
    one()
    with monkeypatch.context() as patch:
        patch.setattr("boundary.parallel.ranks.prepared.Prepared.run", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one()
    assert exchanged(other) == ["u"]


def test_fields_of_vectors(on: Any) -> None:
    @ssr.program(v=plane, u=pair)
    def both(v: Any, u: Any) -> None:
        v[:] = near @ u[0] + east @ u[1]

    @ssr.program(v=plane, u=pair)
    def second(v: Any, u: Any) -> None:
        v[:] = near @ u[1]

    u, v = on.zeros(pair), on.zeros(plane)
    one, other = both.bind(v, u), second.bind(v, u)
    one()
    assert exchanged(other) == ["u[1]"]
    other()
    assert exchanged(one) == []  # what one has given itself stays


def test_rooms_that_grow_keep_what_is_known(on: Any) -> None:
    u, v = fields(on, 2)
    apply_near.bind(v, u)()
    apply_far.bind(v, u)
    one = apply_east.bind(v, u)
    assert exchanged(one) == []
    one()
    found = v.gather()
    u, v = (each.gather() for each in fields(on, 2))
    for program in apply_near, apply_east:
        program(v, u)
    assert np.array_equal(found, v)


STEPS = st.lists(
    st.tuples(st.sampled_from(PROGRAMS), st.permutations(range(3))), min_size=2, max_size=10
)


@some.examples(60)
@given(STEPS, st.sampled_from([(2, None), (3, None), (4, (2, 2)), (6, (3, 2))]), st.data())
def test_programs_in_any_order_have_the_bits_of_one_process(
    steps: list[Any], ranks: tuple[int, tuple[int, int] | None], data: st.DataObject
) -> None:
    ny, nx = data.draw(st.integers(4, 13)), data.draw(st.integers(4, 13))
    on = bc.distribute(plane, bc.simulated_ranks(ranks[0]), cut=ranks[1], ny=ny, nx=nx)
    spread, arrays = (fields(on, 3) for _ in range(2))
    whole = [each.gather() for each in arrays]
    kept: dict[Any, Any] = {}
    ready = data.draw(st.sampled_from([1, 16]))
    changed = data.draw(st.sets(st.integers(0, len(steps) - 1), max_size=2))
    for number, (program, (a, b, _)) in enumerate(steps):
        if number in changed:
            spread[b].set(1.0 + number)
            whole[b][:] = 1.0 + number
        key = program.ir.name, a, b
        if key not in kept:
            kept[key] = program.bind(spread[a], spread[b])
        with patch("boundary.parallel.programs.bound.READY", ready):
            kept[key]()
        program(whole[a], whole[b])
    for one, other in zip(spread, whole, strict=True):
        assert np.array_equal(one.gather(), other)
    for bound in kept.values():
        ranks_of.check_mail(bound)
