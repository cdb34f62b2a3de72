"""Implicit and implicit-explicit (IMEX) time integrators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import ArgumentError, OutOfRangeError
from ...solvers import vectors
from ..methods import named
from ..right_side import RightSide, check_right_side
from ..stepper import Stepper, alike, copies, number
from ..tableaux import ButcherTableau
from .methods import IMEX, IMPLICIT, ImexTableau, check_diagonal
from .newton import StageEquation


class Implicit(Stepper):
    """The common part of implicit integrators: equations, and work fields."""

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        args: Sequence[Any],
        rtol: float,
        inverse: Callable[[float], Any] | None,
    ) -> None:
        super().__init__(fun, t0, y0, dt, args)
        if number("rtol", rtol) <= 0.0:
            raise OutOfRangeError(f"rtol is {rtol!r}, not a positive number.")
        if inverse is not None and not callable(inverse):
            raise ArgumentError(
                f"inverse is {inverse!r}, not a function of h.",
                hint="Write inverse=lambda h: I - h * A.",
            )
        self._equation = StageEquation(fun, self._y, self._args, float(rtol), inverse)
        self._programs = self._equation.programs
        self._r, self._Y = alike(self._y), alike(self._y)

    @property
    def iterations(self) -> int:
        """The number of iterations of Newton's method until now."""
        return self._equation.iterations

    @property
    def products(self) -> int:
        """The number of products with the Jacobian until now."""
        return self._equation.products

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        counted = {"iterations": self.iterations, "products": self.products}
        return {**super().data(), **counted}

    def _restore(self, data: Mapping[str, Any]) -> None:
        super()._restore(data)
        self._equation.iterations = int(data["iterations"])
        self._equation.products = int(data["products"])

    def _solve(self, r: Sequence[Any], t: float, h: float) -> None:
        """Solve ``Y = r + h f(t, Y)``."""
        for target, value in zip(self._Y, r, strict=True):
            vectors.assign(target, value)
        self._equation.solve(self._Y, tuple(r), t, h)


class Staged(Implicit):
    """The common part of implicit Runge-Kutta methods: the stages of a step."""

    _k: Sequence[tuple[Any, ...]] = ()
    _rates: Sequence[tuple[Any, ...]] = ()
    _evaluate: Sequence[Callable[[float], Any]] = ()
    _explicit: Sequence[Callable[[float], Any]] = ()

    def _stages(self, explicit: ButcherTableau | None, implicit: ButcherTableau, dt: float) -> None:
        """Make a step, a part of it explicitly."""
        start, y, parts = self.t, self._y, [implicit] if explicit is None else [implicit, explicit]
        last = all(part.A[-1] == part.b for part in parts)  # the last stage is the result

        def used(part: ButcherTableau, i: int) -> bool:
            return any(row[i] for row in part.A[i + 1 :]) or (not last and part.b[i] != 0.0)

        def terms(weights: Sequence[Sequence[float]]) -> tuple[list[Any], list[float]]:
            pairs = [
                (rates, dt * weight)
                for known, row in zip((self._k, self._rates), weights, strict=False)
                for rates, weight in zip(known, row, strict=False)
                if weight
            ]
            return [field for rates, _ in pairs for field in rates], [w for _, w in pairs]

        for i, row in enumerate(implicit.A):
            fields, weights = terms([part.A[i][:i] for part in parts])
            h = dt * row[i]
            combine = self._programs.combination(len(weights))
            combine(*(self._r if h else self._Y), *y, *fields, *weights)
            if h:
                self._solve(self._r, start + implicit.c[i] * dt, h)
            if used(implicit, i) and h:
                self._programs.slope(*self._k[i], *self._Y, *self._r, h)
            elif used(implicit, i):
                self._evaluate[i](start + implicit.c[i] * dt)
            if explicit is not None and used(explicit, i):
                self._explicit[i](start + explicit.c[i] * dt)
        if last:
            for target, value in zip(y, self._Y, strict=True):
                vectors.assign(target, value)
        else:
            fields, weights = terms([part.b for part in parts])
            self._programs.increment(len(weights))(*y, *fields, *weights)


class ImplicitRungeKutta(Staged):
    """Diagonally implicit Runge-Kutta methods, for stiff right sides.

    | name            | stages | order | source                                             |
    | --------------- | ------ | ----- | -------------------------------------------------- |
    | `BackwardEuler` | 1      | 1     | L-stable                                           |
    | `CrankNicolson` | 2      | 2     | the trapezoidal rule, A-stable                     |
    | `SDIRK2`        | 2      | 2     | Alexander, SIAM J. Numer. Anal. 14, 1977; L-stable |
    | `SDIRK3`        | 3      | 3     | Alexander 1977; L-stable                           |
    | `SDIRK4`        | 5      | 4     | Hairer and Wanner II, table IV.6.5; L-stable       |

    The equations of a stage, ``Y = r + h f(t, Y)``, are solved by Newton's method. Its matrix is
    ``I - h J`` with the Jacobian J of the right side, whose products with vectors are derived from
    the function of the right side, through matrices, fills and functions. GMRES solves for the
    corrections. ``inverse`` makes it fast: a matrix, solver or multigrid for ``I - h J``, or for an
    approximation of it. A linear right side with an exact inverse takes one iteration.

    Parameters
    ----------
    fun, t0, y0, dt, args
        See `Stepper`.
    method
        A name or a `ButcherTableau` without weights above its diagonal.
    rtol
        The part of the residual of ``Y = r`` that Newton's method leaves.
    inverse
        A function of h. It returns a matrix on the space of the unknown, whose ``solve`` is used,
        such as ``I - h * A`` that couples points along lines; a solver such as
        ``ssr.solvers.Multigrid(I - h * A, P)`` or ``ssr.solvers.CG(I - h * A)``; or, for several
        unknowns, a function of the fields of the solution and then those of the right side. If it
        returns a matrix, h may also be the scalar of a program: steps of any length then share one
        program. Else it is called once for each h.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, or there is no such method.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    UnsupportedError
        If the right side has no derivative by the unknowns, since it has reductions or solves.

    Examples
    --------
    Diffusion that depends on the temperature, with steps a hundred times as long as explicit ones:

    >>> import numpy as np, ssr
    >>> import boundary as bc
    >>> points = ssr.Space(ssr.size("n"))
    >>> faces = points.faces(0)
    >>> wide = points.grow(1)
    >>> ends = bc.fill(wide, bc.dirichlet(1.0, side="low"), bc.dirichlet(0.0, side="high"))
    >>> slope, mean = ssr.difference(faces, wide, 0), ssr.average(faces, wide)
    >>> @ssr.integrate.rhs(T=points)
    ... def conduct(t, T):
    ...     T = ends @ T
    ...     return ssr.difference(points, faces, 0) @ ((1.0 + mean @ T) ** 2 * (slope @ T))
    >>> T = np.zeros(40)
    >>> run = ssr.integrate.ImplicitRungeKutta(conduct, 0.0, T, dt=50.0, method="SDIRK2")
    >>> run.advance(2000.0)
    >>> exact = (8.0 - 7.0 * (np.arange(40) + 0.5) / 40) ** (1 / 3) - 1.0
    >>> bool(abs(T - exact).max() < 1e-3)
    True

    References
    ----------
    E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (2nd ed. 1996), section
    IV.6; D. A. Knoll and D. E. Keyes, Jacobian-free Newton-Krylov methods, J. Comput. Phys. 193,
    2004, for the products; here they are exact derivatives, not differences.
    """

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        method: str | ButcherTableau = "SDIRK2",
        args: Sequence[Any] = (),
        *,
        rtol: float = 1e-8,
        inverse: Callable[[float], Any] | None = None,
    ) -> None:
        super().__init__(fun, t0, y0, dt, args, rtol, inverse)
        self.method = named(method, IMPLICIT, "diagonally implicit", ButcherTableau)
        check_diagonal(self.method)
        self._k = [alike(self._y) for _ in self.method.b]
        self._evaluate = [fun.program.bind(*k, *self._Y, *self._args) for k in self._k]

    def _step(self, dt: float) -> None:
        self._stages(None, self.method, dt)


class ImexRungeKutta(Staged):
    """Runge-Kutta methods for ``y' = f(t, y) + g(t, y)``: f explicitly, g implicitly.

    | name     | stages | order | (implicit stages, explicit ones, order) |
    | -------- | ------ | ----- | --------------------------------------- |
    | `ARS111` | 1      | 1     | Euler's method, forward and backward    |
    | `ARS222` | 2      | 2     | section 2.6                             |
    | `ARS443` | 4      | 3     | section 2.8                             |

    Parameters
    ----------
    fun, implicit
        The right sides f and g, made by `rhs` with the same unknowns and arguments.
    t0, y0, dt, args
        See `Stepper`.
    method
        A name or an `ImexTableau`.
    rtol, inverse
        See `ImplicitRungeKutta`; the Jacobian is that of g.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, or there is no such method.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    UnsupportedError
        If g has no derivative by the unknowns, since it has reductions or solves.

    Examples
    --------
    Burgers' equation: advection explicitly, diffusion by solves along the line.

    >>> import numpy as np, ssr
    >>> import boundary as bc
    >>> points = ssr.Space(ssr.size("n"))
    >>> ring = bc.fill(points.grow(1), bc.periodic())
    >>> slope = ssr.stencil(points, points.grow(1), {-1: -0.5, 1: 0.5}) @ ring
    >>> bend = ssr.stencil(points, points.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0}) @ ring
    >>> @ssr.integrate.rhs(u=points)
    ... def advection(t, u):
    ...     return -(slope @ (0.5 * u * u))
    >>> @ssr.integrate.rhs(u=points)
    ... def diffusion(t, u):
    ...     return 2.0 * (bend @ u)
    >>> I = ssr.identity(points)
    >>> u = 1.0 + np.sin(2 * np.pi * np.arange(64) / 64)
    >>> run = ssr.integrate.ImexRungeKutta(
    ...     advection, diffusion, 0.0, u, dt=0.5, inverse=lambda h: I - (2.0 * h) * bend.linear
    ... )
    >>> run.advance(20.0)
    >>> float(u.mean().round(12)), float(u.max().round(3)), run.products / run.iterations
    (1.0, 1.625, 1.0)

    References
    ----------
    U. M. Ascher, S. J. Ruuth and R. J. Spiteri, Appl. Numer. Math. 25, 1997.
    """

    def __init__(
        self,
        fun: RightSide,
        implicit: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        method: str | ImexTableau = "ARS222",
        args: Sequence[Any] = (),
        *,
        rtol: float = 1e-8,
        inverse: Callable[[float], Any] | None = None,
    ) -> None:
        check_right_side(fun)
        check_right_side(implicit)
        if (fun.kinds, fun.unknowns) != (implicit.kinds, implicit.unknowns):
            raise ArgumentError(
                f"{fun!r} and {implicit!r} differ in their parameters.",
                hint="Give both the same unknowns and arguments, by the same names.",
            )
        super().__init__(implicit, t0, y0, dt, args, rtol, inverse)
        self.method = named(method, IMEX, "implicit-explicit", ImexTableau)
        count = len(self.method.implicit.b)
        self._k, self._rates = ([alike(self._y) for _ in range(count)] for _ in range(2))
        self._evaluate = [implicit.program.bind(*k, *self._Y, *self._args) for k in self._k]
        self._explicit = [fun.program.bind(*k, *self._Y, *self._args) for k in self._rates]

    def _step(self, dt: float) -> None:
        self._stages(self.method.explicit, self.method.implicit, dt)


class BDF2(Implicit):
    """The backward differentiation formula of two steps: one equation a step, of order 2, L-stable.

    ``y_n+1 = y_n + w^2 / (1 + 2 w) (y_n - y_n-1) + dt (1 + w) / (1 + 2 w) f(t_n+1, y_n+1)``,
    where w is the length of the step over that of the step before. The first step is one of Euler's
    backward method.

    Parameters
    ----------
    fun, t0, y0, dt, args
        See `Stepper`.
    rtol, inverse
        See `ImplicitRungeKutta`.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    UnsupportedError
        If the right side has no derivative by the unknowns, since it has reductions or solves.

    Examples
    --------
    A stiff equation, whose solution is cos(t):

    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points)
    ... def stiff(t, u):
    ...     return -1e4 * (u - ssr.cos(t)) - ssr.sin(t)
    >>> u = np.ones(1)
    >>> ssr.integrate.BDF2(stiff, 0.0, u, dt=0.01).advance(1.0)
    >>> bool(abs(u[0] - np.cos(1.0)) < 1e-7)
    True

    References
    ----------
    E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential Equations I (2nd ed.
    1993), section III.1, equation (1.22'), and section III.5 for steps of any length.
    """

    def __init__(
        self,
        fun: RightSide,
        t0: float,
        y0: Any,
        dt: float,
        args: Sequence[Any] = (),
        *,
        rtol: float = 1e-8,
        inverse: Callable[[float], Any] | None = None,
    ) -> None:
        super().__init__(fun, t0, y0, dt, args, rtol, inverse)
        self._old, self._length = copies(self._y), 0.0

    def _step(self, dt: float) -> None:
        ratio = dt / self._length if self._length else 0.0
        weight = ratio * ratio / (1.0 + 2.0 * ratio)
        h = dt * (1.0 + ratio) / (1.0 + 2.0 * ratio)
        self._programs.extrapolation(*self._r, *self._y, *self._old, weight)
        self._solve(self._r, self.t + dt, h)
        for old, y, new in zip(self._old, self._y, self._Y, strict=True):
            vectors.assign(old, y)
            vectors.assign(y, new)
        self._length = dt

    def fields(self) -> dict[str, Any]:
        """Return the unknowns and, after the first step, those one step before: ``u_old``."""
        if not self._length:
            return super().fields()
        old = {f"{n}_old": field for n, field in zip(self.fun.unknowns, self._old, strict=True)}
        return {**super().fields(), **old}

    def data(self) -> dict[str, Any]:
        """Return the numbers on which the next steps depend, as values of JSON."""
        return {**super().data(), "length": self._length}

    def _restore(self, data: Mapping[str, Any]) -> None:
        super()._restore(data)
        self._length = number("length", data["length"])
