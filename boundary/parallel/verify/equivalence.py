"""A proof that a schedule computes what one array holds: the program runs on terms on both.

Numbers are replaced by the operations that made them, so every value says which values were read
for it, and which write each of these is from. If all that the boxes own at last is what one array
holds, every read has seen the write that it sees there. Nothing is compiled. The planner is not
asked anything: its tables, messages and steps are run.

The values of a program with ``A.rank_local()`` depend on the boxes. It is compared with itself on
the same boxes when one rank owns all of them: that proves messages between ranks and the order of
steps, and not which entries lie within a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssr.provenance import leaf, terms

from ..ranks.earlier import Earlier
from ..schedules.plan import Found, Plan
from .twins import Pair, Terms, Twin
from .unequal import Difference, label


def check_equivalence(plan: Plan, held: tuple[Found, ...], before: Sequence[Earlier] = ()) -> None:
    """Fail unless ranks compute the terms that one array holds; parameters as for `proof.prove`."""
    with terms():
        found = next(_Run(plan, before, labelled=False).differences(held), None)
    if found is not None:
        with terms():
            found = next(_Run(plan, before, labelled=True).differences(held))
            raise AssertionError(label(plan, found))


class _Run:
    """Programs one after the other, on ranks and on one array."""

    def __init__(self, plan: Plan, before: Sequence[Earlier], *, labelled: bool) -> None:
        partition = plan.footprint.partition
        self.world = Terms(partition.ranks)
        self.twins: dict[Plan, Twin] = {}
        for each in (plan, *(other.plan for other in before)):
            self.twins[each] = self.twins.get(each) or Twin(each, partition, labelled=labelled)
        self.last = Call(self.twins[plan], self.twins[plan].pairs(self.world, ""), "")
        self.before = [self._call(n, other) for n, other in enumerate(before)]
        for call in (*self.before, self.last):
            call.twin.room(call.pairs)

    def _call(self, number: int, before: Earlier) -> Call:
        """Return the call of a program before the last one, on its fields where it shares them."""
        twin, mark = self.twins[before.plan], f"before {number}: "
        pairs = {its: self.last.pairs[here] for its, here in before.names.items()}
        if len(pairs) < len(twin.plan.parts):
            pairs = twin.pairs(self.world, mark) | pairs
        return Call(twin, pairs, mark)

    def differences(self, held: tuple[Found, ...]) -> Iterator[Difference]:
        """Yield what ranks hold that one array does not, run by run."""
        for call in self.before:
            yield from call.differences(self.world, ((),) * len(call.twin.plan.asked))
        plan = self.last.twin.plan
        yield from self.last.differences(self.world, self._held(held))
        again = replace(self.last, mark="again: ")
        yield from again.differences(self.world, plan.steady)

    def _held(self, held: tuple[Found, ...]) -> tuple[Found, ...]:
        """Return what boxes have of others' values, said of twins."""
        return tuple(
            None if found is None else tuple((self.twins[plan].plan, its) for plan, its in found)
            for found in held
        )


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a program on fields; what it is given else has names that begin with a mark."""

    twin: Twin
    pairs: Mapping[str, Pair]
    mark: str

    def differences(self, world: Terms, held: tuple[Found, ...]) -> Iterator[Difference]:
        """Run the program; yield what ranks hold then that one array does not."""
        given = [float(leaf(self.mark + name).number) for name in self.twin.scalars]
        every = self.twin.on_ranks(world, self.pairs, held)(given)
        expected = np.array(self.twin.on_arrays(self.pairs, given))
        for pair in self.pairs.values():
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
