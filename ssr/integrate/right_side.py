"""The right-hand side of a system of ordinary differential equations for fields."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from ..errors import ArgumentError, SpaceError
from ..matrices.declare import stencil
from ..programs.expression import Expression, check_part
from ..programs.program import Program, made_program
from ..programs.signature import Kind, Signature
from ..programs.vectors import Vector, as_it_is
from ..public import Immutable
from ..solvers import vectors
from ..spaces.distributed import is_data
from ..spaces.space import Space, VectorSpace
from ..symbols.values import Row
from ..trace.functions import declared_function, positional
from ..trace.trace import ScalarType, scalar

Made = TypeVar("Made")

State: TypeAlias = "tuple[Any, ...]"
"""The unknowns, or their rates of change: expressions and vectors of a program, or arrays."""


class RightSide(Immutable):
    """The right side f of ``y' = f(t, y)``, a function of expressions; made by `rhs`.

    Call it in the body of a program with expressions, or with arrays and numbers:
    ``f(t, *y, *args)`` returns the rates of change, one for each unknown. An unknown has the space
    that its name was declared with; its rate has the same space, or a part of it: then the other
    points of the unknown do not change.

    Attributes
    ----------
    unknowns
        The names of the unknowns, in order.
    arguments
        The names of the fields and scalars that follow the unknowns.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> points = ssr.Space(ssr.size("n"))
    >>> @ssr.integrate.rhs(u=points, v=points, stiffness=ssr.scalar)
    ... def spring(t, u, v, stiffness):
    ...     return v, -stiffness * u
    >>> spring
    <RightSide spring(t, u, v, stiffness) of u, v>
    >>> du, dv = spring(0.0, np.ones(2), np.zeros(2), 4.0)
    >>> dv
    array([-4., -4.])
    """

    def __init__(self, function: Callable[..., Any], kinds: dict[str, Kind]) -> None:
        function = declared_function("ssr.integrate.rhs", "a function", function)
        self.name = function.__name__
        self.function = function
        self.time, self.kinds = _ordered(function, kinds)
        self.unknowns = tuple(self.kinds)[: self._count()]
        self.arguments = tuple(self.kinds)[len(self.unknowns) :]
        self._known: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        names = ", ".join((self.time, *self.kinds))
        return f"<RightSide {self.name}({names}) of {', '.join(self.unknowns)}>"

    def __call__(self, t: Any, *values: Any) -> Any:
        """Return the rates of change: one, or a tuple of several.

        Parameters
        ----------
        t
            The time.
        *values
            The unknowns and the other arguments, in order: arrays and numbers, or expressions of
            a program in its body.

        Raises
        ------
        ArgumentError
            If their number is another one.
        ShapeError, DtypeError, ContiguityError
            If an array does not fit.
        """
        if len(values) != len(self.kinds):
            raise ArgumentError(
                f"{self!r} takes {len(self.kinds)} values after the time, not {len(values)}.",
                note=f"They are {', '.join(self.kinds)}.",
            )
        count = len(self.unknowns)
        if any(isinstance(value, Row) for value in values):
            found = self._rates(t, values[:count], values[count:])
        else:
            check_unknowns(self.unknowns, values)
            found = tuple(map(vectors.empty, values[:count]))
            self.program(*found, *values, t)
        return found[0] if count == 1 else found

    def _rates(self, t: Any, y: Sequence[Any], args: Sequence[Any]) -> State:
        """Return the rates of change at time t of the unknowns y, for args, as a tuple.

        This is for the body of a program.
        """
        found = _several(self.function(t, *y, *args))
        return tuple(map(self._fitting, self.kinds, y, found))

    @cached_property
    def program(self) -> Program:
        """The program that assigns the rates, its first fields: ``(rates, unknowns, ..., t)``."""

        def assign(rates: State, y: State, args: State, t: Any) -> None:
            for target, rate in zip(rates, self._rates(t, y, args), strict=True):
                target[:] = rate

        return self._program(("d{}_dt", "{}"), assign, self.time)

    def _program(
        self,
        parts: Sequence[str],
        body: Callable[..., Any],
        *scalars: str,
        name: str | None = None,
        args: bool = True,
    ) -> Program:
        """Return a program of fields for the unknowns, the arguments, and scalars.

        A part has a field for each unknown; its names have a format such as ``{}_old``. The body
        takes each part as a tuple, the arguments as a tuple unless there are none, and the scalars.
        """
        count = len(self.unknowns)
        kinds: dict[str, Kind] = {
            each if part == "{}" else self._fresh(part.format(each)): self.kinds[each]
            for part in parts
            for each in self.unknowns
        }
        first = len(kinds)
        kinds |= {each: self.kinds[each] for each in self.arguments if args}
        last = len(kinds)
        kinds |= {each if each == self.time else self._fresh(each): scalar for each in scalars}

        def called(*values: Any) -> Any:
            fields = (values[n : n + count] for n in range(0, first, count))
            return body(*fields, *([values[first:last]] if args else []), *values[last:])

        return made_program(name or self.name, called, kinds)

    def _kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return the object kept under a key, such as a program; at first use ``make`` makes it."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]  # type: ignore[no-any-return]

    def _fresh(self, stem: str) -> str:
        """Return a name that no parameter has: ``stem``, with underscores if need be."""
        while stem in (self.time, *self.kinds):
            stem += "_"
        return stem

    def _count(self) -> int:
        """Return the number of unknowns, as many as the function returns rates."""
        counts = []

        def assign(*values: Any) -> None:
            found = _several(self.function(values[-1], *values[:-1]))
            counts.append(len(found))
            kinds = list(self.kinds.values())[: len(found)]
            if len(kinds) < len(found) or any(isinstance(kind, ScalarType) for kind in kinds):
                raise ArgumentError(
                    f"{self.name} returns {len(found)} rates; its parameters after the time are "
                    f"{', '.join(f'{n}: {k!r}' for n, k in self.kinds.items())}.",
                    hint="The unknowns are fields and come first, one for each rate.",
                )
            for name, unknown, rate in zip(self.kinds, values, found, strict=False):
                unknown[:] = self._fitting(name, unknown, rate)

        made_program(self.name, assign, {**self.kinds, self.time: scalar})
        return counts[0]

    def _fitting(self, name: str, unknown: Any, rate: Any) -> Any:
        """Return a rate on all points of an unknown."""
        if isinstance(unknown, Vector) != isinstance(rate, Vector) and isinstance(rate, Row):
            raise SpaceError(f"{self.name} returns {rate!r} as the rate of {name}, {unknown!r}.")
        if not isinstance(unknown, Vector):
            return self._on(name, unknown.space, unknown._lift(rate))
        rates = [unknown[0]._lift(r) for r in unknown._spread(rate)]
        return Vector([self._on(name, unknown[0].space, r) for r in rates])

    def _on(self, name: str, space: Space, rate: Expression) -> Expression:
        """Return a rate on a space; where it has no value, zero."""
        if rate.space == space:
            return as_it_is(rate)  # type: ignore[no-any-return]
        check_part(rate.space, space, f"unknown {name!r} of {self.name}")
        whole = stencil(space, rate.space, {(0,) * space.ndim: 1.0}, outside="zero")
        found: Expression = whole @ rate
        return found


def rhs(**parameters: Kind) -> Callable[[Callable[..., Any]], RightSide]:
    """Declare the right side of ``y' = f(t, y)`` by a function of expressions.

    The function is written as the body of `ssr.program` is: with matrices, fills, functions and
    calls of programs that assign nothing. Its first parameter is the time, as in SciPy's
    ``solve_ivp``; then come the unknowns; then other fields and scalars. It returns the rate of
    change of the unknown, or a tuple with one rate for each of several.

    Parameters
    ----------
    **parameters
        For each parameter but the time its Space, `Space.vector` of one, or ``ssr.scalar``.

    Raises
    ------
    ArgumentError
        If parameters and declaration do not fit, or there are more rates than unknowns.
    SpaceError
        If a rate is not on the space of its unknown.

    Examples
    --------
    The heat equation with a value at the left end that changes in time:

    >>> import numpy as np, ssr
    >>> import boundary as bc
    >>> points = ssr.Space(ssr.size("n"))
    >>> ends = bc.fill(points.grow(1), bc.dirichlet(bc.parameter("g"), side="low"),
    ...                bc.neumann(side="high"))
    >>> bend = ssr.stencil(points, points.grow(1), {-1: 1.0, 0: -2.0, 1: 1.0})
    >>> @ssr.integrate.rhs(u=points, k=ssr.scalar)
    ... def heat(t, u, k):
    ...     return k * (bend @ (ends.bind(g=ssr.sin(t)) @ u))
    >>> heat(np.pi / 2, np.zeros(3), 0.5)
    array([1., 0., 0.])
    """
    return lambda function: RightSide(function, parameters)


def check_right_side(fun: Any) -> None:
    """Check that something is a right side."""
    if not isinstance(fun, RightSide):
        raise ArgumentError(
            f"The right side is {fun!r}, not one of ssr.integrate.",
            hint="Declare it: @ssr.integrate.rhs(u=space) before def f(t, u): ....",
        )


def check_unknowns(names: Sequence[str], values: Sequence[Any]) -> None:
    """Check that unknowns are arrays, or fields of several ranks."""
    for name, value in zip(names, values, strict=False):
        if not is_data(value):
            raise ArgumentError(
                f"The unknown {name} is {type(value).__name__}, not a NumPy array.",
                hint="Convert it with np.asarray, or use bc.Field.",
            )


def _several(rates: Any) -> tuple[Any, ...]:
    """Return the result of a right side as a tuple of rates."""
    return tuple(rates) if isinstance(rates, (tuple, list)) else (rates,)


def _ordered(function: Callable[..., Any], kinds: dict[str, Kind]) -> tuple[str, dict[str, Kind]]:
    """Return the name of the time, and the kinds of the other parameters in order."""
    names = [p.name for p in positional(function)[0]]
    if not names or names[0] in kinds:
        raise ArgumentError(
            f"The first parameter of {function.__name__} is not the time.",
            hint=f"Write def {function.__name__}(t, {', '.join(kinds)}); t is not declared.",
        )
    signature = Signature.of(function, {names[0]: scalar, **kinds})
    ordered = dict(signature.kinds)
    del ordered[names[0]]
    if not any(isinstance(kind, (Space, VectorSpace)) for kind in ordered.values()):
        raise ArgumentError(f"{function.__name__} has no field: an ODE has unknowns.")
    return names[0], ordered
