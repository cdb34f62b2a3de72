"""A proof of schedules on sets: each row reads the write that it reads on one array.

The statements of the program are run twice, on sets of elements instead of elements: on one array,
and on ranks as the schedule says. For each element of each memory it is known which statement wrote
it last. A statement on a box of rows must find the writes that it finds on one array: those of
statements before it, and of rows before its own where a sweep reads these. The rest is induction:
what reads the right values writes the right value. At the end each box must hold the last write of
all that it owns.

Reads and writes are derived from the statements themselves, not from the footprints of the planner;
`ssr.lower.verify.nests` proves the order of rows within a box. Sets are exact, for products with
stored matrices too, where the columns of single entries are looked at if the set around them does
not decide. The work grows with statements and boxes, not with points.

Of steps of another package the pieces are run that the schedule gives to each box; every ghost is
taken to have the same value in whichever box it is made. Offsets in memory, numbers in tables, and
the arithmetic of kernels are not seen here: `proof` runs them on terms.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ranks.earlier import Earlier
from ..ranks.values import Values
from ..schedules.plan import Found, Plan
from ..worlds.world import Simulated
from .elements import Elements
from .one_array import Writes
from .symbolic_call import Call, SymbolicField


def check_dependences(plan: Plan, held: tuple[Found, ...], before: Sequence[Earlier] = ()) -> None:
    """Fail unless each row reads the write that it reads on one array; see `proof.prove`."""
    writes = Writes()
    last = _fields(plan)
    calls = [Call(plan, _elements(plan), last, writes)]
    for each in reversed(before):
        shared = {its: last[here] for its, here in each.names.items()}
        fields = shared if len(shared) == len(each.plan.parts) else _fields(each.plan) | shared
        calls.insert(0, Call(each.plan, _elements(each.plan), fields, writes))
    named = {of: name for call in reversed(calls) for name, of in call.fields.items()}
    for call in calls:
        for name, field in call.fields.items():
            for rank in call.ranks:
                field.values.room(rank, call.plan, name)
    for given, name in named.items():
        given.give(writes.new(f"{name} as it was given"))
    *earlier, final = calls
    for call in earlier:
        call.run(((),) * len(call.plan.asked))
    final.run(held)
    final.run(plan.steady)


def _fields(plan: Plan) -> dict[str, SymbolicField]:
    """Return fields for all parameters of a program."""
    partition, found = plan.footprint.partition, {}
    world = Simulated(partition.ranks)
    for name, arrays in plan.parts.items():
        count = None if arrays == (name,) else len(arrays)
        space = plan.declaration.spaces[arrays[0]]
        values = Values(space, partition, count, plan.dtype, world)
        found[name] = SymbolicField.of(values, len(arrays))
    return found


def _elements(plan: Plan) -> Elements:
    """Return what the units of a program read and write, which is kept with it."""
    kept = vars(plan)
    if "elements" not in kept:
        kept["elements"] = Elements(plan)
    found: Elements = kept["elements"]
    return found
