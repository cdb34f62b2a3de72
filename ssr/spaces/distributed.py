"""Distributed fields as arguments: fields that no process holds as one array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a distributed vector field."""

    field: Any
    number: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the component on all ranks."""
        return tuple(self.field.shape[1:])


def is_distributed(value: Any) -> bool:
    """Whether a value is a distributed field, or a component of a distributed vector field."""
    return isinstance(value, Component) or hasattr(type(value), "__ssr_program__")


def is_data(value: Any) -> bool:
    """Whether a value is an array or a distributed field."""
    return isinstance(value, np.ndarray) or is_distributed(value)


def as_data(value: Any) -> Any:
    """Return the array of a distributed field if this process has the whole; else the argument."""
    whole = value.__ssr_whole__() if hasattr(type(value), "__ssr_whole__") else None
    return value if whole is None else whole


class Ranks(Protocol):
    """The ranks over which fields are distributed, for decisions of all of them."""

    @property
    def is_root(self) -> bool:
        """Whether this process has the first rank."""

    def any(self, flag: bool) -> bool:
        """Return on all ranks whether a flag is set on any of them."""

    def broadcast(self, value: Any) -> Any:
        """Return on all ranks the value of the first one."""


class OneProcess:
    """The ranks of arrays."""

    is_root = True

    def any(self, flag: bool) -> bool:
        """Return the flag."""
        return flag

    def broadcast(self, value: Any) -> Any:
        """Return the value."""
        return value


def ranks_of(fields: Iterable[Any]) -> Ranks:
    """Return the ranks of the first distributed field; one process if there is none."""
    for field in fields:
        if hasattr(type(field), "__ssr_ranks__"):
            found: Ranks = field.__ssr_ranks__
            return found
    return OneProcess()
