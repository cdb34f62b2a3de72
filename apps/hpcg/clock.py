"""Seconds that calls take, added up by kind."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Clock:
    """Calls functions and adds up their seconds."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)

    def __call__(self, kind: str, call: Callable[..., T], *arguments: object) -> T:
        """Return the value of a call; its seconds are added to those of its kind."""
        start = time.perf_counter()
        value = call(*arguments)
        self.seconds[kind] += time.perf_counter() - start
        return value
