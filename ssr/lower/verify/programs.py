"""The verifier of programs, based on isl; ``SSR_VERIFY=1`` runs it after each pass over the steps.

A violated rule is a defect of the compiler and raises an `AssertionError`. The rules:

- Names of fields, temporaries and reductions are unique.
- A step reads only fields, and temporaries and scalars that an earlier step computes.
- Steps read and write points of their arrays, and rows of their space.
- The results of the program are scalars that it computes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import ir
from ...algebra.analyse import reads
from ...ir.liveness import read
from ...points.affine import Affine
from ...points.sets import Domain


def verify_program(program: ir.Program, after: str) -> None:
    """Check the steps of a program."""
    fields = {f.name: f for f in (*program.fields, *program.temporaries)}
    numbers = [s.name for s in program.steps if isinstance(s, ir.Reduction)]
    names = [*fields, *program.scalars, *program.sizes, *numbers]
    where = f"after {after}, program {program.name!r}"
    assert len(names) == len(fields) + len({*names} - {*fields}), f"{where}: a name is used twice"
    made = {f.name for f in program.fields} | {*program.scalars}
    for step in program.steps:
        wanted = read(step) - ({*ir.made(step)} if isinstance(step, ir.Group) else set())
        assert wanted <= made, f"{where}: {', '.join(wanted - made)} is read before it is made"
        for rows, load in _accesses(step):
            known = fields.get(load.array)
            assert known is not None, f"{where}: there is no array {load.array!r}"
            outside = rows - known.domain.preimage(load.index, rows.axes)
            assert outside.empty, (
                f"{where}: {load.array} is accessed outside, for {outside.simplified().notation()}"
            )
        made |= {*ir.made(step)}
    results = {v.name for r in program.results for v in ir.walk(r) if isinstance(v, ir.Scalar)}
    assert results <= made, f"{where}: {', '.join(results - made)} is returned and never made"


def _accesses(step: ir.Step) -> Iterator[tuple[Domain, ir.Load]]:
    """Yield the elements that a step stores and reads, with the rows that do."""
    for part in ir.parts(step):
        if isinstance(part, ir.Assignment):
            index = tuple(map(Affine.name, part.axes))
            yield part.domain, ir.Load(part.target, index)
        yield from reads(part.value, part.domain)
