"""Newton-GMRES for the equations of implicit stages."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ...errors import ConvergenceError
from ...programs import reductions
from ...programs.program import Program
from ...run.check_arrays import dtype_name
from ...solvers import vectors
from ...solvers.krylov import arnoldi
from ...symbols.functions import sqrt
from ..right_side import RightSide
from ..stepper import alike
from ..tableaux import assign
from ..tangent import jacobian_product
from .inverses import Inverses

Fields: TypeAlias = "tuple[Any, ...]"

RESTART, CYCLES, ITERATIONS = 40, 25, 20
"""Limits: Krylov vectors of a GMRES cycle, cycles of GMRES, and Newton iterations."""

FORCING = 1e-3
"""Forcing term: the relative residual to which each correction is solved."""

DECREASE, SHORTEST = 1e-4, 2.0**-12
"""Line search: sufficient decrease per step length, and the shortest step length.

These are the rules of C. T. Kelley, Solving Nonlinear Equations with Newton's Method (2003),
section 1.6.
"""

SLOWEST = 0.99
"""GMRES ends after a cycle that reduces the residual by less than this factor."""

ROUNDED = 8.0
"""Accuracy of residuals, in rounding errors of the unknowns."""


class StageEquation:
    """The equation ``Y = r + h f(t, Y)`` of an implicit stage, solved by Newton and GMRES.

    The matrix of a correction is ``I - h J`` with the Jacobian J of the right side, of which only
    products are computed. ``inverse(h)`` approximates its inverse from the right. A correction that
    does not reduce the residual is halved.

    Parameters
    ----------
    fun
        The right side.
    y, args
        Fields as those of the unknowns, and the other arguments.
    rtol
        The part of the first residual that is left at the end.
    inverse
        A function of h, see `ImplicitRungeKutta`.
    """

    def __init__(
        self,
        fun: RightSide,
        y: Fields,
        args: Fields,
        rtol: float,
        inverse: Callable[[float], Any] | None = None,
    ) -> None:
        self.fun, self.rtol = fun, rtol
        self._inverses = None if inverse is None else Inverses(inverse)
        self.iterations = self.products = 0
        self.programs: Programs = fun._kept("stage equation", lambda: Programs(fun))
        self._y, self._args = y, args
        self._F, self._dy, self._change, self._w, self._z = (alike(y) for _ in range(5))
        self._basis = [alike(y)]
        self._eps = max(float(np.finfo(dtype_name(field.dtype)).eps) for field in y)

    def solve(self, Y: Fields, r: Fields, t: float, h: float) -> None:
        """Improve Y, a guess, until the equation holds."""
        goal, count, length, last, change = 0.0, 0, 0.0, math.inf, math.inf
        while True:
            norm, size = self.programs.residual(*self._F, *Y, *r, *self._args, t, h)
            goal = max(goal or self.rtol * norm, ROUNDED * self._eps * size)
            if norm <= goal or length * change <= ROUNDED * self._eps * size:
                return
            if length and not norm < (1.0 - DECREASE * length) * last:
                if change <= self.rtol * size:
                    return  # the residual consists of rounding errors
                if length <= SHORTEST:
                    break
                length *= 0.5
                self.programs.add(*Y, *self._dy, -length)
                continue
            if not math.isfinite(norm) or count == ITERATIONS:
                break
            change = self._correct(Y, norm, max(0.5 * goal, FORCING * norm), t, h)
            count, length, last = count + 1, 1.0, norm
            self.iterations += 1
        raise ConvergenceError(
            f"Newton's method for a stage of {self.fun.name} does not converge at t = {t}.",
            note=f"The norm of the residual is {norm:.1e} after {count} iterations.",
            hint="Take shorter steps, or give an approximate inverse.",
        )

    def _correct(self, Y: Fields, norm: float, goal: float, t: float, h: float) -> float:
        """Add the solution of ``(I - h J) d = F`` to Y, by cycles of GMRES; return its norm."""
        programs, change = self.programs, self._change
        _clear(self._dy)
        for _ in range(CYCLES):
            basis, weights = self._cycle(Y, norm, goal, t, h)
            _clear(change)
            for v, weight in zip(basis, weights, strict=False):
                programs.add(*change, *v, weight)
            d = self._approximated(change, h)
            programs.add(*self._dy, *d, 1.0)
            before = norm
            norm = programs.subtract(*self._F, *d, *Y, *self._args, t, h)
            if norm <= goal or not norm < SLOWEST * before:
                break
        found: float = programs.correct(*Y, *self._dy)
        return found

    def _cycle(
        self, Y: Fields, norm: float, goal: float, t: float, h: float
    ) -> tuple[list[Fields], list[float]]:
        """Return directions and weights of a change that makes the residual F small."""
        programs, basis, w = self.programs, self._basis, self._w

        def multiply(v: Fields) -> float:
            self.products += 1
            z = self._approximated(v, h)
            norm: float = programs.multiply(*w, *z, *Y, *self._args, t, h)
            return norm

        def extend(last: int, size: float) -> None:
            if last == len(basis):
                basis.append(alike(self._y))
            programs.divide(*basis[last], *w, size)

        programs.divide(*basis[0], *self._F, norm)
        _, weights = arnoldi(
            basis,
            multiply,
            lambda v: programs.project(*w, *v),
            extend,
            norm=norm,
            goal=goal,
            tiny=self._eps,
            most=RESTART,
        )
        return basis, weights

    def _approximated(self, v: Fields, h: float) -> Fields:
        """Return an approximate inverse of ``I - h J`` times v; v itself without one."""
        if self._inverses is None:
            return v
        self._inverses.apply(self._z, v, h)
        return self._z


def _clear(fields: Fields) -> None:
    for field in fields:
        vectors.assign(field, 0.0)


class Programs:
    """The programs that Newton's method and GMRES call for a right side."""

    def __init__(self, fun: RightSide) -> None:
        self.fun = fun

    def _made(
        self, name: str, parts: int, body: Callable[..., Any], *scalars: str, args: bool = False
    ) -> Program:
        """Return a program of several fields for each unknown, the arguments and scalars.

        The body takes the parts, each a tuple of fields, the arguments and the scalars.
        """
        names = [f"{{}}_{n}" for n in range(parts)]
        name = f"{self.fun.name}_{name}"
        return self.fun._program(names, body, *scalars, name=name, args=args)

    @cached_property
    def residual(self) -> Program:
        """Assign ``F = r + h f(t, Y) - Y``; return the norms of F and Y."""

        def body(F: Fields, Y: Fields, r: Fields, args: Fields, t: Any, h: Any) -> Any:
            rates = self.fun._rates(t, Y, args)
            assign(F, tuple(a + h * k - b for a, k, b in zip(r, rates, Y, strict=True)))
            return _norm(F), _norm(Y)

        return self._made("residual", 3, body, "t", "h", args=True)

    @cached_property
    def multiply(self) -> Program:
        """Assign ``w = (I - h J) v``, the Jacobian J at Y; return the norm of w."""

        def body(w: Fields, v: Fields, Y: Fields, args: Fields, t: Any, h: Any) -> Any:
            made = jacobian_product(self.fun, t, Y, args, v)
            assign(w, tuple(a - h * b for a, b in zip(v, made, strict=True)))
            return _norm(w)

        return self._made("multiply", 3, body, "t", "h", args=True)

    @cached_property
    def subtract(self) -> Program:
        """Subtract ``(I - h J) d`` from F; return the norm of the rest."""

        def body(F: Fields, d: Fields, Y: Fields, args: Fields, t: Any, h: Any) -> Any:
            made = jacobian_product(self.fun, t, Y, args, d)
            assign(F, tuple(f - (a - h * b) for f, a, b in zip(F, d, made, strict=True)))
            return _norm(F)

        return self._made("subtract", 3, body, "t", "h", args=True)

    @cached_property
    def project(self) -> Program:
        """Take the part along v away from w; return it and the norm of the rest."""

        def body(w: Fields, v: Fields) -> Any:
            part = _dot(w, v)
            assign(w, tuple(a - part * b for a, b in zip(w, v, strict=True)))
            return part, _norm(w)

        return self._made("project", 2, body)

    @cached_property
    def divide(self) -> Program:
        """Assign ``v = w / a``."""

        def body(v: Fields, w: Fields, a: Any) -> None:
            assign(v, tuple(field / a for field in w))

        return self._made("divide", 2, body, "a")

    @cached_property
    def add(self) -> Program:
        """Add ``a v`` to x."""

        def body(x: Fields, v: Fields, a: Any) -> None:
            assign(x, tuple(b + a * c for b, c in zip(x, v, strict=True)))

        return self._made("add", 2, body, "a")

    @cached_property
    def correct(self) -> Program:
        """Add d to Y; return the norm of d."""

        def body(Y: Fields, d: Fields) -> Any:
            assign(Y, tuple(a + b for a, b in zip(Y, d, strict=True)))
            return _norm(d)

        return self._made("correct", 2, body)

    def combination(self, terms: int) -> Program:
        """Return the program that assigns ``r = y + sum_i a_i k_i`` for a number of terms."""

        def body(*values: Any) -> None:
            r, y, *k = values[: terms + 2]
            assign(r, _added(y, values[terms + 2 :], k))

        names = [f"a{n}" for n in range(terms)]
        key = "combination", terms
        return self.fun._kept(key, lambda: self._made("combine", terms + 2, body, *names))

    def increment(self, terms: int) -> Program:
        """Return the program that assigns ``y = y + sum_i a_i k_i`` for a number of terms."""

        def body(*values: Any) -> None:
            y, *k = values[: terms + 1]
            assign(y, _added(y, values[terms + 1 :], k))

        names = [f"a{n}" for n in range(terms)]
        key = "increment", terms
        return self.fun._kept(key, lambda: self._made("increment", terms + 1, body, *names))

    @cached_property
    def slope(self) -> Program:
        """Assign ``k = (Y - r) / h``."""

        def body(k: Fields, Y: Fields, r: Fields, h: Any) -> None:
            assign(k, tuple((a - b) / h for a, b in zip(Y, r, strict=True)))

        return self._made("slope", 3, body, "h")

    @cached_property
    def extrapolation(self) -> Program:
        """Assign ``r = y + a (y - old)``."""

        def body(r: Fields, y: Fields, old: Fields, a: Any) -> None:
            assign(r, tuple(b + a * (b - c) for b, c in zip(y, old, strict=True)))

        return self._made("extrapolate", 3, body, "a")


def _added(y: Fields, weights: Sequence[Any], k: Sequence[Fields]) -> Fields:
    for weight, rates in zip(weights, k, strict=True):
        y = tuple(a + weight * b for a, b in zip(y, rates, strict=True))
    return y


def _dot(x: Fields, y: Fields) -> Any:
    sums = [reductions.dot(a, b) for a, b in zip(x, y, strict=True)]
    return functools.reduce(operator.add, sums)


def _norm(x: Fields) -> Any:
    return sqrt(_dot(x, x))
