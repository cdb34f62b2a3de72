"""A short run of random cases, always the same ones; and whether mistakes would be found."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ssr
from boundary.grid.link import Link
from ssr.programs.program import declaration

from .arrays import LAYOUTS, Watched
from .cases import Case, Run, examine, source
from .drive import KINDS, Plan, minimal, outcomes

RUN = Plan(0, tuple(KINDS), False).call()
TEXT = """\
n, = ssr.sizes('n')
C = ssr.Space(n)
@ssr.matrix(rows=C, cols=C)
def A(i):
    yield (i,), 2.0
    if (i - 1,) in C:
        yield (i - 1,), 1.0
@ssr.program(x=C, y=C)
def p(x, y):
    y[:] = A @ x + 0.0
    x[:] = x - y
"""
CASE = Case(TEXT, (Run((("n", 4),)),))
LINKED = """\
n, = ssr.sizes('n')
T = bc.Grid([(n, 2), (3, n)], links=[
    bc.join(2, bc.Side(0, 1, 'high'), bc.Side(1, 0, 'low'), reverse=True)])
G0, G1 = T.kinds[0].grow(0, 1), T.kinds[1].grow(1, 0)
B = bc.fill((G0, G1), bc.linked(), bc.robin(2.0, 0.5, 1.0), owned=T.kinds)
M = bc.synchronize(*(kind.nodes() for kind in T.kinds), weights=[1.0, 3.0])
@ssr.program(x0=T.kinds[0], x1=T.kinds[1], g0=G0, g1=G1,
             m0=T.kinds[0].nodes(), m1=T.kinds[1].nodes())
def p(x0, x1, g0, g1, m0, m1):
    a0, a1 = B @ (x0, x1)
    g0[:] = a0
    g1[:] = a1
    a0, a1 = M @ (m0, m1)
    m0[:] = a0
    m1[:] = a1
"""
"""Blocks of two shapes, linked with a turn and the other way round."""


@pytest.mark.parametrize("kind", KINDS)
def test_random_cases(kind: str) -> None:
    counts: Counter[str] = Counter()
    plan = Plan(3, (kind,), False)
    for number in range(5):
        for _, case, run, outcome in outcomes(plan, number):
            assert outcome.kind != "wrong", source(Case(case.text, (run,)), outcome)
            counts[outcome.kind] += 1
    assert counts["same"] > 0.5 * counts.total()


def test_the_reference_agrees_on_a_case_known_to_be_right() -> None:
    assert [o.kind for _, o in examine(CASE, RUN)] == ["same"]


def wrong(run: Any) -> list[str]:
    return [o.what for _, o in examine(CASE, run) if o.kind == "wrong"]


def test_wrong_values_are_found() -> None:
    def off(turns: Any, x: Any, y: Any, **more: Any) -> None:
        RUN(turns, x, y, **more)
        y[-1] += 1e-6

    assert wrong(off) == ["values"]


def test_writes_beside_arrays_are_found() -> None:
    def stray(turns: Any, x: Any, y: Any, **more: Any) -> None:
        RUN(turns, x, y, **more)
        np.lib.stride_tricks.as_strided(x, (x.size + 1,))[-1] = 0.0

    padded = Case(TEXT, (Run((("n", 4),), layouts=("padded",)),))
    assert [o.what for _, o in examine(padded, stray)] == ["memory"]


def test_exceptions_are_found() -> None:
    def fails(program: ssr.Program, *args: Any, **more: Any) -> None:
        raise KeyError("x")

    assert wrong(fails) == ["KeyError in test_fuzz.py:fails"]


def test_the_reference_agrees_on_linked_blocks() -> None:
    case = Case(LINKED, tuple(Run((("n", n),)) for n in (1, 2, 5)))
    assert [o.kind for _, o in examine(case, RUN)] == 3 * ["same"]


SPREAD = """\
n, = ssr.sizes('n')
C = ssr.Space(n)
@ssr.matrix(rows=C, cols=C, u=C)
def A(i, *, u):
    yield (i,), 2.0
    if (i - 1,) in C:
        yield (i - 1,), u[i - 1]
A = A.bind(u=data(C, C, 0))
@ssr.program(x=C, y=C)
def p(x, y):
    y[:] = (A - A.rank_local()) @ x
    x[:] = A.rank_local().tril().solve(y) + A @ x
"""
"""A matrix whose data are on ranks, and its parts by boxes."""
SPREADS = Case(
    SPREAD,
    tuple(
        Run((("n", 7),), seed=1, ranks=n, cuts=cuts, threads=n > 1)
        for n in (0, 1, 3)
        for cuts in ((), (4,))
    ),
)


def test_the_reference_agrees_on_ranks() -> None:
    assert [o.kind for _, o in examine(SPREADS, RUN)] == 6 * ["same"]


def test_entries_of_other_boxes_are_found() -> None:
    case = replace(SPREADS, text=SPREAD.replace(".tril().solve(y)", " @ y"))
    with patch("ssr.algebra.matrix_data.families.local", lambda found: found):
        assert "values" in {o.what for _, o in examine(case, RUN)}


def test_data_that_are_written_are_found() -> None:
    def stray(turns: Any, *args: Any, **more: Any) -> None:
        (program,) = turns
        RUN([program], *args, **more)
        next(iter(declaration(program).captured))[...] = 0.0

    case = Case(SPREAD, SPREADS.runs[:1])
    assert [o.what for _, o in examine(case, stray)] == ["data"]


def straight(link: Link, *args: Any) -> Any:
    """Return the map of a link without its flips."""
    found = replace(link, flips=tuple(False for _ in link.flips))
    return SOURCE(found, *args)


SOURCE = Link.source


def test_links_that_run_the_wrong_way_are_found() -> None:
    with patch.object(Link, "source", straight):
        found = list(examine(Case(LINKED, (Run((("n", 3),)),)), RUN))
    assert [o.what for _, o in found] == ["values"]


def test_ghosts_that_are_read_too_late_are_found() -> None:
    """Ghosts are folded although what they are made of, a field on other blocks, has changed."""
    with patch("ssr.lower.steps.ghost_inlining._check_unwritten", lambda *_: None):
        plan = Plan(3, ("mixed",), False)
        found = {outcome.what for n in (20, 59) for *_, outcome in outcomes(plan, n)}
    assert "values" in found


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (1, 1, 1, 1)])
def test_surroundings_of_arrays_are_watched(shape: tuple[int, ...], layout: str) -> None:
    values = np.arange(float(np.prod(shape))).reshape(shape)
    watched = Watched(values, "float64", layout)
    np.testing.assert_array_equal(watched.array, values)
    watched.array[...] = -1.0
    assert not watched.strays()
    watched.memory[[0, -1]] ^= 1
    assert watched.strays()


def test_cases_are_made_small() -> None:
    """A sum that loses an operand is found in a text with little else."""
    plan = Plan(1, ("programs",), False)
    text = TEXT.replace("+ 0.0", "+ 0.5 * (x + y)").replace("x - y", "0.5 * x - y")

    def off(turns: Any, *args: Any, **more: Any) -> None:
        RUN(turns, *args, **more)
        args[-1][0] += 1.0

    with patch.object(Plan, "call", lambda plan: off):
        ((run, outcome),) = examine(Case(text, (Run((("n", 4),)),)), off)
        small = minimal(plan, Case(text, (run,)), run, outcome, 5.0)
    assert "yield" not in small.text
    assert small.runs == (Run((("n", 1),)),)
    compile(source(small, outcome), "<source>", "exec")
