"""Programs that ran before another one on its fields, and have left values of others there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..schedules.plan import Plan
from .values import Giver


@dataclass(frozen=True)
class Earlier:
    """A program that has left values of others in fields, by the names here of its parameters."""

    plan: Plan
    names: Mapping[str, str]


def earlier(current: Iterable[tuple[str, Sequence[Giver]]]) -> tuple[Earlier, ...]:
    """Return programs that have left values, for fields and what has left those of each.

    What has changed a field ran before the others that have left values of it.
    """
    found: list[tuple[Plan, dict[str, str]]] = []
    for here, givers in current:
        for giver in givers:
            for plan, names in found:
                if plan is giver.plan and giver.name not in names and here not in names.values():
                    names[giver.name] = here
                    break
            else:
                found.append((giver.plan, {giver.name: here}))
    every = [Earlier(plan, names) for plan, names in found]
    ordered: list[Earlier] = []
    while every:
        first = next(
            (e for e in every if not any(_waits(e, o) for o in every if o is not e)), every[0]
        )
        every.remove(first)
        ordered.append(first)
    return tuple(ordered)


def _waits(one: Earlier, other: Earlier) -> bool:
    """Whether another program has changed a field of which one has left values since."""
    changed = {here for its, here in other.names.items() if its in other.plan.changed}
    return not changed.isdisjoint(one.names.values())
