"""Programs in turn on different cuts: the bits of one process, and no value is moved twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.worlds.channels import Channel
from boundary.parallel.worlds.world import Simulated
from ssr import errors

from ...ssr import strategies as some
from . import ranks

ny, nx = ssr.sizes("ny nx")
plane = ssr.Space(ny, nx)
inner = plane.grow(-1)


def along(axis: int) -> ssr.Matrix:
    """Return a matrix that couples points along an axis."""
    second = ssr.axis_stencil(inner, inner, axis, {-1: 1.0, 0: -2.0, 1: 1.0}, outside="zero")
    return ssr.identity(inner) - 0.3 * second


def solving(axis: int) -> ssr.Program:
    """Return the program that solves for changes r along an axis, with a divisor made of u."""

    @ssr.program(r=inner, u=plane)
    def solve(r: Any, u: Any) -> None:
        r[:] = (ssr.diagonal(inner, 1.0 + u[inner]) @ along(axis)).solve(r)

    return solve


@ssr.program(u=plane, r=inner, dt=ssr.scalar)
def add(u: Any, r: Any, dt: Any) -> None:
    u[inner] = u[inner] + dt * r


PROGRAMS = solving(1), solving(0), add


def numbers(extent: tuple[int, int]) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return rng.random(extent), rng.random((extent[0] - 2, extent[1] - 2))


@some.examples(20)
@given(st.tuples(st.integers(3, 7), st.integers(3, 9)), st.data())
def test_bits_of_one_process(extent: tuple[int, int], data: Any) -> None:
    sizes = dict(zip(("ny", "nx"), extent, strict=True))
    on = data.draw(ranks.parts(plane, sizes)).spread(plane, sizes)
    u, r = numbers(extent)
    fields = on.scatter(plane, u), on.scatter(inner, r)
    with ranks.plain_kernels():
        run = bc.alternating(*PROGRAMS).bind(u=fields[0], r=fields[1], dt=0.5)
        for _ in range(2):
            run()
            for program, args in zip(PROGRAMS, ((r, u), (r, u), (u, r, 0.5)), strict=True):
                ranks.serial(program, args, compiled=False)
            ranks.check_equal(fields, (u, r), "a turn")
            u[2, 1] = 0.25
            fields[0].set(u)  # a change from outside reaches the copies, too


class Counted(Simulated):
    """Ranks that count the values that are sent between them."""

    sent = 0

    def channel(self, outgoing: Any, incoming: Any, what: str, post: Any = None) -> Channel:
        made, start = super().channel(outgoing, incoming, what, post), None
        start = made.start

        def counted() -> None:
            self.sent += sum(letter.values.size for letter in outgoing)
            start()

        made.start = counted  # type: ignore[method-assign]
        return made


def test_only_what_has_changed_is_moved() -> None:
    """On two ranks half of the points move: of r there and back, and none of u."""
    world, sizes = Counted(2), {"ny": 10, "nx": 10}
    on = bc.distribute(plane, world, cut=(2, 1), **sizes)
    fields = [on.scatter(*given) for given in zip((plane, inner), numbers((10, 10)), strict=True)]
    with ranks.plain_kernels():
        run = bc.alternating(solving(1), solving(0)).bind(u=fields[0], r=fields[1])
        run()
        world.sent = 0
        run()
    assert world.sent == 2 * 64 // 2


def test_whole_lines() -> None:
    on = bc.distribute(plane, bc.simulated_ranks(4), cut=(2, 2), ny=8, nx=8)
    rows = on.undivided(-1)
    assert rows is on.undivided(1)
    assert rows.undivided(1) is rows
    assert {box for box, _ in rows.zeros(plane).parts()} == {
        ((n, n + 2), (0, 8)) for n in (0, 2, 4, 6)
    }
    u = rows.zeros(plane)
    assert u.redistributed(rows) is u
    panels = bc.Grid(6 * [(8, 8)], links=bc.cubed_sphere())
    assert len(bc.distribute(panels, bc.simulated_ranks(24)).undivided(0).partition) == 24


MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no axis": (lambda on: on.undivided(2), "no axis 2 of the 2 axes of a block"),
    "no parameter": (
        lambda on: bc.alternating(add).bind(v=on.zeros(plane)), "has a parameter 'v'"
    ),
    "no value": (lambda on: bc.alternating(add).bind(u=on.zeros(plane)), "needs a value for 'r'"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    mistake, message = MISTAKES[name]
    with pytest.raises(errors.ArgumentError, match=message):
        mistake(bc.distribute(plane, bc.simulated_ranks(2), ny=5, nx=5))
