"""A program called again and again with other arrays and numbers does what each call asks for."""

from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import ArgumentError, DtypeError, OverlapError, ReadOnlyError, ShapeError

Array = np.ndarray[Any, Any]
n, m = ssr.sizes("n m")
plane = ssr.Space(n, m)


@ssr.matrix(rows=plane, cols=plane, u=plane, a=ssr.scalar)
def V(j: Any, i: Any, *, u: Any, a: Any) -> Any:
    yield (j, i), a * u[j, i]


@ssr.program(s=ssr.scalar, y=plane, t=ssr.scalar, x=plane)
def combine(s: Any, y: Any, t: Any, x: Any) -> None:
    y[:] = s * x + t * y


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_other_shapes_and_strides(dtype: str) -> None:
    """The kernel sees that arrays are laid out in another way than in the call before."""
    rng = np.random.default_rng(1)
    whole = rng.standard_normal((9, 9)).astype(dtype)
    for view in (whole, whole[:4, :4], whole[::2, :4], whole[:4, :4], whole[:1, :1], whole):
        x, y = view.copy(), np.ones_like(view)
        for given in (x, view):
            combine(2.0, y, 0.5, given)
        np.testing.assert_array_equal(y, 2 * x + 0.5 * (2 * x + 0.5 * np.ones_like(x)))


def test_numbers_of_other_types() -> None:
    x, y = np.ones((2, 3)), np.ones((2, 3))
    for number in (0.5, 1, np.float32(0.25), np.int64(3), 0.5):
        y[:] = 1.0
        combine(number, y, number, x)
        np.testing.assert_array_equal(y, np.full((2, 3), 2.0 * float(number)))
    for wrong in (1j, "1", None, np.complex128(1)):
        with pytest.raises((ArgumentError, DtypeError)):
            combine(wrong, y, 0.5, x)


def test_mistakes_after_a_call_that_was_right() -> None:
    x, y = np.ones((2, 3)), np.ones((2, 3))
    combine(1.0, y, 1.0, x)
    frozen = np.ones((2, 3))
    frozen.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        combine(1.0, frozen, 1.0, x)
    with pytest.raises(DtypeError):
        combine(1.0, y, 1.0, np.ones((2, 3), np.int64))
    with pytest.raises(ShapeError):
        combine(1.0, y, 1.0, np.ones((3, 2)))
    shared = np.ones((3, 3))
    with pytest.raises(OverlapError):
        combine(1.0, shared[:2], 1.0, shared[1:])
    combine(1.0, y, 1.0, frozen)
    np.testing.assert_array_equal(y, np.full((2, 3), 3.0))


def test_bound_data_come_between() -> None:
    """Arguments, bound fields, scratch and bound scalars reach the kernel in its order."""
    u = np.array([[1.0, 2.0], [3.0, 4.0]])
    made = V.bind(u=u, a=2.0)
    shift = ssr.stencil(plane, plane, {(0, 0): 1.0, (0, 1): 1.0, (0, -1): 1.0}, outside="zero")

    @ssr.program(s=ssr.scalar, y=plane)
    def both(s: Any, y: Any) -> None:
        y[:] = s * (made @ (shift @ y))

    for factor in (1.0, 3.0):
        y = np.array([[1.0, 10.0], [100.0, 1000.0]])
        both(factor, y)
        np.testing.assert_array_equal(y, factor * 2 * u * [[11.0], [1100.0]])


def test_scalars_may_follow_vector_fields() -> None:
    cells = ssr.Space(ssr.size("n"))

    @ssr.program(u=cells.vector(2), a=ssr.scalar)
    def scaled(u: Any, a: Any) -> None:
        u[:] = a * u

    u = np.ones((2, 4))
    for _ in range(3):
        scaled(u, 2.0)
    assert (u == 8.0).all()


@ssr.program(u=ssr.Space(n).vector(2), s=ssr.Space(n))
def spread(u: Any, s: Any) -> None:
    u[:] = u + ssr.vector(s, 2.0 * s)


def test_vector_fields_are_taken_whole() -> None:
    assert spread.kernel().meta.whole == ("u",)
    for u in np.zeros((2, 3)), np.zeros((2, 6))[::-1, 1:4], np.zeros((3, 2, 3))[1]:
        expected = u + np.array([[1.0, 2, 3], [2, 4, 6]])
        spread(u, np.array([1.0, 2, 3]))
        spread(u, np.zeros(3))  # by the way prepared by the call before
        np.testing.assert_array_equal(u, expected)


def test_other_numbers_of_components_after_a_call_that_was_right() -> None:
    u, s = np.zeros((2, 3)), np.ones(3)
    for wrong in np.zeros((3, 3)), np.zeros((1, 3)), np.zeros((0, 3)), np.zeros(3):
        spread(u, s)
        with pytest.raises(ShapeError):
            spread(wrong, s)
        assert not wrong.any()


def test_components_that_share_memory_with_each_other_are_refused() -> None:
    u = np.lib.stride_tricks.as_strided(np.zeros(4), (2, 3), (8, 8))
    spread(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(OverlapError):
        spread(u, np.ones(3))
