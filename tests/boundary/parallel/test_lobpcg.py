"""Eigenvalues on fields of several ranks: the bits of those on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
import ssr
from ssr.errors import ShapeError
from ssr.solvers import IC, Jacobi, Multigrid, interpolation, lobpcg

from . import jobs, ranks
from .ranks import Parts
from .test_mpi import needs_mpi, start

n, m = ssr.sizes("n m")
fine, coarse = ssr.Space(2 * n + 1, 2 * m + 1), ssr.Space(n, m)
STAR = {(0, 0): 4.0, (0, 1): -1.0, (0, -1): -1.0, (1, 0): -1.0, (-1, 0): -1.0}
A = ssr.stencil(fine, fine, STAR, outside="zero")
mass = ssr.stencil(fine, fine, {**STAR, (0, 0): 8.0}, outside="zero")
P = interpolation(fine, coarse)
SIZES = {"n": 3, "m": 2}
BOXES = (2, 0, ((0, 2), (0, 5))), (0, 0, ((2, 7), (0, 1))), (2, 0, ((2, 7), (1, 5)))
PARTS = [Parts(4, cut=(2, 2)), Parts(3, boxes=BOXES)]

PROBLEMS: dict[str, Any] = {
    "a mass matrix, IC": {"M": IC(), "B": mass},
    "a known vector": {"Y": 1},
    "multigrid": {"M": Multigrid(A, P, P.T, smoother=Jacobi(), coarsest=35)},
}


def bits(found: Any) -> bytes:
    values = found.eigenvalues, found.eigenvalue_history, found.residual_history
    return b"".join(each.tobytes() for each in values)


@pytest.mark.parametrize("name", PROBLEMS)
def test_bits_of_arrays(name: str) -> None:
    X = list(np.random.default_rng(0).standard_normal((3, *fine.extent(SIZES))))
    more = dict(PROBLEMS[name])
    Y = X[: more.pop("Y", 0)]
    with ranks.plain_programs():
        alone = lobpcg(A, X[1:], Y=Y or None, maxiter=2, **more)
        for parts in PARTS:
            on = parts.spread(fine, SIZES)
            fields = [on.scatter(fine, x) for x in X]
            many = lobpcg(A, fields[1:], Y=fields[: len(Y)] or None, maxiter=2, **more)
            assert (many.info, bits(many)) == (alone.info, bits(alone))
            ranks.check_equal(many.eigenvectors, alone.eigenvectors, repr(parts))
            ranks.check_equal(fields, X, repr(parts))


def test_fields_of_several_spreads_are_refused() -> None:
    one, other = (bc.distribute(fine, bc.simulated_ranks(k), **SIZES) for k in (1, 2))
    with pytest.raises(ShapeError, match="same points"):
        lobpcg(A, [one.zeros(fine), other.zeros(fine)])


@needs_mpi
def test_processes_have_the_bits_of_one() -> None:
    found = start(3, "eigenvalues")
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() == jobs.eigenvalues(None)
