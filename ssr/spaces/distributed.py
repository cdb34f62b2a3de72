"""Fields that no process holds as an array, where an array may stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a distributed vector field."""

    field: Any
    number: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole."""
        return tuple(self.field.shape[1:])


def is_distributed(value: Any) -> bool:
    """Whether something is a field that runs programs itself, or a component of one."""
    return isinstance(value, Component) or hasattr(type(value), "__ssr_program__")


def is_data(value: Any) -> bool:
    """Whether something has a number for each point: an array, or a distributed field."""
    return isinstance(value, np.ndarray) or is_distributed(value)


def as_data(value: Any) -> Any:
    """Return the array of a distributed field if this process has the whole; else what is given."""
    whole = value.__ssr_whole__() if hasattr(type(value), "__ssr_whole__") else None
    return value if whole is None else whole
