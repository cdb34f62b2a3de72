"""Explicit Runge-Kutta methods as data: Butcher, Shu-Osher and Williamson's low-storage form."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, TypeAlias

from ..errors import ArgumentError, OutOfRangeError

Rates: TypeAlias = Callable[[Any, "tuple[Any, ...]"], "tuple[Any, ...]"]
"""The rates of change of the unknowns: ``rates(t, y)``."""

Table: TypeAlias = "Sequence[Sequence[float]]"
Tree: TypeAlias = "tuple[Any, ...]"

EXACT = 1e-13
"""The largest residual of an order condition that counts as zero."""

HIGHEST = 6
"""The highest order whose conditions are tested."""


class Method(ABC):
    """A Runge-Kutta method, given by numbers."""

    @property
    @abstractmethod
    def butcher(self) -> ButcherTableau:
        """The method as a Butcher tableau."""

    @abstractmethod
    def _advance(
        self, rates: Rates, t: Any, dt: Any, y: tuple[Any, ...], work: tuple[Any, ...] = ()
    ) -> None:
        """Assign the unknowns after a step to the unknowns, in the body of a program.

        Parameters
        ----------
        rates
            The right side, ``rates(t, y)``.
        t, dt, y
            The time, the length of the step, and the unknowns at that time.
        work
            Fields for the change of the unknowns, if the method `has_work`.
        """

    @property
    def has_work(self) -> bool:
        """Whether a step keeps the change of each unknown in a field of the caller."""
        return False

    @property
    def order(self) -> int:
        """The order of convergence, from the order conditions."""
        return order_of([(self.butcher.A, self.butcher.b)])

    @property
    def stages(self) -> int:
        """The number of evaluations of the right side in a step."""
        return len(self.butcher.b)


@dataclass(frozen=True)
class ButcherTableau(Method):
    """A Runge-Kutta method, explicit or implicit, by its weights.

    A step is ``y + dt sum_i b_i k_i`` with ``k_i = f(t + c_i dt, y + dt sum_j A_ij k_j)``.

    Parameters
    ----------
    A
        The weights of a stage, row by row; rows may end before their zeros. A method whose rows
        have no number at or after the diagonal is explicit.
    b
        The weights of the step.
    c
        The times of the stages; the sums of the rows of A by default.
    embedded
        Weights of a second result of lower order, whose difference from the first estimates the
        error of a step; they may have one number more than b, for a stage at the end of the step.

    Raises
    ------
    ArgumentError
        If rows or weights do not fit each other, or the weights b do not add up to one.

    Examples
    --------
    The midpoint rule:

    >>> import ssr
    >>> midpoint = ssr.integrate.ButcherTableau(A=[[], [0.5]], b=[0.0, 1.0])
    >>> midpoint.c, midpoint.order, midpoint.is_explicit
    ((0.0, 0.5), 2, True)

    References
    ----------
    E. Hairer, S. P. Nørsett and G. Wanner, Solving Ordinary Differential Equations I (2nd ed.
    1993), section II.1; order conditions from trees: section II.2.
    """

    A: Sequence[Sequence[float]]
    b: Sequence[float]
    c: Sequence[float] = ()
    embedded: Sequence[float] = ()

    def __post_init__(self) -> None:
        b = numbers("b", self.b)
        count = len(b)
        rows = table("A", self.A)
        if len(rows) != count or any(len(row) > count for row in rows):
            raise ArgumentError(
                f"A has {len(rows)} rows of up to {max(map(len, rows), default=0)} numbers; there "
                f"are {count} weights b.",
                hint="Give one row for each weight.",
            )
        square = tuple((*row, *[0.0] * (count - len(row))) for row in rows)
        times = numbers("c", self.c) or tuple(map(math.fsum, square))
        if len(times) != count:
            raise ArgumentError(f"There are {len(times)} times c for {count} stages.")
        second = numbers("embedded", self.embedded)
        if second and len(second) not in (count, count + 1):
            raise ArgumentError(f"There are {len(second)} embedded weights for {count} stages.")
        for name, weights in ("b", b), ("embedded", second):
            if (weights or name == "b") and abs(math.fsum(weights) - 1.0) > EXACT:
                raise ArgumentError(f"The weights {name} add up to {math.fsum(weights)}, not 1.")
        given = {"A": square, "b": b, "c": times, "embedded": second}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @cached_property
    def butcher(self) -> ButcherTableau:
        """The tableau itself."""
        return self

    @cached_property
    def is_explicit(self) -> bool:
        """Whether each stage follows from the stages before it."""
        return not any(any(row[i:]) for i, row in enumerate(self.A))

    def _slopes(self, rates: Rates, t: Any, dt: Any, y: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Return the rates of change of all stages, k, of an explicit method.

        See `Method._advance` for rates, t, dt and y.
        """
        k = list[tuple[Any, ...]]()
        for c, row in zip(self.c, self.A, strict=True):
            k.append(rates(moment(t, c, dt), combined(y, dt, row, k)))
        return k

    def _advance(
        self, rates: Rates, t: Any, dt: Any, y: tuple[Any, ...], work: tuple[Any, ...] = ()
    ) -> None:
        """Assign a step of an explicit method; see `Method._advance` for rates, t, dt, y, work."""
        assign(y, combined(y, dt, self.b, self._slopes(rates, t, dt, y)))


@dataclass(frozen=True)
class ShuOsher(Method):
    """A Runge-Kutta method whose stages combine Euler steps, such as those that preserve stability.

    Stage i is ``y_i = sum_j alpha_ij y_j + beta_ij dt f(t + c_j dt, y_j)`` with ``y_0 = y``; the
    last one is the result. If no number is negative, a norm that no Euler step of length h
    increases is not increased by steps of length ``h * ssp``.

    Parameters
    ----------
    alpha, beta
        A row for each stage, with a number for each value before it; rows of beta may begin with
        zeros, and rows of both may end before their zeros.

    Raises
    ------
    ArgumentError
        If rows do not fit, or the numbers of a row of alpha do not add up to one.

    Examples
    --------
    >>> import ssr
    >>> heun = ssr.integrate.ShuOsher(alpha=[[1], [0.5, 0.5]], beta=[[1], [0, 0.5]])
    >>> heun.order, heun.ssp, heun.butcher.b
    (2, 1.0, (0.5, 0.5))

    References
    ----------
    C.-W. Shu and S. Osher, J. Comput. Phys. 77, 1988, equation (2.12).
    """

    alpha: Sequence[Sequence[float]]
    beta: Sequence[Sequence[float]]

    def __post_init__(self) -> None:
        count = len(table("alpha", self.alpha))
        for name in "alpha", "beta":
            rows = table(name, getattr(self, name))
            longer = any(len(row) > i + 1 for i, row in enumerate(rows))
            if not rows or len(rows) != count or longer:
                raise ArgumentError(
                    f"The rows of {name} have lengths {[*map(len, rows)]}.",
                    hint="Row i has a number for each of the i + 1 values before its stage.",
                )
            full = tuple((*row, *[0.0] * (i + 1 - len(row))) for i, row in enumerate(rows))
            object.__setattr__(self, name, full)
        for row in self.alpha:
            if abs(math.fsum(row) - 1.0) > EXACT:
                raise ArgumentError(f"A row of alpha adds up to {math.fsum(row)}, not 1.")

    @cached_property
    def butcher(self) -> ButcherTableau:
        """The method as a Butcher tableau."""
        count = len(self.alpha)
        rows = [[0.0] * count]
        for alpha, beta in zip(self.alpha, self.beta, strict=True):
            row = [
                math.fsum(a * r[k] for a, r in zip(alpha, rows, strict=False)) for k in range(count)
            ]
            for k, weight in enumerate(beta):
                row[k] += weight
            rows.append(row)
        return ButcherTableau(tuple(map(tuple, rows[:-1])), tuple(rows[-1]))

    @property
    def ssp(self) -> float:
        """The longest stable step, in stable steps of Euler; 0 if a number is negative."""
        rows = zip(self.alpha, self.beta, strict=True)
        pairs = [pair for alpha, beta in rows for pair in zip(alpha, beta, strict=True)]
        if any(a < 0.0 or b < 0.0 for a, b in pairs):
            return 0.0
        return min(a / b for a, b in pairs if b)

    def _advance(
        self, rates: Rates, t: Any, dt: Any, y: tuple[Any, ...], work: tuple[Any, ...] = ()
    ) -> None:
        """Assign a step to the unknowns; see `Method._advance` for rates, t, dt, y, work."""
        values, k, times = [y], list[tuple[Any, ...]](), self.butcher.c
        for i, (alpha, beta) in enumerate(zip(self.alpha, self.beta, strict=True)):
            k.append(rates(moment(t, times[i], dt), values[i]))
            made = weighted(alpha, values)
            values.append(combined(made, dt, beta, k))
        assign(y, values[-1])


@dataclass(frozen=True)
class LowStorage(Method):
    """A Runge-Kutta method that needs two values for each unknown, in Williamson's form.

    A stage is ``dy = A_i dy + dt f(t + c_i dt, y)``, ``y = y + B_i dy``.

    Parameters
    ----------
    A, B
        A number for each stage; the first of A is 0.

    Raises
    ------
    ArgumentError
        If their numbers differ, or the first of A is not 0.

    Examples
    --------
    Williamson's third-order method:

    >>> import ssr
    >>> three = ssr.integrate.LowStorage(A=[0, -5 / 9, -153 / 128], B=[1 / 3, 15 / 16, 8 / 15])
    >>> three.order, three.stages
    (3, 3)

    References
    ----------
    J. H. Williamson, J. Comput. Phys. 35, 1980, equation (6) and case 7 of table 1.
    """

    A: Sequence[float]
    B: Sequence[float]

    def __post_init__(self) -> None:
        for name in "A", "B":
            object.__setattr__(self, name, numbers(name, getattr(self, name)))
        if len(self.A) != len(self.B) or not self.A or self.A[0] != 0.0:
            raise ArgumentError(
                f"A is {self.A} and B is {self.B}.",
                hint="Give both for each stage; the first number of A is 0.",
            )

    @cached_property
    def butcher(self) -> ButcherTableau:
        """The method as a Butcher tableau."""
        count = len(self.A)
        change, value = [0.0] * count, [0.0] * count
        rows = []
        for i, (a, b) in enumerate(zip(self.A, self.B, strict=True)):
            rows.append(tuple(value))
            change = [a * d for d in change]
            change[i] += 1.0
            value = [v + b * d for v, d in zip(value, change, strict=True)]
        return ButcherTableau(tuple(rows), tuple(value))

    @property
    def has_work(self) -> bool:
        """Whether a step keeps the change of each unknown in a field of the caller: it does."""
        return True

    def _advance(
        self, rates: Rates, t: Any, dt: Any, y: tuple[Any, ...], work: tuple[Any, ...] = ()
    ) -> None:
        """Assign a step to the unknowns; see `Method._advance` for rates, t, dt, y, work."""
        for a, b, c in zip(self.A, self.B, self.butcher.c, strict=True):
            k = rates(moment(t, c, dt), y)
            old = tuple(a * d for d in work) if a else ()
            assign(work, combined(old, dt, (1.0,), [k]) if a else tuple(dt * r for r in k))
            assign(y, tuple(v + b * d for v, d in zip(y, work, strict=True)))


def assign(fields: Sequence[Any], values: Sequence[Any]) -> None:
    """Assign values to fields, in the body of a program."""
    for field, value in zip(fields, values, strict=True):
        field[:] = value


def moment(t: Any, c: float, dt: Any) -> Any:
    """Return the time ``t + c dt`` of a stage."""
    return t + (dt if c == 1.0 else c * dt) if c else t


def combined(
    y: tuple[Any, ...], dt: Any, weights: Sequence[float], k: Sequence[tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Return ``y + dt * sum(weights * k)`` without the terms whose weights are zero."""
    for weight, rate in zip(weights, k, strict=False):
        if weight:
            factor = dt if weight == 1.0 else weight * dt
            y = tuple(v + factor * r for v, r in zip(y, rate, strict=True))
    return y


def weighted(weights: Sequence[float], values: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return ``sum(weights * values)`` without the terms whose weights are zero."""
    found: tuple[Any, ...] = ()
    for weight, value in zip(weights, values, strict=False):
        if weight:
            terms = value if weight == 1.0 else tuple(weight * v for v in value)
            found = tuple(a + b for a, b in zip(found, terms, strict=True)) if found else terms
    return found


def numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return a row of a tableau as floats."""
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} has a row {values!r}, not numbers.") from None
    if not all(map(math.isfinite, found)):
        raise OutOfRangeError(f"{name} has a row {values!r}; its numbers are finite.")
    return found


def table(name: str, rows: Any) -> list[tuple[float, ...]]:
    """Return the rows of a tableau as floats."""
    try:
        every = [*rows]
    except TypeError:
        raise ArgumentError(f"{name} is {rows!r}, not a sequence of rows of numbers.") from None
    return [numbers(name, row) for row in every]


# -- order conditions ----------------------------------------------------------------------------


def order_of(tables: Sequence[tuple[Table, Sequence[float]]]) -> int:
    """Return the order of a method: the highest whose conditions all hold.

    There is one condition for each rooted tree, ``sum_i b_i phi_i = 1 / gamma``: phi is the product
    over the subtrees of ``A phi``, and gamma the product of the numbers of nodes of all subtrees.
    With several tables (A, b), for the parts of a sum, each node may be that of any table.
    """
    for nodes in range(1, HIGHEST + 1):
        for tree in trees(nodes):
            for phi, (_, b) in product(_phis(tree, tables), tables):
                left = math.fsum(weight * value for weight, value in zip(b, phi, strict=True))
                if abs(left - 1.0 / _gamma(tree)) > EXACT:
                    return nodes - 1
    return HIGHEST


@lru_cache
def trees(nodes: int) -> frozenset[Tree]:
    """Return the rooted trees with a number of nodes, each as the sorted tuple of its subtrees.

    >>> [len(trees(n)) for n in range(1, 7)]
    [1, 1, 2, 4, 9, 20]
    """
    if nodes == 1:
        return frozenset({()})
    found = set()
    for part in range(1, nodes):
        for branch in trees(part):
            found |= {tuple(sorted((*rest, branch))) for rest in trees(nodes - part)}
    return frozenset(found)


def _phis(tree: Tree, tables: Sequence[tuple[Table, Sequence[float]]]) -> Iterator[list[float]]:
    """Yield the products over the subtrees, for each choice of tables."""
    if not tree:
        yield [1.0] * len(tables[0][1])
        return
    first, *rest = tree
    for values, (A, _), others in product(
        [*_phis(first, tables)], tables, [*_phis(tuple(rest), tables)]
    ):
        sums = [math.fsum(a * v for a, v in zip(row, values, strict=True)) for row in A]
        yield [s * o for s, o in zip(sums, others, strict=True)]


def _nodes(tree: Tree) -> int:
    return 1 + sum(map(_nodes, tree))


def _gamma(tree: Tree) -> int:
    return _nodes(tree) * math.prod(map(_gamma, tree))
