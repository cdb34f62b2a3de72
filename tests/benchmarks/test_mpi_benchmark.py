"""Goals of programs on two ranks: which ratio is compared with which limit."""

import pytest

from benchmarks import mpi


def test_exchanges_are_compared_without_the_products() -> None:
    found = {
        "ours": [5.0, 4.0], "ours, product": [1.0, 2.0],
        "by hand": [6.0, 7.0], "by hand, product": [2.0, 3.0], "by hand, testing": [6.5, 9.0],
        "NumPy": [12.0, 11.0],
    }  # fmt: skip
    hand, numpy = mpi.goals("exchange of rows", found, 1.0)
    assert (hand.least, hand.met) == (0.75, True)
    assert hand.quartiles[1] == pytest.approx((4.0 / 4.0 + 2.0 / 4.0) / 2)
    assert numpy.least == pytest.approx(3.0 / 9.0)


def test_two_cores_are_compared_with_the_triad() -> None:
    found = {"one core": [10.0, 11.0], "two cores": [6.0, 7.0]}
    (goal,) = mpi.goals("shallow water 96", found, 0.8)
    assert goal.least == pytest.approx(10.0 / 12.0)
    assert goal.limit == pytest.approx(0.95 * 0.8)
    assert goal.met
    assert goal.row()[0] == "efficiency"
