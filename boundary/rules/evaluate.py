"""Values of rows at the points of a box, for given sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Affine, ir, monomials

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Number: TypeAlias = "float | Array"


def evaluate(value: ir.Value, names: Mapping[str, Any], data: Mapping[str, Any]) -> Number:
    """Return a value without scalars, at indices that broadcast with each other.

    Parameters
    ----------
    names
        Sizes, and an integer or an array of integers for each index.
    data
        Arrays, which are read at indices; functions, which are called with halves of them.

    Raises
    ------
    ArgumentError
        If a function does not return finite numbers.
    """
    match value:
        case ir.Const(number):
            return number
        case ir.Coordinate(index):
            return index.evaluate(names)
        case ir.Load(name, index):
            places = tuple(a.evaluate(names) for a in index)
            found = data[name]
            return _called(found, places) if callable(found) else found[places]
        case ir.Op("add", (a, b)):
            return evaluate(a, names, data) + evaluate(b, names, data)
        case ir.Op("mul", (a, b)):
            return evaluate(a, names, data) * evaluate(b, names, data)
        case ir.Op("neg", (a,)):
            return -evaluate(a, names, data)
    raise AssertionError(value)


def _called(function: Any, places: tuple[Any, ...]) -> Number:
    """Return what a user's function says about points, given in halves of cells."""
    each = np.broadcast_arrays(*(np.asarray(p) / 2.0 for p in places))
    try:
        found = np.asarray(function(*each), np.float64)
    except Exception as error:
        raise ArgumentError(
            f"The function {_name(function)} of coordinates fails: {error}.",
            note=f"It is called with {len(each)} arrays, one for each axis of a block.",
        ) from error
    if found.shape not in ((), each[0].shape):
        raise ArgumentError(
            f"The function {_name(function)} of coordinates returns shape {found.shape} "
            f"for arrays of shape {each[0].shape}.",
            hint="It is called with one array for each axis of a block.",
        )
    if not np.isfinite(found).all():
        raise ArgumentError(f"The function {_name(function)} of coordinates returns NaN or inf.")
    return np.broadcast_to(found, each[0].shape) if each[0].shape else float(found)


def check_function(text: str, function: Callable[..., Any], count: int) -> None:
    """Refuse a function that does not take so many coordinates.

    Raises
    ------
    ArgumentError
        If it does not. What cannot be known, as of some built-in functions, is found when the
        function is called.
    """
    try:
        parameters = signature(function)
    except (TypeError, ValueError):
        return
    try:
        parameters.bind(*range(count))
    except TypeError:
        names = ", ".join("zyx"[-count:])
        noun = "argument" if count == 1 else "arguments"
        raise ArgumentError(
            f"{text}: the function {_name(function)} does not take {count} {noun}.",
            note=f"it is called with one array of coordinates for each axis of a block: {names}",
            hint=f"Write lambda {names}: ...",
        ) from None


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))


def table(text: str, name: str, values: Any) -> Array:
    """Return a user's table of numbers as an array.

    Raises
    ------
    ArgumentError
        If it is none.
    """
    try:
        found = np.asarray(values)
        if found.dtype.kind in "biuf" or all(isinstance(v, Real) for v in found.flat):
            return np.asarray(found, np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ArgumentError(f"{text}: {name} is no array of real numbers.")


def affine_in_scalars(value: ir.Value) -> tuple[ir.Value, dict[str, ir.Value]]:
    """Return a value as one without scalars, and what multiplies each scalar."""
    rest: list[ir.Value] = []
    factors: dict[str, list[ir.Value]] = {}
    for number, product in monomials(value):
        plain: ir.Value = ir.Const(float(number))
        scalar = None
        for factor in _factors(product):
            if isinstance(factor, ir.Scalar):
                scalar = factor.name
            else:
                plain = ir.Op("mul", (plain, factor))
        (rest if scalar is None else factors.setdefault(scalar, [])).append(plain)
    return _total(rest), {name: _total(found) for name, found in factors.items()}


def _factors(product: ir.Value) -> list[ir.Value]:
    match product:
        case ir.Op("mul", (a, b)):
            return _factors(a) + _factors(b)
        case ir.Op("neg", (a,)):
            return [ir.Const(-1.0), *_factors(a)]
        case ir.Const(1.0):
            return []
    return [product]


def _total(values: list[ir.Value]) -> ir.Value:
    total: ir.Value = ir.ZERO
    for v in values:
        total = v if total == ir.ZERO else ir.Op("add", (total, v))
    return total


def indices(
    axes: tuple[str, ...], box: tuple[tuple[int, int], ...], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Return names for `evaluate`: sizes, and for each axis its indices, shaped to broadcast."""
    names: dict[str, Any] = dict(sizes)
    for place, (name, (low, high)) in enumerate(zip(axes, box, strict=True)):
        form = [1] * len(axes)
        form[place] = high - low
        names[name] = np.arange(low, high).reshape(form)
    return names


def numbers(
    box: tuple[tuple[Affine, Affine], ...], sizes: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    """Return a box as integers."""
    return tuple((low.evaluate(sizes), high.evaluate(sizes)) for low, high in box)
