"""All schedules of these tests are proved before they run, as with ``SSR_VERIFY=1``.

Many tests run the same programs on equal boxes. A proof that has succeeded holds for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from boundary.grid.grid import GridSpace
from boundary.parallel.ranks.earlier import Earlier
from boundary.parallel.schedules.plan import Found, Plan
from boundary.parallel.verify import proof
from ssr import ir
from ssr.compiler.names import identity
from ssr.extension import Declaration

ALWAYS = {"test_schedule_mutations", "test_schedule_proof", "test_wavefronts"}
"""Modules that change the planner, or that test proofs themselves."""

_PROVED: set[str] = set()
_NUMBERS = count()


@pytest.fixture(autouse=True)
def proved(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundary.parallel.programs.bound.wanted", lambda: True)
    if request.path.stem not in ALWAYS:
        monkeypatch.setattr(proof, "prove", once)


def once(plan: Plan, held: tuple[Found, ...], before: Sequence[Earlier] = ()) -> None:
    """Prove a schedule, unless an equal one has been proved."""
    plans = [plan, *(other for found in held for other, _ in found or ())]
    contents = [content(each) for each in (*plans, *(each.plan for each in before))]
    left = [None if found is None else [name for _, name in found] for found in held]
    names = [sorted(each.names.items()) for each in before]
    key = repr((contents, left, names))
    if key not in _PROVED:
        prove(plan, held, before)
        _PROVED.add(key)


prove = proof.prove


def content(plan: Plan) -> Any:
    """Return all on which the schedules of a plan depend."""
    kept, partition = vars(plan), plan.footprint.partition
    if "content" not in kept:
        arrays = [each.tolist() for each in (partition.kinds, partition.boxes, partition.owners)]
        kept["content"] = (
            *(described(plan.declaration), plan.dtype.name, partition.ranks),
            *(repr(partition.cells), sorted(partition.sizes.items()), arrays),
        )
    return kept["content"]


def described(declared: Declaration) -> Any:
    """Return the text of a program; its number instead if it has more than the text says."""
    calls = any(isinstance(step, ir.Call) for step in declared.program.steps)
    grid = any(isinstance(space, GridSpace) for space in declared.spaces.values())
    if calls or grid or declared.stored or declared.local:
        return vars(declared).setdefault("number", next(_NUMBERS))
    spaces, sizes = repr(declared.spaces), sorted(declared.sizes.items())
    return identity(declared.program), repr(declared.options), spaces, sizes
