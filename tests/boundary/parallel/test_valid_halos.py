"""Halos that are up to date since a call are not exchanged again."""

from __future__ import annotations

from typing import Any

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


def test_unchanged_fields_are_exchanged_once(on: Any) -> None:
    u, v, w = fields(on, 3)
    one, other = apply_near.bind(v, u), apply_near.bind(w, u)
    assert exchanged(one) == exchanged(other) == ["u"]
    one()
    assert exchanged(one) == []
    assert exchanged(other) == ["u"]  # each bound program has versions of its own
    scale.bind(w, v)()
    assert exchanged(one) == []
    scale.bind(w, u)()
    assert exchanged(one) == ["u"]
    one()
    u.set(1.0)
    assert exchanged(one) == ["u"]


def test_a_changed_field_does_not_move_others(on: Any) -> None:
    @ssr.program(w=plane, u=plane, v=plane)
    def both(w: Any, u: Any, v: Any) -> None:
        w[:] = near @ u + east @ v

    u, v, w = fields(on, 3)
    one = both.bind(w, u, v)
    assert exchanged(one) == ["u", "v"]
    one()
    v.set(2.0)
    assert exchanged(one) == ["v"]
    one()
    assert exchanged(one) == []


def test_changed_fields_are_exchanged_in_each_call(on: Any) -> None:
    u, v = fields(on, 2)
    one = smooth.with_options(ssr.Options(fuse=False)).bind(v, u)
    for _ in range(2):
        assert len(one.schedule.schedule.exchanges) == 2  # before and after the change of u
        one()


def test_fields_that_each_box_computes_itself(on: Any) -> None:
    """The second call reads values of v that each box has computed beyond its own points."""
    u, v = fields(on, 2)
    one = direction.bind(v, u)
    assert exchanged(one) == ["u", "v"]
    one()
    assert exchanged(one) == ["u"]
    v.set(1.0)
    assert exchanged(one) == ["u", "v"]


def test_a_failed_call_leaves_no_valid_halo(on: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    u, v = fields(on, 2)
    one = apply_near.bind(v, u)
    one()
    with monkeypatch.context() as patch:
        patch.setattr("boundary.parallel.ranks.prepared.Prepared.take", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one()
    assert exchanged(one) == ["u"]


def test_fields_of_vectors(on: Any) -> None:
    @ssr.program(v=plane, u=pair)
    def both(v: Any, u: Any) -> None:
        v[:] = near @ u[0] + east @ u[1]

    u, v = on.zeros(pair), on.zeros(plane)
    one = both.bind(v, u)
    assert exchanged(one) == ["u[0]", "u[1]"]
    one()
    assert exchanged(one) == []


def test_halos_that_grow_stay_valid(on: Any) -> None:
    u, v = fields(on, 2)
    one = apply_near.bind(v, u)
    one()
    apply_far.bind(v, u)
    assert exchanged(one) == []
    one()
    found = v.gather()
    u, v = (each.gather() for each in fields(on, 2))
    for program in apply_near, apply_near:
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
    changed = data.draw(st.sets(st.integers(0, len(steps) - 1), max_size=2))
    for number, (program, (a, b, _)) in enumerate(steps):
        if number in changed:
            spread[b].set(1.0 + number)
            whole[b][:] = 1.0 + number
        key = program.ir.name, a, b
        if key not in kept:
            kept[key] = program.bind(spread[a], spread[b])
        kept[key]()
        program(whole[a], whole[b])
    for one, other in zip(spread, whole, strict=True):
        assert np.array_equal(one.gather(), other)
    for bound in kept.values():
        ranks_of.check_mail(bound)
