"""Symbolic twins of plans: the same program with terms for numbers, on ranks and on one array.

A twin has the tables, messages and steps of the plan. All ranks are simulated. Points that a rank
does not own are unwritten until a transfer or a kernel stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ssr.extension import Array
from ssr.provenance import (
    DTYPE,
    LABELS,
    kernel,
    leaves,
    on_terms,
    run_on_arrays,
    together,
)

from ..partition.boxes import Box, slices
from ..partition.partition import Partition
from ..ranks.arguments import RankMemory
from ..ranks.prepared import Prepared
from ..ranks.values import Values, make_room, values_of
from ..schedules.footprint import Footprint
from ..schedules.plan import Plan
from ..worlds.channels import Copies
from ..worlds.work import Work
from ..worlds.world import Simulated

T = TypeVar("T")


class _Checked(Copies):
    """Messages whose values arrive when they are waited for, and are kept until then."""

    def start(self) -> None:
        assert self.under_way is None, f"{self.what} begins again before it has ended"
        super().start()
        for _, received in self.pairs:
            received.fill(np.nan)

    def wait(self) -> None:
        for before, (values, _) in zip(self.under_way or (), self.pairs, strict=False):
            same = np.array_equal(before, values, equal_nan=True)
            assert same, f"values of {self.what} are overwritten while it is under way"
        super().wait()


class Terms(Simulated):
    """Simulated ranks whose values are symbolic terms."""

    copies = _Checked

    def reduced(self, kinds: Sequence[str], states: Sequence[Array], what: str) -> Array:
        """Return for each reduction the collection of the terms of all ranks."""
        whole = np.zeros_like(states[0])
        for state in states:
            for row, more in zip(whole, state, strict=True):
                row[0] = together(int(row[0]), int(more[0]))
        return whole

    def together(self, works: Sequence[Work]) -> list[int]:
        """Run the work of each rank, and label its stores with the rank."""
        reasons = []
        for rank, work in enumerate(works):
            LABELS.rank = rank
            reasons.append(work.go_on())
        return reasons


@dataclass(frozen=True, eq=False)
class Pair:
    """A field on ranks, and the global array with its expected values."""

    name: str
    values: Values
    whole: Array

    def owned(self) -> Iterator[tuple[int, int, Box, Array, Array]]:
        """Yield ranks and boxes with their owned points, values and expected values."""
        lower = [low for low, _ in self.values.space.box(self.values.partition.sizes)]
        for rank in self.values.memories:
            for number, box in self.values.of_rank(rank):
                expected = self.whole[(..., *slices(box, lower))]
                yield rank, number, box, self.values.view(rank, number, box), expected

    def give(self, mark: str) -> None:
        """Set each point to a leaf term whose name begins with a mark."""
        self.whole[...] = leaves(mark + self.name, self.whole.shape)
        for _, _, _, mine, given in self.owned():
            mine[...] = given


class Twin:
    """A plan on terms.

    Parameters
    ----------
    partition
        The subdomains of the plan, possibly with other owners.
    labelled
        Whether stores are labelled.
    """

    def __init__(self, plan: Plan, partition: Partition, *, labelled: bool = False) -> None:
        found = on_terms(plan.declaration)
        options = replace(found.options, debug=False)
        self.declaration = declared = replace(found, options=options)
        captured = len(declared.captured)
        made = kernel(declared.program, options, captured, labelled=labelled)
        meta = replace(made.meta, looks=())
        footprint = Footprint(declared, meta, partition)
        self.plan = Plan(declared, meta, footprint, np.dtype(DTYPE), lambda *_: made)
        self.origin = plan

    @property
    def scalars(self) -> list[str]:
        """The names of the scalars of a call."""
        return [p.name for p in self.declaration.parameters if p.kind == "number"]

    def pairs(self, world: Simulated) -> dict[str, Pair]:
        """Return fields for all parameters, each with a leaf at each point."""
        found = {}
        every = values_of(self.plan, world)
        make_room(self.plan, every)
        for name, values in every.items():
            components = self.plan.parts[name]
            lead = () if components == (name,) else (len(components),)
            whole = np.empty((*lead, *values.space.extent(values.partition.sizes)), DTYPE)
            found[name] = Pair(name, values, whole)
            found[name].give("")
        return found

    def on_ranks(
        self,
        world: Simulated,
        pairs: Mapping[str, Pair],
        valid: frozenset[str],
        scalars: Sequence[float],
    ) -> list[Array]:
        """Run the program on ranks; return the results of each."""
        plan = self.plan
        values = {name: pair.values for name, pair in pairs.items()}
        memories = [RankMemory(plan, rank, values) for rank in world.here]
        ready = Prepared(plan, world, memories, valid)
        for memory in memories:
            for buffer in memory.buffers:
                buffer.fill(np.nan)
        row = np.array([[*scalars, *self.declaration.constants]], DTYPE)
        results = [np.zeros((1, plan.meta.results)) for _ in world.here]
        for call, result in zip(ready.calls, results, strict=True):
            call.take(row, result)
        world.go_through(ready.calls, ready.do)
        return results

    def on_arrays(self, pairs: Mapping[str, Pair], scalars: Sequence[float]) -> Sequence[float]:
        """Run the program on one array for each field; return its results.

        A program whose values depend on boxes runs on the same boxes, which are all of one rank.
        """
        if self.declaration.local:
            return self._on_boxes(pairs, scalars)
        options = replace(self.declaration.options, distributed=False, wide_boxes=False)
        declared = replace(self.declaration, options=options)
        arrays = {name: pair.whole for name, pair in pairs.items()}
        for name, parts in self.plan.parts.items():
            if parts != (name,):
                arrays |= dict(zip(parts, pairs[name].whole, strict=True))
        return run_on_arrays(declared, arrays, scalars)

    def _on_boxes(self, pairs: Mapping[str, Pair], scalars: Sequence[float]) -> Sequence[float]:
        """Run the program on subdomains of one rank, from arrays and back to arrays."""
        partition = self.plan.footprint.partition
        alone = replace(partition, owners=np.zeros_like(partition.owners), ranks=1)
        world, twin = Terms(1), Twin(self.origin, alone)
        made = twin.pairs(world)
        for name, pair in made.items():
            for _, _, _, mine, given in replace(pair, whole=pairs[name].whole).owned():
                mine[...] = given
        (results,) = twin.on_ranks(world, made, frozenset(), scalars)
        for name, pair in made.items():
            for _, _, _, mine, given in replace(pair, whole=pairs[name].whole).owned():
                given[...] = mine
        found: list[float] = results[0].tolist()
        return found
