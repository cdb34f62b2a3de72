"""Elementary functions: one table of their names, definitions, derivatives and costs.

A function is added by an entry of `FUNCTIONS`. All other parts of the package use this table:
functions of values and their documentation, NumPy functions on symbols, kernels, LLVM IR, SymPy and
derivatives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Function:
    """An elementary function.

    Attributes
    ----------
    name
        The name in this package, and in NumPy if NumPy has the function.
    summary
        The first sentence of its documentation.
    compute
        The function on numbers and arrays.
    library
        Its name in the C library.
    derivative
        The partial derivatives by the operands, or None for zero, from a namespace that has the
        functions of this table and from the operands.
    cost
        The cost of a value, in additions.
    sympy
        Its name in SymPy; empty if it is a formula there.
    formula
        Its formula in SymPy, of the module and the operands.
    operands
        The names of its operands.
    of_llvm
        Its name among LLVM's functions of numbers; empty if LLVM has none.
    of_vectors
        Whether the target computes it on vectors by an instruction.
    """

    name: str
    summary: str
    compute: Callable[..., Any]
    library: str
    derivative: Callable[..., tuple[Any, ...]]
    cost: int = 250
    sympy: str = ""
    formula: Callable[..., Any] | None = None
    operands: tuple[str, ...] = ("a",)
    of_llvm: str = ""
    of_vectors: bool = False

    @property
    def printed(self) -> str:
        """The function in the source of kernels."""
        return f"np.{self.name}" if hasattr(np, self.name) else self.name

    def in_sympy(self, sympy: Any, *operands: Any) -> Any:
        """Return the function of SymPy's expressions."""
        if self.formula is not None:
            return self.formula(sympy, *operands)
        return getattr(sympy, self.sympy)(*operands)


def _erf(a: Any) -> Any:
    found = np.vectorize(math.erf, otypes=[np.float64])(a)
    return found.astype(getattr(a, "dtype", np.float64))[()]


def _zero_derivative(f: Any, a: Any) -> tuple[None]:
    return (None,)


_TABLE = (
    Function(
        "sqrt",
        "Return the square root; NaN of negative values.",
        np.sqrt,
        "sqrt",
        lambda f, a: (0.5 / f.sqrt(a),),
        cost=20,
        sympy="sqrt",
        of_llvm="sqrt",
        of_vectors=True,
    ),
    Function(
        "exp",
        "Return the exponential.",
        np.exp,
        "exp",
        lambda f, a: (f.exp(a),),
        sympy="exp",
        of_llvm="exp",
    ),
    Function(
        "expm1",
        "Return the exponential minus 1, without cancellation near 0.",
        np.expm1,
        "expm1",
        lambda f, a: (f.exp(a),),
        formula=lambda sympy, a: sympy.exp(a) - 1,
    ),
    Function(
        "log",
        "Return the natural logarithm; NaN of negative values, -infinity of 0.",
        np.log,
        "log",
        lambda f, a: (1.0 / a,),
        sympy="log",
        of_llvm="log",
    ),
    Function(
        "log1p",
        "Return the natural logarithm of 1 + a, without cancellation near 0.",
        np.log1p,
        "log1p",
        lambda f, a: (1.0 / (1.0 + a),),
        formula=lambda sympy, a: sympy.log(1 + a),
    ),
    Function(
        "sin",
        "Return the sine of an angle in radians.",
        np.sin,
        "sin",
        lambda f, a: (f.cos(a),),
        sympy="sin",
        of_llvm="sin",
    ),
    Function(
        "cos",
        "Return the cosine of an angle in radians.",
        np.cos,
        "cos",
        lambda f, a: (-f.sin(a),),
        sympy="cos",
        of_llvm="cos",
    ),
    Function(
        "tan",
        "Return the tangent of an angle in radians.",
        np.tan,
        "tan",
        lambda f, a: (1.0 + f.tan(a) ** 2,),
        sympy="tan",
    ),
    Function(
        "arcsin",
        "Return the angle in radians whose sine is given, from -pi/2 to pi/2; NaN beyond 1.",
        np.arcsin,
        "asin",
        lambda f, a: (1.0 / f.sqrt(1.0 - a * a),),
        sympy="asin",
    ),
    Function(
        "arccos",
        "Return the angle in radians whose cosine is given, from 0 to pi; NaN beyond 1.",
        np.arccos,
        "acos",
        lambda f, a: (-1.0 / f.sqrt(1.0 - a * a),),
        sympy="acos",
    ),
    Function(
        "arctan",
        "Return the angle in radians whose tangent is given, from -pi/2 to pi/2.",
        np.arctan,
        "atan",
        lambda f, a: (1.0 / (1.0 + a * a),),
        sympy="atan",
    ),
    Function(
        "arctan2",
        "Return the angle in radians of the point (x, y), from -pi to pi.",
        np.arctan2,
        "atan2",
        lambda f, y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
        sympy="atan2",
        operands=("y", "x"),
    ),
    Function(
        "sinh",
        "Return the hyperbolic sine.",
        np.sinh,
        "sinh",
        lambda f, a: (f.cosh(a),),
        sympy="sinh",
    ),
    Function(
        "cosh",
        "Return the hyperbolic cosine.",
        np.cosh,
        "cosh",
        lambda f, a: (f.sinh(a),),
        sympy="cosh",
    ),
    Function(
        "tanh",
        "Return the hyperbolic tangent.",
        np.tanh,
        "tanh",
        lambda f, a: (1.0 - f.tanh(a) ** 2,),
        sympy="tanh",
    ),
    Function(
        "arcsinh",
        "Return the inverse of the hyperbolic sine.",
        np.arcsinh,
        "asinh",
        lambda f, a: (1.0 / f.sqrt(1.0 + a * a),),
        sympy="asinh",
    ),
    Function(
        "arccosh",
        "Return the inverse of the hyperbolic cosine, not below 0; NaN below 1.",
        np.arccosh,
        "acosh",
        lambda f, a: (1.0 / f.sqrt(a * a - 1.0),),
        sympy="acosh",
    ),
    Function(
        "arctanh",
        "Return the inverse of the hyperbolic tangent; NaN beyond 1.",
        np.arctanh,
        "atanh",
        lambda f, a: (1.0 / (1.0 - a * a),),
        sympy="atanh",
    ),
    Function(
        "hypot",
        "Return the square root of the sum of two squares, without overflow.",
        np.hypot,
        "hypot",
        lambda f, a, b: (a / f.hypot(a, b), b / f.hypot(a, b)),
        cost=40,
        formula=lambda sympy, a, b: sympy.sqrt(a * a + b * b),
        operands=("a", "b"),
    ),
    Function(
        "erf",
        "Return the error function.",
        _erf,
        "erf",
        lambda f, a: (2.0 / math.sqrt(math.pi) * f.exp(-(a * a)),),
        sympy="erf",
    ),
    Function(
        "floor",
        "Return the largest integer that is not above a value, as a floating-point number.",
        np.floor,
        "floor",
        _zero_derivative,
        cost=1,
        sympy="floor",
        of_llvm="floor",
        of_vectors=True,
    ),
    Function(
        "ceil",
        "Return the smallest integer that is not below a value, as a floating-point number.",
        np.ceil,
        "ceil",
        _zero_derivative,
        cost=1,
        sympy="ceiling",
        of_llvm="ceil",
        of_vectors=True,
    ),
)

FUNCTIONS = {function.name: function for function in _TABLE}
"""The elementary functions by name."""

STEPS = frozenset(f.name for f in _TABLE if f.derivative is _zero_derivative)
"""Piecewise constant functions."""
