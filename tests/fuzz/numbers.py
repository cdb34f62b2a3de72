"""Numbers and fields of numbers that know how large the terms were that they were made of.

A `Number` is an array of values with an array of scales: the sum of the absolute values of all
that was added. Rounding errors are compared with the scale. What depends on rounding alone, such
as the comparison of equal numbers, is an `Unclear` case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CLEAR = 1e-6
"""Numbers whose difference is a smaller part of their scale are not distinguished."""


class Unclear(Exception):
    """The result depends on rounding errors."""


class Undefined(Exception):
    """The program has no meaning for these sizes."""


class Number:
    """Values at the points of a space, or one value without a space; with their scales."""

    __array_ufunc__ = None

    def __init__(self, value: Any, scale: Any = None, space: Any = None) -> None:
        self.value = np.asarray(value, float)
        self.scale = np.abs(self.value) if scale is None else np.asarray(scale, float)
        self.space = space

    def _with(self, value: Any, scale: Any, other: Any = None) -> Number:
        space = self.space if self.space is not None or other is None else other.space
        return Number(value, scale, space)

    def __add__(self, other: Any) -> Number:
        if isinstance(other, Several):
            return NotImplemented
        o = number(other)
        return self._with(self.value + o.value, self.scale + o.scale, o)

    def __mul__(self, other: Any) -> Number:
        if isinstance(other, Several):
            return NotImplemented
        o = number(other)
        return self._with(self.value * o.value, self.scale * o.scale, o)

    def __truediv__(self, other: Any) -> Number:
        o = number(other)
        size = np.abs(o.value)
        scale = self.scale / size + np.abs(self.value) * o.scale / size**2
        return self._with(self.value / o.value, scale, o)

    def __neg__(self) -> Number:
        return self._with(-self.value, self.scale)

    def __abs__(self) -> Number:
        return self._with(np.abs(self.value), self.scale)

    def __pow__(self, exponent: int) -> Number:
        made = self
        for _ in range(exponent - 1):
            made = made * self
        return made

    def __sub__(self, other: Any) -> Number:
        return self + -number(other)

    def __rsub__(self, other: Any) -> Number:
        return number(other) + -self

    def __rtruediv__(self, other: Any) -> Number:
        return number(other) / self

    def __getitem__(self, part: Any) -> Number:
        at = self.space.place(part)
        return Number(self.value[at].copy(), self.scale[at].copy(), part)

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other: Any) -> Mask:
        return Mask(self, number(other))

    def __lt__(self, other: Any) -> Mask:
        return Mask(number(other), self)

    __ge__, __le__ = __gt__, __lt__


class Mask:
    """Where one number is greater than another."""

    def __init__(self, left: Number, right: Number) -> None:
        near = np.abs(left.value - right.value) <= CLEAR * (left.scale + right.scale)
        if near.any():
            raise Unclear("numbers are compared that are nearly equal")
        self.holds = left.value > right.value
        self.space = left.space if left.space is not None else right.space

    def _made(self, holds: Any, other: Mask | None = None) -> Mask:
        mask = Mask.__new__(Mask)
        mask.holds = holds
        mask.space = self.space if other is None or self.space is not None else other.space
        return mask

    def __and__(self, other: Mask) -> Mask:
        return self._made(self.holds & other.holds, other)

    def __or__(self, other: Mask) -> Mask:
        return self._made(self.holds | other.holds, other)

    def __invert__(self) -> Mask:
        return self._made(~self.holds)


class Several:
    """A number for each component of a vector."""

    __array_ufunc__ = None

    def __init__(self, components: Any) -> None:
        self.components = list(components)

    def __iter__(self) -> Any:
        return iter(self.components)

    def __len__(self) -> int:
        return len(self.components)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, int):
            return self.components[which]
        return Several(part[which] for part in self.components)

    def _each(self, function: Callable[..., Any], other: Any = None) -> Several:
        if isinstance(other, Several):
            return Several(map(function, self.components, other.components))
        return Several(function(part, other) for part in self.components)

    def __add__(self, other: Any) -> Several:
        return self._each(lambda a, b: a + b, other)

    def __sub__(self, other: Any) -> Several:
        return self._each(lambda a, b: a - b, other)

    def __rsub__(self, other: Any) -> Several:
        return self._each(lambda a, b: b - a, other)

    def __mul__(self, other: Any) -> Several:
        return self._each(lambda a, b: a * b, other)

    def __truediv__(self, other: Any) -> Several:
        return self._each(lambda a, b: a / b, other)

    def __neg__(self) -> Several:
        return self._each(lambda a, _: -a)

    __radd__, __rmul__ = __add__, __mul__


class Field(Number):
    """A field of a program: a number whose values are replaced."""

    def __setitem__(self, part: Any, given: Any) -> None:
        made = number(given)
        if isinstance(part, slice):
            shape = self.value.shape
            self.value = np.broadcast_to(made.value, shape).copy()
            self.scale = np.broadcast_to(made.scale, shape).copy()
            return
        at = self.space.place(part)
        self.value, self.scale = self.value.copy(), self.scale.copy()
        self.value[at], self.scale[at] = made.value, made.scale


class VectorField(Several):
    """A vector field of a program."""

    def __setitem__(self, which: Any, given: Any) -> None:
        if isinstance(which, int):
            self.components[which][:] = given
            return
        many = isinstance(given, Several)
        values = [number(g) for g in given] if many else [number(given)] * len(self.components)
        values = [Number(v.value, v.scale, v.space) for v in values]  # as they are before
        for part, value in zip(self.components, values, strict=True):
            part[which] = value


def number(value: Any) -> Number:
    """Return a number of Python's, or a number of ours, as one of ours."""
    return value if isinstance(value, Number) else Number(value)


def pointwise(function: Callable[..., Any], size: Callable[[Number], Any]) -> Callable[[Any], Any]:
    """Return a function of one number; ``size`` gives the scale of its result."""

    def apply(x: Any) -> Any:
        if isinstance(x, Several):
            return Several(map(apply, x))
        if not isinstance(x, Number):
            return function(x)
        return Number(function(x.value), size(x) + np.abs(function(x.value)), x.space)

    return apply


def smaller(left: Any, right: Any) -> Any:
    """Return the smaller one of two numbers, point by point."""
    return _extreme(np.minimum, left, right)


def larger(left: Any, right: Any) -> Any:
    """Return the larger one of two numbers, point by point."""
    return _extreme(np.maximum, left, right)


def _extreme(function: Callable[..., Any], left: Any, right: Any) -> Any:
    if not isinstance(left, Number) and not isinstance(right, Number):
        return function(left, right)
    a, b = number(left), number(right)
    return a._with(function(a.value, b.value), np.maximum(a.scale, b.scale), b)


def where(mask: Any, left: Any, right: Any) -> Any:
    """Return one number where a mask holds, another elsewhere."""
    if not isinstance(mask, Mask):
        return left if mask else right
    a, b = number(left), number(right)
    spaces = [s for s in (mask.space, a.space, b.space) if s is not None]
    value = np.where(mask.holds, a.value, b.value)
    return Number(value, np.where(mask.holds, a.scale, b.scale), spaces[0] if spaces else None)


def reduction(function: Callable[[Array], Any], total: bool) -> Callable[[Any], Number]:
    """Return a function that makes one number of all values of a field or vector."""

    def apply(x: Any) -> Number:
        parts = list(x) if isinstance(x, Several) else [x]
        values = np.concatenate([p.value.ravel() for p in parts])
        scales = np.concatenate([np.broadcast_to(p.scale, p.value.shape).ravel() for p in parts])
        return Number(function(values), scales.sum() if total else scales.max())

    return apply
