"""Fresh names for new variables of a function."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """The names of a function, and those of its new variables.

    Parameters
    ----------
    taken
        Names that are in use.

    Examples
    --------
    >>> names = Names(["s", "s_1"])
    >>> names.new("s"), names.new("s"), names.new("t")
    ('s_2', 's_3', 't_1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def new(self, stem: str) -> str:
        """Return a name that begins with a stem, and that no other variable has."""
        number = self._last.get(stem, 0) + 1
        while f"{stem}_{number}" in self._taken:
            number += 1
        self._last[stem] = number
        self._taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"
