"""Schedules: the order of kernel parts, exchanges and reductions on ranks.

A kernel of the distributed form has a slot for data transfers before each unit and after the last.
A kernel part runs some of the units and transfers, in the order of the kernel. All ranks have the
same schedule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .exchanges import Exchange
from .footprint import Footprint
from .wavefronts import Wavefronts

Rows: TypeAlias = Literal["all", "inner", "outer"] | int
"""The rows of a nest that run: all; the inner rows, which read no data of other ranks; the outer
rows, which are the others; or the rows of the wavefront with this number."""


@dataclass(slots=True)
class KernelPart:
    """A run of the kernel.

    Attributes
    ----------
    units
        The units that run, each with the selection of its rows.
    packed, taken
        For each unit the numbers of the exchanges that are packed into messages before it, and of
        those that are unpacked.
    """

    units: dict[int, Rows] = field(default_factory=dict)
    packed: dict[int, list[int]] = field(default_factory=dict)
    taken: dict[int, list[int]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether nothing runs."""
        return not (self.units or self.packed or self.taken)


@dataclass(frozen=True, slots=True)
class Start:
    """The messages of an exchange are sent."""

    exchange: int


@dataclass(frozen=True, slots=True)
class Wait:
    """The messages of an exchange have arrived."""

    exchange: int


@dataclass(frozen=True, slots=True)
class Reduce:
    """The reductions of a unit are combined over all ranks."""

    unit: int


@dataclass(frozen=True, slots=True)
class Examine:
    """The debug build checks the results of a unit."""

    unit: int


Step: TypeAlias = "KernelPart | Start | Wait | Reduce | Examine"


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The communication schedule of a program: its steps and its exchanges.

    ``together`` maps nests that cannot overlap with messages to the reason, and ``fronts`` maps
    nests whose rows run in wavefronts to the number of wavefronts.
    """

    exchanges: tuple[Exchange, ...]
    steps: tuple[Step, ...]
    together: Mapping[int, str]
    fronts: Mapping[int, int]


def schedule(
    footprint: Footprint,
    exchanges: Sequence[Exchange],
    *,
    together: Mapping[int, str],
    fronts: Mapping[int, Wavefronts],
    examined: Collection[int] = (),
) -> Schedule:
    """Return the schedule of a program."""
    alone = footprint.partition.ranks == 1
    every = [*exchanges]
    steps: list[Step] = []
    part = KernelPart()
    begun: set[int] = set()

    def close() -> None:
        nonlocal part
        if not part.empty:
            steps.append(part)
            part = KernelPart()

    def run_in_wavefronts(unit: int, found: Wavefronts) -> None:
        for front in range(found.count):
            if front:
                close()
            if front - 1 in found.exchanges:
                number = len(every)
                every.append(found.exchanges[front - 1])
                if not alone:
                    steps.append(KernelPart(packed={unit + 1: [number]}))
                    steps.extend([Start(number), Wait(number)])
                part.taken[unit] = [number]
            part.units[unit] = front

    for place in range(len(footprint.units) + 1):
        beginning = [n for n, e in enumerate(exchanges) if e.begin == place]
        ending = [n for n, e in enumerate(exchanges) if e.finish == place]
        if beginning and not alone:
            part.packed[place] = beginning
            close()
            steps += [Start(n) for n in beginning]
        if ending:
            if not alone:
                ahead = footprint.behind_fills(place)
                if together.get(ahead) == "" and ahead not in begun:
                    part.units[ahead] = "inner"
                    begun.add(ahead)
                close()
                steps += [Wait(n) for n in ending]
            part.taken[place] = ending
        if place == len(footprint.units):
            break
        part.units[place] = "outer" if place in begun else "all"
        if place in fronts:
            run_in_wavefronts(place, fronts[place])
        if footprint.units[place].folds and not alone:
            close()
            steps.append(Reduce(place))
        if place in examined:
            close()
            steps.append(Examine(place))
    close()
    if steps and isinstance(steps[-1], (Reduce, Examine)):
        steps.append(KernelPart())  # it computes the returned values from the reductions
    reasons = {} if alone else {unit: why for unit, why in together.items() if why}
    counts = {unit: found.count for unit, found in fronts.items()}
    return Schedule(tuple(every), tuple(steps), reasons, counts)
