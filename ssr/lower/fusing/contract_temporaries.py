"""Contract temporaries of joint nests that only their own row reads to line buffers. Bit-exact.

    before:  t[j, i] = f(b[j, i], x′[j, i - 1]);  x[j, i] = g(t′[j, i])       t: a temporary
    after:   %t[i]   = f(b[j, i], x′[j, i - 1]);  x[j, i] = g(%t[i])          %t: a line buffer

A buffer that only its producing loop reads becomes a register.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ... import ir
from ...points.affine import Affine
from ..nests import arrays_read, in_buffers


def contract_temporaries(
    program: ir.Program, nests: Sequence[ir.Made]
) -> tuple[ir.Program, tuple[ir.Made, ...]]:
    """Return a program without the temporaries that become line buffers, and its nests."""
    readers = Counter(name for made in nests for name in arrays_read(made))
    temporaries = {field.name for field in program.temporaries}
    gone: set[str] = set()
    found: list[ir.Made] = []
    for made in nests:
        if isinstance(made, ir.Nest) and made.joint:
            read = {name for name in made.read if readers[name] == 1}
            names = _read_at_own_row(made) & temporaries & read
            gone |= names
            made = _buffered(made, [name for name in made.made if name in names])
        found.append(made)
    kept = tuple(field for field in program.temporaries if field.name not in gone)
    return replace(program, temporaries=kept), tuple(found)


def _read_at_own_row(nest: ir.Nest) -> set[str]:
    """Return the arrays that a nest writes and reads at the current row only."""
    row, names = tuple(map(Affine.name, nest.axes)), {*nest.made}
    for statement in nest.statements:
        names -= {load.array for load in ir.loads(statement.value) if load.index != row}
        names -= {gather.array for gather in ir.gathers(statement.value)}
    return names


def _buffered(nest: ir.Nest, names: Sequence[str]) -> ir.Nest:
    """Return a nest that computes some temporaries in line buffers."""
    buffers, homes = list(nest.buffers), dict[str, ir.Buffer]()
    for name in names:
        homes[name] = ir.Buffer(ir.scratch("t", buffers), 1, 0)
        buffers.append(homes[name])
    last = (Affine.name(nest.axes[-1]),)
    statements = (
        replace(
            s,
            array=homes[s.array].name if s.array in homes else s.array,
            index=last if s.array in homes else s.index,
            makes=s.array if s.array in homes else s.makes,
            value=in_buffers(s.value, homes),
        )
        for s in nest.statements
    )
    target = next(name for name in nest.made if name not in homes)
    return replace(nest, target=target, buffers=tuple(buffers), statements=tuple(statements))
