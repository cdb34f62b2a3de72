"""The meaning of boundary rules, by walking from point to point."""

from __future__ import annotations

from typing import Any


class Boundary:
    """The public names of the boundary package for given sizes."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference
