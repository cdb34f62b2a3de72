"""Reference execution on one array, on isl sets: the write that each read requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssr.extension import Actions, LastWrites

from ..schedules.footprint import Footprint
from .copies import Copies
from .elements import Elements


@dataclass
class Writes:
    """The writes that are distinguished, each with words for it."""

    words: list[str] = field(default_factory=list)

    def new(self, words: str) -> int:
        """Return the number of one more write."""
        self.words.append(words)
        return len(self.words) - 1

    def shown(self, number: int | None) -> str:
        """Return a write in words."""
        return "what nothing has written" if number is None else self.words[number]


class OneArray:
    """A run of a program on one array.

    Attributes
    ----------
    needs
        For each access of each unit, and each array of a step of another package, the writes that
        the elements hold when they are read.
    numbers
        The numbers of the writes of accesses, and of steps of other packages.
    """

    def __init__(
        self,
        footprint: Footprint,
        elements: Elements,
        copies: Mapping[str, Copies],
        writes: Writes,
    ) -> None:
        self.needs: dict[tuple[int, object], LastWrites] = {}
        self.numbers: dict[tuple[int, object], int] = {}
        self._footprint, self._elements = footprint, elements
        self._copies, self._writes = copies, writes
        self._kept: dict[str, LastWrites] = {}
        for unit, actions in enumerate(elements.units):
            if actions is None:
                self._step(unit)
            else:
                self._nest(unit, actions)

    def _nest(self, unit: int, actions: Actions) -> None:
        rows = self._footprint.row_space(unit).box(self._footprint.sizes)
        for group in actions.groups:
            before = {name: copies.whole for name, copies in self._copies.items()}
            for action in group:
                for access in action.writes:
                    number = self._number(unit, id(access), f"{action.name} of {access.array}")
                    copies = self._copies[access.array]
                    points = self._elements.of(access, rows, rows)
                    copies.whole = copies.whole.written(points, number)
            every = (access for action in group for access in action.every)
            for access in (a for a in every if a.array in self._copies):
                found = before[access.array]
                if access.new:
                    found = self._copies[access.array].whole
                elif access.where == "kept":
                    found = self._kept[access.array]
                elif access.where == "elsewhere":
                    self._kept[access.array] = found
                self.needs[unit, id(access)] = found

    def _step(self, unit: int) -> None:
        """Run a step of another package."""
        made = self._elements.made(unit)
        for place, name in enumerate(self._footprint.fields(unit)):
            copies = self._copies[name]
            self.needs[unit, name] = copies.whole
            number = self._number(unit, name, f"{self._footprint.name(unit)} of {name}")
            if place in made:
                copies.whole = copies.whole.written(made[place], number)

    def _number(self, unit: int, of: object, words: str) -> int:
        number = self.numbers[unit, of] = self._writes.new(f"what {words} makes")
        return number
