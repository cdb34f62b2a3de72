"""Assignments mean what they mean in NumPy, in place or not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ssr

from .. import memory, plain
from .. import strategies as some

Array = np.ndarray[Any, Any]


class Dense:
    """A matrix with the operations of `ssr.Matrix`, in NumPy."""

    def __init__(self, whole: Array) -> None:
        self.whole = whole

    def tril(self, k: int = 0) -> "Dense":
        return Dense(np.tril(self.whole, k))

    def triu(self, k: int = 0) -> "Dense":
        return Dense(np.triu(self.whole, k))

    def __matmul__(self, x: Array) -> Array:
        return (self.whole @ x.ravel()).reshape(x.shape)

    def solve(self, b: Array) -> Array:
        return np.linalg.solve(self.whole, b.ravel()).reshape(b.shape)


def body(kind: str, S: Any, T: Any, x: Any, y: Any) -> None:
    """Assign fields in one of some ways: for symbols and for NumPy arrays alike."""
    match kind:
        case "product":
            x[:] = S @ x
        case "relaxed":
            x[:] = x + 0.5 * (y - S @ x) - x * y
        case "upper":
            x[:] = S.triu(1) @ x + 0.25 * y
        case "lower":
            x[:] = 2.0 - S.tril() @ x / 3.0
        case "solve itself":
            x[:] = T.tril().solve(x)
        case "solve, all old":
            x[:] = T.tril().solve(y - S @ x)
        case "backward, all old":
            x[:] = T.triu().solve(S @ x)
        case "factors":
            x[:] = T.triu().solve(T.tril().solve(y - T @ x)) + x
        case "two":
            x[:] = S @ y
            y[:] = x * y - S @ (x - y)
        case "symmetric":
            x[:] = T.tril().solve(y - T.triu(1) @ x)
            x[:] = T.triu().solve(y - T.tril(-1) @ x)
        case _:
            raise AssertionError(kind)


KINDS = [
    "product", "relaxed", "upper", "lower", "solve itself", "solve, all old",
    "backward, all old", "factors", "two", "symmetric",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@some.examples(6)
@given(data=st.data(), seed=memory.seeds, exact=st.booleans())
def test_assignment_has_numpy_meaning(
    kind: str, data: st.DataObject, seed: int, exact: bool
) -> None:
    grid = data.draw(some.grids(data.draw(st.integers(1, 3))))
    space = grid.space()
    S, T = (
        ssr.stencil(space, space, weights, outside="zero")
        for weights in (
            data.draw(some.stencils(grid.ndim)),
            some.dominant(data.draw(some.stencils(grid.ndim))),
        )
    )
    options = ssr.Options(exact=exact)

    def assign(x: Any, y: Any) -> None:
        body(kind, S, T, x, y)

    program = ssr.program(x=space, y=space, options=options)(assign)
    rng = np.random.default_rng(seed)
    x, y = (memory.array(rng, grid.shape, "float64", data.draw(memory.layouts)) for _ in "xy")
    expected = x.copy(), y.copy()
    dense = [Dense(M.bind(**grid.sizes).to_scipy().toarray()) for M in (S, T)]
    body(kind, *dense, *expected)
    plain.run(program, x, y)
    for made, meant in zip((x, y), expected, strict=True):
        plain.check_close(made, meant, 100 + np.max(np.abs(meant)), 4e-15)
    assert memory.untouched(x)
    assert memory.untouched(y)
