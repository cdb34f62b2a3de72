"""Statements with rows of their own at the ends of lines have loops of their own, if that pays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr
from ssr.lower.passes.index_set_splitting import index_set_splitting

from ...random_examples import examples
from .. import plain
from .test_shared_loops import apart, nest_of

(more,) = ssr.sizes("more")
rows = ssr.Space(more + 4, more + 4)
bends = [ssr.difference(rows, rows, axis, derivative=2, outside="one-sided") for axis in (0, 1)]
names = "abcdef"


def series(u: Any, v: Any, terms: int) -> Any:
    """Return a sum of products: the same at all rows of a line."""
    return sum((0.5**n * u * v for n in range(1, terms)), 1.0 - v)


def program_of(steps: Callable[..., tuple[Any, ...]]) -> ssr.Program:
    """Return a program that stores what a function returns, in fields of their own."""

    @ssr.program(**dict.fromkeys((*names, "u", "v", "w"), rows))
    def made(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, u: Any, v: Any, w: Any) -> None:
        for field, value in zip((a, b, c, d, e, f), steps(u, v, w), strict=False):
            field[:] = value

    return made


def loops_of(program: ssr.Program) -> list[list[str]]:
    """Return the fields that each loop along the lines inside stores."""
    line = index_set_splitting(nest_of(program), interior=True).line
    stages = [s for part in line for s in (part.then if hasattr(part, "then") else (part,))]
    return [[s.array for s in stage.statements] for stage in stages]


def check(program: ssr.Program, size: int) -> None:
    """Compare results with those of the source run by Python, and of steps one after the other."""
    rng = np.random.default_rng(0)
    given = rng.random((3, size, size))
    results = [np.full((len(names), size, size), np.nan) for _ in range(3)]
    program(*results[0], *given)
    plain.run(program, *results[1], *given)
    apart(program)(*results[2], *given)
    assert np.array_equal(results[0], results[1], equal_nan=True)
    assert np.array_equal(results[0], results[2], equal_nan=True)


def test_a_long_statement_is_not_written_out_at_ends_of_others() -> None:
    program = program_of(
        lambda u, v, w: (u + bends[1] @ u, series(u, v, 12), w + bends[1] @ w, series(v, w, 12))
    )
    assert loops_of(program) == [["a", "c"], ["b", "d"]]
    check(program, 5)
    check(program, 19)


def test_short_statements_share_a_loop_all_the_same() -> None:
    program = program_of(lambda u, v, w: (u + bends[1] @ u, 2.0 * v + w))
    assert loops_of(program) == [["a", "b"]]
    check(program, 9)


def test_statements_that_share_values_stay_together() -> None:
    def steps(u: Any, v: Any, w: Any) -> tuple[Any, ...]:
        common = series(u, v, 12)
        return common * (bends[1] @ u), common * w, series(v, w, 12)

    program = program_of(steps)
    assert loops_of(program) == [["a", "b"], ["c"]]
    check(program, 11)


def test_a_root_is_computed_once() -> None:
    def steps(u: Any, v: Any, w: Any) -> tuple[Any, ...]:
        return ssr.sqrt(v) * (bends[1] @ u), ssr.sqrt(v) * series(v, w, 12), v * series(w, v, 12)

    program = program_of(steps)
    assert loops_of(program) == [["a", "b"], ["c"]]
    check(program, 12)


def test_what_reads_a_result_stays_behind_it() -> None:
    @ssr.program(a=rows, b=rows, c=rows, u=rows, v=rows)
    def made(a: Any, b: Any, c: Any, u: Any, v: Any) -> None:
        a[:] = u + bends[1] @ u
        b[:] = series(a, v, 12)
        c[:] = series(u, v, 12)

    assert [set(loop) for loop in loops_of(made)] == [{"a", "b"}, {"c"}]
    rng = np.random.default_rng(1)
    u, v = rng.random((2, 13, 13))
    results = np.zeros((2, 3, 13, 13))
    made(*results[0], u, v)
    plain.run(made, *results[1], u, v)
    assert np.array_equal(*results)


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "along": lambda p, q: p + bends[1] @ q,
    "across": lambda p, q: p + bends[0] @ q,
    "series": lambda p, q: series(p, q, 9),
    "both": lambda p, q: series(p, q, 5) * (bends[1] @ p) + bends[0] @ q,
    "short": lambda p, q: p * q,
}


@pytest.mark.slow
@examples(30)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 2), st.integers(0, 2)),
        min_size=2,
        max_size=6,
    ),
    st.integers(5, 20),
)
def test_random_statements_have_the_bits_of_steps_one_after_the_other(
    chosen: list[tuple[str, int, int]], size: int
) -> None:
    check(program_of(lambda *u: tuple(KINDS[kind](u[p], u[q]) for kind, p, q in chosen)), size)
