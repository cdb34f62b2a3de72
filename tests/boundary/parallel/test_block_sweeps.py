"""Sweeps with dense diagonal blocks within the boxes of ranks, against dense matrices."""

from typing import Any

import numpy as np

import boundary as bc
import ssr

from .ranks import plain_kernels

cells = ssr.Space(*ssr.sizes("nj ni"))
fields = cells.vector(2)


@ssr.matrix(rows=fields, cols=fields, u=fields)
def A(j: Any, i: Any, *, u: Any) -> Any:
    """Yield blocks that couple a point with the two before it."""
    yield (j, i), [[4.0, u[0, j, i]], [u[1, j, i], 3.0]]
    for c in (j - 1, i), (j, i - 1):
        if c in cells:
            yield c, [[u[0, *c], 0.5], [0.0, u[1, *c]]]


@ssr.program(x=fields, b=fields, u=fields)
def sweep(x: Any, b: Any, u: Any) -> None:
    """Solve within boxes, with old values beyond them."""
    L = A.bind(u=u)
    x[:] = L.rank_local().solve(b - L @ x + L.rank_local() @ x)


def test_sweeps_within_boxes() -> None:
    x, b, u = np.random.default_rng(5).random((3, 2, 6, 5))
    on = bc.distribute(cells, bc.simulated_ranks(2), nj=6, ni=5)
    given = [on.empty(fields) for _ in range(3)]
    for field, values in zip(given, (x, b, u), strict=True):
        field.fill(lambda j, i, v=values: v[:, np.asarray(j), np.asarray(i)])
    with plain_kernels():
        sweep(*given)
    L = A.bind(u=u).to_scipy().toarray()
    box = np.tile(np.arange(30) // 5 >= 3, 2)
    near = L * (box[:, None] == box)
    expected = np.linalg.solve(near, b.ravel() - (L - near) @ x.ravel())
    np.testing.assert_allclose(np.array(given[0].gather()).ravel(), expected, rtol=1e-12)
