"""Replace division by a constant by multiplication with its reciprocal. Reassociates.

before:  ``sum / 26.0``
after:   ``sum * 0.038461538461538464``

Constants whose reciprocal is not a normal number of the kernel's type remain divisors.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import ir


def reciprocal(nest: ir.Nest, dtype: str) -> ir.Nest:
    """Return the nest without divisions by numbers."""
    limits = np.finfo(dtype)
    low, high = 1.0 / float(limits.max), 1.0 / float(limits.tiny)

    def change(value: ir.Value) -> ir.Value | None:
        match value:
            case ir.Op("div", (a, ir.Const(number))) if low <= abs(number) <= high:
                return ir.Op("mul", (a, ir.Const(1.0 / number)))
        return None

    return replace(
        nest,
        statements=tuple(replace(s, value=ir.rewrite(s.value, change)) for s in nest.statements),
    )
