"""Scalars are numbers in double precision; expressions of fields take them rounded to their type.

The expected values are NumPy's, with the expressions of scalars in double precision.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ssr

from .. import plain
from ..interpret import interpret_program

Array = np.ndarray[Any, Any]
DTYPES = "float64", "float32"
n = ssr.size("n")
line = ssr.Space(n)
A = ssr.stencil(line, line, {-1: -1, 0: 3, 1: -1}, outside="zero")
bend = ssr.difference(line, line.grow(1), axis=0, derivative=2, spacing=ssr.scalar)
SIZE, T, S = 5, 390 * 86400.0 + 0.3, 0.1
SCALARS = {"t": T, "s": S}


@ssr.matrix(rows=line, cols=line, h=ssr.scalar)
def coupled(i: Any, *, h: Any) -> Any:
    yield i, 1 / h**2 + n * h
    if i > 0:
        yield i - 1, 1 / n


CASES = {
    "t * s * u": "r(T * S) * u",
    "t * (s * u)": "r(T) * (r(S) * u)",
    "u * 0 + t * s": "u * 0 + r(T * S)",
    "u * 0 - (t - 390 * 86400) / 4": "u * 0 - r((T - 390 * 86400) / 4)",
    "ssr.where(t > 390 * 86400, u, -u)": "u",
    "ssr.where((t > 390 * 86400) & (u > 2), u, -u)": "np.where(u > 2, u, -u)",
    "ssr.where(t > T, 1, 2) * u": "2 * u",
    "ssr.cos(2 * np.pi * t / 86400) * u": "r(np.cos(2 * np.pi * T / 86400)) * u",
    "u + n * s": "u + r(5 * S)",
    "u * (n / 3)": "u * r(5 / 3)",
    "t": "u * 0 + r(T)",
    "-t * u + abs(s)": "r(-T) * u + r(S)",
    "ssr.maximum(t, s) * u": "r(T) * u",
    "(t * A) @ u": "D(r(T * 3), r(T * -1)) @ u",
    "(A @ u) * (t * s)": "(D(r(3), r(-1)) @ u) * r(T * S)",
    "coupled.bind(h=t * s) @ u": "np.r_[0, u[:-1] * r(1 / 5)] + r(1 / (T*S)**2 + 5 * (T*S)) * u",
    "u * ssr.sum(u)": "u * r(np.sum(u, dtype=float))",
    "u * (ssr.sum(u) * t)": "u * r(float(r(np.sum(u, dtype=float))) * T)",
}  # fmt: skip
"""Values of a program, and what they are for arrays; ``r`` rounds to the type of the fields."""


def program_of(text: str) -> ssr.Program:
    @ssr.program(y=line, u=line, t=ssr.scalar, s=ssr.scalar)
    def of_scalars(y: Any, u: Any, t: Any, s: Any) -> Any:
        y[:] = eval(text, globals(), {"u": u, "t": t, "s": s})

    return of_scalars


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("text", CASES)
def test_scalars_in_expressions_of_fields(text: str, dtype: str) -> None:
    program, r = program_of(text), np.dtype(dtype).type
    u = np.array([0.5, 1.5, 2.5, 3.5, 4.5], dtype)

    def dense(on: Any, beside: Any) -> Array:
        rows = np.diag([on] * SIZE)
        return rows + np.diag([beside] * (SIZE - 1), 1) + np.diag([beside] * (SIZE - 1), -1)

    names = {"u": u, "r": r, "T": T, "S": S, "D": dense}
    with np.errstate(over="ignore"):
        meant = np.asarray(eval(CASES[text], globals(), names))
    y = np.zeros(SIZE, dtype)
    plain.run(program, y, u, T, S)
    np.testing.assert_allclose(y, meant, 3 * np.finfo(dtype).eps)
    again = np.zeros(SIZE, dtype)
    exact = plain.variant(program, exact=True)
    plain.run(exact, y, u, T, S)
    interpret_program(exact.ir, {"y": again, "u": u}, SCALARS, {"n": SIZE}, dtype)
    assert y.tobytes() == again.tobytes()


@ssr.program(f=line, t=ssr.scalar, dt=ssr.scalar)
def tick(f: Any, t: Any, dt: Any) -> Any:
    f[:] = f + ssr.cos(2 * np.pi * t / 86400)
    return t + dt


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_clock(dtype: str) -> None:
    f, start = np.zeros(3, dtype), 390 * 86400.0
    t = start
    for _ in range(10):
        t = tick(f, t, 150.0)
    assert t == start + 1500
    assert tick(f, np.float32(1.5), 0.1) == 1.6
    step = tick.bind(f, dt=0.1)
    assert step(t) == t + 0.1
    assert (step.repeat([(t,), (2 * t,)]) == [[t + 0.1], [2 * t + 0.1]]).all()
    assert ssr.sequence(step, tick.bind(np.zeros(3, dtype), t=t))(t, 0.3) == (t + 0.1, t + 0.3)
    assert plain.run(tick, f, t, 0.1) == t + 0.1
    debug = tick.with_options(replace(tick.options, debug=True))
    assert debug(f, t, 0.1) == t + 0.1


@ssr.program(u=line, t=ssr.scalar, s=ssr.scalar)
def returned(u: Any, t: Any, s: Any) -> Any:
    total = ssr.sum(u)
    u[:] = u + 1
    return t, t * n, n + 0, s, total, total + s, ssr.where(t > s, t / s, s), 2 * ssr.max(u), -s


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_programs_return(dtype: str) -> None:
    """Reductions have the type of the fields; what is made of them is in double precision."""
    u = np.array([0.1, 0.2, 0.3], dtype)
    total = float(np.dtype(dtype).type(math.fsum(u.tolist())))
    largest = float((u + 1).max())
    meant = T, T * 3, 3, S, total, total + S, T / S, 2 * largest, -S
    assert plain.run(returned, u.copy(), T, S) == meant
    assert interpret_program(returned.ir, {"u": u.copy()}, SCALARS, {"n": 3}, dtype) == meant
    assert returned(u, T, S) == meant


def test_an_empty_tuple_is_returned_by_each_call() -> None:
    @ssr.program(u=line)
    def doubled(u: Any) -> Any:
        u[:] = 2 * u
        return ()

    u = np.ones(3)
    assert [doubled(u), doubled(u), doubled.bind(u)()] == [(), (), ()]


def test_scalars_are_passed_on() -> None:
    """They keep double precision from one statement to the next, and into programs inside."""

    @ssr.program(u=line, c=ssr.scalar)
    def scaled(u: Any, c: Any) -> Any:
        u[:] = c * u
        return c / 3

    @ssr.program(u=line, t=ssr.scalar)
    def twice(u: Any, t: Any) -> Any:
        c = scaled(u, t * t)
        return scaled(u, c - 1)

    u = np.array([1.0, 2.0], np.float32)
    c = S * S / 3 - 1
    assert twice(u, S) == c / 3
    assert (u == np.float32(c) * (np.float32(S * S) * np.array([1, 2], np.float32))).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_computations_with_scalars(dtype: str) -> None:
    """What is used twice is computed once, so that doubling 60 times does not take 2^60 steps."""

    @ssr.program(u=line, t=ssr.scalar)
    def grown(u: Any, t: Any) -> Any:
        for _ in range(60):
            t = t + t
        u[:] = t * u
        return t - 1

    u = np.ones(2, dtype)
    assert grown(u, 3.0) == 3.0 * 2**60 - 1
    assert (u == np.dtype(dtype).type(3.0 * 2**60)).all()


def test_scalars_are_rounded_before_the_loops() -> None:
    @ssr.program(y=line, u=line, t=ssr.scalar, s=ssr.scalar)
    def smooth(y: Any, u: Any, t: Any, s: Any) -> None:
        y[:] = u + t * s * (A @ u) + ssr.where(t > s, s, t) * u

    before, inside = plain.source(smooth, "float32").split("def kernel")[1].split("for box in")
    assert before.count("real(") == 2
    assert "real(" not in inside
    assert "t * s" not in inside
    assert "t > s" not in inside


def test_sweeps_and_systems_along_lines() -> None:
    """Scalars stay numbers there, too: they take no room in line buffers."""

    @ssr.program(x=line, b=line, c=ssr.scalar)
    def sweep(x: Any, b: Any, c: Any) -> None:
        x[:] = (c * A).tril().solve(b - (c * A).triu(1) @ x)

    @ssr.program(x=line, b=line, c=ssr.scalar)
    def system(x: Any, b: Any, c: Any) -> None:
        x[:] = (c * c * A).solve(b)

    b, dense = np.linspace(1, 2, SIZE).astype(np.float32), A.bind(n=SIZE).to_scipy().toarray()
    for program, matrix in (sweep, S * np.tril(dense)), (system, S * S * dense):
        x = np.zeros(SIZE, np.float32)
        plain.run(program, x, b, S)
        np.testing.assert_allclose(x, np.linalg.solve(matrix, b), 1e-5)
    double, single = (len(sweep.kernel(dtype).meta.buffers) for dtype in DTYPES)
    assert single <= double
    double, single = (system.kernel(dtype).meta.buffers[0].rows for dtype in DTYPES)
    assert single == 2 * double  # bundles have twice as many lines
