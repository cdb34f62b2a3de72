"""Replace division by a number by multiplication with its reciprocal. Reassociates.

before:  ``sum / 26.0``
after:   ``sum * 0.038461538461538464``
"""

from __future__ import annotations

from dataclasses import replace

from .. import ir


def reciprocal(nest: ir.Nest) -> ir.Nest:
    """Return the nest without divisions by numbers."""
    return replace(
        nest,
        statements=tuple(replace(s, value=ir.rewrite(s.value, _change)) for s in nest.statements),
    )


def _change(value: ir.Value) -> ir.Value | None:
    match value:
        case ir.Op("div", (a, ir.Const(number))) if number != 0.0:
            return ir.Op("mul", (a, ir.Const(1.0 / number)))
    return None
