"""Alternating-direction implicit (ADI) methods: line solves along one axis at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from ...errors import ArgumentError, OutOfRangeError
from ...programs.program import Program
from ..methods import named
from ..right_side import RightSide, check_right_side
from ..stepper import Stepper, alike, number
from ..tableaux import assign
from ..turns import in_turn
from .line_stages import stage_along_lines

Fields = tuple[Any, ...]


@dataclass(frozen=True)
class Alternating:
    """A method of alternating directions, with one or two sweeps over the parts.

    The first sweep starts from ``y + dt F(t, y)``. A second one starts from a correction of that,
    by the changes of the explicit part F0 and of the whole right side F over the step, times
    weights. Equations of a sweep are ``Y_j = Y_j-1 + theta dt (F_j(t + dt, Y_j) - F_j(s, z))``;
    (s, z) is the start of the step, or the result of the first sweep.
    """

    theta: float
    explicit: float = 0.0
    whole: float = 0.0
    reference: Literal["start", "end"] | None = None


ADI_METHODS: Mapping[str, Alternating] = MappingProxyType(
    {
        "Douglas": Alternating(1 / 2),
        "PeacemanRachford": Alternating(1 / 2),
        "CraigSneyd": Alternating(1 / 2, 1 / 2, 0.0, "start"),
        "ModifiedCraigSneyd": Alternating(1 / 3, 1 / 3, 1 / 6, "start"),
        "HundsdorferVerwer": Alternating(0.5 + math.sqrt(3.0) / 6.0, 0.0, 1 / 2, "end"),
    }
)
"""The methods by name."""


class ADI(Stepper):
    """Methods of alternating directions for ``y' = F_0 + F_1 + ... + F_k``.

    Each of ``F_1 ... F_k`` couples points along the lines of one axis, such as the derivatives
    along it, and is taken implicitly by solves along these lines; ``F_0`` is explicit, such as
    mixed derivatives and reactions. The matrices of the solves are derived from the functions of
    the right sides, ghost points included.

    | name                 | theta | order | with F_0 | source                                    |
    | -------------------- | ----- | ----- | -------- | ----------------------------------------- |
    | `Douglas`            | 1/2   | 2     | 1        | Douglas 1962; Douglas and Gunn 1964       |
    | `PeacemanRachford`   | 1/2   | 2     | 1        | two parts; Peaceman and Rachford 1955     |
    | `CraigSneyd`         | 1/2   | 2     | 2        | Craig and Sneyd 1988                      |
    | `ModifiedCraigSneyd` | 1/3   | 2     | 2        | in 't Hout and Welfert 2009               |
    | `HundsdorferVerwer`  | 0.789 | 2     | 2        | Hundsdorfer 2002; theta = 1/2 + sqrt(3)/6 |

    A step of ``Douglas`` is ``Y_0 = y + dt F(t, y)``,
    ``Y_j = Y_j-1 + theta dt (F_j(t + dt, Y_j) - F_j(t, y))`` for j = 1 ... k, and ``y = Y_k``. Its
    order is 2 for theta = 1/2 only. ``CraigSneyd`` and the two after it correct ``Y_0`` and sweep
    again. For nonlinear ``F_j`` each equation is linearised at ``Y_j-1``, which keeps the order.

    On ranks every part runs on a decomposition that does not cut its lines, as with
    `boundary.alternating`; results are bitwise identical.

    Parameters
    ----------
    parts
        The right sides ``F_1 ... F_k``, made by `rhs` with the same unknowns and arguments.
    t0, y0, dt, args
        See `Stepper`.
    method
        A name.
    explicit
        The right side ``F_0``, if there is one.
    theta
        The weight of the implicit parts, of all methods but ``PeacemanRachford``.

    Raises
    ------
    ArgumentError, OutOfRangeError
        If an argument does not fit, or there is no such method.
    ShapeError, DtypeError, ContiguityError
        If an array does not fit.
    UnsupportedError
        If a part couples points along several axes, or its Jacobian has no rows of entries: it has
        reductions, solves, stored matrices, or fills between blocks.

    Examples
    --------
    Heat in a square, whose sides are at zero, with steps twenty times as long as explicit ones:

    >>> import numpy as np, ssr
    >>> import boundary as bc
    >>> cells = ssr.Space(*ssr.sizes("ny nx"))
    >>> wide = cells.grow(1)
    >>> sides = bc.fill(wide, bc.dirichlet(0.0))
    >>> def conduct(axis):
    ...     bend = ssr.difference(cells, wide, axis=axis, derivative=2)
    ...     @ssr.integrate.rhs(T=cells)
    ...     def along(t, T):
    ...         return bend @ (sides @ T)
    ...     return along
    >>> x = (np.arange(32) + 0.5) / 32
    >>> T = np.outer(np.sin(np.pi * x), np.sin(np.pi * x))
    >>> run = ssr.integrate.ADI([conduct(0), conduct(1)], 0.0, T, dt=5.0)
    >>> run.advance(100.0)
    >>> bool(abs(T.max() - np.exp(-2 * np.pi**2 * 100.0 / 32**2)) < 2e-3)
    True

    References
    ----------
    D. W. Peaceman and H. H. Rachford, J. Soc. Indust. Appl. Math. 3, 1955; J. Douglas and J. E.
    Gunn, Numer. Math. 6, 1964; W. Hundsdorfer and J. G. Verwer, Numerical Solution of
    Time-Dependent Advection-Diffusion-Reaction Equations, 2003, sections IV.2, IV.3 and IV.5;
    K. J. in 't Hout and B. D. Welfert, Appl. Numer. Math. 59, 2009, equations (1.3) to (1.5).
    """

    def __init__(
        self,
        parts: Sequence[RightSide],
        t0: float,
        y0: Any,
        dt: float,
        method: str = "Douglas",
        args: Sequence[Any] = (),
        *,
        explicit: RightSide | None = None,
        theta: float | None = None,
    ) -> None:
        self.parts = _alike_parts(parts, explicit)
        self.explicit = explicit
        super().__init__(self.parts[0], t0, y0, dt, args)
        chosen = named(method, ADI_METHODS, "alternating-direction", Alternating)
        self.method = chosen if theta is None else _weighted(method, chosen, theta)
        if method == "PeacemanRachford" and len(self.parts) != 2:
            raise ArgumentError(
                f"PeacemanRachford takes 2 parts, not {len(self.parts)}.", hint='Use "Douglas".'
            )
        sweeps = Sweeps(self.parts, explicit, self.method)
        key = "ADI", method, self.method, self.parts[1:], explicit
        programs = self.fun._kept(
            key, sweeps.peaceman_rachford if method == "PeacemanRachford" else sweeps.programs
        )
        taken = {name for program in programs for name, _ in program.signature.kinds}
        fields: dict[str, Any] = dict(zip(self.fun.kinds, (*self._y, *self._args), strict=True))
        for n in 1, 2:
            names = sweeps.work(n)
            if not taken.isdisjoint(names):
                fields |= dict(zip(names, alike(self._y), strict=True))
        self._run = in_turn(programs, fields)

    def _step(self, dt: float) -> None:
        self._run(self.t, dt)


def _alike_parts(parts: Any, explicit: Any) -> tuple[RightSide, ...]:
    """Return the parts, which have the same parameters."""
    if not isinstance(parts, (tuple, list)) or not parts:
        raise ArgumentError(
            f"The parts are {parts!r}, not a list of right sides.",
            hint="Give one for each axis: ADI([along_y, along_x], ...).",
        )
    for part in (*parts, *([] if explicit is None else [explicit])):
        check_right_side(part)
        if (part.kinds, part.unknowns) != (parts[0].kinds, parts[0].unknowns):
            raise ArgumentError(
                f"{parts[0]!r} and {part!r} differ in their parameters.",
                hint="Give all the same unknowns and arguments, by the same names.",
            )
    return tuple(parts)


def _weighted(name: str, method: Alternating, theta: Any) -> Alternating:
    """Return a method with another weight of the implicit parts."""
    weight = number("theta", theta)
    if name == "PeacemanRachford" or not 0.0 < weight <= 1.0:
        raise OutOfRangeError(
            f"theta is {theta!r} for {name}.",
            hint="It is above 0 and at most 1, and PeacemanRachford has none.",
        )
    if name == "ModifiedCraigSneyd":
        return replace(method, theta=weight, explicit=weight, whole=0.5 - weight)
    return replace(method, theta=weight)


class Sweeps:
    """The programs of a step, which run one after the other.

    They share fields by name: the unknowns, and one or two others for each, see `work`.
    """

    def __init__(
        self, parts: Sequence[RightSide], explicit: RightSide | None, method: Alternating
    ) -> None:
        self.parts, self.explicit, self.method = parts, explicit, method
        self.fun = parts[0]
        self.every = [*parts, *([] if explicit is None else [explicit])]

    def work(self, n: int) -> list[str]:
        """Return the names of further fields for the unknowns."""
        return [self.fun._fresh(f"{name}_{n}") for name in self.fun.unknowns]

    def programs(self) -> list[Program]:
        """Return the programs of all methods with sweeps."""
        made = [self._program("start", (1, 0), self._start)]
        again = self.method.reference
        target = 0 if again is None else 1
        made += self._sweep(1, 0, target)
        if again is not None:
            end = again == "end"
            goal = 2 if end else 1
            made.append(self._program("correct", (2, 0, 1) if end else (1, 0), self._correction))
            made += self._sweep(goal, 1 if end else 0, 0)
        return made

    def _start(self, fields: Sequence[Fields], args: Fields, t: Any, dt: Any) -> None:
        Y, y = fields
        rates = self._sum(self.every, t, y, args)
        assign(Y, tuple(a + dt * b for a, b in zip(y, rates, strict=True)))

    def _correction(self, fields: Sequence[Fields], args: Fields, t: Any, dt: Any) -> None:
        """Assign the start of the second sweep."""
        target, y = fields[0], fields[1]
        found = fields[-1] if len(fields) == 3 else target
        rates = self._sum(self.every, t, y, args)
        made = tuple(a + dt * b for a, b in zip(y, rates, strict=True))
        explicit = [] if self.explicit is None else [self.explicit]
        for weight, which in (self.method.explicit, explicit), (self.method.whole, self.every):
            if weight and which:
                before = rates if which is self.every else self._sum(which, t, y, args)
                after = self._sum(which, t + dt, found, args)
                made = tuple(
                    a + (weight * dt) * (c - b) for a, b, c in zip(made, before, after, strict=True)
                )
        assign(target, made)

    def _sweep(self, through: int, reference: int, last: int) -> list[Program]:
        """Return the programs of the equations of all parts; the last one assigns other fields."""
        made = []
        for n, part in enumerate(self.parts):
            target = last if n == len(self.parts) - 1 else through
            numbers = tuple(dict.fromkeys((target, through, reference)))
            made.append(
                self._program(
                    f"sweep{n}", numbers, self._equation(part, through, reference, numbers)
                )
            )
        return made

    def _equation(
        self, part: RightSide, through: int, reference: int, numbers: Sequence[int]
    ) -> Callable[..., None]:
        def body(fields: Sequence[Fields], args: Fields, t: Any, dt: Any) -> None:
            Y, z = fields[numbers.index(through)], fields[numbers.index(reference)]
            h = self.method.theta * dt
            rates = part._rates(t if reference == 0 else t + dt, z, args)
            known = tuple(h * rate for rate in rates)
            assign(fields[0], stage_along_lines(part, t + dt, Y, args, h, known))

        return body

    def peaceman_rachford(self) -> list[Program]:
        """Return the programs of both halves of a step, each implicit along one axis."""
        first, second = self.parts
        explicit = [] if self.explicit is None else [self.explicit]

        def half(
            implicit: RightSide, other: RightSide, before: float, after: float
        ) -> Callable[..., None]:
            def body(fields: Sequence[Fields], args: Fields, t: Any, dt: Any) -> None:
                target, y = fields
                h = 0.5 * dt
                now, then = (t + c * dt if c else t for c in (before, after))
                rates = self._sum([other, *explicit], now, y, args)
                Y = tuple(a + h * b for a, b in zip(y, rates, strict=True))
                zero = tuple(0.0 * a for a in y)
                assign(target, stage_along_lines(implicit, then, Y, args, h, zero))

            return body

        return [
            self._program("first_half", (1, 0), half(first, second, 0.0, 0.5)),
            self._program("second_half", (0, 1), half(second, first, 0.5, 1.0)),
        ]

    def _sum(self, which: Sequence[RightSide], t: Any, y: Fields, args: Fields) -> Fields:
        """Return the sum of right sides."""
        first, *rest = (part._rates(t, y, args) for part in which)
        for rates in rest:
            first = tuple(a + b for a, b in zip(first, rates, strict=True))
        return first

    def _program(self, name: str, numbers: Sequence[int], body: Callable[..., None]) -> Program:
        """Return a program of some of the fields, the arguments, the time and dt."""
        fun = self.fun
        return fun._program(
            [f"{{}}_{n}" if n else "{}" for n in numbers],
            lambda *given: body(given[:-3], *given[-3:]),
            fun.time,
            "dt",
            name=f"{fun.name}_{name}",
        )
