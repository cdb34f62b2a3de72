"""Vector fields in programs."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import ArgumentError, Error, ShapeError

from .. import plain

Array = np.ndarray[Any, Any]
ny, nx = ssr.sizes("ny nx")
cells = ssr.Space(ny, nx)
A = ssr.stencil(cells, cells, {(0, -1): -1.0, (0, 0): 2.0, (1, 0): 0.5}, outside="zero")
rng = np.random.default_rng(0)


def dense(shape: tuple[int, int]) -> Array:
    found: Array = A.bind(ny=shape[0], nx=shape[1]).to_scipy().toarray()
    return found


def test_arithmetic_of_vectors() -> None:
    @ssr.program(u=cells.vector(3), v=cells.vector(3), s=cells, dt=ssr.scalar)
    def step(u: Any, v: Any, s: Any, dt: Any) -> Any:
        rest = u[1:] / u[0]
        v[:] = v + dt * (A @ u) - 2.0 / (1.0 + abs(v)) + s
        v[0] += s * u[2]
        v[1:] -= rest * s
        u[:] = ssr.where(u > v, ssr.minimum(u, s), ssr.sqrt(abs(v)))
        return ssr.dot(u, v), ssr.max(u), ssr.norm(v[1:])

    shape = (4, 5)
    u, v = rng.standard_normal((2, 3, *shape))
    s = rng.standard_normal(shape)
    U, V = u.copy(), v.copy()
    matrix = dense(shape)
    rest = U[1:] / U[0]
    V = V + 0.3 * np.array([(matrix @ c.ravel()).reshape(shape) for c in U]) - 2 / (1 + abs(V)) + s
    V[0] += s * U[2]
    V[1:] -= rest * s
    U = np.where(U > V, np.minimum(U, s), np.sqrt(abs(V)))
    found = plain.run(step, u, v, s, 0.3)
    np.testing.assert_allclose(u, U, 1e-13, 1e-13)
    np.testing.assert_allclose(v, V, 1e-13, 1e-13)
    np.testing.assert_allclose(found, ((U * V).sum(), U.max(), np.linalg.norm(V[1:])), 1e-13)
    assert "u[0][j, i]" in step.explain("program")


def test_right_sides_come_first() -> None:
    @ssr.program(u=cells.vector(2))
    def swap(u: Any) -> None:
        u[:] = ssr.vector(u[1], u[0])

    @ssr.program(u=cells.vector(2))
    def turn(u: Any) -> None:
        a, b = u
        u[:] = ssr.vector(a - b, a + b)

    u = rng.standard_normal((2, 3, 4))
    old = u.copy()
    plain.run(swap, u)
    np.testing.assert_array_equal(u, old[::-1])
    plain.run(turn, u)
    np.testing.assert_array_equal(u, [old[1] - old[0], old[1] + old[0]])


def test_one_dimension_and_temporaries() -> None:
    line = ssr.Space(ssr.size("n"))
    T = ssr.stencil(line, line, {-1: -1.0, 0: 2.0, 1: -1.0}, outside="zero")

    @ssr.program(u=line.vector(2), s=line)
    def advance(u: Any, s: Any) -> None:
        u[:] = u - 0.1 * (T @ u)
        u[0] += s * u[1]

    u, s = rng.standard_normal((2, 5)), rng.standard_normal(5)
    meant = u - 0.1 * np.array([T.bind(n=5).to_scipy() @ c for c in u])
    meant[0] += s * meant[1]
    plain.run(advance, u, s)
    np.testing.assert_allclose(u, meant, 1e-14, 1e-14)


def test_compiled_and_called_again() -> None:
    @ssr.program(u=cells.vector(2), s=cells)
    def scale(u: Any, s: Any) -> None:
        u[:] = u * s

    for shape in ((3, 4), (3, 4), (1, 2), (3, 4)):
        u, s = rng.standard_normal((2, *shape)), rng.standard_normal(shape)
        meant = u * s
        scale(u, s)
        np.testing.assert_array_equal(u, meant)
    whole = rng.standard_normal((2, 6, 8))
    view, meant = whole[:, ::2, 1:5], whole[:, ::2, 1:5] * s[:1, :1]
    scale(view, np.full((3, 4), s[0, 0]))
    np.testing.assert_array_equal(view, meant)


def test_programs_with_vectors_call_programs_with_vectors() -> None:
    @ssr.program(u=cells.vector(2), v=cells.vector(2))
    def add(u: Any, v: Any) -> None:
        u[:] = u + v

    @ssr.program(u=cells.vector(2), w=cells.vector(2))
    def outer(u: Any, w: Any) -> None:
        add(u, w)
        add(w, 2.0 * u)

    u, w = rng.standard_normal((2, 2, 3, 4))
    U, W = u + w, w + 2 * (u + w)
    plain.run(outer, u, w)
    np.testing.assert_allclose(u, U, 1e-15)
    np.testing.assert_allclose(w, W, 1e-15)

    def wrong(u: Any, w: Any) -> None:
        add(2.0 * u, w)

    with pytest.raises(ArgumentError, match="given an expression"):
        ssr.program(u=cells.vector(2), w=cells.vector(2))(wrong)


@pytest.mark.parametrize(
    "body",
    [
        lambda u: u.__setitem__(3, 1.0),
        lambda u: u.__setitem__(slice(None), u[:1]),
        lambda u: u.__setitem__(0, u),
        lambda u: u[0:0],
        lambda u: u["a"],
        lambda u: u.__iadd__(1.0),
        lambda u: bool(u > 0.0),
        lambda u: u.__setitem__(0, u[0] + np.ones(3)),
    ],
)
def test_mistakes_in_bodies(body: Any) -> None:
    def whole(u: Any) -> None:
        u[:] = 2.0 * u
        body(u)

    with pytest.raises(Error):
        ssr.program(u=cells.vector(2))(whole)


def test_mistakes_in_calls() -> None:
    @ssr.program(u=cells.vector(2))
    def double(u: Any) -> None:
        u[:] = 2.0 * u

    for wrong in (np.ones((3, 4)), np.ones((3, 4, 5)), np.ones((2, 4, 5, 6))):
        with pytest.raises(ShapeError):
            double(wrong)
    with pytest.raises(ArgumentError):
        double([1.0, 2.0])
    with pytest.raises(ArgumentError):
        cells.vector(0)


def test_components_share_the_places_of_their_lines() -> None:
    @ssr.program(u=cells.vector(3), v=cells.vector(2), s=cells)
    def step(u: Any, v: Any, s: Any) -> None:
        v[:] = A @ u[1:] + s * u[0]

    source = step.explain("source")
    assert "v__u__0_s0" in source
    assert "v__u__1_s0" not in source
    assert "v__v__1_s0" not in source
    wide = rng.integers(-4, 5, (3, 9, 7)).astype(float)
    u, v, s = wide[:, 2:7, 1:5:1], np.empty((2, 5, 4)), rng.integers(-4, 5, (5, 4)).astype(float)
    step(u, v, s)
    expected = [(dense((5, 4)) @ u[n].ravel()).reshape(5, 4) + s * u[0] for n in (1, 2)]
    np.testing.assert_array_equal(v, expected)
