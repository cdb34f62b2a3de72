"""The base class of preconditioners that run in Python and call several programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Composed(ABC):
    """A function ``(z, r)`` of vectors that calls programs."""

    @abstractmethod
    def __call__(self, z: Any, r: Any) -> None:
        """Assign to z."""

    @abstractmethod
    def _begin(self, dtype: str) -> None:
        """Begin to build the programs for vectors of a dtype; see `programs.program.begin`."""
