"""Random and chosen programs on ranks have the bits of the programs themselves."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr

from ..boundary import bodies
from ..ssr import memory, test_random_programs
from ..ssr import strategies as some
from . import ranks


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
