"""Conditions that determine no ghost, recognised in spite of rounding."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundary as bc
import ssr
from ssr.errors import ArgumentError

from ...random_examples import examples


@examples(25)
@given(
    b=st.floats(0.01, 100.0),
    h=st.floats(1e-3, 1e3),
    layer=st.integers(0, 2),
    end=st.sampled_from(["low", "high"]),
    order=st.sampled_from([None, 2, 3]),
)
def test_a_singular_robin_condition_is_recognised_for_all_numbers(
    b: float, h: float, layer: int, end: Any, order: int | None
) -> None:
    """Numbers are computed as users do: the condition is singular but for their rounding."""
    if order is None:
        a = -2 * b / ((2 * layer + 1) * h)
    else:  # a prod(-x) + b/h (prod(-x))' = 0 at the points x = 1/2, 3/2, ...
        a = -b / h * sum(1 / (n + 0.5) for n in range(order - 1))
    space = ssr.Space(6).grow(3)
    wanted: dict[str, Any] = {"side": end, "spacing": h, "order": order}
    with pytest.raises(ArgumentError, match="is singular"):
        bc.fill(space, bc.robin(a, b, 1.0, **wanted), bc.zero())
    bc.fill(space, bc.robin(a * (1 + 1e-12), b, 1.0, **wanted), bc.zero())
