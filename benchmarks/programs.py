"""Measure whole programs against Fortran, step by step and fused by hand.

``python -m benchmarks.programs [--json FILE] [--quick] [--only PART...]`` prints the columns of
`benchmarks.ssr`: *natural* has a loop for each step, *tuned* loops that are fused by hand.
A Galerkin product ``R @ A @ P`` is measured against its *factors*, which are one kernel each, with
fields of the fine grid in between; its points are those of the coarse grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

import apps.euler
import ssr
from apps import commands
from benchmarks import fortran, report
from benchmarks.cases import Candidate, Case, inner, variants
from benchmarks.fortran import Array, Version
from benchmarks.operators import Weights, plane, space
from benchmarks.references import Shape, field


def chain_program() -> ssr.Program:
    """Return three 5-point stages with a pointwise function between them, back into the field.

    ``v = f(L u), w = f(L v), u = u + L w / 100`` with ``f(s) = s / (1 + s^2)``.
    """
    near: Weights = {(0, 0): -4.0, (-1, 0): 1.0, (0, -1): 1.0, (0, 1): 1.0, (1, 0): 1.0}
    L = ssr.stencil(plane, plane, near, outside="zero")

    @ssr.program(u=plane)
    def chain(u: Any) -> None:
        s = L @ u
        v = s / (1.0 + s * s)
        t = L @ v
        w = t / (1.0 + t * t)
        u[:] = u + 0.01 * (L @ w)

    return chain


def cg_program() -> ssr.Program:
    """Return an iteration of conjugate gradients with the 7-point operator."""
    near: Weights = {(0, 0, 0): 6.0}
    for axis in range(3):
        for step in (-1, 1):
            near[tuple(step * (axis == a) for a in range(3))] = -1.0
    A = ssr.stencil(space, space, near, outside="zero")

    @ssr.program(x=space, r=space, p=space, rr=ssr.scalar)
    def iteration(x: Any, r: Any, p: Any, rr: Any) -> Any:
        q = A @ p
        alpha = rr / ssr.dot(p, q)
        x[:] = x + alpha * p
        r[:] = r - alpha * q
        new = ssr.dot(r, r)
        p[:] = r + new / rr * p
        return new

    return iteration


def chain5(shape: Shape) -> dict[str, Candidate]:
    program, u = chain_program(), field(shape)

    def reference(version: Version, build: str) -> Candidate:
        u = field(shape, 1)
        call = fortran.chain5(u, np.zeros_like(u), np.zeros_like(u), version=version, build=build)
        return Candidate(call, lambda: inner(u))

    return {"ours": Candidate(lambda: program(u), lambda: u), **variants(reference)}


def cg7(shape: Shape) -> dict[str, Candidate]:
    """Bind iterations that continue from call to call, for a random right side."""
    program, b = cg_program(), field(shape)
    start = float((b * b).sum())
    x, r, p, rr = np.zeros(shape), b.copy(), b.copy(), [start]

    def ours() -> None:
        rr[0] = program(x, r, p, rr[0])

    def reference(version: Version, build: str) -> Candidate:
        x, r, p, q = np.zeros(shape), b.copy(), np.pad(b, 1), np.empty(shape)
        rr: Array = np.array([start])
        call = fortran.cg7(x, r, p, q, rr, version=version, build=build)
        return Candidate(call, lambda: x)

    return {"ours": Candidate(ours, lambda: x), **variants(reference)}


def galerkin(shape: Shape) -> dict[str, Candidate]:
    """Bind a Laplacian between full weighting R = P.T / 2^d and linear interpolation P."""
    d = len(shape)
    n = ssr.sizes(" ".join(f"n{axis}" for axis in range(d)))
    coarse, fine = ssr.Space(*n), ssr.Space(*(2 * extent + 1 for extent in n))
    near: Weights = {(0,) * d: 2.0 * d}
    for axis in range(d):
        near |= {tuple(step * (axis == a) for a in range(d)): -1.0 for step in (-1, 1)}
    A = ssr.stencil(fine, fine, near, outside="zero")
    P = ssr.solvers.interpolation(fine, coarse)
    R = P.T / 2.0**d
    product = R @ A @ P
    x, y, z = field(shape), np.empty(shape), np.empty(shape)
    v, w = (np.empty(tuple(2 * extent + 1 for extent in shape)) for _ in range(2))

    def factors() -> None:
        P.apply(x, out=v)
        A.apply(v, out=w)
        R.apply(w, out=z)

    return {
        "ours": Candidate(lambda: product.apply(x, out=y), lambda: y),
        "factors": Candidate(factors, lambda: z),
    }


def euler(shape: Shape) -> dict[str, Candidate]:
    """Bind a step of `apps.euler`, which has the formulas, from a noisy gas at rest."""
    ny, nx = shape
    old = 1.0 + 0.1 * field((4, ny + 4, nx + 4))
    old[3] += 1.0
    wide = np.empty((4, ny + 4, nx + 4))

    def reference(version: Version, build: str) -> Candidate:
        new = np.empty((4, *shape))
        call = fortran.euler(0.1, 0.1, old.copy(), new, version=version, build=build)
        return Candidate(call, lambda: new)

    return {
        "ours": Candidate(
            lambda: apps.euler.step(0.1, 0.1, wide, old), lambda: wide[:, 2:-2, 2:-2]
        ),
        **variants(reference),
    }


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "chain5-512": Case(
            "three 5-point stages u -> v -> w -> u",
            *(chain5, (512, 512), (30, 70), 16),
            goals={"tuned": 1.05},
        ),
        "chain5-4096": Case(
            "three 5-point stages u -> v -> w -> u",
            *(chain5, (4096, 4096), (40, 300), 16),
            goals={"natural": 0.60, "tuned": 1.05},
        ),
        "cg7-128": Case(
            "an iteration of conjugate gradients, 7 points",
            *(cg7, (128, 128, 128), (12, 13, 70), 72),
            goals={"tuned": 1.05},
        ),
        "galerkin-1024": Case(
            "R @ A @ P on the coarse grid, 5 points, against its factors",
            *(galerkin, (1024, 1024), (30, 70), 24),
            goals={"factors": 0.70},
        ),
        "galerkin-64": Case(
            "R @ A @ P on the coarse grid, 7 points, against its factors",
            *(galerkin, (64, 64, 64), (6, 7, 40), 24),
            goals={"factors": 0.70},
        ),
        "euler-512": Case(
            "a step of the Euler equations, MUSCL-Hancock, HLL",
            *(euler, (512, 512), (30, 70), 96),
            goals={"tuned": 1.05},
        ),
    }
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements selected on the command line."""
    report.main(CASES, {}, arguments)


if __name__ == "__main__":
    commands.run(main)
