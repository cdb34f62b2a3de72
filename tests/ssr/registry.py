"""Matrices written by hand as users write them, with sizes and data to run them on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import numpy as np

import ssr

Array = np.ndarray[Any, Any]
n, nz, ny, nx = ssr.sizes("n nz ny nx")
line, plane, block = ssr.Space(n), ssr.Space(ny, nx), ssr.Space(nz, ny, nx)
SIZES_2 = ({"ny": 1, "nx": 1}, {"ny": 1, "nx": 5}, {"ny": 4, "nx": 3})
SIZES_3 = ({"nz": 1, "ny": 2, "nx": 1}, {"nz": 3, "ny": 3, "nx": 4})


@dataclass(frozen=True)
class Case:
    """A matrix, sizes to run it with, and what its data are: fields are of order one."""

    make: Callable[[], ssr.Matrix]
    sizes: tuple[dict[str, int], ...]
    scalars: dict[str, float] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    solvable: bool = True
    slow: bool = False

    def bound(self, sizes: dict[str, int]) -> ssr.Matrix:
        """Return the matrix with data of some size, always the same numbers."""
        rng = np.random.default_rng(sum(sizes.values()))
        matrix = cached(self)
        data = {
            name: rng.uniform(-1.0, 1.0, matrix.definition.data[name].extent(sizes))
            for name in self.fields
        }
        return matrix.bind(**self.scalars, **data)


CASES: dict[str, Case] = {}


@cache
def _made(make: Callable[[], ssr.Matrix]) -> ssr.Matrix:
    return make()


def cached(case: Case) -> ssr.Matrix:
    """Return a case's matrix, traced once."""
    return _made(case.make)


def case(
    *sizes: dict[str, int],
    solvable: bool = True,
    slow: bool = False,
    fields: str = "",
    **scalars: float,
) -> Callable[[Callable[[], ssr.Matrix]], Callable[[], ssr.Matrix]]:
    """Register a function that returns a matrix."""

    def register(make: Callable[[], ssr.Matrix]) -> Callable[[], ssr.Matrix]:
        found = Case(make, sizes, scalars, tuple(fields.split()), solvable, slow)
        CASES[make.__name__] = found
        return make

    return register


def laplacian(*extents: Any) -> ssr.Matrix:
    """Return the negative Laplacian on a space, zero outside."""
    space = ssr.Space(*extents)
    d = space.ndim
    weights = {(0,) * d: 2.0 * d}
    for axis, side in product(range(d), (-1, 1)):
        weights[tuple(side * (a == axis) for a in range(d))] = -1.0
    return ssr.stencil(space, space, weights, outside="zero")


@case({"n": 1}, {"n": 2}, {"n": 9})
def poisson_1d() -> ssr.Matrix:
    return laplacian(n)


@case(*SIZES_2)
def poisson_2d() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane)
    def poisson(j: Any, i: Any) -> Any:
        yield (j, i), 4.0
        for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
            if c in plane:
                yield c, -1.0

    return poisson


@case(*SIZES_3)
def poisson_3d() -> ssr.Matrix:
    return laplacian(nz, ny, nx)


@case({"nz": 2, "ny": 3, "nx": 4})
def poisson_4d() -> ssr.Matrix:
    return laplacian(2, nz, ny, nx)


@case(*SIZES_3)
def hpcg() -> ssr.Matrix:
    weights = {o: 26.0 if not any(o) else -1.0 for o in product((-1, 0, 1), repeat=3)}
    return ssr.stencil(block, block, weights, outside="zero")


@case(*SIZES_2, slow=True)
def red_black() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane)
    def red_black(j: Any, i: Any) -> Any:
        yield (j, i), 3.0
        if (j + i) % 2 == 0:
            for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
                if c in plane:
                    yield c, 0.5

    return red_black


@case(*SIZES_2)
def boundary_rows() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane)
    def boundary_rows(j: Any, i: Any) -> Any:
        if j == 0 or i == 0 or j == ny - 1 or i == nx - 1:
            yield (j, i), 1.0
            return
        yield (j, i), 4.0
        for dj, di in (-1, 0), (0, -1), (0, 1), (1, 0):
            yield (j + dj, i + di), -1.0

    return boundary_rows


def along(space: ssr.Space, row: tuple[Any, ...], axis: int, weight: float) -> Iterator[Any]:
    """Yield the two neighbours of a row along an axis, mirrored at the ends."""
    for side in -1, 1:
        column = tuple(x + side * (a == axis) for a, x in enumerate(row))
        if column in space:
            yield column, weight
        else:
            yield row, weight


@case(*SIZES_2)
def helpers() -> ssr.Matrix:
    """Neumann's condition by helper functions: up to five entries at one column."""

    @ssr.matrix(rows=plane, cols=plane)
    def helpers(j: Any, i: Any) -> Any:
        yield (j, i), 7.0
        for axis, weight in enumerate((-1.0, -0.5)):
            yield from along(plane, (j, i), axis, weight)

    return helpers


@case({"n": 1}, {"n": 6}, solvable=False)
def restriction() -> ssr.Matrix:
    @ssr.matrix(rows=line, cols=ssr.Space(2 * n))
    def restriction(i: Any) -> Any:
        yield 2 * i, 0.5
        yield 2 * i + 1, 0.25
        if i > 0:
            yield 2 * i - 1, 0.25

    return restriction


@case({"n": 1}, {"n": 4}, solvable=False)
def prolongation() -> ssr.Matrix:
    @ssr.matrix(rows=ssr.Space(2 * n), cols=line)
    def prolongation(i: Any) -> Any:
        yield i // 2, 0.75
        if i % 2 == 0:
            if i > 0:
                yield i // 2 - 1, 0.25
        elif i // 2 + 1 < n:
            yield i // 2 + 1, 0.25

    return prolongation


@case(*SIZES_2, solvable=False)
def gradient() -> ssr.Matrix:
    faces = plane.faces(axis=1)

    @ssr.matrix(rows=faces, cols=plane)
    def gradient(j: Any, i: Any) -> Any:
        if (j, i) in plane:
            yield (j, i), 1.0
        if (j, i - 1) in plane:
            yield (j, i - 1), -1.0

    return gradient


@case(*SIZES_2, solvable=False)
def divergence() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane.faces(axis=0))
    def divergence(j: Any, i: Any) -> Any:
        yield (j + 1, i), 1.0
        yield (j, i), -1.0

    return divergence


@case(*SIZES_2, fields="k q")
def diffusion() -> ssr.Matrix:
    """Variable coefficients on faces and on ghost cells."""

    @ssr.matrix(rows=plane, cols=plane, k=plane.faces(axis=0), q=plane.grow(0, 1))
    def diffusion(j: Any, i: Any, *, k: Any, q: Any) -> Any:
        yield (j, i), 6.0 + k[j, i] * k[j + 1, i] - q[j, i]
        for c, weight in ((j - 1, i), k[j, i]), ((j + 1, i), k[j + 1, i]):
            if c in plane:
                yield c, -weight
        for side in -1, 1:
            if (j, i + side) in plane:
                yield (j, i + side), -0.5 * (q[j, i] + q[j, i + side])

    return diffusion


@case(*SIZES_2, fields="mask")
def masked() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane, mask=plane)
    def masked(j: Any, i: Any, *, mask: Any) -> Any:
        wet = 1.0 * ssr.where(mask[j, i] > 0.0, 1.0, 0.0)
        yield (j, i), 1.0 + 3.0 * wet
        for c in (j - 1, i), (j, i - 1), (j, i + 1), (j + 1, i):
            if c in plane:
                yield c, -wet * ssr.where(mask[c] > 0.0, 1.0, 0.0)

    return masked


@case(*SIZES_2, fields="u v", dt=0.5)
def upwind() -> ssr.Matrix:
    @ssr.matrix(rows=plane, cols=plane, u=plane, v=plane, dt=ssr.scalar)
    def upwind(j: Any, i: Any, *, u: Any, v: Any, dt: Any) -> Any:
        west, east = ssr.maximum(u[j, i], 0.0), ssr.minimum(u[j, i], 0.0)
        yield (j, i), 1.0 / dt + abs(u[j, i]) + ssr.sqrt(v[j, i] * v[j, i])
        if i > 0:
            yield (j, i - 1), -west
        if i < nx - 1:
            yield (j, i + 1), east
        if j > 0:
            yield (j - 1, i), -ssr.maximum(v[j, i], 0.0)

    return upwind


@case({"n": 1}, {"n": 2}, {"n": 7}, a=0.3, b=-1.5)
def scalars() -> ssr.Matrix:
    @ssr.matrix(rows=line, cols=line, a=ssr.scalar, b=ssr.scalar)
    def scalars(i: Any, *, a: Any, b: Any) -> Any:
        if i > 0:
            yield i - 1, a / 4.0 - b * (i + 1)
        yield i, 12.0 + ssr.exp(a) * i
        if i + 2 < n:
            yield i + 2, a * b / (n + 1)

    return scalars


@case({"n": 2}, {"n": 7})
def repeated() -> ssr.Matrix:
    """Several entries at one column, also along different ways, some adding up to nothing."""

    @ssr.matrix(rows=line, cols=line)
    def repeated(i: Any) -> Any:
        yield i, 3.0
        for c in (i - 1, i + 1, i - 1, n - 1 - i):
            if c in line:
                yield c, -0.75
        if i > 0:
            yield i - 1, 1.5

    return repeated


@case({"ny": 2, "nx": 3}, {"ny": 4, "nx": 4})
def periodic() -> ssr.Matrix:
    """Periodic along the last axis by guards, along the first, of four rows, by remainders."""
    ring = ssr.Space(4, nx)

    @ssr.matrix(rows=ring, cols=ring)
    def periodic(j: Any, i: Any) -> Any:
        yield (j, i), 5.0
        yield ((j + 1) % 4, i), -1.0
        yield ((j - 1) % 4, i), -2.0
        yield (j, i - 1 if i > 0 else nx - 1), -0.5
        yield (j, i + 1 if i < nx - 1 else 0), -0.25

    return periodic


@case(*SIZES_2, solvable=False)
def ghosts() -> ssr.Matrix:
    weights = {(0, 0): -2.5, (1, 0): 1.0, (-1, 1): 0.5, (0, -2): 0.25}
    return ssr.stencil(plane, plane.grow(1, (2, 1)), weights)
