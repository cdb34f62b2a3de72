"""Equivalence check of schedules by symbolic execution of tables, messages and kernels.

Each number is replaced by a term, the expression tree that computed it. A term contains the values
that were read and the write that produced each of them. If the final terms of all owned points
equal those of one array, every read has seen the same write as on one array. Nothing is compiled.
The check executes the tables, messages and steps of the schedule and does not use its analysis.

The values of a program with ``A.rank_local()`` depend on the boxes. Such a program is compared with
itself on the same boxes with a single owner. This proves the messages between ranks and the order
of steps, but not which entries lie within a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ssr.provenance import leaf, terms

from ..schedules.plan import Plan
from .twins import Pair, Terms, Twin
from .unequal import Difference, label


def check_equivalence(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Fail unless ranks compute the terms that one array holds; parameters as for `proof.prove`."""
    with terms():
        found = next(_differences(plan, valid, labelled=False), None)
    if found is not None:
        with terms():
            found = next(_differences(plan, valid, labelled=True))
            raise AssertionError(label(plan, found))


def _differences(plan: Plan, valid: frozenset[str], *, labelled: bool) -> Iterator[Difference]:
    """Yield the differences between ranks and one array, call by call."""
    world = Terms(plan.footprint.partition.ranks)
    twin = Twin(plan, plan.footprint.partition, labelled=labelled)
    pairs = twin.pairs(world)
    yield from _after(twin, pairs, world, frozenset(), "")
    if valid:
        for name in pairs.keys() - valid:
            pairs[name].give("changed: ")
        yield from _after(twin, pairs, world, valid, "next: ")
    yield from _after(twin, pairs, world, plan.kept, "again: ")


def _after(
    twin: Twin, pairs: Mapping[str, Pair], world: Terms, valid: frozenset[str], mark: str
) -> Iterator[Difference]:
    """Run the program; yield the differences between ranks and one array afterwards.

    The names of its scalars begin with a mark.
    """
    given = [float(leaf(mark + name).number) for name in twin.scalars]
    every = twin.on_ranks(world, pairs, valid, given)
    expected = np.array(twin.on_arrays(pairs, given))
    for pair in pairs.values():
        for rank, box, points, mine, right in pair.owned():
            for place in np.argwhere(mine != right):
                low = [edge for edge, _ in points]
                index = (*place[: -len(low)], *(place[-len(low) :] + low))
                pair_of = float(right[tuple(place)]), float(mine[tuple(place)])
                yield Difference(pair.name, tuple(map(int, index)), rank, box, *pair_of)
    for rank, (results,) in enumerate(every):
        for number in np.flatnonzero(results != expected).tolist():
            values = float(expected[number]), float(results[number])
            yield Difference("result", (number,), rank, None, *values)
