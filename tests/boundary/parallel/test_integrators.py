"""Integrators in time: on ranks the bits of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import boundary as bc
from ssr.integrate import ADI, BDF2, ImexRungeKutta

from ...ssr.integrate.test_adi import cells, linear, nonlinear, rest
from . import ranks

SHAPE = 3, 4


def alternating(y: Any, k: Any) -> Any:
    """Sweep twice, with an explicit part."""
    return ADI(linear, 0.0, y, 0.1, "HundsdorferVerwer", explicit=rest)


def halves(y: Any, k: Any) -> Any:
    """Alternate with matrices that depend on the solution and on a field."""
    return ADI(nonlinear, 0.0, y, 0.1, "PeacemanRachford", (k,))


def backward(y: Any, k: Any) -> Any:
    """Solve by Newton's method and GMRES."""
    return BDF2(nonlinear[0], 0.0, y, 0.1, (k,), rtol=1e-2)


def mixed(y: Any, k: Any) -> Any:
    """Take a part of the right side implicitly."""
    return ImexRungeKutta(rest, linear[1], 0.0, y, 0.1, "ARS222", rtol=1e-2)


@pytest.mark.parametrize("make", [alternating, halves, backward, mixed])
def test_ranks_have_the_bits_of_one_process(make: Any) -> None:
    rng = np.random.default_rng(0)
    u, k = 1.0 + 0.2 * rng.random(SHAPE), 0.5 + rng.random(SHAPE)
    on = bc.distribute(cells, bc.simulated_ranks(4), ny=SHAPE[0], nx=SHAPE[1])
    fields = on.scatter(cells, u), on.scatter(cells, k)
    with ranks.plain_kernels():
        whole, shared = make(u, k), make(*fields)
        for run in whole, shared:
            run.advance(0.1)
        k[1, 2] = 3.0
        fields[1].set(k)  # arguments may change between steps
        for run in whole, shared:
            run.advance(0.2)
    if isinstance(whole, (BDF2, ImexRungeKutta)):
        assert (shared.iterations, shared.products) == (whole.iterations, whole.products)
    assert np.array_equal(shared.y.gather(), whole.y)
