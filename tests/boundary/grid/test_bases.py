"""Inverses and products of small matrices at many points."""

import numpy as np
import pytest

from boundary.synchronization.bases import left_inverse, product
from ssr.errors import ArgumentError

DRAW = np.random.default_rng(0).standard_normal


@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (4, 5, 3, 3), (6, 3, 1), (1, 1)])
def test_the_inverse_of_numpy(shape: tuple[int, ...]) -> None:
    basis = DRAW(shape)
    np.testing.assert_allclose(left_inverse(basis), np.linalg.pinv(basis), 1e-9, 1e-10)


def test_products() -> None:
    left, right = DRAW((4, 2, 3)), DRAW((4, 3, 5))
    np.testing.assert_allclose(product(left, right), left @ right, 1e-12, 1e-14)


@pytest.mark.parametrize("basis", [np.ones((3, 2)), np.zeros((2, 1)), DRAW((2, 3))])
def test_vectors_that_depend_on_each_other(basis: np.ndarray) -> None:  # type: ignore[type-arg]
    with pytest.raises(ArgumentError, match="depend on each other"):
        left_inverse(basis)
