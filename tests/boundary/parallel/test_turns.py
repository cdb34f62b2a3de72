"""Several programs on the same fields, one after the other, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from boundary.parallel.programs.distribution import Distribution
from boundary.parallel.worlds.channels import Channel
from boundary.parallel.worlds.world import Simulated

from ...ssr import strategies as some
from . import ranks


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


# -- fields of a plane ---------------------------------------------------------------------------

ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
CROSS = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.1, (1, 0): 0.9, (-1, 0): 1.3}


def diffusion(value: float, once: bool) -> ssr.Program:
    wide = cells.grow(1)
    cross = ssr.stencil(cells, wide, CROSS)
    fill = bc.fill(wide, bc.ghost_value(value, axis=0), bc.ghost_value(-value, axis=1), once=once)

    @ssr.program(u=cells, v=cells)
    def diffusion(u: Any, v: Any) -> None:
        v[:] = cross @ (fill @ u)

    return diffusion


def far() -> ssr.Program:
    wide = cells.grow(2)
    fill = bc.fill(wide, bc.periodic(0), bc.symmetric(1))
    star = ssr.stencil(cells, wide, {(0, 2): 1.0, (-2, 0): 0.5, (0, 0): 1.0})

    @ssr.program(u=cells, v=cells)
    def far(u: Any, v: Any) -> Any:
        v[:] = 0.125 * v + star @ (fill @ u)
        return ssr.sum(v)

    return far


def ahead() -> ssr.Program:
    """Return a program for which the memory of some boxes has to grow, and not that of all."""
    A = ssr.stencil(cells, cells, {(0, 0): 1.0, (0, 3): 0.5, (2, 0): 0.25}, outside="zero")

    @ssr.program(u=cells, v=cells)
    def ahead(u: Any, v: Any) -> None:
        v[:] = A @ u

    return ahead


@ssr.program(u=cells, v=cells)
def mix(u: Any, v: Any) -> Any:
    u[:] = 0.25 * u - v
    return ssr.min(u)


def renewed() -> ssr.Program:
    """Return a program of which each box makes all that it reads of ``u`` again."""
    A = ssr.stencil(cells, cells, {(0, 0): 1.0, (0, 1): 0.5, (-1, 0): 0.25}, outside="zero")

    @ssr.program(u=cells, v=cells)
    def update(u: Any, v: Any) -> Any:
        u[:] = v - 0.5 * u
        v[:] = 0.25 * v
        return ssr.max(A @ u)

    return update


PLANE: dict[str, ssr.Program] = {
    "warm": diffusion(3.0, True), "cold": diffusion(-5.0, True), "kept": diffusion(7.0, False),
    "far": far(), "ahead": ahead(), "mix": mix, "renewed": renewed(),
}  # fmt: skip


# -- fields of several panels, and of one that stands for all ------------------------------------

panels = bc.Grid(3 * [(ny, nx)], links=bc.topologies.bricks(1, 3))
panel = ssr.Space(ny, nx)
lines = ssr.Space(nx)


@ssr.matrix(rows=panels.cells, cols=panel)
def everywhere(p, j, i):  # type: ignore[no-untyped-def]
    yield (j, i), 1.0


@ssr.matrix(rows=panels.cells, cols=lines)
def ahead_along(p, j, i):  # type: ignore[no-untyped-def]
    if i + 1 < nx:
        yield (i + 1,), 0.5
    yield (i,), 1.0


smooth = ssr.stencil(panel, panel, {(0, 0): 0.5, (0, 1): 0.25, (-1, 0): 0.25}, outside="zero")


@ssr.program(u=panels.cells, m=panel, w=lines)
def scaled(u: Any, m: Any, w: Any) -> Any:
    u[:] = 0.5 * u + (everywhere @ m) * (ahead_along @ w)
    return ssr.max(u)


@ssr.program(u=panels.cells, m=panel, w=lines)
def around(u: Any, m: Any, w: Any) -> None:
    u[:] = u - everywhere @ (smooth @ m)


@ssr.program(u=panels.cells, m=panel, w=lines)
def change(u: Any, m: Any, w: Any) -> None:
    m[:] = smooth @ m + 1.0


@ssr.program(u=panels.cells, m=panel, w=lines)
def use_and_change(u: Any, m: Any, w: Any) -> None:
    u[:] = u + everywhere @ (smooth @ m)
    m[:] = 0.5 * m


PANELS: dict[str, ssr.Program] = {
    "scaled": scaled, "around": around, "change": change, "use and change": use_and_change,
}  # fmt: skip


# -- turns ---------------------------------------------------------------------------------------

SCENES: dict[str, tuple[Any, dict[str, ssr.Program]]] = {
    "plane": (cells, PLANE), "panels": (panels, PANELS),
}  # fmt: skip
WORDS = ["set", "fill", "copy"]


@st.composite
def turns(draw: st.DrawFn) -> tuple[Any, dict[str, ssr.Program], list[str], dict[str, int]]:
    of, programs = SCENES[draw(st.sampled_from(sorted(SCENES)))]
    drawn = draw(st.lists(st.sampled_from([*programs, *WORDS]), min_size=3, max_size=12))
    sizes = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    return of, programs, drawn, dict(zip(("ny", "nx"), sizes, strict=True))


class Turns:
    """Fields of the programs of a scene, and the same as arrays."""

    def __init__(self, on: Distribution, programs: dict[str, ssr.Program]) -> None:
        self.rng = np.random.default_rng(0)
        self.programs = programs
        kinds: list[Any] = [kind for _, kind in next(iter(programs.values())).signature.kinds]
        self.arrays = [self.rng.uniform(-1, 1, kind.extent(on.sizes)) for kind in kinds]
        self.fields = [on.scatter(kind, a) for kind, a in zip(kinds, self.arrays, strict=True)]
        self.bound: dict[str, Any] = {}

    def take(self, turn: str) -> Any:
        """Take a turn with the fields; a program returns what it has found."""
        if turn == "set":
            self.arrays[0][:] = self.rng.uniform(-1, 1, self.arrays[0].shape)
            self.fields[0].set(self.arrays[0])
        elif turn == "fill":
            self.arrays[1][:] = np.sum(np.indices(self.arrays[1].shape), axis=0)
            self.fields[1].fill(lambda *index: sum(index))
        elif turn == "copy":
            self.fields[0] = self.fields[0].copy()
            self.bound.clear()
        else:
            if turn not in self.bound:
                self.bound[turn] = self.programs[turn].bind(*self.fields)
            return self.bound[turn]()
        return None


@some.examples(50)
@given(turns(), st.data())
def test_programs_in_turns(scene: Any, data: Any) -> None:
    """Fields grow room for other programs, and their values change between calls of one."""
    of, programs, drawn, sizes = scene
    made = Turns(data.draw(ranks.parts(of, sizes)).spread(of, sizes), programs)
    for turn in drawn:
        wanted: Any = None
        if turn in programs:
            wanted = ranks.serial(programs[turn], made.arrays, compiled=False)
        found = made.take(turn)
        if turn in programs:
            ranks.check_numbers(found, wanted)
        ranks.check_equal(made.fields, made.arrays, turn)


def test_room_for_another_program_is_not_read() -> None:
    """Points that a box finds in the memory of one beside it, and that another program moves."""
    made = Turns(bc.distribute(cells, bc.simulated_ranks(2), cut=(3, 2), ny=3, nx=2), PLANE)
    for turn in "far", "warm", "set", "far":
        if turn in PLANE:
            ranks.serial(PLANE[turn], made.arrays, compiled=False)
        made.take(turn)
        ranks.check_equal(made.fields, made.arrays, turn)


class Quiet(Channel):
    """Messages that go nowhere, and none of which arrive; what is begun is noted."""

    def __init__(self, begun: list[str], what: str) -> None:
        self._begun, self._what = begun, what

    def start(self) -> None:
        self._begun.append(self._what)

    def wait(self) -> None:
        pass


class OneOfMany(Simulated):
    """One rank of a job, of which the others are not there."""

    def __init__(self, ranks: int, rank: int) -> None:
        super().__init__(ranks)
        self.here = (rank,)
        self.begun: list[str] = []

    def channel(self, outgoing: Any, incoming: Any, what: str, post: Any = None) -> Channel:
        return Quiet(self.begun, what)


@some.examples(40)
@given(turns(), st.data())
def test_all_ranks_exchange_the_same(scene: Any, data: Any) -> None:
    """What is exchanged does not depend on whose memory has had to grow."""
    of, programs, drawn, sizes = scene
    parts = data.draw(ranks.parts(of, sizes))
    partition = parts.spread(of, sizes).partition
    worlds = [OneOfMany(parts.ranks, rank) for rank in range(parts.ranks)]
    jobs = [Turns(Distribution(ranks.kinds_of(of), partition, w), programs) for w in worlds]
    for turn in drawn:
        for made in jobs:
            made.take(turn)
        assert all(world.begun == worlds[0].begun for world in worlds), turn


def test_boxes_share_what_no_program_changes() -> None:
    """The metric of one panel lies in memory once for each part of panels, until it changes."""
    on = bc.distribute(panels, bc.simulated_ranks(2), cut=(1, 2), ny=4, nx=10)
    made = Turns(on, PANELS)
    made.take("scaled")
    memory = made.fields[1].values.memories
    assert [len({s.start for s in m.near.values()}) for m in memory.values()] == [2, 2]
    assert [len(m.near) for m in memory.values()] == [3, 3]
    made.take("change")
    assert [len({s.start for s in m.near.values()}) for m in memory.values()] == [3, 3]


def test_what_boxes_make_themselves_is_not_exchanged_again() -> None:
    """They know it as its owners do, until somebody else changes it."""
    A = ssr.stencil(cells, cells, CROSS, outside="zero")

    @ssr.program(p=cells, q=cells, z=cells, beta=ssr.scalar)
    def direction(p: Any, q: Any, z: Any, beta: Any) -> Any:
        p[:] = z + beta * p
        q[:] = A @ p
        return ssr.dot(p, q)

    rng = np.random.default_rng(3)
    on = bc.distribute(cells, bc.simulated_ranks(6), cut=(2, 3), ny=20, nx=27)
    arrays = [rng.uniform(-1.0, 1.0, (20, 27)) for _ in range(3)]
    fields = [on.scatter(cells, a) for a in arrays]
    p, _, z = fields
    bound, other = direction.bind(*fields), mix.bind(p, z)
    for change, wanted in (
        ("nothing", {"p", "z"}), ("nothing", set()), ("z", {"z"}), ("z", {"z"}), ("p", {"p"}),
        ("mix", {"p"}), ("z", {"z"}),
    ):  # fmt: skip
        for name, array, field in ("p", arrays[0], p), ("z", arrays[2], z):
            if name == change:
                array[:] = rng.uniform(-1.0, 1.0, array.shape)
                field.set(array)
        if change == "mix":
            ranks.serial(mix, (arrays[0], arrays[2]), compiled=False)
            other()
        exchanged = bound.schedule.schedule.exchanges
        assert {wish.array for e in exchanged for wish in e.wishes} == wanted, change
        number = ranks.serial(direction, (*arrays, 0.75), compiled=False)
        ranks.check_numbers(bound(0.75), number)
        ranks.check_equal(fields, arrays, change)
