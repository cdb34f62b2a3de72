"""Small programs that meet every pass, and arrays to run them on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

import ssr

n, nz, ny, nx = ssr.sizes("n nz ny nx")
line, plane, space = ssr.Space(n), ssr.Space(ny, nx), ssr.Space(nz, ny, nx)
coarse, fine = ssr.Space(n), ssr.Space(2 * n)
SIZES = {"n": 7, "nz": 4, "ny": 5, "nx": 6}


def weights(dim: int, reach: int = 1) -> dict[Any, float]:
    """Return the stencil of ones around 3**dim - 1."""
    offsets = list(product(range(-reach, reach + 1), repeat=dim))
    return {o: (len(offsets) - 1.0 if not any(o) else -1.0) for o in offsets}


CROSS = {(0, 0): 4, (-1, 0): -1, (1, 0): -1, (0, -1): -1, (0, 1): -1}
five = ssr.stencil(plane, plane, CROSS, outside="zero")
nine = ssr.stencil(plane, plane, weights(2), outside="zero")
twenty_seven = ssr.stencil(space, space, weights(3), outside="zero")
tridiagonal = ssr.stencil(line, line, {-1: -1, 0: 2, 1: -1}, outside="zero")


@ssr.matrix(rows=line, cols=line, a=line, b=line, c=line)
def varying(i: Any, *, a: Any, b: Any, c: Any) -> Any:
    if i > 0:
        yield i - 1, -a[i]
    yield i, b[i]
    if i < n - 1:
        yield i + 1, -c[i]


@ssr.matrix(rows=plane, cols=plane)
def red_black(j: Any, i: Any) -> Any:
    yield (j, i), 4.0
    if (i + j) % 2 == 1:
        for column in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
            if column in plane:
                yield column, -1.0


@ssr.matrix(rows=coarse, cols=fine)
def restriction(i: Any) -> Any:
    if i > 0:
        yield 2 * i - 1, 0.25
    yield 2 * i, 0.5
    yield 2 * i + 1, 0.25


def sweep(matrix: ssr.Matrix, direction: str, **options: bool) -> ssr.Program:
    """Return Gauss-Seidel in row order, or against it."""
    forward = direction == "forward"

    @ssr.program(options=ssr.Options(**options), x=matrix.cols, b=matrix.rows)
    def gauss_seidel(x: Any, b: Any) -> None:
        if forward:
            x[:] = matrix.tril().solve(b - matrix.triu(1) @ x)
        else:
            x[:] = matrix.triu().solve(b - matrix.tril(-1) @ x)

    return gauss_seidel


def jacobi() -> ssr.Program:
    """Return a step that must go through a temporary."""

    @ssr.program(x=plane, b=plane, omega=ssr.scalar)
    def jacobi(x: Any, b: Any, omega: Any) -> None:
        x[:] = x + (b - five @ x) * omega

    return jacobi


def varying_solve() -> ssr.Program:
    """Return a solve with the lower part of a matrix whose entries are fields."""

    @ssr.program(x=line, r=line, a=line, b=line, c=line)
    def solve(x: Any, r: Any, a: Any, b: Any, c: Any) -> None:
        x[:] = varying.bind(a=a, b=b, c=c).tril().solve(r)

    return solve


def symmetric_sweep() -> ssr.Program:
    """Return two solves and a residual: three nests, one of them backward."""

    @ssr.program(x=plane, b=plane, r=plane)
    def symmetric(x: Any, b: Any, r: Any) -> None:
        x[:] = nine.tril().solve(b - nine.triu(1) @ x)
        x[:] = nine.triu().solve(b - nine.tril(-1) @ x)
        r[:] = b - nine @ x

    return symmetric


PROGRAMS: dict[str, Callable[[], ssr.Program]] = {
    "five_point_apply": lambda: five.program("apply"),
    "five_point_gauss_seidel": lambda: sweep(five, "forward"),
    "five_point_backward": lambda: sweep(five, "backward"),
    "five_point_exact": lambda: sweep(five, "forward", exact=True),
    "nine_point_symmetric": symmetric_sweep,
    "twenty_seven_apply": lambda: twenty_seven.program("apply"),
    "twenty_seven_gauss_seidel": lambda: sweep(twenty_seven, "forward"),
    "twenty_seven_backward": lambda: sweep(twenty_seven, "backward"),
    "twenty_seven_exact": lambda: sweep(twenty_seven, "forward", exact=True),
    "tridiagonal_backward": lambda: sweep(tridiagonal, "backward"),
    "varying_solve": varying_solve,
    "red_black": lambda: red_black.program("apply"),
    "restriction": lambda: restriction.program("apply"),
    "jacobi": jacobi,
}


def case(
    program: ssr.Program, sizes: Mapping[str, int] = SIZES, dtype: Any = np.float64, seed: int = 0
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, float]]:
    """Return random arrays and scalars for a program, by name."""
    random = np.random.default_rng(seed)
    arrays = {
        f.name: random.uniform(0.5, 2.0, tuple(s.evaluate(sizes) for s in f.shape)).astype(dtype)
        for f in program.ir.fields
    }
    return arrays, {name: random.uniform(0.5, 0.9) for name in program.ir.scalars}


def run_source(
    program: ssr.Program,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    scalars: Mapping[str, float],
    boxes: Any = None,
) -> dict[str, np.ndarray[Any, Any]]:
    """Return what a program's emitted source makes of arrays, run as plain Python."""
    made = {name: a.copy() for name, a in arrays.items()}
    given = [made[n] if n in made else scalars[n] for n, _ in program.signature.kinds]
    uncached = program.with_options(replace(program.options, cache=False))
    uncached.run_plain(*given, boxes=boxes)
    return made


def check_same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
    """Fail unless two arrays hold the same bits; all NaN are one."""
    equal = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
    assert equal.all(), f"bits differ by up to {np.nanmax(np.abs(a - b))}:\n{a}\n{b}"


def check_close(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], tolerance: float) -> None:
    """Fail if two arrays differ by more than a fraction of the largest element."""
    error, scale = np.abs(a.astype(float) - b).max(), np.abs(b).max()
    assert error <= tolerance * max(scale, np.finfo(float).tiny), f"off by {error} of {scale}"
