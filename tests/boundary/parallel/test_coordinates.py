"""Matrices of coordinates on ranks: the bits of arrays, with weights that ranks hold in part."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import boundary as bc
import ssr
from ssr.coordinates import Axis, Coordinates, cylindrical, from_map
from ssr.errors import OutOfRangeError

from . import ranks

n, m = ssr.sizes("n m", at_least=2)
CELLS = ssr.Space(n, m)
SIZES = {"n": 4, "m": 5}
FULL = Axis(0.0, 2 * np.pi, periodic=True)
s, t = sympy.symbols("s t")
ELLIPTIC = from_map([s, t], [sympy.cosh(s) * sympy.cos(t), sympy.sinh(s) * sympy.sin(t)])
DISK = Coordinates(CELLS, cylindrical, r=Axis(0.0, 1.0, stretching=np.sqrt), theta=FULL)
ELLIPSE = Coordinates(CELLS, ELLIPTIC, s=(0.5, 1.5), t=FULL)


def fill_of(grid: Coordinates) -> bc.Fill:
    rules = [bc.dirichlet(1.0, axis=0, side="high"), bc.periodic(axis=1)]
    if grid.wide.lower[0] != 0:
        rules.append(bc.neumann(0.0, axis=0, side="low"))
    return bc.fill(grid.wide, *rules)


def results(grid: Coordinates, k: Any, u: Any, v: Any) -> tuple[Any, ...]:
    """Run a program with matrices, transposes and sums; return the sums."""
    L, V, fill = grid.laplacian(k), grid.volumes(), fill_of(grid)
    D, G, A = grid.divergence(1), grid.gradient(1), grid.average(1)

    @ssr.program(u=CELLS, v=CELLS)
    def step(u: Any, v: Any) -> Any:
        w = ssr.materialize(fill @ u)
        v[:] = L @ w + D @ ((A @ w) * (G @ w))
        u[:] = u + V @ (D @ (G @ w))
        return grid.integral(u), grid.inner(u, v)

    return step(u, v)  # type: ignore[no-any-return]


def start() -> tuple[Any, ...]:
    return tuple(1.0 + np.random.default_rng(3).random((3, *SIZES.values())))


@pytest.mark.parametrize(
    ("grid", "world"),
    [(DISK, lambda: bc.threads(2)), (ELLIPSE, lambda: bc.simulated_ranks(3))],
    ids=["disk", "ellipse"],
)
def test_the_bits_of_arrays(grid: Coordinates, world: Callable[[], Any]) -> None:
    k, u, v = start()
    with ranks.plain_programs():
        found = results(grid.bind(**SIZES), k, u, v)
        on = bc.distribute(CELLS, world(), **SIZES)
        each = [on.scatter(CELLS, a) for a in start()]
        again = results(grid.on(on), *each)
    ranks.check_numbers(again, found)
    ranks.check_equal(each, (k, u, v), repr(on))


def test_weights_of_all_axes_are_fields_of_ranks() -> None:
    on = bc.distribute(CELLS, bc.simulated_ranks(3), **SIZES)
    matrix, whole = ELLIPSE.on(on).volumes(), ELLIPSE.bind(**SIZES).volumes()
    ((name, field),) = matrix.definition.bound.items()
    assert isinstance(field, bc.Field)
    np.testing.assert_array_equal(field.gather(), whole.definition.bound[name])
    assert not any(isinstance(a, bc.Field) for a in DISK.on(on).volumes().definition.bound.values())


def test_a_weight_that_is_not_positive_on_one_rank() -> None:
    grid = Coordinates(CELLS, from_map([s, t], [s * t, (s**2 - t**2) / 2]), s=(-1, 1), t=(0.0, 1.0))
    on = bc.distribute(CELLS, bc.simulated_ranks(3), **SIZES)
    odd = ssr.coordinates.from_scale_factors({s: s + t - sympy.Rational(1, 2), t: 1})
    with pytest.raises(OutOfRangeError, match="not positive"):
        Coordinates(CELLS, odd, s=(0.0, 1.0), t=(0.0, 1.0)).on(on).volumes()
    assert grid.on(on).volumes() is not None


def test_pictures_and_labels_gather() -> None:
    on = bc.distribute(CELLS, bc.simulated_ranks(3), **SIZES)
    pytest.importorskip("xarray")
    k, *_ = start()
    array = DISK.on(on).to_xarray(on.scatter(CELLS, k))
    np.testing.assert_array_equal(array.values, k)
