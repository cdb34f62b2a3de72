"""All schedules of these tests are proved before they run, as with ``SSR_VERIFY=1``.

Many tests run the same programs on equal boxes. A proof that has succeeded holds for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from boundary.parallel.schedules.plan import Plan
from boundary.parallel.verify import proof
from ssr import ir
from ssr.compiler.names import identity

ALWAYS = {"test_schedule_mutations", "test_schedule_proof", "test_wavefronts"}
"""Modules that change the planner, or that test proofs themselves."""

_PROVED: set[Hashable] = set()


@pytest.fixture(autouse=True)
def proved(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundary.parallel.programs.bound.wanted", lambda: True)
    if request.path.stem not in ALWAYS:
        monkeypatch.setattr(proof, "prove", once)


def once(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Prove a schedule, unless an equal one has been proved."""
    known = content(plan)
    key = repr((known, sorted(valid)))
    if key not in _PROVED:
        prove(plan, valid)
        if known is not None:
            _PROVED.add(key)


prove = proof.prove


def content(plan: Plan) -> Any:
    """Return all on which the schedules of a plan depend; None if that is no short text."""
    declared, partition = plan.declaration, plan.footprint.partition
    calls = any(isinstance(step, ir.Call) for step in declared.program.steps)
    if calls or declared.stored or declared.local or partition.lead:
        return None
    kept = vars(plan)
    if "content" not in kept:
        arrays = [each.tolist() for each in (partition.kinds, partition.boxes, partition.owners)]
        sizes = sorted(partition.sizes.items()), sorted(declared.sizes.items())
        kept["content"] = (
            identity(declared.program),
            *(repr(declared.options), plan.dtype.name, repr(declared.spaces)),
            *(partition.ranks, repr(partition.cells), sizes, arrays),
        )
    return kept["content"]
