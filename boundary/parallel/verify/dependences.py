"""Dependence check of schedules on isl sets: each row reads the same write as on one array.

The statements of the program are executed twice on sets of elements: on one array, and on ranks in
the order of the schedule. For each element of each memory the last statement that wrote it is
recorded. A statement on a box of rows must read the same writes as on one array: those of earlier
statements, and of earlier rows where a sweep reads them. The proof is by induction: a row that
reads correct values writes a correct value. At the end each box must hold the last write of all
points that it owns.

Reads and writes are derived from the statements themselves, not from the footprints of the
schedule; `ssr.lower.verify.nests` proves the order of rows within a box. The sets are exact. This
includes products with stored matrices: the columns of single entries are examined if their bounding
set does not decide. The cost grows with the numbers of statements and boxes, not of points.

For steps of other packages, the pieces that the schedule assigns to each box are executed; a ghost
point is assumed to have the same value in every box that computes it. Memory offsets, table entries
and kernel arithmetic are outside this check; `proof` executes them symbolically.
"""

from __future__ import annotations

from ..ranks.values import make_room, values_of
from ..schedules.plan import Plan
from ..worlds.world import Simulated
from .elements import Elements
from .one_array import Writes
from .symbolic_call import Call, SymbolicField


def check_dependences(plan: Plan, valid: frozenset[str] = frozenset()) -> None:
    """Fail unless each row reads the write that it reads on one array; see `proof.prove`."""
    writes = Writes()
    values = values_of(plan, Simulated(plan.footprint.partition.ranks))
    make_room(plan, values)
    fields = {name: SymbolicField.of(v, len(plan.parts[name])) for name, v in values.items()}
    call = Call(plan, _elements(plan), fields, writes)
    for name, field in fields.items():
        field.give(writes.new(f"{name} as it was given"))
    call.run(frozenset())
    if valid:
        for name in fields.keys() - valid:
            fields[name].give(writes.new(f"{name} as it was changed"))
        call.run(valid)
    call.run(plan.kept)


def _elements(plan: Plan) -> Elements:
    """Return the reads and writes of the units of a program, cached with its plan."""
    kept = vars(plan)
    if "elements" not in kept:
        kept["elements"] = Elements(plan)
    found: Elements = kept["elements"]
    return found
