"""Each rule of the planner, undone: both proofs of schedules fail, each by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ssr
from boundary.parallel.partition.boxes import as_box
from boundary.parallel.ranks import tables
from boundary.parallel.schedules import (
    exchanges,
    footprint,
    messages,
    plan,
    schedule,
    wavefronts,
)
from boundary.parallel.schedules.plan import Plan
from boundary.parallel.verify.proof import prove
from ssr.compiler import pipeline
from ssr.lower.fusing import candidates
from ssr.lower.pass_manager import Pass

from . import proofs
from .proofs import planned

Undone = Callable[[], Any]
Proof = Callable[[Plan], None]


def changed(module: Any, name: str, change: Callable[..., Any]) -> Any:
    """Let a function of a module give what another one makes of what it gives."""
    function = getattr(module, name)

    def made(*args: Any, **named: Any) -> Any:
        return change(function(*args, **named), *args)

    return patch.object(module, name, made)


# -- exchanges -------------------------------------------------------------------------------------


def an_exchange_left_out() -> Any:
    return changed(plan, "exchanges", lambda found, *_: found[:-1])


def sent_before_it_is_made() -> Any:
    """Send values at the beginning of the program."""
    return changed(plan, "exchanges", lambda found, *_: tuple(replace(e, begin=0) for e in found))


def not_waited_for() -> Any:
    """Let values be there behind the unit that reads them."""
    return changed(
        plan, "exchanges", lambda found, *_: tuple(replace(e, finish=e.finish + 1) for e in found)
    )


def changes_forgotten() -> Any:
    """Take values to stand since the call began."""
    return patch.object(exchanges._State, "written", lambda state, unit, box: state)


def halos_too_narrow() -> Any:
    """Read one point less at the high end of the first axis."""
    take = footprint.Footprint._take

    def narrower(self: Any, number: int, reach: Any, boxes: Any) -> None:
        boxes = boxes.copy()
        boxes[:, 0, 1] = np.maximum(boxes[:, 0, 1] - 1, boxes[:, 0, 0])
        take(self, number, reach, boxes)

    return patch.object(footprint.Footprint, "_take", narrower)


def parts_too_short() -> Any:
    """Leave out the last point of what others own."""

    def shorter(found: Any, *_: Any) -> Any:
        return [tuple((low, max(low + 1, high - 1)) for low, high in box) for box in found]

    return changed(messages, "disjoint", shorter)


def columns_left_out() -> Any:
    """Read one column less of a stored matrix at the high end of the last axis."""

    def fewer(boxes: Any, *_: Any) -> Any:
        return np.stack([boxes[..., 0], boxes[..., 1] - [0, 1]], axis=-1)

    return changed(footprint, "columns", fewer)


# -- rows ------------------------------------------------------------------------------------------


def all_rows_inner() -> Any:
    """Run all rows while messages are under way."""
    return patch.object(tables, "inner", lambda of, unit, box: as_box(of.rows[unit][box]))


def inner_though_rows_depend() -> Any:
    """Split nests whose rows overwrite what others read."""
    return patch.object(plan, "splittable", lambda of, made: dict.fromkeys(of.rows, ""))


def wavefronts_at_once() -> Any:
    """Run the parts of a sweep in one wavefront."""

    def fronts(self: Any, *_: Any) -> Any:
        return np.zeros(len(self.rows), np.int64)

    return patch.object(wavefronts._Parts, "_fronts", fronts)


def wavefronts_turned_round() -> Any:
    return changed(wavefronts._Parts, "_fronts", lambda found, *_: found.max() - found)


def nothing_moved_between_wavefronts() -> Any:
    return changed(plan, "wavefronts", lambda found, *_: found and replace(found, exchanges={}))


def no_wavefronts() -> Any:
    return patch.object(plan, "wavefronts", lambda *_: None)


def units_turned_round() -> Any:
    """Run the units of a schedule in parts of their own, from the last to the first."""

    def turned(found: Any, *_: Any) -> Any:
        parts = [
            replace(step, units={unit: rows})
            for step in found.steps
            if isinstance(step, schedule.KernelPart)
            for unit, rows in step.units.items()
        ]
        others = [s for s in found.steps if not isinstance(s, schedule.KernelPart) or not s.units]
        return replace(found, steps=(*others, *reversed(parts)))

    return changed(plan, "schedule", turned)


# -- kernels ---------------------------------------------------------------------------------------


@contextmanager
def sweeps_in_shared_nests() -> Iterator[None]:
    """Let sweeps over several boxes share nests with steps before them, and wait for nothing."""
    alone = patch.object(candidates.Candidate, "crosses_boxes", False)
    with alone, no_wavefronts():
        yield


@contextmanager
def other_forms_on_ranks() -> Iterator[None]:
    """Let ranks compute rows in another form than one array does."""

    def changed(options: ssr.Options) -> ssr.Options:
        return replace(options, exact=options.distributed)

    def other(each: Pass) -> Pass:
        return replace(
            each,
            when=lambda options: each.when(changed(options)),
            given=lambda s, state: each.given(replace(s, options=changed(s.options)), state),
        )

    with patch.object(
        pipeline, "NESTS", tuple(map(other, pipeline.NESTS[:7])) + pipeline.NESTS[7:]
    ):
        yield


# -- memory ----------------------------------------------------------------------------------------


def memory_always_shared() -> Any:
    """Let boxes of a rank share memory where one overwrites what others read."""
    return patch.object(plan.Plan, "parted", frozenset())


# -- from call to call -----------------------------------------------------------------------------


def changed_fields_taken_to_be_kept() -> Any:
    """Take the halos of fields that a program changes to be up to date after it."""
    return patch.object(plan.Plan, "kept", property(lambda self: frozenset(self.asked)))


def one_halo_taken_for_all() -> Any:
    """Exchange nothing that a call finds if the halo of one field is up to date."""
    function = exchanges.exchanges
    return patch.object(plan, "exchanges", lambda of, fresh: function(of, fresh and of.spaces))


QUARTERS, ROWS, COLUMNS = ((2, 2), None), ((2, 1), None), ((1, 3), None)
PAIRS, ALONE = ((2, 2), 2), ((3, 1), 1)
"""Parts along each axis, and on how many ranks they are; by default each on its own."""

RULES: tuple[tuple[Undone, str, tuple[tuple[int, int], int | None]], ...] = (
    (an_exchange_left_out, "product", COLUMNS),
    (an_exchange_left_out, "two_products", QUARTERS),
    (an_exchange_left_out, "two_sweeps", COLUMNS),
    (sent_before_it_is_made, "through_ghosts", ROWS),
    (not_waited_for, "product", QUARTERS),
    (changes_forgotten, "through_ghosts", ROWS),
    (halos_too_narrow, "two_products", COLUMNS),
    (parts_too_short, "through_ghosts", PAIRS),
    (all_rows_inner, "product", ROWS),
    (inner_though_rows_depend, "two_products", COLUMNS),
    (wavefronts_at_once, "sweep", ROWS),
    (wavefronts_at_once, "backward", PAIRS),
    (wavefronts_turned_round, "sweep", QUARTERS),
    (nothing_moved_between_wavefronts, "two_sweeps", COLUMNS),
    (no_wavefronts, "backward", COLUMNS),
    (units_turned_round, "through_ghosts", COLUMNS),
    (memory_always_shared, "relaxed", ALONE),
    (changed_fields_taken_to_be_kept, "two_products", COLUMNS),
)


@pytest.mark.parametrize("proof", proofs.PROOFS, ids=lambda proof: proof.__name__)
@pytest.mark.parametrize(
    ("rule", "name", "where"), RULES, ids=[f"{rule.__name__}-{name}" for rule, name, _ in RULES]
)
def test_proofs_need_rules(proof: Proof, rule: Undone, name: str, where: tuple[Any, Any]) -> None:
    function = getattr(proofs, name)
    proof(planned(function, *where))
    with rule(), pytest.raises(AssertionError, match=f"schedule of {name}: "):
        proof(planned(function, *where))


OTHERS: tuple[tuple[Undone, Callable[[], Plan], tuple[Proof, ...]], ...] = (
    (columns_left_out, proofs.stored, (proofs.on_sets,)),  # others read beyond their memory
    (parts_too_short, proofs.stored, proofs.PROOFS),
    (parts_too_short, proofs.linked, proofs.PROOFS),
    (changes_forgotten, proofs.linked, proofs.PROOFS),
    (changes_forgotten, proofs.within_boxes, (proofs.on_sets,)),  # terms compare two mutants
    (sent_before_it_is_made, proofs.within_boxes, proofs.PROOFS),
)


@pytest.mark.parametrize(
    ("rule", "make", "several"),
    OTHERS,
    ids=[f"{rule.__name__}-{make.__name__}" for rule, make, _ in OTHERS],
)
def test_rules_of_gathered_and_local_reads(
    rule: Undone, make: Callable[[], Plan], several: tuple[Proof, ...]
) -> None:
    for proof in several:
        proof(make())
        with rule(), pytest.raises(AssertionError, match="schedule of "):
            proof(make())


def test_a_valid_halo_says_nothing_of_other_fields() -> None:
    """A call with one valid halo exchanges the other fields, which may have changed."""
    only = frozenset(["x"])
    prove(planned(proofs.sums, (2, 1)), only)
    with one_halo_taken_for_all():
        prove(planned(proofs.sums, (2, 1)))
        with pytest.raises(AssertionError, match="schedule of sums: "):
            prove(planned(proofs.sums, (2, 1)), only)


KERNELS: tuple[tuple[Undone, Proof], ...] = (
    *((sweeps_in_shared_nests, proof) for proof in proofs.PROOFS),
    (other_forms_on_ranks, proofs.on_terms),  # the same elements are read in another arithmetic
)


@pytest.mark.parametrize(
    ("rule", "proof"), KERNELS, ids=[f"{rule.__name__}-{proof.__name__}" for rule, proof in KERNELS]
)
@pytest.mark.parametrize("where", [ROWS, ALONE])
def test_kernels_need_rules(
    rule: Undone,
    proof: Proof,
    where: tuple[Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proof(planned(proofs.changed_sweep, *where))
    monkeypatch.setenv("SSR_CACHE_DIR", str(tmp_path))  # it has no kernels made by the rules
    with rule(), pytest.raises(AssertionError, match="schedule of changed_sweep: "):
        proof(planned(proofs.changed_sweep, *where))
