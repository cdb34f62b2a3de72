"""Right sides on flat vectors for SciPy, and their Jacobians as sparse matrices and operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.sparse

import boundary as bc
import ssr
from ssr.errors import ArgumentError, ShapeError, UnsupportedError
from ssr.integrate import FlatRightSide

from .test_implicit import along, fill, heat, near, plane

line = ssr.Space(ssr.size("n"))
ring = bc.fill(line.grow(1), bc.periodic())
bend = ssr.stencil(line, line.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})


@ssr.integrate.rhs(u=line, v=line, k=ssr.scalar)
def brusselator(t: Any, u: Any, v: Any, k: Any) -> Any:
    """Return the rates of a chemical oscillation with diffusion on a ring."""
    rate = u**2 * v
    return 1.0 + rate - 4.0 * u + k * (bend @ (ring @ u)), 3.0 * u - rate + k * (bend @ (ring @ v))


@ssr.integrate.rhs(u=plane, w=plane.vector(2))
def coupled(t: Any, u: Any, w: Any) -> Any:
    """Return rates with choices, a product with ghost points, and a function of stored values."""
    U = fill.bind(g=ssr.sin(t)) @ u
    rate = ssr.materialize(ssr.exp(-u * u) * w[0])
    moved = ssr.where(w[1] > 0.2, along @ U, near @ (U * U))
    chosen = ssr.vector(ssr.maximum(u, w[1]), -ssr.minimum(u, w[0]))
    return rate * moved, chosen + ssr.tan(0.1 * rate)


def test_the_jacobian_has_the_entries_of_its_products() -> None:
    """And no others: the structure is exact for a right side of many functions."""
    rng = np.random.default_rng(0)
    u, w = rng.random((6, 7)), rng.random((2, 6, 7))
    f = FlatRightSide(coupled, (u, w))
    y = f.pack((u, w))
    J = f.jac(0.4, y)
    products = f.operator(0.4, y) @ np.eye(f.size)
    assert np.allclose(J.toarray(), products, rtol=1e-12, atol=1e-14)
    assert J.has_canonical_format
    assert J.nnz == 42 * ((5 + 1) + (1 + 2) + (1 + 1)) - 7 * 2  # u and w, less beyond the sides
    assert np.array_equal(f(0.4, y), f.pack(coupled(0.4, u, w)))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_columns_that_meet_are_added(n: int) -> None:
    """On a short ring both neighbours are one point."""
    u, v = np.random.default_rng(n).random((2, n))
    f = FlatRightSide(brusselator, (u, v))
    y = f.pack((u, v))
    L = np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0) - 2.0 * np.eye(n)
    d = np.diag
    exact = np.block(
        [
            [d(2 * u * v - 4.0) + 0.3 * L, d(u * u)],
            [d(3.0 - 2 * u * v), -d(u * u) + 0.3 * L],
        ]
    )
    J = f.jac(0.0, y, 0.3)
    assert isinstance(J, scipy.sparse.csc_array)
    assert np.allclose(J.toarray(), exact, rtol=1e-14)
    assert J.nnz == 2 * n * (min(n, 3) + 1)


@pytest.mark.parametrize("method", ["Radau", "RK45"])
def test_solve_ivp_of_scipy(method: str) -> None:
    y0 = np.random.default_rng(1).random((2, 20))
    f = FlatRightSide(brusselator, tuple(y0))
    how: Any = {} if method == "RK45" else {"jac": f.jac}
    found = scipy.integrate.solve_ivp(
        f, (0.0, 1.0), f.pack(tuple(y0)), method, args=(0.5,), rtol=1e-8, atol=1e-8, **how
    )
    ours = ssr.integrate.solve_ivp(brusselator, (0.0, 1.0), tuple(y0), args=(0.5,), rtol=1e-9)
    assert np.allclose(np.stack(f.unpack(found.y[:, -1])), ours.y[0], atol=1e-5)


def test_sides_of_a_plane() -> None:
    """A side whose value changes in time has no entries; one column for each neighbour."""
    f = FlatRightSide(heat, np.empty((3, 4)))
    y = np.random.default_rng(0).random(12)
    e = 1e-6 * np.eye(12)
    differences = [(f(0.3, y + d) - f(0.3, y - d)) / 2e-6 for d in e]
    assert np.allclose(f.jac(0.3, y).toarray(), np.stack(differences, 1), atol=1e-7)


def test_vectors_of_other_types() -> None:
    f = FlatRightSide(brusselator, (np.ones(3), np.ones(3)))
    y = np.arange(6)
    expected = f(0.0, y.astype(float), 0.5)
    assert np.array_equal(f(0.0, y, 0.5), expected)
    assert np.array_equal(f(0.0, np.arange(12.0)[::2] / 2, 0.5), expected)
    assert np.array_equal(f(0.0, y.astype(np.float32), 0.5), expected)
    assert f(0.0, y, 0.5) is not f(0.0, y, 0.5)
    u, v = f.unpack(expected)
    assert np.shares_memory(u, expected)
    assert np.shares_memory(v, expected)


def test_right_sides_without_entries() -> None:
    stored = ssr.from_scipy(scipy.sparse.eye_array(3), rows=line, cols=line)

    @ssr.integrate.rhs(u=line)
    def mixed(t: Any, u: Any) -> Any:
        return -(stored @ (u * u))

    f = FlatRightSide(mixed, np.ones(3))
    with pytest.raises(UnsupportedError, match="has no rows of entries"):
        f.jac(0.0, np.ones(3))
    assert np.allclose(f.operator(0.0, np.arange(3.0)) @ np.ones(3), [0.0, -2.0, -4.0])


def test_arguments_that_do_not_fit() -> None:
    f = FlatRightSide(brusselator, (np.ones(3), np.ones(3)))
    with pytest.raises(ShapeError, match=r"y has shape \(5,\), not \(6,\)"):
        f(0.0, np.ones(5), 0.5)
    with pytest.raises(ArgumentError, match="not a vector of real numbers"):
        f(0.0, np.ones(6, complex), 0.5)
    with pytest.raises(ArgumentError, match="0 values are given for the arguments"):
        f.jac(0.0, np.ones(6))
    with pytest.raises(ShapeError, match=r"unknown v has shape \(2,\), not \(3,\)"):
        f.pack((np.ones(3), np.ones(2)))
    with pytest.raises(ShapeError):
        FlatRightSide(brusselator, (np.ones(3), np.ones(4)))
    on = bc.distribute(line, bc.simulated_ranks(2), n=4)
    with pytest.raises(ArgumentError, match="no fields of several ranks"):
        FlatRightSide(brusselator, (on.zeros(line), on.zeros(line)))
