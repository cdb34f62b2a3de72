"""Measure whole programs against Fortran, step by step and fused by hand.

``python -m benchmarks.programs [--json FILE] [--quick] [--only PART...]`` prints what
`benchmarks.ssr` prints for operators: *natural* is a loop for each step, *tuned* the loops fused by
hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

import ssr
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
    L = ssr.stencil(plane, plane, near, outside="drop")

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
    A = ssr.stencil(space, space, near, outside="drop")

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
    """Bind iterations that go on from call to call, from a right side of random numbers."""
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
    }
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line asks for."""
    report.main(CASES, {}, arguments)


if __name__ == "__main__":
    main()
