"""Operations of kernels in plain Python: products and sums are rounded once."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ssr.runtime.intrinsics import fma


def exact(a: Any, b: Any, c: Any) -> Fraction:
    return Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))


@pytest.mark.parametrize(("kind", "least"), [(np.float64, -600.0), (np.float32, -80.0)])
def test_fma_is_nearest(kind: Any, least: float) -> None:
    """No neighbor of a result is closer to the exact value, whether terms cancel or underflow."""
    rng = np.random.default_rng(1)
    for n in range(300):
        a, b, c = (
            kind(m * 2.0**e)
            for m, e in zip(*rng.uniform([[-1], [least]], [[1], [3]], (2, 3)), strict=True)
        )
        if n % 3:
            c = kind(-a * b * kind(1.0 + n % 2 * rng.random()))
        found, wanted = fma(a, b, c), exact(a, b, c)
        assert type(found) is kind
        distance = abs(Fraction(float(found)) - wanted)
        for end in -np.inf, np.inf:
            near = Fraction(float(np.nextafter(found, kind(end))))
            assert distance <= abs(near - wanted)


def test_fma_rounds_ties_to_even_and_keeps_signs() -> None:
    one = np.float64(1.0)
    assert fma(one, one, np.float64(2.0**-53)) == 1.0
    assert fma(one, np.float64(1.0 + 2.0**-52), np.float64(2.0**-53)) == 1.0 + 2.0**-51
    assert np.signbit(fma(-one, np.float64(0.0), np.float64(-0.0)))
    assert not np.signbit(fma(one, one, -one))
    large = np.float64(2.0**1000)
    assert fma(large, large, np.float64(-np.inf)) == -np.inf
    assert np.isnan(fma(np.float64(np.inf), one, np.float64(-np.inf)))
