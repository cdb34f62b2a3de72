"""The entries of the table of elementary functions agree with each other."""

from typing import Any

import numpy as np
import pytest
import scipy.special
import sympy

import ssr
from ssr.elementary import FUNCTIONS, Function

POINTS = {1: (0.3, 0.75), 2: (0.6, 1.7)}
ENTRIES = pytest.mark.parametrize("entry", FUNCTIONS.values(), ids=FUNCTIONS)


def operands(entry: Function) -> list[tuple[float, ...]]:
    """Return points at which a function is smooth."""
    if entry.name == "arccosh":
        return [(1.5,)]
    if len(entry.operands) == 2:
        return [POINTS[2]]
    return [(x,) for x in POINTS[1]]


@ENTRIES
def test_entries_are_public(entry: Function) -> None:
    function = getattr(ssr, entry.name)
    assert entry.name in ssr.__all__
    assert function(*operands(entry)[0]) == entry.compute(*operands(entry)[0])


@ENTRIES
def test_derivatives(entry: Function) -> None:
    for at in operands(entry):
        for axis, found in enumerate(entry.derivative(ssr, *at)):
            step = np.eye(len(at))[axis] * 1e-6
            ahead, behind = entry.compute(*(at + step)), entry.compute(*(at - step))
            expected = (ahead - behind) / 2e-6
            assert (found or 0.0) == pytest.approx(expected, rel=1e-8)


@ENTRIES
def test_sympy(entry: Function) -> None:
    for at in operands(entry):
        found = entry.in_sympy(sympy, *map(sympy.Float, at))
        assert float(found) == pytest.approx(float(entry.compute(*at)), rel=1e-14)


@pytest.mark.parametrize("function", [np.sinh, np.log1p, np.arctan])
def test_arrays_of_symbols(function: Any) -> None:
    """NumPy's functions of arrays whose elements are values known at run time."""
    points = ssr.Space(ssr.size("n"))

    @ssr.program(x=points, y=points.vector(2))
    def both(x: Any, y: Any) -> None:
        y[0][:], y[1][:] = function(x), function(2.0 * x)

    x = np.linspace(0.1, 0.4, 5)
    y = np.zeros((2, 5))
    both(x, y)
    np.testing.assert_allclose(y, [function(x), function(2.0 * x)], 1e-15)


@pytest.mark.parametrize("compiler", ["llvm", "numba"])
def test_a_function_that_numpy_lacks(compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSR_CPU", raising=False)  # Numba compiles for its own processor
    points = ssr.Space(ssr.size("n"))

    @ssr.program(x=points, y=points, options=ssr.Options(compiler=compiler))
    def step(x: Any, y: Any) -> None:
        y[:] = scipy.special.erf(x) + ssr.floor(x) + ssr.hypot(x, 3.0)

    for dtype in np.float64, np.float32:
        x = np.linspace(-2.0, 2.0, 19, dtype=dtype)
        y = np.empty_like(x)
        step(x, y)
        expected = scipy.special.erf(x) + np.floor(x) + np.hypot(x, 3.0)
        np.testing.assert_allclose(y, expected, 8 * np.finfo(dtype).eps)
