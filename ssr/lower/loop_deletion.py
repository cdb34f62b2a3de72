"""Delete nests that have no rows to run, such as copies of an array to itself. Bit-exact.

before:  for i in range(i_lo, i_hi): x[i] = x[i]
after:   nothing
"""

from __future__ import annotations

from .. import ir


def loop_deletion(
    program: ir.Program, loops: tuple[ir.Ran, ...]
) -> tuple[ir.Program, tuple[ir.Ran, ...]]:
    """Return a program without loops that run no piece."""
    return program, tuple(s for s in loops if isinstance(s, ir.Call) or s.pieces)
