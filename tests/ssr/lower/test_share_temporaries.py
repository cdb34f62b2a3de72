"""Temporaries that are not needed at the same time share memory, and results stay what they are."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.compiler.pipeline import lower

from .. import memory, plain
from .. import strategies as some
from ..interpret import interpret_program

cells = ssr.Space(*ssr.sizes("ny nx"))
UP = ssr.stencil(cells, cells, {(0, 0): 0.5, (-1, 0): 0.25, (0, -1): 0.125}, outside="zero")
DOWN = ssr.stencil(cells, cells, {(0, 0): 0.5, (1, 0): 0.25, (1, 1): 0.125}, outside="zero")
ALONE = ssr.Options(fuse=False, exact=True)


def temporaries(program: ssr.Program) -> int:
    return len(lower(program.ir, program.options, "float64", "title").program.temporaries)


def body(steps: list[Any]) -> Any:
    def run(x: Any, y: Any) -> None:
        kept = [x + y]
        for kind, a, b in steps:
            target, other = (x, y) if a else (y, x)
            if kind == "keep":
                kept.append(UP @ (other * other) + target)
            elif kind == "use":
                target[:] = DOWN @ (kept[b % len(kept)] + other)
            else:
                target[:] = UP @ (DOWN @ other) - target
        x[:] = x - DOWN @ kept[-1]

    return run


STEPS = st.lists(
    st.tuples(st.sampled_from(("keep", "use", "two")), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=6,
)


@some.examples(30)
@given(STEPS, memory.seeds, st.booleans())
def test_random_programs(steps: list[Any], seed: int, fuse: bool) -> None:
    program = ssr.program(x=cells, y=cells, options=replace(ALONE, fuse=fuse))(body(steps))
    rng = np.random.default_rng(seed)
    arrays = {n: memory.array(rng, (4, 5), "float64") for n in "xy"}
    meant = {n: a.copy() for n, a in arrays.items()}
    plain.run(program, *arrays.values())
    interpret_program(program.ir, meant, {}, {"ny": 4, "nx": 5})
    for name, array in arrays.items():
        plain.check_same(array, meant[name])


def test_a_chain_needs_two_arrays() -> None:
    @ssr.program(x=cells, options=ALONE)
    def chain(x: Any) -> None:
        t = x
        for _ in range(5):
            t = UP @ (t * t)
        x[:] = DOWN @ t

    assert temporaries(chain) == 2
    assert temporaries(chain.with_options(replace(ALONE, debug=True))) == 2
