"""Execution plans: the distributed kernel of a program, its footprint, and its schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

import ssr
from ssr.extension import (
    WIDE,
    Declaration,
    KernelMeta,
    Look,
    build,
    declaration,
    describe,
    ir,
    is_built,
    is_described,
    opened,
)

from ..partition.boxes import Box, as_box, filled, hull, volume
from ..partition.partition import Partition
from .exchanges import ENTRY, exchanges, wishes
from .explain import Explained
from .footprint import Footprint, known
from .inner import splittable
from .messages import at_hand
from .schedule import Schedule, schedule
from .wavefronts import Wavefronts, wavefronts

Once: TypeAlias = Callable[[Callable[[], Any], Callable[[], bool]], Any]
"""A function that returns the result of the first argument. The second argument tests whether this
result is already cached."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A program on a partition: its kernel, its reads and writes, and its schedules.

    Attributes
    ----------
    meta
        The metadata of its kernel, the same on all ranks.
    footprint
        The reads and writes of its units on each subdomain.
    once
        Builds on the first rank an object that other ranks load from the cache; see `World.first`.
    """

    declaration: Declaration
    meta: KernelMeta
    footprint: Footprint
    dtype: np.dtype[Any]
    once: Once

    @cached_property
    def kernel(self) -> Any:
        """The kernel, which is compiled when it is first needed."""
        program, options = self.declaration.program, self.declaration.options
        asked = program, options, self.dtype.name
        return self.once(lambda: build(*asked), lambda: is_built(*asked))

    @cached_property
    def parts(self) -> Mapping[str, tuple[str, ...]]:
        """For each field of the program the names of its arrays in the kernel."""
        vectors = dict(self.declaration.program.vectors)
        return {
            p.name: vectors.get(p.name, (p.name,))
            for p in self.declaration.parameters
            if p.kind != "number"
        }

    @cached_property
    def changed(self) -> frozenset[str]:
        """The fields that a call changes."""
        written = frozenset().union(*self.footprint.written, *self.footprint.filled)
        return frozenset(n for n, arrays in self.parts.items() if not written.isdisjoint(arrays))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The fields of which a call reads remote values from before the call."""
        found = {wish.array for wish in wishes(self.footprint) if wish.since == ENTRY}
        return tuple(n for n, arrays in self.parts.items() if not found.isdisjoint(arrays))

    @cached_property
    def kept(self) -> frozenset[str]:
        """The fields in `asked` whose halos are up to date after a call.

        The call does not change them, or each box computes all values that it reads itself.
        """
        made = self.footprint.renewed
        return frozenset(
            n for n in self.asked if n not in self.changed or made.issuperset(self.parts[n])
        )

    @cached_property
    def parted(self) -> frozenset[str]:
        """The fields and temporaries of which each subdomain needs separate memory.

        Subdomains of a rank may share memory if a subdomain that runs a nest overwrites no points
        that others read in it, and no points that others own.
        """
        arrays = frozenset(self.footprint.overlapping)
        names = (n for n, parts in self.parts.items() if not arrays.isdisjoint(parts))
        return arrays.union(names)

    def schedule(self, valid: frozenset[str] = frozenset()) -> Schedule:
        """Return the schedule of a call that finds the halos of some fields up to date."""
        known = self._schedules.get(valid)
        if known is None:
            fresh = {array for name in valid for array in self.parts[name]}
            made = exchanges(self.footprint, fresh)
            together = splittable(self.footprint, made)
            known = schedule(
                self.footprint,
                made,
                together=together,
                fronts=self.fronts,
                examined=self.examined,
            )
            self._schedules[valid] = known
        return known

    @cached_property
    def fronts(self) -> Mapping[int, Wavefronts]:
        """The wavefronts of nests whose rows depend on rows of other boxes."""
        found = ((unit, wavefronts(self.footprint, unit)) for unit in self.footprint.rows)
        return {unit: fronts for unit, fronts in found if fronts is not None}

    @cached_property
    def _schedules(self) -> dict[frozenset[str], Schedule]:
        """The schedules of calls, by the fields whose halos are up to date."""
        return {}

    @cached_property
    def proved(self) -> set[frozenset[str]]:
        """The schedules that have been proved, by the same fields."""
        return set()

    @cached_property
    def examined(self) -> Mapping[int, tuple[Look, ...]]:
        """For each unit the checks that the debug build makes after it."""
        found: dict[int, tuple[Look, ...]] = {}
        nests = {u.number: n for n, u in enumerate(self.footprint.units) if u.kind == "nest"}
        for look in self.meta.looks:
            unit = nests[look.nest]
            found[unit] = (*found.get(unit, ()), look)
        return found

    def explained(self, valid: frozenset[str] = frozenset()) -> Explained:
        """Return the schedule of a call as a value that prints; ``valid`` as for `schedule`."""
        return Explained(self.footprint, self.schedule(valid), self.dtype.itemsize)

    def explain(self, rank: int = 0) -> str:
        """Return a description of a rank's call if only the program has changed fields since.

        In a first call, fields that the program does not change are exchanged too. That call is
        shown if there is nothing to exchange later.
        """
        later = self.explained(self.kept)
        return (later if later.schedule.exchanges else self.explained()).explain(rank)

    def room(self, rank: int, arrays: Sequence[str]) -> tuple[dict[int, Box], dict[int, list[Box]]]:
        """Return the local and remote boxes of a rank's subdomains for the arrays of a field.

        The arrays of one field have the same memory layout.
        """
        footprint, boxes = self.footprint, self.footprint.partition.of_rank(rank)
        near: dict[int, Box] = {}
        for box in boxes:
            every = [as_box(footprint.hull(array)[box]) for array in arrays]
            held = [points for points in every if volume(points)]
            if held:
                near[box] = hull(held)
        far: dict[int, list[Box]] = {}
        for read in footprint.reads:
            if not read.far or read.array not in arrays:
                continue
            for box in boxes:
                for points in read.of(box):
                    if at_hand(footprint, read.array, box, points) is None:
                        far.setdefault(box, []).append(points)
        return near, far


def plan(
    program: ssr.Program,
    partition: Partition,
    dtype: np.dtype[Any],
    once: Once = lambda make, _: make(),
) -> Plan:
    """Return the plan of a program on a partition. It does not depend on the rank."""
    options = replace(declaration(program).options, distributed=True)
    if declaration(program).stored:  # a row of a stored matrix belongs to one box
        options = replace(options, fuse=False)
    options = replace(options, wide_boxes=options.fuse)  # has no effect on unfused steps
    found = _plan(program, options, partition, dtype, once)
    if options.wide_boxes and not _wide(found.footprint):
        options = replace(options, wide_boxes=False)
        found = _plan(program, options, partition, dtype, once)
    if not found.footprint.complete:
        # With one nest per step, each nest is divided like its own space.
        options = replace(options, fuse=False, wide_boxes=False)
        found = _plan(program, options, partition, dtype, once)
        assert found.footprint.complete, "a box does not write all that it owns"
    return found


def _plan(
    program: ssr.Program,
    options: ssr.Options,
    partition: Partition,
    dtype: np.dtype[Any],
    once: Once,
) -> Plan:
    """Return the plan of a program with some options."""
    declared = _declared(program, options)
    asked = declared.program, declared.options, dtype.name
    meta = once(lambda: describe(*asked), lambda: is_described(*asked))
    return Plan(declared, meta, Footprint(declared, meta, partition), dtype, once)


def _declared(program: ssr.Program, options: ssr.Options) -> Declaration:
    """Return the partition-independent declaration of a program with options, cached."""
    kept: dict[ssr.Options, Declaration] = vars(program).setdefault("on_ranks", {})
    if options not in kept:
        kept[options] = _generally(opened(declaration(program.with_options(options)))[0])
    return kept[options]


def _wide(footprint: Footprint) -> bool:
    """Whether boxes have all or many rows along each of their last two axes."""
    for unit, rows in footprint.rows.items():
        whole = np.array(footprint.row_space(unit).box(footprint.sizes))
        some = rows[filled(rows)][:, -2:]
        many = some[..., 1] - some[..., 0] >= WIDE
        if not (many | (some == whole[-2:]).all(axis=-1)).all():
            return False
    return True


def _generally(declaration: Declaration) -> Declaration:
    """Return a program whose fills can compute arbitrary parts of their pieces."""
    program = declaration.program
    steps = tuple(
        replace(step, external=known(step.external).generally())
        if isinstance(step, ir.Call)
        else step
        for step in program.steps
    )
    return replace(declaration, program=replace(program, steps=steps))
