"""Programs bound to arrays do what their calls do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import ssr
from ssr.errors import (
    ArgumentError,
    DtypeError,
    NonFiniteError,
    OverlapError,
    ReadOnlyError,
    ShapeError,
)

(n,) = ssr.sizes("n")
line = ssr.Space(n)


@ssr.program(a=ssr.scalar, u=line, b=ssr.scalar, v=line.vector(2))
def mixed(a: Any, u: Any, b: Any, v: Any) -> Any:
    """Numbers between fields, a field of components, two results."""
    v[0] = a * u + b * v[1]
    return ssr.sum(v[0]), ssr.max(u)


def arrays(count: int = 5, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.random(count).astype(dtype), rng.random((2, count)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bound", [{}, {"a": 1.5}, {"b": 2}, {"a": np.float32(1.5), "b": 2}])
def test_a_bound_program_does_what_a_call_does(dtype: Any, bound: dict[str, Any]) -> None:
    u, v = arrays(dtype=dtype)
    w = v.copy()
    run = mixed.bind(u=u, v=v, **bound)
    rest = [value for name, value in (("a", 1.5), ("b", 2.0)) if name not in bound]
    for _ in range(3):
        assert run(*rest) == mixed(1.5, u, 2.0, w)
        assert np.array_equal(v, w)
        u += 1


def test_arguments_by_position() -> None:
    u, v = arrays()
    w = v.copy()
    assert mixed.bind(1.5, u, 2.0, v)() == mixed(1.5, u, 2.0, w)


def test_numbers_that_do_not_fit() -> None:
    u, v = arrays()
    before = v.copy()
    with pytest.raises(ArgumentError, match=r"takes 2 numbers, not 1") as caught:
        mixed.bind(u=u, v=v)(1.0)
    assert caught.value.note == "They are a, b."
    with pytest.raises(ArgumentError, match="takes 0 numbers, not 1"):
        mixed.bind(u=u, v=v, a=1.0, b=2.0)(1.0)
    with pytest.raises(ArgumentError, match="Scalar 'b' is str"):
        mixed.bind(u=u, v=v, a=1.0)("2")
    with pytest.raises(ArgumentError, match="Scalar 'a' is list"):
        mixed.bind(u=u, v=v, a=[1.0])
    assert np.array_equal(v, before)


def test_arrays_that_do_not_fit() -> None:
    u, v = arrays()
    with pytest.raises(ArgumentError, match="misses v"):
        mixed.bind(u=u)
    with pytest.raises(ArgumentError, match="no parameter 'w'"):
        mixed.bind(u=u, v=v, w=u)
    with pytest.raises(ShapeError):
        mixed.bind(u=u[:4], v=v)
    with pytest.raises(DtypeError):
        mixed.bind(u=u.astype(np.float32), v=v)
    with pytest.raises(OverlapError):
        mixed.bind(u=v[0], v=v)
    mixed(1.0, u, 1.0, v)  # its tables are there now; what they do not tell is still looked at
    v.flags.writeable = False
    with pytest.raises(ReadOnlyError):
        mixed.bind(u=u, v=v)


def test_an_array_that_changes_its_shape_is_refused() -> None:
    @ssr.program(u=ssr.Space(*ssr.sizes("ny nx")))
    def double(u: Any) -> None:
        u[:] = 2 * u

    u = np.ones((4, 3))
    run = double.bind(u)
    u.resize((3, 4), refcheck=False)
    with pytest.raises(ShapeError, match="another shape") as caught:
        run()
    assert caught.value.hint == "Bind the program again."
    assert np.all(u == 1)


def test_views_that_are_interleaved() -> None:
    @ssr.program(u=ssr.Space(*ssr.sizes("ny nx")), v=ssr.Space(*ssr.sizes("ny nx")))
    def copy(u: Any, v: Any) -> None:
        u[:] = v

    both = np.arange(12.0).reshape(2, 6)
    copy.bind(both[:, :3], both[:, 3:])()
    assert np.array_equal(both[:, :3], both[:, 3:])


def test_calls_by_several_threads_have_memory_of_their_own() -> None:
    A = ssr.stencil(line, line, {-1: 1.0, 0: -2.0, 1: 1.0}, outside="zero")

    @ssr.program(u=line)
    def norm(u: Any) -> Any:
        return ssr.sum((A @ (A @ u)) ** 2)

    u = np.random.default_rng(2).random(20_000)
    run, expected = norm.bind(u), norm(u)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: run(), range(200))) == {expected}


def test_the_debug_build_is_bound_too() -> None:
    @ssr.program(u=line, options=ssr.Options(debug=True))
    def root(u: Any) -> None:
        u[:] = ssr.sqrt(u)

    u = np.array([4.0, 9.0])
    root.bind(u)()
    assert np.array_equal(u, [2, 3])
    u[1] = -1
    with pytest.raises(NonFiniteError):
        root.bind(u)()
