"""What `bc.synchronize` returns is a matrix: transposes, products, sums, operators."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg

import boundary as bc
import ssr
from boundary.synchronization.oracle import synchronization

rod = bc.Grid(2 * [(4,)], links=bc.topologies.bricks(2))
nodes = rod.cells.nodes()
A = ssr.stencil(nodes, nodes, {(0, -1): -1.0, (0, 0): 2.5, (0, 1): -1.0}, outside="zero")
same = bc.synchronize(nodes)
P, dense = same.to_scipy().toarray(), A.to_scipy().toarray()


def data(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).standard_normal(shape)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


n, m = ssr.sizes("n m")
sphere = bc.Grid(6 * [(3, 3)], links=bc.cubed_sphere())
corner = bc.Grid([(2, 3), (4, 3)], links=[bc.join(2, bc.Side(0, 0, "high"), bc.Side(1, 0, "low"))])
square = bc.Grid(4 * [(n, m)], links=bc.topologies.two_by_two())
random = np.random.default_rng(3).uniform(0.5, 2.0, (6, 4, 4))
turns = np.eye(2)[:, :, None, None, None] + 0.3 * np.random.default_rng(4).random((2, 2, 6, 4, 4))

CASES: dict[str, tuple[bc.Synchronize, dict[str, int]]] = {
    "line": (same, {}),
    "owner": (bc.synchronize(nodes, how="owner"), {}),
    "weights": (bc.synchronize(nodes, weights=[3.0, 1.0]), {}),
    "sphere": (bc.synchronize(sphere.cells.nodes()), {}),
    "fluxes": (bc.synchronize(sphere.cells.faces(0), sphere.cells.faces(1)), {}),
    "vectors": (bc.synchronize(sphere.cells.nodes().vector(2)), {}),
    "weights of points": (bc.synchronize(sphere.cells.nodes(), weights=random), {}),
    "basis": (bc.synchronize(sphere.cells.nodes().vector(2), basis=turns), {}),
    "kinds": (bc.synchronize(*(k.nodes() for k in corner.kinds)), {}),
    "vectors of kinds": (bc.synchronize(*(k.nodes().vector(2) for k in corner.kinds)), {}),
    "sizes": (bc.synchronize(square.cells.nodes()), {"n": 3, "m": 2}),
    "one cell": (bc.synchronize(square.cells.nodes()), {"n": 1, "m": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_entries(name: str) -> None:
    of, sizes = CASES[name]
    of = of.bind(**sizes)
    wanted = synchronization(of.means, sizes).toarray()
    close(of.linear.to_scipy().toarray(), wanted)
    close(of.T.to_scipy().toarray(), wanted.T)
    close(of.to_scipy().toarray(), wanted)
    x = data(wanted.shape[1])
    close(of.aslinearoperator() @ x, wanted @ x)
    close(of.aslinearoperator().rmatvec(x), wanted.T @ x)
    close((2.0 * of - of @ of).to_scipy().toarray(), 2.0 * wanted - wanted @ wanted)
    close((2.0 * of - of @ of).linear.to_scipy().toarray(), 2.0 * wanted - wanted @ wanted)


def test_products_and_sums() -> None:
    close((same @ A).to_scipy().toarray(), P @ dense)
    close((same @ A).linear.to_scipy().toarray(), P @ dense)
    close((same @ A).T.to_scipy().toarray(), dense.T @ P.T)
    close((A @ same).linear.to_scipy().toarray(), dense @ P)
    close((same.T @ A @ same.linear).to_scipy().toarray(), P.T @ dense @ P)
    close((A - 0.5 * same).to_scipy().toarray(), dense - 0.5 * P)
    close((-same / 2.0 + same).linear.to_scipy().toarray(), 0.5 * P)
    assert [factor.name for factor in (same @ A).factors] == [same.name, A.name]
    x = data(2, 5)
    close(((same @ A) @ x).ravel(), P @ dense @ x.ravel())
    close((same.T @ x).ravel(), P.T @ x.ravel())
    close((same @ A).offset, np.zeros((2, 5)))


def test_a_fill_after_it() -> None:
    wide = nodes.grow(1)
    fill = bc.fill(wide, bc.linked(), bc.dirichlet(1.0))
    star = ssr.stencil(nodes, wide, {(0, -1): 1.0, (0, 0): -2.0, (0, 1): 1.0})
    H = star @ (fill @ same)
    x = data(2, 5)
    close(H @ x, star @ (fill @ (same @ x)))
    close(H.linear.to_scipy().toarray(), (star @ fill).to_scipy().toarray() @ P)
    with pytest.raises(ssr.errors.UnsupportedError, match="has an offset"):
        H.aslinearoperator()


def test_symbolic_sizes() -> None:
    symbolic = bc.synchronize(square.cells.nodes())
    assert symbolic.linear.sizes == ("m", "n")
    x = data(4, 4, 3)
    close(symbolic.linear @ x, symbolic @ x)
    with pytest.raises(ssr.errors.UnboundError, match="size m"):
        symbolic.to_scipy()
    with pytest.raises(ssr.errors.ArgumentError, match="no parameter 'k'"):
        symbolic.bind(k=3)
    with pytest.raises(ssr.errors.ArgumentError, match="not a positive integer"):
        symbolic.bind(n=0)


def test_solvers() -> None:
    """The assembled operator of shared nodes: elements that add up, and their mean."""
    S = (same.T @ A @ same.linear) + 0.1 * ssr.identity(nodes)
    b = data(2, 5)
    x, info = ssr.solvers.cg(S, b, rtol=1e-12)
    assert info == 0
    close(S.to_scipy() @ x.ravel(), b.ravel())
    H = same @ A + ssr.identity(nodes)
    x, info = ssr.solvers.bicgstab(H.linear, b, rtol=1e-13)
    assert info == 0
    np.testing.assert_allclose(H @ x, b, rtol=1e-10, atol=1e-10)
    y, info = scipy.sparse.linalg.gmres(H.aslinearoperator(), b.ravel(), rtol=1e-12)
    assert info == 0
    np.testing.assert_allclose(y, x.ravel(), rtol=1e-9)


@ssr.program(x=nodes, y=nodes, z=nodes)
def apply(x: Any, y: Any, z: Any) -> Any:
    y[:] = (same @ A) @ x
    z[:] = same.T @ y + (2.0 * same - A) @ x
    return ssr.dot(z, y)


def test_programs_on_ranks_and_threads() -> None:
    x, y, z = data(2, 5), np.zeros((2, 5)), np.zeros((2, 5))
    number = apply(x, y, z)
    close(y.ravel(), P @ dense @ x.ravel())
    close(z.ravel(), P.T @ y.ravel() + (2.0 * P - dense) @ x.ravel())
    for world in bc.simulated_ranks(2), bc.simulated_ranks(5), bc.threads(2):
        on = bc.distribute(rod, world)
        fields = on.scatter(nodes, x), on.zeros(nodes), on.zeros(nodes)
        assert apply(*fields) == number
        assert np.array_equal(fields[1].gather(), y)
        assert np.array_equal(fields[2].gather(), z)
        assert np.array_equal((same @ fields[0]).gather(), same @ x)
        assert np.array_equal((same.T @ fields[0]).gather(), same.T @ x)


def test_stored_parts_on_ranks() -> None:
    """A basis makes the transpose a stored matrix of blocks."""
    of, _ = CASES["basis"]
    kind = sphere.cells.nodes().vector(2)

    @ssr.program(x=kind, y=kind)
    def both(x: Any, y: Any) -> None:
        y[:] = of.T @ (of @ x)

    x, y = data(2, 6, 4, 4), np.zeros((2, 6, 4, 4))
    both(x, y)
    close(y.ravel(), of.to_scipy().T @ (of.to_scipy() @ x.ravel()))
    on = bc.distribute(sphere, bc.simulated_ranks(3))
    fields = on.scatter(kind, x), on.zeros(kind)
    both(*fields)
    assert np.array_equal(fields[1].gather(), y)
    assert np.array_equal((of.T @ fields[0]).gather(), of.T @ x)
