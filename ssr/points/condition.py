"""Presburger conditions on indices, whose truth the tracer of a generator decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..errors import RuntimeConditionError
from .affine import Affine


@dataclass(frozen=True, slots=True, repr=False)
class Condition:
    """A Presburger condition on indices: a disjunction of conjunctions of affine constraints.

    Its truth value is decided by the tracer that runs the generator.
    """

    cases: tuple[tuple[tuple[Affine, str], ...], ...]

    def __repr__(self) -> str:
        return self.isl()

    def names(self) -> frozenset[str]:
        """Return the names of indices and sizes that occur."""
        return frozenset().union(*(e.names() for case in self.cases for e, _ in case))

    def isl(self) -> str:
        """Return the text isl reads."""
        found = []
        for case in self.cases:
            for chosen in product(*(e.cases() for e, _ in case)):
                parts = [f"{test.isl()} >= 0" for tests, _ in chosen for test in tests]
                parts += [
                    f"{e.isl()} {relation}"
                    for (_, e), (_, relation) in zip(chosen, case, strict=True)
                ]
                found.append(f"({' and '.join(parts) or '0 = 0'})")
        return " or ".join(found)

    def __bool__(self) -> bool:
        decided = self._constant()
        if decided is not None:
            return decided
        decide = _decide.get()
        if decide is None:
            raise RuntimeConditionError(
                "A condition on symbolic sizes or indices has no truth value here.",
                hint="Conditions are decided inside a generator; outside, use integer sizes.",
            )
        return decide(self)

    # Like a Python bool, a condition in arithmetic is one or zero.

    def __int__(self) -> int:
        return int(bool(self))

    def __neg__(self) -> int:
        return -int(self)

    def __add__(self, other: Any) -> Any:
        return int(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return int(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - int(self)

    def __mul__(self, other: Any) -> Any:
        return int(self) * other

    __rmul__ = __mul__

    def __and__(self, other: object) -> Condition:
        if not isinstance(other, (Condition, bool)):
            return NotImplemented
        return Condition(tuple(a + b for a in self.cases for b in _cases(other)))

    def __or__(self, other: object) -> Condition:
        if not isinstance(other, (Condition, bool)):
            return NotImplemented
        return Condition(self.cases + _cases(other))

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        result = Condition(_cases(True))
        for case in self.cases:
            result &= Condition(tuple((atom,) for part in case for atom in _denied(*part)))
        return result

    def _constant(self) -> bool | None:
        if any(not e.is_constant for case in self.cases for e, _ in case):
            return None
        return any(
            all(e.constant >= 0 if relation == ">= 0" else e.constant == 0 for e, relation in case)
            for case in self.cases
        )


def _cases(condition: Condition | bool) -> tuple[tuple[tuple[Affine, str], ...], ...]:
    if isinstance(condition, Condition):
        return condition.cases
    return ((),) if condition else ()


def _denied(expression: Affine, relation: str) -> tuple[tuple[Affine, str], ...]:
    """Return the constraints of which one holds where a constraint does not."""
    less = (-expression - 1, ">= 0")
    return (less,) if relation == ">= 0" else (less, (expression - 1, ">= 0"))


_decide: ContextVar[Callable[[Condition], bool] | None] = ContextVar("decide", default=None)
sizes_known: ContextVar[Mapping[str, int] | None] = ContextVar("sizes_known", default=None)
"""The sizes for which a definition is currently run on integers."""


@contextmanager
def deciding(
    decide: Callable[[Condition], bool], sizes: Mapping[str, int] | None = None
) -> Iterator[None]:
    """Let ``decide`` evaluate the conditions inside the block, for given sizes if there are any."""
    tokens = _decide.set(decide), sizes_known.set(sizes)
    try:
        yield
    finally:
        _decide.reset(tokens[0])
        sizes_known.reset(tokens[1])
