"""The callbacks of a run with their schedules, and the detection of due events."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import ArgumentError
from .checkpointer import Checkpointer
from .schedules import Schedule


class Entry:
    """A callback or criterion with its schedule, and the number of its next event."""

    def __init__(self, call: Any, when: Schedule, name: str, *, stops: bool) -> None:
        self.call, self.when, self.name, self.stops = call, when, name, stops
        self.number: int | None = None
        self.event = math.inf

    def forget(self) -> None:
        """Reset the next event, which is determined again when the run continues."""
        self.number, self.event = None, math.inf

    def go_past(self, now: float) -> None:
        """Set the next event to the first one after now."""
        self.number = self.when.past(now)
        self.event = self.when.event(self.number)

    def go_on(self, now: float) -> None:
        """Set the next event to the following one or, if that is past, to the first after now."""
        assert self.number is not None
        self.number += 1
        self.event = self.when.event(self.number)
        if self.event <= now:
            self.go_past(now)


class Callbacks:
    """The callbacks of a run in the order of their calls."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def add(self, call: Any, when: Schedule, name: str | None, *, stops: bool) -> None:
        """Add a callback or criterion; those that write checkpoints stay last."""
        if not callable(call):
            raise ArgumentError(
                f"The callback is {call!r}, not a function of the simulation.",
                hint="Write simulation.add(function, time=0.5).",
            )
        if name is not None and not isinstance(name, str):
            raise ArgumentError(f"name is {name!r}, not a string.")
        taken = {entry.name for entry in self}
        if name in taken:
            raise ArgumentError(f"There is a callback {name!r} already.")
        self._entries.append(Entry(call, when, name or _free(call, taken), stops=stops))
        self._entries.sort(key=lambda entry: isinstance(entry.call, Checkpointer))

    def forget(self) -> None:
        """Reset all next events, which are determined again when the run continues."""
        for entry in self:
            entry.forget()
        for checkpointer in self.checkpointers:
            checkpointer.steps = None

    def begin(self, now: Mapping[str, float]) -> None:
        """Find the next events of callbacks that are new, and of those on the wall clock."""
        for entry in self:
            if entry.when.counts == "wall":
                entry.forget()
        self.begin_new(now)

    def begin_new(self, now: Mapping[str, float]) -> None:
        """Find the next events of callbacks that are new."""
        for entry in self:
            if entry.number is None:
                entry.go_past(now[entry.when.counts])

    def at_start(self, now: Mapping[str, float]) -> list[Entry]:
        """Return the callbacks with an event at the start."""
        return [entry for entry in self if entry.when.is_on(now[entry.when.counts])]

    def next_events(self, time: float, step: float) -> tuple[float, float]:
        """Return the earliest time and step of all next events, at most those given."""
        for entry in self._entries:
            counts = entry.when.counts
            if counts == "time":
                time = min(time, entry.event)
            elif counts == "steps":
                step = min(step, entry.event)
        return time, step

    def due(self, now: Mapping[str, float]) -> list[Entry]:
        """Return the callbacks whose events are due, and advance to their next events."""
        found = []
        for entry in self._entries:
            here = now[entry.when.counts]
            if entry.event <= here:
                found.append(entry)
                entry.go_on(here)
        return found

    @property
    def with_state(self) -> list[Entry]:
        """The callbacks whose state belongs into checkpoints."""
        names = "fields", "data", "restore"
        return [e for e in self if all(hasattr(e.call, name) for name in names)]

    @property
    def checkpointers(self) -> list[Checkpointer]:
        """The callbacks that write checkpoints."""
        return [entry.call for entry in self if isinstance(entry.call, Checkpointer)]

    def fields(self) -> dict[str, Any]:
        """Return the fields of all callbacks, their names after those of the callbacks."""
        return {
            f"{entry.name}.{name}": field
            for entry in self.with_state
            for name, field in entry.call.fields().items()
        }

    def data(self) -> dict[str, Any]:
        """Return the numbers of all callbacks by their names."""
        return {entry.name: entry.call.data() for entry in self.with_state}

    def restore(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Take over numbers that `data` has returned; return the fields to be assigned."""
        found = dict[str, Any]()
        for entry in self.with_state:
            if entry.name in data:
                entry.call.restore(data[entry.name])
                found |= {f"{entry.name}.{n}": f for n, f in entry.call.fields().items()}
        return found


def _free(call: Any, taken: set[str]) -> str:
    """Return the name of a callback, with a number where it is taken."""
    stem = getattr(call, "__name__", type(call).__name__)
    found, count = stem, 1
    while found in taken:
        count += 1
        found = f"{stem}-{count}"
    return str(found)
