"""Schedules are proved on sets of elements and on terms, on ranks and on one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr import provenance
from ssr.provenance.operations import scope

from . import proofs, ranks
from .proofs import planned, proved


@pytest.mark.parametrize(("cut", "ranks"), [((2, 2), 4), ((3, 2), 2), ((1, 4), 3), ((8, 1), 8)])
@pytest.mark.parametrize("function", proofs.PROGRAMS, ids=lambda function: function.__name__)
def test_schedules_are_proved(function: Any, cut: tuple[int, int], ranks: int) -> None:
    proved(planned(function, cut, ranks))


@pytest.mark.parametrize("options", [{"fuse": False}, {"exact": True}, {"recurrence": False}])
@pytest.mark.parametrize("function", proofs.PROGRAMS, ids=lambda function: function.__name__)
def test_options(function: Any, options: dict[str, bool]) -> None:
    proved(planned(function, (2, 2), options=ssr.Options(**options)))


def test_calls_are_proved_before_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With SSR_VERIFY=1 each state of what boxes have of others is proved, before anything runs."""
    monkeypatch.setenv("SSR_VERIFY", "1")
    on = bc.distribute(proofs.cells, bc.simulated_ranks(2), n=6, m=5)
    x, y = on.scatter(proofs.cells, np.arange(30.0).reshape(6, 5)), on.zeros(proofs.cells)
    given = ssr.program(x=proofs.cells, y=proofs.cells)
    product, relaxed = given(proofs.product), given(proofs.relaxed)
    for program in product, product, relaxed, product:
        program(x, y)
    monkeypatch.setattr("boundary.parallel.schedules.plan.exchanges", lambda *_: ())
    with pytest.raises(AssertionError, match="schedule of two_products: "):
        given(proofs.two_products)(x, y)


def test_programs_that_read_too_much_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With SSR_VERIFY=1 a warning names a program that is not run on terms."""
    monkeypatch.setenv("SSR_VERIFY", "1")
    monkeypatch.setattr("boundary.parallel.verify.proof.MOST", 100)
    monkeypatch.setattr("boundary.parallel.verify.proof._WARNED", {})
    on = bc.distribute(proofs.cells, bc.simulated_ranks(2), n=20, m=10)
    x, y = on.zeros(proofs.cells), on.zeros(proofs.cells)
    program = ssr.program(x=proofs.cells, y=proofs.cells)(proofs.product)
    told = (
        "The order of reads and writes of product is proved, and its tables are not: a call reads "
        "about 600 values, and SSR_VERIFY=1 proves the tables of up to 100 reads. Run the program "
        "on a smaller grid with as many boxes."
    )
    with ranks.plain_kernels(), pytest.warns(RuntimeWarning) as found:
        program(x, y)
    assert [(str(each.message), each.filename) for each in found] == [(told, __file__)]


SAID = {
    "on_sets": (
        "row on rank 0, box 0 reads what nothing has written in x[4, 0], not x as it was given"
    ),
    "on_terms": (
        "y[3, 0] of rank 0, box 0 is not what one array holds; row_0 of y at row (3, 0) on rank 0 "
        "reads what nothing has written, not x[4, 0] as it was given"
    ),
}


@pytest.mark.parametrize("proof", proofs.PROOFS, ids=lambda proof: proof.__name__)
def test_messages_name_the_read(proof: Any) -> None:
    """A message names the row, and what it should read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boundary.parallel.schedules.plan.exchanges", lambda *_: ())
        with pytest.raises(AssertionError) as raised:
            proof(planned(proofs.product, (2, 1)))
    assert str(raised.value) == f"schedule of product: {SAID[proof.__name__]}"


@pytest.mark.parametrize("function", proofs.PROGRAMS, ids=lambda function: function.__name__)
def test_large_grids(function: Any) -> None:
    """Sets of elements prove schedules at any size: nothing is allocated or run for each point."""
    proofs.on_sets(planned(function, (2, 2), sizes=(200_000, 100_000)))


def test_large_grids_need_rules() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boundary.parallel.schedules.messages.disjoint", lambda boxes: [*boxes][1:])
        with pytest.raises(AssertionError, match="what nothing has written in x"):
            proofs.on_sets(planned(proofs.product, (2, 2), sizes=(200_000, 100_000)))


def test_terms() -> None:
    """Equal bits are equal terms; anything else is another term."""
    with provenance.terms():
        a, b, c = (provenance.leaf(name) for name in "abc")
        assert (a + b) is (b + a)
        assert (a - b) is (-b + a)
        assert (-0.0 + a) is a
        assert (1.0 * a) is a
        assert (-2.0 * a + b) is (b - a * 2.0)
        assert (a + b) + c is not a + (b + c)
        assert 0.0 + a is not a
        assert a / b is not b / a
        assert (a < b) is not (a >= b)
        assert provenance.leaf("e") * float("nan") is provenance.leaf("e") * (0.0 * float("inf"))
        fma = scope(labelled=False)["fma"]
        assert fma(-a, b, c) is not fma(a, b, c)
        assert fma(-a, b, c) is fma(a, -b, c)
        assert fma(0.0, a, c) is c
        bundle = np.array([a, b], object)
        assert list(c * bundle) == [c * a, c * b]
