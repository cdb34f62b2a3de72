"""Random and chosen programs on ranks have the bits of the programs themselves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr

from ...ssr import memory, test_random_programs
from ...ssr import strategies as some
from .. import bodies
from . import ranks
from .ranks import Parts


@pytest.fixture(autouse=True)
def plain_kernels() -> Iterator[None]:
    with ranks.plain_kernels():
        yield


# -- random programs -----------------------------------------------------------------------------


def steps(kinds: tuple[str, ...], seed: int) -> list[Any]:
    """Return the steps of one of a fixed set of random programs."""
    random = Random(seed)
    return [
        (random.choice(kinds), random.random() < 0.5, random.randint(0, 1))
        for _ in range(random.randint(1, 5))
    ]


@pytest.mark.parametrize("seed", range(6))
def test_programs_without_boundaries(seed: int) -> None:
    made = [step[:2] for step in steps(test_random_programs.KINDS, seed)]
    program = test_random_programs.declared(made, ssr.Options(exact=seed % 2 == 0))
    cells = test_random_programs.cells

    @some.examples(6)
    @given(memory.seeds, test_random_programs.SHAPES, st.data())
    def check(seed: int, shape: tuple[int, int], data: Any) -> None:
        sizes = dict(zip(("ny", "nx"), shape, strict=True))
        arrays = test_random_programs.drawn(seed, shape)
        parts = data.draw(ranks.parts(cells, sizes))
        ranks.check(program, [*arrays.values(), 0.5], cells, sizes, parts)

    check()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", bodies.NAMES)
def test_programs_with_boundaries(name: str, seed: int) -> None:
    of = bodies.setting(name)
    kinds = tuple(k for k in bodies.KINDS if name != "cubed sphere" or k not in CORNERS)
    program = bodies.declared(of, steps(kinds, seed), ssr.Options(exact=seed % 2 == 0))
    cells: Any = of.cells

    @some.examples(4)
    @given(st.integers(0, 99), st.data())
    def check(seed: int, data: Any) -> None:
        sizes = {s: data.draw(st.sampled_from([1, 2, 3, 4])) for s in sorted(cells.sizes)}
        arrays = bodies.drawn(of, sizes, seed)
        parts = data.draw(ranks.parts(getattr(cells, "grid", cells), sizes))
        ranks.check(program, [*arrays.values(), 0.5], getattr(cells, "grid", cells), sizes, parts)

    check()


CORNERS = ("copy", "part copy", "late copy", "two copies", "wide", "other wide", "call wide")
"""Steps that read ghosts at the corners of blocks, which a cubed sphere does not define."""


# -- several spaces ------------------------------------------------------------------------------

n = ssr.size("n")
fine, coarse, part = ssr.Space(2 * n), ssr.Space(n), ssr.Space(n - 1)
around = coarse.grow(1)
laplace = ssr.stencil(coarse, around, {-1: 1.0, 0: -2.0, 1: 1.5})
ends = bc.fill(around, bc.periodic(0))


@ssr.matrix(rows=coarse, cols=fine)
def restriction(i: Any) -> Any:
    if i > 0:
        yield 2 * i - 1, 0.25
    yield 2 * i, 0.5
    yield 2 * i + 1, 0.25


@ssr.program(f=fine, c=coarse, d=coarse, p=part)
def levels(f: Any, c: Any, d: Any, p: Any) -> Any:
    """Complete a coarse level between products with a restriction and its transpose."""
    c[:] = c + restriction @ f
    d[:] = laplace @ (ends @ c)
    f[:] = f - restriction.T @ (c - d)
    p[:] = 2.0 * p
    return ssr.max(d), ssr.sum(f)


@ssr.program(c=coarse, w=around)
def kept(c: Any, w: Any) -> None:
    """Complete the caller's own field, and change its points afterwards."""
    w[:] = ends @ c
    c[:] = laplace @ w
    w[coarse] = c - w[coarse]


@ssr.program(f=fine, c=coarse, p=part)
def apart(f: Any, c: Any, p: Any) -> Any:
    """Change each field by itself."""
    c[:] = 0.5 * c
    f[:] = 2.0 * f + 1.0
    p[:] = 3.0 * p
    return ssr.sum(f), ssr.sum(c)


@pytest.mark.parametrize("program", [levels, kept, apart], ids=lambda p: p.ir.name)
def test_spaces_of_other_extents(program: ssr.Program) -> None:
    for size in 2, 5, 8:
        rng = np.random.default_rng(size)
        kinds = [kind for _, kind in program.signature.kinds]
        args = [rng.uniform(-1, 1, kind.extent({"n": size})) for kind in kinds]
        for cells in fine, coarse:
            for parts in Parts(1), Parts(2), Parts(3), Parts(5, cut=(5,)), Parts(7, cut=(7,)):
                ranks.check(program, args, cells, {"n": size}, parts)


def test_shared_sums_of_what_the_nest_has_written() -> None:
    """A sum that three columns share is made beside the box, too, of new values."""
    cells = ssr.Space(*ssr.sizes("ny nx"))
    weights = dict.fromkeys(product((-1, 0, 1), repeat=2), 1.0)
    near = ssr.stencil(cells, cells, weights, outside="zero")

    @ssr.program(x=cells, r=cells)
    def p(x: Any, r: Any) -> None:
        x[:] = x + 0.5 * r
        r[:] = r - near @ x

    args = list(np.random.default_rng(0).uniform(-1, 1, (2, 6, 8)))
    for parts in Parts(2, cut=(1, 2)), Parts(2, cut=(2, 1)), Parts(6, cut=(2, 3)):
        ranks.check(p, args, cells, {"ny": 6, "nx": 8}, parts)


def test_fields_with_ghosts_on_a_coarse_level() -> None:
    """Their owners are not those of the points alone, so that no box runs the rows of both."""
    wide = coarse.grow(2)

    @ssr.program(x=coarse, h=wide)
    def p(x: Any, h: Any) -> None:
        x[:] = 0.5 * x + h[coarse]
        h[:] = 0.5 * h
        h[coarse] = h[coarse] + x

    args = [np.linspace(1.0, 2.0, 5), np.linspace(0.0, 1.0, 9)]
    for parts in Parts(2), Parts(3), Parts(5, cut=(5,)):
        ranks.check(p, args, fine, {"n": 5}, parts)


def test_literal_sizes_share_no_nest_across_ends() -> None:
    """A box that owns points of one space and none of another runs the statements of both."""
    f, c = ssr.Space(8), ssr.Space(5)

    @ssr.program(f=f, c=c)
    def p(f: Any, c: Any) -> Any:
        c[:] = 0.5 * c
        f[:] = 2.0 * f + 1.0
        return ssr.sum(f), ssr.sum(c)

    args = [np.linspace(0.1, 1.0, size) for size in (8, 5)]
    for cells in f, c:
        for parts in Parts(1), Parts(3), Parts(8, cut=(8,)):
            ranks.check(p, args, cells, {}, parts)


def test_kinds_of_blocks() -> None:
    """Statements for blocks of several shapes might share a nest, which no box can run."""
    grid = bc.Grid([(4, 2), (4, 3), (4, 2)], links=bc.topologies.bricks(1, 3))
    one, other = grid.kinds
    wide = tuple(kind.grow(1) for kind in grid.kinds)
    fill = bc.fill(wide, bc.linked(), bc.dirichlet(0.5))
    stars = [
        ssr.stencil(k, w, {(0, 0, 1): 1.0, (0, -1, 0): 0.5})
        for k, w in zip(grid.kinds, wide, strict=True)
    ]

    @ssr.program(u=one, v=other, w=wide[0], z=wide[1])
    def p(u: Any, v: Any, w: Any, z: Any) -> Any:
        w[:], z[:] = fill @ (u, v)
        u[:] = stars[0] @ w
        v[:] = stars[1] @ z
        return ssr.sum(u), ssr.sum(v)

    rng = np.random.default_rng(0)
    args = [rng.uniform(-1, 1, kind.extent({})) for kind in (one, other, *wide)]
    for parts in Parts(1), Parts(2), Parts(3, cut=(2, 1)), Parts(7, cut=(2, 3)):
        ranks.check(p, args, grid, {}, parts)


def test_rows_wait_for_a_fill_that_reads_what_they_overwrite() -> None:
    """The ghosts of g are those of x; the last nest needs no message, but has to come last."""
    cells = ssr.Space(n)
    wide = cells.grow((0, 1))
    fill = bc.fill(wide, bc.periodic(0), owned=cells)

    @ssr.program(x=cells, g=wide)
    def p(x: Any, g: Any) -> None:
        g[:] = fill @ x
        g[cells] = 2.0 * x

    args = [np.arange(1.0, 6.0), np.full(6, np.nan)]
    for parts in Parts(1), Parts(2), Parts(5):
        ranks.check(p, args, cells, {"n": 5}, parts)


# -- reductions ----------------------------------------------------------------------------------


@some.examples(25)
@given(
    st.lists(
        st.one_of(
            st.floats(-1e300, 1e300),
            st.sampled_from([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-300, 1e16, 1.0, -1e16]),
        ),
        min_size=1,
        max_size=9,
    ),
    st.data(),
)
def test_reductions_of_any_numbers(values: list[float], data: Any) -> None:
    line = ssr.Space(n)
    sizes = {"n": len(values)}
    parts = data.draw(ranks.parts(line, sizes))
    ranks.check(REDUCED, [np.array(values)], line, sizes, parts)


@ssr.program(x=coarse)
def REDUCED(x: Any) -> Any:
    return ssr.sum(x), ssr.max(x), ssr.min(x), ssr.dot(x, x)


def test_values_of_a_line_are_read_where_the_box_has_them() -> None:
    """A sum inside another one was computed at rows at which only the other one is zero."""
    three = ssr.Space(3)

    @ssr.matrix(rows=three, cols=three)
    def P(i: Any) -> Any:
        if i >= 1:
            yield i, 0.5
        if i + 1 in three:
            yield i + 1, 0.25

    @ssr.program(y=three, v=three)
    def program(y: Any, v: Any) -> None:
        n = P @ (v + 0.5)
        y[:] = P.T @ n

    split = program.with_options(ssr.Options(split=False))
    with ranks.plain_kernels():
        for count in 1, 2, 3:
            ranks.check(split, [np.zeros(3), np.arange(3.0)], three, {}, ranks.Parts(count))
