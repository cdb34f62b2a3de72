"""The problems: their numbers, their first values, and our own programs.

Fields are zero outside but for those of Gray and Scott, which are periodic. Spacing is 1.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

import boundary as bc
import ssr
from benchmarks.cases import Candidate
from benchmarks.references import Shape

Table: TypeAlias = Mapping[tuple[int, ...], float]
Along: TypeAlias = Mapping[int, float]

STEPS = 4
"""Steps of a call: Devito spends milliseconds on a call in addition to its steps."""

SECOND: Mapping[int, tuple[float, ...]] = MappingProxyType(
    {
        1: (-2.0, 1.0),
        2: (-5 / 2, 4 / 3, -1 / 12),
        3: (-49 / 18, 3 / 2, -3 / 20, 1 / 90),
        4: (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560),
    }
)
"""Weights of second differences by how far they reach: of a point, of the next, and so on."""

PLANES = (26.0, -1.0, -0.5, -0.25)
"""Weights of 27 points by the number of axes along which they differ from the row."""

DU, DV, FEED, KILL = 0.16, 0.08, 0.035, 0.065
"""Diffusivities and rates of Gray and Scott."""


HALF: Along = MappingProxyType({-1: 1 / 24, 0: -9 / 8, 1: 9 / 8, 2: -1 / 24})
"""Weights of a first difference of fourth order at half a point ahead, by distance."""

BUOYANCY, LAME, SHEAR = 0.3, 0.2, 0.15
"""Coefficients of staggered waves: material, step and spacing in one number."""


def laplacian(ndim: int, reach: int = 1) -> Table:
    """Return the weights of a sum of second differences along all axes."""
    middle, *beside = SECOND[reach]
    weights = {(0,) * ndim: ndim * middle}
    for axis, (far, weight), sign in itertools.product(
        range(ndim), enumerate(beside, start=1), (-1, 1)
    ):
        weights[tuple(sign * far * (a == axis) for a in range(ndim))] = weight
    return weights


def around() -> Table:
    """Return the four weights of 27 points."""
    return {o: PLANES[sum(map(abs, o))] for o in itertools.product((-1, 0, 1), repeat=3)}


def different() -> Table:
    """Return 27 different weights."""
    places = enumerate(itertools.product((-1, 0, 1), repeat=3))
    return {o: 26.0 if not any(o) else -1.0 - n / 32 for n, o in places}


TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "points27": around(),
        "different27": different(),
        "star13": laplacian(3, 2),
        "star25": laplacian(3, 4),
        "plane13": laplacian(2, 3),
    }
)
"""Weights of products, by the names of the problems."""


def reach_of(weights: Table) -> int:
    """Return how far a stencil reaches."""
    return max(max(map(abs, offset)) for offset in weights)


def values(shape: Shape, dtype: Any, count: int) -> list[np.ndarray[Any, Any]]:
    """Return random numbers between 0 and 1/10."""
    rng = np.random.default_rng(1)
    return [(0.1 * rng.random(shape)).astype(dtype) for _ in range(count)]


box = ssr.Space(*ssr.sizes("nz ny nx"))
square = ssr.Space(*ssr.sizes("ny nx"))


def heat(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return steps ``u + L u / 10``: in place, with a fill or cut off, or to another array."""
    if form == "fill":
        L = ssr.stencil(box, box.grow(1), laplacian(3)) @ bc.fill(box.grow(1), bc.zero())
    else:
        L = ssr.stencil(box, box, laplacian(3), outside="zero")
    (u,) = values(shape, dtype, 1)
    if form in ("in place", "fill"):

        @ssr.program(u=box)
        def step(u: Any) -> None:
            u[:] = u + 0.1 * (L @ u)

        return _in_turn([step.bind(u)], u)

    @ssr.program(v=box, u=box)
    def across(v: Any, u: Any) -> None:
        v[:] = u + 0.1 * (L @ u)

    v = np.empty_like(u)
    return _in_turn([across.bind(v, u), across.bind(u, v)], u)


def wave(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return leapfrog steps with 25 points: on arrays with ghosts, with a fill, or cut off."""
    wide = box.grow(4)
    u, new, m = values(shape, dtype, 3)
    if form == "ghosts":
        L = ssr.stencil(box, wide, laplacian(3, 4))

        @ssr.program(new=wide, u=wide, m=box)
        def step(new: Any, u: Any, m: Any) -> None:
            new[box] = 2.0 * u[box] - new[box] + m * (L @ u)

        u, new = np.pad(u, 4), np.pad(new, 4)
        inner = (slice(4, -4),) * 3
        return _in_turn([step.bind(new, u, m), step.bind(u, new, m)], u, inner)
    if form == "fill":
        zeros = bc.fill(wide, bc.zero())
        product = ssr.stencil(box, wide, laplacian(3, 4)) @ zeros
    else:
        product = ssr.stencil(box, box, laplacian(3, 4), outside="zero")

    @ssr.program(new=box, u=box, m=box)
    def leap(new: Any, u: Any, m: Any) -> None:
        new[:] = 2.0 * u - new + m * (product @ u)

    return _in_turn([leap.bind(new, u, m), leap.bind(u, new, m)], u)


def varying(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return steps ``u + div(c grad u) / 10`` on arrays with ghosts: by fluxes, or by a matrix."""
    wide = box.grow(1)
    axes = [(ssr.average(box.faces(a), wide, a), ssr.difference(box.faces(a), wide, a),
             ssr.difference(box, box.faces(a), a)) for a in range(3)]  # fmt: skip

    @ssr.matrix(rows=box, cols=wide, c=wide)
    def diffusion(k: Any, j: Any, i: Any, *, c: Any) -> Iterator[Any]:
        total = 0.0
        beside = (k - 1, j, i), (k, j - 1, i), (k, j, i - 1), (k, j, i + 1), (k, j + 1, i)
        for column in (*beside, (k + 1, j, i)):
            face = 0.5 * (c[k, j, i] + c[column])
            total = total + face
            yield column, face
        yield (k, j, i), -total

    @ssr.program(v=wide, u=wide, c=wide)
    def step(v: Any, u: Any, c: Any) -> None:
        if form == "fluxes":
            change = sum(div @ ((mean @ c) * (grad @ u)) for mean, grad, div in axes)
        else:
            change = diffusion.bind(c=c) @ u
        v[box] = u[box] + 0.1 * change

    u, c = values(shape, dtype, 2)
    u, c = np.pad(u, 1), np.pad(c, 1, mode="edge")
    v = u.copy()
    return _in_turn([step.bind(v, u, c), step.bind(u, v, c)], u, (slice(1, -1),) * 3)


def halves() -> tuple[list[ssr.Matrix], list[ssr.Matrix]]:
    """Return differences half a point ahead along each axis, and half a point back."""
    wide = box.grow(2)

    def along(axis: int, shift: int) -> ssr.Matrix:
        return ssr.stencil(box, wide, {
            tuple((o - shift) * (a == axis) for a in range(3)): w for o, w in HALF.items()
        })  # fmt: skip

    return [along(axis, 0) for axis in range(3)], [along(axis, 1) for axis in range(3)]


def acoustic(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return steps of pressure and velocities on a staggered grid, on arrays with ghosts."""
    wide = box.grow(2)
    ahead, back = halves()

    @ssr.program(p=wide, vz=wide, vy=wide, vx=wide, m=box)
    def step(p: Any, vz: Any, vy: Any, vx: Any, m: Any) -> None:
        for v, D in zip((vz, vy, vx), ahead, strict=True):
            v[box] = v[box] - BUOYANCY * (D @ p)
        p[box] = p[box] - m * (back[0] @ vz + back[1] @ vy + back[2] @ vx)

    *fields, m = values(shape, dtype, 5)
    p, *v = (np.pad(field, 2) for field in fields)
    return _in_turn([step.bind(p, *v, m)], p, (slice(2, -2),) * 3)


def elastic(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return steps of three velocities and six stresses on a staggered grid."""
    wide = box.grow(2)
    (Az, Ay, Ax), (Bz, By, Bx) = halves()

    @ssr.program(
        vz=wide, vy=wide, vx=wide, szz=wide, syy=wide, sxx=wide, szy=wide, szx=wide, syx=wide
    )
    def step(
        vz: Any, vy: Any, vx: Any, szz: Any, syy: Any, sxx: Any, szy: Any, szx: Any, syx: Any
    ) -> None:
        vz[box] = vz[box] + BUOYANCY * (Az @ szz + By @ szy + Bx @ szx)
        vy[box] = vy[box] + BUOYANCY * (Bz @ szy + Ay @ syy + Bx @ syx)
        vx[box] = vx[box] + BUOYANCY * (Bz @ szx + By @ syx + Ax @ sxx)
        strains = Bz @ vz, By @ vy, Bx @ vx
        pressure = LAME * (strains[0] + strains[1] + strains[2])
        for s, strain in zip((szz, syy, sxx), strains, strict=True):
            s[box] = s[box] + pressure + 2 * SHEAR * strain
        szy[box] = szy[box] + SHEAR * (Ay @ vz + Az @ vy)
        szx[box] = szx[box] + SHEAR * (Ax @ vz + Az @ vx)
        syx[box] = syx[box] + SHEAR * (Ax @ vy + Ay @ vx)

    fields = [np.pad(field, 2) for field in values(shape, dtype, 9)]
    return _in_turn([step.bind(*fields)], fields[0], (slice(2, -2),) * 3)


def product(name: str, shape: Shape, dtype: Any) -> Candidate:
    """Return products with a stencil that is cut off."""
    space = box if len(shape) == 3 else square
    A = ssr.stencil(space, space, TABLES[name], outside="zero")
    x, y = values(shape, dtype, 2)

    @ssr.program(y=space, x=space)
    def multiply(y: Any, x: Any) -> None:
        y[:] = A @ x

    return _in_turn([multiply.bind(y, x)], y)


def gray_scott(form: str, shape: Shape, dtype: Any) -> Candidate:
    """Return steps of two substances that react and diffuse, in place or to other arrays."""
    sides = bc.fill(square.grow(1), bc.periodic())
    L = ssr.stencil(square, square.grow(1), laplacian(2))

    def changed(u: Any, v: Any) -> tuple[Any, Any]:
        rate = u * v * v
        du = DU * (L @ (sides @ u)) - rate + FEED * (1.0 - u)
        dv = DV * (L @ (sides @ v)) + rate - (FEED + KILL) * v
        return u + du, v + dv

    u, v = values(shape, dtype, 2)
    if form == "in place":

        @ssr.program(u=square, v=square)
        def step(u: Any, v: Any) -> None:
            u[:], v[:] = changed(u, v)

        return _in_turn([step.bind(u, v)], u)

    @ssr.program(p=square, q=square, u=square, v=square)
    def across(p: Any, q: Any, u: Any, v: Any) -> None:
        p[:], q[:] = changed(u, v)

    p, q = np.empty_like(u), np.empty_like(v)
    return _in_turn([across.bind(p, q, u, v), across.bind(u, v, p, q)], u)


def _in_turn(runs: list[Any], result: Any, part: Any = ...) -> Candidate:
    """Return a call of bound programs in turn, `STEPS` of them."""
    turns = runs * (STEPS // len(runs))

    def call() -> None:
        for run in turns:
            run()

    return Candidate(call, lambda: result[part])
