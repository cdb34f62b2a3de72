"""The linear part of fills of vectors whose weights come from tables, and its transpose."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr

N = 4
grid = bc.Grid(6 * [(N, N)], links=bc.cubed_sphere())
cells = grid.cells
wide = cells.grow(1)
turns = np.random.default_rng(0).standard_normal((6, 4, 2, 2, 1, N))
fill = bc.fill(wide.vector(2), bc.transform_vector(turns) @ bc.linked())
NEAR = {(0, 0, 0): -4.0, (0, 0, 1): 1.0, (0, 0, -1): 2.0, (0, 1, 0): 0.5, (0, -1, 0): 0.25}
star = ssr.stencil(cells, wide, NEAR)
MATRIX = fill.to_scipy()


def data(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)


def defined() -> Any:
    """Return the rows of the matrix that a fill defines: all but those of corners."""
    inside = np.ones((2, 6, N + 2, N + 2), bool)
    inside[..., [0, 0, -1, -1], [0, -1, 0, -1]] = False
    return inside.ravel()


def test_the_matrix_is_the_fill() -> None:
    x = data(2, 6, N, N)
    rows = defined()
    close((MATRIX @ x.ravel())[rows], (fill @ x).ravel()[rows])
    close((fill.linear @ x).ravel(), MATRIX @ x.ravel())
    assert (fill.linear.to_scipy() != MATRIX).nnz == 0
    assert (fill.T.to_scipy() != MATRIX.T).nnz == 0


def test_the_ghosts_turn_components() -> None:
    """Block 0's ghosts at the low side of axis 1 are turned points of the block beside it."""
    x = data(2, 6, N, N)
    plain = bc.fill(wide, bc.linked())
    copied = np.stack([plain @ x[c] for c in (0, 1)])[:, 0, 1:-1, 0]
    made = (fill.linear @ x)[:, 0, 1:-1, 0]
    close(made, np.einsum("cdn,dn->cn", turns[0, 2, :, :, 0], copied))


def test_the_adjoint() -> None:
    """Sums of products with x and y are the same on both sides, in a program and on ranks."""
    kind, more = cells.vector(2), wide.vector(2)

    @ssr.program(x=kind, z=kind, y=more)
    def adjoint(x: Any, z: Any, y: Any) -> Any:
        z[:] = fill.T @ y
        return ssr.dot(x, z)

    x, y, z = data(2, 6, N, N), data(2, 6, N + 2, N + 2), np.zeros((2, 6, N, N))
    number = adjoint(x, z, y)
    close(number, y.ravel() @ (MATRIX @ x.ravel()))
    close(z.ravel(), MATRIX.T @ y.ravel())
    for world in bc.simulated_ranks(2), bc.simulated_ranks(6), bc.threads(2):
        on = bc.distribute(grid, world)
        fields = on.scatter(kind, x), on.zeros(kind), on.scatter(more, y)
        assert adjoint(*fields) == number
        assert np.array_equal(fields[1].gather(), z)


def test_products() -> None:
    H = ssr.kron(np.eye(2), star) @ fill
    both = scipy.sparse.kron(scipy.sparse.eye_array(2), star.to_scipy()) @ MATRIX
    x, y = data(2, 6, N, N), data(2, 6, N, N) + 1.0
    close(H.to_scipy().toarray(), both.toarray())
    close(H.linear.to_scipy().toarray(), both.toarray())
    close((H @ x).ravel(), both @ x.ravel())
    close((H.T @ y).ravel(), both.T @ y.ravel())
    normal = H.T @ H.linear
    close(normal.to_scipy().toarray(), (both.T @ both).toarray())


def test_interpolated_vectors() -> None:
    """Tables of interpolation, too."""
    first, weights = np.zeros((1, N), int), np.random.default_rng(5).random((1, N, 2))
    mean = bc.interpolate(first, weights) @ bc.linked()
    both = bc.fill(wide.vector(2), bc.transform_vector(turns) @ mean)
    x, rows = data(2, 6, N, N), defined()
    close((both.linear @ x).ravel()[rows], (both @ x).ravel()[rows])
    close(both.T.to_scipy().toarray(), both.to_scipy().T.toarray())


def test_blocks_of_several_shapes() -> None:
    """Two lines of other lengths, whose common ghosts are turned."""
    pair = bc.Grid(
        [(2, 3), (4, 3)], links=[bc.join(2, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"))]
    )
    spaces = tuple(k.grow(1, 0).vector(2) for k in pair.kinds)
    tables = np.random.default_rng(1).standard_normal((2, 4, 2, 2, 1, 3))
    fill = bc.fill(spaces, bc.transform_vector(tables) @ bc.linked(), bc.zero(axis=0))
    u = data(2, 1, 2, 3), data(2, 1, 4, 3)
    flat = np.concatenate([a.ravel() for a in u])
    made = np.concatenate([a.ravel() for a in fill @ u])
    close(fill.to_scipy() @ flat, made)
    apart = fill.linear @ tuple(c for a in u for c in a)
    close(np.concatenate([a.ravel() for a in apart]), made)
    assert (fill.T.to_scipy() != fill.to_scipy().T).nnz == 0


def test_sizes_must_be_bound() -> None:
    n = ssr.size("n")
    symbolic = bc.Grid(6 * [(n, n)], links=bc.cubed_sphere()).cells.grow(1).vector(2)
    turned = bc.fill(symbolic, bc.transform_vector(turns) @ bc.linked())
    with pytest.raises(ssr.errors.UnboundError, match="size n"):
        turned.linear  # noqa: B018
    assert (turned.bind(n=N).T.to_scipy() != MATRIX.T).nnz == 0


def test_stored_matrices_and_fills() -> None:
    line = ssr.Space(3)
    S = ssr.from_scipy(scipy.sparse.csr_array(data(3, 5)), rows=line, cols=line.grow(1))
    ends = bc.fill(line.grow(1), bc.dirichlet(1.0))
    x = data(3)
    close((S @ ends) @ x, S @ (ends @ x))
    close((S @ ends).to_scipy().toarray(), S.to_scipy() @ ends.to_scipy().toarray())
    A = ssr.stencil(line, line.grow(1), {-1: 1.0, 1: 1.0})
    close((S @ ends + A @ ends) @ x, S @ (ends @ x) + A @ (ends @ x))
