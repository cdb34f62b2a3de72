"""Alternating directions: convergence, dense algebra, blocks along lines, ranks and threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ArgumentError, OutOfRangeError, UnsupportedError
from ssr.integrate import ADI
from ssr.integrate.implicit.adi import ADI_METHODS

cells = ssr.Space(*ssr.sizes("ny nx"))
wide = cells.grow(1)
sides = bc.fill(
    wide, bc.periodic(1), bc.dirichlet(bc.parameter("g"), 0, "low"), bc.neumann(0.3, 0, "high")
)
crossed = ssr.stencil(cells, wide, {(1, 1): 0.25, (-1, -1): 0.25, (1, -1): -0.25, (-1, 1): -0.25})


def conduct(axis: int) -> Any:
    """Return conduction along an axis, with a side whose value changes in time."""
    bend = ssr.difference(cells, wide, axis=axis, derivative=2)

    @ssr.integrate.rhs(u=cells)
    def along(t: Any, u: Any) -> Any:
        return bend @ (sides.bind(g=ssr.sin(2.0 * t)) @ u)

    return along


@ssr.integrate.rhs(u=cells)
def rest(t: Any, u: Any) -> Any:
    """Return a mixed derivative and a reaction."""
    return 0.3 * (crossed @ (sides.bind(g=ssr.sin(2.0 * t)) @ u)) - u**3


def power(axis: int) -> Any:
    """Return conduction that depends on the temperature, along an axis."""
    bend = ssr.difference(cells, wide, axis=axis, derivative=2)

    @ssr.integrate.rhs(u=cells, k=cells)
    def along(t: Any, u: Any, k: Any) -> Any:
        return k * (bend @ ((sides.bind(g=ssr.sin(2.0 * t)) @ u) ** 2))

    return along


linear, nonlinear = [conduct(0), conduct(1)], [power(0), power(1)]


def start() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return 1.0 + 0.2 * rng.random((3, 4)), 0.5 + rng.random((3, 4))


def order(parts: Any, method: str, args: Any = (), explicit: Any = None) -> float:
    """Return the order of convergence from three solutions."""
    found = []
    for steps in 40, 80, 160:
        u, _ = start()
        ADI(parts, 0.0, u, 1.0 / steps, method, args, explicit=explicit).advance(1.0)
        found.append(u)
    return math.log2(abs(found[0] - found[1]).max() / abs(found[1] - found[2]).max())


@pytest.mark.parametrize("method", ADI_METHODS)
def test_order_of_convergence(method: str) -> None:
    """Methods of one sweep treat an explicit part at order 1; those of two sweeps at order 2."""
    again = ADI_METHODS[method].reference is not None
    assert abs(order(linear, method, explicit=rest if again else None) - 2) < 0.15


def test_linearised_equations_keep_the_order() -> None:
    assert abs(order(nonlinear, "Douglas", (start()[1],)) - 2) < 0.15


def test_parts_of_linear_right_sides_in_three_dimensions() -> None:
    """Douglas and Gunn: a product of one matrix for each axis, and steps of several lengths."""
    box = ssr.Space(*ssr.sizes("nz ny nx"))
    outer = box.grow(1)
    fill = bc.fill(outer, bc.dirichlet(0.0, 0), bc.symmetric(1), bc.periodic(2))
    lines = [ssr.difference(box, outer, axis=axis, derivative=2) @ fill for axis in range(3)]

    def part(A: Any) -> Any:
        @ssr.integrate.rhs(u=box)
        def along(t: Any, u: Any) -> Any:
            return A @ u

        return along

    u = np.random.default_rng(1).random((2, 3, 5))
    exact = u.ravel()
    run = ADI([*map(part, lines)], 0.0, u, 0.7, theta=0.6)
    dense = [A.linear.bind(nz=2, ny=3, nx=5).to_scipy().toarray() for A in lines]
    for dt in 0.7, 2.0:
        change = dt * sum(dense) @ exact
        for A in dense:
            change = np.linalg.solve(np.eye(30) - 0.6 * dt * A, change)
        exact = exact + change
        run.dt = dt
        run.step()
        assert np.allclose(u.ravel(), exact, rtol=1e-12)


def test_peaceman_and_rachford() -> None:
    A = [
        (ssr.difference(cells, wide, axis=axis, derivative=2) @ bc.fill(wide, bc.dirichlet(0.0)))
        for axis in (0, 1)
    ]

    def part(A: Any) -> Any:
        @ssr.integrate.rhs(u=cells)
        def along(t: Any, u: Any) -> Any:
            return A @ u

        return along

    u = np.random.default_rng(1).random((4, 3))
    X, Y = (0.4 * a.linear.bind(ny=4, nx=3).to_scipy().toarray() for a in A)
    one = np.eye(12)
    half = np.linalg.solve(one - X, (one + Y) @ u.ravel())
    exact = np.linalg.solve(one - Y, (one + X) @ half)
    ADI([*map(part, A)], 0.0, u, 0.8, "PeacemanRachford").step()
    assert np.allclose(u.ravel(), exact, rtol=1e-12)


def test_unknowns_that_are_coupled_along_lines() -> None:
    """A wave along the first axis: blocks of two; a scalar that is only carried along; a decay."""

    def part(axis: int) -> Any:
        slope = ssr.axis_stencil(cells, wide, axis, {-1: -0.5, 1: 0.5})

        @ssr.integrate.rhs(w=cells.vector(2), q=cells, c=ssr.scalar)
        def along(t: Any, w: Any, q: Any, c: Any) -> Any:
            W = bc.fill(wide.vector(2), bc.periodic()) @ w
            if axis:
                return 0.0 * w, -0.5 * q
            return -c * ssr.vector(slope @ W[1], slope @ W[0]), c * (slope @ (ring @ q))

        return along

    ring = bc.fill(wide, bc.periodic())
    rng = np.random.default_rng(1)
    w, q = rng.random((2, 5, 3)), rng.random((5, 3))
    S = 0.5 * (np.roll(np.eye(5), 1, 1) - np.roll(np.eye(5), -1, 1))
    M = np.block([[np.zeros((5, 5)), -2.0 * S], [-2.0 * S, np.zeros((5, 5))]])
    first = np.linalg.solve(np.eye(10) - 0.3 * M, 0.6 * M @ w.reshape(10, 3))
    change = 0.6 * (2.0 * S @ q - 0.5 * q)
    second = np.linalg.solve(np.eye(5) - 0.3 * 2.0 * S, change) / (1 + 0.3 * 0.5)
    expected = w + first.reshape(2, 5, 3), q + second
    ADI([part(0), part(1)], 0.0, (w, q), 0.6, args=(2.0,)).step()
    assert np.allclose(w, expected[0], rtol=1e-12)
    assert np.allclose(q, expected[1], rtol=1e-12)


def test_threads_have_the_same_bits() -> None:
    u, k = start()
    on = bc.distribute(cells, bc.threads(2), ny=3, nx=4)
    fields = on.scatter(cells, u), on.scatter(cells, k)
    for y, args in (u, (k,)), (fields[0], (fields[1],)):
        ADI(nonlinear, 0.0, y, 0.1, args=args).advance(0.25)
    assert np.array_equal(fields[0].gather(), u)


def test_single_precision() -> None:
    u, _ = start()
    v = u.astype(np.float32)
    for y in u, v:
        ADI(linear, 0.0, y, 0.1).advance(0.5)
    assert v.dtype == np.float32
    assert np.allclose(u, v, rtol=1e-5)


def test_arguments_that_do_not_fit() -> None:
    u, k = start()

    @ssr.integrate.rhs(u=cells)
    def spread(t: Any, u: Any) -> Any:
        W = bc.fill(wide, bc.periodic()) @ u
        return ssr.stencil(cells, wide, {(0, 1): 1.0, (1, 0): 1.0}) @ W

    @ssr.integrate.rhs(u=cells)
    def together(t: Any, u: Any) -> Any:
        return -u * ssr.sum(u)

    with pytest.raises(UnsupportedError, match="spread couples points along several axes"):
        ADI([spread], 0.0, u, 0.1)
    with pytest.raises(UnsupportedError, match="together has no rows of entries"):
        ADI([together], 0.0, u, 0.1)
    with pytest.raises(ArgumentError, match="differ in their parameters"):
        ADI([nonlinear[0], spread], 0.0, u, 0.1, args=(k,))
    with pytest.raises(ArgumentError, match="not a list of right sides"):
        ADI([], 0.0, u, 0.1)
    with pytest.raises(ArgumentError, match="takes 2 parts, not 1"):
        ADI(linear[:1], 0.0, u, 0.1, "PeacemanRachford")
    with pytest.raises(OutOfRangeError, match="no alternating-direction method 'X'"):
        ADI(linear, 0.0, u, 0.1, "X")
    with pytest.raises(OutOfRangeError, match="theta is 0"):
        ADI(linear, 0.0, u, 0.1, theta=0.0)
