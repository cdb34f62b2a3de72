"""Numerical evaluation of ghost rows at the points of a box, for given sizes.

User functions of coordinates are called here, and their results are checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from ssr.errors import ArgumentError
from ssr.extension import Affine, Array, ir, monomials, name_of

from .arguments import ROUNDING
from .given import OnSpace

Number: TypeAlias = "float | Array"


def evaluate(value: ir.Value, names: Mapping[str, Any], data: Mapping[str, Any]) -> Number:
    """Return a value without scalars, at indices that broadcast with each other."""
    match value:
        case ir.Const(number):
            return number
        case ir.Coordinate(index):
            return index.evaluate(names)
        case ir.Load(name, index):
            places = tuple(a.evaluate(names) for a in index)
            found = data[name]
            if isinstance(found, OnSpace):
                return found.at(places, names)
            return _called(found, places) if callable(found) else found[places]
        case ir.Op("add", (a, b)):
            return evaluate(a, names, data) + evaluate(b, names, data)
        case ir.Op("mul", (a, b)):
            return evaluate(a, names, data) * evaluate(b, names, data)
        case ir.Op("neg", (a,)):
            return -evaluate(a, names, data)
        case ir.Op("div", (a, b)):
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.divide(evaluate(a, names, data), _divisor(b, names, data))
    raise AssertionError(value)


def _divisor(value: ir.Value, names: Mapping[str, Any], data: Mapping[str, Any]) -> Number:
    """Return a value; sums that are zero up to rounding errors become zero."""
    match value:
        case ir.Op("add", (a, b)):
            one, other = evaluate(a, names, data), evaluate(b, names, data)
            total = np.asarray(one + other)
            small = np.abs(total) <= ROUNDING * (np.abs(one) + np.abs(other))
            return np.where(small, 0.0, total)
    return evaluate(value, names, data)


def check_determined(text: str, number: Number) -> None:
    """Refuse weights and constants of a condition that does not determine a ghost."""
    if not np.isfinite(number).all():
        raise ArgumentError(
            f"{text} is singular: its coefficients do not determine a ghost at some points.",
            hint="a and b must not both be zero, nor a + 2 b / distance, where the distance is "
            "that of a ghost from its reflection; spacings are positive.",
        )


def _called(function: Any, places: tuple[Any, ...]) -> Number:
    """Return the values of a user's function at points, which are given in halves of cells."""
    each = np.broadcast_arrays(*(np.asarray(p) / 2.0 for p in places))
    try:
        given = np.asarray(function(*each))
        if given.dtype.kind == "c":
            raise TypeError("it returns complex numbers")
        found = given.astype(np.float64)
    except Exception as error:
        raise ArgumentError(
            f"The function {name_of(function)} of coordinates fails: {error}.",
            note=f"It is called with {len(each)} arrays, one for each axis of a block.",
        ) from error
    if found.shape not in ((), each[0].shape):
        raise ArgumentError(
            f"The function {name_of(function)} of coordinates returns shape {found.shape} "
            f"for arrays of shape {each[0].shape}.",
            hint="It is called with one array for each axis of a block.",
        )
    if not np.isfinite(found).all():
        raise ArgumentError(f"The function {name_of(function)} of coordinates returns NaN or inf.")
    return np.broadcast_to(found, each[0].shape) if each[0].shape else float(found)


def affine_in_scalars(value: ir.Value) -> tuple[ir.Value, dict[str, ir.Value]]:
    """Return a value as a part without scalars, and the factor of each scalar."""
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


def is_live(value: ir.Value, data: Mapping[str, Any], *, weight: bool = False) -> bool:
    """Whether a value is computed when a program runs, not when its tables are assembled.

    Tables hold the factors of scalars in constants. Kernels evaluate scalars in weights, products
    of several scalars, and fields of the program.
    """
    if any(_at_run_time(data.get(load.array)) for load in ir.loads(value)):
        return True
    scalars = any(isinstance(v, ir.Scalar) for v in ir.walk(value))
    if not scalars or weight:
        return scalars
    return any(
        sum(isinstance(f, ir.Scalar) for f in factors) > 1
        or any(not isinstance(f, ir.Scalar) and _has_scalar(f) for f in factors)
        for factors in (_factors(product) for _, product in monomials(value))
    )


def _at_run_time(found: Any) -> bool:
    return isinstance(found, OnSpace) and found.array is None


def _has_scalar(value: ir.Value) -> bool:
    return any(isinstance(v, ir.Scalar) for v in ir.walk(value))


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


def evaluated_box(
    box: tuple[tuple[Affine, Affine], ...], sizes: Mapping[str, int]
) -> tuple[tuple[int, int], ...]:
    """Return a box as integers, for given sizes."""
    return tuple((low.evaluate(sizes), high.evaluate(sizes)) for low, high in box)
