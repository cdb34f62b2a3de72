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

from ..ranks.values import Values
from ..schedules.plan import Plan
from ..worlds.world import Simulated
from .elements import Elements
from .one_array import Writes
from .symbolic_call import Call, SymbolicField


def check_dependences(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Fail unless each row reads the write that it reads on one array; see `proof.prove`."""
    writes, fields = Writes(), _fields(plan)
    call = Call(plan, _elements(plan), fields, writes)
    for name, field in fields.items():
        for rank in call.ranks:
            field.values.room(rank, plan, name)
        field.give(writes.new(f"{name} as it was given"))
    call.run(frozenset())
    if valid:
        for name in fields.keys() - valid:
            fields[name].give(writes.new(f"{name} as it was changed"))
        call.run(valid)
    call.run(plan.kept)


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
