"""Signatures of programs: the parameters of a call, and the symbols passed to the body."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from .. import ir
from ..errors import ArgumentError, SpaceError
from ..spaces.space import Space, VectorSpace
from ..symbols.names import checked_name
from ..symbols.values import Value, node
from ..trace.functions import keywords, positional
from ..trace.trace import ScalarType
from .expression import Expression, Field
from .recorder import Recorder
from .vectors import Vector, VectorField

Kind: TypeAlias = "Space | VectorSpace | ScalarType"


@dataclass(frozen=True)
class Signature:
    """A program's name, and the names and kinds of its parameters in order."""

    name: str
    kinds: tuple[tuple[str, Kind], ...]

    @staticmethod
    def of(function: Callable[..., Any], declared: Mapping[str, Kind]) -> Signature:
        """Return the signature of a body with its declaration."""
        names = _parameters(function, declared)
        if set(names) != set(declared):
            raise ArgumentError(
                f"Program {function.__name__} takes {names}, but {sorted(declared)} is declared.",
                hint="Declare each parameter: a Space for a field, ssr.scalar for a number.",
            )
        for name, kind in declared.items():
            checked_name("field or scalar", name)
            if not isinstance(kind, (Space, VectorSpace, ScalarType)):
                raise ArgumentError(
                    f"Parameter {name!r} is declared as {kind!r}.",
                    hint="Use a Space, or ssr.scalar.",
                )
        return Signature(function.__name__, tuple((n, declared[n]) for n in names))

    @cached_property
    def flat(self) -> tuple[tuple[str, Space | ScalarType], ...]:
        """The parameters with vector fields taken apart into their components."""
        found: list[tuple[str, Space | ScalarType]] = []
        for name, kind in self.kinds:
            if isinstance(kind, VectorSpace):
                found += [(n, kind.space) for n in kind.names(name)]
            else:
                found.append((name, kind))
        return tuple(found)

    @cached_property
    def components(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The names of vector fields, each with those of its components."""
        return tuple((n, k.names(n)) for n, k in self.kinds if isinstance(k, VectorSpace))

    @cached_property
    def vectors(self) -> tuple[int, ...]:
        """Places of vector fields among the parameters."""
        return tuple(n for n, (_, kind) in enumerate(self.kinds) if isinstance(kind, VectorSpace))

    def arranged(
        self, args: tuple[Any, ...], named: Mapping[str, Any], *, partly: bool = False
    ) -> tuple[Any, ...]:
        """Return the arguments of a call in the order of the parameters."""
        names = [n for n, _ in self.kinds]
        signature = f"{self.name}({', '.join(names)})"
        if len(args) > len(names):
            raise ArgumentError(f"{signature} takes {len(names)} arguments, not {len(args)}.")
        given = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names:
                raise ArgumentError(f"{signature} has no parameter {name!r}.")
            if name in given:
                raise ArgumentError(f"{signature} got two values for {name!r}.")
            given[name] = value
        missing = [
            name
            for name, kind in self.kinds
            if name not in given and not (partly and isinstance(kind, ScalarType))
        ]
        if missing:
            raise ArgumentError(f"{signature} misses {', '.join(missing)}.")
        return tuple(given.get(n) for n in names)

    def apart(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments with vector fields taken apart into their components."""
        if not self.vectors:
            return args
        found: list[Any] = []
        for value, (name, kind) in zip(args, self.kinds, strict=True):
            found += kind.parts(name, value) if isinstance(kind, VectorSpace) else [value]
        return tuple(found)

    def symbols(self, recorder: Recorder) -> list[Any]:
        """Return the symbols that are the arguments of the body, and record them."""
        for name, flat in self.flat:
            if isinstance(flat, Space):
                recorder.fields[name] = flat
            else:
                recorder.scalars[name] = None
        made: list[Any] = []
        for name, kind in self.kinds:
            if isinstance(kind, VectorSpace):
                made.append(VectorField(name, kind, recorder))
            elif isinstance(kind, Space):
                made.append(Field(name, kind, recorder))
            else:
                made.append(Value(ir.Scalar(name)))
        return made

    def inlined(
        self, args: tuple[Any, ...], recorder: Recorder, written: Collection[str]
    ) -> list[Any]:
        """Return the arguments of the body for a call inside another program."""
        made: list[Any] = []
        for value, (name, kind) in zip(args, self.kinds, strict=True):
            if isinstance(kind, ScalarType):
                made.append(Value(node(value, "Scalars")))
            elif isinstance(kind, VectorSpace):
                if not isinstance(value, Vector) or len(value) != kind.components:
                    self._refuse(name, value, kind)
                names = kind.names(name)
                parts = [
                    self._field(n, part, kind.space, recorder, written)
                    for n, part in zip(names, value, strict=True)
                ]
                made.append(value if isinstance(value, VectorField) else Vector(parts))
            else:
                made.append(self._field(name, value, kind, recorder, written))
        return made

    def _field(
        self, name: str, value: Any, space: Space, recorder: Recorder, written: Collection[str]
    ) -> Field:
        if not isinstance(value, Expression):
            self._refuse(name, value, space)
        if value.space != space:
            raise SpaceError(
                f"{self.name} takes {name!r} on {space!r}; it is given a field on {value.space!r}."
            )
        if isinstance(value, Field):
            return value
        if name in written:
            raise ArgumentError(
                f"{self.name} assigns {name!r}; it is given an expression.", hint="Give it a field."
            )
        return recorder.store(value)

    def _refuse(self, name: str, value: Any, kind: Space | VectorSpace) -> None:
        what = "a NumPy array" if isinstance(value, np.ndarray) else type(value).__name__
        raise ArgumentError(
            f"{self.name} takes {name!r} on {kind!r}; inside a program it is given {what}."
        )


def _parameters(function: Callable[..., Any], declared: Mapping[str, Kind]) -> list[str]:
    """Return the names of the parameters that a body is called with, in order.

    Parameters at the end that have default values and are not declared keep these values.
    """
    found, variadic = positional(function)
    if variadic:
        raise ArgumentError(
            f"Program {function.__name__} takes any number of parameters.",
            hint="Name each parameter, and declare it.",
        )
    if keywords(function, declared):
        raise ArgumentError(
            f"Program {function.__name__} takes parameters by keyword only.",
            hint="Write them without `*`; a call may name them all the same.",
        )
    while found and found[-1].name not in declared and found[-1].default is not found[-1].empty:
        found.pop()
    return [p.name for p in found]
