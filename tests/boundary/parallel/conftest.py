"""All schedules of these tests are proved before they run, as with ``SSR_VERIFY=1``.

Many tests run the same programs on equal boxes. A proof that has succeeded holds for all of them.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from boundary.grid.grid import GridSpace
from boundary.parallel.schedules.plan import Plan
from boundary.parallel.verify import proof
from ssr import ir
from ssr.compiler.names import identity
from ssr.extension import Declaration

ALWAYS = {"test_schedule_mutations", "test_schedule_proof", "test_wavefronts"}
"""Modules that change the planner, or that test proofs themselves."""

_PROVED: set[tuple[str, object]] = set()
_NUMBERS = count()


@pytest.fixture(autouse=True)
def proved(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundary.parallel.programs.bound.wanted", lambda: True)
    if request.path.stem not in ALWAYS:
        monkeypatch.setattr(proof, "prove", once)


def once(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Prove a schedule, unless an equal one has been proved."""
    text = content(plan)
    if (text, valid) not in _PROVED:
        prove(plan, valid)
        _PROVED.update((text, each) for each in plan.proved)


prove = proof.prove


def content(plan: Plan) -> str:
    """Return all on which the schedules of a plan depend."""
    kept, partition = vars(plan), plan.footprint.partition
    if "content" not in kept:
        arrays = [each.tolist() for each in (partition.kinds, partition.boxes, partition.owners)]
        numbers = plan.dtype.name, partition.ranks, sorted(partition.sizes.items()), arrays
        kept["content"] = repr((described(plan.declaration), partition.cells, numbers))
    return str(kept["content"])


def described(declared: Declaration) -> Any:
    """Return the text of a program; its number instead if it has more than the text says."""
    calls = any(isinstance(step, ir.Call) for step in declared.program.steps)
    grid = any(isinstance(space, GridSpace) for space in declared.spaces.values())
    if calls or grid or declared.stored or declared.local:
        return vars(declared).setdefault("number", next(_NUMBERS))
    spaces, sizes = repr(declared.spaces), sorted(declared.sizes.items())
    return identity(declared.program), repr(declared.options), spaces, sizes
