"""The seconds that calls take, added up for each kind of call."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Clock:
    """Call functions and add up the seconds that they take."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)

    def __call__(self, kind: str, call: Callable[..., T], *arguments: object) -> T:
        """Return the value of a call, and add its seconds to those of its kind."""
        start = time.perf_counter()
        value = call(*arguments)
        self.seconds[kind] += time.perf_counter() - start
        return value
