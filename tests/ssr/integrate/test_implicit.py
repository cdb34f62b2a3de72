"""Implicit and implicit-explicit methods: conditions, derivatives, convergence, solvers, ranks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import boundary as bc
import ssr
from ssr.errors import (
    ArgumentError,
    ConvergenceError,
    OutOfRangeError,
    SpaceError,
    UnsupportedError,
)
from ssr.integrate.implicit.inverses import Inverses
from ssr.integrate.implicit.methods import IMEX, IMPLICIT
from ssr.integrate.right_side import made_program
from ssr.integrate.tableaux import order_of
from ssr.integrate.tangent import jacobian_product

line = ssr.Space(ssr.size("n"))
plane = ssr.Space(*ssr.sizes("ny nx"))
wide = plane.grow(1)
star = {(0, 0): -4.0, (0, 1): 1.0, (0, -1): 1.0, (1, 0): 1.0, (-1, 0): 1.0}
near = ssr.stencil(plane, wide, star)
along = ssr.stencil(plane, wide, {(0, 1): 1.0, (0, -1): -1.0})
fill = bc.fill(
    wide, bc.periodic(1), bc.dirichlet(bc.parameter("g"), 0, "low"), bc.neumann(0.3, 0, "high")
)
walls = bc.fill(wide.vector(2), bc.symmetric())

ORDERS = {"BackwardEuler": 1, "CrankNicolson": 2, "SDIRK2": 2, "SDIRK3": 3, "SDIRK4": 4}
IMEX_ORDERS = {"ARS111": 1, "ARS222": 2, "ARS443": 3}


@ssr.integrate.rhs(u=plane, w=plane.vector(2), k=plane, c=ssr.scalar)
def everything(t: Any, u: Any, w: Any, k: Any, c: Any) -> Any:
    """Return rates with all that has a derivative."""
    U, W = fill.bind(g=ssr.sin(t)) @ u, walls @ w
    rate = ssr.materialize(ssr.exp(-u * u) * w[0])
    moved = ssr.where(w[1] > 0.2, along @ U, near @ (U * U))
    du = k * (near @ ssr.sqrt(1 + U * U)) + rate * moved + u**3 / (2 + ssr.sin(u))
    more = ssr.tanh(u) * ssr.arctan2(w[0], 1.0 + u) + ssr.log(2.0 + u) - ssr.cos(w[1])
    bent = ssr.vector(ssr.maximum(u, w[1]) + more, abs(u - 0.5) ** 2.5 - ssr.minimum(u, w[0]))
    return du, c * (near @ W) + bent + ssr.tan(0.1 * rate)


def test_the_jacobian_is_that_of_differences() -> None:
    def body(*values: Any) -> None:
        made, v, y, args, t = values[:2], values[2:4], values[4:6], values[6:8], values[8]
        for target, value in zip(made, jacobian_product(everything, t, y, args, v), strict=True):
            target[:] = value

    two = plane.vector(2)
    kinds: Any = {"du": plane, "dw": two, "vu": plane, "vw": two, **everything.kinds}
    product = made_program("product", body, {**kinds, "t": ssr.scalar})
    rng = np.random.default_rng(0)
    (u, vu, k), (w, vw) = rng.random((3, 6, 7)), rng.random((2, 2, 6, 7))
    du, dw = np.empty_like(u), np.empty_like(w)
    product(du, dw, vu, vw, u, w, k, 0.7, 0.4)
    e = 1e-6
    above = everything(0.4, u + e * vu, w + e * vw, k, 0.7)
    below = everything(0.4, u - e * vu, w - e * vw, k, 0.7)
    for found, a, b in zip((du, dw), above, below, strict=True):
        assert np.allclose(found, (a - b) / (2 * e), atol=1e-7)


def test_the_jacobian_of_a_stored_matrix() -> None:
    stored = ssr.from_scipy(
        scipy.sparse.csr_array(np.random.default_rng(0).random((5, 5))), rows=line, cols=line
    )

    @ssr.integrate.rhs(u=line)
    def mixed(t: Any, u: Any) -> Any:
        return -(stored @ (u * u))

    u = np.linspace(1.0, 2.0, 5)
    run = ssr.integrate.ImplicitRungeKutta(mixed, 0.0, u, 0.5, "BackwardEuler", rtol=1e-12)
    before = u.copy()
    run.step()
    assert np.allclose(u, before + 0.5 * mixed(0.5, u), rtol=1e-10)
    assert run.iterations < 10


@pytest.mark.parametrize("name", IMPLICIT)
def test_conditions_give_the_known_order(name: str) -> None:
    assert IMPLICIT[name].order == ORDERS[name]


@pytest.mark.parametrize("name", IMEX)
def test_conditions_of_both_parts_give_the_known_order(name: str) -> None:
    assert IMEX[name].order == IMEX_ORDERS[name]
    for part in IMEX[name].explicit, IMEX[name].implicit:
        assert order_of([(part.A, part.b)]) >= IMEX_ORDERS[name]


@ssr.integrate.rhs(x=line, v=line, c=ssr.scalar)
def pendulum(t: Any, x: Any, v: Any, c: Any) -> Any:
    """Return the rates of a pendulum that is pushed and damped."""
    return v, -ssr.sin(x) + c * ssr.cos(2.0 * t) - 0.5 * v


@ssr.integrate.rhs(x=line, v=line, c=ssr.scalar)
def push(t: Any, x: Any, v: Any, c: Any) -> Any:
    """Return the explicit part of the pendulum's rates."""
    return v, c * ssr.cos(2.0 * t)


@ssr.integrate.rhs(x=line, v=line, c=ssr.scalar)
def swing(t: Any, x: Any, v: Any, c: Any) -> Any:
    """Return the implicit part of the pendulum's rates."""
    return 0.0 * v, -ssr.sin(x) - 0.5 * v


@ssr.integrate.rhs(u=plane)
def heat(t: Any, u: Any) -> Any:
    """Return nonlinear diffusion, with a side whose value changes in time."""
    return near @ ((fill.bind(g=ssr.sin(2.0 * t)) @ u) ** 2) - u**3


@ssr.integrate.rhs(u=plane)
def carry(t: Any, u: Any) -> Any:
    """Return advection, for the explicit part of a field's rates."""
    return 0.5 * (along @ (fill.bind(g=ssr.sin(2.0 * t)) @ u))


def order_in(make: Any, y0: Any, steps: int) -> float:
    """Return the order of convergence from three solutions."""
    found = []
    for factor in 1, 2, 4:
        run = make(y0(), 1.0 / (steps * factor))
        run.advance(1.0)
        found.append(np.array(run.y))
    return math.log2(abs(found[0] - found[1]).max() / abs(found[1] - found[2]).max())


def pair() -> Any:
    return np.array([0.3]), np.array([1.0])


def rough() -> Any:
    return 1.0 + 0.2 * np.random.default_rng(0).random((3, 4))


@pytest.mark.parametrize("name", IMPLICIT)
def test_implicit_methods_converge(name: str) -> None:
    def make(y: Any, dt: float, fun: Any = pendulum, args: Any = (0.7,)) -> Any:
        return ssr.integrate.ImplicitRungeKutta(fun, 0.0, y, dt, name, args, rtol=1e-12)

    steps = {1: 40, 2: 16, 3: 16, 4: 10}[ORDERS[name]]
    assert abs(order_in(make, pair, steps) - ORDERS[name]) < 0.2
    field = order_in(lambda y, dt: make(y, dt, heat, ()), rough, 2 * steps)
    assert abs(field - ORDERS[name]) < 0.4


def test_bdf2_converges() -> None:
    def make(y: Any, dt: float) -> Any:
        return ssr.integrate.BDF2(pendulum, 0.0, y, dt, (0.7,), rtol=1e-12)

    assert abs(order_in(make, pair, 40) - 2) < 0.2

    def field(y: Any, dt: float) -> Any:
        return ssr.integrate.BDF2(heat, 0.0, y, dt, rtol=1e-12)

    assert abs(order_in(field, rough, 40) - 2) < 0.2


def test_bdf2_with_steps_of_different_lengths() -> None:
    found = []
    for steps in 40, 80, 160:
        run = ssr.integrate.BDF2(pendulum, 0.0, pair(), 1.0, (0.7,), rtol=1e-12)
        for t in (np.arange(1, steps + 1) / steps) ** 1.3:
            run.dt = t - run.t
            run.step()
        found.append(np.array(run.y))
    order = math.log2(abs(found[0] - found[1]).max() / abs(found[1] - found[2]).max())
    assert abs(order - 2) < 0.25


@pytest.mark.parametrize("name", IMEX)
def test_implicit_explicit_methods_converge(name: str) -> None:
    def make(y: Any, dt: float) -> Any:
        return ssr.integrate.ImexRungeKutta(push, swing, 0.0, y, dt, name, (0.7,), rtol=1e-12)

    assert abs(order_in(make, pair, 40) - IMEX_ORDERS[name]) < 0.2

    def field(y: Any, dt: float) -> Any:
        return ssr.integrate.ImexRungeKutta(carry, heat, 0.0, y, dt, name, rtol=1e-12)

    assert abs(order_in(field, rough, 40) - IMEX_ORDERS[name]) < 0.3


def test_theta_method() -> None:
    @ssr.integrate.rhs(u=line)
    def decay(t: Any, u: Any) -> Any:
        return -3.0 * u

    u = np.ones(2)
    method = ssr.integrate.theta_method(0.6)
    ssr.integrate.ImplicitRungeKutta(decay, 0.0, u, 0.5, method, rtol=1e-13).step()
    assert np.allclose(u, (1 - 0.4 * 1.5) / (1 + 0.6 * 1.5), rtol=1e-12)


one = ssr.identity(plane)
cooled = near @ bc.fill(wide, bc.dirichlet(0.0))


@ssr.integrate.rhs(u=plane)
def cool(t: Any, u: Any) -> Any:
    """Return linear diffusion."""
    return cooled @ u


@pytest.mark.parametrize(
    "inverse",
    [
        lambda h: ssr.solvers.CG(one - h * cooled.linear),
        lambda h: ssr.solvers.CG(one - h * cooled.linear, M=ssr.solvers.IC()),
        lambda h: (one - h * cooled.linear).tril(),
    ],
)
def test_approximate_inverses(inverse: Any) -> None:
    u = np.random.default_rng(2).random((7, 7))
    v = u.copy()
    alone = ssr.integrate.ImplicitRungeKutta(cool, 0.0, u, 3.0, "SDIRK2")
    helped = ssr.integrate.ImplicitRungeKutta(cool, 0.0, v, 3.0, "SDIRK2", inverse=inverse)
    for run in alone, helped:
        run.advance(6.0)
    assert np.allclose(u, v, atol=1e-7)
    assert helped.products < alone.products


def test_multigrid_as_approximate_inverse() -> None:
    """On ranks the same bits, and the same number of products."""
    m = ssr.size("m", at_least=2)
    fine, coarse = ssr.Space(2 * m, 2 * m), ssr.Space(m, m)
    A = ssr.stencil(fine, fine.grow(1), star) @ bc.fill(fine.grow(1), bc.dirichlet(0.0))
    P = ssr.solvers.interpolation(fine, coarse, centering="cell")

    @ssr.integrate.rhs(u=fine)
    def cool(t: Any, u: Any) -> Any:
        return A @ u

    def inverse(h: float) -> Any:
        return ssr.solvers.Multigrid(ssr.identity(fine) - h * A.linear, P, P.T)

    u = np.random.default_rng(2).random((8, 8))
    field = bc.distribute(fine, bc.simulated_ranks(2), m=4).scatter(fine, u)
    dense = np.eye(64) - 20.0 * A.linear.bind(m=4).to_scipy().toarray()
    exact = np.linalg.solve(dense, u.ravel())
    runs = [
        ssr.integrate.ImplicitRungeKutta(cool, 0.0, y, 20.0, "BackwardEuler", inverse=inverse)
        for y in (u, field)
    ]
    for run in runs:
        run.step()
    assert np.allclose(u.ravel(), exact, atol=1e-7)
    assert np.array_equal(field.gather(), u)
    assert runs[0].products == runs[1].products < 15


def test_solves_along_lines() -> None:
    """An exact inverse: one iteration and one product for each stage."""
    ring = ssr.stencil(line, line.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0}) @ bc.fill(
        line.grow(1), bc.periodic()
    )

    @ssr.integrate.rhs(u=line)
    def spread(t: Any, u: Any) -> Any:
        return ring @ u

    u = np.random.default_rng(0).random(50)
    inverse = lambda h: ssr.identity(line) - h * ring.linear  # noqa: E731
    run = ssr.integrate.ImplicitRungeKutta(spread, 0.0, u, 100.0, "BackwardEuler", inverse=inverse)
    before = u.copy()
    run.step()
    A = np.eye(50) - 100.0 * ring.linear.bind(n=50).to_scipy().toarray()
    assert np.allclose(A @ u, before, rtol=1e-8)
    assert (run.iterations, run.products) == (1, 1)


def test_steps_of_any_length_share_the_program_of_a_matrix() -> None:
    """Unless the function needs the number; the results are those of dense algebra."""
    ring = ssr.stencil(line, line.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0}) @ bc.fill(
        line.grow(1), bc.periodic()
    )
    A = ring.linear.bind(n=9).to_scipy().toarray()
    before = np.random.default_rng(0).random(9)
    for function, programs in (lambda h: h, 0), (lambda h: h if h > 0.4 else 0.4, 2):
        inverses = Inverses(lambda h, f=function: ssr.identity(line) - f(h) * ring.linear)
        for h in 0.5, 2.0:
            z = np.zeros(9)
            inverses.apply((z,), (before,), h)
            assert np.allclose((np.eye(9) - h * A) @ z, before, rtol=1e-12)
        assert len(inverses._known) == programs


def test_a_function_as_approximate_inverse() -> None:
    def halve(z: Any, w: Any, r: Any, s: Any) -> None:
        z[:], w[:] = 0.5 * r, 0.5 * s

    y = pair()
    run = ssr.integrate.ImplicitRungeKutta(
        pendulum, 0.0, y, 0.1, args=(0.7,), inverse=lambda h: halve
    )
    run.advance(1.0)
    expected = ssr.integrate.solve_ivp(pendulum, (0, 1), pair(), args=(0.7,), rtol=1e-9)
    assert np.allclose(run.y, expected.y[0], atol=1e-2)


def test_ranks_and_threads_have_the_same_bits() -> None:
    u = 1.0 + np.random.default_rng(0).random((6, 7))
    fields = []
    for ranks in bc.simulated_ranks(4), bc.threads(2):
        on = bc.distribute(plane, ranks, ny=6, nx=7)
        fields.append(on.zeros(plane))
        fields[-1].set(u)
    whole, *others = (
        ssr.integrate.ImplicitRungeKutta(heat, 0.0, y, 0.2, "SDIRK2") for y in (u, *fields)
    )
    for run in whole, *others:
        run.advance(0.4)
    for run in others:
        assert (run.iterations, run.products) == (whole.iterations, whole.products)
        assert np.array_equal(run.y.gather(), whole.y)


def test_right_sides_without_a_derivative() -> None:
    @ssr.integrate.rhs(u=line)
    def together(t: Any, u: Any) -> Any:
        return -u * ssr.sum(u)

    with pytest.raises(UnsupportedError, match="together has no derivative"):
        ssr.integrate.ImplicitRungeKutta(together, 0.0, np.ones(3), 0.1).step()


def test_a_stage_without_a_solution() -> None:
    @ssr.integrate.rhs(u=line)
    def grow(t: Any, u: Any) -> Any:
        return 1.0 + u * u

    with pytest.raises(ConvergenceError, match="stage of grow does not converge at t = 2"):
        ssr.integrate.ImplicitRungeKutta(grow, 0.0, np.zeros(2), 2.0, "BackwardEuler").step()


def test_arguments_that_do_not_fit() -> None:
    it = ssr.integrate
    u = np.ones((3, 4))
    with pytest.raises(OutOfRangeError, match="no diagonally implicit method 'RK4'"):
        it.ImplicitRungeKutta(heat, 0.0, u, 0.1, "RK4")
    with pytest.raises(OutOfRangeError, match="no implicit-explicit method 'X'"):
        it.ImexRungeKutta(heat, heat, 0.0, u, 0.1, "X")
    with pytest.raises(ArgumentError, match="above its diagonal"):
        it.ImplicitRungeKutta(heat, 0.0, u, 0.1, it.ButcherTableau([[0, 0.5], [0.5]], [0.5, 0.5]))
    with pytest.raises(ArgumentError, match="differ in their parameters"):
        it.ImexRungeKutta(heat, pendulum, 0.0, u, 0.1)
    with pytest.raises(OutOfRangeError, match="rtol is 0"):
        it.BDF2(heat, 0.0, u, 0.1, rtol=0.0)
    with pytest.raises(ArgumentError, match="not a function of h"):
        it.BDF2(heat, 0.0, u, 0.1, inverse=one)
    with pytest.raises(SpaceError, match="not on the space of one unknown"):
        it.BDF2(heat, 0.0, u, 0.1, inverse=lambda h: near).step()
    with pytest.raises(OutOfRangeError, match="theta is 2"):
        it.theta_method(2.0)
