"""Vector fields: several values at each point of a space, ``u[component, k, j, i]``.

In a program a vector field is the tuple of its components, each of which is a field. An operation
on vectors is applied to each component. Arrays have the component as first axis, so that every
component is a separate array for the kernel, and kernels contain no vector fields.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .. import ir
from ..errors import ArgumentError, ShapeError
from ..points.numbers import integer
from ..spaces.space import Space, VectorSpace, stem
from ..symbols.values import Row, Value, power, takes_over
from .expression import Expression, Field, renaming
from .recorder import Recorder

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def grouped(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kinds of data, with the components of each vector field grouped."""
    found: dict[str, Any] = {}
    for name, kind in data.items():
        known = found.get(stem(name))
        count = 1 if known is None else known.components + 1
        found[stem(name)] = kind if stem(name) == name else VectorSpace(count, kind)
    return found


def apart(values: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of data with vector fields taken apart into their components."""
    kinds, found = grouped(data), {}
    for name, value in values.items():
        kind = kinds.get(name)
        if not isinstance(kind, VectorSpace):
            found[name] = value
            continue
        components = list(value) if isinstance(value, Vector) else kind.parts(name, value)
        if len(components) != kind.components:
            raise ShapeError(f"{name!r} has {len(components)} of {kind.components} components.")
        found |= dict(zip(kind.names(name), components, strict=True))
    return found


class Vector(Row):
    """An expression for each component of a vector field, in a program.

    ``u[0]`` is a component, ``u[1:]`` a vector of some of them, ``u[space]`` all of them at a part
    of the points. Arithmetic and functions work component by component; numbers, scalars and
    expressions count for all components.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=cells.vector(2), s=cells)
    ... def scale(u, s):
    ...     u[:] = s * u + 1.0
    >>> u = np.ones((2, 2))
    >>> scale(u, np.array([1.0, 2.0]))
    >>> u
    array([[2., 3.],
           [2., 3.]])
    """

    __slots__ = ("components",)

    def __init__(self, components: Sequence[Expression]) -> None:
        self.components = tuple(components)

    def __repr__(self) -> str:
        return f"<Vector of {len(self.components)} on {self.components[0].space!r}>"

    def label(self) -> str:
        """Return the vector as messages call it."""
        return f"vector on {self.components[0].space!r}"

    def __len__(self) -> int:
        return len(self.components)

    def __iter__(self) -> Iterator[Expression]:
        return iter(self.components)

    def __getitem__(self, which: object) -> Any:
        if isinstance(which, slice):
            found = self.components[which]
            return Vector(found) if found else self._no_component(which)
        if which is Ellipsis:
            return self
        if isinstance(which, Space):
            return Vector([component[which] for component in self.components])
        place = integer(which)
        if place is None or not -len(self) <= place < len(self):
            self._no_component(which)
        return self.components[place]

    def _no_component(self, which: object) -> NoReturn:
        raise ArgumentError(
            f"A vector of {len(self)} components has no component {which!r}.",
            hint="Components are counted from 0; points are read through matrices.",
        )

    def _pointwise(self, name: str, *args: object) -> Vector:
        """Return the operation ``name`` on args, component by component."""
        rows = [self._spread(a) for a in args]
        first = self.components[0]
        return Vector([first._pointwise(name, *row) for row in zip(*rows, strict=True)])

    def _spread(self, other: object) -> tuple[Any, ...]:
        """Return one operand for each component."""
        if isinstance(other, Vector):
            if len(other) != len(self):
                raise ArgumentError(
                    f"Vectors of {len(self)} and {len(other)} components are combined."
                )
            return other.components
        if isinstance(other, (tuple, list)):
            if len(other) != len(self):
                raise ArgumentError(
                    f"A vector of {len(self)} components is combined with {len(other)} values."
                )
            return tuple(other)
        return (other,) * len(self)

    def _each(self, operation: Callable[[Expression, Any], Expression], other: object) -> Vector:
        pairs = zip(self.components, self._spread(other), strict=True)
        return Vector([operation(a, b) for a, b in pairs])

    def _lift(self, other: object) -> Any:
        """Return ``other``, a number or value, as the same at every row and component."""
        return self._each(lambda here, o: here._lift(o), other)

    def _binary(self, name: str, left: object, right: object) -> Any:
        """Return the operation ``name`` of left and right, component by component."""
        other = right if left is self else left
        if takes_over(other):
            return NotImplemented
        pairs = zip(self._spread(left), self._spread(right), strict=True)
        return Vector([_OPERATORS[name](a, b) for a, b in pairs])

    def _unary(self, name: str) -> Vector:
        """Return the operation ``name`` on each component."""
        return Vector([component._unary(name) for component in self.components])

    def __pow__(self, exponent: object) -> Vector:
        return Vector([power(a, exponent) for a in self.components])

    def __bool__(self) -> bool:
        return bool(self.components[0])


class VectorField(Vector):
    """A vector field of a program: ``u[:] = vector`` and ``u[0] = expression`` assign it.

    ``u[space] = vector`` assigns a part of its points.
    """

    __slots__ = ("name",)

    def __init__(self, name: str, kind: VectorSpace, recorder: Recorder) -> None:
        super().__init__([Component(n, kind.space, recorder) for n in kind.names(name)])
        self.name = name

    __iadd__ = renaming("+=")
    __isub__ = renaming("-=")
    __imul__ = renaming("*=")
    __itruediv__ = renaming("/=")

    def __setitem__(self, which: object, value: Any) -> None:
        points = which if isinstance(which, Space) else slice(None)
        targets = self[slice(None) if which is Ellipsis or which is points else which]
        if isinstance(targets, Field):
            targets[:] = value
            return
        values = [as_it_is(v) for v in targets._spread(value)]
        for target, part in zip(targets, values, strict=True):
            target[points] = part


class Component(Field):
    """A component of a vector field; ``u[0] += expression`` assigns it."""

    __slots__ = ()

    __iadd__ = Field.__add__
    __isub__ = Field.__sub__
    __imul__ = Field.__mul__
    __itruediv__ = Field.__truediv__


def as_it_is(value: Any) -> Any:
    """Return a snapshot of a component, which later assignments do not change."""
    if not (isinstance(value, Expression) and isinstance(value.value, ir.Load)):
        return value
    snapshot = Expression(value.space, value.value, owner=value.owner)
    assert value.owner is not None
    value.owner.track(snapshot)
    return snapshot


def vector(*components: Any) -> Vector:
    """Return expressions of a program as one vector.

    Parameters
    ----------
    *components
        Fields, expressions and numbers; one of them at least is not a number.

    Raises
    ------
    ArgumentError
        If all components are numbers, or one is neither a number nor an expression.
    SpaceError
        If expressions are on different spaces.

    Examples
    --------
    >>> import numpy as np, ssr
    >>> cells = ssr.Space(ssr.size("n"))
    >>> @ssr.program(u=cells.vector(2), s=cells)
    ... def polar(u, s):
    ...     u[:] = ssr.vector(s * u[0], u[0] + u[1])
    >>> u = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> polar(u, np.array([10.0, 20.0]))
    >>> u
    array([[10., 40.],
           [ 4.,  6.]])
    """
    found = [c for c in components if isinstance(c, Expression)]
    if not found or any(not isinstance(c, (Expression, Value, int, float)) for c in components):
        raise ArgumentError("ssr.vector takes expressions of a program, one for each component.")
    return Vector([found[0]._lift(c) for c in components])
